//! The error of `PortableServer::Current` outside of upcalls.

use zorb_giop::{SystemException, SystemExceptionKind};

/// No request is being executed here: an operation of [`PoaCurrent`](super::PoaCurrent) was called outside of upcalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no request is being executed here")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct NoContext;

impl From<NoContext> for SystemException {
    /// BAD_INV_ORDER, for servants that pass it on.
    fn from(error: NoContext) -> Self {
        let exception = Self::from(SystemExceptionKind::BadInvOrder);
        exception.with_detail(error)
    }
}
