//! One stream for two halves of a connection.

use super::route::{Boundary, Recipient, Router};
use crate::client::ClientConnection;
use crate::fairness::{PeerMemory, Reserved};
use bytes::BytesMut;
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use core::task::{Context, Poll, Waker};
use std::io::{self, IoSlice};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Wake;
use zorb_transport::{Address, Capabilities, Connection, PeerIdentity};

/// Octets of messages that may wait for one half while the other one reads. With more of them, the other half waits, too.
const MAX_WAITING_OCTETS: usize = 1 << 20;

/// The number that the next bidirectional connection of the process gets.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// A half of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// Sends requests of this end, and receives their replies.
    Client,
    /// Receives requests of the peer, and sends their replies.
    Server,
}

impl Half {
    const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// The wakers of both halves: the stream remembers one waker only.
#[derive(Debug, Default)]
struct Parked([Mutex<Option<Waker>>; 2]);

impl Parked {
    fn place(&self, half: Half) -> MutexGuard<'_, Option<Waker>> {
        let [client, server] = &self.0;
        let place = match half {
            Half::Client => client,
            Half::Server => server,
        };
        place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn park(&self, half: Half, cx: &Context<'_>) {
        let mut place = self.place(half);
        if !(place.as_ref()).is_some_and(|waker| waker.will_wake(cx.waker())) {
            *place = Some(cx.waker().clone());
        }
    }

    fn wake_half(&self, half: Half) {
        let waker = self.place(half).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_half(Half::Client);
        self.wake_half(Half::Server);
    }
}

/// How the stream has ended for its readers.
#[derive(Debug, Clone)]
enum Ended {
    Closed,
    Failed(io::ErrorKind, String),
}

/// Octets of one half that the other half has read, and forwards to it.
#[derive(Debug, Default)]
struct ForwardedOctets {
    client: BytesMut,
    server: BytesMut,
}

impl ForwardedOctets {
    /// Octets of memory that the two buffers take.
    fn memory(&self) -> usize {
        self.client
            .capacity()
            .saturating_add(self.server.capacity())
    }

    const fn of(&mut self, half: Half) -> &mut BytesMut {
        match half {
            Half::Client => &mut self.client,
            Half::Server => &mut self.server,
        }
    }
}

#[derive(Debug)]
struct Incoming {
    router: Router,
    /// Messages that one half has read for the other one.
    waiting: ForwardedOctets,
    /// The memory of `waiting`, as counted with that of all connections.
    reserved: Reserved,
    ended: Option<Ended>,
}

impl Incoming {
    /// Counts the memory of waiting messages; without memory for them, ends the stream and returns `false`.
    fn cover(&mut self) -> bool {
        let memory = self.waiting.memory();
        let covered = self.reserved.cover(|| memory);
        if !covered {
            let cause = "no memory is left for what waits for the other half of the connection";
            self.ended = Some(Ended::Failed(io::ErrorKind::OutOfMemory, cause.to_owned()));
        }
        covered
    }
}

#[derive(Debug, Default)]
struct Outgoing {
    boundary: Boundary,
    /// The half that has written a part of a message, and not yet its end.
    writer: Option<Half>,
}

/// A connection on which both ends may send requests: one stream, shared by a client's and a server's half.
///
/// Source: CORBA 3.3 Part 2, section 9.8 (bidirectional GIOP).
pub struct BidirectionalConnection {
    stream: Box<dyn Connection>,
    incoming: Mutex<Incoming>,
    outgoing: Mutex<Outgoing>,
    readers: Arc<Parked>,
    writers: Arc<Parked>,
    /// The waker of both halves' drivers, which the stream calls.
    reader: Waker,
    writer: Waker,
    /// [`HAS_CLIENT`] and [`IS_CLOSING`] in one word, so that no client's half joins a connection that is closing.
    state: AtomicU8,
    /// The server's half has stopped reading requests; the client's half alone uses the connection.
    has_left: AtomicBool,
    is_over: AtomicBool,
    /// Octets that have been read and written.
    moved: AtomicU64,
    /// The value of `moved` when the server's half last became idle; [`BUSY`] before that.
    idle_at: AtomicU64,
    opened_here: bool,
    number: u64,
    callbacks: Mutex<Callbacks>,
}

/// The client's half of a connection that the peer may have replaced by a newer one.
#[derive(Debug, Default)]
struct Callbacks {
    client: Weak<ClientConnection>,
    /// The peer has offered a newer connection for an endpoint of this one.
    is_outdated: bool,
}

/// The connection has a client's half, which receives replies.
const HAS_CLIENT: u8 = 1;
/// One end has sent CloseConnection or MessageError, or is about to: no further request gets a reply.
const IS_CLOSING: u8 = 2;

/// The value of `BidirectionalConnection::idle_at` while the server's half has something to do.
const BUSY: u64 = u64::MAX;

impl BidirectionalConnection {
    /// A connection over `stream`. `memory` counts the messages that one half has read for the other one.
    pub(crate) fn new(
        stream: Box<dyn Connection>,
        opened_here: bool,
        memory: &Arc<PeerMemory>,
    ) -> Arc<Self> {
        let (readers, writers) = (Arc::<Parked>::default(), Arc::<Parked>::default());
        Arc::new(Self {
            stream,
            incoming: Mutex::new(Incoming {
                router: Router::new(opened_here),
                waiting: ForwardedOctets::default(),
                reserved: Reserved::of(memory),
                ended: None,
            }),
            outgoing: Mutex::new(Outgoing::default()),
            reader: Waker::from(Arc::clone(&readers)),
            writer: Waker::from(Arc::clone(&writers)),
            readers,
            writers,
            state: AtomicU8::new(if opened_here { HAS_CLIENT } else { 0 }),
            has_left: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            moved: AtomicU64::new(0),
            idle_at: AtomicU64::new(BUSY),
            opened_here,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            callbacks: Mutex::default(),
        })
    }

