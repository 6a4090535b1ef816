//! The policies of the calls through a reference.

use super::{Binding, BindingGuard, Inner, ObjectRef, Target};
use crate::connect::Sharing;
use crate::orb::Orb;
use crate::policy::{
    BidirectionalPolicy, EndpointOrder, Levels, Policy, PolicyOverrides, PolicyType, Protocol,
    RebindMode, SetOverrideType, SyncScope, conflict, exposed, task_level,
};
use crate::profile::Candidate;
use core::hash::BuildHasher;
use core::sync::atomic::Ordering;
use core::time::Duration;
use std::hash::RandomState;
use std::sync::Arc;
use zorb_cdr::CharSet;
use zorb_executor::WaitPolicy;
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException, SystemExceptionKind};
use zorb_poa::ServerRequest;

impl ObjectRef {
    /// Returns the reference with these policies for its calls, over those that it has already
    /// ([`policy`](crate::policy)). They are not marshalled with the reference.
    ///
    /// Its calls keep their order among themselves and with those through the original reference, as long as both use
    /// one connection. A reference with another RebindPolicy, ClientProtocolPolicy or code set has a binding of its
    /// own. Costs some allocations.
    ///
    /// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::Object`, `set_policy_overrides`).
    #[must_use]
    #[doc(alias = "_set_policy_overrides")]
    pub fn with_policies(&self, policies: &PolicyOverrides) -> Self {
        let policies = match &self.0.overrides {
            Some(overrides) => policies.over(overrides),
            None => policies.clone(),
        };
        self.with_overrides(policies)
    }

    /// Returns the reference with policies that are chosen at run time, in place of its own or over them.
    ///
    /// # Errors
    /// Returns the errors of [`PolicyOverrides::from_policies`]: BAD_PARAM, minor code 30, if two policies are of one
    /// type, and NO_PERMISSION for a policy that clients cannot override.
    #[doc(alias = "_set_policy_overrides")]
    pub fn set_policy_overrides(
        &self,
        policies: &[Policy],
        how: SetOverrideType,
    ) -> Result<Self, SystemException> {
        let policies = PolicyOverrides::from_policies(policies)?;
        Ok(match how {
            SetOverrideType::AddOverride => self.with_policies(&policies),
            SetOverrideType::SetOverride => self.with_overrides(policies),
        })
    }

    /// The policies of these types that are set for the reference itself; all of its policies for an empty list.
    #[must_use]
    #[doc(alias = "_get_policy_overrides")]
    pub fn policy_overrides(&self, types: &[PolicyType]) -> Vec<Policy> {
        let overrides = self.0.overrides.as_ref();
        overrides.map_or_else(Vec::new, |overrides| overrides.listed(types))
    }

    /// The effective policy of this type for a call from the current task: that of the most specific level that sets
    /// it. `None` if no level does.
    #[must_use]
    #[doc(alias = "_get_policy")]
    #[doc(alias = "_get_client_policy")]
    pub fn policy(&self, policy_type: PolicyType) -> Option<Policy> {
        self.levels().effective().listed(&[policy_type]).pop()
    }

