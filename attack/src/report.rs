//! Rows of what was measured.

use serde::Serialize;

/// The bound on a measurement.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Aim {
    AtLeast(f64),
    AtMost(f64),
}

/// One measurement beside its aim.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    name: String,
    measured: f64,
    aim: Aim,
    note: String,
}

/// The rows of one attack.
#[derive(Debug)]
pub(crate) struct Report {
    attack: &'static str,
    quick: bool,
}

impl Report {
    pub(crate) fn new(attack: &'static str, quick: bool) -> Self {
        Self { attack, quick }
    }

    /// Prints a row.
    pub(crate) fn row(&self, name: &str, measured: f64, aim: Aim, note: impl Into<String>) {
        let row = Row {
            name: format!("{}:{name}", self.attack),
            // JSON has no other numbers; three digits behind the point are more than any of these has.
            measured: (measured * 1000.0).round() / 1000.0,
            aim,
            note: note.into(),
        };
        match serde_json::to_string(&row) {
            Ok(line) => println!("{line}"),
            Err(why) => eprintln!("{row:?}: {why:#}"),
        }
    }

    /// Prints a row whose measure is a time or a ratio of times. A short run neither has enough calls for it, nor the
    /// machine for itself: what it measured goes to standard error.
    pub(crate) fn timed(&self, name: &str, measured: f64, aim: Aim, note: impl Into<String>) {
        if self.quick {
            eprintln!("{}:{name} {measured:.3} (not checked)", self.attack);
        } else {
            self.row(name, measured, aim, note);
        }
    }

    /// Prints a row that says how many of `expected` legitimate cases passed.
    pub(crate) fn passed(&self, name: &str, passed: usize, expected: usize) {
        self.row(name, count(passed), Aim::AtLeast(count(expected)), "");
    }
}

/// A count as a measure; ours are far below where an f64 stops being exact.
pub(crate) fn count(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::MAX, f64::from)
}

/// Octets in MiB.
pub(crate) fn mib(octets: usize) -> f64 {
    count(octets / 1024) / 1024.0
}
