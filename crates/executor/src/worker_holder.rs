//! The code that holds each worker, for the monitor, which reports a worker that is held for long.
//!
//! Every thread has a slot, where it writes the code that it runs: five stores, and no lock. Another thread reads the
//! slot, which may change meanwhile: [`WorkerSlot::since`] is a sequence lock over the other fields.

use core::fmt;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The code that holds a worker, by two numbers that only the [`Watcher`] interprets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerHolder {
    /// A number that no other object has, such as its address.
    pub object: usize,
    /// The number of the object's operation; [`UNKNOWN`](Self::UNKNOWN) where it is not known.
    pub operation: u32,
}

impl WorkerHolder {
    /// The number of an operation that is not known.
    pub const UNKNOWN: u32 = u32::MAX;
}

/// Reports code that holds a worker of a lane for long: see [`Lane::watch`](crate::Lane::watch).
pub trait Watcher: Send + Sync {
    /// Called once for code that has held a worker for [`BlockingGuard::LONG`](crate::BlockingGuard::LONG), while it
    /// still does, on a thread that may block. The code may have ended meanwhile.
    fn held_for_long(&self, holder: WorkerHolder);
}

impl fmt::Debug for dyn Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

/// The slot of a thread.
#[derive(Debug, Default)]
struct WorkerSlot {
    /// The sample of its lane at which the code began, times two and one; 0 if the slot is empty or is being written.
    since: AtomicUsize,
    lane: AtomicUsize,
    object: AtomicUsize,
    operation: AtomicU32,
    /// The `since` of the code, once it has been reported by the monitor of the slot's lane.
    reported: AtomicUsize,
}

/// The slots of all threads that have run such code, and still exist.
static ALL: Mutex<Vec<Weak<WorkerSlot>>> = Mutex::new(Vec::new());

thread_local! {
    static SLOT: Arc<WorkerSlot> = WorkerSlot::register();
}

const fn stamp(samples: usize) -> usize {
    samples << 1 | 1
}

impl WorkerSlot {
    fn register() -> Arc<Self> {
        let place = Arc::new(Self::default());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|place| place.strong_count() > 0);
        all.push(Arc::downgrade(&place));
        place
    }

    /// Returns the code that has been in the slot for more than `long` samples, unless it was reported already.
    fn unreported(&self, lane: usize, samples: usize, long: usize) -> Option<WorkerHolder> {
        let since = self.since.load(Ordering::Acquire);
        let is_long = stamp(samples).wrapping_sub(since) >> 1 > long;
        if since == 0 || !is_long || self.lane.load(Ordering::Relaxed) != lane {
            return None;
        }
        let holder = WorkerHolder {
            object: self.object.load(Ordering::Relaxed),
            operation: self.operation.load(Ordering::Relaxed),
        };
        // The fields belong together if `since` has not changed: later code would have a later one.
        fence(Ordering::Acquire);
        if self.since.load(Ordering::Relaxed) != since {
            return None;
        }
        (self.reported.swap(since, Ordering::Relaxed) != since).then_some(holder)
    }
}

/// The slots of all threads.
pub(crate) struct WorkerSlots;

impl WorkerSlots {
    /// Writes the code that this thread runs into its slot; returns whether it did. Code that began before, and within
    /// which this runs, stays there.
    #[inline]
    pub(crate) fn take(lane: usize, samples: usize, holder: WorkerHolder) -> bool {
        let take = |place: &Arc<WorkerSlot>| {
            if place.since.load(Ordering::Relaxed) != 0 {
                return false;
            }
            // A reader that sees one of the next stores sees that `since` was 0.
            fence(Ordering::Release);
            place.lane.store(lane, Ordering::Relaxed);
            place.object.store(holder.object, Ordering::Relaxed);
            place.operation.store(holder.operation, Ordering::Relaxed);
            // Code of another lane may have begun at a sample of the same number.
            place.reported.store(0, Ordering::Relaxed);
            place.since.store(stamp(samples), Ordering::Release);
            true
        };
        SLOT.try_with(take).unwrap_or(false)
    }

    /// Empties this thread's slot.
    #[inline]
    pub(crate) fn leave() {
        // A thread that is ending has no slot any more.
        let _ = SLOT.try_with(|place| place.since.store(0, Ordering::Relaxed));
    }

    /// Whether a thread runs named code of a lane.
    pub(crate) fn any(lane: usize) -> bool {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places = all.iter().filter_map(Weak::upgrade);
        places.any(|place| {
            place.since.load(Ordering::Acquire) != 0 && place.lane.load(Ordering::Relaxed) == lane
        })
    }

    /// Returns the code that has held workers of a lane for more than `long` samples, each once.
    pub(crate) fn long(lane: usize, samples: usize, long: usize) -> Vec<WorkerHolder> {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let places = all.iter().filter_map(Weak::upgrade);
        places
            .filter_map(|place| place.unreported(lane, samples, long))
            .collect()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    #[test]
    fn what_stays_is_reported_once_and_the_outermost_is_what_stays() {
        // The address of no lane.
        let lane = 1;
        let outer = WorkerHolder {
            object: 7,
            operation: 3,
        };
        let inner = WorkerHolder {
            object: 8,
            operation: 0,
        };
        assert!(WorkerSlots::take(lane, 100, outer));
        assert!(!WorkerSlots::take(lane, 110, inner), "within the other");
        assert!(WorkerSlots::long(lane, 120, 20).is_empty(), "not yet");
        assert!(WorkerSlots::long(2, 121, 20).is_empty(), "another lane's");
        assert_eq!(WorkerSlots::long(lane, 121, 20), [outer]);
        assert!(WorkerSlots::long(lane, 122, 20).is_empty(), "once");
        WorkerSlots::leave();
        assert!(WorkerSlots::long(lane, 200, 20).is_empty(), "it has ended");
        assert!(WorkerSlots::take(lane, 200, inner));
        assert_eq!(WorkerSlots::long(lane, 221, 20), [inner]);
        WorkerSlots::leave();
    }

    #[test]
    fn code_of_two_lanes_that_began_at_samples_of_one_number_is_reported_for_both() {
        let holder = WorkerHolder {
            object: 9,
            operation: 0,
        };
        for lane in [5, 7] {
            assert!(WorkerSlots::take(lane, 0, holder));
            assert_eq!(WorkerSlots::long(lane, 21, 20), [holder]);
            assert!(WorkerSlots::long(lane, 22, 20).is_empty(), "once");
            WorkerSlots::leave();
        }
    }

    #[test]
    fn looks_may_overflow() {
        let holder = WorkerHolder {
            object: 1,
            operation: WorkerHolder::UNKNOWN,
        };
        let lane = 3;
        let begun = (usize::MAX >> 1) - 5;
        assert!(WorkerSlots::take(lane, begun, holder));
        assert!(WorkerSlots::long(lane, begun.wrapping_add(20), 20).is_empty());
        assert_eq!(
            WorkerSlots::long(lane, begun.wrapping_add(21), 20),
            [holder]
        );
        WorkerSlots::leave();
    }
}
