//! The pace that peers have to keep, and the connections that are ended because they do not, or for the memory that they hold.
//!
//! A message costs nothing here: the checks use counters that the reader and the writer of a connection keep anyway.
//!
//! A peer makes the ORB wait while it has sent a part of a message, or while output waits for it. During that time, octets
//! have to move in each stall timeout: at [`MIN_RATE`] at least, and fast enough that the memory held for the peer is
//! released within [`HELD_FOR`]. While memory [is scarce](MemoryLimit::is_scarce), [`HELD_FOR_WHEN_SCARCE`] takes its place;
//! of the peers that are slower than that, those that hold most are closed until there is enough memory again.

use super::memory::MemoryLimit;
use crate::counters::Counter;
use crate::end::End;
use crate::link::Link;
use core::fmt;
use core::time::Duration;
use tokio::time::Instant;
use zorb_giop::UnfinishedInput;

/// Octets a second that a client has to send of a message, or to take of its replies: the default of Kestrel, the server of
/// ASP.NET. A modem of 1980 is faster; a client that sends an octet now and then is slower.
const MIN_RATE: f64 = 240.0;
/// How long memory may be held for a client: a message of 64 MiB has to come at 112 KB/s.
const HELD_FOR: Duration = Duration::from_secs(600);
/// How long memory may be held for a client while it is scarce: a message of 64 MiB has to come at 6.7 MB/s.
const HELD_FOR_WHEN_SCARCE: Duration = Duration::from_secs(10);
/// Checks in a row at which a client has to be too slow for scarce memory: a single one may fall into a network pause.
const SLOW_CHECKS: u32 = 2;
/// The time for the first octet of a connection: a client that connects is expected to send a request.
const FIRST_MESSAGE: Duration = Duration::from_secs(60);

/// Why a connection is ended although its peer is reachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evicted {
    /// The ORB has no memory for its messages or its output.
    Memory,
    /// Memory is scarce, and the peer is too slow for the memory that it makes the ORB hold.
    Scarcity,
    /// A message that has begun makes no progress.
    SlowSender,
    /// The peer does not read the output that waits for it.
    SlowReader,
    /// The peer has never sent a message.
    Unused,
}

impl Evicted {
    /// The counter of connections that end for this reason.
    pub(crate) const fn counter(self) -> Counter {
        match self {
            Self::Memory => Counter::ConnectionsOverMemory,
            Self::Scarcity => Counter::ConnectionsEvicted,
            Self::SlowSender => Counter::SlowSendersClosed,
            Self::SlowReader => Counter::SlowReadersClosed,
            Self::Unused => Counter::UnusedConnectionsClosed,
        }
    }
}

impl fmt::Display for Evicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "the ORB has no memory left for what it would have to hold",
            Self::Scarcity => {
                "memory is scarce, and the peer is slow for what it makes the ORB hold"
            }
            Self::SlowSender => "a message that has begun makes no progress",
            Self::SlowReader => "the peer does not read what waits for it",
            Self::Unused => "no message has come on it",
        })
    }
}

/// A sample of a connection's counts, taken at one check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PaceSample {
    unfinished: UnfinishedInput,
    /// Messages received.
    messages: u64,
    /// Octets received.
    received: u64,
    /// Octets written.
    written: u64,
    /// Whether output waits for room in the socket.
    is_blocked: bool,
    /// Whether the peer opened the connection, so that its first message is due.
    is_accepted: bool,
    /// Octets of the ORB's memory that are reserved for messages received in part, or waiting to be written.
    pub(crate) held: usize,
}

/// A time in which octets have to move.
#[derive(Debug, Clone, Copy)]
struct Window {
    since: Instant,
    octets: u64,
    messages: u64,
}

/// The monitor of a connection's pace, as of the last check.
#[derive(Debug)]
pub(crate) struct PaceMonitor {
    first: Instant,
    last: Instant,
    /// Octets in both directions at the last check.
    moved: u64,
    slow_checks: u32,
    sending: Option<Window>,
    taking: Option<Window>,
}

