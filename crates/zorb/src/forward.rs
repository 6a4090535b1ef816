//! Forwards: objects that have moved.

use crate::interface::Interface;
use crate::object::ObjectRef;
use core::fmt;
use std::sync::Arc;
use zorb_giop::{Ior, SystemException};

/// The target of a forward: the server's answer (LOCATION_FORWARD) for an object that has moved.
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
///
/// Each request to a forward costs a call of its closure and a LOCATION_FORWARD reply; clients send later requests
/// to the target. Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (LOCATION_FORWARD, LOCATION_FORWARD_PERM);
/// CORBA 3.3 Part 1, The Portable Object Adapter (`ForwardRequest`).
#[derive(Clone)]
#[doc(alias = "ForwardRequest")]
#[doc(alias = "LOCATION_FORWARD")]
#[must_use = "a forward does nothing before it is given to a POA"]
pub struct Forward {
    target: Arc<dyn Fn() -> Result<Ior, SystemException> + Send + Sync>,
    permanent: bool,
}

impl Forward {
    /// Makes a forward whose target is always `object`. Keeps the IOR only, so that `object` can be dropped.
    pub fn to(object: &impl Interface) -> Self {
        // A captured reference would keep its ORB alive, and the ORB keeps the forward: a cycle.
        let ior = object.as_object().ior().clone();
        Self::new(move || Ok(ior.clone()))
    }

    /// Makes a forward whose target is the result of `ask`, which is called for every request and LocateRequest to the
    /// forward. Clients remember the target, so their later requests do not reach the forward.
    ///
    /// `ask` runs as an operation of a servant does, on a thread of the ORB, which it must not block. A system exception that it
    /// returns is the reply. A panic is caught and logged; its request is UNKNOWN (one of SYNC_WITH_SERVER is acknowledged), and later requests call
    /// `ask` again. A closure that holds references of its own ORB keeps the ORB alive until it is shut down, as such a servant does.
    pub fn by(
        ask: impl Fn() -> Result<ObjectRef, SystemException> + Send + Sync + 'static,
    ) -> Self {
        Self::new(move || ask().map(|object| object.ior().clone()))
    }

    fn new(target: impl Fn() -> Result<Ior, SystemException> + Send + Sync + 'static) -> Self {
        Self {
            target: Arc::new(target),
            permanent: false,
        }
    }

    /// Makes the forward permanent (LOCATION_FORWARD_PERM): clients may forget the reference that they came with.
    /// Clients of GIOP 1.0 and 1.1, which lack LOCATION_FORWARD_PERM, get LOCATION_FORWARD.
    #[doc(alias = "LOCATION_FORWARD_PERM")]
    pub fn permanent(mut self) -> Self {
        self.permanent = true;
        self
    }

    pub(crate) fn of_type(self, type_id: &str) -> zorb_poa::Forward {
        zorb_poa::Forward {
            type_id: type_id.to_owned(),
            permanent: self.permanent,
            target: self.target,
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
