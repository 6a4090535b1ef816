//! The values of policies.

/// When a one-way call is done, as its caller sees it: `Messaging::SyncScope`.
///
/// Calls through one reference arrive in their order, whatever the scope, as long as its connection lives; but a long one
/// of scope `None` that is cut into [fragments](crate::Builder::max_fragment_octets) is passed by shorter ones after it.
///
/// Source: CORBA 3.3 Part 1, CORBA Messaging.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(alias = "SyncScopePolicy")]
#[non_exhaustive]
pub enum SyncScope {
    /// At once, when it is queued (SYNC_NONE): its caller waits neither for the connection nor for room. Small ones are
    /// joined, so that many of them leave by one system call: when 16 KiB wait, or with the next call of another scope,
    /// or after a millisecond or two.
    ///
    /// At most 1 MiB waits on a connection, and as much for all connections of an ORB that are still to be made. One for
    /// which there is no room is TRANSIENT, COMPLETED_NO, and
    /// [counted](crate::Counter::OneWaysRefused): a sender that is faster than its receiver goes on after a pause, or has
    /// another scope. Those that are lost with the connection are not reported, those whose connection cannot be made
    /// are counted, and those that still wait when the program ends without
    /// [`Orb::shutdown`](crate::Orb::shutdown) are lost too.
    None,
    /// When it is handed to the operating system (SYNC_WITH_TRANSPORT): one system call for a single message.
    #[default]
    WithTransport,
    /// When the server says that it has arrived, before the servant is called (SYNC_WITH_SERVER). Costs a round trip.
    /// GIOP 1.0 and 1.1 have no flag for this scope and use that of `WithTarget`.
    WithServer,
    /// When the servant is done (SYNC_WITH_TARGET). Costs what a call with a reply does, and gets the servant's
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
    /// Connections are opened again, and forwards are followed (TRANSPARENT).
    #[default]
    Transparent,
    /// A forward to a reference whose TAG_POLICIES component differs is REBIND, COMPLETED_NO (NO_REBIND).
    NoRebind,
    /// Every forward, and every call for which a connection that was lost or closed would have to be opened again, is
    /// REBIND, COMPLETED_NO (NO_RECONNECT).
    NoReconnect,
}

/// Whether a connection carries requests in both directions: `BiDirPolicy::BidirectionalPolicyValue` (CORBA 3.3 part 2,
/// section 9.8).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these two")]
pub enum BidirectionalPolicy {
    /// The end that has opened it sends requests (NORMAL).
    #[default]
    Normal,
    /// Both ends do (BOTH), over GIOP 1.2.
    ///
    /// At the ORB, task or object level, requests offer their server the connection for its own. A client that listens
    /// nowhere can have objects then, for callbacks, if its ORB has the policy. A server can call the objects of
    /// those POAs only that [have the policy](crate::Poa::set_bidirectional_policy) as well; any other object is
    /// OBJECT_NOT_EXIST. Such connections have no blocking reads, and are not closed for being idle.
    ///
    /// What the server does with the offer is up to [its own rule](crate::Builder::accept_bidirectional).
    Both,
}

/// Which of several endpoints a reference is bound to: servers of a group, or addresses of one server. Where the first one
/// cannot be connected to, the next one is tried.
///
/// A reference keeps to its server until the connection is lost. Each reference, and each override that makes it bind
/// anew, chooses for itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointOrder {
    /// The first of the reference that can be connected to.
    #[default]
    OfReference,
    /// Any, by chance: many clients spread over all servers.
    Random,
    /// The endpoint with the shortest connection time of the last five minutes. If some have none, zorb connects to all of
    /// them at the same time and takes the first one; an endpoint with an earlier time waits for that time, a second at most.
    /// The other connections stay in the cache, idle.
    LeastLatency,
}
