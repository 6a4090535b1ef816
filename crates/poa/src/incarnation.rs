//! Servant managers at work: objects that a servant activator activates when they are called, and requests for which a
//! servant locator finds servants.

use crate::adapter::{Adapter, AdapterError};
use crate::identity::Identity;
use crate::key::ObjectId;
use crate::missing::Missing;
use crate::object::{ActiveObject, taking_turns};
use crate::request::{Outcome, ServerRequest};
use crate::servant_manager::{Activator, AnyLocator, Incarnated, Locator, Raised};
use crate::skeleton::Upcall;
use crate::sync::{Mutex, MutexGuard};
use crate::turn_queue::UpcallChain;
use arrayvec::ArrayString;
use core::borrow::Borrow;
use core::fmt;
use core::future::poll_fn;
use core::ops::Deref;
use core::pin::pin;
use core::task::{Context, Poll};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError};
use std::task::Waker;
use zorb_giop::{CompletionStatus, Fault};

/// An inactive object of an adapter with a servant activator.
pub(crate) struct NotIncarnated {
    pub(crate) adapter: Arc<Adapter>,
    activator: Arc<dyn Activator>,
    id: ObjectId,
}

impl NotIncarnated {
    pub(crate) fn new(adapter: Arc<Adapter>, activator: Arc<dyn Activator>, id: ObjectId) -> Self {
        Self {
            adapter,
            activator,
            id,
        }
    }

    /// Waits until the object is active: this request calls the activator, unless another request has activated the object.
    ///
    /// # Errors
    /// The exception of the activator; OBJECT_NOT_EXIST if it returns no servant, or the adapter is destroyed meanwhile;
    /// OBJ_ADAPTER if the servant is active for another object in spite of UNIQUE_ID.
    pub(crate) async fn activate(&self) -> Result<Arc<ActiveObject>, Raised> {
        let _guard = self.adapter.activations.begin(&self.id).await;
        let id = self.id.as_ref();
        let raise = |fault: Fault| Raised::System(fault.raise(CompletionStatus::No));
        loop {
            // A deactivated object finishes its requests first.
            self.adapter.deactivation_ended(id).await;
            // An earlier request may have activated it while this one waited for its turn.
            if let Some(object) = self.adapter.find(id) {
                return Ok(object);
            }
            // The object may have been active until now, and is being deactivated: it is noted before it leaves the map.
            if self.adapter.deactivations().contains(id) {
                continue;
            }
            let failed = match self.activator.incarnate(self.id.clone()).await {
                Ok(Incarnated::ByItself) => Missing::Object.raise().into(),
                Ok(Incarnated::Servant(servant)) => {
                    match self.adapter.activate_at(id, servant) {
                        // Not looked up again: another thread may have deactivated it already, and waits for this request.
                        Ok(object) => return Ok(object),
                        // Another thread has activated an object meanwhile, and may have deactivated it.
                        Err(
                            AdapterError::ObjectAlreadyActive(_)
                            | AdapterError::BeingDeactivated(_),
                        ) => continue,
                        Err(AdapterError::ServantAlreadyActive) => {
                            raise(Fault::ServantActiveAlready)
                        }
                        Err(_) => raise(Fault::NoAdapter),
                    }
                }
                Err(raised) => raised,
            };
            return self.adapter.find(id).ok_or(failed);
        }
    }
}

/// The outcome of a request whose servant manager has raised an exception. A client that has got its acknowledgement
/// (SYNC_WITH_SERVER) gets no further reply.
fn raised(raised: &Raised, request: &mut ServerRequest) -> Outcome {
    if !request.withdraw_acknowledgement() {
        return Outcome::Silent;
    }
    match raised {
        Raised::System(exception) => request.receipt().refusal(exception),
        Raised::Forward(target) => request.receipt().forward(target, false),
    }
}

/// Activates an object, and serves the request with it.
pub(crate) async fn incarnate(inactive: Arc<NotIncarnated>, mut request: ServerRequest) -> Outcome {
    let object = match inactive.activate().await {
        Ok(object) => object,
        Err(error) => return raised(&error, &mut request),
    };
    if object.forward().is_none() {
        // The client gets its acknowledgement before the servant is called.
        drop(request.take_acknowledgement());
    } else if request.is_acknowledged() {
        return Outcome::Silent;
    }
    serve_found(&inactive.adapter, object, request).await
}

/// Serves a request with a servant that was found during it, on a thread that may block if the servant does.
async fn serve_found(
    adapter: &Adapter,
    object: impl Borrow<ActiveObject> + Send + 'static,
    request: ServerRequest,
) -> Outcome {
    match adapter.off_reactor().filter(|_| object.borrow().blocks()) {
        None => ActiveObject::serve(object, request).await,
        Some(off_reactor) => {
            // The upcall keeps the turns of the upcalls that it is nested in.
            let chain = UpcallChain::current();
            let mut upcall = Box::pin(ActiveObject::serve(object, request));
            let entered = poll_fn(move |cx| chain.enter(|| upcall.as_mut().poll(cx)));
            off_reactor(Box::pin(entered)).await
        }
    }
}

