//! The machine of a measurement, and what was measured on it.

use std::fs;
use std::process::Command;
use xtask::step::root;

/// When and where something is measured, of which revision: a sentence or two for readers.
pub(crate) fn here(rounds: usize) -> String {
    let date = said("date", &["-u", "+%Y-%m-%d %H:%M"]);
    let commit = said("git", &["rev-parse", "--short=12", "HEAD"]);
    // The files that a run writes do not change the measured code, nor does any text.
    let code = [
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        ".",
        ":!docs/figures",
    ];
    let texts = [":!benches/instructions.txt", ":!*.md"];
    let changed = match said("git", &[&code[..], &texts].concat()).as_str() {
        "" => "",
        _ => " with uncommitted changes",
    };
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = model(&cpu).unwrap_or("an unknown processor");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = said("uname", &["-sr"]);
    let omniorb = said("dpkg-query", &["-W", "-f=${Version}", "libomniorb4-dev"]);
    let plural = if rounds == 1 { "" } else { "s" };
    format!(
        "{date} UTC, commit {commit}{changed}, {rounds} round{plural}. {cpu}, {cpus} CPUs, {kernel}. omniORB {omniorb}."
    )
}

/// The load of the last minute.
pub(crate) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|load| load.parse().ok()).unwrap_or(f64::NAN)
}

fn model(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

/// The first line that a command prints; empty when there is no such command.
fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(root())
        .output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let text = text.unwrap_or_default();
    text.lines().next().unwrap_or_default().trim().to_owned()
}
