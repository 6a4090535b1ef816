//! One adapter: its policies, and the table of its objects.

use crate::asleep::{Activator, Asleep, Turns};
use crate::key::{InstanceId, ObjectId, ObjectKey, is_reserved};
use crate::leaving::Leaving;
use crate::manager::{AdapterInactive, PoaManager};
use crate::names::Names;
use crate::object::{ActiveObject, Forward};
use crate::policy::{IdAssignment, Lifespan, Policies};
use crate::skeleton::Skeleton;
use crate::table::{Index, Table, TableFull};
use arc_swap::ArcSwapOption;
use bytes::{BufMut, Bytes, BytesMut};
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

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
    /// Another servant, or a forward, has that id.
    #[error("an object with the id \"{0}\" is active already")]
    ObjectAlreadyActive(ObjectId),
    /// An object with that id was deactivated, and an upcall on it has not ended.
    #[error("the object with the id \"{0}\" was deactivated, and an upcall on it has not ended")]
    BeingDeactivated(ObjectId),
    /// The reference was made by another adapter, or another ORB.
    #[error("the reference was not made by this adapter")]
    WrongAdapter,
    /// The adapter's policies do not have this operation.
    #[error("the adapter's policies forbid this: {0}")]
    WrongPolicy(&'static str),
    /// The adapter chooses its ids by itself, and did not choose this one, or has let go of it.
    #[error("the adapter assigns its ids itself and did not assign \"{0}\"")]
    UnknownId(ObjectId),
    /// The octets begin as the keys do that zorb makes.
    #[error("\"{0}\" cannot be a plain key: it begins as the keys that zorb makes")]
    ReservedKey(ObjectId),
    /// The adapter has been destroyed.
    #[error("the adapter has been destroyed")]
    Destroyed,
    /// The POA manager is INACTIVE, which is final.
    #[error(transparent)]
    #[doc(alias = "AdapterInactive")]
    Inactive(#[from] AdapterInactive),
    /// As many objects or adapters as there can be.
    #[error(transparent)]
    Full(#[from] TableFull),
}

/// How the keys of an adapter's objects are made.
#[derive(Debug)]
pub(crate) enum Scheme {
    Transient(Index),
    Persistent(Bytes),
    Plain,
}

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one of them an adapter, and a pointer less to follow for every request"
)]
enum Objects {
    Indexed(Table<Arc<ActiveObject>>),
    Named(Names<Arc<ActiveObject>>),
}

/// One POA: a name, a manager, its policies and a table of active objects.
#[derive(Debug)]
pub struct Adapter {
    /// Names from below the root.
    pub(crate) path: Vec<String>,
    name: String,
    pub(crate) scheme: Scheme,
    policies: Policies,
    instance: InstanceId,
    manager: Arc<PoaManager>,
    objects: Objects,
    /// What makes the ids different that this adapter assigns.
    assigned: AtomicU64,
    destroyed: Arc<AtomicBool>,
    /// Of all adapters: see [`Changes`].
    changes: Arc<Changes>,
    activator: ArcSwapOption<WhoActivates>,
    pub(crate) turns: Turns,
    leaving: Arc<Leaving>,
}

/// Counts what ends what a key leads to: deactivations, forwards in the place of objects, adapters that go. Who
/// remembers what it has found compares it with the count from before it looked. Nothing is counted that is only new,
/// since what was missing is not remembered.
#[derive(Debug, Default)]
pub(crate) struct Changes(AtomicU64);

impl Changes {
    /// To be called when it is done: who looks from now on has to find what is true now.
    pub(crate) fn count(&self) {
        // Released: the change, to who sees the count.
        self.0.fetch_add(1, Ordering::Release);
    }

    #[inline]
    pub(crate) fn so_far(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

struct WhoActivates(Arc<dyn Activator>);

impl fmt::Debug for WhoActivates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Activator")
    }
}

