//! Why a key leads nowhere.

use zorb_giop::{CompletionStatus, Fault, SystemException};

/// Why a key leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to miss")]
pub enum Missing {
    /// There is no such adapter, or none in this incarnation of the server; or no object has that plain key.
    Adapter,
    /// The adapter is there, the object is not active.
    Object,
    /// The adapter has no default servant yet.
    DefaultServant,
    /// The adapter has no servant manager yet.
    ServantManager,
}

impl Missing {
    /// OBJECT_NOT_EXIST or OBJ_ADAPTER, COMPLETED_NO, with the minor code that says which.
    #[must_use]
    pub fn raise(self) -> SystemException {
        match self {
            Self::Adapter => Fault::NoAdapter,
            Self::Object => Fault::NoObject,
            Self::DefaultServant => Fault::NoDefaultServant,
            Self::ServantManager => Fault::NoServantManager,
        }
        .raise(CompletionStatus::No)
    }
}
