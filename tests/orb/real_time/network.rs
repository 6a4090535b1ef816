//! Code points of packets on the wire, by the priorities of lanes and bands.

use super::*;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::BTreeMap;
use std::io::Read;
use zorb::policy::PolicyOverrides;
use zorb::real_time::{LinearNetworkMapping, PriorityBand, ThreadpoolOptions};

/// A raw socket gets a copy of each TCP packet that arrives at this host, with its IP header.
struct Wire(Socket);

impl Wire {
    /// `None` where the process lacks the privilege.
    fn open() -> Option<Self> {
        match Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::TCP)) {
            Ok(raw) => {
                raw.set_nonblocking(true).unwrap();
                // Other tests send, too. The kernel gives `rmem_max` at most.
                raw.set_recv_buffer_size(8 << 20).unwrap();
                Some(Self(raw))
            }
            Err(error) => {
                eprintln!("skipped: a raw socket needs CAP_NET_RAW: {error}");
                None
            }
        }
    }

    /// The code points of the packets with payload that have come since the last look, to and from this port: all those of
    /// one end of a connection have the same. `None` unless exactly one connection has some of both ends: a packet that is sent
    /// again on an idle connection is none of a call. What a call has received, the raw socket had before.
    fn code_points(&mut self, port: u16) -> Option<(u8, u8)> {
        // By the port of the client.
        let mut seen: BTreeMap<u16, [Option<u8>; 2]> = BTreeMap::new();
        let mut packet = [0; 2048];
        while let Ok(octets) = self.0.read(&mut packet) {
            let ip = usize::from(packet[0] & 0x0f) * 4;
            let tcp = usize::from(packet[ip + 12] >> 4) * 4;
            // The kernel answers for the server before there is a socket with options.
            if ip + tcp == octets {
                continue;
            }
            let number = |at: usize| u16::from_be_bytes([packet[ip + at], packet[ip + at + 1]]);
            let (from, to) = (number(0), number(2));
            let (client, end) = match (from == port, to == port) {
                (false, true) => (from, 0),
                (true, false) => (to, 1),
                _ => continue,
            };
            let code_point = packet[1] >> 2;
            let of = &mut seen.entry(client).or_default()[end];
            assert_eq!(*of.get_or_insert(code_point), code_point);
        }
        let mut calls = seen
            .values()
            .filter_map(|[of_client, of_server]| (*of_client).zip(*of_server));
        calls.next().filter(|_| calls.next().is_none())
    }

    /// The code points of the packets of a call. The queue of the raw socket is short, and packets of other tests may fill it:
    /// then the call's are lost, and it is made again.
    async fn code_points_of(&mut self, port: u16, call: impl AsyncFn()) -> (u8, u8) {
        for _ in 0..100 {
            call().await;
            if let Some(seen) = self.code_points(port) {
                return seen;
            }
        }
        panic!("no packets of port {port} in a hundred calls");
    }
}

async fn marking() -> Orb {
    let builder = Orb::builder().listen(LOCAL).scheduling(scheduling());
    let builder = builder.priority_mapping(zorb::executor::LinearMapping);
    let builder = builder.network_priority_mapping(LinearNetworkMapping);
    builder.build().await.unwrap()
}

async fn call(client: &Orb, object: &ProbeRef, priority: i16) -> Result<Spot, SystemException> {
    let current = client.rt_current();
    current.scope(Priority(priority), object.place()).await?
}

/// The ports of a pool, in ascending order of its lanes.
fn ports(pool: &Threadpool) -> Vec<u16> {
    let endpoints = pool.endpoints().into_iter();
    endpoints.map(|(_, at)| at.port().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_of_lanes_have_the_code_points_of_their_priorities() {
    let Some(mut wire) = Wire::open() else { return };
    let (server, marks, plain) = (marking().await, marking().await, client().await);
    let lane = |priority, listen: &str| ThreadpoolLane::new(Priority(priority), 1).listen(listen);
    let options = ThreadpoolOptions::with_lanes([
        lane(1, LOCAL),
        lane(20_000, LOCAL),
        // Its own code point counts.
        lane(30_000, "iiop://127.0.0.1:0/dscp=7"),
    ]);
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let poa = poa(&server, "propagated", propagated(1).threadpool(&pool)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let ports = ports(&pool);
    for (client, expected) in [
        (&marks, [(0, 0), (26, 26), (46, 7)]),
        (&plain, [(0, 0), (0, 26), (0, 7)]),
    ] {
        let object = seen_by(client, &object).await;
        for (at, priority) in [1, 20_000, 30_000].into_iter().enumerate() {
            let call = async || {
                let spot = call(client, &object, priority).await.unwrap();
                assert_eq!(spot.priority, priority);
            };
            let seen = wire.code_points_of(ports[at], call).await;
            assert_eq!(seen, expected[at], "{priority}");
        }
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_of_bands_and_declared_priorities_are_marked_by_their_client() {
    let Some(mut wire) = Wire::open() else { return };
    let (server, marks) = (server_of_one_port().await, marking().await);
    let port = server.endpoints()[0].port().unwrap();
    let propagated = poa(&server, "propagated", propagated(1)).unwrap();
    let declared = poa(&server, "declared", declared(30_000)).unwrap();
    let object: ProbeRef = propagated.activate(Teller::new(&server)).unwrap();
    let object = seen_by(&marks, &object).await;
    let urgent: ProbeRef = declared.activate(Teller::new(&server)).unwrap();
    let urgent = seen_by(&marks, &urgent).await;
    let bands = [(0, 9_000), (9_001, 20_000)].map(|(low, high)| PriorityBand { low, high });
    let banded = PolicyOverrides::new().priority_bands(bands);
    let banded = zorb::Interface::as_object(&object).with_policies(&banded);
    let banded: ProbeRef = banded.unchecked_narrow();
    // A shared connection carries calls of all priorities.
    for (object, priority, expected) in [
        (&object, 30_000, 0),
        (&banded, 5, 10),
        (&banded, 9_001, 26),
        (&urgent, 0, 46),
        (&object, 3, 0),
    ] {
        let call = async || {
            call(&marks, object, priority).await.unwrap();
        };
        let seen = wire.code_points_of(port, call).await;
        assert_eq!(seen, (expected, 0), "{priority}");
    }
    assert_eq!(server.connections_served(), 4);
    server.shutdown(true).await.unwrap();
}

/// A server without lanes, which marks nothing.
async fn server_of_one_port() -> Orb {
    Orb::builder().listen(LOCAL).build().await.unwrap()
}
