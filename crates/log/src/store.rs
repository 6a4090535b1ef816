//! What a service keeps on disk.
//!
//! | table | key | value |
//! |---|---|---|
//! | `logs` | number of a log | its attributes |
//! | `sizes` | number of a log | its records, their octets, the id of the last one, whether there was no room for one |
//! | `records` | number of a log, id of a record | its time; attributes and info |
//! | `times` | number of a log, time, id | |
//! | `removed` | number of a log | its records are to be removed |
//! | `numbers` | name | the number of the last log that was made, which no other gets; the octets of all records |
//!
//! A change is one transaction, on disk before it is answered. What changes many records is several changes.

use crate::ds_log_admin::{LogRecord, NVPair};
use crate::schedule::now;
use crate::stored::{StoredLog, StoredRecord};
use redb::{ReadTransaction, ReadableTable, Table, TableDefinition, WriteTransaction};
use std::ops::ControlFlow;
use std::path::Path;
use zorb::cdr::{
    ByteOrder, Decode, Decoder, EncapsulationVisitor, Encode, NativeEndian, WireFormat,
};
use zorb::{DecodeError, EncodeError, SystemException};
use zorb_service::{Embedded, OpenError, StoreError};

const LOGS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("logs");
const SIZES: TableDefinition<'_, u64, (u64, u64, u64, bool)> = TableDefinition::new("sizes");
const RECORDS: TableDefinition<'_, (u64, u64), (u64, &[u8])> = TableDefinition::new("records");
const TIMES: TableDefinition<'_, (u64, u64, u64), ()> = TableDefinition::new("times");
const REMOVED: TableDefinition<'_, u64, ()> = TableDefinition::new("removed");
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");
/// Rows of [`NUMBERS`].
const LAST_LOG: &str = "last";
const OCTETS: &str = "octets";

/// Records that one change removes or sets the attributes of.
pub(crate) const MAX_CHANGED: usize = 10_000;
/// Records, and their octets, that are read in one transaction.
pub(crate) const MAX_SCANNED: usize = 1_000;
pub(crate) const MAX_SCANNED_OCTETS: usize = 4 * 1024 * 1024;
/// Octets of a record besides its attributes and info: its id and time.
const RECORD_OCTETS: usize = 16;

/// A store of logs, in a folder or in memory.
#[derive(Debug)]
pub struct LogStore {
    store: Embedded<LogTables>,
    is_durable: bool,
}

/// How much a log has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) records: u64,
    pub(crate) octets: u64,
    /// The id of the last record that was written.
    last: u64,
    /// Whether there was no room for a record since records were removed the last time.
    pub(crate) is_full: bool,
}

/// A change of a log.
#[derive(Debug)]
pub(crate) enum Change {
    Create {
        log: u64,
        row: Vec<u8>,
    },
    /// New attributes, with another size, which must be enough for the records there are, if that is one.
    Set {
        log: u64,
        row: Vec<u8>,
        max_size: Option<u64>,
    },
    /// New records, as many as there is room for.
    Write {
        log: u64,
        records: Vec<Vec<u8>>,
        room: Room,
    },
    Annotate {
        log: u64,
        ids: Vec<u64>,
        attributes: Vec<NVPair>,
        room: Room,
    },
    Delete {
        log: u64,
        ids: Vec<u64>,
    },
    /// Removes the oldest records from before a time, [`MAX_CHANGED`] of them.
    Expire {
        log: u64,
        before: u64,
    },
    Destroy {
        log: u64,
    },
    /// Removes [`MAX_CHANGED`] records of a log that was destroyed.
    Purge {
        log: u64,
    },
}

/// The room for records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Octets of the log, 0 for any.
    pub(crate) max_size: u64,
    /// Octets of all logs.
    pub(crate) max_octets: u64,
    /// Whether the oldest records make room for new ones.
    pub(crate) wraps: bool,
}

/// The result of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The log was destroyed.
    Gone,
    /// There are more octets than the size that was to be set.
    TooSmall,
    /// How many records were written, and the octets before and after.
    Written {
        records: usize,
        before: u64,
        after: u64,
    },
    /// How many records were removed or have other attributes.
    Changed(usize),
    /// There is no room for the attributes.
    NoRoom,
}

/// The tables of logs.
#[derive(Debug)]
struct LogTables;

