//! Deferred one-way requests: SYNC_NONE, while the connection is still to be made. Their callers do not wait for it.
//!
//! Their arguments are encoded at once, in the format of the first endpoint of the reference, and wait in a queue of
//! the reference. A task connects, sends them in order, and stores the reference's binding when the queue is empty.
//! Other calls through the reference wait for the binding, so that they do not overtake.

use super::Invocation;
use super::retry::Retries;
use crate::deferred::{DeferOutcome, Deferred, Encoded, MAX_DEFERRED_OCTETS};
use crate::object::{Binding, ObjectRef, Remote, Target};
use crate::orb::OrbInner;
use core::sync::atomic::{AtomicBool, AtomicUsize};
use core::time::Duration;
use std::sync::Arc;
use zorb_cdr::EncodeErrorKind;
use zorb_connection::{CallError, ClientRequest, Counter, OneWayMode};
use zorb_giop::{CompletionStatus, Fault, ResponseFlags, SystemException};

/// The time that a shutdown waits for the connections of deferred requests. Many times the duration of a successful
/// connect, and short beside the connect timeout.
const CONNECTED_WITHIN: Duration = Duration::from_secs(1);

/// The queue of a reference while its task runs. Dropping it ends the queue, with the runtime of the task at the
/// latest.
struct Queue {
    orb: Arc<OrbInner>,
    of: usize,
    /// Whether the queue has ended; the reference may have started another one.
    is_over: bool,
}

impl Queue {
    /// The next request; `None` ends the queue, once `last` has run.
    fn next(&mut self, last: impl FnOnce()) -> Option<Deferred> {
        if self.is_over {
            return None;
        }
        let next = self.orb.deferred().next(self.of, last);
        self.is_over = next.is_none();
        next
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        while self.next(|| ()).is_some() {
            self.orb.count(Counter::OneWaysRefused);
        }
    }
}

impl ObjectRef {
    /// Queues a one-way request whose caller does not wait for the connection. `None` for a collocated object, for
    /// calls with priorities, and where there is no endpoint: the caller then binds as for other calls.
    #[cold]
    pub(super) fn defer(
        &self,
        invocation: &mut Invocation<'_>,
    ) -> Option<Result<(), SystemException>> {
        let way = self.first_way()?;
        if let Err(forbidden) = self.check_reconnect() {
            return Some(Err(forbidden));
        }
        let format = way.peer.format(way.code_sets, way.version);
        let arguments = match Encoded::new(invocation.arguments, format) {
            Ok(arguments) => arguments,
            Err(error) => {
                let fault = match error.kind() {
                    EncodeErrorKind::WideRefused => Fault::NoWideCodeSet {
                        endpoint: way.endpoint.to_string(),
                        stated: way.stated,
                    },
                    _ => Fault::Encode(error),
                };
                return Some(Err(fault.raise(CompletionStatus::No)));
            }
        };
        let request = Deferred {
            operation: invocation.operation.into(),
            arguments,
            contexts: invocation.contexts().to_vec(),
            mode: self.one_way_mode(invocation),
            named_by: self.source(),
        };
        let (orb, of) = (self.orb().inner(), self.binding_id());
        let mut bound = None;
        let taken = (orb.deferred()).take(of, request, || bound = self.take_binding());
        match taken {
            DeferOutcome::Refused => return Some(Err(self.refused_one_way())),
            DeferOutcome::Behind => return Some(Ok(())),
            DeferOutcome::First => {}
        }
        let orb = Arc::clone(orb);
        let mut queue = Queue {
            orb,
            of,
            is_over: false,
        };
        // The token makes a shutdown wait until the requests are sent.
        let (object, token) = (self.clone(), queue.orb.task());
        self.runtime().spawn(async move {
            let orb = Arc::clone(&queue.orb);
            tokio::select! {
                () = send_all(&object, bound, &mut queue) => {}
                () = drain_deadline(&orb) => {}
            }
            drop((queue, token));
        });
        Some(Ok(()))
    }

    /// The exception for a one-way request of SYNC_NONE that would have to wait for room.
    #[cold]
    pub(super) fn refused_one_way(&self) -> SystemException {
        self.orb().inner().count(Counter::OneWaysRefused);
        no_room().raise(CompletionStatus::No)
    }
}

fn no_room() -> Fault {
    let limit = MAX_DEFERRED_OCTETS;
    Fault::Overload(format!(
        "{limit} octets of one-way requests wait to be sent"
    ))
}

/// Ready [`CONNECTED_WITHIN`] after the ORB has begun to shut down: the waiting requests are then dropped and counted.
async fn drain_deadline(orb: &OrbInner) {
    orb.stopped().await;
    tokio::time::sleep(CONNECTED_WITHIN).await;
}

/// Sends the queued requests by the binding that was taken from the reference, or a new one.
async fn send_all(object: &ObjectRef, taken: Option<Arc<Binding>>, queue: &mut Queue) {
    let reactor = object.runtime().id();
    let mut bound = match taken.filter(|taken| taken.is_usable(reactor)) {
        Some(bound) => bound,
        None => match object.bind_unshared().await {
            Ok(bound) => bound,
            Err(exception) => {
                return tracing::debug!(error = ?exception, "one-way requests dropped");
            }
        },
    };
    while let Some(request) = queue.next(|| object.store_binding(&bound)) {
        if let Err(error) = send_to_any(object, &mut bound, &request).await {
            queue.orb.count(Counter::OneWaysRefused);
            tracing::debug!(?error, "a one-way request dropped");
        }
    }
}

/// Sends a request, by another binding if the connection has ended before it was sent: as other calls do.
async fn send_to_any(
    object: &ObjectRef,
    bound: &mut Arc<Binding>,
    request: &Deferred,
) -> Result<(), SystemException> {
    let mut retries = Retries::default();
    while let Err(error) = send(bound, request).await? {
        if !retries.resend(&error, bound) {
            return Err(error.raise());
        }
        *bound = object.bind_unshared().await?;
    }
    Ok(())
}

/// Sends a request. The outer error is of a binding that cannot take it.
async fn send(
    binding: &Binding,
    request: &Deferred,
) -> Result<Result<(), CallError>, SystemException> {
    let Target::Remote(Remote {
        connection,
        requests,
    }) = &binding.target
    else {
        return Err(super::reply::internal());
    };
    if binding.format() != request.arguments.format {
        // Another endpoint accepted the connection, with other code sets or another GIOP version.
        let moved = EncodeErrorKind::Expected("the code sets of the first endpoint");
        return Err(Fault::Encode(moved.into()).raise(CompletionStatus::No));
    }
    let mode = request.mode;
    let request = ClientRequest {
        template: requests,
        operation: &request.operation,
        arguments: &request.arguments,
        contexts: &request.contexts,
        response: ResponseFlags::None,
        wait: None,
        sent: &AtomicBool::new(false),
        octets: &AtomicUsize::new(0),
    };
    // This task may wait for room, unlike the caller, and writes one request after the other to keep their order.
    let mode = match mode {
        OneWayMode::Buffered(_) => {
            connection.room().await;
            mode
        }
        OneWayMode::AtOnce | OneWayMode::Batched => OneWayMode::AtOnce,
    };
    Ok(connection.send_one_way(&request, mode).await)
}
