//! The values of policies.

/// The point at which a one-way call returns to its caller: `Messaging::SyncScope`.
///
/// Calls through one reference arrive in order, whatever the scope, as long as its connection lives. There is one
/// exception: shorter calls may overtake a long one of scope `None` that is cut into
/// [fragments](crate::Builder::max_fragment_octets).
///
/// Source: CORBA 3.3 Part 1, CORBA Messaging.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(alias = "SyncScopePolicy")]
#[non_exhaustive]
pub enum SyncScope {
    /// At once, when the request is queued (SYNC_NONE): the caller waits neither for the connection nor for room. Small
    /// requests leave in batches by one system call: when 16 KiB wait, with the next call of another scope, or after a
    /// millisecond or two.
    ///
    /// At most 1 MiB waits on a connection, and as much for all connections of an ORB that are still to be made. A
    /// request beyond that is TRANSIENT, COMPLETED_NO, and [counted](crate::Counter::OneWaysRefused): a sender that is
    /// faster than its receiver should pause, or use another scope. Requests whose connection cannot be made are
    /// dropped and counted. Requests that are lost with their connection, or still wait when the program ends without
    /// [`Orb::shutdown`](crate::Orb::shutdown), are not reported.
    None,
    /// When the operating system has taken the request (SYNC_WITH_TRANSPORT). Costs one system call for a single
    /// message.
    #[default]
    WithTransport,
    /// When the server has confirmed the request, before the servant is called and after its servant manager
    /// (SYNC_WITH_SERVER). Reports exceptions of the POA and the manager, and follows forwards. Costs a round trip.
    /// GIOP 1.0 and 1.1 have no flag for this scope, so `WithTarget` is used there.
    WithServer,
    /// When the servant has returned (SYNC_WITH_TARGET). Costs as much as a two-way call, and reports the servant's
    /// system exceptions.
    WithTarget,
}

/// The steps that the ORB may take without the application's knowledge to reach an object again: `Messaging::RebindMode` (CORBA 3.3
/// part 1, section 17.2.1.2).
///
/// A reference is bound by its first call, which every mode permits, and by
/// [`ObjectRef::validate_connection`](crate::ObjectRef::validate_connection).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(alias = "RebindPolicy")]
#[non_exhaustive]
pub enum RebindMode {
    /// The ORB reopens connections and follows forwards (TRANSPARENT).
    #[default]
    Transparent,
    /// A forward to a reference whose TAG_POLICIES component differs is REBIND, COMPLETED_NO (NO_REBIND).
    NoRebind,
    /// Every forward, and every call that would have to reopen a lost or closed connection, is REBIND, COMPLETED_NO
    /// (NO_RECONNECT).
    NoReconnect,
}

/// Whether a connection carries requests in both directions: `BiDirPolicy::BidirectionalPolicyValue` (CORBA 3.3 part 2,
/// section 9.8).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these two")]
pub enum BidirectionalPolicy {
    /// Only the end that has opened the connection sends requests (NORMAL).
    #[default]
    Normal,
    /// Both ends send requests (BOTH), over GIOP 1.2.
    ///
    /// At the ORB, task or object level, requests offer their connection to the server for its own requests. If the ORB
    /// level has the policy, a client that listens nowhere can have objects for callbacks. The server can call only
    /// objects of POAs that [have the policy](crate::Poa::set_bidirectional_policy) too; any other object is
    /// OBJECT_NOT_EXIST. Such connections have no blocking reads, and are not closed for being idle.
    ///
    /// A zorb server accepts or ignores the offer by [its own rule](crate::Builder::accept_bidirectional).
    Both,
}

/// The order in which the endpoints of a reference are tried: servers of a group, or addresses of one server. If
/// connecting to an endpoint fails, the next one is tried. A policy of zorb's own.
///
/// A reference stays with its server until the connection is lost. Each reference, and each override that makes it bind
/// anew, chooses separately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointOrder {
    /// The order of the reference.
    #[default]
    OfReference,
    /// A random order, which spreads many clients over all servers.
    Random,
    /// The shortest connect time of the last five minutes first. If some endpoints have no such time, zorb connects to
    /// all of them at the same time and takes the first that accepts. An endpoint with an earlier time waits for that
    /// time first, a second at most. The other connections stay in the cache, idle.
    LeastLatency,
}