impl PaceSample {
    pub(crate) fn of(link: &Link) -> Self {
        Self {
            unfinished: link.unfinished(),
            messages: link.messages_received(),
            received: link.octets_received(),
            written: link.outbound.written_octets(),
            is_blocked: link.outbound.is_blocked(),
            is_accepted: false,
            held: link.reserved_octets(),
        }
    }

    /// Returns the counts with the information whether the peer opened the connection.
    pub(crate) fn accepted(self, is_accepted: bool) -> Self {
        Self {
            is_accepted,
            ..self
        }
    }

    /// Whether the peer opened the connection and has sent nothing.
    fn is_unused(&self) -> bool {
        self.is_accepted && self.received == 0
    }

    fn moved(&self) -> u64 {
        self.received.wrapping_add(self.written)
    }

    fn makes_wait(&self) -> bool {
        self.unfinished != UnfinishedInput::Nothing || self.is_blocked
    }

    /// Whether the connection has to be checked again even if nothing happens on it: its client makes the ORB wait, or has sent
    /// nothing yet.
    pub(crate) fn needs_checks(&self) -> bool {
        self.makes_wait() || self.is_unused()
    }

    /// Octets that have to move in `time`, so that the memory held is released within `held_for`.
    fn required(&self, time: Duration, held_for: Duration) -> f64 {
        let rate = self.held as f64 / held_for.as_secs_f64();
        rate.max(MIN_RATE) * time.as_secs_f64()
    }

    /// Whether too few octets have moved in a window that has ended; the next window begins then.
    fn is_slow(
        &self,
        window: &mut Option<Window>,
        waits: bool,
        octets: u64,
        now: Instant,
        stall: Duration,
    ) -> bool {
        let next = Window {
            since: now,
            octets,
            messages: self.messages,
        };
        if !waits {
            *window = None;
            return false;
        }
        let current = *window.get_or_insert(next);
        let time = now.saturating_duration_since(current.since);
        if time < stall {
            return false;
        }
        *window = Some(next);
        (octets.wrapping_sub(current.octets) as f64) < self.required(time, HELD_FOR)
    }
}

impl PaceMonitor {
    pub(crate) fn new(sample: &PaceSample, now: Instant) -> Self {
        Self {
            first: now,
            last: now,
            moved: sample.moved(),
            slow_checks: 0,
            sending: None,
            taking: None,
        }
    }

    /// Whether the client is too slow by the stall timeout.
    pub(crate) fn judge(
        &mut self,
        sample: &PaceSample,
        now: Instant,
        stall: Duration,
    ) -> Option<Evicted> {
        if sample.is_unused() && now.saturating_duration_since(self.first) >= FIRST_MESSAGE {
            return Some(Evicted::Unused);
        }
        if self.sends_slowly(sample, now, stall) {
            return Some(Evicted::SlowSender);
        }
        let written = sample.written;
        let slow = sample.is_slow(&mut self.taking, sample.is_blocked, written, now, stall);
        slow.then_some(Evicted::SlowReader)
    }

    /// Whether too little of a message that has begun has come.
    fn sends_slowly(&mut self, sample: &PaceSample, now: Instant, stall: Duration) -> bool {
        // A message that has become whole was fast enough. Fragments do not count so: whole messages may pass them for ever.
        if sample.unfinished == UnfinishedInput::Message
            && (self.sending).is_some_and(|window| window.messages != sample.messages)
        {
            self.sending = None;
        }
        let unfinished = sample.unfinished != UnfinishedInput::Nothing;
        sample.is_slow(&mut self.sending, unfinished, sample.received, now, stall)
    }

