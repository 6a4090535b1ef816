//! Real circuits: for a kernel with ATM whose interfaces 0 and 1, 2 and 3 are joined by the module of `vm/`.
//! `cargo xtask test atm` runs this in a virtual machine that has them; elsewhere each test says that it is skipped.

use bytes::BytesMut;
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use zorb_atm::session::Config;
use zorb_atm::{
    Atm, AtmAddress, AtmAddressing, AtmOptions, CircuitId, Class, FrameSocket, Quality,
};
use zorb_transport::conformance::Fixture;
use zorb_transport::{Addressing, Connection, Endpoint, Listener, Transport};

#[path = "../vm/faults.rs"]
mod faults;
use faults::{Fault, have_atm};

/// Times short enough that a peer's death is found within a test.
fn atm() -> Atm {
    let mut config = Config::default();
    config.open_timeout = Duration::from_secs(3);
    config.keep_alive = Duration::from_millis(500);
    config.dead_after = Duration::from_secs(2);
    Atm::new(AtmOptions::default().session(config))
}

fn endpoint(text: &str) -> Endpoint {
    AtmAddressing.parse(text).unwrap()
}

/// Circuit `vci` of both interfaces, with interface 1 listening.
fn joined(vci: u16) -> Endpoint {
    endpoint(&format!("1.0.{vci}?peer=0.0.{vci}"))
}

async fn accept(listener: &dyn Listener) -> Box<dyn Connection> {
    poll_fn(|cx| listener.poll_accept(cx)).await.unwrap()
}

