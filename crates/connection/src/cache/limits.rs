//! Limits on outgoing connections, and why one cannot be made.

use core::time::Duration;
use zorb_transport::{Endpoint, TransportError};

/// The limits on connections of a cache, including those that are being made or closed.
///
/// A peer chooses the address of a reference that it passes. Without a limit, references to different addresses take every
/// descriptor of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a limit for each way to count")]
pub struct ConnectionLimits {
    /// In all. Endpoints that peers have named get [`PEERS_SHARE`](Self::PEERS_SHARE) of them.
    pub all: usize,
    /// To one host, whatever the port; all endpoints of a transport without hosts, UNIX sockets for instance, count as one host.
    pub by_host: usize,
}

impl ConnectionLimits {
    /// Of every so many connections (the second number), those (the first) that endpoints of peers may have. The others are for the
    /// endpoints that the application has named.
    pub const PEERS_SHARE: (usize, usize) = (3, 4);

    /// In all, for an endpoint that was named so.
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

/// No limits: for a cache whose owner has its own.
impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            all: usize::MAX,
            by_host: usize::MAX,
        }
    }
}

/// The source of an endpoint: the program or a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum NamedBy {
    /// The program or its operator.
    Application,
    /// A peer: by a reference in an argument, a result or a forward.
    Peer,
}

/// Why an endpoint could not be connected to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The endpoint did not answer in time.
    #[error("cannot connect to {endpoint} within {limit:?}")]
    Timeout {
        /// The endpoint.
        endpoint: Endpoint,
        /// The connect timeout.
        limit: Duration,
    },
    /// The runtime that would watch the connection has shut down.
    #[error("cannot connect to {endpoint}: its runtime is shutting down")]
    NoRuntime {
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// The limit of outgoing connections is reached.
    #[error(
        "cannot connect to {endpoint}: there are {limit} outgoing connections {what}, the limit"
    )]
    TooMany {
        /// The endpoint.
        endpoint: Endpoint,
        /// The name of the limit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The connection that the peer has offered has ended, or serves requests of other code sets.
    #[error("the connection that {endpoint} has offered cannot be used")]
    Gone {
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// The ORB has shut down.
    #[error("the ORB has shut down")]
    ShutDown,
}
