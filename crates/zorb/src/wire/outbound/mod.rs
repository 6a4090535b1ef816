//! The write side of a connection: whoever finds it free writes.
//!
//! A message is queued under a short lock; then its sender tries to become the writer. A lone
//! sender pays one system call and no hand-over; in a crowd, whoever writes takes the others'
//! messages along. What does not fit into the socket stays with the writer's state, and the
//! connection's driver finishes it: a message once begun is always finished, whatever becomes of
//! the future that sent it.
//!
//! Where messages are cut into fragments, one message at a time is: those that are not cut pass it
//! between two of its pieces, the others wait their turn. So a large message delays nobody, and
//! its receiver holds the pieces of one message.
//!
//! - here: the queue;
//! - `writing`: who writes what is in it;
//! - `lone`: a message that is alone, and is never in it;
//! - `joined`: messages that may wait for others, and leave as one.
//!
//! `tests/models` drives this very file under loom, so its tests are declared beside it.

mod joined;
mod lone;
mod writing;

pub(crate) use joined::Joined;

use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering};
use core::task::{Context, Poll, Waker};
use joined::Together;
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, OnceLock, PoisonError, TryLockError};
use std::task::Wake;
use zorb_cdr::Gather;
use zorb_giop::Fragments;

/// Octets that may wait to be written before senders have to wait too. Larger than a socket's
/// own buffer, so that it adds batching and not latency; one message may exceed it.
const MAX_QUEUED_OCTETS: usize = 1 << 20;
/// Chunks handed to one `writev`. Beyond a few dozen the call itself no longer matters.
const MAX_CHUNKS: usize = 64;
/// Octets of fragments that are made ready at a time, before what was queued meanwhile gets its
/// turn: about what a socket takes at once.
pub(super) const FRAGMENTS_PER_TURN: usize = 64 << 10;

/// Parked wakers that are looked at before another is added.
const LOOK_BACK: usize = 16;

/// The place of a message in the order of its connection, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(super) u64);

/// A message, or a piece of one, as it is written.
struct Outgoing {
    octets: Gather,
    /// What is whole on the connection with the last octet of it; nothing if more pieces follow.
    ends: Option<Ends>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub(super) ticket: u64,
    /// Octets that the message counted as while it was queued.
    pub(super) octets: usize,
}

/// What waits for its turn behind what is not cut.
enum Large {
    /// A message in pieces.
    Cut(Fragments),
    /// The last words of a connection.
    Last(Gather),
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Outgoing>,
    /// Behind these.
    together: Together,
    large: VecDeque<(Ends, Large)>,
    /// Nothing more may be joined.
    closed: bool,
    /// Messages that are out although earlier ones are not yet.
    early: BTreeSet<u64>,
    /// Messages whose senders have lost interest, since the writer last looked.
    given_up: Vec<u64>,
    waiting: Vec<Waker>,
}

impl Queue {
    fn has_nothing(&self) -> bool {
        self.messages.is_empty() && self.together.is_empty() && self.large.is_empty()
    }

    /// Whether nothing is queued and nobody waits.
    fn is_quiet(&self) -> bool {
        self.has_nothing() && self.early.is_empty() && self.waiting.is_empty()
    }

    fn park(&mut self, cx: &Context<'_>) {
        // Whoever is polled again without need is parked already, mostly as the last one.
        let parked = self
            .waiting
            .iter()
            .rev()
            .take(LOOK_BACK)
            .any(|w| w.will_wake(cx.waker()));
        if !parked {
            self.waiting.push(cx.waker().clone());
        }
    }
}

#[derive(Default)]
pub(super) struct Writing {
    messages: VecDeque<Outgoing>,
    /// Octets of the front message that are out already.
    offset: usize,
    /// The first of these is in the course of being cut.
    large: VecDeque<(Ends, Large)>,
    /// What the last write has finished; kept for its memory.
    finished: Vec<Ends>,
}

impl Writing {
    fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.large.is_empty()
    }
}

/// What a flush came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// Everything is out, or somebody else is writing and takes it along.
    Done,
    /// The socket is full; the driver has to go on when it is writable again.
    Blocked,
}

