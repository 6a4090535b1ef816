//! A listener: a UNIX socket, and the peers that are agreeing with it.

use crate::connection::ShmConnection;
use crate::handshake;
use crate::options::ShmOptions;
use crate::pool::Pools;
use crate::transport::named;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::task::JoinSet;
use zorb_transport::{Connection, Endpoint, Listener, UnixSockets};

/// Peers that may be agreeing at a time. Further ones wait in the socket's queue.
const MAX_HANDSHAKES: usize = 64;
/// How long a peer may take for it.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct ShmListener {
    sockets: UnixSockets,
    endpoint: Endpoint,
    options: ShmOptions,
    pools: Arc<Pools>,
    /// Only the one task that accepts takes the lock.
    handshakes: Mutex<JoinSet<Option<ShmConnection>>>,
}

impl ShmListener {
    pub(crate) fn new(
        sockets: UnixSockets,
        endpoint: Endpoint,
        options: ShmOptions,
        pools: Arc<Pools>,
    ) -> Self {
        Self {
            sockets,
            endpoint,
            options,
            pools,
            handshakes: Mutex::default(),
        }
    }
}

impl Listener for ShmListener {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        let handshakes = self.handshakes.lock();
        let mut handshakes = handshakes.unwrap_or_else(PoisonError::into_inner);
        loop {
            while let Poll::Ready(Some(ended)) = handshakes.poll_join_next(cx) {
                // Without one: the peer does not know how to agree, may not, or is gone.
                if let Ok(Some(connection)) = ended {
                    return Poll::Ready(Ok(Box::new(connection)));
                }
            }
            if handshakes.len() >= MAX_HANDSHAKES {
                return Poll::Pending;
            }
            let socket = ready!(self.sockets.poll_accept(cx))?;
            let (options, local) = (self.options, named(&self.endpoint.to_string()));
            let pools = Arc::clone(&self.pools);
            handshakes.spawn(async move {
                let taking = handshake::take(socket, &options, &pools, local);
                let agreed = tokio::time::timeout(HANDSHAKE_TIMEOUT, taking).await;
                ShmConnection::new(agreed.ok()?.ok()?).ok()
            });
        }
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}
