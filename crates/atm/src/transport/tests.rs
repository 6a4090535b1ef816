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

struct Woken(std::sync::atomic::AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

async fn pair() -> (Box<dyn Connection>, Box<dyn Connection>, Box<dyn Listener>) {
    let (transport, endpoint) = (atm(), endpoint());
    let listener = transport.listen(&endpoint).await.unwrap();
    let near = transport.connect(&endpoint).await.unwrap();
    let far = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
    (near, far, listener)
}

#[tokio::test]
async fn a_read_that_empties_the_session_registers_its_waker_and_tries_keep_it() {
    let (near, far, _listener) = pair().await;
    let woken = Arc::new(Woken(false.into()));
    let waker = Waker::from(Arc::clone(&woken));
    let mut buf = BytesMut::with_capacity(64);
    near.try_write(&[IoSlice::new(b"one")]).unwrap();
    let read = poll_fn(|cx| far.poll_read_and_register(cx, &mut buf)).await;
    let read = read.unwrap();
    assert_eq!((read.octets, read.is_registered), (3, true));
    near.try_write(&[IoSlice::new(b"two")]).unwrap();
    let mut cx = Context::from_waker(&waker);
    let read = loop {
        match far.poll_read_and_register(&mut cx, &mut buf) {
            Poll::Ready(read) => break read.unwrap(),
            Poll::Pending => tokio::task::yield_now().await,
        }
    };
    assert!(read.is_registered);
    woken.0.store(false, Ordering::SeqCst);
    let tried = far.try_read(&mut buf).unwrap_err();
    assert_eq!(tried.kind(), io::ErrorKind::WouldBlock);
    near.try_write(&[IoSlice::new(b"three")]).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while !woken.0.load(Ordering::SeqCst) {
        assert!(Instant::now() < until, "the waker is still registered");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn large_frames_are_the_same_octets_whether_their_reader_has_room_or_not() {
    let (near, far, _listener) = pair().await;
    let octets: Vec<u8> = (0..1_000_000).map(|n| (n % 251) as u8).collect();
    let sent = octets.clone();
    let writer = tokio::spawn(async move {
        let mut left = &sent[..];
        while !left.is_empty() {
            match near.try_write(&[IoSlice::new(&left[..left.len().min(70_000)])]) {
                Ok(taken) => left = &left[taken..],
                Err(_) => poll_fn(|cx| near.poll_write_ready(cx)).await.unwrap(),
            }
        }
        near
    });
    let mut all = Vec::new();
    let mut rooms = [100, 40_000, 1_000, 33_000, 200_000].into_iter().cycle();
    while all.len() < octets.len() {
        let mut buf = BytesMut::with_capacity(rooms.next().unwrap());
        let read = poll_fn(|cx| far.poll_read_and_register(cx, &mut buf)).await;
        assert_eq!(read.unwrap().octets, buf.len());
        all.extend_from_slice(&buf);
    }
    assert!(all == octets);
    writer.await.unwrap();
}
