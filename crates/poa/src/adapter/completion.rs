//! Waiting for the upcalls of an adapter, for its manager and its destruction. Also, setting its adapter activator.

use super::{ActivatesChildren, Adapter, AdapterError};
use crate::deactivation::Deactivations;
use crate::identity::MapEntry;
use crate::manager::Controlled;
use crate::object::ActiveObject;
use crate::servant_manager::AdapterActivator;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::sync::Arc;

impl Adapter {
    /// Waits until no upcall of a destroyed adapter is executing, and no object is being etherealized. Inside such an upcall it
    /// would deadlock.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing, and can be repeated.
    pub async fn completed(&self) {
        poll_fn(|cx| self.deactivations.poll_all_ended(cx.waker())).await;
    }

    /// The counter of its ending requests.
    pub(crate) fn deactivations(&self) -> &Arc<Deactivations> {
        &self.deactivations
    }

    /// Sets the adapter activator, which makes missing children; `None` removes it.
    ///
    /// # Errors
    /// [`AdapterError::Destroyed`] if the adapter has been destroyed.
    pub fn set_adapter_activator(
        &self,
        activator: Option<Arc<dyn AdapterActivator>>,
    ) -> Result<(), AdapterError> {
        self.check_alive()?;
        let activator = activator.map(|activator| Arc::new(ActivatesChildren(activator)));
        self.children.store(activator);
        Ok(())
    }

    /// The adapter activator, if one is set.
    #[must_use]
    pub fn adapter_activator(&self) -> Option<Arc<dyn AdapterActivator>> {
        let activator = self.children.load();
        activator.as_ref().map(|activator| Arc::clone(&activator.0))
    }

    /// Replaces an entry that is executing requests by a new one, so that a wait is for earlier requests alone.
    fn replace_busy(&self, busy: &Arc<ActiveObject>) {
        let identity = MapEntry::identity(&**busy).clone();
        let fresh = match (busy.skeleton(), busy.forward()) {
            (Some(skeleton), _) => self.servant(Arc::clone(skeleton), identity),
            (None, Some(forward)) => self.forwarding(forward.clone(), identity),
            (None, None) => return,
        };
        busy.begin_deactivation(None, false);
        // An entry that is deactivated meanwhile must not come back.
        if self.objects.replace_if(Arc::clone(&fresh), busy) {
            self.servants.deactivate(busy, Some(&fresh));
        }
    }
}

/// The references to an entry that executes no request: that of the map, and that of the list of entries.
const IDLE_HOLDERS: usize = 2;

impl Controlled for Adapter {
    fn begin_to_wait(&self) {
        for entry in &self.objects.entries() {
            // Upcalls in progress hold their object.
            if Arc::strong_count(entry) > IDLE_HOLDERS {
                self.replace_busy(entry);
            }
        }
        self.common.changes.count();
    }

    fn poll_completed(&self, waker: &Waker) -> Poll<()> {
        self.deactivations.poll_all_ended(waker)
    }

    fn etherealize_all(&self) {
        if self.activator().is_some() {
            self.etherealize();
        }
    }

    fn executes_here(&self) -> bool {
        let is_beside = |object: &ActiveObject| {
            let adapter = object.adapter();
            adapter.is_some_and(|adapter| adapter.is_beside(self))
        };
        ActiveObject::current(is_beside).unwrap_or(false)
    }
}
