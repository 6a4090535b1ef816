//! The kernel's bound on real-time threads, lifted for a run.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

const BOUND: &str = "/proc/sys/kernel/sched_rt_runtime_us";

/// Real-time threads may use a whole CPU while this is there; by default the kernel takes 50 ms of each second from them,
/// which a high-priority client sees as missed deadlines.
pub(crate) struct Unbounded {
    /// A shell that restores the bound even if this process is killed: when its standard input ends.
    guard: Child,
}

impl Unbounded {
    /// Lifts the bound.
    ///
    /// # Errors
    /// The process may not, so that nothing can be measured.
    pub(crate) fn new() -> Result<Self, String> {
        let before = fs::read_to_string(BOUND).map_err(|e| format!("{BOUND}: {e}"))?;
        let before = before.trim().to_owned();
        let script = format!("trap '' TERM INT HUP; read end; echo {before} > {BOUND}");
        let guard = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|e| format!("sh: {e}"))?;
        let this = Self { guard };
        fs::write(BOUND, "-1").map_err(|e| format!("{BOUND} stays {before}: {e}"))?;
        Ok(this)
    }
}

impl Drop for Unbounded {
    fn drop(&mut self) {
        // A failure is a guard that has ended, and restored the bound.
        if let Some(mut input) = self.guard.stdin.take() {
            let _ = input.write_all(b"\n");
        }
        let _ = self.guard.wait();
    }
}
