//! TCP passes every check that a transport must pass, and what is its own.
use std::{
    future::poll_fn,
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::BytesMut;
use socket2::{Domain, Socket, Type};
use zorb_transport::{
    Endpoint, Operation, Properties, Tcp, TcpAddress, TcpOptions, Transport, conformance::Fixture,
    conformance_tests,
};

#[cfg(target_os = "linux")]
#[path = "../../../tests/support/sockets.rs"]
mod sockets;

mod by_default {
    use super::*;
    conformance_tests!(over("127.0.0.1", TcpOptions::default()));
}

mod over_ipv6 {
    use super::*;
    conformance_tests!(over(loopback_of_ipv6(), TcpOptions::default()));
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
    let address: &TcpAddress = listener.endpoint().address().unwrap();
    assert_eq!(address.host(), "localhost");
    assert_ne!(address.port(), 0);
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
    let port = listener.endpoint().port().unwrap();
    let connection = transport
        .connect(&Endpoint::iiop("localhost", port))
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
    let address: &TcpAddress = listener.endpoint().address().unwrap();
    let port = address.port();
    assert_eq!(
        (address.host(), listener.endpoint().to_string()),
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
    assert_eq!(error.to_string(), format!("cannot resolve {endpoint}"));
}

#[tokio::test]
async fn an_address_of_another_machine_cannot_be_listened_on() {
    // Of the documentation's network, 192.0.2.0/24, which no interface has.
    let error = Tcp::default()
        .listen(&Endpoint::iiop("192.0.2.1", 0))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
    assert_eq!(error.to_string(), "cannot listen on iiop://192.0.2.1:0");
}

#[tokio::test]
async fn options_that_the_system_refuses_are_reported_when_listening() {
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
    /// Bound and not listening, so that the port refuses and no other socket gets it.
    unreachable: Socket,
}

fn over(host: &'static str, options: TcpOptions) -> OverTcp {
    let address = SocketAddr::new(host.parse().unwrap(), 0);
    let unreachable = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
    unreachable.bind(&address.into()).unwrap();
    OverTcp {
        transport: Arc::new(Tcp::new(options)),
        host,
        unreachable,
    }
}

/// IPv4's where the machine has no IPv6, as containers often have not: then the checks run over IPv4 once more.
fn loopback_of_ipv6() -> &'static str {
    match std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) {
        Ok(_) => "::1",
        Err(error) => {
            eprintln!("skipped: this machine has no IPv6: {error}");
            "127.0.0.1"
        }
    }
}

impl Fixture for OverTcp {
    fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.transport)
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::iiop(self.host, 0)
    }

    fn unreachable(&self) -> (Endpoint, ErrorKind) {
        let port = self
            .unreachable
            .local_addr()
            .unwrap()
            .as_socket()
            .unwrap()
            .port();
        (
            Endpoint::iiop(self.host, port),
            ErrorKind::ConnectionRefused,
        )
    }
}

mod with_properties {
    //! The same checks with every property set away from its default.
    use super::*;

    fn with_everything(host: &'static str) -> OverTcp {
        let options = TcpOptions::default()
            .dscp(46)
            .bind(host.parse().unwrap())
            .dont_route(true)
            .reuse_address(false);
        over(host, options)
    }

    conformance_tests!(with_everything("127.0.0.1"));

    mod over_ipv6 {
        use super::*;
        conformance_tests!(with_everything(loopback_of_ipv6()));
    }
}