impl Adapter {
    pub(crate) fn new(
        path: Vec<String>,
        name: String,
        scheme: Scheme,
        policies: Policies,
        instance: InstanceId,
        manager: Arc<PoaManager>,
        changes: Arc<Changes>,
    ) -> Self {
        let is_indexed = policies.is_indexed();
        Self {
            path,
            name,
            scheme,
            policies,
            instance,
            manager,
            objects: if is_indexed {
                Objects::Indexed(Table::new())
            } else {
                Objects::Named(Names::new())
            },
            assigned: AtomicU64::new(0),
            destroyed: Arc::default(),
            changes,
            activator: ArcSwapOption::empty(),
            turns: Turns::default(),
            leaving: Arc::default(),
        }
    }

    /// Its name among its siblings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the adapters from below the root to this one.
    #[must_use]
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Its manager.
    #[must_use]
    pub fn manager(&self) -> &Arc<PoaManager> {
        &self.manager
    }

    /// What it was made with.
    #[must_use]
    pub fn policies(&self) -> Policies {
        self.policies
    }

    /// Whether it is gone for good.
    #[must_use]
    pub fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    pub(crate) fn indexed(&self, object: Index) -> Option<Arc<ActiveObject>> {
        match &self.objects {
            Objects::Indexed(table) => table.with(object, Arc::clone),
            Objects::Named(_) => None,
        }
    }

    pub(crate) fn named(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        match &self.objects {
            Objects::Named(names) => names.find(id),
            Objects::Indexed(_) => None,
        }
    }

    /// Marks the adapter as gone.
    pub(crate) fn mark_destroyed(&self) {
        self.destroyed.store(true, Ordering::Release);
    }

    /// Has objects activated when they are called and are not active; the last that was set
    /// counts.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] for the adapter of plain keys, since there it is not only up
    /// to the adapter whose key it is.
    pub fn set_activator(&self, activator: Arc<dyn Activator>) -> Result<(), AdapterError> {
        self.check_alive()?;
        if matches!(self.scheme, Scheme::Plain) {
            return Err(AdapterError::WrongPolicy(
                "unknown plain keys are for the locator of the key table",
            ));
        }
        self.activator
            .store(Some(Arc::new(WhoActivates(activator))));
        Ok(())
    }

    /// The object with this id, when there is somebody to activate it.
    #[cold]
    pub(crate) fn asleep(self: &Arc<Self>, id: ObjectId) -> Option<Arc<ActiveObject>> {
        let activator = Arc::clone(&self.activator.load().as_ref()?.0);
        self.check_id(id.as_ref()).ok()?;
        let asleep = Asleep::new(Arc::clone(self), activator, id);
        Some(ActiveObject::asleep(asleep, &self.manager, &self.destroyed))
    }

    /// Lets go of every object, and lets what is held look again.
    pub(crate) fn clear(&self) {
        self.manager.wake_held();
        self.activator.store(None);
        match &self.objects {
            Objects::Indexed(table) => table.clear(),
            Objects::Named(names) => names.clear(),
        }
        self.changes.count();
    }

    fn check_alive(&self) -> Result<(), AdapterError> {
        if self.is_destroyed() {
            return Err(AdapterError::Destroyed);
        }
        Ok(())
    }

    fn check_assigns_ids(&self) -> Result<(), AdapterError> {
        if self.policies.id_assignment == IdAssignment::User {
            return Err(AdapterError::WrongPolicy(
                "ids are assigned by the user (USER_ID), so give one",
            ));
        }
        self.check_alive()
    }

    /// Another id than all before, also in earlier lives of the server.
    fn assign(&self) -> ObjectId {
        let mut octets = BytesMut::with_capacity(ASSIGNED_LEN);
        octets.put_u64(self.instance.0);
        octets.put_u64(self.assigned.fetch_add(1, Ordering::Relaxed));
        octets.freeze().into()
    }

    /// Whether an object of that id can be here.
    fn check_id(&self, id: &[u8]) -> Result<(), AdapterError> {
        self.check_alive()?;
        if matches!(self.scheme, Scheme::Plain) && is_reserved(id) {
            return Err(AdapterError::ReservedKey(id.into()));
        }
        let unknown = match &self.objects {
            Objects::Indexed(table) => {
                !Index::from_id(id).is_some_and(|index| table.is_given_out(index))
            }
            Objects::Named(_) => {
                self.policies.id_assignment == IdAssignment::System && id.len() != ASSIGNED_LEN
            }
        };
        if unknown {
            return Err(AdapterError::UnknownId(id.into()));
        }
        Ok(())
    }

