//! Load beside the measured programs.

use super::waiting::Load;
use std::process::{Child, Command, Stdio};

/// Processes that run until they are dropped.
#[derive(Debug, Default)]
pub(super) struct Neighbours(Vec<Child>);

impl Neighbours {
    /// Starts the processes of a load, on each of so many CPUs.
    ///
    /// # Errors
    /// A process does not start.
    pub(super) fn start(load: Load, cpus: usize) -> Result<Self, String> {
        let mut started = Self::default();
        let Load::Loops(number, words) = load else {
            return Ok(started);
        };
        for cpu in 0..cpus {
            for _ in 0..number {
                let child = Command::new("taskset")
                    .args(["-c", &cpu.to_string()])
                    .args(words)
                    .args(["sh", "-c", "while :; do :; done"])
                    .stdin(Stdio::null())
                    .spawn();
                (started.0).push(child.map_err(|e| format!("taskset: {e}"))?);
            }
        }
        Ok(started)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // A process that has ended cannot be killed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn neighbours_end_when_they_are_dropped() {
        let load = Load::Loops(1, &["nice", "-n", "19"]);
        let neighbours = Neighbours::start(load, 1).unwrap();
        let process = format!("/proc/{}/cmdline", neighbours.0[0].id());
        assert!(Path::new(&process).exists());
        drop(neighbours);
        assert!(!Path::new(&process).exists());
    }
}
