//! Requests beyond the limits on pending upcalls.

use super::{cancel, exception, locate};
use crate::counters::Counter;
use crate::server::{Overload, ServerConnection, ServerLimits, Serving};
use crate::testing::*;
use core::sync::atomic::Ordering;
use core::time::Duration;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use zorb_giop::{
    LocateReply, MessageKind, ReplyHeader, ResponseFlags, SystemExceptionKind, Version,
    empty_message,
};

fn limits(upcalls: usize, overload: Overload) -> ServerLimits {
    ServerLimits {
        max_upcalls_per_connection: upcalls,
        overload,
        ..ServerLimits::new(1)
    }
}

fn one_way(id: u32, operation: &str, arguments: &[u8]) -> Vec<u8> {
    request_with(id, operation, arguments, ResponseFlags::None, &[])
}

fn held(owner: &TestOwner) -> usize {
    owner.held.lock().unwrap().len()
}

/// A connection of `serving` that a task serves, with its peer.
fn served(
    owner: &Arc<TestOwner>,
    serving: &Arc<Serving<TestOwner>>,
) -> (Arc<ServerConnection<TestOwner>>, Peer) {
    let (ours, theirs) = pair();
    let connection = owner.connection_over(Box::new(ours), serving);
    tokio::spawn(Arc::clone(&connection).drive(serving));
    (connection, Peer::new(theirs))
}

#[tokio::test]
async fn requests_beyond_the_limit_wait_and_are_served_in_their_order() {
    let owner = TestOwner::new();
    let (connection, stream, _driver) = owner.serve_task_within(limits(2, Overload::Wait));
    let mut peer = Peer::new(stream);
    for id in 1..=4 {
        peer.send(&request(id, "hold", &[id as u8]));
    }
    peer.send(&request(5, "echo", b"behind them"));
    let_all_run().await;
    assert_eq!(held(&owner), 2);
    for id in 1..=4 {
        assert!(owner.let_go());
        assert_eq!(peer.reply().await, (id, vec![id as u8]));
        let_all_run().await;
        // The last request has room beside the pending one, and is not held back.
        assert_eq!(held(&owner), [2, 2, 1, 0][id as usize - 1]);
        if id == 3 {
            assert_eq!(peer.reply().await, (5, b"behind them".to_vec()));
        }
    }
    assert!(connection.has_no_pending());
}

#[tokio::test]
async fn one_ways_of_a_client_that_takes_no_reply_wait_for_room_as_all_do() {
    let owner = TestOwner::new();
    let (_connection, stream, _driver) = owner.serve_task_within(limits(2, Overload::Wait));
    let peer = Peer::new(stream);
    peer.stream.refuse();
    peer.send(&request(1, "echo", b""));
    let_all_run().await;
    let others: Vec<_> = (2..12).map(|id| one_way(id, "hold", b"")).collect();
    peer.send(&others.concat());
    let_all_run().await;
    assert_eq!(held(&owner), 2);
    for _ in 0..10 {
        assert!(owner.let_go());
        let_all_run().await;
    }
    assert_eq!(held(&owner), 0);
}

#[tokio::test]
async fn a_waiting_request_may_be_cancelled_and_its_id_used_again() {
    let owner = TestOwner::new();
    let (connection, stream, _driver) = owner.serve_task_within(limits(1, Overload::Wait));
    let mut peer = Peer::new(stream);
    for id in [1, 2, 3] {
        peer.send(&request(id, "hold", &[id as u8]));
    }
    peer.send(&cancel(2));
    peer.send(&request(2, "hold", b"again"));
    let_all_run().await;
    for (id, result) in [(1, &[1][..]), (3, &[3]), (2, b"again")] {
        assert!(owner.let_go());
        assert_eq!(peer.reply().await, (id, result.to_vec()));
        let_all_run().await;
    }
    assert!(!owner.let_go() && peer.has_nothing() && connection.has_no_pending());
}

