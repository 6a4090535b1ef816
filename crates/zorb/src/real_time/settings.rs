//! The real-time settings of an ORB: scheduling, and the mapping and transform of priorities.

use super::network::NetworkMapping;
use core::fmt;
use std::sync::Arc;
use zorb_executor::{LinearMapping, NativePriority, Priority, PriorityMapping, Scheduling};
use zorb_giop::{CompletionStatus, Fault, RealTimeFault, SystemException};
use zorb_poa::ObjectId;

/// Changes the priority of requests that are received and sent: `RTCORBA::PriorityTransform` (Real-time CORBA 1.2,
/// section 5.5, "Priority Transforms").
///
/// Called for requests to POAs with a priority model, and for calls to objects whose references state
/// CLIENT_PROPAGATED. It runs within the request and must not block.
pub trait PriorityTransform: fmt::Debug + Send + Sync {
    /// The priority at which a request to `object` runs; called after the receipt and before the upcall. `None` refuses
    /// the request: UNKNOWN, COMPLETED_NO.
    fn inbound(&self, priority: Priority, object: &ObjectId) -> Option<Priority>;

    /// The priority of a call that an upcall on `object` makes. `None` refuses the call: UNKNOWN, COMPLETED_NO.
    fn outbound(&self, priority: Priority, object: &ObjectId) -> Option<Priority>;
}

/// The real-time settings of an ORB.
#[derive(Debug, Clone)]
pub(crate) struct RealTimeSettings {
    pub(crate) scheduling: Scheduling,
    pub(crate) mapping: Arc<dyn PriorityMapping>,
    pub(crate) transform: Option<Arc<dyn PriorityTransform>>,
    pub(crate) network: Option<NetworkMapping>,
}

impl Default for RealTimeSettings {
    fn default() -> Self {
        Self {
            scheduling: Scheduling::Inherited,
            mapping: Arc::new(LinearMapping),
            transform: None,
            network: None,
        }
    }
}

impl RealTimeSettings {
    /// The code point for sockets whose messages have this priority, as a value of the property `dscp`.
    pub(super) fn code_point(&self, priority: i16) -> Option<String> {
        self.network.as_ref()?.property(priority)
    }

    /// Checks that the mapping has a priority for some native one.
    ///
    /// # Errors
    /// INITIALIZE, minor code 1, if it has none.
    pub(crate) fn check(&self) -> Result<(), SystemException> {
        let Some(range) = self.scheduling.native_range() else {
            return Ok(());
        };
        let mapped = |native| self.mapping.to_corba(NativePriority(native), &range);
        match range.clone().any(|native| mapped(native).is_some()) {
            true => Ok(()),
            false => Err(raise(RealTimeFault::RangeTooNarrow)),
        }
    }

    /// The native priority; `None` without real-time scheduling.
    ///
    /// # Errors
    /// DATA_CONVERSION, minor code 2, if the mapping has none.
    pub(crate) fn native(
        &self,
        priority: Priority,
    ) -> Result<Option<NativePriority>, SystemException> {
        let Some(range) = self.scheduling.native_range() else {
            return Ok(None);
        };
        let native = self.mapping.to_native(priority, &range);
        match native.filter(|native| range.contains(&native.0)) {
            Some(native) => Ok(Some(native)),
            None => Err(raise(RealTimeFault::Unmappable(priority.0))),
        }
    }

    /// Sets the native priority of the calling thread to that of `priority`.
    ///
    /// # Errors
    /// Returns the errors of [`native`](Self::native), and NO_PERMISSION if the operating system refuses it.
    pub(crate) fn apply(&self, priority: Priority) -> Result<(), SystemException> {
        let Some(native) = self.native(priority)? else {
            return Ok(());
        };
        self.scheduling.apply(native).map_err(|error| {
            let why = format!("the system refuses native priority {native}: {error}");
            raise(RealTimeFault::Refused(why))
        })
    }

    /// The priority of the calling thread, mapped from its native one; `None` without real-time scheduling.
    ///
    /// # Errors
    /// DATA_CONVERSION, minor code 2, if the mapping has none for it.
    pub(crate) fn of_this_thread(&self) -> Result<Option<Priority>, SystemException> {
        let Some(range) = self.scheduling.native_range() else {
            return Ok(None);
        };
        let native = match zorb_executor::current_thread_scheduling() {
            Ok((scheduling, native)) if scheduling == self.scheduling => native,
            // A thread of another policy has no native priority of this one.
            Ok(_) | Err(_) => NativePriority(0),
        };
        let priority = self.mapping.to_corba(native, &range);
        match priority.filter(|priority| range.contains(&native.0) && priority.is_valid()) {
            Some(priority) => Ok(Some(priority)),
            None => Err(raise(RealTimeFault::UnmappableNative(native.0))),
        }
    }
}

pub(super) fn raise(fault: RealTimeFault) -> SystemException {
    Fault::RealTime(fault).raise(CompletionStatus::No)
}
