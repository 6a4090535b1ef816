//! Dispatching an admitted request to its servant: where the upcall runs, and what ends it.
//!
//! [`ExecutionSite::of`] decides where an upcall runs, of whichever caller: **here**, where its request was read or its
//! caller waits, and goes on as a task if it awaits; or **submitted** whole to a worker pool (of the lane, or of a POA with
//! real-time policies), a thread that may block, or a task. Each ends with `send_reply` of the interceptor, and the
//! reply.

use super::server_points::{Intercepted, Submitted, receive_request, send_prioritised, send_reply};
use super::upcall::{Caller, begin, beside_others, rest_of, to_end_on_thread, upcall};
use super::{Connection, Pending, client_of, deadline, leave_abandoned};
use crate::orb::OrbInner;
use crate::real_time::{Planned, Running, Scheduled, at_priority};
use std::sync::Arc;
use std::time::Instant;
use zorb_cdr::Gather;
use zorb_connection::Counter;
use zorb_executor::{Dispatch, Priority, RejectReason, Rejected, Submission, WorkerPool};
use zorb_giop::{
    BIND_PRIORITY_BAND, CompletionStatus, Fault, PriorityBand, RealTimeFault, SystemException,
};
use zorb_poa::{ActiveObject, Missing, Outcome, Receipt, ServerRequest};
use zorb_shares::Client;

/// Dispatches an admitted request to its servant.
#[inline]
pub(super) fn dispatch(
    connection: &Connection,
    object: Arc<ActiveObject>,
    request: &mut Option<ServerRequest>,
    receipt: &Receipt,
    pending: Option<Pending>,
) {
    let orb = connection.owner();
    let intercepted = match receive_request(orb.interceptor(), request.as_ref()) {
        Ok(intercepted) => intercepted,
        Err(exception) => {
            let outcome = receipt.system_exception(&exception);
            return end(connection, pending, outcome, receipt);
        }
    };
    // Where it runs at the latest: its plan, of an object with real-time policies, is made when it is submitted.
    let runs_here = object.priority().is_none()
        && ExecutionSite::of(orb, &object, None, Priority::default(), Origin::Reader).is_none();
    if !runs_here {
        return submit_upcall(connection, object, request, receipt, pending, intercepted);
    }
    let octets = request.as_ref().map_or(0, ServerRequest::octets);
    let mut outcome = None;
    let caller = Caller::Connection(connection);
    let waits = beside_others(orb, octets, || {
        begin(orb, &object, request, &mut outcome, receipt, caller)
    });
    if let Some(upcall) = waits {
        // The connection goes on reading meanwhile.
        let pending =
            pending.unwrap_or_else(|| Pending::new(connection, receipt.request_id, octets));
        let receipt = *receipt;
        orb.track(async move {
            let outcome = rest_of(&pending, &object, upcall, receipt).await;
            let outcome = send_reply(intercepted, outcome);
            finish(pending, outcome, &receipt);
        });
        return;
    }
    let outcome = outcome.unwrap_or(Outcome::Silent);
    let outcome = send_reply(intercepted, outcome);
    end(connection, pending, outcome, receipt);
}

