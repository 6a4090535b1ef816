//! `cargo xtask compare --against REV`: this revision's programs beside those of another one.
//!
//! Three contenders do the same work in each round, in random order: the programs of the revision, a second copy of
//! them, and those of this tree. What the two copies differ by is the resolution of a row: no smaller difference says
//! anything. Both copies run in the very rounds that they are the measure of, as a machine that is quiet now may not be
//! so in ten minutes.
//!
//! The programs of a revision are driven by the command line of `FROZEN`: it stays as it is, so that any revision can
//! be judged from any later one. What a revision cannot do yet it says itself (`bench-client --can`).

use super::revision::Revision;
use super::verdict::Verdict;
use super::{
    AwakeCpus, Cell, CompareOptions, Free, Row, Same, Split, cells, four_threads, once, work,
};
use crate::measure::awake::Awake;
use crate::measure::place::{Cpus, Placement};
use crate::measure::programs::{self, Abilities};
use crate::measure::run::Sample;
use crate::measure::{machine, tools};
use xtask::step::Done;

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

const PINNED: &[Placement] = &[Same, Split, AwakeCpus];
const CONFIGURATIONS: &[&str] = &["zorb-default", "zorb-dedicated-spin", "zorb-blocking"];

/// What a user of the ORB recognises, in each configuration and placement.
const ROWS: [Row; 8] = [
    (work("noparams", 0), PINNED, CONFIGURATIONS),
    (work("octet", 65_536), PINNED, CONFIGURATIONS),
    (work("struct", 1_024), PINNED, CONFIGURATIONS),
    (work("echostring", 10_240), PINNED, CONFIGURATIONS),
    (work("oneway_noparams", 0), PINNED, CONFIGURATIONS),
    (work("oneway_octet", 65_536), PINNED, CONFIGURATIONS),
    // The caller's tasks are one thread's, whichever configuration: 64 threads that block are a row of their own kind.
    (work("noparams", 0), PINNED, &["zorb-64-in-flight"]),
    (four_threads(work("noparams", 0)), &[Free], CONFIGURATIONS),
];

/// The samples of one cell by round: of the old programs, of their second copy, and of the new ones.
#[derive(Debug)]
pub(super) struct Compared {
    pub(super) cell: Cell,
    pub(super) samples: [Vec<Sample>; 3],
}

/// Measures every row whose name contains one of the words, or all, and prints ratios.
///
/// # Errors
/// A revision does not build, a program fails, or a row is short of its aim.
pub(super) fn run(revision: &str, options: &CompareOptions, words: &[String]) -> Done {
    tools::ready(&["taskset", "git"])?;
    let bins = ["--bin", "bench-client", "--bin", "bench-server"];
    programs::build(&["zorb-workspace"], &bins, &[])?;
    let old = Revision::built(revision)?;
    let new = programs::folder();
    let able = [Abilities::of(old.programs())?, Abilities::of(&new)?];
    let awake = Awake::keep().is_ok();
    let mut all: Vec<Compared> = cells(&ROWS, words)?
        .into_iter()
        .filter(|cell| cell.placement != AwakeCpus || awake)
        .filter(|cell| {
            able.iter()
                .all(|can| can.lack(&cell.peer.needs()).is_empty())
        })
        .map(|cell| Compared {
            cell,
            samples: Default::default(),
        })
        .collect();
    let (rounds, share) = options.effort();
    let cpus = Cpus::pick()?;
    let warning = options
        .wait()
        .map_or_else(String::new, |why| format!("\nWarning: {why}\n"));
    for round in 1..=rounds {
        let mut order: Vec<usize> = (0..all.len()).collect();
        fastrand::shuffle(&mut order);
        for n in order {
            let mut contenders = [0, 1, 2];
            fastrand::shuffle(&mut contenders);
            let Some(Compared { cell, samples }) = all.get_mut(n) else {
                continue;
            };
            for contender in contenders {
                let ours = if contender == 2 { &new } else { old.programs() };
                let sample = once(ours, cell, share, cpus)?;
                samples[contender].push(sample);
            }
        }
        eprintln!("round {round} of {rounds}, load {}", machine::load());
    }
    let verdict = Verdict::of(&all);
    let (here, old) = (machine::here(rounds), old.name());
    println!(
        "{here} Against {old}; {cpus}.\n{warning}\n{}",
        verdict.table()
    );
    // Three short rounds are no measurement.
    match options.quick {
        true => Ok(()),
        false => verdict.judged(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::path::Path;
    use xtask::step::root;

    pub(crate) fn all_cells() -> Vec<Cell> {
        cells(&ROWS, &[]).unwrap()
    }

    #[test]
    fn the_rows_need_no_option_that_is_not_frozen() {
        let options = |words: Vec<String>| words.into_iter().filter(|word| word.starts_with("--"));
        let ours = Path::new("");
        for cell in all_cells() {
            for option in options(cell.peer.server(ours)) {
                assert!(
                    FROZEN.contains(&option.as_str()),
                    "{}: {option}",
                    cell.peer.name
                );
            }
            for option in options(cell.peer.client(ours)).chain(options(cell.work.args().to_vec()))
            {
                let client = format!("client {option}");
                let is_frozen = |it| FROZEN.contains(&it);
                assert!(
                    is_frozen(&*option) || is_frozen(&client),
                    "{}: {option}",
                    cell.peer.name
                );
            }
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
