//! A listener: a UNIX socket, a task that agrees with the peers that come, and those with which it has agreed.
//!
//! Peers wait for an answer when they connect, so the task answers them whether or not anybody accepts just now.

use crate::connection::ShmConnection;
use crate::handshake;
use crate::options::ShmOptions;
use crate::pool::Pools;
use crate::transport::named;
use socket2::Socket;
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{AbortHandle, JoinSet};
use zorb_transport::{Connection, Endpoint, Listener, UnixSockets};

/// Peers that may be agreeing at a time. Further ones wait in the socket's queue.
const MAX_HANDSHAKES: usize = 64;
/// Peers that have agreed and wait to be accepted. Further ones wait for their answer.
const MAX_READY: usize = 64;
/// How long a peer may take for it.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(2);

type Ready = io::Result<ShmConnection>;

#[derive(Debug)]
pub(crate) struct ShmListener {
    endpoint: Endpoint,
    incoming: Arc<Incoming>,
    /// Only the one task that accepts takes the lock.
    ready: Mutex<Receiver<Ready>>,
    acceptor: AbortHandle,
}

/// What the listener and its task share.
#[derive(Debug)]
struct Incoming {
    /// Until the listener is dropped.
    sockets: Mutex<Option<UnixSockets>>,
    local: String,
    options: ShmOptions,
    pools: Arc<Pools>,
}

impl ShmListener {
    /// Begins to agree with peers, by a task of the current runtime.
    pub(crate) fn new(
        sockets: UnixSockets,
        endpoint: Endpoint,
        options: ShmOptions,
        pools: Arc<Pools>,
    ) -> Self {
        let incoming = Arc::new(Incoming {
            sockets: Mutex::new(Some(sockets)),
            local: endpoint.to_string(),
            options,
            pools,
        });
        let (sender, ready) = channel(MAX_READY);
        let acceptor = tokio::spawn(accept_all(Arc::clone(&incoming), sender)).abort_handle();
        Self {
            endpoint,
            incoming,
            ready: Mutex::new(ready),
            acceptor,
        }
    }
}

impl Listener for ShmListener {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        match ready.poll_recv(cx) {
            Poll::Ready(Some(accepted)) => {
                Poll::Ready(accepted.map(|connection| Box::new(connection) as Box<dyn Connection>))
            }
            // The task ends with the listener, or with its runtime.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Drop for ShmListener {
    fn drop(&mut self) {
        self.acceptor.abort();
        // The task is dropped later than this.
        drop(self.incoming.sockets().take());
    }
}

impl Incoming {
    fn sockets(&self) -> MutexGuard<'_, Option<UnixSockets>> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next peer once few enough others are agreeing. `None` when the listener was dropped.
    fn poll_next(
        &self,
        handshakes: &mut JoinSet<()>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Socket>>> {
        while let Poll::Ready(Some(_)) = handshakes.poll_join_next(cx) {}
        if handshakes.len() >= MAX_HANDSHAKES {
            return Poll::Pending;
        }
        match &*self.sockets() {
            Some(sockets) => sockets.poll_accept(cx).map(Some),
            None => Poll::Ready(None),
        }
    }
}

/// Agrees with the peers that come. Each does so in a task of its own, so that none holds up another one.
async fn accept_all(incoming: Arc<Incoming>, ready: Sender<Ready>) {
    let mut handshakes = JoinSet::new();
    loop {
        match poll_fn(|cx| incoming.poll_next(&mut handshakes, cx)).await {
            Some(Ok(socket)) => {
                handshakes.spawn(agree(Arc::clone(&incoming), socket, ready.clone()));
            }
            Some(Err(error)) => {
                if ready.send(Err(error)).await.is_err() {
                    return;
                }
                // Who accepts the error waits before the next try: so it is taken first.
                let _ = ready.reserve_many(MAX_READY).await;
            }
            None => return,
        }
    }
}

/// Agrees with a peer, unless it does not know how, or may not, or is gone.
async fn agree(incoming: Arc<Incoming>, socket: Socket, ready: Sender<Ready>) {
    let local = named(&incoming.local);
    let taking = handshake::take(socket, &incoming.options, &incoming.pools, local);
    let Ok(Ok(agreed)) = tokio::time::timeout(HANDSHAKE_TIMEOUT, taking).await else {
        return;
    };
    let Ok(place) = ready.reserve().await else {
        return;
    };
    if handshake::welcome(&agreed).is_ok()
        && let Ok(connection) = ShmConnection::new(agreed)
    {
        place.send(Ok(connection));
    }
}
