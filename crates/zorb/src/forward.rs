//! Objects that are somewhere else.

use crate::interface::Interface;
use crate::object::ObjectRef;
use core::fmt;
use std::sync::Arc;
use zorb_giop::SystemException;

/// Where requests are sent on to: what a server says of an object that has moved.
///
/// ```
/// # fn f(poa: &zorb::Poa, there: zorb::ObjectRef) -> Result<(), zorb::Error> {
/// use zorb::{Forward, ObjectRef};
///
/// // Always there:
/// let reference: ObjectRef = poa.create_forward(Forward::to(&there))?;
/// // Wherever it is at the time:
/// let reference: ObjectRef = poa.create_forward(Forward::by(move || Ok(there.clone())))?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[doc(alias = "ForwardRequest")]
#[doc(alias = "LOCATION_FORWARD")]
#[must_use = "a forward does nothing before it is given to a POA"]
pub struct Forward {
    target: Arc<dyn Fn() -> Result<ObjectRef, SystemException> + Send + Sync>,
    permanent: bool,
}

impl Forward {
    /// To where `object` is.
    pub fn to(object: &impl Interface) -> Self {
        let object = object.as_object().clone();
        Self::by(move || Ok(object.clone()))
    }

    /// To where `ask` says. It is asked for every request that comes this way, and every
    /// LocateRequest; clients remember the answer, so most requests of theirs do not come. It
    /// runs as a servant does: it may fail as one, and should take no longer.
    pub fn by(
        ask: impl Fn() -> Result<ObjectRef, SystemException> + Send + Sync + 'static,
    ) -> Self {
        Self {
            target: Arc::new(ask),
            permanent: false,
        }
    }

    /// The same, for good: clients may forget the reference that they came with. Clients of GIOP
    /// 1.0 and 1.1, which do not have this, are told the same as without it.
    #[doc(alias = "LOCATION_FORWARD_PERM")]
    pub fn permanent(mut self) -> Self {
        self.permanent = true;
        self
    }

    pub(crate) fn of_type(self, type_id: &str) -> zorb_poa::Forward {
        let target = self.target;
        zorb_poa::Forward {
            type_id: type_id.to_owned(),
            permanent: self.permanent,
            target: Arc::new(move || target().map(|object| object.ior().clone())),
        }
    }
}

impl fmt::Debug for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forward")
            .field("permanent", &self.permanent)
            .finish_non_exhaustive()
    }
}
