//! Sets of object ids that are known at compile time, and the active object map of such a set.

use crate::operations::Operations;
#[cfg(test)]
use crate::operations::table_of;
use crate::sync::{ArcSwapOption, Mutex, MutexGuard};
use core::fmt;
use std::sync::{Arc, PoisonError};

/// A set of object ids that is known at compile time, as a perfect hash. A look-up costs one hash, two loads and one
/// comparison, for any number of ids.
///
/// The macro `object_ids!` of the crate `zorb` makes one. An adapter [with such a set](crate::AdapterOptions::ids) has a
/// place for each of the ids, and no object with another id.
#[derive(Debug)]
pub struct ObjectIds(Operations);

impl ObjectIds {
    /// The set from a table that the macro has computed: the key and the displacements of the hash, and the ids with their
    /// numbers in the order of their slots, as for [`Operations::new`]. The numbers count from 0.
    #[must_use]
    pub const fn new(
        key: u64,
        displacements: &'static [(u32, u32)],
        slots: &'static [(&'static [u8], u32)],
    ) -> Self {
        Self(Operations::new(key, displacements, slots))
    }

    /// The number of an id, from 0, in the order in which the ids were given; `None` for an id outside of the set.
    #[must_use]
    #[inline]
    pub fn find(&self, id: &[u8]) -> Option<usize> {
        usize::try_from(self.0.number(id)?).ok()
    }

    /// Returns the number of ids in the set.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.names().len()
    }

    /// Whether the set has no ids.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the ids of the set, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &'static [u8]> {
        self.0.names().keys().copied()
    }
}

/// The active object map of a fixed set of ids. Reading is wait-free; writing takes a short lock.
pub(crate) struct FixedMap<T> {
    ids: &'static ObjectIds,
    /// The entries, by the numbers of the ids.
    places: Box<[ArcSwapOption<T>]>,
    writer: Mutex<()>,
}

impl<T> FixedMap<T> {
    pub(crate) fn new(ids: &'static ObjectIds) -> Self {
        Self {
            ids,
            places: (0..ids.len()).map(|_| ArcSwapOption::empty()).collect(),
            writer: Mutex::default(),
        }
    }

    /// Whether the set contains the id.
    pub(crate) fn has(&self, id: &[u8]) -> bool {
        self.ids.find(id).is_some()
    }

    fn place(&self, id: &[u8]) -> Option<&ArcSwapOption<T>> {
        self.places.get(self.ids.find(id)?)
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        // No code panics under this lock, so its data is consistent.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(crate) fn find(&self, id: &[u8]) -> Option<Arc<T>> {
        self.place(id)?.load_full()
    }

    /// Inserts an entry, unless the id has one or `is_free` returns `false`. Returns whether it was inserted.
    pub(crate) fn insert_if(
        &self,
        id: &[u8],
        entry: Arc<T>,
        is_free: impl FnOnce() -> bool,
    ) -> bool {
        let Some(place) = self.place(id) else {
            return false;
        };
        let _writing = self.writing();
        let is_free = place.load().is_none() && is_free();
        if is_free {
            // The place was empty, so no entry is dropped under the lock.
            place.store(Some(entry));
        }
        is_free
    }

    /// Inserts an entry, and returns the one that it replaces.
    pub(crate) fn replace(&self, id: &[u8], entry: Arc<T>) -> Option<Arc<T>> {
        let place = self.place(id)?;
        let _writing = self.writing();
        place.swap(Some(entry))
    }

    /// Replaces the entry `before` by another one or by none, and returns whether the map had it.
    pub(crate) fn replace_if(&self, id: &[u8], entry: Option<Arc<T>>, before: &Arc<T>) -> bool {
        let Some(place) = self.place(id) else {
            return false;
        };
        let writing = self.writing();
        let is_there = (place.load().as_ref()).is_some_and(|found| Arc::ptr_eq(found, before));
        let replaced = is_there.then(|| place.swap(entry));
        drop(writing);
        replaced.is_some()
    }

