//! Debian's tools that measure: installed when they are missing, as the peers are.

use xtask::peers::install;
use xtask::step::{Done, on_path};

/// Tools for timing, pinning and counting: program and package.
const TOOLS: [(&str, &str); 4] = [
    ("taskset", "util-linux"),
    ("prlimit", "util-linux"),
    ("valgrind", "valgrind"),
    ("git", "git"),
];

/// Installs those of them that are missing.
///
/// # Errors
/// They cannot be installed.
pub(crate) fn ready(programs: &[&str]) -> Done {
    let wanted = TOOLS
        .iter()
        .filter(|(program, _)| programs.contains(program));
    let missing: Vec<_> = wanted.filter(|(program, _)| !on_path(program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    install(&packages, &packages)
}
