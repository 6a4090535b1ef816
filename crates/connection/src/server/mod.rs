//! The server's end of a connection: requests in, replies out.
//!
//! A request goes through these steps, under either driver:
//!
//! 1. **receive**: `Link::drain` hands out the messages in the receive buffer;
//! 2. **parse**: the header is matched against the header cache (`header_cache`), or parsed (`ServerConnection::parse`);
//! 3. **locate**: the cache recalls the target of an earlier request, or the owner looks it up ([`Owner::locate`]);
//! 4. **admit**, **dispatch**, **reply**: the owner does these ([`Owner::serve`]). A request that cannot be answered at once
//!    is [pending](PendingRequest); one that may not become pending yet waits in the connection's `backlog`.
//!
//! # The driver of a connection
//!
//! One loop runs these steps (`driver`), in a task of the lane or on a thread, which differ in how they wait for octets
//! (`Waiting`): by the reactor, or in `recv`. Every connection has a thread if the settings say so; otherwise busy connections
//! are promoted to one (`promote`). A thread hands back to a task what it cannot wait for itself.
//!
//! Where this end sends requests, too, the loop takes its requests from an inbox (`poll_read_both`), into which whoever reads the
//! connection puts them (`bidirectional`).
//!
//! ```text
//!   ──1──► reading ◄───2───► waiting ───5───► draining ──6──► ended
//!           ▲   ▲                                ▲              ▲
//!           │   └──3──► promoted ───────5────────┤              7 from every state
//!           └──────4──► stopped ────────5────────┘
//! ```
//!
//! 1. The connection is registered (`Serving::register`), and its driver begins: `drive_as` in a task, or `serve_here` on a thread.
//! 2. The driver has served all messages of its buffer and written their replies, spins if it may (`may_spin`), and then
//!    waits for octets: a task by the reactor (`Link::poll_read`), a thread in `recv` (`Link::read_blocking`).
//! 3. The connection is one of several busy ones (`Promotion::is_due`): its task gives the reading state to a new thread and
//!    awaits it (`serve_promoted`). The thread gives it back once it has had no request for 10 ms, found no room for a
//!    reply, or read in vain, or when the ORB stops.
//! 4. Reading stops while the backlog is full (`may_read`), or a client takes no replies (`poll_may_serve`). It goes on when a
//!    pending request ends (`wake`), or the socket has room (`Outbound::poll_unblock`).
//! 5. The ORB or the reactor of the connection stops (`is_stopping`): no more is read, pending upcalls end, and
//!    CloseConnection follows their replies (`poll_drained`).
//! 6. Everything is written, and the peer has closed, or the bounded wait for that is over (`Link::poll_linger`).
//! 7. The peer has closed or broken the protocol, the transport has failed, or the connection is evicted. One-way requests
//!    of the backlog are still served (`poll_to_end`); pending upcalls go on, and their replies are dropped.
//!
//! Locks: those of `peer.requests` and `code_sets` are held for single look-ups, never across a system call or an
//! upcall, and never two of them at a time. Only the driver reads; replies are written by the thread that has them
//! (`Outbound`).
//!
//! Orderings: `pending` is counted up with `AcqRel` by the driver, and down with `SeqCst` after the request's octets; the
//! check of the backlog is `SeqCst`, too. So either the thread that ends a request sees the request that waits, or the driver
//! sees the room. `poll_drained` loads `pending` with `Acquire`. `has_thread` and `is_awaited` of `write_wait` pair with each
//! other: a task that waits for room, and is about to stop, sees that the socket was full. `unanswered`, `pending_octets`,
//! `band`, `cannot_block`, `client_is_gone` and `reported_too_large` are `Relaxed`: each is a value by itself, and a late
//! one costs a copy, or one look more.

mod backlog;
mod driver;
mod ended;
#[cfg(not(zorb_model))]
mod eviction;
mod handle;
mod header_cache;
mod holding;
#[cfg(zorb_model)]
#[path = "../../models/tests/server.rs"]
mod models;
mod order;
mod overload;
mod pending;
mod promote;
mod serving;

#[cfg(all(test, not(zorb_model)))]
mod tests;
mod thread;
mod write_wait;

pub use super::fairness::{Overload, ServerLimits};
pub use order::{OrderKey, Orders, Turn};
pub use pending::{PendingRequest, WatchedRequest};
pub use serving::Serving;

use backlog::Backlog;
pub(crate) use pending::ClientRequests;
use pending::Turns;

