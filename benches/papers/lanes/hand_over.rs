//! The hand-over of work to another thread on another CPU, beside the system calls that it cannot do without.

use crate::claims::Numbers;
use crate::hosts::Place;
use crate::world::lane;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use zorb::executor::{Priority, WorkerPool};
use zorb_papers::dialogue::Failure;

const ROUNDS: usize = 6_000;
/// How long the other thread has had nothing to do before it is woken: it is parked by then.
const PAUSE: Duration = Duration::from_micros(60);

/// When the other thread ran, in nanoseconds since the measurement began; 0 until it has.
#[derive(Default)]
struct Mark(AtomicU64);

/// Medians of the time from before the wake-up to the first instruction on the other CPU.
pub(crate) async fn measure(numbers: &mut Numbers, place: &Place) -> Result<(), Failure> {
    let (from, to) = (place.client.cpus.clone(), place.server.cpus.clone());
    let times = tokio::task::spawn_blocking(move || in_turns(&from, &to)).await?;
    for (name, times) in times.map_err(|e| -> Failure { format!("{e:#}").into() })? {
        numbers.insert(format!("hand-over/{name}"), times);
    }
    let of = |name: &str| {
        numbers
            .get(&format!("hand-over/{name}"))
            .copied()
            .unwrap_or(f64::NAN)
    };
    let ratios = [
        ("worker-ratio", of("worker") / of("futex")),
        ("reactor-ratio", of("reactor") / of("eventfd")),
    ];
    for (name, ratio) in ratios {
        numbers.insert(format!("hand-over/{name}"), ratio);
    }
    Ok(())
}

fn pin(cpus: &[usize]) -> Result<(), Failure> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

type Wake<'a> = (&'static str, Box<dyn FnMut(Arc<Mark>) + 'a>);

/// All ways in turns, so that what disturbs the machine disturbs all.
fn in_turns(from: &[usize], to: &[usize]) -> Result<Vec<(&'static str, f64)>, Failure> {
    pin(from)?;
    let begun = Instant::now();
    let reactor = lane("reactor", to, None)?;
    let pool = WorkerPool::builder()
        .lane(&reactor)
        .threads(1)
        .cpus(to.iter().copied())
        .build()?;
    let futex = Arc::new(Parked::start(to, begun));
    let event = Arc::new(Polling::start(to, begun)?);
    let mut ways: Vec<Wake<'_>> = vec![
        ("futex", Box::new(|mark| futex.wake(mark))),
        (
            "worker",
            Box::new(|mark| {
                let job = pool.job(async move { mark.set(begun) });
                if let Err(rejected) = pool.try_submit(Priority(0), job) {
                    unreachable!("one at a time: {rejected}");
                }
            }),
        ),
        ("eventfd", Box::new(|mark| event.wake(mark))),
        (
            "reactor",
            Box::new(|mark| drop(reactor.spawn(async move { mark.set(begun) }))),
        ),
    ];
    let mut times = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for ((_, wake), times) in ways.iter_mut().zip(&mut times) {
            let pause = Instant::now();
            while pause.elapsed() < PAUSE {
                std::hint::spin_loop();
            }
            let mark = Arc::new(Mark::default());
            let from = begun.elapsed().as_nanos() as u64;
            wake(Arc::clone(&mark));
            times.push(mark.wait().saturating_sub(from));
        }
    }
    drop(ways);
    futex.end();
    event.end()?;
    let name = ["futex", "worker", "eventfd", "reactor"];
    Ok(name
        .into_iter()
        .zip(times)
        .map(|(name, mut times)| {
            times.sort_unstable();
            (name, times[times.len() / 2] as f64 / 1e3)
        })
        .collect())
}

impl Mark {
    fn set(&self, begun: Instant) {
        self.0
            .store(begun.elapsed().as_nanos() as u64, Ordering::Release);
    }

    /// Spins: the wake-up of this thread is none of the hand-over.
    fn wait(&self) -> u64 {
        loop {
            match self.0.load(Ordering::Acquire) {
                0 => std::hint::spin_loop(),
                at => return at,
            }
        }
    }
}

/// A thread that parks, which is a futex on Linux.
struct Parked {
    thread: thread::Thread,
    slot: Arc<Slot>,
}

#[derive(Default)]
struct Slot {
    mark: std::sync::Mutex<Option<Arc<Mark>>>,
    ends: AtomicBool,
}

impl Slot {
    fn put(&self, mark: Arc<Mark>) {
        if let Ok(mut slot) = self.mark.lock() {
            *slot = Some(mark);
        }
    }

    fn take(&self) -> Option<Arc<Mark>> {
        self.mark.lock().ok()?.take()
    }
}

impl Parked {
    fn start(cpus: &[usize], begun: Instant) -> Self {
        let slot = Arc::<Slot>::default();
        let (own, cpus) = (Arc::clone(&slot), cpus.to_vec());
        let thread = thread::spawn(move || {
            if pin(&cpus).is_err() {
                return;
            }
            while !own.ends.load(Ordering::Acquire) {
                match own.take() {
                    Some(mark) => mark.set(begun),
                    None => thread::park(),
                }
            }
        });
        Self {
            thread: thread.thread().clone(),
            slot,
        }
    }

    fn wake(&self, mark: Arc<Mark>) {
        self.slot.put(mark);
        self.thread.unpark();
    }

    fn end(&self) {
        self.slot.ends.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// A thread that waits in `epoll_wait` for an eventfd, as a reactor does.
struct Polling {
    event: Arc<OwnedFd>,
    slot: Arc<Slot>,
}

impl Polling {
    fn start(cpus: &[usize], begun: Instant) -> Result<Self, Failure> {
        let event = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&poll, &event, epoll::EventData::new_u64(0), flags)?;
        let slot = Arc::<Slot>::default();
        let (own, cpus) = (Arc::clone(&slot), cpus.to_vec());
        thread::spawn(move || {
            let mut events = Vec::with_capacity(8);
            if pin(&cpus).is_err() {
                return;
            }
            while !own.ends.load(Ordering::Acquire) {
                if let Some(mark) = own.take() {
                    mark.set(begun);
                }
                events.clear();
                if epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None).is_err() {
                    return;
                }
            }
        });
        Ok(Self { event, slot })
    }

    fn wake(&self, mark: Arc<Mark>) {
        self.slot.put(mark);
        // The counter of an eventfd overflows after 2⁶⁴ wake-ups.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }

    fn end(&self) -> Result<(), Failure> {
        self.slot.ends.store(true, Ordering::Release);
        rustix::io::write(&self.event, &1_u64.to_ne_bytes())?;
        Ok(())
    }
}
