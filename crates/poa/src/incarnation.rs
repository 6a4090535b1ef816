//! Servant managers at work: objects that a servant activator activates when they are called, and requests for which a
//! servant locator finds servants.

use crate::adapter::{Adapter, AdapterError};
use crate::deactivation::{DeactivationGuard, Deactivations};
use crate::identity::Identity;
use crate::key::ObjectId;
use crate::missing::Missing;
use crate::object::{ActiveObject, taking_turns};
use crate::operations::declared_name;
use crate::request::{Outcome, ServerRequest};
use crate::servant_manager::{Activator, AnyLocator, Incarnated, Locator, Raised};
use crate::skeleton::Started;
use crate::sync::{Mutex, MutexGuard, OnceLock};
use crate::turn_queue::UpcallChain;
use arrayvec::ArrayString;
use core::borrow::Borrow;
use core::convert::Infallible;
use core::fmt;
use core::future::poll_fn;
use core::ops::Deref;
use core::pin::pin;
use core::task::{Context, Poll};
use std::collections::{BTreeMap, HashMap};
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

    /// Waits until the object is active: this request calls the activator, unless another request is doing so, or has
    /// activated the object. Requests that wait for another one's object get that object, also when their adapter has
    /// been destroyed or its objects have been etherealized meanwhile.
    ///
    /// # Errors
    /// The exception of the activator; OBJECT_NOT_EXIST if it returns no servant, or the adapter was destroyed before the
    /// activator was called; OBJ_ADAPTER if the servant is active for another object in spite of UNIQUE_ID.
    pub(crate) async fn activate(&self) -> Result<Arc<ActiveObject>, Raised> {
        let made = |attempt: &Attempt| attempt.made.get().cloned();
        let begun = self.adapter.activations.begin_unless(&self.id, made).await;
        let turn = match begun {
            Ok(turn) => turn,
            Err(object) => return Ok(object),
        };
        let object = self.activate_in(&turn.attempt).await?;
        // The object may have been handed over when it was made.
        let _ = turn.attempt.made.set(Arc::clone(&object));
        Ok(object)
    }

    async fn activate_in(&self, attempt: &Attempt) -> Result<Arc<ActiveObject>, Raised> {
        let id = self.id.as_ref();
        let raise = |fault: Fault| Raised::System(fault.raise(CompletionStatus::No));
        while !self.adapter.is_destroyed() {
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
            let Some(_asking) = attempt.ask(&self.adapter, &self.activator) else {
                break;
            };
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
            let handed_over = attempt.made.get().cloned();
            return handed_over.or_else(|| self.adapter.find(id)).ok_or(failed);
        }
        Err(raise(Fault::NoAdapter))
    }
}

/// One request's attempt at activating an object, which the requests that wait for it share.
#[derive(Default)]
pub(crate) struct Attempt {
    /// The object, for the requests that wait for it.
    made: OnceLock<Arc<ActiveObject>>,
    /// The call of the activator in progress.
    asked: Mutex<Option<Asked>>,
}

struct Asked {
    activator: Arc<dyn Activator>,
    /// Keeps the id taken for adapters that are made in place of a destroyed one.
    taken: Option<DeactivationGuard>,
}

/// The call of an activator, in progress until this is dropped.
struct Asking<'a>(&'a Attempt);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let asked = self.0.asked().take();
        drop(asked);
    }
}

impl Attempt {
    fn asked(&self) -> MutexGuard<'_, Option<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the activator is being called, unless the adapter has been destroyed.
    fn ask(&self, adapter: &Adapter, activator: &Arc<dyn Activator>) -> Option<Asking<'_>> {
        let mut asked = self.asked();
        // Under the lock: pairs with `keep_taken`, which follows the destruction.
        if adapter.is_destroyed() {
            return None;
        }
        *asked = Some(Asked {
            activator: Arc::clone(activator),
            taken: None,
        });
        Some(Asking(self))
    }

    /// Hands the object that the activator has made to the requests that wait for it. It is in no map, and is
    /// deactivated: `etherealize` says whether the activator etherealizes it behind the last of these requests. Returns
    /// the object if no activator is being called, or one has been handed over.
    fn hand_over(
        &self,
        object: Arc<ActiveObject>,
        etherealize: bool,
    ) -> Result<(), Arc<ActiveObject>> {
        let activator = match &*self.asked() {
            Some(asked) => Arc::clone(&asked.activator),
            None => return Err(object),
        };
        self.made.set(Arc::clone(&object))?;
        object.begin_deactivation(etherealize.then_some(&activator), true);
        Ok(())
    }
}

