//! Tables of slots with generations: an index finds its own entry in constant time, or none.
//!
//! Reading is wait-free: a load of the chunk's pointer (set once, never moved), a bounds check, an atomic load of the entry
//! and a comparison of its generation. Writing takes a short lock.

use crate::sync::{ArcSwapOption, Mutex, MutexGuard, OnceLock};
use core::fmt;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

/// The index of an entry: a slot, and the generation of its entry. An index is not reused for another entry: a slot whose
/// generations are used up stays empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Index {
    /// The number of the slot, from 0.
    pub slot: u32,
    /// The number of the entry in the slot, from 0.
    pub generation: u32,
}

/// The error of a table that holds as many entries as it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the table holds its limit of {limit} entries")]
pub struct TableFull {
    /// The limit, in entries.
    pub limit: usize,
}

/// The error of an index without an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index finds no entry")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct NotInTable;

/// Slots of the first chunk; each further chunk doubles the table.
const FIRST_CHUNK: usize = if cfg!(zorb_model) { 1 } else { 64 };
/// The number of chunks, for at most 64 · 2^23 slots, some 500 million. Models have few slots, so that their tables grow.
const CHUNKS: usize = if cfg!(zorb_model) { 4 } else { 24 };

type Slot<T> = ArcSwapOption<T>;

/// An entry of a table, which stores the generation of its index.
pub trait Tenant {
    /// The generation of its index, which must not change.
    fn generation(&self) -> u32;
}

/// A table of `Arc<T>`, read without locks, by indexes that are never reused for another entry.
pub struct Table<T> {
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    writer: Mutex<Writer>,
}

struct Writer {
    /// Free slots and the generation of their next tenant.
    free: Vec<Index>,
    /// Reserved indexes, which have no entry yet.
    reserved: HashSet<Index>,
    /// The number of slots used so far.
    used: u32,
}

/// The chunk of a slot, and the offset in that chunk.
fn place(slot: u32) -> (usize, usize) {
    // Chunk 0 holds slots 0..64, chunk k (k > 0) holds 64·2^(k-1) .. 64·2^k.
    let slot = slot as usize;
    if slot < FIRST_CHUNK {
        (0, slot)
    } else {
        let chunk = (slot / FIRST_CHUNK).ilog2() as usize;
        // The slots before this chunk are the highest power of two that is not above its own number.
        (
            chunk.wrapping_add(1),
            slot.wrapping_sub(FIRST_CHUNK << chunk),
        )
    }
}

fn chunk_len(chunk: usize) -> usize {
    FIRST_CHUNK << chunk.saturating_sub(1)
}

fn is_tenant<T: Tenant>(slot: &Slot<T>, index: Index) -> bool {
    slot.load()
        .as_ref()
        .is_some_and(|tenant| tenant.generation() == index.generation)
}

impl<T> Table<T> {
    fn writer(&self) -> MutexGuard<'_, Writer> {
        // No code panics under this lock, so its data is consistent.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Tenant> Table<T> {
    /// Makes an empty table. Allocates nothing before the first entry.
    #[must_use]
    pub fn new() -> Self {
        Self {
            chunks: core::array::from_fn(|_| OnceLock::new()),
            writer: Mutex::new(Writer {
                free: Vec::new(),
                reserved: HashSet::new(),
                used: 0,
            }),
        }
    }

    fn slot(&self, slot: u32) -> Option<&Slot<T>> {
        let (chunk, at) = place(slot);
        self.chunks.get(chunk)?.get()?.get(at)
    }

    /// An unused index, for the caller alone.
    fn take(&self) -> Result<Index, TableFull> {
        let mut writer = self.writer();
        if let Some(index) = writer.free.pop() {
            return Ok(index);
        }
        let slot = writer.used;
        let (chunk, _) = place(slot);
        let full = TableFull {
            limit: FIRST_CHUNK << (CHUNKS - 1),
        };
        let chunk_of = self.chunks.get(chunk).ok_or(full)?;
        chunk_of.get_or_init(|| {
            (0..chunk_len(chunk))
                .map(|_| ArcSwapOption::empty())
                .collect()
        });
        writer.used = slot.checked_add(1).ok_or(full)?;
        Ok(Index {
            slot,
            generation: 0,
        })
    }

    /// Stores an entry, and returns the earlier one, to be dropped without a lock held: its drop may run any code.
    fn put(&self, index: Index, value: Arc<T>) -> Option<Arc<T>> {
        debug_assert_eq!(value.generation(), index.generation);
        self.slot(index.slot)?.swap(Some(value))
    }

    /// Inserts the entry that `make` makes for its index, and returns both.
    ///
    /// # Errors
    /// [`TableFull`] if some 500 million slots are in use, or have used their generations up.
    pub fn insert_with(
        &self,
        make: impl FnOnce(Index) -> Arc<T>,
    ) -> Result<(Index, Arc<T>), TableFull> {
        let index = self.take()?;
        let entry = make(index);
        self.put(index, Arc::clone(&entry));
        Ok((index, entry))
    }

