//! Tests of the connection cache.

mod connection_limits;

use super::*;
use crate::CallError;
use crate::testing::*;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::io;
use std::sync::Mutex;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use zorb_cdr::{CharSet, WCharSet};
use zorb_giop::MessageKind;
use zorb_transport::{
    Addressing, BoxFuture, Capabilities, Connection, Listener, Operation, Transport,
    TransportError, UnixAddressing,
};

/// A transport in memory, which connects when it is permitted.
#[derive(Debug)]
struct TestTransport(Arc<Connects>);

/// The connects that the transport has made, and may make.
#[derive(Debug)]
struct Connects {
    permitted: Semaphore,
    connects: AtomicUsize,
    /// Whether connecting fails.
    fails: Mutex<bool>,
    peers: Mutex<Vec<Stream>>,
}

impl Transport for TestTransport {
    fn addressing(&self) -> &dyn Addressing {
        &UnixAddressing
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::stream()
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let this = &self.0;
            this.connects.fetch_add(1, Ordering::Relaxed);
            this.permitted.acquire().await.unwrap().forget();
            if *this.fails.lock().unwrap() {
                let cause = io::ErrorKind::ConnectionRefused.into();
                return Err(TransportError::new(
                    Operation::Connect,
                    endpoint.clone(),
                    cause,
                ));
            }
            let (ours, theirs) = pair();
            this.peers.lock().unwrap().push(theirs);
            Ok(Box::new(ours) as Box<dyn Connection>)
        })
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        let cause = io::ErrorKind::Unsupported.into();
        let error = TransportError::new(Operation::Listen, endpoint.clone(), cause);
        Box::pin(async { Err(error) })
    }
}

/// A cache, its transport, and its settings.
struct World {
    cache: Arc<ConnectionCache>,
    transport: Arc<Connects>,
    settings: ConnectSettings,
}

impl World {
    /// `permitted`: the number of connects that do not wait.
    fn new(permitted: usize) -> Self {
        let transport = Arc::new(Connects {
            permitted: Semaphore::new(permitted),
            connects: AtomicUsize::new(0),
            fails: Mutex::new(false),
            peers: Mutex::default(),
        });
        let mut settings = connect_settings();
        settings.transports = Registry::empty();
        settings
            .transports
            .insert(Arc::new(TestTransport(Arc::clone(&transport))));
        settings.timeout = Duration::from_secs(5);
        Self {
            cache: Arc::default(),
            transport,
            settings,
        }
    }

    async fn connection_of(&self, key: &CacheKey) -> Connected {
        let home = Handle::current();
        in_time(
            self.cache
                .connection(key, &home, NamedBy::Application, || self.settings.clone()),
        )
        .await
    }

    async fn connection(&self) -> Connected {
        self.connection_of(&key()).await
    }

    /// Asks for a connection on a task of its own.
    fn spawn(&self) -> tokio::task::JoinHandle<Connected> {
        let (cache, settings) = (Arc::clone(&self.cache), self.settings.clone());
        let home = Handle::current();
        tokio::spawn(async move {
            cache
                .connection(&key(), &home, NamedBy::Application, || settings.clone())
                .await
        })
    }

    fn connects(&self) -> usize {
        self.transport.connects.load(Ordering::Relaxed)
    }

    fn peer(&self) -> Peer {
        Peer::new(self.transport.peers.lock().unwrap().pop().unwrap())
    }

    fn len(&self) -> usize {
        self.cache.shared.lock().slots()
    }
}

fn key() -> CacheKey {
    CacheKey::new(endpoint(), &Handle::current(), CodeSets::UNSTATED, false)
}

#[tokio::test]
async fn callers_that_ask_at_the_same_time_share_one_connect() {
    let world = World::new(0);
    let callers = [world.spawn(), world.spawn()];
    let_all_run().await;
    assert!(callers.iter().all(|caller| !caller.is_finished()));
    world.transport.permitted.add_permits(10);
    let later = world.connection().await.unwrap();
    for caller in callers {
        let connection = in_time(caller).await.unwrap().unwrap();
        assert!(Arc::ptr_eq(&connection, &later));
    }
    assert_eq!(world.connects(), 1);
}

