//! The chores of the workspace, run as `cargo xtask …`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    reason = "printing is what these commands are for"
)]

mod attack;
mod cells;
mod claims;
mod compare;
mod engine;
mod figures;
mod idl;
mod list;
mod markers;
mod measure;
mod peers;
mod soak;
mod sources;
mod speed;
mod step;
mod testing;
mod waiting;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The chores of the workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Installs what the peers need (as root) and builds them
    Peers,
    /// Formatting, lints and tests of what has changed, and of what depends on it, without peers
    Check {
        #[command(flatten)]
        options: testing::check::Options,
    },
    /// Does what `peers` does, then runs every test of the workspace; a test whose peer is missing fails
    Test {
        #[command(flatten)]
        options: testing::Options,
    },
    /// Compares the public items of the libraries with the lists in tests/public-items
    PublicItems {
        /// Write the lists instead
        #[arg(long)]
        record: bool,
    },
    /// Makes millions of calls of the kinds that could lose a wake-up, and fails when one hangs
    Soak {
        /// Handed to the program: see `--help` of it
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        soak_args: Vec<String>,
    },
    /// Attacks a server in a process of its own, and measures its memory and the latency of an honest client
    Attack {
        #[command(flatten)]
        options: attack::Options,
    },
    /// Compares the interop cells that the last `test` ran with those that are expected
    Cells,
    /// Prints what is measured beside what is aimed at, and fails when something falls short
    Claims {
        #[command(flatten)]
        options: claims::Options,
    },
    /// Times our calls beside those of omniORB and of no ORB at all, or of another revision of ours, and prints ratios
    Compare {
        #[command(flatten)]
        options: compare::Options,
        /// Beside the programs of this revision, which are built in a worktree, and fails when a row takes longer
        #[arg(long, value_name = "REV")]
        against: Option<String>,
        /// Rows whose names contain one of these: noparams, octet, struct, long, echostring, oneway, ×4
        rows: Vec<String>,
    },
    /// Redoes the experiments of the papers, and writes their data, pictures and page
    Figures {
        #[command(flatten)]
        options: figures::Options,
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
        Chore::Peers => peers::ready(),
        Chore::Check { options } => testing::check::run(&options),
        Chore::Test { options } => testing::run(&options),
        Chore::PublicItems { record } => testing::public_items(record),
        Chore::Soak { soak_args } => soak::run(&soak_args),
        Chore::Attack { options } => attack::run(&options),
        Chore::Cells => cells::show(),
        Chore::Claims { options } => claims::run(&options),
        Chore::Compare {
            options,
            against,
            rows,
        } => compare::run(&options, against.as_deref(), &rows),
        Chore::Figures { options } => figures::run(&options),
        Chore::Instructions { rows, record } => speed::recorded::run(&rows, record),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
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
