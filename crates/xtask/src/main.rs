//! The chores of the workspace, run as `cargo xtask …`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    reason = "printing is what these commands are for"
)]

mod measure;
mod soak;
mod testing;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use xtask::{cells, peers};

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
        options: testing::check::CheckOptions,
    },
    /// Does what `peers` does, then runs every test of the workspace; a test whose peer is missing fails
    Test {
        #[command(flatten)]
        options: testing::TestOptions,
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
    /// Compares the interop cells that the last `test` ran with those that are expected
    Cells,
    /// Attacks a server in a process of its own, and measures its memory and the latency of an honest client
    #[command(disable_help_flag = true)]
    Attack(measure::MeasureOptions),
    /// Prints what is measured beside what is aimed at, and fails when something falls short
    #[command(disable_help_flag = true)]
    Claims(measure::MeasureOptions),
    /// Times our calls beside those of omniORB and of no ORB at all, or of another revision of ours, and prints ratios
    #[command(disable_help_flag = true)]
    Compare(measure::MeasureOptions),
    /// Redoes the experiments of the papers, and writes their data, pictures and page
    #[command(disable_help_flag = true)]
    Figures(measure::MeasureOptions),
    /// Counts instructions of the hot path, and fails when there are more than benches/instructions.txt has
    #[command(disable_help_flag = true)]
    Instructions(measure::MeasureOptions),
}

fn main() -> ExitCode {
    let done = match Args::parse().chore {
        Chore::Peers => peers::ready(),
        Chore::Check { options } => testing::check::run(&options),
        Chore::Test { options } => testing::run(&options),
        Chore::PublicItems { record } => testing::public_items(record),
        Chore::Soak { soak_args } => soak::run(&soak_args),
        Chore::Cells => cells::show(),
        Chore::Attack(options) => measure::run("attack", &options),
        Chore::Claims(options) => measure::run("claims", &options),
        Chore::Compare(options) => measure::run("compare", &options),
        Chore::Figures(options) => measure::run("figures", &options),
        Chore::Instructions(options) => measure::run("instructions", &options),
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
