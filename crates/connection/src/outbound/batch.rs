//! Batches: messages of SYNC_NONE that are put together and leave by one system call.

use super::super::sync::writes::{MutexGuard, Ordering};
use super::buffered::{Due, HeldBatch};
use super::{Outbound, Outgoing, Queue, Queued};
use bytes::BytesMut;
use zorb_cdr::Gather;
use zorb_giop::buffers;

/// Octets of a full batch. A larger one would hardly lower the share of the system call in the cost of a message.
pub(crate) const FULL_BATCH_OCTETS: usize = 16 << 10;
/// Longest message that is copied into a batch: copying a longer one costs more than another chunk.
const MAX_COPIED_OCTETS: usize = 2 << 10;

/// The batch at the end of a queue, after all messages in one piece.
#[derive(Default)]
pub(super) struct Batch {
    octets: BytesMut,
    /// One ticket for all messages: their senders have none.
    queued: Option<Queued>,
}

impl Batch {
    pub(super) const fn is_empty(&self) -> bool {
        self.queued.is_none()
    }

    /// The ticket and the octets that stand for its messages.
    pub(super) const fn queued(&self) -> Option<Queued> {
        self.queued
    }
}

/// The result of adding a message to the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Batched {
    /// The message waits; the driver writes the batch soon.
    Waits,
    /// The message is queued, and the batch is full.
    Full,
    /// The queue is closed.
    Closed,
    /// The message has to be queued by itself.
    Separate,
}

impl Queue {
    /// Moves the batch to the end of the queue: no further message is added to it.
    pub(super) fn seal_batch(&mut self) {
        if let Some(queued) = self.batch.queued.take() {
            let octets = core::mem::take(&mut self.batch.octets);
            self.messages.push_back(Outgoing {
                octets: Gather::from(octets),
                completes: Some(queued),
            });
        }
    }
}

impl Outbound {
    /// Adds a message to the batch.
    pub(crate) fn batch(&self, message: &[u8]) -> Batched {
        match self.append(message) {
            Ok(queue) => self.wait_for_more(queue),
            Err(other) => other,
        }
    }

    /// Appends a message to the batch.
    #[inline]
    pub(super) fn append(&self, message: &[u8]) -> Result<MutexGuard<'_, Queue>, Batched> {
        let most = self.max_fragment().unwrap_or(MAX_COPIED_OCTETS);
        if message.len() > MAX_COPIED_OCTETS.min(most) {
            return Err(Batched::Separate);
        }
        let mut guard = self.queue();
        let queue = &mut *guard;
        if queue.closed {
            return Err(Batched::Closed);
        }
        match &mut queue.batch.queued {
            Some(queued) => {
                queued.octets = queued.octets.wrapping_add(message.len());
                let more = Queued {
                    octets: message.len(),
                    ..*queued
                };
                self.count(queue, more);
            }
            None => {
                queue.batch.queued = Some(self.issue(queue, message.len(), true));
                queue.batch.octets = buffers::take();
            }
        }
        queue.batch.octets.extend_from_slice(message);
        if queue.batch.octets.len() >= FULL_BATCH_OCTETS {
            queue.seal_batch();
        }
        Ok(guard)
    }

    /// Lets the queued messages wait as a part of a batch, which the driver writes.
    pub(crate) fn batch_queued(&self) -> Batched {
        self.wait_for_more(self.queue())
    }

    #[inline]
    fn wait_for_more(&self, mut queue: MutexGuard<'_, Queue>) -> Batched {
        if self.queued_octets() >= FULL_BATCH_OCTETS {
            return Batched::Full;
        }
        // `due` changes only under the lock of the queue: a driver that has cleared it finds the message, too.
        if queue.waiting_batch.due != Some(Due::Soon) {
            queue.waiting_batch.due = Some(Due::Soon);
            self.batched.store(true, Ordering::Release);
            drop(queue);
            self.driver.notify();
        }
        Batched::Waits
    }

    /// Whether a batch waits for the driver to write it.
    pub(crate) fn has_batch(&self) -> bool {
        self.batched.load(Ordering::Acquire)
    }

    /// Clears the flag of the batch, before the driver writes it: later messages set it anew.
    pub(crate) fn clear_batch(&self) {
        let mut queue = self.queue();
        queue.waiting_batch = HeldBatch::default();
        self.batched.store(false, Ordering::Release);
    }

    /// Closes the queue to [batched](Self::batch) messages, unless messages wait to be written. Returns whether it is closed.
    pub(crate) fn close_if_empty(&self) -> bool {
        let mut queue = self.queue();
        queue.closed |= self.queued_octets() == 0;
        queue.closed
    }
}