    /// Reserves an index that finds no entry until it is [filled](Self::fill).
    ///
    /// # Errors
    /// [`TableFull`] if some 500 million slots are in use, or have used their generations up.
    pub fn reserve(&self) -> Result<Index, TableFull> {
        let index = self.take()?;
        self.writer().reserved.insert(index);
        Ok(index)
    }

    /// Stores the entry of a [reserved](Self::reserve) index. Returns `false`, and does nothing, if the index was not reserved,
    /// or was filled before.
    pub fn fill(&self, index: Index, value: Arc<T>) -> bool {
        self.fill_if(index, value, || true)
    }

    /// [Fills](Self::fill) an index, unless `is_free` returns `false`: it stays reserved then.
    pub(crate) fn fill_if(
        &self,
        index: Index,
        value: Arc<T>,
        is_free: impl FnOnce() -> bool,
    ) -> bool {
        let Some(slot) = self.slot(index.slot) else {
            return false;
        };
        let mut writer = self.writer();
        if !writer.reserved.contains(&index) || !is_free() {
            return false;
        }
        writer.reserved.remove(&index);
        // Stored under the lock, so that the index is known throughout. The slot was empty, so no entry is dropped here.
        slot.store(Some(value));
        true
    }

    /// Replaces the entry of an index, or fills a reserved index, and returns the earlier entry.
    ///
    /// # Errors
    /// `value`, with nothing done, if the index has no entry and is not reserved.
    pub fn replace(&self, index: Index, value: Arc<T>) -> Result<Option<Arc<T>>, Arc<T>> {
        let Some(slot) = self.slot(index.slot) else {
            return Err(value);
        };
        let mut writer = self.writer();
        if !writer.reserved.remove(&index) && !is_tenant(slot, index) {
            return Err(value);
        }
        Ok(self.put(index, value))
    }

    /// Replaces the entry at `index` by `value` if it still is `before`, by address, and returns whether it did; otherwise
    /// drops `value`. Takes the lock of writers; readers do not wait.
    pub fn replace_if(&self, index: Index, value: Arc<T>, before: &Arc<T>) -> bool {
        let Some(slot) = self.slot(index.slot) else {
            return false;
        };
        let writer = self.writer();
        let is_there = slot
            .load()
            .as_ref()
            .is_some_and(|entry| Arc::ptr_eq(entry, before));
        let replaced = is_there.then(|| slot.swap(Some(value)));
        drop(writer);
        replaced.is_some()
    }

    /// Whether the index has an entry, or is reserved for one.
    pub fn is_given_out(&self, index: Index) -> bool {
        if self.with(index, |_| ()).is_some() {
            return true;
        }
        // Checked again under the lock: the index may be filled or vacated at the same time.
        let writer = self.writer();
        writer.reserved.contains(&index)
            || (self.slot(index.slot)).is_some_and(|slot| is_tenant(slot, index))
    }

    /// Calls `read` with the entry of an index; `None` if there is none. Wait-free.
    #[inline]
    pub fn with<R>(&self, index: Index, read: impl FnOnce(&Arc<T>) -> R) -> Option<R> {
        let tenant = self.slot(index.slot)?.load();
        let tenant = tenant.as_ref()?;
        (tenant.generation() == index.generation).then(|| read(tenant))
    }

    /// Removes an entry, or releases a [reserved](Self::reserve) index. The index is not used again.
    ///
    /// # Errors
    /// [`NotInTable`] if the index has no entry and is not reserved.
    pub fn remove(&self, index: Index) -> Result<Option<Arc<T>>, NotInTable> {
        self.take_out(index, |writer| {
            if let Some(generation) = index.generation.checked_add(1) {
                writer.free.push(Index {
                    slot: index.slot,
                    generation,
                });
            }
        })
    }

    /// Removes an entry, and keeps its index [reserved](Self::reserve), to be filled again.
    ///
    /// # Errors
    /// [`NotInTable`] if the index has no entry and is not reserved.
    pub fn vacate(&self, index: Index) -> Result<Option<Arc<T>>, NotInTable> {
        self.take_out(index, |writer| {
            writer.reserved.insert(index);
        })
    }

    /// Removes and returns an entry. The caller drops it without the lock, as its drop may use this table.
    fn take_out(
        &self,
        index: Index,
        then: impl FnOnce(&mut Writer),
    ) -> Result<Option<Arc<T>>, NotInTable> {
        let slot = self.slot(index.slot).ok_or(NotInTable)?;
        let mut writer = self.writer();
        if !writer.reserved.remove(&index) && !is_tenant(slot, index) {
            return Err(NotInTable);
        }
        let gone = slot.swap(None);
        then(&mut writer);
        Ok(gone)
    }

