//! Dispatching an admitted request to its servant: where the upcall runs, and what ends it.
//!
//! [`ExecutionSite::of`] decides where an upcall runs, of whichever caller: **here**, where its request was read or its
//! caller waits, and goes on as a task if it awaits; or **submitted** whole to a worker pool (of the lane, or of a POA with
//! real-time policies), a thread that may block, or a task.
//!
//! Of calls within the ORB, a two-way call to an object whose POA has no real-time policies is begun by its caller. A one-way
//! call runs where a request from elsewhere would, never on its caller's thread, and begins when those before it have. To
//! objects of POAs with real-time policies, the decisions in their order:
//!
//! 1. The POA has no thread pool: the caller runs the upcall.
//! 2. The caller is an upcall in the same pool, and in the same lane if there are lanes: it runs the upcall itself, since a pool
//!    whose threads all wait for calls to it would never make progress. Without lanes its thread has the native priority of the
//!    call meanwhile.
//! 3. Else the call goes through the queue of the object's lane, whose threads run it; the caller waits.
//!
//! An upcall of an adapter with MAIN_THREAD_MODEL is submitted to the application's [`MainLoop`], if it has one, unless the caller is
//! in its thread.
//!
//! A deadline orders the queue, and a call that is late is not made. One-way calls always take the queue.

use super::attend::{Attention, LocalUpcall};
use super::deadline;
use super::origin::{Connection, Origin, Served};
use super::upcall::{begin, beside_others, to_end_in_lane, to_end_on_thread, upcall};
use crate::interceptors::Interceptors;
use crate::observe;
use crate::orb::OrbInner;
use crate::policy::task_level;
use crate::real_time::{Planned, Running, Scheduled, at_priority, priority_of_call};
use core::future::poll_fn;
use core::pin::pin;
use core::task::{Context, Waker};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;
use zorb_cdr::Gather;
use zorb_connection::Counter;
use zorb_executor::{Dispatch, MainLoop, Priority, RejectReason, Rejected, Submission, WorkerPool};
use zorb_giop::{
    BIND_PRIORITY_BAND, CompletionStatus, Fault, PriorityBand, PriorityModel, RealTimeFault,
    ServiceContext, SystemException, add_contexts,
};
use zorb_poa::{
    ActiveObject, Missing, Outcome, ServerRequest, SharedRequest, Started, UpcallChain,
};
use zorb_shares::Client;

/// Dispatches an admitted request to its servant. A typed call whose types the servant does not know comes back, and nothing has
/// run.
#[inline]
pub(crate) fn dispatch(
    orb: &Arc<OrbInner>,
    origin: Origin<'_>,
    object: Arc<ActiveObject>,
    mut request: ServerRequest,
) -> Served {
    // Where it runs at the latest: its plan, of an object with real-time policies, is made when it is submitted.
    if object.priority().is_some() || ExecutionSite::of(orb, &object, None, &origin).is_some() {
        return submit(orb, origin, object, request);
    }
    if deadline::is_late(request.begin_by()) {
        observe::refused(orb);
        request.set_system_exception(&deadline::late(orb));
        return origin.end(request);
    }
    let (receipt, number, octets) = (request.receipt(), request.number(), request.octets());
    let deadline = request.deadline();
    let observed = observe::is_on(orb).then(|| observe::upcall(orb, &object, &request));
    let start = || {
        observe::within(observed.as_ref(), || {
            begin(orb, &object, request, origin.caller())
        })
    };
    if origin.is_caller() | object.drops_cancelled() {
        // That of another upcall, which somebody else has polled.
        drop(SharedRequest::take_waiting());
    }
    let started = match origin.is_caller() {
        false => beside_others(orb, octets, start),
        true => {
            let _outside = task_level::leave();
            start()
        }
    };
    match started {
        Started::Ended(request) => {
            observe::ended(observed, &request);
            origin.end(request)
        }
        Started::OtherTypes(request) => {
            observe::ended(observed, &request);
            Served::OtherTypes(object, request)
        }
        Started::Pending(upcall) => {
            // The connection goes on reading meanwhile; a caller of this ORB may go.
            let mut sink = origin.into_sink(&receipt, octets);
            drop(sink.turn_to_begin(object.orders_one_ways()));
            let local = sink.is_local().then(|| LocalUpcall::count(orb));
            let (inner, chain) = (Arc::clone(orb), UpcallChain::current());
            let shared = SharedRequest::take_waiting();
            let attention = Attention::of(&object, deadline, &receipt, shared);
            let main = main_loop_of(orb, &object).cloned();
            let rest = async move {
                let ended = {
                    let (caller, waiter) = sink.split(&receipt);
                    let mut rest = pin!(to_end_in_lane(
                        &inner, &object, upcall, number, receipt, caller
                    ));
                    let rest = pin!(poll_fn(|cx| {
                        let poll = || chain.enter(|| rest.as_mut().poll(cx));
                        observe::within(observed.as_ref(), poll)
                    }));
                    attention.attend(&inner, rest, waiter).await
                };
                // Its id is free from now on, if it has been deactivated.
                drop(object);
                match ended {
                    Ok(request) => {
                        observe::ended(observed, &request);
                        drop(sink.end(request));
                    }
                    Err(reason) => sink.end_dropped(receipt, reason),
                }
                drop(local);
            };
            match main {
                None => orb.track(rest),
                Some(main) => run_in(&main, orb, rest),
            }
            Served::Gone
        }
    }
}

