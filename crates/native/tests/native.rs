//! Alike peers exchange numbers, and everyone else GIOP: with the same references, and without a lost call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zorb::transport::{Tcp, Transport, Unix};
use zorb_native::Native;

zorb::idl! {
    module Store {
        struct Place { short row; char shelf; long at; octet kind; double weight; };
        typedef sequence<Place> Places;
        typedef sequence<long> Numbers;
        interface Shelf {
            void nothing();
            string echo(in string text);
            Places turn(in Places what);
            double sum(in Numbers what);
            oneway void drop(in Numbers what);
            unsigned long dropped();
        };
    };
}

#[derive(Default)]
struct Shelf(AtomicUsize);

type Outcome<T> = Result<T, zorb::SystemException>;

impl store::Shelf for Shelf {
    async fn nothing(&self) -> Outcome<()> {
        Ok(())
    }

    async fn echo(&self, text: &str) -> Outcome<String> {
        Ok(text.to_owned())
    }

    async fn turn(&self, what: &[store::Place]) -> Outcome<Vec<store::Place>> {
        Ok(what.iter().rev().cloned().collect())
    }

    async fn sum(&self, what: &[i32]) -> Outcome<f64> {
        Ok(what.iter().copied().map(f64::from).sum())
    }

    async fn drop(&self, what: &[i32]) -> Outcome<()> {
        self.0.fetch_add(what.len(), Ordering::Relaxed);
        Ok(())
    }

    async fn dropped(&self) -> Outcome<u32> {
        Ok(u32::try_from(self.0.load(Ordering::Relaxed)).unwrap())
    }
}

fn native(over: impl Transport) -> Arc<dyn Transport> {
    Arc::new(Native::over(Arc::new(over)))
}

/// A server, and a reference to its shelf, which stays the same when it is started anew at the same endpoint.
async fn server(transport: Arc<dyn Transport>, endpoint: &str) -> (zorb::Orb, String) {
    let orb = zorb::Orb::builder()
        .transport(transport)
        .listen(endpoint)
        .build();
    let orb = orb.await.unwrap();
    let poa = orb.root_poa();
    let shelf = poa
        .activate(store::ShelfServant::new(Shelf::default()))
        .unwrap();
    poa.the_poa_manager().activate().unwrap();
    orb.key_table().bind("Shelf", &shelf).unwrap();
    let reference = orb.object_to_string(&shelf);
    (orb, reference)
}

async fn shelf_of(transport: Arc<dyn Transport>, reference: &str) -> (zorb::Orb, store::ShelfRef) {
    let orb = zorb::Orb::builder()
        .transport(transport)
        .build()
        .await
        .unwrap();
    let object = orb.string_to_object(reference).await.unwrap();
    let shelf = object.narrow().await.unwrap().expect("a shelf");
    (orb, shelf)
}

fn places(count: usize) -> Vec<store::Place> {
    let place = |n: usize| store::Place {
        row: n as i16,
        shelf: zorb::Char(n as u8 & 0x7f),
        at: -(n as i32),
        kind: n as u8,
        weight: n as f64 / 3.0,
    };
    (0..count).map(place).collect()
}

