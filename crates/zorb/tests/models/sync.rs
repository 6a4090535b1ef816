//! What the sources take from `wire/sync.rs`: loom's, or made of them.

pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
};

use core::ops::{Deref, DerefMut};
use loom::sync;
use std::sync::{LockResult, TryLockError, TryLockResult};

/// Loom's, but for a lock that is tried: there loom looks at no order in which the try fails, nor at anything that may
/// happen between the last step of its holder and its letting go. A lock may be waited for or tried, not both.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T> {
    waited_for: sync::Mutex<()>,
    tried: AtomicBool,
    /// Locked by who has one of the others.
    what: std::sync::Mutex<T>,
}

#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T> {
    // In this order they are let go.
    what: std::sync::MutexGuard<'a, T>,
    _held: Held<'a>,
}

#[derive(Debug)]
enum Held<'a> {
    Waited { _guard: sync::MutexGuard<'a, ()> },
    Tried(&'a AtomicBool),
}

impl<T> Mutex<T> {
    pub(crate) fn new(what: T) -> Self {
        Self {
            waited_for: sync::Mutex::new(()),
            tried: AtomicBool::new(false),
            what: std::sync::Mutex::new(what),
        }
    }

    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let guard = self.waited_for.lock().unwrap();
        Ok(self.guard(Held::Waited { _guard: guard }))
    }

    pub(crate) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match (self.tried).compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(self.guard(Held::Tried(&self.tried))),
            Err(_) => Err(TryLockError::WouldBlock),
        }
    }

    fn guard<'a>(&'a self, held: Held<'a>) -> MutexGuard<'a, T> {
        MutexGuard {
            what: self.what.try_lock().expect("it is held"),
            _held: held,
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.what
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.what
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Self::Tried(tried) = self {
            tried.store(false, Ordering::Release);
        }
    }
}