    fn key(&self, id: &[u8]) -> Bytes {
        let instance = self.instance;
        match (&self.scheme, Index::from_id(id)) {
            (Scheme::Transient(adapter), Some(object))
                if matches!(self.objects, Objects::Indexed(_)) =>
            {
                ObjectKey::Indexed {
                    instance,
                    adapter: *adapter,
                    object,
                }
            }
            (Scheme::Transient(adapter), _) => ObjectKey::Named {
                instance,
                adapter: *adapter,
                id,
            },
            (Scheme::Persistent(path), _) => ObjectKey::Persistent { path, id },
            (Scheme::Plain, _) => ObjectKey::Plain(id),
        }
        .to_bytes()
    }

    fn servant(&self, skeleton: Arc<dyn Skeleton>) -> Arc<ActiveObject> {
        let order = self.policies.one_way_order;
        ActiveObject::servant(skeleton, &self.manager, &self.destroyed, order)
    }

    fn forwarding(&self, forward: Forward) -> Arc<ActiveObject> {
        ActiveObject::forwarding(forward, &self.manager, &self.destroyed)
    }

    /// Puts an object in under a new id and gives its key.
    fn add(&self, object: Arc<ActiveObject>) -> Result<Bytes, AdapterError> {
        self.check_assigns_ids()?;
        let id = match &self.objects {
            Objects::Indexed(table) => table.insert_with(|_| object)?.to_id(),
            Objects::Named(names) => {
                let id = self.assign();
                names.replace(id.as_ref(), object);
                id
            }
        };
        Ok(self.key(id.as_ref()))
    }

    /// Activates a servant under a new object id and gives the object's key.
    ///
    /// # Errors
    /// When ids are the user's to assign, the adapter has been destroyed, or the table is full.
    pub fn activate(&self, skeleton: Arc<dyn Skeleton>) -> Result<Bytes, AdapterError> {
        self.add(self.servant(skeleton))
    }

    /// Activates a servant under this object id and gives the object's key.
    ///
    /// # Errors
    /// [`AdapterError::ObjectAlreadyActive`] when the id is taken, [`AdapterError::BeingDeactivated`] when an upcall on an
    /// earlier object of that id has not ended, [`AdapterError::UnknownId`] when the adapter assigns ids and not this one.
    pub fn activate_with_id(
        &self,
        id: &[u8],
        skeleton: Arc<dyn Skeleton>,
    ) -> Result<Bytes, AdapterError> {
        self.check_id(id)?;
        if self.leaving.contains(id) {
            return Err(AdapterError::BeingDeactivated(id.into()));
        }
        let object = self.servant(skeleton);
        let added = match &self.objects {
            Objects::Indexed(table) => {
                Index::from_id(id).is_some_and(|index| table.fill(index, object))
            }
            Objects::Named(names) => names.insert(id, object).is_ok(),
        };
        if !added {
            return Err(AdapterError::ObjectAlreadyActive(id.into()));
        }
        Ok(self.key(id))
    }

    /// The key of an object that is still to be activated, under a new id.
    ///
    /// # Errors
    /// When ids are the user's to assign, the adapter has been destroyed, or the table is full.
    pub fn reserve(&self) -> Result<Bytes, AdapterError> {
        self.check_assigns_ids()?;
        let id = match &self.objects {
            Objects::Indexed(table) => table.reserve()?.to_id(),
            Objects::Named(_) => self.assign(),
        };
        Ok(self.key(id.as_ref()))
    }

    /// The key of the object with this id, active or not.
    ///
    /// # Errors
    /// [`AdapterError::UnknownId`] when the adapter assigns ids and not this one.
    pub fn key_of(&self, id: &[u8]) -> Result<Bytes, AdapterError> {
        self.check_id(id)?;
        Ok(self.key(id))
    }

