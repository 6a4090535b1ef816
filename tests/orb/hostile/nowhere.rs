//! References to nowhere: the right exception in bounded time, which names place and cause.

use crate::hostile::honest_pair::{TargetRef, World, reach, within};
use crate::hostile::raw::{Peer, Raw, ior};
use crate::savings::spawn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use tokio::join;
use tokio::net::{TcpSocket, TcpStream};
use zorb::policy::PolicyOverrides;
use zorb::transport::{
    Addressing, BoxFuture, Capabilities, Connection, Endpoint, Listener, Operation, TcpAddressing,
    Transport, TransportError,
};
use zorb::{
    CompletionStatus as Completed, Interface, Orb, SyncScope, SystemExceptionKind as Kind, minor,
};
use zorb_giop::ior::{
    ComponentTag, IiopAddress, IiopProfile, ProfileTag, TaggedComponent, TaggedProfile, encapsulate,
};
use zorb_giop::{Ior, Version};

/// A limit that passes while a test waits for it, and the shortest that no good call misses.
const SHORT: Duration = Duration::from_millis(100);

/// A port that answers no attempt to connect: its queue is full, and no connection is accepted.
struct BlackHole {
    address: SocketAddr,
    listener: tokio::net::TcpListener,
    _queued: Vec<tokio::task::JoinHandle<std::io::Result<TcpStream>>>,
}

impl BlackHole {
    async fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        // The kernel takes two of these and leaves every other one without an answer.
        let queued = (0..6).map(|_| spawn(TcpStream::connect(address)));
        let queued: Vec<_> = queued.collect();
        within(async {
            while queued
                .iter()
                .filter(|attempt| attempt.is_finished())
                .count()
                < 2
            {
                tokio::task::yield_now().await;
            }
        })
        .await;
        Self {
            address,
            listener,
            _queued: queued,
        }
    }

    fn ior(&self) -> Ior {
        ior(self.address)
    }
}

fn to(orb: &Orb, ior: Ior) -> TargetRef {
    orb.object(ior).unchecked_narrow()
}

fn iiop(host: &str, port: u16) -> TaggedProfile {
    let address = IiopAddress {
        host: host.to_owned(),
        port,
    };
    IiopProfile {
        version: Version::V1_2,
        address,
        object_key: zorb::Bytes::from_static(b"key"),
        components: Vec::new(),
    }
    .to_tagged()
    .unwrap()
}

fn tagged(tag: ProfileTag, data: &'static [u8]) -> TaggedProfile {
    let data = zorb::Bytes::from_static(data);
    TaggedProfile { tag, data }
}

