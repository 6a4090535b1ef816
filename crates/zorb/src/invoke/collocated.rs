//! Calls to objects of the same ORB: the steps of any call, with the servant in place of the connection.
//!
//! **Locate** the object, **admit** the call as its POA manager says, **arguments**: copied as values where caller and
//! servant know the same types, else marshalled as for any server; **upcall**, **results**. A caller sees no
//! difference but the time.

use super::Invocation;
use crate::interceptor::Interceptor;
use crate::keys::Found;
use crate::object::{Binding, ObjectRef};
use crate::orb::OrbInner;
use crate::policy::current;
use crate::serve::{
    Caller, Intercepted, begin, caught, enter_object, poll, receive_collocated, released,
    reply_contexts,
};
use core::any::Any;
use core::future::poll_fn;
use core::sync::atomic::Ordering;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use tokio::sync::oneshot;
use zorb_cdr::{Encoder, WireFormat};
use zorb_connection::{CallError, Turn};
use zorb_giop::{
    Cause, Fault, Message, ProtocolError, ReplySlot, RequestBuilder, ResponseFlags,
    SystemException, Version, buffers,
};
use zorb_poa::{ActiveObject, Lineage, Missing, Outcome, Receipt, Request, State, Upcall};

/// The place of a call's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collocated {
    /// In the reply.
    Reply,
    /// Among the values of the call, if any.
    Values,
}

/// How exceptions of a call by values are encoded.
pub(super) const RECEIPT: Receipt = Receipt {
    version: Version::HIGHEST,
    request_id: 0,
    response: ResponseFlags::WithTarget,
    format: WireFormat::DEFAULT,
};

impl Invocation<'_> {
    /// Runs `receive_request` of the object's interceptor.
    #[cold]
    fn receive_request(
        &self,
        interceptor: &Arc<dyn Interceptor>,
    ) -> Result<Intercepted, SystemException> {
        let receipt = Receipt {
            response: self.response,
            ..RECEIPT
        };
        let contexts = self.contexts().to_vec();
        receive_collocated(interceptor, self.operation, &receipt, contexts)
    }
}

