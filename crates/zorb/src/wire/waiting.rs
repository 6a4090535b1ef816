//! Not to sleep when the octets are microseconds away.

mod busy;
mod far;

pub(crate) use busy::{Busy, Leave};

use core::time::Duration;
use far::Far;
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
/// Time spent on tries in a row after which they have it, too, and before a far one that would be longer together with those
/// before it: as many tries as that of a runtime that is shared, each as long as it is at first.
const TRIED_PER_TURN: Duration = WaitPolicy::SHARED.saturating_mul(HITS_PER_TURN);

/// What to wake a thread takes on a machine that is slow at it. Octets that came so much later than a try would have
/// lasted may have been there in time: it was the sleeper who came late.
const WAKING: Duration = Duration::from_micros(30);
/// How long a wait may take, to its sleeper's waking up, for a [longer](WaitPolicy::DEDICATED) try to have a chance: that
/// try, and both sides' waking up, once more on a bad day. If one side does not sleep the other one finds what it tries
/// for, and does not sleep either: two that both sleep need only one try that is long enough.
const WITHIN_REACH: Duration = Duration::from_micros(150);

/// How long a yield takes when it lets somebody compute: less than a time slice of the scheduler's,
/// which is some milliseconds, and more than any answer that is worth trying for again and again.
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
/// Reads in a row after whose messages nothing was said before what comes next may gather.
const SILENT_READS: u32 = 4;
/// Octets that come together already, of which no more have to gather: a client that writes so much at a time waits for
/// room more often than for the time that a system call takes.
const GATHERED: u64 = 16 << 10;
/// For how long it may: a few messages of a client that does nothing else, and a call's time at most for a two-way call
/// that comes behind them.
const GATHERS: Duration = Duration::from_micros(10);

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
    /// Where a longer try is not long enough.
    far: Far,
    /// How long what came last had been slept for.
    slept: Duration,
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
            far: Far::new(),
            slept: Duration::ZERO,
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
        self.alone = match busy.is_same(connection) {
            true => self.alone.saturating_add(1),
            false => 0,
        };
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
        // A far try may be longer than all that others wait for; they have their turn before it.
        let next = self.far.reach().filter(|_| !self.tried.is_zero());
        let tried = self.tried + next.unwrap_or_default();
        self.taken >= HITS_PER_TURN || tried >= TRIED_PER_TURN
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
        let most = far::most(self.limit);
        // What a long try has not found another one will not find either.
        self.is_near = slept <= WITHIN_REACH && tried < WaitPolicy::DEDICATED;
        self.far.has_slept();
        if !self.is_near {
            self.far.may_reach(slept, most);
        }
        // The one who answers does not sleep any more, if it takes a quarter less than before.
        let comes_sooner = slept <= most && slept < self.slept - self.slept / 4;
        self.slept = slept;
        let was_late = slept <= self.limit + WAKING || comes_sooner;
        if tried.is_zero() && was_late && self.hasty < MOST_HASTY {
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
        // A long try sees more of what every machine does now and then.
        let times_as_long = limit.subsec_micros() / WaitPolicy::DEDICATED.subsec_micros();
        let allowed = RAN_IN_VAIN.max(times_as_long);
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
            let took = now - start;
            if took >= limit || in_vain > allowed {
                // Somebody had the CPU for long, or time and again.
                self.is_crowded = in_vain > allowed || took >= limit + WaitPolicy::DEDICATED;
                self.miss();
                self.tried += took;
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
            WaitPolicy::Adaptive => {
                (self.skip > 0 && !self.far.is_next()) || self.alone.saturating_add(1) < ALONE_AFTER
            }
            _ => true,
        }
    }

    /// How long the next wait tries; `None`: not at all.
    fn limit_of(&mut self, policy: WaitPolicy) -> Option<Duration> {
        match policy {
            WaitPolicy::Spin(limit) => {
                self.far.is_passed();
                Some(limit.min(WaitPolicy::LONGEST))
            }
            WaitPolicy::Adaptive => {
                if let Some(reach) = self.far.begins() {
                    return Some(reach);
                }
                if self.skip > 0 {
                    self.skip -= 1;
                    if self.skip == 0 {
                        // The turn comes by itself.
                        self.hasty = self.hasty.saturating_sub(1);
                    }
                    self.asleep = Some((Instant::now(), Duration::ZERO));
                    return None;
                }
                Some(if self.is_near {
                    WaitPolicy::DEDICATED
                } else {
                    self.limit
                })
            }
            _ => None,
        }
    }

    /// Learns from octets that came so long after the try had begun. Whoever was kept from the CPU
    /// for that long gave it to somebody who computes: one who sleeps gets it back sooner.
    fn has_come_after(&mut self, tried: Duration) {
        if self.far.is_tried() && tried > WaitPolicy::DEDICATED {
            // The other one still sleeps; the next one may come sooner.
            self.taken += 1;
            self.tried += tried;
            self.slept = tried;
            self.far.has_missed();
        } else if tried < KEPT_AWAY {
            if self.far.has_found() {
                self.skip = 0;
            }
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
        self.far.has_missed();
        self.hits = 0;
        self.is_near = false;
        self.skipped = (self.skipped * 2).clamp(1, MOST_SKIPPED);
        self.skip = self.skipped;
    }
}

#[cfg(test)]
mod tests;