/// Submits the upcall of a request to the site where it runs from its beginning to its end.
#[inline(never)]
fn submit(
    orb: &Arc<OrbInner>,
    origin: Origin<'_>,
    object: Arc<ActiveObject>,
    mut request: ServerRequest,
) -> Served {
    let planned = match plan(orb, &origin, &object, &request) {
        Ok(Planning::Ordinary) => None,
        Ok(Planning::Scheduled(planned)) => Some(planned),
        Ok(Planning::BandBound) => {
            request.set_result(&());
            return origin.end(request);
        }
        Err(exception) => {
            request.set_system_exception(&exception);
            return origin.end(request);
        }
    };
    let site = ExecutionSite::of(orb, &object, planned.as_ref(), &origin);
    let waited = match &origin {
        Origin::Sink(_) => origin.connection(),
        Origin::Reader(_) | Origin::Caller(_) => None,
    };
    let (receipt, octets) = (request.receipt(), request.octets());
    let deadline = request.deadline();
    let execution = Execution {
        begin_by: request.begin_by(),
        running: planned.as_ref().map(Planned::running),
    };
    let observed = observe::is_on(orb).then(|| observe::upcall(orb, &object, &request));
    let echo = planned.as_ref().and_then(|planned| planned.echo.clone());
    let mut sink = origin.into_sink(&receipt, octets);
    let client = sink.client(&receipt);
    let of_job = client.clone();
    let inner = Arc::clone(orb);
    // A shutdown waits for it, as it does for the connections of the others.
    let token = (client.is_none()).then(|| (LocalUpcall::count(orb), orb.task()));
    let job = async move {
        // Dropped first with a job that is rejected: the request may send an acknowledgement, for which the connection has to
        // be open.
        let request = request;
        let client = of_job.as_ref();
        if client.is_some_and(Client::is_gone) || sink.is_cancelled() {
            return sink.leave_abandoned(&inner, client, &receipt);
        }
        if inner.upcalls_end().has_come() {
            return sink.leave_unbegun(receipt);
        }
        let mut turn = sink.turn_to_begin(object.orders_one_ways());
        let ended = {
            let attention = Attention::of(&object, deadline, &receipt, None);
            let (caller, waiter) = sink.split(&receipt);
            let mut run = pin!(execution.run(&inner, &object, request, caller));
            let run = pin!(poll_fn(|cx| {
                let polled = observe::within(observed.as_ref(), || run.as_mut().poll(cx));
                drop(turn.take());
                polled
            }));
            attention.attend(&inner, run, waiter).await
        };
        // Its id is free from now on, if it has been deactivated.
        drop(object);
        match ended {
            Ok(mut request) => {
                observe::ended(observed, &request);
                if let Some(echo) = echo {
                    request.map_outcome(|outcome| with_context(outcome, echo));
                }
                sink.end(request);
            }
            Err(reason) => sink.end_dropped(receipt, reason),
        }
        drop(token);
    };
    let Some(site) = site else {
        match planned {
            Some(planned) => begin_at_priority(orb, &planned, job),
            None => orb.track(job),
        }
        return Served::Gone;
    };
    // The job of a rejected request is dropped before the reply is sent, and its place among the pending ones is free.
    match site.submit(orb, execution.begin_by, octets, client, job) {
        Ok(()) => Served::Gone,
        Err(rejected) => {
            let refused = receipt.system_exception(&refusal(orb, &rejected, site.priority()));
            match waited {
                Some(connection) => {
                    connection.send_reply(into_reply(refused));
                    Served::Gone
                }
                None => Served::Ended(ServerRequest::answered(receipt, refused)),
            }
        }
    }
}

/// The execution of a request that does not run where it was read.
#[derive(Clone, Copy)]
struct Execution {
    /// The time by which it has to begin.
    begin_by: Option<Instant>,
    /// The priority, of an object whose POA has real-time policies.
    running: Option<Running>,
}

impl Execution {
    /// Executes a request, or answers one that is late.
    async fn run(
        self,
        orb: &Arc<OrbInner>,
        object: &Arc<ActiveObject>,
        mut request: ServerRequest,
        caller: super::upcall::Caller<'_>,
    ) -> ServerRequest {
        if deadline::is_late(self.begin_by) {
            request.set_system_exception(&deadline::late(orb));
            return request;
        }
        let upcall = upcall(orb, object, request, caller);
        match self.running {
            None => upcall.await,
            Some(running) => at_priority(&orb.settings().real_time, running, upcall).await,
        }
    }
}

