//! The rules of an ORB: which clients it serves, and where it connects.

use std::net::IpAddr;
use std::sync::Arc;
use zorb_connection::NamedBy;
use zorb_transport::{AddressFilter, Endpoint, NotPermitted, Properties, Registry, Rules};

/// The rules; where there are none, all is permitted.
#[derive(Debug, Default)]
pub(crate) struct AccessRules {
    pub(crate) accept: Option<Arc<Rules>>,
    pub(crate) connect: Option<Arc<Rules>>,
    /// Further rules for endpoints that peers have named.
    pub(crate) connect_of_peers: Option<Arc<Rules>>,
}

impl AccessRules {
    /// The rules that apply to endpoints which `named_by` has named.
    fn of(&self, named_by: NamedBy) -> impl Iterator<Item = &Arc<Rules>> {
        let of_peers = (self.connect_of_peers.as_ref()).filter(|_| named_by == NamedBy::Peer);
        self.connect.iter().chain(of_peers)
    }

    /// Whether there are rules for endpoints that peers name alone.
    pub(crate) const fn tells_peers_apart(&self) -> bool {
        self.connect_of_peers.is_some()
    }

    /// The place of an endpoint in the order of the rules, the smallest first; `None` if it is refused.
    pub(crate) fn place(&self, endpoint: &Endpoint, named_by: NamedBy) -> Option<(usize, usize)> {
        let places: Option<Vec<_>> = (self.of(named_by))
            .map(|rules| rules.may_connect(endpoint))
            .collect();
        // Further rules for peers permit less, and order nothing.
        Some(places?.first().copied().unwrap_or_default())
    }

    /// The transports, that of the endpoint's scheme limited to the addresses that the rules permit; `None` if addresses do
    /// not matter.
    ///
    /// # Errors
    /// The transport knows no limit, so that it is refused.
    pub(crate) fn limit(
        &self,
        transports: &Registry,
        endpoint: &Endpoint,
        named_by: NamedBy,
    ) -> Result<Option<Registry>, NotPermitted> {
        let depends: Vec<_> = (self.of(named_by))
            .filter(|rules| rules.depends_on_address(endpoint))
            .cloned()
            .collect();
        if depends.is_empty() {
            return Ok(None);
        }
        let asked = endpoint.clone();
        let filter = AddressFilter::new(move |address: IpAddr| {
            depends.iter().all(|rules| rules.connects(&asked, address))
        });
        let properties = Properties::default().with(filter);
        let transport = transports.get(endpoint.scheme());
        let limited = transport.and_then(|transport| transport.with_properties(&properties));
        let mut transports = transports.clone();
        transports.insert(limited.ok_or(NotPermitted)?);
        Ok(Some(transports))
    }

    /// The filter of clients for a listener of this scheme, as far as their addresses decide.
    pub(crate) fn of_clients(&self, scheme: &'static str) -> Option<AddressFilter> {
        let rules = Arc::clone(self.accept.as_ref()?);
        Some(AddressFilter::new(move |address| {
            rules.may_accept(scheme, Some(address))
        }))
    }

    /// Why nobody would be served at an endpoint of this scheme, if that is so.
    pub(crate) fn nobody(&self, endpoint: &Endpoint) -> Option<String> {
        let rules = self.accept.as_ref()?;
        (!rules.may_accept(endpoint.scheme(), None))
            .then(|| format!("the rules for clients (accept_rules) permit none at {endpoint}"))
    }
}
