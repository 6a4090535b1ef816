//! Why an object key has no target.

use zorb_giop::{CompletionStatus, Fault, SystemException};

/// Why an object key has no target.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (request processing).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to miss")]
pub enum Missing {
    /// There is no such adapter, or none in this run of the server; or no object has this plain key.
    Adapter,
    /// The adapter exists, and the object is not active.
    Object,
    /// The adapter has no default servant yet.
    DefaultServant,
    /// The adapter has no servant manager yet.
    ServantManager,
}

impl Missing {
    /// The system exception: OBJECT_NOT_EXIST or OBJ_ADAPTER, COMPLETED_NO, with the minor code of the reason.
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
