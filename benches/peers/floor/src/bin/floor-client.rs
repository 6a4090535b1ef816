//! The client of the floor. See `benches/peers/README.md`.

#![expect(clippy::print_stdout, reason = "its result is a line of output")]

use clap::Parser;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::time::Instant;
use zorb_floor::message::{HEAD, Kind, folded, message};
use zorb_floor::report::{Asked, Line, Measured, nanoseconds};
use zorb_floor::{Way, asynchronous, blocking};

#[derive(Parser, Clone)]
struct Options {
    /// The file to which the server wrote its address.
    #[arg(long)]
    ior: PathBuf,
    /// Operation, as every peer's client calls them, or shutdown.
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
    /// Client threads, each with a connection of its own; with tokio, one.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Echoed in the result.
    #[arg(long, default_value = "floor")]
    peer: String,
    /// How to wait.
    #[arg(long, default_value = "block")]
    way: Way,
    /// Read what to measure from standard input, a line each: `OP SIZE SERVANTS ORDER ITERS WARMUP`, of which SERVANTS
    /// and ORDER mean nothing here; `shutdown` ends the server.
    #[arg(long)]
    dialogue: bool,
}

/// The message that is sent repeatedly.
struct Work {
    kind: Kind,
    message: Vec<u8>,
    /// After one-way messages, to know when they were read.
    sync: Vec<u8>,
}

fn gone() -> io::Error {
    ErrorKind::UnexpectedEof.into()
}

fn connect(options: &Options) -> io::Result<blocking::End> {
    let reference = std::fs::read_to_string(&options.ior)?;
    let stream = blocking::Stream::connect(&reference)?;
    Ok(blocking::End::new(stream, options.way == Way::Spin))
}

fn block(options: &Options, work: &Work, together: &Barrier) -> io::Result<Measured> {
    one_by_one(&mut connect(options)?, options, work, together)
}

fn one_by_one(
    end: &mut blocking::End,
    options: &Options,
    work: &Work,
    together: &Barrier,
) -> io::Result<Measured> {
    let mut body = Vec::new();
    let one_way = work.kind == Kind::OneWay;
    let mut latencies = Vec::with_capacity(if one_way { 0 } else { options.iters });
    let mut call = |end: &mut blocking::End, message: &[u8], answered: bool| {
        end.send(message)?;
        match answered {
            true => end.receive(&mut body)?.ok_or_else(gone).map(drop),
            false => Ok(()),
        }
    };
    for _ in 0..options.warmup {
        call(end, &work.message, !one_way)?;
    }
    call(end, &work.sync, true)?;
    together.wait();
    let start = Instant::now();
    let mut before = start;
    for _ in 0..options.iters {
        call(end, &work.message, !one_way)?;
        if !one_way {
            let now = Instant::now();
            latencies.push(nanoseconds(now - before));
            before = now;
        }
    }
    if one_way {
        call(end, &work.sync, true)?;
    }
    Ok(Measured {
        latencies,
        start,
        end: Instant::now(),
    })
}

async fn call(
    end: &mut asynchronous::Either,
    message: &[u8],
    answered: bool,
    body: &mut Vec<u8>,
) -> io::Result<()> {
    end.send(message).await?;
    if answered {
        end.receive(body).await?.ok_or_else(gone)?;
    }
    Ok(())
}

async fn on_tokio(options: Options, work: Work) -> io::Result<Measured> {
    let reference = std::fs::read_to_string(&options.ior)?;
    let mut end = asynchronous::Either::connect(&reference).await?;
    let mut body = Vec::new();
    let one_way = work.kind == Kind::OneWay;
    let mut latencies = Vec::with_capacity(if one_way { 0 } else { options.iters });
    for _ in 0..options.warmup {
        call(&mut end, &work.message, !one_way, &mut body).await?;
    }
    call(&mut end, &work.sync, true, &mut body).await?;
    let start = Instant::now();
    let mut before = start;
    for _ in 0..options.iters {
        call(&mut end, &work.message, !one_way, &mut body).await?;
        if !one_way {
            let now = Instant::now();
            latencies.push(nanoseconds(now - before));
            before = now;
        }
    }
    if one_way {
        call(&mut end, &work.sync, true, &mut body).await?;
    }
    Ok(Measured {
        latencies,
        start,
        end: Instant::now(),
    })
}