/// Wakes the driver, wherever it is polled; as a waker for whom nothing but the driver must be
/// woken.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    /// Taken by whoever rings.
    driver: Mutex<Option<Waker>>,
    /// Whether it is there. Changes only under the lock.
    is_hung: AtomicBool,
}

/// What a driver that [stays](Bell::stay) keeps between its polls: whom it had woken when it registered last.
#[derive(Debug, Default)]
pub(crate) struct Stays(Option<Waker>);

impl Bell {
    fn driver(&self) -> MutexGuard<'_, Option<Waker>> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who is to be woken: the driver says so at each of its polls. It sees what was done before anybody rang until now;
    /// who rings from now on wakes it.
    pub(crate) fn register(&self, driver: &Waker) {
        // Not made nor dropped under the lock: both are somebody else's.
        let driver = driver.clone();
        let before = {
            let mut place = self.driver();
            self.is_hung.store(true, Ordering::Relaxed);
            place.replace(driver)
        };
        drop(before);
    }

    /// For a driver whose polls are many, and hardly ever because somebody rang: it is polled again for every ring that it
    /// does not see, and all this costs is a look. Nobody else registers meanwhile.
    ///
    /// Whoever rings takes the waker, says so under the same lock, and wakes after that. So a driver that finds it said
    /// that its waker is there, though it is not, is about to be polled by that waker, and finds it said then that it is
    /// not, and registers; who has rung in between and found nothing to wake has had the lock before it. This asks of an
    /// executor that what was done before a wake is seen by a poll behind it, as tokio's do.
    #[inline]
    pub(crate) fn stay(&self, driver: &Waker, stays: &mut Stays) {
        let is_known = (stays.0.as_ref()).is_some_and(|known| known.will_wake(driver));
        if !(is_known && self.is_hung.load(Ordering::Relaxed)) {
            self.stay_anew(driver, stays);
        }
    }

    #[cold]
    fn stay_anew(&self, driver: &Waker, stays: &mut Stays) {
        self.register(driver);
        stays.0 = Some(driver.clone());
    }

