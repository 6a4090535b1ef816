//! `bench-lanes --seconds S [WORD…]`: what lanes guarantee under load, numbers by their names, as one JSON object; for
//! `cargo xtask claims lanes`.
//!
//! A server is one ORB; where it has lanes, they are those of a thread pool of Real-time CORBA, and requests run at the
//! priority that their client propagates. Each client is an ORB with a thread of its own. All are threads of one
//! process, which share connections over TCP only: those of an end have its CPUs. Threads are SCHED_FIFO, which needs
//! the privilege; the kernel's bound on real-time threads (`sched_rt_runtime_us`) is lifted for the run and restored
//! after it.

#![expect(clippy::print_stdout, reason = "its result is a line of output")]

mod claims;
mod place;
mod real_time;
mod work;
mod world;

use clap::Parser;
use place::Places;
use real_time::Unbounded;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::time::Duration;
use zorb_floor::counting;

/// An error of the program, printed for the person at its terminal.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

#[derive(Parser)]
struct Options {
    /// How long the high-priority client is watched.
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// The measurements whose names contain one of these; all unless given.
    words: Vec<String>,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let allowed = sched_getaffinity(None)?;
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|cpu| allowed.is_set(*cpu))
        .collect();
    let places = Places::of(&cpus)?;
    work::calibrate();
    let time = Duration::from_secs_f64(options.seconds);
    let measured = match Unbounded::new() {
        Ok(unbounded) => {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()?;
            let numbers = runtime.block_on(claims::all(&options.words, time, &places))?;
            drop(unbounded);
            serde_json::json!(numbers)
        }
        Err(why) => serde_json::json!({ "unmeasurable": why }),
    };
    println!("{measured}");
    Ok(())
}
