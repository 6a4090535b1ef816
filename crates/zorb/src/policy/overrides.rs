//! A set of policies, and the levels at which a call looks them up.

use super::buffering::BufferingConstraint;
use super::current;
use super::protocols::Protocol;
use super::untyped::{Policy, PolicyType};
use super::values::{BidirectionalPolicy, EndpointOrder, RebindMode, SyncScope};
use arc_swap::Guard;
use core::time::Duration;
use std::sync::Arc;
use std::time::SystemTime;
use zorb_cdr::CharSet;
use zorb_executor::WaitPolicy;
use zorb_giop::{CompletionStatus, Fault, PriorityBand, RealTimeFault, SystemException};

/// Declares [`PolicyOverrides`] with what goes over all of its policies.
macro_rules! overrides {
    ($($field:ident: $type:ty,)*) => {
        /// Policies that one level sets: each of them once, or not at all.
        ///
        /// The methods set the policy of that name, in place of the value that it had. A contradiction, such as a start
        /// time behind the end time, is INV_POLICY when a call is made, since the two may come from different levels.
        ///
        /// Times are this host's: [`SystemTime`]. A limit of zero has passed already: it is TIMEOUT, COMPLETED_NO.
        #[derive(Debug, Clone, Default, PartialEq)]
        #[must_use = "a set of policies does nothing until a level has it"]
        pub struct PolicyOverrides {
            $(pub(crate) $field: Option<$type>,)*
        }

        impl PolicyOverrides {
            /// These policies, and those of `lower` that are not set here (`ADD_OVERRIDE`).
            pub fn over(&self, lower: &Self) -> Self {
                Self {
                    $($field: self.$field.clone().or_else(|| lower.$field.clone()),)*
                }
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
    client_protocols: Arc<[Protocol]>,
    private_connection: bool,
    priority_bands: Arc<[PriorityBand]>,
    endpoint_order: EndpointOrder,
    bidirectional: BidirectionalPolicy,
    char_code_set: CharSet,
    wait: WaitPolicy,
}

impl PolicyOverrides {
    /// No policies.
    pub fn new() -> Self {
        Self::default()
    }

    /// No request is sent before this time (`RequestStartTimePolicy`). The call waits for it, and the server learns of
    /// it by the context INVOCATION_POLICIES.
    #[doc(alias = "RequestStartTimePolicy")]
    pub fn request_start_time(mut self, time: SystemTime) -> Self {
        self.request_start = Some(time);
        self
    }

    /// A request that is not on its way by this time is TIMEOUT, COMPLETED_NO (`RequestEndTimePolicy`), also if a
    /// forward has it sent again. The server learns of it by the context INVOCATION_POLICIES, and may discard the
    /// request when it comes later.
    #[doc(alias = "RequestEndTimePolicy")]
    pub fn request_end_time(mut self, time: SystemTime) -> Self {
        self.request_end = Some(time);
        self
    }

    /// No reply is delivered before this time (`ReplyStartTimePolicy`): one that comes earlier is held.
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

    /// A request that is not on its way this long after the call began is TIMEOUT, COMPLETED_NO
    /// (`RelativeRequestTimeoutPolicy`). The time of the server and of the reply does not count.
    #[doc(alias = "RelativeRequestTimeoutPolicy")]
    pub fn relative_request_timeout(mut self, limit: Duration) -> Self {
        self.request_timeout = Some(limit);
        self
    }

    /// A call without a reply this long after it began is TIMEOUT (`RelativeRoundtripTimeoutPolicy`): COMPLETED_MAYBE if
    /// the request was on its way, else COMPLETED_NO. Binding, connecting, waiting for room, forwards and requests that
    /// are sent again all count.
    #[doc(alias = "RelativeRoundtripTimeoutPolicy")]
    pub fn relative_round_trip_timeout(mut self, limit: Duration) -> Self {
        self.round_trip_timeout = Some(limit);
        self
    }

    /// The reply of a call is of no use this long after the call began. A policy of zorb's own.
    ///
    /// The server learns the time that is left from the service context
    /// [`DEADLINE`](zorb_giop::ServiceContextId::DEADLINE), when the request is sent. One that serves requests by the
    /// threads of a [pool](zorb_executor::Dispatch::Pool) takes, of the requests of one priority, that with the earliest
    /// deadline first. It answers a request whose deadline passes in the queue with TIMEOUT, COMPLETED_NO, and calls no
    /// servant. Other servers ignore the context.
    ///
    /// The deadline does not end the call: combine it with
    /// [`relative_round_trip_timeout`](Self::relative_round_trip_timeout) for that. Requests carry 24 octets more.
    pub fn relative_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// When one-way calls are done (`SyncScopePolicy`).
    #[doc(alias = "SyncScopePolicy")]
    pub fn sync_scope(mut self, scope: SyncScope) -> Self {
        self.sync_scope = Some(scope);
        self
    }

    /// How long one-way requests of [`SyncScope::None`] wait for others (`TAO::BufferingConstraintPolicy`). Unless set, a
    /// millisecond or 16 KiB.
    #[doc(alias = "BufferingConstraintPolicy")]
    pub fn buffering(mut self, constraint: BufferingConstraint) -> Self {
        self.buffering = Some(constraint);
        self
    }

    /// The steps that the ORB may take to reach an object again (`RebindPolicy`).
    #[doc(alias = "RebindPolicy")]
    pub fn rebind(mut self, mode: RebindMode) -> Self {
        self.rebind = Some(mode);
        self
    }

    /// The protocols that connections may be made by, the first one first, and properties of these connections
    /// (`RTCORBA::ClientProtocolPolicy`). INV_POLICY, COMPLETED_NO, are a reference without a profile for any of them, one
    /// that states a ClientProtocolPolicy of its POA's, and a property that the transport does not have. Objects of the
    /// same ORB need no protocol.
    ///
    /// At the task level, each call looks its connection up anew: the reference's own binding is left as it is.
    #[doc(alias = "ClientProtocolPolicy")]
    pub fn client_protocols(mut self, protocols: impl IntoIterator<Item = Protocol>) -> Self {
        self.client_protocols = Some(protocols.into_iter().collect());
        self
    }

    /// Whether a reference has a connection for itself and its clones (`RTCORBA::PrivateConnectionPolicy`), instead of
    /// sharing one with all references to the endpoint: its calls wait behind no long message of others. The connection
    /// counts among those that [there may be](crate::Builder::max_connections_to_host), and is closed when the last
    /// clone of the reference is dropped.
    ///
    /// At the ORB level each reference has its own. At the task level each call opens one, and closes it.
    #[doc(alias = "PrivateConnectionPolicy")]
    pub fn private_connection(mut self, private: bool) -> Self {
        self.private_connection = Some(private);
        self
    }

    /// Which priorities share a connection to an object whose POA has a priority model
    /// (`RTCORBA::PriorityBandedConnectionPolicy`): a call takes the connection of the first band that its priority lies in. INV_POLICY if it lies in
    /// none, if the object has no priority model, and if its POA has bands of its own.
    #[doc(alias = "PriorityBandedConnectionPolicy")]
    pub fn priority_bands(mut self, bands: impl IntoIterator<Item = PriorityBand>) -> Self {
        self.priority_bands = Some(bands.into_iter().collect());
        self
    }

    /// Which of the endpoints of a reference are tried first. A policy of zorb's own.
    /// [`client_protocols`](Self::client_protocols) comes before it: the order is that among the endpoints of one protocol.
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

    /// The code set that `char`s and `string`s travel in: see
    /// [`ObjectRef::with_char_code_set`](crate::ObjectRef::with_char_code_set). A policy of zorb's own. At the ORB level
    /// it holds for every reference.
    pub fn char_code_set(mut self, set: CharSet) -> Self {
        self.char_code_set = Some(set);
        self
    }

    /// How calls wait for their replies: see [`ObjectRef::with_wait_policy`](crate::ObjectRef::with_wait_policy). A policy
    /// of zorb's own.
    pub fn wait_policy(mut self, policy: WaitPolicy) -> Self {
        self.wait = Some(policy);
        self
    }

    /// Returns the policies without those of these types; all of them for an empty list, as CORBA has it for
    /// `get_policy_overrides`.
    pub(crate) fn listed(&self, types: &[PolicyType]) -> Vec<Policy> {
        let all = self.policies();
        let wanted = |policy: &Policy| types.is_empty() || types.contains(&policy.policy_type());
        all.into_iter().filter(wanted).collect()
    }

    /// Puts a set together from policies that are known while the program runs only.
    ///
    /// # Errors
    /// BAD_PARAM, minor code 30, if two policies are of one type (CORBA 3.3 part 1, section 8.3.5.1); NO_PERMISSION for a
    /// policy that is the server's to set: PriorityModelPolicy, ThreadpoolPolicy, ServerProtocolPolicy.
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

    /// Whether calls have to look at a clock for these.
    pub(crate) const fn has_times(&self) -> bool {
        self.request_start.is_some()
            || self.request_end.is_some()
            || self.reply_start.is_some()
            || self.reply_end.is_some()
            || self.request_timeout.is_some()
            || self.round_trip_timeout.is_some()
            || self.deadline.is_some()
    }

    /// Whether references with these policies may share a binding with those that have the others.
    pub(crate) fn share_binding(&self, others: &Self) -> bool {
        self.client_protocols == others.client_protocols
            && self.char_code_set == others.char_code_set
            && self.rebind == others.rebind
            && self.bidirectional == others.bidirectional
            && self.private_connection == others.private_connection
            && self.priority_bands == others.priority_bands
            && self.endpoint_order == others.endpoint_order
    }

    /// Whether a task with these policies needs references of its own.
    pub(crate) const fn need_own_reference(&self) -> bool {
        self.client_protocols.is_some()
            || self.bidirectional.is_some()
            || self.private_connection.is_some()
            || self.priority_bands.is_some()
            || self.endpoint_order.is_some()
            || self.char_code_set.is_some()
            || self.wait.is_some()
    }

    /// Runs a future under these policies (the level of CORBA's PolicyCurrent): they are those of its calls, wherever it
    /// goes on after an `await`, under those of their references and over those of their ORB.
    ///
    /// In a scope within another one, policies that the inner one does not set are those of the outer one. Tasks that
    /// the future spawns are outside, and so are servants that its collocated calls reach.
    ///
    /// # Cancel safety
    /// That of the future.
    #[doc(alias = "PolicyCurrent")]
    pub fn scope<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        current::scope(self.clone(), future)
    }

    /// Runs a closure under these policies: [`scope`](Self::scope) for programs without async, whose
    /// [calls](crate::blocking) block this thread.
    #[doc(alias = "PolicyCurrent")]
    pub fn scope_blocking<T>(&self, run: impl FnOnce() -> T) -> T {
        current::scope_blocking(self.clone(), run)
    }

    /// The policies of the scopes that the caller is in; `None` outside of all.
    #[doc(alias = "PolicyCurrent")]
    #[must_use]
    pub fn current() -> Option<Self> {
        current::current().map(|policies| Self::clone(&policies))
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
    /// A policy as the most specific level has it.
    pub(crate) fn get<T>(&self, policy: impl Fn(&PolicyOverrides) -> Option<T>) -> Option<T> {
        let of_object = self.object.and_then(&policy);
        let of_task = || self.task.as_deref().and_then(&policy);
        of_object.or_else(of_task).or_else(|| policy(&self.orb))
    }

    /// All policies as the most specific levels have them.
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
