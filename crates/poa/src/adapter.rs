//! Adapters, and the way from an object key to an active object.

use crate::key::{InstanceId, ObjectKey};
use crate::manager::{Held, PoaManager, State};
use crate::request::Request;
use crate::skeleton::{Skeleton, Upcall};
use crate::table::{Index, Table, TableFull};
use bytes::Bytes;
use core::fmt;
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zorb_giop::ior::OBJECT_REPOSITORY_ID;
use zorb_giop::{CompletionStatus, Fault, SystemException, SystemExceptionKind, minor};

/// Why an adapter operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// A sibling has that name.
    #[error("an adapter named {0:?} exists already")]
    #[doc(alias = "AdapterAlreadyExists")]
    AlreadyExists(String),
    /// The object is not active here.
    #[error("the object is not active in this adapter")]
    ObjectNotActive,
    /// The reference was made by another adapter, or another ORB.
    #[error("the reference was not made by this adapter")]
    WrongAdapter,
    /// The adapter has been destroyed.
    #[error("the adapter has been destroyed")]
    Destroyed,
    /// As many objects or adapters as there can be.
    #[error(transparent)]
    Full(#[from] TableFull),
}

/// A servant at its place in an adapter.
pub struct ActiveObject {
    /// The servant behind its skeleton.
    pub skeleton: Arc<dyn Skeleton>,
    manager: Arc<PoaManager>,
    adapter_destroyed: Arc<AtomicBool>,
}

impl ActiveObject {
    /// The manager that says whether requests are served.
    #[must_use]
    pub fn manager(&self) -> &Arc<PoaManager> {
        &self.manager
    }

    /// Waits while the manager holds requests.
    ///
    /// # Errors
    /// TRANSIENT when as many wait as may, or when they are discarded; OBJ_ADAPTER when the
    /// manager is inactive; OBJECT_NOT_EXIST when the adapter is destroyed meanwhile.
    pub async fn released(&self) -> Result<(), SystemException> {
        let raise = |fault: Fault| fault.raise(CompletionStatus::No);
        let mut held = self.manager.hold();
        loop {
            if self.adapter_destroyed.load(Ordering::Acquire) {
                return Err(raise(Fault::NoAdapter));
            }
            match poll_fn(|cx| held.poll_changed(cx.waker())).await {
                Held::Full => {
                    return Err(raise(Fault::Overload(
                        "too many requests are held".to_owned(),
                    )));
                }
                Held::Changed(State::Holding) => {}
                Held::Changed(state) => return state.admit(),
            }
        }
    }

    /// Begins the upcall: the skeleton's operations first, then those every object has.
    pub fn start(&self, request: Request) -> Upcall {
        // Generated operation names never begin with an underscore but for attributes.
        let name = request.operation();
        if name.first() != Some(&b'_') || name.starts_with(b"_get_") || name.starts_with(b"_set_") {
            return self.skeleton.start(request);
        }
        let outcome = match name {
            b"_is_a" => match request.arguments::<String>() {
                Ok(id) => request.reply(self.is_a(&id)),
                Err(exception) => request.system_exception(&exception),
            },
            // The request has found its object; the older name is still sent by 1.0 peers.
            b"_non_existent" | b"_not_existent" => request.reply(false),
            b"_repository_id" => request.reply(self.skeleton.repository_id()),
            b"_interface" => request.system_exception(&SystemException::new(
                SystemExceptionKind::IntfRepos,
                minor::NO_INTERFACE_REPOSITORY,
                CompletionStatus::No,
            )),
            // No object here is a component: the nil reference.
            b"_component" => request.reply(zorb_giop::Ior::NIL),
            _ => return self.skeleton.start(request),
        };
        Upcall::ready(outcome)
    }

    /// Whether the object implements the interface with this repository id.
    #[must_use]
    pub fn is_a(&self, repository_id: &str) -> bool {
        repository_id == OBJECT_REPOSITORY_ID || self.skeleton.is_a(repository_id)
    }
}

impl fmt::Debug for ActiveObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveObject")
            .field("repository_id", &self.skeleton.repository_id())
            .field("manager", &self.manager)
            .finish()
    }
}

/// One POA: a name, a manager and a table of active objects.
#[derive(Debug)]
pub struct Adapter {
    name: String,
    index: Index,
    instance: InstanceId,
    manager: Arc<PoaManager>,
    objects: Table<Arc<ActiveObject>>,
    destroyed: Arc<AtomicBool>,
}

impl Adapter {
    /// Its name among its siblings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its manager.
    #[must_use]
    pub fn manager(&self) -> &Arc<PoaManager> {
        &self.manager
    }

