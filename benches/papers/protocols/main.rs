//! The cost of protocols, and the fate of calls when servers end: the measurements behind `cargo xtask claims
//! protocols`. Each prints a line of JSON.
//!
//! - `latency`: the median time of every operation of `bench.idl` over TCP, UNIX sockets and GIOPlite, in turns.
//! - `octets`: octets on the wire of a call over GIOP and over GIOPlite.
//! - `calls SCHEME NUMBER`: so many calls between two ORBs of one thread, which parks: for callgrind.
//! - `flood`: long one-way calls from several clients, whose order the server checks.
//! - `black-hole`: how long connecting takes where nothing answers, of its limit.
//! - `circuits`: calls over circuits of ATM beside frames without sessions, in a machine that has circuits.
//! - `several`: small calls beside long messages, over one connection to the server and over several.
//! - `fail-over`: what callers of a group of three servers see when one is killed.

#![expect(clippy::print_stdout, reason = "its result is lines of output")]

mod circuits;
mod ends;
mod failures;
mod flood;
mod latency;
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
    /// Serves on the endpoints, and prints its reference.
    Serve {
        /// Where to listen.
        endpoints: Vec<String>,
    },
    /// Times every operation over every protocol.
    Latency {
        /// Rounds; the median of their medians counts.
        #[arg(long, default_value_t = 15)]
        rounds: usize,
        /// Calls of each round.
        #[arg(long, default_value_t = 300)]
        calls: usize,
    },
    /// Counts octets of calls.
    Octets,
    /// Makes calls.
    Calls {
        /// The scheme of the server's endpoint.
        scheme: String,
        /// How many.
        number: u32,
    },
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
        /// The scheme of the server's endpoint.
        #[arg(long, default_value = "iiop")]
        scheme: String,
    },
    /// Connects where nothing answers.
    BlackHole {
        /// Milliseconds of the connect timeout.
        #[arg(long, default_value_t = 1_000)]
        limit: u64,
    },
    /// Measures calls over circuits of ATM, and frames without sessions.
    Circuits {
        /// Rounds.
        #[arg(long, default_value_t = 9)]
        rounds: usize,
        /// One-way calls of each round.
        #[arg(long, default_value_t = 200)]
        floods: usize,
        /// Calls there and back of each round.
        #[arg(long, default_value_t = 300)]
        pings: usize,
    },
    /// The far end of those frames.
    ServeFrames,
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

fn main() -> Result<(), Failure> {
    let runtime = |workers: Option<usize>| {
        let mut builder = match workers {
            Some(1) => tokio::runtime::Builder::new_current_thread(),
            _ => tokio::runtime::Builder::new_multi_thread(),
        };
        builder.enable_all().build()
    };
    match Options::parse().what {
        What::Serve { endpoints } => runtime(None)?.block_on(ends::serve(endpoints)),
        What::Latency { rounds, calls } => {
            runtime(None)?.block_on(async { tokio::spawn(latency::measure(rounds, calls)).await? })
        }
        What::Octets => runtime(None)?.block_on(latency::octets()),
        What::Calls { scheme, number } => {
            runtime(Some(1))?.block_on(latency::calls(&scheme, number))
        }
        What::Flood {
            calls,
            octets,
            clients,
            scheme,
        } => runtime(None)?.block_on(flood::send(calls, octets, clients, scheme)),
        What::BlackHole { limit } => runtime(None)?.block_on(failures::black_hole(limit)),
        What::Circuits {
            rounds,
            floods,
            pings,
        } => runtime(None)?
            .block_on(async { tokio::spawn(circuits::measure(rounds, floods, pings)).await? }),
        What::Several { rounds, calls } => {
            runtime(None)?.block_on(async { tokio::spawn(several::measure(rounds, calls)).await? })
        }
        What::ServeFrames => circuits::serve_frames(),
        What::FailOver { callers } => runtime(None)?.block_on(failures::fail_over(callers)),
    }
}
