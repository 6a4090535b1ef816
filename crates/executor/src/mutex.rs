//! A mutual exclusion lock for threads of different priorities.
use core::{
    fmt,
    ops::{Deref, DerefMut},
    time::Duration,
};

use priority_inheriting_lock::{PriorityInheritingLock, PriorityInheritingLockGuard};

/// A lock with priority inheritance (`RTCORBA::Mutex`, Real-time CORBA 1.2, section 5.10): while a thread waits for it,
/// the thread that holds it has at least the waiting one's priority, so that no thread of a priority between the two keeps
/// the urgent one waiting. The kernel does that (`FUTEX_LOCK_PI`), which is why this lock is there on Linux only.
///
/// It blocks its thread, so it is for upcalls on threads of a [`WorkerPool`](crate::WorkerPool), not across awaits; the
/// guard cannot be sent to another thread. Locking and unlocking without contention is one atomic operation each. A thread
/// that locks twice waits for ever, as with most locks.
///
/// A panic while the lock is held unlocks it: there is no poisoning.
#[derive(Default)]
pub struct RtMutex<T> {
    lock: PriorityInheritingLock<T>,
}

impl<T> RtMutex<T> {
    /// An open lock around this value.
    pub const fn new(value: T) -> Self {
        Self {
            lock: PriorityInheritingLock::new(value),
        }
    }

    /// Waits until the lock is open, and locks it.
    pub fn lock(&self) -> RtMutexGuard<'_, T> {
        RtMutexGuard {
            guard: self.lock.lock(),
        }
    }

    /// Locks it if it is open: `try_lock` with a `max_wait` of 0.
    #[must_use]
    pub fn try_lock(&self) -> Option<RtMutexGuard<'_, T>> {
        let guard = self.lock.try_lock()?;
        Some(RtMutexGuard { guard })
    }

    /// Waits for at most this long: `try_lock` with a `max_wait`.
    ///
    /// # Panics
    /// On kernels before Linux 5.14, which have no such wait by the monotonic clock.
    #[must_use]
    pub fn try_lock_for(&self, max_wait: Duration) -> Option<RtMutexGuard<'_, T>> {
        let guard = self.lock.try_lock_for(max_wait)?;
        Some(RtMutexGuard { guard })
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.lock.into_inner()
    }
}

impl<T> fmt::Debug for RtMutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RtMutex")
            .field("locked", &self.lock.is_locked())
            .finish_non_exhaustive()
    }
}

/// The value behind a locked [`RtMutex`], which opens when this is dropped.
#[must_use = "the lock opens at once if the guard is dropped"]
pub struct RtMutexGuard<'a, T> {
    guard: PriorityInheritingLockGuard<'a, T>,
}

impl<T> Deref for RtMutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for RtMutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: fmt::Debug> fmt::Debug for RtMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
