//! The relay is a network: what goes in comes out, in its order, and no earlier than the network would have it.

use as_needed::relay::{Link, measure, relay};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

fn through(link: Link) -> (TcpStream, TcpStream) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (to, at) = (server.local_addr().unwrap(), listener.local_addr().unwrap());
    thread::spawn(move || relay(&listener, to, link));
    let client = TcpStream::connect(at).unwrap();
    (client, server.accept().unwrap().0)
}

const LINK: Link = Link {
    delay: Duration::from_millis(2),
    bits_per_second: Some(100e6),
};

#[test]
fn both_directions_carry_every_octet_in_order_up_to_the_end() {
    let (client, server) = through(LINK);
    let sent: Vec<u8> = (0..300_000_u32).map(|n| n as u8).collect();
    let ends = [client, server].map(|mut end| {
        let (mut writing, sent) = (end.try_clone().unwrap(), sent.clone());
        let writing = thread::spawn(move || {
            writing.write_all(&sent).unwrap();
            writing.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let reading = thread::spawn(move || {
            let mut received = Vec::new();
            end.read_to_end(&mut received).unwrap();
            received
        });
        (writing, reading)
    });
    for (writing, reading) in ends {
        writing.join().unwrap();
        assert!(reading.join().unwrap() == sent);
    }
}

#[test]
fn nothing_arrives_early() {
    let accuracy = measure(LINK, 20).unwrap();
    assert!(accuracy.p50 >= LINK.delay, "{accuracy:?}");
    assert!(accuracy.p99 >= accuracy.p50, "{accuracy:?}");
    let link = Link {
        bits_per_second: Some(8e6),
        ..LINK
    };
    assert_eq!(link.time_of(1_000_000), Duration::from_secs(1));
}

#[test]
fn a_peer_that_hangs_up_is_heard_of_at_the_other_end() {
    let (client, mut server) = through(LINK);
    drop(client);
    assert_eq!(server.read(&mut [0]).unwrap(), 0);
    let (mut client, server) = through(LINK);
    drop(server);
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
}
