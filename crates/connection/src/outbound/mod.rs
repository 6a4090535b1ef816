//! The write side of a connection: a sender that finds it free writes.
//!
//! A message is queued under a short lock; then its sender tries to become the writer. A sender without competition
//! pays one system call and no hand-over; under contention the writer takes the other senders' messages along. Octets that
//! do not fit into the socket stay with the write state, and the connection's driver finishes them: a message that has
//! begun is always finished, even if the future that sent it is dropped.
//!
//! Where messages are fragmented, only one message at a time is sent in fragments. Messages in one piece pass it between
//! two of its fragments; other fragmented messages wait for their turn. So a large message does not delay a small one, and
//! the receiver holds the fragments of one message only.
//!
//! ```text
//!   ┌──────┐ 1 ┌─────────┐ 2 ┌─────────┐
//!   │ FREE │──►│ WRITING │──►│ BLOCKED │      FAILED ◄── 5 from WRITING
//!   │      │◄──│         │◄──│         │      CLOSED ◄── 6 from every state
//!   └──────┘ 4 └─────────┘ 3 └─────────┘
//! ```
//!
//! 1. A sender claims the write side by `try_lock`: with an empty queue for its own message (`claim_direct`), else for all that
//!    is queued (`flush`). A sender that finds it held leaves its message in the queue to the holder.
//! 2. The socket is full: the writer releases the write side, sets `blocked`, and wakes the driver.
//! 3. The socket has room: the driver, or the task that waits in its place, clears `blocked` and flushes (`poll_unblock`).
//! 4. The queue is empty. The writer sees that, and releases the write side, under the lock of the queue; the sender of a
//!    direct message looks at the queue again after its release (`release_direct`).
//! 5. The transport fails: `failed` is set once, and nothing is written or queued any more (`forgotten`).
//! 6. The last message is queued behind all others (`submit_last`), or the connection is evicted (`give_up`).
//!
//! Locks: the lock of the queue is held for single changes, never across a system call; the writer takes it while it holds
//! the write side, never the other way round but by `try_lock`. The write side is held across `writev`, which does not block.
//!
//! Orderings: two pairs of `SeqCst` fences. One is in `release_direct` and `flush_queued`: a sender that finds the write side
//! held has queued its message, and the holder sees it after its release. The other is in `poll_unblock` and
//! `flush_unless_blocked`: either the sender sees that `blocked` is cleared, or the driver sees its message. `written` is
//! stored with `Release` by the writer, and loaded with `Acquire` by senders that wait for their ticket. `octets` and `batched`
//! change under the lock of the queue only; the driver loads `batched` with `Acquire`. `overdrawn`, `forgotten`, `submitted`, `written_octets`, `max_fragment` and
//! `whole_1_1` are `Relaxed`: the lock of the queue orders what depends on them, or nothing does.
//!
//! - here: the queue;
//! - `write`: writing queued messages;
//! - `direct`: a message that meets an empty queue goes from its sender to the socket;
//! - `batch`: messages of SYNC_NONE that leave together;
//! - `buffered`: those whose senders say how long they wait for others.

mod batch;
mod buffered;
mod direct;
#[cfg(all(test, not(zorb_model)))]
mod tests;
mod write;

pub(crate) use batch::{Batched, FULL_BATCH_OCTETS};
pub use buffered::Buffering;
pub(crate) use buffered::Due;

use super::fairness::{Evicted, Reserved};
use super::sync::writes::{AtomicBool, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering};
use super::waker::DriverWaker;
use arrayvec::ArrayVec;
use batch::Batch;
use buffered::HeldBatch;
use bytes::BytesMut;
use core::task::{Context, Poll, Waker};
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, IoSlice};
use std::sync::{Arc, OnceLock, PoisonError, TryLockError};
use tokio::sync::Notify;
use zorb_cdr::Gather;
use zorb_giop::{Cause, Fragments, buffers};

