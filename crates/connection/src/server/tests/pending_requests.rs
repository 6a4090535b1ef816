//! Requests that are pending.

use super::{cancel, locate};
use crate::server::{PendingRequest, ServerLimits, Serving};
use crate::testing::*;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use zorb_cdr::Gather;
use zorb_giop::{LocateReply, MessageKind};

#[tokio::test]
async fn pending_requests_are_answered_in_the_order_in_which_they_end() {
    let owner = TestOwner::new();
    let (connection, mut peer, _driver) = owner.serve_peer();
    for id in [1, 2] {
        peer.send(&request(id, "hold", &[id as u8]));
    }
    peer.send(&request(3, "echo", b"meanwhile"));
    assert_eq!(peer.reply().await, (3, b"meanwhile".to_vec()));
    assert!(!connection.has_no_pending());
    owner.held.lock().unwrap().reverse();
    for id in [2, 1] {
        assert!(owner.let_go());
        assert_eq!(peer.reply().await, (id, vec![id as u8]));
    }
    assert!(connection.has_no_pending());
}

#[tokio::test]
async fn a_cancelled_request_is_not_answered() {
    let owner = TestOwner::new();
    let (connection, mut peer, _driver) = owner.serve_peer();
    for id in [1, 2] {
        peer.send(&request(id, "hold", b""));
    }
    // Cancelling an unknown request has no effect.
    for id in [1, 9] {
        peer.send(&cancel(id));
    }
    peer.send(&request(3, "echo", b""));
    assert_eq!(peer.reply().await.0, 3);
    let cancelled = |at: usize| owner.held.lock().unwrap()[at].0.is_cancelled();
    assert!(cancelled(0) && !cancelled(1));
    assert!(owner.let_go() && owner.let_go());
    assert_eq!(peer.reply().await.0, 2);
    assert!(peer.has_nothing() && connection.has_no_pending());
    // The id may be used again.
    peer.send(&request(1, "hold", b"again"));
    let_all_run().await;
    assert!(owner.let_go());
    assert_eq!(peer.reply().await, (1, b"again".to_vec()));
    assert!(connection.peer.requests.is_empty());
}

#[tokio::test]
async fn a_request_that_is_dropped_unanswered_is_pending_no_longer() {
    let owner = TestOwner::new();
    let (connection, peer, _driver) = owner.serve_peer();
    peer.send(&request(1, "hold", b"octets"));
    let_all_run().await;
    assert!(!connection.has_no_pending());
    owner.held.lock().unwrap().clear();
    assert!(connection.has_no_pending());
    assert_eq!(connection.pending_octets.load(Ordering::Relaxed), 0);
    assert!(connection.peer.requests.is_empty());
}

fn octets(octets: usize) -> Gather {
    Gather::from(bytes::BytesMut::zeroed(octets))
}

#[tokio::test]
async fn a_long_reply_is_replaced_where_the_client_reads_too_little() {
    let owner = TestOwner::with(|settings| settings.limits.max_message_octets = 10_000);
    let (ours, _theirs) = pair();
    ours.set_room(0);
    let serving = Serving::new(ServerLimits::new(1));
    let connection = owner.connection_over(Box::new(ours), &serving);
    let replaced = AtomicUsize::new(0);
    let finish = |id, len: usize| {
        PendingRequest::new(&connection, id, 0).finish(Some(octets(len)), |queued| {
            replaced.fetch_add(1, Ordering::Relaxed);
            assert!(queued > 10_000);
            None
        });
        replaced.load(Ordering::Relaxed)
    };
    assert_eq!(finish(1, 9_000), 0);
    assert_eq!(finish(2, 9_000), 0);
    assert_eq!(finish(3, 500), 0, "short replies are sent");
    assert_eq!(finish(4, 9_000), 1);
    let queued = connection.link.outbound.queued_octets();
    assert!((18_500..20_000).contains(&queued), "{queued} octets");
}

#[tokio::test]
async fn the_owner_is_asked_for_the_objects_that_it_does_not_know() {
    let owner = TestOwner::new();
    let (_connection, mut peer, _driver) = owner.serve_peer();
    let asked = [
        (KEY, LocateReply::ObjectHere),
        (b"other", LocateReply::UnknownObject),
        (b"ask for what is here", LocateReply::ObjectHere),
        (b"ask for another", LocateReply::UnknownObject),
    ];
    for (id, (key, expected)) in (1..).zip(asked) {
        peer.send(&locate(id, key));
        let message = peer.receive().await.unwrap();
        assert_eq!(message.header.kind, MessageKind::LocateReply);
        assert_eq!(LocateReply::read(&message).unwrap(), (id, expected));
    }
}

#[tokio::test]
async fn requests_that_go_on_run_in_their_order_whatever_becomes_of_them() {
    let owner = TestOwner::with(|settings| settings.threads = true);
    let (ours, _theirs) = pair();
    let serving = Serving::new(ServerLimits::new(1));
    let connection = owner.connection_over(Box::new(ours), &serving);
    let (ran, order) = mpsc::channel();
    let here = std::thread::current().id();
    for id in 0..5 {
        let ran = ran.clone();
        PendingRequest::new(&connection, id, 0).go_on(move |pending| {
            ran.send((id, std::thread::current().id())).unwrap();
            assert_ne!(id, 2, "this one panics");
            drop(pending);
        });
    }
    drop(ran);
    owner.ended().await;
    let ran: Vec<_> = order.iter().collect();
    assert!(ran.iter().all(|(_, thread)| *thread != here));
    assert_eq!(
        ran.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4]
    );
    assert!(connection.has_no_pending());
}

#[tokio::test]
async fn where_connections_have_no_threads_a_request_goes_on_at_once() {
    let owner = TestOwner::new();
    let (ours, theirs) = pair();
    let serving = Serving::new(ServerLimits::new(1));
    let connection = owner.connection_over(Box::new(ours), &serving);
    let here = std::thread::current().id();
    let acknowledgement = Gather::from(bytes::BytesMut::from(&*reply(1, b"acknowledged")));
    PendingRequest::new(&connection, 1, 0).go_on(move |pending| {
        assert_eq!(std::thread::current().id(), here);
        pending.connection().queue_reply(Some(acknowledgement));
    });
    // The acknowledgement was flushed.
    assert_eq!(Peer::new(theirs).reply().await.1, b"acknowledged");
}
