//! The memory that clients make a server hold, and its release.

use super::super::holding::MAX_COPIED_OCTETS;
use crate::fairness::{CONNECTION_OCTETS, MemoryLimit};
use crate::server::{ServerConnection, ServerLimits, Serving};
use crate::testing::*;
use crate::{Counter, Settings};
use core::time::Duration;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use zorb_giop::Reader;
use zorb_transport::Connection;

const MIB: usize = 1 << 20;

type Server = Arc<ServerConnection<TestOwner>>;

fn owner_with(octets: usize) -> Arc<TestOwner> {
    TestOwner::with(|settings: &mut Settings| {
        settings.memory = Arc::new(MemoryLimit::new(octets));
        settings.stall_timeout = Some(Duration::from_secs(30));
    })
}

/// Connections, their peers and drivers.
fn many(owner: &Arc<TestOwner>, connections: usize) -> Vec<(Server, Peer, JoinHandle<()>)> {
    (0..connections).map(|_| owner.serve_peer()).collect()
}

/// The connections of an owner, watched, with their peers.
fn watched(
    owner: &Arc<TestOwner>,
    connections: usize,
) -> (Vec<(Peer, JoinHandle<()>)>, CancellationToken) {
    let serving = Arc::new(Serving::new(ServerLimits::new(connections.max(6) * 2)));
    let stop = CancellationToken::new();
    tokio::spawn(Arc::clone(&serving).watch(Arc::downgrade(owner), stop.clone()));
    let connection = |_| {
        let (ours, theirs) = pair();
        let connection = owner.connection_over(Box::new(ours), &serving);
        (Peer::new(theirs), tokio::spawn(connection.drive(&serving)))
    };
    ((0..connections).map(connection).collect(), stop)
}

#[tokio::test]
async fn clients_that_withhold_the_last_fragment_hold_no_more_than_all_of_them_may() {
    let owner = owner_with(4 * MIB);
    let memory = Arc::clone(&owner.settings.memory);
    let mut clients = many(&owner, 40);
    let message = request(1, "echo", &[7; 200 << 10]);
    let pieces = fragments(&message, 96 << 10);
    for (_, peer, _) in &clients {
        peer.send(&pieces[0]);
        let_all_run().await;
        assert!(memory.held() <= 4 * MIB, "{} octets", memory.held());
    }
    let closed = owner.settings.counters.get(Counter::ConnectionsOverMemory);
    assert!((1..40).contains(&closed), "{closed} of 40");
    // The remaining clients get their replies, and their memory is free again.
    let (_, peer, _) = &mut clients[0];
    pieces[1..].iter().for_each(|piece| peer.send(piece));
    assert_eq!(peer.reply().await.1.len(), 200 << 10);
    drop(clients);
    for _ in 0..100 {
        let_all_run().await;
    }
    assert_eq!(memory.held(), 0);
}

#[tokio::test]
async fn the_beginning_of_a_message_holds_no_receive_buffer() {
    let owner = owner_with(MIB);
    let memory = Arc::clone(&owner.settings.memory);
    let clients = many(&owner, 50);
    let message = request(1, "echo", &[7; 40 << 10]);
    for (_, peer, _) in &clients {
        peer.send(&message[..100]);
    }
    let_all_run().await;
    assert_eq!(memory.held(), 50 * CONNECTION_OCTETS);
    for (_, mut peer, _driver) in clients {
        peer.send(&message[100..]);
        assert_eq!(peer.reply().await.1, [7; 40 << 10]);
    }
}

#[tokio::test]
async fn requests_that_wait_for_the_next_turn_of_their_connection_are_counted() {
    let owner = owner_with(MIB);
    let memory = Arc::clone(&owner.settings.memory);
    let (_connection, mut peer, _driver) = owner.serve_peer();
    let all: Vec<_> = (0..1000).map(|id| request(id, "echo", b"")).collect();
    peer.send(&all.concat());
    // The driver runs for one turn.
    tokio::task::yield_now().await;
    let held = memory.held();
    assert!(
        held >= CONNECTION_OCTETS + Reader::READ_OCTETS,
        "{held} octets"
    );
    for id in 0..1000 {
        assert_eq!(peer.reply().await.0, id);
    }
    let_all_run().await;
    assert_eq!(memory.held(), CONNECTION_OCTETS);
}

#[tokio::test]
async fn clients_that_read_nothing_hold_no_more_than_all_of_them_may() {
    let owner = owner_with(8 * MIB);
    let memory = Arc::clone(&owner.settings.memory);
    let clients = many(&owner, 30);
    let message = request(1, "echo", &[7; 200 << 10]);
    for _ in 0..4 {
        for (_, peer, _) in &clients {
            // Closed connections take no octets.
            let _ = peer.stream.try_write(&[std::io::IoSlice::new(&message)]);
        }
        let_all_run().await;
        // The message read last is held by its upcall.
        assert!(memory.held() <= 8 * MIB, "{} octets", memory.held());
    }
    let closed = owner.settings.counters.get(Counter::ConnectionsOverMemory);
    assert!((1..30).contains(&closed), "{closed} of 30");
    drop(clients);
    for _ in 0..100 {
        let_all_run().await;
    }
    assert_eq!(memory.held(), 0);
}

