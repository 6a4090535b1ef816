//! The identity of an entry of an adapter, and the servants that are active, each with its objects.

use crate::growth::reserve_one;
use crate::key::ObjectId;
use crate::skeleton::Skeleton;
use crate::sync::{Mutex, MutexGuard};
use crate::table::Index;
use core::hint::black_box;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError, Weak};

/// Octets of an id that an entry keeps without an allocation: as many as leave it at 16 octets.
const SHORT_OCTETS: usize = 14;

/// The id of an object within its adapter, as its entry keeps it.
#[derive(Debug, Clone)]
pub(crate) enum Identity {
    /// The index of a transient object whose id the system chose.
    Index(Index),
    /// Any octets, if they are few.
    Short(u8, [u8; SHORT_OCTETS]),
    /// Any octets. Boxed twice, so that entries are small.
    Long(Arc<Box<[u8]>>),
}

impl Identity {
    pub(crate) fn of_octets(id: &[u8]) -> Self {
        let mut short = [0; SHORT_OCTETS];
        match (short.get_mut(..id.len()), u8::try_from(id.len())) {
            (Some(octets), Ok(len)) => {
                octets.copy_from_slice(id);
                Self::Short(len, short)
            }
            _ => Self::Long(Arc::new(id.into())),
        }
    }

    /// The octets, of one that is no index.
    #[inline]
    pub(crate) fn octets(&self) -> Option<&[u8]> {
        match self {
            Self::Index(_) => None,
            Self::Short(len, octets) => octets.get(..usize::from(*len)),
            Self::Long(octets) => Some(&***octets),
        }
    }

    pub(crate) fn to_id(&self) -> ObjectId {
        match self {
            Self::Index(index) => index.to_id(),
            other => ObjectId::from(other.octets().unwrap_or_default()),
        }
    }

    pub(crate) fn generation(&self) -> u32 {
        match self {
            Self::Index(index) => index.generation,
            Self::Short(..) | Self::Long(_) => 0,
        }
    }
}

/// A servant's identity among all that are alive: its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ServantAddress(usize);

impl ServantAddress {
    /// That of a skeleton's servant, if the skeleton says which it is.
    pub(crate) fn of(skeleton: &dyn Skeleton) -> Option<Self> {
        let servant = skeleton.servant()?;
        Some(Self(Arc::as_ptr(&servant).addr()))
    }

    /// The hash of the address. Entries keep it, so that a table that grows looks at no servant.
    ///
    /// Servants that are made one after the other are mostly near each other in memory. The marks of a stretch of
    /// memory follow each other from a place that looks random: so do the places of such servants in a table, which
    /// then shares cache lines among their activations, and reads their entries in the order of their memory when it
    /// grows.
    pub(crate) const fn mark(self) -> u32 {
        let granule = self.0 as u64 / GRANULE_OCTETS;
        let first = (granule / STRETCH).wrapping_mul(MULTIPLIER) >> 32;
        first.wrapping_add(granule % STRETCH) as u32
    }
}

/// Octets between two allocations, at least.
const GRANULE_OCTETS: u64 = 16;

/// Granules of a stretch of memory. Stretches that meet in a table crowd it, so they are short: a few groups of its
/// places.
const STRETCH: u64 = 64;

/// Odd, and its bits look random.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of a mark. Addresses of servants are nothing that a peer could choose. `hashbrown` chooses a place by the
/// lowest bits, and distinguishes entries there by the seven highest ones.
fn hash(mark: u32) -> u64 {
    let mark = u64::from(mark);
    mark ^ mark.wrapping_mul(MULTIPLIER) & !u64::from(u32::MAX)
}

/// An entry of an active object map.
pub(crate) trait MapEntry {
    /// The address of its servant, if the servant has one.
    fn servant_address(&self) -> Option<ServantAddress>;

    /// The mark of the servant, beside its address.
    fn servant_mark(&self) -> u32;

    /// The identity of its object.
    fn identity(&self) -> &Identity;
}

/// The servants of an active object map, by address. A servant is alive as long as it is in here, since the map holds
/// it.
#[derive(Debug)]
pub(crate) enum Servants<M> {
    /// UNIQUE_ID: the entry of each. That keeps its octets, and not what it is.
    Unique(Mutex<HashTable<Weak<M>>>),
    /// MULTIPLE_ID: for how many objects each is active.
    Multiple(Mutex<HashMap<ServantAddress, usize>>),
}

