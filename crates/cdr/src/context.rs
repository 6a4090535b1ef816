//! What a decoder may ask of its surroundings: limits, known value types, and the ORB that references belong to.

use crate::{KnownValue, Limits};
use alloc::sync::Arc;
use core::any::Any;

/// The context of decoding, such as the ORB that object references belong to: see
/// [`Decoder::with_context`](crate::Decoder::with_context).
pub trait Context: Send + Sync {
    /// The context for callers of [`Decoder::context`](crate::Decoder::context), to be downcast.
    fn as_any(&self) -> &(dyn Any + Send + Sync);

    /// A context that outlives the message, for an [`Any`](crate::Any) with references in it; `None` if it cannot be.
    fn keep(&self) -> Option<Arc<dyn Context>> {
        None
    }

    /// Limits on what decoding a message may cost, if they are not the defaults.
    fn limits(&self) -> Option<Limits> {
        None
    }

    /// A message takes more memory than [limits](Self::limits) permit, and is refused: for counters.
    fn refused_memory(&self) {}

    /// The value type with this repository id: values in anys may be of other types than their
    /// TypeCodes say.
    fn value_type(&self, _id: &str) -> Option<KnownValue> {
        None
    }
}

/// No context.
impl Context for () {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}