/// Octets of memory that may be queued before senders have to wait. Larger than a socket's own buffer, so that the queue adds
/// batching and no latency; one message may exceed it.
const MAX_QUEUED_OCTETS: usize = 1 << 20;
/// Octets of memory that a queued message counts as beside those of its buffer: its entries in the queue and in the write
/// state.
const QUEUED_OVERHEAD: usize = 2 * size_of::<Outgoing>();
/// The capacity, in messages, that the queue and the writer each keep while empty: enough for a burst of calls.
const KEPT_PLACES: usize = 32;
/// The capacity of a buffer, in octets, beyond which a short queued message is copied, so that the queue does not hold much
/// more than its messages need.
const ROOMY: usize = 4 << 10;
/// Chunks of one `writev`. Beyond a few dozen the cost of the call itself no longer matters.
const MAX_CHUNKS: usize = 64;
/// The chunks of one `writev`.
type Slices<'a> = ArrayVec<IoSlice<'a>, MAX_CHUNKS>;
/// Octets of fragments that are made at a time, before messages queued meanwhile get their turn: about as many as a socket
/// takes at once.
pub(super) const FRAGMENTS_PER_TURN: usize = 64 << 10;
/// The offset of GIOP's minor version in a message header.
const MINOR_VERSION_AT: usize = 5;
/// The offset of the kind of message in its header.
const KIND_AT: usize = 7;
/// Request, CancelRequest, LocateRequest.
const KINDS_OF_CLIENTS: [u8; 3] = [0, 2, 3];
/// The number of parked wakers that are compared with a new one, so that a task is not parked twice.
const COMPARED_WAKERS: usize = 16;

/// The place of a message in the order of its connection, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(super) u64);

/// A message or fragment as it is written.
struct Outgoing {
    octets: Gather,
    /// The message that its last octet completes; `None` if more fragments follow.
    completes: Option<Queued>,
}

/// A message in the queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    pub(super) ticket: u64,
    /// Octets of memory that the message counts as while it is queued.
    pub(super) octets: usize,
    /// Whether a client sends such a message.
    pub(super) is_of_client: bool,
}

/// Octets of memory of messages.
#[derive(Debug, Clone, Copy, Default)]
struct Octets {
    all: usize,
    /// Those of messages that a client sends.
    of_client: usize,
}

impl Octets {
    fn of(queued: impl IntoIterator<Item = Queued>) -> Self {
        queued.into_iter().fold(Self::default(), Self::and)
    }

    fn and(self, queued: Queued) -> Self {
        let of_client = if queued.is_of_client {
            queued.octets
        } else {
            0
        };
        Self {
            all: self.all.wrapping_add(queued.octets),
            of_client: self.of_client.wrapping_add(of_client),
        }
    }
}

/// A message that is written after those in one piece.
enum Deferred {
    Fragmented(Fragments),
    /// The last message of a connection.
    Last(Gather),
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Outgoing>,
    /// The batch, which is written after `messages`.
    batch: Batch,
    /// The size of the batch that waits, and the time by which it has to be written.
    waiting_batch: HeldBatch,
    deferred: VecDeque<(Queued, Deferred)>,
    /// Octets that count in [`Outbound::octets`] for messages that a client sends.
    of_client: usize,
    /// No further message may join the batch.
    closed: bool,
    /// Messages that were written before earlier ones.
    early: BTreeSet<u64>,
    /// Messages cancelled by their senders since the writer last looked.
    cancelled: Vec<u64>,
    waiting: Vec<Waker>,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.batch.is_empty() && self.deferred.is_empty()
    }

    fn park(&mut self, cx: &Context<'_>) {
        // A task that is polled again without need is parked already, usually as the last one.
        let mut last = self.waiting.iter().rev().take(COMPARED_WAKERS);
        if !last.any(|parked| parked.will_wake(cx.waker())) {
            self.waiting.push(cx.waker().clone());
        }
    }
}

