//! The fate of calls when there are many of them, and when servers end: the measurements behind `cargo xtask claims
//! protocols`. Each prints a line of JSON.
//!
//! - `flood`: long one-way calls from several clients, whose order the server checks.
//! - `black-hole`: how long connecting takes where nothing answers, of its limit.
//! - `several`: small calls beside long messages, over one connection to the server and over several.
//! - `fail-over`: what callers of a group of three servers see when one is killed.

#![expect(clippy::print_stdout, reason = "its result is lines of output")]

mod ends;
mod failures;
mod flood;
mod several;

use clap::{Parser, Subcommand};
use ends::Failure;

#[zorb::idl_file("../bench.idl")]
pub mod idl {}

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Serves, and prints its reference.
    Serve,
    /// Sends long one-way calls.
    Flood {
        /// In all.
        #[arg(long, default_value_t = 1_000_000)]
        calls: u32,
        /// The octets of each message.
        #[arg(long, default_value_t = 65_536)]
        octets: usize,
        /// Clients, each an ORB of its own.
        #[arg(long, default_value_t = 4)]
        clients: u32,
    },
    /// Connects where nothing answers.
    BlackHole {
        /// Milliseconds of the connect timeout.
        #[arg(long, default_value_t = 1_000)]
        limit: u64,
    },
    /// Times small calls beside long messages.
    Several {
        /// Rounds, of one connection and of several each.
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Small calls of each round.
        #[arg(long, default_value_t = 500)]
        calls: usize,
    },
    /// Kills one of three servers.
    FailOver {
        /// At a time.
        #[arg(long, default_value_t = 32)]
        callers: usize,
    },
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    match Options::parse().what {
        What::Serve => ends::serve().await,
        What::Flood {
            calls,
            octets,
            clients,
        } => flood::send(calls, octets, clients).await,
        What::BlackHole { limit } => failures::black_hole(limit).await,
        What::Several { rounds, calls } => tokio::spawn(several::measure(rounds, calls)).await?,
        What::FailOver { callers } => failures::fail_over(callers).await,
    }
}