use super::bidirectional::BidirectionalConnection;
use super::counters::Counter;
use super::end::End;
use super::fairness::{HostPermit, PendingMemory};
use super::link::{Link, Reading};
use super::outbound::Flush;
pub use super::owner::Located;
use super::owner::{Owner, Peer, Served};
use super::reactor::Reactor;
use super::spin::{SpinLimits, Spinner};
use super::sync::{AtomicBool, AtomicU32, AtomicUsize, Mutex, Ordering};
use super::trace::{self, Shown};
use core::fmt;
use core::time::Duration;
use header_cache::{LastReply, RequestHeaderCache};
use std::io;
use std::sync::{Arc, PoisonError};
use tokio_util::sync::CancellationToken;
use write_wait::WriteWait;
use zorb_cdr::{DefaultLabels, Endian, Gather, WireFormat};
use zorb_executor::WaitPolicy;
use zorb_giop::codeset::CodeSets;
use zorb_giop::{
    Cause, CompletionStatus, Fault, HeaderOffsets, Life, LifeAction, LifeEvent, LocateReply,
    LocateRequestHeader, Message, ProtocolError, Reader, Received, RequestHeader, Role,
    ServiceContextId, Version, buffers,
};
use zorb_shares::{CancelReason, Client};
use zorb_transport::{Connection, Endpoint};

/// A received request with its target, ready to be served by the owner.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a request is made of all of these"
)]
pub struct ReceivedRequest<O: Owner> {
    /// The message of the request, header included.
    pub message: Message,
    /// The offsets of the parts of its header.
    pub offsets: HeaderOffsets,
    /// The wire format of text on the connection.
    pub format: WireFormat,
    /// The target of the request, as [`Owner::locate`] or [`Owner::recall`] returned it.
    pub target: O::Target,
}

/// The server's end of a connection: reads requests, has the owner serve them, and writes replies.
pub struct ServerConnection<O: Owner> {
    link: Arc<Link>,
    peer: Arc<Peer>,
    owner: Arc<O>,
    roles: Roles,
    pending: AtomicUsize,
    /// Pending requests whose replies have not been queued.
    unanswered: AtomicUsize,
    /// Octets of pending requests.
    pending_octets: AtomicUsize,
    /// The memory of pending requests.
    held: Arc<PendingMemory>,
    /// The code sets of the client, once it has chosen.
    code_sets: Mutex<Option<CodeSets>>,
    /// Whether a thread has found that the transport has no blocking reads.
    cannot_block: AtomicBool,
    reported_too_large: AtomicBool,
    write_wait: WriteWait,
    /// Pending requests that are ready to run again, of a connection with a thread.
    turns: Arc<Turns>,
    /// Requests that wait until they may be pending.
    backlog: Backlog,
    /// Whether the client has closed the connection while the backlog was full.
    client_is_gone: AtomicBool,
    orders: Orders,
    admitted: HostPermit,
    /// The client, where clients share places.
    client: Client,
    /// How its reader waits.
    wait: WaitPolicy,
    spin: SpinLimits,
    /// Whether the reactor of the owner's lane reads it.
    is_in_lane: bool,
    /// Ends the connection while the owner goes on; `None` if it ends with the owner only.
    stop: Option<CancellationToken>,
    /// The priority band that the connection is bound to: two shorts, or [`NO_BAND`].
    band: AtomicU32,
}

/// What this end does on a connection.
enum Roles {
    /// It serves requests. Only the driver changes the life of the connection.
    Server(Mutex<Life>),
    /// It sends requests, too, or may do so.
    Both(Arc<BidirectionalConnection>),
}

/// The value of a connection that is bound to no priority band. No band has these bounds, as priorities start at 0.
const NO_BAND: u32 = u32::MAX;

impl<O: Owner> ServerConnection<O> {
    pub(crate) fn new(
        stream: Box<dyn Connection>,
        endpoint: Endpoint,
        owner: &Arc<O>,
        admitted: HostPermit,
    ) -> Self {
        let link = Arc::new(Self::link(stream, owner, &admitted));
        let roles = Roles::Server(Mutex::new(Life::new(Role::Server)));
        Self::over(link, endpoint, roles, owner, admitted)
    }

