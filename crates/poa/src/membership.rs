//! The membership of an object in its adapter: its properties, its last use and its deactivation.

use crate::deactivation::{DeactivatedObject, Deactivations, Etherealize};
use crate::key::ObjectId;
use crate::manager::PoaManager;
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// The common part of all objects of an adapter, an `A`.
#[derive(Debug)]
pub(crate) struct ObjectContext<A> {
    pub(crate) adapter: Weak<A>,
    pub(crate) manager: Arc<PoaManager>,
    pub(crate) deactivations: Arc<Deactivations>,
    /// Whether the adapter has a servant activator, so that uses of objects are noted.
    pub(crate) notes_use: bool,
    /// Whether the adapter has MAIN_THREAD_MODEL.
    pub(crate) is_in_main_thread: bool,
}

/// An object's membership in its adapter. It is dropped after the object's servant, and the id is free then.
pub(crate) struct Membership<A> {
    pub(crate) context: Arc<ObjectContext<A>>,
    /// The CORBA priority of its upcalls, if the adapter schedules them.
    pub(crate) priority: Option<i16>,
    /// The time of the last noted request, in ticks of the adapter.
    last_use: AtomicU32,
    /// A mark of the servant's address: [`ServantAddress::mark`](crate::identity::ServantAddress::mark).
    pub(crate) servant_mark: u32,
    /// Whether a request has come since the last check.
    is_used: AtomicBool,
    /// Whether it is noted as deactivated.
    is_deactivated: AtomicBool,
    traits: Traits,
}

/// The constant properties of an object, one bit each, as there may be millions of objects.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traits(u8);

impl Traits {
    /// Its upcalls block their thread: [`Skeleton::blocks`](crate::Skeleton::blocks).
    pub(crate) const BLOCKS: Self = Self(1);
    /// Its upcalls occupy no worker of the lane.
    pub(crate) const HOLDS_NO_WORKER: Self = Self(2);
    /// A one-way request begins when the one before it has ended.
    pub(crate) const ORDERS_ONE_WAYS: Self = Self(4);
    /// Its use is noted, as the adapter has a servant activator.
    pub(crate) const NOTES_USE: Self = Self(8);
    /// It was made for one request.
    pub(crate) const FOR_ONE_REQUEST: Self = Self(16);

    /// Its upcalls are dropped when nobody waits for their results.
    pub(crate) const DROPS_CANCELLED: Self = Self(32);

    /// Returns the traits with `other` added, if `has`.
    pub(crate) const fn with(self, other: Self, has: bool) -> Self {
        match has {
            true => Self(self.0 | other.0),
            false => self,
        }
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl<A> Membership<A> {
    pub(crate) fn new(
        context: &Arc<ObjectContext<A>>,
        priority: Option<i16>,
        traits: Traits,
        servant_mark: u32,
    ) -> Self {
        if traits.has(Traits::FOR_ONE_REQUEST) {
            context.deactivations.begin_request();
        }
        Self {
            context: Arc::clone(context),
            priority,
            last_use: AtomicU32::new(0),
            servant_mark,
            is_used: AtomicBool::new(true),
            is_deactivated: AtomicBool::new(false),
            traits: traits.with(Traits::HOLDS_NO_WORKER, priority.is_some()),
        }
    }

    #[inline]
    pub(crate) fn has(&self, what: Traits) -> bool {
        self.traits.has(what)
    }

    #[inline]
    pub(crate) fn note_use(&self) {
        if self.has(Traits::NOTES_USE) {
            self.is_used.store(true, Ordering::Relaxed);
        }
    }

    /// The number of ticks, as of `now`, for which the object was not used; `None` if its use is not noted.
    pub(crate) fn unused_for(&self, now: u32) -> Option<u32> {
        if !self.has(Traits::NOTES_USE) {
            return None;
        }
        if self.is_used.swap(false, Ordering::Relaxed) {
            self.last_use.store(now, Ordering::Relaxed);
        }
        Some(now.saturating_sub(self.last_use.load(Ordering::Relaxed)))
    }

    /// The address of the membership, which identifies it while the object exists.
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Notes that the object is being deactivated.
    pub(crate) fn begin_deactivation(
        &self,
        id: impl FnOnce() -> ObjectId,
        etherealize: impl FnOnce() -> Option<Etherealize>,
    ) {
        let noted = || self.is_deactivated.store(true, Ordering::Release);
        (self.context.deactivations).note_deactivated(self.address(), id, etherealize, noted);
    }

    /// The note on a deactivated object that a servant activator has to etherealize; `None` for any other object.
    pub(crate) fn to_be_etherealized(&self) -> Option<DeactivatedObject> {
        self.take_deactivated(|noted| noted.etherealize.is_some())
    }

    fn take_deactivated(
        &self,
        is_wanted: impl FnOnce(&DeactivatedObject) -> bool,
    ) -> Option<DeactivatedObject> {
        // A read-modify-write loads the latest value; no other reference to the object exists.
        let is_deactivated = !self.has(Traits::FOR_ONE_REQUEST)
            && self.is_deactivated.fetch_or(false, Ordering::AcqRel);
        match is_deactivated {
            true => (self.context.deactivations).take_deactivated(self.address(), is_wanted),
            false => None,
        }
    }
}

impl<A> Drop for Membership<A> {
    fn drop(&mut self) {
        match self.has(Traits::FOR_ONE_REQUEST) {
            true => self.context.deactivations.end_request(),
            // The servant was dropped before, so the id becomes free here.
            false => drop(self.take_deactivated(|_| true)),
        }
    }
}