impl ObjectRef {
    /// Calls an object of this ORB.
    pub(super) async fn call_collocated(
        &self,
        binding: &Binding,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Collocated, CallError> {
        let orb = self.orb().inner();
        let mut found = orb.find_or_ask(&binding.key).await;
        if invocation.response == ResponseFlags::None
            && let Ok(Found::Object(object)) = &found
            && object.manager().state() == State::Holding
            && object.forward().is_none()
            && object.priority().is_none()
        {
            return self.leave_held(object, binding, invocation);
        }
        while let Ok(Found::Object(object)) = &found
            && object.manager().state() == State::Holding
        {
            let released = released(object);
            // A held request is no upcall: the object may be deactivated, and its id used again.
            drop(found);
            found = match released.await {
                // The object may be another one by now.
                Ok(()) => orb.find_or_ask(&binding.key).await,
                Err(exception) => Err(exception),
            };
        }
        let object = match found {
            Ok(Found::Object(object)) => object,
            Ok(Found::Elsewhere(target)) => {
                return self.put_reply(RECEIPT.forward(&target, false), reply);
            }
            Ok(Found::Unknown(_)) => {
                let missing = Missing::Adapter.raise();
                return self.put_reply(RECEIPT.system_exception(&missing), reply);
            }
            Err(exception) => return self.put_reply(RECEIPT.system_exception(&exception), reply),
        };
        if let Err(exception) = object.manager().state().admit() {
            return self.put_reply(RECEIPT.system_exception(&exception), reply);
        }
        let mut intercepted = match orb.interceptor() {
            None => None,
            Some(interceptor) => match invocation.receive_request(interceptor) {
                Ok(intercepted) => intercepted,
                Err(exception) => {
                    return self.put_reply(RECEIPT.system_exception(&exception), reply);
                }
            },
        };
        invocation.sent.store(true, Ordering::Relaxed);
        if object.priority().is_some() {
            let called = self.call_scheduled(object, binding, invocation, &mut intercepted);
            return match Box::pin(called).await? {
                Some(outcome) => self.finish(outcome, intercepted, invocation, reply),
                None => Ok(Collocated::Values),
            };
        }
        let outcome = match self.begin_values(&object, invocation)? {
            Some(upcall) => self.run_values(object, upcall, invocation).await?,
            None => {
                let request = self.marshal(&object, binding, invocation)?;
                let receipt = request.receipt();
                if receipt.response == ResponseFlags::None {
                    run_one_way(orb, object, request, intercepted, self.one_way_turn());
                    return Ok(Collocated::Values);
                }
                run(orb, object, request, receipt).await?
            }
        };
        self.finish(outcome, intercepted, invocation, reply)
    }

    /// Leaves a one-way call whose POA manager holds requests to a task: its caller no more waits for that than for a server
    /// elsewhere (SYNC_NONE, SYNC_WITH_TRANSPORT), and learns nothing of what becomes of it.
    #[cold]
    fn leave_held(
        &self,
        object: &ActiveObject,
        binding: &Binding,
        invocation: &Invocation<'_>,
    ) -> Result<Collocated, CallError> {
        let orb = self.orb().inner();
        let request = self.marshal(object, binding, invocation)?;
        let (inner, key) = (Arc::clone(orb), binding.key.clone());
        let (operation, contexts) = (
            invocation.operation.to_owned(),
            invocation.contexts().to_vec(),
        );
        let mut waiting = released(object);
        let (turn, manager) = (self.one_way_turn(), Arc::clone(object.manager()));
        orb.track(async move {
            let dropped = |exception| tracing::debug!(?exception, "a held one-way call dropped");
            let object = loop {
                if let Err(exception) = waiting.await {
                    if manager.state() == State::Holding {
                        inner.count_refused(ResponseFlags::None);
                    }
                    return dropped(exception);
                }
                // The object may be another one by now.
                match inner.find_or_ask(&key).await {
                    Ok(Found::Object(object)) if object.manager().state() == State::Holding => {
                        waiting = released(&object);
                    }
                    Ok(Found::Object(object)) => break object,
                    Ok(Found::Elsewhere(_) | Found::Unknown(_)) => {
                        return dropped(Missing::Object.raise());
                    }
                    Err(exception) => return dropped(exception),
                }
            };
            if let Err(exception) = object.manager().state().admit() {
                return dropped(exception);
            }
            let receipt = request.receipt();
            let intercepted = match inner.interceptor() {
                None => None,
                Some(interceptor) => {
                    match receive_collocated(interceptor, &operation, &receipt, contexts) {
                        Ok(intercepted) => intercepted,
                        Err(exception) => return dropped(exception),
                    }
                }
            };
            run_one_way(&inner, object, request, intercepted, turn);
        });
        Ok(Collocated::Values)
    }

    /// Runs `send_reply` of the interceptor, and puts the outcome into the reply slot.
    fn finish(
        &self,
        outcome: Outcome,
        intercepted: Intercepted,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Collocated, CallError> {
        if intercepted.is_some() {
            let contexts = reply_contexts(intercepted, &outcome);
            invocation.all_contexts().reply = contexts;
        }
        self.put_reply(outcome, reply)
    }

    /// Begins an upcall with the values of the call; `None` if they have to be marshalled.
    fn begin_values(
        &self,
        object: &ActiveObject,
        invocation: &Invocation<'_>,
    ) -> Result<Option<Upcall>, CallError> {
        let Some(values) = &invocation.values else {
            return Ok(None);
        };
        // Text in another code set than negotiated needs a message.
        if self.char_code_set().is_some() {
            return Ok(None);
        }
        let _outside = current::leave();
        let begun = caught(|| values.start(object, invocation.operation, RECEIPT));
        let begun = begun.unwrap_or_else(|panic| {
            let raised = panic.in_servant(self.orb().inner(), object, Caller::Collocated);
            Ok(Upcall::ready(RECEIPT.system_exception(&raised)))
        });
        match begun {
            Ok(upcall) => Ok(Some(upcall).filter(|upcall| !upcall.is_untyped())),
            Err(error) => Err(CallError::Encode(Fault::Encode(error))),
        }
    }

    /// Runs an upcall whose results are values. One that is not ready at its first poll becomes a task, which goes on
    /// whatever becomes of its caller.
    async fn run_values(
        &self,
        object: Arc<ActiveObject>,
        mut upcall: Upcall,
        invocation: &mut Invocation<'_>,
    ) -> Result<Outcome, CallError> {
        let Some(values) = &mut invocation.values else {
            return Err(runtime_gone());
        };
        let orb = self.orb().inner();
        let first = {
            let mut cx = Context::from_waker(Waker::noop());
            let _outside = current::leave();
            poll_values(orb, &object, &mut upcall, &mut cx, values.results())
        };
        match first {
            Poll::Ready(outcome) => Ok(outcome),
            Poll::Pending => {
                let mut place = values.place();
                let (done, result) = oneshot::channel();
                let (inner, lineage) = (Arc::clone(orb), Lineage::current());
                orb.track(async move {
                    let ended = poll_fn(|cx| {
                        lineage.enter(|| poll_values(&inner, &object, &mut upcall, cx, &mut *place))
                    });
                    let outcome = ended.await;
                    // Its id is free from now on, if it has been deactivated.
                    drop(object);
                    // The caller may be gone.
                    let _ = done.send((outcome, place));
                });
                let (outcome, place) = result.await.map_err(|_| runtime_gone())?;
                values.take(place);
                Ok(outcome)
            }
        }
    }

    /// Marshals a call as for a remote server.
    pub(super) fn marshal(
        &self,
        object: &ActiveObject,
        binding: &Binding,
        invocation: &Invocation<'_>,
    ) -> Result<Request, CallError> {
        let format = WireFormat::default();
        let builder = RequestBuilder {
            version: Version::HIGHEST,
            request_id: 0,
            // A forward replies to one-way calls, too: the caller follows it.
            response: match (invocation.response, object.forward()) {
                (ResponseFlags::None, None) => ResponseFlags::None,
                _ => ResponseFlags::WithTarget,
            },
            key: &binding.key,
            operation: invocation.operation,
            contexts: &[],
        };
        let message = builder
            .encode(Encoder::with_buffer(buffers::take(), format), |e| {
                invocation.arguments.encode(e)
            })
            .map_err(|error| CallError::Encode(Fault::Encode(error)))?;
        let message = Message::from_gather(message).map_err(own)?;
        Request::from_message(message, format, self.orb().inner().context()).map_err(own)
    }

    /// Puts the outcome of an upcall into the reply slot.
    fn put_reply(&self, outcome: Outcome, reply: &mut ReplySlot) -> Result<Collocated, CallError> {
        match outcome {
            Outcome::Silent => Ok(Collocated::Values),
            Outcome::Reply(message) => {
                let message = Message::from_gather(message).map_err(own)?;
                reply.set_local(message).map_err(own)?;
                Ok(Collocated::Reply)
            }
        }
    }
}

fn poll_values(
    orb: &OrbInner,
    object: &ActiveObject,
    upcall: &mut Upcall,
    cx: &mut Context<'_>,
    results: &mut (dyn Any + Send),
) -> Poll<Outcome> {
    enter_object(orb, object, Caller::Collocated, None, || {
        upcall.poll_into(cx, results)
    })
    .unwrap_or_else(|panic| Poll::Ready(RECEIPT.system_exception(&panic)))
}

/// Runs an upcall. One that is not ready at its first poll becomes a task, as at a server elsewhere.
async fn run(
    orb: &Arc<OrbInner>,
    object: Arc<ActiveObject>,
    request: Request,
    receipt: Receipt,
) -> Result<Outcome, CallError> {
    let (mut request, mut outcome) = (Some(request), None);
    let waits = {
        let _outside = current::leave();
        begin(
            orb,
            &object,
            &mut request,
            &mut outcome,
            &receipt,
            Caller::Collocated,
        )
    };
    let Some(mut upcall) = waits else {
        return Ok(outcome.unwrap_or(Outcome::Silent));
    };
    let (done, result) = oneshot::channel();
    let (inner, lineage) = (Arc::clone(orb), Lineage::current());
    orb.track(async move {
        let outcome = poll_fn(|cx| {
            lineage.enter(|| {
                poll(
                    &inner,
                    &object,
                    &mut upcall,
                    cx,
                    &receipt,
                    Caller::Collocated,
                )
            })
        })
        .await;
        drop(object);
        // The caller may be gone.
        let _ = done.send(outcome);
    });
    result.await.map_err(|_| runtime_gone())
}

/// Runs an upcall without a reply, which its caller does not wait for, when its turn has come: in a task, or on a thread where
/// servants may block.
fn run_one_way(
    orb: &Arc<OrbInner>,
    object: Arc<ActiveObject>,
    request: Request,
    intercepted: Intercepted,
    mut turn: Turn,
) {
    let inner = Arc::clone(orb);
    let may_block = orb.settings().threads || object.blocks();
    let ends_in_turn = object.orders_one_ways();
    orb.track(async move {
        turn.comes().await;
        let receipt = request.receipt();
        let orb = Arc::clone(&inner);
        let run = move || {
            let (mut request, mut outcome) = (Some(request), None);
            let caller = Caller::Collocated;
            let waits = begin(&orb, &object, &mut request, &mut outcome, &receipt, caller);
            (waits, outcome, object)
        };
        let begun = match may_block {
            true => inner.lane().handle().spawn_blocking(run).await.ok(),
            false => Some(run()),
        };
        // A thread that was never started has its runtime gone.
        let Some((waits, outcome, object)) = begun else {
            return;
        };
        let turn = ends_in_turn.then_some(turn);
        let outcome = match waits {
            Some(mut upcall) => {
                poll_fn(|cx| {
                    let caller = Caller::Collocated;
                    poll(&inner, &object, &mut upcall, cx, &receipt, caller)
                })
                .await
            }
            None => outcome.unwrap_or(Outcome::Silent),
        };
        drop(turn);
        reply_contexts(intercepted, &outcome);
    });
}

/// A message of this ORB's that it cannot read itself.
#[cold]
fn own(error: ProtocolError) -> CallError {
    CallError::Lost(Fault::Protocol {
        endpoint: "this ORB".to_owned(),
        error,
    })
}

#[cold]
pub(super) fn runtime_gone() -> CallError {
    CallError::Lost(Fault::ConnectionLost {
        endpoint: "this ORB".to_owned(),
        hint: None,
        cause: Cause::new("its runtime has shut down"),
    })
}
