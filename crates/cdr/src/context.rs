//! The context of a decoder: limits, registered value types, and the ORB of object references.

use crate::{KnownValue, Limits};
use alloc::sync::Arc;
use core::any::Any;

/// The context of decoding, such as the ORB that object references belong to: see
/// [`Decoder::with_context`](crate::Decoder::with_context).
pub trait Context: Send + Sync {
    /// Returns the context for callers of [`Decoder::context`](crate::Decoder::context), to be downcast.
    fn as_any(&self) -> &(dyn Any + Send + Sync);

    /// Returns a context that outlives the message, for an [`Any`](crate::Any) with references in it; `None` if there
    /// is none.
    fn keep(&self) -> Option<Arc<dyn Context>> {
        None
    }

    /// Returns the limits on decoding a message, if they are not the defaults.
    fn limits(&self) -> Option<Limits> {
        None
    }

    /// Counts a message that is refused, since decoding it would take more memory than [limits](Self::limits) permit.
    fn refused_memory(&self) {}

    /// Returns the value type with this repository id. A value in an any may be of another type than its TypeCode
    /// states.
    fn value_type(&self, _id: &str) -> Option<KnownValue> {
        None
    }
}

/// A context without an ORB, value types and limits of its own.
impl Context for () {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}
