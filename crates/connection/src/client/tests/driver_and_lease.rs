//! The driver, the read lease, and the waker that the reactor calls.

use super::super::ClientConnection;
use super::super::driver::Timers;
use super::super::waiters::{OwnReply, Waiter};
use crate::end::End;
use crate::link::LOOK_AGAIN;
use crate::reader::{CurrentReader, ReadLease, Readable};
use crate::testing::*;
use core::task::{Context, Waker};
use core::time::Duration;
use std::sync::Arc;
use zorb_executor::WaitPolicy;
use zorb_giop::{MessageKind, ReplySlot, RequestId};
use zorb_transport::Connection;

#[tokio::test(start_paused = true)]
async fn the_end_of_a_connection_without_a_reader_is_found_by_the_driver() {
    let (ours, theirs) = pair();
    let client = undriven(ours.clone(), &connect_settings());
    let mut lease = client.waiters.reading.claim().expect("the lease is free");
    let driving = tokio::spawn(Arc::clone(&client).drive(None, None));
    let_all_run().await;
    // The driver has asked for the lease in vain. The holder has its reply, looks once more, and reads no further.
    while let Some(again) = lease.release_to(CurrentReader::Timer) {
        lease = again;
    }
    assert!(!ours.is_registered());
    theirs.close();
    let noticed = tokio::time::timeout(2 * LOOK_AGAIN, driving).await;
    noticed.expect("the driver looks again").unwrap();
    assert!(client.is_over());
}

#[tokio::test]
async fn a_driver_that_reads_has_the_reactor_watch() {
    let (ours, theirs) = pair();
    let client = client_with(ours.clone(), &connect_settings());
    let_all_run().await;
    let current = client.waiters.reading.current();
    assert!(ours.is_registered() && current == CurrentReader::Reactor(None));
    theirs.close();
    let_all_run().await;
    assert!(client.is_over());
}

#[tokio::test]
async fn a_lease_dropped_while_contended_has_the_driver_read() {
    let (ours, theirs) = pair();
    let client = undriven(ours.clone(), &connect_settings());
    let lease = client.waiters.reading.claim().expect("the lease is free");
    tokio::spawn(Arc::clone(&client).drive(None, None));
    let_all_run().await;
    assert!(!ours.is_registered());
    drop(lease);
    let_all_run().await;
    assert!(ours.is_registered());
    drop(theirs);
}

#[tokio::test(start_paused = true)]
async fn the_driver_looks_again_while_messages_come_and_reads_when_none_came() {
    let mut timers = Timers::default();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(timers.is_busy(1, &mut cx));
    for received in 2..12 {
        tokio::time::advance(LOOK_AGAIN - Duration::from_millis(1)).await;
        // Nothing has come, and it is not time to look yet.
        assert!(timers.is_busy(received - 1, &mut cx));
        tokio::time::advance(Duration::from_millis(2)).await;
        assert!(timers.is_busy(received, &mut cx));
    }
    tokio::time::advance(LOOK_AGAIN).await;
    assert!(!timers.is_busy(11, &mut cx));
}

fn wakes() -> (Arc<Wakes>, Waker) {
    let wakes = Arc::new(Wakes::default());
    (Arc::clone(&wakes), Waker::from(wakes))
}

/// The call of a task that parks, and has the reactor watch.
fn begin(client: &ClientConnection, waker: &Waker) -> RequestId {
    let mut state = client.state();
    let begun = state.table.insert(Waiter::of(MessageKind::Reply, None));
    let id = begun.expect("the table has room");
    let mut reply = ReplySlot::new();
    let mut own = OwnReply::new(id, MessageKind::Reply, WaitPolicy::Park, &mut reply);
    let (waits, others) = state.look(Some(&mut own), Some(waker));
    assert!(waits);
    let lease = client.waiters.reading.claim().expect("the lease is free");
    let leader = (others == 0).then_some(id);
    assert!(lease.release_to(CurrentReader::Reactor(leader)).is_none());
    id
}

