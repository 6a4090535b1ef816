//! Deactivating what has not been used for long: a policy for adapters whose servant activator makes objects again.

use super::{Adapter, AdapterError};
use crate::object::ActiveObject;
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

/// The unit of times of use.
const TICK: Duration = Duration::from_millis(100);

impl Adapter {
    /// Deactivates the objects that no request has come for since `unused_for` before `now`, and returns their number. When the last
    /// upcall on one has ended it is etherealized, once; the next request for its id has it incarnated again.
    ///
    /// This is the clock of the policy: a request leaves a mark at its object, and a look collects the marks, so that an object is
    /// taken for as young as the look that saw its mark first, or that saw it first at all. To be called several times within
    /// `unused_for`; times are kept in tenths of a second. Objects that execute a request are in use. Takes time in proportion to
    /// the active objects, and no lock while it goes through them.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] unless the adapter has USE_SERVANT_MANAGER and RETAIN: elsewhere nothing would make the objects
    /// again. [`AdapterError::Destroyed`].
    pub fn deactivate_unused(
        &self,
        now: Instant,
        unused_for: Duration,
    ) -> Result<usize, AdapterError> {
        self.check_alive()?;
        if !self.processing.is_activator() {
            return Err(AdapterError::WrongPolicy(
                "objects that are deactivated when they are not used need USE_SERVANT_MANAGER and RETAIN",
            ));
        }
        let began = *self.ticks_began.get_or_init(|| now);
        let ticks = |time: Duration| {
            let ticks = time.as_millis().checked_div(TICK.as_millis());
            u32::try_from(ticks.unwrap_or_default()).unwrap_or(u32::MAX)
        };
        let (now, unused_for) = (
            ticks(now.saturating_duration_since(began)),
            ticks(unused_for),
        );
        let entries = self.objects.entries();
        let mut deactivated = 0_usize;
        for entry in entries {
            if is_unused(&entry, now, unused_for) && self.deactivate(entry.id().as_ref()).is_ok() {
                deactivated = deactivated.saturating_add(1);
            }
        }
        Ok(deactivated)
    }
}

/// Holders of an entry that executes nothing: the map, and the caller.
const IDLE_HOLDERS: usize = 2;

fn is_unused(entry: &Arc<ActiveObject>, now: u32, unused_for: u32) -> bool {
    let Some(unused) = entry.unused_for(now) else {
        return false;
    };
    unused >= unused_for && Arc::strong_count(entry) <= IDLE_HOLDERS
}