#[tokio::test]
async fn a_connect_goes_on_for_others_when_the_caller_that_began_it_is_dropped() {
    let world = World::new(0);
    let first = world.spawn();
    let_all_run().await;
    let second = world.spawn();
    let_all_run().await;
    first.abort();
    let_all_run().await;
    world.transport.permitted.add_permits(1);
    in_time(second).await.unwrap().unwrap();
    assert_eq!(world.connects(), 1);
}

#[tokio::test]
async fn a_failed_connect_fails_every_caller_that_waits_and_is_tried_anew_for_the_next() {
    let world = World::new(0);
    *world.transport.fails.lock().unwrap() = true;
    let callers = [world.spawn(), world.spawn()];
    let_all_run().await;
    world.transport.permitted.add_permits(1);
    for caller in callers {
        let error = in_time(caller).await.unwrap().unwrap_err();
        let ConnectError::Transport(error) = &*error else {
            panic!("the transport failed")
        };
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
    assert_eq!((world.connects(), world.len()), (1, 0));
    assert!(
        !world.settings.unresponsive.contains(&endpoint()),
        "a refusal is an answer"
    );
    *world.transport.fails.lock().unwrap() = false;
    world.transport.permitted.add_permits(1);
    world.connection().await.unwrap();
    assert_eq!(world.connects(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_lets_the_connect_timeout_pass_is_silent_until_it_answers() {
    let world = World::new(0);
    let error = world.connection().await.unwrap_err();
    assert!(
        matches!(&*error, ConnectError::Transport(late) if late.limit() == Some(world.settings.timeout))
    );
    assert!(world.settings.unresponsive.contains(&endpoint()));
    world.transport.permitted.add_permits(1);
    let connection = world.connection().await.unwrap();
    assert!(
        world.settings.unresponsive.contains(&endpoint()),
        "who accepts a connection need not serve"
    );
    let call = spawn_call(&connection, "echo", b"");
    let mut peer = world.peer();
    let (id, ..) = peer.request().await;
    peer.send(&reply(id, b""));
    in_time(call).await.unwrap().unwrap();
    assert!(!world.settings.unresponsive.contains(&endpoint()));
}

/// Has a call time out on the connection, before anything has come.
async fn fall_silent(connection: &Arc<ClientConnection>) {
    let mut call = Box::pin(TestCall::new("wait", b"").on(connection));
    core::future::poll_fn(|cx| {
        assert!(call.as_mut().poll(cx).is_pending());
        core::task::Poll::Ready(())
    })
    .await;
    crate::timing_out(|| drop(call));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_has_fallen_silent_is_replaced_and_keeps_its_calls() {
    let world = World::new(10);
    let first = world.connection().await.unwrap();
    let waiting = spawn_call(&first, "wait", b"");
    let_all_run().await;
    fall_silent(&first).await;
    let second = world.connection().await.unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
    assert!(Arc::ptr_eq(&second, &world.connection().await.unwrap()));
    assert!(!first.is_over() && !waiting.is_finished());
    assert_eq!((world.connects(), world.len()), (2, 1));
    // The cache ends them all.
    world.cache.close();
    let_all_run().await;
    assert!(first.is_over() && second.is_over());
    assert!(in_time(waiting).await.unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_bounded_number_of_silent_connections_is_replaced() {
    let world = World::new(100);
    let mut replaced = Vec::new();
    for _ in 0..table::MAX_REPLACED {
        let silent = world.connection().await.unwrap();
        replaced.push(spawn_call(&silent, "wait", b""));
        let_all_run().await;
        fall_silent(&silent).await;
    }
    let last = world.connection().await.unwrap();
    fall_silent(&last).await;
    assert!(!last.is_usable());
    // It is used on, for want of a better one.
    assert!(Arc::ptr_eq(&last, &world.connection().await.unwrap()));
    assert_eq!(world.connects(), table::MAX_REPLACED + 1);
    // When one of the others has ended, another one may take its place.
    let mut first = Peer::new(world.transport.peers.lock().unwrap().remove(0));
    let (id, ..) = first.request().await;
    first.send(&reply(id, b""));
    in_time(replaced.remove(0)).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!Arc::ptr_eq(&last, &world.connection().await.unwrap()));
}

#[tokio::test]
async fn connections_are_shared_by_endpoint_runtime_and_code_sets() {
    let world = World::new(10);
    let other_runtime = Runtime::new().unwrap();
    let home = Handle::current();
    let latin1 = CodeSets::UNSTATED;
    let utf8 = CodeSets {
        char_set: CharSet::Utf8,
        ..latin1
    };
    let wide = CodeSets {
        wchar_set: WCharSet::Utf16,
        ..latin1
    };
    let keys = [
        CacheKey::new(endpoint(), &home, CodeSets::UNSTATED, false),
        CacheKey::new(
            "uiop:///elsewhere".parse().unwrap(),
            &home,
            CodeSets::UNSTATED,
            false,
        ),
        CacheKey::new(
            endpoint(),
            other_runtime.handle(),
            CodeSets::UNSTATED,
            false,
        ),
        CacheKey::new(endpoint(), &home, latin1, true),
        CacheKey::new(endpoint(), &home, utf8, true),
        CacheKey::new(endpoint(), &home, wide, true),
    ];
    let mut connections = Vec::new();
    for key in &keys {
        let connection = world.connection_of(key).await.unwrap();
        assert!(
            connections
                .iter()
                .all(|other| !Arc::ptr_eq(other, &connection))
        );
        connections.push(connection);
    }
    for (key, connection) in keys.iter().zip(&connections) {
        assert!(Arc::ptr_eq(
            &world.connection_of(key).await.unwrap(),
            connection
        ));
    }
    assert_eq!((world.connects(), world.len()), (6, 6));
    other_runtime.shutdown_background();
}

#[tokio::test]
async fn a_connection_that_has_ended_is_replaced_for_the_next_caller() {
    let world = World::new(10);
    let first = world.connection().await.unwrap();
    world.peer().stream.close();
    let_all_run().await;
    assert!(first.is_over());
    assert_eq!(world.len(), 0, "its endpoint may never be asked for again");
    let second = world.connection().await.unwrap();
    assert!(!Arc::ptr_eq(&first, &second) && !second.is_over());
    assert_eq!((world.connects(), world.len()), (2, 1));
}

#[tokio::test]
async fn a_connection_that_cannot_be_written_is_replaced_while_it_is_still_read() {
    let world = World::new(10);
    let first = world.connection().await.unwrap();
    let peer = world.peer();
    peer.stream.refuse();
    assert!(
        in_time(TestCall::new("echo", b"").on(&first))
            .await
            .is_err()
    );
    let second = world.connection().await.unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
    // When the first one ends, the second one stays.
    peer.stream.close();
    let_all_run().await;
    assert!(Arc::ptr_eq(&second, &world.connection().await.unwrap()));
}

#[tokio::test]
async fn a_closed_cache_ends_its_connections_in_order_and_makes_no_others() {
    let world = World::new(1);
    let connection = world.connection().await.unwrap();
    let mut peer = world.peer();
    let call = spawn_call(&connection, "wait", b"");
    peer.request().await;
    let other = CacheKey::new(
        "uiop:///elsewhere".parse().unwrap(),
        &Handle::current(),
        CodeSets::UNSTATED,
        false,
    );
    let (cache, settings) = (Arc::clone(&world.cache), world.settings.clone());
    let home = Handle::current();
    let waiting = tokio::spawn(async move {
        cache
            .connection(&other, &home, NamedBy::Application, || settings.clone())
            .await
    });
    let_all_run().await;
    world.cache.close();
    let error = in_time(waiting).await.unwrap().unwrap_err();
    assert!(matches!(*error, ConnectError::ShutDown));
    let error = world.connection().await.unwrap_err();
    assert!(matches!(*error, ConnectError::ShutDown));
    assert!(in_time(call).await.unwrap().is_err());
    assert_eq!(peer.kind().await, Some(MessageKind::CloseConnection));
    assert_eq!(peer.kind().await, None);
    peer.stream.close();
    in_time(world.cache.closed()).await;
}

#[tokio::test]
async fn no_connection_is_made_in_a_runtime_that_has_shut_down() {
    let world = World::new(1);
    let runtime = Runtime::new().unwrap();
    let home = runtime.handle().clone();
    runtime.shutdown_background();
    let key = CacheKey::new(endpoint(), &home, CodeSets::UNSTATED, false);
    let connection = world
        .cache
        .connection(&key, &home, NamedBy::Application, || world.settings.clone());
    let error = in_time(connection).await.unwrap_err();
    assert!(matches!(&*error, ConnectError::NoRuntime { .. }));
    assert_eq!((world.connects(), world.len()), (0, 0));
}