    /// A connection on which this end may send requests, too, and what it shares with the client's role.
    pub(crate) fn with_both_roles(
        stream: Box<dyn Connection>,
        endpoint: Endpoint,
        owner: &Arc<O>,
        admitted: HostPermit,
        opened_here: bool,
    ) -> (Self, Arc<BidirectionalConnection>) {
        let link = Self::link(stream, owner, &admitted);
        let lane = owner.lane();
        let reading = new_reading(owner, SpinLimits::of(lane, lane.handle().id()));
        let memory = admitted.host().memory(&owner.settings().memory);
        let both = BidirectionalConnection::new(link, opened_here, reading, memory);
        let (link, roles) = (Arc::clone(both.link()), Roles::Both(Arc::clone(&both)));
        (Self::over(link, endpoint, roles, owner, admitted), both)
    }

    fn link(stream: Box<dyn Connection>, owner: &Arc<O>, admitted: &HostPermit) -> Link {
        let settings = owner.settings();
        let shown = Shown {
            payload: settings.trace_payload,
            describe: settings.describe,
        };
        Link::new(stream, settings.max_fragment(false), shown)
            .within(admitted.host().memory(&settings.memory))
            .notifying(admitted.host().waits())
    }

    fn over(
        link: Arc<Link>,
        endpoint: Endpoint,
        roles: Roles,
        owner: &Arc<O>,
        admitted: HostPermit,
    ) -> Self {
        let lane = owner.lane();
        let memory = Arc::clone(admitted.host().memory(&owner.settings().memory));
        let client = Client::new(admitted.host().key());
        Self {
            peer: Peer::of(&*link.stream, endpoint),
            link,
            owner: Arc::clone(owner),
            roles,
            pending: AtomicUsize::new(0),
            unanswered: AtomicUsize::new(0),
            pending_octets: AtomicUsize::new(0),
            held: Arc::new(PendingMemory::of(&memory)),
            code_sets: Mutex::new(None),
            cannot_block: AtomicBool::new(false),
            reported_too_large: AtomicBool::new(false),
            write_wait: WriteWait::default(),
            turns: Arc::default(),
            backlog: Backlog::within(&memory),
            client_is_gone: AtomicBool::new(false),
            orders: Orders::default(),
            admitted,
            client,
            wait: owner.settings().wait,
            spin: SpinLimits::of(lane, lane.handle().id()),
            is_in_lane: true,
            stop: None,
            band: AtomicU32::new(NO_BAND),
        }
    }

    /// Returns the connection with a reactor of its own, which reads it.
    pub(crate) fn in_reactor(mut self, reactor: &Reactor) -> Self {
        (self.wait, self.spin, self.is_in_lane) = (reactor.wait, reactor.spin, false);
        self.stop = Some(reactor.stop.clone());
        self
    }

    /// Binds the connection to a band of CORBA priorities from `low` to `high`, in place of an earlier one.
    pub fn bind_band(&self, low: i16, high: i16) {
        let [[a, b], [c, d]] = [low.to_ne_bytes(), high.to_ne_bytes()];
        self.band
            .store(u32::from_ne_bytes([a, b, c, d]), Ordering::Relaxed);
    }

    /// The band of CORBA priorities that the connection is bound to, as the lowest and the highest.
    #[must_use]
    pub fn band(&self) -> Option<(i16, i16)> {
        let bound = self.band.load(Ordering::Relaxed);
        let [a, b, c, d] = bound.to_ne_bytes();
        (bound != NO_BAND).then_some((i16::from_ne_bytes([a, b]), i16::from_ne_bytes([c, d])))
    }

    fn both(&self) -> Option<&Arc<BidirectionalConnection>> {
        match &self.roles {
            Roles::Server(_) => None,
            Roles::Both(both) => Some(both),
        }
    }

    /// Whether this end opened the connection, and offered it to the peer for requests.
    fn opened_here(&self) -> bool {
        self.both().is_some_and(|both| both.opened_here())
    }

    /// Whether this end sends requests on the connection, too.
    fn has_own_requests(&self) -> bool {
        self.both().is_some_and(|both| both.has_client())
    }

    /// Whether its reactor or its owner is stopping.
    fn is_stopping(&self) -> bool {
        self.owner.is_stopping()
            || (self.stop.as_ref()).is_some_and(CancellationToken::is_cancelled)
    }

    /// Whether the connection may be closed as idle.
    fn may_end_idle(&self, limit: Duration) -> bool {
        match &self.roles {
            Roles::Server(_) => self.has_no_pending(),
            Roles::Both(both) => self.is_unused(both) && both.retire(End::Idle(limit)),
        }
    }

    /// Whether no request of the peer is pending or waits.
    fn is_unused(&self, both: &BidirectionalConnection) -> bool {
        self.has_no_pending() && both.is_inbox_empty()
    }

