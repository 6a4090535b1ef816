//! The steps of a call's time, at client and server, by the marks of the feature `probes`.
//!
//! `papers-white-box serve --ior FILE [--unix PATH]` writes its reference to FILE and serves; `papers-white-box call
//! --ior FILE` reads questions, a line each, `noparams|octets|structs UNITS CALLS`, and answers each with a line of
//! JSON: what a call takes, and the nanoseconds of each step of the client and of the server. `shutdown` ends the
//! server.
//!
//! A step is what passes between two marks, less what a mark itself takes, which each program finds out when it starts;
//! of each step the mean over the same calls is printed, the middle half by how long they took, so that steps add up.
#![forbid(unsafe_code)]

mod call;
mod serve;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// The interface.
#[zorb::idl_file("white_box.idl")]
mod idl {}

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Serves.
    Serve {
        /// The file for the reference.
        #[arg(long)]
        ior: PathBuf,
        /// Listen on a UNIX socket instead of TCP.
        #[arg(long)]
        unix: Option<PathBuf>,
    },
    /// Calls.
    Call {
        /// The file with the reference.
        #[arg(long)]
        ior: PathBuf,
    },
}

/// Errors are printed for the program that started this one.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match Options::parse().role {
        Role::Serve { ior, unix } => {
            runtime.block_on(async { tokio::spawn(serve::serve(ior, unix)).await? })
        }
        Role::Call { ior } => runtime.block_on(async { tokio::spawn(call::converse(ior)).await? }),
    }
}
