//! Counters of an ORB by cause: refusals, drops, limits and timeouts; and the limit of log lines for each.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Log lines of one cause in one [`LOG_WINDOW`]. Peers may cause any number of them: the first lines say what happens, and
/// the counters how often.
const LOG_LINES: u32 = 10;
/// How long a log line counts among those of its cause: with [`LOG_LINES`], one line a second over time.
const LOG_WINDOW: Duration = Duration::from_secs(10);

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// A cause for which an ORB refuses, drops, limits or times out: see [`Counters`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Counter {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Counter {
            /// The causes, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The name of the cause in lower case, with underscores between its words: for systems that collect metrics.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

counters! {
    /// Connections closed on arrival, because the limit on connections was reached.
    ConnectionsRefused = "connections_refused",
    /// Connections closed on arrival, because the limit on connections of their host was reached.
    ConnectionsOfHostRefused = "connections_of_host_refused",
    /// Connections refused on arrival, because the rules for clients do not permit them.
    ConnectionsNotPermitted = "connections_not_permitted",
    /// Connections closed on arrival, because the system could not start a thread for them.
    ConnectionsWithoutThread = "connections_without_thread",
    /// Failures to accept a connection, mostly because no descriptor was left.
    AcceptsFailed = "accepts_failed",
    /// Connections closed because the peer broke the protocol, or exceeded a limit of a single connection.
    ProtocolErrors = "protocol_errors",
    /// Requests refused because they were longer than the limit on messages.
    RequestsTooLarge = "requests_too_large",
    /// Requests refused with TRANSIENT at one of these limits: pending upcalls or their octets (where requests do not wait),
    /// requests held by a POA manager, look-ups by the key resolver, and the time of such a look-up.
    PendingRequestsRefused = "pending_requests_refused",
    /// One-way requests among those that any limit refused. Their clients get no report.
    OneWaysDropped = "one_ways_dropped",
    /// Replies replaced by NO_RESOURCES, because the client did not read earlier replies.
    RepliesReplaced = "replies_replaced",
    /// Requests that were not served because nothing could be written to their clients any more, or because their clients had
    /// gone while they were held, looked up, or waited for a thread.
    RequestsUnanswerable = "requests_unanswerable",
    /// Connections closed because nothing happened on them for the idle timeout.
    IdleConnectionsClosed = "idle_connections_closed",
    /// Connections closed on arrival, because the memory that connections may hold was used up.
    ConnectionsRefusedForMemory = "connections_refused_for_memory",
    /// Connections closed because there was no memory for their messages or output.
    ConnectionsOverMemory = "connections_over_memory",
    /// Connections closed while memory was scarce, because the peer was too slow for the memory that it made the ORB hold.
    ConnectionsEvicted = "connections_evicted",
    /// Requests refused with TRANSIENT because they would have had to wait while memory was scarce.
    RequestsRefusedForMemory = "requests_refused_for_memory",
    /// Connections closed because a message that had begun made no progress.
    SlowSendersClosed = "slow_senders_closed",
    /// Connections closed because the peer did not read the replies that waited for it.
    SlowReadersClosed = "slow_readers_closed",
    /// Connections closed because no message came on them after they were accepted.
    UnusedConnectionsClosed = "unused_connections_closed",
    /// Connections closed before the peer had read why they ended, because it went on sending.
    LingersCut = "lingers_cut",
    /// Requests refused with TRANSIENT because the queue of the worker pool was full, or their host had its share of it.
    PoolQueueFull = "pool_queue_full",
    /// Requests refused with TIMEOUT because their deadline had passed before a thread of the worker pool began them.
    RequestsLate = "requests_late",
    /// Upcalls dropped because nobody waited for their results any more, of servants that want it; or at the time limit of a
    /// shutdown.
    UpcallsDropped = "upcalls_dropped",
    /// Requests refused with TRANSIENT by POA managers in state DISCARDING.
    RequestsDiscarded = "requests_discarded",
    /// Connections to other ORBs that were not made, because the limit in all or for one host was reached.
    OutgoingConnectionsRefused = "outgoing_connections_refused",
    /// Idle connections to other ORBs that were closed to make room for another one under the limits.
    OutgoingConnectionsPurged = "outgoing_connections_purged",
    /// Attempts to connect to other ORBs that ended because the peer did not answer within the connect timeout.
    ConnectsTimedOut = "connects_timed_out",
    /// Calls that ended with TIMEOUT, including those whose request had not been sent.
    CallsTimedOut = "calls_timed_out",
    /// Calls refused because the limit on requests in flight on their connection was reached.
    CallsRefused = "calls_refused",
    /// One-way requests of SYNC_NONE that were not sent: refused with TRANSIENT for lack of room, or dropped because their
    /// connection could not be made, or not before the ORB ended. Requests that were queued when a connection was lost do not
    /// count.
    OneWaysRefused = "one_ways_refused",
    /// Replies that were longer than the limit on messages. Their calls fail.
    RepliesTooLarge = "replies_too_large",
    /// Requests and replies refused with MARSHAL because their values take more memory than the limit for messages of their
    /// length, or with NO_RESOURCES because other messages hold it.
    MemoryOfMessagesRefused = "memory_of_messages_refused",
    /// Requests refused because their client did not log in, or not as somebody whom the server lets in.
    LoginsRefused = "logins_refused",
    /// Panics of servants, forwards, key resolvers and servant managers: their requests ended with UNKNOWN.
    Panics = "panics",
    /// Attempts, all refused, to connect to UNIX sockets that a peer had named.
    SocketsOfPeersRefused = "sockets_of_peers_refused",
    /// Endpoints of references that were not connected to, because the rules do not permit them.
    EndpointsNotPermitted = "endpoints_not_permitted",
    /// Service contexts BI_DIR_IIOP of which an endpoint was ignored because of a limit: that on the endpoints of one context,
    /// or on the endpoints of a host and in all.
    CallbackEndpointsIgnored = "callback_endpoints_ignored",
}

