//! The hand-over between submitting and running threads: [`Lanes`] under a lock, and the threads to wake.
//!
//! A thread that finds no request parks, outside of the lock; the submitter that assigns it one unparks it afterwards.
//! A thread that is unparked before it parks does not park (`std::thread::park` keeps one token), so that no request is
//! missed.
use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::lanes::{
    Assigned, Blocking, Key, Lanes, Placed, Refused, RejectReason, Request, WorkerId,
};
use crate::sync::{Guard, Lock, Thread, thread};

/// Most ended requests whose memory is kept for the next ones: as many as run at a time in most pools.
const MAX_USED: usize = 64;

/// The requests of a pool, and its threads as far as they have to be woken.
pub(super) struct Queue<T> {
    state: Lock<State<T>>,
}

pub(super) struct State<T> {
    pub(super) lanes: Lanes<T>,
    /// The threads of the workers, by the index of their ids; `None` until a thread has begun, and when it has ended.
    running: Vec<Option<Thread>>,
    /// Submitters that wait for room, the most urgent request first.
    waiters: BinaryHeap<Waiter>,
    /// Ended work, whose memory the next requests may use.
    used: Vec<T>,
}

impl<T> Queue<T> {
    pub(super) fn new(lanes: Lanes<T>) -> Self {
        Self {
            state: Lock::new(State {
                lanes,
                running: Vec::new(),
                waiters: BinaryHeap::new(),
                used: Vec::with_capacity(MAX_USED),
            }),
        }
    }

    pub(super) fn lock(&self) -> Guard<'_, State<T>> {
        self.state.lock()
    }

    /// Places a request: wakes the worker that has it, or names the one whose thread is to be started for it.
    pub(super) fn submit(&self, request: Request<T>) -> Result<Option<WorkerId>, Refused<T>> {
        let mut state = self.lock();
        let placed = state.lanes.submit(request);
        let abandoned = state.lanes.take_abandoned();
        let placed = match placed {
            Ok(placed) => Ok(Self::placed(state, placed)),
            Err(refused) => {
                drop(state);
                Err(refused)
            }
        };
        // Outside of the lock: it may take long, and use the pool.
        drop(abandoned);
        placed
    }

    /// Places a request as [`submit`](Self::submit) does, for a submitter that waits where the queue is full: it may
    /// try again when its ticket is called. `key` is its rank among those that wait, from its first try on.
    pub(super) fn submit_or_wait(
        &self,
        request: Request<T>,
        key: &mut Option<Key>,
    ) -> Submitted<'_, T> {
        let mut state = self.lock();
        let (priority, octets) = (request.priority, request.octets);
        let placed = state.lanes.submit(request);
        // Dropped last, and so outside of the lock.
        let abandoned = state.lanes.take_abandoned();
        let submitted = match placed {
            Ok(placed) => Submitted::Taken(Self::placed(state, placed)),
            Err(refused)
                if refused.reason == RejectReason::Full && state.lanes.fits(priority, octets) =>
            {
                let key = *key.get_or_insert_with(|| state.lanes.key_of(&refused.request));
                let (call, called) = oneshot::channel();
                state.waiters.push(Waiter { key, call });
                let ticket = Ticket {
                    queue: self,
                    called,
                    used: false,
                };
                drop(state);
                Submitted::Waits(refused.request, ticket)
            }
            Err(refused) => {
                drop(state);
                Submitted::Refused(refused)
            }
        };
        drop(abandoned);
        submitted
    }

    /// Places the request of a worker whose thread could not be started, as without dynamic threads.
    pub(super) fn start_failed(&self, worker: WorkerId) -> Result<(), Refused<T>> {
        let mut state = self.lock();
        state.set_thread(worker, None);
        let placed = state.lanes.start_failed(worker);
        let abandoned = state.lanes.take_abandoned();
        let placed = match placed {
            Ok(placed) => {
                Self::placed(state, placed);
                Ok(())
            }
            Err(refused) => {
                drop(state);
                Err(refused)
            }
        };
        drop(abandoned);
        placed
    }

    fn placed(state: Guard<'_, State<T>>, placed: Placed) -> Option<WorkerId> {
        match placed {
            Placed::Queued => None,
            Placed::Handed(worker) => {
                let thread = state.thread(worker);
                // The woken thread must not find the lock taken.
                drop(state);
                // A thread that has not begun yet looks for its request before it parks for the first time.
                if let Some(thread) = thread {
                    thread.unpark();
                }
                None
            }
            Placed::Start(worker) => Some(worker),
        }
    }

    /// Takes the work that ended last, for its memory.
    pub(super) fn take_used(&self) -> Option<T> {
        self.lock().used.pop()
    }

    /// Takes no more requests, and lets the threads end when they have nothing more to do.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.lanes.close();
        let running: Vec<_> = state.running.iter().flatten().cloned().collect();
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        for thread in running {
            thread.unpark();
        }
        call_all(waiters);
    }

    /// Whether the calling thread is one of the pool's.
    pub(super) fn runs_on_this_thread(&self) -> bool {
        let this = thread::current().id();
        let state = self.lock();
        state
            .running
            .iter()
            .flatten()
            .any(|thread| thread.id() == this)
    }

    /// Notes that the calling thread is the worker's.
    pub(super) fn begin(&self, worker: WorkerId) {
        let thread = thread::current();
        self.lock().set_thread(worker, Some(thread));
    }

    /// Waits for the next request of a worker; `None` when its thread is to end. `used` is the work that it has ended,
    /// if its memory is of use. `idle_timeout` is the time for which a dynamic worker is idle before it ends.
    pub(super) fn next(
        &self,
        worker: WorkerId,
        mut used: Option<T>,
        idle_timeout: Duration,
    ) -> Option<Assigned<T>> {
        // Set when the thread became idle; `None` for the first look, which finds requests that wait already.
        let mut idle_until = None;
        loop {
            let now = Instant::now();
            let mut state = self.lock();
            if state.used.len() < MAX_USED {
                state.used.extend(used.take());
            }
            if let Some(assigned) = state.lanes.next(worker, now) {
                let waits = !state.waiters.is_empty();
                drop(state);
                if waits {
                    self.call_next();
                }
                return Some(assigned);
            }
            let until = *idle_until.get_or_insert_with(|| now.checked_add(idle_timeout));
            let ends = until.is_some_and(|until| until <= now) || state.lanes.ends_early(worker);
            if ends && state.lanes.end(worker) {
                // The id is free now, so the entry is removed in the same step.
                state.set_thread(worker, None);
                return None;
            }
            let until = until.filter(|_| state.lanes.is_dynamic(worker));
            // The thread is idle, so that a request of its lane needs no room. The submitters find out which one.
            let waiters = std::mem::take(&mut state.waiters);
            drop(state);
            call_all(waiters);
            match until {
                Some(until) => thread::park_timeout(until.saturating_duration_since(now)),
                None => thread::park(),
            }
        }
    }

    /// Notes that a worker's request is about to block; see [`Lanes::begin_blocking`].
    pub(super) fn begin_blocking(&self, worker: WorkerId) -> Blocking {
        self.lock().lanes.begin_blocking(worker)
    }

    /// Notes that a worker's request blocks no longer; see [`Lanes::end_blocking`].
    pub(super) fn end_blocking(&self, worker: WorkerId, replaced: bool) {
        self.lock().lanes.end_blocking(worker, replaced);
    }

    /// Calls the most urgent submitter that waits, if there is room for its request.
    #[cold]
    fn call_next(&self) {
        loop {
            let mut state = self.lock();
            let lanes = &state.lanes;
            let has_room = |waiter: &Waiter| {
                let (priority, ..) = waiter.key;
                lanes.has_room(priority)
            };
            if !state.waiters.peek().is_some_and(has_room) {
                return;
            }
            let Some(waiter) = state.waiters.pop() else {
                return;
            };
            drop(state);
            // A submitter that has gone leaves its turn to the next.
            if waiter.call.send(()).is_ok() {
                return;
            }
        }
    }
}

