//! One adapter: its policies, and the table of its objects.

mod completion;
mod error;
mod keys;
mod objects;
mod processing;
mod requests;
mod servants;
mod unused;

pub use error::AdapterError;

use crate::deactivation::{Deactivations, DestructionGuard};
use crate::identity::{Identity, ServantAddress, Servants};
use crate::incarnation::{Activations, Attempt};
use crate::key::{InstanceId, ObjectId};
use crate::manager::PoaManager;
use crate::membership::ObjectContext;
use crate::names::Named;
use crate::object::{ActiveObject, Forward, Site};
use crate::object_ids::ObjectIds;
use crate::policy::{IdAssignment, IdUniqueness, KeyProtection, Lifespan, Policies, ThreadModel};
use crate::scheduling::UpcallScheduling;
use crate::seal::KeySecret;
use crate::servant_manager::{AdapterActivator, Boxed, InterfaceSource, OffReactor};
use crate::skeleton::Skeleton;
use crate::sync::{ArcSwapOption, AtomicBool, AtomicU64, OnceLock, Ordering};
use crate::table::{Index, NotInTable, Tenant};
use crate::turn_queue::TurnQueue;
use bytes::Bytes;
use core::any::Any;
use objects::{NotPut, Objects};
use processing::Processing;
use std::sync::{Arc, Weak};
use std::time::Instant;

/// The kind of an adapter's object keys.
#[derive(Debug)]
pub(crate) enum Scheme {
    Transient(Index),
    Persistent(Bytes),
    Plain,
}

/// One POA: a name, a manager, its policies and an active object map.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::POA`).
#[derive(Debug)]
pub struct Adapter {
    this: Weak<Self>,
    /// The names of the adapters from below the root to this one.
    pub(crate) path: Vec<String>,
    name: String,
    pub(crate) scheme: Scheme,
    policies: Policies,
    instance: InstanceId,
    manager: Arc<PoaManager>,
    objects: Objects<ActiveObject>,
    servants: Servants<ActiveObject>,
    /// Distinguishes the ids that this adapter assigns.
    assigned: AtomicU64,
    destroyed: AtomicBool,
    /// Set when its objects are etherealized for good, by its destruction or its manager's deactivation: whether they are
    /// etherealized.
    etherealizes: OnceLock<bool>,
    /// Whether it was destroyed, and its objects have left the map.
    emptied: AtomicBool,
    /// Whether it is hidden from requests, because the activator that makes it is not done.
    being_made: AtomicBool,
    common: Arc<Common>,
    processing: Processing,
    /// The queue of its upcalls with [`ThreadModel::SingleThread`] or [`ThreadModel::MainThread`].
    turn_queue: Option<Arc<TurnQueue>>,
    pub(crate) activations: Activations<Attempt>,
    /// The adapter activator.
    children: ArcSwapOption<ActivatesChildren>,
    pub(crate) child_activations: Activations,
    deactivations: Arc<Deactivations>,
    /// The common part of its objects.
    context: Arc<ObjectContext<Self>>,
    scheduling: Option<Arc<dyn UpcallScheduling>>,
    /// What its owner keeps with it.
    attached: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// The start of the clock by which unused objects are found.
    ticks_began: OnceLock<Instant>,
}

/// Properties of an adapter besides its policies.
#[derive(Default, Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made by `..AdapterOptions::default()`"
)]
pub struct AdapterOptions {
    /// Schedules the upcalls of its objects; if `None`, the ORB's lane runs them.
    pub scheduling: Option<Arc<dyn UpcallScheduling>>,
    /// The ids that its objects can have, for USER_ID and RETAIN. They are looked up by a perfect hash, without a lock.
    pub ids: Option<&'static ObjectIds>,
}

impl core::fmt::Debug for AdapterOptions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AdapterOptions")
            .field("is_scheduled", &self.scheduling.is_some())
            .field("ids", &self.ids)
            .finish()
    }
}

/// The state that all adapters of an ORB share.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) changes: Changes,
    /// The ORB.
    pub(crate) owner: OnceLock<Weak<dyn Any + Send + Sync>>,
    /// Runs blocking upcalls outside of the reactor.
    pub(crate) off_reactor: OnceLock<OffReactor>,
    /// Finds the definitions of interfaces.
    pub(crate) interfaces: OnceLock<InterfaceSource>,
    /// The secret of codes in keys.
    pub(crate) secret: OnceLock<KeySecret>,
    /// The queue of upcalls of all adapters with MAIN_THREAD_MODEL.
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
            // An adapter of these kinds is found by its index, or is always there.
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

