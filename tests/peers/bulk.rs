//! Mix and match with a client of omniORB: it calls our server for a socket and a ticket, and moves octets through the socket.

use crate::support::{Running, have, passed};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zorb::{Bytes, Interface, Orb, SystemException};

#[zorb::idl_file("tests/interop/bulk.idl")]
mod cos {}
use cos::bulk::store::{ChecksumError, FetchError};
use cos::bulk::{Place, Store, StoreServant, Unknown};

/// Octets of a ticket.
const TICKET: usize = 16;

/// What the bearer of a ticket may do.
enum Order {
    Put { name: String, octets: u64 },
    Fetch(Bytes),
}

#[derive(Default)]
struct Shared {
    orders: Mutex<BTreeMap<[u8; TICKET], Order>>,
    stored: Mutex<BTreeMap<String, Bytes>>,
    moved: AtomicU64,
}

impl Shared {
    /// Serves a socket, if its ticket is good.
    async fn serve(&self, mut socket: TcpStream) -> std::io::Result<()> {
        let mut ticket = [0; TICKET];
        socket.read_exact(&mut ticket).await?;
        let order = self.orders.lock().unwrap().remove(&ticket);
        match order {
            None => {}
            Some(Order::Fetch(octets)) => {
                for piece in octets.chunks(64 << 10) {
                    socket.write_all(piece).await?;
                    self.moved.fetch_add(piece.len() as u64, Ordering::Relaxed);
                }
            }
            Some(Order::Put { name, octets }) => {
                let mut all = Vec::new();
                (&mut socket).take(octets).read_to_end(&mut all).await?;
                self.moved.fetch_add(all.len() as u64, Ordering::Relaxed);
                if all.len() as u64 == octets {
                    self.stored.lock().unwrap().insert(name, all.into());
                    socket.write_all(&[1]).await?;
                }
            }
        }
        Ok(())
    }

    fn stored(&self, name: &str) -> Result<Bytes, Unknown> {
        let stored = self.stored.lock().unwrap();
        stored.get(name).cloned().ok_or(Unknown {})
    }
}

struct Shelf {
    port: u16,
    shared: Arc<Shared>,
}

impl Shelf {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::<Shared>::default();
        let serving = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let serving = Arc::clone(&serving);
                // A client that goes early has what it wanted.
                tokio::spawn(async move { serving.serve(socket).await.ok() });
            }
        });
        Self { port, shared }
    }

    fn place(&self, order: Order, octets: u64) -> Place {
        let mut ticket = [0; TICKET];
        getrandom::fill(&mut ticket).unwrap();
        self.shared.orders.lock().unwrap().insert(ticket, order);
        Place {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            shown: Bytes::copy_from_slice(&ticket),
            octets,
        }
    }
}

impl Store for Shelf {
    async fn put(&self, name: &str, octets: u64) -> Result<Place, SystemException> {
        let name = name.to_owned();
        Ok(self.place(Order::Put { name, octets }, octets))
    }

    async fn fetch(&self, name: &str) -> Result<Place, FetchError> {
        let octets = self.shared.stored(name)?;
        let length = octets.len() as u64;
        Ok(self.place(Order::Fetch(octets), length))
    }

    async fn checksum(&self, name: &str) -> Result<u64, ChecksumError> {
        let octets = self.shared.stored(name)?;
        let add = |sum: u64, octet: &u8| (sum ^ u64::from(*octet)).wrapping_mul(0x100_0000_01b3);
        Ok(octets.iter().fold(0xcbf2_9ce4_8422_2325, add))
    }

    async fn moved(&self) -> Result<u64, SystemException> {
        Ok(self.shared.moved.load(Ordering::Relaxed))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_omniorb_moves_octets_both_ways_through_sockets_that_calls_have_opened() {
    let cell = "bulk/omniorb";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = root.join("tests/interop/build/omniorb/bulk");
    if !have(cell, &[&program]) {
        return;
    }
    let orb = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = orb.build().await.unwrap();
    let poa = orb.root_poa();
    let store = poa.activate(StoreServant::new(Shelf::new().await)).unwrap();
    poa.the_poa_manager().activate().unwrap();
    // More than sockets hold.
    let octets = 32 << 20;
    let args = [store.as_object().to_string(), octets.to_string()];
    let lines =
        tokio::task::spawn_blocking(move || Running::start(&program, &args).finish().success());
    let fetched = format!("fetched {octets}, the same here");
    let right = format!("right {octets}");
    assert_eq!(
        lines.await.unwrap(),
        [
            "nothing to fetch",
            "put, and heard 1 octet",
            "the same there",
            &fetched,
            "again 0",
            "wrong 0",
            &right,
            "put again 0",
        ]
    );
    passed(cell);
}
