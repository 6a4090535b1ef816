//! Busy-polling a socket before parking.
//!
//! To park and to be woken costs ten microseconds and more, as much as a whole call on one machine. A reader that spins
//! instead finds the octets at once, and costs CPU time. [`Adaptive`](WaitPolicy::Adaptive) waits balance the two by two
//! rules:
//!
//! - **Budget.** Spins that find nothing, or find octets late, are paid from a budget, which grows by a 64th of the time. So
//!   futile spinning costs a bounded share of the time, whether its cause is a slow server or many threads. Time that
//!   another process got by the spin's `sched_yield` is paid for, too, if that happens repeatedly.
//! - **Extension.** After a parked wait, the next one spins for as long as the parked one took, if that is permitted: a
//!   spin of that length would have found the octets. Two peers that both park need one such spin to find each other
//!   awake.

use super::outbound::FULL_BATCH_OCTETS;
use super::sync::{AtomicUsize, Ordering, clock};
use core::time::Duration;
use std::io;
use std::time::Instant;
use zorb_executor::{Lane, WaitPolicy};
use zorb_transport::Connection;

/// The limits of adaptive waits: a reader spins for a reply before it parks, within a budget of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpinLimits {
    /// The usual length of a spin: two round trips on one machine where other tasks share the thread; on a thread of its
    /// own, as long as parking and waking take.
    pub spin: Duration,
    /// The length of a spin after a parked wait of about that length: the time in which two parked peers wake
    /// each other on a slow machine.
    pub extended: Duration,
}

impl SpinLimits {
    /// The budget grows by this part of the time: futile spins take at most 1.6 % of it.
    pub const BUDGET_SHARE: u32 = 64;
    /// The largest budget: the cost of several extended spins, for a connection whose peer has just become faster. A spin may
    /// overdraw the budget by half of this after a short wait, as the peer is awake and is likely to answer as fast again.
    pub const MAX_BUDGET: Duration = Duration::from_millis(2);
    /// Successful spins in a row after which the price of a spin that loses the CPU is reset. Each loss doubles the price, as it
    /// is rare unless another process computes on the CPU.
    pub const UNDISTURBED_SPINS: u32 = 1024;
    /// Similar waits in a row after which the next one is expected to be similar:
    ///
    /// - after spins that succeeded, the socket is deregistered from the reactor, as its wake-ups cost more than the
    ///   system calls to stop it;
    /// - after waits in which no other connection of the ORB was busy, the connection spins; busy connections need the thread
    ///   for each other;
    /// - spins before each of which messages came and none was sent mean a stream of one-way requests. A spin that loses the
    ///   CPU then costs nothing, since its client has the CPU. A spin before which less than a full batch came (16 KiB) reads
    ///   nothing for [`GATHER_TIME`](Self::GATHER_TIME).
    ///
    /// One in models: loom explores few calls.
    pub const STEADY_WAITS: u32 = if cfg!(zorb_model) { 1 } else { 8 };
    /// The time in which one-way requests gather: long enough for a few requests of a client that sends nothing else, and no longer than
    /// a call takes, as a two-way request may follow them.
    pub const GATHER_TIME: Duration = Duration::from_micros(10);
    /// The total time of spinning waits without a parked one, after which the reader yields to other tasks of the runtime.
    pub const TURN: Duration = Duration::from_micros(640);

    /// The limits for connections that an ORB in `lane` reads by the reactor of the runtime `home`.
    #[must_use]
    pub fn of(lane: &Lane, home: tokio::runtime::Id) -> Self {
        match lane.is_dedicated() && lane.handle().id() == home {
            true => Self {
                spin: WaitPolicy::DEDICATED,
                extended: WaitPolicy::LONGEST,
            },
            false => Self {
                spin: WaitPolicy::SHARED,
                extended: half(WaitPolicy::LONGEST),
            },
        }
    }
}

/// The clock and the scheduler, as a spin uses them.
pub(crate) trait Clock {
    fn now(&self) -> Instant;
    /// Lets another thread run on this CPU.
    fn yield_now(&self);
}

/// The clock and the scheduler of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Instant {
        clock::now()
    }

    #[inline]
    fn yield_now(&self) {
        clock::yield_now();
    }
}

/// The result of a spin.
#[derive(Debug)]
pub(crate) enum Spun {
    /// The reader did not spin, or found nothing: it parks.
    Park,
    /// Other tasks have waited for long enough: the reader lets them run, and then spins again.
    Yield,
    /// The result of the read.
    Read(io::Result<usize>),
}

/// A spin that the wait policy and earlier waits permit: its begin, and its longest duration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spin {
    begin: Instant,
    limit: Duration,
}

