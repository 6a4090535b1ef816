//! Connections to the servers of an ORB's references.

use crate::orb::OrbInner;
use crate::policy::BidirectionalPolicy;
use crate::profile::Candidate;
use std::sync::Arc;
use tokio::runtime::Handle;
use zorb_connection::{
    CacheKey, ClientConnection, ConnectError, ConnectSettings, NamedBy, SpinLimits, Way,
};

impl OrbInner {
    /// The connection for a candidate, shared by all references to its endpoint.
    pub(crate) async fn connection(
        &self,
        candidate: &Candidate,
        home: &Handle,
        named_by: NamedBy,
        policy: Option<BidirectionalPolicy>,
    ) -> Result<Arc<ClientConnection>, Arc<ConnectError>> {
        let way = self.both_ways().way(candidate, named_by, policy);
        // A connection that was accepted belongs to the lane that accepted it.
        let home = match &way {
            Way::Accepted(_) => self.lane().handle(),
            _ => home,
        };
        let (code_sets, stated) = (candidate.code_sets, candidate.stated);
        let key = CacheKey::new(candidate.endpoint.clone(), home, code_sets, stated).in_way(&way);
        let settings = || ConnectSettings {
            connection: self.connection_settings().clone(),
            silent: self.silent().clone(),
            code_sets,
            needs_fragments: candidate.needs_fragments,
            peer: candidate.peer,
            transports: self.settings().transports.clone(),
            timeout: self.settings().connect_timeout,
            spin: SpinLimits::of(self.lane(), home.id()),
            busy: Arc::clone(self.busy_connections()),
            way: way.clone(),
        };
        let cache = self.connection_cache();
        cache.connection(&key, home, named_by, settings).await
    }
}
