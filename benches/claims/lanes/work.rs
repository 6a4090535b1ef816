//! Work that takes a known time of a CPU.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Steps of the loop in a microsecond.
static STEPS: OnceLock<f64> = OnceLock::new();

/// A unit of the dissertation's `<work>`: 30 of them and a call fill a 150th of a second (its Figure 7.5).
pub(crate) const UNIT: Duration = Duration::from_micros(215);

/// Measures how fast the calling thread's CPU is: the fastest of many short loops, which no other thread interrupted.
pub(crate) fn calibrate() {
    let steps = 20_000_u64;
    let fastest = (0..500).map(|_| {
        let begun = Instant::now();
        spin(steps);
        begun.elapsed()
    });
    let fastest = fastest.min().unwrap_or_default().as_secs_f64() * 1e6;
    let _ = STEPS.set(steps as f64 / fastest);
}

fn spin(steps: u64) {
    let mut value = 1_u64;
    for step in 0..steps {
        value = black_box(
            value
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(step),
        );
    }
}

/// Uses so much time of the CPU, however often the thread is preempted.
pub(crate) fn burn(time: Duration) {
    let steps = STEPS.get().copied().unwrap_or_default();
    spin((time.as_secs_f64() * 1e6 * steps) as u64);
}
