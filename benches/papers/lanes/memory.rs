//! Memory pools: the dissertation's Figure 6.7. Each thread takes a buffer, writes to it and gives it back.

use crate::report::Report;
use std::cell::RefCell;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use zorb::executor::RtMutex;
use zorb_papers::dialogue::Failure;

const OCTETS: usize = 1_024;
const AT_ONCE: u64 = 256;

type Buffer = Box<[u8; OCTETS]>;

static SHARED: Mutex<Vec<Buffer>> = Mutex::new(Vec::new());
static INHERITING: RtMutex<Vec<Buffer>> = RtMutex::new(Vec::new());

thread_local! {
    static OWN: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

fn new() -> Buffer {
    Box::new([0; OCTETS])
}

fn write(buffer: &mut [u8; OCTETS]) {
    buffer[0] = 1;
    black_box(buffer);
}

fn shared() {
    let taken = SHARED.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut buffer = taken.unwrap_or_else(new);
    write(&mut buffer);
    SHARED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(buffer);
}

fn inheriting() {
    let taken = INHERITING.lock().pop();
    let mut buffer = taken.unwrap_or_else(new);
    write(&mut buffer);
    INHERITING.lock().push(buffer);
}

fn own() {
    let taken = OWN.with_borrow_mut(Vec::pop);
    let mut buffer = taken.unwrap_or_else(new);
    write(&mut buffer);
    OWN.with_borrow_mut(|pool| pool.push(buffer));
}

fn stack() {
    let mut buffer = [const { MaybeUninit::<u8>::uninit() }; OCTETS];
    buffer[0].write(1);
    black_box(&mut buffer);
}

fn allocator() {
    let mut buffer = Vec::<u8>::with_capacity(OCTETS);
    buffer.push(1);
    black_box(&mut buffer);
}

const POOLS: [(&str, fn()); 5] = [
    ("one pool, a lock", shared),
    ("one pool, a lock that passes priority on", inheriting),
    ("the system's malloc", allocator),
    ("a pool of each thread", own),
    ("the stack", stack),
];

pub(crate) fn measure(report: Report, time: Duration) -> Result<(), Failure> {
    for threads in [1, 2, 4, 8] {
        for (name, once) in POOLS {
            let rate = rate(threads, once, time)?;
            let at = ("memory pools", name);
            report.at(at, threads as f64, rate / 1e6, "M/s");
        }
    }
    Ok(())
}

/// Buffers that all threads together take and give back in a second.
fn rate(threads: usize, once: fn(), time: Duration) -> Result<f64, Failure> {
    let ready = Barrier::new(threads);
    thread::scope(|scope| {
        let run = || {
            ready.wait();
            let begun = Instant::now();
            let mut count = 0;
            while begun.elapsed() < time {
                for _ in 0..AT_ONCE {
                    once();
                }
                count += AT_ONCE;
            }
            count as f64 / begun.elapsed().as_secs_f64()
        };
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let rates = all.into_iter().map(|thread| thread.join());
        let rates: Result<Vec<f64>, _> = rates.collect();
        Ok(rates.map_err(|_| "a thread ended")?.into_iter().sum())
    })
}
