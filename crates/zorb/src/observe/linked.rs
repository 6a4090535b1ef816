//! The link from spans of `tracing` to those of OpenTelemetry, which have ids that other processes know.

use super::TraceContext;
use core::str::FromStr;
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The trace context of a span; `None` where no layer of OpenTelemetry is installed.
pub(crate) fn context_of(span: &Span) -> Option<TraceContext> {
    let context = span.context();
    let span = context.span();
    let span = span.span_context();
    let trace_id = u128::from_be_bytes(span.trace_id().to_bytes());
    let span_id = u64::from_be_bytes(span.span_id().to_bytes());
    let mut of_span = TraceContext::new(trace_id, span_id, span.trace_flags().to_u8())?;
    of_span.state = span.trace_state().header();
    Some(of_span)
}

/// Makes the span of another process the parent of a span that has not been entered yet.
pub(crate) fn set_parent(span: &Span, parent: &TraceContext) {
    let parent = SpanContext::new(
        TraceId::from_bytes(parent.trace_id.to_be_bytes()),
        SpanId::from_bytes(parent.span_id.to_be_bytes()),
        TraceFlags::new(parent.flags),
        true,
        TraceState::from_str(&parent.state).unwrap_or_default(),
    );
    // Without a layer of OpenTelemetry there is nothing to set.
    let _ = span.set_parent(Context::new().with_remote_span_context(parent));
}