    /// The number that distinguishes bidirectional connections of the process.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    fn callbacks(&self) -> MutexGuard<'_, Callbacks> {
        self.callbacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the client's half.
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

    /// A half as a stream of its own.
    pub(crate) fn half(self: &Arc<Self>, half: Half) -> Box<dyn Connection> {
        Box::new(HalfStream {
            whole: Arc::clone(self),
            half,
        })
    }

    /// The stream of the client's half of a connection that was accepted; `None` if it has been taken already, or the
    /// connection is closing or has ended.
    pub(crate) fn take_client(self: &Arc<Self>) -> Option<Box<dyn Connection>> {
        if self.is_over() {
            return None;
        }
        let unused = |state| (state == 0).then_some(HAS_CLIENT);
        let taken = (self.state).fetch_update(Ordering::AcqRel, Ordering::Acquire, unused);
        taken.ok().map(|_| self.half(Half::Client))
    }

    /// Whether the connection has a client's half.
    pub(crate) fn has_client(&self) -> bool {
        self.state.load(Ordering::Acquire) & HAS_CLIENT != 0
    }

    /// Whether the connection is closing or over: a request that is sent on it now may get no reply.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.state.load(Ordering::Acquire) & IS_CLOSING != 0 || self.is_over()
    }

    /// Notes that the connection is closing.
    pub(crate) fn note_closing(&self) {
        self.state.fetch_or(IS_CLOSING, Ordering::AcqRel);
    }

