//! Slots with generations: an index that finds its entry in constant time, or nobody.
//!
//! Reading is wait-free: a pointer to the chunk (set once, never moved), a bounds check, an
//! atomic load of the entry and a comparison of its generation. Writing takes a short lock.

use arc_swap::ArcSwapOption;
use core::fmt;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Which slot, and which of its tenants. Never reused: a slot whose generations are used up
/// stays empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Index {
    /// The slot.
    pub slot: u32,
    /// Which tenant of the slot, from 0.
    pub generation: u32,
}

/// The table holds as many entries as it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the table holds its limit of {limit} entries")]
pub struct TableFull {
    /// The limit.
    pub limit: usize,
}

/// Slots of the first chunk; each further chunk doubles the table.
const FIRST_CHUNK: usize = 64;
/// Chunks: 64 · 2^23 slots at most, half a thousand million.
const CHUNKS: usize = 24;

type Slot<T> = ArcSwapOption<Tenant<T>>;

struct Tenant<T> {
    generation: u32,
    value: T,
}

/// A table of `T`, read without locks.
pub struct Table<T> {
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    writer: Mutex<Writer>,
}

struct Writer {
    /// Free slots and the generation of their next tenant.
    free: Vec<Index>,
    /// Given out, and nobody has moved in yet.
    reserved: HashSet<Index>,
    /// Slots ever used.
    used: u32,
}

/// Which chunk a slot is in, and where.
fn place(slot: u32) -> (usize, usize) {
    // Chunk 0 holds slots 0..64, chunk k (k > 0) holds 64·2^(k-1) .. 64·2^k.
    let slot = slot as usize;
    if slot < FIRST_CHUNK {
        (0, slot)
    } else {
        let chunk = (slot / FIRST_CHUNK).ilog2() as usize;
        (chunk + 1, slot - (FIRST_CHUNK << chunk))
    }
}

fn chunk_len(chunk: usize) -> usize {
    if chunk == 0 {
        FIRST_CHUNK
    } else {
        FIRST_CHUNK << (chunk - 1)
    }
}

fn is_tenant<T>(slot: &Slot<T>, index: Index) -> bool {
    slot.load()
        .as_ref()
        .is_some_and(|tenant| tenant.generation == index.generation)
}

impl<T> Table<T> {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
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

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // Nothing in here panics half-way.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An index that nobody else gets.
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

    /// Gives whoever was there, to be dropped when no lock is held: that may run anything.
    fn put(&self, index: Index, value: T) -> Option<Arc<Tenant<T>>> {
        let tenant = Tenant {
            generation: index.generation,
            value,
        };
        self.slot(index.slot)?.swap(Some(Arc::new(tenant)))
    }

    /// Puts in what `make` makes of the index it will have.
    ///
    /// # Errors
    /// When half a thousand million entries are held, or were and used their generations up.
    pub fn insert_with(&self, make: impl FnOnce(Index) -> T) -> Result<Index, TableFull> {
        let index = self.take()?;
        self.put(index, make(index));
        Ok(index)
    }

    /// Gives out an index that finds nobody until it is [filled](Self::fill).
    ///
    /// # Errors
    /// As [`insert_with`](Self::insert_with).
    pub fn reserve(&self) -> Result<Index, TableFull> {
        let index = self.take()?;
        self.writer().reserved.insert(index);
        Ok(index)
    }

    /// Puts an entry where an index was [reserved](Self::reserve); false, and nothing done, when
    /// it was not, or was filled before.
    pub fn fill(&self, index: Index, value: T) -> bool {
        let reserved = self.writer().reserved.remove(&index);
        if reserved {
            self.put(index, value);
        }
        reserved
    }

    /// Puts another entry in the place of the one there is, or of one that is still to come;
    /// false, and nothing done, when there is neither.
    pub fn replace(&self, index: Index, value: T) -> bool {
        let Some(slot) = self.slot(index.slot) else {
            return false;
        };
        let mut writer = self.writer();
        if !writer.reserved.remove(&index) && !is_tenant(slot, index) {
            return false;
        }
        let before = self.put(index, value);
        drop(writer);
        drop(before);
        true
    }

