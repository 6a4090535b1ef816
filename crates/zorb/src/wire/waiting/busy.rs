//! Who else of an ORB has something to do.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Threads for connections at most for each worker of a runtime: one that waits for its client, and one that runs.
const THREADS_PER_WORKER: usize = 2;

/// The connections of an ORB that have something to do.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    /// Which one had last. Read at every wait, and written only when another one has.
    last: AtomicUsize,
    /// How many of them have a thread for the time being.
    threads: AtomicUsize,
}

/// Leave for a connection to have a thread, until this is dropped.
#[derive(Debug)]
pub(crate) struct Leave<'a>(&'a Busy);

impl Busy {
    /// Counts that `connection` has something to do, and says whether the last one that had was the same.
    pub(super) fn is_same(&self, connection: usize) -> bool {
        let same = self.last.load(Ordering::Relaxed) == connection;
        if !same {
            self.last.store(connection, Ordering::Relaxed);
        }
        same
    }

    /// Leave to have a thread beside so many workers, if not too many have one.
    pub(crate) fn leave_for_a_thread(&self, workers: usize) -> Option<Leave<'_>> {
        let most = workers.saturating_mul(THREADS_PER_WORKER);
        let one_more = |threads: usize| (threads < most).then(|| threads + 1);
        // It guards nothing but the number.
        let counted = (self.threads).fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        // Made only if it was counted: it counts down when it is dropped.
        counted.is_ok().then(|| Leave(self))
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.threads.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leave_that_was_not_given_is_not_given_back() {
        let busy = Busy::default();
        assert!(busy.leave_for_a_thread(0).is_none());
        let leaves: Vec<_> = (0..THREADS_PER_WORKER)
            .map(|_| busy.leave_for_a_thread(1).unwrap())
            .collect();
        for _ in 0..3 {
            assert!(busy.leave_for_a_thread(1).is_none());
        }
        drop(leaves);
        assert!(busy.leave_for_a_thread(1).is_some());
    }
}
