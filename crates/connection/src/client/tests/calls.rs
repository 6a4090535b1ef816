//! Calls and their replies.

use super::super::waiters::MAX_IN_FLIGHT;
use super::super::waiters::Waiter;
use super::super::{CallError, PeerOrb};
use crate::testing::*;
use core::future::poll_fn;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use zorb_giop::codeset::CodeSets;
use zorb_giop::{
    CompletionStatus, Fault, MessageKind, RequestHeader, ServiceContextId, SystemExceptionKind,
    Version,
};

#[tokio::test]
async fn replies_out_of_order_reach_their_callers() {
    let (client, mut peer) = client_and_peer();
    let arguments = [b"first", b"secnd", b"third"];
    let calls = arguments.map(|arguments| spawn_call(&client, "echo", arguments));
    let mut requests = Vec::new();
    for _ in &calls {
        requests.push(peer.request().await);
    }
    for (id, _, arguments) in requests.iter().rev() {
        peer.send(&reply(*id, arguments));
        let_all_run().await;
    }
    for (call, arguments) in calls.into_iter().zip(arguments) {
        assert_eq!(in_time(call).await.unwrap().unwrap(), arguments);
    }
    assert!(client.state().table.is_empty());
    assert_eq!(client.state().untaken, 0);
}

#[tokio::test]
async fn replies_to_no_request_are_discarded() {
    let (client, mut peer) = client_and_peer();
    let call = spawn_call(&client, "echo", b"");
    let (id, ..) = peer.request().await;
    // Another slot, another generation, an id of the peer's own, and the id of one-way requests.
    for other in [id + 2, id ^ 1 << 20, id | 1, id | 0xffff << 1] {
        peer.send(&reply(other, b"other"));
        let_all_run().await;
        assert!(!call.is_finished());
    }
    peer.send(&[reply(id + 2, b"other"), reply(id, b"own")].concat());
    assert_eq!(in_time(call).await.unwrap().unwrap(), b"own");
    assert!(!client.is_over());
}

