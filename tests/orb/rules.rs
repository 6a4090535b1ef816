//! Rules: which clients a server serves, and where a client connects.

use crate::certificates::Authority;
use std::net::TcpListener;
use std::sync::Arc;
use zorb::policy::{BidirectionalPolicy, PolicyOverrides};
use zorb::tls::{ClientCertificates, Tls, TlsOptions};
use zorb::transport::{Rule, Rules};
use zorb::{
    Builder, CompletionStatus, Counter, ObjectRef, Orb, SystemException,
    SystemExceptionKind as Kind,
};

zorb::idl! {
    module Ruled {
        interface Gate {
            /// The transport that the call came by.
            string scheme();
            /// Calls another gate, and gives its answer, or the exception.
            string ask(in Gate other);
        };
    };
}

use ruled::{Gate, GateRef, GateServant};

struct Keeper;

impl Gate for Keeper {
    async fn scheme(&self) -> Result<String, SystemException> {
        let peer = zorb::PoaCurrent::get_peer().unwrap();
        Ok(peer
            .map_or("none", |peer| peer.endpoint.scheme())
            .to_owned())
    }

    async fn ask(&self, other: Option<GateRef>) -> Result<String, SystemException> {
        let asked = other.expect("a gate").scheme().await;
        Ok(asked.unwrap_or_else(|error| error.kind.to_string()))
    }
}

fn rules(text: &str) -> Rules {
    text.parse().unwrap()
}

async fn serve(builder: Builder) -> (Orb, GateRef) {
    let server = builder.build().await.unwrap();
    let gate = server
        .root_poa()
        .activate(GateServant::new(Keeper))
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    server.key_table().bind("Gate", &gate).unwrap();
    (server, gate)
}

async fn reference(client: &Orb, text: &str) -> GateRef {
    let object = client.string_to_object(text).await.unwrap();
    object.unchecked_narrow()
}

/// That a call was refused before it reached a servant.
fn refused<T: std::fmt::Debug>(outcome: Result<T, SystemException>) -> SystemException {
    let error = outcome.unwrap_err();
    assert_eq!(
        (error.kind, error.minor, error.completed),
        (Kind::NoPermission, 0, CompletionStatus::No),
        "{error:#}"
    );
    error
}

