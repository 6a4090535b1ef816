//! Keeps a multi-thread runtime's reactor served while one of its workers is held, and reports code that holds a worker for
//! long.
//!
//! A worker that leaves the reactor with a single task to run wakes no other worker for the reactor before it runs the
//! task. If that task blocks, no worker polls the reactor until another event wakes one, although others are idle:
//! every connection stalls. So while code that may block runs on a worker, a thread looks at intervals whether it still
//! runs. If so, it spawns an empty task on the runtime: an idle worker takes it, and polls the reactor when it finds
//! nothing more to do. Code that has ended by the next look delays no connection, so a series of short pieces costs the
//! runtime nothing.
//!
//! A current-thread runtime has no other worker, so there the thread only looks for code to report. It reads the slots of
//! [`worker_holder`](crate::worker_holder), and the code is not counted: that saves its two atomic operations.

use crate::worker_holder::{Watcher, WorkerHolder, WorkerSlots};
use core::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::{self, Thread};
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};

/// The sampling period for held workers: a blocking task delays the other tasks by at most twice this, once.
const TICK: Duration = Duration::from_millis(5);
/// Samples after which a worker counts as held for long: 100 ms, which clients notice.
const LONG_SAMPLES: u32 = 20;
/// Ticks without a held worker after which the thread sleeps until it is woken. Waking it is a
/// system call, so this keeps that to one a second.
const TICKS_BEFORE_SLEEP: u32 = 200;

/// Bits of each half of the word in which the pieces of code that hold a worker are counted. Pieces are counted in the
/// two halves in turn, by the time at which they began, so that one atomic operation counts each.
const HALF: u32 = usize::BITS / 2;

/// Returns the increment of one running piece of code in the half of its `age`, 0 or 1.
const fn one(age: usize) -> usize {
    1 << (HALF * (age as u32 & 1))
}

/// Returns the number of pieces of an age.
const fn of_age(held: usize, age: usize) -> usize {
    match age & 1 {
        0 => held << HALF >> HALF,
        _ => held >> HALF,
    }
}

/// The monitor of a runtime's workers: counts the code that holds one, and keeps the reactor polled meanwhile.
#[derive(Debug)]
pub(crate) struct BlockingMonitor {
    handle: Handle,
    /// Whether code is counted: the runtime has other workers.
    counts: bool,
    /// Pieces of code that hold a worker, in two [halves](HALF).
    held: AtomicUsize,
    /// The half in which pieces that begin are counted. The thread flips it.
    age: AtomicUsize,
    /// Samples that the thread has taken.
    samples: AtomicUsize,
    /// Whether the thread is awake and samples.
    awake: AtomicBool,
    thread: OnceLock<Option<Thread>>,
    watchers: Mutex<Vec<Weak<dyn Watcher>>>,
}

/// A guard for code that may block: the code counts as running until the guard is dropped. See
/// [`Lane::hold`](crate::Lane::hold).
#[derive(Debug)]
#[must_use = "the worker counts as held until the guard is dropped"]
pub struct BlockingGuard<'a> {
    /// The monitor of the lane, the increment of this code in its count (0 if it does not count), and the samples before it.
    counted: Option<(&'a BlockingMonitor, usize, usize)>,
    /// Whether the slot of this thread names the code.
    is_named: bool,
    /// The slot belongs to the thread, so the guard stays on it.
    _on_one_thread: PhantomData<*const ()>,
}

impl BlockingGuard<'_> {
    /// A guard that is not counted.
    pub(crate) const UNCOUNTED: Self = Self {
        counted: None,
        is_named: false,
        _on_one_thread: PhantomData,
    };

    /// The time after which a worker has been held for long.
    pub const LONG: Duration = TICK.saturating_mul(LONG_SAMPLES);

    /// Whether the worker has been held for [`LONG`](Self::LONG), as far as it is known: `false` on current-thread
    /// runtimes for code without a name. Costs one relaxed load.
    #[inline]
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.counted.is_some_and(|(monitor, _, since)| {
            let samples = monitor.samples.load(Ordering::Relaxed).wrapping_sub(since);
            // The first sample may have come at once.
            samples > LONG_SAMPLES as usize
        })
    }
}

impl BlockingMonitor {
    pub(crate) fn new(handle: Handle) -> Arc<Self> {
        Arc::new(Self {
            counts: handle.runtime_flavor() != RuntimeFlavor::CurrentThread,
            handle,
            held: AtomicUsize::new(0),
            age: AtomicUsize::new(0),
            samples: AtomicUsize::new(0),
            awake: AtomicBool::new(false),
            thread: OnceLock::new(),
            watchers: Mutex::default(),
        })
    }

