//! Policies of an adapter.
//!
//! The policies of CORBA 3.3 Part 1 §15.3.9 (Policy Objects) are enumerations whose defaults are those of `create_POA`.
//! [`Policies::validate`] checks their combinations.

/// The lifetime of references.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::LifespanPolicyValue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "LifespanPolicy")]
#[doc(alias = "LifespanPolicyValue")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum Lifespan {
    /// TRANSIENT: references end with their adapter. Afterwards they are OBJECT_NOT_EXIST, even if an adapter of the
    /// same name is created again.
    #[default]
    #[doc(alias = "TRANSIENT")]
    Transient,
    /// PERSISTENT: references outlive the process. They work again when a server with the same id and the same
    /// endpoints creates an adapter of the same path and activates an object of the same id.
    #[doc(alias = "PERSISTENT")]
    Persistent,
}

/// The assignment of object ids: by the user or the system.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::IdAssignmentPolicyValue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "IdAssignmentPolicy")]
#[doc(alias = "IdAssignmentPolicyValue")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum IdAssignment {
    /// SYSTEM_ID: the adapter assigns ids.
    #[default]
    #[doc(alias = "SYSTEM_ID")]
    System,
    /// USER_ID: the application assigns ids, which may be any octets.
    #[doc(alias = "USER_ID")]
    User,
}

/// The order in which one-way requests of a connection begin. A policy of zorb's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OneWayOrder {
    /// On arrival, after the earlier ones have begun. Requests whose servants await may end in another order.
    #[default]
    Started,
    /// When the earlier one-way requests of the connection to adapters of this policy have ended. Requests with a reply
    /// do not wait for them, so that a one-way request may await a request that comes on its own connection.
    Ended,
}

/// What becomes of an upcall that waits when nobody waits for its result any more: its client has cancelled the request, the
/// connection has ended, or the deadline of the request has passed. A policy of zorb's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CancelledUpcalls {
    /// It goes on, and its result is dropped. A servant may find out, and end early.
    #[default]
    GoOn,
    /// It is dropped at its current await, as Rust futures are cancelled: what the servant has begun stays half done unless it
    /// cleans up by `Drop`. Upcalls that block their thread cannot be dropped. One-way requests go on in any case.
    Dropped,
}

/// Whether clients can guess the keys of objects. A policy of zorb's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum KeyProtection {
    /// Keys can be guessed: a key identifies its object, and protects nothing. A client that knows the key of one
    /// object may construct those of others.
    #[default]
    None,
    /// Keys have a code that only the server can make ([`KeySecret`](crate::KeySecret)), and are 20 octets longer. A
    /// key with a wrong code, or without one, is OBJECT_NOT_EXIST, whether its object exists or not. A client may pass
    /// its key on: the key is a capability.
    Authenticated,
}

/// The number of object ids that one servant may stand for at a time.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::IdUniquenessPolicyValue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "IdUniquenessPolicy")]
#[doc(alias = "IdUniquenessPolicyValue")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum IdUniqueness {
    /// UNIQUE_ID: activating a servant that is active in this adapter fails with `ServantAlreadyActive`.
    #[default]
    #[doc(alias = "UNIQUE_ID")]
    Unique,
    /// MULTIPLE_ID: a servant may stand for any number of objects.
    #[doc(alias = "MULTIPLE_ID")]
    Multiple,
}

/// Whether an adapter keeps active objects in a table, its active object map.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::ServantRetentionPolicyValue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "ServantRetentionPolicy")]
#[doc(alias = "ServantRetentionPolicyValue")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum ServantRetention {
    /// RETAIN: the adapter has an active object map.
    #[default]
    #[doc(alias = "RETAIN")]
    Retain,
    /// NON_RETAIN: each request finds its servant through a default servant or a servant locator.
    #[doc(alias = "NON_RETAIN")]
    NonRetain,
}

