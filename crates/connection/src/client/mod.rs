//! The client's end of a connection, shared by all references to one endpoint.
//!
//! # The reader of a connection
//!
//! A connection has one stream of replies and any number of callers. A caller reads for itself and for the others, within
//! its own poll or blocking its thread; the driver task reads when no caller does. `CurrentReader` (`reader.rs`) says who
//! does, in one word. One pump (`pump`) reads, whoever runs it:
//!
//! 1. A caller that will park, and finds that the reactor watches, leaves the wait to it before its request is sent. Of a
//!    caller that waits alone the reactor knows the id (the *leader*), and wakes it; for several callers it wakes the driver.
//! 2. Any other caller claims the lease, once its waker is in the table, and reads. So does a caller that was woken, and the
//!    driver. The holder hands each reply to its waiter (`ReplyWaiters::deliver`); its own never goes through the table. Requests
//!    of a peer that may send them go into the inbox of the server's role (`bidirectional`), whose driver drives the connection.
//! 3. The holder spins, blocks in `recv`, or drains the socket and has the reactor watch, and leaves the connection to the next
//!    reader. Without a watching reactor the driver looks by a timer whether replies still come.
//! 4. A caller that sends the first request after a pause reads once, without waiting (`look_before_sending`): a
//!    CloseConnection, or the end of the stream, that has come meanwhile is found before the request is written.
//! 5. The stream ends, the peer closes, the ORB shuts down, or the connection is idle: `end` ends the `Life` under
//!    the lock and wakes every waiter. The driver sends the last message (`Link::finish`): it drains the queue, waits a
//!    bounded time for the peer, and closes.
//!
//! Locks: the lease is held within one poll or one blocking call. The lock of the state is held for single look-ups,
//! never across a system call, and may be taken by the holder of the lease. A caller that holds this lock may try to claim
//! the lease, which never blocks: one look-up finds that no reply is there, records the waker, and claims the lease.
//!
//! Orderings: those of the reader's word are in `reader`. The standing (`silence`) is a hint; `OVER` is stored with `Release`
//! under the lock. `announced`, `spoke_1_2`, `one_way_ids`, `last_sent` and `last_used` are `Relaxed`: each is a value by
//! itself, and a late one costs contexts sent twice, a CloseConnection of the older version, a read in vain, or another idle
//! connection closed.

mod call;
mod driver;
#[cfg(zorb_model)]
#[path = "../../models/tests/client.rs"]
pub(crate) mod models;
mod one_way;
mod pump;
mod silence;
#[cfg(all(test, not(zorb_model)))]
mod tests;
mod waiters;

pub use call::{ClientRequest, EncodeArguments, refused_by_omniorb};
pub use one_way::OneWayMode;
pub use silence::{is_timing_out, timing_out};

use super::bidirectional::BidirectionalConnection;
use super::cache::{ConnectSettings, UseClock};
use super::counters::Counters;
use super::end::End;
use super::kept::Kept;
use super::link::{Link, Reading};
use super::owner::PeerOrb;
use super::spin::{BusyConnections, Spinner};
use super::sync::{AtomicBool, MutexGuard, Ordering, clock};
use super::trace::Shown;
use core::fmt;
// For hints, which no model has to explore.
use core::sync::atomic::{AtomicU32, AtomicU64};
use core::task::Waker;
use silence::{OVER, Served, Silence};
use std::sync::Arc;
use std::time::Instant;
pub(crate) use waiters::ReplyWaiters;
use waiters::{Arrived, OwnReply, State, Waiter};
use zorb_cdr::WireFormat;
use zorb_executor::WaitPolicy;
use zorb_giop::codeset::CodeSets;
use zorb_giop::{
    CompletionStatus, Fault, Life, LifeAction, LifeEvent, LocateReply, Message, MessageFor,
    MessageKind, Reader, Received, ReplyHeader, ReplyStatus, RequestId, Role, ServiceContext,
    SystemException, Version,
};
use zorb_transport::{Address, Connection, Endpoint};

/// The error of a call without a reply. The kind decides whether the request may be sent again.
///
/// Source of the completion status: CORBA 3.3 Part 1, ORB Interface (standard exceptions).
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments cannot be encoded; nothing was sent.
    Encode(Fault),
    /// The connection ended before the request was whole on it, or the peer guarantees that it
    /// was not processed: it may be sent again.
    NotSent(Fault),
    /// The connection ended after the request was sent: it may have been carried out.
    Lost(Fault),
    /// Too many requests are in flight, or too many octets are queued; nothing was sent.
    Overload(Fault),
}

impl CallError {
    /// The exception that the caller gets: completion status MAYBE for [`Lost`](Self::Lost), NO for the others.
    #[must_use]
    pub fn raise(self) -> SystemException {
        match self {
            Self::Encode(fault) | Self::NotSent(fault) | Self::Overload(fault) => {
                fault.raise(CompletionStatus::No)
            }
            Self::Lost(fault) => fault.raise(CompletionStatus::Maybe),
        }
    }
}

