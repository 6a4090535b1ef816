//! Objects that were deactivated while upcalls on them were executing, and requests without an entry in the active object
//! map. A destroyed adapter has ended when all of these have.

use crate::key::ObjectId;
use crate::skeleton::Skeleton;
use crate::sync::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering};
use core::fmt;
use core::future::poll_fn;
use core::task::Poll;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

/// The deactivated objects of an adapter that still execute requests, by their ids.
#[derive(Default)]
pub(crate) struct Leaving {
    ids: Mutex<Ids>,
    /// The number of objects that were made for one request.
    requests: AtomicUsize,
    /// Whether a task has waited for the end of all of them.
    is_awaited: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
    /// Deactivated objects that have not been dropped, by the addresses of their memberships.
    departing: Mutex<HashMap<usize, Departing>>,
}

/// A function that etherealizes an object. Its id becomes free when the departure is dropped.
pub(crate) type Etherealize = Box<dyn FnOnce(Arc<dyn Skeleton>, Departure) + Send>;

/// An object that has left the active object map.
pub(crate) struct Departing {
    pub(crate) departure: Departure,
    /// The etherealization, if the adapter has a servant activator.
    pub(crate) etherealize: Option<Etherealize>,
}

#[derive(Default)]
struct Ids {
    left: HashMap<ObjectId, Left>,
    /// Destructions of the adapter whose objects are not noted yet, so that any id may be one of theirs.
    emptying: usize,
    /// Tasks that wait until the objects are noted.
    waiting: Vec<Waker>,
}

impl Ids {
    fn is_idle(&self) -> bool {
        self.left.is_empty() && self.emptying == 0
    }
}

#[derive(Default)]
struct Left {
    /// The number of deactivated objects of the id.
    objects: usize,
    waiting: Vec<Waker>,
}

/// Held for a deactivated object until its last upcall has ended.
#[derive(Debug)]
pub(crate) struct Departure {
    leaving: Arc<Leaving>,
    id: ObjectId,
}

impl Leaving {
    fn ids(&self) -> MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the adapter has been destroyed. Until the result is dropped, its objects are being noted, and all ids count
    /// as taken.
    pub(crate) fn begin_emptying(self: &Arc<Self>) -> Emptying {
        let mut ids = self.ids();
        ids.emptying = ids.emptying.saturating_add(1);
        drop(ids);
        Emptying(Arc::clone(self))
    }

    /// Notes that an object has been made for one request, until [`end_request`](Self::end_request).
    pub(crate) fn begin_request(&self) {
        self.requests.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that an object that was made for one request was dropped.
    pub(crate) fn end_request(&self) {
        if self.requests.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.wake_all();
        }
    }

    fn departing(&self) -> MutexGuard<'_, HashMap<usize, Departing>> {
        self.departing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes, once, that the object of this membership is being deactivated, and calls `then` before another thread can find
    /// the note. The etherealization may be added by a later call.
    pub(crate) fn note_departing(
        self: &Arc<Self>,
        membership: usize,
        id: impl FnOnce() -> ObjectId,
        etherealize: impl FnOnce() -> Option<Etherealize>,
        then: impl FnOnce(),
    ) {
        match self.departing().entry(membership) {
            Entry::Vacant(place) => {
                place.insert(Departing {
                    departure: self.begin(id()),
                    etherealize: etherealize(),
                });
                then();
            }
            Entry::Occupied(mut noted) => {
                let noted = &mut noted.get_mut().etherealize;
                *noted = noted.take().or_else(etherealize);
            }
        }
    }

    /// Removes the note on the departing object of this membership, if `is_wanted` accepts it.
    pub(crate) fn take_departing(
        &self,
        membership: usize,
        is_wanted: impl FnOnce(&Departing) -> bool,
    ) -> Option<Departing> {
        match self.departing().entry(membership) {
            Entry::Occupied(noted) if is_wanted(noted.get()) => Some(noted.remove()),
            _ => None,
        }
    }

