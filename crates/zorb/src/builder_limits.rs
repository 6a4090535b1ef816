//! Limits of the builder on connections, upcalls and memory of peers.

use crate::both_ways::Rule;
use crate::builder::Builder;
use core::time::Duration;
use zorb_connection::Overload;
use zorb_transport::{Address, Endpoint};

impl Builder {
    /// Sets the rule for callbacks on connections that clients have opened (bidirectional GIOP): none unless set.
    ///
    /// The rule is asked when a client offers its connection (context BI_DIR_IIOP, GIOP 1.2), for the client's address
    /// and each endpoint for which it claims to stand. From then on, calls to references that peers have passed, and that
    /// name such an endpoint, go over this connection, as long as it lives. A client can claim any endpoint: a rule that
    /// permits all of them is for networks whose clients are trusted with each other's callbacks. References that the
    /// program has made itself are never called so, nor those with
    /// [`BidirectionalPolicy::Normal`](crate::policy::BidirectionalPolicy::Normal).
    ///
    /// With a rule, connections that are accepted have no blocking reads, and each of them finds out for each message whose
    /// it is: some tens of nanoseconds.
    ///
    /// ```
    /// use zorb::transport::{Address, Endpoint};
    ///
    /// // Clients of this host may, and claim what they like.
    /// let builder = zorb::Orb::builder().accept_bidirectional(|client: &Address, _: &Endpoint| {
    ///     matches!(client, Address::Inet(address) if address.ip().is_loopback())
    /// });
    /// ```
    #[doc(alias = "acceptBiDirectionalGIOP")]
    #[doc(alias = "BidirectionalPolicy")]
    pub fn accept_bidirectional(
        mut self,
        rule: impl Fn(&Address, &Endpoint) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.settings.accept_bidirectional = Some(Rule::new(rule));
        self
    }

    /// Connections served at a time; 12,000 unless set, or 1,000 where each has a thread
    /// ([`build_blocking`](Self::build_blocking)).
    ///
    /// Further ones get CloseConnection as they come, so that their clients know that none of their requests was
    /// processed, and are closed.
    ///
    /// Each takes a descriptor. A process that may have fewer (`RLIMIT_NOFILE`, `ulimit -n`) serves as many connections as
    /// leave 64 descriptors for other things, and logs a warning that says so when more were asked for here.
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
    /// pending as may be wait, or are refused: see [`overload`](Self::overload). One in four is kept for hosts that have 64 or
    /// fewer pending, so that a few hosts cannot make all others wait.
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

    /// The policy for requests beyond the limits on [upcalls](Self::max_upcalls); [`Overload::Wait`] unless set: they wait,
    /// and once 256 of a connection wait, or 64 KiB of them, the connection is not read until there is room, which in the
    /// end makes its client wait.
    ///
    /// CancelRequest and CloseConnection behind requests that wait are read all the same, and so are replies to calls of the
    /// server's own. With bidirectional GIOP these may be behind requests of the same connection: there, further requests are
    /// refused with TRANSIENT instead of being left unread. So are they where clients have gone, as the end of a connection
    /// is behind its requests. A server whose pending upcalls call clients back that call the
    /// server within, on the same connection, and as often as the limit says, waits for itself: such a server wants a
    /// higher limit, or [`Overload::Refuse`].
    pub fn overload(mut self, overload: Overload) -> Self {
        self.settings.serving.overload = overload;
        self
    }

    /// Closes connections of peers that make no progress for this long; 30 seconds unless set, and with zero none is closed.
    ///
    /// A client has to make progress when a message of its has begun, from the first octet of its header to its last one, last
    /// fragment included, and when replies wait for it: 240 octets a second have to move, on the average of each such time,
    /// and so many that what is held for it is done within ten minutes. A message of 64 MiB may so come at 112 KB/s. A
    /// connection is closed between once and twice this time after its client has stopped, one without a message after 60
    /// seconds. A client that has called may be quiet for as long as [`idle_timeout`](Self::idle_timeout) says.
    ///
    /// A server that has begun a reply has to make progress in the same way, or its connection is closed and the calls on it
    /// are COMM_FAILURE; how long it may take before it begins is the business of
    /// [`round_trip_timeout`](Self::round_trip_timeout).
    #[doc(alias = "serverCallTimeOutPeriod")]
    pub fn stall_timeout(mut self, limit: Duration) -> Self {
        self.settings.stall_timeout = (!limit.is_zero()).then_some(limit);
        self
    }