#[tokio::test]
async fn every_reference_to_nowhere_fails_with_its_exception_place_and_cause() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("file"), "no socket").unwrap();
    let _datagrams = std::os::unix::net::UnixDatagram::bind(path("datagrams")).unwrap();
    let closed = {
        let peer = Peer::start().await;
        peer.address()
    };
    let closed_port = closed.port();
    let black_hole = BlackHole::new().await;
    let black_port = black_hole.address.port();

    let nowhere = |kind, minor| (kind, minor, Completed::No);
    let unreachable = nowhere(Kind::Transient, minor::CANNOT_CONNECT);
    let unusable = nowhere(Kind::ImpLimit, minor::NO_USABLE_PROFILE);
    let url = |url: String| {
        let orb = world.bystander().clone();
        async move { orb.string_to_object(&url).await.unwrap().ior().clone() }
    };
    let profiles = |profiles| Ior {
        type_id: TargetRef::REPOSITORY_ID.to_owned(),
        profiles,
    };
    let cases: Vec<(&str, Ior, _, Vec<String>)> = vec![
        (
            "a closed port",
            ior(closed),
            unreachable,
            vec![format!("127.0.0.1:{closed_port}"), "refused".to_owned()],
        ),
        (
            "two of them",
            profiles(vec![
                iiop("127.0.0.1", closed_port),
                iiop("127.0.0.2", closed_port),
            ]),
            unreachable,
            vec![
                format!("127.0.0.1:{closed_port}: Connection refused"),
                format!("127.0.0.2:{closed_port}: Connection refused"),
            ],
        ),
        (
            "a host name that does not resolve",
            url("corbaloc:iiop:1.2@no-such-host.invalid:2809/key".to_owned()).await,
            unreachable,
            // The resolver says so, or does not answer.
            vec![format!(
                "no-such-host.invalid:2809: failed to lookup or no-such-host.invalid:2809 within {SHORT:?}"
            )],
        ),
        (
            "a black hole",
            black_hole.ior(),
            unreachable,
            vec![format!("127.0.0.1:{black_port}"), format!("{SHORT:?}")],
        ),
        (
            "a UNIX socket that is not there",
            url(format!("corbaloc:uiop:1.2@{}|key", path("absent"))).await,
            unreachable,
            vec![path("absent"), "No such file".to_owned()],
        ),
        (
            "a UNIX socket that is a file",
            url(format!("corbaloc:uiop:1.2@{}|key", path("file"))).await,
            unreachable,
            vec![path("file"), "refused".to_owned()],
        ),
        (
            "a UNIX socket of another kind",
            url(format!("corbaloc:uiop:1.2@{}|key", path("datagrams"))).await,
            unreachable,
            vec![path("datagrams"), "wrong type for socket".to_owned()],
        ),
        (
            "a UNIX socket whose path is too long for one",
            url(format!("corbaloc:uiop:1.2@{}|key", path(&"x".repeat(200)))).await,
            unreachable,
            vec![path(&"x".repeat(200))],
        ),
        (
            "nil",
            Ior {
                type_id: String::new(),
                profiles: Vec::new(),
            },
            nowhere(Kind::InvObjref, 0),
            vec!["nil".to_owned()],
        ),
        (
            "nil, with a type",
            profiles(Vec::new()),
            nowhere(Kind::InvObjref, 0),
            vec!["nil".to_owned()],
        ),
        (
            "no profile that we know",
            profiles(vec![tagged(ProfileTag(0x5441_4f04), b"whatever")]),
            unusable,
            vec!["54414f04".to_owned()],
        ),
        (
            "port 0",
            profiles(vec![iiop("somewhere", 0)]),
            unusable,
            vec!["somewhere".to_owned(), "port 0".to_owned()],
        ),
        (
            "no host",
            profiles(vec![iiop("", 2809)]),
            unusable,
            vec!["2809".to_owned(), "empty host".to_owned()],
        ),
        (
            "a host of 64 KiB",
            profiles(vec![iiop(&"h".repeat(64 << 10), 2809)]),
            unusable,
            vec!["a host of at most 255 octets, found 65536".to_owned()],
        ),
        (
            "a profile that is none",
            profiles(vec![tagged(ProfileTag::INTERNET_IOP, &[0, 1])]),
            unusable,
            vec!["octet".to_owned()],
        ),
    ];
    let client = Orb::builder().connect_timeout(SHORT).build().await.unwrap();
    for (what, ior, expected, parts) in cases {
        let target = to(&client, ior);
        let object = target.as_object();
        let outcomes = [
            within(target.twice(4)).await.map(drop),
            within(target.swallow(&[0; 10][..])).await.map(drop),
            within(object.locate()).await.map(drop),
            within(object.non_existent()).await.map(drop),
            within(object.is_a("IDL:Some/Other:1.0")).await.map(drop),
        ];
        for outcome in outcomes {
            let e = outcome.unwrap_err();
            assert_eq!((e.kind, e.minor, e.completed), expected, "{what}: {e}");
            let text = format!("{e:#}");
            for part in &parts {
                let found = part.split(" or ").any(|part| text.contains(part));
                assert!(found, "{what}: {part:?} is not in {text:?}");
            }
        }
        world.serves().await;
    }
    world.end().await;
}

/// A network that refuses every connection, and counts them.
#[derive(Debug, Default)]
struct Refusing(AtomicUsize);

