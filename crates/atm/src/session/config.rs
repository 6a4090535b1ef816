//! The settings of a circuit's sessions: sizes, credits and times.

use std::time::Duration;

/// The configuration of one end of a circuit. The two ends need not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The largest frame that is sent and received, in octets, head included: 256 to 65,535. Sent frames are also no
    /// larger than the peer receives.
    pub max_sdu: usize,
    /// The size of the receive buffer in the unit of [`cost`](super::frame::cost): the kernel's own number. The peer has no
    /// more on its way than that, less [`RESERVE`](Self::RESERVE).
    pub receive_buffer: u64,
    /// Octets of a session that are kept because they were not acknowledged; writing waits for room.
    pub send_octets: usize,
    /// Octets of a session that are kept because they were not read; the peer waits for room.
    pub receive_octets: usize,
    /// Sessions of a circuit at a time, those that are ending included.
    pub max_sessions: usize,
    /// Sessions that were not accepted yet.
    pub backlog: usize,
    /// The time for which an acknowledgement waits for data that can carry it.
    pub acknowledgement_delay: Duration,
    /// The wait for the first acknowledgement, before there is an estimate.
    pub initial_retransmission_timeout: Duration,
    /// The least wait for an acknowledgement before a segment is sent again.
    pub min_retransmission_timeout: Duration,
    /// The longest wait for an acknowledgement; each wait without an answer doubles it.
    pub max_retransmission_timeout: Duration,
    /// The time for a session to be accepted, if it was asked for at least three times.
    pub open_timeout: Duration,
    /// The time without a frame after which the peer is asked for one.
    pub keep_alive: Duration,
    /// The time without a frame after which the peer counts as dead, if it was asked at least three times.
    pub dead_after: Duration,
    /// The time for which a closed session still delivers the octets written before.
    pub linger: Duration,
}

impl Config {
    /// The part of a receive buffer for uncounted frames: acknowledgements, and frames that open and end sessions.
    pub const RESERVE: u64 = 32 * 768;
    /// The largest frame that fits into 32 KiB of the kernel's memory with the kernel's own data; one octet more takes
    /// 64 KiB.
    pub const MAX_SDU: usize = (32 << 10) - 384;

    /// Returns the credit of the peer: the cost of frames that may be in flight, in the unit of
    /// [`cost`](super::frame::cost).
    pub(super) fn buffer(&self) -> u64 {
        self.receive_buffer.saturating_sub(Self::RESERVE)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_sdu: Self::MAX_SDU,
            receive_buffer: 212_992,
            send_octets: 512 << 10,
            receive_octets: 512 << 10,
            max_sessions: 128,
            backlog: 128,
            acknowledgement_delay: Duration::from_millis(5),
            initial_retransmission_timeout: Duration::from_millis(200),
            min_retransmission_timeout: Duration::from_millis(30),
            max_retransmission_timeout: Duration::from_secs(2),
            open_timeout: Duration::from_secs(5),
            keep_alive: Duration::from_secs(5),
            dead_after: Duration::from_secs(15),
            linger: Duration::from_secs(10),
        }
    }
}
