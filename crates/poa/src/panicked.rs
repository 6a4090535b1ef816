//! What is left of a request whose servant has panicked: the name of its operation, for the log, and what was to go with its reply.

use crate::shared_request::ReplyContexts;
use core::any::type_name;
use core::cell::Cell;
use core::marker::PhantomData;
use std::thread;

std::thread_local! {
    /// The method that the last panic on this thread has unwound.
    static PANICKED: Cell<Option<&'static str>> = const { Cell::new(None) };
    /// The service contexts of the reply of the request that the last panic on this thread has unwound.
    static CONTEXTS: Cell<Option<ReplyContexts>> = const { Cell::new(None) };
}

/// Keeps the service contexts of the reply of a request that is dropped, if a panic unwinds it.
pub(crate) fn keep_contexts(contexts: ReplyContexts) {
    if thread::panicking() {
        // At the end of a thread nobody takes them.
        let _ = CONTEXTS.try_with(|kept| kept.set(Some(contexts)));
    }
}

/// Takes the service contexts of the reply of the request that the last panic on this thread has unwound.
pub(crate) fn take_contexts() -> Option<ReplyContexts> {
    CONTEXTS.take()
}

/// Takes the name of the servant's method that the last panic on this thread has unwound. `None` for a skeleton that
/// was not generated.
pub fn take_panicked_operation() -> Option<&'static str> {
    let method = PANICKED.take()?;
    method.rsplit("::").next()
}

/// Records the method `M` if a panic unwinds it. The method forgets it on return, so that a call costs nothing.
pub(crate) struct Unwinding<M>(PhantomData<M>);

impl<M> Unwinding<M> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<M> Drop for Unwinding<M> {
    fn drop(&mut self) {
        // Also dropped with a cancelled future, which is no panic.
        if thread::panicking() {
            PANICKED.set(Some(type_name::<M>()));
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    struct Deposit;

    #[test]
    fn a_panic_leaves_the_name_of_what_it_unwinds_and_a_drop_does_not() {
        drop(Unwinding::<Deposit>::new());
        assert_eq!(take_panicked_operation(), None);
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let _unwinding = Unwinding::<Deposit>::new();
            resume_unwind(Box::new("a test"));
        }));
        assert!(unwound.is_err());
        assert_eq!(take_panicked_operation(), Some("Deposit"));
        assert_eq!(take_panicked_operation(), None);
    }
}