/// That nobody has connected.
fn nobody_came(listener: &TcpListener) {
    listener.set_nonblocking(true).unwrap();
    let came = listener.accept().map(drop);
    assert_eq!(came.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn a_client_that_the_rules_do_not_permit_gets_no_permission_and_is_counted() {
    let listening = Orb::builder().listen("iiop://127.0.0.1:0");
    let (server, gate) = serve(listening.accept_rules(rules("10.0.0.0/8 tcp"))).await;
    for version in [
        zorb::Version::V1_0,
        zorb::Version::V1_1,
        zorb::Version::V1_2,
    ] {
        let client = Orb::builder().max_giop_version(version);
        let client = client.build().await.unwrap();
        let gate = reference(&client, &gate.to_string()).await;
        let error = refused(gate.scheme().await);
        // The answer says nothing of the rules.
        assert!(!format!("{error:#}").contains("10.0.0.0"), "{error:#}");
    }
    assert!(server.counters().get(Counter::ConnectionsNotPermitted) >= 3);
    // A client that calls from the server's own process is not by a connection.
    assert_eq!(gate.scheme().await.unwrap(), "none");
}

#[tokio::test]
async fn rules_are_read_from_the_options_of_omniorb_and_added_to_those_of_the_program() {
    let mut arguments: Vec<String> = ["-ORBserverTransportRule", "localhost tcp"]
        .map(str::to_owned)
        .into();
    let builder = Orb::builder().accept_rules(rules("127.0.0.7 none"));
    let (_server, gate) = serve(builder.args(&mut arguments).listen("iiop://127.0.0.1:0")).await;
    let from = |address: &str| {
        let from = format!("iiop.bind={address}");
        Orb::builder().transport_property(from).build()
    };
    let text = gate.to_string();
    let client = from("127.0.0.7").await.unwrap();
    refused(reference(&client, &text).await.scheme().await);
    let client = from("127.0.0.1").await.unwrap();
    let scheme = reference(&client, &text).await.scheme().await;
    assert_eq!(scheme.unwrap(), "iiop");

    let mut arguments: Vec<String> = ["-ORBclientTransportRule", "10.0.0.0/33 tcp"]
        .map(str::to_owned)
        .into();
    let built = Orb::builder().args(&mut arguments).build().await;
    let text = built.unwrap_err().to_string();
    assert!(
        text.starts_with("argument -ORBclientTransportRule: expected *, localhost"),
        "{text}"
    );
}

#[tokio::test]
async fn clients_at_unix_sockets_are_permitted_by_their_users() {
    let folder = tempfile::tempdir().unwrap();
    let me = std::os::unix::fs::MetadataExt::uid(&folder.path().metadata().unwrap());
    for (user, served) in [(me, true), (me + 1, false)] {
        let socket = folder.path().join(format!("socket-{user}"));
        let builder = Orb::builder().listen(format!("uiop://{}", socket.display()));
        let builder = builder.accept_rules(Rules::new([Rule::allow().user(user)]));
        let (_server, gate) = serve(builder).await;
        let client = Orb::builder().build().await.unwrap();
        let asked = reference(&client, &gate.to_string()).await.scheme().await;
        match served {
            true => assert_eq!(asked.unwrap(), "uiop"),
            false => drop(refused(asked)),
        }
    }
}

/// The transport of a server, and those of clients with and without a certificate.
struct Certified {
    authority: Authority,
    server: Tls,
}

impl Certified {
    fn new() -> Self {
        let authority = Authority::new("CA");
        let own = authority.issue("server", &["127.0.0.1"]);
        let options = TlsOptions::default()
            .certificate(&own, &own)
            .trust(authority.trust())
            .client_certificates(ClientCertificates::Optional);
        let server = Tls::new(options).unwrap();
        Self { authority, server }
    }

    fn serving(&self) -> Builder {
        let builder = Orb::builder().transport(Arc::new(self.server.clone()));
        builder.listen("ssliop://127.0.0.1:0")
    }

    async fn client(&self, subject: Option<&str>) -> Orb {
        let mut options = TlsOptions::default().trust(self.authority.trust());
        if let Some(subject) = subject {
            let own = self.authority.issue(subject, &[]);
            options = options.certificate(&own, &own);
        }
        let tls = Arc::new(Tls::new(options).unwrap());
        Orb::builder().transport(tls).build().await.unwrap()
    }
}

#[tokio::test]
async fn clients_over_tls_are_permitted_by_the_names_in_their_certificates() {
    let certified = Certified::new();
    let permitted = Rules::new([Rule::allow().certificate("CN=alice")]);
    let (_server, gate) = serve(certified.serving().accept_rules(permitted)).await;
    let text = gate.to_string();
    let asked = |client: Orb| {
        let text = text.clone();
        async move { reference(&client, &text).await.scheme().await }
    };
    let alice = asked(certified.client(Some("alice")).await).await;
    assert_eq!(alice.unwrap(), "ssliop");
    // One wording, whatever the cause.
    let bob = refused(asked(certified.client(Some("bob")).await).await);
    let stranger = refused(asked(certified.client(None).await).await);
    assert_eq!(bob.to_string(), stranger.to_string());
}

#[tokio::test]
async fn a_client_whose_address_is_refused_gets_no_handshake() {
    let certified = Certified::new();
    let builder = certified.serving().accept_rules(rules("10.0.0.0/8 ssl"));
    let (_server, gate) = serve(builder).await;
    let client = certified.client(None).await;
    let asked = reference(&client, &gate.to_string()).await.scheme().await;
    assert_eq!(asked.unwrap_err().kind, Kind::Transient);
    let handshakes = certified.server.handshakes();
    assert_eq!((handshakes.done, handshakes.failed), (0, 0));
}

#[tokio::test]
async fn an_endpoint_at_which_nobody_would_be_served_is_not_opened() {
    let certified = Certified::new();
    let both = certified.serving().listen("iiop://127.0.0.1:0");
    let built = both.accept_rules(rules("* ssl")).build().await;
    let text = built.unwrap_err().to_string();
    assert!(
        text.contains("the rules for clients (accept_rules) permit none at iiop://127.0.0.1:0"),
        "{text}"
    );
    let (_server, _gate) = serve(certified.serving().accept_rules(rules("* ssl"))).await;
}

#[tokio::test]
async fn an_endpoint_that_the_rules_do_not_permit_is_not_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let cases = [
        ("* ssl", "127.0.0.1"),
        ("* ssl", "localhost"),
        ("127.0.0.0/8 none; ::1 none; * tcp", "127.0.0.1"),
        // Names are judged by their addresses, and nobody's address is this host.
        ("127.0.0.0/8 none; ::1 none; * tcp", "localhost"),
        ("localhost none; * tcp", "localhost"),
        ("127.0.0.0/8 none; ::1 none; * tcp", "0.0.0.0"),
        ("*.example tcp", "localhost"),
        ("10.0.0.0/8 tcp", "localhost"),
    ];
    for (text, host) in cases {
        let client = Orb::builder()
            .connect_rules(rules(text))
            .build()
            .await
            .unwrap();
        let gate = reference(&client, &format!("corbaloc::{host}:{port}/Gate")).await;
        let error = refused(gate.scheme().await);
        assert!(
            format!("{error:#}").contains(&format!("iiop://{host}:{port}")),
            "{error:#}"
        );
        assert!(client.counters().get(Counter::EndpointsNotPermitted) <= 1);
    }
    nobody_came(&listener);
}

#[tokio::test]
async fn permitted_names_and_ports_are_connected_to() {
    let (server, _gate) = serve(Orb::builder().listen("iiop://127.0.0.1:0")).await;
    let port = server.endpoints()[0].port().unwrap();
    let permitted = [
        rules("localhost tcp"),
        rules("127.0.0.0/8 tcp; ::1 tcp"),
        Rules::new([Rule::allow().ports(port..=port)]),
    ];
    for rules in permitted {
        let client = Orb::builder().connect_rules(rules).build().await.unwrap();
        let gate = reference(&client, &format!("corbaloc::localhost:{port}/Gate")).await;
        assert_eq!(gate.scheme().await.unwrap(), "iiop");
    }
}

#[tokio::test]
async fn endpoints_are_tried_in_the_order_of_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("uiop://{}/socket", folder.path().display());
    let builder = Orb::builder().listen("iiop://127.0.0.1:0").listen(socket);
    let (_server, gate) = serve(builder).await;
    for (text, first) in [
        ("* tcp,unix", "iiop"),
        ("* unix,tcp", "uiop"),
        ("* unix", "uiop"),
    ] {
        let client = Orb::builder()
            .connect_rules(rules(text))
            .build()
            .await
            .unwrap();
        let gate = reference(&client, &gate.to_string()).await;
        assert_eq!(gate.scheme().await.unwrap(), first, "{text}");
    }
}

