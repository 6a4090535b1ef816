//! Limits on outgoing connections, and the UNIX sockets that the application has named.

use crate::descriptors;
use crate::profile::candidates;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use zorb_connection::ConnectionLimits;
use zorb_giop::{Ior, Version};
use zorb_transport::{Endpoint, Registry};

/// The limit on outgoing connections, unless the builder sets one or half of the descriptors are fewer.
const MAX_OUTGOING: usize = 10_000;
/// The limit on outgoing connections to one host, unless the builder sets one.
const MAX_TO_HOST: usize = 256;
/// The limit on remembered UNIX sockets that the application has named.
const MAX_NAMED_SOCKETS: usize = 1_024;

/// The limits on outgoing connections. `all`, `to_host`: the builder's settings.
///
/// Half of the descriptors stay for clients, files and the program: a server can accept connections even when
/// references of peers have made it connect to as many addresses as permitted.
pub(crate) fn limits(all: Option<usize>, to_host: Option<usize>) -> ConnectionLimits {
    let of_process =
        || descriptors::limit().map_or(MAX_OUTGOING, |all| (all / 2).clamp(1, MAX_OUTGOING));
    ConnectionLimits {
        all: all.unwrap_or_else(of_process),
        by_host: to_host.unwrap_or(MAX_TO_HOST),
    }
}

/// The reason why a peer's reference with endpoints of UNIX sockets alone is unusable.
pub(crate) const NO_SOCKETS_OF_PEERS: &str =
    "UNIX sockets that a peer names are not connected to (Builder::unix_sockets_of_peers)";

/// Endpoints within this host, such as UNIX sockets, that the application has named itself: by an object URL, a
/// configured reference, or an IOR.
#[derive(Debug, Default)]
pub(crate) struct NamedSockets(Mutex<HashSet<Endpoint>>);

impl NamedSockets {
    /// Remembers the local endpoints of a reference that the application has named.
    pub(crate) fn remember(&self, ior: &Ior, transports: &Registry) {
        for way in candidates(ior, Version::HIGHEST, transports) {
            if way.endpoint.is_local_name() {
                let mut named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if named.len() < MAX_NAMED_SOCKETS {
                    named.insert(way.endpoint);
                }
            }
        }
    }

    /// Whether the application has named this endpoint.
    pub(crate) fn contains(&self, endpoint: &Endpoint) -> bool {
        let named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        named.contains(endpoint)
    }
}
