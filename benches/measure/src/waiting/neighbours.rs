//! Load beside the measured programs, and their quota of CPU time.

use super::Load;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The functions of the program that the build compiles: rustc takes about a second for them.
const FUNCTIONS: usize = 300;

/// Processes that run until they are dropped.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// Each the leader of a group of its own.
    all: Vec<Child>,
    /// The folder of the build's source.
    _folder: Option<tempfile::TempDir>,
}

impl Neighbours {
    /// Starts the processes of a load, on each of so many CPUs.
    ///
    /// # Errors
    /// A process does not start.
    pub(super) fn start(load: Load, cpus: usize) -> Result<Self, String> {
        let mut started = Self::default();
        let (number, words, does): (usize, &[&str], String) = match load {
            Load::Loops(number, words) => (number, words, "while :; do :; done".to_owned()),
            Load::Build => {
                let folder = tempfile::tempdir().map_err(|e| format!("a folder: {e}"))?;
                let does = build(folder.path(), FUNCTIONS)?;
                started._folder = Some(folder);
                (1, &[], does)
            }
            Load::Quiet | Load::Tasks | Load::Quota => return Ok(started),
        };
        for cpu in 0..cpus {
            for _ in 0..number {
                let child = Command::new("taskset")
                    .args(["-c", &cpu.to_string()])
                    .args(words)
                    .args(["sh", "-c", &does])
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .process_group(0)
                    .spawn();
                (started.all).push(child.map_err(|e| format!("taskset: {e}"))?);
            }
        }
        Ok(started)
    }
}

/// The command of a build in that folder, which compiles one program of so many functions again and again.
fn build(folder: &Path, functions: usize) -> Result<String, String> {
    let mut text = String::new();
    for n in 0..functions {
        text += &format!(
            "pub fn f{n}(words: &[String]) -> std::collections::BTreeMap<String, usize> {{\n\
             words.iter().map(|word| (format!(\"{{word}}{n}\"), word.len())).collect()\n}}\n"
        );
    }
    let source = folder.join("program.rs");
    fs::write(&source, text).map_err(|e| format!("{}: {e}", source.display()))?;
    let (source, folder) = (source.display(), folder.display());
    Ok(format!(
        "while :; do rustc --edition 2021 --crate-type rlib -C opt-level=2 -C codegen-units=1 \
         -o {folder}/$$.rlib {source}; done"
    ))
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.all {
            // A compiler that a loop has started is of its group.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            // A process that has ended cannot be killed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Microseconds of CPU time that this process and those that it starts have of each period.
const QUOTA: [(&str, &str); 2] = [
    ("cpu.cfs_period_us", "100000"),
    ("cpu.cfs_quota_us", "50000"),
];
/// The folder of the groups for CPU time, in the first version of control groups.
const GROUPS: &str = "/sys/fs/cgroup/cpu";

/// A limit on the CPU time of this process and those that it starts, until it is dropped.
#[derive(Debug)]
pub(super) struct Quota {
    group: PathBuf,
    before: PathBuf,
}

impl Quota {
    /// Puts this process into a group that may have half a CPU.
    ///
    /// # Errors
    /// The machine has no such groups, or lets this user make none.
    pub(super) fn set() -> Result<Self, String> {
        let own = fs::read_to_string("/proc/self/cgroup").map_err(|e| e.to_string())?;
        let own = own_group(&own).ok_or("there are no control groups of the first version")?;
        let before = Path::new(GROUPS).join(own.trim_start_matches('/'));
        let group = before.join(format!("zorb-claims-{}", std::process::id()));
        let failed = |at: &Path, e: std::io::Error| format!("{}: {e}", at.display());
        fs::create_dir(&group).map_err(|e| failed(&group, e))?;
        // An unfinished change is undone.
        let quota = Self { group, before };
        for (file, value) in QUOTA {
            let file = quota.group.join(file);
            fs::write(&file, value).map_err(|e| failed(&file, e))?;
        }
        enter(&quota.group).map_err(|e| failed(&quota.group, e))?;
        Ok(quota)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // The group can be removed only once nothing runs in it: the programs have ended.
        let _ = enter(&self.before);
        let _ = fs::remove_dir(&self.group);
    }
}

/// Moves this process into a group.
fn enter(group: &Path) -> std::io::Result<()> {
    fs::write(group.join("cgroup.procs"), std::process::id().to_string())
}

/// The group for CPU time among those that `/proc/self/cgroup` names.
fn own_group(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?;
        (controllers.split(',').any(|it| it == "cpu")).then(|| parts.next())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exists(process: u32) -> bool {
        Path::new(&format!("/proc/{process}/cmdline")).exists()
    }

    #[test]
    fn neighbours_end_when_they_are_dropped() {
        for load in [Load::Loops(1, &["nice", "-n", "19"]), Load::Build] {
            let neighbours = Neighbours::start(load, 1).unwrap();
            let id = neighbours.all[0].id();
            assert!(exists(id));
            drop(neighbours);
            assert!(!exists(id));
        }
    }

    #[test]
    fn the_build_compiles() {
        let folder = tempfile::tempdir().unwrap();
        let once = build(folder.path(), 2).unwrap();
        let once = once.replace("while :; do ", "").replace("; done", "");
        let status = Command::new("sh").args(["-c", &once]).status().unwrap();
        assert!(status.success());
    }

    #[test]
    fn the_group_for_cpu_time_is_found() {
        let first = "3:cpuset:/\n1:cpu,cpuacct:/a/b\n0::/\n";
        assert_eq!(own_group(first), Some("/a/b"));
        assert_eq!(own_group("0::/a\n"), None);
    }
}
