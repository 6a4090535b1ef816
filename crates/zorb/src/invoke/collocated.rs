//! Calls to objects of the same ORB: the steps of any call, with the servant in place of the connection.
//!
//! **Locate** the object, **admit** the call as its POA manager says, **arguments**: copied as values where caller and
//! servant know the same types, else marshalled as for any server; **upcall**, **results**. A caller sees no
//! difference but the time.

use super::Invocation;
use super::typed_call::TypedUpcall;
use crate::keys::Found;
use crate::object::{Binding, ObjectRef};
use crate::orb::OrbInner;
use crate::policy::task_level;
use crate::serve::{
    Caller, Intercepted, beside_others, caught, enter_object, receive_collocated, released,
    reply_contexts,
};
use core::any::Any;
use core::future::poll_fn;
use core::sync::atomic::Ordering;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use tokio::sync::oneshot;
use zorb_cdr::WireFormat;
use zorb_connection::CallError;
use zorb_giop::{
    Cause, Fault, Message, ProtocolError, ReplySlot, ResponseFlags, ServiceContext,
    SystemException, Version,
};
use zorb_poa::{ActiveObject, Missing, Outcome, PoaManagerState, Receipt, Upcall, UpcallChain};
use zorb_shares::HostKey;

/// The place of a call's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collocated {
    /// In the reply.
    Reply,
    /// In the typed call, if the operation has a result.
    Typed,
}

/// The encoding of the exceptions of a typed call.
pub(super) const RECEIPT: Receipt = Receipt {
    version: Version::HIGHEST,
    request_id: 0,
    response: ResponseFlags::WithTarget,
    format: WireFormat::DEFAULT,
};

