//! Running what is the application's: servants, forwards, key resolvers. For connections that are served
//! and for collocated calls alike.

use super::attend::LocalUpcall;
use super::intercepted::begin_intercepted;
use crate::current;
use crate::orb::OrbInner;
use crate::profile::describe_key;
use core::any::Any;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};
use zorb_connection::{Counter, Peer, PendingRequest, ServerConnection};
use zorb_executor::{Dispatch, WorkerHolder};
use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_poa::{ActiveObject, Receipt, ServerRequest, Started, Upcall, take_panicked_operation};
use zorb_shares::HostKey;
use zorb_transport::Address;

/// The caller of an upcall, whose address the log of a panic has.
#[derive(Clone, Copy)]
pub(crate) enum Caller<'a> {
    /// A call within this ORB.
    Collocated,
    /// The client of the connection that the request is read from.
    Connection(&'a ServerConnection<OrbInner>),
    /// The client of an intercepted request.
    Peer(&'a Peer),
    /// The client of a pending request. The connection may close and be freed while the upcall runs, and the address is then
    /// unknown.
    Pending(&'a PendingRequest<OrbInner>),
}

impl Caller<'_> {
    /// The address; `None` for a collocated call, and for a client that is gone.
    fn address(self) -> Option<Address> {
        Some(match self {
            Self::Collocated => return None,
            Self::Peer(peer) => peer.address.clone(),
            Self::Connection(connection) => connection.peer().address.clone(),
            Self::Pending(pending) => pending.peer()?.address.clone(),
        })
    }
}

/// Runs a forward or a key resolver as an upcall of this ORB. Catches a panic, logs it with the object key that `key`
/// describes, and raises UNKNOWN.
#[inline]
pub(crate) fn enter<T>(
    orb: &OrbInner,
    key: impl FnOnce() -> Option<String>,
    run: impl FnOnce() -> T,
) -> Result<T, SystemException> {
    let _current = current::enter(orb);
    let _held = orb.lane().hold();
    caught(run).map_err(|panic| panic.outside_servants(orb, key()))
}

/// Runs code of a servant. Catches a panic, logs it, and raises UNKNOWN; reports a servant that holds its worker for long: while
/// it does, with the operation if its number is given.
#[inline]
pub(crate) fn enter_object<T>(
    orb: &OrbInner,
    object: &ActiveObject,
    caller: Caller<'_>,
    operation: Option<u32>,
    run: impl FnOnce() -> T,
) -> Result<T, SystemException> {
    let run = || object.enter(run);
    let failed = |panic: Panic| panic.in_servant(orb, object, caller);
    if object.holds_no_worker() {
        return caught(run).map_err(failed);
    }
    let held = orb.lane().hold_as(holder(object, operation));
    let done = caught(run).map_err(failed);
    if held.is_long() {
        orb.report_blocking(object, operation);
    }
    done
}

/// An upcall that is about to run, for the report while it runs.
#[inline]
fn holder(object: &ActiveObject, operation: Option<u32>) -> WorkerHolder {
    WorkerHolder {
        object: address(object),
        operation: operation.unwrap_or(WorkerHolder::UNKNOWN),
    }
}

/// The address of an object, which is compared, never followed.
#[inline]
pub(super) fn address(object: &ActiveObject) -> usize {
    core::ptr::from_ref(object).addr()
}

/// The key of an object, as log lines have it.
pub(super) fn describe(object: &ActiveObject) -> Option<String> {
    let key = object.adapter()?.key_of(object.id().as_ref()).ok()?;
    Some(describe_key(&key))
}

/// Runs code that may panic.
#[inline]
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(run)).map_err(Panic)
}

/// A caught panic.
pub(crate) struct Panic(Box<dyn Any + Send>);

impl Panic {
    /// Counts a panic of a servant, and logs it with the operation that it was in, unless many have been logged.
    #[cold]
    pub(crate) fn in_servant(
        self,
        orb: &OrbInner,
        object: &ActiveObject,
        caller: Caller<'_>,
    ) -> SystemException {
        // Taken in any case, so that no later panic is reported with it.
        let operation = take_panicked_operation();
        let Some(omitted) = orb.connection_settings().counters.report(Counter::Panics) else {
            return Self::exception();
        };
        tracing::error!(
            operation,
            object_key = describe(object),
            peer = caller.address().map(display),
            panic = self.text(),
            omitted,
            "a servant panicked"
        );
        Self::exception()
    }

    /// Counts and logs a panic of other code of the application, which runs before the operation of a request is known.
    #[cold]
    fn outside_servants(self, orb: &OrbInner, object_key: Option<String>) -> SystemException {
        if let Some(omitted) = orb.connection_settings().counters.report(Counter::Panics) {
            tracing::error!(
                object_key,
                panic = self.text(),
                omitted,
                "a forward, key resolver or servant manager panicked"
            );
        }
        Self::exception()
    }

    /// Counts and logs a panic of an interceptor.
    #[cold]
    pub(crate) fn in_interceptor(self, orb: &OrbInner) {
        if let Some(omitted) = orb.connection_settings().counters.report(Counter::Panics) {
            tracing::error!(panic = self.text(), omitted, "an interceptor panicked");
        }
    }

