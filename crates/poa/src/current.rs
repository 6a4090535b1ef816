//! The upcall that this thread is polling.

use crate::object::ActiveObject;
use scoped_tls::scoped_thread_local;

scoped_thread_local!(static CURRENT: ActiveObject);

impl ActiveObject {
    /// Runs a part of an upcall on this object. [`current`](Self::current) is this object meanwhile, and its earlier value
    /// afterwards. Costs two stores.
    #[inline]
    pub fn enter<T>(&self, run: impl FnOnce() -> T) -> T {
        CURRENT.set(self, run)
    }

    /// Calls `read` with the object whose upcall this thread is polling; `None` outside of upcalls.
    pub fn current<T>(read: impl FnOnce(&Self) -> T) -> Option<T> {
        CURRENT.is_set().then(|| CURRENT.with(read))
    }
}