/// The state of the writer.
#[derive(Default)]
pub(super) struct Writing {
    messages: VecDeque<Outgoing>,
    /// Octets of the front message that are written already.
    offset: usize,
    /// Messages to be written after those in one piece; the first is being fragmented.
    deferred: VecDeque<(Queued, Deferred)>,
    /// Messages that are written and not counted yet.
    completed: Vec<Queued>,
}

impl Writing {
    fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.deferred.is_empty()
    }
}

/// The result of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// Everything is written, or another writer takes it along.
    Done,
    /// The socket is full; the driver goes on when it is writable again.
    Blocked,
}

#[derive(Default)]
pub(crate) struct Outbound {
    queue: Mutex<Queue>,
    /// Octets of memory of the messages that wait to be written, including one that has begun. Changes only under the lock
    /// of the queue, so that a look without the lock can be repeated with it.
    octets: AtomicUsize,
    /// The reservation of the queued octets within the ORB's memory limit.
    reserved: Reserved,
    /// Whether the ORB has no memory for the queue.
    overdrawn: AtomicBool,
    /// Why the connection is ended although its peer is reachable.
    evicted: OnceLock<Evicted>,
    /// The queue has been dropped, and nothing more is queued.
    forgotten: AtomicBool,
    /// Held by the writer. Locked by `try_lock` only, so it is a flag that owns the messages being written.
    writing: Mutex<Writing>,
    blocked: AtomicBool,
    /// A batch waits for the driver to write it. Changes only under the lock of the queue.
    batched: AtomicBool,
    /// Why the transport failed. Nothing is written afterwards, so a message reported as unsent stays unsent.
    failed: OnceLock<(io::ErrorKind, Cause)>,
    /// All messages up to this ticket are handed to the transport.
    written: AtomicU64,
    /// Octets handed to the transport. Not a part of the write state, whose lock only a writer may take.
    written_octets: AtomicU64,
    /// Messages of more octets are fragmented; 0: none is.
    max_fragment: AtomicUsize,
    /// Messages of GIOP 1.1 are not fragmented, whatever their octets.
    whole_1_1: AtomicBool,
    /// Tickets given out.
    submitted: AtomicU64,
    pub(crate) driver: Arc<DriverWaker>,
    /// Notified when the peer begins to make the ORB wait, so that its pace is checked from then on.
    pub(crate) waits: Arc<Notify>,
}

impl Outbound {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, messages of more octets are fragmented.
    pub(crate) fn set_max_fragment(&self, octets: usize) {
        self.max_fragment.store(octets, Ordering::Relaxed);
    }

    /// From now on, messages of GIOP 1.1 are sent whole: the peer misreads their fragments.
    pub(crate) fn keep_1_1_whole(&self) {
        self.whole_1_1.store(true, Ordering::Relaxed);
    }

    /// Whether the message may be fragmented: the peer reads fragments of its GIOP version.
    fn may_cut(&self, message: &Gather) -> bool {
        let minor = || message.chunks().next()?.get(MINOR_VERSION_AT).copied();
        !self.whole_1_1.load(Ordering::Relaxed) || minor().is_some_and(|minor| minor > 1)
    }

    /// The number of octets above which messages are fragmented; `None` if messages are sent whole.
    pub(crate) fn max_fragment(&self) -> Option<usize> {
        match self.max_fragment.load(Ordering::Relaxed) {
            0 => None,
            octets => Some(octets),
        }
    }

    /// The next ticket. Tickets of queued messages are given out under the lock of the queue.
    pub(super) fn ticket(&self) -> u64 {
        (self.submitted.fetch_add(1, Ordering::Relaxed)).wrapping_add(1)
    }

    /// The last ticket that was given out.
    pub(crate) fn last_ticket(&self) -> Ticket {
        Ticket(self.submitted.load(Ordering::Relaxed))
    }

