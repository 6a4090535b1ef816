//! One adapter: its policies, and the table of its objects.

mod completion;
mod error;
mod keys;
mod processing;
mod requests;
mod servants;
mod unused;

pub use error::AdapterError;

use crate::asleep::Turns;
use crate::identity::{Identity, ServantAddress, Servants};
use crate::key::{InstanceId, ObjectId};
use crate::leaving::Leaving;
use crate::manager::PoaManager;
use crate::names::{Named, Names};
use crate::object::{ActiveObject, Forward, Site};
use crate::policy::{IdAssignment, IdUniqueness, KeyProtection, Lifespan, Policies, ThreadModel};
use crate::scheduling::UpcallScheduling;
use crate::seal::KeySecret;
use crate::servant_manager::{AdapterActivator, OffReactor};
use crate::skeleton::Skeleton;
use crate::table::{Index, Table, Tenant};
use crate::turn_queue::TurnQueue;
use arc_swap::ArcSwapOption;
use bytes::Bytes;
use core::any::Any;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use processing::Processing;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

/// The kind of an adapter's object keys.
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
    Indexed(Table<ActiveObject>),
    Named(Names<Arc<ActiveObject>>),
    /// NON_RETAIN.
    None,
}

/// One POA: a name, a manager, its policies and a table of active objects.
#[derive(Debug)]
pub struct Adapter {
    this: Weak<Self>,
    /// Names from below the root.
    pub(crate) path: Vec<String>,
    name: String,
    pub(crate) scheme: Scheme,
    policies: Policies,
    instance: InstanceId,
    manager: Arc<PoaManager>,
    objects: Objects,
    servants: Servants<ActiveObject>,
    /// Distinguishes the ids that this adapter assigns.
    assigned: AtomicU64,
    destroyed: AtomicBool,
    /// Hidden from requests, because its activator is not done yet.
    being_made: AtomicBool,
    common: Arc<Common>,
    processing: Processing,
    /// With [`ThreadModel::SingleThread`] and [`ThreadModel::MainThread`].
    turn_queue: Option<Arc<TurnQueue>>,
    pub(crate) turns: Turns,
    /// The adapter activator.
    children: ArcSwapOption<ActivatesChildren>,
    pub(crate) child_turns: Turns,
    leaving: Arc<Leaving>,
    scheduling: Option<Arc<dyn UpcallScheduling>>,
    /// The start of the clock for unused objects.
    ticks_began: OnceLock<Instant>,
}

/// The state that all adapters of an ORB share.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) changes: Changes,
    /// The ORB.
    pub(crate) owner: OnceLock<Weak<dyn Any + Send + Sync>>,
    /// Runs blocking upcalls outside of the reactor.
    pub(crate) off_reactor: OnceLock<OffReactor>,
    /// The secret of codes in keys.
    pub(crate) secret: OnceLock<KeySecret>,
    /// Turns of the adapters with MAIN_THREAD_MODEL.
    main_thread: Arc<TurnQueue>,
}

impl core::fmt::Debug for Common {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Common")
            .field("changes", &self.changes)
            .finish_non_exhaustive()
    }
}

impl Named for Arc<Adapter> {
    #[inline]
    fn name(&self) -> &[u8] {
        match &self.scheme {
            Scheme::Persistent(path) => path,
            // Is found by its index, or always there.
            Scheme::Transient(_) | Scheme::Plain => &[],
        }
    }
}

impl Tenant for Adapter {
    #[inline]
    fn generation(&self) -> u32 {
        match &self.scheme {
            Scheme::Transient(index) => index.generation,
            Scheme::Persistent(_) | Scheme::Plain => 0,
        }
    }
}

/// Counts the events that change the target of a key: deactivations, forwards in place of objects, destroyed adapters. A cache
/// keeps the count from before its look-up with the result, and compares it. New objects are not counted, since missing
/// ones are not cached.
#[derive(Debug, Default)]
pub(crate) struct Changes(AtomicU64);

impl Changes {
    /// To be called after the change: later look-ups have to find the new state.
    pub(crate) fn count(&self) {
        // Released: a reader of the count sees the change.
        self.0.fetch_add(1, Ordering::Release);
    }

