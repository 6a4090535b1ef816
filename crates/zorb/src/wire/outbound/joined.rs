//! Messages that may wait for others: they are put together, and leave as one piece.

use super::super::sync::{MutexGuard, Ordering};
use super::{Ends, Outbound, Outgoing, Queue};
use bytes::BytesMut;
use zorb_cdr::Gather;
use zorb_giop::buffers;

/// Octets that wait to leave together at most: more of them would not make the system call, which
/// they share, any cheaper.
const JOINED_OCTETS: usize = 16 << 10;
/// A message of more octets is not put together with others: there is more in copying it than in one piece more.
const COPIED_OCTETS: usize = 2 << 10;

/// What of a queue is still being put together. It is behind all that is not cut.
#[derive(Default)]
pub(super) struct Together {
    octets: BytesMut,
    /// One ticket for all of them: nobody asks for it.
    ends: Option<Ends>,
}

impl Together {
    pub(super) const fn is_empty(&self) -> bool {
        self.ends.is_none()
    }
}

/// What became of a message that may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joined {
    /// It waits. The driver sees to it that it does not wait long.
    Waits,
    /// It is queued, and enough wait by now to be written.
    Enough,
    /// It is not: nothing more is taken.
    Closed,
    /// It is not: it has to be queued by itself.
    Alone,
}

impl Queue {
    /// Has what was put together go behind what is queued: nothing more comes to it.
    pub(super) fn part(&mut self) {
        if let Some(ends) = self.together.ends.take() {
            let octets = core::mem::take(&mut self.together.octets);
            self.messages.push_back(Outgoing {
                octets: Gather::from(octets),
                ends: Some(ends),
            });
        }
    }
}

impl Outbound {
    /// Queues a message that may leave together with others, by putting it behind them.
    pub(crate) fn join(&self, message: &[u8]) -> Joined {
        let most = self.max_fragment().unwrap_or(COPIED_OCTETS);
        if message.len() > COPIED_OCTETS.min(most) {
            return Joined::Alone;
        }
        let mut guard = self.queue();
        let queue = &mut *guard;
        if queue.closed {
            return Joined::Closed;
        }
        match &mut queue.together.ends {
            Some(ends) => {
                ends.octets = ends.octets.wrapping_add(message.len());
                self.count(message.len());
            }
            none => {
                *none = Some(self.issue(message.len()));
                queue.together.octets = buffers::take();
            }
        }
        queue.together.octets.extend_from_slice(message);
        if queue.together.octets.len() >= JOINED_OCTETS {
            queue.part();
        }
        self.wait_for_more(guard)
    }

    /// Whether what has been queued by itself may wait for more, as what is [joined](Self::join) may.
    pub(crate) fn joins_more(&self) -> Joined {
        self.wait_for_more(self.queue())
    }

    #[inline]
    fn wait_for_more(&self, queue: MutexGuard<'_, Queue>) -> Joined {
        if self.queued_octets() >= JOINED_OCTETS {
            return Joined::Enough;
        }
        // Changes only under the lock of the queue: a driver that has taken it down finds the message, too.
        if !self.joined.load(Ordering::Relaxed) {
            self.joined.store(true, Ordering::Release);
            drop(queue);
            self.driver.ring();
        }
        Joined::Waits
    }

    /// Whether something waits for the driver to write it.
    pub(crate) fn has_joined(&self) -> bool {
        self.joined.load(Ordering::Acquire)
    }

    /// For the driver, which writes what is there now: whoever queues more says so anew.
    pub(crate) fn joined(&self) {
        let _queue = self.queue();
        self.joined.store(false, Ordering::Release);
    }

    /// Says that nothing more may be [joined](Self::join), unless something waits to be written; says whether that is so.
    pub(crate) fn close_if_empty(&self) -> bool {
        let mut queue = self.queue();
        queue.closed |= self.queued_octets() == 0;
        queue.closed
    }
}
