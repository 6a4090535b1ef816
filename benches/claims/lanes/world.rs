//! Servers and clients.

use crate::Failure;
use crate::place::{Host, Place};
use crate::work::{UNIT, burn};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use zorb::executor::{Lane, LinearMapping, NativePriority, PriorityMapping, Scheduling};
use zorb::real_time::{
    Priority, PriorityModelPolicy, RtPolicies, Threadpool, ThreadpoolLane, ThreadpoolOptions,
};
use zorb::{Interface, Orb, Policies, SystemException};

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

/// A CORBA priority, and with it SCHED_FIFO; none: the default scheduling class.
pub(crate) type Level = Option<Priority>;

/// The priorities of the dissertation's Table 7.1, which are mapped linearly to native ones.
pub(crate) const HIGH: Priority = Priority(32_767);
pub(crate) const MEDIUM: Priority = Priority(21_844);
pub(crate) const LOW: Priority = Priority(10_922);
pub(crate) const BEST_EFFORT: Priority = Priority(0);

fn native(priority: Priority) -> Result<NativePriority, Failure> {
    let range = Scheduling::Fifo.native_range();
    let native = range.and_then(|range| LinearMapping.to_native(priority, &range));
    Ok(native.ok_or("SCHED_FIFO has no priorities here")?)
}

/// A thread with a runtime.
pub(crate) fn lane(name: &str, cpus: &[usize], level: Level) -> Result<Lane, Failure> {
    let builder = Lane::builder().name(name).cpus(cpus.iter().copied());
    Ok(match level {
        Some(priority) => builder.scheduling(Scheduling::Fifo, native(priority)?),
        None => builder,
    }
    .build()?)
}

/// A server: an ORB.
pub(crate) struct Server {
    orb: Orb,
    reference: String,
    _pool: Threadpool,
}

impl Server {
    /// One ORB whose thread pool has a lane of one thread for each priority.
    pub(crate) async fn lanes(host: &Host, priorities: &[Priority]) -> Result<Self, Failure> {
        let cpus = host.cpus.clone();
        let lanes: Vec<_> = priorities
            .iter()
            .map(|priority| ThreadpoolLane::new(*priority, 1).listen(ENDPOINT))
            .collect();
        host.run(async move {
            let orb = Orb::builder().lane(lane("server", &cpus, None)?);
            let orb = orb.scheduling(Scheduling::Fifo).build().await?;
            let lanes = ThreadpoolOptions::with_lanes(lanes).cpus(cpus);
            Self::with_pool(orb, lanes, BEST_EFFORT).await
        })
        .await
    }

    /// A thread pool without lanes: its threads, and the one that reads, have its priority, and each takes that of the
    /// request that it runs.
    pub(crate) async fn without_lanes(
        host: &Host,
        level: Level,
        threads: usize,
    ) -> Result<Self, Failure> {
        let cpus = host.cpus.clone();
        host.run(async move {
            let orb = Orb::builder().lane(lane("server", &cpus, level)?);
            let scheduling = match level {
                Some(_) => Scheduling::Fifo,
                None => Scheduling::Inherited,
            };
            let orb = orb.scheduling(scheduling).listen(ENDPOINT).build().await?;
            let priority = level.unwrap_or_default();
            let options = ThreadpoolOptions::new(threads, priority).cpus(cpus);
            Self::with_pool(orb, options, priority).await
        })
        .await
    }

    async fn with_pool(
        orb: Orb,
        options: ThreadpoolOptions,
        priority: Priority,
    ) -> Result<Self, Failure> {
        let pool = orb.rt_orb().create_threadpool(options).await?;
        let policies = RtPolicies::new()
            .priority_model(PriorityModelPolicy::client_propagated(priority))
            .threadpool(&pool);
        let poa = orb
            .root_poa()
            .create_rt_poa("plant", Policies::default(), policies, None)?;
        let worker: WorkerRef = poa.activate(WorkerServant::new(Servant))?;
        poa.the_poa_manager().activate()?;
        Ok(Self {
            reference: orb.object_to_string(&worker),
            orb,
            _pool: pool,
        })
    }

