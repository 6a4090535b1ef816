//! Octets → entries: a hash table in shards, for ids that the application chooses.
//!
//! Looking up takes the read lock of one shard for as long as one probe and one clone take, so
//! readers never wait for each other, and for a writer only while it changes that shard. Nothing
//! of the caller's ever runs under a lock, neither destructors nor closures.
//!
//! The maps that are read without any lock free what was removed *some time later*, but a
//! servant that is deactivated has to go with its last upcall; and a map behind one atomic
//! pointer is copied for every change, which a hundred thousand accounts do not forgive.
//!
//! An entry knows its name, so that the table has no copy of it; a look-up hashes the name once, for the shard and for the
//! place in it.

use crate::growth::reserve_one;
use crate::sync::{AtomicUsize, Ordering, RwLock, RwLockReadGuard, RwLockWriteGuard};
use core::fmt;
use core::hash::BuildHasher;
use core::hint::black_box;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use std::hash::RandomState;
use std::sync::PoisonError;

/// A power of two.
const SHARDS: usize = if cfg!(zorb_model) { 1 } else { 16 };
/// The bits of a hash that choose the shard: the table within it uses the lowest and the seven highest ones.
const SHARD_SHIFT: u32 = 40;
const SHARD_MASK: u64 = SHARDS as u64 - 1;

/// An entry, which knows the name that it is found by.
pub trait Named {
    /// The name. It stays the same.
    fn name(&self) -> &[u8];
}

impl<V> Named for (Box<[u8]>, V) {
    fn name(&self) -> &[u8] {
        &self.0
    }
}

/// How names are hashed, with keys that are drawn at random for each table.
#[derive(Clone)]
enum Hashing {
    /// SipHash, a keyed pseudo-random function: also peers may choose names that become entries.
    Strong(RandomState),
    /// Several times as fast for long names. Entries are the application's alone, so that what peers choose can only
    /// be looked for, and collides with no more than there is.
    Long(Box<RapidSecrets>),
}

impl Hashing {
    fn hash(&self, name: &[u8]) -> u64 {
        match self {
            Self::Strong(keys) => keys.hash_one(name),
            Self::Long(secrets) => rapidhash_v3_seeded(name, secrets),
        }
    }
}

/// A concurrent table whose keys are octets, in shards with a lock each.
pub struct Names<V> {
    hashing: Hashing,
    shards: Box<[RwLock<HashTable<V>>; SHARDS]>,
    /// Octets of the longest name there has been: longer ones are not looked for.
    longest: AtomicUsize,
}

impl<V: Named + Clone> Names<V> {
    /// Makes an empty table, for names that peers may have chosen: the hash is keyed at random.
    #[must_use]
    pub fn new() -> Self {
        Self::with_hashing(Hashing::Strong(RandomState::new()))
    }

    /// An empty table, for names that may be long, and that the application alone chooses.
    #[must_use]
    pub(crate) fn of_long_names() -> Self {
        let seed = RandomState::new().hash_one(SHARDS);
        Self::with_hashing(Hashing::Long(Box::new(RapidSecrets::seed(seed))))
    }

    fn with_hashing(hashing: Hashing) -> Self {
        Self {
            hashing,
            shards: Box::new(core::array::from_fn(|_| RwLock::default())),
            longest: AtomicUsize::new(0),
        }
    }

    fn shard(&self, hash: u64) -> &RwLock<HashTable<V>> {
        let [first, ..] = &*self.shards;
        let at = usize::try_from(hash >> SHARD_SHIFT & SHARD_MASK).unwrap_or(0);
        self.shards.get(at).unwrap_or(first)
    }

