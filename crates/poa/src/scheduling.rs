//! The interface of an adapter to the scheduler of its upcalls.

use core::any::Any;
use core::fmt;

/// The scheduler of an adapter's upcalls. The adapter keeps it, and asks it for the priority of each object.
///
/// The adapter knows neither threads nor real-time policies. An object stores its priority
/// ([`ActiveObject::priority`](crate::ActiveObject::priority)), and the owner of the adapter gets the scheduler back by
/// [`Adapter::scheduling`](crate::Adapter::scheduling).
pub trait UpcallScheduling: Any + fmt::Debug + Send + Sync {
    /// The CORBA priority of the object with this id, 0 to 32,767. Called when an entry for the object is made, possibly under
    /// a lock of the adapter, so it must not call the adapter.
    fn priority_of(&self, id: &[u8]) -> i16;
}
