//! Ids of objects that were deactivated while upcalls on them went on, and requests beside the active object map: what an adapter
//! waits for until it has ended.

use crate::key::ObjectId;
use core::fmt;
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::task::Poll;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The ids of an adapter whose deactivated objects still execute requests.
#[derive(Default)]
pub(crate) struct Leaving {
    ids: Mutex<HashMap<ObjectId, Left>>,
    /// Objects that were made for one request.
    requests: AtomicUsize,
    /// A task has waited for the end of all.
    is_awaited: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

/// Held by an object that was made for one request.
#[derive(Debug)]
pub(crate) struct RequestMark(Arc<Leaving>);

#[derive(Default)]
struct Left {
    /// Deactivated objects of that id.
    objects: usize,
    waiting: Vec<Waker>,
}

/// Held by a deactivated object, which is dropped when its last upcall has ended.
#[derive(Debug)]
pub(crate) struct Departure {
    leaving: Arc<Leaving>,
    id: ObjectId,
}

impl Leaving {
    fn ids(&self) -> MutexGuard<'_, HashMap<ObjectId, Left>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an object has been made for one request, until the result is dropped.
    pub(crate) fn begin_request(self: &Arc<Self>) -> RequestMark {
        self.requests.fetch_add(1, Ordering::SeqCst);
        RequestMark(Arc::clone(self))
    }

    /// Ready when neither deactivated objects nor objects of single requests execute requests.
    pub(crate) fn poll_all_ended(&self, waker: &Waker) -> Poll<()> {
        // Noted before it is looked at: pairs with `RequestMark::drop` and `Departure::drop`.
        self.is_awaited.store(true, Ordering::SeqCst);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
        drop(waiting);
        match self.requests.load(Ordering::SeqCst) == 0 && self.ids().is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
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
        let left = ids.entry(id.clone()).or_default();
        left.objects = left.objects.saturating_add(1);
        drop(ids);
        Departure {
            leaving: Arc::clone(self),
            id,
        }
    }

    /// Whether a deactivated object of that id still executes requests.
    pub(crate) fn contains(&self, id: &[u8]) -> bool {
        let ids = self.ids();
        !ids.is_empty() && ids.contains_key(&ObjectId::from(id))
    }

    /// Waits until no deactivated object of that id executes requests.
    ///
    /// # Cancel safety
    /// Safe.
    pub(crate) async fn ended(&self, id: &ObjectId) {
        self.at_most(id, 0).await;
    }

    /// Waits until no more than so many deactivated objects of that id execute requests.
    pub(crate) async fn at_most(&self, id: &ObjectId, count: usize) {
        poll_fn(|cx| match self.ids().get_mut(id) {
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

impl Departure {
    /// Waits until no other deactivated object of the id executes requests.
    pub(crate) async fn is_last(&self) {
        self.leaving.at_most(&self.id, 1).await;
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        let mut ids = self.leaving.ids();
        let Some(left) = ids.get_mut(&self.id) else {
            return;
        };
        left.objects = left.objects.saturating_sub(1);
        if left.objects > 0 {
            let waiting = core::mem::take(&mut left.waiting);
            drop(ids);
            return waiting.into_iter().for_each(Waker::wake);
        }
        let left = ids.remove(&self.id);
        let is_last = ids.is_empty();
        drop(ids);
        if is_last {
            self.leaving.wake_all();
        }
        let waiting = left.into_iter().flat_map(|left| left.waiting);
        waiting.for_each(Waker::wake);
    }
}

impl Drop for RequestMark {
    fn drop(&mut self) {
        if self.0.requests.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.wake_all();
        }
    }
}

impl fmt::Debug for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Leaving").field(&self.ids().len()).finish()
    }
}
