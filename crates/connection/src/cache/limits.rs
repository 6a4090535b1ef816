//! Limits on outgoing connections, and why one cannot be made.

use zorb_transport::{Endpoint, TransportError};

/// The limits on the connections of a cache. Connections that are being made or closed count, too.
///
/// A peer chooses the address of a reference that it passes. Without a limit, references to different addresses take every
/// descriptor of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a limit for each way to count")]
pub struct ConnectionLimits {
    /// Connections in all. Endpoints that peers have named get [`PEERS_SHARE`](Self::PEERS_SHARE) of them.
    pub all: usize,
    /// Connections to one host, whatever the port. All endpoints of a transport without hosts, such as UNIX sockets, count as
    /// one host.
    pub by_host: usize,
}

impl ConnectionLimits {
    /// The share of connections for endpoints that peers have named, as a fraction: 3 of 4. The rest is for endpoints that the
    /// application has named.
    pub const PEERS_SHARE: (usize, usize) = (3, 4);

    /// Connections in all that leave room for an endpoint with this source.
    pub(super) fn all_for(self, named_by: NamedBy) -> usize {
        let (share, of) = Self::PEERS_SHARE;
        match named_by {
            NamedBy::Application => self.all,
            NamedBy::Peer => {
                let kept = of.saturating_sub(share);
                let each = self.all.checked_div(of).unwrap_or_default();
                self.all.saturating_sub(each.saturating_mul(kept))
            }
        }
    }
}

/// No limits, for a cache whose owner limits connections itself.
impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            all: usize::MAX,
            by_host: usize::MAX,
        }
    }
}

/// The source of an endpoint: the application or a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum NamedBy {
    /// The application or its operator.
    Application,
    /// A peer: by a reference in an argument, a result or a forward.
    Peer,
}

/// The error of connecting to an endpoint: of the transport, or of a limit of the cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The transport failed, or did not connect within the [limit](TransportError::limit).
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The runtime that would watch the connection has shut down.
    #[error("cannot connect to {endpoint}: its runtime is shutting down")]
    NoRuntime {
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// A limit on outgoing connections is reached, and no idle connection can be closed.
    #[error(
        "cannot connect to {endpoint}: there are {limit} outgoing connections {what}, the limit"
    )]
    TooMany {
        /// The endpoint.
        endpoint: Endpoint,
        /// The scope of the limit, as words that follow "connections" in the message.
        what: &'static str,
        /// The limit, in connections.
        limit: usize,
    },
    /// The rules of this end forbid to connect to the endpoint.
    #[error("to connect to {endpoint} is not permitted")]
    NotPermitted {
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// The connection that the peer has offered has ended, or has other code sets.
    #[error("the connection that {endpoint} has offered cannot be used")]
    Gone {
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// The ORB has shut down.
    #[error("the ORB has shut down")]
    ShutDown,
}