impl Counter {
    const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The counts of refusals, drops, limits and time-outs of an ORB by [cause](Counter), since it was built.
///
/// Counting is a relaxed atomic addition, and happens at refusals only: a call that succeeds counts nothing. Counters of
/// different causes are not read at one instant.
///
/// ```
/// # extern crate zorb_connection as zorb;
/// use zorb::{Counter, Counters};
///
/// let counters = Counters::default();
/// assert_eq!(counters.get(Counter::ConnectionsRefused), 0);
/// for (cause, count) in counters.iter() {
///     println!("zorb_{cause}_total {count}");
/// }
/// ```
#[derive(Debug)]
pub struct Counters {
    counts: [AtomicU64; Counter::ALL.len()],
    logged: Mutex<[Logged; Counter::ALL.len()]>,
}

/// The log lines of one cause.
#[derive(Debug, Clone, Copy, Default)]
struct Logged {
    since: Option<Instant>,
    lines: u32,
    /// Lines left out since the last one that was written.
    omitted: u64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            counts: [const { AtomicU64::new(0) }; Counter::ALL.len()],
            logged: Mutex::new([Logged::default(); Counter::ALL.len()]),
        }
    }
}

impl Counters {
    /// Returns the number of events of the cause, since the ORB was built.
    #[must_use]
    pub fn get(&self, cause: Counter) -> u64 {
        self.count_of(cause)
            .map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Returns an iterator over all causes, each with its number of events.
    pub fn iter(&self) -> impl Iterator<Item = (Counter, u64)> {
        (Counter::ALL.iter()).map(|cause| (*cause, self.get(*cause)))
    }

    /// Counts one more event. For the ORB and its transports.
    pub fn count(&self, cause: Counter) {
        if let Some(count) = self.count_of(cause) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts one more event, and decides whether it gets a line in the log. Returns the number of lines left out since the
    /// last one, or `None` if this one is to be left out, too.
    ///
    /// At most ten lines of each cause are written in ten seconds, so that peers cannot fill a log.
    #[must_use]
    pub fn report(&self, cause: Counter) -> Option<u64> {
        self.report_at(cause, Instant::now())
    }

    fn report_at(&self, cause: Counter, now: Instant) -> Option<u64> {
        self.count(cause);
        let mut all = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        all.get_mut(cause.index())?.line(now)
    }

    fn count_of(&self, cause: Counter) -> Option<&AtomicU64> {
        self.counts.get(cause.index())
    }
}

impl Logged {
    fn line(&mut self, now: Instant) -> Option<u64> {
        let is_over = |since: Instant| now.saturating_duration_since(since) >= LOG_WINDOW;
        if self.since.is_none_or(is_over) {
            self.since = Some(now);
            self.lines = 0;
        }
        if self.lines == LOG_LINES {
            self.omitted = self.omitted.saturating_add(1);
            return None;
        }
        self.lines = self.lines.saturating_add(1);
        Some(core::mem::take(&mut self.omitted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_cause_is_counted_by_itself_and_has_a_name_of_its_own() {
        let counters = Counters::default();
        for (index, cause) in Counter::ALL.iter().enumerate() {
            for _ in 0..=index {
                counters.count(*cause);
            }
        }
        let counts: Vec<u64> = counters.iter().map(|(_, count)| count).collect();
        assert_eq!(counts, (1..=Counter::ALL.len() as u64).collect::<Vec<_>>());
        let names: HashSet<&str> = Counter::ALL.iter().map(|cause| cause.name()).collect();
        assert_eq!(names.len(), Counter::ALL.len());
    }

    #[test]
    fn lines_of_one_cause_are_few_however_often_it_happens_and_say_how_many_were_left_out() {
        let (counters, start) = (Counters::default(), Instant::now());
        let cause = Counter::ConnectionsRefused;
        let lines = (0..2100).filter_map(|_| counters.report_at(cause, start));
        assert_eq!(lines.collect::<Vec<_>>(), [0; LOG_LINES as usize]);
        assert_eq!(counters.get(cause), 2100, "all are counted");
        let other = counters.report_at(Counter::ProtocolErrors, start);
        assert_eq!(other, Some(0), "another cause has lines of its own");
        let later = counters.report_at(cause, start + LOG_WINDOW);
        assert_eq!(later, Some(2100 - u64::from(LOG_LINES)));
        assert_eq!(counters.report_at(cause, start + LOG_WINDOW), Some(0));
    }
}
