//! The upcall that this thread is polling.

use crate::object::ActiveObject;
use scoped_tls::scoped_thread_local;

scoped_thread_local!(static CURRENT: ActiveObject);

impl ActiveObject {
    /// Runs a part of an upcall on this object: [`current`](Self::current) is this object meanwhile, and afterwards what it was
    /// before. Costs a store and its reversal.
    #[inline]
    pub fn enter<T>(&self, run: impl FnOnce() -> T) -> T {
        CURRENT.set(self, run)
    }

    /// Gives `read` the object whose upcall this thread is polling; `None` outside of upcalls.
    pub fn current<T>(read: impl FnOnce(&Self) -> T) -> Option<T> {
        CURRENT.is_set().then(|| CURRENT.with(read))
    }
}
