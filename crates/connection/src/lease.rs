//! The read lease: the right to read a connection.

use super::sync::{AtomicU8, Mutex, Ordering};
use core::fmt;
use core::task::Waker;
use std::sync::PoisonError;

/// The lease is free.
const FREE: u8 = 0;
/// A reader holds the lease.
const HELD: u8 = 1;
/// A reader holds the lease, and another one has asked for it since: the holder looks again before it releases.
const CONTENDED: u8 = 2;

/// A lease that one reader at a time holds, and the state that goes with it.
///
/// Claiming the lease never blocks, and its holder releases it before its poll returns: a future that kept it between two
/// polls would stop every other reader. A reader that finds it held marks it contended, and may park once it has recorded
/// its waker: the holder sees the mark at its release, and looks again.
pub(crate) struct ReadLease<T> {
    state: AtomicU8,
    /// Locked by the holder only, so never waited for.
    value: Mutex<T>,
    /// Woken when the lease is dropped while contended, for instance by a panic.
    abandoned: Waker,
}

impl<T> ReadLease<T> {
    pub(crate) fn new(value: T, abandoned: Waker) -> Self {
        Self {
            state: AtomicU8::new(FREE),
            value: Mutex::new(value),
            abandoned,
        }
    }

    /// The lease, or `None` while another reader holds it; that reader then looks again before it releases the lease.
    pub(crate) fn claim(&self) -> Option<Lease<'_, T>> {
        let mut state = FREE;
        loop {
            let next = if state == FREE { HELD } else { CONTENDED };
            // Release: the holder sees what this reader has recorded. Acquire: this reader sees what the last holder did.
            match (self.state).compare_exchange(state, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(FREE) => return Some(Lease { lease: self }),
                Ok(_) => return None,
                Err(now) => state = now,
            }
        }
    }
}

impl<T> fmt::Debug for ReadLease<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadLease").finish_non_exhaustive()
    }
}

/// The lease while it is held; dropping it releases it.
pub(crate) struct Lease<'a, T> {
    lease: &'a ReadLease<T>,
}

impl<T> Lease<'_, T> {
    #[inline(always)]
    pub(crate) fn with<R>(&mut self, run: impl FnOnce(&mut T) -> R) -> R {
        let mut value = (self.lease.value.lock()).unwrap_or_else(PoisonError::into_inner);
        run(&mut value)
    }

    /// Releases the lease. A contended lease stays with its holder, which has to look again.
    pub(crate) fn release(self) -> Option<Self> {
        let state = &self.lease.state;
        match state.compare_exchange(HELD, FREE, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => {
                core::mem::forget(self);
                None
            }
            Err(_) => {
                // Acquire: the holder sees what the other reader recorded before it asked.
                state.swap(HELD, Ordering::AcqRel);
                Some(self)
            }
        }
    }
}

impl<T> Drop for Lease<'_, T> {
    fn drop(&mut self) {
        if self.lease.state.swap(FREE, Ordering::AcqRel) == CONTENDED {
            self.lease.abandoned.wake_by_ref();
        }
    }
}
