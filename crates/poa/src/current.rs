//! The upcall that this thread is polling: its object, and its request.

use crate::object::ActiveObject;
use crate::request::ServerRequest;
use scoped_tls::scoped_thread_local;

scoped_thread_local!(static CURRENT: ActiveObject);
scoped_thread_local!(static REQUEST: ServerRequest);

impl ServerRequest {
    /// Runs a part of the servant's method that this request calls. [`current`](Self::current) is this request meanwhile, and
    /// its earlier value afterwards. Costs two stores. Generated skeletons do it.
    #[inline]
    pub fn enter<T>(&self, run: impl FnOnce() -> T) -> T {
        REQUEST.set(self, run)
    }

    /// Calls `read` with the request whose servant's method this thread is polling; `None` outside of such methods.
    pub fn current<T>(read: impl FnOnce(&Self) -> T) -> Option<T> {
        REQUEST.is_set().then(|| REQUEST.with(read))
    }
}

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
