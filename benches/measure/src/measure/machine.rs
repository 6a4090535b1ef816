//! The machine of a measurement.

use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;
use xtask::step::root;

/// The machine, and the versions of everything that ran.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Machine {
    /// In UTC.
    pub(crate) date: String,
    pub(crate) commit: String,
    pub(crate) cpu: String,
    pub(crate) cpus: usize,
    pub(crate) kernel: String,
    /// Whatever decides how fast TCP sends, of sockets that do not ask for another one. Absent in older files.
    #[serde(default)]
    pub(crate) congestion_control: String,
    /// Processes that ran or wanted to, on average of the last minute, before anything was measured.
    pub(crate) load: f64,
    pub(crate) rustc: String,
    pub(crate) omniorb: String,
    pub(crate) valgrind: String,
}

impl Machine {
    /// This one, now.
    pub(crate) fn here() -> Self {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        // The files that a run writes do not change the measured code, nor does any text.
        let changed = said(
            "git",
            &[
                "status",
                "--porcelain",
                "--untracked-files=no",
                "--",
                ".",
                ":!docs/figures",
                ":!benches/compare.json",
                ":!benches/instructions.txt",
                ":!*.md",
            ],
        );
        let commit = said("git", &["rev-parse", "--short=12", "HEAD"]);
        Self {
            date: said("date", &["-u", "+%Y-%m-%d %H:%M"]),
            commit: if changed.is_empty() {
                commit
            } else {
                format!("{commit}{CHANGED}")
            },
            cpu: model(&cpu).unwrap_or_else(|| "unknown".to_owned()),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: said("uname", &["-sr"]),
            congestion_control: fs::read_to_string(CONGESTION_CONTROL)
                .map_or_else(|_| String::new(), |name| name.trim().to_owned()),
            load: load(),
            rustc: said("rustc", &["--version"]),
            omniorb: said("dpkg-query", &["-W", "-f=${Version}", "libomniorb4-dev"]),
            valgrind: said("valgrind", &["--version"]),
        }
    }

    /// The commit, and whether something else was built than what is committed there.
    pub(crate) fn commit(&self) -> String {
        match self.commit.strip_suffix(CHANGED) {
            Some(commit) => format!("commit {commit} with uncommitted changes"),
            None => format!("commit {}", self.commit),
        }
    }

    /// The description as items of a list in a page.
    pub(crate) fn lines(&self) -> String {
        let commit = self.commit();
        let Self {
            date,
            cpu,
            cpus,
            kernel,
            congestion_control,
            load,
            rustc,
            omniorb,
            ..
        } = self;
        let control = match congestion_control.as_str() {
            "" => String::new(),
            name => format!(", TCP with {name}"),
        };
        format!(
            "- {date} UTC, {commit}\n- {cpu}, {cpus} CPUs; {kernel}{control}; load before the run {load}\n- {rustc}; omniORB {omniorb}\n"
        )
    }
}

const CONGESTION_CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Behind a commit when what was built differs from it.
const CHANGED: &str = ", changed";

/// The load of the last minute.
pub(crate) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|load| load.parse().ok()).unwrap_or(f64::NAN)
}

fn model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

/// The first line that a command prints; empty when there is no such command.
pub(crate) fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(root())
        .output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let text = text.unwrap_or_default();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_to_a_commit_are_said_in_words() {
        let mut machine = Machine::here();
        machine.commit = "0123456789ab".to_owned();
        assert_eq!(machine.commit(), "commit 0123456789ab");
        machine.commit += CHANGED;
        let words = "commit 0123456789ab with uncommitted changes";
        assert_eq!(machine.commit(), words);
        assert!(machine.lines().contains(words));
    }

    #[test]
    fn the_processor_is_called_what_the_kernel_calls_it() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: other\n";
        assert_eq!(model(text).as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(model(""), None);
    }
}