#[test]
fn the_reactor_wakes_a_single_caller_itself_and_for_several_the_driver() {
    let (ours, _theirs) = pair();
    let client = undriven(ours, &connect_settings());
    let (driver, driver_waker) = wakes();
    client.link.outbound.driver.register(&driver_waker);
    let (caller, caller_waker) = wakes();
    let first = begin(&client, &caller_waker);
    let current = || client.waiters.reading.current();
    assert_eq!(current(), CurrentReader::Reactor(Some(first)));
    client.readiness.wake_by_ref();
    assert_eq!((caller.count(), driver.count()), (1, 0));
    assert_eq!(current(), CurrentReader::Caller(first));
    // A leader is woken for one event only.
    client.readiness.wake_by_ref();
    assert_eq!((caller.count(), driver.count()), (1, 1));
    let second = begin(&client, &caller_waker);
    assert_ne!(first, second);
    assert_eq!(current(), CurrentReader::Reactor(None));
    client.link.outbound.driver.register(&driver_waker);
    client.readiness.wake_by_ref();
    assert_eq!((caller.count(), driver.count()), (1, 2));
}

#[test]
fn an_event_for_a_leader_that_has_gone_wakes_the_driver() {
    let (ours, _theirs) = pair();
    let client = undriven(ours, &connect_settings());
    let (driver, driver_waker) = wakes();
    let (caller, caller_waker) = wakes();
    let id = begin(&client, &caller_waker);
    client.state().forget(id);
    client.link.outbound.driver.register(&driver_waker);
    client.readiness.wake_by_ref();
    assert_eq!((caller.count(), driver.count()), (0, 1));
    assert_eq!(client.waiters.reading.current(), CurrentReader::Caller(id));
}

#[test]
fn a_connection_in_use_is_not_retired() {
    let (ours, _theirs) = pair();
    let client = undriven(ours, &connect_settings());
    let end = || End::Idle(Duration::ZERO);
    let id = client
        .state()
        .table
        .insert(Waiter::of(MessageKind::Reply, None))
        .unwrap();
    assert!(!client.retire(end()));
    client.state().forget(id);
    client.state().one_ways += 1;
    assert!(!client.retire(end()));
    client.state().one_ways -= 1;
    let lease = client.waiters.reading.claim();
    assert!(!client.retire(end()));
    drop(lease);
    assert!(client.retire(end()) && client.is_over());
    assert!(!client.retire(end()), "it has ended already");
}

#[test]
fn the_holder_of_a_contended_lease_keeps_it_once_and_looks_again() {
    let (driver, waker) = wakes();
    let lease = ReadLease::new((), waker);
    let held = lease.claim().expect("the lease is free");
    assert!(lease.claim().is_none() && lease.claim().is_none());
    let next = CurrentReader::Reactor(None);
    let again = held.release_to(next).expect("another reader has asked");
    // The reactor has reported octets while the lease was held.
    assert_eq!(lease.readable(), Readable::Holder);
    let again = again.release_to(next).expect("octets have come");
    assert!(again.release_to(next).is_none());
    assert_eq!((lease.current(), driver.count()), (next, 0));
    let held = lease.claim().expect("the lease was released");
    drop(held);
    assert_eq!(
        (lease.current(), driver.count()),
        (CurrentReader::Driver, 1)
    );
    assert!(lease.claim().is_some());
}

#[test]
fn a_caller_that_was_woken_reads_unless_another_reader_has_read_meanwhile() {
    let lease = ReadLease::new((), Waker::noop().clone());
    let [one, other] = [RequestId(2), RequestId(u32::MAX)];
    let next = CurrentReader::Reactor(Some(one));
    for reads in [true, false] {
        assert!(
            lease
                .claim()
                .expect("it is free")
                .release_to(next)
                .is_none()
        );
        assert!(lease.claim_for(one).is_none(), "it was not woken");
        assert_eq!(lease.readable(), Readable::Caller(one));
        assert!(lease.claim_for(other).is_none());
        if reads {
            let held = lease.claim_for(one).expect("it was woken");
            assert!(held.release_to(CurrentReader::Timer).is_none());
            assert!(lease.is_timed());
        } else {
            assert!(lease.resign(one), "the driver reads in its place");
        }
        assert!(lease.claim_for(one).is_none());
    }
}