    /// Ready when neither deactivated objects nor objects of single requests execute requests.
    pub(crate) fn poll_all_ended(&self, waker: &Waker) -> Poll<()> {
        // Set before the check: pairs with `end_request` and `Departure::drop`.
        self.is_awaited.store(true, Ordering::SeqCst);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
        drop(waiting);
        match self.is_idle() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Whether neither deactivated objects nor objects of single requests execute requests.
    pub(crate) fn is_idle(&self) -> bool {
        // A read-modify-write: it orders the preceding store before the end of the last request, which checks for waiting
        // tasks.
        self.requests.fetch_add(0, Ordering::SeqCst) == 0 && self.ids().is_idle()
    }

    fn wake_all(&self) {
        if self.is_awaited.load(Ordering::SeqCst) {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let wakers = core::mem::take(&mut *waiting);
            drop(waiting);
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    /// Notes that an object is being deactivated, until the result is dropped.
    pub(crate) fn begin(self: &Arc<Self>, id: ObjectId) -> Departure {
        let mut ids = self.ids();
        let left = ids.left.entry(id.clone()).or_default();
        left.objects = left.objects.saturating_add(1);
        drop(ids);
        Departure {
            leaving: Arc::clone(self),
            id,
        }
    }

    /// Whether a deactivated object of this id executes requests, or may do so.
    pub(crate) fn contains(&self, id: &[u8]) -> bool {
        let ids = self.ids();
        ids.emptying > 0 || (!ids.left.is_empty() && ids.left.contains_key(&ObjectId::from(id)))
    }

    /// Waits until no deactivated object of this id executes requests.
    ///
    /// # Cancel safety
    /// Safe.
    pub(crate) async fn ended(&self, id: &ObjectId) {
        poll_fn(|cx| {
            let mut ids = self.ids();
            if ids.emptying == 0 {
                return Poll::Ready(());
            }
            if !ids.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                ids.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
        self.at_most(id, 0).await;
    }

    /// Waits until at most `count` deactivated objects of this id execute requests.
    pub(crate) async fn at_most(&self, id: &ObjectId, count: usize) {
        poll_fn(|cx| match self.ids().left.get_mut(id) {
            None => Poll::Ready(()),
            Some(left) if left.objects <= count => Poll::Ready(()),
            Some(left) => {
                if !left.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                    left.waiting.push(cx.waker().clone());
                }
                Poll::Pending
            }
        })
        .await;
    }
}

/// Held while a destroyed adapter is emptied.
#[derive(Debug)]
pub(crate) struct Emptying(Arc<Leaving>);

impl Drop for Emptying {
    fn drop(&mut self) {
        let mut ids = self.0.ids();
        ids.emptying = ids.emptying.saturating_sub(1);
        let waiting = match ids.emptying {
            0 => core::mem::take(&mut ids.waiting),
            _ => Vec::new(),
        };
        let is_last = ids.is_idle();
        drop(ids);
        if is_last {
            self.0.wake_all();
        }
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Departure {
    /// Waits until no other deactivated object of the id executes requests.
    pub(crate) async fn is_last(&self) {
        self.leaving.at_most(&self.id, 1).await;
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        let mut ids = self.leaving.ids();
        let Some(left) = ids.left.get_mut(&self.id) else {
            return;
        };
        left.objects = left.objects.saturating_sub(1);
        if left.objects > 0 {
            let waiting = core::mem::take(&mut left.waiting);
            drop(ids);
            return waiting.into_iter().for_each(Waker::wake);
        }
        let left = ids.left.remove(&self.id);
        let is_last = ids.is_idle();
        drop(ids);
        if is_last {
            self.leaving.wake_all();
        }
        let waiting = left.into_iter().flat_map(|left| left.waiting);
        waiting.for_each(Waker::wake);
    }
}

impl fmt::Debug for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Leaving")
            .field(&self.ids().left.len())
            .finish()
    }
}
