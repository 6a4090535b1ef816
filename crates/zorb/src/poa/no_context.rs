//! The error of `PortableServer::Current` outside of upcalls.

use zorb_giop::{CompletionStatus, Fault, SystemException};

/// The error of an operation of [`PoaCurrent`](super::PoaCurrent) outside of upcalls, where no request is being
/// executed.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::Current::NoContext`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no request is being executed here")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct NoContext;

impl From<NoContext> for SystemException {
    /// Converts the error to BAD_INV_ORDER, for servants that propagate it.
    fn from(error: NoContext) -> Self {
        Fault::OutOfOrder(error.to_string()).raise(CompletionStatus::No)
    }
}