    #[inline]
    pub(crate) fn so_far(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The name of the adapter with an empty path.
const ROOT_NAME: &str = "RootPOA";

impl Adapter {
    #[expect(
        clippy::too_many_arguments,
        reason = "an adapter is made of all of these"
    )]
    pub(crate) fn new(
        path: Vec<String>,
        scheme: Scheme,
        policies: Policies,
        instance: InstanceId,
        manager: Arc<PoaManager>,
        common: &Arc<Common>,
        leaving: Option<Arc<Leaving>>,
        scheduling: Option<Arc<dyn UpcallScheduling>>,
    ) -> Arc<Self> {
        let name = (path.last()).map_or_else(|| ROOT_NAME.to_owned(), String::clone);
        let objects = match (policies.retains(), policies.is_indexed()) {
            (false, _) => Objects::None,
            (true, true) => Objects::Indexed(Table::new()),
            (true, false) => Objects::Named(Names::new()),
        };
        let adapter = Arc::new_cyclic(|this: &Weak<Self>| Self {
            this: Weak::clone(this),
            path,
            name,
            scheme,
            policies,
            instance,
            manager,
            objects,
            servants: Servants::new(policies.id_uniqueness == IdUniqueness::Unique),
            assigned: AtomicU64::new(0),
            destroyed: AtomicBool::new(false),
            being_made: AtomicBool::new(false),
            common: Arc::clone(common),
            processing: Processing::of(policies),
            turn_queue: match policies.thread {
                ThreadModel::OrbControlled => None,
                ThreadModel::SingleThread => Some(Arc::default()),
                ThreadModel::MainThread => Some(Arc::clone(&common.main_thread)),
            },
            turns: Turns::default(),
            children: ArcSwapOption::empty(),
            child_turns: Turns::default(),
            leaving: leaving.unwrap_or_default(),
            scheduling,
            ticks_began: OnceLock::new(),
        });
        let controlled: Weak<Self> = Weak::clone(&adapter.this);
        adapter.manager.control(controlled);
        adapter
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

    /// The policies of its creation.
    #[must_use]
    pub fn policies(&self) -> Policies {
        self.policies
    }

    /// Whether it has been destroyed.
    #[must_use]
    pub fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    /// The scheduler of its upcalls, if any.
    #[must_use]
    pub fn scheduling(&self) -> Option<&Arc<dyn UpcallScheduling>> {
        self.scheduling.as_ref()
    }

    /// The ORB that [`ObjectAdapter::set_owner`](crate::ObjectAdapter::set_owner) has named.
    #[must_use]
    pub fn owner(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.common.owner.get()?.upgrade()
    }

    /// Whether another adapter is of the same ORB.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.common, &other.common)
    }

    pub(crate) fn off_reactor(&self) -> Option<&OffReactor> {
        self.common.off_reactor.get()
    }

    pub(crate) fn turn_queue(&self) -> Option<&Arc<TurnQueue>> {
        self.turn_queue.as_ref()
    }

    /// Whether its keys have codes.
    #[inline]
    pub(crate) fn is_sealed(&self) -> bool {
        self.policies.key_protection == KeyProtection::Authenticated
    }

    #[inline]
    pub(crate) fn indexed(&self, object: Index) -> Option<Arc<ActiveObject>> {
        let found = match &self.objects {
            Objects::Indexed(table) => table.with(object, Arc::clone),
            Objects::Named(_) | Objects::None => None,
        };
        found.or_else(|| self.process(Identity::Index(object)))
    }

    #[inline]
    pub(crate) fn named(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        let found = match &self.objects {
            Objects::Named(names) => names.find(id),
            Objects::Indexed(_) | Objects::None => None,
        };
        found.or_else(|| self.process_named(id))
    }

    /// Hides it from requests until [`show`](Self::show): its parent's activator still equips it.
    pub(crate) fn hide(&self) {
        self.being_made.store(true, Ordering::Release);
    }

