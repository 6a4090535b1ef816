//! A phase that runs beside the others, in a process of its own.
//!
//! The checks of packages compile one crate after the other, and so keep one CPU busy; tests with peers, and many others, wait
//! for other processes or for time to pass.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};
use std::{fs, io};
use xtask::step::{cargo, root, show, target};

/// The phase while it runs. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Beside {
    name: String,
    child: Child,
    log: PathBuf,
    started: SystemTime,
}

impl Beside {
    /// Starts `cargo xtask test` for one phase.
    ///
    /// # Errors
    /// The process does not start.
    pub(super) fn start(phase: &str) -> Result<Self, String> {
        let log = target().join(format!("phase-{phase}.log"));
        let started = SystemTime::now();
        let child = (|| -> io::Result<Child> {
            let output = File::create(&log)?;
            // By cargo: the build of the workspace has put another executable in the place of this one.
            let mut command = cargo();
            command.current_dir(root());
            command.args(["run", "--quiet", "--package", "xtask", "--", "test", phase]);
            eprintln!("+ {} (its output follows at its end)", show(&command));
            command.stdin(Stdio::null());
            command.stdout(output.try_clone()?).stderr(output);
            command.spawn()
        })();
        Ok(Self {
            name: phase.to_owned(),
            child: child.map_err(|e| format!("{phase} does not start: {e}"))?,
            log,
            started,
        })
    }

    /// Waits for the end of the phase and shows what it has printed; gives the time that it has taken.
    ///
    /// # Errors
    /// The phase has failed.
    pub(super) fn end(mut self) -> Result<Duration, String> {
        let ended = self.child.wait().map_err(|e| e.to_string())?;
        // It may have ended long ago; the last that it did was to print its times.
        let printed = fs::metadata(&self.log).and_then(|log| log.modified());
        let took = printed.map_or(Duration::ZERO, |at| {
            at.duration_since(self.started).unwrap_or_default()
        });
        print!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        match ended.success() {
            true => Ok(took),
            false => Err(format!("{} ended with {ended}", self.name)),
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