impl<L: Locator> AnyLocator<Adapter> for L {
    fn upcall(
        self: Arc<Self>,
        adapter: &Arc<Adapter>,
        identity: &Identity,
        request: ServerRequest,
        outcome: &mut Option<Outcome>,
    ) -> Upcall {
        let site = (Arc::clone(adapter), identity.clone());
        let make = || locate_and_serve(site, self, request);
        taking_turns(adapter.turn_queue(), make, outcome)
    }
}

/// The name of an operation, which outlives its request.
enum OperationName {
    /// A short name, without an allocation; most names are short.
    Short(ArrayString<SHORT_NAME>),
    Long(String),
}

/// The most octets of a short name, which the future of the request contains.
const SHORT_NAME: usize = 31;

impl OperationName {
    fn new(octets: &[u8]) -> Self {
        let name = core::str::from_utf8(octets).ok();
        match name.and_then(|name| ArrayString::from(name).ok()) {
            Some(short) => Self::Short(short),
            None => Self::Long(String::from_utf8_lossy(octets).into_owned()),
        }
    }
}

impl Deref for OperationName {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Short(name) => name,
            Self::Long(name) => name,
        }
    }
}

/// Serves a request with the servant that a locator finds for it.
async fn locate_and_serve<L: Locator>(
    (adapter, identity): (Arc<Adapter>, Identity),
    locator: Arc<L>,
    mut request: ServerRequest,
) -> Outcome {
    let (receipt, id) = (request.receipt(), identity.to_id());
    let operation = OperationName::new(request.operation());
    let (servant, cookie) = match locator.preinvoke(&id, &operation).await {
        Ok(located) => located,
        Err(error) => return raised(&error, &mut request),
    };
    // The client gets its acknowledgement before the servant is called.
    drop(request.take_acknowledgement());
    let ended = {
        let object = adapter.object_for_request(Arc::clone(&servant), identity);
        let mut upcall = pin!(serve_found(&adapter, object, request));
        // `postinvoke` runs even if the operation panics.
        poll_fn(|cx| {
            let mut poll = |cx: &mut Context<'_>| upcall.as_mut().poll(cx).map(Ok);
            catch_unwind(AssertUnwindSafe(|| poll(cx)))
                .unwrap_or_else(|panic| Poll::Ready(Err(panic)))
        })
        .await
    };
    let postinvoked = locator.postinvoke(&id, &operation, cookie, servant).await;
    match (ended, postinvoked) {
        (Ok(_), Err(exception)) => receipt.system_exception(&exception),
        (Ok(outcome), Ok(())) => outcome,
        (Err(panic), _) => resume_unwind(panic),
    }
}

/// The objects that are being activated, each with the requests that wait for it.
#[derive(Default)]
pub(crate) struct Activations(Mutex<HashMap<ObjectId, Vec<Waker>>>);

/// The right to activate one object, which passes to the next request when it is dropped.
pub(crate) struct ActivationGuard<'a> {
    activations: &'a Activations,
    id: &'a ObjectId,
}

impl Activations {
    fn waiting(&self) -> MutexGuard<'_, HashMap<ObjectId, Vec<Waker>>> {
        // No code panics under this lock, so its data is consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn begin<'a>(&'a self, id: &'a ObjectId) -> ActivationGuard<'a> {
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
        ActivationGuard {
            activations: self,
            id,
        }
    }

    /// Whether a request is activating the object of this id.
    pub(crate) fn is_taken(&self, id: &ObjectId) -> bool {
        self.waiting().contains_key(id)
    }
}

impl Drop for ActivationGuard<'_> {
    fn drop(&mut self) {
        let wakers = self.activations.waiting().remove(self.id);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

impl fmt::Debug for Activations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Activations")
            .field("taken", &self.waiting().len())
            .finish()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use core::task::Context;

    #[test]
    fn a_turn_is_had_by_one_at_a_time_for_each_id() {
        let activations = Activations::default();
        let (one, other) = (ObjectId::from("one"), ObjectId::from("other"));
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(first) = pin!(activations.begin(&one)).poll(&mut cx) else {
            panic!("it has no owner");
        };
        assert!(pin!(activations.begin(&other)).poll(&mut cx).is_ready());
        let mut second = pin!(activations.begin(&one));
        assert!(second.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        drop(first);
        let Poll::Ready(second) = second.poll(&mut cx) else {
            panic!("it is free");
        };
        drop(second);
        assert!(activations.waiting().is_empty());
    }
}