    /// Whether the index finds an entry, or will when it is filled.
    pub fn is_given_out(&self, index: Index) -> bool {
        self.with(index, |_| ()).is_some() || self.writer().reserved.contains(&index)
    }

    /// Looks an entry up and lets `read` see it. Wait-free.
    pub fn with<R>(&self, index: Index, read: impl FnOnce(&T) -> R) -> Option<R> {
        let tenant = self.slot(index.slot)?.load();
        let tenant = tenant.as_ref()?;
        (tenant.generation == index.generation).then(|| read(&tenant.value))
    }

    /// Removes an entry, or gives an index back that was [reserved](Self::reserve); false when
    /// there is neither.
    pub fn remove(&self, index: Index) -> bool {
        let Some(slot) = self.slot(index.slot) else {
            return false;
        };
        let mut writer = self.writer();
        if !writer.reserved.remove(&index) && !is_tenant(slot, index) {
            return false;
        }
        let gone = slot.swap(None);
        if let Some(generation) = index.generation.checked_add(1) {
            writer.free.push(Index {
                slot: index.slot,
                generation,
            });
        }
        drop(writer);
        // What it does when it goes may be to come back here.
        drop(gone);
        true
    }

    /// Empties the table.
    pub fn clear(&self) {
        let (used, reserved) = {
            let mut writer = self.writer();
            (writer.used, core::mem::take(&mut writer.reserved))
        };
        drop(reserved);
        for slot in 0..used {
            let generation = self
                .slot(slot)
                .and_then(|slot| slot.load().as_ref().map(|tenant| tenant.generation));
            if let Some(generation) = generation {
                self.remove(Index { slot, generation });
            }
        }
    }
}

impl<T> Default for Table<T> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_finds_its_entry_and_after_removal_nobody() {
        let table = Table::new();
        let indexes: Vec<_> = (0..1000u32)
            .map(|n| table.insert_with(|_| n).unwrap())
            .collect();
        for (n, index) in (0..).zip(&indexes) {
            assert_eq!(table.with(*index, |v| *v), Some(n));
        }
        let gone = indexes[77];
        assert!(table.remove(gone));
        assert!(!table.remove(gone));
        assert_eq!(table.with(gone, |v| *v), None);
        let next = table.insert_with(|_| 5000).unwrap();
        assert_eq!(next.slot, gone.slot);
        assert_eq!(
            table.with(gone, |v| *v),
            None,
            "the old index never finds the new tenant"
        );
        assert_eq!(table.with(next, |v| *v), Some(5000));
    }

    #[test]
    fn a_reserved_index_finds_nobody_before_it_is_filled_and_is_filled_once() {
        let table = Table::new();
        let index = table.reserve().unwrap();
        assert_ne!(table.insert_with(|_| 1), Ok(index));
        assert_eq!(table.with(index, |v| *v), None);
        assert!(table.fill(index, 2) && !table.fill(index, 3));
        assert_eq!(table.with(index, |v| *v), Some(2));
        assert!(table.replace(index, 4));
        assert_eq!(table.with(index, |v| *v), Some(4));
        assert!(table.remove(index));
        assert!(!table.replace(index, 5) && !table.fill(index, 5));
        assert_eq!(table.with(index, |v| *v), None);
    }

    #[test]
    fn an_index_that_is_never_filled_can_be_given_back() {
        let table = Table::new();
        for _ in 0..1000 {
            let index = table.reserve().unwrap();
            assert!(table.remove(index) && !table.remove(index));
            assert!(!table.is_given_out(index) && !table.fill(index, 1));
        }
        table.reserve().unwrap();
        assert_eq!(table.writer().used, 1, "one slot for all of them");
        table.clear();
        assert!(table.writer().reserved.is_empty());
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
    fn indexes_that_were_never_given_out_find_nobody() {
        let table = Table::new();
        table.insert_with(|_| ()).unwrap();
        for (slot, generation) in [
            (0, 1),
            (1, 0),
            (63, 0),
            (64, 0),
            (u32::MAX, 0),
            (0, u32::MAX),
        ] {
            assert_eq!(table.with(Index { slot, generation }, |()| ()), None);
        }
    }
}