    /// Activates a servant under a new object id and gives the object's key.
    ///
    /// # Errors
    /// When the adapter has been destroyed, or the table is full.
    pub fn activate(&self, skeleton: Arc<dyn Skeleton>) -> Result<Bytes, AdapterError> {
        if self.destroyed.load(Ordering::Acquire) {
            return Err(AdapterError::Destroyed);
        }
        let object = Arc::new(ActiveObject {
            skeleton,
            manager: Arc::clone(&self.manager),
            adapter_destroyed: Arc::clone(&self.destroyed),
        });
        let index = self.objects.insert_with(|_| object)?;
        Ok(self.key(index))
    }

    fn key(&self, object: Index) -> Bytes {
        let key = ObjectKey {
            instance: self.instance,
            adapter: self.index,
            object,
        };
        Bytes::copy_from_slice(&key.to_octets())
    }

    /// Takes an object out of the table. Upcalls on it run on and keep their servant until they
    /// are done; later requests get OBJECT_NOT_EXIST.
    ///
    /// # Errors
    /// When the key is another adapter's, or the object is not active.
    pub fn deactivate(&self, key: &[u8]) -> Result<(), AdapterError> {
        let key = ObjectKey::parse(key)
            .filter(|key| key.instance == self.instance && key.adapter == self.index)
            .ok_or(AdapterError::WrongAdapter)?;
        if self.objects.remove(key.object) {
            Ok(())
        } else {
            Err(AdapterError::ObjectNotActive)
        }
    }
}

/// All adapters of one ORB.
#[derive(Debug)]
pub struct ObjectAdapter {
    instance: InstanceId,
    adapters: Table<Arc<Adapter>>,
    /// Children by full path, for who asks by name; requests never do.
    by_path: Mutex<HashMap<Vec<String>, Arc<Adapter>>>,
    root: Arc<Adapter>,
}

impl ObjectAdapter {
    /// A root adapter, whose manager is HOLDING, and nothing else.
    #[must_use]
    pub fn new(instance: InstanceId) -> Self {
        let adapters = Table::new();
        let make = |index| {
            Arc::new(Adapter {
                name: "RootPOA".to_owned(),
                index,
                instance,
                manager: Arc::new(PoaManager::new()),
                objects: Table::new(),
                destroyed: Arc::default(),
            })
        };
        let root = adapters
            .insert_with(make)
            .ok()
            .and_then(|index| adapters.with(index, Arc::clone))
            .unwrap_or_else(|| {
                make(Index {
                    slot: 0,
                    generation: 0,
                })
            });
        Self {
            instance,
            adapters,
            by_path: Mutex::new(HashMap::new()),
            root,
        }
    }

    /// This life of the server.
    #[must_use]
    pub fn instance(&self) -> InstanceId {
        self.instance
    }

    /// The root POA.
    #[must_use]
    pub fn root(&self) -> &Arc<Adapter> {
        &self.root
    }

