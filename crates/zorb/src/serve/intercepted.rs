//! The interception points of a request, around its upcall: the service contexts, the request, and one ending point.

use super::upcall::{Caller, enter_object};
use crate::current;
use crate::interceptors::{
    InterceptionPoint, Interceptors, Interrupt, Nested, ServerEnd, ServerFlow, ServerRequestInfo,
    at_point, with_slots,
};
use crate::orb::OrbInner;
use core::future::poll_fn;
use core::pin::Pin;
use std::sync::Arc;
use zorb_connection::Peer;
use zorb_giop::{CompletionStatus, Fault, ReplyStatus, SystemException};
use zorb_poa::{ActiveObject, Outcome, ServerRequest, Started, Upcall};

/// Begins the upcall of a request, between the interceptors of the ORB.
pub(super) fn begin_intercepted(
    orb: &Arc<OrbInner>,
    object: &Arc<ActiveObject>,
    request: ServerRequest,
) -> Started {
    let _current = current::enter(orb);
    match Upcall::start(|| serve(Arc::clone(orb), Arc::clone(object), request)) {
        Started::Ended(request) if is_of_other_types(&request) => Started::OtherTypes(request),
        started => started,
    }
}

/// Whether a typed call has reached a servant that knows other types: its interceptors, if it has passed any, are kept for the
/// message that is made of it.
pub(crate) fn is_of_other_types(request: &ServerRequest) -> bool {
    request.is_typed() && request.outcome().is_none()
}

/// Serves a request from its first interception point to its last.
async fn serve(
    orb: Arc<OrbInner>,
    object: Arc<ActiveObject>,
    mut request: ServerRequest,
) -> ServerRequest {
    let Some(interceptors) = orb.interceptors() else {
        return request;
    };
    let flow = match request.take_kept::<ServerFlow>() {
        Some(flow) => flow,
        None => ServerFlow {
            request_id: interceptors.next_id(),
            nested: Nested::current(interceptors.has_slots()),
            ..ServerFlow::default()
        },
    };
    let mut points = Points {
        orb: &orb,
        object: &object,
        interceptors,
        number: request
            .number()
            .or_else(|| object.number_of(request.operation())),
        flow,
    };
    let mut end = match points.start(&mut request).await {
        Ok(()) => {
            request = points.upcall(request).await;
            if is_of_other_types(&request) {
                request.keep(points.flow);
                return request;
            }
            end_of(&request)
        }
        Err(interrupt) => interrupted(&mut request, interrupt),
    };
    points.end(&mut request, &mut end).await;
    request
}

/// How the upcall of a request has ended.
fn end_of(request: &ServerRequest) -> ServerEnd {
    match request.outcome() {
        Some(Outcome::Reply(reply)) => match ReplyStatus::of(reply) {
            Ok(ReplyStatus::NoException) => ServerEnd::Reply,
            Ok(ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm) => {
                ServerEnd::Forward(None)
            }
            _ => ServerEnd::Exception(None),
        },
        Some(Outcome::Silent) if request.is_typed() => ServerEnd::Reply,
        _ => ServerEnd::OneWay,
    }
}

/// Ends a request as an interceptor has decided.
fn interrupted(request: &mut ServerRequest, interrupt: Interrupt) -> ServerEnd {
    match interrupt {
        Interrupt::Exception(exception) => {
            // As one of the servant: what an interceptor got from a call of its own does not describe this object.
            request.set_exception(&exception);
            ServerEnd::Exception(Some(exception))
        }
        Interrupt::Forward(object) => {
            let outcome = request.receipt().forward(object.ior(), false);
            request.set_outcome(outcome);
            ServerEnd::Forward(Some(object))
        }
    }
}

/// The interception points of one request.
struct Points<'a> {
    orb: &'a Arc<OrbInner>,
    object: &'a Arc<ActiveObject>,
    interceptors: &'a Interceptors,
    number: Option<u32>,
    flow: ServerFlow,
}

