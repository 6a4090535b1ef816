//! Collocated calls by a message, and where their upcalls run.
//!
//! [`ExecutionSite::of`] decides, as for requests from elsewhere. A two-way call to an object whose POA has no real-time
//! policies is begun by its caller, and becomes a task where it awaits. A one-way call runs where a request from elsewhere
//! would, never on its caller's thread, and begins when those before it have.
//!
//! To objects of POAs with real-time policies, the decisions in their order:
//!
//! 1. The POA has no thread pool: the caller runs the upcall.
//! 2. The caller is an upcall in the same pool, and in the same lane if there are lanes: it runs the upcall itself,
//!    since
//!    a pool whose threads all wait for calls to it would never make progress. Without lanes its thread has the native priority of
//!    the call meanwhile.
//! 3. Else the call goes through the queue of the object's lane, whose threads run it; the caller waits.
//!
//! A deadline orders the queue, and a call that is late is not made, as for requests from elsewhere. One-way calls
//! always take the queue.

use super::Invocation;
use super::collocated::{own, runtime_gone};
use crate::object::{Binding, ObjectRef};
use crate::orb::OrbInner;
use crate::policy::task_level;
use crate::real_time::{Planned, Scheduled, priority_of_call};
use crate::serve::{
    Caller, Execution, ExecutionSite, Intercepted, Origin, begin, beside_others, refusal,
    reply_contexts, to_end_in_lane,
};
use core::future::poll_fn;
use core::pin::pin;
use core::task::{Context, Waker};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use zorb_cdr::{Encoder, WireFormat};
use zorb_connection::{CallError, Turn};
use zorb_executor::Priority;
use zorb_giop::{
    Fault, Message, PriorityModel, RequestBuilder, ResponseFlags, SystemException, Version, buffers,
};
use zorb_poa::{ActiveObject, Missing, Outcome, ServerRequest, UpcallChain};

/// A collocated call whose arguments are marshalled: its upcall may outlive its caller.
pub(super) struct LocalMessage {
    pub(super) request: ServerRequest,
    deadline: Option<Instant>,
    /// The turn of a one-way call among those of its reference.
    turn: Option<Turn>,
}

impl ObjectRef {
    /// Marshals a call as for a remote server.
    pub(super) fn marshal(
        &self,
        object: &ActiveObject,
        binding: &Binding,
        invocation: &Invocation<'_>,
    ) -> Result<LocalMessage, CallError> {
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
        let is_one_way = builder.response == ResponseFlags::None;
        let message = builder
            .encode(Encoder::with_buffer(buffers::take(), format), |e| {
                invocation.arguments.encode(e)
            })
            .map_err(|error| CallError::Encode(Fault::Encode(error)))?;
        let message = Message::from_gather(message).map_err(own)?;
        let context = self.orb().inner().context();
        Ok(LocalMessage {
            request: ServerRequest::from_message(message, format, context).map_err(own)?,
            deadline: (invocation.contexts.as_ref()).and_then(|contexts| contexts.deadline),
            turn: is_one_way.then(|| self.one_way_turn()),
        })
    }
}

impl LocalMessage {
    /// Dispatches the call, and waits for the outcome of a two-way one. `None` for a one-way call that is on its way,
    /// which has the `intercepted` then.
    pub(super) async fn dispatch(
        self,
        orb: &Arc<OrbInner>,
        object: Arc<ActiveObject>,
        intercepted: &mut Intercepted,
    ) -> Result<Option<Outcome>, CallError> {
        let receipt = self.request.receipt();
        let planned = match plan(orb, &object) {
            Ok(planned) => planned,
            Err(exception) => return Ok(Some(receipt.system_exception(&exception))),
        };
        let outcome = match planned {
            planned if receipt.response == ResponseFlags::None => {
                self.send_planned(orb, object, planned.as_ref(), intercepted.take());
                return Ok(None);
            }
            None => run(orb, object, self.request).await,
            Some(planned) => {
                Box::pin(run_scheduled(
                    orb,
                    object,
                    self.request,
                    self.deadline,
                    planned,
                ))
                .await
            }
        };
        outcome.map(Some)
    }