    fn read(&self, hash: u64) -> RwLockReadGuard<'_, HashTable<V>> {
        // Nothing in here panics half-way.
        self.shard(hash)
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, hash: u64) -> RwLockWriteGuard<'_, HashTable<V>> {
        self.shard(hash)
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of an entry of this name. The shard is to be dropped before what is taken out of it.
    fn entry<'a>(
        &self,
        shard: &'a mut RwLockWriteGuard<'_, HashTable<V>>,
        hash: u64,
        name: &[u8],
    ) -> Entry<'a, V> {
        let is_it = |entry: &V| entry.name() == name;
        let hash_of = |entry: &V| self.hashing.hash(entry.name());
        let first_octet = |entry: &V| {
            black_box(entry.name().first().copied());
        };
        reserve_one(shard, first_octet, hash_of);
        shard.entry(hash, is_it, hash_of)
    }

    fn note_length(&self, name: &[u8]) {
        // Before the entry is there to be found: pairs with the load in `find`, and the lock of the shard orders them.
        self.longest.fetch_max(name.len(), Ordering::Relaxed);
    }

    /// Returns the entry of that name; `None` if there is none. Costs a hash and a read lock of one shard.
    #[must_use]
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<V> {
        // A peer may ask for any number of octets, and they need not be hashed.
        if name.len() > self.longest.load(Ordering::Relaxed) {
            return None;
        }
        let hash = self.hashing.hash(name);
        let is_it = |entry: &V| entry.name() == name;
        self.read(hash).find(hash, is_it).cloned()
    }

    /// Inserts an entry, unless the table has one of its name.
    ///
    /// # Errors
    /// The new entry, if the name is taken; the table does not change then.
    pub fn insert(&self, entry: V) -> Result<(), V> {
        self.insert_if(entry, || true)
    }

    /// [`insert`](Self::insert), unless `is_free` returns that the name is not free yet. It is called under the lock of the name's
    /// shard.
    pub(crate) fn insert_if(&self, entry: V, is_free: impl FnOnce() -> bool) -> Result<(), V> {
        self.note_length(entry.name());
        let hash = self.hashing.hash(entry.name());
        let mut shard = self.write(hash);
        match self.entry(&mut shard, hash, entry.name()) {
            Entry::Vacant(place) if is_free() => {
                place.insert(entry);
                Ok(())
            }
            Entry::Occupied(_) | Entry::Vacant(_) => Err(entry),
        }
    }

    /// Inserts an entry, and returns the one of the same name that it replaces.
    pub fn replace(&self, entry: V) -> Option<V> {
        self.note_length(entry.name());
        let hash = self.hashing.hash(entry.name());
        let mut shard = self.write(hash);
        match self.entry(&mut shard, hash, entry.name()) {
            Entry::Occupied(mut place) => Some(core::mem::replace(place.get_mut(), entry)),
            Entry::Vacant(place) => {
                place.insert(entry);
                None
            }
        }
    }

    /// Replaces the entry of the same name if `is_it` accepts that, and returns whether it did.
    pub fn replace_if(&self, entry: V, is_it: impl FnOnce(&V) -> bool) -> bool {
        let hash = self.hashing.hash(entry.name());
        let mut shard = self.write(hash);
        let replaced = match self.entry(&mut shard, hash, entry.name()) {
            Entry::Occupied(mut place) if is_it(place.get()) => {
                Some(core::mem::replace(place.get_mut(), entry))
            }
            _ => None,
        };
        drop(shard);
        replaced.is_some()
    }

    /// Removes the entry of that name and returns it; `None` if there is none.
    pub fn remove(&self, name: &[u8]) -> Option<V> {
        self.remove_and(name, || {})
    }

    /// Takes an entry out if `is_it` accepts it, and says whether it did.
    pub(crate) fn remove_if(&self, name: &[u8], is_it: impl FnOnce(&V) -> bool) -> bool {
        let hash = self.hashing.hash(name);
        let mut shard = self.write(hash);
        let removed = match shard.find_entry(hash, |entry| entry.name() == name) {
            Ok(place) if is_it(place.get()) => Some(place.remove().0),
            _ => None,
        };
        drop(shard);
        removed.is_some()
    }

    /// Removes an entry. If there is one, calls `then` under the lock of its shard, before the name can be inserted again.
    pub(crate) fn remove_and(&self, name: &[u8], then: impl FnOnce()) -> Option<V> {
        let hash = self.hashing.hash(name);
        let mut shard = self.write(hash);
        let place = shard.find_entry(hash, |entry| entry.name() == name).ok()?;
        let (removed, _) = place.remove();
        then();
        Some(removed)
    }

    /// Removes all entries. Entries that are inserted meanwhile may stay.
    pub fn clear(&self) {
        drop(self.drain());
    }

    /// Removes all entries and returns them. Entries that are inserted meanwhile may stay.
    pub fn drain(&self) -> Vec<V> {
        let mut drained = Vec::new();
        for shard in self.shards.iter() {
            let taken =
                core::mem::take(&mut *shard.write().unwrap_or_else(PoisonError::into_inner));
            drained.extend(taken);
        }
        drained
    }

    /// Returns clones of all entries, in no order. Shards are locked one after the other, so entries that are added meanwhile may be
    /// missing. Takes time in proportion to the entries.
    #[must_use]
    pub fn entries(&self) -> Vec<V> {
        let mut entries = Vec::new();
        for shard in self.shards.iter() {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            entries.extend(shard.iter().cloned());
        }
        entries
    }

    /// Returns copies of the names of all entries, in no order.
    #[must_use]
    pub fn names(&self) -> Vec<Box<[u8]>> {
        let mut names = Vec::new();
        for shard in self.shards.iter() {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            names.extend(shard.iter().map(|entry| Box::from(entry.name())));
        }
        names
    }
}

