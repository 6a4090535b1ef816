//! The client of `latency.idl`: a line on standard input is a measurement, and the end of it the end.
//!
//! - `OP SIZE SERVANTS ORDER ITERS WARMUP`: one call after the other. OP is `noparams`, `short`, `char`, `long`,
//!   `octet`, `double` or `struct` (SIZE elements), with `oneway_` in front of it or not, or `ops1`, `ops10` and
//!   `ops100` of the interfaces with so many operations. ORDER is in which order the servants, and the operations of
//!   the latter, are called: `train`, `robin`, `random` or `worst`.
//! - `callers COUNT EACH WARMUP`: EACH two-way calls without parameters by each of so many tasks, which begin together
//!   when all of them have made their untimed ones.
//! - `crowd COUNT HOW ITERS WARMUP`: two-way calls without parameters over so many connections of no ORB, HOW being
//!   `idle` (all of them over one) or `active` (over one after the other).
//! - `shutdown`: ends the server.

mod call;
mod crowd;
#[path = "../../programs/flavor.rs"]
mod flavor;

use call::{Held, Operation};
use clap::Parser;
use crowd::Crowd;
use flavor::{Failure, Life};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Barrier;
use zorb::{Builder, Interface, SystemException};
use zorb_floor::report::{Asked, Line, Measured, nanoseconds};
use zorb_papers::dialogue::{self, word};
use zorb_papers::latency::ControlRef;
use zorb_papers::order::Order;
use zorb_papers::place::{FAREWELL, check_shutdown};

#[derive(Parser)]
#[command(args_override_self = true)]
struct Options {
    /// Where the server wrote its reference
    #[arg(long)]
    ior: PathBuf,
    #[command(flatten)]
    life: Life,
}

/// The numbers of a result.
fn asked(op: &str, size: usize, octets: usize, calls: (usize, usize), digest: u64) -> Asked {
    Asked {
        peer: "zorb".to_owned(),
        op: op.to_owned(),
        size,
        octets,
        iters: calls.0,
        warmup: calls.1,
        threads: 1,
        digest,
    }
}

/// One call after the other, in an order.
async fn one_by_one(held: &mut Held, words: &[String]) -> Result<Line, Failure> {
    let (op, size): (String, usize) = (word(words, 0)?, word(words, 1)?);
    let (servants, order): (usize, Order) = (word(words, 2)?, word(words, 3)?);
    let (iters, warmup): (usize, usize) = (word(words, 4)?, word(words, 5)?);
    let operation = Operation::new(&op, size).ok_or("no such operation")?;
    held.grow(operation.interface(), servants).await?;
    let mut turns = order.turns(servants, operation.operations());
    for _ in 0..warmup {
        let (servant, number) = turns.turn();
        held.call(&operation, servant, number).await?;
    }
    let one_way = operation.one_way;
    if one_way {
        held.sync().await?;
    }
    let mut latencies = Vec::with_capacity(if one_way { 0 } else { iters });
    let start = Instant::now();
    let mut before = start;
    for _ in 0..iters {
        let (servant, number) = turns.turn();
        held.call(&operation, servant, number).await?;
        if !one_way {
            let now = Instant::now();
            latencies.push(nanoseconds(now - before));
            before = now;
        }
    }
    if one_way {
        held.sync().await?;
    }
    let measured = Measured {
        latencies,
        start,
        end: Instant::now(),
    };
    let asked = asked(
        &op,
        size,
        operation.octets(),
        (iters, warmup),
        operation.digest(),
    );
    Ok(Line::new(&asked, vec![measured]).ok_or("nothing was measured")?)
}

/// Calls of many tasks, each one after the other.
async fn together(held: &mut Held, words: &[String]) -> Result<Line, Failure> {
    let callers: usize = word(words, 1)?;
    let (each, warmup): (usize, usize) = (word(words, 2)?, word(words, 3)?);
    let server = held.first().await?;
    let all_there = Arc::new(Barrier::new(callers));
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (server, all_there) = (server.clone(), Arc::clone(&all_there));
            tokio::spawn(async move {
                let mut latencies = Vec::with_capacity(each);
                let warm = async {
                    for _ in 0..warmup {
                        server.send_no_params_2way().await?;
                    }
                    Ok(())
                };
                let warm: Result<(), SystemException> = warm.await;
                // A client that has failed must not be waited for.
                all_there.wait().await;
                warm?;
                let start = Instant::now();
                let mut before = start;
                for _ in 0..each {
                    server.send_no_params_2way().await?;
                    let now = Instant::now();
                    latencies.push(nanoseconds(now - before));
                    before = now;
                }
                Ok::<_, SystemException>(Measured {
                    latencies,
                    start,
                    end: before,
                })
            })
        })
        .collect();
    let mut measured = Vec::new();
    for task in tasks {
        measured.push(task.await??);
    }
    let asked = Asked {
        threads: callers,
        ..asked("callers", callers, 0, (each, warmup), 1)
    };
    Ok(Line::new(&asked, measured).ok_or("nothing was measured")?)
}

/// Calls over many connections.
async fn crowded(
    held: &mut Held,
    crowd: &mut Option<Crowd>,
    orb: &zorb::Orb,
    words: &[String],
) -> Result<Line, Failure> {
    let (count, how): (usize, String) = (word(words, 1)?, word(words, 2)?);
    let (iters, warmup): (usize, usize) = (word(words, 3)?, word(words, 4)?);
    let crowd = match crowd {
        Some(crowd) => crowd,
        None => {
            let server = held.first().await?;
            crowd.insert(Crowd::new(&orb.object_to_string(&server))?)
        }
    };
    let before_all = crowd.calls;
    crowd.grow(count)?;
    let turn = |n: usize| if how == "active" { n % count } else { 0 };
    for n in 0..warmup {
        crowd.call(turn(n))?;
    }
    let untimed = crowd.calls - before_all;
    let mut latencies = Vec::with_capacity(iters);
    let start = Instant::now();
    let mut before = start;
    for n in 0..iters {
        crowd.call(turn(n + warmup))?;
        let now = Instant::now();
        latencies.push(nanoseconds(now - before));
        before = now;
    }
    let measured = Measured {
        latencies,
        start,
        end: before,
    };
    let asked = asked("crowd", count, 0, (iters, untimed), 1);
    Ok(Line::new(&asked, vec![measured]).ok_or("nothing was measured")?)
}

/// Ends the server, which may be gone before its reply has left.
async fn shutdown(control: &ControlRef) -> Result<(), Failure> {
    let control = control.clone().with_round_trip_timeout(FAREWELL);
    check_shutdown(control.shutdown().await)
}

async fn converse(options: Options, builder: Builder) -> Result<(), Failure> {
    let orb = options.life.start(builder).await?;
    let reference = zorb_floor::reference(&options.ior)?;
    let control = orb
        .string_to_object(&reference)
        .await?
        .narrow::<ControlRef>()
        .await?;
    let control = control.ok_or("the reference is not a Latency::Control")?;
    let mut held = Held::new(control.clone());
    let mut crowd = None;
    // Blocks a thread of ours between measurements, when there is nothing else to do.
    while let Some(words) = dialogue::next()? {
        let measured = match words.first().map(String::as_str) {
            Some("shutdown") => {
                shutdown(&control).await?;
                break;
            }
            Some("crowd") => crowded(&mut held, &mut crowd, &orb, &words).await,
            Some("callers") => together(&mut held, &words).await,
            _ => one_by_one(&mut held, &words).await,
        };
        dialogue::answer_or_refuse(measured)?;
    }
    orb.shutdown(true).await?;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    flavor::run(options.life, None, |builder| converse(options, builder))
}
