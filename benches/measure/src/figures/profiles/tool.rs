//! perf, callgrind and strace: starting them, and reading what they say.

use crate::measure::tools;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use xtask::step::on_path;

/// The cost of a function.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Share {
    /// The program, library or kernel that it is of.
    pub(super) object: String,
    pub(super) function: String,
    /// The source of it or of what was inlined into it, where that is known.
    pub(super) file: String,
    pub(super) percent: f64,
}

/// A profiling tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Profiler {
    Perf,
    Callgrind,
}

/// perf if it may look, else callgrind.
///
/// # Errors
/// There is neither.
pub(super) fn pick() -> Result<Profiler, String> {
    // Without perf, callgrind takes its place.
    let _ = tools::ready(&["perf"]);
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let [program, args @ ..] = &Profiler::Perf.words(&folder.path().join("try"))[..] else {
        return Err("no command line".to_owned());
    };
    let tried = Command::new(program).args(args).arg("true").output();
    if on_path("perf") && tried.is_ok_and(|output| output.status.success()) {
        return Ok(Profiler::Perf);
    }
    let callgrind = tools::ready(&["valgrind"]);
    callgrind.map_err(|why| format!("perf is not there or may not look; {why}"))?;
    Ok(Profiler::Callgrind)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// The output of a command.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output();
    let name = command.get_program().display().to_string();
    let output = output.map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name}: {}", why.trim()))
}

impl Profiler {
    /// Its command.
    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::Perf => "perf",
            Self::Callgrind => "valgrind",
        }
    }

    /// The words in front of a program that is looked into.
    pub(super) fn words(self, to: &Path) -> Vec<String> {
        let file = to.display().to_string();
        match self {
            // Samples by the clock of the CPU, since virtual machines seldom have counters of cycles.
            Self::Perf => words(&[
                "perf",
                "record",
                "-q",
                "--no-buildid-cache",
                "-e",
                "cpu-clock",
                "-F",
                "2000",
                "-o",
                &file,
                "--",
            ]),
            Self::Callgrind => words(&[
                "valgrind",
                "-q",
                "--tool=callgrind",
                &format!("--callgrind-out-file={file}"),
            ]),
        }
    }

    /// Its shares, the largest first.
    ///
    /// # Errors
    /// It found nothing, or does not say.
    pub(super) fn shares(self, file: &Path) -> Result<Vec<Share>, String> {
        let mut shares = match self {
            Self::Perf => {
                let mut report = Command::new("perf");
                report.args(["report", "--stdio", "-q", "--no-children", "-g", "none"]);
                report
                    .args(["-F", "overhead,dso,sym", "-t", "|", "-i"])
                    .arg(file);
                let text = said(&mut report)?;
                text.lines().filter_map(of_perf).collect()
            }
            Self::Callgrind => callgrind(file)?,
        };
        if shares.is_empty() {
            return Err("no samples".to_owned());
        }
        shares.sort_by(|a, b| b.percent.total_cmp(&a.percent));
        Ok(shares)
    }
}

/// The words in front of a program whose stacks are sampled by perf.
pub(super) fn stack_words(to: &Path) -> Vec<String> {
    let mut words = Profiler::Perf.words(to);
    // Before what ends the options.
    words.insert(words.len() - 1, "-g".to_owned());
    words
}

/// The stacks that perf sampled, a line a frame, the innermost first, and empty lines between them.
///
/// # Errors
/// Its output cannot be read.
pub(super) fn stacks(file: &Path) -> Result<String, String> {
    said(
        Command::new("perf")
            .args(["script", "-F", "ip,sym,dso", "-i"])
            .arg(file),
    )
}

/// The counts of callgrind, in any order.
///
/// # Errors
/// Its output cannot be read.
pub(super) fn callgrind(file: &Path) -> Result<Vec<Share>, String> {
    let mut annotate = Command::new("callgrind_annotate");
    let text = said(annotate.args(["--threshold=100", "--auto=no"]).arg(file))?;
    Ok(text.lines().filter_map(of_callgrind).collect())
}

