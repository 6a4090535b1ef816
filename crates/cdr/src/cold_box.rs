//! A box for state that is rarely there.

use alloc::boxed::Box;
use core::fmt;
use core::ops::{Deref, DerefMut};

/// A boxed value that is nearly always absent. Its owner's drop glue checks for `None` inline and calls the out-of-line
/// drop only for a value; otherwise each message would call it for nothing.
pub(crate) struct ColdBox<T>(Option<Box<T>>);

impl<T> ColdBox<T> {
    /// No value.
    pub(crate) const NONE: Self = Self(None);
}

impl<T: Clone> Clone for ColdBox<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for ColdBox<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T> Deref for ColdBox<T> {
    type Target = Option<Box<T>>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for ColdBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T> Drop for ColdBox<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(it) = self.0.take() {
            drop_it(it);
        }
    }
}

#[cold]
#[inline(never)]
fn drop_it<T>(it: Box<T>) {
    drop(it);
}

impl<T: fmt::Debug> fmt::Debug for ColdBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
