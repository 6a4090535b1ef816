//! Connections to the servers of an ORB's references.

use crate::orb::OrbInner;
use crate::policy::BidirectionalPolicy;
use crate::profile::Candidate;
use std::sync::Arc;
use tokio::runtime::Handle;
use zorb_connection::{
    CacheKey, ClientConnection, ConnectError, ConnectSettings, ConnectionOrigin, Counter, NamedBy,
    SpinLimits,
};
use zorb_transport::Registry;

/// The references that share a connection to an endpoint. The number is that of a reference and its clones.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sharing {
    /// All references, spread by this number over [`connections_to_endpoint`](crate::Builder::connections_to_endpoint)
    /// connections.
    Spread(usize),
    /// The reference with this number and its clones alone.
    Private(usize),
}

impl Candidate {
    /// The transports, with the candidate's connection properties set on the transport of its endpoint.
    fn transports(&self, transports: &Registry) -> Registry {
        let mut transports = transports.clone();
        for (name, value) in &self.properties {
            let plain = transports.get(self.endpoint.scheme());
            let having = plain.and_then(|plain| plain.with_property(name, value).ok());
            if let Some(having) = having {
                transports.insert(having);
            }
        }
        transports
    }
}

impl OrbInner {
    /// The connection for a candidate, shared with the references that `sharing` selects. Of several connections that a
    /// client has offered, the last one that it has offered and that can be used.
    pub(crate) async fn connection(
        &self,
        candidate: &Candidate,
        home: &Handle,
        named_by: NamedBy,
        policy: Option<BidirectionalPolicy>,
        sharing: Sharing,
    ) -> Result<Arc<ClientConnection>, Arc<ConnectError>> {
        let mut passed_over = Vec::new();
        loop {
            let origin = (self.bidirectional()).origin(candidate, named_by, policy, &passed_over);
            let connected = self.connected_in(&origin, candidate, home, named_by, sharing);
            match (connected.await, origin) {
                (Err(error), ConnectionOrigin::Accepted(whole))
                    if matches!(*error, ConnectError::Gone { .. }) =>
                {
                    passed_over.push(whole);
                }
                (connected, _) => return connected,
            }
        }
    }

    /// The connection for a candidate, of the origin `origin`.
    async fn connected_in(
        &self,
        origin: &ConnectionOrigin,
        candidate: &Candidate,
        home: &Handle,
        named_by: NamedBy,
        sharing: Sharing,
    ) -> Result<Arc<ClientConnection>, Arc<ConnectError>> {
        // A connection that was accepted belongs to the lane that accepted it.
        let home = match origin {
            ConnectionOrigin::Accepted(_) => self.lane().handle(),
            _ => home,
        };
        let rules = &self.settings().rules;
        let refused = || {
            self.count(Counter::EndpointsNotPermitted);
            let endpoint = candidate.endpoint.clone();
            Arc::new(ConnectError::NotPermitted { endpoint })
        };
        let limited = match origin {
            // Nothing is connected to.
            ConnectionOrigin::Accepted(_) => None,
            _ => {
                let place = rules.place(&candidate.endpoint, named_by);
                place.ok_or_else(refused)?;
                let limited = rules.limit(self.transports(), &candidate.endpoint, named_by);
                limited.map_err(|_| refused())?
            }
        };
        let (code_sets, stated) = (candidate.code_sets, candidate.stated);
        let key =
            CacheKey::new(candidate.endpoint.clone(), home, code_sets, stated).with_origin(origin);
        let key = match (origin, sharing) {
            // The peer opened this connection, so it is shared by all references.
            (ConnectionOrigin::Accepted(_), _) => key,
            (_, Sharing::Private(number)) => key.private(number),
            (_, Sharing::Spread(number)) => {
                let count = self.settings().to_endpoint;
                key.spread(number.checked_rem(count).unwrap_or_default())
            }
        };
        let key = match candidate.band {
            Some(band) => key.in_band(band.low, band.high),
            None => key,
        };
        let key = key
            .with_properties(candidate.properties.clone())
            .named_by_peer(rules.tells_peers_apart() && named_by == NamedBy::Peer);
        let settings = || ConnectSettings {
            connection: self.connection_settings().clone(),
            unresponsive: self.unresponsive().clone(),
            known_key: candidate.key.clone(),
            times: self.connect_times().clone(),
            code_sets,
            needs_fragments: candidate.needs_fragments,
            peer: candidate.peer,
            transports: candidate.transports(limited.as_ref().unwrap_or_else(|| self.transports())),
            timeout: self.settings().connect_timeout,
            spin: SpinLimits::of(self.lane(), home.id()),
            busy: Arc::clone(self.busy_connections()),
            origin: origin.clone(),
        };
        let cache = self.connection_cache();
        cache.connection(&key, home, named_by, settings).await
    }
}