impl ObjectRef {
    /// Calls an object of this ORB.
    pub(super) async fn call_collocated(
        &self,
        binding: &Binding,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Collocated, CallError> {
        let orb = self.orb().inner();
        let found = orb.find_or_ask(&binding.key).await;
        if invocation.response == ResponseFlags::None
            && let Ok(Found::Object(object)) = &found
            && object.manager().state() == PoaManagerState::Holding
            && object.forward().is_none()
            // A scheduled call may have the priority of its caller, which a task does not have.
            && object.priority().is_none()
        {
            return self.leave_held(Arc::clone(object), binding, invocation);
        }
        let admitted = admit(orb, &binding.key, found, invocation.response).await;
        let seen = admitted.and_then(|object| {
            let contexts = || invocation.contexts().to_vec();
            let receipt = Receipt {
                response: invocation.response,
                ..RECEIPT
            };
            let intercepted = intercept(orb, invocation.operation, &receipt, contexts)?;
            Ok((object, intercepted))
        });
        let (object, mut intercepted) = match seen {
            Ok(seen) => seen,
            Err(outcome) => return self.put_reply(outcome, reply),
        };
        invocation.sent.store(true, Ordering::Relaxed);
        let outcome = match self.begin_typed(&object, invocation)? {
            Some(upcall) => self.run_typed(object, upcall, invocation).await?,
            None => {
                let message = self.marshal(&object, binding, invocation)?;
                match message.dispatch(orb, object, &mut intercepted).await? {
                    Some(outcome) => outcome,
                    None => return Ok(Collocated::Typed),
                }
            }
        };
        self.finish(outcome, intercepted, invocation, reply)
    }

    /// Leaves a one-way call whose POA manager holds requests to a task: its caller no more waits for that than for a server
    /// elsewhere (SYNC_NONE, SYNC_WITH_TRANSPORT), and learns nothing of what becomes of it.
    #[cold]
    fn leave_held(
        &self,
        object: Arc<ActiveObject>,
        binding: &Binding,
        invocation: &Invocation<'_>,
    ) -> Result<Collocated, CallError> {
        let orb = self.orb().inner();
        let message = self.marshal(&object, binding, invocation)?;
        let (inner, key) = (Arc::clone(orb), binding.key.clone());
        let operation = invocation.operation.to_owned();
        let contexts = invocation.contexts().to_vec();
        orb.track(async move {
            let admitted =
                admit(&inner, &key, Ok(Found::Object(object)), ResponseFlags::None).await;
            let seen = admitted.and_then(|object| {
                let receipt = message.request.receipt();
                let intercepted = intercept(&inner, &operation, &receipt, || contexts)?;
                Ok((object, intercepted))
            });
            match seen {
                Ok((object, intercepted)) => message.send(&inner, object, intercepted),
                Err(_) => tracing::debug!(operation, "a held one-way call dropped"),
            }
        });
        Ok(Collocated::Typed)
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

    /// Begins an upcall with typed arguments; `None` if they have to be marshalled.
    fn begin_typed(
        &self,
        object: &ActiveObject,
        invocation: &Invocation<'_>,
    ) -> Result<Option<TypedUpcall>, CallError> {
        let Some(call) = &invocation.typed else {
            return Ok(None);
        };
        // Text in another code set than negotiated needs a message; so does an upcall that another thread may run, as it may
        // outlive its caller.
        if self.char_code_set().is_some() || object.priority().is_some() {
            return Ok(None);
        }
        let _outside = task_level::leave();
        let begun = caught(|| call.start(object, invocation.operation, RECEIPT));
        let begun = begun.unwrap_or_else(|panic| {
            let raised = panic.in_servant(self.orb().inner(), object, Caller::Collocated);
            Ok(TypedUpcall {
                upcall: Upcall::ready(RECEIPT.system_exception(&raised)),
                operation: None,
            })
        });
        match begun {
            Ok(begun) => Ok(Some(begun).filter(|begun| !begun.upcall.is_untyped())),
            Err(error) => Err(CallError::Encode(Fault::Encode(error))),
        }
    }

    /// Runs an upcall with typed results. An upcall that is not ready at its first poll becomes a task, which goes on
    /// whatever becomes of its caller.
    async fn run_typed(
        &self,
        object: Arc<ActiveObject>,
        mut upcall: TypedUpcall,
        invocation: &mut Invocation<'_>,
    ) -> Result<Outcome, CallError> {
        let Some(call) = &mut invocation.typed else {
            return Err(runtime_gone());
        };
        let orb = self.orb().inner();
        let first = {
            let mut cx = Context::from_waker(Waker::noop());
            let _outside = task_level::leave();
            poll_typed(orb, &object, &mut upcall, &mut cx, call.results())
        };
        match first {
            Poll::Ready(outcome) => Ok(outcome),
            Poll::Pending => {
                let mut place = call.place();
                let (done, result) = oneshot::channel();
                let (inner, chain) = (Arc::clone(orb), UpcallChain::current());
                orb.track(async move {
                    let ended = poll_fn(|cx| {
                        beside_others(&inner, 0, || {
                            chain
                                .enter(|| poll_typed(&inner, &object, &mut upcall, cx, &mut *place))
                        })
                    });
                    let outcome = ended.await;
                    // Its id is free from now on, if it has been deactivated.
                    drop(object);
                    // The caller may be gone.
                    let _ = done.send((outcome, place));
                });
                let (outcome, place) = result.await.map_err(|_| runtime_gone())?;
                call.take(place);
                Ok(outcome)
            }
        }
    }

    /// Puts the outcome of an upcall into the reply slot.
    fn put_reply(&self, outcome: Outcome, reply: &mut ReplySlot) -> Result<Collocated, CallError> {
        match outcome {
            Outcome::Silent => Ok(Collocated::Typed),
            Outcome::Reply(message) => {
                let message = Message::from_gather(message).map_err(own)?;
                reply.set_local(message).map_err(own)?;
                Ok(Collocated::Reply)
            }
        }
    }
}

fn poll_typed(
    orb: &OrbInner,
    object: &ActiveObject,
    begun: &mut TypedUpcall,
    cx: &mut Context<'_>,
    results: &mut (dyn Any + Send),
) -> Poll<Outcome> {
    let TypedUpcall { upcall, operation } = begun;
    enter_object(orb, object, Caller::Collocated, *operation, || {
        upcall.poll_into(cx, results)
    })
    .unwrap_or_else(|panic| Poll::Ready(RECEIPT.system_exception(&panic)))
}

/// Waits while the POA manager of an object holds requests, and looks its key up again then.
///
/// # Errors
/// The reply to a call that is not for a servant: a forward, or an exception, also of the POA manager.
async fn admit(
    orb: &OrbInner,
    key: &[u8],
    mut found: Result<Found, SystemException>,
    response: ResponseFlags,
) -> Result<Arc<ActiveObject>, Outcome> {
    loop {
        let object = match found {
            Ok(Found::Object(object)) => object,
            Ok(Found::Forward(target)) => return Err(RECEIPT.forward(&target, false)),
            Ok(Found::Unknown(_)) => {
                return Err(RECEIPT.system_exception(&Missing::Adapter.raise()));
            }
            Err(exception) => return Err(RECEIPT.system_exception(&exception)),
        };
        let state = object.manager().state();
        if state != PoaManagerState::Holding {
            let admitted = state.admit().map(|()| object);
            return admitted.map_err(|exception| RECEIPT.system_exception(&exception));
        }
        let released = released(&object, HostKey::THIS_PROCESS);
        let manager = Arc::clone(object.manager());
        // A held request is no upcall: the object may be deactivated, and its id used again.
        drop(object);
        found = match released.await {
            Ok(()) => orb.find_or_ask(key).await,
            Err(exception) => {
                if manager.state() == PoaManagerState::Holding {
                    orb.count_refused(response);
                }
                Err(exception)
            }
        };
    }
}

/// Runs `receive_request` of the interceptor, if there is one.
///
/// # Errors
/// The reply with the interceptor's exception: the servant is not called.
fn intercept(
    orb: &OrbInner,
    operation: &str,
    receipt: &Receipt,
    contexts: impl FnOnce() -> Vec<ServiceContext>,
) -> Result<Intercepted, Outcome> {
    let Some(interceptor) = orb.interceptor() else {
        return Ok(None);
    };
    receive_collocated(interceptor, operation, receipt, contexts())
        .map_err(|exception| RECEIPT.system_exception(&exception))
}

/// A message of this ORB's that it cannot read itself.
#[cold]
pub(super) fn own(error: ProtocolError) -> CallError {
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
