//! Requests whose servants are found within them, by servant managers.

use crate::adapter::Adapter;
use crate::asleep::Asleep;
use crate::identity::Identity;
use crate::object::ActiveObject;
use crate::request::{Outcome, Receipt, Request};
use crate::servant_manager::{Boxed, Located, Locator, Raised};
use crate::turn_queue::Lineage;
use core::future::poll_fn;
use core::task::{Context, Poll};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use zorb_giop::ResponseFlags;

/// The answer to a request whose servant manager has raised something. A client that has its acknowledgement hears no more.
fn raised(raised: &Raised, receipt: &Receipt) -> Outcome {
    match raised {
        Raised::System(exception) => receipt.system_exception(exception),
        Raised::Forward(_) if receipt.response == ResponseFlags::WithServer => Outcome::Silent,
        Raised::Forward(target) => receipt.forward(target, false),
    }
}

/// Has an object activated, and serves the request with it.
pub(crate) async fn incarnate(asleep: Arc<Asleep>, request: Request) -> Outcome {
    let receipt = request.receipt();
    match asleep.wake().await {
        Ok(object)
            if object.forward().is_some() && receipt.response == ResponseFlags::WithServer =>
        {
            Outcome::Silent
        }
        // Boxed, as an object may be activated within the upcall of another.
        Ok(object) => serve_found(&asleep.adapter, object, request).await,
        Err(error) => raised(&error, &receipt),
    }
}

/// Serves a request with a servant that has been found within it, on a thread that may block if the servant does.
fn serve_found(adapter: &Adapter, object: Arc<ActiveObject>, request: Request) -> Boxed<Outcome> {
    let blocks = object.blocks();
    let upcall = Box::pin(object.serve(request));
    match adapter.off_reactor().filter(|_| blocks) {
        None => upcall,
        Some(off_reactor) => {
            // The turns of the upcalls that it is nested in go along.
            let lineage = Lineage::current();
            let mut upcall = upcall;
            off_reactor(Box::pin(poll_fn(move |cx| {
                lineage.enter(|| upcall.as_mut().poll(cx))
            })))
        }
    }
}

/// Serves a request with the servant that a locator finds for it.
pub(crate) async fn locate_and_serve(
    (adapter, identity): (Arc<Adapter>, Identity),
    locator: Arc<dyn Locator>,
    request: Request,
) -> Outcome {
    let receipt = request.receipt();
    let operation = String::from_utf8_lossy(request.operation()).into_owned();
    let Located {
        servant,
        postinvoke,
    } = match locator.preinvoke(identity.to_id(), operation).await {
        Ok(located) => located,
        Err(error) => return raised(&error, &receipt),
    };
    let object = adapter.object_for_request(servant, identity);
    let mut upcall = serve_found(&adapter, object, request);
    // A panic of the operation does not keep `postinvoke` from running.
    let ended = poll_fn(|cx| {
        let mut poll = |cx: &mut Context<'_>| upcall.as_mut().poll(cx).map(Ok);
        catch_unwind(AssertUnwindSafe(|| poll(cx))).unwrap_or_else(|panic| Poll::Ready(Err(panic)))
    })
    .await;
    drop(upcall);
    match (ended, postinvoke().await) {
        (Ok(_), Err(exception)) => receipt.system_exception(&exception),
        (Ok(outcome), Ok(())) => outcome,
        (Err(panic), _) => resume_unwind(panic),
    }
}
