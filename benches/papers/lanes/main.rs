//! Lanes under load: the experiments of the dissertation's chapter 7, and what is claimed of lanes.
//!
//! - `papers-lanes experiments --seconds S` runs experiments 1 to 8, S seconds for each point, and prints a line of JSON
//!   for each.
//! - `papers-lanes claims --seconds S [WORD…]` prints numbers by their names, as one JSON object.
//!
//! Servers and clients are ORBs of one process, each with a thread and a TCP connection of its own; a lane is an ORB with
//! its own reactor and endpoint. Threads are SCHED_FIFO, which needs the privilege; the kernel's bound on real-time threads
//! (`sched_rt_runtime_us`) is lifted for the run, restored after it, and printed.

#![expect(clippy::print_stdout, reason = "its result is lines of output")]

mod claims;
mod experiments;
mod hand_over;
mod real_time;
mod work;
mod world;

use clap::{Parser, Subcommand};
use experiments::Experiments;
use real_time::Unbounded;
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::Serialize;
use std::time::Duration;
use zorb_floor::counting;
use zorb_papers::dialogue::Failure;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Experiments 1 to 8.
    Experiments {
        /// How long each point is measured.
        #[arg(long, default_value_t = 3.0)]
        seconds: f64,
    },
    /// The numbers of the claims.
    Claims {
        /// How long the high-priority client is watched.
        #[arg(long, default_value_t = 60.0)]
        seconds: f64,
        /// Those whose names contain one of these; all of them unless given.
        words: Vec<String>,
    },
}

/// The CPUs of both ends.
#[derive(Clone, Copy, Debug)]
struct Place {
    client: usize,
    server: usize,
}

/// A point of an experiment.
#[derive(Serialize)]
struct Sample {
    panel: String,
    series: String,
    x: f64,
    value: f64,
    unit: &'static str,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let allowed = sched_getaffinity(None)?;
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let first = cpus.next().ok_or("no CPU")?;
    let same = Place {
        client: first,
        server: first,
    };
    let split = cpus.next().map(|second| Place {
        client: second,
        server: first,
    });
    work::calibrate();
    let unbounded = Unbounded::new()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match options.role {
        Role::Experiments { seconds } => {
            println!("{}", serde_json::json!({ "bound": unbounded.before }));
            let mut report = |sample: Sample| match serde_json::to_string(&sample) {
                Ok(line) => println!("{line}"),
                Err(error) => eprintln!("{error}"),
            };
            let mut experiments = Experiments {
                time: Duration::from_secs_f64(seconds),
                report: &mut report,
            };
            runtime.block_on(experiments.all(same, split))?;
        }
        Role::Claims { seconds, words } => {
            let time = Duration::from_secs_f64(seconds);
            let numbers = runtime.block_on(claims::all(&words, time, same, split))?;
            let measured = claims::Measured {
                numbers,
                bound: unbounded.before.clone(),
            };
            println!("{}", serde_json::to_string(&measured)?);
        }
    }
    drop(unbounded);
    Ok(())
}
