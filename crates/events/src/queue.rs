//! The queue of a consumer: bounded by events and octets, in the order of its policy.

use crate::event::{Event, now};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The order of delivery, or that of discarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The oldest first.
    Fifo,
    /// The newest first: a discard policy only.
    Lifo,
    /// The highest priority is delivered first; the lowest is discarded first.
    Priority,
    /// What ends first is delivered, and discarded, first.
    Deadline,
}

/// What a queue may hold, and its policies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) events: usize,
    pub(crate) octets: usize,
    pub(crate) order: Order,
    pub(crate) discard: Order,
}

/// An event of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) event: Arc<Event>,
    pub(crate) priority: i16,
    pub(crate) expires: Option<i64>,
    /// When it may be delivered, in microseconds since 1970.
    pub(crate) starts: Option<i64>,
    /// Whether it may have been delivered before.
    pub(crate) is_again: bool,
}

type Rank = (i64, u64);

impl Entry {
    fn deadline(&self) -> i64 {
        self.expires.unwrap_or(i64::MAX)
    }

    fn delivery_rank(&self, order: Order) -> Rank {
        match order {
            Order::Fifo | Order::Lifo => (0, self.number),
            Order::Priority => (-i64::from(self.priority), self.number),
            Order::Deadline => (self.deadline(), self.number),
        }
    }

    fn discard_rank(&self, order: Order) -> Rank {
        match order {
            Order::Fifo => (0, self.number),
            Order::Lifo => (0, u64::MAX.saturating_sub(self.number)),
            Order::Priority => (i64::from(self.priority), self.number),
            Order::Deadline => (self.deadline(), self.number),
        }
    }
}

#[derive(Debug)]
struct State {
    policy: Policy,
    /// In the order of delivery.
    waiting: BTreeMap<Rank, Entry>,
    /// The ranks of those that wait, in the order of discarding.
    discardable: BTreeMap<Rank, Rank>,
    /// Those whose time has not come, by that and by number.
    early: BTreeMap<Rank, Entry>,
    /// Numbers of events that wait or are being delivered.
    outstanding: BTreeSet<u64>,
    /// Octets of those that wait.
    octets: usize,
    /// The highest number that was offered.
    last: u64,
    is_closed: bool,
}

/// A queue that one channel fills and one consumer empties.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    arrived: Notify,
    /// Calls that wait for an event.
    awaiting: AtomicUsize,
}

/// Counts a call that waits, for as long as it does.
struct Waiting<'q>(&'q AtomicUsize);

