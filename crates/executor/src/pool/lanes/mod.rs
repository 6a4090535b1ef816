//! The decisions of a worker pool, without its threads: which worker takes which request, and which request waits.
//!
//! A value of [`Lanes`] is a state machine whose inputs are requests, workers that want work, and points in time. It
//! starts no thread, wakes none and reads no clock. The pool calls it under its lock and acts on the results.
//!
//! Two invariants hold between calls:
//! - a lane with an idle worker has an empty queue;
//! - with borrowing, a lane has an empty queue if a lane of a lower priority has an idle worker.
use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, HashMap},
    time::Instant,
};

use zorb_shares::{Client, FreePlaces, HostKey, departures};

use crate::Priority;

/// Statistics of a lane of a [`WorkerPool`](crate::WorkerPool) since the pool was built, and its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneCounters {
    /// The lane's priority; the default priority of a pool without lanes.
    pub priority: Priority,
    /// Requests that wait for a thread now.
    pub queued: usize,
    /// Threads that are idle now, static and dynamic ones.
    pub idle: usize,
    /// Requests that a thread of this lane or a lower one has begun, since the pool was built.
    pub started: u64,
    /// Requests that had to wait for a thread.
    pub waited: u64,
    /// Requests that a thread of a lower lane has begun.
    pub borrowed: u64,
    /// Requests whose deadline was past when a thread began them.
    pub late: u64,
    /// Requests that were refused because the queue was full.
    pub refused: u64,
    /// Threads that are in a [blocking section](crate::blocking) now.
    pub blocked: usize,
}

impl LaneCounters {
    const fn new(priority: Priority) -> Self {
        Self {
            priority,
            queued: 0,
            idle: 0,
            started: 0,
            waited: 0,
            borrowed: 0,
            late: 0,
            refused: 0,
            blocked: 0,
        }
    }
}

/// Why a pool refused a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectReason {
    /// No thread is idle, and the limit on waiting requests or octets is reached. A later attempt may succeed.
    Full,
    /// No thread is idle, and the host of the request's client has its share of the queue. A later attempt may succeed.
    HostFull,
    /// The pool has been shut down, so every later job is refused too.
    Closed,
    /// The pool has no lane of the request's priority.
    NoLane,
    /// The mapping has no native priority for that of the request.
    Unmappable,
}

/// A request of a pool.
#[derive(Debug)]
pub(super) struct Request<T> {
    pub(super) priority: Priority,
    /// When its result is of no use any more. Earlier ones go first among requests of one priority, and all of them before
    /// those without a deadline.
    pub(super) deadline: Option<Instant>,
    /// Its octets in the queue's account.
    pub(super) octets: usize,
    /// Whose request it is; `None` for one of the program's own, which has no share.
    pub(super) client: Option<Client>,
    pub(super) work: T,
}

/// The threads and the priority of one lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) priority: Priority,
    pub(super) static_threads: usize,
    pub(super) dynamic_threads: usize,
}

/// The bound of the queues of all lanes together, of which each lane leaves an equal share to every lane above it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    pub(super) requests: usize,
    pub(super) octets: usize,
}

/// The placement of an accepted request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// An idle worker has it and is to be woken.
    Handed(WorkerId),
    /// A new dynamic worker has it, whose thread is to be started.
    Start(WorkerId),
    /// The job waits in the queue.
    Queued,
}

/// A request that was not taken.
pub(super) struct Refused<T> {
    pub(super) request: Request<T>,
    pub(super) reason: RejectReason,
}

/// A request that a worker is to run now.
pub(super) struct Assigned<T> {
    pub(super) request: Request<T>,
    /// Whether the worker belongs to a lane of a lower priority.
    pub(super) borrowed: bool,
}

/// The consequence of a blocking section's beginning.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Blocking {
    /// Whether another worker may run in place of the blocked one.
    pub(super) replaced: bool,
    /// A new dynamic worker that has a request, whose thread is to be started.
    pub(super) start: Option<WorkerId>,
}

/// Names a worker; free again when it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkerId(usize);

impl WorkerId {
    pub(super) const fn index(self) -> usize {
        self.0
    }
}

pub(super) struct Lanes<T> {
    /// The lanes in ascending order of priority.
    lanes: Vec<Lane<T>>,
    /// Whether a request needs a lane of exactly its priority. A pool without lanes has one here, for all priorities.
    exact: bool,
    borrowing: bool,
    room: Room,
    queued: Room,
    /// Requests of clients that have gone, which were removed for others.
    abandoned: Vec<Request<T>>,
    /// The count of departures when the queues were last searched for such requests.
    searched: u64,
    next_turn: u64,
    workers: Vec<Option<Worker<T>>>,
    open: bool,
}

