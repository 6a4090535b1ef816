//! The limits on what peers have an ORB serve at a time, as the builder takes them.

use crate::builder::Builder;
use zorb_connection::Overload;

impl Builder {
    /// Connections served at a time; 12,000 unless set, or 1,000 where each has a thread
    /// ([`build_blocking`](Self::build_blocking)).
    ///
    /// Further ones get CloseConnection as they come, so that their clients know that none of their requests was
    /// processed, and are closed. A process needs as many descriptors (`ulimit -n`).
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.settings.connections = Some(connections);
        self
    }

    /// Connections served at a time that come from one host, so that one host cannot lock others out; five sixths of
    /// [`max_connections`](Self::max_connections) unless set.
    ///
    /// A host is an IPv4 address or an IPv6 network of 64 bits; all clients on UNIX sockets together are one. Where all
    /// clients come through one address, of a proxy or by NAT, set it to what `max_connections` is.
    pub fn max_connections_per_host(mut self, connections: usize) -> Self {
        self.settings.serving.connections_per_host = Some(connections);
        self
    }

    /// Upcalls that may be pending at a time, of all clients together; 65,536 unless set.
    ///
    /// An upcall is pending from when it has to wait, for its servant, a POA manager, a servant activator, a key resolver
    /// or a worker, until it has ended: also when its client is gone by then. Requests that come while as many upcalls are
    /// pending as may be wait, or are refused: see [`overload`](Self::overload).
    pub fn max_upcalls(mut self, upcalls: usize) -> Self {
        self.settings.serving.upcalls = Some(upcalls.max(1));
        self
    }

    /// [Upcalls](Self::max_upcalls) of the clients of one [host](Self::max_connections_per_host) that may be pending at a
    /// time; 16,384 unless set.
    pub fn max_upcalls_per_host(mut self, upcalls: usize) -> Self {
        self.settings.serving.upcalls_per_host = Some(upcalls.max(1));
        self
    }

    /// [Upcalls](Self::max_upcalls) of one connection that may be pending at a time; 4,096 unless set. The octets of their
    /// requests are limited too, by [`max_message_octets`](Self::max_message_octets).
    #[doc(alias = "maxServerThreadPerConnection")]
    pub fn max_upcalls_per_connection(mut self, upcalls: usize) -> Self {
        self.settings.serving.upcalls_per_connection = Some(upcalls.max(1));
        self
    }

    /// What happens to requests beyond the limits on [upcalls](Self::max_upcalls); [`Overload::Wait`] unless set: they wait,
    /// and once 256 of a connection wait, or 64 KiB of them, the connection is not read until there is room, which in the
    /// end makes its client wait.
    ///
    /// CancelRequest and CloseConnection behind requests that wait are read all the same, and so are replies to calls of
    /// the server's own, which come on other connections. A server whose pending upcalls call clients back that call the
    /// server within, on the same connection, and as often as the limit says, waits for itself: such a server wants a
    /// higher limit, or [`Overload::Refuse`].
    pub fn overload(mut self, overload: Overload) -> Self {
        self.settings.serving.overload = overload;
        self
    }
}
