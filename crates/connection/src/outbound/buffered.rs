//! Buffered one-way requests: a batch that leaves when a limit of its senders is reached, rather than a millisecond after
//! its first message.

use super::super::sync::time::Instant;
use super::super::sync::writes::MutexGuard;
use super::super::sync::writes::Ordering;
use super::batch::Batched;
use super::{MAX_QUEUED_OCTETS, Outbound, Queue};
use core::time::Duration;

/// The limits up to which one-way requests wait for others on their connection. All waiting requests are written as soon as one of the
/// limits is reached, or with any other request on the connection. Without a limit requests do not wait.
///
/// At most 1 MiB waits on a connection. Source: TAO's `BufferingConstraint`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a limit for each way to count")]
pub struct Buffering {
    /// The limit on waiting requests; `None` for no limit of this kind.
    pub messages: Option<u32>,
    /// The limit on octets of waiting requests, headers included; `None` for no limit of this kind.
    pub octets: Option<u32>,
    /// The limit on the time since the first waiting request was added; `None` for no limit of this kind.
    pub time: Option<Duration>,
}

impl Buffering {
    /// Whether the waiting requests have reached one of the limits, and have to be written.
    fn is_reached_by(&self, waiting: &HeldBatch) -> bool {
        let is_reached = |limit: Option<u32>, number: usize| {
            limit.is_some_and(|limit| number >= usize::try_from(limit).unwrap_or(usize::MAX))
        };
        is_reached(self.messages, waiting.messages)
            || is_reached(self.octets, waiting.octets)
            || self.time.is_some_and(|time| time.is_zero())
            || *self == Self::default()
    }
}

/// The latest time at which the driver has to write a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// A millisecond after its first message.
    Soon,
    /// At this time.
    At(Instant),
}

/// The buffered messages of a queue.
#[derive(Debug, Default)]
pub(super) struct HeldBatch {
    messages: usize,
    octets: usize,
    /// `None`: the driver does not write it.
    pub(super) due: Option<Due>,
}

impl Outbound {
    /// Adds a message to the batch, which is written within `limits`.
    pub(crate) fn buffer(&self, message: &[u8], limits: &Buffering) -> Batched {
        match self.append(message) {
            Ok(queue) => self.wait_within(queue, message.len(), limits),
            Err(other) => other,
        }
    }

    /// Lets the message that was queued last, of so many octets, wait within `limits`.
    pub(crate) fn buffer_queued(&self, octets: usize, limits: &Buffering) -> Batched {
        self.wait_within(self.queue(), octets, limits)
    }

    fn wait_within(
        &self,
        mut queue: MutexGuard<'_, Queue>,
        octets: usize,
        limits: &Buffering,
    ) -> Batched {
        let waiting = &mut queue.waiting_batch;
        waiting.messages = waiting.messages.saturating_add(1);
        waiting.octets = waiting.octets.saturating_add(octets);
        if limits.is_reached_by(waiting) || self.queued_octets() >= MAX_QUEUED_OCTETS {
            return Batched::Full;
        }
        let at = (limits.time).and_then(|time| Instant::now().checked_add(time));
        let due = match (waiting.due, at) {
            (due, None) | (due @ Some(Due::Soon), _) => due,
            (None, Some(at)) => Some(Due::At(at)),
            (Some(Due::At(before)), Some(at)) => Some(Due::At(before.min(at))),
        };
        if due != waiting.due {
            waiting.due = due;
            self.batched.store(true, Ordering::Release);
            drop(queue);
            self.driver.notify();
        }
        Batched::Waits
    }

    /// When the driver has to write the batch; `None` if no batch waits for the driver.
    pub(crate) fn batch_due(&self) -> Option<Due> {
        if !self.has_batch() {
            return None;
        }
        let queue = self.queue();
        let due = queue.waiting_batch.due;
        if due.is_none() {
            // Another writer has written the batch.
            self.batched.store(false, Ordering::Release);
        }
        due
    }
}
