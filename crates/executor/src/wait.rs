use core::time::Duration;

/// What a thread does while it waits for octets that may be microseconds away.
///
/// To sleep and to be woken takes the kernel ten microseconds and more, as much as a whole call on one machine. Not to
/// sleep takes CPU time: whoever waits tries again and again, and lets other threads run in between (`sched_yield`).
///
/// | policy | a wait costs, besides the call itself | on |
/// |---|---|---|
/// | `Park` | two thread switches | nothing |
/// | `Adaptive` | as `Spin` while answers come in time, as `Park` while they do not, and a try now and then | up to 50 µs of CPU time per call while answers come within them; two tries of that in 64 waits at most while they do not, and eight long ones in 64 waits, which become 4,096; none when nothing is awaited |
/// | `Spin(limit)` | CPU time until the answer comes, at most `limit`; then as `Park` | one CPU busy as long as something is awaited, up to `limit` at a time |
///
/// Nobody spins but for a lone call or a few on one connection, or the lone connection that is busy on its lane: with
/// more to do, the thread does that. Where threads have a real-time priority (SCHED_FIFO, SCHED_RR), yielding lets none of a lower one run, the
/// peer's among them: a spin is then only for a CPU that is the lane's alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitPolicy {
    /// Sleeps at once.
    Park,
    /// Tries for a short time when that was worth it lately: at most [`SHARED`](Self::SHARED) in a runtime that is
    /// somebody else's, at most [`DEDICATED`](Self::DEDICATED) on a dedicated lane. After a wait that was slept through
    /// and took no longer than two who sleep take to wake each other (150 µs) it tries for [`DEDICATED`](Self::DEDICATED)
    /// anywhere, and again as long as that hits: of two ends that both sleep neither would find the other one otherwise.
    /// Where machines are slow to wake, as virtual ones are, that finds nothing either: then, after 16 waits that were slept
    /// through, it tries for a little longer than it was slept for, at most half a millisecond, or
    /// [`LONGEST`](Self::LONGEST) on a dedicated lane, until eight such tries were worth nothing, since the other side
    /// computes for so long; and then again after 64 waits, 128, up to 4,096. Other tasks of the runtime have their turn
    /// after 640 µs of tries, or after one that is longer; a call's time limit is looked at between tries.
    ///
    /// Of several busy connections that a multi-thread runtime serves each may have a thread meanwhile, which sleeps at
    /// once: two for each worker at most, until 5 ms pass without a request.
    #[default]
    Adaptive,
    /// Tries for this long, whatever came of it before; more than [`LONGEST`](Self::LONGEST) counts as that.
    Spin(Duration),
}

impl WaitPolicy {
    /// How long an adaptive wait tries at first in a runtime that has other tasks, which wait meanwhile: two round trips
    /// on one machine.
    pub const SHARED: Duration = Duration::from_micros(20);
    /// How long it does so on a lane that has nothing else to do, and anywhere after answers that nearly came in time:
    /// about what sleeping and waking up would take.
    pub const DEDICATED: Duration = Duration::from_micros(50);
    /// How long any wait tries at most: whatever else its thread has to do waits meanwhile.
    pub const LONGEST: Duration = Duration::from_millis(1);
}
