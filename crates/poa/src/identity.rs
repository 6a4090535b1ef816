//! Which object an entry of an adapter is, and which servants are active for which objects.

use crate::key::ObjectId;
use crate::skeleton::Skeleton;
use crate::table::Index;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The id of an object within its adapter, as its entry keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// Of a transient object whose id the system chose.
    Index(Index),
    /// Any octets.
    Octets(Box<[u8]>),
}

impl Identity {
    pub(crate) fn to_id(&self) -> ObjectId {
        match self {
            Self::Index(index) => index.to_id(),
            Self::Octets(octets) => ObjectId::from(&**octets),
        }
    }

    pub(crate) fn generation(&self) -> u32 {
        match self {
            Self::Index(index) => index.generation,
            Self::Octets(_) => 0,
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
        Some(Self(std::sync::Arc::as_ptr(&servant).addr()))
    }
}

/// The servants of an active object map, by address. A servant is alive as long as it is in here, since the map holds it.
#[derive(Debug, Default)]
pub(crate) struct Servants(Mutex<HashMap<ServantAddress, Activations>>);

/// For which objects a servant is active.
#[derive(Debug)]
struct Activations {
    /// One of them: the only one with UNIQUE_ID.
    first: Identity,
    count: usize,
}

/// The servant is active for another object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ActiveAlready;

impl Servants {
    fn servants(&self) -> MutexGuard<'_, HashMap<ServantAddress, Activations>> {
        // Nothing in here panics half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a servant that `put` makes active, with the id that it gives, unless `put` fails. With `unique` the servant must
    /// not be active yet. `put` runs under the lock, and runs nothing of the application's.
    pub(crate) fn activate<E: From<ActiveAlready>>(
        &self,
        address: Option<ServantAddress>,
        unique: bool,
        put: impl FnOnce() -> Result<Identity, E>,
    ) -> Result<Identity, E> {
        let Some(address) = address else {
            return put();
        };
        match self.servants().entry(address) {
            Entry::Occupied(_) if unique => Err(ActiveAlready.into()),
            Entry::Occupied(mut active) => {
                let identity = put()?;
                let active = active.get_mut();
                active.count = active.count.saturating_add(1);
                Ok(identity)
            }
            Entry::Vacant(place) => {
                let identity = put()?;
                place.insert(Activations {
                    first: identity.clone(),
                    count: 1,
                });
                Ok(identity)
            }
        }
    }

    /// Notes that a servant is no longer active for an object.
    pub(crate) fn deactivate(&self, address: ServantAddress) {
        let mut servants = self.servants();
        if let Entry::Occupied(mut active) = servants.entry(address) {
            match active.get().count {
                0 | 1 => drop(active.remove()),
                count => active.get_mut().count = count.saturating_sub(1),
            }
        }
    }

    /// The object that a servant is active for; one of them if there are several.
    pub(crate) fn find(&self, address: ServantAddress) -> Option<Identity> {
        self.servants()
            .get(&address)
            .map(|active| active.first.clone())
    }
}
