//! Pending requests: those that wait for their servant, their POA manager, a key resolver or a worker.

use super::super::counters::Counter;
use super::super::fairness::{HostPermit, PENDING_OVERHEAD, PendingMemory, UpcallPlace};
use super::super::owner::{Owner, Peer};
use super::super::sync::Ordering;
use super::ServerConnection;
use super::order::Turn;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use zorb_cdr::Gather;
use zorb_shares::{CancelReason, Cancellation, Client};

/// Replies of at most so many octets are sent even if too many octets wait already. They are mostly exceptions, and the
/// limit on pending upcalls bounds their number.
const SMALL_REPLY: usize = 1 << 10;

/// What is known of a request of the client that is pending, or whose servant wants to know whether it is cancelled.
#[derive(Debug, Default)]
struct Entry {
    /// Whether it is pending.
    is_pending: bool,
    is_cancelled: bool,
    /// The task that waits for its cancellation.
    waker: Option<Waker>,
    /// The cancellation that its servant holds.
    watched: Option<Cancellation>,
}

/// The requests of a client by their ids, as far as they are pending or watched.
#[derive(Debug, Default)]
pub(crate) struct ClientRequests(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    all: HashMap<u32, Entry>,
    /// Why no result is of use any more, to whichever request.
    over: Option<CancelReason>,
}

impl ClientRequests {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, id: u32) {
        let mut entries = self.entries();
        let entry = entries.all.entry(id).or_default();
        (entry.is_pending, entry.is_cancelled) = (true, false);
    }

    /// Notes that a request is no longer pending. Returns whether its client has cancelled it.
    fn end(&self, id: u32) -> bool {
        let entry = self.entries().all.remove(&id);
        entry.is_some_and(|entry| entry.is_cancelled)
    }

    fn is_cancelled(&self, id: u32) -> bool {
        let entries = self.entries();
        entries.all.get(&id).is_some_and(|entry| entry.is_cancelled)
    }

    /// Ready when the client has cancelled a pending request.
    fn poll_cancelled(&self, id: u32, waker: &Waker) -> Poll<()> {
        match self.entries().all.get_mut(&id) {
            Some(entry) if entry.is_cancelled => Poll::Ready(()),
            Some(entry) => {
                entry.waker = Some(waker.clone());
                Poll::Pending
            }
            None => Poll::Pending,
        }
    }

    /// Cancels a request, if it is pending: once it is answered, another one may use its id.
    pub(super) fn cancel(&self, id: u32) {
        let mut entries = self.entries();
        let Some(entry) = entries.all.get_mut(&id) else {
            return;
        };
        entry.is_cancelled = true;
        let (waker, watched) = (entry.waker.take(), entry.watched.clone());
        drop(entries);
        if let Some(watched) = watched {
            watched.cancel(CancelReason::ByCaller);
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Cancels all requests that are watched, and those that will be. The first reason stays.
    pub(super) fn end_all(&self, reason: CancelReason) {
        let mut entries = self.entries();
        let reason = *entries.over.get_or_insert(reason);
        let watched = entries
            .all
            .values()
            .filter_map(|entry| entry.watched.clone());
        let watched: Vec<_> = watched.collect();
        drop(entries);
        for watched in watched {
            watched.cancel(reason);
        }
    }

    /// Has `cancellation` learn when the client cancels the request with this id, or goes.
    fn watch(&self, id: u32, cancellation: &Cancellation) {
        let mut entries = self.entries();
        let over = entries.over;
        let entry = entries.all.entry(id).or_default();
        entry.watched = Some(cancellation.clone());
        let is_cancelled = entry.is_cancelled;
        drop(entries);
        if is_cancelled {
            cancellation.cancel(CancelReason::ByCaller);
        } else if let Some(reason) = over {
            cancellation.cancel(reason);
        }
    }

    fn forget(&self, id: u32, cancellation: &Cancellation) {
        let mut entries = self.entries();
        let is_same = |watched: &Cancellation| watched.is_same(cancellation);
        if let Some(entry) = entries.all.get_mut(&id)
            && entry.watched.as_ref().is_some_and(is_same)
        {
            entry.watched = None;
            if !entry.is_pending {
                entries.all.remove(&id);
            }
        }
    }

    /// Whether nothing is known of any request.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.entries().all.is_empty()
    }
}

/// A watched request, until this is dropped: see [`Peer::watch`].
#[derive(Debug)]
pub struct WatchedRequest {
    peer: Arc<Peer>,
    id: u32,
    cancellation: Cancellation,
}

