//! The transport over a stand-in for the network, where the kernel has no ATM: circuits of UNIX datagrams. They wait
//! for room where ATM loses frames; `tests/` has the real ones.
use super::*;
use std::{
    os::unix::net::UnixDatagram,
    sync::atomic::{AtomicU16, Ordering},
};

use zorb_transport::{conformance::Fixture, conformance_tests};

type Wires = Mutex<BTreeMap<(u8, u16), (UnixDatagram, UnixDatagram)>>;

/// Opens one end of a stand-in circuit. Interfaces 0 and 1 are joined.
fn open(id: CircuitId, _: &Quality, _: usize) -> io::Result<Socket> {
    static WIRES: Wires = Mutex::new(BTreeMap::new());
    let mut wires = WIRES.lock().unwrap();
    let wire = wires.entry((id.vpi(), id.vci()));
    let wire = wire.or_insert_with(|| UnixDatagram::pair().unwrap());
    let end = match id.interface() {
        0 => &wire.0,
        1 => &wire.1,
        _ => return Err(io::ErrorKind::NotFound.into()),
    };
    end.set_nonblocking(true)?;
    // Frames that came while this end was closed are lost.
    while end.recv(&mut [0]).is_ok() {}
    Ok(end.try_clone()?.into())
}

fn atm() -> Atm {
    static CIRCUITS: Mutex<BTreeMap<CircuitId, Open>> = Mutex::new(BTreeMap::new());
    let config = Config {
        open_timeout: Duration::from_millis(300),
        ..Config::default()
    };
    Atm {
        options: AtmOptions::default().session(config),
        addressing: AtmAddressing,
        network: Network {
            open,
            circuits: &CIRCUITS,
        },
    }
}

struct StandIn;

/// Returns the endpoint of a circuit that no other test has.
fn endpoint() -> Endpoint {
    static NEXT: AtomicU16 = AtomicU16::new(32);
    let vci = NEXT.fetch_add(1, Ordering::Relaxed);
    AtmAddressing
        .parse(&format!("1.0.{vci}?peer=0.0.{vci}"))
        .unwrap()
}

impl Fixture for StandIn {
    fn transport(&self) -> Arc<dyn Transport> {
        Arc::new(atm())
    }

    fn endpoint(&self) -> Endpoint {
        endpoint()
    }

    fn unreachable(&self) -> (Endpoint, io::ErrorKind) {
        (endpoint(), io::ErrorKind::TimedOut)
    }
}

conformance_tests!(StandIn);