/// The spin state of one connection's reader.
#[derive(Debug)]
pub(crate) struct Spinner<C = SystemClock> {
    clock: C,
    limits: SpinLimits,
    /// How long the next spin lasts, and whether it may overdraw the budget.
    next: Duration,
    overdraws: bool,
    /// Nanoseconds of futile spins in the budget, and the time of its last growth.
    budget: i64,
    grew: Option<Instant>,
    /// Successful spins in a row.
    hits: u32,
    /// Spins that lost the CPU for longer than their limit, since spins were last undisturbed.
    stolen: u32,
    /// When the first spin began after other tasks last ran.
    turn_began: Option<Instant>,
    /// When the parked wait began.
    parked: Option<Instant>,
    /// Waits in a row in which no other connection was busy.
    only_busy: u32,
    /// Octets received and written before the last spin; whether fewer than a full batch came since the spin before; and the
    /// number of spins in a row between which no octets were written.
    received: u64,
    written: u64,
    is_partial_batch: bool,
    unanswered: u32,
}

impl Spinner {
    pub(crate) fn new(limits: SpinLimits) -> Self {
        Self::with_clock(limits, SystemClock)
    }
}

impl<C: Clock> Spinner<C> {
    pub(crate) fn with_clock(limits: SpinLimits, clock: C) -> Self {
        Self {
            clock,
            limits,
            next: limits.spin,
            overdraws: false,
            budget: nanos(SpinLimits::MAX_BUDGET),
            grew: None,
            hits: 0,
            stolen: 0,
            turn_began: None,
            parked: None,
            only_busy: 0,
            received: 0,
            written: 0,
            is_partial_batch: true,
            unanswered: 0,
        }
    }

    /// Notes how many octets have been received and written in all, before a spin.
    #[inline]
    pub(crate) fn traffic(&mut self, received: u64, written: u64) {
        let more = received.wrapping_sub(self.received);
        self.is_partial_batch = usize::try_from(more).is_ok_and(|more| more < FULL_BATCH_OCTETS);
        self.unanswered = match written == self.written {
            true => self.unanswered.saturating_add(1),
            false => 0,
        };
        (self.received, self.written) = (received, written);
    }

    /// Counts that `connection` is busy, and returns whether no other one was lately.
    pub(crate) fn is_only_busy(&mut self, busy: &BusyConnections, connection: usize) -> bool {
        self.only_busy = match busy.is_same(connection) {
            true => self.only_busy.saturating_add(1),
            false => 0,
        };
        self.only_busy >= SpinLimits::STEADY_WAITS
    }

    /// Whether nothing but one-way requests has come lately.
    const fn is_one_way(&self) -> bool {
        self.unanswered >= SpinLimits::STEADY_WAITS
    }

    /// Whether spins have succeeded several times in a row, so that the socket is deregistered from the reactor.
    pub(crate) const fn is_steady(&self) -> bool {
        self.hits >= SpinLimits::STEADY_WAITS
    }

    /// Notes that several callers wait together, so that the socket stays registered.
    pub(crate) fn is_shared(&mut self) {
        self.hits = 0;
    }

    /// Notes that the reader parks, with the socket registered, so that other tasks run.
    pub(crate) fn parks(&mut self) {
        self.turn_began = None;
        self.hits = 0;
    }

    /// Whether the reader is parked: the reactor reports octets that have come since, and a spin would find none.
    pub(crate) const fn is_parked(&self) -> bool {
        self.parked.is_some()
    }

    /// Adapts the next wait to octets that came while the reader was parked.
    #[inline]
    pub(crate) fn has_woken(&mut self) {
        if let Some(began) = self.parked.take() {
            self.extend_next(self.clock.now().saturating_duration_since(began));
        }
    }

    /// Lets the next wait spin for as long as the octets took to come, if the limits permit that.
    fn extend_next(&mut self, waited: Duration) {
        // A margin of a quarter, as the time varies.
        let needed = waited.saturating_add(half(half(waited)));
        let next = match needed <= self.limits.extended {
            true => needed.max(self.limits.spin),
            false => self.limits.spin,
        };
        self.expect(next, half(waited) <= WaitPolicy::DEDICATED);
    }

    fn expect(&mut self, next: Duration, is_prompt: bool) {
        self.next = next;
        self.overdraws = is_prompt;
    }

    /// Whether the budget affords the next spin.
    fn has_budget_for_next(&self) -> bool {
        let overdraft = match self.overdraws {
            true => nanos(half(SpinLimits::MAX_BUDGET)),
            false => 0,
        };
        self.budget >= nanos(self.next).saturating_sub(overdraft)
    }

