//! Waiting: no wake-up is lost, and one upcall at a time has the turn.

use super::{Task, block_on, model};
use crate::deactivation::Deactivations;
use crate::key::ObjectId;
use crate::manager::{HoldOutcome, PoaManager, PoaManagerState};
use crate::turn_queue::{TurnQueue, UpcallChain};
use core::future::poll_fn;
use core::pin::pin;
use core::task::{Context, Waker};
use loom::sync::Notify;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;
use zorb_shares::HostKey;

/// An upcall that takes turns: it excludes others.
async fn exclusive(inside: Arc<AtomicUsize>) {
    assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "one at a time");
    thread::yield_now();
    inside.fetch_sub(1, Ordering::Relaxed);
}

#[test]
fn turns_are_had_by_one_at_a_time_and_passed_on_by_upcalls_that_are_given_up() {
    model(2, || {
        let (queue, inside) = (Arc::<TurnQueue>::default(), Arc::<AtomicUsize>::default());
        let run = |queue: &Arc<TurnQueue>, inside: &Arc<AtomicUsize>| {
            Arc::clone(queue).run(UpcallChain::default(), exclusive(Arc::clone(inside)))
        };
        let other = {
            let (queue, inside) = (Arc::clone(&queue), Arc::clone(&inside));
            thread::spawn(move || block_on(run(&queue, &inside)))
        };
        let given_up = {
            let (queue, inside) = (Arc::clone(&queue), Arc::clone(&inside));
            thread::spawn(move || {
                let waker = Waker::from(Arc::new(Task(Notify::new())));
                let mut upcall = pin!(run(&queue, &inside));
                let _ = upcall.as_mut().poll(&mut Context::from_waker(&waker));
            })
        };
        block_on(run(&queue, &inside));
        other.join().unwrap();
        given_up.join().unwrap();
    });
}

#[test]
fn who_waits_for_upcalls_is_woken_by_the_last_of_them() {
    model(3, || {
        let deactivations = Arc::<Deactivations>::default();
        let id = ObjectId::from("row");
        let object = deactivations.begin(id.clone());
        deactivations.begin_request();
        let requests = Arc::clone(&deactivations);
        let ends = [
            thread::spawn(move || drop(object)),
            thread::spawn(move || requests.end_request()),
        ];
        block_on(deactivations.ended(&id));
        assert!(!deactivations.contains(id.as_ref()));
        block_on(poll_fn(|cx| deactivations.poll_all_ended(cx.waker())));
        for end in ends {
            end.join().unwrap();
        }
    });
}

#[test]
fn a_request_that_is_held_is_woken_by_the_next_state() {
    model(3, || {
        let manager = Arc::new(PoaManager::new());
        let held = {
            let manager = Arc::clone(&manager);
            thread::spawn(move || {
                let mut held = manager.hold(HostKey::THIS_PROCESS);
                block_on(async {
                    loop {
                        match poll_fn(|cx| held.poll_changed(cx.waker())).await {
                            HoldOutcome::Changed(PoaManagerState::Holding) => {}
                            changed => break changed,
                        }
                    }
                })
            })
        };
        manager.activate().unwrap();
        assert_eq!(
            held.join().unwrap(),
            HoldOutcome::Changed(PoaManagerState::Active)
        );
    });
}