impl zorb_service::Tables for LogTables {
    const FILE: &'static str = "log.redb";
    const FORMAT: u32 = 1;
    type Change = Change;
    type Outcome = Outcome;

    fn create(writing: &WriteTransaction, _: [u8; 16]) -> Result<(), redb::Error> {
        Writing::open(writing).map(|_| ())
    }

    fn apply(
        writing: &WriteTransaction,
        changes: &[&Change],
    ) -> Result<(Vec<Outcome>, bool), redb::Error> {
        let mut writing = Writing::open(writing)?;
        let outcomes: Result<Vec<_>, _> = changes.iter().map(|it| writing.make(it)).collect();
        Ok((outcomes?, writing.is_changed))
    }
}

/// The tables, while a transaction changes them.
struct Writing<'t> {
    logs: Table<'t, u64, &'static [u8]>,
    sizes: Table<'t, u64, (u64, u64, u64, bool)>,
    records: Table<'t, (u64, u64), (u64, &'static [u8])>,
    times: Table<'t, (u64, u64, u64), ()>,
    removed: Table<'t, u64, ()>,
    numbers: Table<'t, &'static str, u64>,
    is_changed: bool,
}

fn cost(octets: usize) -> u64 {
    u64::try_from(octets.saturating_add(RECORD_OCTETS)).unwrap_or(u64::MAX)
}

impl<'t> Writing<'t> {
    fn open(writing: &'t WriteTransaction) -> Result<Self, redb::Error> {
        Ok(Self {
            logs: writing.open_table(LOGS)?,
            sizes: writing.open_table(SIZES)?,
            records: writing.open_table(RECORDS)?,
            times: writing.open_table(TIMES)?,
            removed: writing.open_table(REMOVED)?,
            numbers: writing.open_table(NUMBERS)?,
            is_changed: false,
        })
    }

    fn number(&self, name: &'static str) -> Result<u64, redb::Error> {
        Ok(self.numbers.get(name)?.map_or(0, |number| number.value()))
    }

    fn sizes(&self, log: u64) -> Result<Option<Sizes>, redb::Error> {
        let row = self.sizes.get(log)?;
        Ok(row.map(|row| Sizes::from_row(row.value())))
    }

    /// Stores the sizes of a log, and what has become of the octets of all.
    fn set_sizes(&mut self, log: u64, before: Sizes, after: Sizes) -> Result<(), redb::Error> {
        if before != after {
            self.is_changed = true;
            self.sizes.insert(log, after.to_row())?;
        }
        if before.octets != after.octets {
            let all = self.number(OCTETS)?.saturating_sub(before.octets);
            self.numbers
                .insert(OCTETS, all.saturating_add(after.octets))?;
        }
        Ok(())
    }

    fn make(&mut self, change: &Change) -> Result<Outcome, redb::Error> {
        let log = match change {
            Change::Create { log, row } => {
                self.logs.insert(log, &row[..])?;
                self.sizes.insert(log, Sizes::default().to_row())?;
                let last = self.number(LAST_LOG)?.max(*log);
                self.numbers.insert(LAST_LOG, last)?;
                self.is_changed = true;
                return Ok(Outcome::Done);
            }
            Change::Purge { log } => return self.purge(*log),
            Change::Set { log, .. }
            | Change::Write { log, .. }
            | Change::Annotate { log, .. }
            | Change::Delete { log, .. }
            | Change::Expire { log, .. }
            | Change::Destroy { log } => *log,
        };
        let Some(before) = self.sizes(log)? else {
            return Ok(Outcome::Gone);
        };
        let mut sizes = before;
        let outcome = match change {
            Change::Set { row, max_size, .. } => {
                if let Some(max) = *max_size {
                    if max != 0 && max < sizes.octets {
                        return Ok(Outcome::TooSmall);
                    }
                    sizes.is_full = false;
                }
                self.logs.insert(log, &row[..])?;
                self.is_changed = true;
                Outcome::Done
            }
            Change::Write { records, room, .. } => {
                let records = self.write(log, &mut sizes, records, *room)?;
                Outcome::Written {
                    records,
                    before: before.octets,
                    after: sizes.octets,
                }
            }
            Change::Annotate {
                ids,
                attributes,
                room,
                ..
            } => match self.annotate(log, &mut sizes, ids, attributes, *room)? {
                Some(changed) => Outcome::Changed(changed),
                None => return Ok(Outcome::NoRoom),
            },
            Change::Delete { ids, .. } => {
                let mut changed = 0;
                for id in ids {
                    changed += usize::from(self.remove(log, &mut sizes, *id)?);
                }
                Outcome::Changed(changed)
            }
            Change::Expire { before, .. } => {
                let old = self.times.range((log, 0, 0)..(log, *before, 0))?;
                let old = old.take(MAX_CHANGED).map(|row| Ok(row?.0.value().2));
                let old = old.collect::<Result<Vec<u64>, redb::Error>>()?;
                for id in &old {
                    self.remove(log, &mut sizes, *id)?;
                }
                Outcome::Changed(old.len())
            }
            Change::Destroy { .. } => {
                self.logs.remove(log)?;
                self.sizes.remove(log)?;
                self.removed.insert(log, ())?;
                let all = self.number(OCTETS)?.saturating_sub(sizes.octets);
                self.numbers.insert(OCTETS, all)?;
                self.is_changed = true;
                return Ok(Outcome::Done);
            }
            Change::Create { .. } | Change::Purge { .. } => Outcome::Done,
        };
        self.set_sizes(log, before, sizes)?;
        Ok(outcome)
    }

