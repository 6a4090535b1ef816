//! Scheduling and mapping of priorities, as the builder takes them.

use crate::builder::Builder;
use crate::real_time::PriorityTransform;
use std::sync::Arc;
use zorb_executor::{PriorityMapping, Scheduling};

impl Builder {
    /// The scheduling policy of the threads of the ORB's thread pools, and of native priorities that
    /// [`RtCurrent`](crate::real_time::RtCurrent) sets. Threads keep their scheduling unless this is set.
    ///
    /// The real-time policies need a privilege (CAP_SYS_NICE, or RLIMIT_RTPRIO). Without it, a thread pool is not created:
    /// INITIALIZE. No policy falls back to another one.
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.settings.real_time.scheduling = scheduling;
        self
    }

    /// How priorities become native ones and back; [`LinearMapping`](zorb_executor::LinearMapping) unless set.
    ///
    /// [`build`](Self::build) fails with INITIALIZE, minor code 1, if the mapping has no priority for any native one of the
    /// [`scheduling`](Self::scheduling) policy.
    #[doc(alias = "PriorityMapping")]
    pub fn priority_mapping(mut self, mapping: impl PriorityMapping + 'static) -> Self {
        self.settings.real_time.mapping = Arc::new(mapping);
        self
    }

    /// Changes priorities of requests that are received and sent; none unless set.
    #[doc(alias = "PriorityTransform")]
    pub fn priority_transform(mut self, transform: impl PriorityTransform + 'static) -> Self {
        self.settings.real_time.transform = Some(Arc::new(transform));
        self
    }
}