impl Points<'_> {
    /// Runs the starting points, unless the request has passed them as a typed call.
    async fn start(&mut self, request: &mut ServerRequest) -> Result<(), Interrupt> {
        if self.flow.has_passed {
            return Ok(());
        }
        if self.flow.nested.is_too_deep() {
            let limit = crate::interceptors::MAX_NESTED;
            let fault = Fault::InterceptorRecursion { limit };
            return Err(fault.raise(CompletionStatus::No).into());
        }
        let (orb, nested, completed) = (self.orb, self.flow.nested, CompletionStatus::No);
        for interceptor in self.interceptors.server() {
            let point = InterceptionPoint::ReceiveRequestServiceContexts;
            let mut info = self.info(point, request, None);
            at_point!(
                orb,
                nested,
                completed,
                interceptor.receive_request_service_contexts(&mut info)
            )?;
            self.flow.started = self.flow.started.saturating_add(1);
        }
        for interceptor in self.interceptors.server() {
            let mut info = self.info(InterceptionPoint::ReceiveRequest, request, None);
            at_point!(
                orb,
                nested,
                completed,
                interceptor.receive_request(&mut info)
            )?;
        }
        self.flow.has_passed = true;
        Ok(())
    }

    fn info<'i>(
        &'i mut self,
        point: InterceptionPoint,
        request: &'i mut ServerRequest,
        end: Option<&'i ServerEnd>,
    ) -> ServerRequestInfo<'i> {
        ServerRequestInfo {
            point,
            orb: self.orb,
            object: self.object,
            request,
            number: self.number,
            flow: &mut self.flow,
            end,
        }
    }

    /// Runs the upcall, with the slots of the request as those of the thread.
    async fn upcall(&mut self, request: ServerRequest) -> ServerRequest {
        let (receipt, peer) = (request.receipt(), request.peer::<Peer>());
        let caller = match &peer {
            Some(peer) => Caller::Peer(peer),
            None => Caller::Collocated,
        };
        if self.number.is_none() {
            let name = core::str::from_utf8(request.operation()).unwrap_or_default();
            self.flow.operation = Some(name.into());
        }
        let panicked = |exception: SystemException| {
            let mut request = ServerRequest::panicked(receipt, &exception);
            if let Some(peer) = &peer {
                // Interceptors go on to see who has called.
                request.set_peer(Arc::clone(peer) as _);
            }
            request
        };
        let object = self.object;
        let mut upcall = match self.within(caller, || object.start(request)) {
            Ok(Started::Ended(request) | Started::OtherTypes(request)) => return request,
            Ok(Started::Pending(upcall)) => upcall,
            Err(exception) => return panicked(exception),
        };
        poll_fn(|cx| {
            let polled = self.within(caller, || Pin::new(&mut upcall).poll(cx));
            polled.unwrap_or_else(|exception| core::task::Poll::Ready(panicked(exception)))
        })
        .await
    }

    /// Runs a part of the upcall.
    fn within<T>(
        &mut self,
        caller: Caller<'_>,
        run: impl FnOnce() -> T,
    ) -> Result<T, SystemException> {
        let (orb, object, number) = (self.orb, self.object, self.number);
        let nested = self.flow.nested;
        let step = || {
            let _level = nested.enter_servant();
            enter_object(orb, object, caller, number, run)
        };
        match nested.has_slots() {
            true => with_slots(&mut self.flow.slots, step),
            false => step(),
        }
    }

    /// Runs the ending points.
    async fn end(&mut self, request: &mut ServerRequest, end: &mut ServerEnd) {
        let (orb, nested) = (self.orb, self.flow.nested);
        while let Some(left) = self.flow.started.checked_sub(1) {
            self.flow.started = left;
            let Some(interceptor) = self.interceptors.server().get(left) else {
                continue;
            };
            let point = end.point();
            let mut info = self.info(point, request, Some(end));
            let ended = match point {
                InterceptionPoint::SendReply => {
                    // The servant has carried the operation out.
                    let completed = CompletionStatus::Yes;
                    at_point!(orb, nested, completed, interceptor.send_reply(&mut info))
                }
                InterceptionPoint::SendException => {
                    let completed = CompletionStatus::Maybe;
                    at_point!(
                        orb,
                        nested,
                        completed,
                        interceptor.send_exception(&mut info)
                    )
                }
                _ => {
                    let completed = CompletionStatus::Maybe;
                    at_point!(orb, nested, completed, interceptor.send_other(&mut info))
                }
            };
            if let Err(interrupt) = ended {
                *end = interrupted(request, interrupt);
            }
        }
    }
}
