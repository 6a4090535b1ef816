//! The limits on connections, and the choice of the connection that is closed for another.

use super::super::table::MOVES_IN_USE;
use super::*;

/// A key of a connection to that host and port.
fn key_of(host: &str, port: u16) -> CacheKey {
    CacheKey::new(
        Endpoint::iiop(host, port),
        &Handle::current(),
        CodeSets::UNSTATED,
        false,
    )
}

/// A world with limits.
fn limited(all: usize, by_host: usize, permitted: usize) -> World {
    let mut world = World::new(permitted);
    world.cache = Arc::new(ConnectionCache::new(
        ConnectionLimits { all, by_host },
        Arc::default(),
    ));
    world
}

/// Connections that its limits did not let be made.
fn refused(world: &World) -> u64 {
    (world.cache.counters).get(Counter::OutgoingConnectionsRefused)
}

/// Begins to connect; the error if that is refused at once.
fn begun(world: &World, key: &CacheKey, named_by: NamedBy) -> Result<(), Arc<ConnectError>> {
    world.cache.entry(key, named_by).map(drop)
}

#[tokio::test]
async fn there_are_no_more_connections_in_all_than_the_limit_and_some_are_for_the_application() {
    let world = limited(8, 100, 0);
    for number in 0..6 {
        begun(&world, &key_of(&format!("host{number}"), 1), NamedBy::Peer).unwrap();
    }
    let another = key_of("another", 1);
    let why = begun(&world, &another, NamedBy::Peer).unwrap_err();
    assert_eq!(
        why.to_string(),
        "cannot connect to iiop://another:1: there are 6 outgoing connections in all, the limit"
    );
    // An existing connection may be shared.
    begun(&world, &key_of("host0", 1), NamedBy::Peer).unwrap();
    begun(&world, &another, NamedBy::Application).unwrap();
    begun(&world, &key_of("last", 1), NamedBy::Application).unwrap();
    let why = begun(&world, &key_of("more", 1), NamedBy::Application).unwrap_err();
    assert!(matches!(&*why, ConnectError::TooMany { limit: 8, .. }));
    assert_eq!((world.cache.len(), refused(&world)), (8, 2));
}

#[tokio::test]
async fn there_are_no_more_connections_to_one_host_than_the_limit() {
    let world = limited(100, 2, 0);
    for port in [1, 2] {
        begun(&world, &key_of("host", port), NamedBy::Application).unwrap();
    }
    let why = begun(&world, &key_of("HOST", 3), NamedBy::Application).unwrap_err();
    assert!(matches!(
        &*why,
        ConnectError::TooMany {
            limit: 2,
            what: "to one host",
            ..
        }
    ));
    begun(&world, &key_of("other", 3), NamedBy::Application).unwrap();
    for path in ["/one", "/two"] {
        let key = CacheKey::new(
            Endpoint::uiop(path),
            &Handle::current(),
            CodeSets::UNSTATED,
            false,
        );
        begun(&world, &key, NamedBy::Peer).unwrap();
    }
    let key = CacheKey::new(
        Endpoint::uiop("/three"),
        &Handle::current(),
        CodeSets::UNSTATED,
        false,
    );
    begun(&world, &key, NamedBy::Peer).unwrap_err();
    assert_eq!(refused(&world), 2);
}

#[tokio::test]
async fn a_connection_counts_until_its_driver_has_ended() {
    let world = limited(1, 1, 10);
    let connection = world.connection().await.unwrap();
    assert_eq!(world.cache.len(), 1);
    let mut peer = world.peer();
    let call = spawn_call(&connection, "wait", b"");
    peer.request().await;
    let why = world.connection_of(&socket(1)).await.unwrap_err();
    assert!(matches!(&*why, ConnectError::TooMany { limit: 1, .. }));
    connection.shut_down();
    assert!(in_time(call).await.unwrap().is_err());
    drop(peer);
    while !world.cache.is_empty() {
        let_all_run().await;
    }
    world.connection().await.unwrap();
    assert_eq!((refused(&world), purged(&world)), (1, 0));
}

fn purged(world: &World) -> u64 {
    (world.cache.counters).get(Counter::OutgoingConnectionsPurged)
}