impl Peer {
    /// Has `cancellation` learn when the client cancels its request with this id, or goes, until the result is dropped.
    /// Dropped with the request, before its reply is sent: another request may use the id then. Costs a lock, and an
    /// allocation.
    #[must_use]
    pub fn watch(self: &Arc<Self>, request_id: u32, cancellation: &Cancellation) -> WatchedRequest {
        self.requests.watch(request_id, cancellation);
        WatchedRequest {
            peer: Arc::clone(self),
            id: request_id,
            cancellation: cancellation.clone(),
        }
    }
}

impl Drop for WatchedRequest {
    fn drop(&mut self) {
        self.peer.requests.forget(self.id, &self.cancellation);
    }
}

/// A request that is pending, from when it has to wait until it is answered. Dropping it leaves the request unanswered.
///
/// It keeps its ORB and its place under the [limits](super::ServerLimits) on upcalls, but not its connection: when a client
/// goes, its descriptor and its place among the connections are released, while the upcall continues to run.
#[derive(Debug)]
pub struct PendingRequest<O: Owner> {
    connection: Weak<ServerConnection<O>>,
    owner: Arc<O>,
    /// The memory of the connection's pending requests, which is held even after the connection has ended.
    held: Arc<PendingMemory>,
    place: UpcallPlace,
    request_id: u32,
    /// Octets of the request message, which is kept as long as this.
    octets: usize,
    /// Whether the client has got its acknowledgement (SYNC_WITH_SERVER), so that it gets no further reply.
    acknowledged: bool,
    /// Whether the request was answered, so that the client may use its id for another one.
    answered: bool,
    /// The turn in an order, which is over when this request ends.
    turn: Option<Turn>,
}

impl<O: Owner> PendingRequest<O> {
    /// Makes a request of this length pending: it takes a place under the limits on upcalls, and counts its octets.
    #[must_use]
    pub fn new(connection: &Arc<ServerConnection<O>>, request_id: u32, octets: usize) -> Self {
        let mut pending = Self::located(connection, request_id);
        (connection.pending_octets).fetch_add(octets, Ordering::Relaxed);
        pending.octets = octets;
        pending.held.add(octets);
        pending
    }

    /// Makes a LocateRequest pending.
    pub(super) fn located(connection: &Arc<ServerConnection<O>>, request_id: u32) -> Self {
        connection.pending.fetch_add(1, Ordering::AcqRel);
        connection.unanswered.fetch_add(1, Ordering::Relaxed);
        connection.peer.requests.begin(request_id);
        connection.held.add(PENDING_OVERHEAD);
        Self {
            connection: Arc::downgrade(connection),
            owner: Arc::clone(&connection.owner),
            held: Arc::clone(&connection.held),
            place: UpcallPlace::take(connection.admitted.host()),
            request_id,
            octets: 0,
            acknowledged: false,
            answered: false,
            turn: None,
        }
    }

    /// Returns the owner of the connection, which serves the request.
    #[inline]
    #[must_use]
    pub fn owner(&self) -> &Arc<O> {
        &self.owner
    }

    /// The connection that the request came on. Once that has ended, a stand-in on which nothing can be sent.
    #[must_use]
    pub fn connection(&self) -> Arc<ServerConnection<O>> {
        (self.connection.upgrade()).unwrap_or_else(|| {
            let host = Arc::clone(self.place.host());
            Arc::new(ServerConnection::ended(
                &self.owner,
                HostPermit::ended(host),
            ))
        })
    }

    /// The client; `None` once the connection has ended.
    #[must_use]
    pub fn peer(&self) -> Option<Arc<Peer>> {
        Some(Arc::clone(self.connection.upgrade()?.peer()))
    }

    /// Whether the client has got its acknowledgement (SYNC_WITH_SERVER), so that it gets no further reply.
    #[must_use]
    pub fn is_acknowledged(&self) -> bool {
        self.acknowledged
    }

    /// Notes that the client has got its acknowledgement.
    pub fn set_acknowledged(&mut self) {
        self.acknowledged = true;
    }

    /// Whether the request has a turn that ends with it.
    #[must_use]
    pub fn has_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// Gives the request a turn, which ends with it.
    pub fn keep_turn(&mut self, turn: Turn) {
        self.turn = Some(turn);
    }