    /// Removes a record; `false` if there is none.
    fn remove(&mut self, log: u64, sizes: &mut Sizes, id: u64) -> Result<bool, redb::Error> {
        let Some((time, octets)) = self.records.remove((log, id))?.map(|row| {
            let (time, octets) = row.value();
            (time, octets.len())
        }) else {
            return Ok(false);
        };
        self.times.remove((log, time, id))?;
        sizes.records = sizes.records.saturating_sub(1);
        sizes.octets = sizes.octets.saturating_sub(cost(octets));
        sizes.is_full = false;
        Ok(true)
    }

    /// The id of the record that was written first.
    fn oldest(&self, log: u64) -> Result<Option<u64>, redb::Error> {
        let mut records = self.records.range((log, 0)..=(log, u64::MAX))?;
        let oldest = records.next().transpose()?;
        Ok(oldest.map(|(key, _)| key.value().1))
    }

    /// Writes records until there is no room for one; how many were written.
    fn write(
        &mut self,
        log: u64,
        sizes: &mut Sizes,
        records: &[Vec<u8>],
        room: Room,
    ) -> Result<usize, redb::Error> {
        let others = self.number(OCTETS)?.saturating_sub(sizes.octets);
        let max = match room.max_size {
            0 => u64::MAX,
            max => max,
        };
        let max = max.min(room.max_octets.saturating_sub(others));
        let time = now();
        for (written, record) in records.iter().enumerate() {
            let cost = cost(record.len());
            let mut is_full = sizes.is_full;
            while sizes.octets.saturating_add(cost) > max {
                is_full = true;
                if !room.wraps || cost > max {
                    sizes.is_full = true;
                    return Ok(written);
                }
                let Some(oldest) = self.oldest(log)? else {
                    break;
                };
                self.remove(log, sizes, oldest)?;
            }
            sizes.is_full = is_full;
            sizes.last = sizes.last.saturating_add(1);
            self.records
                .insert((log, sizes.last), (time, &record[..]))?;
            self.times.insert((log, time, sizes.last), ())?;
            sizes.records = sizes.records.saturating_add(1);
            sizes.octets = sizes.octets.saturating_add(cost);
        }
        Ok(records.len())
    }

    /// Gives records other attributes: all of them, or none if there is no room. Those that are not there are left out.
    fn annotate(
        &mut self,
        log: u64,
        sizes: &mut Sizes,
        ids: &[u64],
        attributes: &[NVPair],
        room: Room,
    ) -> Result<Option<usize>, redb::Error> {
        let before = sizes.octets;
        let mut rows = Vec::new();
        for id in ids {
            let Some(row) = self.records.get((log, *id))? else {
                continue;
            };
            let (time, octets) = row.value();
            let annotated = read::<StoredRecord>(octets).ok().and_then(|mut record| {
                record.attr_list = attributes.to_vec();
                octets_of(&record).ok()
            });
            let Some(annotated) = annotated else {
                tracing::error!(log, id, "a stored record is malformed");
                continue;
            };
            let less = sizes.octets.saturating_sub(cost(octets.len()));
            sizes.octets = less.saturating_add(cost(annotated.len()));
            rows.push((*id, time, annotated));
        }
        let others = self.number(OCTETS)?.saturating_sub(before);
        let is_too_large = room.max_size != 0 && sizes.octets > room.max_size
            || others.saturating_add(sizes.octets) > room.max_octets;
        if is_too_large && sizes.octets > before {
            return Ok(None);
        }
        for (id, time, record) in &rows {
            self.is_changed = true;
            self.records.insert((log, *id), (*time, &record[..]))?;
        }
        Ok(Some(rows.len()))
    }

