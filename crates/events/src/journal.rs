//! What a service keeps on disk: its channels and proxies, the events that are not delivered, and how far each consumer is.
//!
//! | table | key | value |
//! |---|---|---|
//! | `channels` | channel | its name, quality of service and administration |
//! | `proxies` | channel, number | a proxy, an admin or a filter |
//! | `events` | channel, number | the event |
//! | `progress` | channel, proxy | the number of the last event up to which all are delivered |
//!
//! An event is stored before its supplier has a reply, and delivered thereafter, in the order of the numbers. How far consumers are
//! is stored with the next events or within [`FLUSHED_EVERY`]: after a crash events may be delivered twice, and none is lost.

use crate::channel::{Channel, Published};
use redb::{ReadableTable, TableDefinition, WriteTransaction};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zorb_service::{Embedded, OpenError, StoreError};

/// How long progress may be in memory alone.
pub(crate) const FLUSHED_EVERY: Duration = Duration::from_millis(500);

const CHANNELS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("channels");
const PROXIES: TableDefinition<'_, (u32, u32), &[u8]> = TableDefinition::new("proxies");
const EVENTS: TableDefinition<'_, (u32, u64), &[u8]> = TableDefinition::new("events");
const PROGRESS: TableDefinition<'_, (u32, u32), u64> = TableDefinition::new("progress");

/// A channel or proxy: channel, and proxy; `None` for the channel itself.
pub(crate) type ObjectKey = (u32, Option<u32>);

/// Consumers, by channel and proxy, with the number up to which they have all events.
type Moved = Vec<((u32, u32), u64)>;

/// How far consumers are that have moved on since it was last stored.
type Progress = Arc<Mutex<BTreeMap<(u32, u32), u64>>>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) enum Change {
    /// Events of a channel. Those that are not stored go the same way, so that the order of all is one.
    Publish {
        channel: Arc<Channel>,
        events: Vec<Published>,
        progress: Progress,
    },
    Put {
        key: ObjectKey,
        value: Vec<u8>,
        /// Where a new consumer begins.
        progress: Option<u64>,
    },
    Remove(ObjectKey),
    Flush(Progress),
}

impl std::fmt::Debug for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Publish { .. } => "Publish",
            Self::Put { .. } => "Put",
            Self::Remove(_) => "Remove",
            Self::Flush(_) => "Flush",
        })
    }
}

/// The number of the first event of a change, and the progress that was stored with it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    first: u64,
    stored: Moved,
}

/// The tables of events.
#[derive(Debug)]
pub(crate) struct EventTables;

/// Stores how far consumers are, and removes events that all have. What was stored.
fn store_progress(writing: &WriteTransaction, progress: &Progress) -> Result<Moved, redb::Error> {
    let moved = locked(progress).clone();
    if moved.is_empty() {
        return Ok(Vec::new());
    }
    let mut table = writing.open_table(PROGRESS)?;
    let mut channels = std::collections::BTreeSet::new();
    for (key, number) in &moved {
        // A proxy that was removed meanwhile has none.
        if table.get(key)?.is_some() {
            table.insert(key, number)?;
            channels.insert(key.0);
        }
    }
    let mut events = writing.open_table(EVENTS)?;
    for channel in channels {
        trim(channel, &table, &mut events)?;
    }
    Ok(moved.into_iter().collect())
}

/// Removes the events of a channel that all its consumers have.
fn trim(
    channel: u32,
    progress: &redb::Table<'_, (u32, u32), u64>,
    events: &mut redb::Table<'_, (u32, u64), &'static [u8]>,
) -> Result<(), redb::Error> {
    let mut least = u64::MAX;
    for row in progress.range((channel, 0)..=(channel, u32::MAX))? {
        least = least.min(row?.1.value());
    }
    events.retain_in((channel, 0)..=(channel, least), |_, _| false)?;
    Ok(())
}

impl zorb_service::Tables for EventTables {
    const FILE: &'static str = "events.redb";
    const FORMAT: u32 = 2;
    type Change = Change;
    type Outcome = Outcome;

    fn create(writing: &WriteTransaction, _: [u8; 16]) -> Result<(), redb::Error> {
        writing.open_table(CHANNELS)?;
        writing.open_table(PROXIES)?;
        writing.open_table(EVENTS)?;
        writing.open_table(PROGRESS)?;
        Ok(())
    }