/// The processing of a request whose object is not in the active object map.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::RequestProcessingPolicyValue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "RequestProcessingPolicy")]
#[doc(alias = "RequestProcessingPolicyValue")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum RequestProcessing {
    /// USE_ACTIVE_OBJECT_MAP_ONLY: the request is OBJECT_NOT_EXIST.
    #[default]
    #[doc(alias = "USE_ACTIVE_OBJECT_MAP_ONLY")]
    ActiveObjectMapOnly,
    /// USE_DEFAULT_SERVANT: the default servant serves the request; OBJ_ADAPTER if none has been set.
    #[doc(alias = "USE_DEFAULT_SERVANT")]
    DefaultServant,
    /// USE_SERVANT_MANAGER: the servant manager finds a servant for the request. It is a servant activator with
    /// [`ServantRetention::Retain`], else a servant locator. OBJ_ADAPTER if none has been set.
    #[doc(alias = "USE_SERVANT_MANAGER")]
    ServantManager,
}

/// Whether a servant becomes active when its id or reference is requested (`servant_to_id`, `servant_to_reference`).
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::ImplicitActivationPolicyValue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "ImplicitActivationPolicy")]
#[doc(alias = "ImplicitActivationPolicyValue")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum ImplicitActivation {
    /// NO_IMPLICIT_ACTIVATION: servants are activated explicitly.
    #[default]
    #[doc(alias = "NO_IMPLICIT_ACTIVATION")]
    No,
    /// IMPLICIT_ACTIVATION: the servant becomes active under a new id.
    #[doc(alias = "IMPLICIT_ACTIVATION")]
    Implicit,
}

/// Whether upcalls of an adapter may run at the same time.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::ThreadPolicyValue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "ThreadPolicy")]
#[doc(alias = "ThreadPolicyValue")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum ThreadModel {
    /// ORB_CTRL_MODEL: upcalls of all requests may run at the same time, even those on one servant.
    #[default]
    #[doc(alias = "ORB_CTRL_MODEL")]
    OrbControlled,
    /// SINGLE_THREAD_MODEL: upcalls of servants and servant managers take turns, in the order of their requests. An
    /// upcall keeps its turn while it awaits. Collocated calls that it makes to objects of the adapter share its turn.
    ///
    /// The specification permits recursive calls by the same thread, and does not mention calls that come back through
    /// another process. Such a call arrives on a connection, which does not identify the upcall that caused it. It
    /// waits for the turn of that upcall, which waits for the call, until a timeout (`RelativeRoundtripTimeout`) ends
    /// one of them.
    #[doc(alias = "SINGLE_THREAD_MODEL")]
    SingleThread,
    /// MAIN_THREAD_MODEL: the upcalls of all adapters of the ORB with this policy take turns, as the upcalls of one
    /// adapter do with [`SingleThread`](Self::SingleThread), in the thread that performs the work of the ORB, if the application
    /// has such a thread: see `zorb::Builder::main_loop`.
    ///
    /// DIFFERENCE: the specification has such a thread always. Without it, the upcalls exclude each other here, and run on any
    /// thread of the runtime.
    #[doc(alias = "MAIN_THREAD_MODEL")]
    MainThread,
}

/// The policies of an adapter. The default is that of `create_POA`; the root POA has [`Policies::ROOT`].
///
/// ```
/// # extern crate zorb_poa as zorb;
/// use zorb::{IdAssignment, Lifespan, Policies};
///
/// let policies = Policies::default()
///     .with_lifespan(Lifespan::Persistent)
///     .with_id_assignment(IdAssignment::User);
/// assert_eq!(policies, Policies::PERSISTENT);
/// assert!(policies.validate().is_ok());
/// ```
///
/// A list of single policies, as for `create_POA`, is converted by `TryFrom`:
///
/// ```
/// # extern crate zorb_poa as zorb;
/// use zorb::{IdUniqueness, Policies, PoaPolicy, PoaPolicyType, RequestProcessing, ServantRetention};
///
/// let list = [
///     PoaPolicy::ServantRetention(ServantRetention::NonRetain),
///     PoaPolicy::RequestProcessing(RequestProcessing::DefaultServant),
/// ];
/// let error = Policies::try_from(&list[..]).unwrap_err();
/// assert_eq!((error.index, error.policy), (1, PoaPolicyType::RequestProcessing));
/// let list = [list[0], list[1], PoaPolicy::IdUniqueness(IdUniqueness::Multiple)];
/// assert!(Policies::try_from(&list[..]).is_ok());
/// ```
///
/// The combination is checked when the adapter is created. Source: CORBA 3.3 Part 1 §15.3.8.3 (create_POA).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[doc(alias = "PolicyList")]
pub struct Policies {
    /// Whether upcalls may run at the same time.
    pub thread: ThreadModel,
    /// Whether references outlive the run of the server that made them.
    pub lifespan: Lifespan,
    /// The number of ids that one servant may stand for.
    pub id_uniqueness: IdUniqueness,
    /// The assignment of object ids: by the user or the system.
    pub id_assignment: IdAssignment,
    /// Whether a servant becomes active when its id or reference is requested.
    pub implicit_activation: ImplicitActivation,
    /// Whether the adapter keeps active objects in a map (RETAIN) or finds a servant for each request (NON_RETAIN).
    pub servant_retention: ServantRetention,
    /// The processing of requests for objects that are not in the active object map.
    pub request_processing: RequestProcessing,
    /// The order in which one-way requests of a connection begin: a policy of zorb's own.
    pub one_way_order: OneWayOrder,
    /// What becomes of upcalls for whose results nobody waits: a policy of zorb's own.
    pub cancelled_upcalls: CancelledUpcalls,
    /// Whether keys can be guessed: a policy of zorb's own.
    pub key_protection: KeyProtection,
}

