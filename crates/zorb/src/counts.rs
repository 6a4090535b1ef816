//! What an ORB counts of its clients.

use crate::orb::Orb;

impl Orb {
    /// Connections to other ORBs that there are now, those included that are being made or closed.
    #[must_use]
    pub fn outgoing_connections(&self) -> usize {
        self.inner().connection_cache().len()
    }

    /// How many connections to other ORBs were not made so far, because there were as many as there
    /// [may be](crate::Builder::max_outgoing_connections).
    #[must_use]
    pub fn outgoing_connections_refused(&self) -> u64 {
        self.inner().connection_cache().refused()
    }

    /// How many one-way requests of [`SyncScope::None`](crate::SyncScope::None) were not sent so far: those that were
    /// refused with TRANSIENT, since there was no room for them, and those that were dropped, since their connection
    /// could not be made. Requests that were queued when a connection was lost are not among them.
    #[must_use]
    pub fn one_ways_refused(&self) -> u64 {
        self.inner().deferred().refused()
    }
}
