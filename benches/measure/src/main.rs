//! Measurements and figures of zorb: attacks, claims, comparisons, the papers' experiments. Run as `cargo xtask …`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    reason = "printing is what these commands are for"
)]

mod attack;
mod claims;
mod compare;
mod figures;
mod instructions;
mod measure;
mod row;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Measures zorb.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Attacks a server in a process of its own, and measures its memory and the latency of an honest client
    Attack {
        #[command(flatten)]
        options: attack::AttackOptions,
    },
    /// Prints what is measured beside what is aimed at, and fails when something falls short
    Claims {
        #[command(flatten)]
        options: claims::ClaimsOptions,
    },
    /// Times our calls beside those of omniORB and of no ORB at all, or of another revision of ours, and prints ratios
    Compare {
        #[command(flatten)]
        options: compare::CompareOptions,
        /// Beside the programs of this revision, which are built in a worktree, and fails when a row takes longer
        #[arg(long, value_name = "REV", conflicts_with = "record")]
        against: Option<String>,
        /// Write the tables into benches/compare.md
        #[arg(long)]
        record: bool,
        /// Rows whose names, or whose peers' names, contain one of these: noparams, octet, zorb-blocking, ×4
        rows: Vec<String>,
    },
    /// Redoes the experiments of the papers, and writes their data and pictures
    Figures {
        #[command(flatten)]
        options: figures::FiguresOptions,
    },
    /// Counts instructions of the hot path, and fails when there are more than benches/instructions.txt has
    Instructions {
        /// Rows whose names contain one of these
        rows: Vec<String>,
        /// Write the counts down instead
        #[arg(long)]
        record: bool,
    },
}

fn main() -> ExitCode {
    let done = match Args::parse().chore {
        Chore::Attack { options } => attack::run(&options),
        Chore::Claims { options } => claims::run(&options),
        Chore::Compare {
            options,
            against,
            record,
            rows,
        } => compare::run(&options, against.as_deref(), record, &rows),
        Chore::Figures { options } => figures::run(&options),
        Chore::Instructions { rows, record } => instructions::run(&rows, record),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_holds_together() {
        Args::command().debug_assert();
    }
}