fn call_all(waiters: BinaryHeap<Waiter>) {
    for waiter in waiters.into_sorted_vec().into_iter().rev() {
        // An error is a submitter that has gone.
        let _ = waiter.call.send(());
    }
}

/// The state of a request whose submitter waits for room.
pub(super) enum Submitted<'a, T> {
    /// Taken, with the result of [`Queue::submit`].
    Taken(Option<WorkerId>),
    /// Not taken, now or later.
    Refused(Refused<T>),
    /// The submitter tries again when its ticket is called.
    Waits(Request<T>, Ticket<'a, T>),
}

/// A submitter that waits for room.
struct Waiter {
    key: Key,
    call: oneshot::Sender<()>,
}

impl Ord for Waiter {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Waiter {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiter {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiter {}

/// A submitter's place among those that wait for room.
#[must_use]
pub(super) struct Ticket<'a, T> {
    queue: &'a Queue<T>,
    called: oneshot::Receiver<()>,
    used: bool,
}

impl<T> Ticket<'_, T> {
    /// Completes when there may be room, or the pool is closed.
    pub(super) async fn called(mut self) {
        // The sender sends before it is dropped.
        let _ = (&mut self.called).await;
        self.used = true;
    }
}

impl<T> Drop for Ticket<'_, T> {
    /// A submitter that is called, and is dropped without another try, leaves the room to the next.
    fn drop(&mut self) {
        if !self.used && self.called.try_recv().is_ok() {
            self.queue.call_next();
        }
    }
}

impl<T> State<T> {
    fn thread(&self, worker: WorkerId) -> Option<Thread> {
        self.running.get(worker.index())?.clone()
    }

    fn set_thread(&mut self, worker: WorkerId, thread: Option<Thread>) {
        if self.running.len() <= worker.index() {
            self.running.resize(worker.index() + 1, None);
        }
        self.running[worker.index()] = thread;
    }
}
