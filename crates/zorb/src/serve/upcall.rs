//! Running what is the application's: servants, forwards, key resolvers. For connections that are served
//! and for collocated calls alike.

use crate::current;
use crate::orb::OrbInner;
use core::any::Any;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};
use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_poa::{ActiveObject, Outcome, Receipt, Request, Upcall};

/// Runs what is the application's as an upcall of this ORB. A panic in it is caught here, and raised as UNKNOWN.
#[inline]
pub(crate) fn enter<T>(orb: &OrbInner, run: impl FnOnce() -> T) -> Result<T, SystemException> {
    let _current = current::enter(orb);
    let _held = orb.lane().hold();
    caught(run)
}

/// Runs what is a servant's. Reports one that holds its worker for long.
#[inline]
pub(crate) fn enter_object<T>(
    orb: &OrbInner,
    object: &ActiveObject,
    run: impl FnOnce() -> T,
) -> Result<T, SystemException> {
    let run = || object.enter(run);
    if object.holds_no_worker() {
        return caught(run);
    }
    let held = orb.lane().hold();
    let done = caught(run);
    if held.is_long() {
        orb.report_blocking(object);
    }
    done
}

/// Runs what may panic, and raises a panic as UNKNOWN.
#[inline]
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, SystemException> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(done) => Ok(done),
        Err(panic) => Err(panicked(&*panic)),
    }
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> SystemException {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no message)");
    tracing::error!(
        panic = message,
        "a servant, forward or key locator panicked"
    );
    // Inside the servant: how far it got is not known.
    Fault::Panicked.raise(CompletionStatus::Maybe)
}

/// Begins the upcall of a request and polls it once, without a waker, where the request was read. Its outcome is in
/// `outcome` then, unless the upcall has to be polled again.
#[inline]
pub(crate) fn begin(
    orb: &OrbInner,
    object: &ActiveObject,
    request: &mut Option<Request>,
    outcome: &mut Option<Outcome>,
    receipt: &Receipt,
) -> Option<Upcall> {
    let mut waits = None;
    let entered = enter_object(orb, object, || {
        let mut upcall = object.start(request, outcome);
        if outcome.is_some() {
            return;
        }
        if !upcall.has_been_polled()
            && let Poll::Ready(ready) =
                Pin::new(&mut upcall).poll(&mut Context::from_waker(Waker::noop()))
        {
            *outcome = Some(ready);
            return;
        }
        waits = Some(upcall);
    });
    if let Err(panic) = entered {
        *outcome = Some(receipt.system_exception(&panic));
        return None;
    }
    waits
}

/// Octets of a request beyond which decoding its arguments may take long: 20 ns for each any of 4 to 8 octets, 5 ms in all.
/// To hand over a worker's other tasks costs some 10 µs.
const LONG_TO_DECODE: usize = 2 << 20;

/// Begins an upcall, whose arguments are decoded then, and lets other tasks of a worker go on meanwhile if that may take long.
#[inline]
pub(super) fn beside_others<T>(octets: usize, begin: impl FnOnce() -> T) -> T {
    match octets > LONG_TO_DECODE && is_worker() {
        true => tokio::task::block_in_place(begin),
        false => begin(),
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
        Box::pin(async move {
            let ended = lane.spawn_blocking(move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| Handle::current().block_on(upcall)));
                // A shutdown waits for it.
                drop(token);
                outcome
            });
            match ended.await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(panic)) => resume_unwind(panic),
                // The runtime is going down, and the connection with it.
                Err(_) => Outcome::Silent,
            }
        })
    }));
}

/// Polls an upcall that has begun.
pub(crate) fn poll(
    orb: &OrbInner,
    object: &ActiveObject,
    upcall: &mut Upcall,
    cx: &mut Context<'_>,
    receipt: &Receipt,
) -> Poll<Outcome> {
    enter_object(orb, object, || Pin::new(upcall).poll(cx))
        .unwrap_or_else(|panic| Poll::Ready(receipt.system_exception(&panic)))
}

/// Polls an upcall to its end.
pub(super) async fn to_end(
    orb: &OrbInner,
    object: &ActiveObject,
    mut upcall: Upcall,
    receipt: Receipt,
) -> Outcome {
    poll_fn(|cx| poll(orb, object, &mut upcall, cx, &receipt)).await
}

/// Runs an upcall from its beginning to its end.
pub(crate) async fn upcall(
    orb: &OrbInner,
    object: &ActiveObject,
    request: Request,
    receipt: Receipt,
) -> Outcome {
    let mut outcome = None;
    let waits = begin(orb, object, &mut Some(request), &mut outcome, &receipt);
    match waits {
        Some(upcall) => to_end(orb, object, upcall, receipt).await,
        None => outcome.unwrap_or(Outcome::Silent),
    }
}

/// Waits while the object's manager holds requests. The future keeps neither the object nor its servant.
///
/// # Errors
/// See [`ActiveObject::released`].
pub(crate) fn released(
    object: &ActiveObject,
) -> impl Future<Output = Result<(), SystemException>> + Send + use<> {
    if object.manager().looks_forgotten() {
        tracing::warn!(
            "a request waits since its POA manager is HOLDING, which has not been activated yet: \
             poa.the_poa_manager().activate()"
        );
    }
    object.released()
}
