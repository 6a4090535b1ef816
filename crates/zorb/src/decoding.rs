//! The ORB as the context of decoding: references, value types, limits.

use crate::orb::{Orb, OrbInner};
use core::any::Any;
use std::sync::Arc;
use std::time::Instant;
use zorb_cdr::{Context, KnownValue, MemoryBudget};
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

    fn memory_budget(&self) -> Option<Arc<dyn MemoryBudget>> {
        Some(Arc::clone(&self.connection_settings().memory) as Arc<dyn MemoryBudget>)
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

    fn memory_budget(&self) -> Option<Arc<dyn MemoryBudget>> {
        self.inner().memory_budget()
    }

    fn refused_memory(&self) {
        self.inner().count(Counter::MemoryOfMessagesRefused);
    }

    fn value_type(&self, id: &str) -> Option<KnownValue> {
        self.inner().values().known(id)
    }
}

/// The context of decoding a reply, which ends when the caller has waited long enough.
pub(crate) struct ReplyContext<'a> {
    pub(crate) orb: &'a OrbInner,
    /// The end of the call's time limit.
    pub(crate) deadline: Option<Instant>,
}

impl Context for ReplyContext<'_> {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self.orb
    }

    fn keep(&self) -> Option<Arc<dyn Context>> {
        self.orb.keep()
    }

    fn limits(&self) -> Option<zorb_cdr::Limits> {
        self.orb.settings().decoding
    }

    fn memory_budget(&self) -> Option<Arc<dyn MemoryBudget>> {
        self.orb.memory_budget()
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| end <= Instant::now())
    }

    fn refused_memory(&self) {
        self.orb.refused_memory();
    }

    fn value_type(&self, id: &str) -> Option<KnownValue> {
        self.orb.value_type(id)
    }
}
