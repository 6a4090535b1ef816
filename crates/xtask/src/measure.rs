//! The chores that measure and draw, which are a program of their own: `benches/measure`.

use clap::Args;
use xtask::step::{self, Done, root};

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
    start(chore, &options.arguments)
}

/// A chore in its short form, a phase of the tests.
///
/// # Errors
/// As [`run`].
pub(crate) fn quickly(chore: &str) -> Done {
    start(chore, &["--quick".to_owned()])
}

fn start(chore: &str, arguments: &[String]) -> Done {
    let mut program = step::cargo();
    program
        .current_dir(root())
        .args(["run", "--quiet", "--package", "zorb-measure", "--", chore])
        .args(arguments);
    step::run(&mut program)
}
