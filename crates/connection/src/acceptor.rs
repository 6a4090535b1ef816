//! Accepts connections at one endpoint.

use super::counters::Counter;
use super::end::{send_close, send_not_permitted};
use super::fairness::{HostPermit, NotAdmitted};
use super::owner::Owner;
use super::reactor::Reactor;
use super::server::{ServerConnection, Serving};
use super::trace;
use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;
use std::sync::{Arc, Weak};
use tokio_util::sync::CancellationToken;
use zorb_transport::{Connection, Endpoint, Listener};

/// The pause after a failed accept. The usual cause is a lack of descriptors, which the listener would report again at
/// once.
const BACK_OFF: Duration = Duration::from_millis(50);

/// Connections that are accepted before other tasks of the worker run. A listener's queue has room for thousands, and tokio's
/// own budget would let the acceptor take 128 of them.
const ACCEPTS_PER_TURN: usize = 16;

/// Connections that are taken out of the queue of a listener before it is closed: the usual length of such a queue.
const MAX_QUEUED: usize = 4096;

/// A listener whose connections are served.
#[derive(Debug)]
pub struct Acceptor {
    listener: Box<dyn Listener>,
    /// The reactor that watches its connections; `None` for that of their owner's lane.
    reactor: Option<Reactor>,
}

impl Acceptor {
    /// Makes the acceptor of a listener, and traces its endpoint. Accepts nothing before [`run`](Self::run) is polled.
    #[must_use]
    pub fn new(listener: Box<dyn Listener>) -> Self {
        trace::listening(listener.endpoint());
        Self {
            listener,
            reactor: None,
        }
    }

    /// Returns the acceptor with a reactor of its own for its connections. [`run`](Self::run) has to be polled in the runtime
    /// of that reactor, and the listener has to be registered with it.
    #[must_use]
    pub fn in_reactor(mut self, reactor: Reactor) -> Self {
        self.reactor = Some(reactor);
        self
    }

    /// The endpoint of the listener, with the port that the system chose.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.listener.endpoint()
    }

    /// Accepts and serves connections until `stop`, or until the owner is gone.
    ///
    /// # Cancel safety
    /// Safe: connections that were accepted continue to be served.
    pub async fn run<O: Owner>(
        self,
        owner: Weak<O>,
        serving: Arc<Serving<O>>,
        stop: CancellationToken,
    ) {
        let mut accepts = 0_usize;
        loop {
            if accepts == ACCEPTS_PER_TURN {
                accepts = 0;
                tokio::task::yield_now().await;
            }
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = poll_fn(|cx| self.listener.poll_accept(cx)) => accepted,
            };
            accepts = accepts.saturating_add(1);
            let Some(owner) = owner.upgrade() else { return };
            match accepted {
                Ok(stream) => match self.admit(&owner, &serving, &*stream) {
                    Ok(admitted) => {
                        trace::accepted(&*stream);
                        let endpoint = self.listener.endpoint().clone();
                        let has_both_roles = owner.settings().bidirectional;
                        let connection = match has_both_roles {
                            false => ServerConnection::new(stream, endpoint, &owner, admitted),
                            true => {
                                ServerConnection::with_both_roles(
                                    stream, endpoint, &owner, admitted, false,
                                )
                                .0
                            }
                        };
                        match &self.reactor {
                            Some(reactor) => {
                                let connection = Arc::new(connection.in_reactor(reactor));
                                let driver = connection.drive(&serving);
                                let driver = reactor.drivers.track_future(driver);
                                owner.track_in(&reactor.handle, driver);
                            }
                            None => {
                                let connection = Arc::new(connection);
                                // A thread that blocks in `recv` would not serve requests that callers have read.
                                match owner.settings().threads && !has_both_roles {
                                    true => connection.serve_on_thread(&serving),
                                    false => owner.track(connection.drive(&serving)),
                                }
                            }
                        }
                    }
                    Err(reason) => refuse(&owner, &serving, stream, reason),
                },
                Err(error) => {
                    let counters = &owner.settings().counters;
                    if let Some(omitted) = counters.report(Counter::AcceptsFailed) {
                        tracing::warn!(
                            endpoint = %self.endpoint(),
                            error = %format_args!("{error:#}"),
                            omitted,
                            "cannot accept"
                        );
                    }
                    drop(owner);
                    tokio::time::sleep(BACK_OFF).await;
                }
            }
        }
        if let Some(owner) = owner.upgrade() {
            self.close_queue(&owner, &serving).await;
        }
    }

    /// Reserves a place for another client, unless the rules or the limits leave none.
    fn admit<O: Owner>(
        &self,
        owner: &Arc<O>,
        serving: &Serving<O>,
        stream: &dyn Connection,
    ) -> Result<HostPermit, NotAdmitted> {
        let (scheme, peer) = (self.endpoint().scheme(), stream.peer());
        match &owner.settings().accept {
            Some(rules) if !rules.accepts(scheme, peer, stream.peer_identity().as_ref()) => {
                Err(NotAdmitted::NotPermitted)
            }
            _ => admit(owner, serving, stream),
        }
    }

    /// Sends CloseConnection on the connections that wait to be accepted, and closes them: their clients may send their
    /// requests elsewhere.
    async fn close_queue<O: Owner>(&self, owner: &Arc<O>, serving: &Serving<O>) {
        let next = || {
            poll_fn(|cx| match self.listener.poll_accept(cx) {
                Poll::Ready(accepted) => Poll::Ready(accepted.ok()),
                Poll::Pending => Poll::Ready(None),
            })
        };
        for _ in 0..MAX_QUEUED {
            let Some(stream) = next().await else { return };
            close(owner, serving, stream, send_close);
        }
    }
}

