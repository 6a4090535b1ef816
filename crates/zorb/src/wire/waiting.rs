//! Not to sleep when the octets are microseconds away.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::io;
use std::thread;
use std::time::Instant;
use zorb_executor::{Lane, WaitPolicy};
use zorb_transport::Connection;

/// Times in a row that a connection must be the only busy one before it is tried for: with others
/// about, there is something better to do than to wait for one.
const ALONE_AFTER: u32 = 4;
/// Hits in a row after which the reactor looks away: less often than that, the system calls cost
/// more than its wake-ups.
const UNWATCHED_AFTER: u32 = 8;
/// Waits for which nothing is tried after the last of several misses, at most: what the tries now
/// and then cost is lost in it.
const MOST_SKIPPED: u32 = 64;
/// Hits in a row after which other tasks have their turn.
const HITS_PER_TURN: u32 = 32;
/// Time spent on tries in a row after which they have it, too: as many tries as that of a runtime that is shared, each
/// as long as it may be.
const TRIED_PER_TURN: Duration = WaitPolicy::SHARED.saturating_mul(HITS_PER_TURN);

/// What to wake a thread takes on a machine that is slow at it. Octets that came so much later than a try would have
/// lasted may have been there in time: it was the sleeper who came late.
const WAKING: Duration = Duration::from_micros(30);
/// How long a wait may take, to its sleeper's waking up, for a [longer](WaitPolicy::DEDICATED) try to have a chance: that
/// try, and both sides' waking up, once more on a bad day. If one side does not sleep the other one finds what it tries
/// for, and does not sleep either: two that both sleep need only one try that is long enough.
const WITHIN_REACH: Duration = Duration::from_micros(150);

/// How long a yield takes when it lets somebody compute: less than a time slice of the scheduler's,
/// which is some milliseconds, and more than any answer that is worth trying for.
const KEPT_AWAY: Duration = Duration::from_micros(500);

/// How long a yield takes at least when somebody else ran meanwhile: a switch there and back.
const SOMEBODY_RAN: Duration = Duration::from_micros(3);
/// How often somebody else may have run without an answer being there: the first may have been whoever is to answer, who
/// has not come to it yet. Beyond it there are more threads than processors, and each try costs those that could go on
/// two switches, where one who sleeps costs them none.
const RAN_IN_VAIN: u32 = 1;

/// How often in a row a sleeper that came late tries at once, before it waits again until its turn comes.
const MOST_HASTY: u32 = 4;

/// Reads of a connection in a row, one of several busy ones each time, after which a thread of its own may be worth it,
const CROWDED_READS: u32 = 64;
/// if they came within this time: each as soon as others are waited for at most.
const CROWDED_WITHIN: Duration = WITHIN_REACH.saturating_mul(CROWDED_READS);
/// Threads for connections at most for each worker of a runtime: one that waits for its client, and one that runs.
const THREADS_PER_WORKER: usize = 2;

/// Reads in a row after whose messages nothing was said before what comes next may gather.
const SILENT_READS: u32 = 4;
/// Octets that come together already, of which no more have to gather: a client that writes so much at a time waits for
/// room more often than for the time that a system call takes.
const GATHERED: u64 = 16 << 10;
/// For how long it may: a few messages of a client that does nothing else, and a call's time at most for a two-way call
/// that comes behind them.
const GATHERS: Duration = Duration::from_micros(10);

/// The connections of an ORB that have something to do.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    /// Which one had last. Read at every wait, and written only when another one has.
    last: AtomicUsize,
    /// How many of them have a thread for the time being.
    threads: AtomicUsize,
}

/// Leave for a connection to have a thread, until this is dropped.
#[derive(Debug)]
pub(crate) struct Leave<'a>(&'a Busy);

