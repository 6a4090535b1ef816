//! The context in which references and values within anys are read.

use crate::Context;
use alloc::sync::Arc;
use core::cell::RefCell;

std::thread_local! {
    static CONTEXT: RefCell<Option<Arc<dyn Context>>> = const { RefCell::new(None) };
}

/// Has anys that are read meanwhile keep this context for the references and values in them. An ORB calls it around
/// deserialization.
pub fn with_context<R>(context: Arc<dyn Context>, read: impl FnOnce() -> R) -> R {
    /// Restores the context before, also when the thread unwinds.
    struct Restore(Option<Arc<dyn Context>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CONTEXT.set(self.0.take());
        }
    }
    let _restore = Restore(CONTEXT.replace(Some(context)));
    read()
}

/// The context of this thread.
pub(super) fn current() -> Option<Arc<dyn Context>> {
    CONTEXT.with_borrow(Clone::clone)
}
