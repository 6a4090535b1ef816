//! Waiting for a machine that has nothing else to do: what others do beside a measurement is in its numbers.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// Others may use so much of a CPU, as a machine's housekeeping does.
const QUIET: f64 = 0.1;
/// The length of one observation; and the number of observations in a row that have to be quiet.
const WHILE: Duration = Duration::from_secs(1);
const IN_A_ROW: usize = 3;
/// Whiles after which waiting is given up, five minutes together: a build is over by then, and what is not by then may
/// never be.
const PATIENCE: usize = 300;

/// Waits until others use hardly anything of the CPUs, and says so on the terminal if that takes longer than it takes
/// to see it. What the load average of the last minute is does not matter: it is of what was before. Returns a warning if there was
/// no quiet.
///
/// Blocks the thread for three seconds at least, for five minutes at most.
pub(crate) fn wait() -> Option<String> {
    let mut before = times();
    let mut noted = false;
    let used = || {
        sleep(WHILE);
        let after = times();
        let used = before.zip(after).map(|(before, after)| after.since(before));
        before = after;
        if let Some(used) = used.filter(|used| *used > QUIET && !noted) {
            noted = true;
            eprintln!("waiting for others to be done: they use {used:.1} CPUs");
        }
        used
    };
    settled(used)
}

/// Asks what is used until that is little for long enough, or for too long.
fn settled(mut used: impl FnMut() -> Option<f64>) -> Option<String> {
    let mut quiet = 0;
    let mut last = None;
    for _ in 0..PATIENCE {
        last = used();
        // Where the kernel does not say, nothing can be waited for.
        quiet = match last.filter(|used| *used > QUIET) {
            Some(_) => 0,
            None => quiet + 1,
        };
        if quiet == IN_A_ROW {
            return None;
        }
    }
    Some(format!(
        "others did not let go of the CPUs within {} s, and used {:.1} of them when measuring began",
        PATIENCE as u64 * WHILE.as_secs(),
        last.unwrap_or_default()
    ))
}

/// Ticks of all CPUs, since the machine started.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    idle: u64,
    all: u64,
    cpus: usize,
}

fn times() -> Option<Times> {
    Times::parse(&fs::read_to_string("/proc/stat").ok()?)
}

impl Times {
    /// From `/proc/stat`: user, nice, system, idle, waiting for a disk, interrupts of two kinds, and what other guests
    /// of the host have taken, which is as bad; what guests of ours take is in the first.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let ticks = lines.next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = ticks
            .split_whitespace()
            .take(8)
            .map_while(|word| word.parse().ok())
            .collect();
        Some(Self {
            idle: ticks.get(3)? + ticks.get(4)?,
            all: ticks.iter().sum(),
            cpus: lines.take_while(|line| line.starts_with("cpu")).count(),
        })
    }

    /// CPUs that were used, on average.
    fn since(self, before: Self) -> f64 {
        let all = self.all.saturating_sub(before.all).max(1);
        let idle = self.idle.saturating_sub(before.idle);
        self.cpus as f64 * (1.0 - idle as f64 / all as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measuring_begins_when_it_has_been_quiet_for_long_enough_or_with_a_warning() {
        let mut used = [1.9, 0.0, 0.02, 0.4, 0.0, 0.06, 0.03, 9.0].into_iter();
        assert_eq!(settled(|| used.next()), None);
        // Three in a row, and no more was asked.
        assert_eq!(used.next(), Some(9.0));
        let why = settled(|| Some(1.25)).unwrap();
        assert!(
            why.contains("300 s") && why.contains("1.2 of them"),
            "{why}"
        );
        assert_eq!(settled(|| None), None);
    }

    #[test]
    fn used_time_is_read_from_the_kernel_and_stolen_time_counts() {
        let before = Times::parse("cpu  10 0 10 100 0 0 0 0 0 0\ncpu0 1 2\ncpu1 1 2\nintr 7\n");
        let after = Times::parse("cpu  20 0 20 150 10 0 0 20 0 0\ncpu0 1 2\ncpu1 1 2\nintr 9\n");
        let used = after.unwrap().since(before.unwrap());
        // 40 ticks of 100, of two CPUs.
        assert!((used - 0.8).abs() < 1e-9, "{used}");
        assert_eq!(Times::parse("intr 7"), None);
    }
}
