//! TLS connections that do nothing: their memory, and what becomes of them when their peers go.
#![expect(unsafe_code, reason = "an allocator that counts")]

#[path = "../../tls/tests/support/mod.rs"]
mod certificates;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "../../../tests/support/counting.rs"]
mod counting;

use certificates::Authority;
use counting::{held_since, hold_from_here};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;
use zorb::tls::{Tls, TlsOptions};
use zorb::{Bytes, OctetsRef, Orb, SystemException};

zorb::idl! {
    typedef sequence<octet> Data;
    interface Idler {
        Data same(in Data octets);
    };
}

struct Echo;

impl Idler for Echo {
    async fn same(&self, octets: OctetsRef<'_>) -> Result<Bytes, SystemException> {
        Ok(Bytes::copy_from_slice(&octets))
    }
}

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// A bound against hangs, not a measurement.
async fn in_time(future: impl Future<Output = ()>) {
    let patience = std::time::Duration::from_secs(60);
    (tokio::time::timeout(patience, future).await).expect("no hang");
}

/// Connections at a time.
const CONNECTIONS: usize = 200;

async fn serve(scheme: &str, own: &Path) -> (Orb, IdlerRef) {
    let tls = Tls::new(TlsOptions::default().certificate(own, own)).unwrap();
    let server = Orb::builder()
        .transport(Arc::new(tls))
        .listen(format!("{scheme}://127.0.0.1:0"));
    let server = server.build().await.unwrap();
    let poa = server.root_poa();
    let idler = poa.activate(IdlerServant::new(Echo)).unwrap();
    poa.the_poa_manager().activate().unwrap();
    (server, idler)
}

/// A client with room for so many connections to a server, which makes each of them.
async fn client(trust: &Path, connections: usize) -> Orb {
    let tls = Tls::new(TlsOptions::default().trust(trust)).unwrap();
    let client = Orb::builder()
        .transport(Arc::new(tls))
        // Each reference its own.
        .connections_to_endpoint(1 << 20)
        .max_connections_to_host(connections);
    client.build().await.unwrap()
}

async fn open(client: &Orb, idler: &str, octets: usize) -> IdlerRef {
    let object = client.string_to_object(idler).await.unwrap();
    let far: IdlerRef = object.unchecked_narrow();
    let data = vec![7; octets];
    assert_eq!(far.same(&data[..]).await.unwrap(), data);
    far
}

/// Octets that both ends of a connection hold together, after a call of this length.
async fn weight(scheme: &str, octets: usize) -> usize {
    let authority = Authority::new("idle");
    let own = authority.issue("server", &["127.0.0.1"]);
    let (server, idler) = serve(scheme, &own).await;
    let client = client(&authority.trust(), CONNECTIONS + 20).await;
    let idler = idler.to_string();
    let mut held = Vec::with_capacity(CONNECTIONS + 20);
    for _ in 0..20 {
        held.push(open(&client, &idler, octets).await);
    }
    let before = hold_from_here();
    for _ in 0..CONNECTIONS {
        held.push(open(&client, &idler, octets).await);
    }
    assert_eq!(client.outgoing_connections(), CONNECTIONS + 20);
    let live = held_since(before).live;
    drop((server, client, held));
    live / CONNECTIONS
}

#[tokio::test]
async fn an_idle_connection_takes_little_memory_whatever_it_has_carried() {
    for octets in [0, 60_000] {
        let (plain, protected) = (weight("iiop", octets).await, weight("ssliop", octets).await);
        // Of TLS: for each end its state, keys and names, and 4 KiB for the next record.
        assert!(protected < plain + 20_000, "{octets}: {plain}, {protected}");
        assert!(plain < 16_000, "{octets}: {plain}");
    }
}

/// Sockets in CLOSE_WAIT at either end of connections to this port: their peers have gone, and they are open.
fn close_wait(port: u16) -> usize {
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{port:04X}");
    let left = sockets.lines().skip(1).filter(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields[3] == "08" && (fields[1].ends_with(&port) || fields[2].ends_with(&port))
    });
    left.count()
}

/// Waits until none is left.
async fn none_in_close_wait(port: u16) {
    in_time(async {
        while close_wait(port) > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Runs something in a runtime of its own, which ends when the result is dropped, in whatever state its ORBs are.
fn apart<T: Send + 'static>(run: impl Future<Output = T> + Send + 'static) -> (Runtime, T) {
    let runtime = Runtime::new().unwrap();
    let (done, made) = std::sync::mpsc::channel();
    runtime.spawn(async move { done.send(run.await) });
    let made = made.recv().unwrap();
    (runtime, made)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_connection_is_left_in_close_wait_when_its_peer_goes() {
    let peers = tokio::task::spawn_blocking(|| {
        let authority = Authority::new("idle");
        let own = authority.issue("server", &["127.0.0.1"]);
        let listening = async move { serve("ssliop", &own).await };
        (apart(listening), authority)
    });
    let ((runtime, (server, idler)), authority) = peers.await.unwrap();
    let port = server.endpoints()[0].port().unwrap();
    // The clients go.
    let (trust, reference) = (authority.trust(), idler.to_string());
    let clients = tokio::task::spawn_blocking(move || {
        apart(async move {
            let client = client(&trust, CONNECTIONS).await;
            let mut held = Vec::new();
            for _ in 0..CONNECTIONS {
                held.push(open(&client, &reference, 0).await);
            }
            (client, held)
        })
    });
    let (of_clients, held) = clients.await.unwrap();
    assert_eq!(server.connections_served(), CONNECTIONS);
    of_clients.shutdown_background();
    in_time(async {
        while server.connections_served() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    none_in_close_wait(port).await;
    drop(held);
    // The server goes.
    let client = client(&authority.trust(), CONNECTIONS).await;
    let mut held = Vec::new();
    for _ in 0..CONNECTIONS {
        held.push(open(&client, &idler.to_string(), 0).await);
    }
    assert_eq!(client.outgoing_connections(), CONNECTIONS);
    runtime.shutdown_background();
    in_time(async {
        while client.outgoing_connections() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    none_in_close_wait(port).await;
}
