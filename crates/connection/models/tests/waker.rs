//! The driver's waker: no wake-up is lost.

use super::{Task, model};
use crate::sync::{AtomicBool, Ordering};
use crate::waker::DriverWaker;
use core::task::Poll;
use loom::thread;
use std::sync::Arc;

#[test]
fn a_wake_up_between_check_and_registration_is_not_lost() {
    model(3, || {
        let waker = Arc::new(DriverWaker::default());
        let events: Arc<[AtomicBool; 2]> = Arc::default();
        let wakers = [0, 1].map(|at| {
            let (waker, events) = (Arc::clone(&waker), Arc::clone(&events));
            thread::spawn(move || {
                // Relaxed: only the wake-up makes the store visible.
                events[at].store(true, Ordering::Relaxed);
                waker.notify();
            })
        });
        Task::new().run(|cx| {
            waker.register(cx.waker());
            match events.iter().all(|event| event.load(Ordering::Relaxed)) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        for waker in wakers {
            waker.join().unwrap();
        }
    });
}