    /// Dispatches a one-way call that was held.
    pub(super) fn send(self, orb: &Arc<OrbInner>, object: Arc<ActiveObject>, seen: Intercepted) {
        match plan(orb, &object) {
            Ok(planned) => self.send_planned(orb, object, planned.as_ref(), seen),
            Err(exception) => tracing::debug!(error = ?exception, "a one-way call dropped"),
        }
    }

    fn send_planned(
        self,
        orb: &Arc<OrbInner>,
        object: Arc<ActiveObject>,
        planned: Option<&Planned>,
        intercepted: Intercepted,
    ) {
        match (planned, self.turn) {
            (Some(planned), _) => {
                send_scheduled(
                    orb,
                    object,
                    self.request,
                    self.deadline,
                    planned,
                    intercepted,
                );
            }
            (None, Some(turn)) => run_one_way(orb, object, self.request, intercepted, turn),
            (None, None) => {}
        }
    }
}

/// The execution site and the priority of a call to an object of a POA with real-time policies.
fn plan(orb: &OrbInner, object: &ActiveObject) -> Result<Option<Planned>, SystemException> {
    if object.priority().is_none() {
        return Ok(None);
    }
    let adapter = object.adapter().ok_or_else(|| Missing::Adapter.raise())?;
    let scheduled = Scheduled::of(&adapter).ok_or_else(|| Missing::Adapter.raise())?;
    let settings = &orb.settings().real_time;
    let propagated = match scheduled.is_client_propagated() {
        true => priority_of_call(settings, PriorityModel::ClientPropagated)?,
        false => None,
    };
    scheduled.plan_at(settings, object, propagated).map(Some)
}

/// Executes a scheduled two-way call: here, or by the threads of its lane.
#[cold]
async fn run_scheduled(
    orb: &Arc<OrbInner>,
    object: Arc<ActiveObject>,
    request: ServerRequest,
    deadline: Option<Instant>,
    planned: Planned,
) -> Result<Outcome, CallError> {
    let (receipt, octets) = (request.receipt(), request.octets());
    let execution = Execution {
        deadline,
        running: Some(planned.running()),
    };
    let site = ExecutionSite::of(orb, &object, Some(&planned), planned.lane, Origin::Caller);
    let (done, result) = oneshot::channel();
    let inner = Arc::clone(orb);
    let job = async move {
        let caller = Caller::Collocated;
        let outcome = execution.run(&inner, &object, request, caller).await;
        drop(object);
        // The caller may be gone.
        let _ = done.send(outcome);
    };
    let submitted = match site {
        Some(site) => site.submit(orb, deadline, octets, None, job),
        None => {
            begin_here(orb, &planned, job);
            Ok(())
        }
    };
    if let Err(rejected) = submitted {
        let refused = refusal(orb, &rejected, planned.lane.0);
        return Ok(receipt.system_exception(&refused));
    }
    result.await.map_err(|_| runtime_gone())
}

/// Polls a call once, here, at its native priority; one that is not ready then goes on as a task of the runtime that
/// the caller is in, whatever becomes of the caller.
fn begin_here(
    orb: &Arc<OrbInner>,
    planned: &Planned,
    run: impl Future<Output = ()> + Send + 'static,
) {
    let mut run = Box::pin(run);
    let _outside = task_level::leave();
    let settings = &orb.settings().real_time;
    let before = planned.priority_to_restore();
    if before.is_some() {
        // The mapping has been asked already; a privilege that was taken away leaves the thread as it is.
        let _ = settings.apply(planned.priority);
    }
    let polled = run.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    if let Some(before) = before {
        let _ = settings.apply(before);
    }
    if polled.is_pending() {
        match Handle::try_current() {
            Ok(home) => orb.track_in(&home, run),
            Err(_) => orb.track(run),
        }
    }
}