/// A key of a connection to a socket.
fn socket(number: usize) -> CacheKey {
    let endpoint = Endpoint::uiop(format!("/socket{number}"));
    CacheKey::new(endpoint, &Handle::current(), CodeSets::UNSTATED, false)
}

/// A connection to a socket, with its peer.
async fn connected(world: &World, number: usize) -> (Arc<ClientConnection>, Peer) {
    let connection = world.connection_of(&socket(number)).await.unwrap();
    (connection, world.peer())
}

/// Makes a call that is answered.
async fn used(connection: &Arc<ClientConnection>, peer: &mut Peer) {
    let call = spawn_call(connection, "echo", b"");
    let (id, ..) = peer.request().await;
    peer.send(&reply(id, b""));
    in_time(call).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_full_cache_closes_the_idle_connection_that_was_used_longest_ago() {
    let world = limited(3, 3, 10);
    let (first, mut first_peer) = connected(&world, 1).await;
    let (second, mut second_peer) = connected(&world, 2).await;
    let (third, _third_peer) = connected(&world, 3).await;
    used(&first, &mut first_peer).await;
    let other = tokio::spawn({
        let (cache, settings) = (Arc::clone(&world.cache), world.settings.clone());
        let home = Handle::current();
        async move {
            cache
                .connection(&socket(4), &home, NamedBy::Application, || settings.clone())
                .await
        }
    });
    // The second connection is closed in order, as its peer sees. The new one is made after that.
    assert_eq!(second_peer.kind().await, None);
    assert!(second.is_over() && !first.is_over() && !third.is_over());
    assert!(!other.is_finished());
    assert_eq!(world.cache.len(), 3);
    second_peer.stream.close();
    let other = in_time(other).await.unwrap().unwrap();
    assert!(!other.is_over());
    assert_eq!(
        (world.cache.len(), purged(&world), refused(&world)),
        (3, 1, 0)
    );
    // A call on the one that was closed learns that it was not sent.
    let error = in_time(TestCall::new("echo", b"").on(&second))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::NotSent(_)));
}

#[tokio::test]
async fn a_busy_connection_is_never_closed_for_another() {
    let world = limited(2, 2, 10);
    let (first, mut first_peer) = connected(&world, 1).await;
    let (second, mut second_peer) = connected(&world, 2).await;
    let waiting = spawn_call(&first, "wait", b"");
    let (id, ..) = first_peer.request().await;
    let also = spawn_call(&second, "wait", b"");
    let (other_id, ..) = second_peer.request().await;
    let why = world.connection_of(&socket(3)).await.unwrap_err();
    assert!(matches!(&*why, ConnectError::TooMany { limit: 2, .. }));
    // The first connection is the older one, and its call still waits.
    second_peer.send(&reply(other_id, b""));
    in_time(also).await.unwrap().unwrap();
    let third = socket(3);
    let other = world.connection_of(&third);
    let closed = async {
        assert_eq!(second_peer.kind().await, Some(MessageKind::CloseConnection));
        second_peer.stream.close();
    };
    let (other, ()) = tokio::join!(other, closed);
    other.unwrap();
    assert!(second.is_over() && !first.is_over());
    first_peer.send(&reply(id, b""));
    in_time(waiting).await.unwrap().unwrap();
    assert_eq!((purged(&world), refused(&world)), (1, 1));
}

#[tokio::test]
async fn a_peer_that_names_endpoints_takes_no_connection_of_the_applications() {
    let world = limited(4, 10, 10);
    let home = Handle::current();
    let connect = async |number, named_by| {
        let settings = || world.settings.clone();
        let key = socket(number);
        in_time(world.cache.connection(&key, &home, named_by, settings)).await
    };
    let own = connect(1, NamedBy::Application).await.unwrap();
    let also = connect(2, NamedBy::Application).await.unwrap();
    // A peer names the endpoint first, then the application.
    let shared = connect(3, NamedBy::Peer).await.unwrap();
    connect(3, NamedBy::Application).await.unwrap();
    let why = connect(4, NamedBy::Peer).await.unwrap_err();
    assert!(matches!(&*why, ConnectError::TooMany { limit: 3, .. }));
    assert!(
        ![own, also, shared]
            .iter()
            .any(|connection| connection.is_over())
    );
    assert_eq!(purged(&world), 0);
}

