//! The programs that are measured: building them, and what ours can do.

use crate::measure::tools;
use crate::peers;
use crate::step::{self, Done, cargo, root, target};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// Where cargo puts what it builds for release.
fn release(program: &str) -> String {
    target().join("release").join(program).display().to_string()
}

/// A program of ours, by its name.
pub(crate) fn ours(program: &str) -> String {
    release(program)
}

/// omniORB's.
pub(crate) fn omniorb(program: &str) -> String {
    let build: PathBuf = root().join("benches/peers/omniorb/build");
    build.join(program).display().to_string()
}

/// Builds everything that is compared.
///
/// # Errors
/// Something is missing and cannot be installed, or does not build.
pub(crate) fn ready() -> Done {
    tools::ready(&["taskset", "prlimit", "git"])?;
    peers::ready_to_compare()?;
    build_ours()
}

/// Builds what is ours.
pub(crate) fn build_ours() -> Done {
    let mut build = cargo();
    build
        .current_dir(root())
        .args(["build", "--release", "--quiet", "-p", "zorb-workspace"])
        .args(["--bins", "-p", "zorb-floor", "-p", "zorb-papers"]);
    step::run(&mut build)
}

/// What our client and our server can both do, by the words in which they say it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Abilities(BTreeSet<String>);

impl Abilities {
    /// Asks the programs.
    ///
    /// # Errors
    /// They do not start.
    pub(crate) fn ask() -> Result<Self, String> {
        let output = Command::new(ours("bench-client")).arg("--can").output();
        let output = output.map_err(|e| format!("bench-client does not start: {e}"))?;
        Ok(Self::parse(&String::from_utf8_lossy(&output.stdout)))
    }

    fn parse(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }

    /// Those of the words that they do not know.
    pub(crate) fn lack<'a>(&self, wanted: &[&'a str]) -> Vec<&'a str> {
        let unknown = wanted.iter().filter(|word| !self.0.contains(**word));
        unknown.copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_yet_is_named() {
        let abilities = Abilities::parse("runtime=default\nendian\n");
        assert_eq!(abilities.lack(&["endian", "wait=spin"]), ["wait=spin"]);
        assert!(abilities.lack(&[]).is_empty());
    }
}