/// The servant is active for another object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ActiveAlready;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in here panics half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an entry is of this servant.
fn is_of<E: MapEntry>(entry: &Weak<E>, address: ServantAddress) -> bool {
    let address_of = |object: Arc<E>| object.servant_address();
    entry.upgrade().and_then(address_of) == Some(address)
}

impl<M: MapEntry> Servants<M> {
    pub(crate) fn new(unique: bool) -> Self {
        match unique {
            true => Self::Unique(Mutex::default()),
            false => Self::Multiple(Mutex::default()),
        }
    }

    /// Notes a servant that `put` makes active, with the entry that it gives, unless `put` fails. With UNIQUE_ID the
    /// servant must not be active yet. `put` runs under the lock, and runs nothing of the application's.
    pub(crate) fn activate<E: From<ActiveAlready>>(
        &self,
        address: Option<ServantAddress>,
        put: impl FnOnce() -> Result<Arc<M>, E>,
    ) -> Result<Arc<M>, E> {
        let Some(address) = address else {
            return put();
        };
        match self {
            Self::Unique(entries) => {
                let hash_of = |entry: &Weak<M>| {
                    hash(entry.upgrade().map_or(0, |object| object.servant_mark()))
                };
                let mut entries = lock(entries);
                let count = |entry: &Weak<M>| {
                    black_box(entry.strong_count());
                };
                reserve_one(&mut entries, count, hash_of);
                let hash = hash(address.mark());
                match entries.entry(hash, |entry| is_of(entry, address), hash_of) {
                    TableEntry::Occupied(_) => Err(ActiveAlready.into()),
                    TableEntry::Vacant(place) => {
                        let object = put()?;
                        place.insert(Arc::downgrade(&object));
                        Ok(object)
                    }
                }
            }
            Self::Multiple(counts) => {
                let mut counts = lock(counts);
                let object = put()?;
                let count = counts.entry(address).or_default();
                *count = count.saturating_add(1);
                Ok(object)
            }
        }
    }

    /// Notes that an entry with a servant is no longer in the map, or that `fresh`, of the same servant, is there
    /// instead.
    pub(crate) fn deactivate(&self, object: &M, fresh: Option<&Arc<M>>) {
        let Some(address) = object.servant_address() else {
            return;
        };
        match self {
            Self::Unique(entries) => {
                let is_it = |entry: &Weak<M>| core::ptr::eq(entry.as_ptr(), object);
                let mut entries = lock(entries);
                let found = entries.find_entry(hash(address.mark()), is_it);
                match (found, fresh) {
                    (Ok(mut found), Some(fresh)) => *found.get_mut() = Arc::downgrade(fresh),
                    (Ok(found), None) => drop(found.remove()),
                    (Err(_), _) => {}
                }
            }
            Self::Multiple(counts) if fresh.is_none() => {
                if let Entry::Occupied(mut active) = lock(counts).entry(address) {
                    match *active.get() {
                        0 | 1 => drop(active.remove()),
                        count => *active.get_mut() = count.saturating_sub(1),
                    }
                }
            }
            Self::Multiple(_) => {}
        }
    }

    /// Whether a servant is active.
    pub(crate) fn is_active(&self, address: ServantAddress) -> bool {
        match self {
            Self::Unique(_) => self.find(address).is_some(),
            Self::Multiple(counts) => lock(counts).contains_key(&address),
        }
    }

    /// With UNIQUE_ID, the entry of the object that a servant is active for.
    pub(crate) fn find(&self, address: ServantAddress) -> Option<Arc<M>> {
        let Self::Unique(entries) = self else {
            return None;
        };
        let entries = lock(entries);
        let found = entries
            .find(hash(address.mark()), |entry| is_of(entry, address))?
            .upgrade();
        // The handle may be the last of its object, so it is dropped without a lock.
        drop(entries);
        found
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_identity_keeps_the_octets_of_its_id(id in proptest::collection::vec(any::<u8>(), 0..40)) {
            let identity = Identity::of_octets(&id);
            prop_assert_eq!(identity.octets(), Some(&id[..]));
            let kept = identity.to_id();
            prop_assert_eq!(kept.as_ref(), &id[..]);
            prop_assert_eq!(matches!(identity, Identity::Short(..)), id.len() <= SHORT_OCTETS);
        }
    }

    #[test]
    fn an_identity_is_as_large_as_it_has_to_be() {
        assert_eq!(size_of::<Identity>(), 16);
    }
}
