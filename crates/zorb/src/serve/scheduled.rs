//! Requests to POAs with real-time policies: which priority they have, and which threads run them.

use super::upcall::upcall_of;
use super::{
    Connection, Intercepted, Pending, Submitted, deadline, end, finish, into_reply,
    send_prioritised, send_reply,
};
use crate::orb::OrbInner;
use crate::real_time::{Planned, Scheduled, at_priority};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;
use zorb_connection::Counter;
use zorb_executor::{Dispatch, Priority, RejectReason, Rejected, Submission, WorkerPool};
use zorb_giop::{
    BIND_PRIORITY_BAND, CompletionStatus, Fault, PriorityBand, RealTimeFault, SystemException,
};
use zorb_poa::{ActiveObject, Missing, Receipt, Request};

impl OrbInner {
    /// Dispatches an admitted request of such a POA.
    #[inline(never)]
    pub(super) fn dispatch_scheduled(
        connection: &Connection,
        object: Arc<ActiveObject>,
        request: &mut Option<Request>,
        receipt: &Receipt,
        pending: Option<Pending>,
        intercepted: Intercepted,
    ) {
        let orb = connection.owner();
        let Some(request) = request.take() else {
            return;
        };
        let planned = match plan(connection, &object, &request) {
            Ok(Some(planned)) => planned,
            Ok(None) => {
                let outcome = send_reply(intercepted, receipt.reply(&()));
                return end(connection, pending, outcome, receipt);
            }
            Err(exception) => {
                let outcome = receipt.system_exception(&exception);
                let outcome = send_reply(intercepted, outcome);
                return end(connection, pending, outcome, receipt);
            }
        };
        let (octets, deadline) = (request.octets(), deadline::of(&request));
        let pending =
            pending.unwrap_or_else(|| Pending::new(connection, receipt.request_id, octets));
        let submitted = Submitted::new(intercepted);
        let (receipt, blocks) = (*receipt, object.blocks());
        let (intercepted, running) = (submitted.clone(), planned.running());
        let Planned {
            lane, pool, echo, ..
        } = planned;
        let job = async move {
            let orb = Arc::clone(pending.owner());
            let settings = &orb.settings().real_time;
            let outcome = match deadline::is_late(deadline) {
                true => deadline::shed(&orb, &receipt),
                false => {
                    let upcall = upcall_of(&pending, &object, request, receipt);
                    at_priority(settings, running, upcall).await
                }
            };
            drop(object);
            let outcome = send_prioritised(intercepted.take(), outcome, echo);
            finish(pending, outcome, &receipt);
        };
        let workers = match (&pool, orb.lane().dispatch()) {
            (Some(pool), _) => pool.workers(),
            (None, Dispatch::Pool(pool)) => pool,
            (None, _) if blocks || orb.settings().threads => {
                let (home, token) = (orb.lane().handle().clone(), orb.task());
                drop(home.spawn_blocking(move || {
                    Handle::current().block_on(job);
                    drop(token);
                }));
                return;
            }
            (None, _) => return orb.track(job),
        };
        if let Err(rejected) = submit(workers, lane, deadline, octets, job) {
            let outcome = receipt.system_exception(&refusal(orb, &rejected, lane.0));
            let outcome = send_reply(submitted.take(), outcome);
            connection.queue_reply(into_reply(outcome));
        }
    }
}

/// Where a request runs, and at which priority. `None` for one that has done its work already: it binds its connection to a
/// band.
fn plan(
    connection: &Connection,
    object: &ActiveObject,
    request: &Request,
) -> Result<Option<Planned>, SystemException> {
    let adapter = object.adapter().ok_or_else(|| Missing::Adapter.raise())?;
    let scheduled = Scheduled::of(&adapter).ok_or_else(|| Missing::Adapter.raise())?;
    let contexts = request.service_contexts();
    if request.operation() == BIND_PRIORITY_BAND.as_bytes() {
        let band = scheduled.bind_band(contexts.as_ref())?;
        connection.bind_band(band.low, band.high);
        return Ok(None);
    }
    let settings = &connection.owner().settings().real_time;
    let band = (connection.band()).map(|(low, high)| PriorityBand { low, high });
    scheduled
        .plan(settings, object, contexts.as_ref(), band)
        .map(Some)
}

/// Hands a request of so many octets to the threads of a pool.
///
/// # Errors
/// The pool does not take it. The job is dropped with the error: the reply goes first, as a connection waits for its pending
/// requests when it ends.
pub(crate) fn submit(
    workers: &WorkerPool,
    lane: Priority,
    deadline: Option<Instant>,
    octets: usize,
    job: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Rejected> {
    workers.submit(Submission {
        deadline,
        octets,
        ..Submission::new(lane, workers.job(job))
    })
}

/// Why a pool does not take a request, as its client gets it.
pub(crate) fn refusal(orb: &OrbInner, rejected: &Rejected, priority: i16) -> SystemException {
    let fault = match rejected.reason() {
        RejectReason::NoLane => Fault::RealTime(RealTimeFault::NoLane(priority)),
        RejectReason::Unmappable => Fault::RealTime(RealTimeFault::Unmappable(priority)),
        _ => {
            orb.count(Counter::PoolQueueFull);
            Fault::Overload(rejected.to_string())
        }
    };
    fault.raise(CompletionStatus::No)
}