impl<V: Named + Clone> Default for Names<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> fmt::Debug for Names<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len: usize = self
            .shards
            .iter()
            .map(|shard| shard.read().unwrap_or_else(PoisonError::into_inner).len())
            .sum();
        f.debug_struct("Names")
            .field("len", &len)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_follows_upon_a_removal_is_done_before_the_name_is_free() {
        let names = Names::new();
        assert_eq!(names.insert(entry(b"one", 1)), Ok(()));
        let mut done = 0;
        assert_eq!(names.remove_and(b"other", || done += 1), None);
        let removed = names.remove_and(b"one", || {
            let hash = names.hashing.hash(b"one");
            assert!(names.shard(hash).try_write().is_err());
            done += 1;
        });
        assert_eq!((removed, done), (Some(entry(b"one", 1)), 1));
        assert_eq!(names.insert(entry(b"one", 2)), Ok(()));
    }

    fn entry(name: &[u8], value: usize) -> (Box<[u8]>, usize) {
        (name.into(), value)
    }

    #[test]
    fn an_entry_is_replaced_if_it_is_the_one_that_is_meant() {
        let names = Names::of_long_names();
        assert!(!names.replace_if(entry(b"one", 1), |_| true));
        assert_eq!(names.find(b"one"), None);
        assert_eq!(names.insert(entry(b"one", 1)), Ok(()));
        assert!(!names.replace_if(entry(b"one", 3), |(_, value)| *value == 2));
        assert!(names.replace_if(entry(b"one", 3), |(_, value)| *value == 1));
        assert_eq!(names.find(b"one"), Some(entry(b"one", 3)));
        assert_eq!(names.insert(entry(b"one", 4)), Err(entry(b"one", 4)));
    }

    #[test]
    fn entries_spread_over_the_shards_and_tables_have_keys_of_their_own() {
        for make in [Names::new, Names::of_long_names] {
            let names: Names<(Box<[u8]>, usize)> = make();
            for number in 0..1_600 {
                let name = format!("account/{number:08}");
                assert_eq!(names.insert(entry(name.as_bytes(), number)), Ok(()));
            }
            for shard in names.shards.iter() {
                assert!((50..200).contains(&shard.read().unwrap().len()));
            }
            // Keys that collide in one table do not collide in another.
            assert_ne!(make().hashing.hash(b"one"), names.hashing.hash(b"one"));
        }
    }

    proptest! {
        #[test]
        fn it_is_a_map(steps in proptest::collection::vec((any::<Vec<u8>>(), 0..4u8), 0..60)) {
            let names = if steps.len() % 2 == 0 { Names::new() } else { Names::of_long_names() };
            let value = |entry: (Box<[u8]>, usize)| entry.1;
            let mut model = BTreeMap::new();
            for (at, (name, step)) in steps.into_iter().enumerate() {
                match step {
                    0 => {
                        let taken = model.contains_key(&name);
                        prop_assert_eq!(names.insert(entry(&name, at)).is_err(), taken);
                        model.entry(name).or_insert(at);
                    }
                    1 => prop_assert_eq!(names.replace(entry(&name, at)).map(value), model.insert(name, at)),
                    2 => prop_assert_eq!(names.remove(&name).map(value), model.remove(&name)),
                    _ => prop_assert_eq!(names.find(&name).map(value), model.get(&name).copied()),
                }
            }
            let mut listed = names.names();
            listed.sort();
            prop_assert!(listed.iter().map(|n| n.to_vec()).eq(model.into_keys()));
            names.clear();
            prop_assert!(names.names().is_empty());
        }
    }
}
