//! What both roles of a connection share.

use crate::client::{ClientConnection, ReplyWaiters};
use crate::end::End;
use crate::fairness::{Evicted, PeerMemory, Reserved};
use crate::link::{Link, READS_PER_TURN, Reading};
use crate::reader::CurrentReader;
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering};
use core::fmt;
// For numbers, which no model has to explore.
use core::sync::atomic::AtomicU64;
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, Weak};
use zorb_giop::{Life, LifeEvent, Message, Received, Role, UnfinishedInput, Version};
use zorb_transport::Address;

/// Octets of requests that may wait in the inbox. With more of them, nothing is read until the driver has served some.
const MAX_WAITING_OCTETS: usize = 1 << 20;
/// The longest request, in octets, that is copied out of the receive buffer while others wait, so that it does not keep the buffer
/// alive.
const MAX_COPIED_OCTETS: usize = 16 << 10;
/// The capacity, in requests, that an empty inbox keeps.
const KEPT_PLACES: usize = 32;

/// The number that the next bidirectional connection of the process gets.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The requests of the peer that were read, and are not served yet.
#[derive(Default)]
struct Inbox {
    requests: VecDeque<Message>,
    /// Octets of memory of the requests.
    octets: usize,
    /// Those octets, as counted with the memory of all connections.
    reserved: Reserved,
    /// The driver of the server's role is reading, and looks here afterwards.
    driver_reads: bool,
}

impl Inbox {
    /// Counts the memory of the requests. Returns `false` if there is none for them.
    fn cover(&self) -> bool {
        self.reserved.cover(|| self.octets)
    }
}

/// Octets of memory that a waiting request counts as.
fn memory(request: &Message) -> usize {
    (request.frame.octets().len()).saturating_add(size_of::<Message>())
}

/// The client's role, and whether the peer has replaced the connection by a newer one.
#[derive(Debug, Default)]
struct Callbacks {
    client: Weak<ClientConnection>,
    /// The peer has offered a newer connection for an endpoint of this one.
    is_outdated: bool,
}

/// A connection on which both ends may send requests: what the roles of a client and of a server share.
///
/// Source: CORBA 3.3 Part 2, section 9.8 (bidirectional GIOP).
pub struct BidirectionalConnection {
    link: Arc<Link>,
    /// The calls of this end, the life of the connection, and who reads it.
    waiters: Arc<ReplyWaiters>,
    /// `waiters` as the waker that the reactor calls.
    readiness: Waker,
    inbox: Mutex<Inbox>,
    /// This end may send requests. Changes under the lock of the life.
    has_client: AtomicBool,
    /// No further request of the peer is served.
    has_stopped: AtomicBool,
    /// The driver of the server's role has left the connection to that of the client's. Changes under the lock of the life.
    has_left: AtomicBool,
    /// The connection is closed, and no driver is needed.
    is_over: AtomicBool,
    /// No reference of this end needs the connection any more.
    is_released: AtomicBool,
    opened_here: bool,
    number: u64,
    callbacks: Mutex<Callbacks>,
}

impl BidirectionalConnection {
    /// A connection over `link`. `memory` counts the requests that wait to be served.
    pub(crate) fn new(
        link: Link,
        opened_here: bool,
        reading: Reading,
        memory: &Arc<PeerMemory>,
    ) -> Arc<Self> {
        let driver = Arc::clone(&link.outbound.driver);
        let waiters = ReplyWaiters::new(Life::new(Role::Both), opened_here, reading, driver);
        let waiters = Arc::new(waiters);
        Arc::new(Self {
            link: Arc::new(link),
            readiness: Waker::from(Arc::clone(&waiters)),
            waiters,
            inbox: Mutex::new(Inbox {
                reserved: Reserved::of(memory),
                ..Inbox::default()
            }),
            has_client: AtomicBool::new(opened_here),
            has_stopped: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            is_released: AtomicBool::new(false),
            opened_here,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            callbacks: Mutex::new(Callbacks::default()),
        })
    }

