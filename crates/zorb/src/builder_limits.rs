//! Builder methods for what peers may do to the ORB: limits on their connections, upcalls, memory and time, callbacks
//! on their connections, and connections to the places that their references name.

use crate::bidirectional::CallbackRule;
use crate::builder::Builder;
use crate::orb_settings::OwnContexts;
use core::time::Duration;
use zorb_connection::Overload;
use zorb_giop::ServiceContextId;
use zorb_transport::{Address, Endpoint};

impl Builder {
    /// Sets the rule for callbacks on connections that clients have opened (bidirectional GIOP); without a rule there
    /// are none.
    ///
    /// The rule is called when a client offers its connection (context BI_DIR_IIOP, GIOP 1.2), with the client's
    /// address and each endpoint that it claims. If it returns `true`, calls to references that peers have passed and
    /// that name this endpoint use the connection, as long as it lives and no newer one offers the endpoint. A client can
    /// claim any endpoint, also that of another client: a rule that permits all of them is for networks whose clients are
    /// trusted with each other's callbacks. The connection is
    /// never used for references that the program has made itself, nor for those with
    /// [`BidirectionalPolicy::Normal`](crate::policy::BidirectionalPolicy::Normal).
    ///
    /// With a rule, accepted connections have no blocking reads, and each message is assigned to the client's or the
    /// server's half, which costs some tens of nanoseconds.
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
        self.settings.accept_bidirectional = Some(CallbackRule::new(rule));
        self
    }

    /// Limits the connections served at a time; 12,000 unless set, or 1,000 where each has a thread
    /// ([`build_blocking`](Self::build_blocking)).
    ///
    /// Further connections get CloseConnection, which means that none of their requests was processed, and are closed.
    ///
    /// Each takes a descriptor. A process with fewer descriptors (`RLIMIT_NOFILE`, `ulimit -n`) serves as many
    /// connections as leave 64 descriptors for other uses. It logs a warning if this method asked for more.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.settings.connections = Some(connections);
        self
    }

    /// Limits the connections served at a time that come from one host, so that one host cannot lock others out; five
    /// sixths of [`max_connections`](Self::max_connections) unless set.
    ///
    /// A host is an IPv4 address or an IPv6 network of 64 bits; all clients on UNIX sockets together are one host. Other
    /// transports name the host of a peer ([`Address::host`](crate::transport::Address::host)); hosts that they cannot
    /// identify are one.
    /// Where all clients share one address, that of a proxy or by NAT, set it to the value of `max_connections`.
    pub fn max_connections_per_host(mut self, connections: usize) -> Self {
        self.settings.serving.connections_per_host = Some(connections);
        self
    }

    /// Limits the time of requests that this ORB serves, from their arrival; none unless set. The smaller of this limit and the
    /// client's is the [deadline](crate::CurrentRequest::deadline) of a request. A request whose deadline has passed is TIMEOUT, COMPLETED_NO, if its servant
    /// has not been called yet; the calls of the servant have what is left as their limit; the upcall goes on, unless it is
    /// [cancellable](crate::Cancellable). Each request reads the clock.
    pub fn request_time_limit(mut self, limit: Duration) -> Self {
        self.settings.request_times.limit = Some(limit);
        self
    }

    /// Sets the time by which a client's clock may differ from this host's; one second unless set. A client may state by its
    /// clock until when its request is of use (REQUEST_END_TIME, as JacORB does): a request that is later than that by more than
    /// the tolerance is TIMEOUT, COMPLETED_NO. Clients of zorb state the time left instead, for which clocks do not matter.
    pub fn clock_tolerance(mut self, tolerance: Duration) -> Self {
        self.settings.request_times.clock_tolerance = tolerance;
        self
    }

    /// Whether a REPLY_END_TIME that a client states by its clock is the deadline of its request, later by the
    /// [tolerance](Self::clock_tolerance); off unless set, as in JacORB, since it needs clocks that agree. JacORB's clients state
    /// it with every call that has a round-trip timeout.
    #[doc(alias = "jacorb.poa.check_reply_end_time")]
    pub fn check_reply_end_time(mut self, check: bool) -> Self {
        self.settings.request_times.honours_reply_end = check;
        self
    }

    /// Whether requests carry the W3C trace context of the span of their call, for the spans of the server; on unless set, where
    /// the feature `opentelemetry` is on and a layer of OpenTelemetry is installed. Requests carry 96 octets more, or more with a
    /// `tracestate`.
    pub fn trace_contexts(mut self, send: bool) -> Self {
        self.settings.sends_trace_contexts = send;
        self
    }

    /// Measures calls and upcalls, for the recorder of the facade [`metrics`](https://docs.rs/metrics) that the program installs;
    /// off unless set. The counters `zorb_calls_total` and `zorb_upcalls_total` have the labels `operation` and `outcome` (`ok`,
    /// `user_exception`, `system_exception`, `forward`, `dropped`, `refused`), the histograms `zorb_call_seconds` and `zorb_upcall_seconds` the
    /// label `operation`; octets are `zorb_sent_octets_total`, `zorb_request_octets_total` and `zorb_reply_octets_total`. Only
    /// names of the IDL are labels: other operations are `other`. [`Orb::publish_metrics`](crate::Orb::publish_metrics) adds the
    /// state of the ORB.
    #[cfg(feature = "metrics")]
    pub fn metrics(mut self, measure: bool) -> Self {
        self.settings.metrics = measure;
        self
    }

    /// Sets the range of ids of zorb's own service contexts, by the first of 16 ids, whose last four bits are zero;
    /// [`ZORB_RANGE`](zorb_giop::ServiceContextId::ZORB_RANGE) unless set. Clients and servers that are to understand each
    /// other's deadlines and trace contexts have the same.
    pub fn own_context_ids(mut self, first: ServiceContextId) -> Self {
        self.settings.own_contexts = OwnContexts::beginning_at(first);
        self
    }

    /// Limits the upcalls that may be pending at a time, of all clients together; 65,536 unless set.
    ///
    /// An upcall is pending from when it has to wait (for its servant, a POA manager, a servant activator, a key
    /// resolver or a worker) until it has ended, even if its client has disconnected. At the limit, further requests
    /// wait or are refused: see [`overload`](Self::overload). A quarter is reserved for hosts with 64 or fewer pending
    /// upcalls, so that a few hosts cannot make all others wait.
    pub fn max_upcalls(mut self, upcalls: usize) -> Self {
        self.settings.serving.upcalls = Some(upcalls.max(1));
        self
    }

    /// Limits the [upcalls](Self::max_upcalls) of the clients of one [host](Self::max_connections_per_host) that may be
    /// pending at a time; 16,384 unless set.
    pub fn max_upcalls_per_host(mut self, upcalls: usize) -> Self {
        self.settings.serving.upcalls_per_host = Some(upcalls.max(1));
        self
    }

    /// Limits the [upcalls](Self::max_upcalls) of one connection that may be pending at a time; 4,096 unless set. The
    /// octets of their requests are limited too, by [`max_message_octets`](Self::max_message_octets).
    #[doc(alias = "maxServerThreadPerConnection")]
    pub fn max_upcalls_per_connection(mut self, upcalls: usize) -> Self {
        self.settings.serving.upcalls_per_connection = Some(upcalls.max(1));
        self
    }

    /// Sets the policy for requests beyond the limits on [upcalls](Self::max_upcalls); [`Overload::Wait`] unless set.
    /// It makes them wait: once 256 requests or 64 KiB of a connection wait, the connection is not read until there is
    /// room, so that its client waits in the end.
    ///
    /// CancelRequest and CloseConnection behind waiting requests are read all the same, and so are replies to the
    /// server's own calls. With bidirectional GIOP, such replies may be behind requests of the same connection: there,
    /// further requests are refused with TRANSIENT instead of being left unread. The same holds where clients have
    /// disconnected, since the end of a connection is behind its requests. A server deadlocks if as many of its pending
    /// upcalls as the limit permits call clients that call it back on the same connection: it needs a higher limit, or
    /// [`Overload::Refuse`].
    pub fn overload(mut self, overload: Overload) -> Self {
        self.settings.serving.overload = overload;
        self
    }

    /// Closes connections of peers that make no progress for this long; the limit is 30 seconds unless set. Zero
    /// switches these checks off; slow clients are still closed while memory is scarce
    /// ([`max_memory_octets`](Self::max_memory_octets)).
    ///
    /// A client has to make progress within a message, from the first octet of its header to the last one of its last
    /// fragment, and while replies wait for it. Its connection has to move 240 octets a second, averaged over each such
    /// time, and enough to finish the data held for it within ten minutes: a message of 64 MiB needs 112 KB/s. A
    /// connection is closed between once and twice this time after its client has stopped, as the ORB looks once a
    /// second at most. A connection on which no octet has come is closed after 60 seconds. A client that has called may
    /// be silent as long as [`idle_timeout`](Self::idle_timeout) permits.
    ///
    /// A server that has begun a reply has to make progress in the same way, or its connection is closed and the calls
    /// on it are COMM_FAILURE. [`round_trip_timeout`](Self::round_trip_timeout) limits the time before the reply
    /// begins.
    #[doc(alias = "serverCallTimeOutPeriod")]
    pub fn stall_timeout(mut self, limit: Duration) -> Self {
        self.settings.stall_timeout = (!limit.is_zero()).then_some(limit);
        self
    }

    /// Limits the octets of memory that connections may hold in all, for unfinished messages; 512 MiB unless set.
    ///
    /// The capacity of these buffers counts: of messages and fragments that are being read, of requests that wait or
    /// whose upcalls have not ended, and of replies that clients have not read yet. Each connection counts for 16 KiB
    /// besides. The memory of decoded arguments is limited for each request: see
    /// [`max_decoded_memory`](Self::max_decoded_memory). Memory of servants, and results that calls have returned, do
    /// not count.
    ///
    /// What requests are decoded to counts until their upcalls end, and what replies are decoded to while they are decoded,
    /// the stack of [values](crate::Value) within each other included, but for the first 8 KiB of each. A message whose
    /// values do not fit is NO_RESOURCES.
    ///
    /// Connections to other ORBs count too: 16 KiB each, replies that are being read, and requests that wait to be
    /// sent, which are never refused for it.
    ///
    /// From three quarters of the limit on, requests that would have to wait are TRANSIENT, and long replies of pending
    /// upcalls are NO_RESOURCES if other replies are still unread. Of the clients for which the ORB holds more than
    /// they move in ten seconds, the connections that hold most are closed. The last eighth of the limit is kept for
    /// hosts whose connections hold few octets: one in 256 of the limit or 256 KiB, whichever is more. So one host
    /// gets seven eighths, even if it is the only one. At the limit, new connections of clients are closed at once. A
    /// connection whose message or reply does not fit is closed, and calls that wait for a reply there are
    /// COMM_FAILURE. [`Orb::counters`](crate::Orb::counters) counts all of these.
    pub fn max_memory_octets(mut self, octets: usize) -> Self {
        self.settings.max_memory = octets;
        self
    }

    /// Limits the octets of memory that the decoded arguments or results of one message may take: `for_each_octet` for
    /// each octet of the message, and `beside` for any message; 16 and 256 KiB unless set. A message that takes more is
    /// MARSHAL.
    ///
    /// Elements that are large in memory and small in a message take most: a union with a large member, a struct with
    /// many strings that are empty. An interface with long sequences of such elements needs more; a server of
    /// interfaces without them can do with less. Text, octets and numbers are not counted, since they take about as
    /// much memory as in the message.
    pub fn max_decoded_memory(mut self, for_each_octet: usize, beside: usize) -> Self {
        let limits = zorb_cdr::Limits::default();
        let limits = limits.with_memory(for_each_octet);
        self.settings.decoding = Some(limits.with_least_memory(beside));
        self
    }

    /// Limits the depth of POAs: the names from below the root POA to one; 64 unless set. A deeper one is not created
    /// ([`AdapterError::TooDeep`](crate::AdapterError::TooDeep)), and a request whose key names a deeper one is
    /// OBJECT_NOT_EXIST, without asking an adapter activator or the key resolver.
    pub fn max_poa_depth(mut self, names: usize) -> Self {
        self.settings.max_poa_depth = names;
        self
    }

    /// Limits the connections to other ORBs at a time; unless set, half as many as the process may have descriptors,
    /// and 10,000 at most. Connections that are being made or closed count. A quarter is reserved for endpoints that
    /// the program or its operator named: endpoints in references of peers get at most three quarters.
    ///
    /// At the limit, a call that needs another connection closes the least recently used idle one, which is
    /// [counted](crate::Counter::OutgoingConnectionsPurged); a call to an endpoint that a peer named closes only
    /// connections to such endpoints. A connection with calls in progress is never closed: if all are busy the call is
    /// TRANSIENT, COMPLETED_NO, and [counted](crate::Counter::OutgoingConnectionsRefused). Connections also end when
    /// their peer closes them, or by [`idle_timeout`](Self::idle_timeout).
    #[doc(alias = "-ORBConnectionCacheMax")]
    pub fn max_outgoing_connections(mut self, connections: usize) -> Self {
        self.settings.max_outgoing = Some(connections);
        self
    }

    /// Limits the connections to one host at a time, whatever the port; 256 unless set. All UNIX sockets count as one
    /// host, and two names of a host count as two. A connection serves all callers of a runtime.
    ///
    /// At the limit, a call that needs another connection closes an idle one to the host, or fails, as described at
    /// [`max_outgoing_connections`](Self::max_outgoing_connections).
    #[doc(alias = "maxGIOPConnectionPerServer")]
    pub fn max_connections_to_host(mut self, connections: usize) -> Self {
        self.settings.max_to_host = Some(connections);
        self
    }

    /// Sets the number of connections that the references to one endpoint share; 1 unless set, and for 0. Each
    /// reference uses one of them, so its calls keep their order.
    ///
    /// One connection serves any number of callers, and sends their requests in batches. Several connections pay where
    /// long messages of some callers would make others wait, or where the server has a thread for each connection.
    #[doc(alias = "maxGIOPConnectionPerServer")]
    pub fn connections_to_endpoint(mut self, connections: usize) -> Self {
        self.settings.to_endpoint = connections.max(1);
        self
    }

    /// Sets whether the ORB connects to a UNIX socket that a peer names; `false` unless set. A peer names one by a
    /// reference in an argument, a result or a forward; a naming service does so, too. With `true`, a peer can make
    /// this process connect to any socket of its host that this process may connect to.
    ///
    /// With `false`, such a reference is used by its other endpoints; a call is IMP_LIMIT if there is none. Sockets
    /// that the application has named itself ([`Orb::string_to_object`](crate::Orb::string_to_object),
    /// [`Orb::object`](crate::Orb::object), initial references) are always permitted, also when a peer names them
    /// again: a server that is found by its UNIX socket may return references to its other objects.
    pub fn unix_sockets_of_peers(mut self, permitted: bool) -> Self {
        self.settings.unix_sockets_of_peers = permitted;
        self
    }
}
