//! A recorder for the facade `metrics`, and its text as Prometheus reads it.

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering};
use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The times by which operations are sorted, in seconds.
const BUCKETS: [f64; 8] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 0.1, 1.0, 10.0];

/// A name, and the labels as they are written.
type Series = (String, String);

#[derive(Debug, Default)]
struct Registry {
    counters: BTreeMap<Series, Arc<AtomicU64>>,
    gauges: BTreeMap<Series, Arc<AtomicU64>>,
    histograms: BTreeMap<Series, Arc<Buckets>>,
}

/// What a histogram holds: how many values each bucket has, those beyond all, and their sum.
#[derive(Debug, Default)]
struct Buckets {
    counts: [AtomicU64; BUCKETS.len()],
    beyond: AtomicU64,
    /// The octets of a number.
    sum: AtomicU64,
}

impl HistogramFn for Buckets {
    fn record(&self, value: f64) {
        let place = BUCKETS.iter().position(|bound| value <= *bound);
        let count = place.and_then(|place| self.counts.get(place));
        count
            .unwrap_or(&self.beyond)
            .fetch_add(1, Ordering::Relaxed);
        let add = |sum: u64| Some((f64::from_bits(sum) + value).to_bits());
        let relaxed = Ordering::Relaxed;
        let _ = self.sum.fetch_update(relaxed, relaxed, add);
    }
}

/// The metrics of a program. A clone is another handle of them.
///
/// # Cost
/// A registration takes a lock; what is counted, an atomic addition. Each series is kept, so that their labels have to be few.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Mutex<Registry>>);

impl Metrics {
    /// Records the metrics of this program from now on.
    ///
    /// # Errors
    /// The program has a recorder.
    pub fn install() -> Result<Self, std::io::Error> {
        let metrics = Self::default();
        metrics::set_global_recorder(metrics.clone())
            .map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(metrics)
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text of all, in Prometheus' format 0.0.4.
    #[must_use]
    pub fn text(&self) -> String {
        let registry = self.registry();
        let mut text = String::new();
        let mut of = Headed {
            text: &mut text,
            last: String::new(),
        };
        for (series, count) in &registry.counters {
            of.line(series, "counter", "", "", count.load(Ordering::Relaxed));
        }
        for (series, bits) in &registry.gauges {
            let value = f64::from_bits(bits.load(Ordering::Relaxed));
            of.line(series, "gauge", "", "", value);
        }
        for (series, buckets) in &registry.histograms {
            let mut count = 0_u64;
            for (bound, more) in BUCKETS.iter().zip(&buckets.counts) {
                count = count.saturating_add(more.load(Ordering::Relaxed));
                of.line(
                    series,
                    "histogram",
                    "_bucket",
                    &format!("le=\"{bound}\""),
                    count,
                );
            }
            count = count.saturating_add(buckets.beyond.load(Ordering::Relaxed));
            of.line(series, "histogram", "_bucket", "le=\"+Inf\"", count);
            let sum = f64::from_bits(buckets.sum.load(Ordering::Relaxed));
            of.line(series, "histogram", "_sum", "", sum);
            of.line(series, "histogram", "_count", "", count);
        }
        text
    }
}

/// Text in which each name has a line with its type.
struct Headed<'a> {
    text: &'a mut String,
    last: String,
}

impl Headed<'_> {
    fn line(
        &mut self,
        (name, labels): &Series,
        what: &str,
        suffix: &str,
        label: &str,
        value: impl core::fmt::Display,
    ) {
        // A string takes everything.
        if self.last != *name {
            let _ = writeln!(self.text, "# TYPE {name} {what}");
            self.last.clone_from(name);
        }
        let all: Vec<&str> = [labels.as_str(), label]
            .into_iter()
            .filter(|label| !label.is_empty())
            .collect();
        let labels = match all.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", all.join(",")),
        };
        let _ = writeln!(self.text, "{name}{suffix}{labels} {value}");
    }
}

/// A name or label with the characters that Prometheus allows.
fn named(text: &str) -> String {
    let allowed = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' || c == ':' => c,
        _ => '_',
    };
    text.chars().map(allowed).collect()
}

fn series(key: &Key) -> Series {
    let labels: Vec<String> = key
        .labels()
        .map(|label| {
            let value = label.value().replace('\\', "\\\\").replace('"', "\\\"");
            format!("{}=\"{}\"", named(label.key()), value.replace('\n', "\\n"))
        })
        .collect();
    (named(key.name()), labels.join(","))
}

impl Recorder for Metrics {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let mut registry = self.registry();
        Counter::from_arc(Arc::clone(
            registry.counters.entry(series(key)).or_default(),
        ))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        let mut registry = self.registry();
        Gauge::from_arc(Arc::clone(registry.gauges.entry(series(key)).or_default()))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        let mut registry = self.registry();
        Histogram::from_arc(Arc::clone(
            registry.histograms.entry(series(key)).or_default(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_prometheus_reads() {
        let metrics = Metrics::default();
        metrics::with_local_recorder(&metrics, || {
            metrics::counter!("calls", "operation" => "a\"b\\c\nd").increment(2);
            metrics::counter!("calls", "operation" => "e").increment(1);
            metrics::gauge!("open").set(1.5);
            for seconds in [0.0002, 0.5, 100.0] {
                metrics::histogram!("call.seconds").record(seconds);
            }
        });
        let text = metrics.text();
        let expected = "# TYPE calls counter\n\
            calls{operation=\"a\\\"b\\\\c\\nd\"} 2\n\
            calls{operation=\"e\"} 1\n\
            # TYPE open gauge\n\
            open 1.5\n\
            # TYPE call_seconds histogram\n\
            call_seconds_bucket{le=\"0.0001\"} 0\n\
            call_seconds_bucket{le=\"0.0003\"} 1\n";
        assert!(text.starts_with(expected), "{text}");
        let end = "call_seconds_bucket{le=\"10\"} 2\n\
            call_seconds_bucket{le=\"+Inf\"} 3\n\
            call_seconds_sum 100.5002\n\
            call_seconds_count 3\n";
        assert!(text.ends_with(end), "{text}");
    }
}