struct Lane<T> {
    priority: Priority,
    /// How many more dynamic workers there may be; negative while a worker that replaced a blocked one is one too many.
    dynamic_left: isize,
    /// How many more workers may be replaced while they block.
    replaceable: usize,
    queue: BinaryHeap<Queued<T>>,
    /// Octets of the requests in the queue.
    octets: usize,
    /// The requests of clients in the queue, and their octets, by host.
    by_host: HashMap<HostKey, Room>,
    /// The worker that became idle last is the first to get work: its stack is still in the caches, and the others'
    /// idle times run out.
    idle: Vec<WorkerId>,
    counters: LaneCounters,
}

struct Worker<T> {
    lane: usize,
    dynamic: bool,
    /// A request handed to the worker while it was idle, or with which it was started.
    hand: Option<Assigned<T>>,
}

impl<T> Lanes<T> {
    /// Makes the lanes, whose static workers exist from the start and are idle; [`workers`](Self::workers) names them.
    ///
    /// `exact` is false for a pool without lanes, which has one shape. The shapes are in ascending order of priority.
    ///
    /// # Errors
    /// The allocator has no memory for the queues.
    pub(super) fn new(
        shapes: &[Shape],
        exact: bool,
        borrowing: bool,
        room: Room,
    ) -> Result<Self, std::collections::TryReserveError> {
        let mut lanes = Vec::with_capacity(shapes.len());
        let mut workers = Vec::new();
        for (number, shape) in shapes.iter().enumerate() {
            let mut queue = BinaryHeap::new();
            queue.try_reserve_exact(room.requests)?;
            let mut idle = Vec::with_capacity(shape.static_threads + shape.dynamic_threads);
            for _ in 0..shape.static_threads {
                idle.push(WorkerId(workers.len()));
                workers.push(Some(Worker {
                    lane: number,
                    dynamic: false,
                    hand: None,
                }));
            }
            idle.reverse();
            lanes.push(Lane {
                priority: shape.priority,
                // Builders limit the sum to MAX_THREADS.
                dynamic_left: isize::try_from(shape.dynamic_threads).unwrap_or(isize::MAX),
                replaceable: shape.static_threads.saturating_add(shape.dynamic_threads),
                queue,
                octets: 0,
                by_host: HashMap::new(),
                idle,
                counters: LaneCounters::new(shape.priority),
            });
        }
        Ok(Self {
            lanes,
            exact,
            borrowing,
            room,
            queued: Room::default(),
            abandoned: Vec::new(),
            searched: 0,
            next_turn: 0,
            workers,
            open: true,
        })
    }

    /// Iterates over the workers.
    pub(super) fn workers(&self) -> impl Iterator<Item = WorkerId> {
        (0..self.workers.len())
            .filter(|index| self.workers[*index].is_some())
            .map(WorkerId)
    }

    /// Returns the priority of a worker's lane.
    pub(super) fn priority_of(&self, worker: WorkerId) -> Priority {
        self.workers[worker.0]
            .as_ref()
            .map(|worker| self.lanes[worker.lane].priority)
            .unwrap_or_default()
    }

    /// Whether a worker ends when it has been idle for long.
    pub(super) fn is_dynamic(&self, worker: WorkerId) -> bool {
        self.workers[worker.0]
            .as_ref()
            .is_some_and(|worker| worker.dynamic)
    }

    /// Takes a request, or returns it with the reason of its refusal.
    pub(super) fn submit(&mut self, request: Request<T>) -> Result<Placed, Refused<T>> {
        if !self.open {
            return Err(Refused {
                request,
                reason: RejectReason::Closed,
            });
        }
        let Some(lane) = self.lane_for(request.priority) else {
            return Err(Refused {
                request,
                reason: RejectReason::NoLane,
            });
        };
        if let Some(worker) = self.lanes[lane].idle.pop() {
            return Ok(self.hand(worker, request, false));
        }
        if self.lanes[lane].dynamic_left > 0 {
            let assigned = Assigned {
                request,
                borrowed: false,
            };
            return Ok(Placed::Start(self.add_dynamic(lane, assigned)));
        }
        // The highest of the lower lanes, whose own requests suffer least from the raised priority.
        if self.borrowing
            && let Some(worker) = self.lanes[..lane]
                .iter_mut()
                .rev()
                .find_map(|lane| lane.idle.pop())
        {
            return Ok(self.hand(worker, request, true));
        }
        self.queue(lane, request)
    }

