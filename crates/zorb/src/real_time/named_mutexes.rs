//! The named mutexes of an ORB.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zorb_executor::RtMutex;

/// The error for an unknown name of a mutex: TAO's user exception `RTCORBA::RTORB::MutexNotFound`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no mutex named {name:?}")]
#[non_exhaustive]
pub struct MutexNotFound {
    /// The name, which no mutex of the ORB has.
    pub name: String,
}

/// The mutexes of an ORB, by name.
#[derive(Debug, Default)]
pub(super) struct NamedMutexes(Mutex<BTreeMap<String, Arc<RtMutex<()>>>>);

impl NamedMutexes {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<RtMutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mutex of a name, made if there is none, and whether it is new.
    pub(super) fn create(&self, name: &str) -> (Arc<RtMutex<()>>, bool) {
        match self.all().entry(name.to_owned()) {
            Entry::Occupied(found) => (Arc::clone(found.get()), false),
            Entry::Vacant(free) => (Arc::clone(free.insert(Arc::default())), true),
        }
    }

    pub(super) fn open(&self, name: &str) -> Result<Arc<RtMutex<()>>, MutexNotFound> {
        self.all().get(name).cloned().ok_or_else(|| missing(name))
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), MutexNotFound> {
        let removed = self.all().remove(name);
        removed.map(drop).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> MutexNotFound {
    MutexNotFound {
        name: name.to_owned(),
    }
}
