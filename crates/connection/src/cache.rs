//! The connections of an ORB's clients: one for all references to an endpoint.

use super::both_ways::{BothWays, Offer};
use super::client::ClientConnection;
use super::counters::{Counter, Counters};
use super::end::FINISHED_WITHIN;
use super::owner::{PeerOrb, Settings};
use super::silent::SilentEndpoints;
use super::spin::{BusyConnections, SpinLimits};
use super::trace;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::runtime::{Handle, Id};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zorb_cdr::{CharSet, WCharSet};
use zorb_giop::ServiceContext;
use zorb_giop::codeset::CodeSets;
use zorb_transport::{Endpoint, Registry, TransportError};

/// What a connection is shared by: everything that makes two callers unable to share one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheKey {
    endpoint: Endpoint,
    /// The reactor that watches the socket: no caller waits for octets on a foreign one.
    reactor: Id,
    /// The code sets of the connection, and whether its requests state them.
    code_sets: (CharSet, WCharSet),
    stated: bool,
    /// Which connections it is one of.
    way: WayKey,
}

/// What connections are told apart by, beside their endpoints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum WayKey {
    #[default]
    Opened,
    Offered,
    /// The connection that was accepted, by its number.
    Accepted(u64),
}

/// How a client gets its connection.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Way {
    /// It is opened, for its requests alone.
    Opened,
    /// It is opened, and offered to the peer for requests (bidirectional GIOP).
    Offered(Arc<dyn Offer>),
    /// The peer has opened it, and offered it.
    Accepted(Arc<BothWays>),
}

impl Way {
    fn key(&self) -> WayKey {
        match self {
            Self::Opened => WayKey::Opened,
            Self::Offered(_) => WayKey::Offered,
            Self::Accepted(whole) => WayKey::Accepted(whole.number()),
        }
    }

    /// What requests say of it, until they are heard.
    pub(crate) fn context(&self) -> Option<ServiceContext> {
        match self {
            Self::Offered(offer) => Some(offer.context()),
            Self::Opened | Self::Accepted(_) => None,
        }
    }
}

impl CacheKey {
    /// The key of connections to an endpoint for the callers of a runtime. `stated`: whether the server states code
    /// sets, so that requests state which ones were chosen.
    #[must_use]
    pub fn new(endpoint: Endpoint, home: &Handle, code_sets: CodeSets, stated: bool) -> Self {
        Self {
            endpoint,
            reactor: home.id(),
            code_sets: (code_sets.char_set, code_sets.wchar_set),
            stated,
            way: WayKey::default(),
        }
    }

    /// The key of connections that are made in another way than by opening them for requests of this end alone.
    #[must_use]
    pub fn in_way(mut self, way: &Way) -> Self {
        self.way = way.key();
        self
    }
}

type Connected = Result<Arc<ClientConnection>, Arc<ConnectError>>;
/// The result of one attempt to connect, once there is one.
type Entry = watch::Receiver<Option<Connected>>;
type Publish = watch::Sender<Option<Connected>>;
type Entries = Mutex<HashMap<CacheKey, Entry>>;

/// How many connections a cache has at most: those that are being made included, and those that are being closed.
///
/// A reference that a peer has passed leads wherever the peer likes. Without a limit, references to ever other
/// addresses take every descriptor of the process.
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
    fn all_for(self, named_by: NamedBy) -> usize {
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

/// Who has named an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum NamedBy {
    /// The program or its operator.
    Application,
    /// A peer: by a reference in an argument, a result or a forward.
    Peer,
}

/// The connections of an ORB's clients.
#[derive(Debug, Default)]
pub struct ConnectionCache {
    entries: Arc<Entries>,
    limits: ConnectionLimits,
    counters: Arc<Counters>,
    /// No connection is made any more. Changes under the lock of the entries only.
    closed: CancellationToken,
    /// The tasks that connect and drive connections.
    drivers: TaskTracker,
}

/// How a connection is made.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a connection needs all of these")]
pub struct ConnectSettings {
    /// How connections of the ORB behave.
    pub connection: Settings,
    /// Endpoints that did not answer lately.
    pub silent: SilentEndpoints,
    /// The code sets of the connection.
    pub code_sets: CodeSets,
    /// Whether the peer takes long messages in fragments only.
    pub needs_fragments: bool,
    /// Which ORB the peer is.
    pub peer: PeerOrb,
    /// The transports to connect by.
    pub transports: Registry,
    /// How long connecting may take.
    pub timeout: Duration,
    /// How adaptive waits spin.
    pub spin: SpinLimits,
    /// Which connections of the ORB are busy.
    pub busy: Arc<BusyConnections>,
    /// How the connection is made.
    pub way: Way,
}