    /// Hands to the owner the offer of a client that accepts requests on its connection.
    fn take_offer(&self, header: &RequestHeader<'_>, version: Version) {
        if let Some(both) = self.both()
            && !both.opened_here()
            && version >= Version::V1_2
            && let Some(context) = header.contexts.get(ServiceContextId::BI_DIR_IIOP)
        {
            self.owner.offered(both, &self.client, context);
        }
    }

    /// Returns the client, where clients share places. It has gone when the connection has ended.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the owner of the connection, which serves its requests.
    pub fn owner(&self) -> &Arc<O> {
        &self.owner
    }

    /// The initial state of its reader.
    fn new_reading(&self) -> Reading {
        new_reading(&self.owner, self.spin)
    }

    /// The next turn in an order. Costs two allocations and a lock.
    pub fn turn(&self, key: OrderKey) -> Turn {
        self.orders.turn(key)
    }

    /// Whether the last turn in an order is not over.
    #[inline]
    #[must_use]
    pub fn has_turns(&self, key: OrderKey) -> bool {
        self.orders.is_in_use(key)
    }

    /// Matches or parses the header of a request, and locates its target.
    #[inline]
    fn parse(
        &self,
        cache: &mut RequestHeaderCache<O>,
        received: Received<'_>,
    ) -> Result<ReceivedRequest<O>, ProtocolError> {
        if received.is_contiguous()
            && let Some(hit) = cache.find(received.header(), received.octets(), &self.owner)
        {
            return Ok(ReceivedRequest {
                message: self.keep(received),
                offsets: hit.offsets,
                format: hit.format,
                target: hit.target,
            });
        }
        let message = self.keep(received);
        self.parse_new(cache, message)
    }

    /// Parses the header of a request that the cache does not know.
    #[inline(never)]
    fn parse_new(
        &self,
        cache: &mut RequestHeaderCache<O>,
        message: Message,
    ) -> Result<ReceivedRequest<O>, ProtocolError> {
        let header =
            RequestHeader::read(&message).map_err(|error| self.unreadable(&message, error))?;
        if needs_fragments(&header)
            && let Some(octets) = self.owner.settings().max_fragment(true)
        {
            self.link.outbound.keep_1_1_whole();
            self.link.outbound.set_max_fragment(octets);
        }
        let code_sets = self.negotiate(cache, &header);
        let format = (code_sets.as_ref())
            .unwrap_or(&CodeSets::UNSTATED)
            .with_minor(message.header.version.minor);
        let format = WireFormat {
            default_labels: default_labels_of(&message),
            ..format
        };
        let fault = match (message.is_cut_short(), code_sets) {
            (true, _) => Some(self.too_large(&message)),
            (false, Err(fault)) => Some(fault),
            (false, Ok(_)) => None,
        };
        let target = match fault {
            None => {
                self.take_offer(&header, message.header.version);
                let target = self.owner.locate(&header, self.opened_here());
                cache.remember(&message, &header, format, &target, &self.owner);
                target
            }
            Some(fault) => self.owner.refuse(fault.raise(CompletionStatus::No)),
        };
        let offsets = HeaderOffsets::of(&header);
        drop(header);
        Ok(ReceivedRequest {
            message,
            offsets,
            format,
            target,
        })
    }

    /// The code sets of the connection. A CodeSets context settles them.
    fn negotiate(
        &self,
        cache: &mut RequestHeaderCache<O>,
        header: &RequestHeader<'_>,
    ) -> Result<CodeSets, Fault> {
        let mut agreed = (self.code_sets.lock()).unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = header.contexts.get(ServiceContextId::CODE_SETS) {
            match (CodeSets::from_context(data), *agreed) {
                (Ok(Some(chosen)), Some(before)) if !before.may_become(chosen) => {
                    return Err(Fault::CodeSetsChanged);
                }
                // A client repeats its code sets until a reply has come.
                (Ok(Some(chosen)), before) if before == Some(chosen) => {}
                (Ok(Some(chosen)), _) => {
                    *agreed = Some(chosen);
                    cache.clear();
                }
                (Ok(None), _) => return Err(Fault::UnsupportedCodeSet),
                (Err(error), _) => return Err(Fault::Decode(error)),
            }
        }
        Ok(agreed.unwrap_or(self.owner.settings().unstated_code_sets))
    }

