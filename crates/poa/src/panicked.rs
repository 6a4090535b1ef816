//! Names the operation of a servant that has panicked, for the log.

use core::any::type_name;
use core::cell::Cell;
use core::marker::PhantomData;
use std::thread;

std::thread_local! {
    /// The method that the last panic on this thread has unwound.
    static PANICKED: Cell<Option<&'static str>> = const { Cell::new(None) };
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