fn lock(entries: &Entries) -> MutexGuard<'_, HashMap<CacheKey, Entry>> {
    entries.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ConnectionCache {
    /// A cache of at most so many connections. Those that its limits do not let be made are counted, and those that do
    /// not come to be in time.
    #[must_use]
    pub fn new(limits: ConnectionLimits, counters: Arc<Counters>) -> Self {
        Self {
            limits,
            counters,
            ..Self::default()
        }
    }

    /// The connections that there are, those included that are being made or closed.
    #[must_use]
    pub fn len(&self) -> usize {
        // A connection leaves the entries before its driver has closed it, and enters them before it has one.
        lock(&self.entries).len().max(self.drivers.len())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The connection for `key`: the one there is, or a new one. Callers that ask at the same
    /// time wait for the same attempt, which is a task of its own: none of them has to be polled
    /// for the others to get on.
    ///
    /// # Errors
    /// See [`ConnectError`].
    ///
    /// # Cancel safety
    /// Safe: the attempt goes on for others.
    pub async fn connection(
        &self,
        key: &CacheKey,
        home: &Handle,
        named_by: NamedBy,
        settings: impl Fn() -> ConnectSettings,
    ) -> Connected {
        loop {
            let (mut entry, publish) = self.entry(key, named_by)?;
            if let Some(publish) = publish {
                self.begin(key, home, settings(), entry.clone(), publish);
            }
            let connected = match entry.wait_for(Option::is_some).await {
                Ok(connected) => connected.clone(),
                Err(_) => None,
            };
            match connected {
                Some(Ok(connection)) if connection.is_over() => remove(&self.entries, key, &entry),
                Some(Ok(connection)) => return Ok(connection),
                failed => {
                    remove(&self.entries, key, &entry);
                    return failed.unwrap_or_else(|| {
                        Err(Arc::new(ConnectError::NoRuntime {
                            endpoint: key.endpoint.clone(),
                        }))
                    });
                }
            }
        }
    }

    /// The entry for `key`, and for the caller that made it the sender of its result.
    ///
    /// # Errors
    /// Once the cache is closed, and where a limit permits no further entry.
    fn entry(
        &self,
        key: &CacheKey,
        named_by: NamedBy,
    ) -> Result<(Entry, Option<Publish>), Arc<ConnectError>> {
        let mut entries = lock(&self.entries);
        if self.closed.is_cancelled() {
            return Err(Arc::new(ConnectError::ShutDown));
        }
        if let Some(entry) = entries.get(key) {
            return Ok((entry.clone(), None));
        }
        if let Err(error) = self.admit(&entries, key, named_by) {
            self.counters.count(Counter::OutgoingConnectionsRefused);
            return Err(Arc::new(error));
        }
        let (publish, entry) = watch::channel(None);
        entries.insert(key.clone(), entry.clone());
        Ok((entry, Some(publish)))
    }

    /// Whether the limits permit another connection.
    fn admit(
        &self,
        entries: &HashMap<CacheKey, Entry>,
        key: &CacheKey,
        named_by: NamedBy,
    ) -> Result<(), ConnectError> {
        let refused = |what, limit| ConnectError::TooMany {
            endpoint: key.endpoint.clone(),
            what,
            limit,
        };
        let all = self.limits.all_for(named_by);
        if entries.len().max(self.drivers.len()) >= all {
            return Err(refused("in all", all));
        }
        let by_host = self.limits.by_host;
        let is_there = |other: &&CacheKey| is_same_host(&other.endpoint, &key.endpoint);
        // Counted only where a connection is made, which costs more.
        if entries.len() >= by_host && entries.keys().filter(is_there).count() >= by_host {
            return Err(refused("to one host", by_host));
        }
        Ok(())
    }

    /// Connects and drives the connection, in the runtime whose reactor watches it.
    fn begin(
        &self,
        key: &CacheKey,
        home: &Handle,
        settings: ConnectSettings,
        entry: Entry,
        publish: Publish,
    ) {
        let forget = Forget {
            entries: Arc::downgrade(&self.entries),
            key: key.clone(),
            entry,
        };
        let closed = self.closed.clone();
        let driver = async move {
            let key = &forget.key;
            let mut settings = settings;
            let connected = tokio::select! {
                connected = connect(&key.endpoint, &mut settings) => connected,
                () = closed.cancelled() => Err(ConnectError::ShutDown),
            };
            let stream = match connected {
                Ok(stream) => stream,
                Err(error) => {
                    trace::not_connected(&key.endpoint, &error);
                    publish.send_replace(Some(Err(Arc::new(error))));
                    return;
                }
            };
            let connection = Arc::new(ClientConnection::new(
                stream,
                key.endpoint.clone(),
                key.stated,
                &settings,
            ));
            trace::connected(&key.endpoint);
            if !forget.publish(&closed, publish, &connection) {
                connection.shut_down();
            }
            let own = &settings.connection;
            let idle_timeout = match &settings.way {
                Way::Opened => own.idle_timeout,
                // The other half may be in use.
                Way::Offered(_) | Way::Accepted(_) => None,
            };
            connection.drive(idle_timeout, own.stall_timeout).await;
        };
        // A runtime that has shut down drops the task here and now, so no lock is held.
        home.spawn(self.drivers.track_future(driver));
    }

    /// Connects no more, and ends every connection with CloseConnection.
    pub fn close(&self) {
        let entries = {
            let mut entries = lock(&self.entries);
            self.closed.cancel();
            core::mem::take(&mut *entries)
        };
        let connections = entries
            .into_values()
            .filter_map(|entry| entry.borrow().clone()?.ok());
        connections.for_each(|connection| connection.shut_down());
        self.drivers.close();
    }

    /// Ready when every connection has ended. To be asked once the cache is closed. Bounded in time, as a runtime that is
    /// not driven ends none.
    ///
    /// # Cancel safety
    /// Safe.
    pub async fn closed(&self) {
        let _ = tokio::time::timeout(FINISHED_WITHIN, self.drivers.wait()).await;
    }
}

/// Whether two endpoints are of one host, as far as they say. Two names of one host are two hosts.
fn is_same_host(one: &Endpoint, other: &Endpoint) -> bool {
    match (one.host(), other.host()) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        _ => one.scheme() == other.scheme(),
    }
}