impl Transport for Refusing {
    fn addressing(&self) -> &dyn Addressing {
        &TcpAddressing
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities::stream()
    }
    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let cause = std::io::ErrorKind::ConnectionRefused.into();
        let error = TransportError::new(Operation::Connect, endpoint.clone(), cause);
        Box::pin(async { Err(error) })
    }
    fn listen<'a>(
        &'a self,
        _: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn of_a_thousand_addresses_a_few_are_tried_and_the_others_not() {
    let closed = 9;
    let refusing = Arc::new(Refusing::default());
    let client = Orb::builder().transport(Arc::clone(&refusing) as Arc<dyn Transport>);
    let client = client.build().await.unwrap();
    let hosts = (0..1_000).map(|n| format!("127.1.{}.{}", n / 250, n % 250 + 1));
    let hosts: Vec<String> = hosts.collect();
    let profiles = hosts.iter().map(|host| iiop(host, closed)).collect();
    let alternates = hosts[1..].iter().map(|host| TaggedComponent {
        tag: ComponentTag::ALTERNATE_IIOP_ADDRESS,
        data: encapsulate(|e| {
            e.write_raw_string(host.as_bytes())?;
            e.write_u16(closed);
            Ok(())
        })
        .unwrap(),
    });
    let one_profile = IiopProfile {
        version: Version::V1_2,
        address: IiopAddress {
            host: hosts[0].clone(),
            port: closed,
        },
        object_key: zorb::Bytes::from_static(b"key"),
        components: alternates.collect(),
    };
    for profiles in [profiles, vec![one_profile.to_tagged().unwrap()]] {
        let ior = Ior {
            type_id: TargetRef::REPOSITORY_ID.to_owned(),
            profiles,
        };
        let before = refusing.0.load(Ordering::Relaxed);
        let target = to(&client, ior);
        let e = within(target.twice(4)).await.unwrap_err();
        let expected = (Kind::Transient, minor::CANNOT_CONNECT, Completed::No);
        assert_eq!((e.kind, e.minor, e.completed), expected);
        assert_eq!(refusing.0.load(Ordering::Relaxed) - before, 32, "{e}");
    }
}

#[tokio::test]
async fn a_socket_that_may_not_be_used_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // A privileged user may use this socket too: then there is no warning.
    if std::os::unix::net::UnixStream::connect(&path).is_ok() {
        eprintln!("skipped: this user may use every socket");
    } else {
        let url = format!("corbaloc:uiop:1.2@{}|key", path.display());
        let target = reach(world.bystander(), &url).await;
        let e = within(target.twice(4)).await.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completed::No));
        let text = format!("{e:#}");
        assert!(text.contains(path.to_str().unwrap()), "{text}");
        assert!(text.contains("ermission"), "{text}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_black_hole_ends_with_the_time_limit_of_the_call_and_nothing_was_done() {
    let world = World::start().await;
    let black_hole = BlackHole::new().await;
    // Longer than the test takes on any machine: the attempt to connect must not end by itself.
    let client = Orb::builder().connect_timeout(Duration::from_secs(3600));
    let client = client.build().await.unwrap();
    let target = to(&client, black_hole.ior());
    let hasty = target.as_object().with_round_trip_timeout(SHORT);
    let place = black_hole.address.to_string();
    // A call that ends by its own time limit does not end the attempt of the others.
    let patient = spawn(async move { target.twice(4).await });
    for _ in 0..3 {
        let typed: TargetRef = hasty.unchecked_narrow();
        let outcomes = join!(
            within(typed.twice(4)),
            within(typed.forget(4)),
            within(hasty.locate())
        );
        let outcomes = [outcomes.0.map(drop), outcomes.1, outcomes.2.map(drop)];
        for outcome in outcomes {
            let e = outcome.unwrap_err();
            assert_eq!((e.kind, e.completed), (Kind::Timeout, Completed::No), "{e}");
            let text = format!("{e:#}");
            assert!(text.contains(&place) && text.contains("100ms"), "{text}");
        }
        world.serves().await;
        assert!(!patient.is_finished());
    }
    patient.abort();
    world.end().await;
}

#[tokio::test]
async fn the_next_endpoint_is_tried_when_one_is_a_black_hole() {
    let world = World::start().await;
    let black_hole = BlackHole::new().await;
    let client = Orb::builder().connect_timeout(SHORT).build().await.unwrap();
    let reference = world.reference();
    let real = client.string_to_object(&reference).await.unwrap();
    let mut ior = real.ior().clone();
    ior.profiles.insert(0, black_hole.ior().profiles.remove(0));
    let target = to(&client, ior);
    assert_eq!(within(target.twice(4)).await, Ok(8));
    assert_eq!(within(target.twice(5)).await, Ok(10));
    world.end().await;
}

/// A network whose name server never answers.
#[derive(Debug)]
struct Silence;

