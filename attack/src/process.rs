//! Processes that this one starts, and what `/proc` says of them.

use crate::Failure;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Settings of glibc's allocator, as SECURITY.md advises: blocks of 64 KiB and more go back to the system when they are freed.
/// By default glibc raises both thresholds with what it sees, and then keeps hundreds of MiB that nothing holds.
const ALLOCATOR: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "65536"),
    ("MALLOC_TRIM_THRESHOLD_", "262144"),
];

/// A process of this program in another role, which is asked and answers line by line. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts this program with other arguments.
    pub(crate) fn start(arguments: &[String], log: bool) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .envs(ALLOCATOR)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if log { Stdio::inherit() } else { Stdio::null() })
            .spawn()?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let output = child.stdout.take().ok_or("no standard output")?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// Sends a line.
    pub(crate) fn tell(&mut self, line: &str) -> Result<(), Failure> {
        writeln!(self.input, "{line}")?;
        Ok(self.input.flush()?)
    }

    /// The next line that the process prints.
    pub(crate) fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the process has ended".into());
        }
        Ok(line)
    }

    /// Whether the process is still there.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Octets of memory that the process has now, and the most since [`reset_peak`](Self::reset_peak).
    pub(crate) fn memory(&self) -> Result<Memory, Failure> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let of = |field: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(field))?;
            let kib: usize = line.trim().trim_end_matches(" kB").parse().ok()?;
            Some(kib * 1024)
        };
        Ok(Memory {
            now: of("VmRSS:").ok_or("no VmRSS")?,
            peak: of("VmHWM:").ok_or("no VmHWM")?,
        })
    }

    /// Lets the peak begin anew.
    pub(crate) fn reset_peak(&self) -> Result<(), Failure> {
        Ok(fs::write(
            format!("/proc/{}/clear_refs", self.child.id()),
            "5",
        )?)
    }

    /// Descriptors that the process has open.
    pub(crate) fn descriptors(&self) -> Result<usize, Failure> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Memory of a process that is in RAM, in octets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) now: usize,
    pub(crate) peak: usize,
}