    pub(crate) async fn end(self) -> Result<(), Failure> {
        self.orb.shutdown(true).await?;
        Ok(())
    }
}

const ENDPOINT: &str = "iiop://127.0.0.1:0";

/// A client with a thread and a connection of its own.
pub(crate) struct Client {
    lane: Lane,
    orb: Orb,
    level: Level,
    pub(crate) worker: WorkerRef,
}

impl Client {
    /// Has made a call: its connection is there.
    pub(crate) async fn start(
        place: &Place,
        level: Level,
        server: &Server,
    ) -> Result<Self, Failure> {
        let (cpus, reference) = (place.client.cpus.clone(), server.reference.clone());
        let started = place.client.run(async move {
            let lane = lane("client", &cpus, level)?;
            let orb = Orb::builder().lane(lane.clone()).build().await?;
            let object = orb.string_to_object(&reference).await?;
            let worker: WorkerRef = Interface::unchecked_narrow(object);
            Ok(Self {
                lane,
                orb,
                level,
                worker,
            })
        });
        let client = started.await?;
        client.noparams(1).await?;
        Ok(client)
    }

    /// Runs on the client's thread, at its priority.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        calls: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Failure> {
        Ok(match self.level {
            Some(priority) => {
                let current = self.orb.rt_current();
                let scoped = async move { current.scope(priority, calls).await };
                self.lane.spawn(scoped).await??
            }
            None => self.lane.spawn(calls).await?,
        })
    }

    /// Runs a load on the client's thread from `begin` on.
    pub(crate) fn load(&self, load: Load, begin: Instant, time: Duration) -> mpsc::Receiver<Calls> {
        let (done, result) = mpsc::channel();
        let (worker, level, current) = (self.worker.clone(), self.level, self.orb.rt_current());
        drop(self.lane.spawn(async move {
            tokio::time::sleep_until(begin.into()).await;
            let run = load.run(&worker, begin, time);
            let calls = match level {
                Some(priority) => current.scope(priority, run).await,
                None => Ok(run.await),
            };
            // The experiment waits for it.
            if let Ok(calls) = calls {
                let _ = done.send(calls);
            }
        }));
        result
    }

    /// How long calls without parameters take, in nanoseconds, made on the client's thread.
    pub(crate) async fn noparams(&self, calls: usize) -> Result<Vec<u64>, Failure> {
        let worker = self.worker.clone();
        let times = self.run(async move {
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

/// The work of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Calls a second (the dissertation's section 7.2.2); none for one call after the other (section 7.2.3).
    pub(crate) rate: Option<f64>,
    /// Microseconds that each takes of the server.
    pub(crate) microseconds: u32,
}

/// The outcome of its calls.
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

    /// So many percent of the calls took no longer, in microseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        percentile(self.nanoseconds.clone(), percent) / 1e3
    }
}

pub(crate) fn percentile(mut times: Vec<u64>, percent: usize) -> f64 {
    times.sort_unstable();
    let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(at).copied().unwrap_or_default() as f64
}

/// Runs loads at the same time, each on its client's thread.
pub(crate) async fn run(loads: &[(&Client, Load)], time: Duration) -> Result<Vec<Calls>, Failure> {
    let begin = Instant::now() + Duration::from_millis(20);
    let started: Vec<_> = loads
        .iter()
        .map(|(client, load)| client.load(*load, begin, time))
        .collect();
    let wait = move || {
        started
            .iter()
            .map(|calls| calls.recv())
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(tokio::task::spawn_blocking(wait).await??)
}

impl Load {
    /// Calls of that `<work>` without a pause.
    pub(crate) fn continuous(work: u32) -> Self {
        Self {
            rate: None,
            microseconds: units(work),
        }
    }

    /// Calls of that `<work>`, so many a second.
    pub(crate) fn rated(rate: f64, work: u32) -> Self {
        Self {
            rate: Some(rate),
            microseconds: units(work),
        }
    }

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
