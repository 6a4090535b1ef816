//! The ways in which an end of the raw-socket baseline waits, and the file with a server's address.

use clap::ValueEnum;
use std::{fs, io, path::Path};

/// How an end waits for octets.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Way {
    /// In `read`, on a thread of its own.
    Block,
    /// Asks again and again, with `sched_yield` in between, for 50 µs; then as `block`.
    Spin,
    /// A current-thread runtime of tokio.
    TokioCurrent,
    /// A runtime on a thread of its own, with the client in a task, like a lane of one thread.
    TokioDedicated,
    /// A multi-thread runtime of tokio, the client in a task.
    TokioMulti,
    /// A multi-thread runtime of tokio, the client in the body of `#[tokio::main]`.
    TokioMain,
}

impl Way {
    /// Whether a runtime of tokio with several workers waits.
    #[must_use]
    pub const fn is_multi(self) -> bool {
        matches!(self, Self::TokioMulti | Self::TokioMain)
    }

    /// Whether a runtime of tokio waits.
    #[must_use]
    pub const fn is_async(self) -> bool {
        !matches!(self, Self::Block | Self::Spin)
    }
}

/// Says where a server is: on standard output if `to` is `-`, else in a file, by [`write_whole`].
///
/// # Errors
/// Returns the errors of the file.
#[expect(clippy::print_stdout, reason = "that is what was asked for")]
pub fn publish(to: &Path, reference: &str) -> io::Result<()> {
    if to.as_os_str() == "-" {
        println!("{reference}");
        return Ok(());
    }
    write_whole(to, &format!("{reference}\n"))
}

/// The reference in a client's `--ior`: the text itself, or that of the file it names.
///
/// # Errors
/// The file cannot be read; with its name.
pub fn reference(given: &Path) -> io::Result<String> {
    match given.to_str() {
        Some(text) if text.starts_with("IOR:") => Ok(text.to_owned()),
        _ => fs::read_to_string(given)
            .map_err(|e| io::Error::new(e.kind(), format!("cannot read {}: {e}", given.display()))),
    }
}

/// Writes a file which others wait for: it is there whole or not at all.
///
/// # Errors
/// Returns the errors of writing and renaming.
pub fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    let unfinished = file.with_extension("tmp");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, file)
}
