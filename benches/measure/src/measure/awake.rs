//! CPUs that do not sleep while they have nothing to do.
//!
//! A CPU with nothing to do sleeps, and to wake it takes a fraction of a microsecond on some machines and a hundred and more
//! on others: on virtual ones the hypervisor has to put it onto a real one again. Where two programs that sleep call each
//! other that is all one would see of a call. Linux has a promise for it (the quality of service of power management): as
//! long as a process holds a file open and has written into it that no CPU may take longer to wake than so many
//! microseconds, none sleeps deeper.

use std::fs::{self, File, OpenOptions};
use std::io::Write;

const FILE: &str = "/dev/cpu_dma_latency";
/// The part of the kernel that decides how a CPU sleeps, and keeps the promise; `none` where the processor does so itself.
const DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";

/// Keeps the CPUs awake until it is dropped.
#[derive(Debug)]
pub(crate) struct Awake {
    /// Closing it takes the request back.
    _held: File,
}

impl Awake {
    /// # Errors
    /// The kernel has no such promise, or only root gets it.
    pub(crate) fn keep() -> Result<Self, String> {
        let driver = fs::read_to_string(DRIVER).map_err(|e| format!("{DRIVER}: {e}"))?;
        if driver.trim() == "none" {
            return Err("this machine has no cpuidle driver that keeps CPUs awake".to_owned());
        }
        let asked = || {
            let mut file = OpenOptions::new().write(true).open(FILE)?;
            // Microseconds, as the kernel writes a number of 32 bits.
            file.write_all(&0_i32.to_ne_bytes())?;
            Ok(Self { _held: file })
        };
        asked().map_err(|error: std::io::Error| format!("{FILE}: {error}"))
    }
}