    /// Whether the client has cancelled the request.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let connection = self.connection.upgrade();
        connection.is_some_and(|of| of.peer.requests.is_cancelled(self.request_id))
    }

    /// Waits until the client no longer waits for the reply, and returns why: it has cancelled the request, or `client` has
    /// gone.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing.
    pub async fn abandoned(&self, client: &Client) -> CancelReason {
        let cancelled = poll_fn(|cx| {
            let Some(connection) = self.connection.upgrade() else {
                // The client has gone, which says so itself.
                return Poll::Pending;
            };
            let requests = &connection.peer.requests;
            requests.poll_cancelled(self.request_id, cx.waker())
        });
        tokio::select! {
            biased;
            () = client.gone() => CancelReason::Disconnected,
            () = cancelled => CancelReason::ByCaller,
        }
    }

    /// Continues a request that has waited. It runs on the caller's thread, or, where every connection has a thread, on a
    /// thread that may block, one request of the connection after the other.
    pub fn go_on(self, go_on: impl FnOnce(Self) + Send + 'static) {
        let connection = self.connection();
        let run = move || {
            let connection = self.connection();
            go_on(self);
            // An acknowledgement may have been queued.
            connection.flush();
        };
        match connection.owner.settings().threads {
            false => run(),
            true => connection.turns.push(&connection.owner, run),
        }
    }

    /// Sends the reply of an upcall, unless the client has cancelled the request. If too many octets wait already for a client
    /// that does not read them, the exception that `unaffordable` makes from their number is sent instead. Other upcalls do
    /// not begin before there is room, but this one had begun.
    pub fn finish(self, reply: Option<Gather>, unaffordable: impl FnOnce(usize) -> Option<Gather>) {
        // A reply to a client that has gone is dropped.
        let Some(connection) = self.connection.upgrade() else {
            return;
        };
        let queued = connection.link.outbound.queued_replies();
        let settings = self.owner.settings();
        let limit = settings.limits.max_message_octets;
        let reply = match reply {
            Some(reply)
                if reply.len() > SMALL_REPLY
                    && (queued > limit || queued > 0 && settings.memory.is_scarce()) =>
            {
                settings.counters.count(Counter::RepliesReplaced);
                unaffordable(queued)
            }
            reply => reply,
        };
        self.answer_on(&connection, reply);
    }

    /// Sends a reply without an upcall, unless the client has cancelled the request or has its acknowledgement.
    pub fn answer(self, reply: Option<Gather>) {
        if let Some(connection) = self.connection.upgrade() {
            self.answer_on(&connection, reply);
        }
    }

    fn answer_on(mut self, connection: &Arc<ServerConnection<O>>, reply: Option<Gather>) {
        self.answered = true;
        // Counted before the reply is written: the client's next request may arrive right after it.
        connection.unanswered.fetch_sub(1, Ordering::Relaxed);
        let is_cancelled = connection.peer.requests.end(self.request_id);
        connection.send_reply(reply.filter(|_| !is_cancelled));
    }
}

impl<O: Owner> Drop for PendingRequest<O> {
    fn drop(&mut self) {
        self.held
            .subtract(PENDING_OVERHEAD.saturating_add(self.octets));
        let Some(connection) = self.connection.upgrade() else {
            return self.place.host().end_left_behind();
        };
        if !self.answered {
            connection.unanswered.fetch_sub(1, Ordering::Relaxed);
            connection.peer.requests.end(self.request_id);
        }
        (connection.pending_octets).fetch_sub(self.octets, Ordering::Relaxed);
        // Sequentially consistent, as the check of the backlog: either this thread sees the waiting request, or the driver
        // sees the room. A connection that is being drained waits for the last pending request.
        if connection.pending.fetch_sub(1, Ordering::SeqCst) == 1 || !connection.backlog.is_empty()
        {
            connection.wake();
        }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// Jobs that run one after the other, on a thread that may block.
#[derive(Default)]
pub(super) struct Turns(Mutex<Jobs>);

#[derive(Default)]
struct Jobs {
    queue: VecDeque<Job>,
    /// Whether a thread runs the jobs.
    running: bool,
}

impl Turns {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push<O: Owner>(self: &Arc<Self>, owner: &Arc<O>, job: impl FnOnce() + Send + 'static) {
        let mut jobs = self.jobs();
        jobs.queue.push_back(Box::new(job));
        if core::mem::replace(&mut jobs.running, true) {
            return;
        }
        drop(jobs);
        let (turns, token) = (Arc::clone(self), owner.track_thread());
        owner.lane().handle().spawn_blocking(move || {
            while let Some(job) = turns.next() {
                // A panic has been reported by the upcall that caused it.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
            drop(token);
        });
    }

    /// Takes the next job. The queue counts as idle if it is empty.
    fn next(&self) -> Option<Job> {
        let mut jobs = self.jobs();
        let next = jobs.queue.pop_front();
        jobs.running = next.is_some();
        next
    }
}