    fn purge(&mut self, log: u64) -> Result<Outcome, redb::Error> {
        let rows = self.records.range((log, 0)..=(log, u64::MAX))?;
        let rows = rows.take(MAX_CHANGED).map(|row| {
            let (key, value) = row?;
            Ok((key.value().1, value.value().0))
        });
        let rows = rows.collect::<Result<Vec<(u64, u64)>, redb::Error>>()?;
        for (id, time) in &rows {
            self.records.remove((log, *id))?;
            self.times.remove((log, *time, *id))?;
        }
        if rows.len() < MAX_CHANGED {
            self.removed.remove(log)?;
        }
        self.is_changed = true;
        Ok(Outcome::Changed(rows.len()))
    }
}

impl Sizes {
    const fn from_row((records, octets, last, is_full): (u64, u64, u64, bool)) -> Self {
        Self {
            records,
            octets,
            last,
            is_full,
        }
    }

    const fn to_row(self) -> (u64, u64, u64, bool) {
        (self.records, self.octets, self.last, self.is_full)
    }
}

/// Encodes a value as it is stored.
pub(crate) fn octets_of(value: &impl Encode) -> Result<Vec<u8>, EncodeError> {
    let format = WireFormat::default();
    zorb::cdr::encode_encapsulation::<NativeEndian>(format, |e| e.put(value))
}

/// Reads what [`octets_of`] has written.
struct Read<T>(core::marker::PhantomData<T>);

impl<'de, T: for<'d> Decode<'d>> EncapsulationVisitor<'de> for Read<T> {
    type Output = T;

    fn visit<O: ByteOrder>(self, decoder: &mut Decoder<'de, O>) -> Result<T, DecodeError> {
        T::decode(decoder)
    }
}

fn read<T: for<'d> Decode<'d>>(octets: &[u8]) -> Result<T, DecodeError> {
    let format = WireFormat::default();
    zorb::cdr::decode_encapsulation(octets, format, Read(core::marker::PhantomData))
}

/// An order of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Ids,
    Times,
    TimesBackwards,
}

/// A place in an order: time, which is 0 in the order of ids, and id.
pub(crate) type Place = (u64, u64);

/// A record as it is stored.
pub(crate) struct Kept<'a> {
    pub(crate) id: u64,
    time: u64,
    octets: &'a [u8],
}

impl Kept<'_> {
    /// The octets that it counts for.
    pub(crate) const fn octets(&self) -> usize {
        self.octets.len().saturating_add(RECORD_OCTETS)
    }

    /// The record; `None`, and logged, if it is malformed.
    pub(crate) fn record(&self) -> Option<LogRecord> {
        match read::<StoredRecord>(self.octets) {
            Ok(StoredRecord { attr_list, info }) => Some(LogRecord {
                id: self.id,
                time: self.time,
                attr_list,
                info,
            }),
            Err(error) => {
                tracing::error!(id = self.id, %error, "a stored record is malformed");
                None
            }
        }
    }
}

/// A log as it is stored, with its number.
pub(crate) type KeptLog = (u64, StoredLog);

