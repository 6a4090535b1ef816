//! A service as a program: its arguments, what it logs, how it ends.

use crate::{OpenError, shown};
use clap::Parser;
use std::io::{self, Write};
use std::process::ExitCode;
use zorb::{Builder, Error, Orb};

/// How a program ends that fails. Wrong usage is also what clap ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "these are documented by each program"
)]
#[repr(u8)]
pub enum ExitStatus {
    /// Anything but what follows.
    Failed = 1,
    /// The arguments are of no use.
    WrongUsage = 2,
    /// Another process has the folder open.
    InUse = 3,
    /// The folder holds a store of another version or one that is damaged, or cannot be written.
    Unusable = 4,
    /// An address cannot be listened at.
    NotListening = 5,
}

/// Why a program ends, and with which status.
#[derive(Debug)]
pub struct Failure {
    status: ExitStatus,
    what: String,
}

impl Failure {
    /// A failure that a program ends with.
    pub fn new(status: ExitStatus, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { status, what }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let status = match &error {
            OpenError::InUse { .. } => ExitStatus::InUse,
            OpenError::Url { .. } => ExitStatus::WrongUsage,
            #[cfg(feature = "engines")]
            OpenError::Access(error) => error.exit_status(),
            _ => ExitStatus::Unusable,
        };
        Self::new(status, shown(&error))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error {
            Error::Transport(_) => ExitStatus::NotListening,
            Error::Option(_) => ExitStatus::WrongUsage,
            _ => ExitStatus::Failed,
        };
        Self::new(status, format!("{error:#}"))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(ExitStatus::Failed, error.to_string())
    }
}

/// Runs a program until `serve` ends, with its options and a builder that has taken those of the ORB (`-ORB…`) from the arguments.
///
/// RUST_LOG says what is logged on standard error; unset, errors alone.
pub fn run<O: Parser>(serve: impl AsyncFnOnce(Builder, O) -> Result<(), Failure>) -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(io::stderr)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
        .init();
    let mut arguments: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    // Before clap parses the arguments, which would take -ORBListenEndpoints for several short options.
    let builder = Orb::builder().env().args(&mut arguments);
    let options = O::parse_from(arguments);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(serve(builder, options)),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { status, what }) => {
            let command = O::command();
            let _ = writeln!(io::stderr(), "{}: {what}", command.get_name());
            ExitCode::from(status as u8)
        }
    }
}

/// Says on standard output, and to systemd, that a program is ready. Whoever has started it may read no more.
pub fn is_ready<O: Parser>(what: &str) {
    let command = O::command();
    let mut out = io::stdout();
    let _ = writeln!(out, "{} is ready: {what}", command.get_name()).and_then(|()| out.flush());
    crate::notify("READY=1");
}
