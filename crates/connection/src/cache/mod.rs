//! The connections of an ORB's clients: one for all references to an endpoint.
//!
//! A cache is bounded. Where a limit is reached, the least recently used idle connection is closed for the new one; a
//! connection with calls in progress is never closed.

mod by_use;
mod key;
mod limits;
mod table;

pub use key::{CacheKey, ConnectionOrigin};
pub use limits::{ConnectError, ConnectionLimits, NamedBy};
pub(crate) use table::UseClock;

use super::bidirectional::BidirectionalConnection;
use super::client::ClientConnection;
use super::counters::{Counter, Counters};
use super::end::FINISHED_WITHIN;
use super::latency::ConnectTimes;
use super::owner::{PeerOrb, Settings};
use super::spin::{BusyConnections, SpinLimits};
use super::trace;
use super::unresponsive::UnresponsiveEndpoints;
use bytes::Bytes;
use core::time::Duration;
use std::sync::{Arc, Weak};
use table::{Claim, Shared};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zorb_giop::codeset::CodeSets;
use zorb_transport::{Endpoint, Registry};

type Connected = Result<Arc<ClientConnection>, Arc<ConnectError>>;
/// The result of one attempt to connect, once there is one.
type Entry = watch::Receiver<Option<Connected>>;
type Publish = watch::Sender<Option<Connected>>;

/// The connections of an ORB's clients, shared by all references to an endpoint and [bounded](ConnectionLimits).
#[derive(Debug, Default)]
pub struct ConnectionCache {
    shared: Arc<Shared>,
    limits: ConnectionLimits,
    counters: Arc<Counters>,
    /// Cancelled once no connection is made any more. Changes under the lock of the table only.
    closed: CancellationToken,
    /// The tasks that connect and drive connections.
    drivers: TaskTracker,
    uses: UseClock,
}

/// The settings with which a client gets a connection from the [cache](ConnectionCache), or makes one.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a connection needs all of these")]
pub struct ConnectSettings {
    /// The limits and time-outs of the ORB's connections.
    pub connection: Settings,
    /// Endpoints that have lately not served, which are tried last.
    pub unresponsive: UnresponsiveEndpoints,
    /// The key of an object of the peer's, by which it is asked whether it is there.
    pub known_key: Bytes,
    /// The connect times of endpoints, by which the nearest of several servers is chosen.
    pub times: ConnectTimes,
    /// The code sets of `char` and `wchar` data, chosen by those in the reference. Connections with different ones are not
    /// shared.
    pub code_sets: CodeSets,
    /// Whether long messages have to be sent in GIOP fragments, since the peer reads no others.
    pub needs_fragments: bool,
    /// The peer's ORB, as its reference states it.
    pub peer: PeerOrb,
    /// The transports to connect by, one for each scheme of an endpoint.
    pub transports: Registry,
    /// The time limit for connecting, name look-up included.
    pub timeout: Duration,
    /// The limits on spinning before a wait for a reply blocks.
    pub spin: SpinLimits,
    /// The busy connections of the ORB, with which a spinning wait would compete for the thread.
    pub busy: Arc<BusyConnections>,
    /// The side that opens the connection, and its offer to the peer (bidirectional GIOP).
    pub origin: ConnectionOrigin,
}

impl ConnectionCache {
    /// Makes an empty cache with these limits. `counters` count the connections that its limits refuse, and those that time out.
    #[must_use]
    pub fn new(limits: ConnectionLimits, counters: Arc<Counters>) -> Self {
        Self {
            limits,
            counters,
            ..Self::default()
        }
    }