    /// The number that distinguishes bidirectional connections of the process.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    pub(crate) const fn link(&self) -> &Arc<Link> {
        &self.link
    }

    pub(crate) const fn waiters(&self) -> &Arc<ReplyWaiters> {
        &self.waiters
    }

    pub(crate) const fn readiness(&self) -> &Waker {
        &self.readiness
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn callbacks(&self) -> MutexGuard<'_, Callbacks> {
        self.callbacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> Option<Arc<ClientConnection>> {
        self.callbacks().client.upgrade()
    }

    /// Sets the client's role.
    pub(crate) fn set_client(&self, client: &Arc<ClientConnection>) {
        let mut callbacks = self.callbacks();
        callbacks.client = Arc::downgrade(client);
        if callbacks.is_outdated {
            client.outdate();
        }
    }

    /// Has later calls of this end look for another connection, as the peer has offered a newer one. Calls in progress go on.
    pub fn outdate(&self) {
        let mut callbacks = self.callbacks();
        callbacks.is_outdated = true;
        if let Some(client) = callbacks.client.upgrade() {
            client.outdate();
        }
    }

    /// Has later calls of this end use the connection, as no newer one can be used.
    pub fn renew(&self) {
        let mut callbacks = self.callbacks();
        callbacks.is_outdated = false;
        if let Some(client) = callbacks.client.upgrade() {
            client.renew();
        }
    }

    /// Takes the client's role of a connection that was accepted. Returns `false` if it has been taken already, or the connection
    /// has ended.
    pub(crate) fn take_client(&self) -> bool {
        let state = self.waiters.state();
        state.life.is_open() && !self.has_client.swap(true, Ordering::AcqRel)
    }

    /// Whether this end may send requests.
    pub(crate) fn has_client(&self) -> bool {
        self.has_client.load(Ordering::Acquire)
    }

    /// Why the connection has ended, if it has: a request that is sent on it now gets no reply.
    pub(crate) fn ended(&self) -> Option<End> {
        self.waiters.state().life.end().cloned()
    }

    /// Whether the connection is closing or over: a request that is sent on it now gets no reply. Takes a lock.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        !self.waiters.state().life.is_open()
    }

    /// Whether this end opened the connection.
    #[must_use]
    pub const fn opened_here(&self) -> bool {
        self.opened_here
    }

    /// Returns the address of the peer, which the system reported when the connection was made.
    #[must_use]
    pub fn peer(&self) -> &Address {
        self.link.stream.peer()
    }

    /// Ends the connection for both roles, in order if the peer may still read. Of several ends the first counts.
    pub(crate) fn end(&self, end: End) {
        if let Some(client) = self.client() {
            return client.end(end);
        }
        if !end.is_orderly() {
            self.link.stream.close();
        }
        let action = self.waiters.state().life.on(self.end_event(end));
        self.link.say_last(action);
        self.link.outbound.driver.notify();
    }

    fn end_event(&self, end: End) -> LifeEvent {
        // Only a peer of GIOP 1.2 gets an offer.
        let spoken = match self.opened_here {
            true => Version::V1_2,
            false => Version::V1_0,
        };
        LifeEvent::End { end, spoken }
    }

    /// Ends a connection on which no call is in progress, and returns whether it did. For the driver of the server's role, while
    /// none of its requests is pending.
    pub(crate) fn retire(&self, end: End) -> bool {
        if let Some(client) = self.client() {
            return client.retire(end);
        }
        let mut state = self.waiters.state();
        // A client's role that is being made would not learn of the end.
        if !state.life.is_open() || self.has_client() {
            return false;
        }
        let action = state.life.on(self.end_event(end));
        drop(state);
        self.link.say_last(action);
        true
    }

    /// Ends the connection as soon as neither end uses it: no reference of this end needs it any more.
    pub(crate) fn release(&self) {
        self.is_released.store(true, Ordering::Release);
        self.link.outbound.driver.notify();
    }

    /// Whether the connection is to end as soon as neither end uses it.
    pub(crate) fn is_released(&self) -> bool {
        self.is_released.load(Ordering::Acquire)
    }

    /// Serves no further request of the peer: those that are read from now on, or wait, are dropped.
    pub(crate) fn stop_serving(&self) {
        if !self.has_stopped.swap(true, Ordering::AcqRel) {
            let mut inbox = self.inbox();
            inbox.requests = VecDeque::new();
            inbox.octets = 0;
            inbox.cover();
        }
    }

    /// Leaves the connection to the driver of the client's role; `false` if there is none, or the connection has ended.
    pub(crate) fn leave(&self) -> bool {
        let state = self.waiters.state();
        let leaves = state.life.is_open() && self.has_client();
        if leaves {
            self.has_left.store(true, Ordering::Release);
        }
        drop(state);
        self.link.outbound.driver.notify();
        leaves
    }

    /// Whether the driver of the client's role drives the connection alone.
    pub(crate) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Acquire)
    }

    /// Notes that the connection is closed.
    pub(crate) fn close(&self) {
        self.is_over.store(true, Ordering::Release);
        self.link.outbound.driver.notify();
    }

    /// Whether the connection is closed.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Whether another message may be read.
    pub(crate) fn may_read(&self) -> bool {
        self.inbox().octets <= MAX_WAITING_OCTETS
    }

    /// Whether no request waits to be served.
    pub(crate) fn is_inbox_empty(&self) -> bool {
        self.inbox().requests.is_empty()
    }

    /// Puts a request of the peer into the inbox. For the holder of the read lease.
    pub(crate) fn put(&self, received: Received<'_>) -> Result<(), End> {
        if self.has_stopped.load(Ordering::Acquire) {
            received.discard();
            return Ok(());
        }
        let mut inbox = self.inbox();
        let is_first = inbox.requests.is_empty();
        let request = match is_first {
            true => received.into_message(),
            false => received.into_own(MAX_COPIED_OCTETS),
        };
        inbox.octets = inbox.octets.saturating_add(memory(&request));
        inbox.requests.push_back(request);
        let (covered, wakes) = (inbox.cover(), is_first && !inbox.driver_reads);
        drop(inbox);
        if !covered {
            return Err(self.link.evict(Evicted::Memory));
        }
        if wakes {
            self.link.outbound.driver.notify();
        }
        Ok(())
    }

    /// Takes the first request out of the inbox. For the driver of the server's role.
    pub(crate) fn next_request(&self) -> Option<Message> {
        let mut inbox = self.inbox();
        let request = inbox.requests.pop_front()?;
        inbox.octets = inbox.octets.saturating_sub(memory(&request));
        if inbox.requests.is_empty() {
            inbox.requests.shrink_to(KEPT_PLACES);
        }
        inbox.cover();
        Some(request)
    }

    /// Reads for both roles, unless another reader does. Returns whether there is something to do: requests wait, or the
    /// connection has ended. For the driver of the server's role.
    pub(crate) fn drive_read(&self, cx: &mut Context<'_>) -> bool {
        self.inbox().driver_reads = true;
        match self.client() {
            Some(client) => {
                client.drive_read(cx);
            }
            None => self.read_alone(),
        }
        let mut inbox = self.inbox();
        inbox.driver_reads = false;
        let has_requests = !inbox.requests.is_empty();
        drop(inbox);
        has_requests || self.is_closing()
    }

    /// Reads while this end has sent no request.
    fn read_alone(&self) {
        let mut lease = self.waiters.reading.claim();
        while let Some(mut held) = lease {
            let next = match held.with(|reading| self.read_requests(reading)) {
                Ok(next) => next,
                // Before the lease is released: the next reader must find the end.
                Err(end) => return self.end(end),
            };
            lease = held.release_to(next);
        }
    }

    /// Reads requests, until there are no further octets or the driver has something to do. Returns the next reader.
    fn read_requests(&self, reading: &mut Reading) -> Result<CurrentReader, End> {
        let (mut messages, mut registered) = (0, false);
        let mut readiness = Context::from_waker(&self.readiness);
        for _ in 0..READS_PER_TURN {
            self.link.drain(
                &mut reading.reader,
                &mut messages,
                || Ok(self.may_read()),
                |received| {
                    // A reply without a request is a protocol error.
                    Role::Server.receives(received.header().kind)?;
                    self.put(received)
                },
            )?;
            if !self.may_read() {
                // The peer is not blamed for octets that wait for this end.
                self.link
                    .rest(&mut reading.reader, UnfinishedInput::Nothing)?;
                break;
            }
            match (self.link).poll_read(reading, &mut registered, &mut readiness) {
                Poll::Pending => return Ok(CurrentReader::Reactor(None)),
                Poll::Ready(read) => read?,
            }
        }
        self.link.pause(&mut reading.reader)?;
        self.link.outbound.driver.notify();
        Ok(CurrentReader::Driver)
    }
}

impl fmt::Debug for BidirectionalConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BidirectionalConnection")
            .field("link", &self.link)
            .field("opened_here", &self.opened_here)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests;