    /// Places the request of a worker that could not be started as without dynamic threads.
    pub(super) fn start_failed(&mut self, worker: WorkerId) -> Result<Placed, Refused<T>> {
        let Some(ended) = self.workers[worker.0].take() else {
            return Ok(Placed::Queued);
        };
        self.lanes[ended.lane].dynamic_left += 1;
        let Some(Assigned { request, .. }) = ended.hand else {
            return Ok(Placed::Queued);
        };
        match self.lanes[ended.lane].idle.pop() {
            Some(worker) => Ok(self.hand(worker, request, false)),
            None => self.queue(ended.lane, request),
        }
    }

    /// Notes that a worker's request begins a section that blocks its thread. Where the lane may replace the thread, another
    /// dynamic worker may run meanwhile: one that is to be started for a request that waits, or a later one.
    pub(super) fn begin_blocking(&mut self, worker: WorkerId) -> Blocking {
        let Some(lane) = self.workers[worker.0].as_ref().map(|worker| worker.lane) else {
            return Blocking::default();
        };
        self.lanes[lane].counters.blocked += 1;
        if self.lanes[lane].replaceable == 0 {
            return Blocking::default();
        }
        self.lanes[lane].replaceable -= 1;
        self.lanes[lane].dynamic_left += 1;
        let waits = self.lanes[lane].dynamic_left > 0 && self.lanes[lane].idle.is_empty();
        let assigned = if waits { self.dequeue(lane) } else { None };
        Blocking {
            replaced: true,
            start: assigned.map(|assigned| self.add_dynamic(lane, assigned)),
        }
    }

    /// Notes that the section has ended. A worker that is one too many then ends before its next request.
    pub(super) fn end_blocking(&mut self, worker: WorkerId, replaced: bool) {
        let Some(lane) = self.workers[worker.0].as_ref().map(|worker| worker.lane) else {
            return;
        };
        let lane = &mut self.lanes[lane];
        lane.counters.blocked -= 1;
        if replaced {
            lane.replaceable += 1;
            lane.dynamic_left -= 1;
        }
    }

    /// Whether a worker has to end although requests may wait: its lane has one worker too many.
    fn is_surplus(&self, worker: WorkerId) -> bool {
        self.workers[worker.0].as_ref().is_some_and(|worker| {
            worker.dynamic && worker.hand.is_none() && self.lanes[worker.lane].dynamic_left < 0
        })
    }

    /// Returns the next request of a worker. Without one, the worker is idle until it is [handed](Placed::Handed) one.
    pub(super) fn next(&mut self, worker: WorkerId, now: Instant) -> Option<Assigned<T>> {
        if self.is_surplus(worker) {
            return None;
        }
        let this = self.workers[worker.0].as_mut()?;
        let lane = this.lane;
        let assigned = match this.hand.take() {
            Some(assigned) => assigned,
            None => match self.dequeue(lane) {
                Some(assigned) => assigned,
                None => {
                    let idle = &mut self.lanes[lane].idle;
                    if !idle.contains(&worker) {
                        idle.push(worker);
                    }
                    return None;
                }
            },
        };
        let counters = self.counters_for(lane, &assigned);
        counters.started += 1;
        counters.borrowed += u64::from(assigned.borrowed);
        counters.late += u64::from(
            assigned
                .request
                .deadline
                .is_some_and(|deadline| deadline <= now),
        );
        Some(assigned)
    }

    /// Ends a worker that has been idle for long, or whose pool is closed, unless it has been handed a request meanwhile.
    /// Static workers end only with their pool.
    pub(super) fn end(&mut self, worker: WorkerId) -> bool {
        let Some(this) = &self.workers[worker.0] else {
            return true;
        };
        if this.hand.is_some() || (self.open && !this.dynamic) {
            return false;
        }
        let lane = &mut self.lanes[this.lane];
        lane.idle.retain(|idle| *idle != worker);
        lane.dynamic_left += isize::from(this.dynamic);
        self.workers[worker.0] = None;
        true
    }

