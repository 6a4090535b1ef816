//! The chores that measure and draw, which are a program of their own: `benches/measure`.

use clap::Args;
use std::process::Command;
use xtask::step::{self, Done, TEST, root, target};

/// The arguments of such a chore.
#[derive(Args, Debug)]
pub(crate) struct MeasureOptions {
    /// Handed to the program: see `--help` of the chore
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Runs the chore with the arguments it was called with.
///
/// # Errors
/// The program does not build, or the chore fails.
pub(crate) fn run(chore: &str, options: &MeasureOptions) -> Done {
    let mut program = step::cargo();
    program
        .current_dir(root())
        .args(["run", "--quiet", "--package", "zorb-measure", "--", chore])
        .args(&options.arguments);
    step::run(&mut program)
}

/// A chore in its short form, a phase of the tests: with the program that has been built with them.
///
/// # Errors
/// Returns the errors of [`run`].
pub(crate) fn quickly(chore: &str) -> Done {
    let mut build = step::cargo();
    build
        .current_dir(root())
        .args(["build", "--quiet", "--workspace", "--test", TEST])
        .args(["--bin", "zorb-measure"]);
    step::run(&mut build)?;
    let mut program = Command::new(target().join("debug/zorb-measure"));
    program.current_dir(root()).args([chore, "--quick"]);
    step::run(&mut program)
}