/// Submits the upcall of a request to the site where it runs from its beginning to its end.
#[inline(never)]
fn submit_upcall(
    connection: &Connection,
    object: Arc<ActiveObject>,
    request: &mut Option<ServerRequest>,
    receipt: &Receipt,
    pending: Option<Pending>,
    intercepted: Intercepted,
) {
    let orb = connection.owner();
    let Some(request) = request.take() else {
        return;
    };
    let mut planned = match plan(connection, &object, &request) {
        Ok(Planning::Ordinary) => None,
        Ok(Planning::Scheduled(planned)) => Some(planned),
        Ok(Planning::BandBound) => {
            let outcome = send_reply(intercepted, receipt.reply(&()));
            return end(connection, pending, outcome, receipt);
        }
        Err(exception) => {
            let outcome = send_reply(intercepted, receipt.system_exception(&exception));
            return end(connection, pending, outcome, receipt);
        }
    };
    let (octets, receipt) = (request.octets(), *receipt);
    let pending = pending.unwrap_or_else(|| Pending::new(connection, receipt.request_id, octets));
    let execution = Execution {
        deadline: deadline::of(&request),
        running: planned.as_ref().map(Planned::running),
    };
    let echo = planned.as_mut().and_then(|planned| planned.echo.take());
    let priority =
        (intercepted.as_ref()).map_or_else(Priority::default, |request| request.priority());
    let site = ExecutionSite::of(orb, &object, planned.as_ref(), priority, Origin::Reader)
        .unwrap_or(ExecutionSite::Task);
    let client = client_of(connection, &receipt);
    let of_job = client.clone();
    let submitted = Submitted::new(intercepted);
    let intercepted = submitted.clone();
    let job = async move {
        // Dropped first with a job that is rejected: the request may send an acknowledgement, for which the connection has to
        // be open.
        let request = request;
        if of_job.is_gone() {
            return leave_abandoned(pending, &of_job, &receipt);
        }
        let (orb, caller) = (pending.owner(), Caller::Pending(&pending));
        let outcome = execution.run(orb, &object, request, caller).await;
        // Its id is free from now on, if it has been deactivated.
        drop(object);
        let outcome = send_prioritised(intercepted.take(), outcome, echo);
        finish(pending, outcome, &receipt);
    };
    // The job of a rejected request is dropped after the reply, as a connection waits for its pending requests when it ends.
    if let Err(rejected) = site.submit(orb, execution.deadline, octets, Some(client), job) {
        let refused = receipt.system_exception(&refusal(orb, &rejected, site.priority()));
        connection.queue_reply(into_reply(send_reply(submitted.take(), refused)));
    }
}

/// The execution of a request that does not run where it was read.
#[derive(Clone, Copy)]
pub(crate) struct Execution {
    /// The client's deadline.
    pub(crate) deadline: Option<Instant>,
    /// The priority, of an object whose POA has real-time policies.
    pub(crate) running: Option<Running>,
}

impl Execution {
    /// Executes a request, or answers one that is late.
    pub(crate) async fn run(
        self,
        orb: &OrbInner,
        object: &ActiveObject,
        request: ServerRequest,
        caller: Caller<'_>,
    ) -> Outcome {
        let receipt = request.receipt();
        if deadline::is_late(self.deadline) {
            return deadline::refuse_late(orb, &receipt);
        }
        let upcall = upcall(orb, object, request, receipt, caller);
        match self.running {
            None => upcall.await,
            Some(running) => at_priority(&orb.settings().real_time, running, upcall).await,
        }
    }
}

/// Who has a call that is about to be dispatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The reader of its connection.
    Reader,
    /// A caller of the same ORB, which waits for the outcome.
    Caller,
    /// None any more: a one-way call of the same ORB.
    OneWay,
}

/// The site where an upcall runs, if that is not here: where its request was read, or its caller waits.
#[derive(Clone, Copy)]
pub(crate) enum ExecutionSite<'a> {
    /// A task of the lane's runtime.
    Task,
    /// A thread that may block.
    Thread,
    /// The threads of a worker pool that serve this priority.
    Pool(&'a WorkerPool, Priority),
}

impl<'a> ExecutionSite<'a> {
    /// The site for a call: as `planned` if the object's POA has real-time policies, else at this priority. `None`: the
    /// upcall runs here.
    #[inline]
    pub(crate) fn of(
        orb: &'a OrbInner,
        object: &ActiveObject,
        planned: Option<&'a Planned>,
        priority: Priority,
        origin: Origin,
    ) -> Option<Self> {
        // Where each connection has a thread, a reader may block.
        let threads = orb.settings().threads;
        if let Some(planned) = planned {
            return Self::planned(orb, object, planned, origin);
        }
        match (origin, orb.lane().dispatch()) {
            // It waits, so that nothing is won by another thread; in a full pool it would wait for itself.
            (Origin::Caller, _) => None,
            (_, Dispatch::Pool(pool)) if threads || !object.blocks() => {
                Some(Self::Pool(pool, priority))
            }
            (Origin::Reader, _) if threads || !object.blocks() => None,
            (Origin::OneWay, _) if !threads && !object.blocks() => Some(Self::Task),
            (Origin::Reader | Origin::OneWay, _) => Some(Self::Thread),
        }
    }

