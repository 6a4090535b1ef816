//! The chores of the workspace, run as `cargo xtask …`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    reason = "printing is what these commands are for"
)]

mod cells;
mod claims;
mod idl;
mod list;
mod peers;
mod sources;
mod step;
mod test;

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
    /// Does what `peers` does, then runs every test of the workspace; a test whose peer is missing fails
    Test {
        /// Handed to `cargo test`, after --workspace
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        cargo_args: Vec<String>,
    },
    /// Compares the interop cells that the last `test` ran with those that are expected
    Cells,
    /// Prints what is measured beside what is aimed at, and fails when something falls short
    Claims {
        /// One of the areas that `claims` without an area lists
        area: Option<String>,
    },
}

fn main() -> ExitCode {
    let done = match Args::parse().chore {
        Chore::Peers => peers::ready(),
        Chore::Test { cargo_args } => test::run(&cargo_args),
        Chore::Cells => cells::show(),
        Chore::Claims { area: Some(area) } => claims::run(&area),
        Chore::Claims { area: None } => {
            claims::list();
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