    fn paths(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<String>, Arc<Adapter>>> {
        self.by_path.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a child adapter at `path` (names from below the root), with its own manager or a
    /// shared one.
    ///
    /// # Errors
    /// When there is one of that name, or too many.
    pub fn create(
        &self,
        path: &[String],
        manager: Option<Arc<PoaManager>>,
    ) -> Result<Arc<Adapter>, AdapterError> {
        let mut paths = self.paths();
        let name = path.last().cloned().unwrap_or_default();
        if paths.contains_key(path) {
            return Err(AdapterError::AlreadyExists(name));
        }
        let manager = manager.unwrap_or_default();
        let index = self.adapters.insert_with(|index| {
            Arc::new(Adapter {
                name,
                index,
                instance: self.instance,
                manager,
                objects: Table::new(),
                destroyed: Arc::default(),
            })
        })?;
        let adapter = self
            .adapters
            .with(index, Arc::clone)
            .ok_or(AdapterError::Destroyed)?;
        paths.insert(path.to_vec(), Arc::clone(&adapter));
        Ok(adapter)
    }

    /// The adapter at `path`, if there is one.
    #[must_use]
    pub fn find(&self, path: &[String]) -> Option<Arc<Adapter>> {
        self.paths().get(path).cloned()
    }

    /// Destroys the adapter at `path` and those below it: their references are OBJECT_NOT_EXIST
    /// from now on, also when an adapter of the same name is made again, and so are the requests
    /// that their managers hold.
    pub fn destroy(&self, path: &[String]) {
        self.paths().retain(|each, adapter| {
            let below = each.starts_with(path);
            if below {
                self.adapters.remove(adapter.index);
                adapter.objects.clear();
                adapter.destroyed.store(true, Ordering::Release);
                // What is held there has to look again.
                adapter.manager.wake_held();
            }
            !below
        });
    }

    /// Makes every manager INACTIVE: requests that are held are refused.
    pub fn deactivate_managers(&self) {
        self.root.manager.deactivate();
        for adapter in self.paths().values() {
            adapter.manager.deactivate();
        }
    }

    /// Lets go of every servant; what comes afterwards is OBJECT_NOT_EXIST.
    pub fn clear(&self) {
        self.destroy(&[]);
        self.root.objects.clear();
    }

    /// Finds the object that `key` names: two look-ups by index, wait-free, whatever the number
    /// of adapters and objects.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST for a key of another ORB or another life of this one, a destroyed
    /// adapter, or an object that is not active; COMPLETED_NO.
    pub fn locate(&self, key: &[u8]) -> Result<Arc<ActiveObject>, SystemException> {
        let raise = |fault: Fault| fault.raise(CompletionStatus::No);
        let key = ObjectKey::parse(key)
            .filter(|key| key.instance == self.instance)
            .ok_or_else(|| raise(Fault::NoAdapter))?;
        self.adapters
            .with(key.adapter, |adapter| {
                adapter.objects.with(key.object, Arc::clone)
            })
            .ok_or_else(|| raise(Fault::NoAdapter))?
            .ok_or_else(|| raise(Fault::NoObject))
    }
}

/// What the state of a manager means for a new request, once it is not HOLDING.
impl State {
    /// `Ok` when requests are served.
    ///
    /// # Errors
    /// TRANSIENT when they are discarded, OBJ_ADAPTER when the manager is inactive.
    pub fn admit(self) -> Result<(), SystemException> {
        match self {
            Self::Active | Self::Holding => Ok(()),
            Self::Discarding => Err(Fault::Discarding.raise(CompletionStatus::No)),
            Self::Inactive => Err(Fault::Inactive.raise(CompletionStatus::No)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Outcome;

    struct Nobody;

    impl Skeleton for Nobody {
        fn repository_id(&self) -> &'static str {
            "IDL:Nobody:1.0"
        }
        fn is_a(&self, id: &str) -> bool {
            id == self.repository_id()
        }
        fn start(&self, _: Request) -> Upcall {
            Upcall::ready(Outcome::Silent)
        }
    }

    fn kind(result: Result<Arc<ActiveObject>, SystemException>) -> SystemExceptionKind {
        result.unwrap_err().kind
    }

    #[test]
    fn a_key_leads_to_its_object_until_that_is_deactivated() {
        let adapters = ObjectAdapter::new(InstanceId::random());
        let key = adapters.root().activate(Arc::new(Nobody)).unwrap();
        let found = adapters.locate(&key).unwrap();
        assert!(found.is_a("IDL:Nobody:1.0") && found.is_a(OBJECT_REPOSITORY_ID));
        assert!(!found.is_a("IDL:Somebody:1.0"));
        adapters.root().deactivate(&key).unwrap();
        assert_eq!(
            adapters.root().deactivate(&key),
            Err(AdapterError::ObjectNotActive)
        );
        assert_eq!(
            kind(adapters.locate(&key)),
            SystemExceptionKind::ObjectNotExist
        );
        let again = adapters.root().activate(Arc::new(Nobody)).unwrap();
        assert_ne!(key, again);
        assert_eq!(
            kind(adapters.locate(&key)),
            SystemExceptionKind::ObjectNotExist
        );
    }

    #[test]
    fn a_reference_of_an_earlier_life_finds_nobody() {
        let earlier = ObjectAdapter::new(InstanceId::random());
        let later = ObjectAdapter::new(InstanceId::random());
        let key = earlier.root().activate(Arc::new(Nobody)).unwrap();
        later.root().activate(Arc::new(Nobody)).unwrap();
        assert_eq!(
            kind(later.locate(&key)),
            SystemExceptionKind::ObjectNotExist
        );
        for foreign in [&b""[..], b"Bank", &[0; 28]] {
            assert_eq!(
                kind(later.locate(foreign)),
                SystemExceptionKind::ObjectNotExist
            );
        }
    }

    #[test]
    fn a_child_made_again_does_not_inherit_the_references_of_the_first() {
        let adapters = ObjectAdapter::new(InstanceId::random());
        let path = vec!["bank".to_owned()];
        let child = adapters.create(&path, None).unwrap();
        assert!(matches!(
            adapters.create(&path, None),
            Err(AdapterError::AlreadyExists(name)) if name == "bank"
        ));
        let key = child.activate(Arc::new(Nobody)).unwrap();
        assert!(adapters.locate(&key).is_ok());
        assert_eq!(
            adapters.root().deactivate(&key),
            Err(AdapterError::WrongAdapter)
        );
        adapters.destroy(&path);
        assert!(adapters.find(&path).is_none());
        let child = adapters.create(&path, None).unwrap();
        child.activate(Arc::new(Nobody)).unwrap();
        assert_eq!(
            kind(adapters.locate(&key)),
            SystemExceptionKind::ObjectNotExist
        );
    }

    #[test]
    fn each_state_admits_or_refuses() {
        assert!(State::Active.admit().is_ok());
        let transient = State::Discarding.admit().unwrap_err();
        assert_eq!(
            (transient.kind, transient.minor),
            (SystemExceptionKind::Transient, minor::REQUEST_DISCARDED)
        );
        let inactive = State::Inactive.admit().unwrap_err();
        assert_eq!(inactive.kind, SystemExceptionKind::ObjAdapter);
    }
}
