//! Growth of tables whose entries are pointers: `hashbrown` keeps no hashes, and asks each entry for its own when it grows.
//!
//! An entry is somewhere in memory, mostly not in a cache. `hashbrown` asks one after the other, and waits some 100 ns for
//! each; a million activations spend a third of their time so. Entries that are read together arrive together.

use hashbrown::HashTable;

/// Entries that are read together: more than a CPU has outstanding reads of.
const BATCH: usize = 16;

/// Makes room for one more entry, as `hashbrown` does where an entry is inserted. `touch` reads of an entry what `hash_of` will
/// read of it, and nothing that depends on it.
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

/// The entries for which a table of so many buckets has room: seven of eight, and all but one of few.
const fn room(buckets: usize) -> usize {
    match buckets {
        0..8 => buckets.saturating_sub(1),
        _ => buckets.saturating_sub(buckets / 8),
    }
}

#[cold]
fn grow<T>(table: &mut HashTable<T>, touch: impl Fn(&T), hash_of: impl Fn(&T) -> u64) {
    // As large as `hashbrown` makes it: removed entries leave marks that use up room, so a table that is more than half full
    // is doubled, lest it be as full again soon.
    let full = room(table.num_buckets());
    let capacity = match table.len() < full / 2 {
        true => full,
        false => full.saturating_add(1),
    };
    let fresh = HashTable::with_capacity(capacity);
    let mut entries = core::mem::replace(table, fresh).into_iter();
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
    use core::cell::Cell;

    #[test]
    fn a_table_keeps_its_entries_when_it_grows_and_takes_no_more_room_than_by_itself() {
        let hash_of = |entry: &u64| entry.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (mut ours, mut by_itself) = (HashTable::new(), HashTable::new());
        for entry in 0..10_000 {
            reserve_one(&mut ours, |_| {}, hash_of);
            assert!(room(ours.num_buckets()) > ours.len());
            ours.insert_unique(hash_of(&entry), entry, |_| unreachable!("there is room"));
            by_itself.insert_unique(hash_of(&entry), entry, hash_of);
            assert_eq!(ours.capacity(), by_itself.capacity(), "{entry}");
        }
        assert!((0..10_000).all(|entry| ours.find(hash_of(&entry), |it| *it == entry).is_some()));
    }

    /// Removed entries leave marks in a table, which use up its room as entries do.
    #[test]
    fn entries_that_come_and_go_in_a_table_that_is_nearly_full_are_seldom_hashed_again() {
        const STEPS: u64 = 20_000;
        let hashed = Cell::new(0);
        let hash_of = |entry: &u64| {
            hashed.set(hashed.get() + 1);
            let mixed = entry.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        for len in [400, 440, 448, 449, 600] {
            let mut table = HashTable::new();
            let put = |table: &mut HashTable<u64>, entry: u64| {
                reserve_one(table, |_| {}, hash_of);
                table.insert_unique(hash_of(&entry), entry, hash_of);
            };
            (0..len).for_each(|entry| put(&mut table, entry));
            let mut there: Vec<u64> = (0..len).collect();
            hashed.set(0);
            for entry in len..len + STEPS {
                let at = usize::try_from(entry * 7919 % len).unwrap();
                let gone = core::mem::replace(&mut there[at], entry);
                let found = table.find_entry(hash_of(&gone), |it| *it == gone);
                let (removed, _) = found.expect("it is there").remove();
                assert_eq!(removed, gone);
                put(&mut table, entry);
            }
            // Twice by the steps themselves.
            assert!(hashed.get() < 10 * STEPS, "{len}: {}", hashed.get());
        }
    }
}