    /// The id in a key of this adapter's, whether the object is active or not.
    ///
    /// # Errors
    /// [`AdapterError::WrongAdapter`] for a key that is not this adapter's.
    pub fn id_in(&self, key: &[u8]) -> Result<ObjectId, AdapterError> {
        let id = match (&self.scheme, ObjectKey::parse(key)) {
            (
                Scheme::Transient(ours),
                Some(ObjectKey::Indexed {
                    instance,
                    adapter,
                    object,
                }),
            ) if instance == self.instance && adapter == *ours => Some(object.to_id()),
            (
                Scheme::Transient(ours),
                Some(ObjectKey::Named {
                    instance,
                    adapter,
                    id,
                }),
            ) if instance == self.instance && adapter == *ours => Some(id.into()),
            (Scheme::Persistent(ours), Some(ObjectKey::Persistent { path, id }))
                if path == ours =>
            {
                Some(id.into())
            }
            (Scheme::Plain, Some(ObjectKey::Plain(id))) => Some(id.into()),
            _ => None,
        };
        id.ok_or(AdapterError::WrongAdapter)
    }

    /// The object with this id, if it is active.
    #[must_use]
    pub fn find(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        match &self.objects {
            Objects::Indexed(table) => table.with(Index::from_id(id)?, Arc::clone),
            Objects::Named(names) => names.find(id),
        }
    }

    /// Takes an object out of the table. Upcalls on it run on and keep their servant until they
    /// are done; later requests get OBJECT_NOT_EXIST. The same id may be used again
    /// [then](Self::deactivation_ended), unless it is one of an adapter that assigns ids and is transient.
    ///
    /// # Errors
    /// When the object is not active.
    pub fn deactivate(&self, id: &[u8]) -> Result<(), AdapterError> {
        let count = || self.changes.count();
        let removed = match &self.objects {
            // Nobody else ever has the same index and generation.
            Objects::Indexed(table) => {
                let removed = Index::from_id(id).is_some_and(|index| table.remove(index));
                removed.then(count).is_some()
            }
            // Before another thread can activate another object in the place of this one.
            Objects::Named(names) => {
                let depart = |object: &Arc<ActiveObject>| object.depart(&self.leaving, id);
                names.find(id).iter().for_each(depart);
                let removed = names.remove_and(id, count);
                // Mostly the one that was found.
                removed.iter().for_each(depart);
                removed.is_some()
            }
        };
        match removed {
            true => Ok(()),
            false => Err(AdapterError::ObjectNotActive),
        }
    }

    /// Waits until the upcalls on deactivated objects with this id have ended, so that it may be used again.
    ///
    /// # Cancel safety
    /// Safe.
    pub async fn deactivation_ended(&self, id: &[u8]) {
        self.leaving.ended(&id.into()).await;
    }

    /// Makes an object that is somewhere else, under a new id, and gives its key.
    ///
    /// # Errors
    /// As [`activate`](Self::activate).
    pub fn forward(&self, forward: Forward) -> Result<Bytes, AdapterError> {
        self.add(self.forwarding(forward))
    }

    /// From now on the object with this id is somewhere else, whether it is active here or not.
    /// Upcalls on it run on.
    ///
    /// # Errors
    /// [`AdapterError::UnknownId`] when the adapter assigns ids and not this one.
    pub fn forward_with_id(&self, id: &[u8], forward: Forward) -> Result<(), AdapterError> {
        self.check_id(id)?;
        let object = self.forwarding(forward);
        let replaced = match &self.objects {
            Objects::Indexed(table) => {
                Index::from_id(id).is_some_and(|index| table.replace(index, object))
            }
            Objects::Named(names) => {
                let before = names.replace(id, object);
                (before.iter()).for_each(|before| before.depart(&self.leaving, id));
                true
            }
        };
        self.changes.count();
        if !replaced {
            return Err(AdapterError::UnknownId(id.into()));
        }
        Ok(())
    }

    /// Whether references of this adapter lead to nobody once the ORB is gone.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.policies.lifespan == Lifespan::Transient
    }
}

/// Octets of an id that an adapter assigns whose references outlive it.
const ASSIGNED_LEN: usize = 16;
