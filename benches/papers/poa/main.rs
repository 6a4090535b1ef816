//! Measurements of adapters for `cargo xtask claims poa`: memory, time of activation, calls through servants of each
//! kind, and adapters whose objects come and go while they are called.
//!
//! Each run answers one question by a line of JSON:
//! - `memory transient|ids OBJECTS`: octets of an activated object beside its servant, by the memory of the process,
//!   and the
//!   seconds that activating all takes.
//! - `wire OBJECTS CALLS`: nanoseconds of a call over TCP to one of so many objects at random, and to one that is
//!   always the same,
//!   by one of so many references at random.
//! - `servants CALLS`: nanoseconds of a call over TCP to an active object, to a different object of a default servant
//!   each
//!   time, to the same object of a default servant, and to one of a servant locator; and by how many octets the process grows
//!   during the second.
//! - `churn DISPATCHES`: two threads activate, deactivate and destroy while four look up and dispatch; what is wrong is
//!   counted.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "its result is a line of output")]

mod activated;
mod called;
mod churn;

use clap::{Parser, Subcommand, ValueEnum};
use zorb_papers::dialogue::Failure;

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    question: Question,
}

#[derive(Subcommand)]
enum Question {
    /// The memory of activated objects.
    Memory {
        /// The assignment of ids.
        ids: Ids,
        /// How many.
        objects: usize,
    },
    /// Calls to one of many objects, and to the same.
    Wire {
        /// How many.
        objects: usize,
        /// The number of calls of each kind.
        calls: usize,
    },
    /// Calls of default servants and locators.
    Servants {
        /// The number of calls of each kind.
        calls: usize,
    },
    /// Objects that come and go.
    Churn {
        /// The number of dispatches by all threads together.
        dispatches: u64,
    },
}

/// The assignment of object ids.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Ids {
    /// The adapter: transient references.
    Transient,
    /// The application: persistent references.
    Ids,
}

fn main() -> Result<(), Failure> {
    let answer = match Options::parse().question {
        Question::Memory { ids, objects } => activated::memory(ids, objects)?,
        Question::Wire { objects, calls } => called::wire(objects, calls)?,
        Question::Servants { calls } => called::servants(calls)?,
        Question::Churn { dispatches } => churn::churn(dispatches)?,
    };
    println!("{answer}");
    Ok(())
}

/// Octets of memory that the process has in use.
fn resident() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let words = line.and_then(|line| line.split_whitespace().next());
    let kibibytes: f64 = words.ok_or("the system does not say")?.parse()?;
    Ok(kibibytes * 1024.0)
}