/// Reserves a place for another connection, unless its host, the limit on connections or the memory leaves none.
pub(crate) fn admit<O: Owner>(
    owner: &Arc<O>,
    serving: &Serving<O>,
    stream: &dyn Connection,
) -> Result<HostPermit, NotAdmitted> {
    let admitted = serving.admit(stream.peer(), stream.peer_identity())?;
    let memory = admitted.memory(&owner.settings().memory);
    match memory.has_room_for_connection(stream.memory_octets()) {
        true => Ok(admitted),
        false => Err(NotAdmitted::NoMemory),
    }
}

/// Sends CloseConnection on a connection beyond the limits, and closes it. Its client may send its requests elsewhere, as
/// none of them has been read. The connection closes without the message if the client does not read it in time, or if many
/// other clients have yet to read theirs.
#[cold]
fn refuse<O: Owner>(
    owner: &Arc<O>,
    serving: &Serving<O>,
    stream: Box<dyn Connection>,
    reason: NotAdmitted,
) {
    let (limits, settings) = (serving.limits(), owner.settings());
    let (limit, name, cause) = match reason {
        NotAdmitted::NotPermitted => {
            let omitted = settings.counters.report(Counter::ConnectionsNotPermitted);
            if let Some(omitted) = omitted {
                tracing::warn!(peer = %stream.peer(), omitted, "connection refused: not permitted");
            }
            close(owner, serving, stream, send_not_permitted);
            return;
        }
        NotAdmitted::Full => {
            let limit = limits.max_connections;
            (limit, "max_connections", Counter::ConnectionsRefused)
        }
        NotAdmitted::HostFull => {
            let limit = limits.max_connections_per_host;
            (
                limit,
                "max_connections_per_host",
                Counter::ConnectionsOfHostRefused,
            )
        }
        NotAdmitted::NoMemory => {
            let limit = settings.memory.octets();
            (
                limit,
                "max_memory_octets",
                Counter::ConnectionsRefusedForMemory,
            )
        }
    };
    if let Some(omitted) = settings.counters.report(cause) {
        tracing::warn!(peer = %stream.peer(), limit, omitted, "connection refused: {name} reached");
    }
    close(owner, serving, stream, send_close);
}

/// Says why by `say`, which closes the connection. It closes without a word while many others are told.
fn close<O: Owner, S: Future<Output = ()> + Send + 'static>(
    owner: &Arc<O>,
    serving: &Serving<O>,
    stream: Box<dyn Connection>,
    say: fn(Box<dyn Connection>) -> S,
) {
    match serving.refusal(stream.peer(), stream.peer_identity()) {
        Some(permit) => owner.track(async move {
            say(stream).await;
            drop(permit);
        }),
        None => stream.close(),
    }
}