    /// Returns a number that no other lane has.
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Adds a watcher, which stays until it is dropped.
    pub(crate) fn watch_with(&self, watcher: Weak<dyn Watcher>) {
        let mut watchers = (self.watchers.lock()).unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|watcher| watcher.strong_count() > 0);
        watchers.push(watcher);
    }

    /// Reports code that has held a worker for long, once, to the watchers. They run on threads of the runtime that may
    /// block, since all of its workers may be held.
    fn report(&self, samples: usize) {
        for holder in WorkerSlots::long(self.address(), samples, LONG_SAMPLES as usize) {
            let watchers = (self.watchers.lock()).unwrap_or_else(PoisonError::into_inner);
            for watcher in watchers.iter().map(Weak::clone) {
                drop(self.handle.spawn_blocking(move || {
                    if let Some(watcher) = watcher.upgrade() {
                        watcher.held_for_long(holder);
                    }
                }));
            }
        }
    }

    #[inline]
    pub(crate) fn hold_as(self: &Arc<Self>, holder: WorkerHolder) -> BlockingGuard<'_> {
        let mut held = match self.counts {
            true => self.hold(),
            false => BlockingGuard {
                counted: Some((self, 0, self.samples.load(Ordering::Relaxed))),
                ..BlockingGuard::UNCOUNTED
            },
        };
        let samples = held.counted.map_or(0, |(_, _, samples)| samples);
        held.is_named = WorkerSlots::take(self.address(), samples, holder);
        // A thread that falls asleep looks at the slots some time later: see `sleep`.
        if !self.counts && !self.awake.load(Ordering::Relaxed) {
            self.wake();
        }
        held
    }

    #[inline]
    pub(crate) fn hold(self: &Arc<Self>) -> BlockingGuard<'_> {
        if !self.counts {
            return BlockingGuard::UNCOUNTED;
        }
        // An upcall that has become old by the next line counts as older than it is, which spawns one empty task too
        // many.
        let one = one(self.age.load(Ordering::Relaxed));
        // Either this sees that the thread sleeps, or the thread sees this count: both orders are sequentially
        // consistent, here and in `sleep`.
        self.held.fetch_add(one, Ordering::SeqCst);
        if !self.awake.load(Ordering::SeqCst) {
            self.wake();
        }
        BlockingGuard {
            counted: Some((self, one, self.samples.load(Ordering::Relaxed))),
            is_named: false,
            _on_one_thread: PhantomData,
        }
    }

    #[cold]
    fn wake(self: &Arc<Self>) {
        self.awake.store(true, Ordering::SeqCst);
        let thread = self.thread.get_or_init(|| {
            let monitor = Arc::downgrade(self);
            thread::Builder::new()
                .name("zorb-monitor".to_owned())
                .spawn(move || watch(&monitor))
                .map(|thread| thread.thread().clone())
                // Where no thread can be started, the runtime works as without a monitor.
                .ok()
        });
        if let Some(thread) = thread {
            thread.unpark();
        }
    }

    /// Whether the thread may sleep until it is woken.
    fn sleep(&self) -> bool {
        self.awake.store(false, Ordering::SeqCst);
        if !self.counts {
            // Code that begins writes its slot and then reads `awake`, without a fence between them. If it has read `true`,
            // what it wrote is seen after this. Not by `park_timeout`, which would take the token of `wake`.
            thread::sleep(TICK);
        }
        if !self.is_held() {
            return true;
        }
        self.awake.store(true, Ordering::SeqCst);
        false
    }

    /// Whether some code holds a worker.
    fn is_held(&self) -> bool {
        match self.counts {
            true => self.held.load(Ordering::SeqCst) > 0,
            false => WorkerSlots::any(self.address()),
        }
    }

    /// Whether a worker is held by code that held it at the look before, regardless of code that has begun and ended
    /// since. Only the thread samples.
    fn is_stuck(&self) -> bool {
        let age = self.age.load(Ordering::Relaxed);
        let is_stuck = of_age(self.held.load(Ordering::Relaxed), age ^ 1) > 0;
        if !is_stuck {
            // Pieces that are counted now are old from here on.
            self.age.store(age ^ 1, Ordering::Relaxed);
        }
        is_stuck
    }
}

fn watch(monitor: &Weak<BlockingMonitor>) {
    let mut idle = 0;
    loop {
        {
            let Some(monitor) = monitor.upgrade() else {
                return;
            };
            let samples = monitor.samples.load(Ordering::Relaxed);
            (monitor.samples).store(samples.wrapping_add(1), Ordering::Relaxed);
            if !monitor.counts {
                monitor.report(samples);
            } else if monitor.is_stuck() {
                drop(monitor.handle.spawn(async {}));
                monitor.report(samples);
            }
            idle = match monitor.is_held() {
                false => idle + 1,
                true => 0,
            };
            if idle >= TICKS_BEFORE_SLEEP && monitor.sleep() {
                idle = 0;
                drop(monitor);
                // The thread also wakes when the last owner is dropped, and spuriously; it samples once more then.
                thread::park();
                continue;
            }
        }
        thread::park_timeout(TICK);
    }
}

impl Drop for BlockingGuard<'_> {
    fn drop(&mut self) {
        if self.is_named {
            WorkerSlots::leave();
        }
        if let Some((monitor, one, _)) = self.counted
            && one != 0
        {
            monitor.held.fetch_sub(one, Ordering::Release);
        }
    }
}

impl Drop for BlockingMonitor {
    fn drop(&mut self) {
        if let Some(Some(thread)) = self.thread.get() {
            thread.unpark();
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_worker_is_stuck_with_one_piece_of_code_and_not_with_one_after_the_other() {
        // Only this test samples.
        let monitor = Arc::new(BlockingMonitor {
            handle: Handle::current(),
            counts: true,
            held: AtomicUsize::new(0),
            age: AtomicUsize::new(0),
            samples: AtomicUsize::new(0),
            awake: AtomicBool::new(true),
            thread: OnceLock::new(),
            watchers: Mutex::default(),
        });
        for _ in 0..3 {
            assert!(!monitor.is_stuck());
            let short = monitor.hold();
            assert!(!monitor.is_stuck(), "it has just begun");
            drop(short);
        }
        let long = monitor.hold();
        assert!(!monitor.is_stuck());
        for _ in 0..3 {
            // Other code runs beside it, perhaps on another thread, or within it.
            let short = monitor.hold();
            assert!(monitor.is_stuck());
            drop(short);
            assert!(monitor.is_stuck());
        }
        let other = monitor.hold();
        drop(long);
        assert!(!monitor.is_stuck());
        assert!(monitor.is_stuck(), "it has been there for a look as well");
        drop(other);
        assert!(!monitor.is_stuck());
        assert_eq!(monitor.held.load(Ordering::Relaxed), 0);
    }
}
