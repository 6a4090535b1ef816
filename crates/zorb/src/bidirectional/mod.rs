//! Bidirectional GIOP: the clients that may be called on the connections that they have opened, and the objects that
//! peers may call on connections that this ORB has opened.

mod listen_points;
mod offers;

use crate::endpoints::CurrentEndpoints;
use crate::policy::BidirectionalPolicy;
use crate::profile::Candidate;
use core::fmt;
use listen_points::{ListenPoints, listen_points};
use offers::Offers;
use std::net::Ipv6Addr;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use tokio::runtime::Handle;
use zorb_connection::{
    BidirectionalConnection, ConnectionOrigin, NamedBy, Offer, OfferTo, Owner, Serving,
};
use zorb_giop::Version;
use zorb_poa::Adapter;
use zorb_shares::Client;
use zorb_transport::{Address, Endpoint};

/// The port in references of an ORB that listens nowhere: no server is there.
const NO_LISTENER_PORT: u16 = 1;

/// The application's rule for callbacks: called with the client's address and each endpoint that it offers, it returns
/// whether calls to that endpoint may use the client's connection.
#[derive(Clone)]
pub(crate) struct CallbackRule(Arc<Permits>);

type Permits = dyn Fn(&Address, &Endpoint) -> bool + Send + Sync;

impl CallbackRule {
    pub(crate) fn new(rule: impl Fn(&Address, &Endpoint) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }
}

impl fmt::Debug for CallbackRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallbackRule").finish_non_exhaustive()
    }
}

/// The ORB's bidirectional connections: connections on which both ends send requests.
#[derive(Debug)]
pub(crate) struct BidirectionalCalls {
    rule: Option<CallbackRule>,
    offered: Arc<Offers>,
    /// The adapters whose objects peers may call on connections that this ORB has opened.
    adapters: RwLock<Vec<Arc<Adapter>>>,
    /// The listen points that this ORB offers.
    offer: Option<Arc<dyn Offer>>,
}

impl BidirectionalCalls {
    pub(crate) fn new<O: Owner>(
        rule: Option<CallbackRule>,
        orb: &Weak<O>,
        serving: &Arc<Serving<O>>,
        published: &Arc<CurrentEndpoints>,
    ) -> Self {
        let offer = listen_points(&published.published().endpoints).map(|first| {
            let (orb, serving) = (Weak::clone(orb), Arc::clone(serving));
            let published = Arc::clone(published);
            // Each connection offers the endpoints that references name when it is opened.
            let context = move || {
                let now = listen_points(&published.published().endpoints);
                now.unwrap_or_else(|| first.clone())
            };
            Arc::new(OfferTo::new(orb, serving, context)) as Arc<dyn Offer>
        });
        Self {
            rule,
            offered: Arc::default(),
            adapters: RwLock::default(),
            offer,
        }
    }

    /// Reads a client's BI_DIR_IIOP context and remembers the endpoints that the rule permits, until the client has gone. Returns
    /// whether none of them was ignored because of a limit. `lane` runs the task that waits for the client's end.
    #[must_use]
    pub(crate) fn take(
        &self,
        connection: &Arc<BidirectionalConnection>,
        client: &Client,
        context: &[u8],
        lane: &Handle,
    ) -> bool {
        let Some(CallbackRule(rule)) = &self.rule else {
            return true;
        };
        let Ok(points) = ListenPoints::read(context) else {
            let peer = connection.peer();
            tracing::debug!(%peer, "malformed BI_DIR_IIOP context ignored");
            return true;
        };
        let mut all = points.is_whole;
        for (host, port) in points.taken {
            let endpoint = Endpoint::iiop(host, port);
            if rule(connection.peer(), &endpoint) {
                all &= self.offered.add(connection, client, endpoint, lane);
            }
        }
        all
    }

    /// Chooses the kind of connection for an endpoint: one that a client has offered and that is not in `passed_over`,
    /// one that offers callbacks to the server, or a plain one.
    pub(crate) fn origin(
        &self,
        candidate: &Candidate,
        named_by: NamedBy,
        policy: Option<BidirectionalPolicy>,
        passed_over: &[Arc<BidirectionalConnection>],
    ) -> ConnectionOrigin {
        // Only endpoints that peers have named: else a client could claim an endpoint that the application has named,
        // and receive its calls.
        if self.rule.is_some()
            && named_by == NamedBy::Peer
            && policy != Some(BidirectionalPolicy::Normal)
            && candidate.version >= Version::V1_2
            && let Some(accepted) = self.offered.find(&candidate.endpoint, passed_over)
        {
            return ConnectionOrigin::Accepted(accepted);
        }
        match (&self.offer, policy) {
            (Some(offer), Some(BidirectionalPolicy::Both))
                if candidate.version >= Version::V1_2 =>
            {
                ConnectionOrigin::Offered(Arc::clone(offer))
            }
            _ => ConnectionOrigin::Opened,
        }
    }

    /// Permits or forbids peers to call the objects of an adapter.
    pub(crate) fn permit(&self, adapter: &Arc<Adapter>, policy: BidirectionalPolicy) {
        let mut adapters = self
            .adapters
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        adapters.retain(|other| !Arc::ptr_eq(other, adapter) && !other.is_destroyed());
        if policy == BidirectionalPolicy::Both {
            adapters.push(Arc::clone(adapter));
        }
    }

    /// Whether a peer may call the object with this key on a connection that this ORB has opened.
    pub(crate) fn is_permitted(&self, key: &[u8]) -> bool {
        let adapters = self.adapters.read().unwrap_or_else(PoisonError::into_inner);
        adapters.iter().any(|adapter| adapter.id_in(key).is_ok())
    }

    /// Drops the references by which this state would keep the ORB alive.
    pub(crate) fn clear(&self) {
        self.adapters
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        self.offered.clear();
    }
}

/// The prefix 100::/64.
const DISCARD_PREFIX: u128 = 0x0100 << 112;

/// The endpoint in references of an ORB that listens nowhere and is called on connections that it has opened: an
/// address of the discard prefix 100::/64 (RFC 6666), to which nothing is routed. An unknown host name instead would
/// cost a look-up.
pub(crate) fn unreachable_endpoint(instance: u64) -> Endpoint {
    let host = Ipv6Addr::from(DISCARD_PREFIX | u128::from(instance));
    Endpoint::iiop(host.to_string(), NO_LISTENER_PORT)
}
