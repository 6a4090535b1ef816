//! The real-time policies of a POA, and the scheduling of its upcalls.

use super::threadpool::{Pool, Threadpool};
use crate::policy::Protocol;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zorb_executor::Priority;
use zorb_giop::{ExposedPolicies, PriorityBand, PriorityModel, StatedProtocol};
use zorb_poa::{Adapter, AdapterError, InvalidPolicy, PoaPolicyType, UpcallScheduling};
use zorb_transport::{Endpoint, Registry};

/// The source of the priority of requests: `RTCORBA::PriorityModelPolicy`.
///
/// Source: Real-time CORBA 1.2 (`RTCORBA::PriorityModelPolicy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the policy has two values")]
#[doc(alias = "create_priority_model_policy")]
pub struct PriorityModelPolicy {
    /// The source of the priority of a request: its client or its object.
    pub model: PriorityModel,
    /// SERVER_DECLARED: the priority of objects that have none of their own. CLIENT_PROPAGATED: the priority of
    /// requests that state none, such as those of ORBs without Real-time CORBA.
    pub server_priority: Priority,
}

impl PriorityModelPolicy {
    /// CLIENT_PROPAGATED: requests run at the priority of their client.
    #[must_use]
    pub const fn client_propagated(server_priority: Priority) -> Self {
        Self {
            model: PriorityModel::ClientPropagated,
            server_priority,
        }
    }

    /// SERVER_DECLARED: requests run at the priority of their object.
    #[must_use]
    pub const fn server_declared(server_priority: Priority) -> Self {
        Self {
            model: PriorityModel::ServerDeclared,
            server_priority,
        }
    }
}

/// The real-time policies of a POA. Those that are not set are [the ORB's](super::RtOrb::set_policy_defaults).
///
/// Creating the POA checks the combination. `InvalidPolicy` is raised for a server priority below 0, for lanes without
/// a priority model, and for SERVER_DECLARED at a priority that no lane has. It is also raised for bands without a
/// model, for invalid ranges, for a server priority in no band (SERVER_DECLARED), for a band without a lane, and for
/// protocols without an open endpoint.
///
/// Source: Real-time CORBA 1.2 (`RTCORBA::PriorityModelPolicy`, `ThreadpoolPolicy`, `PriorityBandedConnectionPolicy`,
/// `ServerProtocolPolicy`, `ClientProtocolPolicy`).
#[derive(Debug, Clone, Default)]
#[must_use = "policies do nothing until a POA has them"]
pub struct RtPolicies {
    priority_model: Option<PriorityModelPolicy>,
    threadpool: Option<Threadpool>,
    bands: Option<Vec<PriorityBand>>,
    server_protocols: Option<Vec<Protocol>>,
    client_protocols: Option<Vec<Protocol>>,
}

impl RtPolicies {
    /// Makes a set without policies, so that a POA has those of the ORB.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the source of the priority of requests. References state the policy.
    #[doc(alias = "PriorityModelPolicy")]
    pub fn priority_model(mut self, policy: PriorityModelPolicy) -> Self {
        self.priority_model = Some(policy);
        self
    }

    /// Sets the thread pool that runs the requests of the POA. Without this policy they run on the ORB's lane.
    #[doc(alias = "ThreadpoolPolicy")]
    #[doc(alias = "create_threadpool_policy")]
    pub fn threadpool(mut self, pool: &Threadpool) -> Self {
        self.threadpool = Some(pool.clone());
        self
    }

    /// Sets the bands of priorities that share a connection (`PriorityBandedConnectionPolicy`). References state them,
    /// so that clients have a connection for each band. Of bands that overlap, the first one that holds a priority
    /// counts.
    #[doc(alias = "PriorityBandedConnectionPolicy")]
    pub fn priority_bands(mut self, bands: impl IntoIterator<Item = PriorityBand>) -> Self {
        self.bands = Some(bands.into_iter().collect());
        self
    }

    /// Sets the protocols of the POA's objects, in order of preference (`ServerProtocolPolicy`): the order of the
    /// profiles in references. Without this policy, profiles have the order in which endpoints were opened.
    ///
    /// Properties of sockets belong to endpoints, which several POAs may share: `iiop://host:2810/send_buffer=65536`.
    #[doc(alias = "ServerProtocolPolicy")]
    #[doc(alias = "create_server_protocol_policy")]
    pub fn server_protocols(mut self, protocols: impl IntoIterator<Item = Protocol>) -> Self {
        self.server_protocols = Some(protocols.into_iter().collect());
        self
    }

    /// Sets the protocols by which clients have to connect, with properties of their sockets (`ClientProtocolPolicy`).
    /// References state the policy; a client that has one of its own gets INV_POLICY.
    #[doc(alias = "ClientProtocolPolicy")]
    #[doc(alias = "create_client_protocol_policy")]
    pub fn client_protocols(mut self, protocols: impl IntoIterator<Item = Protocol>) -> Self {
        self.client_protocols = Some(protocols.into_iter().collect());
        self
    }

