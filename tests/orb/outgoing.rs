//! References that come from peers: where they may lead, how many connections they may cost, and what a client learns
//! from the exceptions of calls through them.

use crate::savings::{in_time, spawn};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use zorb::{
    Builder, Bytes, Counter, Ior, ObjectRef, Orb, SystemException, SystemExceptionKind as Kind,
    Version, minor,
};
use zorb_giop::ior::{IiopAddress, ProfileBody, UiopAddress};

zorb::idl! {
    module Outgoing {
        interface Caller {
            /// Asks the object whether it is there.
            boolean call(in Object target);
            /// The same, and what was said of it where it failed: kind and minor code.
            string attempt(in Object target);
        };
    };
}

use outgoing::{Caller, CallerRef, CallerServant};

struct Servant;

impl Caller for Servant {
    async fn call(&self, target: Option<ObjectRef>) -> Result<bool, SystemException> {
        target.expect("an object").non_existent().await
    }

    async fn attempt(&self, target: Option<ObjectRef>) -> Result<String, SystemException> {
        let asked = target.expect("an object").non_existent().await;
        Ok(asked.map_or_else(
            |e| format!("{} {:x} {e}", e.kind, e.minor),
            |_| String::new(),
        ))
    }
}

/// A server that calls whatever its clients name, and a client of it.
async fn world(server: Builder) -> (Orb, Orb, CallerRef) {
    let server = server.listen("iiop://127.0.0.1:0").build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let caller: CallerRef = (server.root_poa())
        .activate(CallerServant::new(Servant))
        .unwrap();
    let client = Orb::builder().build().await.unwrap();
    let object = client
        .string_to_object(&server.object_to_string(&caller))
        .await;
    let caller = object.unwrap().unchecked_narrow();
    (server, client, caller)
}

fn to_tcp(client: &Orb, host: &str, port: u16) -> ObjectRef {
    let address = IiopAddress {
        host: host.to_owned(),
        port,
    };
    let profile = profile(address).to_tagged().unwrap();
    client.object(Ior {
        type_id: String::new(),
        profiles: vec![profile],
    })
}

fn profile<A>(address: A) -> ProfileBody<A> {
    ProfileBody {
        version: Version::V1_2,
        address,
        object_key: Bytes::from_static(b"key"),
        components: Vec::new(),
    }
}

/// A UNIX socket without a server, and a reference to it.
fn to_unix(client: &Orb, folder: &tempfile::TempDir) -> (UnixListener, ObjectRef, String) {
    let path = folder.path().join("socket").display().to_string();
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("corbaloc:uiop:1.2@{path}|key");
    let profile = profile(UiopAddress { path }).to_tagged().unwrap();
    let object = client.object(Ior {
        type_id: String::new(),
        profiles: vec![profile],
    });
    (listener, object, url)
}

#[tokio::test]
async fn a_unix_socket_that_a_peer_names_is_not_connected_to() {
    let folder = tempfile::tempdir().unwrap();
    let (server, client, caller) = world(Orb::builder()).await;
    let (listener, object, url) = to_unix(&client, &folder);
    let outcome = in_time(caller.attempt(&object)).await.unwrap();
    let expected = format!("IMP_LIMIT {:x}", minor::NO_USABLE_PROFILE);
    assert!(outcome.starts_with(&expected), "{outcome}");
    assert!(
        outcome.contains("Builder::unix_sockets_of_peers"),
        "{outcome}"
    );
    assert!(listener.accept().is_err(), "it was connected to");
    let counted = server.counters().get(Counter::SocketsOfPeersRefused);
    assert!(counted > 0, "refusals are counted");
    // The application itself may name it, and then a peer may too.
    let named = in_time(server.string_to_object(&url)).await.unwrap();
    drop(named);
    let calling = spawn(async move { caller.call(&object).await });
    while listener.accept().is_err() {
        tokio::task::yield_now().await;
    }
    in_time(calling).await.unwrap().unwrap_err();
}

#[tokio::test]
async fn a_unix_socket_that_a_peer_names_is_connected_to_where_that_is_permitted() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, client, caller) = world(Orb::builder().unix_sockets_of_peers(true)).await;
    let (listener, object, _) = to_unix(&client, &folder);
    let calling = spawn(async move { caller.call(&object).await });
    while listener.accept().is_err() {
        tokio::task::yield_now().await;
    }
    in_time(calling).await.unwrap().unwrap_err();
}

