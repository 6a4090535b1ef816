//! A set of policies, and the levels at which a call looks them up.

use super::buffering::BufferingConstraint;
use super::call_contexts::{ReplyContexts, RequestContexts};
use super::factory::OtherPolicies;
use super::protocols::Protocol;
use super::task_level;
use super::untyped::{Policy, PolicyType};
use super::values::{BidirectionalPolicy, EndpointOrder, RebindMode, SyncScope};
#[cfg(feature = "csi")]
use crate::csi::Credentials;
use arc_swap::Guard;
#[cfg(not(feature = "csi"))]
use core::convert::Infallible as Credentials;
use core::time::Duration;
use std::sync::Arc;
use std::time::SystemTime;
use zorb_cdr::CharSet;
use zorb_executor::WaitPolicy;
use zorb_giop::{
    CompletionStatus, Fault, PriorityBand, RealTimeFault, ServiceContext, SystemException,
};

/// Declares [`PolicyOverrides`] and its method that merges all fields.
macro_rules! overrides {
    ($($field:ident: $type:ty,)*) => {
        /// The policies that one level sets: each of them at most once.
        ///
        /// Each method sets the policy of its name, replacing a former value. A conflict, such as a start time after
        /// the end time, is INV_POLICY when a call is made, since the two may come from different levels.
        ///
        /// Times are those of this host's [`SystemTime`]. A limit of zero has passed already: the call is TIMEOUT,
        /// COMPLETED_NO.
        ///
        /// Source: CORBA 3.3 Part 1, CORBA Messaging, for the policies of module `Messaging`.
        #[derive(Debug, Clone, Default, PartialEq)]
        #[must_use = "a set of policies does nothing until a level has it"]
        pub struct PolicyOverrides {
            $(pub(crate) $field: Option<$type>,)*
        }

        impl PolicyOverrides {
            /// Merges two sets: these policies, and those of `lower` that are not set here (`ADD_OVERRIDE`).
            pub fn over(&self, lower: &Self) -> Self {
                let mut merged = Self {
                    $($field: self.$field.clone().or_else(|| lower.$field.clone()),)*
                };
                if let (Some(own), Some(lower)) = (&self.contexts, &lower.contexts) {
                    merged.contexts = Some(own.over(lower));
                }
                if let (Some(own), Some(lower)) = (&self.others, &lower.others) {
                    merged.others = Some(own.over(lower));
                }
                merged
            }
        }
    };
}

overrides! {
    rebind: RebindMode,
    sync_scope: SyncScope,
    buffering: BufferingConstraint,
    request_start: SystemTime,
    request_end: SystemTime,
    reply_start: SystemTime,
    reply_end: SystemTime,
    request_timeout: Duration,
    round_trip_timeout: Duration,
    deadline: Duration,
    sends_end_times: bool,
    client_protocols: Arc<[Protocol]>,
    private_connection: bool,
    priority_bands: Arc<[PriorityBand]>,
    endpoint_order: EndpointOrder,
    bidirectional: BidirectionalPolicy,
    char_code_set: CharSet,
    wait: WaitPolicy,
    contexts: RequestContexts,
    replies: ReplyContexts,
    others: OtherPolicies,
    credentials: Credentials,
}

impl PolicyOverrides {
    /// Makes a set without policies, which changes nothing at any level.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes calls with these credentials, to servers that ask for some: see [`csi`](crate::csi). A policy of zorb's own.
    #[cfg(feature = "csi")]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Sends no request before this time (`RequestStartTimePolicy`): the call waits until then. The context
    /// INVOCATION_POLICIES states the time to the server.
    #[doc(alias = "RequestStartTimePolicy")]
    pub fn request_start_time(mut self, time: SystemTime) -> Self {
        self.request_start = Some(time);
        self
    }

    /// A request that has not been sent by this time is TIMEOUT, COMPLETED_NO (`RequestEndTimePolicy`), also one that
    /// is sent again after a forward. The context INVOCATION_POLICIES states the time to the server, which may discard
    /// a request that arrives later.
    #[doc(alias = "RequestEndTimePolicy")]
    pub fn request_end_time(mut self, time: SystemTime) -> Self {
        self.request_end = Some(time);
        self
    }

