//! The bell of a driver that stays: it registers only if somebody has rung since.

use crate::outbound::{Bell, Stays};
use crate::sync::{AtomicBool, Ordering};
use crate::{Bed, model};
use core::task::{Poll, Waker};
use loom::thread;
use std::sync::Arc;

#[test]
fn whoever_rings_is_heard_whatever_the_driver_was_polled_for_meanwhile() {
    model(2, || {
        let bell = Arc::new(Bell::default());
        let said: Arc<[AtomicBool; 2]> = Arc::default();
        let bed = Bed::new();
        let ringing = [0, 1].map(|at| {
            let (bell, said) = (Arc::clone(&bell), Arc::clone(&said));
            thread::spawn(move || {
                // Nobody learns of it but by the bell.
                said[at].store(true, Ordering::Relaxed);
                bell.ring();
            })
        });
        let other = {
            let driver = Waker::from(Arc::clone(&bed));
            thread::spawn(move || driver.wake())
        };
        let mut stays = Stays::default();
        bed.sleep_until(|cx| {
            bell.stay(cx.waker(), &mut stays);
            match said.iter().all(|said| said.load(Ordering::Relaxed)) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        ringing.into_iter().for_each(|it| it.join().unwrap());
        other.join().unwrap();
    });
}