    pub(crate) fn show(&self) {
        self.being_made.store(false, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_being_made(&self) -> bool {
        self.being_made.load(Ordering::Acquire)
    }

    /// Marks the adapter as gone.
    pub(crate) fn mark_destroyed(&self) {
        self.destroyed.store(true, Ordering::Release);
    }

    /// Drops every object, and wakes held requests. With a servant activator the objects are etherealized, if
    /// that is wanted.
    pub(crate) fn clear(&self, etherealize_objects: bool) {
        self.manager.wake_held();
        self.empty(etherealize_objects);
        self.processing.clear();
        self.children.store(None);
    }

    /// Empties the active object map.
    fn empty(&self, etherealize_objects: bool) {
        let activator = self.activator().filter(|_| etherealize_objects);
        let drained = match &self.objects {
            Objects::Indexed(table) => table.drain(),
            Objects::Named(names) => names.drain(),
            Objects::None => Vec::new(),
        };
        for object in &drained {
            object.depart(&self.leaving, activator.as_ref(), true);
            self.forget_servant(object);
        }
        self.common.changes.count();
        // Dropped servants run code of the application.
        drop(drained);
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

    fn site(&self, identity: Identity) -> Site<'_> {
        let scheduling = self.scheduling.as_ref();
        let priority = scheduling.map(|by| by.priority_of(identity.to_id().as_ref()));
        Site {
            identity,
            priority,
            adapter: &self.this,
            manager: &self.manager,
            leaving: &self.leaving,
            notes_use: self.processing.is_activator(),
        }
    }

    /// A servant as an entry of the active object map.
    fn servant(&self, skeleton: Arc<dyn Skeleton>, identity: Identity) -> Arc<ActiveObject> {
        let (turns, order) = (self.turn_queue.as_ref(), self.policies.one_way_order);
        ActiveObject::servant(skeleton, turns, order, false, self.site(identity))
    }

    /// A servant for one request, which is not in the active object map.
    pub(crate) fn object_for_request(
        &self,
        skeleton: Arc<dyn Skeleton>,
        identity: Identity,
    ) -> Arc<ActiveObject> {
        let (turns, order) = (self.turn_queue.as_ref(), self.policies.one_way_order);
        ActiveObject::servant(skeleton, turns, order, true, self.site(identity))
    }

    fn forwarding(&self, forward: Forward, identity: Identity) -> Arc<ActiveObject> {
        ActiveObject::forwarding(forward, self.site(identity))
    }

    /// Inserts an object under a new id.
    fn put_new(
        &self,
        make: impl FnOnce(Identity) -> Arc<ActiveObject>,
    ) -> Result<Arc<ActiveObject>, AdapterError> {
        match &self.objects {
            Objects::Indexed(table) => {
                let (_, object) = table.insert_with(|index| make(Identity::Index(index)))?;
                Ok(object)
            }
            Objects::Named(names) => {
                let object = make(Identity::Octets(self.assign().as_ref().into()));
                names.replace(Arc::clone(&object));
                Ok(object)
            }
            Objects::None => Err(NEEDS_RETAIN),
        }
    }

    /// Inserts an object under its id, unless that is taken.
    fn put_at(
        &self,
        id: &[u8],
        object: &Arc<ActiveObject>,
    ) -> Result<Arc<ActiveObject>, AdapterError> {
        // The clone that is not put in is not the last one, so that nothing of a servant's runs here.
        let added = match (&self.objects, object.identity()) {
            (Objects::Indexed(table), Identity::Index(index)) => {
                table.fill(*index, Arc::clone(object))
            }
            (Objects::Named(names), _) => names.insert(Arc::clone(object)).is_ok(),
            _ => return Err(NEEDS_RETAIN),
        };
        match added {
            true => Ok(Arc::clone(object)),
            false => Err(AdapterError::ObjectAlreadyActive(id.into())),
        }
    }

    /// An id as entries keep it.
    fn identity(&self, id: &[u8]) -> Identity {
        match Index::from_id(id) {
            Some(index) if self.policies.is_indexed() => Identity::Index(index),
            _ => Identity::Octets(id.into()),
        }
    }

    fn is_unique(&self) -> bool {
        self.policies.id_uniqueness == IdUniqueness::Unique
    }

    fn check_retains(&self) -> Result<(), AdapterError> {
        match self.policies.retains() {
            true => Ok(()),
            false => Err(NEEDS_RETAIN),
        }
    }

    /// Activates a servant under a new object id and returns the object's key.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] when ids are the user's to assign or there is no active object map,
    /// [`AdapterError::ServantAlreadyActive`] with UNIQUE_ID, and when the adapter has been destroyed or the table is full.
    pub fn activate(&self, skeleton: Arc<dyn Skeleton>) -> Result<Bytes, AdapterError> {
        Ok(self.key(self.activate_new(&skeleton)?.as_ref()))
    }

    /// Activates a servant under a new object id and returns the id.
    fn activate_new(&self, skeleton: &Arc<dyn Skeleton>) -> Result<ObjectId, AdapterError> {
        self.check_assigns_ids()?;
        self.check_retains()?;
        let address = ServantAddress::of(&**skeleton);
        let make = |identity| self.servant(Arc::clone(skeleton), identity);
        let put = || self.put_new(make);
        let object = self.servants.activate(address, put)?;
        Ok(object.id())
    }

    /// The object with this id, if it is active.
    #[must_use]
    pub fn find(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        match &self.objects {
            Objects::Indexed(table) => table.with(Index::from_id(id)?, Arc::clone),
            Objects::Named(names) => names.find(id),
            Objects::None => None,
        }
    }

    /// Removes an object from the table. Upcalls on it run on and keep their servant until they
    /// are done; later requests are for an object that is not active. When the last upcall has ended the object is etherealized,
    /// if there is a servant activator, and the same id may be used [again](Self::deactivation_ended), unless it is one of an
    /// adapter that assigns ids, is transient, and has nothing but its active object map.
    ///
    /// # Errors
    /// When the object is not active, or there is no active object map.
    pub fn deactivate(&self, id: &[u8]) -> Result<(), AdapterError> {
        self.check_retains()?;
        let activator = self.activator();
        let depart =
            |object: &Arc<ActiveObject>| object.depart(&self.leaving, activator.as_ref(), false);
        // Before it leaves the map, so that no other object can be activated in its place yet.
        self.find(id).iter().for_each(depart);
        let count = || self.common.changes.count();
        let removed = match &self.objects {
            Objects::Indexed(table) => {
                let index = Index::from_id(id).ok_or(AdapterError::ObjectNotActive)?;
                let removed = match self.processing.is_map_only() {
                    // No other object ever has the same index and generation.
                    true => table.remove(index),
                    // Requests still lead somewhere.
                    false => table.vacate(index),
                };
                let removed = removed.map_err(|_| AdapterError::ObjectNotActive)?;
                count();
                if removed.is_none() && !self.processing.is_map_only() {
                    return Err(AdapterError::ObjectNotActive);
                }
                removed
            }
            // Before another thread can activate another object in the place of this one.
            Objects::Named(names) => {
                Some((names.remove_and(id, count)).ok_or(AdapterError::ObjectNotActive)?)
            }
            Objects::None => None,
        };
        if let Some(removed) = removed {
            // Mostly the one that was found.
            depart(&removed);
            self.forget_servant(&removed);
        }
        Ok(())
    }

    /// Notes that an object has left the map.
    fn forget_servant(&self, object: &ActiveObject) {
        self.servants.deactivate(object, None);
    }

    /// Waits until the upcalls on deactivated objects with this id have ended, so that it may be used again.
    ///
    /// # Cancel safety
    /// Safe.
    pub async fn deactivation_ended(&self, id: &[u8]) {
        self.leaving.ended(&id.into()).await;
    }

    /// Makes an object that is somewhere else, under a new id, and returns its key.
    ///
    /// # Errors
    /// As [`activate`](Self::activate).
    pub fn forward(&self, forward: Forward) -> Result<Bytes, AdapterError> {
        self.check_assigns_ids()?;
        let object = self.put_new(|identity| self.forwarding(forward, identity))?;
        Ok(self.key(object.id().as_ref()))
    }

    /// From now on the object with this id is somewhere else, whether it is active here or not.
    /// Upcalls on it run on.
    ///
    /// # Errors
    /// [`AdapterError::UnknownId`] when the adapter assigns ids and not this one.
    pub fn forward_with_id(&self, id: &[u8], forward: Forward) -> Result<(), AdapterError> {
        self.check_retains()?;
        self.check_id(id)?;
        let activator = self.activator();
        let object = self.forwarding(forward, self.identity(id));
        let before = match (&self.objects, object.identity().clone()) {
            (Objects::Indexed(table), Identity::Index(index)) => table
                .replace(index, object)
                .map_err(|_| AdapterError::UnknownId(id.into()))?,
            (Objects::Named(names), _) => names.replace(object),
            _ => None,
        };
        self.common.changes.count();
        if let Some(before) = before {
            before.depart(&self.leaving, activator.as_ref(), false);
            self.forget_servant(&before);
        }
        Ok(())
    }

    /// Whether references of this adapter are invalid once the ORB is gone.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.policies.lifespan == Lifespan::Transient
    }
}

struct ActivatesChildren(Arc<dyn AdapterActivator>);

impl core::fmt::Debug for ActivatesChildren {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("AdapterActivator")
    }
}

const NEEDS_RETAIN: AdapterError =
    AdapterError::WrongPolicy("there is no active object map (NON_RETAIN)");
