//! Calls that block their threads.

use super::super::ClientConnection;
use crate::blocking::{block_on, with_deadline};
use crate::testing::*;
use core::future::poll_fn;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;
use tokio::runtime::Runtime;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// Calls on a thread of its own, which blocks.
fn blocked_call(client: &Arc<ClientConnection>, operation: &'static str) -> Blocked {
    let client = Arc::clone(client);
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(block_on(TestCall::new(operation, b"").on(&client)).unwrap()));
    Blocked(result)
}

/// A call that blocks another thread.
struct Blocked(mpsc::Receiver<Vec<u8>>);

impl Blocked {
    fn result(self) -> Vec<u8> {
        self.0.recv_timeout(PATIENCE).expect("the call ends")
    }
}

/// The ids of the two requests that have come, that of `first` first.
fn ids(peer: &mut Peer, first: &str) -> [u32; 2] {
    let [one, two] = [peer.request_blocking(), peer.request_blocking()];
    match one.1 == first {
        true => [one.0, two.0],
        false => [two.0, one.0],
    }
}

#[test]
fn blocked_callers_pass_the_lead_on_in_whichever_order_their_replies_come() {
    // No driver reads in their place.
    let (ours, theirs) = pair();
    let client = undriven(ours, &connect_settings());
    let mut peer = Peer::new(theirs);
    for first in ["one", "two"] {
        let calls = [blocked_call(&client, "one"), blocked_call(&client, "two")];
        let ids = ids(&mut peer, first);
        let mut calls = calls.map(Some);
        let order = if first == "one" { [0, 1] } else { [1, 0] };
        for (id, at) in ids.into_iter().zip(order) {
            peer.send(&reply(id, b"reply"));
            // The other call still waits, and reads from now on.
            assert_eq!(calls[at].take().unwrap().result(), b"reply");
        }
        assert!(client.state().table.is_empty());
    }
}

#[test]
fn a_blocked_caller_with_its_reply_wakes_the_driver_for_a_task() {
    let (ours, theirs) = pair();
    let client = undriven(ours, &connect_settings());
    let mut peer = Peer::new(theirs);
    let mut task = Box::pin(TestCall::new("task", b"").on(&client));
    let blocked = blocked_call(&client, "blocked");
    let (id, ..) = peer.request_blocking();
    // The task reads, or will read: there is no other reader.
    assert!(
        task.as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    peer.request_blocking();
    let wakes = Arc::new(Wakes::default());
    client
        .link
        .outbound
        .driver
        .register(&Waker::from(Arc::clone(&wakes)));
    peer.send(&reply(id, b"reply"));
    assert_eq!(blocked.result(), b"reply");
    assert_eq!(wakes.count(), 1);
    assert!(
        !client.waiters.reading.is_timed(),
        "the driver does not wait for its timer"
    );
}

#[test]
fn a_blocked_caller_leaves_the_reading_to_the_driver_for_a_task() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let (client, mut peer) = client_and_peer();
    let task = spawn_call(&client, "task", b"");
    let blocked = blocked_call(&client, "blocked");
    let [blocked_id, task_id] = ids(&mut peer, "blocked");
    peer.send(&reply(blocked_id, b"reply"));
    assert_eq!(blocked.result(), b"reply");
    peer.send(&reply(task_id, b"reply"));
    assert_eq!(runtime.block_on(in_time(task)).unwrap().unwrap(), b"reply");
}

#[test]
fn a_blocked_caller_reads_the_replies_of_tasks() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let (client, mut peer) = client_and_peer();
    let task = spawn_call(&client, "task", b"");
    let blocked = blocked_call(&client, "blocked");
    let [blocked_id, task_id] = ids(&mut peer, "blocked");
    peer.send(&reply(task_id, b"reply"));
    assert_eq!(runtime.block_on(in_time(task)).unwrap().unwrap(), b"reply");
    peer.send(&reply(blocked_id, b"reply"));
    assert_eq!(blocked.result(), b"reply");
}

#[test]
fn without_blocking_reads_a_blocked_caller_is_woken_by_the_reactor() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let (ours, theirs) = pair();
    let client = client_with(ours.without_blocking_reads(), &connect_settings());
    let mut peer = Peer::new(theirs);
    for _ in 0..3 {
        let calls = [blocked_call(&client, "one"), blocked_call(&client, "two")];
        for id in ids(&mut peer, "one") {
            peer.send(&reply(id, b"reply"));
        }
        for call in calls {
            assert_eq!(call.result(), b"reply");
        }
    }
}

#[test]
fn a_blocked_call_past_its_deadline_waits_as_a_task_and_its_late_reply_is_discarded() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let (client, mut peer) = client_and_peer();
    for replied in [true, false] {
        let id = block_on(async {
            let call = TestCall::new("slow", b"").on(&client);
            let mut call = pin!(with_deadline(Some(Instant::now()), call));
            let is_pending = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await;
            assert!(is_pending, "the thread is not blocked any longer");
            let (id, ..) = peer.request_blocking();
            if replied {
                peer.send(&reply(id, b"slow"));
                assert_eq!(call.await.unwrap(), b"slow");
            }
            id
        });
        if replied {
            continue;
        }
        let cancelled = peer.receive_blocking().unwrap();
        assert_eq!(cancelled.cancelled_request(), Ok(id));
        let next = blocked_call(&client, "next");
        let (next_id, ..) = peer.request_blocking();
        peer.send(&[reply(id, b"late"), reply(next_id, b"next")].concat());
        assert_eq!(next.result(), b"next");
        assert!(client.state().table.is_empty());
    }
}

#[test]
fn a_parked_call_ends_its_wait_at_its_deadline() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let (client, mut peer) = client_and_peer();
    let leads = client.waiters.reading.claim().expect("the lease is free");
    // The lease is held, so that the call parks; then it leads and reads.
    for lease in [Some(leads), None] {
        let deadline = Instant::now() + Duration::from_millis(20);
        block_on(async {
            let call = TestCall::new("slow", b"").on(&client);
            let mut call = pin!(with_deadline(Some(deadline), call));
            let pending = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await;
            assert!(pending && Instant::now() >= deadline);
        });
        assert_eq!(peer.request_blocking().1, "slow");
        assert!(peer.receive_blocking().unwrap().cancelled_request().is_ok());
        drop(lease);
    }
}