    /// Delivers no reply before this time (`ReplyStartTimePolicy`): a reply that arrives earlier is held.
    #[doc(alias = "ReplyStartTimePolicy")]
    pub fn reply_start_time(mut self, time: SystemTime) -> Self {
        self.reply_start = Some(time);
        self
    }

    /// A call without a reply by this time is TIMEOUT (`ReplyEndTimePolicy`).
    #[doc(alias = "ReplyEndTimePolicy")]
    pub fn reply_end_time(mut self, time: SystemTime) -> Self {
        self.reply_end = Some(time);
        self
    }

    /// A request that has not been sent this long after the call began is TIMEOUT, COMPLETED_NO
    /// (`RelativeRequestTimeoutPolicy`). The time of the server and of the reply does not count.
    #[doc(alias = "RelativeRequestTimeoutPolicy")]
    pub fn relative_request_timeout(mut self, limit: Duration) -> Self {
        self.request_timeout = Some(limit);
        self
    }

    /// A call without a reply this long after it began is TIMEOUT (`RelativeRoundtripTimeoutPolicy`): COMPLETED_MAYBE
    /// if the request was sent, else COMPLETED_NO. The time covers binding, connecting, waiting for room, forwards and
    /// requests that are sent again.
    #[doc(alias = "RelativeRoundtripTimeoutPolicy")]
    pub fn relative_round_trip_timeout(mut self, limit: Duration) -> Self {
        self.round_trip_timeout = Some(limit);
        self
    }

    /// Sets the time after which the reply of a call is useless, counted from the beginning of the call. A policy of
    /// zorb's own.
    ///
    /// Every call with a limit on its reply states the time left, in the service context
    /// [`DEADLINE`](zorb_giop::ServiceContextId::DEADLINE). This policy is for calls that state another time, or that have no
    /// limit. A zorb server refuses a request that arrives late, or whose deadline passes before its servant is called: TIMEOUT,
    /// COMPLETED_NO. Its [worker pools](zorb_executor::Dispatch::Pool) take, of the requests of one priority, the one with
    /// the earliest deadline first. The servant [sees](crate::CurrentRequest::deadline) the deadline, and its own calls have what is left of it
    /// as their limit. Other servers ignore the context.
    ///
    /// The deadline does not end the call: combine it with
    /// [`relative_round_trip_timeout`](Self::relative_round_trip_timeout) for that. Requests carry 24 octets more.
    pub fn relative_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Whether requests state the ends of relative limits, too, as JacORB does: the round-trip timeout as a reply end time,
    /// and the request timeout as a request end time, in the context INVOCATION_POLICIES. A policy of zorb's own, off unless
    /// set: the times are of this host's clock, and a server of JacORB refuses requests by them. Requests carry 60 octets
    /// more.
    pub fn send_end_times(mut self, send: bool) -> Self {
        self.sends_end_times = Some(send);
        self
    }

    /// Sets the point at which one-way calls return (`SyncScopePolicy`): [`SyncScope::WithTransport`] unless a level sets it.
    #[doc(alias = "SyncScopePolicy")]
    pub fn sync_scope(mut self, scope: SyncScope) -> Self {
        self.sync_scope = Some(scope);
        self
    }

    /// The limits within which one-way requests of [`SyncScope::None`] wait for others
    /// (`TAO::BufferingConstraintPolicy`). Unless set, a millisecond or 16 KiB.
    #[doc(alias = "BufferingConstraintPolicy")]
    pub fn buffering(mut self, constraint: BufferingConstraint) -> Self {
        self.buffering = Some(constraint);
        self
    }

    /// Sets the steps that the ORB may take to reach an object again (`RebindPolicy`). A call that needs another step is REBIND.
    #[doc(alias = "RebindPolicy")]
    pub fn rebind(mut self, mode: RebindMode) -> Self {
        self.rebind = Some(mode);
        self
    }

