//! Loom's counterparts of the types that `sync` takes from the standard library and from arc-swap.

pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
pub(crate) use loom::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use core::ops::Deref;
use std::sync::Arc;

/// A cell that is set once, with the interface of `std::sync::OnceLock`. A thread that finds it set sees everything that
/// preceded the setting; a thread that finds it empty is not ordered.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    is_set: AtomicBool,
    setting: Mutex<()>,
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            is_set: AtomicBool::new(false),
            setting: Mutex::new(()),
            value: std::sync::OnceLock::new(),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        match self.is_set.load(Ordering::Acquire) {
            true => self.value.get(),
            false => None,
        }
    }

    pub(crate) fn get_or_init(&self, init: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let _setting = self.setting.lock().expect("loom poisons no mutex");
        // `init` may take locks of its own, which it must not do within the cell of the standard library.
        if self.value.get().is_none() {
            let value = init();
            assert!(
                self.value.set(value).is_ok(),
                "one thread sets it at a time"
            );
            self.is_set.store(true, Ordering::Release);
        }
        self.value.get().expect("it has been set")
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let _setting = self.setting.lock().expect("loom poisons no mutex");
        self.value.set(value)?;
        self.is_set.store(true, Ordering::Release);
        Ok(())
    }

    pub(crate) fn take(&mut self) -> Option<T> {
        self.value.take()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The interface of `arc_swap::ArcSwapOption`, as far as adapters use it. That crate orders loads and swaps of one place in
/// one sequence. A load sees everything that preceded the swap from which it reads, and a removed value lives until the
/// last load has dropped it. A mutex around a counted pointer has the same properties.
#[derive(Debug)]
pub(crate) struct ArcSwapOption<T>(Mutex<Option<Arc<T>>>);

/// The value that a load has found.
#[derive(Debug)]
pub(crate) struct Guard<T>(Option<Arc<T>>);

impl<T> Deref for Guard<T> {
    type Target = Option<Arc<T>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> ArcSwapOption<T> {
    pub(crate) fn empty() -> Self {
        Self(Mutex::new(None))
    }

    pub(crate) fn load(&self) -> Guard<T> {
        Guard(self.load_full())
    }

    pub(crate) fn load_full(&self) -> Option<Arc<T>> {
        self.0.lock().expect("loom poisons no mutex").clone()
    }

    pub(crate) fn swap(&self, new: Option<Arc<T>>) -> Option<Arc<T>> {
        core::mem::replace(&mut *self.0.lock().expect("loom poisons no mutex"), new)
    }

    pub(crate) fn store(&self, new: Option<Arc<T>>) {
        // The earlier value is dropped after the mutex was released.
        drop(self.swap(new));
    }

    pub(crate) fn compare_and_swap(
        &self,
        current: &Option<Arc<T>>,
        new: Option<Arc<T>>,
    ) -> Guard<T> {
        let mut value = self.0.lock().expect("loom poisons no mutex");
        let before = value.clone();
        let is_it = match (&before, current) {
            (Some(before), Some(current)) => Arc::ptr_eq(before, current),
            (None, None) => true,
            _ => false,
        };
        let replaced = is_it.then(|| core::mem::replace(&mut *value, new));
        drop(value);
        drop(replaced);
        Guard(before)
    }
}
