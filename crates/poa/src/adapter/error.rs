//! Why operations of adapters fail.

use crate::identity::ActiveAlready;
use crate::key::ObjectId;
use crate::manager::AdapterInactive;
use crate::managers::ManagerAlreadyExists;
use crate::policy::InvalidPolicy;
use crate::table::TableFull;
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// The error of an operation of an object adapter. Each converts to the system exception of the specification.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (exceptions of `PortableServer::POA`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// A sibling has this name.
    #[error("an adapter named {0:?} exists already")]
    #[doc(alias = "AdapterAlreadyExists")]
    AlreadyExists(String),
    /// There is no child of this name.
    #[error("there is no adapter named {0:?}")]
    #[doc(alias = "AdapterNonExistent")]
    NonExistent(String),
    /// A manager of this id exists.
    #[error(transparent)]
    ManagerAlreadyExists(#[from] ManagerAlreadyExists),
    /// The adapter would be deeper below the root than the limit permits
    /// ([`ObjectAdapter::with_max_depth`](crate::ObjectAdapter::with_max_depth)).
    #[error("an adapter may be {0} levels below the root at most (Builder::max_poa_depth)")]
    TooDeep(usize),
    /// The object is not active in this adapter.
    #[error("the object is not active in this adapter")]
    ObjectNotActive,
    /// The id has a servant or a forward already.
    #[error("an object with the id \"{0}\" is active already")]
    ObjectAlreadyActive(ObjectId),
    /// An object with this id was deactivated, and an upcall on it has not ended.
    #[error("the object with the id \"{0}\" was deactivated, and an upcall on it has not ended")]
    BeingDeactivated(ObjectId),
    /// The servant is active for another object of the adapter, which has the policy UNIQUE_ID.
    #[error(
        "the servant is active in this adapter already, and stands for one object at a time (UNIQUE_ID)"
    )]
    ServantAlreadyActive,
    /// The servant is active for no object of the adapter.
    #[error("the servant is not active in this adapter")]
    ServantNotActive,
    /// The adapter has no default servant.
    #[error("the adapter has no default servant")]
    NoServant,
    /// A servant manager was set before, and cannot be replaced.
    #[error("the adapter has a servant manager already")]
    ServantManagerSet,
    /// The servant is not of the requested type.
    #[error("the servant is of another type than the requested one")]
    OtherServant,
    /// The reference was made by another adapter, or another ORB.
    #[error("the reference was not made by this adapter")]
    WrongAdapter,
    /// The adapter's policies forbid this operation, for the given reason.
    #[error("the adapter's policies forbid this: {0}")]
    WrongPolicy(&'static str),
    /// The adapter assigns ids, and has not assigned this one, or has freed it.
    #[error("the adapter assigns its ids itself and did not assign \"{0}\"")]
    UnknownId(ObjectId),
    /// The adapter has a fixed set of object ids, without this one.
    #[error("\"{0}\" is not in the adapter's set of object ids")]
    IdNotInSet(ObjectId),
    /// The octets of a plain key have the prefix of keys that zorb makes.
    #[error("\"{0}\" cannot be a plain key: it begins as the keys that zorb makes")]
    ReservedKey(ObjectId),
    /// The policies do not fit together.
    #[error(transparent)]
    InvalidPolicy(#[from] InvalidPolicy),
    /// Persistent keys with codes need a secret that outlives the server, and the application has set none.
    #[error("codes in persistent keys need a secret that outlives the server")]
    NoKeySecret,
    /// The adapter has been destroyed.
    #[error("the adapter has been destroyed")]
    Destroyed,
    /// The adapter is being destroyed: upcalls on its objects have not ended.
    #[error("the adapter is being destroyed, and upcalls on its objects have not ended")]
    BeingDestroyed,
    /// The POA manager is INACTIVE, which is final.
    #[error(transparent)]
    #[doc(alias = "AdapterInactive")]
    Inactive(#[from] AdapterInactive),
    /// The adapter holds the largest possible number of objects, or the ORB that of adapters.
    #[error(transparent)]
    Full(#[from] TableFull),
}

impl From<ActiveAlready> for AdapterError {
    fn from(ActiveAlready: ActiveAlready) -> Self {
        Self::ServantAlreadyActive
    }
}

impl AdapterError {
    /// The fault that CORBA assigns to the error.
    fn fault(&self) -> Fault {
        let text = self.to_string();
        match self {
            Self::Destroyed => Fault::AdapterDestroyed(text),
            Self::BeingDestroyed => Fault::AdapterBeingDestroyed(text),
            Self::UnknownId(_) | Self::IdNotInSet(_) => Fault::UnknownObjectId(text),
            Self::ServantManagerSet => Fault::ServantManagerSet(text),
            _ => Fault::AdapterRefused(text),
        }
    }
}

/// OBJECT_NOT_EXIST for a destroyed adapter, BAD_INV_ORDER for one that is being destroyed and for a second servant manager,
/// BAD_PARAM for an unknown id, OBJ_ADAPTER for the rest; COMPLETED_NO.
impl From<AdapterError> for SystemException {
    fn from(error: AdapterError) -> Self {
        error.fault().raise(CompletionStatus::No)
    }
}