    /// Notes that the connection is closing. Returns `false`, and notes nothing, if it has a client's half, which would not
    /// learn of it.
    pub(crate) fn close_without_client(&self) -> bool {
        let closing = |state| (state & HAS_CLIENT == 0).then_some(state | IS_CLOSING);
        (self
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, closing))
        .is_ok()
    }

    /// Whether this end opened the connection.
    #[must_use]
    pub const fn opened_here(&self) -> bool {
        self.opened_here
    }

    /// Whether the connection has ended, at this end or the peer's.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Returns the address of the peer, which the system reported when the connection was made.
    #[must_use]
    pub fn peer(&self) -> &Address {
        self.stream.peer()
    }

    /// Leaves the connection to the client's half, which ends it; `false` if there is none.
    pub(crate) fn leave(&self) -> bool {
        let leaves = self.has_client() && !self.is_over();
        if leaves {
            self.has_left.store(true, Ordering::Release);
            self.readers.wake_half(Half::Client);
        }
        leaves
    }

    /// Notes whether the server's half has nothing to do, and returns it.
    pub(crate) fn note_idle(&self, is_idle: impl FnOnce() -> bool) -> bool {
        // Loaded first: octets that the other half reads for this one from now on count as movement after it.
        let moved = self.moved.load(Ordering::Acquire);
        let is_idle = is_idle();
        let at = if is_idle { moved } else { BUSY };
        self.idle_at.store(at, Ordering::Release);
        is_idle
    }

    /// Whether no octet was read or written since the server's half last had nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.idle_at.load(Ordering::Acquire) == self.moved.load(Ordering::Acquire)
    }

    /// Octets that have been read and written.
    pub(crate) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Acquire)
    }

    fn count(&self, octets: usize) {
        self.moved.fetch_add(octets as u64, Ordering::AcqRel);
    }

    fn incoming(&self) -> MutexGuard<'_, Incoming> {
        self.incoming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outgoing(&self) -> MutexGuard<'_, Outgoing> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends both halves.
    fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.stream.close();
        for half in [Half::Client, Half::Server] {
            self.readers.wake_half(half);
            self.writers.wake_half(half);
        }
    }

    /// The receiver of octets that `recipient` names: one half, or both for a message that ends the connection.
    fn receiver(&self, recipient: Recipient) -> Recipient {
        if recipient == Recipient::Both {
            self.note_closing();
        }
        match recipient {
            // A reply without a request is a protocol error, which the server's half reports.
            Recipient::One(Half::Client) | Recipient::Both if !self.has_client() => {
                Recipient::One(Half::Server)
            }
            recipient => recipient,
        }
    }

    /// Octets for a half: read by the other half before, or read now.
    fn read(
        &self,
        half: Half,
        buf: &mut BytesMut,
        mut read: impl FnMut(&dyn Connection, &mut BytesMut) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let room = buf.capacity().saturating_sub(buf.len());
        if room == 0 {
            return Poll::Ready(Err(io::ErrorKind::InvalidInput.into()));
        }
        let other = half.other();
        let mut guard = self.incoming();
        let incoming = &mut *guard;
        loop {
            let waiting = incoming.waiting.of(half);
            if !waiting.is_empty() {
                let was_full = waiting.len() > MAX_WAITING_OCTETS;
                let octets = waiting.split_to(waiting.len().min(room));
                buf.extend_from_slice(&octets);
                if waiting.is_empty() {
                    // Free the memory of the buffer.
                    *waiting = BytesMut::new();
                    incoming.cover();
                }
                drop(guard);
                if was_full {
                    self.readers.wake_half(other);
                }
                return Poll::Ready(Ok(octets.len()));
            }
            match &incoming.ended {
                Some(Ended::Closed) => return Poll::Ready(Ok(0)),
                Some(Ended::Failed(kind, cause)) => {
                    return Poll::Ready(Err(io::Error::new(*kind, cause.clone())));
                }
                None if self.is_over() => return Poll::Ready(Ok(0)),
                None => {}
            }
            let is_left = self.has_left.load(Ordering::Acquire);
            if is_left {
                incoming.waiting.server = BytesMut::new();
            }
            if incoming.waiting.of(other).len() > MAX_WAITING_OCTETS {
                // The other half wakes this one when it has taken some of its octets.
                return Poll::Pending;
            }
            let start = buf.len();
            let ended = match read(&*self.stream, buf) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(octets)) if octets > 0 => None,
                Poll::Ready(Ok(_)) => Some(Ended::Closed),
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Poll::Ready(Err(error));
                }
                Poll::Ready(Err(error)) => Some(Ended::Failed(error.kind(), error.to_string())),
            };
            if ended.is_some() {
                incoming.ended = ended;
                self.note_closing();
                self.readers.wake_half(other);
                continue;
            }
            let read = buf.get(start..).unwrap_or_default();
            self.count(read.len());
            if self.is_all_of(half, incoming, read) {
                return Poll::Ready(Ok(read.len()));
            }
            // A part of the octets belongs to the other half.
            let octets = read.to_vec();
            buf.truncate(start);
            let Incoming {
                router, waiting, ..
            } = incoming;
            let before = waiting.of(other).len();
            router.route(&octets, |recipient, octets| {
                match self.receiver(recipient) {
                    Recipient::One(of) if of == half => buf.extend_from_slice(octets),
                    Recipient::One(of) => waiting.of(of).extend_from_slice(octets),
                    Recipient::Both => {
                        buf.extend_from_slice(octets);
                        waiting.of(other).extend_from_slice(octets);
                    }
                }
            });
            if is_left {
                waiting.server = BytesMut::new();
            } else if waiting.of(other).len() > before {
                self.readers.wake_half(other);
            }
            if !incoming.cover() {
                self.readers.wake_half(other);
                buf.truncate(start);
                continue;
            }
            if buf.len() > start {
                return Poll::Ready(Ok(buf.len().saturating_sub(start)));
            }
        }
    }

    /// Whether all octets belong to the half that has read them, which is the usual case: they stay in its buffer then.
    fn is_all_of(&self, half: Half, incoming: &mut Incoming, octets: &[u8]) -> bool {
        if incoming.router.is_undecided() {
            return false;
        }
        let mut router = incoming.router.clone();
        let mut is_all = true;
        router.route(octets, |recipient, _| {
            is_all &= self.receiver(recipient) == Recipient::One(half);
        });
        let is_all = is_all && !router.is_undecided();
        if is_all {
            incoming.router = router;
        }
        is_all
    }

    fn write(&self, half: Half, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut outgoing = self.outgoing();
        if outgoing.writer == Some(half.other()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let written = self.stream.try_write(chunks)?;
        self.count(written);
        let mut left = written;
        for chunk in chunks {
            let octets = chunk.get(..left.min(chunk.len())).unwrap_or_default();
            outgoing.boundary.advance(octets);
            left = left.saturating_sub(octets.len());
        }
        let had_begun = outgoing.writer.is_some();
        outgoing.writer = (!outgoing.boundary.is_at_end()).then_some(half);
        let ends = had_begun && outgoing.writer.is_none();
        drop(outgoing);
        if ends {
            self.writers.wake_half(half.other());
        }
        Ok(written)
    }

    fn poll_write_ready(&self, half: Half, cx: &Context<'_>) -> Poll<io::Result<()>> {
        self.writers.park(half, cx);
        // Checked after parking: the other half wakes this one when its message is whole.
        if self.outgoing().writer == Some(half.other()) && !self.is_over() {
            return Poll::Pending;
        }
        let mut both = Context::from_waker(&self.writer);
        self.stream.poll_write_ready(&mut both)
    }
}

