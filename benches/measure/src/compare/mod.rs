//! `cargo xtask compare`: calls of ours, of omniORB and of no ORB at all, beside each other; or beside those of another
//! revision of ours.

mod against;
mod revision;
mod verdict;

use crate::measure::awake::Awake;
use crate::measure::peer::Peer;
use crate::measure::place::{Cpus, Placement};
use crate::measure::programs::{self, Abilities};
use crate::measure::run::{Sample, Server, Work};
use crate::measure::statistics::{median, median_ratio, three_digits};
use crate::measure::{machine, quiet};
use Placement::{Awake as AwakeCpus, Free, Same, Split};
use clap::Args;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use xtask::step::{Done, root};

/// How `compare` and the claims that compare are run.
#[derive(Args, Clone, Debug)]
#[group(id = "compare")]
pub(crate) struct CompareOptions {
    /// Rounds; the medians of them count
    #[arg(long, default_value_t = 15)]
    pub(crate) rounds: usize,
    /// Fewer calls a round, and three rounds: to see that everything runs, not for figures
    #[arg(long)]
    pub(crate) quick: bool,
}

impl CompareOptions {
    /// Rounds, and how many of the usual calls are made in one.
    pub(crate) fn effort(&self) -> (usize, usize) {
        match self.quick {
            true => (self.rounds.min(3), 5),
            false => (self.rounds, 1),
        }
    }

    /// Waits for a quiet machine, if it is for figures; says what disturbs them.
    pub(crate) fn wait(&self) -> Option<String> {
        (!self.quick).then(quiet::wait).flatten()
    }
}

/// Work with so many calls that a round takes about a tenth of a second.
pub(crate) const fn work(op: &'static str, size: usize) -> Work {
    let iters = match (op.as_bytes(), size) {
        (b"oneway_noparams", _) => 20_000,
        (_, 0) => 4_000,
        (_, 0x10_0000..) => 200,
        _ => 1_000,
    };
    Work {
        op,
        size,
        iters,
        warmup: iters / 10,
        threads: 1,
    }
}

/// The calls of four client threads.
pub(crate) const fn four_threads(work: Work) -> Work {
    Work { threads: 4, ..work }
}

/// A row: work, placements, and the peers that do it.
type Row = (Work, &'static [Placement], &'static [&'static str]);

const PINNED: &[Placement] = &[Same, Split];
/// For calls so long that their callers park.
const LONG: &[Placement] = &[Same, Split, AwakeCpus];

const NOPARAMS: &[&str] = &[
    "omni",
    "omni-unix",
    "raw",
    "raw-unix",
    "raw-spin",
    "tokio-current",
    "tokio-dedicated",
    "tokio-multi",
    "zorb-default",
    "zorb-default-main",
    "zorb-current",
    "zorb-dedicated",
    "zorb-dedicated-unix",
    "zorb-dedicated-spin",
    "zorb-dedicated-spin-unix",
    "zorb-default-shm",
    "zorb-dedicated-shm",
    "zorb-dedicated-spin-shm",
    "zorb-blocking-shm",
    "zorb-dedicated-native",
    "zorb-dedicated-native-unix",
    "zorb-dedicated-native-shm",
    "zorb-blocking",
    "zorb-on-omni",
    "omni-on-zorb",
    "zorb-64-in-flight",
];
const SOME: &[&str] = &[
    "omni",
    "raw",
    "raw-spin",
    "zorb-default",
    "zorb-dedicated",
    "zorb-dedicated-spin",
    "zorb-blocking",
];
const ONE_WAY: &[&str] = &[
    "omni",
    "raw",
    "zorb-default",
    "zorb-dedicated",
    "zorb-dedicated-spin",
    "zorb-sync-none",
];
const CROWD: &[&str] = &[
    "omni",
    "raw",
    "zorb-default",
    "zorb-dedicated",
    "zorb-dedicated-spin",
];

const ROWS: [Row; 8] = [
    (work("noparams", 0), PINNED, NOPARAMS),
    (work("octet", 65_536), LONG, SOME),
    (work("struct", 1_024), LONG, SOME),
    (work("long", 16_384), LONG, SOME),
    (work("echostring", 10_240), LONG, SOME),
    (work("oneway_octet", 65_536), PINNED, ONE_WAY),
    (work("oneway_noparams", 0), PINNED, ONE_WAY),
    (four_threads(work("noparams", 0)), &[Free], CROWD),
];

/// One peer at one piece of work in one placement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) work: Work,
    pub(crate) peer: &'static Peer,
    pub(crate) placement: Placement,
}

/// The cells of the rows in whose names, or those of the peers, one of the words is; all, if there are no words.
///
/// # Errors
/// No row is called so.
fn cells(rows: &[Row], words: &[String]) -> Result<Vec<Cell>, String> {
    let mut cells = Vec::new();
    for (work, placements, peers) in rows {
        for placement in *placements {
            for peer in *peers {
                let name = work.name();
                let is_named =
                    |word: &String| name.contains(word.as_str()) || peer.contains(word.as_str());
                if words.is_empty() || words.iter().any(is_named) {
                    cells.push(Cell {
                        work: *work,
                        peer: Peer::named(peer)?,
                        placement: *placement,
                    });
                }
            }
        }
    }
    if cells.is_empty() {
        let known: Vec<_> = rows.iter().map(|(work, ..)| work.name()).collect();
        return Err(format!(
            "no row is called so; there are {}",
            known.join(", ")
        ));
    }
    Ok(cells)
}

/// The number of a sample that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stat {
    /// Microseconds, the middle of all calls.
    P50,
    /// Microseconds that one in a hundred calls takes longer than.
    P99,
    CallsPerSecond,
    /// Millions of octets a second.
    Throughput,
}

