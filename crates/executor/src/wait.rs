//! The wait policy: how long a thread spins before it parks.

use core::time::Duration;

/// The behaviour of a thread that waits for octets which may be microseconds away.
///
/// Parking and being woken takes the kernel ten microseconds and more, as much as a whole call on one machine. Spinning
/// takes CPU time: the thread reads again and again, and lets other threads run in between (`sched_yield`).
///
/// | policy | a wait costs, besides the call itself | CPU time beyond that |
/// |---|---|---|
/// | `Park` | two thread switches | none |
/// | `Adaptive` | as `Spin` while octets come in time, as `Park` while they do not | up to 50 µs of a wait that succeeds; spins that find nothing, or find it later, a 64th (1.6 %) of the time that passes, and 3 ms at once at most |
/// | `Spin(limit)` | the time until the octets come, at most `limit`; then as `Park` | up to a whole CPU while a call or request is awaited |
///
/// A connection spins only while at most four of its calls wait, and while no other connection of the ORB is busy: with
/// more to do, the thread does that. Where threads have a real-time priority (SCHED_FIFO, SCHED_RR), yielding lets no thread
/// of a lower one run, such as the peer's: `Park` is the policy there, unless the CPU is the lane's alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitPolicy {
    /// Parks at once.
    Park,
    /// Spins while that saves time, by two rules. It spins for [`SHARED`](Self::SHARED) in a runtime that has other
    /// tasks, for [`DEDICATED`](Self::DEDICATED) on a dedicated lane.
    ///
    /// - **Budget.** Spins that find nothing, or find it after more than [`DEDICATED`](Self::DEDICATED), are paid from a
    ///   budget, which grows by a 64th of the time that passes, up to 2 ms. After a prompt wait, one that took no
    ///   longer than 100 µs, it may be overdrawn by 1 ms. A wait that the budget does not pay for parks.
    ///   So a slow server, a crowd of threads, or a process that computes on the same CPU and got it by a yield, costs a
    ///   bounded share of the time.
    /// - **Extension.** If a parked wait and a quarter of it are at most half a millisecond, or [`LONGEST`](Self::LONGEST) on a
    ///   dedicated lane, the next spin lasts that long: it would have found the octets. Two ends that both
    ///   park, on a machine that is slow to wake a CPU, find each other awake by one such spin.
    ///
    /// Other tasks of the runtime have their turn after 640 µs of waits without a parked one; the time limit of a call is
    /// checked between spins.
    ///
    /// Of several busy connections that a multi-thread runtime serves, each may have a thread meanwhile, which parks at
    /// once: two for each worker at most, until 10 ms pass without a request.
    #[default]
    Adaptive,
    /// Spins for this long each time; more than [`LONGEST`](Self::LONGEST) counts as that.
    Spin(Duration),
}

impl WaitPolicy {
    /// Time for which an adaptive wait spins in a runtime that has other tasks, which wait meanwhile: two round trips
    /// on one machine.
    pub const SHARED: Duration = Duration::from_micros(20);
    /// Time for which an adaptive wait spins on a lane that has nothing else to do: about as long as parking and
    /// waking. Also the longest spin that costs no budget when it succeeds.
    pub const DEDICATED: Duration = Duration::from_micros(50);
    /// Longest spin of any wait: other work of its thread waits meanwhile.
    pub const LONGEST: Duration = Duration::from_millis(1);
}
