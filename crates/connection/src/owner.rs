//! The owner of connections: the trait by which they use the ORB.

use super::bidirectional::BidirectionalConnection;
use super::counters::Counters;
use super::fairness::MemoryLimit;
use super::kept::Kept;
use super::server::{ClientRequests, ReceivedRequest, ServerConnection};
use super::spin::BusyConnections;
use super::trace::Describe;
use bytes::Bytes;
use core::time::Duration;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio_util::task::task_tracker::TaskTrackerToken;
use zorb_cdr::{DefaultLabels, Gather, WireFormat};
use zorb_executor::{Lane, WaitPolicy};
use zorb_giop::Limits;
use zorb_giop::codeset::CodeSets;
use zorb_giop::{LocateReply, RequestHeader, SystemException, TargetAddress, Version};
use zorb_shares::{Client, HostKey};
use zorb_transport::{Address, Connection, Endpoint, PeerIdentity, Rules};

/// The owner of server connections: an ORB.
///
/// Connections are generic over their owner, so that a request reaches it without an indirect call, and the header
/// cache keeps the owner's own [`Cached`](Self::Cached) targets.
pub trait Owner: Send + Sync + Sized + 'static {
    /// The target of a request: an object, a forward, or the reason why there is none.
    type Target: Send + 'static;
    /// The form of a target in the request header cache.
    type Cached: Send + 'static;

    /// The settings of its connections.
    fn settings(&self) -> &Settings;

    /// The lane whose reactor reads its connections, and in which their tasks run.
    fn lane(&self) -> &Lane;

    /// The register of the owner's busy connections.
    fn busy(&self) -> &BusyConnections;

    /// Whether the owner is shutting down: no further request is read or served.
    fn is_stopping(&self) -> bool;

    /// Runs a task of a connection in the lane. A shutdown waits for it.
    fn track(&self, task: impl Future<Output = ()> + Send + 'static);

    /// Runs a task of a connection in another reactor than that of the lane. A shutdown waits for it.
    fn track_in(&self, home: &Handle, task: impl Future<Output = ()> + Send + 'static);

    /// Has a shutdown wait until the token is dropped.
    fn track_thread(&self) -> TaskTrackerToken;

    /// Looks up the target of a request. `opened_here`: whether the request came on a connection that this end opened. On such
    /// a connection the peer may call only those objects that the owner permits it to call back.
    fn locate(&self, header: &RequestHeader<'_>, opened_here: bool) -> Self::Target;

    /// Takes the offer of the peer of an accepted connection, the service context BI_DIR_IIOP: requests to the endpoints in
    /// `context` may be sent on this connection, until its `client` has gone.
    fn offered(&self, connection: &Arc<BidirectionalConnection>, client: &Client, context: &[u8]);

    /// The target of a request that is refused.
    fn refuse(&self, exception: SystemException) -> Self::Target;

    /// The target's entry for the header cache; `None` if the target may not be cached. The same object key and operation lead
    /// to a cached target until [`recall`](Self::recall) rejects it.
    fn cache(&self, target: &Self::Target) -> Option<Self::Cached>;

    /// A cached target, if it is still valid.
    fn recall(&self, cached: &Self::Cached) -> Option<Self::Target>;

    /// Serves a request: admits it and dispatches it to its servant. What is pending then is answered later, as a
    /// [`PendingRequest`](super::server::PendingRequest).
    fn serve(connection: &Arc<ServerConnection<Self>>, request: ReceivedRequest<Self>) -> Served;

    /// Answers a LocateRequest, or returns the key that the application has to be asked about first.
    fn locate_request(&self, target: &TargetAddress<'_>, opened_here: bool) -> Located;

    /// Asks the application for the object with this key, for a client of `host`, and returns the answer to the LocateRequest.
    fn ask(self: Arc<Self>, key: Bytes, host: HostKey) -> impl Future<Output = LocateReply> + Send;
}

/// The peer of a connection: one value for all of its requests.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Peer {
    /// Its address, which the system reported when the connection was made.
    pub address: Address,
    /// The endpoint on which the connection was accepted, or to which it was opened; its
    /// [scheme](Endpoint::scheme) names the transport.
    pub endpoint: Endpoint,
    /// Who it is, as far as the transport knows, and whoever has asked for a login.
    pub identity: Option<PeerIdentity>,
    kept: Arc<Kept>,
    /// Its requests that are pending or watched.
    pub(crate) requests: Arc<ClientRequests>,
}

impl Peer {
    pub(crate) fn of(stream: &dyn Connection, endpoint: Endpoint) -> Arc<Self> {
        Arc::new(Self {
            address: stream.peer().clone(),
            endpoint,
            identity: stream.peer_identity(),
            kept: Arc::default(),
            requests: Arc::default(),
        })
    }

    /// Returns the peer with another identity: for requests that it sends in the name of others.
    #[must_use]
    pub fn with_identity(&self, identity: PeerIdentity) -> Self {
        Self {
            identity: Some(identity),
            ..self.detached()
        }
    }

    /// Returns the peer without what is [kept](Self::kept) of its connection, which may so keep this value.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self {
            kept: Arc::default(),
            ..self.clone()
        }
    }

    /// What services keep of the connection: its end drops it.
    #[must_use]
    pub fn kept(&self) -> &Kept {
        &self.kept
    }
}

