//! POA managers by their ids.

use crate::manager::PoaManager;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, PoisonError, Weak};

/// A manager of that id exists.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a POA manager with the id {0:?} exists already")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct ManagerAlreadyExists(pub String);

/// The POA managers of an ORB, while a POA or the application holds them.
#[derive(Debug, Default)]
pub struct Managers {
    by_id: Mutex<BTreeMap<String, Weak<PoaManager>>>,
    next: AtomicU64,
}

impl Managers {
    fn by_id(&self) -> MutexGuard<'_, BTreeMap<String, Weak<PoaManager>>> {
        // Nothing in here panics half-way.
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a manager in the HOLDING state.
    ///
    /// # Errors
    /// [`ManagerAlreadyExists`].
    pub fn create(&self, id: &str) -> Result<Arc<PoaManager>, ManagerAlreadyExists> {
        let manager = Arc::new(PoaManager::new());
        manager.set_id(|| id.to_owned());
        match self.by_id().entry(id.to_owned()) {
            Entry::Occupied(before) if before.get().strong_count() > 0 => {
                return Err(ManagerAlreadyExists(id.to_owned()));
            }
            Entry::Occupied(mut before) => {
                before.insert(Arc::downgrade(&manager));
            }
            Entry::Vacant(place) => {
                place.insert(Arc::downgrade(&manager));
            }
        }
        Ok(manager)
    }

    /// Notes the manager of an adapter, and gives it an id if it has none.
    pub(crate) fn register(&self, manager: &Arc<PoaManager>) {
        manager.set_id(|| format!("POAManager{}", self.next.fetch_add(1, Ordering::Relaxed)));
        let mut by_id = self.by_id();
        if !by_id.contains_key(manager.id()) {
            by_id.retain(|_, manager| manager.strong_count() > 0);
            by_id.insert(manager.id().to_owned(), Arc::downgrade(manager));
        }
    }

    /// All of them, by id.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<PoaManager>> {
        self.by_id().values().filter_map(Weak::upgrade).collect()
    }

    /// That with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Arc<PoaManager>> {
        self.by_id().get(id)?.upgrade()
    }
}