    fn text(&self) -> &str {
        let text = self.0.downcast_ref::<&str>().copied();
        text.or_else(|| self.0.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("(no message)")
    }

    /// How far the servant got is not known.
    fn exception() -> SystemException {
        Fault::Panicked.raise(CompletionStatus::Maybe)
    }
}

/// Begins the upcall of a request, where the request was read or its caller waits.
#[inline]
pub(super) fn begin(
    orb: &Arc<OrbInner>,
    object: &Arc<ActiveObject>,
    request: ServerRequest,
    caller: Caller<'_>,
) -> Started {
    if orb.interceptors().is_some() {
        return begin_intercepted(orb, object, request);
    }
    // Found with the object; a request that has waited has no number, and is reported without its operation.
    let (receipt, number) = (request.receipt(), request.number());
    enter_object(orb, object, caller, number, || object.start(request))
        .unwrap_or_else(|panic| Started::Ended(ServerRequest::panicked(receipt, &panic)))
}

/// Octets of a request beyond which decoding its arguments may take long: 20 ns for each any of 4 to 8 octets, 5 ms in all.
/// To hand over a worker's other tasks costs some 10 µs.
const LONG_TO_DECODE: usize = 2 << 20;

/// Runs a step of an upcall in a task of the lane. Lets other tasks of its worker go on meanwhile if the ORB's dispatch
/// promises it, or if the step may take long: arguments of so many `octets` are decoded.
#[inline]
pub(crate) fn beside_others<T>(orb: &OrbInner, octets: usize, step: impl FnOnce() -> T) -> T {
    let may_be_long =
        octets > LONG_TO_DECODE || matches!(orb.lane().dispatch(), Dispatch::BlockInPlace);
    match may_be_long && is_worker() {
        true => tokio::task::block_in_place(step),
        false => step(),
    }
}

/// Whether this thread has tasks that another one can take over.
#[cold]
fn is_worker() -> bool {
    let here = Handle::try_current();
    here.is_ok_and(|here| here.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// Has upcalls of servants that block, and that servant managers have found within a request, run on threads that may block.
pub(crate) fn off_reactor(orb: &Arc<OrbInner>) {
    if orb.settings().threads {
        // Every connection has a thread.
        return;
    }
    let this = Arc::downgrade(orb);
    orb.adapters().set_off_reactor(Box::new(move |upcall| {
        let Some(orb) = this.upgrade() else {
            return upcall;
        };
        let (lane, token) = (orb.lane().handle().clone(), orb.task());
        let upcall = async move {
            // The request that waits for this is pending, until it is dropped at the end of all upcalls.
            let _counted = LocalUpcall::count(&orb);
            orb.upcalls_end().before(pin!(upcall)).await
        };
        Box::pin(async move {
            let ended = lane.spawn_blocking(move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| to_end_on_thread(upcall)));
                // A shutdown waits for it.
                drop(token);
                outcome
            });
            match ended.await {
                Ok(Ok(Some(outcome))) => outcome,
                Ok(Err(panic)) => resume_unwind(panic),
                // The upcall or the runtime is going down, and what waits for this with it.
                Ok(Ok(None)) | Err(_) => core::future::pending().await,
            }
        })
    }));
}

/// Runs a future to its end on a thread of the runtime that may block. A servant that blocks does so within the first poll, which
/// is outside of the runtime's `block_on`: so it may itself block on futures.
pub(super) fn to_end_on_thread<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let first = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    match first {
        Poll::Ready(output) => output,
        Poll::Pending => Handle::current().block_on(future),
    }
}

/// Polls an upcall that has begun.
fn poll(
    orb: &OrbInner,
    object: &ActiveObject,
    (upcall, number): (&mut Upcall, Option<u32>),
    cx: &mut Context<'_>,
    receipt: Receipt,
    caller: Caller<'_>,
) -> Poll<ServerRequest> {
    enter_object(orb, object, caller, number, || Pin::new(upcall).poll(cx))
        .unwrap_or_else(|panic| Poll::Ready(ServerRequest::panicked(receipt, &panic)))
}

/// Polls an upcall that has begun to its end, in a task of the lane.
pub(super) async fn to_end_in_lane(
    orb: &OrbInner,
    object: &ActiveObject,
    mut upcall: Upcall,
    number: Option<u32>,
    receipt: Receipt,
    caller: Caller<'_>,
) -> ServerRequest {
    poll_fn(|cx| {
        beside_others(orb, 0, || {
            poll(orb, object, (&mut upcall, number), cx, receipt, caller)
        })
    })
    .await
}

/// Runs an upcall from its beginning to its end.
pub(super) async fn upcall(
    orb: &Arc<OrbInner>,
    object: &Arc<ActiveObject>,
    request: ServerRequest,
    caller: Caller<'_>,
) -> ServerRequest {
    let (receipt, number) = (request.receipt(), request.number());
    match begin(orb, object, request, caller) {
        Started::Ended(request) | Started::OtherTypes(request) => request,
        Started::Pending(mut upcall) => {
            poll_fn(|cx| poll(orb, object, (&mut upcall, number), cx, receipt, caller)).await
        }
    }
}

/// Waits while the object's manager holds requests, of which this one is of a client of `host`. The future keeps neither the object nor its servant.
///
/// # Errors
/// See [`ActiveObject::released`].
pub(crate) fn released(
    object: &ActiveObject,
    host: HostKey,
) -> impl Future<Output = Result<(), SystemException>> + Send + use<> {
    if object.manager().looks_forgotten() {
        tracing::warn!(
            "a request waits since its POA manager is HOLDING, which has not been activated yet: \
             poa.the_poa_manager().activate()"
        );
    }
    object.released(host)
}
