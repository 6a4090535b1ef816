//! Growth of tables whose entries are pointers: `hashbrown` keeps no hashes, and asks each entry for its own when it grows.
//!
//! An entry is somewhere in memory, mostly not in a cache. `hashbrown` asks one after the other, and waits some 100 ns for
//! each; a million activations spend a third of their time so. Entries that are read together arrive together.

use hashbrown::HashTable;

/// Entries that are read together: more than a CPU has outstanding reads of.
const BATCH: usize = 16;

/// Makes room for one more entry. `touch` reads of an entry what `hash_of` will read of it, and nothing that depends on it.
#[inline]
pub(crate) fn reserve_one<T>(
    table: &mut HashTable<T>,
    touch: impl Fn(&T),
    hash_of: impl Fn(&T) -> u64,
) {
    if table.len() == table.capacity() {
        grow(table, touch, hash_of);
    }
}

#[cold]
fn grow<T>(table: &mut HashTable<T>, touch: impl Fn(&T), hash_of: impl Fn(&T) -> u64) {
    // As much as `hashbrown` takes itself: the next power of two.
    let larger = HashTable::with_capacity(table.capacity().saturating_add(1));
    let mut entries = core::mem::replace(table, larger).into_iter();
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        batch.extend(entries.by_ref().take(BATCH));
        if batch.is_empty() {
            return;
        }
        batch.iter().for_each(&touch);
        for entry in batch.drain(..) {
            table.insert_unique(hash_of(&entry), entry, &hash_of);
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_its_entries_when_it_grows_and_takes_no_more_room_than_by_itself() {
        let hash_of = |entry: &u64| entry.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (mut ours, mut by_itself) = (HashTable::new(), HashTable::new());
        for entry in 0..10_000 {
            reserve_one(&mut ours, |_| {}, hash_of);
            ours.insert_unique(hash_of(&entry), entry, |_| unreachable!("there is room"));
            by_itself.insert_unique(hash_of(&entry), entry, hash_of);
            assert_eq!(ours.capacity(), by_itself.capacity(), "{entry}");
        }
        assert!((0..10_000).all(|entry| ours.find(hash_of(&entry), |it| *it == entry).is_some()));
    }
}
