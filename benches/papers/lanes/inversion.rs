//! A probe for priority inversion: how long calls of high priority take beside a caller of low priority that is stuck.

use crate::hosts::Place;
use crate::report::Report;
use crate::world::{BEST_EFFORT, Client, HIGH, LOW, Load, Server, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zorb_papers::dialogue::Failure;

/// The place where the caller of low priority is held up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stuck {
    Nowhere,
    /// An upcall of 20 ms after the other.
    Upcall,
    /// Requests of 4 MiB.
    Send,
    /// A queue of 8 requests, for which there are 32 of 2 ms at once.
    Queue,
}

const ALL: [(&str, Stuck); 4] = [
    ("nothing", Stuck::Nowhere),
    ("a long upcall", Stuck::Upcall),
    ("a large send", Stuck::Send),
    ("a full queue", Stuck::Queue),
];

/// The resource that the high and the low caller share.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sharing {
    /// A connection, the thread that reads it, a queue and a thread that serves.
    Everything,
    /// One ORB at each end; the server's has lanes.
    Orbs,
    /// The server, which has lanes; each caller has an ORB of its own.
    Server,
}

const SHARED: [(&str, Sharing); 3] = [
    ("no lanes", Sharing::Everything),
    ("lanes, callers share an ORB", Sharing::Orbs),
    ("lanes, an ORB for each caller", Sharing::Server),
];

const QUEUE: usize = 8;
const AT_ONCE: usize = 32;

pub(crate) async fn measure(report: Report, time: Duration, place: &Place) -> Result<(), Failure> {
    for (number, (name, stuck)) in ALL.into_iter().enumerate() {
        for (series, sharing) in SHARED {
            let milliseconds = probe(sharing, stuck, time, place).await?;
            let at = (number, name);
            report.under(("inversion", series), at, milliseconds, "ms");
        }
    }
    Ok(())
}

/// The 99th percentile of calls at high priority, in milliseconds.
async fn probe(
    sharing: Sharing,
    stuck: Stuck,
    time: Duration,
    place: &Place,
) -> Result<f64, Failure> {
    let (high, low) = match sharing {
        Sharing::Everything => (None, None),
        Sharing::Orbs | Sharing::Server => (Some(HIGH), Some(LOW)),
    };
    let host = &place.server;
    let server = match sharing {
        Sharing::Everything => Server::pool(host, 1).await?,
        Sharing::Orbs | Sharing::Server => {
            let bounded = move |options: zorb::real_time::ThreadpoolOptions| match stuck {
                Stuck::Queue => options.buffering(QUEUE, 0),
                _ => options,
            };
            let lanes = [(BEST_EFFORT, 1), (LOW, 1), (HIGH, 1)];
            Server::lanes_with(host, &lanes, bounded).await?
        }
    };
    let caller = Client::start(place, high, &server).await?;
    let other = match sharing {
        Sharing::Everything | Sharing::Orbs => caller.beside(place, low).await?,
        Sharing::Server => Client::start(place, low, &server).await?,
    };
    let ends = Arc::new(AtomicBool::new(false));
    let stuck = stick(&other, stuck, &ends);
    let load = Load {
        rate: Some(200.0),
        microseconds: 50,
    };
    let calls = run(&[(&caller, load)], time).await?;
    ends.store(true, Ordering::Relaxed);
    for task in stuck {
        task.await?;
    }
    if calls[0].failed > 0 {
        return Err(format!("{} calls of high priority failed", calls[0].failed).into());
    }
    if sharing == Sharing::Server {
        other.end().await?;
    } else {
        drop(other);
    }
    caller.end().await?;
    server.end().await?;
    Ok(calls[0].percentile(99) / 1e3)
}

/// Has the caller of low priority do what it is stuck in, until it ends.
fn stick(
    caller: &Client,
    stuck: Stuck,
    ends: &Arc<AtomicBool>,
) -> Vec<tokio::task::JoinHandle<()>> {
    let count = match stuck {
        Stuck::Nowhere => 0,
        Stuck::Upcall | Stuck::Send => 1,
        Stuck::Queue => AT_ONCE,
    };
    let octets = match stuck {
        Stuck::Send => vec![7_u8; 4 << 20],
        _ => Vec::new(),
    };
    let tasks = (0..count).map(|_| {
        let (worker, ends, octets) = (caller.worker.clone(), Arc::clone(ends), octets.clone());
        caller.spawn(async move {
            while !ends.load(Ordering::Relaxed) {
                // Requests that the full queue refuses are made again.
                let _ = match stuck {
                    Stuck::Send => worker.store(&octets).await,
                    Stuck::Upcall => worker.work(20_000).await,
                    Stuck::Queue | Stuck::Nowhere => worker.work(2_000).await,
                };
            }
        })
    });
    tasks.collect()
}