    /// Connects to the object now and follows its forwards, whatever the RebindPolicy, so that later calls need do
    /// neither. Returns the types of the policies that the reference cannot meet: calls with them are INV_POLICY. Costs
    /// a LocateRequest and its reply.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if the server does not have the object, and the exceptions of connecting to it.
    ///
    /// # Cancel safety
    /// Safe: the call has no effect on the object.
    #[doc(alias = "_validate_connection")]
    pub async fn validate_connection(&self) -> Result<Vec<PolicyType>, SystemException> {
        let transparent = PolicyOverrides::new().rebind(RebindMode::Transparent);
        let overrides = match &self.0.overrides {
            Some(overrides) => transparent.over(overrides),
            None => transparent,
        };
        // The copy shares the binding of this reference, so locating it binds both.
        let permitted = self.with(|inner| inner.overrides = Some(Arc::new(overrides)));
        match permitted.locate().await {
            Ok(true) => Ok(Vec::new()),
            Ok(false) => Err(Fault::NoObject.raise(CompletionStatus::No)),
            Err(error) if error.kind == SystemExceptionKind::InvPolicy => {
                // Either time policies conflict, or priorities or protocols leave no endpoint of the reference.
                let times = conflict(&self.levels()).map(Vec::from);
                Ok(times.unwrap_or_else(|| vec![self.inconsistent_policy()]))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the reference with a time limit: its calls fail with TIMEOUT if no reply has arrived after `limit`.
    /// TIMEOUT is COMPLETED_NO if nothing was sent, COMPLETED_YES if the reply is here and takes longer to decode, else
    /// COMPLETED_MAYBE.
    #[must_use]
    #[doc(alias = "RelativeRoundtripTimeoutPolicy")]
    pub fn with_round_trip_timeout(&self, limit: Duration) -> Self {
        self.with_policies(&PolicyOverrides::new().relative_round_trip_timeout(limit))
    }

    /// Returns the reference with a code set: its `char`s and `string`s travel in `set`, whatever its server's native
    /// set and [the ORB's](crate::Builder::native_char_code_set).
    ///
    /// If the server states the set, it is negotiated, and the calls use a connection of their own. Otherwise nothing
    /// is negotiated: text travels in `set`, and wide text cannot travel. That is for servers that are found by
    /// `corbaloc`, which states no code sets, and use UTF-8 (JacORB's, often), whose text would be misread otherwise.
    /// It is also for servers that state UTF-8 alone and send ISO 8859-1.
    #[must_use]
    pub fn with_char_code_set(&self, set: CharSet) -> Self {
        self.with_policies(&PolicyOverrides::new().char_code_set(set))
    }

    /// Returns the reference with a wait policy of its own, in place of the ORB's. Spinning pays for a server that
    /// replies within microseconds, and not for a slow one. [`WaitPolicy`] states the cost of each.
    #[must_use]
    pub fn with_wait_policy(&self, policy: WaitPolicy) -> Self {
        self.with_policies(&PolicyOverrides::new().wait_policy(policy))
    }

    /// Returns the reference with a SyncScope for its one-way calls, instead of the ORB's.
    ///
    /// Its calls keep their order among themselves and with those through the original reference, as long as both use
    /// one connection.
    #[must_use]
    #[doc(alias = "SyncScopePolicy")]
    pub fn with_sync_scope(&self, scope: SyncScope) -> Self {
        self.with_policies(&PolicyOverrides::new().sync_scope(scope))
    }

    fn with_overrides(&self, policies: PolicyOverrides) -> Self {
        let orb = self.0.orb.inner().policies();
        self.with(|inner| {
            inner.is_limited = policies.limits_calls() || orb.limits_calls();
            inner.char_code_set = policies.char_code_set.or(orb.char_code_set);
            inner.wait = policies.wait.or(orb.wait);
            inner.scope = policies.sync_scope;
            let before = inner.overrides.take().unwrap_or_default();
            if !policies.share_binding(&before) {
                inner.binding = Arc::default();
            }
            inner.overrides = Some(Arc::new(policies));
        })
    }

    /// The reference with the policies of a task below its own, for a call of that task.
    #[cold]
    pub(crate) fn in_task(&self, task: &PolicyOverrides) -> Self {
        let policies = match &self.0.overrides {
            Some(overrides) => overrides.over(task),
            None => task.clone(),
        };
        self.with_overrides(policies)
    }

    /// Whether calls have to check time limits, or policies of a task.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        // `|` instead of `||`: a call without limits and policies takes one branch for the four.
        self.0.is_limited
            | task_level::is_set()
            | self.0.orb.inner().is_limited()
            | ServerRequest::has_current_deadline()
    }

    /// The policies of a call from the current task, by level.
    pub(crate) fn levels(&self) -> Levels<'_> {
        Levels {
            object: self.0.overrides.as_deref(),
            task: task_level::current(),
            orb: self.0.orb.inner().policies(),
        }
    }

    pub(crate) fn sync_scope(&self) -> SyncScope {
        match self.0.scope {
            Some(scope) => scope,
            None => (self.levels().get(|policies| policies.sync_scope)).unwrap_or_default(),
        }
    }

    /// Whether the reference belongs to `orb` and has no policies of its own, so that it equals one that `orb` makes
    /// from its IOR.
    pub(crate) fn is_plain_in(&self, orb: &Orb) -> bool {
        let Inner { orb: own, .. } = &*self.0;
        Arc::ptr_eq(own.inner(), orb.inner()) && self.0.overrides.is_none()
    }

    /// A reference of `orb` with the same IOR, without policies of its own.
    pub(crate) fn plain_in(&self, orb: &Orb) -> Self {
        Self::named_by(orb.clone(), self.0.ior.clone(), self.0.named_by)
    }

    /// The references with which this one shares a connection to an endpoint.
    pub(super) fn sharing(&self) -> Sharing {
        let number = self.0.binding.number();
        match self.levels().get(|policies| policies.private_connection) {
            Some(true) => {
                self.0.binding.keep_private();
                Sharing::Private(number)
            }
            _ => Sharing::Spread(number),
        }
    }

    fn endpoint_order(&self) -> EndpointOrder {
        (self.levels().get(|policies| policies.endpoint_order)).unwrap_or_default()
    }

    /// Sorts the candidates by the [`EndpointOrder`] of the reference.
    pub(super) fn order_endpoints(&self, candidates: &mut [Candidate]) {
        match self.endpoint_order() {
            EndpointOrder::OfReference => {}
            EndpointOrder::Random => {
                // Each `RandomState` has another seed, so the order differs for each binding.
                let chance = RandomState::new();
                candidates.sort_by_cached_key(|candidate| {
                    chance.hash_one((&candidate.endpoint, &candidate.key))
                });
            }
            EndpointOrder::LeastLatency => {
                let times = self.0.orb.inner().connect_times();
                // An endpoint without a measurement sorts first, so that it gets one.
                candidates.sort_by_cached_key(|candidate| times.get(&candidate.endpoint));
            }
        }
    }

    /// The time of the last connect to this endpoint, if it was recent.
    pub(super) fn connect_time(&self, candidate: &Candidate) -> Option<Duration> {
        self.0.orb.inner().connect_times().get(&candidate.endpoint)
    }

    /// Whether the order is by latency and an endpoint has no recent measurement.
    pub(super) fn are_to_be_measured(&self, candidates: &[Candidate]) -> bool {
        candidates.len() > 1
            && self.endpoint_order() == EndpointOrder::LeastLatency
            && candidates
                .iter()
                .any(|candidate| self.connect_time(candidate).is_none())
    }

    pub(super) fn bidirectional(&self) -> Option<BidirectionalPolicy> {
        self.levels().get(|policies| policies.bidirectional)
    }

    fn rebind_mode(&self) -> RebindMode {
        (self.levels().get(|policies| policies.rebind)).unwrap_or_default()
    }

    /// The binding of a reference that may not be bound again, if its connection is open: also where its peer is silent, so that
    /// another connection would be better.
    pub(super) fn kept_under_no_reconnect(&self) -> Option<BindingGuard> {
        if self.rebind_mode() != RebindMode::NoReconnect {
            return None;
        }
        let runtime = self.runtime().id();
        let bound = self.0.binding.current.load();
        let is_open = (bound.as_ref()).is_some_and(|bound| bound.is_open_for(runtime));
        is_open.then(|| BindingGuard(bound))
    }

    /// Checks that the RebindPolicy permits a new binding in place of a former one.
    ///
    /// # Errors
    /// REBIND if a connection would be opened again under NO_RECONNECT.
    pub(crate) fn check_reconnect(&self) -> Result<(), SystemException> {
        if !self.0.binding.established.load(Ordering::Relaxed)
            || self.rebind_mode() != RebindMode::NoReconnect
        {
            return Ok(());
        }
        // An open connection may serve callers of another runtime: then this binding is no reconnect.
        let current = self.0.binding.current.load();
        let is_open = |binding: &Arc<Binding>| match &binding.target {
            Target::Local => true,
            Target::Remote(remote) => !remote.connection.is_over(),
        };
        match current.as_ref().is_some_and(is_open) {
            true => Ok(()),
            false => {
                Err(Fault::Rebind("the connection would be opened again")
                    .raise(CompletionStatus::No))
            }
        }
    }

    /// Checks that the RebindPolicy permits a forward.
    ///
    /// # Errors
    /// REBIND under NO_RECONNECT, and under NO_REBIND if the forward changes the policies in the reference.
    pub(super) fn check_forward(&self, to: &Ior, from: &Binding) -> Result<(), SystemException> {
        let forbidden = match self.rebind_mode() {
            RebindMode::Transparent => false,
            RebindMode::NoRebind => exposed(to) != exposed(&from.reference),
            RebindMode::NoReconnect => true,
        };
        match forbidden {
            false => Ok(()),
            true => Err(Fault::Rebind("a forward would be followed").raise(CompletionStatus::No)),
        }
    }

    /// Selects and sorts the candidates by the ClientProtocolPolicy of the client or of the reference, if there is one. Without
    /// one, addresses without protection are left out where the same profile has one with protection.
    ///
    /// # Errors
    /// INV_POLICY if no candidate has one of its protocols, if client and reference both have the policy, and for
    /// properties that the client's transport does not have.
    pub(super) fn select_protocols(
        &self,
        candidates: &mut Vec<Candidate>,
    ) -> Result<(), SystemException> {
        let conflict = |why: String| Err(Fault::PolicyConflict(why).raise(CompletionStatus::No));
        let own = (self.levels()).get(|policies| policies.client_protocols.clone());
        let stated = candidates
            .iter()
            .find_map(|candidate| candidate.real_time.as_ref()?.protocols());
        let protocols = match (own, stated) {
            (None, None) => {
                // Never without protection by itself where there is a choice.
                candidates.retain(|candidate| !candidate.beside_protected);
                return Ok(());
            }
            (Some(_), Some(_)) => {
                return conflict("both client and server have a ClientProtocolPolicy".to_owned());
            }
            (Some(own), None) => {
                if let Some(unknown) = (own.iter()).find(|own| {
                    self.transports().get(own.scheme()).is_some()
                        && !own.is_known(self.transports())
                }) {
                    return conflict(format!("{unknown} has not all properties of the policy"));
                }
                own
            }
            (None, Some(stated)) => {
                let known = stated.iter();
                let known =
                    known.filter_map(|stated| Protocol::from_stated(stated, self.transports()));
                known.collect()
            }
        };
        let place = |candidate: &Candidate| {
            let scheme = candidate.endpoint.scheme();
            protocols
                .iter()
                .position(|protocol| protocol.scheme() == scheme)
        };
        candidates.retain(|candidate| place(candidate).is_some());
        // A stable sort: the endpoints of a protocol keep their order.
        candidates.sort_by_key(place);
        if candidates.is_empty() {
            let names: Vec<&str> = protocols.iter().map(|protocol| protocol.scheme()).collect();
            return conflict(format!(
                "the reference has no endpoint of the ClientProtocolPolicy ({})",
                names.join(", ")
            ));
        }
        for candidate in candidates.iter_mut() {
            let protocol = place(candidate).and_then(|at| protocols.get(at));
            candidate.properties = protocol.map_or_else(Vec::new, Protocol::to_properties);
        }
        Ok(())
    }
}