/// The sockets of both ends of a connection, whose ends have these options.
#[cfg(target_os = "linux")]
async fn options_in_use(
    host: &str,
    of_server: TcpOptions,
    of_client: TcpOptions,
) -> (sockets::SocketOptions, sockets::SocketOptions) {
    let (of_server, of_client) = (Tcp::new(of_server), Tcp::new(of_client));
    let listener = of_server.listen(&Endpoint::iiop(host, 0)).await.unwrap();
    let _client = of_client.connect(listener.endpoint()).await.unwrap();
    let _server = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
    let port = listener.endpoint().port().unwrap();
    let host: IpAddr = host.parse().unwrap();
    sockets::options_of_both_ends(SocketAddr::new(host, port))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_sockets_of_both_ends_have_the_options_that_they_were_asked_to_have() {
    let minute = Duration::from_secs(60);
    let of_client = || {
        TcpOptions::default()
            .nodelay(false)
            .keepalive(minute)
            .send_buffer(20_000)
            .receive_buffer(30_000)
            .dscp(10)
    };
    let of_server = || {
        TcpOptions::default()
            .without_keepalive()
            .send_buffer(40_000)
            .receive_buffer(50_000)
            .dscp(46)
    };
    for host in ["127.0.0.1", loopback_of_ipv6()] {
        let (client, server) = options_in_use(host, of_server(), of_client()).await;
        let expected = sockets::SocketOptions {
            nodelay: false,
            keepalive: Some(minute),
            send_buffer: 2 * 20_000,
            receive_buffer: 2 * 30_000,
            dscp: 10,
        };
        assert_eq!(client, expected, "the client at {host}");
        let expected = sockets::SocketOptions {
            nodelay: true,
            keepalive: None,
            send_buffer: 2 * 40_000,
            receive_buffer: 2 * 50_000,
            dscp: 46,
        };
        assert_eq!(server, expected, "the server at {host}");
        // Each end has its own, so that both are asked for the other way round.
        let (client, server) = options_in_use(host, of_client(), of_server()).await;
        assert_eq!((client.nodelay, server.nodelay), (true, false));
        assert_eq!((client.keepalive, server.keepalive), (None, Some(minute)));
        assert_eq!((client.dscp, server.dscp), (46, 10));
        assert_eq!(client.send_buffer, 2 * 40_000);
        assert_eq!(server.receive_buffer, 2 * 30_000);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn sockets_without_options_send_at_once_and_probe_a_silent_peer() {
    for host in ["127.0.0.1", loopback_of_ipv6()] {
        let default = TcpOptions::default;
        let (client, server) = options_in_use(host, default(), default()).await;
        for end in [client, server] {
            let found = (end.nodelay, end.keepalive, end.dscp);
            assert_eq!(found, (true, Some(Duration::from_secs(120)), 0), "{host}");
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn properties_by_name_reach_the_socket() {
    let set = |properties: &[(&str, &str)]| {
        let tcp: Arc<dyn Transport> = Arc::new(Tcp::default());
        let having = |tcp: Arc<dyn Transport>, (name, value): &(&str, &str)| {
            tcp.with_property(name, value).unwrap()
        };
        properties.iter().fold(tcp, having)
    };
    let transport = set(&[
        ("nodelay", "0"),
        ("keepalive", "77"),
        ("send_buffer", "24000"),
        ("receive_buffer", "25000"),
        ("dscp", "34"),
    ]);
    let anywhere = Endpoint::iiop("127.0.0.1", 0);
    let listener = transport.listen(&anywhere).await.unwrap();
    let client = transport.connect(listener.endpoint()).await.unwrap();
    let server = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
    let port = listener.endpoint().port().unwrap();
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let expected = sockets::SocketOptions {
        nodelay: false,
        keepalive: Some(Duration::from_secs(77)),
        send_buffer: 48_000,
        receive_buffer: 50_000,
        dscp: 34,
    };
    assert_eq!(sockets::options_of_both_ends(at), (expected, expected));
    drop((client, server));
    let unset = set(&[("keepalive", "77"), ("keepalive", "0")]);
    let client = unset.connect(listener.endpoint()).await.unwrap();
    let server = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
    let (of_client, _) = sockets::options_of_both_ends(at);
    assert_eq!(of_client.keepalive, None);
    drop((client, server));
}

#[tokio::test]
async fn connections_come_from_the_address_that_they_are_bound_to() {
    let own = Ipv4Addr::new(127, 0, 0, 77);
    let tcp = Tcp::new(TcpOptions::default().bind(own.into()));
    let listener = tcp.listen(&Endpoint::iiop("127.0.0.1", 0)).await.unwrap();
    let client = tcp.connect(listener.endpoint()).await.unwrap();
    let from = client.local().to_string();
    assert!(from.starts_with("iiop://127.0.0.77:"), "{from}");
}

/// Addresses of networks that are for documentation (RFC 5737). A virtual machine may be in one of them all the same, so at
/// least one of two is elsewhere.
#[tokio::test]
async fn packets_take_no_gateway_where_none_may_be_taken() {
    let tcp = Tcp::new(TcpOptions::default().dont_route(true));
    let mut errors = Vec::new();
    for address in ["198.51.100.1", "203.0.113.1"] {
        let elsewhere = Endpoint::iiop(address, 9);
        let connecting = tcp.connect(&elsewhere);
        let ended = tokio::time::timeout(Duration::from_secs(20), connecting).await;
        errors.extend(ended.ok().and_then(Result::err).map(|error| error.kind()));
    }
    assert!(
        errors.contains(&ErrorKind::NetworkUnreachable),
        "{errors:?}"
    );
}

#[tokio::test]
async fn a_port_is_shared_by_listeners_that_all_ask_for_it() {
    let shared = Tcp::new(TcpOptions::default().reuse_port(true));
    let one = shared
        .listen(&Endpoint::iiop("127.0.0.1", 0))
        .await
        .unwrap();
    shared.listen(one.endpoint()).await.unwrap();
    let error = Tcp::default().listen(one.endpoint()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
}

#[tokio::test]
async fn properties_are_set_by_name_and_by_type() {
    let tcp = Tcp::default();
    let bound = tcp.with_property("bind", "127.0.0.78").unwrap();
    let options = TcpOptions::default().bind(Ipv4Addr::new(127, 0, 0, 78).into());
    let typed = tcp
        .with_properties(&Properties::default().with(options))
        .unwrap();
    for transport in [bound, typed] {
        let listener = tcp.listen(&Endpoint::iiop("127.0.0.1", 0)).await.unwrap();
        let client = transport.connect(listener.endpoint()).await.unwrap();
        assert!(client.local().to_string().starts_with("iiop://127.0.0.78:"));
    }
    assert!(tcp.with_properties(&Properties::default()).is_none());
    for (name, value, expected) in [
        (
            "dscp",
            "64",
            "expected dscp=a code point from 0 to 63, found \"dscp=64\"",
        ),
        (
            "nodelay",
            "maybe",
            "expected nodelay=0 or 1, found \"nodelay=maybe\"",
        ),
        (
            "bind",
            "::x",
            "expected bind=an IP address of this host, found \"bind=::x\"",
        ),
    ] {
        let error = tcp.with_property(name, value).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let unknown = tcp.with_property("colour", "red").unwrap_err().to_string();
    assert!(
        unknown.starts_with("expected one of the properties nodelay,"),
        "{unknown}"
    );
}