    /// Notes the pace since the last check, and returns whether the client is too slow for scarce memory.
    pub(crate) fn is_slow_when_scarce(&mut self, sample: &PaceSample, now: Instant) -> bool {
        let time = now.saturating_duration_since(self.last);
        let moved = sample.moved().wrapping_sub(self.moved);
        let required = sample.required(time, HELD_FOR_WHEN_SCARCE);
        let is_slow = sample.makes_wait() && sample.held > 0 && (moved as f64) < required;
        self.slow_checks = match is_slow {
            true if !time.is_zero() => self.slow_checks.saturating_add(1),
            true => self.slow_checks,
            false => 0,
        };
        (self.last, self.moved) = (now, sample.moved());
        self.slow_checks >= SLOW_CHECKS
    }
}

/// The connections to close for scarce memory: of the `slow` ones, each with the octets that it holds, the largest, until
/// enough is free.
pub(crate) fn to_evict<C>(
    memory: &MemoryLimit,
    mut slow: Vec<(usize, C)>,
) -> impl Iterator<Item = C> {
    let mut excess = memory.held().saturating_sub(memory.scarce_from());
    slow.sort_unstable_by_key(|(held, _)| core::cmp::Reverse(*held));
    slow.into_iter()
        .take_while(move |(held, _)| {
            let is_scarce = excess > 0;
            excess = excess.saturating_sub(*held);
            is_scarce
        })
        .map(|(_, connection)| connection)
}