    /// The fault of a request that is longer than the limit, of which only the first octets were kept.
    fn too_large(&self, message: &Message) -> Fault {
        let fault = Fault::MessageTooLarge {
            endpoint: self.link.stream.peer().to_string(),
            kind: message.header.kind,
            octets: message.octets(),
            limit: self.owner.settings().limits.max_message_octets,
        };
        let counters = &self.owner.settings().counters;
        // Once at warn level: a client that goes on must not fill the log.
        if self.reported_too_large.swap(true, Ordering::Relaxed) {
            counters.count(Counter::RequestsTooLarge);
            tracing::debug!(error = %fault, "message too large");
        } else if let Some(omitted) = counters.report(Counter::RequestsTooLarge) {
            tracing::warn!(error = %fault, omitted, "message too large; others on this connection are reported at debug level");
        }
        fault
    }

    /// The error of a request whose header cannot be read.
    fn unreadable(&self, message: &Message, error: ProtocolError) -> ProtocolError {
        match message.is_cut_short() {
            false => error,
            true => ProtocolError::MessageTooLarge {
                octets: message.octets(),
                limit: self.owner.settings().limits.max_message_octets,
            },
        }
    }

    fn locate(self: &Arc<Self>, message: Message) -> Result<Served, End> {
        let header = LocateRequestHeader::read(&message).map_err(End::Broken)?;
        let (version, id) = (message.header.version, header.request_id);
        let reply = match self
            .owner
            .locate_request(&header.target, self.opened_here())
        {
            Located::Reply(reply) => reply,
            Located::Ask(key) => match self.full(0) {
                None => {
                    let pending = PendingRequest::located(self, id);
                    let (client, host) = (self.client.clone(), self.client.host());
                    self.owner.track(async move {
                        let asked = Arc::clone(pending.owner()).ask(key, host);
                        tokio::select! {
                            biased;
                            reply = asked => pending.answer(encode_located(&reply, version, id)),
                            _ = pending.abandoned(&client) => pending.answer(None),
                        }
                    });
                    return Ok(Served::Pending);
                }
                Some(full) => match self.admitted.host().limits().overload {
                    Overload::Wait if !self.is_stuck() => {
                        drop(header);
                        return self.wait(message);
                    }
                    Overload::Wait | Overload::Refuse => {
                        let counters = &self.owner.settings().counters;
                        counters.count(Counter::PendingRequestsRefused);
                        LocateReply::SystemException(self.overloaded(full))
                    }
                },
            },
        };
        let reply = encode_located(&reply, version, id);
        Ok(reply.map_or(Served::Silent, Served::Replied))
    }

    /// Queues a reply, which leaves with the replies to the messages of the read in progress, or when the driver writes
    /// next.
    pub fn queue_reply(&self, reply: Option<Gather>) {
        if let Some(reply) = reply {
            self.link.queue(reply);
        }
    }

    /// Keeps the reply to a message that has been handled, if there is one, as the last of this read.
    #[inline]
    fn note(&self, served: Served, last: &LastReply) {
        if let Served::Replied(reply) = served
            && let Some(before) = last.replace(reply)
        {
            self.link.queue(before);
        }
    }

    /// Writes the replies of a read. The last one is sent directly, and takes along the queued ones before it.
    fn write_replies(&self, last: &LastReply) -> io::Result<Flush> {
        self.write_with(last.take())
    }

    /// Writes the queued replies, and this one behind them.
    fn write_with(&self, last: Option<Gather>) -> io::Result<Flush> {
        match last {
            Some(reply) => self.link.send(reply).1,
            None => self.link.outbound.flush(&*self.link.stream),
        }
    }

    /// Notes that the client has gone: nobody waits for its requests.
    fn leave(&self) {
        self.client.leave();
        self.peer.requests.end_all(CancelReason::Disconnected);
    }

