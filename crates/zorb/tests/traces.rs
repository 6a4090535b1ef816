//! Spans of calls and upcalls, linked across ORBs by trace contexts.

use opentelemetry::trace::{SpanId, SpanKind, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::Instrument;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use zorb::policy::PolicyOverrides;
use zorb::{
    Builder, Orb, PoaCurrent, ServiceContext, ServiceContextId, SystemException, TraceContext,
};

zorb::idl! {
    module Traced {
        interface Service;
        typedef sequence<Service> Services;
        interface Service {
            // Asks the first, which asks the others.
            long ask(in Services others);
            void fail();
        };
    };
}

use traced::{Service, ServiceRef, ServiceServant};

struct Servant;

impl Service for Servant {
    async fn ask(&self, others: &[Option<ServiceRef>]) -> Result<i32, SystemException> {
        tokio::task::yield_now().await;
        match others.split_first() {
            Some((Some(next), others)) => Ok(next.ask(others).await? + 1),
            _ => Ok(0),
        }
    }

    async fn fail(&self) -> Result<(), SystemException> {
        let request = PoaCurrent::get_request()?;
        let stated = request.service_context(ServiceContextId::TRACE_CONTEXT);
        assert!(stated.and_then(TraceContext::from_data).is_none());
        Err(SystemException::no_permission("never"))
    }
}

async fn service(builder: Builder) -> (Orb, ServiceRef) {
    let orb = builder.listen("iiop://127.0.0.1:0").build().await.unwrap();
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let service = poa.activate(ServiceServant::new(Servant)).unwrap();
    (orb, service)
}

/// The spans that have ended, once there are so many.
async fn ended(exporter: &InMemorySpanExporter, count: usize) -> Vec<SpanData> {
    loop {
        let spans = exporter.get_finished_spans().unwrap();
        if spans.len() >= count {
            exporter.reset();
            assert_eq!(spans.len(), count, "{spans:#?}");
            return spans;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_goes_through_three_services_and_is_cut_where_contexts_are_not_sent() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("zorb"));
    let wanted = Targets::new()
        .with_target("zorb::call", tracing::Level::DEBUG)
        .with_target("zorb::upcall", tracing::Level::DEBUG)
        .with_target("traces", tracing::Level::INFO);
    let subscriber = tracing_subscriber::registry().with(wanted).with(layer);
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let (_one, first) = service(Orb::builder()).await;
    let (_two, second) = service(Orb::builder()).await;
    let (_three, third) = service(Orb::builder()).await;
    let client = Orb::builder().build().await.unwrap();
    let far = client.string_to_object(&first.to_string()).await.unwrap();
    let far: ServiceRef = far.unchecked_narrow();
    let root = tracing::info_span!(target: "traces", "root");
    let others = [Some(second.clone()), Some(third.clone())];
    let asked = far.ask(&others).instrument(root).await.unwrap();
    assert_eq!(asked, 2);
    let spans = ended(&exporter, 7).await;
    let parent = |of: &SpanData| {
        let parent = of.parent_span_id;
        spans
            .iter()
            .find(|span| span.span_context.span_id() == parent)
    };
    // From the one that is no parent to the root.
    let is_parent = |id: SpanId| spans.iter().any(|span| span.parent_span_id == id);
    let mut last = spans
        .iter()
        .filter(|span| !is_parent(span.span_context.span_id()));
    let (mut at, none) = (last.next(), last.next());
    assert!(none.is_none());
    let mut kinds = Vec::new();
    while let Some(span) = at {
        kinds.push((span.name.to_string(), span.span_kind.clone()));
        assert_eq!(
            span.span_context.trace_id(),
            spans[0].span_context.trace_id()
        );
        at = parent(span);
    }
    let pair = [SpanKind::Server, SpanKind::Client].map(|kind| ("ask".to_owned(), kind));
    let mut expected: Vec<_> = [&pair[..], &pair, &pair].concat();
    expected.push(("root".to_owned(), SpanKind::Internal));
    assert_eq!(kinds, expected);

    // Without contexts the server's span has no parent; what is no trace context is none.
    let silent = Orb::builder().trace_contexts(false).build().await.unwrap();
    let far = silent.string_to_object(&first.to_string()).await.unwrap();
    let far: ServiceRef = far.unchecked_narrow();
    let malformed = ServiceContext {
        id: ServiceContextId::TRACE_CONTEXT,
        data: "no context".into(),
    };
    let call = PolicyOverrides::new().service_context(malformed);
    assert!(call.scope(far.fail()).await.is_err());
    let spans = ended(&exporter, 2).await;
    for span in &spans {
        assert_eq!(span.parent_span_id, SpanId::INVALID);
        assert!(matches!(
            span.status,
            opentelemetry::trace::Status::Error { .. }
        ));
    }
}
