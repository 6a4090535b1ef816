//! Reports of servants that hold a worker for long.

use super::upcall::{address, describe};
use crate::orb::OrbInner;
use std::sync::Arc;
use zorb_executor::{BlockingGuard, Dispatch, Watcher, WorkerHolder};
use zorb_poa::ActiveObject;

impl Watcher for OrbInner {
    fn held_for_long(&self, holder: WorkerHolder) {
        if !self.makes_others_wait() {
            return;
        }
        let is_it = |object: &ActiveObject| address(object) == holder.object;
        // An object of a default servant or a servant locator is in no map: it is reported when its upcall has ended.
        let Some(object) = self.adapters().find_object(is_it) else {
            return;
        };
        let servant = object.type_id();
        if !self.is_first_report_of(servant) {
            return;
        }
        tracing::warn!(
            servant,
            operation = object.operation_name(holder.operation),
            object_key = describe(&object),
            "a servant holds a worker of the runtime for more than {:?} without awaiting, and other connections may have to \
             wait: activate it as zorb::Blocking(…)",
            BlockingGuard::LONG,
        );
    }
}

impl OrbInner {
    /// Has upcalls that hold a worker for long reported while they do.
    pub(crate) fn watch_workers(self: &Arc<Self>) {
        let this = Arc::downgrade(self);
        self.lane().watch(this);
    }

    /// Whether an upcall that blocks holds what others wait for: upcalls run in place, and connections have no threads.
    fn makes_others_wait(&self) -> bool {
        !self.settings().threads && matches!(self.lane().dispatch(), Dispatch::InPlace)
    }

    /// Reports, once for each interface, a servant that has held its worker for long, unless it was reported while it did.
    #[cold]
    pub(crate) fn report_blocking(&self, object: &ActiveObject, operation: Option<u32>) {
        let servant = object.type_id();
        if self.makes_others_wait() && self.is_first_report_of(servant) {
            tracing::warn!(
                servant,
                operation = operation.and_then(|number| object.operation_name(number)),
                object_key = describe(object),
                "a servant has held a worker of the runtime for more than {:?} without awaiting, and other connections may \
                 have had to wait: activate it as zorb::Blocking(…)",
                BlockingGuard::LONG,
            );
        }
    }
}
