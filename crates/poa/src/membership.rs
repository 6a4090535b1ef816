//! The membership of an object in its adapter: policies, use and departure.

use crate::key::ObjectId;
use crate::leaving::{Departing, Etherealize, Leaving};
use crate::manager::PoaManager;
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// The common part of all objects of an adapter, an `A`.
#[derive(Debug)]
pub(crate) struct ObjectContext<A> {
    pub(crate) adapter: Weak<A>,
    pub(crate) manager: Arc<PoaManager>,
    pub(crate) leaving: Arc<Leaving>,
    /// There is a servant activator: uses of objects are noted.
    pub(crate) notes_use: bool,
}

/// An object's membership in its adapter. It ends after what serves the object's requests has gone: its id is free then.
pub(crate) struct Membership<A> {
    pub(crate) context: Arc<ObjectContext<A>>,
    /// Of objects whose adapter has its upcalls scheduled.
    pub(crate) priority: Option<i16>,
    /// When a request had come, in the adapter's ticks.
    last_use: AtomicU32,
    /// See [`ServantAddress::mark`](crate::identity::ServantAddress::mark).
    pub(crate) servant_mark: u32,
    /// A request has come since the last look.
    is_used: AtomicBool,
    /// It is noted among those that leave.
    is_departing: AtomicBool,
    traits: Traits,
}

/// The constant properties of an object, a bit each: there may be millions of objects.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traits(u8);

impl Traits {
    /// See [`Skeleton::blocks`](crate::Skeleton::blocks).
    pub(crate) const BLOCKS: Self = Self(1);
    /// Its upcalls hold no worker of the lane.
    pub(crate) const HOLDS_NO_WORKER: Self = Self(2);
    /// A one-way request begins when the one before it has ended.
    pub(crate) const ORDERS_ONE_WAYS: Self = Self(4);
    /// Of an adapter with a servant activator: its use is noted.
    pub(crate) const NOTES_USE: Self = Self(8);
    /// It has been made for one request.
    pub(crate) const FOR_ONE_REQUEST: Self = Self(16);

    /// With another trait, if it `has` that.
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
            context.leaving.begin_request();
        }
        Self {
            context: Arc::clone(context),
            priority,
            last_use: AtomicU32::new(0),
            servant_mark,
            is_used: AtomicBool::new(true),
            is_departing: AtomicBool::new(false),
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

    /// For how many ticks the object has not been used, at this tick; `None` if it is not known whether it is.
    pub(crate) fn unused_for(&self, now: u32) -> Option<u32> {
        if !self.has(Traits::NOTES_USE) {
            return None;
        }
        if self.is_used.swap(false, Ordering::Relaxed) {
            self.last_use.store(now, Ordering::Relaxed);
        }
        Some(now.saturating_sub(self.last_use.load(Ordering::Relaxed)))
    }

    /// Where it is, as long as the object is.
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Notes that the object is being deactivated.
    pub(crate) fn depart(
        &self,
        id: impl FnOnce() -> ObjectId,
        etherealize: impl FnOnce() -> Option<Etherealize>,
    ) {
        let noted = || self.is_departing.store(true, Ordering::Release);
        (self.context.leaving).note_departing(self.address(), id, etherealize, noted);
    }

    /// The note on an object that has been deactivated in an adapter with a servant activator, which etherealizes it.
    pub(crate) fn to_be_etherealized(&self) -> Option<Departing> {
        self.departing(|noted| noted.etherealize.is_some())
    }

    fn departing(&self, is_wanted: impl FnOnce(&Departing) -> bool) -> Option<Departing> {
        // The latest value there is: nothing else refers to the object any more.
        let is_departing = !self.has(Traits::FOR_ONE_REQUEST)
            && self.is_departing.fetch_or(false, Ordering::AcqRel);
        match is_departing {
            true => (self.context.leaving).take_departing(self.address(), is_wanted),
            false => None,
        }
    }
}

impl<A> Drop for Membership<A> {
    fn drop(&mut self) {
        match self.has(Traits::FOR_ONE_REQUEST) {
            true => self.context.leaving.end_request(),
            // The id is free when the servant is gone.
            false => drop(self.departing(|_| true)),
        }
    }
}
