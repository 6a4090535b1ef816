//! Real-time CORBA under load: the experiments of the dissertation's chapter 7, those of its chapters 2 and 4 to 6 that
//! belong to them, and what is claimed of lanes.
//!
//! - `papers-lanes experiments --seconds S` measures S seconds for each point, and prints a line of JSON for each
//!   value.
//! - `papers-lanes claims --seconds S [WORD…]` prints numbers by their names, as one JSON object.
//!
//! A server is one ORB; where it has lanes, they are those of a thread pool of Real-time CORBA, and requests run at the
//! priority that their client propagates. Each client is an ORB with a thread of its own. All are threads of one
//! process, which share connections over TCP only: those of a host have its CPUs, and where there are two hosts, each
//! has a network namespace of its own. Threads are SCHED_FIFO, which needs the privilege; the kernel's bound on
//! real-time threads (`sched_rt_runtime_us`) is lifted for the run, restored after it, and printed.

#![expect(clippy::print_stdout, reason = "its result is lines of output")]

mod claims;
mod dispatching;
mod experiments;
mod hand_over;
mod hosts;
mod inversion;
mod memory;
mod propagation;
mod real_time;
mod report;
mod strategies;
mod work;
mod world;

use clap::{Parser, Subcommand};
use experiments::Experiments;
use hosts::Places;
use real_time::Unbounded;
use report::Report;
use rustix::thread::{CpuSet, sched_getaffinity};
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
    /// All experiments that are drawn.
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
        /// The experiments whose names contain one of these; all unless given.
        words: Vec<String>,
    },
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let allowed = sched_getaffinity(None)?;
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|cpu| allowed.is_set(*cpu))
        .collect();
    let places = Places::of(&cpus)?;
    work::calibrate();
    let unbounded = Unbounded::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match options.role {
        Role::Experiments { seconds } => {
            let time = Duration::from_secs_f64(seconds);
            let report = Report;
            match &unbounded {
                Ok(unbounded) => println!("{}", serde_json::json!({ "bound": unbounded.before })),
                Err(why) => report.missing(&format!("what needs real-time threads ({why})")),
            }
            runtime.block_on(experiments(report, time, &places, unbounded.is_ok()))?;
        }
        Role::Claims { seconds, words } => {
            let time = Duration::from_secs_f64(seconds);
            let measured = match &unbounded {
                Ok(unbounded) => {
                    let numbers = runtime.block_on(claims::all(&words, time, &places))?;
                    serde_json::json!({ "numbers": numbers, "bound": unbounded.before })
                }
                Err(why) => serde_json::json!({ "numbers": {}, "unmeasurable": why }),
            };
            println!("{measured}");
        }
    }
    drop(unbounded);
    Ok(())
}

async fn experiments(
    report: Report,
    time: Duration,
    places: &Places,
    may_be_real_time: bool,
) -> Result<(), Failure> {
    // Before anything has allocations counted, which costs time.
    let in_memory = move || {
        memory::measure(report, time / 4)?;
        dispatching::measure(report, time)
    };
    tokio::task::spawn_blocking(in_memory).await??;
    if may_be_real_time {
        Experiments { time, report }.all(places).await?;
        inversion::measure(report, time, &places.same).await?;
        propagation::measure(report, &places.same.server).await?;
    }
    strategies::measure(report, time, places).await
}
