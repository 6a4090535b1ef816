//! Licences, duplicates and sources of dependencies, as `deny.toml` allows them.

use crate::testing::executables::WRAPPER;
use xtask::step::{self, Done, cargo, on_path, root};

/// The version that is installed where there is none.
const VERSION: &str = "0.20.2";

/// Runs `cargo deny`, of which only the part about advisories needs a network; installs it first where it is missing.
/// Its look-up of dependencies includes those of other platforms, which no build has downloaded.
///
/// # Errors
/// It cannot be installed, or a dependency is not as `deny.toml` wants it.
pub(super) fn run() -> Done {
    if !on_path("cargo-deny") {
        let mut install = cargo();
        install
            .args(["install", "--quiet", "--locked", "--debug"])
            .args(["cargo-deny", "--version", VERSION])
            // Its code is not linted, nor debugged.
            .env_remove(WRAPPER)
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        step::run(&mut install)?;
    }
    let mut fetch = cargo();
    step::run(fetch.current_dir(root()).args(["fetch", "--quiet"]))?;
    let mut deny = cargo();
    deny.current_dir(root())
        .args(["deny", "--offline", "check", "--hide-inclusion-graph"])
        .args(["licenses", "bans", "sources"]);
    step::run(&mut deny)
}