    /// The queue's next message.
    fn issue(&self, queue: &mut Queue, octets: usize, is_of_client: bool) -> Queued {
        let queued = Queued {
            ticket: self.ticket(),
            octets,
            is_of_client,
        };
        self.count(queue, queued);
        queued
    }

    /// Counts a message that is queued.
    fn count(&self, queue: &mut Queue, queued: Queued) {
        let Octets { all, of_client } = Octets::of([queued]);
        queue.of_client = queue.of_client.wrapping_add(of_client);
        self.set_octets(self.queued_octets().wrapping_add(all));
    }

    /// Counts messages that are queued no longer.
    fn uncount(&self, queue: &mut Queue, Octets { all, of_client }: Octets) {
        queue.of_client = queue.of_client.wrapping_sub(of_client);
        self.set_octets(self.queued_octets().wrapping_sub(all));
    }

    /// To be called under the lock of the queue.
    fn set_octets(&self, octets: usize) {
        self.octets.store(octets, Ordering::Relaxed);
        if self.is_blocked() || self.reserved_octets() > 0 {
            self.reserve();
        }
    }

    /// Reserves memory for queued octets that did not fit into the socket. Octets that the socket takes at once need none.
    fn reserve(&self) {
        if !self.reserved.cover(|| self.queued_octets()) {
            self.overdrawn.store(true, Ordering::Relaxed);
        }
    }

    /// Has queued octets counted with the memory of the ORB, by this reservation.
    pub(crate) fn reserve_from(&mut self, reserved: Reserved) {
        self.reserved = reserved;
    }

    /// Octets of the ORB's memory that the queue has reserved.
    pub(crate) fn reserved_octets(&self) -> usize {
        self.reserved.octets()
    }

    /// Gives the queue up if the ORB has no memory for it. Not to be called under the lock of the queue.
    #[inline]
    fn check_overdrawn(&self) {
        if self.overdrawn.load(Ordering::Relaxed) {
            self.give_up(Evicted::Memory);
        }
    }

    /// Ends the connection although its peer is reachable: nothing more is written, and the queue is dropped.
    #[cold]
    pub(crate) fn give_up(&self, why: Evicted) {
        if self.evicted.set(why).is_ok() {
            let cause = Cause::new(why.to_string());
            let _ = (self.failed).set((io::ErrorKind::OutOfMemory, cause));
            self.forget();
            self.driver.notify();
        }
    }

    /// Why the connection is ended although its peer is reachable.
    pub(crate) fn evicted(&self) -> Option<Evicted> {
        self.evicted.get().copied()
    }

    /// Whether nothing more is written: the connection has ended, or was given up.
    #[inline]
    pub(crate) fn takes_nothing(&self) -> bool {
        self.forgotten.load(Ordering::Relaxed)
    }

    /// Drops the queue: nothing more is written.
    pub(crate) fn forget(&self) {
        self.forgotten.store(true, Ordering::Relaxed);
        match self.writing.try_lock() {
            Ok(mut writing) => self.forget_writing(&mut writing),
            // The writer finds the flag and stops.
            Err(_) => self.forget_queued(),
        }
    }

