//! What a daemon has to do with its system.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a program: SIGTERM and SIGINT.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens for the signals, which from now on do not end the program by themselves.
    ///
    /// # Errors
    /// The operating system refuses the handlers.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next signal.
    ///
    /// # Cancel safety
    /// Safe: a signal that comes between two calls is seen by the second.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Reports a state to systemd (`sd_notify`), if that has started the program and wants to know.
pub fn notify(state: &str) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let name = socket.as_encoded_bytes();
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&socket),
    };
    let sent = address
        .and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
    if let Err(error) = sent {
        tracing::warn!(%error, "systemd is not told: {state}");
    }
}

/// Writes a file that is read whole or not at all.
///
/// # Errors
/// The file, or the one beside it that is renamed, cannot be written.
pub fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    let written = std::fs::write(&new, text);
    let written = written.and_then(|()| std::fs::rename(&new, file));
    written.map_err(|cause| {
        io::Error::new(
            cause.kind(),
            format!("cannot write {}: {cause}", file.display()),
        )
    })
}

/// An error with its causes, as one line.
#[must_use]
pub fn shown(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