#[tokio::test]
async fn references_of_peers_have_rules_of_their_own_whatever_is_connected_already() {
    let (_other, other) = serve(Orb::builder().listen("iiop://127.0.0.1:0")).await;
    let asker = Orb::builder().listen("iiop://127.0.0.1:0");
    let (server, asking) =
        serve(asker.connect_rules_of_peers(rules("localhost none; * tcp"))).await;
    let client = Orb::builder().build().await.unwrap();
    let asking = reference(&client, &asking.to_string()).await;
    let named = reference(&client, &other.to_string()).await;
    assert_eq!(asking.ask(&named).await.unwrap(), "NO_PERMISSION");
    // The program may, and its connection serves nobody else.
    let own = reference(&server, &other.to_string()).await;
    assert_eq!(own.scheme().await.unwrap(), "iiop");
    assert_eq!(asking.ask(&named).await.unwrap(), "NO_PERMISSION");
}

#[tokio::test]
async fn a_callback_on_a_clients_connection_needs_no_permission_to_connect() {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .accept_bidirectional(|_, _| true)
        .connect_rules(rules("* ssl"));
    let (_server, asking) = serve(server).await;
    let offers = PolicyOverrides::new().bidirectional(BidirectionalPolicy::Both);
    let client = Orb::builder().policies(&offers).build().await.unwrap();
    let poa = client.root_poa();
    poa.set_bidirectional_policy(BidirectionalPolicy::Both);
    let own: GateRef = poa.activate(GateServant::new(Keeper)).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let asking = reference(&client, &asking.to_string()).await;
    assert_eq!(asking.ask(&own).await.unwrap(), "iiop");
}

#[tokio::test]
async fn a_hardened_server_has_no_plain_port_and_calls_none() {
    let certified = Certified::new();
    let plain = certified.serving().listen("iiop://127.0.0.1:0").hardened();
    assert!(plain.build().await.is_err());
    let (server, gate) = serve(certified.serving().hardened()).await;
    let client = certified.client(None).await;
    let calling = reference(&client, &gate.to_string()).await;
    assert_eq!(calling.scheme().await.unwrap(), "ssliop");
    // By no reference that a peer names it is led to this host, nor by any to a plain port.
    let (_plain, plain) = serve(Orb::builder().listen("iiop://127.0.0.1:0")).await;
    let named = reference(&client, &plain.to_string()).await;
    assert_eq!(calling.ask(&named).await.unwrap(), "NO_PERMISSION");
    refused(reference(&server, &plain.to_string()).await.scheme().await);
    assert!(
        server
            .string_to_object("file:///etc/hostname")
            .await
            .is_err()
    );
    // A trusted network is the opposite.
    let open = certified.serving().listen("iiop://127.0.0.1:0").hardened();
    let (open, _gate) = serve(open.trusted_network()).await;
    let plain: ObjectRef = open.string_to_object(&plain.to_string()).await.unwrap();
    assert!(!plain.non_existent().await.unwrap());
}