impl fmt::Debug for BidirectionalConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BidirectionalConnection")
            .field("stream", &self.stream)
            .field("opened_here", &self.opened_here)
            .finish_non_exhaustive()
    }
}

/// One half as a connection of its own.
#[derive(Debug)]
struct HalfStream {
    whole: Arc<BidirectionalConnection>,
    half: Half,
}

impl Connection for HalfStream {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        self.whole.readers.park(self.half, cx);
        let mut both = Context::from_waker(&self.whole.reader);
        (self.whole).read(self.half, buf, |stream, buf| {
            stream.poll_read(&mut both, buf)
        })
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        let read = (self.whole).read(self.half, buf, |stream, buf| {
            Poll::Ready(stream.try_read(buf))
        });
        match read {
            Poll::Ready(read) => read,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Removes the waker of this half alone: the reactor goes on watching the stream for the other half.
    fn deregister(&self) {
        self.whole.readers.place(self.half).take();
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        self.whole.write(self.half, chunks)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.whole.poll_write_ready(self.half, cx)
    }

    fn shutdown_write(&self) -> io::Result<()> {
        self.whole.note_closing();
        self.whole.stream.shutdown_write()
    }

    fn close(&self) {
        if !(self.half == Half::Server && self.whole.has_left.load(Ordering::Acquire)) {
            self.whole.end();
        }
    }

    fn is_closed_by_peer(&self) -> bool {
        self.whole.stream.is_closed_by_peer()
    }

    fn peer(&self) -> &Address {
        self.whole.stream.peer()
    }

    fn local(&self) -> &Address {
        self.whole.stream.local()
    }

    fn capabilities(&self) -> Capabilities {
        self.whole.stream.capabilities()
    }

    fn peer_identity(&self) -> Option<PeerIdentity> {
        self.whole.stream.peer_identity()
    }
}

impl Drop for HalfStream {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests;