    /// Lets the budget grow by its share of the time since it last grew.
    fn grow(&mut self, now: Instant) {
        let since = self.grew.replace(now);
        let time = since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let more = nanos(
            time.checked_div(SpinLimits::BUDGET_SHARE)
                .unwrap_or_default(),
        );
        self.budget = (self.budget.saturating_add(more)).min(nanos(SpinLimits::MAX_BUDGET));
    }

    /// The spin that the reader may begin now. `None`: it parks.
    pub(crate) fn begin(&mut self, policy: WaitPolicy) -> Option<Spin> {
        let (begin, limit) = match policy {
            WaitPolicy::Spin(limit) => (self.clock.now(), limit.min(WaitPolicy::LONGEST)),
            WaitPolicy::Adaptive => {
                let begin = self.clock.now();
                self.grow(begin);
                if !self.has_budget_for_next() {
                    self.parked = Some(begin);
                    return None;
                }
                (begin, self.next)
            }
            _ => return None,
        };
        Some(Spin { begin, limit })
    }

    /// Busy-polls the socket.
    pub(crate) fn spin(
        &mut self,
        Spin { begin, limit }: Spin,
        stream: &dyn Connection,
        mut read: impl FnMut() -> io::Result<usize>,
    ) -> Spun {
        let turn_began = *self.turn_began.get_or_insert(begin);
        if begin.saturating_duration_since(turn_began) >= SpinLimits::TURN {
            self.turn_began = None;
            return Spun::Yield;
        }
        if self.is_one_way() && self.is_partial_batch {
            // A stream of small one-way requests: one read for several of them, while their sender has the CPU.
            while self.clock.now().saturating_duration_since(begin)
                < SpinLimits::GATHER_TIME.min(limit)
            {
                self.clock.yield_now();
            }
        }
        loop {
            // Yield first: the peer may need this CPU, and answers within microseconds.
            self.clock.yield_now();
            let result = read();
            let took = self.clock.now().saturating_duration_since(begin);
            match result {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => {
                    match took <= WaitPolicy::DEDICATED || self.is_one_way() {
                        true => self.hit(stream),
                        false => self.spend(took, limit),
                    }
                    self.extend_next(took);
                    return Spun::Read(result);
                }
            }
            if took >= limit {
                self.spend(took, limit);
                self.expect(self.limits.spin, false);
                self.parked = Some(begin);
                return Spun::Park;
            }
        }
    }

    fn hit(&mut self, stream: &dyn Connection) {
        self.hits = self.hits.saturating_add(1);
        if self.hits >= SpinLimits::UNDISTURBED_SPINS {
            self.stolen = 0;
        }
        if self.is_steady() {
            stream.deregister();
        }
    }

    /// Pays for a spin that found nothing, or found octets late. Time beyond the limit went to other threads on the CPU. That
    /// happens rarely on any machine, and repeatedly beside a process that computes. So the price doubles each time, until
    /// spins have been undisturbed for a while.
    fn spend(&mut self, took: Duration, limit: Duration) {
        self.hits = 0;
        let price = match half(took) > limit {
            true => {
                self.stolen = self.stolen.saturating_add(1);
                let times = 1_u32.checked_shl(self.stolen).unwrap_or(u32::MAX);
                took.min(limit.saturating_mul(times))
            }
            false => took,
        };
        self.budget = self.budget.saturating_sub(nanos(price));
    }
}

/// A time in nanoseconds, at most 292 years.
fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

fn half(time: Duration) -> Duration {
    time.checked_div(2).unwrap_or_default()
}

/// The busy connections of an ORB: the one that was busy last, and the number of connections with a thread of their own.
#[derive(Debug, Default)]
pub struct BusyConnections {
    /// The connection that was busy last, by its address. Loaded at every wait, and stored only when another one was busy.
    last: AtomicUsize,
    threads: AtomicUsize,
}

/// The permission for a connection to have a thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct ThreadPermit<'a>(&'a BusyConnections);

impl BusyConnections {
    /// Connections with a thread per worker of the runtime: one that waits for its client, and one that runs.
    const THREADS_PER_WORKER: usize = 2;

    /// Counts that `connection` is busy, and returns whether the last busy one was the same.
    fn is_same(&self, connection: usize) -> bool {
        let same = self.last.load(Ordering::Relaxed) == connection;
        if !same {
            self.last.store(connection, Ordering::Relaxed);
        }
        same
    }

