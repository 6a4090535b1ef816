//! Attacks on a server in a process of its own, with a limit on its memory, and what an honest client sees of them.
//!
//! `cargo xtask attack` starts this program; `cargo xtask claims bounds` reads what it prints. For each attack it
//! starts
//!
//! - the *victim* (`victim`): a server with zorb's default settings, whose memory and descriptors are read from
//!   `/proc`;
//! - the *honest client* (`honest`): a call a millisecond from a host of its own, before, during and after the attack.
//!
//! The attacks run as SCHED_IDLE, as attackers have CPUs of their own. Their parameters are drawn at random from a seed
//! that is printed; `--seed` repeats them. Hosts are source addresses in 127.0.0.0/8. Each row is a line of JSON: its
//! name, what was measured, the aim.

#![expect(clippy::print_stdout, reason = "its result is what it prints")]

mod attacks;
mod honest;
mod legitimate;
mod process;
mod report;
mod scene;
mod sys;
mod victim;
mod wire;

use clap::{Args, Parser, Subcommand};
use std::process::ExitCode;

/// A failure of the experiment itself.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Runs the attacks
    Run(Run),
    /// Serves until standard input ends
    Victim(victim::VictimOptions),
    /// Calls once a millisecond until standard input ends
    Honest(honest::HonestOptions),
}

#[derive(Args, Debug)]
struct Run {
    /// Attacks whose names contain one of these; all of them unless named
    attacks: Vec<String>,
    /// Fewer connections and shorter times; the aims that are times are not checked
    #[arg(long)]
    quick: bool,
    /// Draws the same parameters again
    #[arg(long)]
    seed: Option<u64>,
    /// Shows what the victims log
    #[arg(long)]
    log: bool,
}

fn main() -> ExitCode {
    let done = match Options::parse().role {
        Role::Run(run) => attacks::run(&run),
        Role::Victim(options) => victim::run(&options),
        Role::Honest(options) => honest::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("zorb-attack: {why:#}");
            ExitCode::FAILURE
        }
    }
}
