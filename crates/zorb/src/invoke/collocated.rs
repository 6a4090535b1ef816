//! Calls to objects of the same ORB: the steps of any call, with the servant in place of the connection.
//!
//! **Locate** the object, **admit** the call as its POA manager says, **arguments**: copied as values where caller and
//! servant know the same types, else marshalled as for any server; then the steps of every request
//! ([`dispatch`](crate::serve::dispatch)), and **results**. A caller sees no difference but the time.

use super::Invocation;
use crate::interceptors::ServerFlow;
use crate::keys::Found;
use crate::messaging::is_replying;
use crate::object::{Binding, ObjectRef};
use crate::orb::OrbInner;
use crate::serve::{
    Origin, ReplySink, Served, dispatch, is_of_other_types, main_loop_of, released, serve,
};
use core::sync::atomic::Ordering;
use std::sync::Arc;
use zorb_cdr::Encoder;
use zorb_connection::CallError;
use zorb_giop::{
    Cause, Fault, Message, ProtocolError, ReplySlot, RequestBuilder, ResponseFlags,
    SystemException, Version, buffers,
};
use zorb_poa::{ActiveObject, Missing, Outcome, PoaManagerState, Receipt, ServerRequest};
use zorb_shares::HostKey;

/// The place of a call's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collocated {
    /// In the reply.
    Reply,
    /// In the typed call, if the operation has a result.
    Typed,
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
        let found = orb.find_or_ask(&binding.key).await;
        let is_left_held = invocation.response == ResponseFlags::None
            && matches!(&found, Ok(Found::Object(object)) if may_be_left(object));
        let admitted = match found {
            Ok(Found::Object(object)) if is_left_held => Ok(object),
            found => admit(orb, &binding.key, found, invocation.response).await,
        };
        let object = match admitted {
            Ok(object) => object,
            Err(outcome) => return put_reply(outcome, reply),
        };
        if !is_left_held {
            invocation.sent.store(true, Ordering::Relaxed);
        }
        // A forward replies to one-way calls, too: the caller follows it.
        if invocation.response == ResponseFlags::None && object.forward().is_none() {
            self.send_one_way(object, is_left_held, binding, invocation)?;
            return Ok(Collocated::Typed);
        }
        let mut request = match self.typed_request(&object, invocation)? {
            Some(request) => request,
            None => self.marshal(&object, binding, invocation)?,
        };
        let mut object = object;
        let mut ended = loop {
            // A typed call may have to be made anew behind an interceptor that has waited.
            let again = (request.is_typed() && orb.interceptors().is_some())
                .then(|| Arc::downgrade(&object));
            let mut goes_on = None;
            let (found, mut typed) =
                match dispatch(orb, Origin::Caller(&mut goes_on), object, request) {
                    Served::Ended(request) => break request,
                    Served::OtherTypes(object, typed) => (Some(object), typed),
                    Served::Gone => {
                        let outcome = goes_on.ok_or_else(runtime_gone)?;
                        let ended = outcome.await.map_err(|_| runtime_gone())?;
                        if !is_of_other_types(&ended) {
                            break ended;
                        }
                        (again.and_then(|again| again.upgrade()), ended)
                    }
                };
            let Some(found) = found else {
                let gone = Receipt::OF_VALUES.system_exception(&Missing::Object.raise());
                return put_reply(gone, reply);
            };
            request = self.marshal(&found, binding, invocation)?;
            if let Some(passed) = typed.take_kept::<ServerFlow>() {
                request.keep(passed);
            }
            object = found;
        };
        if ended.is_typed() && (invocation.contexts.is_some() || orb.interceptors().is_some()) {
            let contexts = ended.take_reply_contexts();
            if !contexts.is_empty() {
                invocation.all_contexts().of_values = contexts;
            }
        }
        let outcome = match &mut invocation.typed {
            Some(call) if ended.is_typed() => match call.take(ended) {
                Ok(()) => Outcome::Silent,
                Err(outcome) => outcome,
            },
            _ => ended.into_outcome(),
        };
        put_reply(outcome, reply)
    }

    /// Leaves a one-way call to a task, which calls the servant when those before it have begun, through this reference. Its
    /// caller no more waits for a POA manager that holds requests than for a server elsewhere (SYNC_NONE, SYNC_WITH_TRANSPORT),
    /// and learns nothing of what becomes of it.
    fn send_one_way(
        &self,
        object: Arc<ActiveObject>,
        is_held: bool,
        binding: &Binding,
        invocation: &Invocation<'_>,
    ) -> Result<(), CallError> {
        let request = self.marshal(&object, binding, invocation)?;
        let orb = Arc::clone(self.orb().inner());
        if object.priority().is_some() {
            // The queue of its lane keeps the order.
            let origin = Origin::Sink(ReplySink::Nobody(None));
            dispatch(&orb, origin, object, request);
            return Ok(());
        }
        let mut turn = self.one_way_turn();
        let inner = Arc::clone(&orb);
        orb.track(async move {
            turn.comes().await;
            let origin = Origin::Sink(ReplySink::Nobody(Some(turn)));
            match is_held {
                true => serve(&inner, origin, Ok(Found::Object(object)).into(), request),
                // It has been admitted, and is carried out even if the ORB shuts down meanwhile.
                false => dispatch(&inner, origin, object, request),
            };
        });
        Ok(())
    }

    /// A call with its arguments as values; `None` if they have to be marshalled.
    fn typed_request(
        &self,
        object: &ActiveObject,
        invocation: &Invocation<'_>,
    ) -> Result<Option<ServerRequest>, CallError> {
        let Some(call) = &invocation.typed else {
            return Ok(None);
        };
        // Text in another code set than negotiated needs a message; so does an upcall that another thread may run, as it may
        // outlive its caller.
        if self.char_code_set().is_some()
            || object.priority().is_some()
            || main_loop_of(self.orb().inner(), object).is_some()
        {
            return Ok(None);
        }
        let Some(number) = object.number_of(invocation.operation.as_bytes()) else {
            return Ok(None);
        };
        let request = call.request(number);
        let mut request = request.map_err(|error| CallError::Encode(Fault::Encode(error)))?;
        if let Some(contexts) = &invocation.contexts {
            request.set_deadline(contexts.deadline.map(|(_, at)| at));
            if !contexts.request.is_empty() {
                request.set_contexts(contexts.request.as_slice().into());
            }
        }
        Ok(Some(request))
    }

    /// Marshals a call as for a remote server.
    fn marshal(
        &self,
        object: &ActiveObject,
        binding: &Binding,
        invocation: &Invocation<'_>,
    ) -> Result<ServerRequest, CallError> {
        let format = self.format(binding);
        let builder = RequestBuilder {
            version: Version::HIGHEST,
            request_id: 0,
            response: match (invocation.response, object.forward()) {
                (ResponseFlags::None, None) => ResponseFlags::None,
                _ => ResponseFlags::WithTarget,
            },
            key: &binding.key,
            operation: invocation.operation,
            contexts: invocation.contexts(),
        };
        let message = builder
            .encode(Encoder::with_buffer(buffers::take(), format), |e| {
                invocation.arguments.encode(e)
            })
            .map_err(|error| CallError::Encode(Fault::Encode(error)))?;
        let message = Message::from_gather(message).map_err(own)?;
        let context = self.orb().inner().context();
        let mut request = ServerRequest::from_message(message, format, context).map_err(own)?;
        request.set_number(object.number_of(invocation.operation.as_bytes()));
        let contexts = invocation.contexts.as_ref();
        let deadline = contexts.and_then(|contexts| contexts.deadline);
        request.set_deadline(deadline.map(|(_, at)| at));
        Ok(request)
    }
}