    /// The protocols by which the ORB may connect, in order of preference, with properties of the connections
    /// (`RTCORBA::ClientProtocolPolicy`). A call is INV_POLICY, COMPLETED_NO, if the reference has no profile for any
    /// of them, if it states a ClientProtocolPolicy of its POA, or if the transport does not have a property.
    /// Collocated calls need no protocol.
    ///
    /// At the task level, each call looks up its connection anew; the reference's own binding does not change.
    #[doc(alias = "ClientProtocolPolicy")]
    pub fn client_protocols(mut self, protocols: impl IntoIterator<Item = Protocol>) -> Self {
        self.client_protocols = Some(protocols.into_iter().collect());
        self
    }

    /// Whether a reference has a connection for itself and its clones (`RTCORBA::PrivateConnectionPolicy`), instead of
    /// sharing one with all references to the endpoint: its calls wait behind no long message of others. The connection
    /// counts towards [`max_connections_to_host`](crate::Builder::max_connections_to_host), and is closed when the last
    /// clone of the reference is dropped.
    ///
    /// At the ORB level each reference has a connection of its own. At the task level each call opens and closes one.
    #[doc(alias = "PrivateConnectionPolicy")]
    pub fn private_connection(mut self, private: bool) -> Self {
        self.private_connection = Some(private);
        self
    }

    /// The bands of priorities that share a connection to an object whose POA has a priority model
    /// (`RTCORBA::PriorityBandedConnectionPolicy`): a call uses the connection of the first band that holds its
    /// priority. A call is INV_POLICY if no band holds its priority, if the object has no priority model, or if its POA
    /// has bands of its own.
    #[doc(alias = "PriorityBandedConnectionPolicy")]
    pub fn priority_bands(mut self, bands: impl IntoIterator<Item = PriorityBand>) -> Self {
        self.priority_bands = Some(bands.into_iter().collect());
        self
    }

    /// The order in which the endpoints of a reference are tried. A policy of zorb's own.
    /// [`client_protocols`](Self::client_protocols) takes precedence: the order applies among the endpoints of one
    /// protocol.
    pub fn endpoint_order(mut self, order: EndpointOrder) -> Self {
        self.endpoint_order = Some(order);
        self
    }

    /// Whether the server may call this ORB on the connection that a call opens to it
    /// (`BiDirPolicy::BidirectionalPolicy`): see [`BidirectionalPolicy::Both`].
    #[doc(alias = "BidirectionalPolicy")]
    #[doc(alias = "offerBiDirectionalGIOP")]
    pub fn bidirectional(mut self, policy: BidirectionalPolicy) -> Self {
        self.bidirectional = Some(policy);
        self
    }

    /// The code set in which `char`s and `string`s travel: see
    /// [`ObjectRef::with_char_code_set`](crate::ObjectRef::with_char_code_set). A policy of zorb's own. At the ORB
    /// level it applies to every reference.
    pub fn char_code_set(mut self, set: CharSet) -> Self {
        self.char_code_set = Some(set);
        self
    }

    /// Whether and how long calls spin for their replies: see
    /// [`ObjectRef::with_wait_policy`](crate::ObjectRef::with_wait_policy). A policy of zorb's own.
    pub fn wait_policy(mut self, policy: WaitPolicy) -> Self {
        self.wait = Some(policy);
        self
    }

    /// Adds a service context to the requests of calls, in place of an earlier one of the same id. A policy of zorb's own.
    ///
    /// A call carries the contexts of all levels. Of contexts of one id, it carries that of the most specific level: the
    /// reference, then the task, then the ORB. The data of the OMG's contexts is an encapsulation, whose first octet is
    /// the byte order. Ids below 4096 are the OMG's; those that the ORB itself sends
    /// ([`CODE_SETS`](zorb_giop::ServiceContextId::CODE_SETS), [`BI_DIR_IIOP`](zorb_giop::ServiceContextId::BI_DIR_IIOP),
    /// the priorities of Real-time CORBA) must not be added. A servant of zorb reads them by
    /// [`CurrentRequest::service_context`](crate::CurrentRequest::service_context).
    ///
    /// One call carries a context by [`scope`](Self::scope) around its future.
    pub fn service_context(mut self, context: ServiceContext) -> Self {
        let before = self.contexts.take().unwrap_or_default();
        self.contexts = Some(before.with(context));
        self
    }

