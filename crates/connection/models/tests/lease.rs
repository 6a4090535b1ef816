//! The read lease: one reader at a time, and no parked reader without a holder that looks again.

use super::{Task, model};
use crate::reader::{CurrentReader, ReadLease};
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::waker::DriverWaker;
use core::task::{Poll, Waker};
use loom::thread;
use std::sync::Arc;
use std::task::Wake;

/// Replies of two readers, which the holder of the lease hands out.
struct Reads {
    lease: ReadLease<()>,
    /// The number of readers that hold the lease.
    readers: AtomicUsize,
    driver: Arc<DriverWaker>,
    /// Whether each reader has recorded that it waits.
    waits: [AtomicBool; 2],
    /// Whether each reader has its reply.
    replies: [AtomicBool; 2],
    tasks: [Arc<Task>; 2],
}

impl Reads {
    fn new() -> Arc<Self> {
        let driver = Arc::<DriverWaker>::default();
        Arc::new(Self {
            lease: ReadLease::new((), Waker::from(Arc::clone(&driver))),
            readers: AtomicUsize::new(0),
            driver,
            waits: Default::default(),
            replies: Default::default(),
            tasks: [(); 2].map(|()| Task::new()),
        })
    }

    /// Reads, unless another reader does.
    fn read(&self) {
        let mut claimed = self.lease.claim();
        while let Some(mut lease) = claimed {
            let before = self.readers.fetch_add(1, Ordering::Relaxed);
            assert_eq!(before, 0, "one reader at a time");
            lease.with(|()| self.hand_out());
            self.readers.fetch_sub(1, Ordering::Relaxed);
            claimed = lease.release_to(CurrentReader::Timer);
        }
    }

    fn hand_out(&self) {
        for at in 0..2 {
            if self.waits[at].load(Ordering::Relaxed) && !self.replies[at].load(Ordering::Relaxed) {
                self.replies[at].store(true, Ordering::Release);
                Arc::clone(&self.tasks[at]).wake();
            }
        }
    }

    /// Records that the reader waits, and then reads, unless another reader does, until it has its reply.
    fn wait(&self, at: usize) {
        // Relaxed: only the lease makes it visible to the holder.
        self.waits[at].store(true, Ordering::Relaxed);
        self.tasks[at].run(|_| {
            self.read();
            match self.replies[at].load(Ordering::Acquire) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
    }
}

#[test]
fn a_reader_that_parks_while_the_lease_is_released_is_seen_by_its_holder() {
    model(4, || {
        let reads = Reads::new();
        let other = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.wait(1))
        };
        reads.wait(0);
        other.join().unwrap();
    });
}

#[test]
fn a_lease_that_is_dropped_while_contended_wakes_the_driver() {
    model(4, || {
        let reads = Reads::new();
        let driver = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || {
                Task::new().run(|cx| {
                    reads.driver.register(cx.waker());
                    reads.read();
                    match reads.replies[0].load(Ordering::Acquire) {
                        true => Poll::Ready(()),
                        false => Poll::Pending,
                    }
                });
            })
        };
        let dropping = {
            let reads = Arc::clone(&reads);
            // Dropped without a release, as by a panic, or by a holder that has looked often enough.
            thread::spawn(move || drop(reads.lease.claim()))
        };
        reads.wait(0);
        reads.driver.notify();
        dropping.join().unwrap();
        driver.join().unwrap();
    });
}
