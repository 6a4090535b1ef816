//! Collocated calls to objects of POAs with real-time policies.
//!
//! The decisions, in their order:
//!
//! 1. The POA has no thread pool: the caller runs the upcall, as for any collocated object.
//! 2. The caller is an upcall in the same pool, and in the same lane if there are lanes: it runs the upcall itself, since
//!    a pool whose threads all wait for calls to it would never make progress. Without lanes its thread has the native priority of
//!    the call meanwhile.
//! 3. Else the call goes through the queue of the object's lane, whose threads run it; the caller waits.
//!
//! A deadline orders the queue, and a call that is late is not made, as for requests from elsewhere.
//!
//! One-way calls always take the queue. Arguments and results are marshalled: the upcall may outlive its caller.

use super::Invocation;
use super::collocated::runtime_gone;
use crate::object::{Binding, ObjectRef};
use crate::orb::OrbInner;
use crate::policy::current;
use crate::real_time::{Planned, Running, Scheduled, at_priority, priority_of_call};
use crate::serve::{Caller, Intercepted, deadline, refusal, reply_contexts, submit, upcall};
use core::task::{Context, Waker};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use zorb_connection::CallError;
use zorb_giop::{PriorityModel, ResponseFlags, SystemException};
use zorb_poa::{ActiveObject, Missing, Outcome, Request};

impl ObjectRef {
    /// Calls an object whose upcalls are scheduled. `None` for a one-way call that is on its way, which then has the
    /// `intercepted`.
    #[cold]
    pub(super) async fn call_scheduled(
        &self,
        object: Arc<ActiveObject>,
        binding: &Binding,
        invocation: &mut Invocation<'_>,
        intercepted: &mut Intercepted,
    ) -> Result<Option<Outcome>, CallError> {
        let orb = self.orb().inner();
        let request = self.marshal(&object, binding, invocation)?;
        let (receipt, octets) = (request.receipt(), request.octets());
        let deadline = (invocation.contexts.as_ref()).and_then(|contexts| contexts.deadline);
        let planned = match plan(orb, &object) {
            Ok(planned) => planned,
            Err(exception) => return Ok(Some(receipt.system_exception(&exception))),
        };
        if receipt.response == ResponseFlags::None {
            let intercepted = intercepted.take();
            send_one_way(orb, object, request, deadline, &planned, intercepted);
            return Ok(None);
        }
        let (done, result) = oneshot::channel();
        let running = planned.running();
        let inner = Arc::clone(orb);
        let run = async move {
            let outcome = run_at(&inner, &object, request, deadline, running).await;
            drop(object);
            // The caller may be gone.
            let _ = done.send(outcome);
        };
        if planned.runs_here() {
            begin_here(orb, &planned, run);
        } else if let Some(pool) = &planned.pool
            && let Err(rejected) = submit(pool.workers(), planned.lane, deadline, octets, run)
        {
            let refused = refusal(orb, &rejected, planned.lane.0);
            return Ok(Some(receipt.system_exception(&refused)));
        }
        result.await.map(Some).map_err(|_| runtime_gone())
    }
}

/// Runs a call at its priority, or answers one that is late.
async fn run_at(
    orb: &OrbInner,
    object: &ActiveObject,
    request: Request,
    deadline: Option<Instant>,
    running: Running,
) -> Outcome {
    let receipt = request.receipt();
    if deadline::is_late(deadline) {
        return deadline::shed(orb, &receipt);
    }
    let settings = &orb.settings().real_time;
    let upcall = upcall(orb, object, request, receipt, Caller::Collocated);
    at_priority(settings, running, upcall).await
}

/// The place where a call runs.
fn plan(orb: &OrbInner, object: &ActiveObject) -> Result<Planned, SystemException> {
    let adapter = object.adapter().ok_or_else(|| Missing::Adapter.raise())?;
    let scheduled = Scheduled::of(&adapter).ok_or_else(|| Missing::Adapter.raise())?;
    let settings = &orb.settings().real_time;
    let propagated = match scheduled.is_client_propagated() {
        true => priority_of_call(settings, PriorityModel::ClientPropagated)?,
        false => None,
    };
    scheduled.plan_at(settings, object, propagated)
}

/// Polls a call once, here, at its native priority; one that is not ready then goes on as a task of the runtime that the
/// caller is in, whatever becomes of the caller.
fn begin_here(
    orb: &Arc<OrbInner>,
    planned: &Planned,
    run: impl Future<Output = ()> + Send + 'static,
) {
    let mut run = Box::pin(run);
    let _outside = current::leave();
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

/// Sends a one-way call to its lane, or, without a pool, to a task.
fn send_one_way(
    orb: &Arc<OrbInner>,
    object: Arc<ActiveObject>,
    request: Request,
    deadline: Option<Instant>,
    planned: &Planned,
    intercepted: Intercepted,
) {
    let (running, blocks) = (planned.running(), object.blocks());
    let octets = request.octets();
    let (inner, token) = (Arc::clone(orb), orb.task());
    let run = async move {
        let outcome = run_at(&inner, &object, request, deadline, running).await;
        reply_contexts(intercepted, &outcome);
        drop(token);
    };
    match &planned.pool {
        Some(pool) => {
            if let Err(rejected) = submit(pool.workers(), planned.lane, deadline, octets, run) {
                let refused = refusal(orb, &rejected, planned.lane.0);
                tracing::debug!(%refused, "one-way call dropped");
            }
        }
        None if blocks => {
            let home = orb.lane().handle().clone();
            drop(
                orb.lane()
                    .handle()
                    .spawn_blocking(move || home.block_on(run)),
            );
        }
        None => orb.track(run),
    }
}
