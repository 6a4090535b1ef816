//! The memory that a connection holds for its pending requests.

use super::super::fairness::Reserved;
use super::super::owner::Owner;
use super::super::sync::Ordering;
use super::ServerConnection;
use zorb_giop::{CompletionStatus, Fault, Message, Reader, Received, SystemException};

/// The longest request, in octets, that is copied out of the receive buffer while others are pending. A longer one keeps
/// alive a buffer of at most four times its length.
pub(super) const MAX_COPIED_OCTETS: usize = 16 << 10;

impl<O: Owner> ServerConnection<O> {
    /// The message of a request. While other requests are pending, it is likely to become pending, too; a short one must not
    /// keep a receive buffer alive that is many times as large. A request whose reply is queued no longer holds its message.
    #[inline]
    pub(super) fn keep(&self, received: Received<'_>) -> Message {
        let none_waits = self.unanswered.load(Ordering::Relaxed) == 0 && self.backlog.is_empty();
        match none_waits {
            true => received.into_message(),
            false => received.into_own(MAX_COPIED_OCTETS),
        }
    }

    /// Whether there is no memory for a request of so many octets, which may become pending. A connection without pending
    /// requests may use all memory that is left; a message too large for a receive buffer has reserved its own already. Other
    /// connections get memory only while it is not scarce.
    #[inline]
    pub(super) fn has_no_memory(&self, octets: usize) -> bool {
        octets > Reserved::FREE && self.has_none_for(octets)
    }

    fn has_none_for(&self, octets: usize) -> bool {
        match self.pending.load(Ordering::Relaxed) {
            0 if octets > Reader::READ_OCTETS => false,
            0 => !self.held.has_room_for(octets),
            _ => self.owner.settings().memory.is_scarce(),
        }
    }

    /// The exception of a request for which there is no memory: TRANSIENT, COMPLETED_NO.
    pub(super) fn no_memory(&self) -> SystemException {
        let held = self.owner.settings().memory.held();
        let overload = format!("connections hold {held} octets of memory");
        Fault::Overload(overload).raise(CompletionStatus::No)
    }
}