/// The client's end of a connection: sends requests, and matches replies to their callers. All references to an endpoint
/// share it.
pub struct ClientConnection {
    link: Arc<Link>,
    endpoint: Endpoint,
    waiters: Arc<ReplyWaiters>,
    /// `waiters` as the waker that the reactor calls.
    readiness: Waker,
    wait: WaitPolicy,
    counters: Arc<Counters>,
    busy: Arc<BusyConnections>,
    /// Whether calls may use the connection.
    silence: Silence,
    /// Whether the peer has answered a request.
    answered: AtomicBool,
    served: Served,
    code_sets: CodeSets,
    contexts: Vec<ServiceContext>,
    /// The peer has answered a request, so it knows the code sets.
    announced: AtomicBool,
    peer: PeerOrb,
    /// Whether this end opened the connection. If so, its request ids are even.
    opened_here: bool,
    spoke_1_2: AtomicBool,
    /// Counts requests without a reply, for their request ids.
    one_way_ids: AtomicU32,
    /// When the connection was opened, and the nanoseconds from then to the last request before which the connection might have
    /// been read (`look_before_sending`).
    opened: Instant,
    last_sent: AtomicU64,
    /// The last use, by the clock of its cache. Of several idle connections, the least recently used is closed for another one.
    last_used: AtomicU64,
    uses: UseClock,
    /// What it shares with the server's role, if the peer may send requests, too.
    both: Option<Arc<BidirectionalConnection>>,
    kept: Kept,
}

impl ClientConnection {
    /// A connection over `stream`. `announce`: whether the server's reference states code sets, so that requests state those
    /// chosen.
    pub(crate) fn new(
        stream: Box<dyn Connection>,
        endpoint: Endpoint,
        announce: bool,
        settings: &ConnectSettings,
    ) -> Self {
        let shown = Shown {
            payload: settings.connection.trace_payload,
            describe: settings.connection.describe,
        };
        let link = Link::new(stream, None, shown).of_client_within(&settings.connection.memory);
        let reading = Reading {
            reader: Reader::new(settings.connection.limits).skip_too_large(),
            spinner: Spinner::new(settings.spin),
        };
        let driver = Arc::clone(&link.outbound.driver);
        let life = Life::new(Role::Client);
        let waiters = Arc::new(ReplyWaiters::new(life, true, reading, driver));
        let readiness = Waker::from(Arc::clone(&waiters));
        Self::over(
            Arc::new(link),
            waiters,
            readiness,
            endpoint,
            announce,
            settings,
        )
    }

    /// The client's role of a connection on which the peer may send requests, too.
    pub(crate) fn of_both(
        both: &Arc<BidirectionalConnection>,
        endpoint: Endpoint,
        announce: bool,
        settings: &ConnectSettings,
    ) -> Self {
        let (link, waiters) = (Arc::clone(both.link()), Arc::clone(both.waiters()));
        let readiness = both.readiness().clone();
        Self {
            opened_here: both.opened_here(),
            both: Some(Arc::clone(both)),
            ..Self::over(link, waiters, readiness, endpoint, announce, settings)
        }
    }

    fn over(
        link: Arc<Link>,
        waiters: Arc<ReplyWaiters>,
        readiness: Waker,
        endpoint: Endpoint,
        announce: bool,
        settings: &ConnectSettings,
    ) -> Self {
        if let Some(octets) = settings.connection.max_fragment(settings.needs_fragments) {
            link.outbound.set_max_fragment(octets);
        }
        if settings.needs_fragments {
            link.outbound.keep_1_1_whole();
        }
        let served = Served::new(
            settings.unresponsive.clone(),
            settings.transports.get(endpoint.scheme()).cloned(),
        );
        Self {
            link,
            endpoint,
            readiness,
            waiters,
            wait: settings.connection.wait,
            counters: Arc::clone(&settings.connection.counters),
            busy: Arc::clone(&settings.busy),
            silence: Silence::new(settings.known_key.clone()),
            answered: AtomicBool::new(false),
            served,
            announced: AtomicBool::new(false),
            code_sets: settings.code_sets,
            contexts: (announce
                .then(|| settings.code_sets.to_context().ok())
                .flatten())
            .into_iter()
            .chain(settings.origin.context())
            .collect(),
            peer: settings.peer,
            opened_here: true,
            spoke_1_2: AtomicBool::new(false),
            one_way_ids: AtomicU32::new(0),
            opened: clock::now(),
            last_sent: AtomicU64::new(0),
            last_used: AtomicU64::new(0),
            uses: UseClock::default(),
            both: None,
            kept: Kept::default(),
        }
    }

    /// Returns the connection as one of a cache with this clock.
    pub(crate) fn with_uses(mut self, uses: UseClock) -> Self {
        self.last_used = AtomicU64::new(uses.now());
        self.uses = uses;
        self
    }

    /// Whether its driver drives the connection: it reads when no caller does, and ends it. Otherwise that of the server's role
    /// does.
    fn is_driven_here(&self) -> bool {
        self.both.as_ref().is_none_or(|both| both.has_left())
    }