    fn forget_queued(&self) {
        let mut queue = self.queue();
        let messages = core::mem::take(&mut queue.messages);
        let deferred = core::mem::take(&mut queue.deferred);
        let batch = core::mem::take(&mut queue.batch);
        let completed = messages.iter().filter_map(|outgoing| outgoing.completes);
        let completed = completed.chain(deferred.iter().map(|(queued, _)| *queued));
        let octets = Octets::of(completed.chain(batch.queued()));
        self.uncount(&mut queue, octets);
        let waiting = core::mem::take(&mut queue.waiting);
        drop(queue);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Completes a [`forget`](Self::forget) that found the write side held. For the writer.
    pub(super) fn forget_if_requested(&self, writing: &mut Writing) {
        if self.forgotten.load(Ordering::Relaxed) {
            self.forget_writing(writing);
        }
    }

    /// Drops the messages that are being written.
    fn forget_writing(&self, writing: &mut Writing) {
        let completed = (writing.messages.iter()).filter_map(|outgoing| outgoing.completes);
        let completed = completed.chain(writing.deferred.iter().map(|(queued, _)| *queued));
        let octets = Octets::of(completed);
        writing.messages = VecDeque::new();
        writing.deferred = VecDeque::new();
        self.uncount(&mut self.queue(), octets);
        self.forget_queued();
    }

    /// Queues a message. Nothing is written until [`flush`](Self::flush).
    pub(crate) fn submit(&self, message: Gather) -> Ticket {
        if self.takes_nothing() {
            // The message stays unsent.
            return Ticket(self.ticket());
        }
        match self.max_fragment() {
            None => self.submit_whole(message),
            Some(most) => self.submit_cut(message, most),
        }
    }

    /// Queues a message, which is fragmented if it is longer than `most` octets.
    fn submit_cut(&self, message: Gather, most: usize) -> Ticket {
        if !self.may_cut(&message) {
            return self.submit_whole(message);
        }
        let (octets, is_of_client) = (memory(&message), is_of_client(&message));
        match Fragments::new(message, most) {
            Err(message) => self.submit_whole(message),
            Ok(fragments) => self.defer(Deferred::Fragmented(fragments), octets, is_of_client),
        }
    }

    fn submit_whole(&self, mut message: Gather) -> Ticket {
        let mut octets = memory(&message);
        if octets > ROOMY && message.len() < octets / 4 {
            message = copied(message);
            octets = memory(&message);
        }
        let is_of_client = is_of_client(&message);
        let mut queue = self.queue();
        let queued = self.issue(&mut queue, octets, is_of_client);
        queue.seal_batch();
        queue.messages.push_back(Outgoing {
            octets: message,
            completes: Some(queued),
        });
        drop(queue);
        self.check_overdrawn();
        Ticket(queued.ticket)
    }

    /// Queues a message that is written after those in one piece.
    fn defer(&self, message: Deferred, octets: usize, is_of_client: bool) -> Ticket {
        let mut queue = self.queue();
        let queued = self.issue(&mut queue, octets, is_of_client);
        queue.deferred.push_back((queued, message));
        drop(queue);
        self.check_overdrawn();
        Ticket(queued.ticket)
    }

    /// Queues the last message of a connection, which is written after all others.
    pub(crate) fn submit_last(&self, message: Gather) {
        let octets = memory(&message);
        self.defer(Deferred::Last(message), octets, false);
    }

    /// Cancels a message: no further fragment of it is written. Only for requests that a CancelRequest
    /// follows.
    pub(crate) fn cancel(&self, ticket: Ticket) {
        if self.max_fragment().is_some() && !self.is_written(ticket) {
            self.queue().cancelled.push(ticket.0);
        }
    }

    /// Whether there is room for another message.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.queued_octets() <= MAX_QUEUED_OCTETS
    }