    /// Removes and returns the entry of an id. If there is one, calls `then` before the id can get another entry.
    pub(crate) fn remove_and(&self, id: &[u8], then: impl FnOnce()) -> Option<Arc<T>> {
        let place = self.place(id)?;
        let _writing = self.writing();
        let removed = place.swap(None)?;
        then();
        Some(removed)
    }

    pub(crate) fn drain(&self) -> Vec<Arc<T>> {
        let _writing = self.writing();
        let taken = self.places.iter().filter_map(|place| place.swap(None));
        taken.collect()
    }

    pub(crate) fn entries(&self) -> Vec<Arc<T>> {
        let places = self.places.iter();
        places.filter_map(ArcSwapOption::load_full).collect()
    }
}

impl<T> fmt::Debug for FixedMap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FixedMap")
            .field("ids", &self.ids.len())
            .finish_non_exhaustive()
    }
}

/// A set of ids, as the macro makes it.
#[cfg(test)]
pub(crate) fn ids_of(ids: &[&[u8]]) -> &'static ObjectIds {
    Box::leak(Box::new(ObjectIds(table_of(ids))))
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_set_knows_its_ids_and_no_others() {
        let ids = ids_of(&[b"main", b"", b"back\0up"]);
        assert_eq!((ids.len(), ids.is_empty()), (3, false));
        for (number, id) in [&b"main"[..], b"", b"back\0up"].into_iter().enumerate() {
            assert_eq!(ids.find(id), Some(number));
        }
        for other in [
            &b"Main"[..],
            b"\0",
            b"back",
            b"back\0up\0",
            &[b'm'; 1 << 16],
        ] {
            assert_eq!(ids.find(other), None);
        }
        let mut all: Vec<_> = ids.iter().collect();
        all.sort_unstable();
        assert_eq!(all, [&b""[..], b"back\0up", b"main"]);
        assert!(ids_of(&[]).is_empty() && ids_of(&[]).find(b"").is_none());
    }

    proptest! {
        #[test]
        fn it_is_a_map_of_its_ids(steps in proptest::collection::vec((0..8_u8, 0..5_u8), 0..60)) {
            let map = FixedMap::new(ids_of(&[b"\0", b"\x01", b"\x02", b"\x03", b"\x04"]));
            let mut model = BTreeMap::new();
            let value = |entry: Arc<usize>| *entry;
            for (at, (id, step)) in steps.into_iter().enumerate() {
                let (key, known) = ([id], id < 5);
                let vacant = known && !model.contains_key(&id);
                match step {
                    0 => {
                        prop_assert!(!map.insert_if(&key, Arc::new(at), || false));
                        prop_assert_eq!(map.insert_if(&key, Arc::new(at), || true), vacant);
                        if vacant {
                            model.insert(id, at);
                        }
                    }
                    1 => {
                        let before = map.replace(&key, Arc::new(at)).map(value);
                        prop_assert_eq!(before, known.then(|| model.insert(id, at)).flatten());
                    }
                    2 => {
                        let mut counted = 0;
                        let removed = map.remove_and(&key, || counted += 1).map(value);
                        prop_assert_eq!(counted, usize::from(removed.is_some()));
                        prop_assert_eq!(removed, model.remove(&id));
                    }
                    3 => {
                        prop_assert!(!map.replace_if(&key, Some(Arc::new(at)), &Arc::new(at)));
                        if let Some(before) = map.find(&key) {
                            prop_assert!(map.replace_if(&key, Some(Arc::new(at)), &before));
                            model.insert(id, at);
                        }
                    }
                    _ => prop_assert_eq!(map.find(&key).map(value), model.get(&id).copied()),
                }
                prop_assert_eq!(map.has(&key), known);
                prop_assert_eq!(map.entries().len(), model.len());
            }
            let mut drained: Vec<_> = map.drain().into_iter().map(value).collect();
            drained.sort_unstable();
            let mut expected: Vec<_> = model.into_values().collect();
            expected.sort_unstable();
            prop_assert_eq!(drained, expected);
            prop_assert!(map.entries().is_empty());
        }
    }
}