    /// Returns the number of connections, including those that are being made or closed. Locks the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.lock().len()
    }

    /// Returns the open connections, in no order, without those that are being made or closed. Locks the cache, and allocates a list.
    #[must_use]
    pub fn connections(&self) -> Vec<Arc<ClientConnection>> {
        self.shared.lock().connections()
    }

    /// Whether the cache has no connections, those that are being made included. Locks the cache.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the connection for `key`, an existing or a new one. Callers that ask at the same time wait for one attempt, which
    /// is a task of its own: none of them has to be polled for the others to make progress.
    ///
    /// # Errors
    /// See [`ConnectError`]: the transport fails or does not answer in time, a limit is reached, or the cache is closed.
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
            // Registered before the decision to wait: a driver may end in between.
            let ended = self.shared.ended.notified();
            let (mut entry, publish) = match self.entry(key, named_by)? {
                Claim::Entry(entry, publish) => (entry, publish),
                Claim::Later => {
                    let waiting = self.shared.wait();
                    ended.await;
                    drop(waiting);
                    continue;
                }
            };
            if let Some(publish) = publish {
                self.begin(key, home, settings(), entry.clone(), publish);
            }
            let connected = match entry.wait_for(Option::is_some).await {
                Ok(connected) => connected.clone(),
                Err(_) => None,
            };
            match connected {
                Some(Ok(connection)) if connection.is_over() => self.remove(key, &entry),
                Some(Ok(connection)) => return Ok(connection),
                failed => {
                    self.remove(key, &entry);
                    return failed.unwrap_or_else(|| {
                        Err(Arc::new(ConnectError::NoRuntime {
                            endpoint: key.endpoint().clone(),
                        }))
                    });
                }
            }
        }
    }

    /// The entry of `key`.
    ///
    /// # Errors
    /// Once the cache is closed, and where a limit permits no further entry.
    fn entry(&self, key: &CacheKey, named_by: NamedBy) -> Result<Claim, Arc<ConnectError>> {
        let mut purged = Vec::new();
        let mut table = self.shared.lock();
        if self.closed.is_cancelled() {
            return Err(Arc::new(ConnectError::ShutDown));
        }
        let claim = table.claim(key, named_by, self.limits, self.uses.now(), &mut purged);
        drop(table);
        for (connection, action) in purged {
            self.counters.count(Counter::OutgoingConnectionsPurged);
            connection.close_retired(action);
        }
        claim.map_err(|error| {
            self.counters.count(Counter::OutgoingConnectionsRefused);
            Arc::new(error)
        })
    }

    fn remove(&self, key: &CacheKey, entry: &Entry) {
        self.shared.lock().remove(key, entry);
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
        self.shared.lock().driver_begins();
        self.uses.advance();
        let uses = self.uses.clone();
        let forget = Forget {
            shared: Arc::downgrade(&self.shared),
            key: key.clone(),
            entry,
        };
        let closed = self.closed.clone();
        let driver = async move {
            let key = &forget.key;
            let mut settings = settings;
            let connected = tokio::select! {
                connected = connect(key.endpoint(), &mut settings) => connected,
                () = closed.cancelled() => Err(ConnectError::ShutDown),
            };
            let opened = match connected {
                Ok(opened) => opened,
                Err(error) => {
                    trace::not_connected(key.endpoint(), &error);
                    publish.send_replace(Some(Err(Arc::new(error))));
                    return;
                }
            };
            let (endpoint, announce) = (key.endpoint().clone(), key.states_code_sets());
            let connection = match opened {
                Opened::Alone(stream) => {
                    let made = ClientConnection::new(stream, endpoint, announce, &settings);
                    Arc::new(made.with_uses(uses))
                }
                Opened::WithBothRoles(both) => {
                    let made = ClientConnection::of_both(&both, endpoint, announce, &settings);
                    let made = Arc::new(made.with_uses(uses));
                    both.set_client(&made);
                    made
                }
            };
            trace::connected(key.endpoint());
            if !forget.publish(&closed, publish, &connection) {
                connection.shut_down();
            }
            let own = &settings.connection;
            connection.drive(own.idle_timeout, own.stall_timeout).await;
        };
        // A runtime that has shut down drops the task at once, so no lock is held here.
        home.spawn(self.drivers.track_future(driver));
    }

    /// Closes the cache: it connects no more, and ends every connection with CloseConnection.
    pub fn close(&self) {
        let connections = {
            let mut table = self.shared.lock();
            self.closed.cancel();
            table.take()
        };
        connections.for_each(|connection| connection.shut_down());
        self.shared.ended.notify_waiters();
        self.drivers.close();
    }

    /// Ready when every connection has ended; to be called after [`close`](Self::close). The wait is bounded in time, as a
    /// runtime that is not driven ends no connection.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing, and can be repeated.
    pub async fn closed(&self) {
        let _ = tokio::time::timeout(FINISHED_WITHIN, self.drivers.wait()).await;
    }
}

impl Forget {
    /// Passes the connection to all callers that wait, unless the cache was closed meanwhile.
    fn publish(
        &self,
        closed: &CancellationToken,
        publish: Publish,
        connection: &Arc<ClientConnection>,
    ) -> bool {
        let shared = self.shared.upgrade();
        let _closing = shared.as_deref().map(Shared::lock);
        if closed.is_cancelled() || shared.is_none() {
            publish.send_replace(Some(Err(Arc::new(ConnectError::ShutDown))));
            return false;
        }
        publish.send_replace(Some(Ok(Arc::clone(connection))));
        true
    }
}

/// Removes a connection that has ended from the cache, and frees its room: no later look-up may come for its endpoint.
struct Forget {
    shared: Weak<Shared>,
    key: CacheKey,
    entry: Entry,
}

impl Drop for Forget {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.lock().remove(&self.key, &self.entry);
            shared.driver_ended();
        }
    }
}

/// A connection to an endpoint.
enum Opened {
    /// For requests of this end alone.
    Alone(Box<dyn zorb_transport::Connection>),
    /// On which the peer may send requests, too.
    WithBothRoles(Arc<BidirectionalConnection>),
}

async fn connect(
    endpoint: &Endpoint,
    settings: &mut ConnectSettings,
) -> Result<Opened, ConnectError> {
    if let ConnectionOrigin::Accepted(both) = &settings.origin {
        return match both.take_client() {
            true => Ok(Opened::WithBothRoles(Arc::clone(both))),
            false => Err(ConnectError::Gone {
                endpoint: endpoint.clone(),
            }),
        };
    }
    let stream = open(endpoint, settings).await?;
    let ConnectionOrigin::Offered(offer) = &settings.origin else {
        return Ok(Opened::Alone(stream));
    };
    Ok(match offer.serve(stream, endpoint) {
        Ok(both) => Opened::WithBothRoles(both),
        Err(stream) => {
            // Without room to serve the peer's requests, the connection is not offered.
            settings.origin = ConnectionOrigin::Opened;
            Opened::Alone(stream)
        }
    })
}

async fn open(
    endpoint: &Endpoint,
    settings: &ConnectSettings,
) -> Result<Box<dyn zorb_transport::Connection>, ConnectError> {
    let begun = Instant::now();
    let transports = &settings.transports;
    match transports.connect_within(endpoint, settings.timeout).await {
        Ok(connected) => {
            settings.times.remember(endpoint, begun.elapsed());
            Ok(connected)
        }
        Err(error) => {
            if error.limit().is_some() {
                settings.unresponsive.remember(endpoint);
                (settings.connection.counters).count(Counter::ConnectsTimedOut);
            }
            Err(error.into())
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests;
