//! `cargo xtask soak`: millions of calls, and a watchdog.

use xtask::step::{self, Done, root};

/// Builds and runs `benches/programs/soak.rs`.
///
/// # Errors
/// A call waits for ever, an answer is wrong, or the program does not build.
pub(crate) fn run(soak_args: &[String]) -> Done {
    let mut soak = step::cargo();
    soak.current_dir(root())
        .args(["run", "--release", "--bin", "soak", "--"])
        .args(soak_args);
    step::run(&mut soak)
}