impl Stat {
    pub(crate) fn of(self, sample: &Sample) -> f64 {
        match self {
            Self::P50 => sample.p50_ns / 1000.0,
            Self::P99 => sample.p99_ns / 1000.0,
            Self::CallsPerSecond => sample.calls_per_s,
            Self::Throughput => sample.mbytes_per_s,
        }
    }

    /// The number that says most of that work: only the whole of one-way calls is timed, and only the whole of many
    /// threads says what they hinder each other.
    pub(crate) fn main_of(work: &Work) -> Self {
        match work.op {
            "oneway_noparams" => Self::CallsPerSecond,
            op if op.starts_with("oneway_") => Self::Throughput,
            _ if work.threads > 1 => Self::CallsPerSecond,
            _ => Self::P50,
        }
    }

    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::P50 | Self::P99 => "µs",
            Self::CallsPerSecond => "calls/s",
            Self::Throughput => "MB/s",
        }
    }
}

/// Measures every row whose name contains one of the words, or all, and prints ratios.
///
/// # Errors
/// Something does not build, run or end, or a server was sent something else than its clients sent.
pub(crate) fn run(
    options: &CompareOptions,
    against: Option<&str>,
    record: bool,
    rows: &[String],
) -> Done {
    if let Some(revision) = against {
        return against::run(revision, options, rows);
    }
    programs::ready()?;
    let cells = cells(&ROWS, rows)?;
    let warning = options.wait();
    let results = measure_cells(&cells, options)?;
    let mut text = format!("{}\n", machine::here(options.effort().0));
    if let Some(warning) = warning {
        let _ = writeln!(text, "\nWarning: {warning}");
    }
    text += &tables(&results);
    println!("{text}");
    if record {
        let page = format!("{PAGE}\n{text}");
        let file = root().join("benches/compare.md");
        fs::write(&file, page).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(())
}

/// The beginning of the page that `--record` writes.
const PAGE: &str = "# Comparison: all rows\n\nThe results of the last `cargo xtask compare --record`. \
    [COMPARE.md](../COMPARE.md) has the method, the peers and one table.\n";

/// One cell, in every round.
#[derive(Debug)]
pub(crate) struct Asked {
    cell: Cell,
    /// The samples by round; empty if the cell cannot be measured here.
    samples: Vec<Sample>,
    /// Missing abilities of our programs or of this machine.
    lacks: Vec<String>,
}

impl Asked {
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

/// Runs every cell once a round, in an order that is another one each round, each with a server of its own.
///
/// # Errors
/// A program fails, or a server was sent something else than its clients sent.
pub(crate) fn measure_cells(
    cells: &[Cell],
    options: &CompareOptions,
) -> Result<Vec<Asked>, String> {
    let (rounds, share) = options.effort();
    let (cpus, abilities) = (Cpus::pick()?, Abilities::ask()?);
    let may_keep_awake = Awake::keep().is_ok();
    let ask = |cell: &Cell| {
        let mut lacks = abilities.lack(&cell.peer.needs());
        if cell.placement == AwakeCpus && !may_keep_awake {
            lacks.push("leave to keep CPUs awake".to_owned());
        }
        Asked {
            cell: *cell,
            samples: Vec::new(),
            lacks,
        }
    };
    let mut all: Vec<Asked> = cells.iter().map(ask).collect();
    for round in 1..=rounds {
        let mut order: Vec<&mut Asked> = all.iter_mut().filter(|it| it.lacks.is_empty()).collect();
        fastrand::shuffle(&mut order);
        for asked in order {
            asked
                .samples
                .push(once(&programs::folder(), &asked.cell, share, cpus)?);
        }
        eprintln!("round {round} of {rounds}, load {}", machine::load());
    }
    Ok(all)
}

/// A measurement with a server of its own, by the programs of ours in that folder, of one part in `share` of the calls.
pub(crate) fn once(ours: &Path, cell: &Cell, share: usize, cpus: Cpus) -> Result<Sample, String> {
    let work = cell.work.shared(share);
    let (peer, placement) = (cell.peer, cell.placement);
    let mut server = Server::start_from(ours.to_owned(), peer, placement, cpus, &[], &[])?;
    let sample = server.measure(&work, &[], &[])?;
    server.end()?;
    Ok(sample)
}

/// A table for each piece of work in each placement.
fn tables(results: &[Asked]) -> String {
    let mut text = String::new();
    let mut rest: Vec<&Asked> = results.iter().collect();
    while let Some(Cell {
        work, placement, ..
    }) = rest.first().map(|one| one.cell)
    {
        let together = |one: &&Asked| (one.cell.work, one.cell.placement) == (work, placement);
        let (group, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(together);
        table(&mut text, work, placement, &group);
        rest = others;
    }
    text
}

fn table(text: &mut String, work: Work, placement: Placement, group: &[&Asked]) {
    let stat = Stat::main_of(&work);
    let find = |name| group.iter().find(|one| one.cell.peer.name == name);
    let (omni, raw) = (find("omni"), find("raw"));
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), three_digits);
    let _ = writeln!(
        text,
        "\n#### {}, {placement}\n\n| | {}, {} | p99 | ÷ omni | ÷ raw |\n|---|---:|---:|---:|---:|",
        work.name(),
        if stat == Stat::P50 { "p50" } else { "rate" },
        stat.unit()
    );
    for one in group {
        let name = one.cell.peer.name;
        if !one.lacks.is_empty() {
            let _ = writeln!(text, "| {name} | not there: {} |", one.lacks.join(", "));
            continue;
        }
        let ratio = |to: Option<&&Asked>| number(to.and_then(|to| one.over(to, stat)));
        let p99 = (stat == Stat::P50).then(|| one.median(Stat::P99)).flatten();
        let cells = [
            number(one.median(stat)),
            number(p99),
            ratio(omni),
            ratio(raw),
        ];
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_chosen_by_words_of_their_names() {
        let words = |words: &[&str]| words.iter().map(|&w| w.to_owned()).collect::<Vec<_>>();
        let all: usize = ROWS
            .iter()
            .map(|(_, places, peers)| places.len() * peers.len())
            .sum();
        assert_eq!(cells(&ROWS, &[]).unwrap().len(), all);
        let structs = cells(&ROWS, &words(&["struct"])).unwrap();
        assert!(structs.iter().all(|cell| cell.work.name() == "struct 1024"));
        assert!(cells(&ROWS, &words(&["nothing"])).is_err());
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_ratios() {
        let asked = |name: &str, times: [f64; 3]| Asked {
            cell: Cell {
                work: work("octet", 65_536),
                peer: Peer::named(name).unwrap(),
                placement: Same,
            },
            samples: times.map(verdict::tests::sample).to_vec(),
            lacks: Vec::new(),
        };
        // The machine gets slower; the second peer always takes twice as long.
        let both = [
            asked("raw", [1e4, 2e4, 5e4]),
            asked("omni", [2e4, 4e4, 1e5]),
        ];
        assert_eq!(both[1].over(&both[0], Stat::P50), Some(2.0));
        let text = tables(&both);
        assert!(text.contains("#### octet 65536, same\n"), "{text}");
        assert!(
            text.contains("| omni | 40.0 | 80.0 | 1.00 | 2.00 |"),
            "{text}"
        );
    }
}