fn measure(options: &Options, kind: Kind, octets: usize) -> io::Result<Vec<Measured>> {
    let work = || Work {
        kind,
        message: message(kind, octets),
        sync: message(Kind::Sync, 0),
    };
    if options.way.is_async() {
        let runtime = asynchronous::runtime(options.way.is_multi(), None)?;
        let working = on_tokio(options.clone(), work());
        let measured = match options.way {
            Way::TokioDedicated => {
                let working = runtime.spawn(working);
                let thread = std::thread::spawn(move || runtime.block_on(working));
                thread.join().map_err(|_| gone())???
            }
            Way::TokioMulti => runtime.block_on(async { tokio::spawn(working).await? })?,
            _ => runtime.block_on(working)?,
        };
        return Ok(vec![measured]);
    }
    let together = Arc::new(Barrier::new(options.threads));
    if options.threads == 1 {
        return Ok(vec![block(options, &work(), &together)?]);
    }
    let threads: Vec<_> = (0..options.threads)
        .map(|_| {
            let (options, work, together) = (options.clone(), work(), Arc::clone(&together));
            std::thread::spawn(move || block(&options, &work, &together))
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().map_err(|_| gone())?)
        .collect()
}

/// The result of a measurement of these messages.
fn line(options: &Options, kind: Kind, octets: usize, measured: Vec<Measured>) -> Option<Line> {
    let body = message(kind, octets).split_off(HEAD);
    let asked = Asked {
        peer: options.peer.clone(),
        op: options.op.clone(),
        size: options.size,
        octets,
        iters: options.iters,
        warmup: options.warmup,
        threads: options.threads,
        digest: folded(&body),
    };
    Line::new(&asked, measured)
}

/// Measures what is asked for, line by line, over one connection.
fn converse(mut options: Options) -> io::Result<()> {
    if options.way.is_async() {
        return Err(io::Error::other("--dialogue is for threads"));
    }
    let mut end = connect(&options)?;
    let together = Barrier::new(1);
    for request in io::stdin().lines() {
        let request = request?;
        let words: Vec<&str> = request.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok());
        if words.first() == Some(&"shutdown") {
            end.send(&message(Kind::Shutdown, 0))?;
            end.receive(&mut Vec::new())?;
            return Ok(());
        }
        let (Some(op), Some(size), Some(iters), Some(warmup)) =
            (words.first(), number(1), number(4), number(5))
        else {
            println!("{{\"error\":\"a word is missing\"}}");
            continue;
        };
        let Some((kind, octets)) = Kind::of(op, size) else {
            println!("{{\"error\":\"no such operation\"}}");
            continue;
        };
        (options.op, options.size) = ((*op).to_owned(), size);
        (options.iters, options.warmup) = (iters, warmup);
        let work = Work {
            kind,
            message: message(kind, octets),
            sync: message(Kind::Sync, 0),
        };
        let measured = one_by_one(&mut end, &options, &work, &together)?;
        if let Some(line) = line(&options, kind, octets, vec![measured]) {
            println!("{}", line.to_json());
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let mut options = Options::parse();
    if options.dialogue {
        return converse(options);
    }
    let Some((kind, octets)) = Kind::of(&options.op, options.size) else {
        return Err(io::Error::other(format!("unknown op {}", options.op)));
    };
    if kind == Kind::Shutdown {
        let reference = std::fs::read_to_string(&options.ior)?;
        let mut end = blocking::End::new(blocking::Stream::connect(&reference)?, false);
        end.send(&message(kind, 0))?;
        // The server is gone, and what it said is said, when it hangs up.
        end.receive(&mut Vec::new())?;
        return Ok(());
    }
    if options.way.is_async() {
        options.threads = 1;
    }
    let measured = measure(&options, kind, octets)?;
    if let Some(line) = line(&options, kind, octets, measured) {
        println!("{}", line.to_json());
    }
    Ok(())
}