#[tokio::test]
async fn the_first_of_two_replies_to_one_request_counts() {
    let (client, mut peer) = client_and_peer();
    for others in [0, 1] {
        let calls: Vec<_> = (0..=others)
            .map(|_| spawn_call(&client, "echo", b""))
            .collect();
        for _ in &calls {
            let (id, ..) = peer.request().await;
            peer.send(&[reply(id, b"one"), reply(id, b"two")].concat());
        }
        for call in calls {
            assert_eq!(in_time(call).await.unwrap().unwrap(), b"one");
        }
        assert_eq!(client.state().untaken, 0);
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_peer_and_its_late_reply_is_discarded() {
    let (client, mut peer) = client_and_peer();
    let call = spawn_call(&client, "slow", b"");
    let (id, ..) = peer.request().await;
    call.abort();
    assert!(call.await.is_err());
    assert!(client.state().table.is_empty());
    let cancelled = peer.receive().await.unwrap();
    assert_eq!(cancelled.cancelled_request(), Ok(id));
    let next = spawn_call(&client, "echo", b"");
    let (next_id, ..) = peer.request().await;
    assert_ne!(next_id, id, "the id is out of use until its reply has come");
    peer.send(&reply(id, b"late"));
    let_all_run().await;
    peer.send(&reply(next_id, b"next"));
    assert_eq!(in_time(next).await.unwrap().unwrap(), b"next");
    assert!(client.state().table.is_empty() && !client.is_over());
    // From now on its slot is in use again, with another generation.
    let insert = |_| {
        client
            .state()
            .table
            .insert(Waiter::of(MessageKind::Reply, None))
            .unwrap()
            .0
    };
    let [one, two] = [(), ()].map(insert);
    let slot = |id: u32| id >> 1 & 0xffff;
    assert!(
        [one, two]
            .iter()
            .any(|other| slot(*other) == slot(id) && *other != id)
    );
}

#[tokio::test]
async fn a_peer_that_takes_no_cancel_requests_gets_none() {
    for peer_orb in [PeerOrb::OmniOrb, PeerOrb::Unknown] {
        let (ours, theirs) = pair();
        let mut settings = connect_settings();
        settings.peer = peer_orb;
        let (client, mut peer) = (client_with(ours, &settings), Peer::new(theirs));
        let call = spawn_call(&client, "slow", b"");
        let (id, ..) = peer.request().await;
        call.abort();
        assert!(call.await.is_err());
        let next = spawn_call(&client, "next", b"");
        let (next_id, operation, _) = peer.request().await;
        assert_eq!(operation, "next");
        peer.send(&[reply(id, b"late"), reply(next_id, b"next")].concat());
        assert_eq!(in_time(next).await.unwrap().unwrap(), b"next");
    }
}

#[tokio::test]
async fn a_call_dropped_with_its_reply_in_the_table_counts_no_longer() {
    let (client, mut peer) = client_and_peer();
    let mut dropped = Box::pin(TestCall::new("echo", b"").on(&client));
    let mut other = Box::pin(TestCall::new("echo", b"").on(&client));
    // Two calls wait, so the driver reads.
    let mut cx = Context::from_waker(Waker::noop());
    assert!(dropped.as_mut().poll(&mut cx).is_pending());
    assert!(other.as_mut().poll(&mut cx).is_pending());
    for _ in 0..2 {
        let (id, ..) = peer.request().await;
        peer.send(&reply(id, b"reply"));
    }
    in_time(poll_fn(|cx| match client.state().untaken {
        2 => Poll::Ready(()),
        _ => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }))
    .await;
    drop(dropped);
    assert_eq!(client.state().untaken, 1);
    assert_eq!(in_time(other).await.unwrap(), b"reply");
    assert_eq!(client.state().untaken, 0);
}

#[tokio::test]
async fn a_call_that_waits_for_room_and_is_dropped_sends_nothing() {
    let (ours, theirs) = pair();
    ours.set_room(0);
    let client = client_with(ours.clone(), &connect_settings());
    let large = vec![7; 2 << 20];
    let waiting = tokio::spawn({
        let client = Arc::clone(&client);
        async move { TestCall::new("large", &large).on(&client).await }
    });
    let_all_run().await;
    {
        let mut call = pin!(TestCall::new("dropped", b"").on(&client));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut cx).is_pending());
        assert_eq!(client.state().table.len(), 1, "it has no id yet");
    }
    let next = spawn_call(&client, "next", b"");
    let_all_run().await;
    ours.set_room(usize::MAX);
    let mut peer = Peer::new(theirs);
    for expected in ["large", "next"] {
        let (id, operation, _) = peer.request().await;
        assert_eq!(operation, expected);
        peer.send(&reply(id, b""));
    }
    in_time(waiting).await.unwrap().unwrap();
    in_time(next).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_call_beyond_those_that_may_be_in_flight_is_refused() {
    let (client, mut peer) = client_and_peer();
    let begin = |_| {
        client
            .state()
            .table
            .insert(Waiter::of(MessageKind::Reply, None))
            .unwrap()
    };
    let mut begun: Vec<_> = (0..MAX_IN_FLIGHT).map(begin).collect();
    let refused = TestCall::new("echo", b"").on(&client).await.unwrap_err();
    assert!(matches!(&refused, CallError::Overload(Fault::Overload(_))));
    let exception = refused.raise();
    assert_eq!(exception.kind, SystemExceptionKind::Transient);
    assert_eq!(exception.completed, CompletionStatus::No);
    assert!(peer.has_nothing());
    client.state().forget(begun.pop().unwrap());
    let call = spawn_call(&client, "echo", b"");
    let (id, ..) = peer.request().await;
    peer.send(&reply(id, b"reply"));
    assert_eq!(in_time(call).await.unwrap().unwrap(), b"reply");
}

#[tokio::test]
async fn interleaved_fragments_of_two_replies_are_assembled() {
    let (client, mut peer) = client_and_peer();
    let results: [Vec<u8>; 2] = [vec![1; 1000], vec![2; 900]];
    let mut calls = Vec::new();
    let mut pieces = Vec::new();
    for result in &results {
        calls.push(spawn_call(&client, "echo", b""));
        let (id, ..) = peer.request().await;
        pieces.push(fragments(&reply(id, result), 128).into_iter());
    }
    let [mut one, mut two] = <[_; 2]>::try_from(pieces).unwrap();
    loop {
        let next = [one.next(), two.next()];
        if next.iter().all(Option::is_none) {
            break;
        }
        for piece in next.into_iter().flatten() {
            peer.send(&piece);
            let_all_run().await;
        }
    }
    for (call, result) in calls.into_iter().zip(results) {
        assert_eq!(in_time(call).await.unwrap().unwrap(), result);
    }
}

#[tokio::test]
async fn a_request_beyond_the_limit_of_a_piece_is_sent_in_fragments() {
    let (ours, theirs) = pair();
    let mut settings = connect_settings();
    settings.connection.max_fragment = Some(128);
    let (client, mut peer) = (client_with(ours, &settings), Peer::new(theirs));
    let long: Vec<u8> = (0..=255).cycle().take(1000).collect();
    for arguments in [&*long, b"short"] {
        let call = spawn_call(&client, "echo", arguments);
        let (id, _, received) = peer.request().await;
        assert_eq!(received, arguments);
        peer.send(&reply(id, b""));
        in_time(call).await.unwrap().unwrap();
        let is_long = arguments.len() > 128;
        assert_eq!(core::mem::take(&mut peer.fragments) > 1, is_long);
    }
}

#[tokio::test]
async fn code_sets_are_stated_until_the_first_reply() {
    let (ours, theirs) = pair();
    let endpoint = endpoint();
    let mut settings = connect_settings();
    settings.code_sets = CodeSets::UNSTATED;
    let client = super::super::ClientConnection::new(Box::new(ours), endpoint, true, &settings);
    let client = Arc::new(client);
    tokio::spawn(Arc::clone(&client).drive(None, None));
    let mut peer = Peer::new(theirs);
    let mut calls = Vec::new();
    for stated in [true, true, false] {
        calls.push(spawn_call(&client, "echo", b""));
        let message = peer.receive().await.unwrap();
        let header = RequestHeader::read(&message).unwrap();
        let context = header.contexts.get(ServiceContextId::CODE_SETS);
        assert_eq!(context.is_some(), stated);
        if calls.len() == 2 {
            peer.send(&reply(header.request_id, b""));
            in_time(calls.pop().unwrap()).await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn an_object_is_located_and_a_reply_of_another_kind_ends_the_connection() {
    use zorb_giop::{LocateReply, LocateRequestHeader, TargetAddress};
    let (client, mut peer) = client_and_peer();
    for answers in [true, false] {
        let locating = tokio::spawn({
            let client = Arc::clone(&client);
            async move { client.locate(Version::V1_2, &TargetAddress::Key(KEY)).await }
        });
        let message = peer.receive().await.unwrap();
        assert_eq!(message.header.kind, MessageKind::LocateRequest);
        let id = LocateRequestHeader::read(&message).unwrap().request_id;
        peer.send(&match answers {
            true => located(id, &LocateReply::ObjectHere),
            false => reply(id, b""),
        });
        let located = in_time(locating).await.unwrap();
        match answers {
            true => assert_eq!(located.unwrap(), Ok(LocateReply::ObjectHere)),
            false => assert!(matches!(
                located,
                Err(CallError::Lost(Fault::Protocol { .. }))
            )),
        }
    }
    assert!(client.is_over());
}
