//! The client of `benches/bench.idl` that every peer's servers are timed with.
//!
//! `bench-client --ior FILE --op OP --size N --iters I --warmup W [--threads T] …` prints one line of JSON: latencies
//! in nanoseconds for two-way operations, the whole for one-way ones. `--op shutdown` ends the server. What else it
//! takes is in `--help`, and what of that there is already, in words for other programs, in `--can`.

#![expect(clippy::print_stdout, reason = "its result is a line of output")]

mod abilities;
mod client;
mod common;
mod digests;
mod flavor;
mod structs;

use clap::Parser;
use client::operation::Operation;
use client::options::Options;
use client::{crowd, measure};
use common::idl::bench::BinStruct;
use flavor::Failure;
use zorb_floor::counting;
use zorb_floor::report::Line;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

fn main() -> Result<(), Failure> {
    if abilities::are_asked_for() {
        return Ok(());
    }
    let mut options = Options::parse();
    options.threads = options.threads.max(1);
    match options.op.as_str() {
        "shutdown" => return measure::shutdown(options),
        "crowd" => return crowd::run(&options),
        _ => {}
    }
    let operation = Operation::of(&options)?;
    let asked = operation.asked(&options);
    if options.count_allocations {
        counting::start();
    }
    let (measured, allocated) = measure::run(&options, operation)?;
    if let Some(line) = Line::new(&asked, measured) {
        println!("{}", line.with_allocations(allocated).to_json());
    }
    Ok(())
}