    /// The last use, by the clock of its cache.
    pub(crate) fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.waiters.state()
    }

    /// Whether the connection has ended, so that no request can be sent on it any more. Costs atomic loads.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.silence.standing() == OVER || self.link.outbound.failure().is_some()
    }

    /// Ends the life of the connection. Returns what has to be done, without the lock: [`Link::say_last`].
    fn set_end(&self, state: &mut State, end: End) -> LifeAction {
        let spoken = match self.spoke_1_2.load(Ordering::Relaxed) {
            true => Version::V1_2,
            false => Version::V1_0,
        };
        let action = state.life.on(LifeEvent::End { end, spoken });
        self.silence.set_over();
        action
    }

    /// Returns what services keep of the connection: its end drops it.
    #[must_use]
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Returns the endpoint that the connection leads to, as references name it.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the address of the peer, which the system reported when the connection was made.
    #[must_use]
    pub fn peer(&self) -> &Address {
        self.link.stream.peer()
    }

    /// Whether values lie in the server's memory as here: see [`Connection::is_to_alike_peer`].
    #[must_use]
    pub fn is_to_alike_peer(&self) -> bool {
        self.link.stream.is_to_alike_peer()
    }

    /// The wire format of text on this connection, in messages of this version.
    #[must_use]
    #[inline]
    pub fn format(&self, version: Version) -> WireFormat {
        self.peer.format(self.code_sets, version)
    }

    /// Ends the connection, in order if the peer may still read, and wakes every waiter and the driver.
    pub(crate) fn end(&self, end: End) {
        if end.is_of_peer() {
            self.ends_unserved();
        }
        if !end.is_orderly() {
            // Closed first: nothing may be written after callers have learned which requests were not.
            self.link.stream.close();
        }
        self.end_calls(end);
        self.link.outbound.driver.notify();
    }

    /// Wakes every waiter: no reply will come.
    fn end_calls(&self, end: End) {
        let mut state = self.state();
        let action = self.set_end(&mut state, end);
        // A reply that has come stays for its caller; callers without a reply find the end.
        let wakers: Vec<Waker> = (state.table.waiting_mut())
            .filter_map(|(_, waiter)| waiter.waker.take())
            .collect();
        drop(state);
        self.link.say_last(action);
        wakers.into_iter().for_each(Waker::wake);
        self.link.outbound.wake_all();
    }

    /// Closes the connection in order: sends CloseConnection, and ends all calls.
    pub(crate) fn shut_down(&self) {
        self.end(End::ShutDown);
    }

    /// Handles a received message. `own`: the reader's own call, if it has one.
    #[inline]
    fn handle(&self, received: Received<'_>, own: Option<&mut OwnReply<'_>>) -> Result<(), End> {
        let header = received.header();
        if header.kind == MessageKind::Reply
            && received.is_contiguous()
            && let Some((id, status, body)) = ReplyHeader::head_in_place(header, received.octets())
        {
            self.acknowledged();
            return match own {
                Some(own) if own.is_answered_by(MessageKind::Reply, id) => {
                    own.fill(received, status, body);
                    Ok(())
                }
                _ => self.deliver(id, received.into_message(), status, body),
            };
        }
        self.handle_other(received, own)
    }

    #[cold]
    fn handle_other(
        &self,
        received: Received<'_>,
        own: Option<&mut OwnReply<'_>>,
    ) -> Result<(), End> {
        let kind = received.header().kind;
        match &self.both {
            None => Role::Client.receives(kind)?,
            Some(both) => match Role::Both.receives(kind)? {
                MessageFor::Servant => return both.put(received),
                MessageFor::Caller => MessageFor::Caller,
            },
        };
        let message = received.into_message();
        let (id, status, body) = match message.header.kind {
            MessageKind::LocateReply => {
                let (id, _) = LocateReply::read(&message).map_err(End::Broken)?;
                if !self.has_served() {
                    self.has_answered();
                }
                (id, ReplyStatus::NoException, 0)
            }
            _ => {
                let head = ReplyHeader::head(&message).map_err(End::Broken)?;
                self.acknowledged();
                head
            }
        };
        match own {
            Some(own) if own.is_answered_by(message.header.kind, id) => {
                own.set_message(message, status, body);
                Ok(())
            }
            _ => self.deliver(id, message, status, body),
        }
    }

    /// Hands a reply to another caller than the reader.
    fn deliver(
        &self,
        id: u32,
        message: Message,
        status: ReplyStatus,
        body: usize,
    ) -> Result<(), End> {
        let arrived = Arrived {
            message,
            status,
            body,
        };
        (self.waiters.deliver(RequestId(id), arrived)).map_err(End::Broken)
    }

    /// Notes that the peer has received a request. A LocateRequest carries no contexts, so its reply says nothing.
    #[inline]
    fn acknowledged(&self) {
        if !self.announced.load(Ordering::Relaxed) {
            self.announced.store(true, Ordering::Relaxed);
            self.has_answered();
        }
    }
}

impl fmt::Debug for ClientConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConnection")
            .field("endpoint", &self.endpoint)
            .field("over", &self.is_over())
            .finish_non_exhaustive()
    }
}