    /// Has the service contexts of replies stored: afterwards `contexts` holds those of the last reply to a call with these
    /// policies, none while a call is in progress. A policy of zorb's own.
    pub fn reply_contexts(mut self, contexts: &ReplyContexts) -> Self {
        self.replies = Some(contexts.clone());
        self
    }

    /// The policies of these types; all policies for an empty list, as in CORBA's `get_policy_overrides`.
    pub(crate) fn listed(&self, types: &[PolicyType]) -> Vec<Policy> {
        let all = self.policies();
        let wanted = |policy: &Policy| types.is_empty() || types.contains(&policy.policy_type());
        all.into_iter().filter(wanted).collect()
    }

    /// Makes a set of policies that are chosen at run time.
    ///
    /// # Errors
    /// BAD_PARAM, minor code 30, if two policies are of one type (CORBA 3.3 part 1, section 8.3.5.1); NO_PERMISSION for
    /// a policy that only servers set: PriorityModelPolicy, ThreadpoolPolicy, ServerProtocolPolicy.
    pub fn from_policies(policies: &[Policy]) -> Result<Self, SystemException> {
        let mut set = Self::new();
        for (index, policy) in policies.iter().enumerate() {
            let earlier = policies.iter().take(index);
            let same = |earlier: &Policy| earlier.policy_type() == policy.policy_type();
            if earlier.into_iter().any(same) {
                let duplicate = Fault::DuplicatePolicy(policy.policy_type().to_string());
                return Err(duplicate.raise(CompletionStatus::No));
            }
            if !policy.may_be_overridden() {
                let policy = policy.policy_type().to_string();
                let fault = Fault::RealTime(RealTimeFault::NotOverridable(policy));
                return Err(fault.raise(CompletionStatus::No));
            }
            policy.set_in(&mut set);
        }
        Ok(set)
    }

    /// Whether calls with these policies take the steps of `perform_limited`: they read a clock, add service
    /// contexts, or keep those of their replies.
    pub(crate) const fn limits_calls(&self) -> bool {
        self.request_start.is_some()
            || self.request_end.is_some()
            || self.reply_start.is_some()
            || self.reply_end.is_some()
            || self.request_timeout.is_some()
            || self.round_trip_timeout.is_some()
            || self.deadline.is_some()
            || self.contexts.is_some()
            || self.replies.is_some()
    }

    /// Whether references with these policies and references with `others` may share a binding.
    pub(crate) fn share_binding(&self, others: &Self) -> bool {
        self.client_protocols == others.client_protocols
            && self.char_code_set == others.char_code_set
            && self.rebind == others.rebind
            && self.bidirectional == others.bidirectional
            && self.private_connection == others.private_connection
            && self.priority_bands == others.priority_bands
            && self.endpoint_order == others.endpoint_order
    }

    /// Whether calls of a task with these policies need a copy of their reference.
    pub(crate) const fn need_own_reference(&self) -> bool {
        self.client_protocols.is_some()
            || self.bidirectional.is_some()
            || self.private_connection.is_some()
            || self.priority_bands.is_some()
            || self.endpoint_order.is_some()
            || self.char_code_set.is_some()
            || self.wait.is_some()
    }