impl Busy {
    /// Leave to have a thread beside so many workers, if not too many have one.
    pub(crate) fn leave_for_a_thread(&self, workers: usize) -> Option<Leave<'_>> {
        let most = workers.saturating_mul(THREADS_PER_WORKER);
        let one_more = |threads: usize| (threads < most).then(|| threads + 1);
        // It guards nothing but the number.
        let counted = (self.threads).fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        // Made only if it was counted: it counts down when it is dropped.
        counted.is_ok().then(|| Leave(self))
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.threads.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long waits on connections of `lane` may try, when they adapt themselves.
pub(crate) fn limit(lane: &Lane, home: tokio::runtime::Id) -> Duration {
    if lane.is_dedicated() && lane.handle().id() == home {
        WaitPolicy::DEDICATED
    } else {
        WaitPolicy::SHARED
    }
}

/// What the reader of a connection has learnt of waiting for it.
#[derive(Debug)]
pub(crate) struct Waiting {
    limit: Duration,
    /// Times in a row that the connection was the busy one.
    alone: u32,
    hits: u32,
    /// Hits since other tasks had their turn, and how long they took.
    taken: u32,
    tried: Duration,
    /// Waits that are still to be slept through, and how many it were last time.
    skip: u32,
    skipped: u32,
    /// When the wait began that is being slept through, and how long it tried before.
    asleep: Option<(Instant, Duration)>,
    /// Tries that were made at once since the sleeper had come late, after the last hit.
    hasty: u32,
    /// Whether what was slept for last came so soon that a longer try may find the next.
    is_near: bool,
    /// Whether others wanted the CPU when a try was given up last.
    is_crowded: bool,
    /// Reads in a row whose messages nobody wanted an answer to, and how many octets had come by the last of them.
    silent: u32,
    served: u64,
    /// Reads in a row that were one connection's of several busy ones, and when the first of them was.
    crowded: u32,
    crowded_since: Option<Instant>,
    /// Whether the reactor looks away.
    unwatched: bool,
}

/// What came of a try.
#[derive(Debug)]
pub(crate) enum Tried {
    /// Nothing was tried, or in vain: sleep.
    Sleep,
    /// Others have waited long enough: let them run, and try again then.
    Yield,
    Read(io::Result<usize>),
}

impl Waiting {
    /// `limit`: how long an adaptive wait tries.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            limit,
            alone: 0,
            hits: 0,
            taken: 0,
            tried: Duration::ZERO,
            skip: 0,
            skipped: 0,
            asleep: None,
            hasty: 0,
            is_near: false,
            is_crowded: false,
            silent: 0,
            served: 0,
            crowded: 0,
            crowded_since: None,
            unwatched: false,
        }
    }

    /// Counts that `connection` has something to do, and says whether no other one had lately.
    pub(crate) fn is_alone(&mut self, busy: &Busy, connection: usize) -> bool {
        if busy.last.load(Ordering::Relaxed) == connection {
            self.alone = self.alone.saturating_add(1);
        } else {
            busy.last.store(connection, Ordering::Relaxed);
            self.alone = 0;
        }
        self.alone >= ALONE_AFTER
    }

    /// To be said when messages have been handled: whether the connection [is alone](Self::is_alone).
    pub(crate) fn has_company(&mut self, alone: bool) {
        match alone {
            true => self.crowded = 0,
            false => {
                if self.crowded == 0 {
                    self.crowded_since = Some(Instant::now());
                }
                self.crowded = self.crowded.saturating_add(1);
            }
        }
    }

    /// Whether the connection is one of several that are so busy that each is served sooner by a thread that blocks. Counts
    /// anew after each time that there have been enough reads to tell.
    pub(crate) fn is_crowded_out(&mut self) -> bool {
        if self.crowded < CROWDED_READS {
            return false;
        }
        self.crowded = 0;
        (self.crowded_since).is_some_and(|since| since.elapsed() <= CROWDED_WITHIN)
    }

    /// Whether the reactor looks away from the connection.
    pub(crate) fn is_unwatched(&self) -> bool {
        self.unwatched
    }

    /// To be said when several wait together: the reactor goes on listening.
    pub(crate) fn is_shared(&mut self) {
        self.hits = 0;
    }

    /// To be said when messages have been handled: whether anything was said to them, and how many octets have come on
    /// the connection until now.
    pub(crate) fn has_served(&mut self, answered: bool, octets: u64) {
        let came = octets.wrapping_sub(self.served);
        self.served = octets;
        self.silent = match answered || came >= GATHERED {
            true => 0,
            false => self.silent.saturating_add(1),
        };
    }

    /// Whether what comes next may gather, before it is tried for.
    fn gathers(&self) -> bool {
        self.silent >= SILENT_READS
    }

    /// Has the reactor look away, since somebody blocks for what comes.
    pub(crate) fn looks_away(&mut self, stream: &dyn Connection) {
        if !self.unwatched {
            stream.unwatch();
            self.unwatched = true;
        }
    }

    /// To be said when the reactor is asked to wake somebody.
    pub(crate) fn watched(&mut self) {
        self.unwatched = false;
    }

    /// To be said when whoever reads sleeps: others have their turn.
    pub(crate) fn sleeps(&mut self) {
        self.turn_over();
    }

    fn owes_a_turn(&self) -> bool {
        self.taken >= HITS_PER_TURN || self.tried >= TRIED_PER_TURN
    }

    fn turn_over(&mut self) {
        self.taken = 0;
        self.tried = Duration::ZERO;
    }

    /// Whether whoever waits was asleep: the reactor knows what has come since, and there is nothing to try for.
    pub(crate) fn is_asleep(&self) -> bool {
        self.asleep.is_some()
    }

    /// To be said when something has come otherwise than by a try.
    #[inline]
    pub(crate) fn has_woken(&mut self) {
        if let Some((began, tried)) = self.asleep.take() {
            self.has_slept(began.elapsed(), tried);
        }
    }

    /// Learns from octets that came so long after a wait had begun that was slept through, but for a try of that long.
    fn has_slept(&mut self, slept: Duration, tried: Duration) {
        if self.is_crowded {
            return;
        }
        // What a long try has not found another one will not find either.
        self.is_near = slept <= WITHIN_REACH && tried < WaitPolicy::DEDICATED;
        if tried.is_zero() && slept <= self.limit + WAKING && self.hasty < MOST_HASTY {
            self.hasty += 1;
            self.skip = 0;
        }
    }

    /// Tries to read, as long as the policy and the past advise.
    pub(crate) fn try_read(
        &mut self,
        policy: WaitPolicy,
        stream: &dyn Connection,
        mut read: impl FnMut() -> io::Result<usize>,
    ) -> Tried {
        let Some(limit) = self.limit_of(policy) else {
            return Tried::Sleep;
        };
        if self.owes_a_turn() {
            self.turn_over();
            return Tried::Yield;
        }
        let start = Instant::now();
        let (mut before, mut in_vain) = (start, 0);
        if self.gathers() {
            // One-way calls, one after the other: nobody waits, and a read for each of them would get into the way of
            // who writes them.
            while before - start < GATHERS.min(limit) {
                thread::yield_now();
                before = Instant::now();
            }
        }
        loop {
            // First: whoever is to answer may need this very CPU, and takes some microseconds.
            thread::yield_now();
            match read() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => {
                    self.has_come_after(start.elapsed());
                    if self.hits >= UNWATCHED_AFTER {
                        self.looks_away(stream);
                    }
                    return Tried::Read(read);
                }
            }
            let now = Instant::now();
            if policy == WaitPolicy::Adaptive && now - before >= SOMEBODY_RAN {
                in_vain += 1;
            }
            before = now;
            if now - start >= limit || in_vain > RAN_IN_VAIN {
                self.is_crowded = in_vain > 0;
                self.miss();
                self.asleep = Some((start, limit));
                return Tried::Sleep;
            }
        }
    }

    /// Whether the next wait is slept through, as far as can be told before it: a reactor that listens to what is tried
    /// for wakes somebody in vain.
    #[inline]
    pub(crate) fn will_sleep(&self, policy: WaitPolicy) -> bool {
        match policy {
            WaitPolicy::Spin(_) => false,
            // It counts once more before it waits.
            WaitPolicy::Adaptive => self.skip > 0 || self.alone.saturating_add(1) < ALONE_AFTER,
            _ => true,
        }
    }

    /// How long the next wait tries; `None`: not at all.
    fn limit_of(&mut self, policy: WaitPolicy) -> Option<Duration> {
        match policy {
            WaitPolicy::Spin(limit) => Some(limit.min(WaitPolicy::LONGEST)),
            WaitPolicy::Adaptive if self.skip > 0 => {
                self.skip -= 1;
                self.asleep = Some((Instant::now(), Duration::ZERO));
                None
            }
            WaitPolicy::Adaptive if self.is_near => Some(WaitPolicy::DEDICATED),
            WaitPolicy::Adaptive => Some(self.limit),
            _ => None,
        }
    }

    /// Learns from octets that came so long after the try had begun. Whoever was kept from the CPU
    /// for that long gave it to somebody who computes: one who sleeps gets it back sooner.
    fn has_come_after(&mut self, tried: Duration) {
        if tried < KEPT_AWAY {
            self.hit();
            self.tried += tried;
        } else {
            self.miss();
        }
    }

    fn hit(&mut self) {
        self.hits = self.hits.saturating_add(1);
        self.taken += 1;
        self.hasty = 0;
        self.skipped /= 2;
    }

    fn miss(&mut self) {
        self.hits = 0;
        self.is_near = false;
        self.skipped = (self.skipped * 2).clamp(1, MOST_SKIPPED);
        self.skip = self.skipped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leave_that_was_not_given_is_not_given_back() {
        let busy = Busy::default();
        assert!(busy.leave_for_a_thread(0).is_none());
        let leaves: Vec<_> = (0..THREADS_PER_WORKER)
            .map(|_| busy.leave_for_a_thread(1).unwrap())
            .collect();
        for _ in 0..3 {
            assert!(busy.leave_for_a_thread(1).is_none());
        }
        drop(leaves);
        assert!(busy.leave_for_a_thread(1).is_some());
    }

    #[test]
    fn an_answer_that_somebody_else_s_time_slice_held_up_is_no_hit() {
        let mut waiting = Waiting::new(WaitPolicy::SHARED);
        waiting.has_come_after(Duration::from_micros(15));
        assert_eq!((waiting.hits, waiting.skip), (1, 0));
        // Each time more waits are slept through before the next try.
        for skip in [1, 2, 4] {
            waiting.has_come_after(Duration::from_millis(3));
            assert_eq!((waiting.hits, waiting.skip), (0, skip));
        }
    }

    #[test]
    fn what_is_tried_for_nobody_listens_to_meanwhile() {
        let (busy, own, other) = (Busy::default(), 7, 8);
        let mut waiting = Waiting::new(WaitPolicy::SHARED);
        assert!(waiting.will_sleep(WaitPolicy::Park));
        assert!(!waiting.will_sleep(WaitPolicy::Spin(WaitPolicy::LONGEST)));
        for turns in 0..3 * ALONE_AFTER {
            let sleeps = waiting.will_sleep(WaitPolicy::Adaptive);
            assert_eq!(sleeps, !waiting.is_alone(&busy, own), "{turns}");
        }
        // Until tries were in vain, or there is somebody else.
        waiting.miss();
        assert!(waiting.will_sleep(WaitPolicy::Adaptive));
        assert_eq!(waiting.limit_of(WaitPolicy::Adaptive), None);
        assert!(!waiting.will_sleep(WaitPolicy::Adaptive));
        busy.last.store(other, Ordering::Relaxed);
        assert!(!waiting.is_alone(&busy, own));
        assert!(waiting.will_sleep(WaitPolicy::Adaptive));
    }

    #[test]
    fn a_sleeper_that_came_late_for_what_was_there_in_time_tries_again_at_once() {
        let mut waiting = Waiting::new(WaitPolicy::SHARED);
        for _ in 0..8 {
            waiting.miss();
        }
        assert_eq!(waiting.limit_of(WaitPolicy::Adaptive), None);
        assert!(waiting.is_asleep());
        waiting.has_slept(Duration::from_micros(45), Duration::ZERO);
        assert!(waiting.limit_of(WaitPolicy::Adaptive).is_some());
        // Not again and again, if nothing ever comes of it.
        let mut tries = 0;
        for _ in 0..MOST_SKIPPED {
            waiting.miss();
            waiting.has_slept(Duration::from_micros(45), Duration::ZERO);
            tries += u32::from(waiting.skip == 0);
        }
        assert_eq!(tries, MOST_HASTY - 1);
    }

    #[test]
    fn two_that_both_sleep_find_out_by_a_try_that_is_longer() {
        let mut waiting = Waiting::new(WaitPolicy::SHARED);
        waiting.miss();
        // A round trip with two sleepers: longer than a try, but not by more than they take to wake up.
        waiting.has_slept(Duration::from_micros(90), WaitPolicy::SHARED);
        assert_eq!(waiting.limit_of(WaitPolicy::Adaptive), None);
        assert_eq!(
            waiting.limit_of(WaitPolicy::Adaptive),
            Some(WaitPolicy::DEDICATED)
        );
        // In vain after all: as before.
        waiting.miss();
        waiting.has_slept(Duration::from_micros(90), WaitPolicy::DEDICATED);
        waiting.skip = 0;
        assert_eq!(
            waiting.limit_of(WaitPolicy::Adaptive),
            Some(WaitPolicy::SHARED)
        );
    }

    #[test]
    fn what_takes_its_time_or_comes_while_others_want_the_cpu_changes_nothing() {
        for (slept, is_crowded) in [(2_000, false), (45, true)] {
            let mut waiting = Waiting::new(WaitPolicy::SHARED);
            waiting.miss();
            waiting.is_crowded = is_crowded;
            waiting.has_slept(Duration::from_micros(slept), Duration::ZERO);
            assert_eq!((waiting.skip, waiting.is_near), (1, false), "{slept}");
        }
    }

    #[test]
    fn what_nobody_wants_an_answer_to_gathers_until_somebody_wants_one_or_enough_comes_together() {
        let mut waiting = Waiting::new(WaitPolicy::SHARED);
        let mut octets = 0;
        for (answered, came) in [(true, 60), (false, GATHERED)] {
            for _ in 1..SILENT_READS {
                octets += 60;
                waiting.has_served(false, octets);
                assert!(!waiting.gathers());
            }
            octets += 60;
            waiting.has_served(false, octets);
            assert!(waiting.gathers());
            octets += came;
            waiting.has_served(answered, octets);
            assert!(!waiting.gathers());
        }
    }

    #[test]
    fn a_connection_is_crowded_out_by_many_reads_in_a_row_that_came_soon_after_each_other() {
        let mut waiting = Waiting::new(WaitPolicy::SHARED);
        for _ in 1..CROWDED_READS {
            waiting.has_company(false);
        }
        assert!(!waiting.is_crowded_out());
        // Once alone, it counts anew.
        waiting.has_company(true);
        for _ in 1..CROWDED_READS {
            waiting.has_company(false);
        }
        assert!(!waiting.is_crowded_out());
        // As if they had taken their time.
        waiting.has_company(false);
        waiting.crowded_since = Instant::now().checked_sub(2 * CROWDED_WITHIN);
        assert!(!waiting.is_crowded_out());
        assert_eq!(waiting.crowded, 0);
        for _ in 0..CROWDED_READS {
            waiting.has_company(false);
        }
        waiting.crowded_since = Some(Instant::now());
        assert!(waiting.is_crowded_out());
        assert!(!waiting.is_crowded_out());
    }

    #[test]
    fn others_have_their_turn_after_a_time_however_few_tries_it_took() {
        let mut waiting = Waiting::new(WaitPolicy::SHARED);
        let each = Duration::from_micros(40);
        while !waiting.owes_a_turn() {
            waiting.has_come_after(each);
        }
        assert_eq!(waiting.taken, 16);
        assert_eq!(waiting.skip, 0);
        waiting.turn_over();
        assert!(!waiting.owes_a_turn());
    }
}
