//! Servers and clients of the experiments: lanes, each with a reactor, a listening endpoint and threads of its own.

use crate::work::{UNIT, burn};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use zorb::executor::{Dispatch, Lane, NativePriority, Scheduling, WorkerPool};
use zorb::{Orb, SystemException};
use zorb_papers::dialogue::Failure;

zorb::idl! {
    module Lanes {
        interface Worker {
            /// Uses so many microseconds of the server's CPU.
            void work(in unsigned long microseconds);
            void noparams();
        };
    };
}

pub(crate) use lanes::WorkerRef;
use lanes::{Worker, WorkerServant};

pub(crate) struct Servant;

impl Worker for Servant {
    async fn work(&self, microseconds: u32) -> Result<(), SystemException> {
        burn(Duration::from_micros(u64::from(microseconds)));
        Ok(())
    }

    async fn noparams(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// `<work>` as the servant counts it.
pub(crate) fn units(work: u32) -> u32 {
    work * UNIT.as_micros() as u32
}

/// A SCHED_FIFO priority, or none: the default scheduling class.
pub(crate) type Level = Option<i32>;

pub(crate) fn lane(name: &str, cpu: usize, level: Level) -> Result<Lane, Failure> {
    let builder = Lane::builder().name(name).cpus([cpu]);
    Ok(match level {
        Some(priority) => builder.scheduling(Scheduling::Fifo, NativePriority(priority)),
        None => builder,
    }
    .build()?)
}

/// An endpoint of a server and its lane.
pub(crate) struct Server {
    orb: Orb,
    reference: String,
    /// Where it runs, if it is not a lane of its own.
    _runtime: Option<Lane>,
}

impl Server {
    /// A lane of one thread that reads requests and runs their upcalls (leader/followers).
    pub(crate) async fn lane(cpu: usize, level: Level) -> Result<Self, Failure> {
        let lane = lane("server", cpu, level)?;
        Self::start(Orb::builder().lane(lane)).await
    }

    /// A reactor and worker threads behind a queue (half-sync/half-async), all at one priority.
    pub(crate) async fn pool(cpu: usize, level: Level, threads: usize) -> Result<Self, Failure> {
        let reactor = lane("reactor", cpu, level)?;
        let mut pool = WorkerPool::builder()
            .lane(&reactor)
            .threads(threads)
            .cpus([cpu]);
        if let Some(priority) = level {
            pool = pool
                .scheduling(Scheduling::Fifo)
                .mapping(zorb::executor::DirectMapping)
                .default_priority(zorb::executor::Priority(i16::try_from(priority)?));
        }
        let pool = pool.build()?;
        let orb = Orb::builder().lane(reactor).dispatch(Dispatch::Pool(pool));
        Self::start(orb).await
    }

    /// An ORB as it comes, in a multi-thread runtime of two threads on that CPU.
    pub(crate) async fn plain(cpu: usize) -> Result<Self, Failure> {
        let runtime = Lane::builder()
            .name("plain")
            .threads(2)
            .cpus([cpu])
            .build()?;
        let started = runtime.handle().spawn(Self::start(Orb::builder()));
        let mut server = started.await??;
        server._runtime = Some(runtime);
        Ok(server)
    }

    async fn start(orb: zorb::Builder) -> Result<Self, Failure> {
        let orb = orb.listen("iiop://127.0.0.1:0").build().await?;
        let worker: WorkerRef = orb.root_poa().activate(WorkerServant::new(Servant))?;
        orb.root_poa().the_poa_manager().activate()?;
        Ok(Self {
            reference: orb.object_to_string(&worker),
            orb,
            _runtime: None,
        })
    }

    pub(crate) async fn end(self) -> Result<(), Failure> {
        self.orb.shutdown(true).await?;
        Ok(())
    }
}

/// A client with a thread and a connection of its own.
pub(crate) struct Client {
    lane: Lane,
    orb: Orb,
    pub(crate) worker: WorkerRef,
}

impl Client {
    /// Has made a call: its connection is there.
    pub(crate) async fn start(cpu: usize, level: Level, server: &Server) -> Result<Self, Failure> {
        let lane = lane("client", cpu, level)?;
        let orb = Orb::builder().lane(lane.clone()).build().await?;
        let object = orb.string_to_object(&server.reference).await?;
        let worker: WorkerRef = zorb::Interface::unchecked_narrow(object);
        worker.noparams().await?;
        Ok(Self { lane, orb, worker })
    }

    /// Runs a load on the client's thread from `begin` on.
    pub(crate) fn run(&self, load: Load, begin: Instant, time: Duration) -> mpsc::Receiver<Calls> {
        let (done, result) = mpsc::channel();
        let worker = self.worker.clone();
        drop(self.lane.spawn(async move {
            tokio::time::sleep_until(begin.into()).await;
            let calls = load.run(&worker, begin, time).await;
            // The experiment waits for it.
            let _ = done.send(calls);
        }));
        result
    }

    /// How long calls without parameters take, in nanoseconds, made on the client's thread.
    pub(crate) async fn noparams(&self, calls: usize) -> Result<Vec<u64>, Failure> {
        let worker = self.worker.clone();
        let times = self.lane.spawn(async move {
            let mut times = Vec::with_capacity(calls);
            for _ in 0..calls {
                let begun = Instant::now();
                worker.noparams().await?;
                times.push(begun.elapsed().as_nanos() as u64);
            }
            Ok::<_, SystemException>(times)
        });
        Ok(times.await??)
    }

    pub(crate) async fn end(self) -> Result<(), Failure> {
        self.orb.shutdown(false).await?;
        Ok(())
    }
}

/// What a client does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Calls a second (the dissertation's section 7.2.2); none for one call after the other (section 7.2.3).
    pub(crate) rate: Option<f64>,
    /// Microseconds that each takes of the server.
    pub(crate) microseconds: u32,
}

/// What became of its calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) made: u64,
    /// Periods that passed without a call having been made in them.
    pub(crate) missed: u64,
    pub(crate) failed: u64,
    pub(crate) nanoseconds: Vec<u64>,
}

