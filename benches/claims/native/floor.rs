//! What two threads that share memory take without an ORB: a word that one of them changes and the other one sees.

use crate::{Failure, Round, median, pin};
use rustix::thread::futex;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How the threads see each other's words, and what goes with them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Floor {
    /// They look again and again.
    Spin,
    /// Each wakes the other one, and sleeps.
    Futex,
    /// They look again and again; so many octets are copied into memory of both, and out of it.
    Copy(usize),
}

/// A word that shares no cache line with another, nor a pair of them.
#[repr(align(128))]
#[derive(Default)]
struct Word(AtomicU32);

impl Word {
    fn set(&self, number: u32, wakes: bool) {
        self.0.store(number, Ordering::Release);
        if wakes {
            // The word is of this process, so there is no error.
            let _ = futex::wake(&self.0, futex::Flags::empty(), 1);
        }
    }

    fn wait(&self, number: u32, sleeps: bool) {
        loop {
            let there = self.0.load(Ordering::Acquire);
            if there == number {
                return;
            }
            match sleeps {
                // Other words are found by the next look.
                true => drop(futex::wait(&self.0, futex::Flags::empty(), there, None)),
                false => spin_loop(),
            }
        }
    }
}

#[derive(Default)]
struct Both {
    there: Word,
    back: Word,
    octets: Mutex<Vec<u8>>,
}

/// Answers that many questions.
fn answer(both: &Both, floor: Floor, asked: &Receiver<u32>) {
    let mut own = Vec::new();
    while let Ok(calls) = asked.recv() {
        let sleeps = matches!(floor, Floor::Futex);
        for number in 1..=calls {
            both.there.wait(number, sleeps);
            if let Floor::Copy(octets) = floor {
                own.resize(octets, 0);
                let shared = both.octets.lock().unwrap_or_else(PoisonError::into_inner);
                own.copy_from_slice(&shared);
            }
            std::hint::black_box(&own);
            both.back.set(number, sleeps);
        }
    }
}

impl Floor {
    /// A pair of threads, of which this one is on the first CPU and the other one on the second.
    pub(crate) fn pair(self, cpus: [usize; 2]) -> Round {
        let both: Arc<Both> = Arc::default();
        let of_other = Arc::clone(&both);
        let (ask, asked): (Sender<u32>, _) = channel();
        std::thread::spawn(move || {
            pin(cpus[1])
                .map(|()| answer(&of_other, self, &asked))
                .is_ok()
        });
        Box::new(move |calls| {
            pin(cpus[0])?;
            self.round(&both, &ask, calls)
        })
    }

    fn round(self, both: &Both, ask: &Sender<u32>, calls: usize) -> Result<f64, Failure> {
        let mut own = Vec::new();
        if let Self::Copy(octets) = self {
            own.resize(octets, 7);
            *both.octets.lock().map_err(|_| "a thread panicked")? = own.clone();
        }
        both.there.set(0, false);
        both.back.set(0, false);
        let calls = u32::try_from(calls)?;
        ask.send(calls)?;
        let sleeps = matches!(self, Self::Futex);
        let mut times = Vec::with_capacity(calls as usize);
        for number in 1..=calls {
            let begun = Instant::now();
            if let Self::Copy(_) = self {
                let shared = both.octets.lock();
                shared
                    .map_err(|_| "a thread panicked")?
                    .copy_from_slice(&own);
            }
            both.there.set(number, sleeps);
            both.back.wait(number, sleeps);
            times.push(begun.elapsed());
        }
        Ok(median(&mut times))
    }
}
