//! Slots with generations: an index that finds its entry in constant time, or nobody.
//!
//! Reading is wait-free: a pointer to the chunk (set once, never moved), a bounds check, an
//! atomic load of the entry and a comparison of its generation. Writing takes a short lock.

use arc_swap::ArcSwapOption;
use core::fmt;
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

impl<T> Table<T> {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            writer: Mutex::new(Writer {
                free: Vec::new(),
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

    /// Puts in what `make` makes of the index it will have.
    ///
    /// # Errors
    /// When half a thousand million entries are held, or were and used their generations up.
    pub fn insert_with(&self, make: impl FnOnce(Index) -> T) -> Result<Index, TableFull> {
        let index = {
            let mut writer = self.writer();
            match writer.free.pop() {
                Some(index) => index,
                None => {
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
                    Index {
                        slot,
                        generation: 0,
                    }
                }
            }
        };
        let tenant = Tenant {
            generation: index.generation,
            value: make(index),
        };
        if let Some(slot) = self.slot(index.slot) {
            slot.store(Some(Arc::new(tenant)));
        }
        Ok(index)
    }

    /// Looks an entry up and lets `read` see it. Wait-free.
    pub fn with<R>(&self, index: Index, read: impl FnOnce(&T) -> R) -> Option<R> {
        let tenant = self.slot(index.slot)?.load();
        let tenant = tenant.as_ref()?;
        (tenant.generation == index.generation).then(|| read(&tenant.value))
    }

    /// Removes an entry; false when it was not there.
    pub fn remove(&self, index: Index) -> bool {
        let Some(slot) = self.slot(index.slot) else {
            return false;
        };
        let mut writer = self.writer();
        let is_tenant = slot
            .load()
            .as_ref()
            .is_some_and(|tenant| tenant.generation == index.generation);
        if is_tenant {
            slot.store(None);
            if let Some(generation) = index.generation.checked_add(1) {
                writer.free.push(Index {
                    slot: index.slot,
                    generation,
                });
            }
        }
        is_tenant
    }

    /// Empties the table.
    pub fn clear(&self) {
        let used = self.writer().used;
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
