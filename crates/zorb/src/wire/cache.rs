//! One connection for all references to an endpoint.

use super::client::ClientConnection;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Handle, Id};
use tokio::sync::OnceCell;
use zorb_giop::codeset::CodeSets;
use zorb_giop::{Limits, Reader};
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
    latin1: bool,
    wide: bool,
}

impl From<CodeSets> for CodeSetsKey {
    fn from(code_sets: CodeSets) -> Self {
        Self {
            latin1: code_sets.char_set == zorb_cdr::CharSet::Latin1,
            wide: code_sets.wchar_set != zorb_cdr::WCharSet::None,
        }
    }
}

type Entry = Arc<OnceCell<Arc<ClientConnection>>>;

#[derive(Debug, Default)]
pub(crate) struct Cache {
    entries: Mutex<HashMap<CacheKey, Entry>>,
}

impl Cache {
    fn entries(&self) -> MutexGuard<'_, HashMap<CacheKey, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection for `key`: the one there is, or a new one. Callers that ask at the same
    /// time wait for the same attempt. `spawn` runs the driver.
    pub(crate) async fn connection(
        &self,
        key: &CacheKey,
        code_sets: CodeSets,
        transports: &Registry,
        limits: Limits,
        connect_timeout: Duration,
        home: &Handle,
    ) -> Result<Arc<ClientConnection>, ConnectError> {
        loop {
            let entry = Arc::clone(self.entries().entry(key.clone()).or_default());
            let connected = entry
                .get_or_try_init(|| async {
                    // The reactor that will read it has to be the one that it is registered with.
                    let stream = connect(
                        key.endpoint.clone(),
                        transports.clone(),
                        connect_timeout,
                        home,
                    )
                    .await?;
                    let connection = Arc::new(ClientConnection::new(
                        stream,
                        key.endpoint.clone(),
                        code_sets,
                        key.code_sets.is_some(),
                    ));
                    home.spawn(Arc::clone(&connection).drive(Reader::new(limits)));
                    tracing::debug!(endpoint = %key.endpoint, "connected");
                    Ok(connection)
                })
                .await;
            match connected {
                Ok(connection) if connection.is_over() => self.remove(key, &entry),
                Ok(connection) => return Ok(Arc::clone(connection)),
                Err(error) => {
                    self.remove(key, &entry);
                    return Err(error);
                }
            }
        }
    }

    fn remove(&self, key: &CacheKey, entry: &Entry) {
        let mut entries = self.entries();
        if entries
            .get(key)
            .is_some_and(|current| Arc::ptr_eq(current, entry))
        {
            entries.remove(key);
        }
    }

    /// Takes every connection out.
    pub(crate) fn drain(&self) -> Vec<Arc<ClientConnection>> {
        core::mem::take(&mut *self.entries())
            .into_values()
            .filter_map(|entry| entry.get().cloned())
            .collect()
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
}

async fn connect(
    endpoint: Endpoint,
    transports: Registry,
    limit: Duration,
    home: &Handle,
) -> Result<Box<dyn zorb_transport::Connection>, ConnectError> {
    let asked = endpoint.clone();
    let attempt = async move {
        match tokio::time::timeout(limit, transports.connect(&asked)).await {
            Ok(connected) => Ok(connected?),
            Err(_) => Err(ConnectError::Timeout {
                endpoint: asked,
                limit,
            }),
        }
    };
    if Handle::try_current().is_ok_and(|current| current.id() == home.id()) {
        return attempt.await;
    }
    home.spawn(attempt)
        .await
        .unwrap_or(Err(ConnectError::NoRuntime { endpoint }))
}
