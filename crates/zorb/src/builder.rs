//! How an ORB is described before it starts.

use crate::error::Error;
use crate::orb::Orb;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;
use zorb_executor::{Dispatch, Lane};
use zorb_giop::Limits;
use zorb_transport::{Endpoint, Registry, Transport};

/// How long connecting may take by default.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections served at a time by default: each costs a descriptor, a task and, while a message
/// is half there, a buffer.
const MAX_CONNECTIONS: usize = 10_000;

/// Describes an ORB; [`build`](Self::build) starts it.
#[derive(Debug)]
#[must_use = "nothing starts before build()"]
pub struct Builder {
    listen: Vec<String>,
    lane: Option<Lane>,
    dispatch: Option<Dispatch>,
    settings: Settings,
}

/// What a running ORB goes by.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) listen: Vec<Endpoint>,
    pub(crate) publish_host: Option<String>,
    pub(crate) server_id: String,
    pub(crate) transports: Registry,
    pub(crate) initial_references: BTreeMap<String, String>,
    pub(crate) round_trip_timeout: Option<Duration>,
    pub(crate) connect_timeout: Duration,
    pub(crate) limits: Limits,
    pub(crate) max_fragment_octets: Option<usize>,
    pub(crate) max_connections: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            lane: None,
            dispatch: None,
            settings: Settings {
                listen: Vec::new(),
                publish_host: None,
                server_id: String::new(),
                transports: Registry::default(),
                initial_references: BTreeMap::new(),
                round_trip_timeout: None,
                connect_timeout: CONNECT_TIMEOUT,
                limits: Limits::default(),
                max_fragment_octets: None,
                max_connections: MAX_CONNECTIONS,
            },
        }
    }
}

impl Builder {
    /// Listens there: `iiop://host:port` (port 0: any free one), `uiop:///path`. May be repeated;
    /// references name the endpoints in this order. An ORB that listens nowhere is a client.
    #[doc(alias = "-ORBendPoint")]
    #[doc(alias = "-ORBListenEndpoints")]
    pub fn listen(mut self, endpoint: impl Into<String>) -> Self {
        self.listen.push(endpoint.into());
        self
    }

    /// The host that references name in place of the one listened to, for servers behind NAT or
    /// in containers.
    #[doc(alias = "-ORBendPointPublish")]
    pub fn publish_host(mut self, host: impl Into<String>) -> Self {
        self.settings.publish_host = Some(host.into());
        self
    }

    /// What the keys of persistent objects call this server; empty unless set. Servers that could
    /// be taken for each other (the same host and port at different times, the same names of
    /// adapters) want different ids: a reference to the one is OBJECT_NOT_EXIST at the other then.
    #[doc(alias = "-ORBServerId")]
    #[doc(alias = "implName")]
    pub fn server_id(mut self, id: impl Into<String>) -> Self {
        self.settings.server_id = id.into();
        self
    }

    /// Names an initial reference: any object URL. Read when it is first resolved.
    #[doc(alias = "-ORBInitRef")]
    pub fn initial_reference(mut self, name: impl Into<String>, url: impl Into<String>) -> Self {
        self.settings
            .initial_references
            .insert(name.into(), url.into());
        self
    }

    /// Calls fail with TIMEOUT when no reply has come after this long. By default they wait as
    /// long as the connection lives.
    #[doc(alias = "RelativeRoundtripTimeoutPolicy")]
    #[doc(alias = "clientCallTimeOutPeriod")]
    pub fn round_trip_timeout(mut self, limit: Duration) -> Self {
        self.settings.round_trip_timeout = Some(limit);
        self
    }

