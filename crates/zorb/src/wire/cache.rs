//! One connection for all references to an endpoint.

use super::client::ClientConnection;
use super::link::FINISHED_WITHIN;
use super::profile::OmniOrb;
use super::silent::Silent;
use super::trace;
use super::waiting::Busy;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::runtime::{Handle, Id};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zorb_cdr::{CharSet, WCharSet};
use zorb_executor::WaitPolicy;
use zorb_giop::Limits;
use zorb_giop::codeset::CodeSets;
use zorb_transport::{Endpoint, Registry, TransportError};

/// What a connection is shared by: everything that makes two callers unable to share one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    pub(crate) endpoint: Endpoint,
    /// The reactor whose driver reads it: octets are never waited for on a foreign one.
    pub(crate) reactor: Id,
    /// The code sets told on it; `None` for servers that state none.
    pub(crate) code_sets: Option<CodeSetsKey>,
}

/// `CodeSets` in a form that can be a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CodeSetsKey {
    char_set: CharSet,
    wchar_set: WCharSet,
}

impl From<CodeSets> for CodeSetsKey {
    fn from(code_sets: CodeSets) -> Self {
        Self {
            char_set: code_sets.char_set,
            wchar_set: code_sets.wchar_set,
        }
    }
}

type Connected = Result<Arc<ClientConnection>, Arc<ConnectError>>;
/// What becomes of one attempt to connect: nothing yet, then a connection or why there is none.
type Entry = watch::Receiver<Option<Connected>>;
type Tell = watch::Sender<Option<Connected>>;
type Entries = Mutex<HashMap<CacheKey, Entry>>;

#[derive(Debug, Default)]
pub(crate) struct Cache {
    entries: Arc<Entries>,
    /// Nothing is connected to any more. Changes under the lock of the entries only.
    closed: CancellationToken,
    /// What connects and reads.
    drivers: TaskTracker,
}

/// How a connection is made.
#[derive(Debug, Clone)]
pub(crate) struct Connecting {
    pub(crate) silent: Silent,
    pub(crate) code_sets: CodeSets,
    pub(crate) max_fragment: Option<usize>,
    pub(crate) omniorb: OmniOrb,
    pub(crate) transports: Registry,
    pub(crate) limits: Limits,
    pub(crate) timeout: Duration,
    pub(crate) trace_payload: usize,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) wait: WaitPolicy,
    /// How long adaptive waits try.
    pub(crate) wait_limit: Duration,
    pub(crate) busy: Arc<Busy>,
}

fn lock(entries: &Entries) -> MutexGuard<'_, HashMap<CacheKey, Entry>> {
    entries.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    /// The connection for `key`: the one there is, or a new one. Callers that ask at the same
    /// time wait for the same attempt, which is a task of its own: none of them has to be polled
    /// for the others to get on.
    pub(crate) async fn connection(
        &self,
        key: &CacheKey,
        home: &Handle,
        how: impl Fn() -> Connecting,
    ) -> Connected {
        loop {
            let Some((mut entry, tell)) = self.entry(key) else {
                return Err(Arc::new(ConnectError::ShutDown));
            };
            if let Some(tell) = tell {
                self.begin(key, home, how(), entry.clone(), tell);
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

    /// The entry for `key`, and for who made it how to tell what becomes of it; `None` once the
    /// cache is closed.
    fn entry(&self, key: &CacheKey) -> Option<(Entry, Option<Tell>)> {
        let mut entries = lock(&self.entries);
        if self.closed.is_cancelled() {
            return None;
        }
        if let Some(entry) = entries.get(key) {
            return Some((entry.clone(), None));
        }
        let (tell, entry) = watch::channel(None);
        entries.insert(key.clone(), entry.clone());
        Some((entry, Some(tell)))
    }

    /// Connects and reads, where the reactor is that the connection will be registered with.
    fn begin(&self, key: &CacheKey, home: &Handle, how: Connecting, entry: Entry, tell: Tell) {
        let forget = Forget {
            entries: Arc::downgrade(&self.entries),
            key: key.clone(),
            entry,
        };
        let closed = self.closed.clone();
        let driver = async move {
            let key = &forget.key;
            let connected = tokio::select! {
                connected = connect(&key.endpoint, &how) => connected,
                () = closed.cancelled() => Err(ConnectError::ShutDown),
            };
            let stream = match connected {
                Ok(stream) => stream,
                Err(error) => {
                    trace::not_connected(&key.endpoint, &error);
                    tell.send_replace(Some(Err(Arc::new(error))));
                    return;
                }
            };
            let connection = Arc::new(ClientConnection::new(
                stream,
                key.endpoint.clone(),
                key.code_sets.is_some(),
                &how,
            ));
            trace::connected(&key.endpoint);
            if !forget.tell(&closed, tell, &connection) {
                connection.shut_down();
            }
            connection.drive(how.idle_timeout).await;
        };
        // A runtime that has shut down drops the task here and now, so no lock is held.
        home.spawn(self.drivers.track_future(driver));
    }

    /// Connects no more, and tells every peer that its connection ends.
    pub(crate) fn close(&self) {
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

    /// Ready when every connection is gone, its last words heard or given up. To be asked when
    /// the cache is closed. A runtime that nobody drives says nothing, so this takes a bound.
    pub(crate) async fn closed(&self) {
        let _ = tokio::time::timeout(FINISHED_WITHIN, self.drivers.wait()).await;
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
    /// Tells everybody who waits of the connection, unless the cache was closed meanwhile.
    fn tell(
        &self,
        closed: &CancellationToken,
        tell: Tell,
        connection: &Arc<ClientConnection>,
    ) -> bool {
        let entries = self.entries.upgrade();
        let _closing = entries.as_deref().map(lock);
        if closed.is_cancelled() || entries.is_none() {
            tell.send_replace(Some(Err(Arc::new(ConnectError::ShutDown))));
            return false;
        }
        tell.send_replace(Some(Ok(Arc::clone(connection))));
        true
    }
}

/// Takes a connection that is over out of the cache: nobody may ask for its endpoint ever again.
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
pub(crate) enum ConnectError {
    #[error(transparent)]
    Transport(#[from] TransportError),
    #[error("cannot connect to {endpoint} within {limit:?}")]
    Timeout { endpoint: Endpoint, limit: Duration },
    #[error("cannot connect to {endpoint}: its runtime is shutting down")]
    NoRuntime { endpoint: Endpoint },
    #[error("the ORB has shut down")]
    ShutDown,
}

async fn connect(
    endpoint: &Endpoint,
    how: &Connecting,
) -> Result<Box<dyn zorb_transport::Connection>, ConnectError> {
    match tokio::time::timeout(how.timeout, how.transports.connect(endpoint)).await {
        Ok(Ok(connected)) => {
            how.silent.forget(endpoint);
            Ok(connected)
        }
        Ok(Err(error)) => Err(error.into()),
        Err(_) => {
            how.silent.remember(endpoint);
            Err(ConnectError::Timeout {
                endpoint: endpoint.clone(),
                limit: how.timeout,
            })
        }
    }
}
