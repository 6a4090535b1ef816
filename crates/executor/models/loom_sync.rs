//! Loom's counterparts of the lock and the threads that `sync` takes from elsewhere.

use core::fmt;

/// The lock of a pool. Loom knows no priorities, so that it models the exclusion alone.
pub(crate) struct Lock<T>(loom::sync::Mutex<T>);

pub(crate) type Guard<'a, T> = loom::sync::MutexGuard<'a, T>;

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        self.0.lock().expect("loom poisons no mutex")
    }
}

impl<T> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lock")
    }
}

#[path = "threads.rs"]
pub(crate) mod thread;
pub(crate) use thread::Thread;
