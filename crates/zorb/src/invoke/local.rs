//! Calls to objects of the same ORB.

use crate::keys::Found;
use crate::object::Binding;
use crate::orb::OrbInner;
use crate::wire::{CallError, EncodeArguments, begin, released, run_upcall_in_place};
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use tokio::sync::oneshot;
use zorb_cdr::{Encoder, WireFormat};
use zorb_giop::{Fault, Message, ProtocolError, RequestBuilder, ResponseFlags, Version, buffers};
use zorb_poa::{Missing, Outcome, Receipt, Request, State, Upcall};

/// A call to an object of this very ORB: through the same adapter and skeleton, and never through
/// a socket. `None` when there is no reply to wait for, which one-way calls have only when they
/// have to go somewhere else.
pub(super) async fn call_local(
    orb: &Arc<OrbInner>,
    binding: &Binding,
    operation: &str,
    arguments: &dyn EncodeArguments,
    two_way: bool,
    sent: &AtomicBool,
) -> Result<Option<Message>, CallError> {
    let format = WireFormat::default();
    let mut found = orb.find_or_ask(&binding.key).await;
    while let Ok(Found::Object(object)) = &found
        && object.manager().state() == State::Holding
    {
        found = match released(object).await {
            // Whoever has the key by now.
            Ok(()) => orb.find_or_ask(&binding.key).await,
            Err(exception) => Err(exception),
        };
    }
    let is_forward = match &found {
        Ok(Found::Object(object)) => object.forward().is_some(),
        Ok(Found::Elsewhere(_)) => true,
        _ => false,
    };
    let message = RequestBuilder {
        version: Version::HIGHEST,
        request_id: 0,
        response: if two_way || is_forward {
            ResponseFlags::WithTarget
        } else {
            ResponseFlags::None
        },
        key: &binding.key,
        operation,
        contexts: &[],
    }
    .encode(Encoder::with_buffer(buffers::take(), format), |e| {
        arguments.encode(e)
    })
    .map_err(|error| CallError::Encode(Fault::Encode(error)))?;
    let own = |error: ProtocolError| {
        CallError::Lost(Fault::Protocol {
            endpoint: "this ORB".to_owned(),
            error,
        })
    };
    let request = Request::new(
        Message::from_gather(message).map_err(own)?,
        format,
        orb.context(),
    )
    .map_err(own)?;
    let receipt = request.receipt();
    let outcome = match found {
        Err(exception) => receipt.system_exception(&exception),
        Ok(Found::Unknown(_)) => receipt.system_exception(&Missing::Adapter.raise()),
        Ok(Found::Elsewhere(target)) => receipt.forward(&target, false),
        Ok(Found::Object(object)) => match object.manager().state().admit() {
            Ok(()) => {
                sent.store(true, Ordering::Relaxed);
                let upcall = begin(&object, request);
                match begin_local(orb, upcall, receipt, two_way || is_forward) {
                    Begun::Over(outcome) => outcome,
                    Begun::Pending(outcome) => outcome.await.map_err(|_| runtime_gone())?,
                }
            }
            Err(exception) => receipt.system_exception(&exception),
        },
    };
    match outcome {
        Outcome::Reply(reply) => Message::from_gather(reply).map(Some).map_err(own),
        Outcome::Silent => Ok(None),
    }
}

/// What became of an upcall of our own at its first poll.
enum Begun {
    Over(Outcome),
    Pending(oneshot::Receiver<Outcome>),
}

/// Polls an upcall of our own. One that is not ready becomes a task, as at a server elsewhere: it
/// runs on whatever becomes of its caller.
fn begin_local(orb: &Arc<OrbInner>, mut upcall: Upcall, receipt: Receipt, two_way: bool) -> Begun {
    if two_way {
        let mut cx = Context::from_waker(Waker::noop());
        if let Poll::Ready(outcome) = run_upcall_in_place(orb, &mut upcall, &mut cx, &receipt) {
            return Begun::Over(outcome);
        }
    } else if orb.settings().threads {
        begin_on_a_thread(orb, upcall, receipt);
        return Begun::Over(Outcome::Silent);
    }
    let (done, outcome) = oneshot::channel();
    let inner = Arc::clone(orb);
    orb.track(async move {
        let outcome = poll_fn(|cx| run_upcall_in_place(&inner, &mut upcall, cx, &receipt)).await;
        // Whoever is gone wants no answer.
        let _ = done.send(outcome);
    });
    match two_way {
        true => Begun::Pending(outcome),
        false => Begun::Over(Outcome::Silent),
    }
}

/// Begins an upcall that nobody waits for, where its servant may block.
fn begin_on_a_thread(orb: &Arc<OrbInner>, mut upcall: Upcall, receipt: Receipt) {
    let (inner, running) = (Arc::clone(orb), orb.task());
    orb.lane().handle().spawn_blocking(move || {
        let mut cx = Context::from_waker(Waker::noop());
        if run_upcall_in_place(&inner, &mut upcall, &mut cx, &receipt).is_pending() {
            let orb = Arc::clone(&inner);
            orb.track(async move {
                poll_fn(|cx| run_upcall_in_place(&inner, &mut upcall, cx, &receipt)).await;
            });
        }
        drop(running);
    });
}

#[cold]
fn runtime_gone() -> CallError {
    CallError::Lost(Fault::ConnectionLost {
        endpoint: "this ORB".to_owned(),
        cause: "its runtime has shut down".to_owned(),
    })
}
