//! The client of `benches/bench.idl` that every peer's servers are timed with.
//!
//! `bench-client --ior FILE --op OP --size N --iters I --warmup W [--threads T]` prints one line
//! of JSON: latencies in nanoseconds for two-way operations, the whole for one-way ones.
//! `--op shutdown` ends the server.

#![expect(clippy::print_stdout, reason = "its result is a line of output")]

mod common;

use clap::{Parser, ValueEnum};
use common::{Payload, TtcpRef};
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use zorb::{Interface, Orb, SystemException, SystemExceptionKind};

#[derive(Parser, Clone)]
struct Options {
    /// Where the server wrote its reference.
    #[arg(long)]
    ior: PathBuf,
    /// noparams, octet, long, struct, echostring, echostruct, echooctet, oneway_noparams,
    /// oneway_octet, oneway_struct, or shutdown.
    #[arg(long, default_value = "noparams")]
    op: String,
    /// Elements of the argument.
    #[arg(long, default_value_t = 0)]
    size: usize,
    /// Timed calls per thread.
    #[arg(long, default_value_t = 1000)]
    iters: usize,
    /// Untimed calls before them.
    #[arg(long, default_value_t = 100)]
    warmup: usize,
    /// Client threads, each with a runtime and a connection of its own.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Echoed in the result.
    #[arg(long, default_value = "zorb")]
    peer: String,
    /// The runtime's flavour when there is one thread.
    #[arg(long, default_value = "multi")]
    runtime: Flavor,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Flavor {
    /// As under `#[tokio::main]`, with the calls made from a task.
    Multi,
    Current,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What one thread measured.
struct Measured {
    latencies: Vec<u64>,
    start: Instant,
    end: Instant,
}

async fn call(server: &TtcpRef, op: &str, payload: &Payload) -> Result<(), SystemException> {
    match op {
        "noparams" => server.send_no_params_2way().await,
        "octet" => server.send_octet_seq_2way(&payload.octets).await,
        "long" => server.send_long_seq_2way(&payload.longs).await,
        "struct" => server.send_struct_seq_2way(&payload.structs).await,
        "echostring" => server.echo_string(&payload.string).await.map(drop),
        "echostruct" => server.echo_struct_seq(&payload.structs).await.map(drop),
        "echooctet" => server.echo_octet_seq(&payload.octets).await.map(drop),
        "oneway_noparams" => server.send_no_params_1way().await,
        "oneway_octet" => server.send_octet_seq_1way(&payload.octets).await,
        "oneway_struct" => server.send_struct_seq_1way(&payload.structs).await,
        _ => unreachable!("checked before the first call"),
    }
}

const OPS: [&str; 10] = [
    "noparams",
    "octet",
    "long",
    "struct",
    "echostring",
    "echostruct",
    "echooctet",
    "oneway_noparams",
    "oneway_octet",
    "oneway_struct",
];

async fn measure(
    server: TtcpRef,
    options: Options,
    start_together: Arc<Barrier>,
) -> Result<Measured, Failure> {
    let op = options.op.as_str();
    let one_way = op.starts_with("oneway");
    let payload = Payload::new(op, options.size);
    let mut latencies = Vec::with_capacity(if one_way { 0 } else { options.iters });
    for _ in 0..options.warmup {
        call(&server, op, &payload).await?;
    }
    server.sync().await?;
    start_together.wait();
    let start = Instant::now();
    if one_way {
        for _ in 0..options.iters {
            call(&server, op, &payload).await?;
        }
        server.sync().await?;
    } else {
        let mut before = start;
        for _ in 0..options.iters {
            call(&server, op, &payload).await?;
            let now = Instant::now();
            latencies.push(nanoseconds(now - before));
            before = now;
        }
    }
    Ok(Measured {
        latencies,
        start,
        end: Instant::now(),
    })
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn report(options: &Options, measured: Vec<Measured>) -> Option<String> {
    let start = measured.iter().map(|m| m.start).min()?;
    let end = measured.iter().map(|m| m.end).max()?;
    let seconds = (end - start).as_secs_f64();
    let calls = (options.iters * options.threads) as f64 / seconds;
    let octets = Payload::octets_per_call(&options.op, options.size) as f64;
    let mut all: Vec<u64> = measured.into_iter().flat_map(|m| m.latencies).collect();
    all.sort_unstable();
    let mean = if all.is_empty() {
        seconds * 1e9 / options.iters as f64
    } else {
        all.iter().map(|&ns| ns as f64).sum::<f64>() / all.len() as f64
    };
    let at = |quantile: f64| {
        let index = (quantile * all.len() as f64) as usize;
        // Of one-way calls only the whole is timed.
        all.get(index.min(all.len().saturating_sub(1)))
            .copied()
            .unwrap_or(mean as u64)
    };
    Some(format!(
        "{{\"peer\":{:?},\"op\":{:?},\"size\":{},\"iters\":{},\"threads\":{},\"min_ns\":{},\
         \"p50_ns\":{},\"p99_ns\":{},\"p999_ns\":{},\"mean_ns\":{:.0},\"calls_per_s\":{:.1},\
         \"mbytes_per_s\":{:.2}}}",
        options.peer,
        options.op,
        options.size,
        options.iters,
        options.threads,
        at(0.0),
        at(0.5),
        at(0.99),
        at(0.999),
        mean,
        calls,
        calls * octets / 1e6,
    ))
}

async fn server(options: &Options) -> Result<(Orb, TtcpRef), Failure> {
    let orb = Orb::builder().build().await?;
    let reference = std::fs::read_to_string(&options.ior)
        .map_err(|error| format!("cannot read {}: {error}", options.ior.display()))?;
    let server = orb
        .string_to_object(&reference)
        .await?
        .narrow::<TtcpRef>()
        .await?
        .ok_or("the reference is not a Bench::Ttcp")?;
    Ok((orb, server))
}

fn one_thread(options: Options) -> Result<Vec<Measured>, Failure> {
    let runtime = match options.runtime {
        Flavor::Multi => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?,
        Flavor::Current => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
    };
    runtime.block_on(async move {
        let (orb, server) = server(&options).await?;
        let flavor = options.runtime;
        let measuring = measure(server, options, Arc::new(Barrier::new(1)));
        let measured = match flavor {
            Flavor::Multi => tokio::spawn(measuring).await??,
            Flavor::Current => measuring.await?,
        };
        orb.shutdown(true).await?;
        Ok(vec![measured])
    })
}

fn many_threads(options: &Options) -> Result<Vec<Measured>, Failure> {
    let barrier = Arc::new(Barrier::new(options.threads));
    let threads: Vec<_> = (0..options.threads)
        .map(|_| {
            let (options, barrier) = (options.clone(), Arc::clone(&barrier));
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()?;
                runtime.block_on(async move {
                    let (orb, server) = server(&options).await?;
                    let measured = measure(server, options, barrier).await?;
                    orb.shutdown(true).await?;
                    Ok(measured)
                })
            })
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().map_err(|_| "a client thread panicked")?)
        .collect()
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    if options.op == "shutdown" {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        return runtime.block_on(async {
            let (orb, server) = server(&options).await?;
            // A server that is ending may be gone before its reply has left.
            let server = server.with_round_trip_timeout(Duration::from_secs(10));
            match server.shutdown().await {
                Err(e) if e.kind != SystemExceptionKind::CommFailure => return Err(e.into()),
                _ => {}
            }
            orb.shutdown(true).await?;
            Ok(())
        });
    }
    if !OPS.contains(&options.op.as_str()) {
        return Err(format!("unknown op {:?}; known: {}", options.op, OPS.join(", ")).into());
    }
    let measured = if options.threads <= 1 {
        one_thread(options.clone())?
    } else {
        many_threads(&options)?
    };
    if let Some(line) = report(&options, measured) {
        println!("{line}");
    }
    Ok(())
}