    pub(crate) fn ring(&self) {
        let driver = {
            let mut place = self.driver();
            self.is_hung.store(false, Ordering::Relaxed);
            place.take()
        };
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

#[derive(Default)]
pub(crate) struct Outbound {
    queue: Mutex<Queue>,
    /// Octets that wait to be written, those of a message that has begun included. Changes only
    /// under the lock of the queue, so that whoever looks without it may look again with it.
    octets: AtomicUsize,
    /// Held by whoever writes. Only ever tried, never waited for, so it is a flag that owns what
    /// is being written.
    writing: Mutex<Writing>,
    blocked: AtomicBool,
    /// Something was queued for the driver to write, with whatever is queued by then. Changes only under the lock of the
    /// queue.
    joined: AtomicBool,
    /// Why the transport failed, once it has: nothing is written any more, so what was told as
    /// not sent stays so.
    failed: OnceLock<(io::ErrorKind, String)>,
    /// All messages up to this ticket are handed to the transport.
    written: AtomicU64,
    /// Octets that are out in all. Beside the write side, whose lock only a writer may take.
    written_octets: AtomicU64,
    /// Messages of more octets than this are cut into fragments; 0: none is.
    max_fragment: AtomicUsize,
    /// Tickets given out.
    submitted: AtomicU64,
    pub(crate) driver: Arc<Bell>,
}

impl Outbound {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, messages longer than this many octets are cut into fragments.
    pub(crate) fn set_max_fragment(&self, octets: usize) {
        self.max_fragment.store(octets, Ordering::Relaxed);
    }

    /// The length above which messages are cut into fragments, if any is.
    pub(crate) fn max_fragment(&self) -> Option<usize> {
        match self.max_fragment.load(Ordering::Relaxed) {
            0 => None,
            octets => Some(octets),
        }
    }

    /// The next ticket. Of what is queued, it is given out under the lock of the queue.
    pub(super) fn ticket(&self) -> u64 {
        self.submitted.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The next ticket of the queue, and its octets. To be called under the lock of the queue.
    fn issue(&self, octets: usize) -> Ends {
        self.count(octets);
        Ends {
            ticket: self.ticket(),
            octets,
        }
    }

    /// Counts octets that are queued. To be called under the lock of the queue.
    fn count(&self, more: usize) {
        let octets = self.queued_octets().wrapping_add(more);
        self.octets.store(octets, Ordering::Relaxed);
    }

    /// Queues a message. Nothing is written until [`flush`](Self::flush).
    pub(crate) fn submit(&self, message: Gather) -> Ticket {
        let octets = message.len();
        let cut = match self.max_fragment() {
            Some(most) => Fragments::new(message, most),
            None => Err(message),
        };
        let mut queue = self.queue();
        let ends = self.issue(octets);
        match cut {
            Ok(fragments) => queue.large.push_back((ends, Large::Cut(fragments))),
            Err(octets) => {
                queue.part();
                queue.messages.push_back(Outgoing {
                    octets,
                    ends: Some(ends),
                });
            }
        }
        Ticket(ends.ticket)
    }

    /// Queues a message that goes out behind everything else: the last words of a connection.
    pub(crate) fn submit_last(&self, message: Gather) {
        let mut queue = self.queue();
        let ends = self.issue(message.len());
        queue.large.push_back((ends, Large::Last(message)));
    }

    /// Says that nobody wants the message any more: of one that is cut into fragments nothing
    /// more goes out. Only for requests of which the peer is told so by CancelRequest.
    pub(crate) fn give_up(&self, ticket: Ticket) {
        if self.max_fragment().is_some() && !self.is_written(ticket) {
            self.queue().given_up.push(ticket.0);
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

    #[cold]
    fn wait_for_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.queue();
        if self.has_room() {
            return Poll::Ready(());
        }
        queue.park(cx);
        Poll::Pending
    }

    /// Ready when the message is handed to the transport, all of it.
    pub(crate) fn poll_written(&self, ticket: Ticket, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_counted(ticket) {
            return Poll::Ready(());
        }
        let mut queue = self.queue();
        // The writer counts before it takes this lock to wake, so nothing is missed.
        if self.is_counted(ticket) || queue.early.contains(&ticket.0) {
            return Poll::Ready(());
        }
        queue.park(cx);
        Poll::Pending
    }

    /// How many messages are handed to the transport, all of them and all before them.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Octets handed to the transport so far.
    pub(crate) fn written_octets(&self) -> u64 {
        self.written_octets.load(Ordering::Relaxed)
    }

    /// Octets that wait to be written, those of a message that has begun included.
    pub(crate) fn queued_octets(&self) -> usize {
        self.octets.load(Ordering::Relaxed)
    }

    /// Why nothing can be written any more, if that is so.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failed.get().map(|(_, cause)| cause.as_str())
    }

    /// Whether the message is not, and will not be, handed to the transport as a whole. To be
    /// asked after the transport has failed or was closed.
    pub(crate) fn is_surely_unsent(&self, ticket: Ticket) -> bool {
        match self.writing.try_lock() {
            Ok(_) | Err(TryLockError::Poisoned(_)) => !self.is_written(ticket),
            // Somebody may have written it just now and not counted it yet.
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Whether the message is handed to the transport, all of it.
    pub(crate) fn is_written(&self, ticket: Ticket) -> bool {
        self.is_counted(ticket) || self.queue().early.contains(&ticket.0)
    }

    /// The same, where what was written before its turn does not count.
    #[inline]
    pub(crate) fn is_counted(&self, ticket: Ticket) -> bool {
        // Pairs with the Release in `finished`.
        self.written.load(Ordering::Acquire) >= ticket.0
    }

    /// Ready when everything that was begun is handed to the transport.
    pub(crate) fn poll_empty(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.queue();
        // The octets of a message count until its last one is out.
        if self.queued_octets() != 0 {
            queue.park(cx);
            return Poll::Pending;
        }
        drop(queue);
        if self.written() == self.submitted.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        // Somebody is writing a message that is alone: it counts nowhere, and who writes it looks at nobody that waits.
        // It takes as long as one `writev` that does not block.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Wakes everybody who waits for room or progress: the connection is over.
    pub(crate) fn wake_all(&self) {
        let waiting = core::mem::take(&mut self.queue().waiting);
        waiting.into_iter().for_each(Waker::wake);
    }
}