/// Counts the events that change the target of a key: deactivations, forwards in place of objects, destroyed adapters. A
/// cache keeps the count from before its look-up with the result, and compares it later. New objects are not counted,
/// since missing objects are not cached.
#[derive(Debug, Default)]
pub(crate) struct Changes(AtomicU64);

impl Changes {
    /// To be called after the change: later look-ups have to find the new state.
    pub(crate) fn count(&self) {
        // Release: a reader of the count sees the change.
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
        deactivations: Option<Arc<Deactivations>>,
        options: AdapterOptions,
    ) -> Arc<Self> {
        let name = (path.last()).map_or_else(|| ROOT_NAME.to_owned(), String::clone);
        let deactivations = deactivations.unwrap_or_default();
        let processing = Processing::of(policies);
        let adapter = Arc::new_cyclic(|this: &Weak<Self>| Self {
            context: Arc::new(ObjectContext {
                adapter: Weak::clone(this),
                manager: Arc::clone(&manager),
                deactivations: Arc::clone(&deactivations),
                notes_use: processing.is_activator(),
                is_in_main_thread: policies.thread == ThreadModel::MainThread,
            }),
            this: Weak::clone(this),
            path,
            name,
            scheme,
            policies,
            instance,
            manager,
            objects: Objects::new(policies, options.ids),
            servants: Servants::new(policies.id_uniqueness == IdUniqueness::Unique),
            assigned: AtomicU64::new(0),
            destroyed: AtomicBool::new(false),
            etherealizes: OnceLock::default(),
            emptied: AtomicBool::new(false),
            being_made: AtomicBool::new(false),
            common: Arc::clone(common),
            processing,
            turn_queue: match policies.thread {
                ThreadModel::OrbControlled => None,
                ThreadModel::SingleThread => Some(Arc::default()),
                ThreadModel::MainThread => Some(Arc::clone(&common.main_thread)),
            },
            activations: Activations::default(),
            children: ArcSwapOption::empty(),
            child_activations: Activations::default(),
            deactivations,
            scheduling: options.scheduling,
            attached: OnceLock::new(),
            ticks_began: OnceLock::new(),
        });
        let controlled: Weak<Self> = Weak::clone(&adapter.this);
        adapter.manager.control(controlled);
        adapter
    }

    /// The name among the siblings, which differs from theirs.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the adapters from below the root to this one.
    #[must_use]
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Returns the POA manager, which controls the requests of the adapter and maybe of others.
    #[must_use]
    pub fn manager(&self) -> &Arc<PoaManager> {
        &self.manager
    }

    /// The policies given at its creation.
    #[must_use]
    pub fn policies(&self) -> Policies {
        self.policies
    }

    /// Keeps a value of the owner with the adapter; a second one is dropped.
    pub fn attach(&self, value: Arc<dyn Any + Send + Sync>) {
        let _ = self.attached.set(value);
    }

    /// The value that was [attached](Self::attach); `None` without one of this type.
    #[must_use]
    pub fn attached<T: Any>(&self) -> Option<&T> {
        self.attached.get()?.downcast_ref()
    }

    /// Whether the adapter has been destroyed. Requests for its objects are OBJECT_NOT_EXIST then.
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

