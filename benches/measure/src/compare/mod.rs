//! `cargo xtask compare`: calls of ours, of omniORB and of no ORB at all, beside each other.

mod against;
mod cell;
mod compared_table;
mod grouped;
mod matrix;
mod results;

pub(crate) use cell::{Cell, Stat};
pub(crate) use grouped::fill;
pub(crate) use matrix::{four_threads, work};
pub(crate) use results::{Asked, Results, measure as measure_cells, once};

use crate::markers;
use crate::measure::programs::{self, Abilities};
use clap::Args;
use std::path::PathBuf;
use xtask::step::{Done, root, target};

/// How `compare` and the rows of `claims speed` that need a comparison are run.
#[derive(Args, Clone, Debug)]
#[group(id = "compare")]
pub(crate) struct CompareOptions {
    /// Rounds; the medians of them count
    #[arg(long, default_value_t = 15)]
    pub(crate) rounds: usize,
    /// Fewer calls a round, and three rounds: to see that everything runs, not for figures
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write what was measured into the checked-in files: benches/compare.json, benches/compare.md, and the tables of
    /// README.md and COMPARE.md
    #[arg(long)]
    pub(crate) record: bool,
}

impl CompareOptions {
    /// Rounds, and how many of the usual calls are made in one.
    pub(crate) fn effort(&self) -> (usize, usize) {
        if self.quick {
            (self.rounds.min(3), 5)
        } else {
            (self.rounds, 1)
        }
    }
}

/// Measures every row whose name contains one of the words, or all, and prints ratios.
///
/// # Errors
/// Something does not build, run or end, or a server was sent something else than its clients sent.
pub(crate) fn run(options: &CompareOptions, against: Option<&str>, rows: &[String]) -> Done {
    if let Some(revision) = against {
        return against::run(revision, options, rows);
    }
    programs::ready()?;
    let abilities = Abilities::ask()?;
    let cells = matrix::cells(rows);
    if cells.is_empty() {
        let known: Vec<_> = matrix::works().iter().map(|work| work.name()).collect();
        return Err(format!(
            "no row is called so; there are {}",
            known.join(", ")
        ));
    }
    let results = results::measure(&cells, &abilities, options)?;
    let file = results.write(&target().join("compare"))?;
    let tables = compared_table::all(&results);
    println!("{tables}");
    println!("every round is in {}", file.display());
    if options.record {
        record(&results, &tables)?;
    }
    Ok(())
}

fn record(results: &Results, tables: &str) -> Done {
    let text = results.to_json()?;
    let file = root().join("benches/compare.json");
    std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    fill()?;
    markers::fill(
        &page_file(),
        "figures",
        &format!("{}\n{tables}", results.head()),
    )
}

/// Fills in what the claims came to.
pub(crate) fn record_claims(lines: &str) -> Done {
    markers::fill(&page_file(), "claims", lines)
}

fn page_file() -> PathBuf {
    root().join("benches/compare.md")
}