    /// Merges the ORB's defaults: priority model, thread pool and server protocols that are not set here.
    pub(super) fn over(mut self, defaults: &Self) -> Self {
        self.priority_model = self.priority_model.or(defaults.priority_model);
        self.threadpool = self.threadpool.or_else(|| defaults.threadpool.clone());
        self.server_protocols =
            (self.server_protocols).or_else(|| defaults.server_protocols.clone());
        self
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.priority_model.is_none()
            && self.threadpool.is_none()
            && self.bands.is_none()
            && self.server_protocols.is_none()
            && self.client_protocols.is_none()
    }

    /// Checks the policies on protocols, for an ORB with these endpoints and transports.
    pub(super) fn validate_protocols(
        &self,
        endpoints: &[Endpoint],
        transports: &Registry,
    ) -> Result<(), InvalidPolicy> {
        let invalid = |policy, why| Err(InvalidPolicy::new(policy, why));
        if let Some(protocols) = &self.server_protocols {
            let server = PoaPolicyType::ServerProtocol;
            let of_lanes = self.threadpool.as_ref().map(|pool| pool.0.endpoints());
            let mut open: Vec<_> = (of_lanes.into_iter().flatten())
                .map(|(_, endpoint)| endpoint)
                .collect();
            if open.is_empty() {
                open.extend_from_slice(endpoints);
            }
            let is_open = |protocol: &Protocol| {
                let mut open = open.iter();
                open.any(|endpoint| endpoint.scheme() == protocol.scheme())
            };
            if protocols.is_empty() || !protocols.iter().all(is_open) {
                return invalid(
                    server,
                    "expected one protocol at least, each with an open endpoint",
                );
            }
            if protocols.iter().any(|of| of.properties().next().is_some()) {
                return invalid(server, "properties of sockets belong to endpoints");
            }
        }
        if let Some(protocols) = &self.client_protocols {
            let is_stated = |protocol: &Protocol| {
                protocol.is_known(transports) && protocol.to_stated(transports).is_some()
            };
            if protocols.is_empty() || !protocols.iter().all(is_stated) {
                return invalid(
                    PoaPolicyType::ClientProtocol,
                    "expected one protocol at least, each of a transport with profiles and these properties",
                );
            }
        }
        Ok(())
    }

    /// Checks the combination of the other policies.
    pub(super) fn validate(&self) -> Result<(), InvalidPolicy> {
        let invalid = |policy, why| Err(InvalidPolicy::new(policy, why));
        let model = self.priority_model;
        if model.is_some_and(|model| !model.server_priority.is_valid()) {
            return invalid(
                PoaPolicyType::PriorityModel,
                "server_priority is from 0 to 32767",
            );
        }
        let lanes = (self.threadpool.as_ref()).and_then(|pool| pool.0.lane_priorities());
        if lanes.is_some() && model.is_none() {
            return invalid(PoaPolicyType::Threadpool, "lanes need a priority model");
        }
        let declared = model.filter(|model| model.model == PriorityModel::ServerDeclared);
        if let (Some(lanes), Some(declared), None) = (&lanes, declared, &self.bands)
            && !lanes.clone().any(|lane| lane == declared.server_priority)
        {
            return invalid(
                PoaPolicyType::PriorityModel,
                "SERVER_DECLARED needs a lane of server_priority",
            );
        }
        let Some(bands) = &self.bands else {
            return Ok(());
        };
        let banded = |why| invalid(PoaPolicyType::PriorityBandedConnection, why);
        if model.is_none() {
            return banded("bands need a priority model");
        }
        if bands.is_empty() || !bands.iter().all(|band| band.is_valid()) {
            return banded("expected one band at least, each with 0 <= low <= high");
        }
        if let Some(declared) = declared
            && !(bands.iter()).any(|band| band.contains(declared.server_priority.0))
        {
            return banded("server_priority lies in no band");
        }
        if let Some(lanes) = lanes {
            let has_lane =
                |band: &PriorityBand| lanes.clone().any(|priority| band.contains(priority.0));
            if !bands.iter().all(has_lane) {
                return banded("a band contains the priority of no lane");
            }
        }
        Ok(())
    }

    pub(super) fn into_scheduled(self, transports: &Registry) -> Scheduled {
        let schemes = |protocols: Vec<Protocol>| -> Vec<String> {
            let schemes = protocols
                .iter()
                .map(|protocol| protocol.scheme().to_owned());
            schemes.collect()
        };
        let stated = self.client_protocols.iter().flatten();
        Scheduled {
            client_protocols: stated.filter_map(|of| of.to_stated(transports)).collect(),
            schemes: self.server_protocols.map(schemes),
            model: self.priority_model,
            pool: self.threadpool.map(|pool| pool.0),
            bands: self.bands.unwrap_or_default(),
            priorities: Mutex::default(),
        }
    }
}

