//! `cargo xtask compare --against REV`: this revision's programs beside those of another one.
//!
//! Three contenders do the same work in each round, in random order: the programs of the revision, a second copy of
//! them, and those of this tree. What the two copies differ by is the resolution of a row: no smaller difference says
//! anything. Both copies run in the very rounds that they are the measure of, as a machine that is quiet now may not be
//! so in ten minutes.
//!
//! The programs of a revision are driven by the command line of `FROZEN`: it stays as it is, so that any revision can
//! be judged from any later one. What a revision cannot do yet it says itself (`bench-client --can`).

mod revision;
mod rows;
mod verdict;

use crate::compare::CompareOptions;
use crate::compare::cell::Cell;
use crate::compare::results::once;
use crate::markers;
use crate::measure::awake::Awake;
use crate::measure::machine::{self, Machine};
use crate::measure::place::{Cpus, Placement};
use crate::measure::programs::{self, Abilities};
use crate::measure::run::Sample;
use crate::measure::{quiet, tools};
use revision::Revision;
use std::path::PathBuf;
use verdict::Verdict;
use xtask::step::{Done, root};

/// The options of `bench-client` and `bench-server` that other revisions are driven by, of both unless the first word
/// says otherwise. None of them may be removed, renamed or given another meaning.
#[cfg(test)]
const FROZEN: [&str; 11] = [
    "--ior",
    "--runtime",
    "--wait",
    "--peer",
    "client --op",
    "client --size",
    "client --iters",
    "client --warmup",
    "client --threads",
    "client --in-flight",
    "client --can",
];

/// Whose programs run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Contender {
    Old,
    /// A second copy of the old programs.
    Again,
    New,
}

const CONTENDERS: [Contender; 3] = [Contender::Old, Contender::Again, Contender::New];

/// One cell, by contender and round.
#[derive(Debug)]
struct Compared {
    cell: Cell,
    samples: [Vec<Sample>; 3],
}

impl Compared {
    fn of(&self, contender: Contender) -> &[Sample] {
        let [old, again, new] = &self.samples;
        match contender {
            Contender::Old => old,
            Contender::Again => again,
            Contender::New => new,
        }
    }

    fn keep(&mut self, contender: Contender, sample: Sample) {
        let [old, again, new] = &mut self.samples;
        match contender {
            Contender::Old => old.push(sample),
            Contender::Again => again.push(sample),
            Contender::New => new.push(sample),
        }
    }
}

/// Measures every row whose name contains one of the words, or all, and prints ratios.
///
/// # Errors
/// A revision does not build, a program fails, or a row is short of its aim.
pub(crate) fn run(revision: &str, options: &CompareOptions, words: &[String]) -> Done {
    tools::ready(&["taskset", "git"])?;
    programs::build(
        &["zorb-workspace"],
        &["--bin", "bench-client", "--bin", "bench-server"],
        &[],
    )?;
    let old = Revision::built(revision)?;
    let new = programs::folder();
    let lacking = [Abilities::of(old.programs())?, Abilities::of(&new)?];
    let awake = Awake::keep().is_ok();
    let cells: Vec<Cell> = rows::cells(words)
        .into_iter()
        .filter(|cell| cell.placement != Placement::Awake || awake)
        .filter(|cell| {
            lacking
                .iter()
                .all(|can| can.lack(cell.peer.needs).is_empty())
        })
        .collect();
    if cells.is_empty() {
        let known: Vec<_> = rows::works().iter().map(|work| work.name()).collect();
        return Err(format!(
            "no row is called so; there are {}",
            known.join(", ")
        ));
    }
    let (rounds, share) = options.effort();
    let cpus = Cpus::pick()?;
    let warning = if options.quick {
        None
    } else {
        quiet::wait().warning
    };
    let machine = Machine::here();
    let mut all: Vec<Compared> = cells
        .into_iter()
        .map(|cell| Compared {
            cell,
            samples: Default::default(),
        })
        .collect();
    for round in 1..=rounds {
        let mut order: Vec<usize> = (0..all.len()).collect();
        fastrand::shuffle(&mut order);
        for n in order {
            let Some(compared) = all.get_mut(n) else {
                continue;
            };
            let mut contenders = CONTENDERS;
            fastrand::shuffle(&mut contenders);
            for contender in contenders {
                let ours: PathBuf = match contender {
                    Contender::New => new.clone(),
                    Contender::Old | Contender::Again => old.programs().to_owned(),
                };
                let sample = once(&ours, &compared.cell, share, cpus)?;
                compared.keep(contender, sample);
            }
        }
        eprintln!("round {round} of {rounds}, load {}", machine::load());
    }
    let verdict = Verdict::of(&all);
    let warning = warning.map_or_else(String::new, |why| format!("- Warning: {why}\n"));
    let text = format!(
        "{}- against {}; {rounds} rounds; {cpus}\n{warning}\n{}",
        machine.lines(),
        old.name(),
        verdict.table()
    );
    println!("{text}");
    if options.record {
        markers::fill(&root().join("benches/compare.md"), "against", &text)?;
    }
    // Three short rounds are no measurement.
    if options.quick {
        return Ok(());
    }
    verdict.judged()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::peer::Peer;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The options among the words.
    fn options(words: impl IntoIterator<Item = String>) -> BTreeSet<String> {
        words
            .into_iter()
            .filter(|word| word.starts_with("--"))
            .collect()
    }

    #[test]
    fn the_rows_need_no_option_that_is_not_frozen() {
        let ours = Path::new("");
        for cell in rows::cells(&[]) {
            let Peer { name, .. } = cell.peer;
            for option in options(cell.peer.server(ours)) {
                assert!(FROZEN.contains(&option.as_str()), "{name}: {option}");
            }
            for option in options(cell.peer.client(ours)) {
                let client = format!("client {option}");
                let frozen = [option.as_str(), client.as_str()];
                assert!(
                    frozen.iter().any(|it| FROZEN.contains(it)),
                    "{name}: {option}"
                );
            }
        }
        for option in options(crate::compare::work("noparams", 0).args()) {
            assert!(
                FROZEN.contains(&format!("client {option}").as_str()),
                "{option}"
            );
        }
    }

    #[test]
    fn the_programs_still_know_what_is_frozen() {
        let folder = root().join("benches/programs");
        let text = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        let client = text("client/options.rs") + &text("flavor.rs") + &text("abilities.rs");
        let server = text("bench-server.rs") + &text("flavor.rs");
        let knows = |text: &str, option: &str| {
            let name = option.trim_start_matches('-').replace('-', "_");
            text.contains(&format!("{name}: ")) || text.contains(&format!("\"{option}\""))
        };
        for option in FROZEN {
            match option.split_once(' ') {
                Some(("client", option)) => assert!(knows(&client, option), "{option}"),
                _ => assert!(knows(&client, option) && knows(&server, option), "{option}"),
            }
        }
    }
}
