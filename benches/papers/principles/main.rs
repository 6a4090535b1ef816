//! One call's marshalling and look-up, with one principle of the latency paper's Table 3 more at every step.
//!
//! A question is `STEP octets|structs UNITS call|encode|decode MILLISECONDS`, for instance `3 structs 1024 call 20`.
//! Steps 0 to 6 are those of `zorb_papers::interpreter`; 7 is 6 with servants that are found by active demultiplexing
//! and operations by a perfect hash, where the steps before it search one after the other; 8 is zorb's compiled CDR; 9 is a
//! value in an `any`, which zorb too walks along a TypeCode for, and which carries its TypeCode. A *call* is: find
//! servant and operation, write the argument, read it, and free what was read.
//!
//! `count STEP octets|structs UNITS call|encode|decode TIMES` as the command line does it so often and no more, for who
//! counts instructions.
//!
//! Every step has to write the octets that zorb-cdr does, and to read them, before it is timed.
#![forbid(unsafe_code)]

use std::time::Duration;
use zorb_papers::batches::{self, Times};
use zorb_papers::dialogue;
use zorb_papers::engines::{DEMULTIPLEXED, Engine, engine};
use zorb_papers::lookup::servants::operation;
use zorb_papers::lookup::{Active, Linear, Strategy};

/// Servants that each call has to find one of.
const SERVANTS: usize = 100;
/// Operations that each of them has.
const OPERATIONS: usize = 10;

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Call,
    Encode,
    Decode,
}

impl Part {
    fn of(word: Option<&&str>) -> Result<Self, String> {
        match word {
            Some(&"call") => Ok(Self::Call),
            Some(&"encode") => Ok(Self::Encode),
            Some(&"decode") => Ok(Self::Decode),
            _ => Err("call, encode or decode?".to_owned()),
        }
    }
}

/// Finds servants and operations of requests that are there already, one after the other.
struct Finder<S> {
    strategy: S,
    requests: Vec<(Vec<u8>, String)>,
    next: usize,
}

impl<S: Strategy> Finder<S> {
    fn new() -> Self {
        let strategy = S::new(SERVANTS, OPERATIONS);
        let mut random = fastrand::Rng::with_seed(0x5eed);
        let requests = (0..256).map(|_| {
            let servant = random.u32(0..SERVANTS as u32);
            let number = random.u32(0..OPERATIONS as u32);
            (strategy.key(servant, number), operation(number))
        });
        Self {
            requests: requests.collect(),
            strategy,
            next: 0,
        }
    }

    fn find(&mut self) {
        let (key, operation) = &self.requests[self.next % self.requests.len()];
        let found = self.strategy.find(key, operation.as_bytes());
        self.next += 1;
        std::hint::black_box(found);
    }
}

/// How calls are found.
enum Found {
    Linear(Finder<Linear>),
    Active(Finder<Active>),
}

/// One step, ready to be run.
struct Run {
    engine: Box<dyn Engine>,
    found: Found,
    part: Part,
}

impl Run {
    fn new(step: usize, kind: &str, units: usize, part: Part) -> Result<Self, String> {
        let found = if step < DEMULTIPLEXED {
            Found::Linear(Finder::new())
        } else {
            Found::Active(Finder::new())
        };
        Ok(Self {
            engine: engine(step, kind, units)?,
            found,
            part,
        })
    }

    fn times(&mut self, count: usize) {
        for _ in 0..count {
            if self.part == Part::Call {
                match &mut self.found {
                    Found::Linear(finder) => finder.find(),
                    Found::Active(finder) => finder.find(),
                }
            }
            if self.part != Part::Decode {
                self.engine.encode();
            }
            if self.part != Part::Encode {
                self.engine.decode();
            }
        }
    }
}

fn answer(words: &[&str]) -> Result<Times, String> {
    let kind = words.get(1).ok_or("octets or structs?")?;
    let (step, units) = (dialogue::number(words, 0)?, dialogue::number(words, 2)?);
    let mut run = Run::new(step, kind, units, Part::of(words.get(3))?)?;
    let patience = Duration::from_millis(dialogue::number(words, 4)? as u64);
    Ok(batches::time(
        &mut run,
        1_000,
        patience,
        |_, _| (),
        Run::times,
    ))
}

fn count(words: &[&str]) -> Result<(), String> {
    let kind = words.get(1).ok_or("octets or structs?")?;
    let (step, units) = (dialogue::number(words, 0)?, dialogue::number(words, 2)?);
    let mut run = Run::new(step, kind, units, Part::of(words.get(3))?)?;
    run.times(dialogue::number(words, 4)?);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        None => dialogue::run(answer)?,
        Some((first, rest)) if first == "count" => {
            count(&rest.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        Some((other, _)) => return Err(format!("not a command: {other}").into()),
    }
    Ok(())
}
