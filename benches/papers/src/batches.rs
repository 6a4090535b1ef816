//! Times of things that are too short for the clock, many at a time.

use serde::Serialize;
use std::time::{Duration, Instant};

/// The times of some batches, each divided by its length.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    /// Nanoseconds of one, in the batch in the middle.
    pub p50_ns: f64,
    /// In the batch that one in a hundred is slower than.
    pub p99_ns: f64,
    /// All timed batches.
    pub calls: usize,
}

/// A batch should take so long that reading the clock twice does not count.
const LONG: Duration = Duration::from_micros(10);
/// Batches that are timed however long they take.
const LEAST: usize = 9;
/// So many batches suffice for the 99th percentile.
const MOST: usize = 1_000;

/// Times `batch`, which does a thing that often, until `patience` is over. What `prepare` does before each one, for
/// that many things, is not timed; `state` is theirs.
pub fn time<S>(
    state: &mut S,
    most: usize,
    patience: Duration,
    prepare: impl FnMut(&mut S, usize),
    batch: impl FnMut(&mut S, usize),
) -> Times {
    let begin = Instant::now();
    time_by(|_| begin.elapsed(), state, most, patience, prepare, batch)
}

/// Times batches by any clock, which may read `state`.
fn time_by<S>(
    clock: impl Fn(&S) -> Duration,
    state: &mut S,
    most: usize,
    patience: Duration,
    mut prepare: impl FnMut(&mut S, usize),
    mut batch: impl FnMut(&mut S, usize),
) -> Times {
    let mut once = |length: usize| {
        prepare(state, length);
        let start = clock(state);
        batch(state, length);
        let end = clock(state);
        (end - start, end)
    };
    let mut length = 1;
    // A first call is slow, and so is one that another process keeps from the CPU: the fastest of three counts.
    let fastest = |length, once: &mut dyn FnMut(usize) -> (Duration, Duration)| {
        (0..3).map(|_| once(length).0).min()
    };
    while length < most && fastest(length, &mut once) < Some(LONG) {
        length = (2 * length).min(most);
    }
    let mut each = Vec::with_capacity(MOST);
    let mut now = Duration::ZERO;
    while each.len() < LEAST || (each.len() < MOST && now < patience) {
        let (took, end) = once(length);
        now = end;
        each.push(took.as_secs_f64() * 1e9 / length as f64);
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

    /// Time that passes with each batch.
    #[derive(Default)]
    struct TestClock {
        now: Duration,
        lengths: Vec<usize>,
    }

    fn made(each: Duration, most: usize, patience: Duration) -> (Times, Vec<usize>) {
        let mut made = TestClock::default();
        let batch = |made: &mut TestClock, length: usize| {
            made.now += each * u32::try_from(length).unwrap();
            made.lengths.push(length);
        };
        let times = time_by(
            |made: &TestClock| made.now,
            &mut made,
            most,
            patience,
            |_, _| (),
            batch,
        );
        (times, made.lengths)
    }

    #[test]
    fn a_batch_is_as_long_as_the_clock_needs_it() {
        let (times, lengths) = made(Duration::from_micros(1), 64, Duration::ZERO);
        assert_eq!(lengths.last(), Some(&16));
        assert_eq!(times.calls, LEAST * 16);
        assert!((times.p50_ns - 1000.0).abs() < 1e-6, "{}", times.p50_ns);
        assert!((times.p99_ns - 1000.0).abs() < 1e-6, "{}", times.p99_ns);
    }

    #[test]
    fn a_batch_is_no_longer_than_it_may_be() {
        let (times, lengths) = made(Duration::ZERO, 48, Duration::ZERO);
        assert_eq!(lengths.last(), Some(&48));
        assert_eq!(times.calls, LEAST * 48);
    }

    #[test]
    fn batches_are_timed_until_patience_is_over() {
        let each = Duration::from_micros(20);
        let (times, _) = made(each, 64, Duration::from_micros(1000));
        // Three of them found out how long a batch is to be.
        assert_eq!(times.calls, 1000 / 20 - 3);
    }
}