    /// Permits a connection to have a thread, in a runtime with so many workers, unless too many connections have one.
    pub(crate) fn permit_thread(&self, workers: usize) -> Option<ThreadPermit<'_>> {
        let most = workers.saturating_mul(Self::THREADS_PER_WORKER);
        let one_more = |threads: usize| (threads < most).then(|| threads.saturating_add(1));
        // Relaxed: the number guards no other memory.
        let counted = (self.threads).fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        counted.is_ok().then(|| ThreadPermit(self))
    }
}

impl Drop for ThreadPermit<'_> {
    fn drop(&mut self) {
        self.0.threads.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use crate::mock::{Acts, Mock};
    use core::cell::Cell;
    use std::rc::Rc;

    #[derive(Debug)]
    struct Nothing;

    impl Acts for Nothing {}

    /// A clock that advances with each yield.
    #[derive(Debug, Clone)]
    struct TestClock {
        now: Rc<Cell<Instant>>,
        per_yield: Rc<Cell<Duration>>,
    }

    impl TestClock {
        fn new() -> Self {
            Self {
                now: Rc::new(Cell::new(Instant::now())),
                per_yield: Rc::new(Cell::new(micros(1))),
            }
        }

        fn advance(&self, time: Duration) {
            self.now.set(self.now.get() + time);
        }
    }

    impl Clock for TestClock {
        fn now(&self) -> Instant {
            self.now.get()
        }

        fn yield_now(&self) {
            self.advance(self.per_yield.get());
        }
    }

    /// A wait of a reader that adapts.
    fn spin(
        spinner: &mut Spinner<TestClock>,
        stream: &dyn Connection,
        read: impl FnMut() -> io::Result<usize>,
    ) -> Spun {
        match spinner.begin(WaitPolicy::Adaptive) {
            Some(begun) => spinner.spin(begun, stream, read),
            None => Spun::Park,
        }
    }

    const fn micros(time: u64) -> Duration {
        Duration::from_micros(time)
    }

    const LIMITS: SpinLimits = SpinLimits {
        spin: WaitPolicy::SHARED,
        extended: micros(500),
    };

    /// A reader whose peer answers after some time, and which is woken some time later if it parks.
    struct Reader {
        clock: TestClock,
        spinner: Spinner<TestClock>,
        stream: Mock<Nothing>,
        spinning: Duration,
        parked: u32,
    }

    impl Reader {
        fn new() -> Self {
            let clock = TestClock::new();
            Self {
                spinner: Spinner::with_clock(LIMITS, clock.clone()),
                clock,
                stream: Mock::new(Nothing),
                spinning: Duration::ZERO,
                parked: 0,
            }
        }

        /// One wait: whether a spin found the answer.
        fn wait(&mut self, answer: Duration, wake: Duration) -> bool {
            let begin = self.clock.now();
            let ready = begin + answer;
            let clock = self.clock.clone();
            loop {
                let read = || match clock.now() >= ready {
                    true => Ok(1),
                    false => Err(io::ErrorKind::WouldBlock.into()),
                };
                let spun = spin(&mut self.spinner, &self.stream, read);
                match spun {
                    Spun::Read(_) => {
                        self.spinning += self.clock.now() - begin;
                        return true;
                    }
                    Spun::Yield => {}
                    Spun::Park => break,
                }
            }
            self.spinning += self.clock.now() - begin;
            self.parked += 1;
            self.spinner.parks();
            let left = ready.saturating_duration_since(self.clock.now());
            self.clock.advance(left + wake);
            self.spinner.has_woken();
            false
        }
    }

    #[test]
    fn prompt_answers_are_found_by_spinning() {
        let mut reader = Reader::new();
        let found = (0..1000)
            .filter(|_| reader.wait(micros(5), micros(40)))
            .count();
        assert_eq!(found, 1000);
        assert!(reader.spinner.is_steady());
    }

    #[test]
    fn spins_that_find_nothing_cost_a_small_share_of_the_time() {
        for answer in [60, 100, 200, 400, 1_000, 10_000] {
            let mut reader = Reader::new();
            let begin = reader.clock.now();
            while reader.clock.now() - begin < Duration::from_secs(20) {
                reader.wait(micros(answer), micros(40));
            }
            let all = reader.clock.now() - begin;
            let share = reader.spinning.as_secs_f64() / all.as_secs_f64();
            assert!(share < 0.02, "{answer} µs: {share}");
        }
    }

    #[test]
    fn a_cpu_that_a_yield_loses_for_milliseconds_is_given_away_seldom() {
        let mut reader = Reader::new();
        reader.clock.per_yield.set(Duration::from_millis(4));
        let begin = reader.clock.now();
        while reader.clock.now() - begin < Duration::from_secs(60) {
            reader.wait(micros(5), micros(40));
        }
        let share = reader.spinning.as_secs_f64() / 60.0;
        assert!(share < 0.02, "{share}");
    }

    #[test]
    fn a_cpu_that_goes_to_a_client_that_sends_one_way_requests_is_given_away_each_time() {
        let mut reader = Reader::new();
        reader.clock.per_yield.set(Duration::from_millis(3));
        let waits = 1_000;
        let found = (0..waits)
            .filter(|n| {
                reader.spinner.traffic(n * 100_000, 0);
                reader.wait(micros(5), micros(40))
            })
            .count();
        // The others: some until the spinner has adapted, some after other tasks ran.
        assert!(found > 990, "{found}");
    }

    #[test]
    fn a_cpu_that_yields_lose_now_and_then_is_given_away_seldom() {
        let mut reader = Reader::new();
        let begin = reader.clock.now();
        for turn in 0_u32.. {
            let is_lost = turn.is_multiple_of(50);
            let per_yield = if is_lost { micros(4_000) } else { micros(1) };
            reader.clock.per_yield.set(per_yield);
            reader.wait(micros(5), micros(40));
            if reader.clock.now() - begin > Duration::from_secs(60) {
                break;
            }
        }
        // Most of the waits are parked ones, which take 45 µs.
        assert!(reader.parked > 500_000, "{}", reader.parked);
    }

    /// Two peers that send each other messages in turn, each 3 µs after it got one: the time until each finds the next
    /// one by spinning. `wake`: how long a parked peer takes to wake up; `budgets`: the budgets at the beginning.
    fn until_awake(wake: u64, budgets: [i64; 2]) -> Duration {
        let begin = Instant::now();
        let mut sides = budgets.map(|budget| {
            let clock = TestClock::new();
            clock.now.set(begin);
            let mut side = Spinner::with_clock(LIMITS, clock.clone());
            side.budget = budget;
            (clock, side)
        });
        let stream = Mock::new(Nothing);
        let mut found = 0;
        let mut sent = begin;
        let mut varied = 1_u64;
        for turn in 0..100_000_usize {
            // The clock of this side stands where its wait began, which is when it sent its last message.
            let (clock, side) = &mut sides[turn % 2];
            let read = || match clock.now() >= sent {
                true => Ok(1),
                false => Err(io::ErrorKind::WouldBlock.into()),
            };
            match spin(side, &stream, read) {
                Spun::Read(_) | Spun::Yield => found += 1,
                Spun::Park => {
                    found = 0;
                    side.parks();
                    let left = sent.saturating_duration_since(clock.now());
                    // The time varies by a quarter.
                    varied = varied
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    clock.advance(left + micros(wake * 3 / 4 + (varied >> 33) % (wake / 2)));
                    side.has_woken();
                }
            }
            clock.advance(micros(3));
            sent = clock.now();
            if found == 20 {
                return sent - begin;
            }
        }
        Duration::MAX
    }

    #[test]
    fn two_peers_that_park_find_each_other_awake() {
        for wake in [10, 40, 80, 120, 160] {
            for budgets in [
                [nanos(SpinLimits::MAX_BUDGET); 2],
                [0, 0],
                [-500_000, 300_000],
                [-4_000_000, -300_000],
            ] {
                let time = until_awake(wake, budgets);
                assert!(
                    time < Duration::from_secs(2),
                    "{wake} µs, {budgets:?}: {time:?}"
                );
            }
        }
    }

    #[test]
    fn other_tasks_have_their_turn_between_spins() {
        let mut reader = Reader::new();
        let mut turns = 0;
        for _ in 0..1000 {
            let now = reader.clock.now();
            let clock = reader.clock.clone();
            let read = || match clock.now() > now + micros(9) {
                true => Ok(1),
                false => Err(io::ErrorKind::WouldBlock.into()),
            };
            let spun = spin(&mut reader.spinner, &reader.stream, read);
            turns += u32::from(matches!(spun, Spun::Yield));
        }
        // Each spin takes 10 µs, and a turn is over after 64 of them.
        assert_eq!(turns, 15);
    }

    #[test]
    fn a_thread_permit_that_was_not_given_is_not_given_back() {
        let busy = BusyConnections::default();
        assert!(busy.permit_thread(0).is_none());
        let permits: Vec<_> = (0..BusyConnections::THREADS_PER_WORKER)
            .map(|_| busy.permit_thread(1).unwrap())
            .collect();
        for _ in 0..3 {
            assert!(busy.permit_thread(1).is_none());
        }
        drop(permits);
        assert!(busy.permit_thread(1).is_some());
    }
}
