//! Threads of busy connections: the limit on them holds.

use super::model;
use crate::spin::BusyConnections;
use crate::sync::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

#[test]
fn no_more_threads_are_permitted_than_workers_allow_and_a_dropped_permit_is_free_again() {
    model(3, || {
        let busy = Arc::new(BusyConnections::default());
        let serving = Arc::new(AtomicUsize::new(0));
        let promote = {
            let (busy, serving) = (Arc::clone(&busy), Arc::clone(&serving));
            move || {
                let permit = busy.permit_thread(1);
                if permit.is_some() {
                    let before = serving.fetch_add(1, Ordering::Relaxed);
                    assert!(before < 2, "two threads for one worker");
                    serving.fetch_sub(1, Ordering::Relaxed);
                }
            }
        };
        let others = [(); 2].map(|()| thread::spawn(promote.clone()));
        promote();
        for other in others {
            other.join().unwrap();
        }
        let permits = [(); 3].map(|()| busy.permit_thread(1));
        assert_eq!(permits.iter().flatten().count(), 2);
    });
}
