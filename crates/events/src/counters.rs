//! What has happened to events.

use std::sync::atomic::{AtomicU64, Ordering};

/// What has happened to the events of a service since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Events that suppliers have sent and that were accepted.
    pub published: u64,
    /// Deliveries: an event that ten consumers have got counts as ten.
    pub delivered: u64,
    /// Deliveries that may have been the second one of the event to the consumer: the first was not confirmed.
    pub redelivered: u64,
    /// Events that a full queue has discarded, by the discard policy of its consumer.
    pub discarded: u64,
    /// Events whose time was over before they were delivered.
    pub expired: u64,
    /// Events whose delivery failed and was not tried again, since the consumer may have got them.
    pub unconfirmed: u64,
    /// Consumers and suppliers that were disconnected since they did not answer.
    pub evicted: u64,
}

/// The counters as they are counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) published: AtomicU64,
    pub(crate) delivered: AtomicU64,
    pub(crate) redelivered: AtomicU64,
    pub(crate) discarded: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) unconfirmed: AtomicU64,
    pub(crate) evicted: AtomicU64,
}

pub(crate) fn add(counter: &AtomicU64, more: usize) {
    let more = u64::try_from(more).unwrap_or(u64::MAX);
    counter.fetch_add(more, Ordering::Relaxed);
}

impl Counts {
    pub(crate) fn get(&self) -> Counters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            published: get(&self.published),
            delivered: get(&self.delivered),
            redelivered: get(&self.redelivered),
            discarded: get(&self.discarded),
            expired: get(&self.expired),
            unconfirmed: get(&self.unconfirmed),
            evicted: get(&self.evicted),
        }
    }
}