    /// Returns the peer of the connection, the client.
    #[must_use]
    pub fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Whether no request of the connection is pending, and none waits in the backlog.
    #[inline]
    #[must_use]
    pub fn has_no_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0 && self.backlog.is_empty()
    }

    /// Whether an upcall holds up its driver: it has not taken notice of the end of its owner, and no pending request keeps it.
    fn is_held_up(&self) -> bool {
        self.has_no_pending() && self.with_life(|life| life.end().is_none())
    }

    fn with_life<T>(&self, run: impl FnOnce(&mut Life) -> T) -> T {
        match &self.roles {
            Roles::Server(life) => run(&mut life.lock().unwrap_or_else(PoisonError::into_inner)),
            Roles::Both(both) => run(&mut both.waiters().state().life),
        }
    }

    /// Goes on with the life of the connection. For the driver.
    fn on(&self, event: LifeEvent) -> LifeAction {
        self.with_life(|life| life.on(event))
    }

    /// Wakes the driver, since the ORB is shutting down, or there is room for a waiting request.
    fn wake(&self) {
        self.link.outbound.driver.notify();
    }

    /// Sends the last message that the end of the connection requires, and closes it.
    async fn finish(&self, end: &End) {
        self.leave();
        let counters = &self.owner.settings().counters;
        let evicted = self.link.outbound.evicted();
        let lost = evicted.map(|why| End::Lost(Cause::new(why.to_string())));
        let end = lost.as_ref().unwrap_or(end);
        trace::ended(&*self.link.stream, &self.peer.endpoint, end);
        if let Some(why) = evicted
            && let Some(omitted) = counters.report(why.counter())
        {
            tracing::warn!(peer = %self.link.stream.peer(), error = %why, omitted, "connection closed");
        }
        match end {
            End::Broken(error) => {
                if let Some(omitted) = counters.report(Counter::ProtocolErrors) {
                    trace::refused(&*self.link.stream, error, omitted);
                }
            }
            End::Idle(_) => counters.count(Counter::IdleConnectionsClosed),
            End::Closed
            | End::Lost(_)
            | End::Refused
            | End::ShutDown
            | End::Purged
            | End::Released
            | End::NoThread
            | End::Silent(_) => {}
        }
        match &self.roles {
            Roles::Both(both) if matches!(end, End::ShutDown) && both.leave() => {
                // Requests of this end continue; the driver of the client's role ends the connection.
                return self.link.drained().await;
            }
            Roles::Both(both) => both.end(end.clone()),
            Roles::Server(_) => {
                let event = match end.clone() {
                    End::ShutDown => LifeEvent::Drained,
                    end => LifeEvent::End {
                        end,
                        spoken: Version::V1_0,
                    },
                };
                self.link.say_last(self.on(event));
            }
        }
        let is_orderly = self.with_life(|life| life.end().is_some_and(End::is_orderly));
        self.link.finish(is_orderly, |event| self.on(event)).await;
        if self.with_life(|life| life.is_cut_short()) {
            counters.count(Counter::LingersCut);
        }
        if let Some(both) = self.both() {
            both.close();
        }
    }
}

impl<O: Owner> Drop for ServerConnection<O> {
    fn drop(&mut self) {
        self.leave();
        if let Some(both) = self
            .both()
            .filter(|both| !both.has_left() && !both.is_over())
        {
            // Unless the driver has ended the connection, it was dropped with its runtime.
            both.end(End::Lost(Cause::new("its runtime has shut down")));
            both.close();
        }
        // Upcalls that find their connection gone uncount themselves when they end.
        let left = self.pending.load(Ordering::Acquire);
        if left > 0 {
            self.admitted.host().leave_behind(left);
        }
    }
}

impl<O: Owner> fmt::Debug for ServerConnection<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConnection")
            .field("link", &self.link)
            .finish_non_exhaustive()
    }
}

fn new_reading<O: Owner>(owner: &Arc<O>, spin: SpinLimits) -> Reading {
    Reading {
        reader: Reader::new(owner.settings().limits).skip_too_large(),
        spinner: Spinner::new(spin),
    }
}

/// Whether a client accepts long messages in fragments only, as ORBs of the GlassFish family do. They do not name
/// themselves, but send the service context of RMI's stream formats. They misread fragments of GIOP 1.1.
fn needs_fragments(header: &RequestHeader<'_>) -> bool {
    let format = ServiceContextId::RMI_CUSTOM_MAX_STREAM_FORMAT;
    header.contexts.get(format).is_some()
}

/// The form in which a client reads TypeCodes of unions with a default. ORBs in Java do not name themselves in requests, but
/// send big-endian, which other ORBs do not on the processors in use.
fn default_labels_of(request: &Message) -> DefaultLabels {
    match request.header.endian {
        Endian::Big => DefaultLabels::Octet,
        Endian::Little => DefaultLabels::Discriminator,
    }
}

fn encode_located(reply: &LocateReply, version: Version, request_id: u32) -> Option<Gather> {
    let encoder = zorb_cdr::Encoder::<zorb_cdr::NativeEndian>::with_buffer(
        buffers::take(),
        CodeSets::UNSTATED.with_minor(version.minor),
    );
    reply.encode(encoder, version, request_id).ok()
}
