//! Accepting connections: their handshakes are tasks of their own, so that no client holds up the next.

use crate::address::end;
use crate::connection::TlsConnection;
use crate::failure::Failure;
use crate::handshake::{Role, identity, shake_hands};
use crate::keys::Keys;
use crate::statistics::Statistics;
use crate::turns::Turns;
use rustls::ServerConnection;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use zorb_transport::{Connection, Endpoint, HostId, Listener};

/// Connections after their handshake that wait to be accepted. Beyond that, no more connections are taken from the
/// listener below, in whose queue they wait.
const MAX_READY: usize = 256;

/// Connections that are accepted before other tasks of the runtime get a turn.
const ACCEPTS_PER_TURN: usize = 16;

/// A listener whose connections have done their handshake.
#[derive(Debug)]
pub(crate) struct TlsListener {
    endpoint: Endpoint,
    incoming: Arc<Incoming>,
    acceptor: AbortHandle,
}

/// What the listener and its tasks share.
#[derive(Debug)]
struct Incoming {
    keys: Arc<Keys>,
    statistics: Arc<Statistics>,
    /// The listener below, until this one is dropped.
    plain: Mutex<Option<Box<dyn Listener>>>,
    queue: Mutex<Queue>,
    /// Notified when something was taken from the queue.
    taken: Notify,
    turns: Arc<Turns>,
}

#[derive(Debug, Default)]
struct Queue {
    ready: VecDeque<io::Result<Box<dyn Connection>>>,
    waker: Option<Waker>,
    /// Handshakes under way, in the order in which they began.
    handshakes: BTreeMap<u64, Handshake>,
    next: u64,
}

#[derive(Debug)]
struct Handshake {
    host: HostId,
    task: Option<AbortHandle>,
}

impl TlsListener {
    /// Begins to accept, by a task of the current runtime.
    pub(crate) fn new(
        plain: Box<dyn Listener>,
        endpoint: Endpoint,
        keys: Arc<Keys>,
        statistics: Arc<Statistics>,
    ) -> Self {
        let workers = Handle::current().metrics().num_workers();
        let incoming = Arc::new(Incoming {
            keys,
            statistics,
            plain: Mutex::new(Some(plain)),
            queue: Mutex::default(),
            taken: Notify::new(),
            // The other half is for calls.
            turns: Turns::new(workers.div_euclid(2)),
        });
        let acceptor = tokio::spawn(accept_all(Arc::clone(&incoming))).abort_handle();
        Self {
            endpoint,
            incoming,
            acceptor,
        }
    }
}