#[tokio::test]
async fn clients_of_one_host_that_read_nothing_leave_memory_to_those_of_another() {
    let owner = owner_with(32 * MIB);
    // The clients of each are of one host.
    let [greedy, modest] = [(); 2].map(|()| Arc::new(Serving::new(ServerLimits::new(2000))));
    let connect = |serving: &Arc<Serving<TestOwner>>| {
        let (ours, theirs) = pair();
        ours.set_room(4 << 10);
        let connection = owner.connection_over(Box::new(ours), serving);
        (Peer::new(theirs), tokio::spawn(connection.drive(serving)))
    };
    let flood: Vec<_> = (0..700).map(|_| connect(&greedy)).collect();
    let (mut slow, _driver) = connect(&modest);
    let message = request(2, "echo", &[8; 90 << 10]);
    let (begin, rest) = message.split_at(16 << 10);
    slow.send(begin);
    let unread = request(1, "echo", &[7; 20 << 10]);
    for (peer, _) in &flood {
        peer.send(&unread);
    }
    let_all_run().await;
    slow.send(rest);
    assert_eq!(slow.reply().await, (2, vec![8; 90 << 10]));
    let counters = &owner.settings.counters;
    let refused = counters.get(Counter::RequestsRefusedForMemory)
        + counters.get(Counter::ConnectionsOverMemory);
    assert!((1..700).contains(&refused), "{refused} of 700");
}

#[tokio::test]
async fn requests_that_would_have_to_wait_are_refused_while_memory_is_scarce() {
    let owner = owner_with(MIB);
    let (_connection, mut peer, _driver) = owner.serve_peer();
    let message = |id| request(id, "hold", &[7; 100 << 10]);
    for id in 0..9 {
        peer.send(&message(id));
        let_all_run().await;
    }
    let memory = &owner.settings.memory;
    assert!(memory.held() <= MIB, "{} octets", memory.held());
    let refused = owner
        .settings
        .counters
        .get(Counter::RequestsRefusedForMemory);
    assert!((1..4).contains(&refused), "{refused} of 9");
    for _ in 0..refused {
        let reply = peer.receive().await.unwrap();
        let (_, status, _) = zorb_giop::ReplyHeader::head(&reply).unwrap();
        assert_eq!(status, zorb_giop::ReplyStatus::SystemException);
    }
    // A call that does not wait is served.
    peer.send(&request(100, "echo", b"small"));
    assert_eq!(peer.reply().await, (100, b"small".to_vec()));
    while owner.let_go() {
        assert_eq!(peer.reply().await.1.len(), 100 << 10);
    }
    let_all_run().await;
    assert_eq!(memory.held(), CONNECTION_OCTETS);
}

#[tokio::test]
async fn requests_that_come_beside_pending_ones_are_what_was_sent() {
    let owner = TestOwner::new();
    let (_connection, mut peer, _driver) = owner.serve_peer();
    peer.send(&request(0, "hold", &[7; 100]));
    let_all_run().await;
    for id in 1..200 {
        // Short ones are copied out of the receive buffer, which the long ones fill.
        peer.send(&request(id, "hold", &[id as u8; 100]));
        peer.send(&request(1000 + id, "echo", &[7; 20 << 10]));
        assert_eq!(peer.reply().await.0, 1000 + id);
    }
    const { assert!(MAX_COPIED_OCTETS < 20 << 10) };
    for id in 0..200_u32 {
        assert!(owner.let_go());
        let result = vec![if id == 0 { 7 } else { id as u8 }; 100];
        assert_eq!(peer.reply().await, (id, result));
    }
}

