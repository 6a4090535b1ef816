//! Waiting for a machine that has nothing else to do: what others do beside a measurement is in its numbers.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// Others may use so much of a CPU, as a machine's housekeeping does.
const QUIET: f64 = 0.1;
/// The length of one observation; and the number of observations in a row that have to be quiet.
const WHILE: Duration = Duration::from_secs(1);
const IN_A_ROW: usize = 3;
/// How long is looked without waiting.
const MOMENT: Duration = Duration::from_millis(200);
/// Whiles after which waiting is given up, five minutes together: a build is over by then, and what is not by then may
/// never be.
const PATIENCE: usize = 300;

/// The load of other processes before a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Others {
    /// CPUs that they used, on average of the last whiles; nothing where the kernel does not say.
    pub(crate) used: Option<f64>,
    /// That there was no quiet, for readers of the results.
    pub(crate) warning: Option<String>,
}

/// Waits until others use hardly anything of the CPUs, and says so on the terminal if that takes longer than it takes
/// to see it. What the load average of the last minute is does not matter: it is of what was before.
///
/// Blocks the thread for three seconds at least, for five minutes at most.
pub(crate) fn wait() -> Others {
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

/// The CPU time that others use at the moment, without waiting for it to end: for a look, not for figures.
///
/// Blocks the thread for a fifth of a second.
pub(crate) fn look() -> Others {
    let before = times();
    sleep(MOMENT);
    let used = before.zip(times());
    Others {
        used: used.map(|(before, after)| after.since(before)),
        warning: None,
    }
}

/// Asks what is used until that is little for long enough, or for too long.
fn settled(mut used: impl FnMut() -> Option<f64>) -> Others {
    let mut quiet = Vec::new();
    let mut last = None;
    for _ in 0..PATIENCE {
        last = used();
        // Where the kernel does not say, nothing can be waited for.
        match last.filter(|used| *used > QUIET) {
            Some(_) => quiet.clear(),
            None => quiet.push(last),
        }
        if quiet.len() == IN_A_ROW {
            let sum: Option<f64> = quiet.into_iter().sum();
            return Others {
                used: sum.map(|sum| sum / IN_A_ROW as f64),
                warning: None,
            };
        }
    }
    let warning = format!(
        "others did not let go of the CPUs within {} s, and used {:.1} of them when measuring began",
        PATIENCE as u64 * WHILE.as_secs(),
        last.unwrap_or_default()
    );
    Others {
        used: last,
        warning: Some(warning),
    }
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
    fn measuring_begins_when_it_has_been_quiet_for_long_enough() {
        let mut used = [1.9, 0.0, 0.02, 0.4, 0.0, 0.06, 0.03, 9.0].into_iter();
        let others = settled(|| used.next());
        assert!((others.used.unwrap() - 0.03).abs() < 1e-9, "{others:?}");
        assert_eq!(others.warning, None);
        // Three in a row, and no more was asked.
        assert_eq!(used.next(), Some(9.0));
    }

    #[test]
    fn waiting_is_given_up_with_a_warning() {
        let mut asked = 0;
        let others = settled(|| {
            asked += 1;
            Some(1.25)
        });
        assert_eq!((asked, others.used), (PATIENCE, Some(1.25)));
        let why = others.warning.unwrap();
        assert!(
            why.contains("300 s") && why.contains("1.2 of them"),
            "{why}"
        );
    }

    #[test]
    fn a_kernel_that_does_not_say_is_not_waited_for() {
        assert_eq!(settled(|| None), Others::default());
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