impl LogStore {
    /// Opens the store in a folder, and makes what is missing. Blocks on the disk.
    ///
    /// # Errors
    /// [`OpenError`], of which [`InUse`](OpenError::InUse) means that another process has it open.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let store = Embedded::open(folder)?;
        let is_durable = true;
        Ok(Self { store, is_durable })
    }

    /// Makes a store that ends with the process.
    ///
    /// # Errors
    /// There is no memory, or no thread.
    pub fn in_memory() -> Result<Self, OpenError> {
        let store = Embedded::in_memory()?;
        let is_durable = false;
        Ok(Self { store, is_durable })
    }

    pub(crate) fn id(&self) -> u128 {
        u128::from_be_bytes(self.store.id())
    }

    pub(crate) const fn is_durable(&self) -> bool {
        self.is_durable
    }

    pub(crate) async fn change(&self, change: Change) -> Result<Outcome, StoreError> {
        self.store.change(change).await
    }

    fn read<R>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<R, redb::Error>,
    ) -> Result<R, SystemException> {
        let done = self.store.read(read);
        done.map_err(|error| error.raise())
    }

    /// All logs, and the number of the last one that was made. What is malformed is left out, and logged.
    pub(crate) fn load(&self) -> Result<(Vec<KeptLog>, u64), SystemException> {
        self.read(|reading| {
            let mut all = Vec::new();
            for row in reading.open_table(LOGS)?.iter()? {
                let (number, row) = row?;
                let number = number.value();
                match read::<StoredLog>(row.value()) {
                    Ok(stored) => all.push((number, stored)),
                    Err(error) => tracing::error!(number, %error, "a stored log is malformed"),
                }
            }
            let last = reading.open_table(NUMBERS)?.get(LAST_LOG)?;
            Ok((all, last.map_or(0, |number| number.value())))
        })
    }

    /// Logs that were destroyed, and whose records are still there.
    pub(crate) fn removed(&self) -> Result<Vec<u64>, SystemException> {
        self.read(|reading| {
            let removed = reading.open_table(REMOVED)?;
            let removed = removed.iter()?.map(|row| Ok(row?.0.value()));
            removed.collect()
        })
    }

    pub(crate) fn sizes(&self, log: u64) -> Result<Option<Sizes>, SystemException> {
        self.read(|reading| {
            let row = reading.open_table(SIZES)?.get(log)?;
            Ok(row.map(|row| Sizes::from_row(row.value())))
        })
    }

    /// The time of the oldest record.
    pub(crate) fn oldest(&self, log: u64) -> Result<Option<u64>, SystemException> {
        self.read(|reading| {
            let times = reading.open_table(TIMES)?;
            let mut rows = times.range((log, 0, 0)..=(log, u64::MAX, u64::MAX))?;
            let oldest = rows.next().transpose()?;
            Ok(oldest.map(|(key, _)| key.value().1))
        })
    }

    pub(crate) fn record(&self, log: u64, id: u64) -> Result<Option<LogRecord>, SystemException> {
        self.read(|reading| {
            let row = reading.open_table(RECORDS)?.get((log, id))?;
            Ok(row.and_then(|row| {
                let (time, octets) = row.value();
                Kept { id, time, octets }.record()
            }))
        })
    }

    /// Visits records from a place on, until it is told to stop, or has read [`MAX_SCANNED`] records or [`MAX_SCANNED_OCTETS`].
    /// Gives the place of the first that was not visited, or at which it was told to stop; `None` at the end. Blocks on the disk.
    pub(crate) fn scan(
        &self,
        log: u64,
        order: Order,
        from: Place,
        mut visit: impl FnMut(&Kept<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Place>, SystemException> {
        let (mut records, mut octets) = (0_usize, 0_usize);
        let mut visit = |place: Place, time: u64, found: &[u8]| {
            if records >= MAX_SCANNED || octets >= MAX_SCANNED_OCTETS {
                return Some(place);
            }
            records = records.saturating_add(1);
            let kept = Kept {
                id: place.1,
                time,
                octets: found,
            };
            octets = octets.saturating_add(kept.octets());
            visit(&kept).is_break().then_some(place)
        };
        let (time, id) = from;
        self.read(|reading| {
            let table = reading.open_table(RECORDS)?;
            if order == Order::Ids {
                for row in table.range((log, id)..=(log, u64::MAX))? {
                    let (key, row) = row?;
                    let (time, octets) = row.value();
                    if let Some(place) = visit((0, key.value().1), time, octets) {
                        return Ok(Some(place));
                    }
                }
                return Ok(None);
            }
            let times = reading.open_table(TIMES)?;
            let range = match order {
                Order::TimesBackwards => (log, 0, 0)..=(log, time, id),
                _ => (log, time, id)..=(log, u64::MAX, u64::MAX),
            };
            let mut range = times.range(range)?;
            while let Some(row) = match order {
                Order::TimesBackwards => range.next_back(),
                _ => range.next(),
            } {
                let (_, time, id) = row?.0.value();
                if let Some(row) = table.get((log, id))?
                    && let Some(place) = visit((time, id), time, row.value().1)
                {
                    return Ok(Some(place));
                }
            }
            Ok(None)
        })
    }

    pub(crate) async fn close(&self) {
        self.store.close().await;
    }
}
