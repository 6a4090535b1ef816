//! Ids of objects that were deactivated while upcalls on them went on.

use crate::key::ObjectId;
use core::fmt;
use core::future::poll_fn;
use core::task::Poll;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The ids of an adapter whose deactivated objects still execute requests.
#[derive(Default)]
pub(crate) struct Leaving(Mutex<HashMap<ObjectId, Left>>);

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        poll_fn(|cx| match self.ids().get_mut(id) {
            None => Poll::Ready(()),
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

impl Drop for Departure {
    fn drop(&mut self) {
        let mut ids = self.leaving.ids();
        let Some(left) = ids.get_mut(&self.id) else {
            return;
        };
        left.objects = left.objects.saturating_sub(1);
        if left.objects > 0 {
            return;
        }
        let left = ids.remove(&self.id);
        drop(ids);
        let waiting = left.into_iter().flat_map(|left| left.waiting);
        waiting.for_each(Waker::wake);
    }
}

impl fmt::Debug for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Leaving").field(&self.ids().len()).finish()
    }
}
