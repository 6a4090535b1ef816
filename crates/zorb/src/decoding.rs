//! The ORB as the context of decoding: references, value types, limits.

use crate::orb::{Orb, OrbInner};
use core::any::Any;
use std::sync::Arc;
use zorb_cdr::{Context, KnownValue};
use zorb_connection::Counter;

/// The context in which references and value types are decoded.
impl Context for OrbInner {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn keep(&self) -> Option<Arc<dyn Context>> {
        Some(Arc::new(self.handle()?))
    }

    fn limits(&self) -> Option<zorb_cdr::Limits> {
        self.settings().decoding
    }

    fn refused_memory(&self) {
        self.count(Counter::MemoryOfMessagesRefused);
    }

    fn value_type(&self, id: &str) -> Option<KnownValue> {
        self.values().known(id)
    }
}

/// The context of decoded parts that outlive the message: it counts as a handle of the ORB, as a reference does.
impl Context for Orb {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        &**self.inner()
    }

    fn keep(&self) -> Option<Arc<dyn Context>> {
        Some(Arc::new(self.clone()))
    }

    fn limits(&self) -> Option<zorb_cdr::Limits> {
        self.inner().settings().decoding
    }

    fn refused_memory(&self) {
        self.inner().count(Counter::MemoryOfMessagesRefused);
    }

    fn value_type(&self, id: &str) -> Option<KnownValue> {
        self.inner().values().known(id)
    }
}
