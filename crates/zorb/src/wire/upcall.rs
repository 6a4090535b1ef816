//! Running what is the application's: servants, forwards, locators. For connections that are served
//! and for calls within one ORB alike.

use crate::current;
use crate::orb::OrbInner;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_poa::{ActiveObject, Outcome, Receipt, Request, Upcall};

/// Runs what is the application's as an upcall of this ORB. A panic in it is caught here and told
/// as UNKNOWN.
pub(crate) fn enter<T>(orb: &OrbInner, run: impl FnOnce() -> T) -> Result<T, SystemException> {
    let _current = current::enter(orb);
    let _held = orb.lane().hold();
    caught(run)
}

fn caught<T>(run: impl FnOnce() -> T) -> Result<T, SystemException> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("(no message)");
        tracing::error!(message, "servant, forward or locator panicked");
        // Inside the servant: nobody knows how far it got.
        Fault::Panicked.raise(CompletionStatus::Maybe)
    })
}

/// Begins an upcall, of which nothing has run then but what a skeleton written by hand does.
pub(crate) fn begin(object: &ActiveObject, request: Request) -> Upcall {
    let receipt = request.receipt();
    caught(|| object.start(request))
        .unwrap_or_else(|panic| Upcall::ready(receipt.system_exception(&panic)))
}

/// Runs the first poll of an upcall where the request was read.
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
