//! Each package by itself, as its users get it: the workspace is compiled with the union of the features that its members
//! ask for, with the newest dependencies, by one compiler.

mod contents;
mod dependencies;
mod features;
mod no_std;
pub(crate) mod public_items;
mod versions;

use super::summary::Summary;
use super::workspace::Workspace;
use std::time::Instant;
use xtask::step::Done;

/// The crates that others depend on.
const LIBRARIES: [&str; 11] = [
    "zorb-cdr",
    "zorb-csi",
    "zorb-giop",
    "zorb-poa",
    "zorb-shares",
    "zorb-executor",
    "zorb-transport",
    "zorb-connection",
    "zorb-idl",
    "zorb-idl-macros",
    "zorb",
];

/// A package that is compiled beside those that are checked: with it, what procedural macros and build scripts depend on has
/// the features that it has in the workspace, and has been compiled already. Features for the host and for the target are
/// apart, so it lends none to what is checked.
const HOST: &str = "zorb-host-features";

/// How many checks there are.
const CHECKS: usize = 8;

/// The summary of checks that have all passed: each counts as a test.
pub(super) fn all() -> Summary {
    Summary::all_passed(CHECKS)
}

/// Runs every check of packages.
///
/// # Errors
/// A check fails; the rest has not run.
pub(super) fn run(workspace: &Workspace) -> Result<Summary, String> {
    let checks: [(&str, &dyn Fn() -> Done); CHECKS] = [
        ("features", &features::clippy),
        ("documentation", &features::documentation),
        ("public items", &|| public_items::run(false)),
        ("no_std", &no_std::run),
        ("oldest Rust", &|| {
            versions::oldest_rust(&workspace.rust_version)
        }),
        ("oldest dependencies", &versions::oldest_dependencies),
        ("licences and duplicates", &dependencies::run),
        ("contents", &contents::run),
    ];
    for (name, check) in &checks {
        let started = Instant::now();
        check().map_err(|why| format!("{name}: {why}"))?;
        println!("    {name}: {:.1} s", started.elapsed().as_secs_f64());
    }
    Ok(all())
}
