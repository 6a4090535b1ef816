//! Bidirectional GIOP: callbacks on the connection that their client has opened.

use crate::hostile::raw::{Call, Raw, reply};
use crate::savings::spawn;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use zorb::policy::{BidirectionalPolicy, PolicyOverrides};
use zorb::{
    Builder, Counter, Interface, Orb, Overload, SystemException, SystemExceptionKind as Kind,
    Version, minor,
};
use zorb_giop::ior::{IiopProfile, encapsulate};
use zorb_giop::{Ior, MessageKind, ReplyStatus, RequestHeader, ServiceContext, ServiceContextId};

zorb::idl! {
    module Bidirectional {
        interface Listener {
            string heard(in string text);
            oneway void noted(in long n);
        };
        interface Bell {
            /// Calls the listener, and gives what that says.
            string ring(in Listener target, in string text);
            /// Keeps the listener, and calls it later.
            void keep(in Listener target);
            string ring_kept(in string text);
            void note(in Listener target, in long count);
        };
    };
}

use bidirectional::{Bell, BellRef, BellServant, Listener, ListenerRef, ListenerServant};

#[derive(Default)]
struct Ear {
    heard: AtomicUsize,
    noted: Mutex<Vec<i32>>,
}

impl Listener for Ear {
    async fn heard(&self, text: &str) -> Result<String, SystemException> {
        self.heard.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        Ok(format!("{text}!"))
    }

    async fn noted(&self, n: i32) -> Result<(), SystemException> {
        self.noted.lock().unwrap().push(n);
        Ok(())
    }
}

#[derive(Default)]
struct Tower {
    kept: Mutex<Option<ListenerRef>>,
    /// The last exception of a callback: the client of the servant gets UNKNOWN for some.
    failed: Mutex<Option<SystemException>>,
}

impl Tower {
    /// Calls the listener back.
    async fn call(
        &self,
        target: Option<ListenerRef>,
        text: &str,
    ) -> Result<String, SystemException> {
        let heard = target.ok_or_else(missing)?.heard(text).await;
        *self.failed.lock().unwrap() = heard.as_ref().err().cloned();
        heard
    }

    /// The error of the last callback.
    fn failed(&self) -> (Kind, u32) {
        let failed = self.failed.lock().unwrap();
        let error = failed.as_ref().expect("an exception");
        (error.kind, error.minor)
    }
}

fn missing() -> SystemException {
    Kind::BadParam.into()
}

impl Bell for Tower {
    async fn ring(
        &self,
        target: Option<ListenerRef>,
        text: &str,
    ) -> Result<String, SystemException> {
        self.call(target, text).await
    }

    async fn keep(&self, target: Option<ListenerRef>) -> Result<(), SystemException> {
        *self.kept.lock().unwrap() = target;
        Ok(())
    }

    async fn ring_kept(&self, text: &str) -> Result<String, SystemException> {
        let kept = self.kept.lock().unwrap().clone();
        self.call(kept, text).await
    }

    async fn note(&self, target: Option<ListenerRef>, count: i32) -> Result<(), SystemException> {
        let target = target.ok_or_else(missing)?;
        for n in 0..count {
            target.noted(n).await?;
        }
        Ok(())
    }
}

/// A clock that turns a hang into a failure.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("no call hangs")
}

struct World {
    server: Orb,
    tower: Arc<Tower>,
    client: Orb,
    bell: BellRef,
    ear: Arc<Ear>,
    listener: ListenerRef,
}

impl World {
    /// Where the server listens.
    fn bell_port(&self) -> u16 {
        self.server.endpoints()[0].port().expect("a TCP endpoint")
    }
}

fn accepting() -> Builder {
    Orb::builder().accept_bidirectional(|_, _| true)
}

fn offering() -> Builder {
    let both = PolicyOverrides::new().bidirectional(BidirectionalPolicy::Both);
    Orb::builder().policies(&both)
}