    /// Runs a future with these policies (the level of CORBA's PolicyCurrent). They apply to its calls, on any thread,
    /// below the policies of the references and above those of the ORB.
    ///
    /// A nested scope inherits the policies that it does not set from the outer one. Tasks that the future spawns are
    /// outside the scope, and so are servants that its collocated calls reach.
    ///
    /// # Cancel safety
    /// That of `future`.
    #[doc(alias = "PolicyCurrent")]
    pub fn scope<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        task_level::scope(self.clone(), future)
    }

    /// Runs a closure with these policies: [`scope`](Self::scope) for programs without async, whose
    /// [calls](crate::blocking) block this thread.
    #[doc(alias = "PolicyCurrent")]
    pub fn scope_blocking<T>(&self, run: impl FnOnce() -> T) -> T {
        task_level::scope_blocking(self.clone(), run)
    }

    /// Returns a copy of the policies of the caller's scopes, merged; `None` outside of any scope.
    #[doc(alias = "PolicyCurrent")]
    #[must_use]
    pub fn current() -> Option<Self> {
        task_level::current().map(|policies| Self::clone(&policies))
    }
}

/// The policies of a call, by level.
#[derive(Debug)]
pub(crate) struct Levels<'a> {
    pub(crate) object: Option<&'a PolicyOverrides>,
    pub(crate) task: Option<Arc<PolicyOverrides>>,
    pub(crate) orb: Guard<Arc<PolicyOverrides>>,
}

impl Levels<'_> {
    /// The value of a policy at the most specific level that sets it.
    pub(crate) fn get<T>(&self, policy: impl Fn(&PolicyOverrides) -> Option<T>) -> Option<T> {
        let of_object = self.object.and_then(&policy);
        let of_task = || self.task.as_deref().and_then(&policy);
        of_object.or_else(of_task).or_else(|| policy(&self.orb))
    }

    /// The service contexts of all levels.
    pub(crate) fn contexts(&self) -> Option<RequestContexts> {
        let levels = [self.object, self.task.as_deref(), Some(&**self.orb)];
        let contexts = levels.into_iter().flatten();
        contexts.fold(None, |above: Option<RequestContexts>, level| {
            match (above, &level.contexts) {
                (Some(above), Some(own)) => Some(above.over(own)),
                (above, own) => above.or_else(|| own.clone()),
            }
        })
    }

    /// All policies, each from the most specific level that sets it.
    pub(crate) fn effective(&self) -> PolicyOverrides {
        let below = match &self.task {
            Some(task) => task.over(&self.orb),
            None => PolicyOverrides::clone(&self.orb),
        };
        match self.object {
            Some(object) => object.over(&below),
            None => below,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_level_decides() {
        let with = |seconds| {
            PolicyOverrides::new().relative_round_trip_timeout(Duration::from_secs(seconds))
        };
        let (object, task, orb) = (with(1), with(2), with(3).sync_scope(SyncScope::None));
        let limit = |object, task: Option<&PolicyOverrides>| {
            let levels = Levels {
                object,
                task: task.map(|task| Arc::new(task.clone())),
                orb: Guard::from_inner(Arc::new(orb.clone())),
            };
            let limit = levels.get(|policies| policies.round_trip_timeout);
            assert_eq!(levels.effective().round_trip_timeout, limit);
            assert_eq!(levels.effective().sync_scope, Some(SyncScope::None));
            limit.map(|limit| limit.as_secs())
        };
        assert_eq!(limit(None, None), Some(3));
        assert_eq!(limit(None, Some(&task)), Some(2));
        assert_eq!(limit(Some(&object), Some(&task)), Some(1));
        assert_eq!(limit(Some(&PolicyOverrides::new()), Some(&task)), Some(2));
    }

    #[test]
    fn two_policies_of_one_type_are_refused() {
        let rebind = Policy::Rebind(RebindMode::NoRebind);
        let scope = Policy::SyncScope(SyncScope::None);
        let set = PolicyOverrides::from_policies(&[rebind.clone(), scope.clone()]).unwrap();
        assert_eq!(set.policies(), [rebind.clone(), scope]);
        assert_eq!(set.listed(&[PolicyType::REBIND]).len(), 1);
        let twice = PolicyOverrides::from_policies(&[rebind.clone(), rebind]).unwrap_err();
        assert_eq!(twice.minor, zorb_giop::minor::DUPLICATE_POLICY);
    }
}
