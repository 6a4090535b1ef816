//! Metrics of calls, upcalls and ORBs, as a recorder of the facade `metrics` gets them.

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use zorb::{Interface, Orb, SystemException};

zorb::idl! {
    module Measured {
        exception Empty {};
        interface Till {
            void open();
            void close() raises (Empty);
            void shut();
            void stay();
        };
    };
}

use measured::till::CloseError;
use measured::{Empty, Till, TillRef, TillServant};

/// Values by name and labels, as Prometheus writes them.
#[derive(Default, Clone)]
struct Values(Arc<Mutex<BTreeMap<String, f64>>>);

struct Value(Values, String);

impl Value {
    fn change(&self, change: impl FnOnce(&mut f64)) {
        let mut values = self.0.0.lock().unwrap();
        change(values.entry(self.1.clone()).or_default());
    }
}

impl CounterFn for Value {
    fn increment(&self, value: u64) {
        self.change(|all| *all += value as f64);
    }
    fn absolute(&self, value: u64) {
        self.change(|all| *all = value as f64);
    }
}

impl GaugeFn for Value {
    fn increment(&self, value: f64) {
        self.change(|all| *all += value);
    }
    fn decrement(&self, value: f64) {
        self.change(|all| *all -= value);
    }
    fn set(&self, value: f64) {
        self.change(|all| *all = value);
    }
}

/// The number of what was recorded.
impl HistogramFn for Value {
    fn record(&self, _: f64) {
        self.change(|all| *all += 1.0);
    }
}

impl Values {
    fn of(&self, key: &Key) -> Arc<Value> {
        let labels: Vec<_> = key
            .labels()
            .map(|label| format!("{}=\"{}\"", label.key(), label.value()))
            .collect();
        let name = format!("{}{{{}}}", key.name(), labels.join(","));
        Arc::new(Value(self.clone(), name))
    }

    fn get(&self, name: &str) -> f64 {
        let values = self.0.lock().unwrap();
        values.get(name).copied().unwrap_or_default()
    }

    async fn reaches(&self, name: &str, value: f64) {
        while self.get(name) < value {
            tokio::task::yield_now().await;
        }
        assert_eq!(self.get(name), value, "{name}");
    }
}

impl Recorder for Values {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.of(key))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.of(key))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.of(key))
    }
}

static BEGUN: tokio::sync::Notify = tokio::sync::Notify::const_new();

struct Servant;

impl Till for Servant {
    async fn open(&self) -> Result<(), SystemException> {
        Ok(())
    }
    async fn close(&self) -> Result<(), CloseError> {
        tokio::task::yield_now().await;
        Err(Empty {}.into())
    }
    async fn shut(&self) -> Result<(), SystemException> {
        Err(SystemException::no_permission("never"))
    }
    async fn stay(&self) -> Result<(), SystemException> {
        BEGUN.notify_one();
        core::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_and_upcalls_are_counted_by_operation_and_outcome() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").metrics(true);
    let server = server.build().await.unwrap();
    let poa = server.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let near = poa
        .activate(zorb::Cancellable(TillServant::new(Servant)))
        .unwrap();
    let client = Orb::builder().metrics(true).build().await.unwrap();
    let unmeasured = Orb::builder().build().await.unwrap();
    let text = near.to_string();
    let far = client.string_to_object(&text).await.unwrap();
    let far: TillRef = far.unchecked_narrow();
    // Nothing counts this one; those after it are counted all the same.
    far.open().await.unwrap();
    let values = Values::default();
    assert!(metrics::set_global_recorder(values.clone()).is_ok());
    for _ in 0..3 {
        far.open().await.unwrap();
    }
    assert!(far.close().await.is_err());
    assert!(far.shut().await.is_err());
    // Names that a peer makes up are no labels.
    for name in ["make_it", "up"] {
        let made_up = far.as_object().request(name);
        assert!(made_up.invoke().await.is_err());
    }
    let staying = tokio::spawn({
        let far = far.clone();
        async move { far.stay().await }
    });
    BEGUN.notified().await;
    staying.abort();
    let other = unmeasured.string_to_object(&text).await.unwrap();
    let other: TillRef = other.unchecked_narrow();
    other.open().await.unwrap();
    for (name, calls, upcalls) in [
        ("operation=\"open\",outcome=\"ok\"", 3.0, 4.0),
        ("operation=\"close\",outcome=\"user_exception\"", 1.0, 1.0),
        ("operation=\"shut\",outcome=\"system_exception\"", 1.0, 1.0),
        ("operation=\"other\",outcome=\"system_exception\"", 2.0, 2.0),
        ("operation=\"stay\",outcome=\"dropped\"", 1.0, 1.0),
    ] {
        values
            .reaches(&format!("zorb_calls_total{{{name}}}"), calls)
            .await;
        values
            .reaches(&format!("zorb_upcalls_total{{{name}}}"), upcalls)
            .await;
    }
    values
        .reaches("zorb_call_seconds{operation=\"open\"}", 3.0)
        .await;
    values
        .reaches("zorb_upcall_seconds{operation=\"open\"}", 4.0)
        .await;
    assert!(values.get("zorb_sent_octets_total{}") > 0.0);
    assert!(values.get("zorb_request_octets_total{}") > 0.0);
    assert!(values.get("zorb_reply_octets_total{}") > 0.0);
    server.publish_metrics();
    assert_eq!(values.get("zorb_connections_served{}"), 2.0);
    assert_eq!(
        values.get("zorb_refusals_total{cause=\"upcalls_dropped\"}"),
        1.0
    );
    // What reaches no servant counts as well.
    let endpoint = server.endpoints()[0].to_string().replace("iiop://", "");
    let nothing = format!("corbaloc::{endpoint}/Nothing");
    let nothing = unmeasured.string_to_object(&nothing).await.unwrap();
    let nothing: TillRef = nothing.unchecked_narrow();
    assert!(nothing.open().await.is_err());
    poa.the_poa_manager().discard_requests().unwrap();
    assert!(far.open().await.is_err());
    values
        .reaches(
            "zorb_upcalls_total{operation=\"other\",outcome=\"refused\"}",
            2.0,
        )
        .await;
}