async fn write_all(connection: &dyn Connection, mut octets: &[u8]) -> io::Result<()> {
    while !octets.is_empty() {
        match connection.try_write(&[IoSlice::new(octets)]) {
            Ok(taken) => octets = &octets[taken..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                poll_fn(|cx| connection.poll_write_ready(cx)).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn read_exactly(connection: &dyn Connection, length: usize) -> io::Result<Vec<u8>> {
    let mut octets = BytesMut::with_capacity(length);
    while octets.len() < length {
        if poll_fn(|cx| connection.poll_read(cx, &mut octets)).await? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(octets.into())
}

fn pattern(seed: usize, length: usize) -> Vec<u8> {
    (seed..seed + length)
        .map(|n| (n % 251) as u8 ^ (n / 251 % 241) as u8)
        .collect()
}

/// Carries octets both ways at once; both ledgers are compared.
async fn carry(client: Box<dyn Connection>, server: Box<dyn Connection>, length: usize) {
    let ends: [Arc<dyn Connection>; 2] = [client.into(), server.into()];
    let mut tasks = Vec::new();
    for end in 0..2 {
        let (writer, reader) = (Arc::clone(&ends[end]), Arc::clone(&ends[1 - end]));
        tasks.push(tokio::spawn(async move {
            write_all(&*writer, &pattern(end, length)).await.unwrap();
        }));
        tasks.push(tokio::spawn(async move {
            let received = read_exactly(&*reader, length).await.unwrap();
            assert!(received == pattern(end, length), "every octet, in order");
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}

async fn connected(atm: &Atm, endpoint: &Endpoint) -> [Box<dyn Connection>; 2] {
    let listener = atm.listen(endpoint).await.unwrap();
    let client = atm.connect(endpoint).await.unwrap();
    [client, accept(&*listener).await]
}

#[tokio::test]
async fn where_there_is_no_atm_listening_says_so() {
    if have_atm("circuits") {
        return;
    }
    let error = atm().listen(&joined(100)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let expected =
        "cannot listen on atm://1.0.100?peer=0.0.100: this kernel has no ATM sockets (AF_ATMPVC)";
    let shown = format!("{error:#}");
    assert!(shown.starts_with(expected), "{shown}");
}

#[tokio::test]
async fn an_interface_that_is_not_there_is_named() {
    if !have_atm("circuits") {
        return;
    }
    let error = atm().listen(&endpoint("9.0.100")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let text = format!("{error:#}");
    assert!(text.contains("there is no ATM interface 9"), "{text}");
}

#[tokio::test]
async fn every_size_of_frame_and_both_classes_carry_both_directions() {
    if !have_atm("circuits") {
        return;
    }
    for quality in ["sdu=256", "sdu=9180", "sdu=65535", "qos=cbr&pcr=100000"] {
        let endpoint = endpoint(&format!("1.0.102?peer=0.0.102&{quality}"));
        let [client, server] = connected(&atm(), &endpoint).await;
        carry(client, server, 150_000).await;
    }
}

#[tokio::test]
async fn the_kernel_has_the_quality_that_was_asked_for_in_both_directions() {
    if !have_atm("circuits") {
        return;
    }
    let (atm, plain) = (atm(), Quality::default());
    let frames_of = |quality: Quality, octets| quality.with_sdu(octets).unwrap();
    let cells = |cells| plain.with_class(Class::Cbr).with_peak_cell_rate(cells);
    let all = [
        ("", frames_of(plain, Config::MAX_SDU as u32)),
        ("&sdu=256", frames_of(plain, 256)),
        ("&pcr=7", frames_of(plain.with_peak_cell_rate(7), 32_384)),
        (
            "&qos=cbr&pcr=100000&sdu=65535",
            frames_of(cells(100_000), 65_535),
        ),
    ];
    for (vci, (asked, granted)) in (110..).zip(all) {
        let endpoint = endpoint(&format!("1.0.{vci}?peer=0.0.{vci}{asked}"));
        let ends = connected(&atm, &endpoint).await;
        for interface in [0, 1] {
            let circuit = CircuitId::new(interface, 0, vci).unwrap();
            assert_eq!(atm.quality(circuit).unwrap(), [granted; 2], "{endpoint}");
        }
        drop(ends);
    }
    let closed = atm.quality(CircuitId::new(0, 0, 114).unwrap());
    assert_eq!(closed.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn one_frame_in_ten_is_lost_and_no_octet() {
    if !have_atm("circuits") {
        return;
    }
    let (atm, endpoint) = (atm(), joined(103));
    let _fault = Fault::set("drop_every", 10);
    let [client, server] = connected(&atm, &endpoint).await;
    carry(client, server, 1_000_000).await;
    // The circuit lingers until its last words are acknowledged, or has ended.
    let near = CircuitId::new(0, 0, 103).unwrap();
    if let Some(statistics) = atm.statistics(near) {
        assert!(statistics.sent_again > 0, "{statistics:?}");
    }
}

#[tokio::test]
async fn a_receiver_that_does_not_read_is_not_overrun() {
    if !have_atm("circuits") {
        return;
    }
    let atm = Atm::new(AtmOptions::default().receive_buffer(100_000));
    let [client, server] = connected(&atm, &joined(104)).await;
    let before = faults::dropped();
    // Many times what the kernel's buffer and the session's hold, while nothing is read.
    let writer = tokio::spawn(async move {
        write_all(&*client, &pattern(5, 3_000_000)).await.unwrap();
        client
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!writer.is_finished());
    let received = read_exactly(&*server, 3_000_000).await.unwrap();
    assert!(received == pattern(5, 3_000_000), "every octet, in order");
    drop(writer.await.unwrap());
    let overruns = faults::dropped() - before;
    assert_eq!(overruns, 0, "frames that the kernel had no room for");
}

#[tokio::test]
async fn a_narrow_line_carries_everything() {
    if !have_atm("circuits") {
        return;
    }
    // 1.4 MB a second: the writer is faster than the device, which says that it is full.
    let _fault = Fault::set("rate", 30_000);
    let [client, server] = connected(&atm(), &joined(105)).await;
    carry(client, server, 700_000).await;
}

/// A peer that is another process: it echoes on circuit 106 until it is killed.
#[tokio::test]
#[ignore = "a process that another test starts"]
async fn echo() {
    let listener = atm().listen(&joined(106)).await.unwrap();
    loop {
        let connection = accept(&*listener).await;
        tokio::spawn(async move {
            let mut octets = BytesMut::with_capacity(65_536);
            while poll_fn(|cx| connection.poll_read(cx, &mut octets))
                .await
                .is_ok_and(|read| read > 0)
            {
                if write_all(&*connection, &octets.split()).await.is_err() {
                    return;
                }
                octets.reserve(65_536);
            }
        });
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn start_echo() -> Killed {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", "echo", "--ignored"]);
    Killed(command.stdout(Stdio::null()).spawn().unwrap())
}

#[tokio::test]
async fn a_peer_that_dies_is_found_and_its_successor_is_reached() {
    if !have_atm("circuits") {
        return;
    }
    let atm = atm();
    let first = start_echo();
    let connection = connect_in_time(&atm).await;
    write_all(&*connection, b"alive?").await.unwrap();
    assert_eq!(read_exactly(&*connection, 6).await.unwrap(), b"alive?");
    // It dies while the connection is idle: only the questions of the session layer find that.
    drop(first);
    let error = read_exactly(&*connection, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let second = start_echo();
    let anew = connect_in_time(&atm).await;
    write_all(&*anew, b"anew").await.unwrap();
    assert_eq!(read_exactly(&*anew, 4).await.unwrap(), b"anew");
    // This one is replaced before it is missed: its successor knows no such session.
    drop(second);
    let _third = start_echo();
    write_all(&*anew, b"still there?").await.unwrap();
    let error = read_exactly(&*anew, 12).await.unwrap_err();
    let gone = [ErrorKind::ConnectionReset, ErrorKind::TimedOut];
    assert!(gone.contains(&error.kind()), "{error}");
}

async fn connect_in_time(atm: &Atm) -> Box<dyn Connection> {
    // The process may take longer to listen than a session to be given up.
    loop {
        match atm.connect(&joined(106)).await {
            Ok(connection) => return connection,
            Err(error) if error.kind() == ErrorKind::TimedOut => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn an_interface_that_is_unplugged_ends_its_sessions() {
    if !have_atm("circuits") {
        return;
    }
    // Interfaces 2 and 3 are for this test alone: one that is gone does not come back.
    let atm = atm();
    let endpoint = endpoint("3.0.107?peer=2.0.107");
    let [client, server] = connected(&atm, &endpoint).await;
    write_all(&*client, b"x").await.unwrap();
    assert_eq!(read_exactly(&*server, 1).await.unwrap(), b"x");
    Fault::once("unplug", 2);
    let error = read_exactly(&*client, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NetworkDown);
    let error = write_all(&*client, b"x").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NetworkDown);
    let error = read_exactly(&*server, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let error = atm.connect(&endpoint).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// All checks that every transport passes.
mod conformance {
    use super::*;
    use std::sync::atomic::{AtomicU16, Ordering};
    use zorb_transport::conformance::FrameFaults;

    struct Circuits;

    /// Circuits that no other test has; some checks take hundreds.
    fn next() -> Endpoint {
        static NEXT: AtomicU16 = AtomicU16::new(1_000);
        joined(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    impl Fixture for Circuits {
        fn is_available(&self) -> bool {
            have_atm("circuits")
        }

        fn transport(&self) -> Arc<dyn Transport> {
            Arc::new(atm())
        }

        fn endpoint(&self) -> Endpoint {
            next()
        }

        fn unreachable(&self) -> (Endpoint, ErrorKind) {
            (next(), ErrorKind::TimedOut)
        }

        fn runs_on_one_thread(&self) -> bool {
            // The unit tests do, over a stand-in for the kernel's circuits. Each check takes seconds in the emulated machine.
            false
        }

        fn turns(&self) -> usize {
            // In the emulated machine a message takes a millisecond and more, beside other work several. The unit tests
            // have all turns, over a stand-in for the kernel's circuits.
            250
        }

        fn large(&self) -> usize {
            // Beyond what the sessions of both ends keep.
            1_200_000
        }

        fn frames(&self) -> Option<&dyn FrameFaults> {
            Some(&Device)
        }
    }

    /// The faults of the virtual machine's interfaces, which are of all circuits.
    struct Device;

    impl FrameFaults for Device {
        fn lose(&self, of: u32) {
            Fault::once("drop_every", of);
        }

        fn double(&self, of: u32) {
            Fault::once("double_every", of);
        }

        fn lost(&self) -> u64 {
            faults::count("lost")
        }

        fn doubled(&self) -> u64 {
            faults::count("doubled")
        }
    }

    zorb_transport::conformance_tests!(Circuits, frames);
}

#[test]
fn endpoints_hold_addresses() {
    let endpoint = joined(32);
    let address: &AtmAddress = endpoint.address().unwrap();
    assert_eq!(address.at_the_peer().to_string(), "0.0.32");
}

#[test]
fn frames_without_sessions_come_as_they_were_sent_or_not_at_all() {
    if !have_atm("frames") {
        return;
    }
    let open = |interface| {
        let circuit = CircuitId::new(interface, 0, 240).unwrap();
        FrameSocket::open(circuit, &Quality::default(), 1 << 20)
    };
    let (near, far) = (open(0).unwrap(), open(1).unwrap());
    let error = open(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(far.receive_buffer() >= 1 << 20);
    let mut frame = b"of before".to_vec();
    assert!(!far.try_receive(&mut frame).unwrap());
    for length in [1, 48, 9_180, Config::MAX_SDU] {
        let sent = vec![length as u8; length];
        near.send(&sent).unwrap();
        assert!(far.receive(&mut frame).unwrap());
        assert!(frame == sent, "{length} octets");
    }
    near.send(&vec![0; Config::MAX_SDU + 1]).unwrap_err();
    Fault::once("drop_next", 1);
    near.send(b"lost").unwrap();
    near.send(b"not lost").unwrap();
    assert!(far.receive(&mut frame).unwrap());
    assert_eq!(frame, b"not lost");
    far.set_receive_timeout(Some(Duration::from_millis(1)))
        .unwrap();
    assert!(!far.receive(&mut frame).unwrap());
}