/// ` 15.20% |papers-ttcp |[.] zorb_cdr::traits::Decode::decode_into`.
fn of_perf(line: &str) -> Option<Share> {
    let mut parts = line.splitn(3, '|');
    let percent = parts.next()?.trim().strip_suffix('%')?.parse().ok()?;
    let object = parts.next()?.trim().to_owned();
    let symbol = parts.next()?.trim();
    let function = symbol.split_once("] ").map_or(symbol, |(_, name)| name);
    Some(Share {
        object,
        function: function.trim().to_owned(),
        file: String::new(),
        percent,
    })
}

/// `1,234 (12.34%)  /path/to/file.rs:function [/path/to/object]`.
fn of_callgrind(line: &str) -> Option<Share> {
    let (numbers, rest) = line.split_once("%)")?;
    let percent = numbers.rsplit('(').next()?.trim().parse().ok()?;
    let (file, rest) = rest.trim().split_once(':')?;
    let (function, object) = match rest.rsplit_once(" [") {
        Some((function, object)) => (function, object.trim_end_matches(']')),
        None => (rest, ""),
    };
    let object = object.rsplit('/').next().unwrap_or_default();
    Some(Share {
        object: object.to_owned(),
        function: function.to_owned(),
        file: file.to_owned(),
        percent,
    })
}

/// Has strace ready.
///
/// # Errors
/// It is not there and cannot be had.
pub(super) fn strace() -> Result<(), String> {
    tools::ready(&["strace"])
}

/// The words in front of a program whose system calls are counted.
pub(super) fn strace_words(to: &Path) -> Vec<String> {
    let file = to.display().to_string();
    words(&["strace", "-f", "-q", "-c", "-o", &file])
}

/// One kind of system call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Called {
    pub(super) name: String,
    pub(super) number: f64,
    /// Of the CPU's time in system calls; nothing of any where the kernel counts that by its ticks and none fell in.
    pub(super) percent: f64,
}

/// The counts of strace, the most frequent first.
///
/// # Errors
/// It wrote nothing.
pub(super) fn counted(file: &Path) -> Result<Vec<Called>, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("strace wrote nothing: {e}"))?;
    let mut all: Vec<Called> = text.lines().filter_map(of_strace).collect();
    all.sort_by(|a, b| b.number.total_cmp(&a.number));
    Ok(all)
}

/// Share, seconds, microseconds a call, calls, errors if there were some, name.
fn of_strace(line: &str) -> Option<Called> {
    let words: Vec<_> = line.split_whitespace().collect();
    let (name, numbers) = words.split_last()?;
    let called = Called {
        name: (*name).to_owned(),
        number: numbers.get(3)?.parse().ok()?,
        percent: numbers.first()?.parse().ok()?,
    };
    (called.name != "total").then_some(called)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_perf_reports_is_read() {
        let line = " 15.20% |papers-ttcp         |[.] <F as zorb_poa::place::PanelPoint>::poll   ";
        let share = of_perf(line).unwrap();
        assert_eq!(share.percent, 15.2);
        assert_eq!(
            (share.object.as_str(), share.function.as_str()),
            ("papers-ttcp", "<F as zorb_poa::place::PanelPoint>::poll")
        );
        assert_eq!(of_perf("# a remark"), None);
    }

    #[test]
    fn what_callgrind_annotates_is_read() {
        let line = " 1,234 (12.34%)  /w/crates/poa/src/table.rs:zorb_poa::table::Table<T>::with [/w/target/release/papers-ttcp]";
        let share = of_callgrind(line).unwrap();
        assert_eq!(share.percent, 12.34);
        assert_eq!(share.file, "/w/crates/poa/src/table.rs");
        assert_eq!(share.function, "zorb_poa::table::Table<T>::with");
        assert_eq!(share.object, "papers-ttcp");
        assert_eq!(of_callgrind("Ir"), None);
    }

    #[test]
    fn what_strace_counts_is_read() {
        let line = " 40.00    0.000100           0       240       120 recvfrom";
        let called = of_strace(line).unwrap();
        assert_eq!(
            (called.name.as_str(), called.number, called.percent),
            ("recvfrom", 240.0, 40.0)
        );
        assert_eq!(
            of_strace("100.00    0.000230           0       481       120 total"),
            None
        );
        assert_eq!(
            of_strace("------ ----------- ----------- --------- --------- ----------------"),
            None
        );
    }
}
