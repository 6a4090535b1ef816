//! Public accessors of an ORB's counters.

use crate::orb::{Orb, OrbInner};
use std::sync::Arc;
use zorb_connection::{Counter, Counters};
use zorb_giop::ResponseFlags;

impl Orb {
    /// Returns the number of connections to other ORBs at present, including those that are being made or closed.
    #[must_use]
    pub fn outgoing_connections(&self) -> usize {
        self.inner().connection_cache().len()
    }

    /// Returns the octets of memory that connections hold at present, counted as for
    /// [`max_memory_octets`](crate::Builder::max_memory_octets).
    #[must_use]
    pub fn memory_octets(&self) -> usize {
        self.inner().connection_settings().memory.held()
    }

    /// Returns the counts of requests and connections that the ORB has refused, dropped, limited or timed out, by cause, as
    /// client and as server. The counters do not keep the ORB alive. Costs a reference count.
    ///
    /// ```
    /// # async fn example(orb: zorb::Orb) {
    /// for (cause, count) in orb.counters().iter() {
    ///     println!("zorb_{cause}_total {count}");
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.inner().connection_settings().counters)
    }
}

impl OrbInner {
    /// Counts a request or connection that was refused, dropped, limited or timed out.
    #[cold]
    pub(crate) fn count(&self, cause: Counter) {
        self.connection_settings().counters.count(cause);
    }

    /// Counts a request that was refused because of a limit on pending requests.
    #[cold]
    pub(crate) fn count_refused(&self, response: ResponseFlags) {
        self.count(Counter::PendingRequestsRefused);
        if response == ResponseFlags::None {
            self.count(Counter::OneWaysDropped);
        }
    }
}
