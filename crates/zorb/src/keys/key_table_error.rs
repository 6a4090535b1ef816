//! Errors of the key table.

use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_poa::ObjectId;

/// The error of an operation of the [key table](crate::KeyTable). No binding has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyTableError {
    /// The key is bound; `rebind` replaces its reference.
    #[error("the key \"{0}\" is bound already")]
    AlreadyBound(ObjectId),
    /// The key is not bound.
    #[error("the key \"{0}\" is not bound")]
    NotFound(ObjectId),
    /// The key begins as zorb's own keys do, so no request could reach it.
    #[error("\"{0}\" cannot be a plain key: it begins as the keys that zorb makes")]
    ReservedKey(ObjectId),
    /// A key cannot be bound to a nil reference.
    #[error("the reference is nil")]
    NilReference,
}

/// BAD_PARAM, COMPLETED_NO.
impl From<KeyTableError> for SystemException {
    fn from(error: KeyTableError) -> Self {
        Fault::BadParameter(error.to_string()).raise(CompletionStatus::No)
    }
}