    /// How long connecting to one endpoint may take; 10 seconds unless set.
    #[doc(alias = "clientConnectTimeOutPeriod")]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.settings.connect_timeout = limit;
        self
    }

    /// Refuses messages longer than this many octets, header included, in both directions of
    /// reading; 64 MiB unless set.
    #[doc(alias = "giopMaxMsgSize")]
    pub fn max_message_octets(mut self, octets: usize) -> Self {
        self.settings.limits.max_message_octets = octets;
        self.settings.limits.max_partial_octets = octets;
        self
    }

    /// Cuts messages longer than this many octets into fragments of at most as many, headers
    /// included: requests and replies, in GIOP 1.1 and 1.2. Fewer than 64 count as 64, since more
    /// than a quarter of what is sent would be headers.
    ///
    /// Unset, messages are sent whole, whatever their length, except to peers that are known to
    /// end the connection then (ORBs of GlassFish's family, told by
    /// TAG_RMI_CUSTOM_MAX_STREAM_FORMAT in a reference without an ORB type): they get fragments of
    /// 64 KiB. Set it for a peer or a gateway that takes long messages only in pieces.
    ///
    /// In GIOP 1.2 messages that are not cut pass between the pieces of one that is, so a large
    /// argument does not delay the small calls on its connection, and may be overtaken by calls
    /// that were begun later without waiting for it. A message of GIOP 1.1 is cut only inside long
    /// sequences of octets, of numbers of at most 4 octets, and strings; a piece without such a
    /// place is longer. GIOP 1.0 knows no fragments.
    #[doc(alias = "ORBFragmentSize")]
    pub fn max_fragment_octets(mut self, octets: usize) -> Self {
        self.settings.max_fragment_octets = Some(octets.max(zorb_giop::Fragments::MIN_OCTETS));
        self
    }

    /// Connections served at a time; 10,000 unless set. Further ones are closed as they come.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.settings.max_connections = connections.min(tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// Adds a transport, or replaces the one for its scheme.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.settings.transports.insert(transport);
        self
    }

    /// Where the ORB lives, instead of the runtime that [`build`](Self::build) is called in.
    pub fn lane(mut self, lane: Lane) -> Self {
        self.lane = Some(lane);
        self
    }

    /// How upcalls are run; in place unless set.
    ///
    /// In place, a servant that blocks or computes for long holds one worker of the runtime: the
    /// other connections go on as long as another worker is free, so a current-thread runtime
    /// promises nothing. [`Dispatch::BlockInPlace`] (multi-thread runtimes) and
    /// [`Dispatch::Pool`] promise it however many servants block, for the price of a hand-over
    /// per request.
    pub fn dispatch(mut self, dispatch: Dispatch) -> Self {
        self.dispatch = Some(dispatch);
        self
    }

    /// Starts the ORB: listens, and serves what comes once a POA manager is active.
    ///
    /// # Errors
    /// [`Error::Endpoint`] for text that is no endpoint, [`Error::Transport`] when listening
    /// fails, [`Error::Lane`] outside a tokio runtime.
    ///
    /// # Cancel safety
    /// Safe: what was begun is closed again.
    pub async fn build(mut self) -> Result<Orb, Error> {
        let mut lane = match self.lane {
            Some(lane) => lane,
            None => Lane::current()?,
        };
        if let Some(dispatch) = self.dispatch {
            lane = lane.with_dispatch(dispatch)?;
        }
        self.settings.listen = self
            .listen
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, _>>()?;
        // Listeners belong to the reactor of the lane.
        let home = lane.handle().clone();
        let starting = Orb::start(self.settings, lane);
        if tokio::runtime::Handle::try_current().is_ok_and(|current| current.id() == home.id()) {
            return starting.await;
        }
        match home.spawn(starting).await {
            Ok(started) => started,
            Err(_) => Err(Error::Lane(zorb_executor::LaneError::NoRuntime)),
        }
    }
}

impl Settings {
    /// What references say of an endpoint that is listened to.
    pub(crate) fn publish(&self, endpoint: &Endpoint) -> Vec<Endpoint> {
        let Endpoint::Iiop { host, port } = endpoint else {
            return vec![endpoint.clone()];
        };
        if let Some(published) = &self.publish_host {
            return vec![Endpoint::iiop(published.clone(), *port)];
        }
        let unspecified = host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_unspecified());
        if !unspecified {
            return vec![endpoint.clone()];
        }
        // Every address by which others may reach us; the loopback only when there is no other.
        let v6 = host.contains(':');
        let mut addresses: Vec<_> = if_addrs::get_if_addrs()
            .unwrap_or_default()
            .into_iter()
            .filter(|interface| !interface.is_link_local())
            .map(|interface| interface.ip())
            .filter(|address| v6 || address.is_ipv4())
            .collect();
        if addresses.iter().any(|address| !address.is_loopback()) {
            addresses.retain(|address| !address.is_loopback());
        }
        if addresses.is_empty() {
            addresses.push(std::net::Ipv4Addr::LOCALHOST.into());
        }
        addresses
            .into_iter()
            .map(|address| Endpoint::iiop(address.to_string(), *port))
            .collect()
    }
}