    /// How many octets of memory connections may hold in all, for messages that are not done yet; 512 MiB unless set.
    ///
    /// Counted are the buffers, with all of their room, of messages and fragments that have begun to come, of requests that
    /// wait or whose upcalls have not ended, and of replies that clients have not read yet; and 16 KiB for each connection. What
    /// arguments are decoded to is bounded for each request: see [`max_decoded_memory`](Self::max_decoded_memory). What servants
    /// keep, and results that calls have got, is the program's.
    ///
    /// Connections to other ORBs count too: 16 KiB each, replies that have begun to come, and requests that wait to be sent,
    /// which are never refused for it.
    ///
    /// From three quarters of it on, requests that would have to wait are TRANSIENT, long replies of upcalls that have waited
    /// are NO_RESOURCES if others are not read yet, and of the clients that make the ORB hold more than they move in ten
    /// seconds those are closed that hold most. At the limit, new connections of clients are closed as they come, and a
    /// connection whose message or reply does not fit any more is closed: calls that wait for a reply there are COMM_FAILURE.
    /// [`Orb::counters`](crate::Orb::counters) counts all of these.
    pub fn max_memory_octets(mut self, octets: usize) -> Self {
        self.settings.max_memory = octets;
        self
    }

    /// How many octets of memory the arguments or results in one message may be decoded to: so many for each octet of the
    /// message, and `beside` for any message; 16 and 256 KiB unless set. A message that takes more is MARSHAL.
    ///
    /// Elements that are large in memory and small in a message take most: a union with a large member, a struct with many
    /// strings that are empty. An interface with long sequences of such wants more; a server of interfaces without them
    /// can do with less. Text, octets and numbers are not counted, as they take about what they take in the message.
    pub fn max_decoded_memory(mut self, for_each_octet: usize, beside: usize) -> Self {
        let limits = zorb_cdr::Limits::default();
        let limits = limits.with_memory(for_each_octet);
        self.settings.decoding = Some(limits.with_least_memory(beside));
        self
    }

    /// Connections to other ORBs at a time; unless set, half as many as the process may have descriptors, and 10,000 at
    /// most. Those that are being made count, and those that are being closed. A quarter of them is for the endpoints
    /// that the program or its operator named: references that peers pass lead to no more than the other three.
    ///
    /// A call that needs another one has the idle connection closed whose last use is the longest ago, which is
    /// [counted](crate::Counter::OutgoingConnectionsPurged); one that leads where a peer has said closes only connections
    /// that are there for references of peers. A connection with calls in progress is never closed: if all are busy the
    /// call is TRANSIENT, COMPLETED_NO, and [counted](crate::Counter::OutgoingConnectionsRefused). Connections are closed
    /// besides when their peer closes them, or by [`idle_timeout`](Self::idle_timeout).
    #[doc(alias = "-ORBConnectionCacheMax")]
    pub fn max_outgoing_connections(mut self, connections: usize) -> Self {
        self.settings.max_outgoing = Some(connections);
        self
    }

    /// Connections to one host at a time, whatever the port; 256 unless set. All UNIX sockets count as one host, and
    /// two names of a host as two. A connection serves all callers of a runtime.
    ///
    /// A call that needs another one has an idle one to the host closed, or fails, as
    /// [`max_outgoing_connections`](Self::max_outgoing_connections) says.
    #[doc(alias = "maxGIOPConnectionPerServer")]
    pub fn max_connections_to_host(mut self, connections: usize) -> Self {
        self.settings.max_to_host = Some(connections);
        self
    }

    /// Connections that the references to one endpoint are spread over; 1 unless set, and for 0. Each reference keeps to
    /// one of them, so its calls keep their order.
    ///
    /// One connection serves any number of callers, and joins what they send. Several pay where long messages of some
    /// callers would make others wait, or where the server serves each connection by a thread of its own.
    #[doc(alias = "maxGIOPConnectionPerServer")]
    pub fn connections_to_endpoint(mut self, connections: usize) -> Self {
        self.settings.to_endpoint = connections.max(1);
        self
    }

    /// Whether a UNIX socket that a peer names is connected to; `false` unless set. A peer names one by a reference in
    /// an argument, a result or a forward: that of a naming service, too. With `true`, it can have this process
    /// connect to any socket of its host that this process may connect to.
    ///
    /// Without it such a reference is used by its other endpoints; a call is IMP_LIMIT where there is none.
    /// Sockets that the application has named itself ([`Orb::string_to_object`](crate::Orb::string_to_object), [`Orb::object`](crate::Orb::object), initial references)
    /// are connected to, also when a peer names them again: a server that is found by its UNIX socket may return references
    /// to its other objects.
    pub fn unix_sockets_of_peers(mut self, permitted: bool) -> Self {
        self.settings.unix_sockets_of_peers = permitted;
        self
    }
}