impl Link {
    /// Ready when a reply that has begun makes no progress, between once and twice `stall` after it has stopped. A server that
    /// has sent nothing may be computing, which a round-trip timeout limits. Costs nothing per message, and a timer only
    /// while a reply is incomplete: a runtime with a timer reads the clock each time it parks.
    pub(crate) async fn paced(&self, stall: Option<Duration>) -> End {
        let Some(stall) = stall else {
            return core::future::pending().await;
        };
        let mut monitor = PaceMonitor::new(&PaceSample::of(self), Instant::now());
        loop {
            while self.unfinished() == UnfinishedInput::Nothing {
                monitor = PaceMonitor::new(&PaceSample::of(self), Instant::now());
                self.outbound.waits.notified().await;
            }
            tokio::time::sleep(stall).await;
            if monitor.sends_slowly(&PaceSample::of(self), Instant::now(), stall) {
                return self.evict(Evicted::SlowSender);
            }
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::super::memory::{PeerMemory, Reserved};
    use super::*;

    const STALL: Duration = Duration::from_secs(30);
    const MIB: usize = 1 << 20;

    fn quiet() -> PaceSample {
        PaceSample {
            unfinished: UnfinishedInput::Nothing,
            messages: 7,
            received: 700,
            written: 700,
            is_blocked: false,
            is_accepted: true,
            held: 0,
        }
    }

    /// The reason for which a connection that is checked every second ends, and the second of its end.
    fn watched(seconds: u64, sample: impl Fn(u64) -> PaceSample) -> Option<(u64, Evicted)> {
        let start = Instant::now();
        let mut monitor = PaceMonitor::new(&sample(0), start);
        (0..seconds).find_map(|second| {
            let now = start + Duration::from_secs(second);
            Some((second, monitor.judge(&sample(second), now, STALL)?))
        })
    }

    #[test]
    fn a_client_that_has_called_may_be_quiet_for_ever() {
        assert_eq!(watched(100_000, |_| quiet()), None);
    }

    #[test]
    fn a_connection_without_a_message_ends() {
        let unused = |_| PaceSample {
            received: 0,
            ..quiet()
        };
        let ends = Some((FIRST_MESSAGE.as_secs(), Evicted::Unused));
        assert_eq!(watched(100, unused), ends);
    }

    #[test]
    fn a_message_that_does_not_get_on_ends_its_connection_and_a_slow_one_does_not() {
        for unfinished in [UnfinishedInput::Message, UnfinishedInput::Fragments] {
            let trickles = |octets: u64| {
                move |second| PaceSample {
                    unfinished,
                    received: 700 + octets * second,
                    ..quiet()
                }
            };
            let ends = Some((STALL.as_secs(), Evicted::SlowSender));
            assert_eq!(watched(100, trickles(0)), ends);
            assert_eq!(watched(100, trickles(1)), ends);
            assert_eq!(watched(100_000, trickles(300)), None);
        }
    }

    #[test]
    fn what_came_fast_at_first_does_not_excuse_what_does_not_come() {
        let stops = |second: u64| PaceSample {
            unfinished: UnfinishedInput::Message,
            received: 700 + second.min(35) * 1_000_000,
            ..quiet()
        };
        let (second, why) = watched(1000, stops).unwrap();
        assert_eq!(why, Evicted::SlowSender);
        assert!(second <= 35 + 2 * STALL.as_secs(), "{second}");
    }

    #[test]
    fn one_message_after_the_other_is_no_slow_message_but_fragments_beside_messages_are() {
        let busy = |unfinished| {
            move |second| PaceSample {
                unfinished,
                messages: second,
                received: 700 + 20 * second,
                ..quiet()
            }
        };
        assert_eq!(watched(1000, busy(UnfinishedInput::Message)), None);
        let ends = Some((STALL.as_secs(), Evicted::SlowSender));
        assert_eq!(watched(1000, busy(UnfinishedInput::Fragments)), ends);
    }

    #[test]
    fn a_client_that_reads_slowly_for_what_waits_for_it_ends() {
        let reads = |octets: u64, held: usize| {
            move |second| PaceSample {
                is_blocked: true,
                written: 700 + octets * second,
                held,
                ..quiet()
            }
        };
        let ends = Some((STALL.as_secs(), Evicted::SlowReader));
        assert_eq!(watched(1000, reads(0, 0)), ends);
        assert_eq!(watched(1000, reads(16_000, 60 * MIB)), ends);
        assert_eq!(watched(1000, reads(16_000, MIB)), None);
        assert_eq!(watched(1000, reads(125_000, 64 * MIB)), None);
    }

    #[test]
    fn while_memory_is_scarce_a_client_has_to_be_faster_twice_in_a_row() {
        let start = Instant::now();
        let at = |second| start + Duration::from_secs(second);
        let sample = |received, held| PaceSample {
            unfinished: UnfinishedInput::Message,
            received,
            held,
            ..quiet()
        };
        let mut monitor = PaceMonitor::new(&sample(0, MIB), start);
        assert!(!monitor.is_slow_when_scarce(&sample(1000, MIB), at(1)));
        assert!(monitor.is_slow_when_scarce(&sample(2000, MIB), at(2)));
        assert!(
            !monitor.is_slow_when_scarce(&sample(2 * MIB as u64, MIB), at(3)),
            "it was fast"
        );
        assert!(!monitor.is_slow_when_scarce(&sample(2 * MIB as u64, MIB), at(4)));
        assert!(monitor.is_slow_when_scarce(&sample(2 * MIB as u64, MIB), at(5)));
        // A connection that holds nothing is left alone.
        assert!(!monitor.is_slow_when_scarce(&sample(2 * MIB as u64, 0), at(6)));
        assert!(!monitor.is_slow_when_scarce(&sample(2 * MIB as u64, 0), at(7)));
    }

    #[test]
    fn the_largest_of_the_slow_ones_are_closed_until_there_is_enough() {
        let memory = std::sync::Arc::new(MemoryLimit::new(100 * MIB));
        let reserved = Reserved::of(&PeerMemory::within(&memory));
        assert!(reserved.cover(|| 80 * MIB));
        let slow = vec![(MIB, 'a'), (3 * MIB, 'b'), (2 * MIB, 'c'), (4 * MIB, 'd')];
        let closed: Vec<char> = to_evict(&memory, slow.clone()).collect();
        assert_eq!(closed, ['d', 'b']);
        drop(reserved);
        assert_eq!(to_evict(&memory, slow).count(), 0);
    }
}