#[tokio::test(start_paused = true)]
async fn clients_that_stop_within_a_message_or_read_nothing_or_say_nothing_are_closed_in_time() {
    let owner = owner_with(64 * MIB);
    let (mut clients, stop) = watched(&owner, 4);
    let message = request(1, "echo", &[7; 1000]);
    clients[0].0.send(&message[..100]);
    let large = request(1, "echo", &[7; 200 << 10]);
    for _ in 0..6 {
        clients[1].0.send(&large);
        let_all_run().await;
    }
    // The last one calls now and then.
    for _ in 0..40 {
        let (peer, _) = &mut clients[3];
        peer.send(&message);
        assert_eq!(peer.reply().await.0, 1);
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
    let (last, _) = clients.remove(3);
    for (_, driver) in clients {
        assert!(driver.is_finished());
    }
    for counter in [
        Counter::SlowSendersClosed,
        Counter::SlowReadersClosed,
        Counter::UnusedConnectionsClosed,
    ] {
        assert_eq!(owner.settings.counters.get(counter), 1, "{counter}");
    }
    drop(last);
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn while_memory_is_scarce_the_slow_client_that_holds_most_is_closed() {
    let owner = owner_with(16 * MIB);
    let memory = Arc::clone(&owner.settings.memory);
    let (mut clients, stop) = watched(&owner, 16);
    let pieces = fragments(&request(1, "echo", &[7; MIB]), 96 << 10);
    for (at, (peer, _)) in clients.iter().enumerate() {
        let count = if at == 5 { 9 } else { 7 };
        for piece in &pieces[..count] {
            peer.send(piece);
            let_all_run().await;
        }
    }
    assert!(memory.is_scarce(), "{} octets", memory.held());
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!memory.is_scarce(), "{} octets", memory.held());
    assert!(clients[5].1.is_finished());
    let evicted = owner.settings.counters.get(Counter::ConnectionsEvicted);
    assert!((1..8).contains(&evicted), "{evicted} of 16");
    // The others are served.
    let (peer, _) = (clients.iter_mut())
        .find(|(_, driver)| !driver.is_finished())
        .unwrap();
    for piece in &pieces[7..] {
        peer.send(piece);
        let_all_run().await;
    }
    assert_eq!(peer.reply().await.1.len(), MIB);
    stop.cancel();
}

/// A client with the memory and the stall timeout of an owner, and the peer that the test plays.
fn calling(owner: &Arc<TestOwner>) -> (Arc<crate::client::ClientConnection>, Peer) {
    let (ours, theirs) = pair();
    let mut settings = connect_settings();
    settings.connection = owner.settings.clone();
    (client_with(ours, &settings), Peer::new(theirs))
}

#[tokio::test]
async fn replies_that_have_begun_count_with_the_memory_of_clients() {
    let owner = owner_with(2 * MIB);
    let (memory, counters) = (&owner.settings.memory, &owner.settings.counters);
    let mut ended = 0;
    let mut clients = Vec::new();
    for _ in 0..8 {
        let (client, mut peer) = calling(&owner);
        let call = spawn_call(&client, "give", b"");
        let large = reply(peer.request().await.0, &[7; MIB]);
        for piece in large[..600 << 10].chunks(16 << 10) {
            if client.is_over() {
                break;
            }
            peer.send(piece);
            let_all_run().await;
        }
        assert!(memory.held() <= 2 * MIB, "{} octets", memory.held());
        if client.is_over() {
            ended += 1;
            let error = in_time(call).await.unwrap().unwrap_err().raise();
            assert!(format!("{error:#}").contains("no memory"), "{error:#}");
        } else {
            clients.push((client, peer, call, large));
        }
    }
    assert!((1..8).contains(&ended), "{ended} of 8");
    assert_eq!(counters.get(Counter::ConnectionsOverMemory), ended);
    // The memory of a partial reply is free when the reply is whole.
    for (_, peer, call, large) in &mut clients {
        for piece in large[600 << 10..].chunks(16 << 10) {
            peer.send(piece);
            let_all_run().await;
        }
        assert_eq!(in_time(call).await.unwrap().unwrap().len(), MIB);
    }
    while memory.held() > 8 * CONNECTION_OCTETS {
        let_all_run().await;
    }
}

#[tokio::test]
async fn requests_that_wait_to_be_sent_are_counted_and_not_refused() {
    let owner = owner_with(MIB);
    let (client, mut peer) = calling(&owner);
    let call = tokio::spawn({
        let client = Arc::clone(&client);
        async move { TestCall::new("swallow", &[7; 3 * MIB]).on(&client).await }
    });
    while owner.settings.memory.held() < 3 * MIB {
        let_all_run().await;
    }
    let (id, _, octets) = in_time(peer.request()).await;
    assert_eq!(octets.len(), 3 * MIB);
    peer.send(&reply(id, b""));
    in_time(call).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_does_not_get_on_ends_its_connection_and_a_late_one_does_not() {
    let owner = owner_with(64 * MIB);
    let (slow, mut slow_peer) = calling(&owner);
    let (late, mut late_peer) = calling(&owner);
    let (slow_call, late_call) = (
        spawn_call(&slow, "give", b""),
        spawn_call(&late, "give", b""),
    );
    let ids = (slow_peer.request().await.0, late_peer.request().await.0);
    slow_peer.send(&reply(ids.0, &[7; 1000])[..100]);
    tokio::time::sleep(Duration::from_secs(120)).await;
    let error = in_time(slow_call).await.unwrap().unwrap_err().raise();
    assert!(
        format!("{error:#}").contains("makes no progress"),
        "{error:#}"
    );
    assert_eq!(owner.settings.counters.get(Counter::SlowSendersClosed), 1);
    late_peer.send(&reply(ids.1, b"late"));
    assert_eq!(in_time(late_call).await.unwrap().unwrap(), b"late");
}
