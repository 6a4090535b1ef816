//! Measurements of shared memory and of messages by number, for `cargo xtask claims native` and the picture
//! `memory-sizes`. Everything is measured in rounds, each with all that is compared:
//! - `calls`: a line of JSON with the median nanoseconds of calls, and of what they are compared with: a word that two threads
//!   share, a futex, copies.
//! - `sizes`: the points of the picture, with iceoryx2 where `iceoryx2-pair` is built.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "its result is a line of output")]

mod calls;
mod floor;

use calls::{Content, Pair, Waiting, Way};
use clap::{Parser, Subcommand};
use floor::Floor;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// An error of the program, printed for the person at its terminal.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The median nanoseconds of so many calls.
pub(crate) type Round = Box<dyn FnMut(usize) -> Result<f64, Failure>>;

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    question: Question,
    /// Rounds that count.
    #[arg(long, default_value_t = 15, global = true)]
    rounds: usize,
    /// Calls of each kind in a round.
    #[arg(long, default_value_t = 2_000, global = true)]
    calls: usize,
}

#[derive(Subcommand)]
enum Question {
    /// Calls, and what they are compared with.
    Calls,
    /// Times by size.
    Sizes,
}

/// Keeps this thread on a CPU.
pub(crate) fn pin(cpu: usize) -> Result<(), Failure> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

fn cpus() -> Result<[usize; 2], Failure> {
    let may = sched_getaffinity(None)?;
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| may.is_set(*cpu));
    match (cpus.next(), cpus.next()) {
        (Some(one), Some(other)) => Ok([one, other]),
        _ => Err("two CPUs are needed".into()),
    }
}

/// The median, in nanoseconds.
pub(crate) fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1e9
}

/// The medians of what takes turns; the first round is not counted.
fn in_turns(options: &Options, kinds: &mut [Round]) -> Result<Vec<f64>, Failure> {
    let mut all = vec![Vec::new(); kinds.len()];
    for round in 0..=options.rounds {
        for (kind, all) in kinds.iter_mut().zip(&mut all) {
            let nanoseconds = kind(options.calls)?;
            if round > 0 {
                all.push(nanoseconds);
            }
        }
    }
    Ok(all
        .into_iter()
        .map(|mut all| {
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
        })
        .collect())
}

const COPIED: usize = 64 << 10;
const SMALL: usize = 64;
const LARGE: usize = 1 << 20;

fn measure_calls(options: &Options) -> Result<Value, Failure> {
    let cpus = cpus()?;
    let spins = Arc::new(Pair::new(Way::Memory, Waiting::Spins, false, cpus)?);
    let parks = Arc::new(Pair::new(Way::Memory, Waiting::Parks, false, cpus)?);
    let names = [
        "noparams_ns",
        "raw_ns",
        "parked_ns",
        "futex_ns",
        "copied_ns",
        "copies_ns",
        "small_place_ns",
        "large_place_ns",
    ];
    let mut kinds = [
        spins.calls(Content::Nothing)?,
        Floor::Spin.pair(cpus),
        parks.calls(Content::Nothing)?,
        Floor::Futex.pair(cpus),
        spins.calls(Content::Octets(COPIED))?,
        Floor::Copy(COPIED).pair(cpus),
        spins.calls(Content::Place(SMALL))?,
        spins.calls(Content::Place(LARGE))?,
    ];
    let medians = in_turns(options, &mut kinds)?;
    let answer: Map<String, Value> = names
        .into_iter()
        .zip(medians)
        .map(|(name, nanoseconds)| (name.to_owned(), nanoseconds.into()))
        .collect();
    Ok(answer.into())
}

/// A pair of iceoryx2's, in a process of its own, which is asked for a round by a line.
fn iceoryx2(octets: usize) -> Option<Round> {
    let program = std::env::current_exe()
        .ok()?
        .with_file_name("iceoryx2-pair");
    let mut pair = Command::new(program);
    let pair = pair.stdin(Stdio::piped()).stdout(Stdio::piped());
    // Where it is not built, or the machine has not what it needs, the picture is without it.
    let mut pair = pair.arg(octets.to_string()).spawn().ok()?;
    let (mut ask, answers) = (pair.stdin.take()?, pair.stdout.take()?);
    let mut answers = BufReader::new(answers).lines();
    Some(Box::new(move |calls| {
        writeln!(ask, "{calls}")?;
        let answer = answers.next().ok_or("iceoryx2-pair has ended")??;
        Ok(answer.parse()?)
    }))
}

const OCTETS: [usize; 6] = [16, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const ITEMS: [usize; 5] = [1, 16, 128, 1_024, 8_192];
const WAYS: [(Way, &str); 3] = [
    (Way::Memory, "shared memory"),
    (Way::Unix, "UNIX sockets"),
    (Way::Tcp, "TCP"),
];

fn measure_sizes(options: &Options) -> Result<Value, Failure> {
    let cpus = cpus()?;
    let mut at = Vec::new();
    let mut kinds = Vec::new();
    // Before this thread is kept on a CPU, as a process has the CPUs of the thread that has started it.
    for octets in OCTETS {
        if let Some(round) = iceoryx2(octets) {
            at.push(("octets: GIOP", "iceoryx2", octets));
            kinds.push(round);
        }
    }
    let panels = [
        (false, "octets: GIOP", "structs: GIOP"),
        (true, "octets: by number", "structs: by number"),
    ];
    for (native, of_octets, of_structs) in panels {
        for (way, series) in WAYS {
            let pair = Arc::new(Pair::new(way, Waiting::Spins, native, cpus)?);
            for octets in OCTETS {
                at.push((of_octets, series, octets));
                kinds.push(pair.calls(Content::Octets(octets))?);
                if way == Way::Memory {
                    at.push((of_octets, "in place", octets));
                    kinds.push(pair.calls(Content::Written(octets))?);
                }
            }
            for items in ITEMS {
                at.push((of_structs, series, items));
                kinds.push(pair.calls(Content::Items(items))?);
            }
        }
    }
    let medians = in_turns(options, &mut kinds)?;
    let points = at
        .into_iter()
        .zip(medians)
        .map(|((panel, series, x), nanoseconds)| {
            json!({
                "panel": panel, "series": series, "x": x, "value": nanoseconds / 1e3, "unit": "µs",
            })
        });
    Ok(points.collect())
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let answer = match options.question {
        Question::Calls => measure_calls(&options)?,
        Question::Sizes => measure_sizes(&options)?,
    };
    println!("{answer}");
    Ok(())
}
