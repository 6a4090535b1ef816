//! Builder methods for scheduling and the mapping of priorities.

use crate::builder::Builder;
use crate::real_time::{NetworkMapping, NetworkPriorityMapping, PriorityTransform};
use std::sync::Arc;
use zorb_executor::{PriorityMapping, Scheduling};

impl Builder {
    /// Sets the scheduling policy of the threads of the ORB's thread pools, and of native priorities that
    /// [`RtCurrent`](crate::real_time::RtCurrent) sets. Threads keep their scheduling unless this is set.
    ///
    /// The real-time policies of the kernel need a privilege (CAP_SYS_NICE, or RLIMIT_RTPRIO). Without it, creating a
    /// thread pool fails with INITIALIZE. No policy falls back to another one.
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.settings.real_time.scheduling = scheduling;
        self
    }

    /// Sets the mapping between CORBA priorities and native ones; [`LinearMapping`](zorb_executor::LinearMapping) unless
    /// set.
    ///
    /// [`build`](Self::build) fails with INITIALIZE, minor code 1, if the mapping has no priority for any native one of the
    /// [`scheduling`](Self::scheduling) policy.
    #[doc(alias = "PriorityMapping")]
    pub fn priority_mapping(mut self, mapping: impl PriorityMapping + 'static) -> Self {
        self.settings.real_time.mapping = Arc::new(mapping);
        self
    }

    /// Sets the transform of the priorities of requests that are received and sent; none unless set.
    #[doc(alias = "PriorityTransform")]
    pub fn priority_transform(mut self, transform: impl PriorityTransform + 'static) -> Self {
        self.settings.real_time.transform = Some(Arc::new(transform));
        self
    }

    /// Marks the packets of connections whose messages have a known priority with the code point that this mapping
    /// returns for it (differentiated services). Off unless set, as in TAO.
    ///
    /// | connections | priority |
    /// |---|---|
    /// | that a lane accepts, and that lead to a lane | the lane's |
    /// | bound to a band, where no lane is stated | the highest of the band |
    /// | to an object with SERVER_DECLARED | the object's |
    ///
    /// Other connections carry messages of many priorities, and keep the transport's `dscp`
    /// [property](Self::transport_property). Transports without this property, such as UNIX sockets, are not marked. An
    /// endpoint with a `dscp` of its own (`iiop://host:2810/dscp=46`) keeps that, and so does a protocol of a
    /// ClientProtocolPolicy.
    #[doc(alias = "NetworkPriorityMapping")]
    #[doc(alias = "-RTORBNetworkPriorityMapping")]
    #[doc(alias = "enable_network_priority")]
    pub fn network_priority_mapping(
        mut self,
        mapping: impl NetworkPriorityMapping + 'static,
    ) -> Self {
        self.settings.real_time.network = Some(NetworkMapping(Arc::new(mapping)));
        self
    }
}
