//! Eviction: connections that are ended although the peer is reachable, for the memory that they hold, or because the peer
//! is slow.

use super::counters::Counter;
use core::fmt;

/// Why a connection is ended although its peer is reachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evicted {
    /// The ORB has no memory for its messages or its output.
    Memory,
    /// Memory is scarce, and the peer is too slow for the memory that it makes the ORB hold.
    Scarcity,
    /// A message that has begun makes no progress.
    SlowSender,
    /// The peer does not read the output that waits for it.
    SlowReader,
    /// The peer has never sent a message.
    Unused,
}

impl Evicted {
    /// The counter of connections that end for this reason.
    pub(crate) const fn counter(self) -> Counter {
        match self {
            Self::Memory => Counter::ConnectionsOverMemory,
            Self::Scarcity => Counter::ConnectionsEvicted,
            Self::SlowSender => Counter::SlowSendersClosed,
            Self::SlowReader => Counter::SlowReadersClosed,
            Self::Unused => Counter::UnusedConnectionsClosed,
        }
    }
}

impl fmt::Display for Evicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "the ORB has no memory left for what it would have to hold",
            Self::Scarcity => {
                "memory is scarce, and the peer is slow for what it makes the ORB hold"
            }
            Self::SlowSender => "a message that has begun makes no progress",
            Self::SlowReader => "the peer does not read what waits for it",
            Self::Unused => "no message has come on it",
        })
    }
}
