//! Measurements of adapters for `cargo xtask claims poa`, an answer a run, as a line of JSON:
//! - `look-up transient|ids OBJECTS`: nanoseconds of finding one of so many objects, in this process.
//! - `memory transient|ids OBJECTS`: octets of an activated object beside its servant, by the memory of the process,
//!   and the seconds that activating all takes.
//! - `wire OBJECTS CALLS`: nanoseconds of a call over TCP to one of so many objects at random, and to one that is
//!   always the same, by one of so many references at random.
//! - `servants CALLS`: nanoseconds of a call over TCP to an active object, to a different object of a default servant
//!   each time, to the same object of a default servant, and to one of a servant locator; and by how many octets the
//!   process grows during the second.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "its result is a line of output")]

mod activated;
mod called;

use clap::{Parser, Subcommand, ValueEnum};

/// An error of the program, printed for the person at its terminal.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    question: Question,
}

#[derive(Subcommand)]
enum Question {
    /// The time of a look-up.
    LookUp { ids: Ids, objects: usize },
    /// The memory of activated objects.
    Memory { ids: Ids, objects: usize },
    /// Calls to one of many objects, and to the same.
    Wire { objects: usize, calls: usize },
    /// Calls of default servants and locators.
    Servants { calls: usize },
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
        Question::LookUp { ids, objects } => activated::look_up(ids, objects)?,
        Question::Memory { ids, objects } => activated::memory(ids, objects)?,
        Question::Wire { objects, calls } => called::wire(objects, calls)?,
        Question::Servants { calls } => called::servants(calls)?,
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
