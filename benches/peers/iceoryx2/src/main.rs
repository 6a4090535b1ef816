//! Values to and fro by iceoryx2, a CPU each, for the picture `memory-sizes`: `iceoryx2-pair OCTETS`. A line of its input says how many
//! values go, and a line of its output is the median time of one there and an empty one back, in nanoseconds. A value is written once,
//! into memory that the other end reads; both ends spin.
#![expect(clippy::print_stdout, reason = "its results are lines of output")]

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io::stdin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Node = iceoryx2::node::Node<ipc::Service>;

/// The first two CPUs that this process may use.
fn cpus() -> Result<[usize; 2], Failure> {
    let may = sched_getaffinity(None)?;
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| may.is_set(*cpu));
    match (cpus.next(), cpus.next()) {
        (Some(one), Some(other)) => Ok([one, other]),
        _ => Err("two CPUs are needed".into()),
    }
}

/// Keeps this thread on a CPU.
fn pin(cpu: usize) -> Result<(), Failure> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

struct End {
    _node: Node,
    out: Publisher<ipc::Service, [u8], ()>,
    incoming: Subscriber<ipc::Service, [u8], ()>,
}

impl End {
    /// An end that sends values of up to so many octets by one service, and takes those of the other one.
    fn new(out: &str, incoming: &str, octets: usize) -> Result<Self, Failure> {
        let node = NodeBuilder::new().create::<ipc::Service>()?;
        let service = |name: &str| -> Result<_, Failure> {
            let name = format!("zorb/{}/{name}", std::process::id());
            let service = node.service_builder(&name.as_str().try_into()?);
            Ok(service.publish_subscribe::<[u8]>().open_or_create()?)
        };
        let out = service(out)?;
        let publisher = out.publisher_builder();
        let out = publisher.initial_max_slice_len(octets.max(1)).create()?;
        let incoming = service(incoming)?.subscriber_builder().create()?;
        Ok(Self {
            _node: node,
            out,
            incoming,
        })
    }

    fn send(&self, octets: &[u8]) -> Result<(), Failure> {
        let sample = self.out.loan_slice_uninit(octets.len())?;
        sample.write_from_slice(octets).send()?;
        Ok(())
    }

    /// Waits for a value, and looks at both ends of it.
    fn take(&self) -> Result<(), Failure> {
        loop {
            if let Some(sample) = self.incoming.receive()? {
                std::hint::black_box((sample.first(), sample.last()));
                return Ok(());
            }
            std::hint::spin_loop();
        }
    }
}

/// Answers as many values as it is told.
fn answer(
    cpu: usize,
    octets: usize,
    ready: &Sender<()>,
    asked: &Receiver<usize>,
) -> Result<(), Failure> {
    pin(cpu)?;
    let end = End::new("back", "there", octets)?;
    // What is sent before that is lost.
    ready.send(())?;
    while let Ok(calls) = asked.recv() {
        for _ in 0..calls {
            end.take()?;
            end.send(&[1])?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    set_log_level(LogLevel::Error);
    let octets = std::env::args().nth(1).ok_or("how many octets?")?.parse()?;
    let [own, other] = cpus()?;
    pin(own)?;
    let end = End::new("there", "back", octets)?;
    let (ask, asked) = channel();
    let (ready, is_ready) = channel();
    std::thread::spawn(move || {
        if let Err(error) = answer(other, octets, &ready, &asked) {
            eprintln!("iceoryx2-pair: {error}");
            std::process::exit(1);
        }
    });
    is_ready.recv()?;
    let value = vec![7; octets];
    for line in stdin().lines() {
        let calls: usize = line?.parse()?;
        ask.send(calls)?;
        let mut times: Vec<Duration> = Vec::with_capacity(calls);
        for _ in 0..calls {
            let begun = Instant::now();
            end.send(&value)?;
            end.take()?;
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        println!("{}", median.as_secs_f64() * 1e9);
    }
    Ok(())
}