#[tokio::test]
async fn a_server_on_a_unix_socket_may_name_it_in_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let server = Orb::builder()
        .listen(format!("uiop://{}", folder.path().join("s").display()))
        .build()
        .await
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let account = (server.root_poa())
        .activate(crate::savings::account("Ada"))
        .unwrap();
    let door: ObjectRef = (server.root_poa())
        .create_forward(zorb::Forward::to(&account))
        .unwrap();
    let client = Orb::builder().build().await.unwrap();
    let door = in_time(client.string_to_object(&server.object_to_string(&door)))
        .await
        .unwrap();
    assert!(!in_time(door.non_existent()).await.unwrap());
}

#[tokio::test]
async fn references_of_peers_take_no_more_connections_than_their_share() {
    const ALL: usize = 8;
    const PEERS: usize = 6;
    const REFERENCES: usize = 40;
    let builder = Orb::builder().max_outgoing_connections(ALL);
    let builder = builder.round_trip_timeout(std::time::Duration::from_millis(200));
    let (server, client, caller) = world(builder).await;
    // One listener under many addresses, which takes every connection and says nothing.
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..REFERENCES {
        let object = to_tcp(&client, &format!("127.1.0.{}", number + 1), port);
        let caller = caller.clone();
        calls.spawn(async move { in_time(caller.attempt(&object)).await.unwrap() });
    }
    let outcome = calls.join_all().await;
    let over = outcome
        .iter()
        .filter(|outcome| outcome.contains("the limit"))
        .count();
    assert_eq!(over, REFERENCES - PEERS, "{outcome:?}");
    assert_eq!(server.outgoing_connections(), PEERS);
    assert_eq!(
        (server.counters()).get(Counter::OutgoingConnectionsRefused),
        (REFERENCES - PEERS) as u64
    );
    assert!(outcome.iter().all(|outcome| !outcome.contains("the limit")
        || outcome.starts_with(&format!("TRANSIENT {:x}", minor::CANNOT_CONNECT))));
    // Endpoints that the application names itself have a limit of their own.
    let own = server.object(to_tcp(&client, "127.2.0.1", port).ior().clone());
    let error = in_time(own.non_existent()).await.unwrap_err();
    assert_eq!(error.kind, Kind::Timeout, "{error}");
    assert_eq!(server.outgoing_connections(), PEERS + 1);
}

#[tokio::test]
async fn there_are_no_more_connections_to_a_host_than_the_builder_says() {
    let builder = Orb::builder().max_connections_to_host(2);
    let builder = builder.round_trip_timeout(std::time::Duration::from_millis(200));
    let client = builder.build().await.unwrap();
    // Three servers of one host, which take every connection and say nothing.
    let listeners: Vec<_> = (0..3)
        .map(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap())
        .collect();
    let call = |host: &str, listener: &TcpListener| {
        let port = listener.local_addr().unwrap().port();
        let object = to_tcp(&client, host, port);
        async move { in_time(object.non_existent()).await.unwrap_err().kind }
    };
    let [first, second, third] = &listeners[..] else {
        unreachable!("three were bound");
    };
    let (first, second, third) = tokio::join!(
        call("127.1.0.1", first),
        call("127.1.0.1", second),
        call("127.1.0.1", third)
    );
    let mut kinds = [first, second, third];
    kinds.sort_by_key(|kind| *kind == Kind::Transient);
    assert_eq!(kinds, [Kind::Timeout, Kind::Timeout, Kind::Transient]);
    let refused = (client.counters()).get(Counter::OutgoingConnectionsRefused);
    assert_eq!(refused, 1);
    // Another host has connections of its own.
    assert_eq!(call("127.1.0.2", &listeners[0]).await, Kind::Timeout);
}

#[tokio::test]
async fn a_client_learns_nothing_of_ports_from_the_exceptions_that_a_servant_lets_through() {
    let (_server, client, caller) = world(Orb::builder()).await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let open = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = open.local_addr().unwrap().port();
    let banner = std::thread::spawn(move || {
        use std::io::Write;
        for _ in 0..2 {
            let (mut stream, _) = open.accept().unwrap();
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.9\r\n");
        }
    });
    let closed = to_tcp(&client, "127.0.0.1", closed);
    let open = to_tcp(&client, "127.0.0.1", port);
    let of_closed = in_time(caller.call(&closed)).await.unwrap_err();
    let of_open = in_time(caller.call(&open)).await.unwrap_err();
    assert_eq!((of_closed.kind, of_closed.minor), (Kind::Unknown, 0));
    assert_eq!(of_closed, of_open);
    assert_eq!((of_closed.detail(), of_open.detail()), (None, None));
    // And where the program itself passes on what an exception says, the service's words are not in it.
    let outcome = in_time(caller.attempt(&open)).await.unwrap();
    assert!(outcome.contains("COMM_FAILURE"), "{outcome}");
    assert!(
        !outcome.contains("53, 53, 48") && !outcome.contains("SSH"),
        "{outcome}"
    );
    banner.join().unwrap();
}
