//! Requests of several calls of one task.

use super::super::CallError;
use crate::outbound::FULL_BATCH_OCTETS;
use crate::testing::*;
use crate::{blocking, together};
use core::pin::pin;
use core::task::{Context, Waker};
use zorb_giop::{Fault, ResponseFlags};

fn one_way<'a>(operation: &'a str, arguments: &'a [u8]) -> TestCall<'a> {
    TestCall {
        response: ResponseFlags::None,
        ..TestCall::new(operation, arguments)
    }
}

#[tokio::test]
async fn requests_of_one_poll_leave_by_one_write_and_in_their_order() {
    let (ours, theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let mut peer = Peer::new(theirs);
    let calls = together(async {
        // Those inside leave with those around them.
        let inner = together(TestCall::new("inner", b"2").on(&client));
        let first = TestCall::new("first", b"1").on(&client);
        tokio::join!(first, inner, one_way("log", b"3").one_way(&client, false))
    });
    let served = async {
        let mut ids = Vec::new();
        for (operation, arguments) in [("first", b"1"), ("inner", b"2"), ("log", b"3")] {
            let (id, name, octets) = peer.request().await;
            assert_eq!((name.as_str(), &octets[..]), (operation, &arguments[..]));
            ids.push(id);
        }
        assert_eq!(ours.writes(), 1);
        peer.send(&reply(ids[1], b"b"));
        peer.send(&reply(ids[0], b"a"));
    };
    let ((first, inner, log), ()) = in_time(async { tokio::join!(calls, served) }).await;
    assert_eq!(
        (first.unwrap(), inner.unwrap()),
        (b"a".to_vec(), b"b".to_vec())
    );
    log.unwrap();
}

#[tokio::test]
async fn long_requests_and_full_queues_are_written_at_once() {
    let (ours, theirs) = pair();
    let client = undriven(ours.clone(), &connect_settings());
    let long = vec![7; FULL_BATCH_OCTETS];
    let mut cx = Context::from_waker(Waker::noop());
    let mut calls = pin!(together(async {
        let (mut first, mut second) = (
            pin!(TestCall::new("first", b"1").on(&client)),
            pin!(TestCall::new("second", &long).on(&client)),
        );
        let mut cx = Context::from_waker(Waker::noop());
        assert!(first.as_mut().poll(&mut cx).is_pending());
        assert_eq!(ours.writes(), 0);
        assert!(second.as_mut().poll(&mut cx).is_pending());
        assert_eq!(ours.writes(), 1);
    }));
    assert!(calls.as_mut().poll(&mut cx).is_ready());
    let mut peer = Peer::new(theirs);
    for arguments in [&b"1"[..], &long] {
        assert_eq!(in_time(peer.request()).await.2, arguments);
    }
}

#[tokio::test]
async fn requests_that_cannot_be_written_are_not_sent() {
    let (ours, theirs) = pair();
    let client = client_with(ours, &connect_settings());
    theirs.refuse();
    let call = || TestCall::new("lost", b"").on(&client);
    let (first, second) = in_time(together(async { tokio::join!(call(), call()) })).await;
    for result in [first, second] {
        let error = result.unwrap_err();
        assert!(matches!(
            error,
            CallError::NotSent(Fault::ConnectionLost { .. })
        ));
    }
}

#[tokio::test]
async fn a_thread_that_blocks_writes_what_is_queued_first() {
    let (ours, _theirs) = pair();
    let client = undriven(ours.clone(), &connect_settings());
    let mut cx = Context::from_waker(Waker::noop());
    let mut calls = pin!(together(async {
        let mut call = pin!(TestCall::new("first", b"1").on(&client));
        assert!(
            call.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        assert_eq!(blocking::block_on(async { ours.writes() }), 1);
    }));
    assert!(calls.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn calls_together_pend_in_a_thread_that_may_block() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (ours, theirs) = pair();
    let client = {
        let _entered = runtime.enter();
        client_with(ours, &connect_settings())
    };
    let served = runtime.spawn(async move {
        let mut peer = Peer::new(theirs);
        // Both come before one is answered.
        let (first, second) = (peer.request().await.0, peer.request().await.0);
        peer.send(&reply(second, b"2"));
        peer.send(&reply(first, b"1"));
        peer
    });
    let call = || TestCall::new("both", b"").on(&client);
    let (first, second) = blocking::block_on(together(async { tokio::join!(call(), call()) }));
    assert_eq!(
        (first.unwrap(), second.unwrap()),
        (b"1".to_vec(), b"2".to_vec())
    );
    runtime.block_on(served).unwrap();
}
