//! Scheduling of an adapter's upcalls, as the adapter sees it.

use core::any::Any;
use core::fmt;

/// The scheduler of an adapter's upcalls: its owner's, which the adapter keeps and asks for the priority of each object.
///
/// The adapter knows neither threads nor real-time policies: an object remembers its priority
/// ([`ActiveObject::priority`](crate::ActiveObject::priority)), and the owner finds its own value again by
/// [`Adapter::scheduling`](crate::Adapter::scheduling).
pub trait UpcallScheduling: Any + fmt::Debug + Send + Sync {
    /// The priority of the object with this id, 0 to 32,767. Asked when an entry for the object is made, perhaps under a
    /// lock of the adapter, which it may not call.
    fn priority_of(&self, id: &[u8]) -> i16;
}
