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

/// How long a yield takes when it lets somebody compute: less than a time slice of the scheduler's,
/// which is some milliseconds, and more than any answer that is worth trying for.
const KEPT_AWAY: Duration = Duration::from_micros(500);

/// How long a yield takes at least when somebody else ran meanwhile: a switch there and back.
const SOMEBODY_RAN: Duration = Duration::from_micros(3);
/// How often somebody else may have run without an answer being there: the first may have been whoever is to answer, who
/// has not come to it yet. Beyond it there are more threads than processors, and each try costs those that could go on
/// two switches, where one who sleeps costs them none.
const RAN_IN_VAIN: u32 = 1;

/// Which connection of an ORB was busy last. Read at every wait, and written only when another one
/// is.
#[derive(Debug, Default)]
pub(crate) struct Busy(AtomicUsize);

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
    /// Hits since other tasks had their turn.
    taken: u32,
    /// Waits that are still to be slept through, and how many it were last time.
    skip: u32,
    skipped: u32,
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
            skip: 0,
            skipped: 0,
            unwatched: false,
        }
    }

    /// Counts that `connection` has something to do, and says whether no other one had lately.
    pub(crate) fn is_alone(&mut self, busy: &Busy, connection: usize) -> bool {
        if busy.0.load(Ordering::Relaxed) == connection {
            self.alone = self.alone.saturating_add(1);
        } else {
            busy.0.store(connection, Ordering::Relaxed);
            self.alone = 0;
        }
        self.alone >= ALONE_AFTER
    }

    /// Whether the reactor looks away from the connection.
    pub(crate) fn is_unwatched(&self) -> bool {
        self.unwatched
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
        self.taken = 0;
    }

    /// Tries to read, as long as the policy and the past advise.
    pub(crate) fn try_read(
        &mut self,
        policy: WaitPolicy,
        stream: &dyn Connection,
        mut read: impl FnMut() -> io::Result<usize>,
    ) -> Tried {
        let limit = match policy {
            WaitPolicy::Spin(limit) => limit.min(WaitPolicy::LONGEST),
            WaitPolicy::Adaptive if self.skip == 0 => self.limit,
            WaitPolicy::Adaptive => {
                self.skip -= 1;
                return Tried::Sleep;
            }
            _ => return Tried::Sleep,
        };
        if self.taken >= HITS_PER_TURN {
            self.taken = 0;
            return Tried::Yield;
        }
        let start = Instant::now();
        let (mut before, mut in_vain) = (start, 0);
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
                self.miss();
                return Tried::Sleep;
            }
        }
    }

    /// Learns from octets that came so long after the try had begun. Whoever was kept from the CPU
    /// for that long gave it to somebody who computes: one who sleeps gets it back sooner.
    fn has_come_after(&mut self, tried: Duration) {
        if tried < KEPT_AWAY {
            self.hit();
        } else {
            self.miss();
        }
    }

    fn hit(&mut self) {
        self.hits = self.hits.saturating_add(1);
        self.taken += 1;
        self.skipped /= 2;
    }

    fn miss(&mut self) {
        self.hits = 0;
        self.skipped = (self.skipped * 2).clamp(1, MOST_SKIPPED);
        self.skip = self.skipped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