    /// Takes no more requests. Idle workers are to be woken; they [end](Self::end), the others do when the queues are
    /// empty.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    pub(super) const fn is_open(&self) -> bool {
        self.open
    }

    /// Whether an idle worker is to end, though it is not idle for long: its pool is closed, or its lane has one too many.
    pub(super) fn ends_early(&self, worker: WorkerId) -> bool {
        !self.open || self.is_surplus(worker)
    }

    /// Whether one more request of this priority may wait, if it is small enough. Where none may, none of a lower priority
    /// may.
    pub(super) fn has_room(&self, priority: Priority) -> bool {
        let lane = self.lane_for(priority);
        lane.is_some_and(|lane| self.room_left(lane).requests > 0)
    }

    /// Returns the share of each lane in the room.
    fn share(&self) -> Room {
        let lanes = self.lanes.len().max(1);
        Room {
            requests: self.room.requests / lanes,
            octets: self.room.octets / lanes,
        }
    }

    /// Returns the room for more requests of a lane. It leaves the lanes above it the unused part of their shares: a
    /// lane that is always full must not have urgent requests refused.
    fn room_left(&self, lane: usize) -> Room {
        let share = self.share();
        let mut left = Room {
            requests: self.room.requests.saturating_sub(self.queued.requests),
            octets: self.room.octets.saturating_sub(self.queued.octets),
        };
        for above in &self.lanes[lane + 1..] {
            let requests = share.requests.saturating_sub(above.queue.len());
            left.requests = left.requests.saturating_sub(requests);
            let octets = share.octets.saturating_sub(above.octets);
            left.octets = left.octets.saturating_sub(octets);
        }
        left
    }

    /// Returns the rank of a request that comes now.
    pub(super) const fn key_of(&mut self, request: &Request<T>) -> Key {
        let turn = self.next_turn;
        self.next_turn = self.next_turn.wrapping_add(1);
        key(request, Reverse(turn))
    }

    /// Whether a request of this priority and `octets` octets may ever wait.
    pub(super) fn fits(&self, priority: Priority, octets: usize) -> bool {
        let Some(lane) = self.lane_for(priority) else {
            return false;
        };
        let above = self.lanes.len() - (lane + 1);
        octets <= self.room.octets - self.share().octets * above
    }

    /// Returns the number of requests that wait.
    pub(super) const fn queued(&self) -> usize {
        self.queued.requests
    }

    pub(super) fn counters(&self) -> Vec<LaneCounters> {
        self.lanes
            .iter()
            .map(|lane| {
                let mut counters = lane.counters;
                counters.queued = lane.queue.len();
                counters.idle = lane.idle.len();
                counters
            })
            .collect()
    }

    fn lane_for(&self, priority: Priority) -> Option<usize> {
        if !self.exact {
            return Some(0);
        }
        self.lanes
            .binary_search_by_key(&priority, |lane| lane.priority)
            .ok()
    }

    fn add(&mut self, worker: Worker<T>) -> WorkerId {
        match self.workers.iter().position(Option::is_none) {
            Some(free) => {
                self.workers[free] = Some(worker);
                WorkerId(free)
            }
            None => {
                self.workers.push(Some(worker));
                WorkerId(self.workers.len() - 1)
            }
        }
    }

    /// Adds a dynamic worker, which is to be started with a request.
    fn add_dynamic(&mut self, lane: usize, assigned: Assigned<T>) -> WorkerId {
        self.lanes[lane].dynamic_left -= 1;
        self.add(Worker {
            lane,
            dynamic: true,
            hand: Some(assigned),
        })
    }

    fn hand(&mut self, id: WorkerId, request: Request<T>, borrowed: bool) -> Placed {
        if let Some(worker) = &mut self.workers[id.0] {
            worker.hand = Some(Assigned { request, borrowed });
        }
        Placed::Handed(id)
    }

    fn queue(&mut self, lane: usize, request: Request<T>) -> Result<Placed, Refused<T>> {
        let mut admitted = self.admit(lane, &request);
        if admitted.is_err() && self.drop_abandoned() {
            admitted = self.admit(lane, &request);
        }
        if let Err(reason) = admitted {
            self.lanes[lane].counters.refused += 1;
            return Err(Refused { request, reason });
        }
        self.queued.requests += 1;
        self.queued.octets += request.octets;
        let turn = Reverse(self.next_turn);
        // At one request a nanosecond the counter would wrap after five centuries.
        self.next_turn = self.next_turn.wrapping_add(1);
        let lane = &mut self.lanes[lane];
        lane.counters.waited += 1;
        lane.octets += request.octets;
        if let Some(client) = &request.client {
            let of_host = lane.by_host.entry(client.host()).or_default();
            of_host.requests += 1;
            of_host.octets += request.octets;
        }
        lane.queue.push(Queued { request, turn });
        Ok(Placed::Queued)
    }

    /// Returns the most urgent request that a worker of this lane may take.
    fn dequeue(&mut self, own: usize) -> Option<Assigned<T>> {
        let highest = if self.borrowing {
            self.lanes.len()
        } else {
            own + 1
        };
        let from = (own..highest)
            .rev()
            .find(|lane| !self.lanes[*lane].queue.is_empty())?;
        let Queued { request, .. } = self.lanes[from].queue.pop()?;
        self.dequeued(from, &request);
        Some(Assigned {
            request,
            borrowed: from != own,
        })
    }

    /// Notes that a request has left the queue of a lane.
    fn dequeued(&mut self, lane: usize, request: &Request<T>) {
        self.queued.requests -= 1;
        self.queued.octets -= request.octets;
        let lane = &mut self.lanes[lane];
        lane.octets -= request.octets;
        if let Some(client) = &request.client
            && let Some(of_host) = lane.by_host.get_mut(&client.host())
        {
            of_host.requests -= 1;
            of_host.octets -= request.octets;
            if of_host.requests == 0 {
                lane.by_host.remove(&client.host());
            }
        }
    }

    /// Whether a request may wait in a lane.
    fn admit(&self, lane: usize, request: &Request<T>) -> Result<(), RejectReason> {
        let left = self.room_left(lane);
        if left.requests == 0 || request.octets > left.octets {
            return Err(RejectReason::Full);
        }
        let Some(client) = &request.client else {
            return Ok(());
        };
        // Of the share of the lane, a quarter is kept for hosts that have few requests in it.
        let (share, of_host) = (self.share(), self.lanes[lane].by_host.get(&client.host()));
        let of_host = of_host.copied().unwrap_or_default();
        FreePlaces::new(share.requests, left.requests)
            .admit(of_host.requests, 1)
            .and_then(|()| {
                FreePlaces::new(share.octets, left.octets).admit(of_host.octets, request.octets)
            })
            .map_err(|_| RejectReason::HostFull)
    }

    /// Removes the requests of clients that have gone, unless none has gone since the last time: nobody waits for their
    /// results. Returns whether the queues were searched. Linear in their length.
    #[cold]
    fn drop_abandoned(&mut self) -> bool {
        let departures = departures();
        if core::mem::replace(&mut self.searched, departures) == departures {
            return false;
        }
        for lane in 0..self.lanes.len() {
            let queue = core::mem::take(&mut self.lanes[lane].queue);
            let mut queue = queue.into_vec();
            let abandoned = queue.extract_if(.., |Queued { request, .. }| {
                request.client.as_ref().is_some_and(Client::is_gone)
            });
            let abandoned: Vec<_> = abandoned.map(|queued| queued.request).collect();
            self.lanes[lane].queue = queue.into();
            for request in abandoned {
                self.dequeued(lane, &request);
                self.abandoned.push(request);
            }
        }
        true
    }

    /// Takes the requests that were removed for others, to be dropped outside of the lock. Allocates nothing.
    pub(super) fn take_abandoned(&mut self) -> Vec<Request<T>> {
        core::mem::take(&mut self.abandoned)
    }

    /// Returns the counters of the lane that the request belongs to.
    fn counters_for(&mut self, own: usize, assigned: &Assigned<T>) -> &mut LaneCounters {
        let lane = self.lane_for(assigned.request.priority).unwrap_or(own);
        &mut self.lanes[lane].counters
    }
}

/// The greatest entry goes first: higher priority, then earlier deadline, then earlier arrival.
struct Queued<T> {
    request: Request<T>,
    turn: Reverse<u64>,
}

impl<T> Queued<T> {
    const fn key(&self) -> Key {
        key(&self.request, self.turn)
    }
}

/// The order of requests; the greatest goes first.
pub(super) type Key = (Priority, bool, Reverse<Option<Instant>>, Reverse<u64>);

/// `Reverse(None)` would be greater than any deadline, so a flag in front states whether there is one.
const fn key<T>(request: &Request<T>, turn: Reverse<u64>) -> Key {
    let Request {
        priority, deadline, ..
    } = *request;
    (priority, deadline.is_some(), Reverse(deadline), turn)
}

impl<T> Ord for Queued<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> PartialOrd for Queued<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Queued<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Queued<T> {}

#[cfg(all(test, not(zorb_model)))]
mod tests;
