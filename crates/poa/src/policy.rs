//! What an adapter is made with.

/// How long references live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "LifespanPolicy")]
#[doc(alias = "LifespanPolicyValue")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum Lifespan {
    /// No longer than the adapter: afterwards they are OBJECT_NOT_EXIST, also when an adapter of
    /// the same name is made again.
    #[default]
    #[doc(alias = "TRANSIENT")]
    Transient,
    /// Longer than the process: they work again when a server with the same id and the same
    /// endpoints makes an adapter of the same path and activates an object of the same id.
    #[doc(alias = "PERSISTENT")]
    Persistent,
}

/// Who chooses the ids of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias = "IdAssignmentPolicy")]
#[doc(alias = "IdAssignmentPolicyValue")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum IdAssignment {
    /// The adapter.
    #[default]
    #[doc(alias = "SYSTEM_ID")]
    System,
    /// The application: any octets.
    #[doc(alias = "USER_ID")]
    User,
}

/// When a one-way request begins, beside earlier ones of the same connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OneWayOrder {
    /// When it has come, behind the beginnings of the earlier ones. Those whose servants await something may end in another
    /// order.
    #[default]
    Started,
    /// When the earlier one-way requests of the connection to adapters of this policy have ended. Requests with a reply do
    /// not wait for them, so that what a one-way request awaits can come on its connection.
    Ended,
}

/// The policies of an adapter. The default is the root POA's: transient, ids by the system.
///
/// ```
/// use zorb_poa::{IdAssignment, Lifespan, Policies};
///
/// let policies = Policies::default()
///     .with_lifespan(Lifespan::Persistent)
///     .with_id_assignment(IdAssignment::User);
/// assert_eq!(policies, Policies::PERSISTENT);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[doc(alias = "PolicyList")]
pub struct Policies {
    /// How long references live.
    pub lifespan: Lifespan,
    /// Who chooses the ids of objects.
    pub id_assignment: IdAssignment,
    /// When one-way requests begin. A policy of zorb's own.
    pub one_way_order: OneWayOrder,
}

impl Policies {
    /// References that outlive the process, to objects whose ids the application chooses: what
    /// an object with a record in a database wants.
    pub const PERSISTENT: Self = Self {
        lifespan: Lifespan::Persistent,
        id_assignment: IdAssignment::User,
        one_way_order: OneWayOrder::Started,
    };

    /// Whether keys consist of indexes, which depends on nothing but lifespan and ids: a policy of another kind must not
    /// change the keys of an adapter.
    pub(crate) const fn is_indexed(self) -> bool {
        matches!(
            (self.lifespan, self.id_assignment),
            (Lifespan::Transient, IdAssignment::System)
        )
    }

    /// The same with another lifespan.
    #[must_use]
    #[doc(alias = "create_lifespan_policy")]
    pub fn with_lifespan(mut self, lifespan: Lifespan) -> Self {
        self.lifespan = lifespan;
        self
    }

    /// The same with ids chosen by somebody else.
    #[must_use]
    #[doc(alias = "create_id_assignment_policy")]
    pub fn with_id_assignment(mut self, id_assignment: IdAssignment) -> Self {
        self.id_assignment = id_assignment;
        self
    }

    /// The same with another order of one-way requests.
    #[must_use]
    pub fn with_one_way_order(mut self, order: OneWayOrder) -> Self {
        self.one_way_order = order;
        self
    }
}