impl<'q> Waiting<'q> {
    fn new(awaiting: &'q AtomicUsize) -> Self {
        awaiting.fetch_add(1, Ordering::Relaxed);
        Self(awaiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Queue {
    pub(crate) fn new(policy: Policy) -> Self {
        Self {
            state: Mutex::new(State {
                policy,
                waiting: BTreeMap::new(),
                discardable: BTreeMap::new(),
                early: BTreeMap::new(),
                outstanding: BTreeSet::new(),
                octets: 0,
                last: 0,
                is_closed: false,
            }),
            arrived: Notify::new(),
            awaiting: AtomicUsize::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event; how many were discarded for it. Costs the logarithm of those that wait.
    pub(crate) fn offer(&self, entry: Entry) -> usize {
        let mut state = self.state();
        if state.is_closed {
            return 0;
        }
        state.last = state.last.max(entry.number);
        state.outstanding.insert(entry.number);
        state.insert(entry);
        let discarded = state.discard();
        drop(state);
        self.arrived.notify_one();
        discarded
    }

    /// Notes that an event is none for this consumer.
    pub(crate) fn skip(&self, number: u64) {
        let mut state = self.state();
        state.last = state.last.max(number);
    }

    /// Changes the policy; how many events were discarded for it. Costs as much as the events that wait.
    pub(crate) fn set_policy(&self, policy: Policy) -> usize {
        let mut state = self.state();
        let is_order_changed =
            (state.policy.order, state.policy.discard) != (policy.order, policy.discard);
        state.policy = policy;
        if is_order_changed {
            let waiting = std::mem::take(&mut state.waiting);
            state.discardable.clear();
            for entry in waiting.into_values() {
                state.rank(entry);
            }
        }
        state.discard()
    }

    /// Takes events, at most so many and of so many octets but for the first; and how many have expired.
    pub(crate) fn take(&self, max: usize, max_octets: usize) -> (Vec<Entry>, usize) {
        let mut state = self.state();
        let mut taken = Vec::new();
        let mut expired: usize = 0;
        let mut octets: usize = 0;
        let now = now();
        state.admit(now);
        while taken.len() < max
            && let Some((rank, entry)) = state.waiting.pop_first()
        {
            let more = octets.saturating_add(entry.event.octets);
            if more > max_octets && !taken.is_empty() {
                state.waiting.insert(rank, entry);
                break;
            }
            let discard_rank = entry.discard_rank(state.policy.discard);
            debug_assert_eq!(rank, entry.delivery_rank(state.policy.order));
            state.discardable.remove(&discard_rank);
            state.octets = state.octets.saturating_sub(entry.event.octets);
            if entry.deadline() <= now {
                state.outstanding.remove(&entry.number);
                expired = expired.saturating_add(1);
                continue;
            }
            octets = more;
            taken.push(entry);
        }
        if !state.waiting.is_empty() {
            // For another one that waits.
            self.arrived.notify_one();
        }
        (taken, expired)
    }

    /// Waits for events and takes them; `None` when the queue is closed.
    pub(crate) async fn next(&self, max: usize, max_octets: usize) -> Option<(Vec<Entry>, usize)> {
        let _waiting = Waiting::new(&self.awaiting);
        loop {
            let arrived = self.arrived.notified();
            if self.state().is_closed {
                return None;
            }
            let (taken, expired) = self.take(max, max_octets);
            if !taken.is_empty() || expired > 0 {
                return Some((taken, expired));
            }
            let until_start = self.state().until_start();
            match until_start {
                Some(until) => tokio::select! {
                    () = arrived => {}
                    () = tokio::time::sleep(until) => {}
                },
                None => arrived.await,
            }
        }
    }

    /// Whether a call waits for an event.
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaiting.load(Ordering::Relaxed) > 0
    }

    /// Events that were taken are delivered, or given up.
    pub(crate) fn done(&self, entries: &[Entry]) {
        let mut state = self.state();
        for entry in entries {
            state.outstanding.remove(&entry.number);
        }
    }

    /// Events that were taken wait again; how many were discarded for them.
    pub(crate) fn put_back(&self, entries: Vec<Entry>) -> usize {
        let mut state = self.state();
        if state.is_closed {
            return 0;
        }
        for entry in entries {
            state.insert(entry);
        }
        let discarded = state.discard();
        drop(state);
        self.arrived.notify_one();
        discarded
    }

    /// The number of the last event up to which all are delivered, or given up.
    pub(crate) fn progress(&self) -> u64 {
        let state = self.state();
        match state.outstanding.first() {
            Some(first) => first.saturating_sub(1),
            None => state.last,
        }
    }

    /// Events that wait.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.state().len()
    }

    /// Wakes all that wait, and takes nothing any more.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.waiting.clear();
        state.discardable.clear();
        state.early.clear();
        state.octets = 0;
        drop(state);
        self.arrived.notify_waiters();
    }
}

impl State {
    fn insert(&mut self, entry: Entry) {
        self.octets = self.octets.saturating_add(entry.event.octets);
        match entry.starts.filter(|starts| *starts > now()) {
            Some(starts) => {
                self.early.insert((starts, entry.number), entry);
            }
            None => self.rank(entry),
        }
    }

    /// Puts an event into the orders.
    fn rank(&mut self, entry: Entry) {
        let rank = entry.delivery_rank(self.policy.order);
        let discard_rank = entry.discard_rank(self.policy.discard);
        self.discardable.insert(discard_rank, rank);
        self.waiting.insert(rank, entry);
    }

    /// Events whose time has come wait like others.
    fn admit(&mut self, now: i64) {
        while let Some(first) = self.early.first_entry()
            && first.key().0 <= now
        {
            let entry = first.remove();
            self.rank(entry);
        }
    }

    /// How long it is until the time of an event comes.
    fn until_start(&self) -> Option<Duration> {
        let (starts, _) = self.early.first_key_value()?.0;
        let micros = u64::try_from(starts.saturating_sub(now())).unwrap_or_default();
        // A sleep ends at a millisecond.
        Some(Duration::from_micros(micros.saturating_add(1_000)).min(LONGEST_SLEEP))
    }

    fn len(&self) -> usize {
        self.waiting.len().saturating_add(self.early.len())
    }

    /// Of those that have to wait for their time, the one that starts last goes first.
    fn discard(&mut self) -> usize {
        let mut discarded: usize = 0;
        // A single event may be larger than all may be together.
        while self.len() > self.policy.events
            || (self.octets > self.policy.octets && self.len() > 1)
        {
            let entry = match self.early.pop_last() {
                Some((_, entry)) => Some(entry),
                None => {
                    let first = self.discardable.pop_first();
                    first.and_then(|(_, rank)| self.waiting.remove(&rank))
                }
            };
            let Some(entry) = entry else { break };
            self.octets = self.octets.saturating_sub(entry.event.octets);
            self.outstanding.remove(&entry.number);
            discarded = discarded.saturating_add(1);
        }
        discarded
    }
}

/// How long a queue sleeps at most until the time of an event comes: clocks are set.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Body;
    use crate::qos::{Ability, Qos};
    use zorb::Any;

    fn entry(number: u64, priority: i16, expires: Option<i64>) -> Entry {
        let qos = Qos::of_service(Ability {
            is_durable: false,
            max_events: 1,
            max_octets: 1,
            max_batch: 1,
        });
        let body = Body::Any(Any::new(&number).unwrap());
        let event = Arc::new(Event::new(body, &qos, &Arc::default()).unwrap());
        Entry {
            number,
            event,
            priority,
            expires,
            starts: None,
            is_again: false,
        }
    }

    fn queue(events: usize, order: Order, discard: Order) -> Queue {
        Queue::new(Policy {
            events,
            octets: usize::MAX,
            order,
            discard,
        })
    }

    fn numbers(queue: &Queue) -> Vec<u64> {
        let (taken, _) = queue.take(usize::MAX, usize::MAX);
        taken.iter().map(|entry| entry.number).collect()
    }

    const FAR: i64 = i64::MAX - 100;

    #[test]
    fn each_discard_policy_discards_what_it_says() {
        let kept = |discard| {
            let queue = queue(3, Order::Fifo, discard);
            let events = [(1, 5, 4), (2, -1, 3), (3, 9, 1), (4, 0, 2), (5, 7, 5)];
            let discarded: usize = events
                .iter()
                .map(|(number, priority, ends)| {
                    queue.offer(entry(*number, *priority, Some(FAR + ends)))
                })
                .sum();
            assert_eq!(discarded, 2);
            numbers(&queue)
        };
        assert_eq!(kept(Order::Fifo), [3, 4, 5]);
        assert_eq!(kept(Order::Lifo), [1, 2, 3]);
        assert_eq!(kept(Order::Priority), [1, 3, 5]);
        assert_eq!(kept(Order::Deadline), [1, 2, 5]);
    }

    #[test]
    fn each_order_policy_delivers_in_its_order() {
        let delivered = |order| {
            let queue = queue(10, order, Order::Fifo);
            for (number, priority, ends) in [(1, 5, 4), (2, -1, 3), (3, 9, 1), (4, 5, 2)] {
                queue.offer(entry(number, priority, Some(FAR + ends)));
            }
            numbers(&queue)
        };
        assert_eq!(delivered(Order::Fifo), [1, 2, 3, 4]);
        assert_eq!(delivered(Order::Priority), [3, 1, 4, 2]);
        assert_eq!(delivered(Order::Deadline), [3, 4, 2, 1]);
    }

    #[test]
    fn progress_never_passes_an_event_that_is_neither_delivered_nor_given_up() {
        let queue = queue(10, Order::Priority, Order::Fifo);
        for (number, priority) in [(1, 0), (2, 5), (3, 1)] {
            queue.offer(entry(number, priority, None));
        }
        let (first, _) = queue.take(1, usize::MAX);
        queue.done(&first);
        assert_eq!((first[0].number, queue.progress()), (2, 0));
        let (rest, _) = queue.take(2, usize::MAX);
        queue.done(&rest[1..]);
        assert_eq!((rest[1].number, queue.progress()), (1, 2));
        queue.put_back(rest[..1].to_vec());
        assert_eq!(queue.progress(), 2);
        assert_eq!(numbers(&queue), [3]);
        queue.done(&rest[..1]);
        assert_eq!(queue.progress(), 3);
        queue.skip(4);
        assert_eq!(queue.progress(), 4);
    }

    #[test]
    fn octets_are_bounded_and_expired_events_are_dropped() {
        let one = entry(0, 0, None).event.octets;
        let queue = Queue::new(Policy {
            events: 100,
            octets: one * 2,
            order: Order::Fifo,
            discard: Order::Fifo,
        });
        for number in 1..=5 {
            queue.offer(entry(number, 0, (number == 4).then_some(1)));
        }
        assert_eq!(queue.len(), 2);
        let (taken, expired) = queue.take(10, usize::MAX);
        assert_eq!((taken.len(), expired, taken[0].number), (1, 1, 5));
    }

    #[test]
    fn a_batch_is_bounded_by_octets_but_has_one_event_at_least() {
        let queue = queue(10, Order::Fifo, Order::Fifo);
        for number in 1..=3 {
            queue.offer(entry(number, 0, None));
        }
        let one = entry(0, 0, None).event.octets;
        assert_eq!(queue.take(10, one * 2).0.len(), 2);
        assert_eq!(queue.take(10, 1).0.len(), 1);
    }

    #[test]
    fn a_new_policy_orders_and_bounds_what_waits() {
        let queue = queue(10, Order::Fifo, Order::Fifo);
        for (number, priority) in [(1, 1), (2, 3), (3, 2)] {
            queue.offer(entry(number, priority, None));
        }
        let discarded = queue.set_policy(Policy {
            events: 2,
            octets: usize::MAX,
            order: Order::Priority,
            discard: Order::Priority,
        });
        assert_eq!((discarded, numbers(&queue)), (1, vec![2, 3]));
    }

    #[tokio::test]
    async fn an_event_waits_for_its_time_and_others_do_not_wait_for_it() {
        let queue = queue(2, Order::Fifo, Order::Fifo);
        let mut early = entry(1, 0, None);
        early.starts = Some(now() + 50_000);
        queue.offer(early.clone());
        queue.offer(entry(2, 0, None));
        assert_eq!(numbers(&queue), [2]);
        assert_eq!(queue.progress(), 0);
        queue.done(&[entry(2, 0, None)]);
        let (first, _) = queue.next(1, usize::MAX).await.unwrap();
        assert_eq!((first[0].number, early.starts <= Some(now())), (1, true));
        // Where there is no room it goes before those whose time has come.
        early.starts = Some(i64::MAX);
        queue.offer(early);
        queue.offer(entry(2, 0, None));
        assert_eq!(queue.offer(entry(3, 0, None)), 1);
        assert_eq!(numbers(&queue), [2, 3]);
    }
}
