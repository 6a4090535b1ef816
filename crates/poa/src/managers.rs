//! POA managers by their ids.

use crate::manager::{PoaManager, PoaManagerState};
use crate::sync::{AtomicU64, Mutex, MutexGuard, OnceLock, Ordering};
use core::fmt;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, PoisonError, Weak};

/// The error of creating a POA manager with the id of an existing one, which it contains.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::POAManagerFactory`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a POA manager with the id {0:?} exists already")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct ManagerAlreadyExists(pub String);

/// The POA managers of an ORB, each as long as a POA or the application holds it.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::POAManagerFactory`).
#[derive(Default)]
pub struct Managers {
    by_id: Mutex<BTreeMap<String, Weak<PoaManager>>>,
    next: AtomicU64,
    /// Told of the states of the managers.
    watcher: Arc<OnceLock<Watcher>>,
}

/// Is told that the manager with this id has changed to this state.
pub(crate) type Watcher = Box<dyn Fn(&str, PoaManagerState) + Send + Sync>;

impl Managers {
    fn by_id(&self) -> MutexGuard<'_, BTreeMap<String, Weak<PoaManager>>> {
        // No code panics under this lock, so its data is consistent.
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a manager in the HOLDING state, with this id.
    ///
    /// # Errors
    /// [`ManagerAlreadyExists`] if a manager of this id exists.
    pub fn create(&self, id: &str) -> Result<Arc<PoaManager>, ManagerAlreadyExists> {
        let manager = Arc::new(PoaManager::new());
        manager.set_id(|| id.to_owned());
        manager.set_watcher(&self.watcher);
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

    /// Adds the manager of an adapter, and gives it an id if it has none.
    pub(crate) fn register(&self, manager: &Arc<PoaManager>) {
        manager.set_id(|| format!("POAManager{}", self.next.fetch_add(1, Ordering::Relaxed)));
        manager.set_watcher(&self.watcher);
        let mut by_id = self.by_id();
        if !by_id.contains_key(manager.id()) {
            by_id.retain(|_, manager| manager.strong_count() > 0);
            by_id.insert(manager.id().to_owned(), Arc::downgrade(manager));
        }
    }

    /// Has `watcher` told of the id and the new state of each manager that changes its state, on the thread that changes it. A
    /// later watcher is dropped.
    pub fn watch(&self, watcher: impl Fn(&str, PoaManagerState) + Send + Sync + 'static) {
        let _ = self.watcher.set(Box::new(watcher));
    }

    /// Returns the managers that exist, sorted by their ids.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<PoaManager>> {
        self.by_id().values().filter_map(Weak::upgrade).collect()
    }

    /// Returns the manager with this id; `None` if no adapter and no other holder keeps it any more.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Arc<PoaManager>> {
        self.by_id().get(id)?.upgrade()
    }
}

impl fmt::Debug for Managers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Managers")
            .field("by_id", &self.by_id())
            .finish_non_exhaustive()
    }
}
