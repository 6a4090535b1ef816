//! Objects that are activated when somebody calls them.

use crate::adapter::Adapter;
use crate::key::ObjectId;
use crate::object::ActiveObject;
use crate::registry::Missing;
use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::Poll;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use zorb_giop::SystemException;

/// What [`Activator::incarnate`] gives.
pub type Incarnation = Pin<Box<dyn Future<Output = Result<(), SystemException>> + Send>>;

/// Activates objects when they are called.
pub trait Activator: Send + Sync {
    /// Activates the object with this id, or a forward in its place, or does nothing: then there
    /// is no such object. Called for one id at a time only once at a time, within the upcall that
    /// needs the object.
    fn incarnate(&self, id: ObjectId) -> Incarnation;
}

/// An object that is not active, of an adapter that has an activator.
pub(crate) struct Asleep {
    adapter: Arc<Adapter>,
    activator: Arc<dyn Activator>,
    pub(crate) id: ObjectId,
}

impl Asleep {
    pub(crate) fn new(adapter: Arc<Adapter>, activator: Arc<dyn Activator>, id: ObjectId) -> Self {
        Self {
            adapter,
            activator,
            id,
        }
    }

    /// Waits until the object is active: by the activator, or by whoever else was faster.
    ///
    /// # Errors
    /// What the activator fails with; OBJECT_NOT_EXIST when it does nothing.
    pub(crate) async fn wake(&self) -> Result<Arc<ActiveObject>, SystemException> {
        let _turn = self.adapter.turns.turn(&self.id).await;
        // An object that has been deactivated executes its requests to the end first.
        self.adapter.deactivation_ended(self.id.as_ref()).await;
        // Whoever had the turn before may have done it.
        let mut failed = None;
        if self.adapter.find(self.id.as_ref()).is_none() {
            failed = self.activator.incarnate(self.id.clone()).await.err();
        }
        self.adapter
            .find(self.id.as_ref())
            .ok_or_else(|| failed.unwrap_or_else(|| Missing::Object.raise()))
    }
}

/// Whose object is being activated now, and who waits for that.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<ObjectId, Vec<Waker>>>);

/// The right to activate one object; passed on when it is dropped.
struct Turn<'a> {
    turns: &'a Turns,
    id: &'a ObjectId,
}

impl Turns {
    fn waiting(&self) -> MutexGuard<'_, HashMap<ObjectId, Vec<Waker>>> {
        // Nothing in here panics half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn turn<'a>(&'a self, id: &'a ObjectId) -> Turn<'a> {
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
            panic!("nobody has it");
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
