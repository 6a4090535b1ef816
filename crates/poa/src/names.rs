//! Octets → entries: a hash table in shards, for ids that the application chooses.
//!
//! Looking up takes the read lock of one shard for as long as one probe and one clone take, so
//! readers never wait for each other, and for a writer only while it changes that shard. Nothing
//! of the caller's ever runs under a lock, neither destructors nor closures.
//!
//! The maps that are read without any lock free what was removed *some time later*, but a
//! servant that is deactivated has to go with its last upcall; and a map behind one atomic
//! pointer is copied for every change, which a hundred thousand accounts do not forgive.

use core::fmt;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A power of two.
const SHARDS: usize = 16;

type Shard<V> = RwLock<HashMap<Box<[u8]>, V>>;

/// A table whose keys are octets.
pub struct Names<V> {
    /// Hashed with random keys, so that a peer cannot choose ids that collide.
    shards: Box<[Shard<V>; SHARDS]>,
}

impl<V: Clone> Names<V> {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shards: Box::new(core::array::from_fn(|_| RwLock::default())),
        }
    }

    fn shard(&self, name: &[u8]) -> &Shard<V> {
        // It only has to spread: what an attacker can do is to make all of it one shard.
        let sum = name.iter().fold(0_usize, |sum, octet| {
            sum.wrapping_mul(31).wrapping_add(usize::from(*octet))
        });
        let [first, ..] = &*self.shards;
        self.shards.get(sum % SHARDS).unwrap_or(first)
    }

    fn read(&self, name: &[u8]) -> RwLockReadGuard<'_, HashMap<Box<[u8]>, V>> {
        // Nothing in here panics half-way.
        self.shard(name)
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, name: &[u8]) -> RwLockWriteGuard<'_, HashMap<Box<[u8]>, V>> {
        self.shard(name)
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry of that name.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<V> {
        self.read(name).get(name).cloned()
    }

    /// Puts an entry in, unless there is one: that is given back then.
    ///
    /// # Errors
    /// The entry, when the name is taken.
    pub fn insert(&self, name: &[u8], value: V) -> Result<(), V> {
        let mut shard = self.write(name);
        if shard.contains_key(name) {
            return Err(value);
        }
        shard.insert(name.into(), value);
        Ok(())
    }

    /// Puts an entry in, and gives the one that it takes the place of.
    pub fn replace(&self, name: &[u8], value: V) -> Option<V> {
        self.write(name).insert(name.into(), value)
    }

    /// Puts an entry in the place of one that `is_it` accepts, if there is one of that name.
    pub fn replace_if(&self, name: &[u8], value: V, is_it: impl FnOnce(&V) -> bool) {
        let mut shard = self.write(name);
        let replaced = match shard.get_mut(name) {
            Some(entry) if is_it(entry) => Some(core::mem::replace(entry, value)),
            _ => None,
        };
        drop(shard);
        drop(replaced);
    }

    /// Takes an entry out.
    pub fn remove(&self, name: &[u8]) -> Option<V> {
        self.remove_and(name, || {})
    }

    /// Removes an entry; if there is one, calls `then` before there can be another one of that name, or another thread
    /// gets on in that shard.
    pub(crate) fn remove_and(&self, name: &[u8], then: impl FnOnce()) -> Option<V> {
        let mut shard = self.write(name);
        let removed = shard.remove(name)?;
        then();
        Some(removed)
    }

    /// Takes everything out. What is put in meanwhile may stay.
    pub fn clear(&self) {
        drop(self.drain());
    }

    /// Takes everything out, and gives it. What is put in meanwhile may stay.
    pub fn drain(&self) -> Vec<V> {
        let mut drained = Vec::new();
        for shard in self.shards.iter() {
            let taken =
                core::mem::take(&mut *shard.write().unwrap_or_else(PoisonError::into_inner));
            drained.extend(taken.into_values());
        }
        drained
    }

    /// The entries there are, in no order.
    #[must_use]
    pub fn entries(&self) -> Vec<V> {
        let mut entries = Vec::new();
        for shard in self.shards.iter() {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            entries.extend(shard.values().cloned());
        }
        entries
    }

    /// The names there are, in no order.
    #[must_use]
    pub fn names(&self) -> Vec<Box<[u8]>> {
        let mut names = Vec::new();
        for shard in self.shards.iter() {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            names.extend(shard.keys().cloned());
        }
        names
    }
}

impl<V: Clone> Default for Names<V> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_follows_upon_a_removal_is_done_before_the_name_is_free() {
        let names = Names::new();
        assert_eq!(names.insert(b"one", 1), Ok(()));
        let mut done = 0;
        assert_eq!(names.remove_and(b"other", || done += 1), None);
        let removed = names.remove_and(b"one", || {
            assert!(names.shard(b"one").try_write().is_err());
            done += 1;
        });
        assert_eq!((removed, done), (Some(1), 1));
        assert_eq!(names.insert(b"one", 2), Ok(()));
    }

    proptest! {
        #[test]
        fn it_is_a_map(steps in proptest::collection::vec((any::<Vec<u8>>(), 0..4u8), 0..60)) {
            let names = Names::new();
            let mut model = BTreeMap::new();
            for (at, (name, step)) in steps.into_iter().enumerate() {
                match step {
                    0 => {
                        let taken = model.contains_key(&name);
                        prop_assert_eq!(names.insert(&name, at).is_err(), taken);
                        model.entry(name).or_insert(at);
                    }
                    1 => prop_assert_eq!(names.replace(&name, at), model.insert(name, at)),
                    2 => prop_assert_eq!(names.remove(&name), model.remove(&name)),
                    _ => prop_assert_eq!(names.find(&name), model.get(&name).copied()),
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