/// The type of a POA policy, with the number that the specification assigns to it; [`OneWayOrder`] and
/// [`KeyProtection`] have none.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::PolicyType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum PoaPolicyType {
    Thread = 16,
    Lifespan = 17,
    IdUniqueness = 18,
    IdAssignment = 19,
    ImplicitActivation = 20,
    ServantRetention = 21,
    RequestProcessing = 22,
    PriorityModel = 40,
    Threadpool = 41,
    ServerProtocol = 42,
    ClientProtocol = 43,
    PriorityBandedConnection = 45,
}

/// A POA policy with its value: an entry of the list that `create_POA` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "each holds the value of the policy that it is named after"
)]
pub enum PoaPolicy {
    Thread(ThreadModel),
    Lifespan(Lifespan),
    IdUniqueness(IdUniqueness),
    IdAssignment(IdAssignment),
    ImplicitActivation(ImplicitActivation),
    ServantRetention(ServantRetention),
    RequestProcessing(RequestProcessing),
}

impl PoaPolicy {
    /// The type of the policy.
    #[must_use]
    pub const fn policy_type(&self) -> PoaPolicyType {
        match self {
            Self::Thread(_) => PoaPolicyType::Thread,
            Self::Lifespan(_) => PoaPolicyType::Lifespan,
            Self::IdUniqueness(_) => PoaPolicyType::IdUniqueness,
            Self::IdAssignment(_) => PoaPolicyType::IdAssignment,
            Self::ImplicitActivation(_) => PoaPolicyType::ImplicitActivation,
            Self::ServantRetention(_) => PoaPolicyType::ServantRetention,
            Self::RequestProcessing(_) => PoaPolicyType::RequestProcessing,
        }
    }
}

/// A policy that does not fit the other policies of its adapter.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::POA::InvalidPolicy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("policy {index} ({policy:?}) is not possible: {why}")]
#[non_exhaustive]
pub struct InvalidPolicy {
    /// The index of the policy in the list, from 0. For [`Policies`] that were not made from a list, the list is that
    /// of all policy types in the order of their numbers.
    pub index: u16,
    /// The type of the policy that breaks the rule.
    pub policy: PoaPolicyType,
    /// The rule that the policy breaks, in words.
    pub why: &'static str,
}

impl InvalidPolicy {
    /// A policy that breaks a rule of the adapter's owner.
    #[must_use]
    pub const fn new(policy: PoaPolicyType, why: &'static str) -> Self {
        let index = (policy as u16).saturating_sub(PoaPolicyType::Thread as u16);
        Self { index, policy, why }
    }
}

