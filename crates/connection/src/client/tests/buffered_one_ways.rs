//! One-way requests that wait for others until their limits are reached.

use super::super::CallError;
use crate::Buffering;
use crate::testing::*;
use core::pin::pin;
use core::task::{Context, Waker};
use core::time::Duration;
use zorb_giop::{MessageKind, ResponseFlags};

const NONE: Buffering = Buffering {
    messages: None,
    octets: None,
    time: None,
};
const MANY: Buffering = Buffering {
    messages: Some(1_000),
    ..NONE
};

async fn buffered(client: &crate::ClientConnection, arguments: &[u8], limits: Buffering) {
    let call = TestCall {
        response: ResponseFlags::None,
        ..TestCall::new("log", arguments)
    };
    in_time(call.buffered(client, limits)).await.unwrap();
}

/// Advances the clock, and lets all tasks run that are due.
async fn pass(time: Duration) {
    let_all_run().await;
    tokio::time::advance(time).await;
    let_all_run().await;
}

async fn all(peer: &mut Peer, expected: &[&[u8]]) {
    for arguments in expected {
        assert_eq!(in_time(peer.request()).await.2, *arguments);
    }
    assert!(peer.has_nothing());
}

#[tokio::test(start_paused = true)]
async fn the_last_request_of_a_number_writes_all() {
    let (ours, theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let mut peer = Peer::new(theirs);
    let limits = Buffering {
        messages: Some(3),
        ..NONE
    };
    let long = vec![7; 5_000];
    for round in 1..=3 {
        buffered(&client, b"one", limits).await;
        // A request that is not copied into the batch counts as well.
        buffered(&client, &long, limits).await;
        pass(Duration::from_secs(3_600)).await;
        assert!(peer.has_nothing(), "{round}");
        buffered(&client, b"three", limits).await;
        assert_eq!(ours.writes(), round);
        all(&mut peer, &[b"one", &long, b"three"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn so_many_octets_are_written() {
    let (ours, theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let mut peer = Peer::new(theirs);
    let limits = Buffering {
        octets: Some(100_000),
        ..NONE
    };
    let kilobyte = [7; 1_000];
    let mut sent = 0;
    while ours.writes() == 0 {
        buffered(&client, &kilobyte, limits).await;
        sent += 1;
        assert!(sent <= 100, "no bound");
    }
    // Each kilobyte has a message header in addition.
    assert!((90..100).contains(&sent), "{sent}");
    all(&mut peer, &vec![&kilobyte[..]; sent]).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_no_longer_than_its_time() {
    let (ours, theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let mut peer = Peer::new(theirs);
    let within = |seconds| Buffering {
        time: Some(Duration::from_secs(seconds)),
        ..MANY
    };
    for round in 1..=2 {
        buffered(&client, b"one", within(9)).await;
        // A later request with less time, and one with more.
        buffered(&client, b"two", within(2)).await;
        buffered(&client, b"three", within(5)).await;
        pass(Duration::from_millis(1_990)).await;
        assert!(peer.has_nothing());
        pass(Duration::from_millis(20)).await;
        assert_eq!(ours.writes(), round);
        all(&mut peer, &[b"one", b"two", b"three"]).await;
    }
    buffered(&client, b"one", within(2)).await;
    pass(Duration::from_secs(1)).await;
    client.flush_one_ways().await.unwrap();
    all(&mut peer, &[b"one"]).await;
    // The time of the next requests starts anew after a write.
    buffered(&client, b"two", within(2)).await;
    pass(Duration::from_millis(1_500)).await;
    assert!(peer.has_nothing());
    pass(Duration::from_secs(1)).await;
    all(&mut peer, &[b"two"]).await;
}

#[tokio::test(start_paused = true)]
async fn another_request_takes_those_that_wait_along() {
    let (ours, theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let mut peer = Peer::new(theirs);
    let mut cx = Context::from_waker(Waker::noop());
    buffered(&client, b"one", MANY).await;
    let mut call = pin!(TestCall::new("echo", b"").on(&client));
    assert!(call.as_mut().poll(&mut cx).is_pending());
    for operation in ["log", "echo"] {
        assert_eq!(peer.request().await.1, operation);
    }
    // A request that is not buffered, but waits a moment for others.
    buffered(&client, b"one", MANY).await;
    let batched = TestCall {
        response: ResponseFlags::None,
        ..TestCall::new("log", b"two")
    };
    batched.one_way(&client, true).await.unwrap();
    pass(Duration::from_millis(5)).await;
    all(&mut peer, &[b"one", b"two"]).await;
    // The other way round, and again when that has been written.
    batched.one_way(&client, true).await.unwrap();
    buffered(&client, b"three", MANY).await;
    pass(Duration::from_millis(5)).await;
    all(&mut peer, &[b"two", b"three"]).await;
    buffered(&client, b"four", MANY).await;
    pass(Duration::from_secs(60)).await;
    assert!(peer.has_nothing());
    // Without a limit nothing waits.
    buffered(&client, b"five", NONE).await;
    all(&mut peer, &[b"four", b"five"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_flush_is_ready_when_the_transport_has_all() {
    let (ours, theirs) = pair();
    ours.set_room(20);
    let client = client_with(ours.clone(), &connect_settings());
    buffered(&client, b"one", MANY).await;
    let mut flush = pin!(client.flush_one_ways());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(flush.as_mut().poll(&mut cx).is_pending());
    ours.set_room(usize::MAX);
    in_time(flush).await.unwrap();
    all(&mut Peer::new(theirs.clone()), &[b"one"]).await;
    // With nothing to write it is ready at once, and it fails with the connection.
    in_time(client.flush_one_ways()).await.unwrap();
    ours.set_room(0);
    buffered(&client, b"two", MANY).await;
    let mut flush = pin!(client.flush_one_ways());
    assert!(flush.as_mut().poll(&mut cx).is_pending());
    theirs.break_off();
    let error = in_time(flush).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent(_) | CallError::Lost(_)));
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_written_before_the_connection_is_closed() {
    for releases in [false, true] {
        let (ours, theirs) = pair();
        let client = client_with(ours, &connect_settings());
        let mut peer = Peer::new(theirs);
        buffered(&client, b"one", MANY).await;
        match releases {
            true => client.release_if_idle(),
            false => client.shut_down(),
        }
        assert_eq!(in_time(peer.request()).await.2, b"one");
        let last = in_time(peer.receive()).await.unwrap();
        assert_eq!(last.header.kind, MessageKind::CloseConnection);
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_waits_than_a_connection_may_hold() {
    let (ours, _theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let limits = Buffering {
        messages: Some(100_000),
        ..NONE
    };
    let kilobyte = [7; 1_000];
    let mut waiting = 0;
    while ours.writes() == 0 {
        buffered(&client, &kilobyte, limits).await;
        waiting += 1;
        assert!(waiting <= 1_049, "1 MiB of them");
    }
    assert!(waiting > 900, "{waiting}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_requests_that_wait_is_no_idle_one() {
    let (ours, theirs) = pair();
    let client = client_with(ours, &connect_settings());
    let mut peer = Peer::new(theirs);
    buffered(&client, b"one", MANY).await;
    assert!(client.retire_for_another().is_none());
    client.flush_one_ways().await.unwrap();
    all(&mut peer, &[b"one"]).await;
    assert!(client.retire_for_another().is_some());
}