/// The scheduling of the upcalls of a POA with real-time policies.
#[derive(Debug)]
pub(crate) struct Scheduled {
    pub(super) model: Option<PriorityModelPolicy>,
    pub(super) pool: Option<Arc<Pool>>,
    pub(super) bands: Vec<PriorityBand>,
    client_protocols: Vec<StatedProtocol>,
    /// The schemes of the protocols in references, in order; `None` for all.
    schemes: Option<Vec<String>>,
    /// The priorities of objects that have one of their own, by id.
    priorities: Mutex<HashMap<Box<[u8]>, i16>>,
}

impl UpcallScheduling for Scheduled {
    fn priority_of(&self, id: &[u8]) -> i16 {
        self.own_priority(id)
            .unwrap_or_else(|| self.default_priority().0)
    }
}

impl Scheduled {
    /// The scheduling of an adapter's upcalls, if it has real-time policies.
    pub(crate) fn of(adapter: &Adapter) -> Option<&Self> {
        let scheduling: &dyn core::any::Any = &**adapter.scheduling()?;
        scheduling.downcast_ref()
    }

    pub(crate) fn is_client_propagated(&self) -> bool {
        (self.model).is_some_and(|policy| policy.model == PriorityModel::ClientPropagated)
    }

    /// The priority of requests and objects without one of their own.
    fn default_priority(&self) -> Priority {
        match (&self.model, &self.pool) {
            (Some(policy), _) => policy.server_priority,
            (None, Some(pool)) => pool.default_priority(),
            (None, None) => Priority::default(),
        }
    }

    fn own_priority(&self, id: &[u8]) -> Option<i16> {
        let own = (self.priorities.lock()).unwrap_or_else(PoisonError::into_inner);
        own.get(id).copied()
    }

    /// Assigns a priority of its own to an object.
    ///
    /// # Errors
    /// The object's former priority, if that is another one.
    pub(super) fn assign(&self, id: &[u8], priority: Priority) -> Result<(), i16> {
        let mut own = (self.priorities.lock()).unwrap_or_else(PoisonError::into_inner);
        match own.get(id) {
            Some(before) if *before != priority.0 => Err(*before),
            Some(_) => Ok(()),
            None => {
                own.insert(id.into(), priority.0);
                Ok(())
            }
        }
    }

    /// Checks that objects of the POA may have priorities.
    ///
    /// # Errors
    /// `WrongPolicy` unless it has SERVER_DECLARED.
    pub(super) fn check_declares(&self) -> Result<(), AdapterError> {
        match self.model {
            Some(policy) if policy.model == PriorityModel::ServerDeclared => Ok(()),
            _ => Err(AdapterError::WrongPolicy(
                "objects have priorities with SERVER_DECLARED only",
            )),
        }
    }

    /// The priority of the lane that serves a priority: the equal one, else a lane in the priority's band. `None` if
    /// there is none; without lanes, the priority itself.
    pub(super) fn lane_of(&self, priority: Priority) -> Option<Priority> {
        let lanes = self.pool.as_ref().and_then(|pool| pool.lane_priorities());
        let Some(mut lanes) = lanes else {
            return Some(priority);
        };
        if lanes.clone().any(|lane| lane == priority) {
            return Some(priority);
        }
        let mut bands = self.bands.iter();
        let band = bands.find(|band| band.contains(priority.0))?;
        lanes.find(|lane| band.contains(lane.0))
    }

    /// The policies that references to an object of this priority state.
    pub(super) fn exposed(&self, priority: i16) -> ExposedPolicies {
        ExposedPolicies {
            priority_model: (self.model).map(|policy| match policy.model {
                PriorityModel::ClientPropagated => (policy.model, policy.server_priority.0),
                PriorityModel::ServerDeclared => (policy.model, priority),
            }),
            bands: self.bands.clone(),
            client_protocols: self.client_protocols.clone(),
        }
    }

    /// Removes endpoints of protocols that are not in the ServerProtocolPolicy, and sorts the others by it.
    pub(super) fn order_endpoints<E>(
        &self,
        endpoints: &mut Vec<E>,
        endpoint: impl Fn(&E) -> &Endpoint,
    ) {
        let Some(schemes) = &self.schemes else {
            return;
        };
        let place = |of: &E| {
            let scheme = endpoint(of).scheme();
            schemes.iter().position(|other| other == scheme)
        };
        endpoints.retain(|of| place(of).is_some());
        endpoints.sort_by_key(place);
    }
}
