//! A server with a thread for each connection that gets no more threads: it closes further connections in order.

use crate::support::{HANG, process};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::net::TcpStream;
use zorb::{Counter, Orb};

/// Octets of the stack of a thread. They are many, so that where no thread fits there is yet memory for all else.
const STACK: u64 = 64 << 20;
/// Threads for which there is memory.
const THREADS: u64 = 4;
const CONNECTIONS: usize = 20;

#[test]
fn connections_without_a_thread_are_closed_in_order_and_counted_and_the_others_are_served() {
    let result = process(module_path!(), "a_server_with_memory_for_few_threads")
        .env("RUST_MIN_STACK", STACK.to_string())
        // Threads get no arenas of their own, which would be larger than their stacks.
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&result.stdout);
    assert!(
        result.status.success() && text.contains("1 passed"),
        "{}: {text}{}",
        result.status,
        String::from_utf8_lossy(&result.stderr)
    );
}

#[test]
#[ignore = "a process that another test starts"]
fn a_server_with_memory_for_few_threads() {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build_blocking()
        .unwrap();
    let endpoint = orb.endpoints()[0].to_string();
    let address = endpoint.strip_prefix("iiop://").unwrap();
    let before = getrlimit(Resource::As);
    setrlimit(
        Resource::As,
        Rlimit {
            current: Some(octets_mapped() + STACK * THREADS + STACK / 2),
            ..before
        },
    )
    .unwrap();
    let mut open: Vec<_> = (0..CONNECTIONS)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    let answers: Vec<_> = open.iter_mut().map(locates).collect();
    let served = (answers.iter()).filter(|answer| **answer == Some(LOCATE_REPLY));
    let served = served.count();
    assert!((1..=THREADS as usize).contains(&served), "{served}");
    let closed = (answers.iter()).filter(|answer| **answer == Some(CLOSE_CONNECTION));
    assert_eq!(closed.count(), CONNECTIONS - served, "{answers:?}");
    // Those with a thread go on, and the others have ended.
    for (connection, answer) in open.iter_mut().zip(answers) {
        let expected = answer.filter(|kind| *kind == LOCATE_REPLY);
        assert_eq!(locates(connection), expected);
    }
    let refused = orb.counters().get(Counter::ConnectionsWithoutThread);
    assert_eq!(refused as usize, CONNECTIONS - served);
    // With memory for more threads, so do new ones.
    setrlimit(Resource::As, before).unwrap();
    let answer = locates(&mut TcpStream::connect(address).unwrap());
    assert_eq!(answer, Some(LOCATE_REPLY));
    drop(open);
    orb.shutdown(true).unwrap();
}

/// Octets of address space that this process has.
fn octets_mapped() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kibibytes = (status.lines())
        .find_map(|line| line.strip_prefix("VmSize:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB"));
    kibibytes.unwrap().parse::<u64>().unwrap() << 10
}

/// The types of messages.
const LOCATE_REPLY: u8 = 4;
const CLOSE_CONNECTION: u8 = 5;

/// Sends a LocateRequest, and returns the type of the message that answers it; `None` without one.
fn locates(connection: &mut TcpStream) -> Option<u8> {
    connection.set_read_timeout(Some(HANG)).unwrap();
    // GIOP 1.2, little-endian; request 1, for an object key of one octet.
    let request = b"GIOP\x01\x02\x01\x03\x0d\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0x";
    // The connection may have ended.
    let _ = connection.write_all(request);
    let mut header = [0; 12];
    connection.read_exact(&mut header).ok()?;
    assert!(header.starts_with(b"GIOP\x01"), "{header:?}");
    if header[7] == LOCATE_REPLY {
        // The request, and whether the object is here.
        let mut body = [0; 8];
        connection.read_exact(&mut body).unwrap();
        assert!(body.starts_with(&[1, 0, 0, 0]), "{body:?}");
    }
    Some(header[7])
}
