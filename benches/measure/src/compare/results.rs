//! Measuring cells round by round, and what came of it.

use crate::compare::CompareOptions;
use crate::compare::cell::{Cell, Stat};
use crate::measure::awake::Awake;
use crate::measure::machine::{self, Machine};
use crate::measure::place::{Cpus, Placement};
use crate::measure::programs::{self, Abilities};
use crate::measure::quiet;
use crate::measure::run::{Sample, Server, Work};
use crate::measure::statistics::{median, median_ratio};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// One cell, in every round.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) cell: Cell,
    /// The samples by round; empty if the cell cannot be measured yet.
    samples: Vec<Sample>,
    /// Missing abilities of our programs or of this machine.
    pub(crate) lacks: Vec<&'static str>,
}

/// Everything that was measured in one go.
#[derive(Debug)]
pub(crate) struct Results {
    machine: Machine,
    cpus: Cpus,
    rounds: usize,
    loads: Vec<f64>,
    /// Disturbances of the measurement.
    warning: Option<String>,
    pub(crate) all: Vec<Asked>,
}

/// One run of one cell, as it is written down.
#[derive(Serialize)]
struct Entry<'a> {
    work: String,
    peer: &'a str,
    placement: String,
    round: usize,
    p50_ns: f64,
    p99_ns: f64,
    calls_per_s: f64,
    mbytes_per_s: f64,
}

#[derive(Serialize)]
struct File<'a> {
    machine: &'a Machine,
    placements: String,
    rounds: usize,
    /// The load average of the last minute, after each round.
    loads: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'a str>,
    samples: Vec<Entry<'a>>,
}

/// Runs every cell once a round, in an order that is another one each round, each with a server of its own.
///
/// # Errors
/// A program fails, or a server was sent something else than its clients sent.
pub(crate) fn measure(
    cells: &[Cell],
    abilities: &Abilities,
    options: &CompareOptions,
) -> Result<Results, String> {
    let (rounds, share) = options.effort();
    let cpus = Cpus::pick()?;
    // A check that everything runs needs no quiet machine.
    let warning = if options.quick {
        None
    } else {
        quiet::wait().warning
    };
    let mut results = Results {
        machine: Machine::here(),
        cpus,
        rounds,
        loads: Vec::new(),
        warning,
        all: cells
            .iter()
            .map(|cell| Asked::new(*cell, abilities))
            .collect(),
    };
    for round in 1..=rounds {
        let mut order: Vec<usize> = (0..results.all.len()).collect();
        fastrand::shuffle(&mut order);
        for n in order {
            if let Some(asked) = results.all.get_mut(n).filter(|one| one.lacks.is_empty()) {
                let sample = once(&programs::folder(), &asked.cell, share, cpus)?;
                asked.samples.push(sample);
            }
        }
        let load = machine::load();
        results.loads.push(load);
        eprintln!("round {round} of {rounds}, load {load}");
    }
    Ok(results)
}

/// A measurement with a server of its own, by the programs of ours in that folder, of one part in `share` of the calls.
pub(crate) fn once(ours: &Path, cell: &Cell, share: usize, cpus: Cpus) -> Result<Sample, String> {
    let work = Work {
        iters: cell.work.iters / share,
        warmup: cell.work.warmup / share,
        ..cell.work
    };
    let (peer, placement) = (cell.peer, cell.placement);
    let mut server = Server::start_from(ours.to_owned(), peer, placement, cpus, &[], &[])?;
    let sample = server.measure(&work, &[], &[])?;
    server.end()?;
    Ok(sample)
}

impl Asked {
    fn new(cell: Cell, abilities: &Abilities) -> Self {
        let mut lacks = abilities.lack(cell.peer.needs);
        if cell.placement == Placement::Awake && Awake::keep().is_err() {
            lacks.push("leave to keep CPUs awake");
        }
        Self {
            cell,
            samples: Vec::new(),
            lacks,
        }
    }

    fn rounds(&self, stat: Stat) -> Vec<Option<f64>> {
        self.samples.iter().map(|s| Some(stat.of(s))).collect()
    }

    /// The median over the rounds.
    pub(crate) fn median(&self, stat: Stat) -> Option<f64> {
        median(self.samples.iter().map(|sample| stat.of(sample)))
    }