fn remove(entries: &Entries, key: &CacheKey, entry: &Entry) {
    let mut entries = lock(entries);
    if entries
        .get(key)
        .is_some_and(|current| current.same_channel(entry))
    {
        entries.remove(key);
    }
}

impl Forget {
    /// Gives the connection to all callers that wait, unless the cache was closed meanwhile.
    fn publish(
        &self,
        closed: &CancellationToken,
        publish: Publish,
        connection: &Arc<ClientConnection>,
    ) -> bool {
        let entries = self.entries.upgrade();
        let _closing = entries.as_deref().map(lock);
        if closed.is_cancelled() || entries.is_none() {
            publish.send_replace(Some(Err(Arc::new(ConnectError::ShutDown))));
            return false;
        }
        publish.send_replace(Some(Ok(Arc::clone(connection))));
        true
    }
}

/// Takes a connection that is over out of the cache: its endpoint may never be asked for again.
struct Forget {
    entries: Weak<Entries>,
    key: CacheKey,
    entry: Entry,
}

impl Drop for Forget {
    fn drop(&mut self) {
        if let Some(entries) = self.entries.upgrade() {
            remove(&entries, &self.key, &self.entry);
        }
    }
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
        /// Where to.
        endpoint: Endpoint,
        /// The connect timeout.
        limit: Duration,
    },
    /// The runtime that would watch the connection has shut down.
    #[error("cannot connect to {endpoint}: its runtime is shutting down")]
    NoRuntime {
        /// Where to.
        endpoint: Endpoint,
    },
    /// There are as many connections as there may be.
    #[error(
        "cannot connect to {endpoint}: there are {limit} outgoing connections {what}, the limit"
    )]
    TooMany {
        /// Where to.
        endpoint: Endpoint,
        /// Which limit it is.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The connection that the peer has offered is over, or serves requests of other code sets.
    #[error("the connection that {endpoint} has offered cannot be used")]
    Gone {
        /// Where to.
        endpoint: Endpoint,
    },
    /// The ORB has shut down.
    #[error("the ORB has shut down")]
    ShutDown,
}

async fn connect(
    endpoint: &Endpoint,
    settings: &mut ConnectSettings,
) -> Result<Box<dyn zorb_transport::Connection>, ConnectError> {
    if let Way::Accepted(whole) = &settings.way {
        let gone = || ConnectError::Gone {
            endpoint: endpoint.clone(),
        };
        return whole.take_client().ok_or_else(gone);
    }
    let stream = open(endpoint, settings).await?;
    let Way::Offered(offer) = &settings.way else {
        return Ok(stream);
    };
    let split = offer.split(stream, endpoint);
    if !split.is_divided {
        // Nothing is offered that there is no room for.
        settings.way = Way::Opened;
    }
    Ok(split.stream)
}

async fn open(
    endpoint: &Endpoint,
    settings: &ConnectSettings,
) -> Result<Box<dyn zorb_transport::Connection>, ConnectError> {
    match tokio::time::timeout(settings.timeout, settings.transports.connect(endpoint)).await {
        Ok(Ok(connected)) => {
            settings.silent.forget(endpoint);
            Ok(connected)
        }
        Ok(Err(error)) => Err(error.into()),
        Err(_) => {
            settings.silent.remember(endpoint);
            (settings.connection.counters).count(Counter::ConnectsTimedOut);
            Err(ConnectError::Timeout {
                endpoint: endpoint.clone(),
                limit: settings.timeout,
            })
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests;
