//! Timing calls of an ORB of ours: one after the other, several at a time, from several threads.

use crate::client::operation::Operation;
use crate::client::options::Options;
use crate::common::idl::bench::TtcpRef;
use crate::flavor::{self, Failure, Flavor};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use zorb::{Builder, Interface, Orb, SystemExceptionKind};
use zorb_floor::counting;
use zorb_floor::report::{Measured, nanoseconds};

/// The measured times, and the allocations meanwhile.
pub(crate) type Outcome = (Vec<Measured>, Option<(u64, u64)>);

/// The references in the file, the first one narrowed: so the connection is there.
async fn servers(options: &Options, builder: Builder) -> Result<(Orb, Vec<TtcpRef>), Failure> {
    let orb = options.life.start(builder).await?;
    let references = zorb_floor::reference(&options.ior)?;
    let mut servers: Vec<TtcpRef> = Vec::new();
    for reference in references.lines() {
        let object = orb.string_to_object(reference).await?;
        servers.push(match servers.is_empty() {
            true => object
                .narrow()
                .await?
                .ok_or("the reference is not a Bench::Ttcp")?,
            false => object.unchecked_narrow(),
        });
    }
    Ok((orb, servers))
}

async fn repeat(
    servers: &[TtcpRef],
    operation: &Operation,
    calls: usize,
    after: impl FnMut(),
) -> Result<(), Failure> {
    match servers {
        [server] if !operation.is_dynamic() => operation.repeat(server, calls, after).await?,
        _ => operation.repeat_at_random(servers, calls, after).await?,
    }
    Ok(())
}

/// Times one call after the other.
async fn one_by_one(
    servers: &[TtcpRef],
    operation: &Operation,
    calls: usize,
) -> Result<Measured, Failure> {
    let one_way = operation.is_one_way();
    let mut latencies = Vec::with_capacity(if one_way { 0 } else { calls });
    let start = Instant::now();
    let mut before = start;
    let after = || {
        if !one_way {
            let now = Instant::now();
            latencies.push(nanoseconds(now - before));
            before = now;
        }
    };
    repeat(servers, operation, calls, after).await?;
    if one_way && let Some(server) = servers.first() {
        server.sync().await?;
    }
    Ok(Measured {
        latencies,
        start,
        end: Instant::now(),
    })
}

/// Measures calls by `options.in_flight` tasks at a time.
async fn beside_each_other(
    servers: &[TtcpRef],
    operation: &Arc<Operation>,
    calls: usize,
    tasks: usize,
) -> Result<Vec<Measured>, Failure> {
    let tasks: Vec<_> = (0..tasks)
        .map(|n| {
            let (servers, operation) = (servers.to_vec(), Arc::clone(operation));
            let calls = calls / tasks + usize::from(n < calls % tasks);
            tokio::spawn(async move { one_by_one(&servers, &operation, calls).await })
        })
        .collect();
    let mut all = Vec::new();
    for task in tasks {
        all.push(task.await??);
    }
    Ok(all)
}

async fn timed(
    options: Options,
    operation: Arc<Operation>,
    together: Arc<Barrier>,
    builder: Builder,
) -> Result<Outcome, Failure> {
    let (orb, servers) = servers(&options, builder).await?;
    let server = servers.first().ok_or("no reference")?;
    // Until something has been answered each request says in which code sets it is.
    server.sync().await?;
    repeat(&servers, &operation, options.warmup, || ()).await?;
    // Twice, since a server remembers an operation when it sees it again, and an operation seen before marks the end of
    // the steady state.
    for _ in 0..2 {
        server.sync().await?;
    }
    together.wait();
    let outcome = if options.in_flight > 1 {
        let tasks = options.in_flight;
        let all = beside_each_other(&servers, &operation, options.iters, tasks).await?;
        (all, None)
    } else {
        let before = counting::so_far();
        let measured = one_by_one(&servers, &operation, options.iters).await?;
        let allocated = counting::between(before, counting::so_far());
        // Its vector of latencies is the measurement's.
        let allocated = allocated.map(|(number, octets)| {
            let own = 8 * measured.latencies.capacity() as u64;
            (number - u64::from(own > 0), octets - own)
        });
        (vec![measured], allocated)
    };
    // The steady state of a server that counts ends here.
    server.sync().await?;
    orb.shutdown(true).await?;
    Ok(outcome)
}

pub(crate) fn run(options: &Options, operation: Operation) -> Result<Outcome, Failure> {
    let operation = Arc::new(operation);
    let together = Arc::new(Barrier::new(options.threads));
    if options.threads == 1 {
        return flavor::run(options.life, None, |builder| {
            timed(options.clone(), operation, together, builder)
        });
    }
    // A runtime of its own for every thread, so that they share nothing.
    let mut life = options.life;
    if !matches!(life.runtime, Flavor::Dedicated | Flavor::Blocking) {
        life.runtime = Flavor::Current;
    }
    let threads: Vec<_> = (0..options.threads)
        .map(|_| {
            let (options, operation) = (options.clone(), Arc::clone(&operation));
            let together = Arc::clone(&together);
            std::thread::spawn(move || {
                flavor::run(life, None, |builder| {
                    timed(options, operation, together, builder)
                })
            })
        })
        .collect();
    let mut all = Vec::new();
    for thread in threads {
        all.extend(thread.join().map_err(|_| "a client thread panicked")??.0);
    }
    Ok((all, None))
}

/// Ends the server.
pub(crate) fn shutdown(mut options: Options) -> Result<(), Failure> {
    options.life.runtime = Flavor::Current;
    flavor::run(options.life, None, |builder| async move {
        let (orb, servers) = servers(&options, builder).await?;
        let server = servers.first().ok_or("no reference")?;
        // A server that is ending may be gone before its reply has left.
        let server = server.with_round_trip_timeout(Duration::from_secs(10));
        match server.shutdown().await {
            Err(e) if e.kind != SystemExceptionKind::CommFailure => return Err(e.into()),
            _ => {}
        }
        orb.shutdown(true).await?;
        Ok(())
    })
}
