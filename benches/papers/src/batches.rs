//! Times of things that are too short for the clock, many at a time.

use serde::Serialize;
use std::time::{Duration, Instant};

/// What some batches took, each divided by its length.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    /// Nanoseconds of one, in the batch in the middle.
    pub p50_ns: f64,
    /// In the batch that one in a hundred is slower than.
    pub p99_ns: f64,
    /// All that were timed.
    pub calls: usize,
}

/// A batch should take so long that reading the clock twice does not count.
const LONG: Duration = Duration::from_micros(10);
/// Batches that are timed however long they take.
const LEAST: usize = 9;
/// As many tell the 99th of a hundred well enough.
const MOST: usize = 1_000;

/// Times `batch`, which does a thing that often, until `patience` is over. What `prepare` does before each one, for
/// that many things, is not timed; `state` is theirs.
pub fn time<S>(
    state: &mut S,
    most: usize,
    patience: Duration,
    mut prepare: impl FnMut(&mut S, usize),
    mut batch: impl FnMut(&mut S, usize),
) -> Times {
    let mut once = |length: usize| {
        prepare(state, length);
        let start = Instant::now();
        batch(state, length);
        start.elapsed()
    };
    let begin = Instant::now();
    let mut length = 1;
    // Whatever is called for the first time is slow, so that every length is tried three times.
    while length < most && (0..3).all(|_| once(length) < LONG) {
        length = (2 * length).min(most);
    }
    let mut each = Vec::with_capacity(MOST);
    while each.len() < LEAST || (each.len() < MOST && begin.elapsed() < patience) {
        each.push(once(length).as_secs_f64() * 1e9 / length as f64);
    }
    each.sort_by(f64::total_cmp);
    let at = |part: f64| each[(part * (each.len() - 1) as f64).round() as usize];
    Times {
        p50_ns: at(0.5),
        p99_ns: at(0.99),
        calls: each.len() * length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_as_long_as_the_clock_needs_it_and_no_longer_than_it_may_be() {
        let mut lengths = Vec::new();
        let nothing = |_: &mut Vec<usize>, _| ();
        let times = time(&mut lengths, 64, Duration::ZERO, nothing, |seen, length| {
            seen.push(length);
        });
        assert_eq!(lengths.last(), Some(&64));
        assert_eq!(times.calls, LEAST * 64);
        assert!(times.p50_ns <= times.p99_ns);
        let slow = time(&mut lengths, 64, Duration::ZERO, nothing, |_, _| {
            std::thread::sleep(LONG);
        });
        assert_eq!(slow.calls, LEAST);
    }
}