#[tokio::test]
async fn callers_that_wait_for_room_close_one_connection_each() {
    let world = limited(4, 4, 20);
    let mut peers = Vec::new();
    for number in 0..4 {
        let (connection, peer) = connected(&world, number).await;
        peers.push((connection, peer));
    }
    let ask = |number| {
        let (cache, settings) = (Arc::clone(&world.cache), world.settings.clone());
        let home = Handle::current();
        tokio::spawn(async move {
            cache
                .connection(&socket(number), &home, NamedBy::Application, || {
                    settings.clone()
                })
                .await
        })
    };
    let callers = [ask(10), ask(11)];
    let_all_run().await;
    assert_eq!(purged(&world), 2);
    for (connection, peer) in &mut peers {
        if connection.is_over() {
            assert_eq!(peer.kind().await, None);
            peer.stream.close();
        }
    }
    for caller in callers {
        in_time(caller).await.unwrap().unwrap();
    }
    assert_eq!(
        (world.cache.len(), purged(&world), refused(&world)),
        (4, 2, 0)
    );
}

#[tokio::test]
async fn private_and_spread_connections_are_distinct() {
    let world = World::new(10);
    let keys = [key(), key().spread(1), key().private(1), key().private(2)];
    for key in &keys {
        world.connection_of(key).await.unwrap();
    }
    assert_eq!((world.connects(), world.len()), (4, 4));
    let private = world.connection_of(&keys[2]).await.unwrap();
    private.release();
    assert!(private.is_over());
    let next = world.connection_of(&keys[2]).await.unwrap();
    assert!(!Arc::ptr_eq(&private, &next));
}

#[tokio::test]
async fn room_is_made_by_a_few_looks_however_many_connections_there_are() {
    const ALL: usize = 400;
    let world = limited(ALL, ALL, 2 * ALL);
    let mut connections = Vec::new();
    for number in 0..ALL {
        connections.push(connected(&world, number).await);
    }
    // Half of the connections are used, and each of these is looked at once more.
    for (connection, peer) in connections.iter_mut().take(ALL / 2) {
        used(connection, peer).await;
    }
    let now = world.cache.uses.now();
    for number in 0..ALL / 2 {
        let mut table = world.cache.shared.lock();
        let before = table.looks;
        let purged = table.purge_any(NamedBy::Application, now).unwrap();
        let moved = if number == 0 { ALL / 2 } else { 0 };
        assert_eq!(table.looks - before, moved + 1, "{number}");
        // Connections are purged in the order of their uses; those not used since they were made come first.
        assert!(
            Arc::ptr_eq(&purged.0, &connections[ALL / 2 + number].0),
            "{number}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_full_of_busy_connections_is_not_looked_through_for_each_caller() {
    const ALL: usize = 300;
    let world = limited(ALL, 2 * ALL, 2 * ALL);
    // Attempts to connect that have not ended count as in use.
    for number in 0..ALL {
        begun(&world, &socket(number), NamedBy::Application).unwrap();
    }
    let refused = |world: &World| {
        let before = world.cache.shared.lock().looks;
        begun(world, &socket(ALL), NamedBy::Application).unwrap_err();
        world.cache.shared.lock().looks - before
    };
    // A few are moved; the others are looked at where they are.
    assert_eq!(refused(&world), MOVES_IN_USE);
    assert_eq!(refused(&world), 0);
    tokio::time::advance(Duration::from_millis(10)).await;
    assert_eq!(refused(&world), MOVES_IN_USE);
}

#[tokio::test]
async fn an_idle_connection_is_found_behind_many_that_are_in_use() {
    const ALL: usize = 100;
    let world = limited(ALL, ALL, 2 * ALL);
    for number in 0..ALL / 2 {
        begun(&world, &socket(number), NamedBy::Application).unwrap();
    }
    let mut idle = Vec::new();
    for number in ALL / 2..ALL {
        idle.push(connected(&world, number).await);
    }
    let now = world.cache.uses.now();
    for (expected, _peer) in &idle {
        let mut table = world.cache.shared.lock();
        let purged = table.purge_any(NamedBy::Application, now).unwrap();
        assert!(Arc::ptr_eq(&purged.0, expected), "the least recently used");
    }
    let none = world
        .cache
        .shared
        .lock()
        .purge_any(NamedBy::Application, now);
    assert!(none.is_none());
}