impl Activations<Attempt> {
    /// Whether the activator is being called for this id.
    pub(crate) fn is_asked(&self, id: &ObjectId) -> bool {
        self.attempt(id)
            .is_some_and(|attempt| attempt.asked().is_some())
    }

    fn attempt(&self, id: &ObjectId) -> Option<Arc<Attempt>> {
        let turns = self.turns();
        let waited = turns.by_id.get(id);
        waited.map(|waited| Arc::clone(&waited.shared))
    }

    /// Hands an object over to the requests that wait for it ([`Attempt::hand_over`]).
    pub(crate) fn hand_over(
        &self,
        id: &ObjectId,
        object: Arc<ActiveObject>,
        etherealize: bool,
    ) -> Result<(), Arc<ActiveObject>> {
        match self.attempt(id) {
            Some(attempt) => attempt.hand_over(object, etherealize),
            None => Err(object),
        }
    }

    /// Keeps the ids for which the activator is being called taken, until it has ended. To be called after the adapter was
    /// marked as destroyed.
    pub(crate) fn keep_taken(&self, deactivations: &Arc<Deactivations>) {
        for (id, waited) in &self.turns().by_id {
            if let Some(asked) = &mut *waited.shared.asked() {
                asked.taken = Some(deactivations.begin(id.clone()));
            }
        }
    }
}

/// Ends a request whose servant manager has raised an exception. A client that has got its acknowledgement
/// (SYNC_WITH_SERVER) gets no further reply.
fn raised(raised: &Raised, mut request: ServerRequest) -> ServerRequest {
    let may_reply = request.withdraw_acknowledgement();
    request.set_outcome(match raised {
        _ if !may_reply => Outcome::Silent,
        Raised::System(exception) => request.receipt().refusal(exception),
        Raised::Forward(target) => request.receipt().forward(target, false),
    });
    request
}

/// Activates an object, and serves the request with it.
pub(crate) async fn incarnate(
    inactive: Arc<NotIncarnated>,
    mut request: ServerRequest,
) -> ServerRequest {
    let object = match inactive.activate().await {
        Ok(object) => object,
        Err(error) => return raised(&error, request),
    };
    if object.forward().is_none() {
        // The client gets its acknowledgement before the servant is called.
        drop(request.take_acknowledgement());
    } else if request.is_acknowledged() {
        request.set_outcome(Outcome::Silent);
        return request;
    }
    serve_found(&inactive.adapter, object, request).await
}

/// Serves a request with a servant that was found during it, on a thread that may block if the servant does.
async fn serve_found(
    adapter: &Adapter,
    object: impl Borrow<ActiveObject> + Send + 'static,
    request: ServerRequest,
) -> ServerRequest {
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
    ) -> Started {
        let site = (Arc::clone(adapter), identity.clone());
        let make = || locate_and_serve(site, self, request);
        taking_turns(adapter.turn_queue(), make)
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
) -> ServerRequest {
    let id = identity.to_id();
    let operation = OperationName::new(declared_name(request.operation()));
    let (servant, cookie) = match locator.preinvoke(&id, &operation).await {
        Ok(located) => located,
        Err(error) => return raised(&error, request),
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
        (Ok(mut request), Err(exception)) => {
            request.set_system_exception(&exception);
            request
        }
        (Ok(request), Ok(())) => request,
        (Err(panic), _) => resume_unwind(panic),
    }
}

/// What is being activated, by id, each with the requests that wait for it. `A`: what these share.
#[derive(Default)]
pub(crate) struct Activations<A = ()>(Mutex<Turns<A>>);

#[derive(Default)]
struct Turns<A> {
    /// The number of the next request.
    next: u64,
    by_id: HashMap<ObjectId, Waited<A>>,
}

/// What the requests for one id wait for. Each waits once, and is woken when its turn has come or there is a result.
struct Waited<A> {
    shared: Arc<A>,
    /// The request whose turn it is.
    active: u64,
    /// The others, in the order in which they came.
    waiting: BTreeMap<u64, Waker>,
}

