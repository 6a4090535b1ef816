//! The real-time policies in a reference.

use crate::addresses::{Body, read_prioritised};
use std::sync::Arc;
use zorb_giop::ior::ComponentTag;
use zorb_giop::{ExposedPolicies, PriorityModel, StatedProtocol};
use zorb_transport::{Addressing, Endpoint};

/// The real-time policies that a profile states, and the priorities of its endpoints.
#[derive(Debug)]
pub(crate) struct Exposed {
    pub(super) policies: ExposedPolicies,
    endpoints: Vec<(Endpoint, Option<i16>)>,
}

impl Exposed {
    /// Reads the policies of a profile; `None` if it states neither a priority model nor protocols.
    pub(crate) fn of(body: &Body, addressing: &dyn Addressing) -> Option<Arc<Self>> {
        let policies = ExposedPolicies::from_component(body.component(ComponentTag::POLICIES)?);
        if policies.priority_model.is_none() && policies.client_protocols.is_empty() {
            return None;
        }
        let stated = body.component(ComponentTag::TAO_ENDPOINTS);
        let stated = stated.map(|data| read_prioritised(addressing, data));
        let mut endpoints = stated.unwrap_or_default();
        if let Some(first) = endpoints.first_mut() {
            // The first endpoint of the component is the profile's own, even if it has another name there.
            first.0 = body.endpoint.clone();
        }
        Some(Arc::new(Self {
            policies,
            endpoints,
        }))
    }

    /// The priority of an endpoint, if it has one.
    pub(super) fn priority(&self, endpoint: &Endpoint) -> Option<i16> {
        let mut stated = self.endpoints.iter();
        stated.find(|(other, _)| other == endpoint)?.1
    }

    /// The protocols that clients may use, if the reference states them.
    pub(crate) fn protocols(&self) -> Option<&[StatedProtocol]> {
        let protocols = &*self.policies.client_protocols;
        (!protocols.is_empty()).then_some(protocols)
    }

    pub(super) fn model(&self) -> Option<(PriorityModel, i16)> {
        self.policies.priority_model
    }
}