#[tokio::test]
async fn a_connection_ends_while_requests_wait_and_only_one_ways_are_still_served() {
    for closes in [true, false] {
        let owner = TestOwner::new();
        let served = owner.served();
        let (connection, stream, driver) = owner.serve_task_within(limits(1, Overload::Wait));
        let peer = Peer::new(stream);
        peer.send(&request(1, "hold", b""));
        peer.send(&one_way(2, "noted", b"first"));
        peer.send(&request(3, "cancelled while queued", b""));
        peer.send(&one_way(4, "noted", b"second"));
        if closes {
            peer.send(&empty_message(MessageKind::CloseConnection, Version::V1_2));
        }
        let_all_run().await;
        drop(peer);
        let_all_run().await;
        assert!(!driver.is_finished(), "one-way requests wait");
        assert!(owner.let_go());
        in_time(driver).await.unwrap();
        let operations: Vec<_> = served.try_iter().map(|(name, _)| name).collect();
        assert_eq!(operations, ["hold", "noted", "noted"]);
        drop(connection);
    }
}

#[tokio::test]
async fn one_ways_beyond_the_limit_are_all_served_however_many_there_are() {
    const ONE_WAYS: u32 = 3000;
    let owner = TestOwner::new();
    let (connection, stream, _driver) = owner.serve_task_within(limits(10, Overload::Wait));
    let mut peer = Peer::new(stream);
    let mut came = Vec::new();
    let mut sent = 0;
    while came.len() < ONE_WAYS as usize {
        // As many as fit into the stream while the connection is not read.
        while sent < ONE_WAYS && peer.fits(&one_way(sent, "hold", &sent.to_be_bytes())) {
            sent += 1;
        }
        let_all_run().await;
        let waiting = connection.backlog.len.load(Ordering::Relaxed);
        assert!(held(&owner) <= 10 && waiting <= ServerLimits::MAX_WAITING_REQUESTS);
        came.extend(owner.held.lock().unwrap().drain(..).map(|held| held.3));
    }
    let expected = (0..ONE_WAYS).map(|id| id.to_be_bytes().to_vec());
    assert!(came.into_iter().eq(expected), "in their order");
    peer.send(&request(1, "echo", b"done"));
    assert_eq!(peer.reply().await.1, b"done");
}