    /// Ready when there is room for another message.
    #[inline]
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.has_room() {
            return Poll::Ready(());
        }
        self.wait_for_room(cx)
    }

    /// Ready when there is room for another reply: requests of this end leave room for replies, as the peer may need these
    /// before it reads on.
    #[inline]
    pub(crate) fn poll_room_for_replies(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.has_room() {
            return Poll::Ready(());
        }
        self.wait_for_room_for_replies(cx)
    }

    #[cold]
    fn wait_for_room_for_replies(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.queue();
        if self.replies_in(&queue) <= MAX_QUEUED_OCTETS {
            return Poll::Ready(());
        }
        queue.park(cx);
        Poll::Pending
    }

    fn replies_in(&self, queue: &Queue) -> usize {
        self.queued_octets().saturating_sub(queue.of_client)
    }

    /// Octets of memory of the replies that wait to be written. Takes a lock.
    pub(crate) fn queued_replies(&self) -> usize {
        self.replies_in(&self.queue())
    }

    #[cold]
    fn wait_for_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.queue();
        if self.has_room() {
            return Poll::Ready(());
        }
        queue.park(cx);
        Poll::Pending
    }

    /// Ready when all of the message is handed to the transport.
    pub(crate) fn poll_written(&self, ticket: Ticket, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_counted(ticket) {
            return Poll::Ready(());
        }
        let mut queue = self.queue();
        // The writer counts before it takes this lock to wake, so no wake-up is lost.
        if self.is_counted(ticket) || queue.early.contains(&ticket.0) {
            return Poll::Ready(());
        }
        queue.park(cx);
        Poll::Pending
    }

    /// The ticket up to which all messages are handed to the transport.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Octets handed to the transport.
    pub(crate) fn written_octets(&self) -> u64 {
        self.written_octets.load(Ordering::Relaxed)
    }

    /// Octets of memory of the messages that wait to be written, including one that has begun.
    pub(crate) fn queued_octets(&self) -> usize {
        self.octets.load(Ordering::Relaxed)
    }

    /// Why the transport has failed, if it has. Nothing more can be written then.
    pub(crate) fn failure(&self) -> Option<&Cause> {
        self.failed.get().map(|(_, cause)| cause)
    }

    /// The transport's failure if it has failed, else `error`.
    #[cold]
    pub(crate) fn failure_or(&self, error: io::Error) -> Cause {
        self.failure().cloned().unwrap_or_else(|| Cause::new(error))
    }

    /// Whether the whole message has not been, and will not be, handed to the transport. To be called after the transport has
    /// failed or was closed.
    pub(crate) fn is_surely_unsent(&self, ticket: Ticket) -> bool {
        match self.writing.try_lock() {
            Ok(_) | Err(TryLockError::Poisoned(_)) => !self.is_written(ticket),
            // A writer may have written it just now and not counted it yet.
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Whether all of the message is handed to the transport.
    pub(crate) fn is_written(&self, ticket: Ticket) -> bool {
        self.is_counted(ticket) || self.queue().early.contains(&ticket.0)
    }

    /// Whether the message and all before it are handed to the transport.
    #[inline]
    pub(crate) fn is_counted(&self, ticket: Ticket) -> bool {
        // Pairs with the Release in `completed`.
        self.written.load(Ordering::Acquire) >= ticket.0
    }

    /// Ready when every message that was begun is handed to the transport.
    pub(crate) fn poll_empty(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.queue();
        // A message counts with all of its octets until the last one is written.
        if self.queued_octets() != 0 {
            queue.park(cx);
            return Poll::Pending;
        }
        drop(queue);
        // Dropped messages are never written.
        let is_forgotten = self.forgotten.load(Ordering::Relaxed);
        if is_forgotten || self.written() == self.submitted.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        // A direct write counts no octets, and its sender wakes no parked task. It takes as long as one `writev` that
        // does not block.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Wakes all tasks that wait for room or for a write: the connection has ended.
    pub(crate) fn wake_all(&self) {
        let waiting = core::mem::take(&mut self.queue().waiting);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Whether a client sends such a message.
fn is_of_client(message: &Gather) -> bool {
    let first = message.chunks().next().unwrap_or_default();
    let kind = first.get(KIND_AT).filter(|_| first.starts_with(b"GIOP"));
    kind.is_some_and(|kind| KINDS_OF_CLIENTS.contains(kind))
}

/// Octets of memory that a message takes while it is queued.
pub(super) fn memory(message: &Gather) -> usize {
    message.memory().saturating_add(QUEUED_OVERHEAD)
}

/// A copy of the message, in a buffer of its size.
#[cold]
fn copied(message: Gather) -> Gather {
    let mut own = BytesMut::with_capacity(message.len());
    message
        .chunks()
        .for_each(|chunk| own.extend_from_slice(chunk));
    buffers::give(message.into_buffer());
    Gather::from(own)
}
