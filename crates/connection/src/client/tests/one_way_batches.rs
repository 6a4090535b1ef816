//! One-way requests, alone and in batches.

use super::super::CallError;
use crate::testing::*;
use core::pin::pin;
use core::task::{Context, Waker};
use zorb_giop::{Fault, RequestHeader, ResponseFlags};

fn one_way<'a>(operation: &'a str, arguments: &'a [u8]) -> TestCall<'a> {
    TestCall {
        response: ResponseFlags::None,
        ..TestCall::new(operation, arguments)
    }
}

#[tokio::test(start_paused = true)]
async fn batched_requests_wait_for_each_other_and_leave_by_one_write() {
    let (ours, theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let mut peer = Peer::new(theirs);
    for round in 1..=2 {
        for arguments in [b"one", b"two", b"six"] {
            one_way("log", arguments)
                .one_way(&client, true)
                .await
                .unwrap();
        }
        let_all_run().await;
        assert!(peer.has_nothing());
        for arguments in [b"one", b"two", b"six"] {
            // The clock goes on while the test waits.
            assert_eq!(peer.request().await.2, arguments);
        }
        assert_eq!(ours.writes(), round);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_takes_the_batch_along() {
    let (ours, theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let mut peer = Peer::new(theirs);
    for arguments in [b"one", b"two"] {
        one_way("log", arguments)
            .one_way(&client, true)
            .await
            .unwrap();
    }
    let mut call = pin!(TestCall::new("echo", b"").on(&client));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(call.as_mut().poll(&mut cx).is_pending());
    assert_eq!(ours.writes(), 1);
    for operation in ["log", "log", "echo"] {
        assert_eq!(peer.request().await.1, operation);
    }
}

#[tokio::test]
async fn a_full_batch_is_written_by_its_sender() {
    let (ours, theirs) = pair();
    // The client has no driver.
    let client = undriven(ours.clone(), &connect_settings());
    let mut sent = 0;
    while ours.writes() == 0 {
        assert!(sent < 100, "a batch becomes full");
        one_way("log", &[7; 500])
            .one_way(&client, true)
            .await
            .unwrap();
        sent += 1;
    }
    assert!(sent > 10, "messages wait for others");
    let mut peer = Peer::new(theirs);
    for _ in 0..sent {
        assert_eq!(peer.request().await.2, [7; 500]);
    }
    assert!(peer.has_nothing());
}

#[tokio::test(start_paused = true)]
async fn a_long_request_leaves_with_the_batch_and_in_its_order() {
    let (ours, theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let mut peer = Peer::new(theirs);
    let long = vec![7; 5000];
    for arguments in [&b"one"[..], &long, b"two"] {
        one_way("log", arguments)
            .one_way(&client, true)
            .await
            .unwrap();
    }
    let_all_run().await;
    assert!(peer.has_nothing());
    for arguments in [&b"one"[..], &long, b"two"] {
        assert_eq!(peer.request().await.2, arguments);
    }
    assert_eq!(ours.writes(), 1);
}

#[tokio::test]
async fn an_unbatched_request_ends_when_the_transport_has_taken_it() {
    let (ours, theirs) = pair();
    ours.set_room(20);
    let client = client_with(ours.clone(), &connect_settings());
    let mut sending = pin!(one_way("log", b"").one_way(&client, false));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(sending.as_mut().poll(&mut cx).is_pending());
    let_all_run().await;
    assert!(sending.as_mut().poll(&mut cx).is_pending());
    ours.set_room(usize::MAX);
    in_time(sending).await.unwrap();
    let mut peer = Peer::new(theirs);
    assert_eq!(peer.request().await.1, "log");
    assert!(client.state().table.is_empty());
    assert_eq!(client.state().one_ways, 0);
}

#[tokio::test]
async fn an_unbatched_request_that_the_transport_never_takes_is_not_sent() {
    let (ours, theirs) = pair();
    ours.set_room(20);
    let client = client_with(ours, &connect_settings());
    let sending = tokio::spawn({
        let client = std::sync::Arc::clone(&client);
        async move { one_way("log", b"").one_way(&client, false).await }
    });
    let_all_run().await;
    assert!(!sending.is_finished());
    theirs.break_off();
    let error = in_time(sending).await.unwrap().unwrap_err();
    assert!(matches!(
        error,
        CallError::NotSent(Fault::ConnectionLost { .. })
    ));
}

#[tokio::test]
async fn no_request_without_a_reply_shares_its_id_with_a_call() {
    let (client, mut peer) = client_and_peer();
    let call = spawn_call(&client, "wait", b"");
    let (in_flight, ..) = peer.request().await;
    let mut ids = vec![in_flight];
    for _ in 0..4 {
        one_way("log", b"").one_way(&client, false).await.unwrap();
        let message = peer.receive().await.unwrap();
        let header = RequestHeader::read(&message).unwrap();
        assert_eq!(header.response, ResponseFlags::None);
        assert!(!ids.contains(&header.request_id));
        ids.push(header.request_id);
    }
    peer.send(&reply(in_flight, b"reply"));
    assert_eq!(in_time(call).await.unwrap().unwrap(), b"reply");
}