/// A rule on two policies: the condition in which they exclude each other, their types, and the reason.
type Exclusion = (fn(&Policies) -> bool, [PoaPolicyType; 2], &'static str);

/// The rules of CORBA 3.3 Part 1 §15.3.8.3 (create_POA).
const EXCLUSIONS: [Exclusion; 4] = [
    (
        |policies| {
            policies.servant_retention == ServantRetention::NonRetain
                && policies.request_processing == RequestProcessing::ActiveObjectMapOnly
        },
        [
            PoaPolicyType::ServantRetention,
            PoaPolicyType::RequestProcessing,
        ],
        "NON_RETAIN needs USE_DEFAULT_SERVANT or USE_SERVANT_MANAGER",
    ),
    (
        |policies| {
            policies.request_processing == RequestProcessing::DefaultServant
                && policies.id_uniqueness == IdUniqueness::Unique
        },
        [
            PoaPolicyType::IdUniqueness,
            PoaPolicyType::RequestProcessing,
        ],
        "USE_DEFAULT_SERVANT needs MULTIPLE_ID",
    ),
    (
        |policies| {
            policies.implicit_activation == ImplicitActivation::Implicit
                && policies.id_assignment == IdAssignment::User
        },
        [
            PoaPolicyType::IdAssignment,
            PoaPolicyType::ImplicitActivation,
        ],
        "IMPLICIT_ACTIVATION needs SYSTEM_ID",
    ),
    (
        |policies| {
            policies.implicit_activation == ImplicitActivation::Implicit
                && policies.servant_retention == ServantRetention::NonRetain
        },
        [
            PoaPolicyType::ImplicitActivation,
            PoaPolicyType::ServantRetention,
        ],
        "IMPLICIT_ACTIVATION needs RETAIN",
    ),
];

impl Policies {
    /// The defaults of `create_POA`: the value of [`Policies::default`], for constants.
    pub const DEFAULT: Self = Self {
        thread: ThreadModel::OrbControlled,
        lifespan: Lifespan::Transient,
        id_uniqueness: IdUniqueness::Unique,
        id_assignment: IdAssignment::System,
        implicit_activation: ImplicitActivation::No,
        servant_retention: ServantRetention::Retain,
        request_processing: RequestProcessing::ActiveObjectMapOnly,
        one_way_order: OneWayOrder::Started,
        cancelled_upcalls: CancelledUpcalls::GoOn,
        key_protection: KeyProtection::None,
    };

    /// The policies of the root POA: the defaults, and IMPLICIT_ACTIVATION.
    pub const ROOT: Self = Self {
        implicit_activation: ImplicitActivation::Implicit,
        ..Self::DEFAULT
    };

    /// PERSISTENT and USER_ID: references outlive the process, and the application assigns ids. For objects with a
    /// record in a database, for example.
    pub const PERSISTENT: Self = Self {
        lifespan: Lifespan::Persistent,
        id_assignment: IdAssignment::User,
        ..Self::DEFAULT
    };

    /// Whether keys consist of indexes. This depends on the policies of lifespan and id assignment only, so that other
    /// policies do not change the keys of an adapter.
    pub(crate) const fn is_indexed(self) -> bool {
        matches!(
            (self.lifespan, self.id_assignment),
            (Lifespan::Transient, IdAssignment::System)
        )
    }

    /// Whether there is an active object map.
    pub(crate) fn retains(self) -> bool {
        self.servant_retention == ServantRetention::Retain
    }

    /// Checks whether an adapter can have these policies.
    ///
    /// # Errors
    /// [`InvalidPolicy`] with the later one of two policies that exclude each other.
    pub fn validate(&self) -> Result<(), InvalidPolicy> {
        let index = |policy| (policy as u32).saturating_sub(PoaPolicyType::Thread as u32);
        self.check(|policy| u16::try_from(index(policy)).ok())
    }

    fn check(&self, index: impl Fn(PoaPolicyType) -> Option<u16>) -> Result<(), InvalidPolicy> {
        for (is_broken, policies, why) in EXCLUSIONS {
            if !is_broken(self) {
                continue;
            }
            let given = policies.map(|policy| (index(policy), policy));
            let [first, second] = given;
            // A default that the list does not contain is not reported as the invalid policy.
            let (at, policy) = if first.0 > second.0 { first } else { second };
            let index = at.unwrap_or_default();
            return Err(InvalidPolicy { index, policy, why });
        }
        Ok(())
    }

    /// Returns the policies with `policy` in place of the one of its type.
    #[must_use]
    pub fn with(mut self, policy: PoaPolicy) -> Self {
        match policy {
            PoaPolicy::Thread(value) => self.thread = value,
            PoaPolicy::Lifespan(value) => self.lifespan = value,
            PoaPolicy::IdUniqueness(value) => self.id_uniqueness = value,
            PoaPolicy::IdAssignment(value) => self.id_assignment = value,
            PoaPolicy::ImplicitActivation(value) => self.implicit_activation = value,
            PoaPolicy::ServantRetention(value) => self.servant_retention = value,
            PoaPolicy::RequestProcessing(value) => self.request_processing = value,
        }
        self
    }

    /// Returns the policies with another thread model.
    #[must_use]
    #[doc(alias = "create_thread_policy")]
    pub fn with_thread(mut self, thread: ThreadModel) -> Self {
        self.thread = thread;
        self
    }

    /// Returns the policies with another lifespan.
    #[must_use]
    #[doc(alias = "create_lifespan_policy")]
    pub fn with_lifespan(mut self, lifespan: Lifespan) -> Self {
        self.lifespan = lifespan;
        self
    }

    /// Returns the policies with another uniqueness of ids.
    #[must_use]
    #[doc(alias = "create_id_uniqueness_policy")]
    pub fn with_id_uniqueness(mut self, id_uniqueness: IdUniqueness) -> Self {
        self.id_uniqueness = id_uniqueness;
        self
    }

    /// Returns the policies with another assignment of ids.
    #[must_use]
    #[doc(alias = "create_id_assignment_policy")]
    pub fn with_id_assignment(mut self, id_assignment: IdAssignment) -> Self {
        self.id_assignment = id_assignment;
        self
    }

    /// Returns the policies with or without implicit activation.
    #[must_use]
    #[doc(alias = "create_implicit_activation_policy")]
    pub fn with_implicit_activation(mut self, implicit_activation: ImplicitActivation) -> Self {
        self.implicit_activation = implicit_activation;
        self
    }

    /// Returns the policies with or without an active object map.
    #[must_use]
    #[doc(alias = "create_servant_retention_policy")]
    pub fn with_servant_retention(mut self, servant_retention: ServantRetention) -> Self {
        self.servant_retention = servant_retention;
        self
    }

    /// Returns the policies with another processing of requests.
    #[must_use]
    #[doc(alias = "create_request_processing_policy")]
    pub fn with_request_processing(mut self, request_processing: RequestProcessing) -> Self {
        self.request_processing = request_processing;
        self
    }

    /// Returns the policies with or without authenticated keys.
    #[must_use]
    pub fn with_key_protection(mut self, protection: KeyProtection) -> Self {
        self.key_protection = protection;
        self
    }

    /// Returns the policies with another treatment of upcalls for whose results nobody waits.
    #[must_use]
    pub fn with_cancelled_upcalls(mut self, cancelled: CancelledUpcalls) -> Self {
        self.cancelled_upcalls = cancelled;
        self
    }

    /// Returns the policies with another order of one-way requests.
    #[must_use]
    pub fn with_one_way_order(mut self, order: OneWayOrder) -> Self {
        self.one_way_order = order;
        self
    }
}

impl TryFrom<&[PoaPolicy]> for Policies {
    type Error = InvalidPolicy;

    /// The defaults with the policies of the list.
    ///
    /// # Errors
    /// [`InvalidPolicy`] with the index of a policy that another one excludes, or of the second one of a type.
    fn try_from(list: &[PoaPolicy]) -> Result<Self, InvalidPolicy> {
        let at = |wanted: PoaPolicyType| {
            let found = list
                .iter()
                .position(|policy| policy.policy_type() == wanted);
            found.and_then(|at| u16::try_from(at).ok())
        };
        let mut policies = Self::DEFAULT;
        for (index, policy) in (0..=u16::MAX).zip(list) {
            let policy_type = policy.policy_type();
            if at(policy_type) != Some(index) {
                return Err(InvalidPolicy {
                    index,
                    policy: policy_type,
                    why: "a list has one policy of each type",
                });
            }
            policies = policies.with(*policy);
        }
        policies.check(at)?;
        Ok(policies)
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Policies> {
        (0..1_usize << 8).filter_map(|bits| {
            let bit = |at: usize| bits >> at & 1 == 1;
            let processing = match (bit(5), bit(6)) {
                (false, false) => RequestProcessing::ActiveObjectMapOnly,
                (true, false) => RequestProcessing::DefaultServant,
                (false, true) => RequestProcessing::ServantManager,
                (true, true) => return None,
            };
            Some(
                Policies::default()
                    .with_thread(
                        [ThreadModel::OrbControlled, ThreadModel::SingleThread]
                            [usize::from(bit(7))],
                    )
                    .with_lifespan([Lifespan::Transient, Lifespan::Persistent][usize::from(bit(0))])
                    .with_id_uniqueness(
                        [IdUniqueness::Unique, IdUniqueness::Multiple][usize::from(bit(1))],
                    )
                    .with_id_assignment(
                        [IdAssignment::System, IdAssignment::User][usize::from(bit(2))],
                    )
                    .with_implicit_activation(
                        [ImplicitActivation::No, ImplicitActivation::Implicit][usize::from(bit(3))],
                    )
                    .with_servant_retention(
                        [ServantRetention::Retain, ServantRetention::NonRetain]
                            [usize::from(bit(4))],
                    )
                    .with_request_processing(processing),
            )
        })
    }

    /// The rules of the specification, one expression for each sentence.
    fn is_legal(policies: &Policies) -> bool {
        let (retain, processing) = (policies.retains(), policies.request_processing);
        let non_retain = retain || processing != RequestProcessing::ActiveObjectMapOnly;
        let map_only = processing != RequestProcessing::ActiveObjectMapOnly || retain;
        let default_servant = processing != RequestProcessing::DefaultServant
            || policies.id_uniqueness == IdUniqueness::Multiple;
        let implicit = policies.implicit_activation == ImplicitActivation::No
            || (policies.id_assignment == IdAssignment::System && retain);
        non_retain && map_only && default_servant && implicit
    }

    #[test]
    fn exactly_the_legal_combinations_of_policies_are_valid() {
        let (mut legal, mut illegal) = (0, 0);
        for policies in all() {
            assert_eq!(
                policies.validate().is_ok(),
                is_legal(&policies),
                "{policies:?}"
            );
            match is_legal(&policies) {
                true => legal += 1,
                false => illegal += 1,
            }
        }
        assert_eq!(legal + illegal, 192);
        assert!(legal > 40 && illegal > 40, "{legal} {illegal}");
        for named in [Policies::DEFAULT, Policies::ROOT, Policies::PERSISTENT] {
            assert_eq!(named.validate(), Ok(()));
        }
        assert_eq!(Policies::DEFAULT, Policies::default());
    }

    #[test]
    fn an_invalid_policy_is_named_by_its_place_in_the_list() {
        let non_retain = PoaPolicy::ServantRetention(ServantRetention::NonRetain);
        let default_servant = PoaPolicy::RequestProcessing(RequestProcessing::DefaultServant);
        let implicit = PoaPolicy::ImplicitActivation(ImplicitActivation::Implicit);
        let (user, multiple) = (
            PoaPolicy::IdAssignment(IdAssignment::User),
            PoaPolicy::IdUniqueness(IdUniqueness::Multiple),
        );
        let persistent = PoaPolicy::Lifespan(Lifespan::Persistent);
        for (list, index) in [
            // Only one of the two excluding policies is in the list.
            (&[persistent, non_retain][..], 1),
            (&[default_servant, persistent], 0),
            // The later one of the two is reported.
            (&[user, persistent, implicit], 2),
            (&[implicit, persistent, user], 2),
            (&[multiple, non_retain, default_servant, implicit], 3),
            // A policy type is given twice.
            (&[persistent, user, persistent], 2),
        ] {
            let error = Policies::try_from(list).unwrap_err();
            assert_eq!(error.index, index, "{list:?}: {error}");
            assert_eq!(error.policy, list[usize::from(index)].policy_type());
        }
        let list = [multiple, non_retain, default_servant, persistent, user];
        let policies = Policies::try_from(&list[..]).unwrap();
        assert_eq!(policies.lifespan, Lifespan::Persistent);
        assert_eq!(
            policies.request_processing,
            RequestProcessing::DefaultServant
        );
        assert_eq!(Policies::try_from(&[][..]), Ok(Policies::default()));
    }
}