    fn apply(
        writing: &WriteTransaction,
        changes: &[&Change],
    ) -> Result<(Vec<Outcome>, bool), redb::Error> {
        let mut outcomes = Vec::with_capacity(changes.len());
        let mut is_changed = false;
        for change in changes {
            match change {
                Change::Publish {
                    channel,
                    events,
                    progress,
                } => {
                    let stored = store_progress(writing, progress)?;
                    is_changed |= !stored.is_empty();
                    let first = channel.reserve_numbers(events.len());
                    // Without a consumer that is kept there is nothing to keep an event for.
                    if channel.has_kept_consumers() {
                        let mut table = writing.open_table(EVENTS)?;
                        for (number, published) in (first..).zip(events) {
                            if let Some(octets) = &published.octets {
                                table.insert((channel.number(), number), &octets[..])?;
                                is_changed = true;
                            }
                        }
                    }
                    outcomes.push(Outcome { first, stored });
                    continue;
                }
                Change::Put {
                    key: (channel, None),
                    value,
                    ..
                } => {
                    writing.open_table(CHANNELS)?.insert(channel, &value[..])?;
                }
                Change::Put {
                    key: (channel, Some(proxy)),
                    value,
                    progress,
                } => {
                    let key = (*channel, *proxy);
                    writing.open_table(PROXIES)?.insert(key, &value[..])?;
                    if let Some(number) = progress {
                        writing.open_table(PROGRESS)?.insert(key, number)?;
                    }
                }
                Change::Remove((channel, None)) => {
                    let of_channel = (*channel, 0)..=(*channel, u32::MAX);
                    writing.open_table(CHANNELS)?.remove(channel)?;
                    writing
                        .open_table(PROXIES)?
                        .retain_in(of_channel.clone(), |_, _| false)?;
                    writing
                        .open_table(PROGRESS)?
                        .retain_in(of_channel, |_, _| false)?;
                    writing
                        .open_table(EVENTS)?
                        .retain_in((*channel, 0)..=(*channel, u64::MAX), |_, _| false)?;
                }
                Change::Remove((channel, Some(proxy))) => {
                    let key = (*channel, *proxy);
                    writing.open_table(PROXIES)?.remove(key)?;
                    let mut progress = writing.open_table(PROGRESS)?;
                    progress.remove(key)?;
                    trim(*channel, &progress, &mut writing.open_table(EVENTS)?)?;
                }
                Change::Flush(progress) => {
                    let stored = store_progress(writing, progress)?;
                    is_changed |= !stored.is_empty();
                    outcomes.push(Outcome { first: 0, stored });
                    continue;
                }
            }
            is_changed = true;
            outcomes.push(Outcome::default());
        }
        Ok((outcomes, is_changed))
    }

    fn committed(change: &Change, outcome: &Outcome) {
        let progress = match change {
            Change::Publish {
                channel,
                events,
                progress,
            } => {
                channel.fan_out(outcome.first, events);
                progress
            }
            Change::Flush(progress) => progress,
            _ => return,
        };
        let mut progress = locked(progress);
        for (key, number) in &outcome.stored {
            if progress.get(key) == Some(number) {
                progress.remove(key);
            }
        }
    }
}

/// The store of a service.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Embedded<EventTables>,
    progress: Progress,
}

/// What is stored of a channel.
pub(crate) struct Kept {
    pub(crate) number: u32,
    pub(crate) value: Vec<u8>,
    /// Number, value and progress of its proxies, admins and filters.
    pub(crate) objects: Vec<(u32, Vec<u8>, Option<u64>)>,
    /// Events that are not delivered to all, in their order.
    pub(crate) events: Vec<(u64, Vec<u8>)>,
}

impl Journal {
    pub(crate) fn open(folder: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            store: Embedded::open(folder)?,
            progress: Progress::default(),
        })
    }

    pub(crate) fn id(&self) -> [u8; 16] {
        self.store.id()
    }

    /// What is stored, by channel.
    pub(crate) fn load(&self) -> Result<Vec<Kept>, StoreError> {
        self.store.read(|reading| {
            let proxies = reading.open_table(PROXIES)?;
            let progress = reading.open_table(PROGRESS)?;
            let events = reading.open_table(EVENTS)?;
            let mut channels = Vec::new();
            for row in reading.open_table(CHANNELS)?.iter()? {
                let (number, value) = row?;
                let number = number.value();
                let mut kept = Kept {
                    number,
                    value: value.value().to_vec(),
                    objects: Vec::new(),
                    events: Vec::new(),
                };
                for row in proxies.range((number, 0)..=(number, u32::MAX))? {
                    let (key, value) = row?;
                    let progress = progress.get(key.value())?.map(|row| row.value());
                    kept.objects
                        .push((key.value().1, value.value().to_vec(), progress));
                }
                for row in events.range((number, 0)..=(number, u64::MAX))? {
                    let (key, value) = row?;
                    kept.events.push((key.value().1, value.value().to_vec()));
                }
                channels.push(kept);
            }
            Ok(channels)
        })
    }

    /// Stores events, and has the channel give them to its consumers.
    pub(crate) async fn publish(
        &self,
        channel: Arc<Channel>,
        events: Vec<Published>,
    ) -> Result<(), StoreError> {
        let progress = Arc::clone(&self.progress);
        let change = Change::Publish {
            channel,
            events,
            progress,
        };
        self.store.change(change).await.map(|_| ())
    }

    pub(crate) async fn put(
        &self,
        key: ObjectKey,
        value: Vec<u8>,
        progress: Option<u64>,
    ) -> Result<(), StoreError> {
        let change = Change::Put {
            key,
            value,
            progress,
        };
        self.store.change(change).await.map(|_| ())
    }

    pub(crate) async fn remove(&self, key: ObjectKey) -> Result<(), StoreError> {
        self.store.change(Change::Remove(key)).await.map(|_| ())
    }

    /// Notes how far a consumer is. Stored later.
    pub(crate) fn moved(&self, channel: u32, proxy: u32, number: u64) {
        locked(&self.progress).insert((channel, proxy), number);
    }

    pub(crate) async fn flush(&self) -> Result<(), StoreError> {
        if locked(&self.progress).is_empty() {
            return Ok(());
        }
        let change = Change::Flush(Arc::clone(&self.progress));
        self.store.change(change).await.map(|_| ())
    }

    pub(crate) async fn close(&self) {
        let _ = self.flush().await;
        self.store.close().await;
    }
}
