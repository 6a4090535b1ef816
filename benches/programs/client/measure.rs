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

/// The reference in the file, narrowed: so the connection is there.
async fn server(options: &Options, builder: Builder) -> Result<(Orb, TtcpRef), Failure> {
    let orb = options.life.start(builder).await?;
    let reference = zorb_floor::reference(&options.ior)?;
    let object = orb.string_to_object(&reference).await?;
    let server = object.narrow::<TtcpRef>().await?;
    Ok((orb, server.ok_or("the reference is not a Bench::Ttcp")?))
}

/// Times one call after the other.
async fn one_by_one(
    server: &TtcpRef,
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
    operation.repeat(server, calls, after).await?;
    if one_way {
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
    server: &TtcpRef,
    operation: &Arc<Operation>,
    calls: usize,
    tasks: usize,
) -> Result<Vec<Measured>, Failure> {
    let tasks: Vec<_> = (0..tasks)
        .map(|n| {
            let (server, operation) = (server.clone(), Arc::clone(operation));
            let calls = calls / tasks + usize::from(n < calls % tasks);
            tokio::spawn(async move { one_by_one(&server, &operation, calls).await })
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
    let (orb, server) = server(&options, builder).await?;
    // Until something has been answered each request says in which code sets it is.
    server.sync().await?;
    operation.repeat(&server, options.warmup, || ()).await?;
    // Twice, since a server remembers an operation when it sees it again, and an operation seen before marks the end of
    // the steady state.
    for _ in 0..2 {
        server.sync().await?;
    }
    together.wait();
    let outcome = if options.in_flight > 1 {
        let tasks = options.in_flight;
        let all = beside_each_other(&server, &operation, options.iters, tasks).await?;
        (all, None)
    } else {
        let before = counting::so_far();
        let measured = one_by_one(&server, &operation, options.iters).await?;
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
        let (orb, server) = server(&options, builder).await?;
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