impl Transport for Silence {
    fn addressing(&self) -> &dyn Addressing {
        &TcpAddressing
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities::stream()
    }
    fn connect<'a>(
        &'a self,
        _: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(std::future::pending())
    }
    fn listen<'a>(
        &'a self,
        _: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn the_connect_timeout_counts_the_search_for_the_address_too() {
    let limit = Duration::from_secs(7);
    let client = Orb::builder()
        .transport(Arc::new(Silence))
        .connect_timeout(limit)
        .build()
        .await
        .unwrap();
    let profiles = vec![iiop("one", 1), iiop("two", 2), iiop("three", 3)];
    let target = to(
        &client,
        Ior {
            type_id: String::new(),
            profiles,
        },
    );
    let before = tokio::time::Instant::now();
    let e = target.twice(4).await.unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Transient, Completed::No));
    for part in ["iiop://one:1 within 7s", "iiop://two:2", "iiop://three:3"] {
        assert!(format!("{e:#}").contains(part), "{e:#}");
    }
    assert_eq!(before.elapsed().as_secs(), 21);

    // One clock for all of it.
    let hasty = target.with_round_trip_timeout(Duration::from_secs(10));
    let before = tokio::time::Instant::now();
    let e = hasty.twice(4).await.unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completed::No));
    assert!(format!("{e:#}").contains("iiop://one:1") && format!("{e:#}").contains("10s"));
    assert_eq!(before.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn every_time_limit_counts_the_time_in_which_the_client_connects() {
    const LIMIT: Duration = Duration::from_secs(10);
    let client = Orb::builder()
        .transport(Arc::new(Silence))
        .connect_timeout(Duration::from_secs(3600))
        .build()
        .await
        .unwrap();
    let ior = Ior {
        type_id: String::new(),
        profiles: vec![iiop("one", 1)],
    };
    let target = to(&client, ior);
    let none = PolicyOverrides::new;
    // Times of the calendar are counted from when the call is made.
    let in_time = || SystemTime::now() + LIMIT;
    let limit_by = |what: &str| match what {
        "RelativeRequestTimeout" => none().relative_request_timeout(LIMIT),
        "RelativeRoundTripTimeout" => none().relative_round_trip_timeout(LIMIT),
        "RequestEndTime" => none().request_end_time(in_time()),
        "ReplyEndTime" => none().reply_end_time(in_time()),
        other => unreachable!("{other}"),
    };
    let scopes = [
        None,
        Some(SyncScope::WithTransport),
        Some(SyncScope::WithServer),
        Some(SyncScope::WithTarget),
    ];
    for what in [
        "RelativeRequestTimeout",
        "RelativeRoundTripTimeout",
        "RequestEndTime",
        "ReplyEndTime",
    ] {
        for scope in scopes {
            let hasty = target.as_object().with_policies(&limit_by(what));
            let hasty: TargetRef = hasty.unchecked_narrow();
            let before = tokio::time::Instant::now();
            let outcome = match scope {
                None => hasty.twice(4).await.map(drop),
                Some(scope) => hasty.with_sync_scope(scope).forget(4).await,
            };
            let e = outcome.unwrap_err();
            let found = (e.kind, e.completed);
            assert_eq!(
                found,
                (Kind::Timeout, Completed::No),
                "{what} {scope:?}: {e}"
            );
            assert!(format!("{e:#}").contains("iiop://one:1"), "{what}: {e:#}");
            // The clock of this test stands still but for timers; that of the calendar does not.
            let waited = before.elapsed().as_secs_f64().round();
            let expected = LIMIT.as_secs_f64() / 2.0..=LIMIT.as_secs_f64();
            assert!(expected.contains(&waited), "{what} {scope:?}: {waited} s");
        }
    }
}

#[tokio::test]
async fn a_request_that_was_late_while_the_client_connected_is_not_sent_when_it_has() {
    let black_hole = BlackHole::new().await;
    let client = Orb::builder().connect_timeout(Duration::from_secs(3600));
    let client = client.build().await.unwrap();
    let target = to(&client, black_hole.ior());
    for hasty in [
        PolicyOverrides::new().relative_request_timeout(SHORT),
        PolicyOverrides::new().relative_round_trip_timeout(SHORT),
    ] {
        let hasty: TargetRef = target.as_object().with_policies(&hasty).unchecked_narrow();
        let acknowledged = hasty.with_sync_scope(SyncScope::WithServer);
        for late in [within(hasty.forget(1)), within(acknowledged.forget(2))] {
            let e = late.await.unwrap_err();
            assert_eq!((e.kind, e.completed), (Kind::Timeout, Completed::No), "{e}");
        }
        let e = within(hasty.twice(3)).await.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Timeout, Completed::No), "{e}");
    }
    let patient = spawn(async move { target.twice(4).await });
    // Connections of the black hole itself bring nothing; the client's begins with the only call that still waits.
    let serving = spawn(async move {
        loop {
            let (stream, _) = black_hole.listener.accept().await.unwrap();
            spawn(async move { Raw::new(stream).serve_twice().await });
        }
    });
    assert_eq!(within(patient).await.unwrap(), Ok(8));
    serving.abort();
}
