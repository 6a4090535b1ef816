//! The code points of packets, as they are on the wire.
use std::{
    future::poll_fn,
    io::{IoSlice, Read},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, Type};
use zorb_transport::{Endpoint, Tcp, TcpOptions, Transport};

/// A raw socket gets a copy of each TCP packet that arrives at this host, with its IP header.
#[tokio::test]
async fn packets_on_the_wire_carry_the_code_point_of_the_end_that_sends_them() {
    let raw = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::TCP));
    let mut raw = match raw {
        Ok(raw) => raw,
        Err(error) => return eprintln!("skipped: a raw socket needs CAP_NET_RAW: {error}"),
    };
    raw.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let end = |code_point| Tcp::new(TcpOptions::default().dscp(code_point));
    for (of_server, of_client) in [(46, 10), (0, 56), (24, 0)] {
        let listener = (end(of_server).listen(&Endpoint::iiop("127.0.0.1", 0)))
            .await
            .unwrap();
        let port = listener.endpoint().port().unwrap();
        let client = end(of_client).connect(listener.endpoint()).await.unwrap();
        let server = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
        for connection in [&client, &server] {
            let written = connection.try_write(&[IoSlice::new(b"x")]);
            assert_eq!(written.unwrap(), 1);
        }
        let (mut from_server, mut from_client) = (None, None);
        let mut packet = [0; 2048];
        while from_server.is_none() || from_client.is_none() {
            let octets = raw.read(&mut packet).unwrap();
            let ip = usize::from(packet[0] & 0x0f) * 4;
            let tcp = usize::from(packet[ip + 12] >> 4) * 4;
            // Packets without payload belong to the handshake, too, in which the kernel answers before there is a socket.
            if ip + tcp == octets {
                continue;
            }
            let number = |at: usize| u16::from_be_bytes([packet[ip + at], packet[ip + at + 1]]);
            if number(0) == port {
                from_server = Some(packet[1] >> 2);
            }
            if number(2) == port {
                from_client = Some(packet[1] >> 2);
            }
        }
        assert_eq!(
            (from_server, from_client),
            (Some(of_server), Some(of_client))
        );
    }
}