    /// Whether another adapter belongs to the same ORB.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.common, &other.common)
    }

    pub(crate) fn off_reactor(&self) -> Option<&OffReactor> {
        self.common.off_reactor.get()
    }

    /// Asks for the definition of an interface; `None` if nobody knows them.
    pub(crate) fn interface(
        &self,
        id: String,
    ) -> Option<Boxed<Result<zorb_giop::Ior, zorb_giop::SystemException>>> {
        self.common.interfaces.get().map(|find| find(id))
    }

    pub(crate) fn turn_queue(&self) -> Option<&Arc<TurnQueue>> {
        self.turn_queue.as_ref()
    }

    /// Whether its keys have codes (`KeyProtection::Authenticated`).
    #[inline]
    pub(crate) fn is_sealed(&self) -> bool {
        self.policies.key_protection == KeyProtection::Authenticated
    }

    #[inline]
    pub(crate) fn indexed(&self, object: Index) -> Option<Arc<ActiveObject>> {
        let found = self.objects.indexed(object);
        found.or_else(|| self.process(Identity::Index(object)))
    }

    #[inline]
    pub(crate) fn named(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        let found = self.objects.named(id);
        found.or_else(|| self.process_named(id))
    }

    /// The objects in its map.
    pub(crate) fn entries(&self) -> Vec<Arc<ActiveObject>> {
        self.objects.entries()
    }

    /// Hides it from requests until [`show`](Self::show), while its parent's activator sets it up.
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

    /// Marks the adapter as destroyed. All of its ids count as taken until the result is passed to [`clear`](Self::clear).
    /// Those for which its servant activator is being called count as taken until that has ended.
    pub(crate) fn mark_destroyed(&self, etherealize_objects: bool) -> DestructionGuard {
        let _ = self.etherealizes.set(etherealize_objects);
        self.destroyed.store(true, Ordering::Release);
        let destruction = self.deactivations.begin_destruction();
        self.activations.keep_taken(&self.deactivations);
        destruction
    }

    /// Whether the servant activator is being called for this id. It may activate the object even if the adapter is being
    /// destroyed, or the ORB is shutting down.
    #[must_use]
    pub fn is_being_incarnated(&self, id: &[u8]) -> bool {
        self.activations.is_asked(&id.into())
    }

    /// Whether it has been destroyed, and its objects have left the map. Held requests are woken afterwards.
    pub(crate) fn is_emptied(&self) -> bool {
        self.emptied.load(Ordering::Acquire)
    }

    /// Whether it has been destroyed, and no upcall on its objects is executing.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_emptied() && self.deactivations.is_idle()
    }

    /// Removes every object, and wakes held requests. `etherealize_objects`: whether a servant activator etherealizes them.
    pub(crate) fn clear(&self, destruction: DestructionGuard, etherealize_objects: bool) {
        let drained = self.drain(etherealize_objects);
        // Each object is noted as being deactivated by now.
        drop(destruction);
        self.emptied.store(true, Ordering::Release);
        self.manager.wake_held();
        self.processing.clear();
        self.children.store(None);
        // Dropped servants run code of the application.
        drop(drained);
    }

    /// Empties the active object map for good. Objects that the activator is making are etherealized, too.
    fn etherealize(&self) {
        let _ = self.etherealizes.set(true);
        // Dropped servants run code of the application.
        drop(self.drain(true));
    }

    /// The objects that were in the active object map, noted as being deactivated.
    fn drain(&self, etherealize_objects: bool) -> Vec<Arc<ActiveObject>> {
        let activator = self.activator().filter(|_| etherealize_objects);
        let drained = self.objects.drain();
        for object in &drained {
            object.begin_deactivation(activator.as_ref(), true);
            self.forget_servant(object);
        }
        self.common.changes.count();
        drained
    }

    fn check_alive(&self) -> Result<(), AdapterError> {
        if self.is_destroyed() {
            return Err(AdapterError::Destroyed);
        }
        Ok(())
    }

    fn check_assigns_ids(&self) -> Result<(), AdapterError> {
        self.check_alive()?;
        match self.policies.id_assignment {
            IdAssignment::System => Ok(()),
            IdAssignment::User => Err(AdapterError::WrongPolicy(
                "ids are assigned by the user (USER_ID), so give one",
            )),
        }
    }

    fn site(&self, identity: Identity) -> Site<'_> {
        let scheduling = self.scheduling.as_ref();
        let priority = scheduling.map(|by| by.priority_of(identity.to_id().as_ref()));
        Site {
            identity,
            priority,
            context: &self.context,
        }
    }

    /// A servant as an entry of the active object map.
    fn servant(&self, skeleton: Arc<dyn Skeleton>, identity: Identity) -> Arc<ActiveObject> {
        let turns = self.turn_queue.as_ref();
        Arc::new(ActiveObject::servant(
            skeleton,
            turns,
            &self.policies,
            false,
            self.site(identity),
        ))
    }

    /// A servant for one request, which is not in the active object map.
    pub(crate) fn object_for_request(
        &self,
        skeleton: Arc<dyn Skeleton>,
        identity: Identity,
    ) -> ActiveObject {
        let turns = self.turn_queue.as_ref();
        ActiveObject::servant(skeleton, turns, &self.policies, true, self.site(identity))
    }

    fn forwarding(&self, forward: Forward, identity: Identity) -> Arc<ActiveObject> {
        ActiveObject::forwarding(forward, self.site(identity))
    }

    /// Inserts an object under its id, unless the id is taken.
    fn put_at(&self, id: &[u8], object: &Arc<ActiveObject>) -> Result<(), AdapterError> {
        // Checked under the map's lock, so that no deactivation comes between check and insertion.
        let mut is_deactivated = false;
        let is_free = || {
            is_deactivated = self.deactivations.contains(id);
            !is_deactivated
        };
        self.objects
            .put(object, is_free)
            .map_err(|error| match error {
                NotPut::Taken if is_deactivated => AdapterError::BeingDeactivated(id.into()),
                error => not_put(id, error),
            })
    }

    /// Inserts an object under a new id.
    fn put_new(
        &self,
        make: impl FnOnce(Identity) -> Arc<ActiveObject>,
    ) -> Result<Arc<ActiveObject>, AdapterError> {
        let object = self.objects.put_new(|| self.assign(), make);
        object.map_err(|error| not_put(&[], error))
    }

    /// Removes an object that was inserted while the adapter was being destroyed, unless the destruction has removed it: the
    /// adapter is marked as destroyed before its map is emptied.
    fn kept(&self, object: Arc<ActiveObject>) -> Result<Arc<ActiveObject>, AdapterError> {
        if self.is_destroyed() && self.objects.take(&object) {
            self.common.changes.count();
            self.forget_servant(&object);
            return Err(AdapterError::Destroyed);
        }
        Ok(object)
    }

    /// An object id in the form that entries keep.
    fn identity(&self, id: &[u8]) -> Identity {
        match Index::from_id(id) {
            Some(index) if self.policies.is_indexed() => Identity::Index(index),
            _ => Identity::of_octets(id),
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
    /// [`AdapterError::WrongPolicy`] with USER_ID or NON_RETAIN, [`AdapterError::ServantAlreadyActive`] with UNIQUE_ID,
    /// [`AdapterError::Destroyed`], [`AdapterError::Full`].
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
        Ok(self.kept(object)?.id())
    }

    /// The object with this id, if it is active.
    #[must_use]
    pub fn find(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        self.objects.find(id)
    }

    /// Removes an object from the active object map. Upcalls in progress keep their servant until they end; later requests are
    /// for an object that is not active. When the last upcall has ended, a servant activator etherealizes the object, and the
    /// same id may be used [again](Self::deactivation_ended). It may not if the adapter is transient, assigns ids, and has
    /// nothing but its active object map.
    ///
    /// # Errors
    /// [`AdapterError::ObjectNotActive`], or [`AdapterError::WrongPolicy`] with NON_RETAIN.
    pub fn deactivate(&self, id: &[u8]) -> Result<(), AdapterError> {
        self.check_retains()?;
        let activator = self.activator();
        // Noted before it leaves the map, so that no other object can be activated in its place yet. The removed entry may be
        // another one of the same servant, and only that one is etherealized.
        if let Some(object) = self.find(id) {
            object.begin_deactivation(None, false);
        }
        // Counted before another thread can activate another object in place of this one.
        let count = || self.common.changes.count();
        // A default servant or servant manager may still serve requests for the id.
        let keeps_id = !self.processing.is_map_only();
        let removed = self.objects.remove(id, keeps_id, count);
        let removed = removed.map_err(|NotInTable| AdapterError::ObjectNotActive)?;
        if let Some(removed) = removed {
            removed.begin_deactivation(activator.as_ref(), false);
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
    /// Safe: the wait changes nothing, and can be repeated.
    pub async fn deactivation_ended(&self, id: &[u8]) {
        self.deactivations.ended(&id.into()).await;
    }

    /// Creates a forward under a new object id, and returns its key.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] with USER_ID or NON_RETAIN, [`AdapterError::Destroyed`], [`AdapterError::Full`].
    pub fn forward(&self, forward: Forward) -> Result<Bytes, AdapterError> {
        self.check_assigns_ids()?;
        let make = |identity| self.forwarding(forward, identity);
        let object = self.kept(self.put_new(make)?)?;
        Ok(self.key(object.id().as_ref()))
    }

    /// Makes the object with this id a forward, whether it is active or not. Upcalls in progress continue.
    ///
    /// # Errors
    /// [`AdapterError::UnknownId`] if the adapter assigns ids and has not assigned this one, [`AdapterError::WrongPolicy`] with
    /// NON_RETAIN, [`AdapterError::Destroyed`].
    pub fn forward_with_id(&self, id: &[u8], forward: Forward) -> Result<(), AdapterError> {
        self.check_retains()?;
        let object = self.forwarding(forward, self.identity(id));
        if self.hand_over(id, &object) {
            return Ok(());
        }
        self.check_id(id)?;
        let activator = self.activator();
        let before = self.objects.replace(object);
        let before = before.map_err(|NotInTable| AdapterError::UnknownId(id.into()))?;
        self.common.changes.count();
        if let Some(before) = before {
            before.begin_deactivation(activator.as_ref(), false);
            self.forget_servant(&before);
        }
        Ok(())
    }

    /// Whether references of this adapter become invalid with this ORB (the policy TRANSIENT).
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.policies.lifespan == Lifespan::Transient
    }
}

fn not_put(id: &[u8], error: NotPut) -> AdapterError {
    match error {
        NotPut::Taken => AdapterError::ObjectAlreadyActive(id.into()),
        NotPut::NoMap => NEEDS_RETAIN,
        NotPut::Full(full) => full.into(),
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
