//! The programs of another revision.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::step::{self, cargo, root, target};

const PROGRAMS: [&str; 2] = ["bench-client", "bench-server"];

/// A revision whose programs are built.
#[derive(Debug)]
pub(super) struct Revision {
    commit: String,
    programs: PathBuf,
}

impl Revision {
    /// Builds its programs with the profile and the lock file that the revision has itself, in a worktree below the
    /// target folder; those that have been built before are taken as they are. One build folder serves all revisions, so
    /// that most dependencies are built once.
    ///
    /// # Errors
    /// Git does not know the revision, or its programs do not build.
    pub(super) fn built(revision: &str) -> Result<Self, String> {
        let commit = git(&["rev-parse", "--verify", &format!("{revision}^{{commit}}")])?;
        let folder = target().join("against");
        let programs = folder.join(&commit);
        if !PROGRAMS
            .iter()
            .all(|program| programs.join(program).exists())
        {
            let worktree = folder.join("worktree");
            // The worktree of an interrupted earlier run.
            let _ = git(&["worktree", "remove", "--force", &shown(&worktree)]);
            git(&["worktree", "add", "--detach", &shown(&worktree), &commit])?;
            let built = build(&worktree, &folder.join("build"), &programs);
            let removed = git(&["worktree", "remove", "--force", &shown(&worktree)]);
            built.and(removed)?;
        }
        Ok(Self { commit, programs })
    }

    /// The folder of its programs.
    pub(super) fn programs(&self) -> &Path {
        &self.programs
    }

    /// `commit 0123456789ab`.
    pub(super) fn name(&self) -> String {
        format!("commit {}", self.commit.get(..12).unwrap_or(&self.commit))
    }
}

/// Builds the programs of the worktree and copies them.
fn build(worktree: &Path, build: &Path, programs: &Path) -> Result<String, String> {
    let arguments = PROGRAMS.iter().flat_map(|program| ["--bin", program]);
    step::run(
        cargo()
            .current_dir(worktree)
            .env("CARGO_TARGET_DIR", build)
            .args([
                "build",
                "--quiet",
                "--release",
                "--locked",
                "--package",
                "zorb-workspace",
            ])
            .args(arguments),
    )?;
    let copied = || {
        fs::create_dir_all(programs)?;
        for program in PROGRAMS {
            fs::copy(build.join("release").join(program), programs.join(program))?;
        }
        Ok(String::new())
    };
    copied().map_err(|error: std::io::Error| format!("{}: {error}", programs.display()))
}

/// The output of git, without the end of its line.
fn git(arguments: &[&str]) -> Result<String, String> {
    let said = step::output(Command::new("git").current_dir(root()).args(arguments))?;
    Ok(said.trim().to_owned())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_that_git_does_not_know_is_an_error() {
        assert!(Revision::built("no-such-revision").is_err());
    }
}
