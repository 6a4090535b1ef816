//! The programs that are measured: building them, and what ours can do.

use crate::measure::tools;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use xtask::peers;
use xtask::step::{self, Done, cargo, root, target};

/// Cargo's profile of what is measured: its name, and its folder in the target folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    name: &'static str,
    folder: &'static str,
}

/// The programs of figures and claims.
const RELEASE: Profile = Profile {
    name: "release",
    folder: "release",
};

/// The profile for trying an experiment: the programs that the tests have built already.
pub(crate) const DEV: Profile = Profile {
    name: "dev",
    folder: "debug",
};

static PROFILE: OnceLock<Profile> = OnceLock::new();

/// Chooses the profile of all programs of this run, before the first of them is built.
pub(crate) fn choose(profile: Profile) {
    PROFILE.get_or_init(|| profile);
}

fn profile() -> Profile {
    *PROFILE.get_or_init(|| RELEASE)
}

/// The folder of our programs, built with the chosen profile.
pub(crate) fn folder() -> PathBuf {
    target().join(profile().folder)
}

/// A program of ours, by its name.
pub(crate) fn ours(program: &str) -> String {
    folder().join(program).display().to_string()
}

/// Builds programs of ours with the chosen profile: those of `packages` that `args` select.
///
/// # Errors
/// Cargo does not start, or fails.
pub(crate) fn build(packages: &[&str], args: &[&str], variables: &[(&str, &str)]) -> Done {
    let profile = profile();
    let mut build = cargo();
    build
        .current_dir(root())
        .args(["build", "--quiet", "--profile", profile.name])
        .envs(variables.iter().copied());
    if profile == DEV {
        build.args(["--workspace", "--test", step::TEST]);
    } else {
        build.args(packages.iter().flat_map(|package| ["--package", package]));
    }
    step::run(build.args(args))
}

/// Builds the pair of iceoryx2, a workspace of its own. Where its crates are not to be had, that is said, and pictures are without it.
pub(crate) fn build_iceoryx2() {
    let mut build = cargo();
    build
        .current_dir(root())
        .args(["build", "--quiet", "--profile", profile().name])
        .args(["--manifest-path", "benches/peers/iceoryx2/Cargo.toml"])
        .arg("--target-dir")
        .arg(target());
    if let Err(why) = step::run(&mut build) {
        eprintln!("without iceoryx2: {why}");
    }
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
    let bins = [
        "bench-client",
        "bench-server",
        "floor-client",
        "floor-server",
    ];
    let bins: Vec<&str> = bins.iter().flat_map(|bin| ["--bin", bin]).collect();
    build(&["zorb-workspace", "zorb-floor"], &bins, &[])
}

/// The common abilities of our client and our server, by the words in which they print them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Abilities(BTreeSet<String>);

impl Abilities {
    /// Asks the programs.
    ///
    /// # Errors
    /// They do not start.
    pub(crate) fn ask() -> Result<Self, String> {
        Self::of(&folder())
    }

    /// Asks the client in that folder.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) fn of(ours: &Path) -> Result<Self, String> {
        let output = Command::new(ours.join("bench-client"))
            .arg("--can")
            .output();
        let output = output.map_err(|e| format!("bench-client does not start: {e}"))?;
        Ok(Self::parse(&String::from_utf8_lossy(&output.stdout)))
    }

    fn parse(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }

    /// The words that they do not know.
    pub(crate) fn lack(&self, wanted: &[String]) -> Vec<String> {
        let unknown = wanted.iter().filter(|word| !self.0.contains(*word));
        unknown.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_yet_is_named() {
        let abilities = Abilities::parse("runtime=default\nendian\n");
        let wanted = ["endian", "wait=spin"].map(str::to_owned);
        assert_eq!(abilities.lack(&wanted), ["wait=spin"]);
        assert!(abilities.lack(&[]).is_empty());
    }
}