/// Every kind of call, with arguments from nothing to more than a write takes.
async fn use_of(shelf: &store::ShelfRef) {
    for n in [0, 1, 17, 1_000, 40_000] {
        shelf.nothing().await.unwrap();
        let text = "straße ".repeat(n);
        assert_eq!(shelf.echo(&text).await.unwrap(), text);
        let mut back = shelf.turn(&places(n)).await.unwrap();
        back.reverse();
        assert_eq!(back, places(n));
        let numbers: Vec<i32> = (0..n as i32).collect();
        let sum = shelf.sum(&numbers).await.unwrap();
        assert_eq!(sum, numbers.iter().copied().map(f64::from).sum::<f64>());
    }
    let calls = (0..64_usize).map(|n| {
        let shelf = shelf.clone();
        tokio::spawn(async move {
            let places = shelf.turn(&places(n * 20)).await.unwrap();
            assert_eq!(places.len(), n * 20);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    let before = shelf.dropped().await.unwrap();
    for _ in 0..300 {
        shelf.drop(&[1; 50]).await.unwrap();
    }
    while shelf.dropped().await.unwrap() < before + 15_000 {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alike_peers_call_each_other_over_tcp_unix_sockets_and_shared_memory() {
    let folder = tempfile::tempdir().unwrap();
    let at = |scheme: &str| format!("{scheme}://{}", folder.path().join(scheme).display());
    let over = [
        (native(Tcp::default()), "iiop://127.0.0.1:0".to_owned()),
        (native(Unix::default()), at("uiop")),
        (native(zorb_shm::Shm::default()), at("shm")),
    ];
    for (transport, endpoint) in over {
        let (server, reference) = server(Arc::clone(&transport), &endpoint).await;
        let (_client, shelf) = shelf_of(transport, &reference).await;
        use_of(&shelf).await;
        server.shutdown(true).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_of_which_only_one_is_native_speak_giop() {
    let plain = || Arc::new(Tcp::default()) as Arc<dyn Transport>;
    for (of_server, of_client) in [
        (plain(), native(Tcp::default())),
        (native(Tcp::default()), plain()),
    ] {
        let (server, reference) = server(of_server, "iiop://127.0.0.1:0").await;
        let (_client, shelf) = shelf_of(of_client, &reference).await;
        use_of(&shelf).await;
        server.shutdown(true).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_restarted_as_something_else_loses_no_call() {
    let (mut orb, _) = server(native(Tcp::default()), "iiop://127.0.0.1:0").await;
    let port = orb.endpoints()[0].port().unwrap();
    let endpoint = format!("iiop://127.0.0.1:{port}");
    let (_client, shelf) = shelf_of(
        native(Tcp::default()),
        &format!("corbaloc::1.2@127.0.0.1:{port}/Shelf"),
    )
    .await;
    for is_native in [true, false, true, false] {
        for _ in 0..5 {
            assert_eq!(shelf.echo("hello").await.unwrap(), "hello");
        }
        orb.shutdown(true).await.unwrap();
        let next: Arc<dyn Transport> = match is_native {
            // As something else than it was.
            true => Arc::new(Tcp::default()),
            false => native(Tcp::default()),
        };
        (orb, _) = server(next, &endpoint).await;
    }
    shelf.nothing().await.unwrap();
}

/// A relay to a server, which keeps what the client sends.
async fn relay(to: u16) -> (u16, tokio::task::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        let (client, _) = listener.accept().await.unwrap();
        let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
        let (mut kept, mut octets) = (Vec::new(), [0; 4096]);
        loop {
            match from_client.read(&mut octets).await {
                Ok(0) | Err(_) => return kept,
                Ok(read) => {
                    kept.extend_from_slice(&octets[..read]);
                    to_server.write_all(&octets[..read]).await.unwrap();
                }
            }
        }
    });
    (port, task)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_have_no_text_on_the_wire_after_their_first_call() {
    for (is_native, texts) in [(true, 1), (false, 50)] {
        let transport = || match is_native {
            true => native(Tcp::default()),
            false => Arc::new(Tcp::default()),
        };
        let (orb, _) = server(transport(), "iiop://127.0.0.1:0").await;
        let (port, kept) = relay(orb.endpoints()[0].port().unwrap()).await;
        let client = zorb::Orb::builder()
            .transport(transport())
            .build()
            .await
            .unwrap();
        let url = format!("corbaloc::1.2@127.0.0.1:{port}/Shelf");
        let object = client.string_to_object(&url).await.unwrap();
        let shelf: store::ShelfRef = object.unchecked_narrow();
        for _ in 0..50 {
            shelf.nothing().await.unwrap();
        }
        client.shutdown(true).await.unwrap();
        let kept = kept.await.unwrap();
        let found = kept
            .windows(8)
            .filter(|octets| octets == b"nothing\0")
            .count();
        assert_eq!(found, texts);
        orb.shutdown(true).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_says_nothing_or_hangs_up_is_connected_to_anew() {
    let (orb, _) = server(Arc::new(Tcp::default()), "iiop://127.0.0.1:0").await;
    let to = orb.endpoints()[0].port().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        // The first connection is closed, the second one is the server's.
        let (first, _) = listener.accept().await.unwrap();
        drop(first);
        let (mut client, _) = listener.accept().await.unwrap();
        let mut server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
        tokio::io::copy_bidirectional(&mut client, &mut server).await
    });
    let url = format!("corbaloc::1.2@127.0.0.1:{port}/Shelf");
    let (_client, shelf) = shelf_of(native(Tcp::default()), &url).await;
    shelf.nothing().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_breaks_the_protocol_ends_its_own_connection_alone() {
    let (orb, reference) = server(native(Tcp::default()), "iiop://127.0.0.1:0").await;
    let (_client, shelf) = shelf_of(native(Tcp::default()), &reference).await;
    let port = orb.endpoints()[0].port().unwrap();
    let (asking, kept) = relay(port).await;
    let (client, of_relay) = shelf_of(
        native(Tcp::default()),
        &format!("corbaloc::1.2@127.0.0.1:{asking}/Shelf"),
    )
    .await;
    of_relay.nothing().await.unwrap();
    client.shutdown(true).await.unwrap();
    let question = kept.await.unwrap()[..60].to_vec();
    for garbage in [
        &[0xff; 64][..],
        &[0; 11],
        &[7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 0],
        b"GIOP\x01\x02\x01\0\0\0\0\0",
    ] {
        let mut peer = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        peer.write_all(&question).await.unwrap();
        let mut answer = [0; 20];
        peer.read_exact(&mut answer).await.unwrap();
        peer.write_all(garbage).await.unwrap();
        peer.shutdown().await.unwrap();
        let mut rest = Vec::new();
        // The end, or a reset.
        let _ = peer.read_to_end(&mut rest).await;
        shelf.nothing().await.unwrap();
    }
}
