//! The output of a client: one line of JSON.

use serde::Serialize;
use std::time::{Duration, Instant};

/// The measurements of one thread.
#[derive(Debug)]
pub struct Measured {
    /// Nanoseconds of each call; empty when only the whole was timed.
    pub latencies: Vec<u64>,
    /// When the first timed call began.
    pub start: Instant,
    /// When the last one was over.
    pub end: Instant,
}

/// The number of calls, by which all values are divided.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Name to print.
    pub peer: String,
    /// Operation.
    pub op: String,
    /// Elements of its argument.
    pub size: usize,
    /// Octets of these, an echo counted once.
    pub octets: usize,
    /// Timed calls a thread.
    pub iters: usize,
    /// Untimed calls a thread.
    pub warmup: usize,
    /// Threads.
    pub threads: usize,
    /// The digest that the servant adds for one call.
    pub digest: u64,
}

/// The line. Times are nanoseconds of a call.
#[derive(Debug, Serialize)]
pub struct Line {
    peer: String,
    op: String,
    size: usize,
    iters: usize,
    threads: usize,
    min_ns: u64,
    p50_ns: u64,
    p99_ns: u64,
    p999_ns: u64,
    mean_ns: u64,
    calls_per_s: f64,
    /// Millions of octets of payload a second.
    mbytes_per_s: f64,
    /// All calls, untimed ones too, that a servant folds into its digest.
    calls: u64,
    /// The digest that a server has which was called by this client alone.
    digest: String,
    /// Allocations of this process during the timed calls, when they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    allocations: Option<u64>,
    /// Octets of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    allocated_octets: Option<u64>,
}

impl Line {
    /// Puts together what the threads measured. Nothing for no threads.
    #[must_use]
    pub fn new(asked: &Asked, measured: Vec<Measured>) -> Option<Self> {
        let start = measured.iter().map(|m| m.start).min()?;
        let end = measured.iter().map(|m| m.end).max()?;
        let wall = end - start;
        let mut all: Vec<u64> = measured.into_iter().flat_map(|m| m.latencies).collect();
        all.sort_unstable();
        let calls = (asked.iters * asked.threads) as f64 / wall.as_secs_f64();
        let each = |sum: u64, count: usize| sum / (count.max(1) as u64);
        let mean = if all.is_empty() {
            each(nanoseconds(wall), asked.iters)
        } else {
            each(all.iter().sum(), all.len())
        };
        let at = |thousandths: usize| {
            let index = (all.len() * thousandths / 1000).min(all.len().saturating_sub(1));
            // One-way calls are timed as a whole only.
            all.get(index).copied().unwrap_or(mean)
        };
        let folded = ((asked.iters + asked.warmup) * asked.threads) as u64;
        Some(Self {
            peer: asked.peer.clone(),
            op: asked.op.clone(),
            size: asked.size,
            iters: asked.iters,
            threads: asked.threads,
            min_ns: at(0),
            p50_ns: at(500),
            p99_ns: at(990),
            p999_ns: at(999),
            mean_ns: mean,
            calls_per_s: rounded(calls),
            mbytes_per_s: rounded(calls * asked.octets as f64 / 1e6),
            calls: folded,
            digest: format!("{:016x}", asked.digest.wrapping_mul(folded)),
            allocations: None,
            allocated_octets: None,
        })
    }

    /// Returns the report with the client's allocations.
    #[must_use]
    pub fn with_allocations(mut self, allocations: Option<(u64, u64)>) -> Self {
        self.allocations = allocations.map(|(number, _)| number);
        self.allocated_octets = allocations.map(|(_, octets)| octets);
        self
    }

    /// Writes the report as a line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The output of a server at its end: how often it was called, and the digest of everything that it was sent.
#[derive(Debug, Serialize)]
pub struct Farewell {
    /// Calls that were folded.
    pub calls: u64,
    /// The sum of what each folded to, so that their order does not matter.
    #[serde(serialize_with = "hex")]
    pub digest: u64,
    /// Allocations between the last two calls of `sync`, when they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocations: Option<u64>,
    /// Octets of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_octets: Option<u64>,
}

impl Farewell {
    /// Writes the report as a line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn hex<S: serde::Serializer>(digest: &u64, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(&format_args!("{digest:016x}"))
}

/// Whole nanoseconds.
#[must_use]
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(threads: usize) -> Asked {
        Asked {
            peer: "x".to_owned(),
            op: "octet".to_owned(),
            size: 10,
            octets: 10,
            iters: 4,
            warmup: 1,
            threads,
            digest: 3,
        }
    }

    fn measured(latencies: &[u64], millis: u64) -> Measured {
        let start = Instant::now();
        Measured {
            latencies: latencies.to_vec(),
            start,
            end: start + Duration::from_millis(millis),
        }
    }

    #[test]
    fn quantiles_are_of_all_calls() {
        let line = Line::new(&asked(1), vec![measured(&[40, 10, 30, 20], 1)]).unwrap();
        assert_eq!(
            (line.min_ns, line.p50_ns, line.p99_ns, line.mean_ns),
            (10, 30, 40, 25)
        );
        assert_eq!(line.calls_per_s, 4000.0);
        assert_eq!(line.mbytes_per_s, 0.04);
        assert_eq!((line.calls, line.digest.as_str()), (5, "000000000000000f"));
    }

    #[test]
    fn a_whole_is_divided_by_its_calls() {
        let line = Line::new(&asked(1), vec![measured(&[], 4)]).unwrap();
        assert_eq!((line.p50_ns, line.p99_ns), (1_000_000, 1_000_000));
    }

    #[test]
    fn threads_are_added_up() {
        let both = vec![measured(&[1, 2, 3, 4], 1), measured(&[5, 6, 7, 8], 1)];
        let line = Line::new(&asked(2), both).unwrap();
        assert_eq!((line.min_ns, line.p50_ns), (1, 5));
        assert_eq!(line.calls, 10);
    }

    #[test]
    fn a_server_says_what_it_folded() {
        let farewell = Farewell {
            calls: 2,
            digest: 255,
            allocations: None,
            allocated_octets: None,
        };
        assert_eq!(
            farewell.to_json(),
            r#"{"calls":2,"digest":"00000000000000ff"}"#
        );
    }
}
