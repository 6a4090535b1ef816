//! Running what is the application's: servants, forwards, locators. For connections that are served
//! and for calls within one ORB alike.

use crate::current;
use crate::orb::OrbInner;
use core::any::Any;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_poa::{ActiveObject, Now, Outcome, Receipt, Request, Upcall};

/// Runs what is the application's as an upcall of this ORB. A panic in it is caught here and told
/// as UNKNOWN.
#[inline]
pub(crate) fn enter<T>(orb: &OrbInner, run: impl FnOnce() -> T) -> Result<T, SystemException> {
    let _current = current::enter(orb);
    let _held = orb.lane().hold();
    caught(run)
}

/// Runs what may panic, which is told as UNKNOWN.
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
    // Inside the servant: nobody knows how far it got.
    Fault::Panicked.raise(CompletionStatus::Maybe)
}

/// Begins an upcall, of which nothing has run then but what a skeleton written by hand does.
pub(crate) fn begin(object: &ActiveObject, request: Request) -> Upcall {
    let receipt = request.receipt();
    caught(|| object.start(request))
        .unwrap_or_else(|panic| Upcall::ready(receipt.system_exception(&panic)))
}

/// What came of the first poll of an upcall.
pub(crate) enum Begun {
    Over(Outcome),
    /// It wants to be polled again.
    Waits(Upcall),
}

/// Begins the upcall of a request and polls it once, with nobody to wake, where the request was read. What it came to is
/// in `outcome` then, unless it wants to be polled again.
#[inline]
pub(crate) fn run_now(
    orb: &OrbInner,
    object: &ActiveObject,
    request: &mut Option<Request>,
    outcome: &mut Option<Outcome>,
    receipt: &Receipt,
) -> Option<Upcall> {
    let mut waits = None;
    let entered = enter(orb, || {
        let mut upcall = object.start_now(Now::new(request, outcome));
        if outcome.is_some() {
            debug_assert!(upcall.is_nothing(), "its outcome is elsewhere");
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

/// Begins an upcall with `start` and polls it once, with nobody to wake, where the request was read.
#[inline]
pub(crate) fn run_in_place(
    orb: &OrbInner,
    start: impl FnOnce() -> Upcall,
    receipt: &Receipt,
) -> Begun {
    // Put where it is looked for: a reply that is passed on from call to call is copied by each.
    let mut begun = Begun::Over(Outcome::Silent);
    let entered = enter(orb, || {
        let mut upcall = start();
        begun = match Pin::new(&mut upcall).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Begun::Over(outcome),
            Poll::Pending => Begun::Waits(upcall),
        };
    });
    match entered {
        Ok(()) => begun,
        Err(panic) => Begun::Over(receipt.system_exception(&panic)),
    }
}

/// Polls an upcall that has begun.
pub(crate) fn run_upcall_in_place(
    orb: &OrbInner,
    upcall: &mut Upcall,
    cx: &mut Context<'_>,
    receipt: &Receipt,
) -> Poll<Outcome> {
    enter(orb, || Pin::new(upcall).poll(cx))
        .unwrap_or_else(|panic| Poll::Ready(receipt.system_exception(&panic)))
}

/// Waits while the object's manager holds requests.
pub(crate) async fn released(object: &ActiveObject) -> Result<(), SystemException> {
    if object.manager().looks_forgotten() {
        tracing::warn!(
            "a request waits since its POA manager is HOLDING, and nobody has activated that yet: \
             poa.the_poa_manager().activate()"
        );
    }
    object.released().await
}
