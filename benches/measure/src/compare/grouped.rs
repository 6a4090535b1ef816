//! The tables of README.md and COMPARE.md, from the recorded comparison: programs that park beside programs that park,
//! and programs that spin beside programs that spin.

use crate::markers;
use crate::measure::machine::Machine;
use crate::measure::statistics::{median, three_digits};
use serde::Deserialize;
use std::fs;
use xtask::step::{Done, root};

/// The recorded comparison, as far as the tables need it.
#[derive(Deserialize)]
struct Recorded {
    machine: Machine,
    rounds: usize,
    samples: Vec<Run>,
}

/// One run of one peer.
#[derive(Deserialize)]
struct Run {
    work: String,
    peer: String,
    placement: String,
    p50_ns: f64,
    p99_ns: f64,
}

/// The columns: how a program waits and which it is, and the peer of the comparison.
const COLUMNS: [(&str, &str); 5] = [
    ("parking: zorb", "zorb-dedicated"),
    ("parking: omniORB", "omni"),
    ("parking: raw sockets", "raw"),
    ("spinning: zorb", "zorb-default"),
    ("spinning: raw sockets", "raw-spin"),
];

/// A work, as the comparison and as a table calls it.
type Work = (&'static str, &'static str);

/// The rows of README.md.
const FRONT: [Work; 3] = [
    ("noparams", "without parameters"),
    ("octet 65536", "with 65,536 octets"),
    ("struct 1024", "with 1,024 structs"),
];

/// The rows of COMPARE.md.
const ALL: [Work; 4] = [
    FRONT[0],
    FRONT[1],
    FRONT[2],
    ("echostring 10240", "with 10,240 characters both ways"),
];

/// A placement, as the comparison and as a table calls it.
const PLACEMENTS: [(&str, &str); 2] = [("same", "one CPU"), ("split", "a CPU each")];

impl Recorded {
    fn read() -> Result<Self, String> {
        let file = root().join("benches/compare.json");
        let shown = file.display();
        let text = fs::read_to_string(&file).map_err(|e| format!("{shown}: {e}"))?;
        serde_json::from_str(&text).map_err(|e| format!("{shown}: {e}"))
    }

    /// `17.4 (47.0)`: the medians over the rounds of the median latency and of the 99th percentile, in microseconds.
    fn cell(&self, work: &str, placement: &str, peer: &str) -> String {
        let runs = || {
            let all = self.samples.iter();
            all.filter(|it| it.work == work && it.placement == placement && it.peer == peer)
        };
        let p50 = median(runs().map(|run| run.p50_ns / 1000.0));
        let p99 = median(runs().map(|run| run.p99_ns / 1000.0));
        match p50.zip(p99) {
            Some((p50, p99)) => format!("{} ({})", three_digits(p50), three_digits(p99)),
            None => "–".to_owned(),
        }
    }

    fn table(&self, rows: &[Work]) -> String {
        let heads = COLUMNS.map(|(head, _)| head).join(" | ");
        let rule = "---:|".repeat(COLUMNS.len());
        let mut lines = vec![
            format!("| µs a call | programs on | {heads} |"),
            format!("|---|---|{rule}"),
        ];
        for (work, what) in rows {
            for (placement, place) in PLACEMENTS {
                let cells = COLUMNS.map(|(_, peer)| self.cell(work, placement, peer));
                lines.push(format!("| {what} | {place} | {} |", cells.join(" | ")));
            }
        }
        lines.join("\n")
    }

    /// When, where and how often it was measured.
    fn caption(&self) -> String {
        let commit = self.machine.commit();
        let Machine {
            date,
            cpu,
            cpus,
            kernel,
            omniorb,
            ..
        } = &self.machine;
        format!(
            "{date} UTC, {commit}, {} rounds. {cpu}, {cpus} CPUs, {kernel}. omniORB {omniorb}.",
            self.rounds
        )
    }

    /// README.md: calls over TCP.
    fn front(&self) -> String {
        format!(
            "{}\n\nMedian latency over TCP on one machine (99th percentile). *Parking* programs sleep until a message comes: zorb on \
             a dedicated thread, omniORB, blocking sockets that send as many octets. *Spinning* ones poll before they sleep: \
             zorb by default, and such sockets.\n\n{}",
            self.table(&FRONT),
            self.caption()
        )
    }

    /// COMPARE.md: the same, of more kinds of call.
    fn calls(&self) -> String {
        format!("{}\n\n{}", self.table(&ALL), self.caption())
    }
}

/// A page, its block, and what is filled in there.
type Block = (&'static str, &'static str, fn(&Recorded) -> String);

const BLOCKS: [Block; 2] = [
    ("README.md", "speed", Recorded::front),
    ("COMPARE.md", "calls", Recorded::calls),
];

/// Fills in both tables from the recorded comparison.
///
/// # Errors
/// The comparison or a page cannot be read or written, or a page has no place for its table.
pub(crate) fn fill() -> Done {
    let recorded = Recorded::read()?;
    for (page, name, text) in BLOCKS {
        markers::fill(&root().join(page), name, &text(&recorded))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markers::filled;

    fn recorded(samples: Vec<Run>) -> Recorded {
        Recorded {
            machine: Machine::here(),
            rounds: 2,
            samples,
        }
    }

    fn run(peer: &str, us: f64) -> Run {
        Run {
            work: "noparams".to_owned(),
            peer: peer.to_owned(),
            placement: "split".to_owned(),
            p50_ns: 1000.0 * us,
            p99_ns: 2000.0 * us,
        }
    }

    #[test]
    fn programs_stand_beside_those_that_wait_as_they_do() {
        let runs = [("zorb-dedicated", 50.0), ("zorb-dedicated", 54.0)];
        let runs = runs.into_iter().chain([("raw", 48.0), ("raw-spin", 8.0)]);
        let table = recorded(runs.map(|(peer, us)| run(peer, us)).collect()).table(&FRONT);
        for line in [
            "| µs a call | programs on | parking: zorb | parking: omniORB | parking: raw sockets | spinning: zorb |",
            "| without parameters | a CPU each | 52.0 (104) | – | 48.0 (96.0) | – | 8.00 (16.0) |",
            "| without parameters | one CPU | – | – | – | – | – |",
        ] {
            assert!(table.contains(line), "no {line} in {table}");
        }
    }

    #[test]
    fn readme_and_compare_have_the_recorded_calls() {
        let recorded = Recorded::read().unwrap();
        for (page, name, text) in BLOCKS {
            let before = fs::read_to_string(root().join(page)).unwrap();
            let text = text(&recorded);
            assert!(!text.contains("| – |"), "{page}: {text}");
            let after = filled(&before, name, &text).unwrap();
            assert!(
                before == after,
                "{page}: run cargo xtask figures --redraw, for:\n{text}"
            );
        }
    }
}