/// What has become of a request.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else")]
pub enum Served {
    /// It has been served, and this is its reply, which leaves with those to other messages of the same read.
    Replied(Gather),
    /// It has been served, or dropped, and gets no reply.
    Silent,
    /// It goes on.
    Pending,
}

/// The answer to a LocateRequest, if it is known at once.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (LocateRequest message).
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "an answer is there or is not")]
pub enum Located {
    /// The answer is known.
    Reply(LocateReply),
    /// The application has to be asked for the object with this key.
    Ask(Bytes),
}

/// The limits, time-outs and policies that all connections of an ORB share.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Limits on a connection's memory and messages.
    pub limits: Limits,
    /// The policy by which a reader waits: whether it spins before it parks.
    pub wait: WaitPolicy,
    /// The time without traffic after which a connection is closed; `None`: never.
    pub idle_timeout: Option<Duration>,
    /// Octets above which messages are fragmented; `None`: only for peers that need it.
    pub max_fragment: Option<usize>,
    /// Octets of each message that a trace shows.
    pub trace_payload: usize,
    /// The functions by which a trace shows object keys and references.
    pub describe: Describe,
    /// Whether each served connection has a thread of its own.
    pub threads: bool,
    /// The code sets with a peer that states none.
    pub unstated_code_sets: CodeSets,
    /// Counts refusals, drops, limits and timeouts on all connections.
    pub counters: Arc<Counters>,
    /// The limit on the memory that all served connections hold.
    pub memory: Arc<MemoryLimit>,
    /// Whether the ORB sends requests to clients on connections that they have opened and offered for it.
    pub bidirectional: bool,
    /// The rules for clients; `None` permits all.
    pub accept: Option<Arc<Rules>>,
    /// The time without progress after which a client that makes the ORB wait is closed; `None`: never.
    pub stall_timeout: Option<Duration>,
}

impl Settings {
    /// Octets of a fragment for peers that need fragments. GlassFish ORBs end a connection on which a message or fragment of
    /// more than 256,000 octets comes (`ORBMaximumReadByteBufferSize`). A quarter of that keeps a margin, without a flood of
    /// tiny fragments.
    const NEEDED_FRAGMENT_OCTETS: usize = 64 << 10;

    /// Octets above which messages are fragmented on a connection; `None` if messages are sent whole.
    #[must_use]
    pub fn max_fragment(&self, peer_needs_fragments: bool) -> Option<usize> {
        self.max_fragment
            .or_else(|| peer_needs_fragments.then_some(Self::NEEDED_FRAGMENT_OCTETS))
    }
}

/// The ORB of a peer, as far as it makes a difference. A reference states it (component `TAG_ORB_TYPE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to know")]
pub enum PeerOrb {
    /// The reference names omniORB.
    OmniOrb,
    /// The reference names JacORB.
    JacOrb,
    /// The reference has the marks of GlassFish's family, which names itself nowhere.
    GlassFish,
    /// The reference does not name its ORB, as a reference of GIOP 1.0 or a `corbaloc` cannot.
    Unknown,
    /// The reference names another ORB.
    Other,
}

impl PeerOrb {
    /// Whether the peer may be sent a CancelRequest. omniORB 4.2 may not: while it carries the request out, its thread
    /// spins and never reads the connection again.
    #[must_use]
    pub fn takes_cancels(self) -> bool {
        matches!(self, Self::JacOrb | Self::Other)
    }

    /// The form in which the peer reads TypeCodes of unions with a default.
    #[must_use]
    pub const fn default_labels(self) -> DefaultLabels {
        match self {
            Self::JacOrb | Self::GlassFish => DefaultLabels::Octet,
            Self::OmniOrb | Self::Unknown | Self::Other => DefaultLabels::Discriminator,
        }
    }

    /// Returns the format for messages to this peer, given the code sets and the version.
    #[must_use]
    #[inline]
    pub fn format(self, code_sets: CodeSets, version: Version) -> WireFormat {
        WireFormat {
            default_labels: self.default_labels(),
            ..code_sets.with_minor(version.minor)
        }
    }
}