/// Whether a one-way call to an object is left waiting for its POA manager. A scheduled call may have the priority of its
/// caller, which a task does not have.
fn may_be_left(object: &ActiveObject) -> bool {
    object.manager().state() == PoaManagerState::Holding
        && object.forward().is_none()
        && object.priority().is_none()
}

/// Puts the outcome of an upcall into the reply slot.
fn put_reply(outcome: Outcome, reply: &mut ReplySlot) -> Result<Collocated, CallError> {
    match outcome {
        Outcome::Silent => Ok(Collocated::Typed),
        Outcome::Reply(message) => {
            let message = Message::from_gather(message).map_err(own)?;
            reply.set_local(message).map_err(own)?;
            Ok(Collocated::Reply)
        }
    }
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
            Ok(Found::Forward(target)) => return Err(Receipt::OF_VALUES.forward(&target, false)),
            Ok(Found::Unknown(_)) => {
                return Err(Receipt::OF_VALUES.system_exception(&Missing::Adapter.raise()));
            }
            Err(exception) => return Err(Receipt::OF_VALUES.system_exception(&exception)),
        };
        let state = object.manager().state();
        if state != PoaManagerState::Holding {
            let admitted = match state {
                // The manager has been deactivated by the shutdown, which waits for the end of this.
                PoaManagerState::Inactive if orb.is_stopping() && is_replying() => Ok(object),
                state => state.admit().map(|()| object),
            };
            return admitted.map_err(|exception| Receipt::OF_VALUES.system_exception(&exception));
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

/// A message of this ORB's that it cannot read itself.
#[cold]
fn own(error: ProtocolError) -> CallError {
    CallError::Lost(Fault::Protocol {
        endpoint: "this ORB".to_owned(),
        error,
    })
}

#[cold]
fn runtime_gone() -> CallError {
    CallError::Lost(Fault::ConnectionLost {
        endpoint: "this ORB".to_owned(),
        hint: None,
        cause: Cause::new("its runtime has shut down"),
    })
}