/// What requests for one id share.
pub(crate) trait SharedResult: Default {
    /// Whether there is a result, which ends the wait of all of them.
    fn is_there(&self) -> bool;
}

impl SharedResult for () {
    fn is_there(&self) -> bool {
        false
    }
}

impl SharedResult for Attempt {
    fn is_there(&self) -> bool {
        self.made.get().is_some()
    }
}

/// A request among those for its id. Its turn passes to the next when it is dropped.
pub(crate) struct ActivationGuard<'a, A: SharedResult> {
    activations: &'a Activations<A>,
    id: &'a ObjectId,
    number: u64,
    attempt: Arc<A>,
}

impl<A> Activations<A> {
    fn turns(&self) -> MutexGuard<'_, Turns<A>> {
        // No code panics under this lock, so its data is consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request is activating the object of this id.
    pub(crate) fn is_taken(&self, id: &ObjectId) -> bool {
        self.turns().by_id.contains_key(id)
    }
}

impl<A: SharedResult> Activations<A> {
    /// Waits until no other request has the turn to activate the object.
    pub(crate) async fn begin<'a>(&'a self, id: &'a ObjectId) -> ActivationGuard<'a, A> {
        match self.begin_unless(id, |_| None::<Infallible>).await {
            Ok(guard) => guard,
            Err(never) => match never {},
        }
    }

    /// Waits for the turn to activate the object, or until the result is there: `made` returns it.
    async fn begin_unless<'a, R>(
        &'a self,
        id: &'a ObjectId,
        made: impl Fn(&A) -> Option<R>,
    ) -> Result<ActivationGuard<'a, A>, R> {
        let (number, attempt) = self.turns().enter(id);
        let guard = ActivationGuard {
            activations: self,
            id,
            number,
            attempt,
        };
        let result = poll_fn(|cx| {
            let mut turns = self.turns();
            // Under the lock: a result is there before its turn ends.
            if let Some(result) = made(&guard.attempt) {
                return Poll::Ready(Some(result));
            }
            match turns.by_id.get_mut(id) {
                Some(waited) if waited.active != number => {
                    waited.waiting.insert(number, cx.waker().clone());
                    Poll::Pending
                }
                _ => Poll::Ready(None),
            }
        });
        match result.await {
            Some(result) => Err(result),
            None => Ok(guard),
        }
    }
}

impl<A: SharedResult> Turns<A> {
    /// Enters a request among those for an id: its number, and what they share.
    fn enter(&mut self, id: &ObjectId) -> (u64, Arc<A>) {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        if let Some(waited) = self.by_id.get_mut(id) {
            waited.waiting.insert(number, Waker::noop().clone());
            return (number, Arc::clone(&waited.shared));
        }
        let waited = Waited {
            shared: Arc::default(),
            active: number,
            waiting: BTreeMap::new(),
        };
        let shared = Arc::clone(&waited.shared);
        self.by_id.insert(id.clone(), waited);
        (number, shared)
    }

    /// Ends the part of a request. Returns the wakers of those that go on.
    fn leave(&mut self, id: &ObjectId, number: u64) -> Vec<Waker> {
        let Some(waited) = self.by_id.get_mut(id) else {
            return Vec::new();
        };
        waited.waiting.remove(&number);
        if waited.active != number {
            return Vec::new();
        }
        if !waited.shared.is_there()
            && let Some((next, waker)) = waited.waiting.pop_first()
        {
            waited.active = next;
            return vec![waker];
        }
        let ended = self.by_id.remove(id);
        let waiting = ended.map(|ended| ended.waiting);
        waiting
            .into_iter()
            .flat_map(BTreeMap::into_values)
            .collect()
    }
}

impl<A: SharedResult> Drop for ActivationGuard<'_, A> {
    fn drop(&mut self) {
        let wakers = self.activations.turns().leave(self.id, self.number);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl<A> fmt::Debug for Activations<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Activations")
            .field("taken", &self.turns().by_id.len())
            .finish()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use core::task::Context;

    #[test]
    fn a_turn_is_had_by_one_at_a_time_for_each_id() {
        let activations = Activations::<()>::default();
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
        assert!(activations.turns().by_id.is_empty());
    }
}
