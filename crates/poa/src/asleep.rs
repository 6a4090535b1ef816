//! Objects that are activated when they are called.

use crate::adapter::{Adapter, AdapterError};
use crate::key::ObjectId;
use crate::missing::Missing;
use crate::object::ActiveObject;
use crate::servant_manager::{Activator, Incarnated, Raised};
use core::fmt;
use core::future::poll_fn;
use core::task::Poll;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use zorb_giop::{CompletionStatus, Fault};

/// An object that is not active, of an adapter that has an activator.
pub(crate) struct Asleep {
    pub(crate) adapter: Arc<Adapter>,
    activator: Arc<dyn Activator>,
    id: ObjectId,
}

impl Asleep {
    pub(crate) fn new(adapter: Arc<Adapter>, activator: Arc<dyn Activator>, id: ObjectId) -> Self {
        Self {
            adapter,
            activator,
            id,
        }
    }

    /// Waits until the object is active: by the activator, or by a request that was faster.
    ///
    /// # Errors
    /// What the activator raises; OBJECT_NOT_EXIST when it does nothing, or the adapter is destroyed meanwhile; OBJ_ADAPTER when
    /// the servant is active for another object, and may not be.
    pub(crate) async fn wake(&self) -> Result<Arc<ActiveObject>, Raised> {
        let _turn = self.adapter.turns.turn(&self.id).await;
        let id = self.id.as_ref();
        // An object that has been deactivated executes its requests to the end first.
        self.adapter.deactivation_ended(id).await;
        // The request that had the turn before may have done it.
        if let Some(object) = self.adapter.find(id) {
            return Ok(object);
        }
        let raise = |fault: Fault| Raised::System(fault.raise(CompletionStatus::No));
        let failed = match self.activator.incarnate(self.id.clone()).await {
            Ok(Incarnated::ByItself) => None,
            Ok(Incarnated::Servant(servant)) => match self.adapter.activate_with_id(id, servant) {
                // Another thread may have activated one meanwhile.
                Ok(_) | Err(AdapterError::ObjectAlreadyActive(_)) => None,
                Err(AdapterError::ServantAlreadyActive) => Some(raise(Fault::ServantActiveAlready)),
                Err(_) => Some(raise(Fault::NoAdapter)),
            },
            Err(raised) => Some(raised),
        };
        self.adapter
            .find(id)
            .ok_or_else(|| failed.unwrap_or_else(|| Missing::Object.raise().into()))
    }
}

/// The objects that are being activated, and the requests that wait for that.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<ObjectId, Vec<Waker>>>);

/// The right to activate one object; passed on when it is dropped.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    id: &'a ObjectId,
}

impl Turns {
    fn waiting(&self) -> MutexGuard<'_, HashMap<ObjectId, Vec<Waker>>> {
        // Nothing in here panics half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn turn<'a>(&'a self, id: &'a ObjectId) -> Turn<'a> {
        poll_fn(|cx| {
            let mut waiting = self.waiting();
            let Some(wakers) = waiting.get_mut(id) else {
                waiting.insert(id.clone(), Vec::new());
                return Poll::Ready(());
            };
            if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                wakers.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
        Turn { turns: self, id }
    }

    /// Whether the turn for this id is taken.
    pub(crate) fn is_taken(&self, id: &ObjectId) -> bool {
        self.waiting().contains_key(id)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let wakers = self.turns.waiting().remove(self.id);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns")
            .field("taken", &self.waiting().len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::pin::pin;
    use core::task::Context;

    #[test]
    fn a_turn_is_had_by_one_at_a_time_for_each_id() {
        let turns = Turns::default();
        let (one, other) = (ObjectId::from("one"), ObjectId::from("other"));
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(first) = pin!(turns.turn(&one)).poll(&mut cx) else {
            panic!("it has no owner");
        };
        assert!(pin!(turns.turn(&other)).poll(&mut cx).is_ready());
        let mut second = pin!(turns.turn(&one));
        assert!(second.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        drop(first);
        let Poll::Ready(second) = second.poll(&mut cx) else {
            panic!("it is free");
        };
        drop(second);
        assert!(turns.waiting().is_empty());
    }
}
