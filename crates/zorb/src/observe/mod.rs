//! What calls and upcalls tell from outside: spans of `tracing`, which trace contexts link across processes.
//!
//! A span is made where a subscriber wants those of level DEBUG and target `zorb::call` or `zorb::upcall`; else a call costs a load
//! and a branch on either side. With the feature `opentelemetry`, a request carries the trace context of its call's span, and the
//! span of the upcall has it as its parent. With the feature `metrics`, an ORB measures calls and upcalls if its builder says so.

#[cfg(feature = "opentelemetry")]
mod linked;
#[cfg(not(feature = "opentelemetry"))]
mod linked {
    //! Without OpenTelemetry, spans have no ids that another process knows.

    use super::TraceContext;
    use tracing::Span;

    pub(crate) fn context_of(_: &Span) -> Option<TraceContext> {
        None
    }

    pub(crate) fn set_parent(_: &Span, _: &TraceContext) {}
}
#[cfg(feature = "metrics")]
mod meter;
#[cfg(not(feature = "metrics"))]
mod meter {
    //! Without the feature `metrics`, nothing is measured.

    use crate::orb::OrbInner;
    use zorb_giop::ReplyStatus;

    pub(crate) struct Names;

    pub(crate) static CALLS: Names = Names;
    pub(crate) static UPCALLS: Names = Names;

    pub(crate) enum Meter {}

    impl Meter {
        pub(crate) fn begin(_: &OrbInner, _: &Names, _: Option<&str>) -> Option<Self> {
            None
        }

        pub(crate) fn end(self, _: Option<ReplyStatus>) {}

        pub(crate) fn forget(self) {}

        pub(crate) fn request(&self, _: usize) {}

        pub(crate) fn reply(&self, _: usize) {}
    }

    pub(crate) fn refused() {}
}
mod trace_context;

pub(crate) use linked::context_of;
pub(crate) use meter::{CALLS, Meter};
pub use trace_context::TraceContext;

use crate::invoke::in_memory;
use crate::object::ObjectRef;
use crate::orb::OrbInner;
use crate::serve::is_of_other_types;
use tracing::field::Empty;
use tracing::{Level, Span};
use zorb_giop::{ReplyStatus, SystemException};
use zorb_poa::{ActiveObject, Outcome, ServerRequest};

/// Whether the subscriber wants spans, or the ORB measures its calls and upcalls. Costs a load, and another with the feature
/// `metrics`; more where some subscriber of the process wants anything at level DEBUG.
#[inline]
pub(crate) fn is_on(orb: &OrbInner) -> bool {
    (tracing::level_enabled!(Level::DEBUG) && wants_spans())
        | (cfg!(feature = "metrics") && orb.settings().metrics)
}

/// Whether the subscriber of this thread wants spans of calls or of upcalls, not only some other events at their level.
#[cold]
fn wants_spans() -> bool {
    tracing::span_enabled!(target: "zorb::call", Level::DEBUG)
        || tracing::span_enabled!(target: "zorb::upcall", Level::DEBUG)
}

/// The span of a call; `None` if no subscriber wants it.
#[cold]
pub(crate) fn call(operation: &str) -> Option<Span> {
    let operation = in_memory::declared(operation);
    let span = tracing::debug_span!(
        target: "zorb::call",
        "call",
        otel.name = operation,
        otel.kind = "client",
        otel.status_code = Empty,
        rpc.system = "corba",
        rpc.method = operation,
        server.address = Empty,
        exception = Empty,
    );
    (!span.is_disabled()).then_some(span)
}

/// An upcall with a span, or that is measured.
pub(crate) struct Upcall {
    span: Option<Span>,
    meter: Option<Meter>,
}

/// Begins to observe an upcall.
#[cold]
pub(crate) fn upcall(orb: &OrbInner, object: &ActiveObject, request: &ServerRequest) -> Upcall {
    let known = request
        .number()
        .or_else(|| object.number_of(request.operation()));
    let known = known.and_then(|number| object.operation_name(number));
    let known = known.map(in_memory::declared);
    let meter = Meter::begin(orb, &meter::UPCALLS, known);
    if let Some(meter) = &meter {
        meter.request(request.octets());
    }
    Upcall {
        span: span_of(orb, object, request, known),
        meter,
    }
}

fn span_of(
    orb: &OrbInner,
    object: &ActiveObject,
    request: &ServerRequest,
    known: Option<&str>,
) -> Option<Span> {
    let sent;
    let operation = match known {
        Some(known) => known,
        None => {
            sent = String::from_utf8_lossy(request.operation());
            &sent
        }
    };
    let span = tracing::debug_span!(
        target: "zorb::upcall",
        "upcall",
        otel.name = operation,
        otel.kind = "server",
        otel.status_code = Empty,
        rpc.system = "corba",
        rpc.service = object.type_id(),
        rpc.method = operation,
        exception = Empty,
    );
    if span.is_disabled() {
        return None;
    }
    let stated = request.context(orb.settings().own_contexts.trace());
    if let Some(parent) = stated.and_then(TraceContext::from_data) {
        linked::set_parent(&span, &parent);
    }
    Some(span)
}

/// Counts a request that is refused before its servant is called.
#[cold]
pub(crate) fn refused(orb: &OrbInner) {
    if orb.settings().metrics {
        meter::refused();
    }
}

/// Runs a part of an upcall in its span, if it has one.
#[inline]
pub(crate) fn within<T>(upcall: Option<&Upcall>, run: impl FnOnce() -> T) -> T {
    let span = upcall.and_then(|upcall| upcall.span.as_ref());
    let _entered = span.map(Span::enter);
    run()
}

/// Notes how the call of a span has ended, and where it went.
#[cold]
pub(crate) fn called<T>(span: &Span, object: &ObjectRef, done: &Result<T, SystemException>) {
    span.record("server.address", object.endpoint_in_use());
    if let Err(exception) = done {
        span.record("otel.status_code", "ERROR");
        span.record("exception", exception.kind.name());
    }
}

/// Notes how an upcall has ended. One that has not begun, as a typed call whose types the servant does not know, is forgotten:
/// its request is dispatched once more.
#[inline]
pub(crate) fn ended(upcall: Option<Upcall>, request: &ServerRequest) {
    if let Some(upcall) = upcall {
        upcall.end(request);
    }
}

impl Upcall {
    #[cold]
    fn end(self, request: &ServerRequest) {
        if is_of_other_types(request) {
            if let Some(meter) = self.meter {
                meter.forget();
            }
            return;
        }
        let (status, octets_of_reply) = match request.outcome() {
            Some(Outcome::Reply(reply)) => (ReplyStatus::of(reply).ok(), reply.len()),
            _ => (None, 0),
        };
        if let Some(span) = &self.span {
            match status {
                Some(ReplyStatus::SystemException) => {
                    span.record("otel.status_code", "ERROR");
                    span.record("exception", "SystemException");
                }
                Some(ReplyStatus::UserException) => {
                    span.record("exception", "UserException");
                }
                _ => {}
            }
        }
        if let Some(meter) = self.meter {
            meter.reply(octets_of_reply);
            meter.end(status);
        }
    }
}