impl Calls {
    /// Percent of the deadlines that were met.
    pub(crate) fn met(&self) -> f64 {
        100.0 * self.made as f64 / (self.made + self.missed).max(1) as f64
    }
}

impl Load {
    async fn run(self, worker: &WorkerRef, begin: Instant, time: Duration) -> Calls {
        let mut calls = Calls::default();
        let end = begin + time;
        let period = self.rate.map(|rate| Duration::from_secs_f64(1.0 / rate));
        // The number of the period that the next call is for.
        let mut slot = 0_u64;
        loop {
            if let Some(period) = period {
                let at = begin + period.mul_f64(slot as f64);
                if at >= end {
                    break;
                }
                if at > Instant::now() {
                    tokio::time::sleep_until(at.into()).await;
                }
            }
            let called = Instant::now();
            if called >= end {
                break;
            }
            match worker.work(self.microseconds).await {
                Ok(()) => calls.made += 1,
                Err(_) => calls.failed += 1,
            }
            let done = Instant::now();
            calls.nanoseconds.push((done - called).as_nanos() as u64);
            if let Some(period) = period {
                let now = ((done - begin).as_secs_f64() / period.as_secs_f64()) as u64;
                // Within its own period, or within the next one, which then begins at once: nothing is missed. Periods
                // that passed in between are (Figures 7.2 to 7.4).
                let next = now.max(slot + 1);
                calls.missed += next - (slot + 1);
                slot = next;
            }
        }
        if let Some(period) = period {
            let all = (time.as_secs_f64() / period.as_secs_f64()) as u64;
            calls.missed += all.saturating_sub(slot);
        }
        calls
    }
}
