//! The exceptions that the operations of a naming context have in common.

use crate::store::StoreError;
use zorb::naming::cos_naming::NameComponent;
use zorb::naming::cos_naming::naming_context::{
    AlreadyBound, BindContextError, BindError, BindNewContextError, CannotProceed, InvalidName,
    NotFound, NotFoundReason, RebindContextError, RebindError, ResolveError, UnbindError,
};
use zorb::naming::cos_naming::naming_context_ext::ResolveStrError;
use zorb::{CompletionStatus, SystemException, SystemExceptionKind};

/// An exception of any of the operations.
#[derive(Debug)]
pub(crate) enum Refusal {
    NotFound(NotFound),
    CannotProceed(CannotProceed),
    InvalidName,
    AlreadyBound,
    System(SystemException),
}

impl Refusal {
    /// NotFound with the rest of a name, whose first component is at fault.
    pub(crate) fn not_found(why: NotFoundReason, rest: &[NameComponent]) -> Self {
        Self::NotFound(NotFound {
            why,
            rest_of_name: rest.to_vec(),
        })
    }
}

impl From<SystemException> for Refusal {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<SystemExceptionKind> for Refusal {
    fn from(kind: SystemExceptionKind) -> Self {
        Self::System(kind.into())
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::System(store_failed(&error))
    }
}

/// The exception for an error of the store, whose cause goes to the log: it is no client's business.
pub(crate) fn store_failed(error: &StoreError) -> SystemException {
    let (kind, completed) = match error {
        StoreError::Full => (SystemExceptionKind::NoResources, CompletionStatus::No),
        StoreError::Unreachable(cause) => {
            tracing::warn!(%cause, "a request fails, as the store cannot be reached");
            (SystemExceptionKind::Transient, CompletionStatus::No)
        }
        StoreError::Closed => (SystemExceptionKind::Transient, CompletionStatus::Maybe),
        StoreError::Malformed => (SystemExceptionKind::PersistStore, CompletionStatus::No),
        StoreError::Failed(cause) => {
            tracing::warn!(%cause, "a request fails, as the store does");
            (SystemExceptionKind::PersistStore, CompletionStatus::Maybe)
        }
    };
    SystemException::new(kind, 0, completed).with_detail(format_args!("{error}"))
}

/// What a [`Refusal`] that an operation does not list becomes.
fn unlisted() -> SystemException {
    SystemException::new(SystemExceptionKind::Internal, 0, CompletionStatus::Maybe)
}

macro_rules! both_ways {
    ($($error:ident { $($bound:ident)? })*) => {
        $(
            impl From<Refusal> for $error {
                fn from(refusal: Refusal) -> Self {
                    match refusal {
                        Refusal::NotFound(exception) => exception.into(),
                        Refusal::CannotProceed(exception) => exception.into(),
                        Refusal::InvalidName => InvalidName {}.into(),
                        $(Refusal::AlreadyBound => $bound {}.into(),)?
                        Refusal::System(exception) => exception.into(),
                        #[allow(unreachable_patterns, reason = "not every operation raises it")]
                        Refusal::AlreadyBound => unlisted().into(),
                    }
                }
            }

            impl From<$error> for Refusal {
                fn from(error: $error) -> Self {
                    match error {
                        $error::NotFound(exception) => Self::NotFound(exception),
                        $error::CannotProceed(exception) => Self::CannotProceed(exception),
                        $error::InvalidName(_) => Self::InvalidName,
                        $($error::$bound(_) => Self::AlreadyBound,)?
                        $error::System(exception) => Self::System(exception),
                        _ => Self::System(unlisted()),
                    }
                }
            }
        )*
    };
}

both_ways! {
    BindError { AlreadyBound }
    BindContextError { AlreadyBound }
    BindNewContextError { AlreadyBound }
    RebindError {}
    RebindContextError {}
    ResolveError {}
    ResolveStrError {}
    UnbindError {}
}
