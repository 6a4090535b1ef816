//! A mutual exclusion lock for threads of different priorities.
use core::{
    fmt,
    ops::{Deref, DerefMut},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use priority_inheriting_lock::{PriorityInheritingLock, PriorityInheritingLockGuard};

/// A lock with priority inheritance (`RTCORBA::Mutex`, Real-time CORBA 1.2, section 5.10). While a thread waits for it,
/// the thread that holds it has at least the waiting one's priority. So no thread of a priority between the two keeps
/// the urgent one waiting. The kernel does that (`FUTEX_LOCK_PI`), which is why this lock is there on Linux only.
///
/// It blocks its thread, so it is for upcalls on threads of a [`WorkerPool`](crate::WorkerPool), not across awaits; the
/// guard cannot be sent to another thread. Locking and unlocking without contention is one atomic operation each, and a
/// store. It is not recursive: [`lock`](Self::lock) panics in the thread that holds it, and the two other ways to lock it
/// return `None` there at once.
///
/// A panic while the lock is held unlocks it: there is no poisoning.
#[derive(Default)]
pub struct RtMutex<T> {
    lock: PriorityInheritingLock<T>,
    /// The [`here`] of the thread that holds it, 0 for none. The kernel refuses a second lock by the same thread, even
    /// by a call that does not wait, and the library panics on that error.
    holder: AtomicUsize,
}

thread_local! {
    static HERE: u8 = const { 0 };
}

/// Returns a number that no other thread which is alive has, and that is not 0.
fn here() -> usize {
    HERE.with(|here| core::ptr::from_ref(here).addr())
}

impl<T> RtMutex<T> {
    /// Makes an unlocked mutex around this value. Allocates nothing.
    pub const fn new(value: T) -> Self {
        Self {
            lock: PriorityInheritingLock::new(value),
            holder: AtomicUsize::new(0),
        }
    }

    /// Whether the calling thread holds it. Relaxed is enough: a thread sees its own stores, and others store other numbers.
    fn is_held_here(&self) -> bool {
        self.holder.load(Ordering::Relaxed) == here()
    }

    fn locked<'a>(&'a self, guard: PriorityInheritingLockGuard<'a, T>) -> RtMutexGuard<'a, T> {
        let holder = Holder(&self.holder);
        self.holder.store(here(), Ordering::Relaxed);
        RtMutexGuard {
            _holder: holder,
            guard,
        }
    }

    /// Waits until the mutex is unlocked, and locks it. The holder inherits the native priority of the waiting thread, if that is
    /// higher. Blocks the thread.
    ///
    /// # Panics
    /// The thread holds the mutex already and would deadlock.
    pub fn lock(&self) -> RtMutexGuard<'_, T> {
        assert!(
            !self.is_held_here(),
            "a thread locks a mutex that it holds already"
        );
        self.locked(self.lock.lock())
    }

    /// Locks the mutex if it is unlocked; `None` otherwise, also in the thread that holds it. `RTCORBA::Mutex::try_lock` with a
    /// `max_wait` of 0.
    #[must_use]
    pub fn try_lock(&self) -> Option<RtMutexGuard<'_, T>> {
        if self.is_held_here() {
            return None;
        }
        Some(self.locked(self.lock.try_lock()?))
    }

    /// Locks the mutex, after a wait of at most `max_wait`; `None` once that has passed, and without a wait in the thread that
    /// holds it. `RTCORBA::Mutex::try_lock`.
    ///
    /// # Panics
    /// On kernels before Linux 5.14, which have no such wait by the monotonic clock.
    #[must_use]
    pub fn try_lock_for(&self, max_wait: Duration) -> Option<RtMutexGuard<'_, T>> {
        if self.is_held_here() {
            return None;
        }
        Some(self.locked(self.lock.try_lock_for(max_wait)?))
    }

    /// Returns the value. Takes no lock, since `self` is owned.
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

/// The guard of a locked [`RtMutex`], which leads to its value. Dropping it unlocks the mutex.
#[must_use = "the lock opens at once if the guard is dropped"]
pub struct RtMutexGuard<'a, T> {
    /// Dropped first, while the lock is still held.
    _holder: Holder<'a>,
    guard: PriorityInheritingLockGuard<'a, T>,
}

/// Notes that its thread holds a lock, until it is dropped.
struct Holder<'a>(&'a AtomicUsize);

impl Drop for Holder<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
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