/// Polls a call once, here, at its native priority; one that is not ready then goes on as a task of the runtime that
/// the caller is in, whatever becomes of the caller.
#[cold]
fn begin_at_priority(
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

/// The loop of the application whose thread alone runs upcalls of this object.
#[inline]
pub(crate) fn main_loop_of<'a>(orb: &'a OrbInner, object: &ActiveObject) -> Option<&'a MainLoop> {
    let main = orb.settings().main_loop.as_ref()?;
    object.is_in_main_thread().then_some(main)
}

fn run_in(main: &MainLoop, orb: &OrbInner, job: impl Future<Output = ()> + Send + 'static) {
    // A shutdown waits for it.
    let token = orb.task();
    main.spawn(orb.lane().handle().clone(), async move {
        job.await;
        drop(token);
    });
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
    /// The thread of the application's event loop.
    Main(&'a MainLoop),
}

impl<'a> ExecutionSite<'a> {
    /// The site for a call: as `planned` if the object's POA has real-time policies. `None`: the upcall runs here.
    #[inline]
    pub(crate) fn of(
        orb: &'a OrbInner,
        object: &ActiveObject,
        planned: Option<&'a Planned>,
        origin: &Origin<'_>,
    ) -> Option<Self> {
        if let Some(main) = main_loop_of(orb, object) {
            let is_here = origin.is_caller() && main.is_here();
            return (!is_here).then_some(Self::Main(main));
        }
        // Where each connection has a thread, a reader may block.
        let threads = orb.settings().threads;
        if let Some(planned) = planned {
            return Self::planned(orb, object, planned, origin);
        }
        if origin.is_caller() {
            // It waits, so that nothing is won by another thread; in a full pool it would wait for itself.
            return None;
        }
        let blocks = object.blocks() || orb.interceptors().is_some_and(Interceptors::block);
        match orb.lane().dispatch() {
            Dispatch::Pool(pool) if threads || !blocks => {
                Some(Self::Pool(pool, Priority::default()))
            }
            // A one-way call of this ORB has a task, which no caller waits for: it may not block either.
            _ if blocks && !threads || threads && origin.is_one_way_here() => Some(Self::Thread),
            _ => None,
        }
    }

    #[cold]
    fn planned(
        orb: &'a OrbInner,
        object: &ActiveObject,
        planned: &'a Planned,
        origin: &Origin<'_>,
    ) -> Option<Self> {
        if origin.is_caller() && planned.runs_here() {
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
            Self::Task | Self::Thread | Self::Main(_) => Priority::default().0,
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
            Self::Main(main) => run_in(main, orb, job),
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
fn refusal(orb: &OrbInner, rejected: &Rejected, priority: i16) -> SystemException {
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
    orb: &OrbInner,
    origin: &Origin<'_>,
    object: &ActiveObject,
    request: &ServerRequest,
) -> Result<Planning, SystemException> {
    if object.priority().is_none() {
        return Ok(Planning::Ordinary);
    }
    let adapter = object.adapter().ok_or_else(|| Missing::Adapter.raise())?;
    let scheduled = Scheduled::of(&adapter).ok_or_else(|| Missing::Adapter.raise())?;
    let settings = &orb.settings().real_time;
    let planned = match origin.connection() {
        Some(connection) if request.operation() == BIND_PRIORITY_BAND.as_bytes() => {
            return bind_band(scheduled, &connection, request);
        }
        Some(connection) => {
            let contexts = request.service_contexts();
            let band = (connection.band()).map(|(low, high)| PriorityBand { low, high });
            scheduled.plan(settings, object, contexts.as_ref(), band)?
        }
        None => {
            let propagated = match scheduled.is_client_propagated() {
                true => priority_of_call(settings, PriorityModel::ClientPropagated)?,
                false => None,
            };
            scheduled.plan_at(settings, object, propagated)?
        }
    };
    Ok(Planning::Scheduled(planned))
}

fn bind_band(
    scheduled: &Scheduled,
    connection: &Connection,
    request: &ServerRequest,
) -> Result<Planning, SystemException> {
    let band = scheduled.bind_band(request.service_contexts().as_ref())?;
    connection.bind_band(band.low, band.high);
    Ok(Planning::BandBound)
}

/// An outcome whose reply, if it is one, has this context.
fn with_context(outcome: Outcome, context: ServiceContext) -> Outcome {
    match outcome {
        Outcome::Reply(reply) => match add_contexts(reply, &[context]) {
            Ok(reply) => Outcome::Reply(reply),
            Err(error) => {
                tracing::error!(%error, "the service context of a reply cannot be sent, nor the reply");
                Outcome::Silent
            }
        },
        outcome => outcome,
    }
}

pub(super) fn into_reply(outcome: Outcome) -> Option<Gather> {
    match outcome {
        Outcome::Reply(reply) => Some(reply),
        Outcome::Silent => None,
    }
}