/// Sends a scheduled one-way call to its lane, or, without a pool, to a task or a thread.
#[cold]
fn send_scheduled(
    orb: &Arc<OrbInner>,
    object: Arc<ActiveObject>,
    request: ServerRequest,
    deadline: Option<Instant>,
    planned: &Planned,
    intercepted: Intercepted,
) {
    let octets = request.octets();
    let execution = Execution {
        deadline,
        running: Some(planned.running()),
    };
    let origin = Origin::OneWay;
    let site = ExecutionSite::of(orb, &object, Some(planned), planned.lane, origin)
        .unwrap_or(ExecutionSite::Task);
    let (inner, token) = (Arc::clone(orb), orb.task());
    let job = async move {
        let caller = Caller::Collocated;
        let outcome = execution.run(&inner, &object, request, caller).await;
        reply_contexts(intercepted, &outcome);
        drop(token);
    };
    if let Err(rejected) = site.submit(orb, deadline, octets, None, job) {
        let refused = refusal(orb, &rejected, planned.lane.0);
        tracing::debug!(error = ?refused, "one-way call dropped");
    }
}

/// The request with the number of its operation, which the skeleton then need not look up.
fn numbered(request: ServerRequest, object: &ActiveObject) -> ServerRequest {
    let number = object.number_of(request.operation());
    request.with_number(number)
}

/// Runs an upcall. One that is not ready at its first poll becomes a task, as at a server elsewhere.
async fn run(
    orb: &Arc<OrbInner>,
    object: Arc<ActiveObject>,
    request: ServerRequest,
) -> Result<Outcome, CallError> {
    let (receipt, caller) = (request.receipt(), Caller::Collocated);
    let (mut request, mut outcome) = (Some(numbered(request, &object)), None);
    let waits = {
        let _outside = task_level::leave();
        begin(orb, &object, &mut request, &mut outcome, &receipt, caller)
    };
    let Some(upcall) = waits else {
        return Ok(outcome.unwrap_or(Outcome::Silent));
    };
    let (done, result) = oneshot::channel();
    let (inner, chain) = (Arc::clone(orb), UpcallChain::current());
    orb.track(async move {
        let outcome = {
            let mut rest = pin!(to_end_in_lane(&inner, &object, upcall, receipt, caller));
            poll_fn(|cx| chain.enter(|| rest.as_mut().poll(cx))).await
        };
        // Its id is free from now on, if it has been deactivated.
        drop(object);
        // The caller may be gone.
        let _ = done.send(outcome);
    });
    result.await.map_err(|_| runtime_gone())
}

/// Runs an upcall without a reply, which its caller does not wait for, when its turn has come.
fn run_one_way(
    orb: &Arc<OrbInner>,
    object: Arc<ActiveObject>,
    request: ServerRequest,
    intercepted: Intercepted,
    mut turn: Turn,
) {
    let inner = Arc::clone(orb);
    orb.track(async move {
        turn.comes().await;
        let priority =
            (intercepted.as_ref()).map_or_else(Priority::default, |request| request.priority());
        let site = Arc::clone(&inner);
        let (orb, of, octets) = (Arc::clone(&inner), Arc::clone(&object), request.octets());
        let job = async move {
            let (receipt, caller) = (request.receipt(), Caller::Collocated);
            let (mut request, mut outcome) = (Some(numbered(request, &object)), None);
            let waits = beside_others(&orb, octets, || {
                begin(&orb, &object, &mut request, &mut outcome, &receipt, caller)
            });
            let turn = object.orders_one_ways().then_some(turn);
            let outcome = match waits {
                Some(upcall) => to_end_in_lane(&orb, &object, upcall, receipt, caller).await,
                None => outcome.unwrap_or(Outcome::Silent),
            };
            drop(turn);
            reply_contexts(intercepted, &outcome);
        };
        let submitted = match ExecutionSite::of(&site, &of, None, priority, Origin::OneWay) {
            // This task will do.
            None | Some(ExecutionSite::Task) => {
                drop(of);
                return job.await;
            }
            Some(site) => (
                site.submit(&inner, None, octets, None, job),
                site.priority(),
            ),
        };
        if let (Err(rejected), priority) = submitted {
            let refused = refusal(&inner, &rejected, priority);
            tracing::debug!(error = ?refused, "one-way call dropped");
        }
    });
}