async fn world(server: Builder, client: Builder) -> World {
    let server = server.listen("iiop://127.0.0.1:0").build().await.unwrap();
    let tower = Arc::new(Tower::default());
    let bell = BellServant::from_arc(Arc::clone(&tower));
    let bell: BellRef = server.root_poa().activate(bell).unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = client.build().await.unwrap();
    assert_eq!(client.endpoints(), [], "the client listens nowhere");
    let poa = client.root_poa();
    poa.set_bidirectional_policy(BidirectionalPolicy::Both);
    let ear = Arc::new(Ear::default());
    let listener = poa
        .activate(ListenerServant::from_arc(Arc::clone(&ear)))
        .unwrap();
    poa.the_poa_manager().activate().unwrap();
    let text = server.object_to_string(&bell);
    let bell = client.string_to_object(&text).await.unwrap();
    World {
        server,
        tower,
        client,
        bell: bell.unchecked_narrow(),
        ear,
        listener,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_listens_nowhere_is_called_on_its_own_connection() {
    let world = world(accepting(), offering()).await;
    let heard = in_time(world.bell.ring(&world.listener, "ding")).await;
    assert_eq!(heard, Ok("ding!".to_owned()));
    // And outside of an upcall of the client's, too.
    in_time(world.bell.keep(&world.listener)).await.unwrap();
    let kept = world.tower.kept.lock().unwrap().clone().unwrap();
    assert_eq!(in_time(kept.heard("dong")).await, Ok("dong!".to_owned()));
    assert_eq!(in_time(kept.as_object().locate()).await, Ok(true));
    assert_eq!(in_time(kept.as_object().non_existent()).await, Ok(false));
    assert_eq!(world.ear.heard.load(Ordering::Relaxed), 2);
    assert_eq!(world.server.connections_served(), 1, "one connection");
    assert_eq!(world.client.outgoing_connections(), 1, "and no other");
    // One-way calls of the server arrive in their order.
    in_time(world.bell.note(&world.listener, 500))
        .await
        .unwrap();
    assert_eq!(
        in_time(world.bell.ring(&world.listener, "")).await,
        Ok("!".to_owned())
    );
    assert_eq!(
        *world.ear.noted.lock().unwrap(),
        (0..500).collect::<Vec<_>>()
    );
    in_time(world.client.shutdown(true)).await.unwrap();
    in_time(world.server.shutdown(true)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_both_ends_at_a_time_get_their_own_replies() {
    const FRAGMENT: usize = 1_024;
    for fragments in [false, true] {
        let configure = |builder: Builder| match fragments {
            true => builder.max_fragment_octets(FRAGMENT),
            false => builder,
        };
        let world = world(configure(accepting()), configure(offering())).await;
        in_time(world.bell.keep(&world.listener)).await.unwrap();
        let kept = world.tower.kept.lock().unwrap().clone().unwrap();
        let mut calls = tokio::task::JoinSet::new();
        for caller in 0..16_usize {
            let (bell, listener, kept) = (world.bell.clone(), world.listener.clone(), kept.clone());
            calls.spawn(async move {
                for round in 0..20_usize {
                    // From nothing to some 300 KiB.
                    let text = format!("{caller}.{round}:").repeat((caller * round) << 6);
                    let expected = format!("{text}!");
                    let there = bell.ring(&listener, &text);
                    let (there, back) = tokio::join!(there, kept.heard(&text));
                    assert!(there.unwrap() == expected && back.unwrap() == expected);
                }
            });
        }
        in_time(calls.join_all()).await;
        assert_eq!(world.ear.heard.load(Ordering::Relaxed), 16 * 20 * 2);
        assert_eq!(world.server.connections_served(), 1);
        in_time(world.server.shutdown(true)).await.unwrap();
        in_time(world.client.shutdown(true)).await.unwrap();
    }
}

#[tokio::test]
async fn a_server_without_a_rule_and_one_that_refuses_do_not_call_back() {
    let refusing = || Orb::builder().accept_bidirectional(|_, _| false);
    let older = || offering().max_giop_version(Version::V1_1);
    for (server, client) in [
        (Orb::builder(), offering()),
        (refusing(), offering()),
        // Before GIOP 1.2 there is no such thing.
        (accepting(), older()),
    ] {
        let world = world(server, client).await;
        let heard = in_time(world.bell.ring(&world.listener, "ding")).await;
        heard.unwrap_err();
        let unreachable = (Kind::Transient, minor::CANNOT_CONNECT);
        assert_eq!(world.tower.failed(), unreachable);
    }
}

#[tokio::test]
async fn a_server_calls_nothing_that_it_was_not_given() {
    let world = world(accepting(), offering()).await;
    in_time(world.bell.ring(&world.listener, "ding"))
        .await
        .unwrap();
    let ear = Arc::new(Ear::default());
    let servant = || ListenerServant::from_arc(Arc::clone(&ear));
    // An object of a POA without the policy, a persistent one with a plain key, and one that never was.
    let root = world.client.root_poa();
    let hidden = root.create_poa("hidden", None).unwrap();
    hidden.the_poa_manager().activate().unwrap();
    let hidden: ListenerRef = hidden.activate(servant()).unwrap();
    let plain: ListenerRef = (world.client.ins_poa())
        .activate_object_with_id("Plain", servant())
        .unwrap();
    let never: ListenerRef = root.create_reference().unwrap();
    for secret in [&hidden, &plain, &never] {
        in_time(world.bell.ring(secret, "psst")).await.unwrap_err();
        assert_eq!(world.tower.failed().0, Kind::ObjectNotExist);
        in_time(world.bell.keep(secret)).await.unwrap();
        let kept = world.tower.kept.lock().unwrap().clone().unwrap();
        assert_eq!(in_time(kept.as_object().locate()).await, Ok(false));
    }
    assert_eq!(ear.heard.load(Ordering::Relaxed), 0);
    // The object itself goes on, until its POA says otherwise.
    in_time(world.bell.ring(&world.listener, "ding"))
        .await
        .unwrap();
    root.set_bidirectional_policy(BidirectionalPolicy::Normal);
    // Known headers are located anew on another connection only; another operation's is not known.
    in_time(world.bell.keep(&world.listener)).await.unwrap();
    let kept = world.tower.kept.lock().unwrap().clone().unwrap();
    assert_eq!(in_time(kept.as_object().locate()).await, Ok(false));
}

#[tokio::test]
async fn a_reference_with_the_policy_normal_offers_nothing() {
    let world = world(accepting(), offering()).await;
    let normal = PolicyOverrides::new().bidirectional(BidirectionalPolicy::Normal);
    let heard = in_time(world.bell.with_policies(&normal).ring(&world.listener, "")).await;
    heard.unwrap_err();
    assert_eq!(world.tower.failed().0, Kind::Transient);
    in_time(world.bell.ring(&world.listener, "")).await.unwrap();
    assert_eq!(
        world.server.connections_served(),
        2,
        "the offered one is another one"
    );
}

#[tokio::test]
async fn callbacks_end_with_the_connection_and_come_back_with_the_next_one() {
    let world = world(accepting(), offering()).await;
    in_time(world.bell.keep(&world.listener)).await.unwrap();
    in_time(world.bell.ring_kept("ding")).await.unwrap();
    let kept = world.tower.kept.lock().unwrap().clone().unwrap();
    in_time(world.client.shutdown(true)).await.unwrap();
    let error = in_time(kept.heard("dong")).await.unwrap_err();
    assert!(
        matches!(error.kind, Kind::Transient | Kind::CommFailure),
        "{error}"
    );
    in_time(async {
        while world.server.connections_served() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    in_time(world.server.shutdown(true)).await.unwrap();
}

/// Passes on the connections that are made to it, until it is cut off: then it keeps what comes from the server to
/// itself, and never closes a connection, whatever the server does.
struct Relay {
    port: u16,
    is_cut_off: watch::Sender<bool>,
    server_has_closed: watch::Receiver<bool>,
}

impl Relay {
    async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_cut_off = watch::Sender::new(false);
        let (closed, server_has_closed) = watch::channel(false);
        let cut_off = is_cut_off.subscribe();
        spawn(async move {
            // On a busy machine the server may close a connection as idle before the next call.
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                spawn(Self::pass_on(
                    client,
                    server,
                    cut_off.clone(),
                    closed.clone(),
                ));
            }
        });
        Self {
            port,
            is_cut_off,
            server_has_closed,
        }
    }

    async fn pass_on(
        mut client: TcpStream,
        mut server: TcpStream,
        mut cut_off: watch::Receiver<bool>,
        closed: watch::Sender<bool>,
    ) {
        let (mut from_client, mut to_client) = client.split();
        let (mut from_server, mut to_server) = server.split();
        let there = async {
            let mut octets = [0; 4_096];
            while let Ok(length @ 1..) = from_client.read(&mut octets).await {
                // The server may have closed meanwhile.
                if to_server.write_all(&octets[..length]).await.is_err() {
                    break;
                }
            }
        };
        let back = async {
            let mut octets = [0; 4_096];
            while let Ok(length @ 1..) = from_server.read(&mut octets).await {
                if !*cut_off.borrow_and_update()
                    && to_client.write_all(&octets[..length]).await.is_err()
                {
                    break;
                }
            }
            closed.send_replace(true);
            std::future::pending::<()>().await;
        };
        tokio::join!(there, back);
    }
}

/// The object, at another port.
fn at_port(orb: &Orb, bell: &BellRef, port: u16) -> BellRef {
    changed(orb, bell, |profile| profile.address.port = port)
}

fn changed<R: Interface>(orb: &Orb, reference: &R, change: impl FnOnce(&mut IiopProfile)) -> R {
    let mut ior = reference.as_object().ior().clone();
    let mut profile = IiopProfile::from_tagged(&ior.profiles[0]).unwrap();
    change(&mut profile);
    ior.profiles = vec![profile.to_tagged().unwrap()];
    orb.object(ior).unchecked_narrow()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_the_server_is_closing_is_passed_over_for_one_that_is_open() {
    // Whether the server has called on it before: its client's half is there, and closes it.
    for was_called in [false, true] {
        let idle = accepting().idle_timeout(Duration::from_millis(100));
        let world = world(idle, offering()).await;
        let relay = Relay::to(world.bell_port()).await;
        let first = at_port(&world.client, &world.bell, relay.port);
        in_time(first.keep(&world.listener)).await.unwrap();
        if was_called {
            in_time(first.ring_kept("ding")).await.unwrap();
        }
        relay.is_cut_off.send_replace(true);
        // The second connection is in use for as long as the first one is idle.
        in_time(async {
            while !*relay.server_has_closed.borrow() {
                world.bell.keep(&world.listener).await.unwrap();
            }
        })
        .await;
        let heard = in_time(world.bell.ring_kept("dong")).await;
        assert_eq!(heard, Ok("dong!".to_owned()), "{:?}", world.tower.failed);
        in_time(world.server.shutdown(true)).await.unwrap();
        in_time(world.client.shutdown(true)).await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_that_serves_calls_of_other_code_sets_is_passed_over() {
    let world = world(accepting(), offering()).await;
    in_time(world.bell.ring(&world.listener, "ding"))
        .await
        .unwrap();
    let another = PolicyOverrides::new().private_connection(true);
    let another = world.bell.with_policies(&another);
    let silent = changed(&world.client, &world.listener, |profile| {
        profile.components.clear();
    });
    let heard = in_time(another.ring(&silent, "dong")).await;
    assert_eq!(heard, Ok("dong!".to_owned()), "{:?}", world.tower.failed);
    assert_eq!(world.server.connections_served(), 2);
}

#[tokio::test]
async fn a_private_reference_that_is_dropped_leaves_the_connection_to_the_client_that_opened_it() {
    let private = PolicyOverrides::new().private_connection(true);
    let world = world(accepting().policies(&private), offering()).await;
    for text in ["ding", "dong"] {
        // The servant drops its reference to the listener before the reply leaves, on the same connection.
        let heard = in_time(world.bell.ring(&world.listener, text)).await;
        assert_eq!(heard, Ok(format!("{text}!")), "{:?}", world.tower.failed);
    }
    assert_eq!(world.server.connections_served(), 1);
}

#[tokio::test]
async fn endpoints_beyond_a_limit_are_ignored_and_counted() {
    const CONNECTIONS: usize = 9;
    let cause = Counter::CallbackEndpointsIgnored;
    // A client whose connections all offer the same endpoint, one more than are remembered for it: the first is forgotten.
    let world = world(accepting(), offering()).await;
    let private = PolicyOverrides::new().private_connection(true);
    let mut bells = Vec::new();
    for _ in 0..CONNECTIONS {
        let bell = world.bell.with_policies(&private);
        in_time(bell.keep(&world.listener)).await.unwrap();
        in_time(bell.ring_kept("ding")).await.unwrap();
        bells.push(bell);
    }
    assert_eq!(world.server.counters().get(cause), 0);
    // A client that offers more endpoints than are taken of one context.
    let many = (0..17).fold(offering(), |client, _| client.listen("iiop://127.0.0.1:0"));
    let client = many.build().await.unwrap();
    let text = world.server.object_to_string(&world.bell);
    let bell: BellRef = in_time(client.string_to_object(&text))
        .await
        .unwrap()
        .unchecked_narrow();
    in_time(bell.keep(None)).await.unwrap();
    assert_eq!(world.server.counters().get(cause), 1);
}

/// A client of sockets, which offers an endpoint at which nobody listens.
struct RawClient {
    bell: Vec<u8>,
    listener: Ior,
    offer: ServiceContext,
}

impl RawClient {
    const HOST: &str = "100::1";

    fn of(world: &World) -> Self {
        let profile = &world.bell.as_object().ior().profiles[0];
        let bell = IiopProfile::from_tagged(profile).unwrap();
        let listener = changed(&world.client, &world.listener, |profile| {
            profile.address.host = Self::HOST.to_owned();
        });
        let listener = listener.as_object().ior().clone();
        let port = IiopProfile::from_tagged(&listener.profiles[0]).unwrap();
        let data = encapsulate(|e| {
            e.put(&1_u32)?;
            e.put(&Self::HOST.to_owned())?;
            e.put(&port.address.port)
        });
        Self {
            bell: bell.object_key.to_vec(),
            listener,
            offer: ServiceContext {
                id: ServiceContextId::BI_DIR_IIOP,
                data: data.unwrap(),
            },
        }
    }

    /// A connection that offers itself for callbacks, and on which the listener has been passed.
    async fn connect(&self, world: &World) -> Raw {
        let stream = TcpStream::connect(("127.0.0.1", world.bell_port())).await;
        let mut raw = Raw::new(stream.unwrap());
        let contexts = std::slice::from_ref(&self.offer);
        let keep = Call {
            contexts,
            ..Call::new(&self.bell, "keep").id(2)
        };
        raw.send(&keep.with(|e| e.put(&self.listener))).await;
        let message = raw.receive().await.expect("a reply");
        assert_eq!(message.header.kind, MessageKind::Reply);
        raw
    }
}

/// Answers the next callback on a connection.
async fn hear(raw: &mut Raw) {
    let message = raw.receive().await.expect("a callback");
    let header = RequestHeader::read(&message).unwrap();
    assert_eq!(header.operation, b"heard");
    let heard = reply(header.request_id, ReplyStatus::NoException, |e| {
        e.put("heard")
    });
    raw.send(&heard).await;
}

#[tokio::test]
async fn callbacks_go_to_the_connection_that_their_client_has_offered_last() {
    let world = world(accepting(), offering()).await;
    let client = RawClient::of(&world);
    // The connections stay open, and nobody reads the older ones.
    let mut connections = Vec::new();
    for _ in 0..3 {
        let mut raw = client.connect(&world).await;
        // Twice: the reference that the server keeps is bound by the first call.
        let kept = world.tower.kept.lock().unwrap().clone().unwrap();
        for _ in 0..2 {
            let (heard, ()) =
                in_time(async { tokio::join!(kept.heard("ding"), hear(&mut raw)) }).await;
            assert_eq!(heard.unwrap(), "heard");
        }
        connections.push((raw, kept));
    }
    // So do those through references that were bound before.
    let (mut last, _) = connections.pop().unwrap();
    for (_, kept) in &connections {
        let (heard, ()) =
            in_time(async { tokio::join!(kept.heard("dong"), hear(&mut last)) }).await;
        assert_eq!(heard.unwrap(), "heard");
    }
    // When the last one ends, the one before it is used again.
    drop(last);
    in_time(async {
        while world.server.connections_served() > 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let (mut before, kept) = connections.pop().unwrap();
    let (heard, ()) = in_time(async { tokio::join!(kept.heard("dong"), hear(&mut before)) }).await;
    assert_eq!(heard.unwrap(), "heard");
}

#[tokio::test]
async fn after_a_callback_that_timed_out_others_go_by_an_older_connection_of_the_client() {
    let world = world(accepting(), offering()).await;
    let client = RawClient::of(&world);
    let mut older = client.connect(&world).await;
    let mut newer = client.connect(&world).await;
    let kept = world.tower.kept.lock().unwrap().clone().unwrap();
    let hasty = PolicyOverrides::new().relative_round_trip_timeout(Duration::from_millis(300));
    let error = in_time(kept.with_policies(&hasty).heard("ding"))
        .await
        .unwrap_err();
    assert_eq!(error.kind, Kind::Timeout);
    let (heard, ()) = in_time(async { tokio::join!(kept.heard("dong"), hear(&mut older)) }).await;
    assert_eq!(heard.unwrap(), "heard");
    // The newer one is asked whether its client is there.
    let mut kinds = Vec::new();
    while kinds.last() != Some(&MessageKind::LocateRequest) {
        kinds.push(newer.receive().await.unwrap().header.kind);
    }
    assert_eq!(kinds[0], MessageKind::Request);
}

/// The service context of a client that offers these ports of a host.
fn offer(host: &str, ports: std::ops::Range<u16>) -> ServiceContext {
    let data = encapsulate(|e| {
        e.write_count(ports.len())?;
        for port in ports {
            e.write_raw_string(host.as_bytes())?;
            e.write_u16(port);
        }
        Ok(())
    });
    ServiceContext {
        id: ServiceContextId::BI_DIR_IIOP,
        data: data.unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endpoints_of_one_host_leave_places_to_others_and_are_forgotten_when_their_client_goes() {
    /// All that are remembered, and as many as a context has at most.
    const ALL: u16 = 16 << 10;
    const AT_ONCE: u16 = 16;
    let world = world(accepting(), offering()).await;
    let profile = IiopProfile::from_tagged(&world.bell.as_object().ior().profiles[0]).unwrap();
    let connect = || async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let server = format!("127.0.0.1:{}", world.bell_port());
        Raw::new(
            in_time(socket.connect(server.parse().unwrap()))
                .await
                .unwrap(),
        )
    };
    let ignored = || {
        world
            .server
            .counters()
            .get(Counter::CallbackEndpointsIgnored)
    };
    let key = profile.object_key;
    let offer_all = async |greedy: &mut Raw| {
        for first in (0..ALL).step_by(AT_ONCE.into()) {
            let contexts = [offer("127.0.0.2", first..first + AT_ONCE)];
            let call = Call {
                contexts: &contexts,
                ..Call::new(&key, "_non_existent").id(first.into())
            };
            greedy.send(&call.empty()).await;
            assert_eq!(greedy.receive_reply(first.into()).await, Ok(false));
        }
    };
    let mut greedy = connect().await;
    offer_all(&mut greedy).await;
    // Each context of the last quarter.
    let surplus = u64::from(ALL / 4 / AT_ONCE);
    assert_eq!(ignored(), surplus);
    let heard = in_time(world.bell.ring(&world.listener, "ding")).await;
    assert_eq!(heard, Ok("ding!".to_owned()), "{:?}", world.tower.failed);
    // It comes again, and offers others: its first ones are gone with it.
    drop(greedy);
    let mut again = connect().await;
    let served = async {
        while world.server.connections_served() > 2 {
            tokio::task::yield_now().await;
        }
    };
    in_time(served).await;
    offer_all(&mut again).await;
    // One context more, as the other client has offered an endpoint.
    assert_eq!(ignored(), 2 * surplus + 1);
}

/// A listener that calls the server during a callback.
struct Insistent(BellRef);

impl Listener for Insistent {
    async fn heard(&self, _: &str) -> Result<String, SystemException> {
        match self.0.keep(None).await {
            Ok(()) => Ok("kept".to_owned()),
            Err(refused) => Ok(format!("{:?}, {:?}", refused.kind, refused.completed)),
        }
    }

    async fn noted(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }
}

#[tokio::test]
async fn a_nested_call_beyond_the_limit_is_refused_where_it_would_wait_for_itself() {
    for (upcalls, expected) in [(2, "kept"), (1, "Transient, No")] {
        let server = accepting()
            .max_upcalls_per_connection(upcalls)
            .overload(Overload::Refuse);
        let world = world(server, offering()).await;
        let insistent = ListenerServant::new(Insistent(world.bell.clone()));
        let insistent: ListenerRef = world.client.root_poa().activate(insistent).unwrap();
        let heard = in_time(world.bell.ring(&insistent, "ding")).await;
        assert_eq!(heard.as_deref(), Ok(expected));
        assert_eq!(world.server.connections_served(), 1);
        let refused = world.server.counters().get(Counter::PendingRequestsRefused);
        assert_eq!(refused, u64::from(upcalls == 1));
    }
}