    #[cold]
    fn planned(
        orb: &'a OrbInner,
        object: &ActiveObject,
        planned: &'a Planned,
        origin: Origin,
    ) -> Option<Self> {
        if origin == Origin::Caller && planned.runs_here() {
            return None;
        }
        Some(match (&planned.pool, orb.lane().dispatch()) {
            (Some(pool), _) => Self::Pool(pool.workers(), planned.lane),
            (None, Dispatch::Pool(pool)) => Self::Pool(pool, planned.lane),
            (None, _) if orb.settings().threads || object.blocks() => Self::Thread,
            (None, _) => Self::Task,
        })
    }

    fn run_on_thread(orb: &Arc<OrbInner>, job: impl Future<Output = ()> + Send + 'static) {
        let token = orb.task();
        drop(orb.lane().handle().spawn_blocking(move || {
            to_end_on_thread(job);
            // A shutdown waits for it.
            drop(token);
        }));
    }

    /// The CORBA priority of the lane of a pool.
    pub(crate) fn priority(self) -> i16 {
        match self {
            Self::Pool(_, lane) => lane.0,
            Self::Task | Self::Thread => Priority::default().0,
        }
    }

    /// Submits the job of a request of so many octets, of a client unless it comes from this process.
    ///
    /// # Errors
    /// The pool does not take it. The job is dropped with the error.
    pub(crate) fn submit(
        self,
        orb: &Arc<OrbInner>,
        deadline: Option<Instant>,
        octets: usize,
        client: Option<Client>,
        job: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Rejected> {
        match self {
            Self::Task => orb.track(job),
            Self::Thread => ExecutionSite::run_on_thread(orb, job),
            Self::Pool(workers, lane) => {
                return workers.submit(Submission {
                    deadline,
                    octets,
                    client,
                    ..Submission::new(lane, workers.job(job))
                });
            }
        }
        Ok(())
    }
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

/// The plan of a request.
enum Planning {
    /// Its POA has no real-time policies.
    Ordinary,
    /// Its execution site and its priority.
    Scheduled(Planned),
    /// It has bound its connection to a band of priorities, and is done.
    BandBound,
}

/// Plans a request by the policies of its POA.
fn plan(
    connection: &Connection,
    object: &ActiveObject,
    request: &ServerRequest,
) -> Result<Planning, SystemException> {
    if object.priority().is_none() {
        return Ok(Planning::Ordinary);
    }
    let adapter = object.adapter().ok_or_else(|| Missing::Adapter.raise())?;
    let scheduled = Scheduled::of(&adapter).ok_or_else(|| Missing::Adapter.raise())?;
    let contexts = request.service_contexts();
    if request.operation() == BIND_PRIORITY_BAND.as_bytes() {
        let band = scheduled.bind_band(contexts.as_ref())?;
        connection.bind_band(band.low, band.high);
        return Ok(Planning::BandBound);
    }
    let settings = &connection.owner().settings().real_time;
    let band = (connection.band()).map(|(low, high)| PriorityBand { low, high });
    scheduled
        .plan(settings, object, contexts.as_ref(), band)
        .map(Planning::Scheduled)
}

/// Replies with the outcome of an upcall that has ended where its request was read.
#[inline]
fn end(connection: &Connection, pending: Option<Pending>, outcome: Outcome, receipt: &Receipt) {
    match pending {
        None => connection.queue_reply(into_reply(outcome)),
        Some(pending) => finish(pending, outcome, receipt),
    }
}

pub(super) fn into_reply(outcome: Outcome) -> Option<Gather> {
    match outcome {
        Outcome::Reply(reply) => Some(reply),
        Outcome::Silent => None,
    }
}

/// Replies to a pending request with the outcome of its upcall.
fn finish(pending: Pending, outcome: Outcome, receipt: &Receipt) {
    pending.finish(into_reply(outcome), |octets| {
        // The servant has done its work.
        let unread = Fault::UnreadReplies { octets };
        into_reply(receipt.system_exception(&unread.raise(CompletionStatus::Yes)))
    });
}