#[tokio::test]
async fn octets_of_pending_requests_are_limited_as_well() {
    let owner = TestOwner::with(|settings| settings.limits.max_message_octets = 1000);
    let (connection, stream, _driver) = owner.serve_task_within(limits(9, Overload::Wait));
    let mut peer = Peer::new(stream);
    for id in [1, 2] {
        peer.send(&request(id, "hold", &[7; 600]));
        let_all_run().await;
        assert_eq!(held(&owner), 1);
    }
    for id in [1, 2] {
        assert!(owner.let_go());
        assert_eq!(peer.reply().await.0, id);
        let_all_run().await;
    }
    assert_eq!(connection.pending_octets.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn where_refusing_is_chosen_requests_beyond_the_limit_are_transient() {
    let owner = TestOwner::new();
    let (connection, stream, _driver) = owner.serve_task_within(limits(1, Overload::Refuse));
    let mut peer = Peer::new(stream);
    peer.send(&request(1, "hold", b"held"));
    peer.send(&request(2, "hold", b""));
    peer.send(&locate(3, b"ask"));
    let refused = exception(&peer.receive().await.unwrap());
    assert_eq!(refused.kind, SystemExceptionKind::Transient);
    let (_, located) = LocateReply::read(&peer.receive().await.unwrap()).unwrap();
    let LocateReply::SystemException(refused) = located else {
        panic!("it is refused")
    };
    assert_eq!(refused.kind, SystemExceptionKind::Transient);
    let_all_run().await;
    let counters = &owner.settings.counters;
    assert_eq!(counters.get(Counter::PendingRequestsRefused), 2);
    assert_eq!(counters.get(Counter::OneWaysDropped), 0);
    peer.send(&one_way(5, "hold", b""));
    let_all_run().await;
    assert_eq!(counters.get(Counter::PendingRequestsRefused), 3);
    assert_eq!(counters.get(Counter::OneWaysDropped), 1);
    assert!(owner.let_go());
    assert_eq!(peer.reply().await, (1, b"held".to_vec()));
    peer.send(&request(4, "echo", b"served"));
    assert_eq!(peer.reply().await, (4, b"served".to_vec()));
    assert!(connection.has_no_pending());
}

#[tokio::test]
async fn a_connection_waits_for_the_upcalls_of_others_of_its_host() {
    let owner = TestOwner::new();
    let serving = Arc::new(Serving::new(ServerLimits {
        max_upcalls_per_host: 2,
        ..ServerLimits::new(9)
    }));
    let (_first, first) = served(&owner, &serving);
    let (_second, mut second) = served(&owner, &serving);
    for id in [1, 2] {
        first.send(&request(id, "hold", b""));
    }
    let_all_run().await;
    second.send(&request(3, "hold", b"third"));
    second.send(&request(4, "echo", b"fourth"));
    let_all_run().await;
    assert_eq!(held(&owner), 2);
    assert!(second.has_nothing());
    assert!(owner.let_go());
    let_all_run().await;
    assert_eq!(held(&owner), 2, "the third has its place");
    owner.held.lock().unwrap().rotate_right(1);
    assert!(owner.let_go());
    assert_eq!(second.reply().await, (3, b"third".to_vec()));
    assert_eq!(second.reply().await, (4, b"fourth".to_vec()));
}

#[tokio::test]
async fn a_client_that_is_gone_gives_its_place_back_while_its_upcall_runs_on() {
    let owner = TestOwner::new();
    let serving = Arc::new(Serving::new(ServerLimits {
        max_upcalls: 3,
        ..ServerLimits::new(1)
    }));
    for round in 1..=3 {
        let (connection, peer) = served(&owner, &serving);
        let stream = Arc::downgrade(&connection);
        drop(connection);
        peer.send(&request(1, "hold", b""));
        let_all_run().await;
        drop(peer);
        let_all_run().await;
        assert!(stream.upgrade().is_none(), "its descriptor is closed");
        assert!(serving.is_empty());
        assert_eq!(serving.pending_upcalls(), round);
    }
    // Upcalls of ended connections count.
    let (_connection, mut peer) = served(&owner, &serving);
    peer.send(&request(1, "echo", b""));
    let_all_run().await;
    assert!(peer.has_nothing());
    assert!(owner.let_go());
    assert_eq!(peer.reply().await.0, 1);
    assert_eq!(serving.pending_upcalls(), 2);
}

/// The two clients of a host with two upcalls at a time: the client of both upcalls, and one whose backlog is full,
/// with further requests unread.
async fn stuck(owner: &Arc<TestOwner>, serving: &Arc<Serving<TestOwner>>) -> (Peer, Peer) {
    let first = served(owner, serving).1;
    for id in [1, 2] {
        first.send(&request(id, "hold", b""));
    }
    let_all_run().await;
    let second = served(owner, serving).1;
    for id in 0..2 * ServerLimits::MAX_WAITING_REQUESTS {
        second.send(&request(id as u32, "hold", b""));
    }
    let_all_run().await;
    assert_eq!(serving.pending_upcalls(), 2);
    (first, second)
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_client_is_seen_behind_more_requests_than_may_wait_for_upcalls_left_behind() {
    let owner = TestOwner::new();
    let (serving, stop) = watched(&owner);
    let (first, mut second) = stuck(&owner, &serving).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(
        second.has_nothing(),
        "it waits for upcalls of a client that is there"
    );
    drop(first);
    tokio::time::sleep(Duration::from_secs(5)).await;
    // The waiting requests have no answer yet; the requests after them were refused.
    let refused = second.receive().await.unwrap();
    let (id, ..) = ReplyHeader::head(&refused).unwrap();
    assert_eq!(id as usize, ServerLimits::MAX_WAITING_REQUESTS);
    assert_eq!(exception(&refused).kind, SystemExceptionKind::Transient);
    drop(second);
    let_all_run().await;
    assert!(serving.is_empty());
    assert_eq!(serving.pending_upcalls(), 2);
    // When the two upcalls have ended, there is room again.
    assert!(owner.let_go() && owner.let_go());
    let (_third, mut peer) = served(&owner, &serving);
    peer.send(&request(1, "echo", b""));
    assert_eq!(peer.reply().await.0, 1);
    stop.cancel();
}

#[tokio::test]
async fn a_request_goes_on_although_its_client_is_gone() {
    let owner = TestOwner::new();
    let serving = Arc::new(Serving::new(ServerLimits::new(1)));
    let (connection, peer) = served(&owner, &serving);
    drop(connection);
    peer.send(&request(1, "hold", b""));
    let_all_run().await;
    drop(peer);
    let_all_run().await;
    let (pending, ..) = owner.held.lock().unwrap().pop().unwrap();
    assert!(!pending.is_cancelled());
    let (went_on, outcome) = std::sync::mpsc::channel();
    pending.go_on(move |pending| {
        let connection = pending.connection();
        connection.queue_reply(Some(bytes::BytesMut::from(&b"octets"[..]).into()));
        assert!(Arc::ptr_eq(connection.owner(), pending.owner()));
        pending.answer(None);
        went_on.send(()).unwrap();
    });
    outcome.recv().unwrap();
    assert_eq!(serving.pending_upcalls(), 0);
}

/// A host with two upcalls at a time, whose connections are checked from time to time.
fn watched(owner: &Arc<TestOwner>) -> (Arc<Serving<TestOwner>>, CancellationToken) {
    let serving = Arc::new(Serving::new(ServerLimits {
        max_upcalls_per_host: 2,
        ..ServerLimits::new(9)
    }));
    let stop = CancellationToken::new();
    tokio::spawn(Arc::clone(&serving).watch(Arc::downgrade(owner), stop.clone()));
    (serving, stop)
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_more_requests_behind_than_may_wait_gives_its_place_back() {
    let owner = TestOwner::new();
    let (serving, stop) = watched(&owner);
    let peer = served(&owner, &serving).1;
    for id in 0..2 + 2 * ServerLimits::MAX_WAITING_REQUESTS {
        peer.send(&request(id as u32, "hold", b""));
    }
    let_all_run().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(!serving.is_empty(), "it waits for its own upcalls");
    drop(peer);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(serving.is_empty());
    assert_eq!(serving.pending_upcalls(), 2);
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn requests_to_locate_objects_wait_in_no_greater_number_than_others() {
    let owner = TestOwner::new();
    let (serving, stop) = watched(&owner);
    let (first, _second) = stuck(&owner, &serving).await;
    drop(first);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (third, mut peer) = served(&owner, &serving);
    const MORE: usize = 50;
    let all = ServerLimits::MAX_WAITING_REQUESTS + MORE;
    for id in 0..all {
        peer.send(&locate(id as u32, b"ask"));
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let waiting = third.backlog.len.load(Ordering::Relaxed);
    assert_eq!(waiting, ServerLimits::MAX_WAITING_REQUESTS);
    for _ in 0..MORE {
        let (_, located) = LocateReply::read(&peer.receive().await.unwrap()).unwrap();
        let LocateReply::SystemException(refused) = located else {
            panic!("it is refused")
        };
        assert_eq!(refused.kind, SystemExceptionKind::Transient);
    }
    assert!(peer.has_nothing());
    stop.cancel();
}
