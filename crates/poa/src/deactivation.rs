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
pub(crate) struct Deactivations {
    ids: Mutex<Ids>,
    /// The number of objects that were made for one request.
    requests: AtomicUsize,
    /// Whether a task has waited for the end of all of them.
    is_awaited: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
    /// Deactivated objects that have not been dropped, by the addresses of their memberships.
    deactivated: Mutex<HashMap<usize, DeactivatedObject>>,
}

/// A function that etherealizes an object. Its id becomes free when the guard is dropped.
pub(crate) type Etherealize = Box<dyn FnOnce(Arc<dyn Skeleton>, DeactivationGuard) + Send>;

/// An object that has left the active object map.
pub(crate) struct DeactivatedObject {
    pub(crate) guard: DeactivationGuard,
    /// The etherealization, if the adapter has a servant activator.
    pub(crate) etherealize: Option<Etherealize>,
}

#[derive(Default)]
struct Ids {
    executing: HashMap<ObjectId, DeactivatedId>,
    /// Destructions of the adapter whose objects are not noted yet, so that any id may be one of theirs.
    destructions: usize,
    /// Tasks that wait until the objects are noted.
    waiting: Vec<Waker>,
}

impl Ids {
    fn is_idle(&self) -> bool {
        self.executing.is_empty() && self.destructions == 0
    }
}

/// The deactivated objects of one id, and the tasks that wait for their end.
#[derive(Default)]
struct DeactivatedId {
    /// The number of deactivated objects of the id.
    objects: usize,
    waiting: Vec<Waker>,
}

/// The guard of a deactivated object: its id stays taken until the guard is dropped, after its last upcall.
#[derive(Debug)]
pub(crate) struct DeactivationGuard {
    deactivations: Arc<Deactivations>,
    id: ObjectId,
}

impl Deactivations {
    fn ids(&self) -> MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the adapter has been destroyed. Until the result is dropped, its objects are being noted, and all ids count
    /// as taken.
    pub(crate) fn begin_destruction(self: &Arc<Self>) -> DestructionGuard {
        let mut ids = self.ids();
        ids.destructions = ids.destructions.saturating_add(1);
        drop(ids);
        DestructionGuard(Arc::clone(self))
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

    fn deactivated(&self) -> MutexGuard<'_, HashMap<usize, DeactivatedObject>> {
        self.deactivated
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes, once, that the object of this membership is being deactivated, and calls `then` before another thread can find
    /// the note. The etherealization may be added by a later call.
    pub(crate) fn note_deactivated(
        self: &Arc<Self>,
        membership: usize,
        id: impl FnOnce() -> ObjectId,
        etherealize: impl FnOnce() -> Option<Etherealize>,
        then: impl FnOnce(),
    ) {
        match self.deactivated().entry(membership) {
            Entry::Vacant(place) => {
                place.insert(DeactivatedObject {
                    guard: self.begin(id()),
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

    /// Removes the note on the deactivated object of this membership, if `is_wanted` accepts it.
    pub(crate) fn take_deactivated(
        &self,
        membership: usize,
        is_wanted: impl FnOnce(&DeactivatedObject) -> bool,
    ) -> Option<DeactivatedObject> {
        match self.deactivated().entry(membership) {
            Entry::Occupied(noted) if is_wanted(noted.get()) => Some(noted.remove()),
            _ => None,
        }
    }

    /// Ready when neither deactivated objects nor objects of single requests execute requests.
    pub(crate) fn poll_all_ended(&self, waker: &Waker) -> Poll<()> {
        // Set before the check: pairs with `end_request` and `DeactivationGuard::drop`.
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
    pub(crate) fn begin(self: &Arc<Self>, id: ObjectId) -> DeactivationGuard {
        let mut ids = self.ids();
        let deactivated = ids.executing.entry(id.clone()).or_default();
        deactivated.objects = deactivated.objects.saturating_add(1);
        drop(ids);
        DeactivationGuard {
            deactivations: Arc::clone(self),
            id,
        }
    }

    /// Whether a deactivated object of this id executes requests, or may do so.
    pub(crate) fn contains(&self, id: &[u8]) -> bool {
        let ids = self.ids();
        ids.destructions > 0
            || (!ids.executing.is_empty() && ids.executing.contains_key(&ObjectId::from(id)))
    }

    /// Waits until no deactivated object of this id executes requests.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing, and can be repeated.
    pub(crate) async fn ended(&self, id: &ObjectId) {
        poll_fn(|cx| {
            let mut ids = self.ids();
            if ids.destructions == 0 {
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
        poll_fn(|cx| match self.ids().executing.get_mut(id) {
            None => Poll::Ready(()),
            Some(deactivated) if deactivated.objects <= count => Poll::Ready(()),
            Some(deactivated) => {
                if !deactivated
                    .waiting
                    .iter()
                    .any(|waker| waker.will_wake(cx.waker()))
                {
                    deactivated.waiting.push(cx.waker().clone());
                }
                Poll::Pending
            }
        })
        .await;
    }
}

/// The guard of a destroyed adapter's id space: all ids count as taken until the guard is dropped, when its objects have
/// been noted.
#[derive(Debug)]
pub(crate) struct DestructionGuard(Arc<Deactivations>);

impl Drop for DestructionGuard {
    fn drop(&mut self) {
        let mut ids = self.0.ids();
        ids.destructions = ids.destructions.saturating_sub(1);
        let waiting = match ids.destructions {
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

impl DeactivationGuard {
    /// Waits until no other deactivated object of the id executes requests.
    pub(crate) async fn is_last(&self) {
        self.deactivations.at_most(&self.id, 1).await;
    }
}

impl Drop for DeactivationGuard {
    fn drop(&mut self) {
        let mut ids = self.deactivations.ids();
        let Some(deactivated) = ids.executing.get_mut(&self.id) else {
            return;
        };
        deactivated.objects = deactivated.objects.saturating_sub(1);
        if deactivated.objects > 0 {
            let waiting = core::mem::take(&mut deactivated.waiting);
            drop(ids);
            return waiting.into_iter().for_each(Waker::wake);
        }
        let deactivated = ids.executing.remove(&self.id);
        let is_last = ids.is_idle();
        drop(ids);
        if is_last {
            self.deactivations.wake_all();
        }
        let waiting = deactivated
            .into_iter()
            .flat_map(|deactivated| deactivated.waiting);
        waiting.for_each(Waker::wake);
    }
}

impl fmt::Debug for Deactivations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deactivations")
            .field(&self.ids().executing.len())
            .finish()
    }
}
