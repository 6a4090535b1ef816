//! Deactivation of objects that were not used for long, for adapters whose servant activator incarnates them again.

use super::{Adapter, AdapterError};
use crate::object::ActiveObject;
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

/// The unit of times of use.
const TICK: Duration = Duration::from_millis(100);

impl Adapter {
    /// Deactivates the objects for which no request has come since `unused_for` before `now`, and returns their number. When
    /// the last upcall on such an object has ended, it is etherealized; the next request for its id incarnates it again.
    ///
    /// To be called several times within `unused_for`: a request only sets a flag at its object, and each call collects the
    /// flags. So the use of an object counts from the first call that found its flag, or that found the object at all. Times
    /// have a resolution of a tenth of a second. Objects that execute a request are in use. Takes time in proportion to the
    /// active objects, and holds no lock while it visits them.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] unless the adapter has USE_SERVANT_MANAGER and RETAIN, as without a servant activator the
    /// objects would be lost; [`AdapterError::Destroyed`].
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

/// The references to an entry that executes no request: that of the map, and that of the caller.
const IDLE_HOLDERS: usize = 2;

fn is_unused(entry: &Arc<ActiveObject>, now: u32, unused_for: u32) -> bool {
    let Some(unused) = entry.unused_for(now) else {
        return false;
    };
    unused >= unused_for && Arc::strong_count(entry) <= IDLE_HOLDERS
}