    /// Removes all entries and returns them.
    pub fn drain(&self) -> Vec<Arc<T>> {
        let (used, reserved) = {
            let mut writer = self.writer();
            (writer.used, core::mem::take(&mut writer.reserved))
        };
        drop(reserved);
        let generation = |slot: &Slot<T>| slot.load().as_ref().map(|tenant| tenant.generation());
        (0..used)
            .filter_map(|slot| {
                let generation = self.slot(slot).and_then(generation)?;
                self.remove(Index { slot, generation }).ok().flatten()
            })
            .collect()
    }

    /// Returns all entries, in no particular order. Allocates a list.
    pub fn entries(&self) -> Vec<Arc<T>> {
        let used = self.writer().used;
        (0..used)
            .filter_map(|slot| self.slot(slot)?.load_full())
            .collect()
    }
}

impl<T: Tenant> Default for Table<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("slots", &self.writer().used)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Entry(u32, u32);

    impl Tenant for Entry {
        fn generation(&self) -> u32 {
            self.1
        }
    }

    /// A constructor of an entry with this value.
    fn entry(value: u32) -> impl Fn(Index) -> Arc<Entry> {
        move |index| Arc::new(Entry(value, index.generation))
    }

    fn value(entry: &Arc<Entry>) -> u32 {
        entry.0
    }

    #[test]
    fn an_index_finds_its_entry_and_none_after_removal() {
        let table = Table::<Entry>::new();
        let indexes: Vec<_> = (0..1000u32)
            .map(|n| table.insert_with(entry(n)).unwrap().0)
            .collect();
        for (n, index) in (0..).zip(&indexes) {
            assert_eq!(table.with(*index, value), Some(n));
        }
        let gone = indexes[77];
        assert_eq!(table.remove(gone).unwrap().as_ref().map(value), Some(77));
        assert!(table.remove(gone).is_err());
        assert_eq!(table.with(gone, value), None);
        let (next, _) = table.insert_with(entry(5000)).unwrap();
        assert_eq!(next.slot, gone.slot);
        assert_eq!(
            table.with(gone, value),
            None,
            "the old index never finds the new tenant"
        );
        assert_eq!(table.with(next, value), Some(5000));
    }

    #[test]
    fn a_reserved_index_finds_no_entry_before_it_is_filled_and_is_filled_once() {
        let table = Table::<Entry>::new();
        let index = table.reserve().unwrap();
        assert_ne!(table.insert_with(entry(1)).unwrap().0, index);
        assert_eq!(table.with(index, value), None);
        assert!(table.fill(index, entry(2)(index)) && !table.fill(index, entry(3)(index)));
        assert_eq!(table.with(index, value), Some(2));
        assert!(table.replace(index, entry(4)(index)).is_ok());
        assert_eq!(table.with(index, value), Some(4));
        assert!(table.remove(index).is_ok());
        assert!(
            table.replace(index, entry(5)(index)).is_err() && !table.fill(index, entry(5)(index))
        );
        assert_eq!(table.with(index, value), None);
    }

    #[test]
    fn an_index_that_is_never_filled_can_be_given_back() {
        let table = Table::<Entry>::new();
        for _ in 0..1000 {
            let index = table.reserve().unwrap();
            assert!(table.remove(index).is_ok() && table.remove(index).is_err());
            assert!(!table.is_given_out(index) && !table.fill(index, entry(1)(index)));
        }
        table.reserve().unwrap();
        assert_eq!(table.writer().used, 1, "one slot for all of them");
        assert!(table.drain().is_empty());
        assert!(table.writer().reserved.is_empty());
    }

    #[test]
    fn an_entry_that_is_vacated_can_be_filled_again_under_its_index() {
        let table = Table::<Entry>::new();
        let (index, _) = table.insert_with(entry(1)).unwrap();
        assert_eq!(table.vacate(index).unwrap().as_ref().map(value), Some(1));
        assert!(table.is_given_out(index) && table.with(index, value).is_none());
        assert_ne!(table.insert_with(entry(2)).unwrap().0, index);
        assert!(table.fill(index, entry(3)(index)));
        assert_eq!(table.with(index, value), Some(3));
        assert_eq!(table.entries().len(), 2);
        assert_eq!(table.drain().len(), 2);
        assert!(table.entries().is_empty() && table.vacate(index).is_err());
    }

    #[test]
    fn places_cover_every_slot_once() {
        let mut expected = Vec::new();
        for chunk in 0..6 {
            for at in 0..chunk_len(chunk) {
                expected.push((chunk, at));
            }
        }
        let found: Vec<_> = (0..u32::try_from(expected.len()).unwrap())
            .map(place)
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn indexes_that_were_never_given_out_find_no_entry() {
        let table = Table::<Entry>::new();
        table.insert_with(entry(0)).unwrap();
        for (slot, generation) in [
            (0, 1),
            (1, 0),
            (63, 0),
            (64, 0),
            (u32::MAX, 0),
            (0, u32::MAX),
        ] {
            assert_eq!(table.with(Index { slot, generation }, value), None);
        }
    }
}