impl Listener for TlsListener {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        let mut queue = self.incoming.queue();
        match queue.ready.pop_front() {
            Some(ready) => {
                drop(queue);
                self.incoming.taken.notify_one();
                Poll::Ready(ready)
            }
            None => {
                queue.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Drop for TlsListener {
    fn drop(&mut self) {
        self.acceptor.abort();
        drop(self.incoming.plain().take());
        let handshakes = std::mem::take(&mut self.incoming.queue().handshakes);
        for task in handshakes
            .into_values()
            .filter_map(|handshake| handshake.task)
        {
            task.abort();
        }
    }
}

impl Incoming {
    fn plain(&self) -> MutexGuard<'_, Option<Box<dyn Listener>>> {
        self.plain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts a connection without protection; `None` when the listener was dropped.
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Box<dyn Connection>>>> {
        match &*self.plain() {
            Some(plain) => plain.poll_accept(cx).map(Some),
            None => Poll::Ready(None),
        }
    }

    /// Waits until no more than `most` connections wait to be accepted.
    async fn wait_for_room(&self, most: usize) {
        loop {
            let taken = self.taken.notified();
            if self.queue().ready.len() <= most {
                return;
            }
            taken.await;
        }
    }

    fn push(&self, ready: io::Result<Box<dyn Connection>>) {
        let mut queue = self.queue();
        queue.ready.push_back(ready);
        let waker = queue.waker.take();
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Begins the handshake of a connection.
    fn begin(self: &Arc<Self>, plain: Box<dyn Connection>) {
        let evicted = {
            let mut queue = self.queue();
            match queue.handshakes.len() >= self.keys.options.max_handshakes {
                true => queue.take_longest(),
                false => None,
            }
        };
        if let Some(evicted) = evicted {
            if let Some(task) = evicted.task {
                task.abort();
            }
            self.statistics.failed(&evicted.host, &Failure::Evicted);
        }
        let mut queue = self.queue();
        let id = queue.next;
        queue.next = id.wrapping_add(1);
        let host = plain.peer().host();
        (queue.handshakes).insert(id, Handshake { host, task: None });
        // The task ends its entry, for which it has to wait for the lock.
        let task = tokio::spawn(shake(Arc::clone(self), id, plain)).abort_handle();
        if let Some(handshake) = queue.handshakes.get_mut(&id) {
            handshake.task = Some(task);
        }
    }
}

impl Queue {
    /// Takes the handshake that has lasted longest, of the host with most of them. Costs a step for each handshake.
    fn take_longest(&mut self) -> Option<Handshake> {
        let mut hosts: HashMap<&HostId, (usize, u64)> = HashMap::new();
        for (id, handshake) in &self.handshakes {
            let (count, _) = hosts.entry(&handshake.host).or_insert((0, *id));
            *count = count.saturating_add(1);
        }
        // Of hosts with as many, the one whose first began first.
        let most = hosts.into_values();
        let (_, id) =
            most.max_by_key(|(count, first)| (*count, u64::MAX.saturating_sub(*first)))?;
        self.handshakes.remove(&id)
    }
}

/// Accepts connections, and begins their handshakes.
async fn accept_all(incoming: Arc<Incoming>) {
    let mut accepts = 0_usize;
    loop {
        incoming.wait_for_room(MAX_READY).await;
        match poll_fn(|cx| incoming.poll_accept(cx)).await {
            Some(Ok(plain)) => {
                incoming.begin(plain);
                accepts = accepts.wrapping_add(1);
                if accepts.is_multiple_of(ACCEPTS_PER_TURN) {
                    tokio::task::yield_now().await;
                }
            }
            // Whoever takes the error waits before the next try.
            Some(Err(error)) => {
                incoming.push(Err(error));
                incoming.wait_for_room(0).await;
            }
            None => return,
        }
    }
}

/// Does one handshake, and passes the connection on.
async fn shake(incoming: Arc<Incoming>, id: u64, plain: Box<dyn Connection>) {
    let limit = incoming.keys.options.handshake_timeout;
    let peer = end(plain.peer());
    let done = tokio::time::timeout(limit, protect(&incoming, plain)).await;
    let was_there = incoming.queue().handshakes.remove(&id).is_some();
    if !was_there {
        // Another handshake has taken its place, or the listener is gone.
        return;
    }
    match done.unwrap_or(Err(Failure::Late(limit))) {
        Ok(connection) => {
            incoming.statistics.done();
            incoming.push(Ok(Box::new(connection)));
        }
        Err(failure) => incoming.statistics.failed(&peer, &failure),
    }
}

async fn protect(
    incoming: &Incoming,
    plain: Box<dyn Connection>,
) -> Result<TlsConnection, Failure> {
    let config = incoming.keys.server();
    let config = config.map_err(|error| Failure::Connection(error.into()))?;
    let tls = ServerConnection::new(config).map_err(|error| Failure::Tls(Role::Server, error))?;
    let mut tls = rustls::Connection::from(tls);
    let role = Role::Server;
    let rest = shake_hands(&*plain, &mut tls, role, Some(&incoming.turns)).await?;
    let identity = identity(&*plain, &tls);
    Ok(TlsConnection::new(plain, tls, rest, identity))
}