    /// The median over the rounds of what it is of the other.
    pub(crate) fn over(&self, other: &Self, stat: Stat) -> Option<f64> {
        median_ratio(&self.rounds(stat), &other.rounds(stat))
    }
}

impl Results {
    pub(crate) fn find(&self, cell: &Cell) -> Option<&Asked> {
        self.all.iter().find(|asked| asked.cell == *cell)
    }

    /// The machine of the measurement.
    pub(crate) fn head(&self) -> String {
        let worst = self.loads.iter().copied().fold(0.0, f64::max);
        let (machine, cpus, rounds) = (self.machine.lines(), self.cpus, self.rounds);
        let warning = self.warning.as_ref();
        let warning = warning.map_or_else(String::new, |why| format!("- Warning: {why}\n"));
        let plural = if rounds == 1 { "" } else { "s" };
        format!(
            "{machine}- {rounds} round{plural}, the highest load after one {worst}; {cpus}\n{warning}"
        )
    }

    /// Every round, as JSON.
    pub(crate) fn to_json(&self) -> Result<String, String> {
        let mut samples = Vec::new();
        for Asked {
            cell, samples: all, ..
        } in &self.all
        {
            for (round, sample) in all.iter().enumerate() {
                samples.push(Entry {
                    work: cell.work.name(),
                    peer: cell.peer.name,
                    placement: cell.placement.to_string(),
                    round: round + 1,
                    p50_ns: sample.p50_ns,
                    p99_ns: sample.p99_ns,
                    calls_per_s: sample.calls_per_s,
                    mbytes_per_s: sample.mbytes_per_s,
                });
            }
        }
        let file = File {
            machine: &self.machine,
            placements: self.cpus.to_string(),
            rounds: self.rounds,
            loads: &self.loads,
            warning: self.warning.as_deref(),
            samples,
        };
        // A sample a line, so that a difference between two runs can be read.
        let text = serde_json::to_string(&file).map_err(|e| e.to_string())?;
        Ok(text.replace("},{", "},\n{").replace("[{", "[\n{") + "\n")
    }

    /// Writes it to a new file in the folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<PathBuf, String> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = now.map_or(0, |since| since.as_secs());
        let file = folder.join(format!("{seconds}.json"));
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        fs::write(&file, self.to_json()?).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(file)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::compare::matrix::cells;

    /// Made of numbers instead of programs: the p50 of the n-th cell in round r is `p50(n, r)` microseconds.
    pub(crate) fn made_up(
        cells: &[Cell],
        rounds: usize,
        p50: impl Fn(usize, usize) -> f64,
    ) -> Results {
        let sample = |us: f64| {
            let text = format!(
                r#"{{"p50_ns":{},"p99_ns":{},"calls_per_s":{},"mbytes_per_s":1,"calls":1,"digest":"1"}}"#,
                us * 1000.0,
                us * 2000.0,
                1e6 / us
            );
            serde_json::from_str(&text).unwrap()
        };
        let all = cells.iter().enumerate().map(|(n, cell)| Asked {
            cell: *cell,
            samples: (0..rounds).map(|r| sample(p50(n, r))).collect(),
            lacks: Vec::new(),
        });
        Results {
            machine: Machine::here(),
            cpus: Cpus::pick().unwrap_or_else(|_| Cpus::only(0)),
            rounds,
            loads: vec![0.0; rounds],
            warning: None,
            all: all.collect(),
        }
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_ratios() {
        let cells = &cells(&["octet 65536".to_owned()])[..2];
        // The machine gets slower; the second peer always takes twice as long.
        let results = made_up(cells, 3, |n, r| (r * r + 1) as f64 * (n + 1) as f64);
        let [first, second] = results.all.as_slice() else {
            panic!("two cells")
        };
        assert_eq!(second.over(first, Stat::P50), Some(2.0));
        assert_eq!(second.over(first, Stat::P99), Some(2.0));
        assert_eq!(first.median(Stat::P50), Some(2.0));
    }

    #[test]
    fn every_round_is_written_down() {
        let cells = &cells(&["octet 65536".to_owned()])[..2];
        let json = made_up(cells, 3, |_, _| 1.0).to_json().unwrap();
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["samples"].as_array().unwrap().len(), 6);
        assert!(read["machine"]["kernel"].is_string());
    }
}
