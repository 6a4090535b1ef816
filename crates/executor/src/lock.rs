//! The lock of a pool. On Linux its holder inherits the priority of the most urgent thread that waits for it. So a
//! thread of low priority that is preempted inside delays no urgent one for longer than its own few instructions take.

#[cfg(target_os = "linux")]
mod imp {
    use priority_inheriting_lock::{PriorityInheritingLock, PriorityInheritingLockGuard};

    pub(crate) type Lock<T> = PriorityInheritingLock<T>;
    pub(crate) type Guard<'a, T> = PriorityInheritingLockGuard<'a, T>;
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    pub(crate) struct Lock<T>(Mutex<T>);
    pub(crate) type Guard<'a, T> = MutexGuard<'a, T>;

    impl<T> Lock<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(Mutex::new(value))
        }

        /// No code panics under these locks, so poisoning has no meaning.
        pub(crate) fn lock(&self) -> Guard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}

pub(crate) use imp::{Guard, Lock};
