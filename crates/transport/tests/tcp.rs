//! TCP passes every check that a transport must pass, and what is its own.
use std::{
    future::poll_fn,
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::BytesMut;
use socket2::{Domain, Socket, Type};
use zorb_transport::{
    Endpoint, Operation, Tcp, TcpOptions, Transport, conformance::Fixture, conformance_tests,
};

mod by_default {
    use super::*;
    conformance_tests!(over("127.0.0.1", TcpOptions::default()));
}

mod with_another_congestion_control {
    use super::*;
    conformance_tests!(over(
        "127.0.0.1",
        TcpOptions::default().congestion_control("reno")
    ));
}

/// Many partial writes and many waits.
mod with_small_buffers {
    use super::*;
    conformance_tests!(over(
        "127.0.0.1",
        TcpOptions::default().send_buffer(4096).receive_buffer(4096)
    ));
}

#[tokio::test]
async fn a_host_name_is_resolved() {
    let transport = Tcp::default();
    let listener = transport
        .listen(&Endpoint::iiop("localhost", 0))
        .await
        .unwrap();
    let Endpoint::Iiop { host, port } = listener.endpoint() else {
        panic!("TCP listens on iiop")
    };
    assert_eq!(host, "localhost");
    assert_ne!(*port, 0);
    transport.connect(listener.endpoint()).await.unwrap();
}

#[tokio::test]
async fn all_addresses_of_a_name_are_tried() {
    // Where localhost is ::1 as well, that one refuses and comes first; where it is not, this is about one address.
    let transport = Tcp::default();
    let listener = transport
        .listen(&Endpoint::iiop("127.0.0.1", 0))
        .await
        .unwrap();
    let Endpoint::Iiop { port, .. } = listener.endpoint() else {
        panic!("TCP listens on iiop")
    };
    let connection = transport
        .connect(&Endpoint::iiop("localhost", *port))
        .await
        .unwrap();
    assert_eq!(
        connection.peer().to_string(),
        format!("iiop://127.0.0.1:{port}")
    );
}

#[tokio::test]
async fn ipv6_goes_in_brackets() {
    let transport = Tcp::default();
    let listener = match transport.listen(&"iiop://[::1]:0".parse().unwrap()).await {
        Ok(listener) => listener,
        // A machine without IPv6, as containers often are.
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
            return;
        }
    };
    let Endpoint::Iiop { host, port } = listener.endpoint() else {
        panic!("TCP listens on iiop")
    };
    assert_eq!(
        (host.as_str(), listener.endpoint().to_string()),
        ("::1", format!("iiop://[::1]:{port}"))
    );
    let connection = transport.connect(listener.endpoint()).await.unwrap();
    assert_eq!(
        connection.peer().to_string(),
        listener.endpoint().to_string()
    );
}

#[tokio::test]
async fn a_name_without_address_is_named() {
    let endpoint = Endpoint::iiop("no-such-host.invalid", 2809);
    let error = Tcp::default().connect(&endpoint).await.unwrap_err();
    assert_eq!(error.operation(), Operation::Resolve);
    assert_eq!(
        error.to_string(),
        format!("cannot resolve {endpoint}: {}", error.cause())
    );
}

#[tokio::test]
async fn an_address_of_another_machine_cannot_be_listened_on() {
    // Of the documentation's network, 192.0.2.0/24, which nobody has.
    let error = Tcp::default()
        .listen(&Endpoint::iiop("192.0.2.1", 0))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
    assert_eq!(
        error.to_string(),
        "cannot listen on iiop://192.0.2.1:0: Cannot assign requested address (os error 99)"
    );
}

#[tokio::test]
async fn options_that_the_system_refuses_are_told_when_listening() {
    let options = TcpOptions::default;
    for (options, kind) in [
        (options().keepalive(Duration::ZERO), ErrorKind::InvalidInput),
        (options().congestion_control("no such"), ErrorKind::NotFound),
    ] {
        let error = Tcp::new(options)
            .listen(&Endpoint::iiop("127.0.0.1", 0))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind);
    }
}

#[tokio::test]
async fn a_restarted_server_gets_its_port_back() {
    let transport = Tcp::default();
    let listener = transport
        .listen(&Endpoint::iiop("127.0.0.1", 0))
        .await
        .unwrap();
    let endpoint = listener.endpoint().clone();
    let client = transport.connect(&endpoint).await.unwrap();
    // The side that closes first has to remember the connection for a minute.
    drop(poll_fn(|cx| listener.poll_accept(cx)).await.unwrap());
    let end = poll_fn(|cx| client.poll_read(cx, &mut BytesMut::with_capacity(1))).await;
    assert_eq!(end.unwrap(), 0);
    drop((client, listener));
    assert_eq!(
        *transport.listen(&endpoint).await.unwrap().endpoint(),
        endpoint
    );
}

struct OverTcp {
    transport: Arc<dyn Transport>,
    host: &'static str,
    /// Bound and not listening, so that the port refuses and nobody else gets it.
    nobody: Socket,
}

fn over(host: &'static str, options: TcpOptions) -> OverTcp {
    let nobody = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    nobody
        .bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())
        .unwrap();
    OverTcp {
        transport: Arc::new(Tcp::new(options)),
        host,
        nobody,
    }
}

impl Fixture for OverTcp {
    fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.transport)
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::iiop(self.host, 0)
    }

    fn nobody(&self) -> (Endpoint, ErrorKind) {
        let port = self
            .nobody
            .local_addr()
            .unwrap()
            .as_socket()
            .unwrap()
            .port();
        (
            Endpoint::iiop("127.0.0.1", port),
            ErrorKind::ConnectionRefused,
        )
    }
}
