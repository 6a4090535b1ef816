//! Which endpoints outgoing connections may lead to, and how many there may be.

use crate::descriptors;
use crate::profile::candidates;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use zorb_connection::ConnectionLimits;
use zorb_giop::{Ior, Version};
use zorb_transport::{Endpoint, Registry};

/// Outgoing connections at most, unless the builder says otherwise and the process may have more than twice as many
/// descriptors.
const MAX_OUTGOING: usize = 10_000;
/// Outgoing connections to one host at most, unless the builder says otherwise.
const MAX_TO_HOST: usize = 256;
/// UNIX sockets that an ORB remembers to have been named by its application.
const MAX_NAMED_SOCKETS: usize = 1_024;

/// How many outgoing connections there may be. `all`, `to_host`: what the builder says.
///
/// Half of the descriptors stay for clients, files and the program: an ORB that serves goes on to accept when
/// references of peers have led it to as many addresses as they could.
pub(crate) fn limits(all: Option<usize>, to_host: Option<usize>) -> ConnectionLimits {
    let of_process =
        || descriptors::limit().map_or(MAX_OUTGOING, |all| (all / 2).clamp(1, MAX_OUTGOING));
    ConnectionLimits {
        all: all.unwrap_or_else(of_process),
        by_host: to_host.unwrap_or(MAX_TO_HOST),
    }
}

/// Why a reference leads nowhere whose endpoints are all UNIX sockets.
pub(crate) const NO_SOCKETS_OF_PEERS: &str =
    "UNIX sockets that a peer names are not connected to (Builder::unix_sockets_of_peers)";

/// Names within this host, UNIX sockets for instance, that the application has named itself: by text, by a configured
/// reference, or by a reference made of its parts.
#[derive(Debug, Default)]
pub(crate) struct NamedSockets(Mutex<HashSet<Endpoint>>);

impl NamedSockets {
    /// Remembers those of a reference that the application has named.
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

    /// Whether the application has named this one.
    pub(crate) fn contains(&self, endpoint: &Endpoint) -> bool {
        let named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        named.contains(endpoint)
    }
}
