//! Keeps a multi-thread runtime's reactor served while one of its workers is held.
//!
//! A worker that wakes from the reactor with a single task to run does not call another worker to
//! the reactor before it runs it. If that task blocks, no worker polls the reactor until something else wakes one,
//! although others are idle: every connection stands still. So while code
//! that may block runs on a worker, a thread looks from time to time whether it is still at it,
//! and then gives the runtime an empty task: an idle worker takes it, and goes to the reactor
//! when it finds nothing more to do. Code that has ended by the next look delays no connection: a series of short
//! pieces costs the runtime nothing.

use crate::held_by::{HeldBy, Watcher, WorkerSlots};
use core::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::{self, Thread};
use std::time::Duration;
use tokio::runtime::Handle;

/// The sampling period for held workers: a blocking task delays the other tasks by at most twice this, once.
const TICK: Duration = Duration::from_millis(5);
/// Looks during which a worker that is held is held for long: 100 ms, which clients notice.
const LONG_LOOKS: u32 = 20;
/// Ticks without a held worker after which the thread sleeps until it is woken. Waking it is a
/// system call, so this keeps that to one a second.
const TICKS_BEFORE_SLEEP: u32 = 200;

/// Pieces of code that hold a worker are counted by when they began, in turn in the two halves of a word, so that each is
/// counted by one step of a processor.
const HALF: u32 = usize::BITS / 2;

/// The increment of one running piece of code in the half of its `age`, 0 or 1.
const fn one(age: usize) -> usize {
    1 << (HALF * (age as u32 & 1))
}

/// How many pieces of an age there are.
const fn of_age(held: usize, age: usize) -> usize {
    match age & 1 {
        0 => held << HALF >> HALF,
        _ => held >> HALF,
    }
}

#[derive(Debug)]
pub(crate) struct Sentinel {
    handle: Handle,
    /// Pieces of code that hold a worker, in two [halves](HALF).
    held: AtomicUsize,
    /// The half in which pieces that begin are counted. The thread flips it.
    age: AtomicUsize,
    /// Looks of the thread so far.
    looks: AtomicUsize,
    /// Whether the thread looks.
    awake: AtomicBool,
    thread: OnceLock<Option<Thread>>,
    watchers: Mutex<Vec<Weak<dyn Watcher>>>,
}

/// Code that may block is running, until this is dropped. See [`Lane::hold`](crate::Lane::hold).
#[derive(Debug)]
#[must_use = "the worker counts as held until this is dropped"]
pub struct Held<'a> {
    /// The lane's, the count of this code in it, and the looks before it.
    counted: Option<(&'a Sentinel, usize, usize)>,
    /// Whether the place of this thread names the code.
    is_named: bool,
    /// The place is the thread's.
    _on_one_thread: PhantomData<*const ()>,
}

impl Held<'_> {
    /// A guard that is not counted.
    pub(crate) const NOT: Self = Self {
        counted: None,
        is_named: false,
        _on_one_thread: PhantomData,
    };

    /// The time after which a worker has been held for long.
    pub const LONG: Duration = TICK.saturating_mul(LONG_LOOKS);

    /// Whether the worker has been held for [`LONG`](Self::LONG), as far as it is known: not on current-thread runtimes.
    /// Costs one relaxed load.
    #[inline]
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.counted.is_some_and(|(sentinel, _, since)| {
            let looks = sentinel.looks.load(Ordering::Relaxed).wrapping_sub(since);
            // The first one may have come at once.
            looks > LONG_LOOKS as usize
        })
    }
}

impl Sentinel {
    pub(crate) fn new(handle: Handle) -> Arc<Self> {
        Arc::new(Self {
            handle,
            held: AtomicUsize::new(0),
            age: AtomicUsize::new(0),
            looks: AtomicUsize::new(0),
            awake: AtomicBool::new(false),
            thread: OnceLock::new(),
            watchers: Mutex::default(),
        })
    }

    /// A number that no other lane has.
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Adds a watcher, until it is gone.
    pub(crate) fn watch_with(&self, watcher: Weak<dyn Watcher>) {
        let mut watchers = (self.watchers.lock()).unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|watcher| watcher.strong_count() > 0);
        watchers.push(watcher);
    }

    /// Names what has held a worker for long, once, to the watchers. They run on threads of the runtime that may block, since
    /// all of its workers may be held.
    fn report(&self, looks: usize) {
        for holder in WorkerSlots::long(self.address(), looks, LONG_LOOKS as usize) {
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
    pub(crate) fn hold_as(self: &Arc<Self>, holder: HeldBy) -> Held<'_> {
        let mut held = self.hold();
        let looks = held.counted.map_or(0, |(_, _, looks)| looks);
        held.is_named = WorkerSlots::take(self.address(), looks, holder);
        held
    }

    pub(crate) fn hold(self: &Arc<Self>) -> Held<'_> {
        // An upcall that has become old by the next line is taken for older than it is, which spawns one empty task too many.
        let one = one(self.age.load(Ordering::Relaxed));
        // Either we see that the thread has gone to sleep, or it sees us: both orders are
        // sequentially consistent, here and in `sleep`.
        self.held.fetch_add(one, Ordering::SeqCst);
        if !self.awake.load(Ordering::SeqCst) {
            self.wake();
        }
        Held {
            counted: Some((self, one, self.looks.load(Ordering::Relaxed))),
            is_named: false,
            _on_one_thread: PhantomData,
        }
    }

    #[cold]
    fn wake(self: &Arc<Self>) {
        self.awake.store(true, Ordering::SeqCst);
        let thread = self.thread.get_or_init(|| {
            let sentinel = Arc::downgrade(self);
            thread::Builder::new()
                .name("zorb-sentinel".to_owned())
                .spawn(move || watch(&sentinel))
                .map(|thread| thread.thread().clone())
                // Without a thread to spare the runtime is as it would be without us.
                .ok()
        });
        if let Some(thread) = thread {
            thread.unpark();
        }
    }

    /// Whether the thread may sleep until it is woken.
    fn sleep(&self) -> bool {
        self.awake.store(false, Ordering::SeqCst);
        if self.held.load(Ordering::SeqCst) == 0 {
            return true;
        }
        self.awake.store(true, Ordering::SeqCst);
        false
    }

    /// Whether a worker is held by what held it at the look before, whatever else has come and gone since. Only the thread
    /// looks.
    fn is_stuck(&self) -> bool {
        let age = self.age.load(Ordering::Relaxed);
        let is_stuck = of_age(self.held.load(Ordering::Relaxed), age ^ 1) > 0;
        if !is_stuck {
            // Marks that stand now are old from here on.
            self.age.store(age ^ 1, Ordering::Relaxed);
        }
        is_stuck
    }
}

fn watch(sentinel: &Weak<Sentinel>) {
    let mut idle = 0;
    loop {
        {
            let Some(sentinel) = sentinel.upgrade() else {
                return;
            };
            let looks = sentinel.looks.load(Ordering::Relaxed);
            (sentinel.looks).store(looks.wrapping_add(1), Ordering::Relaxed);
            if sentinel.is_stuck() {
                drop(sentinel.handle.spawn(async {}));
                sentinel.report(looks);
            }
            idle = match sentinel.held.load(Ordering::Relaxed) {
                0 => idle + 1,
                _ => 0,
            };
            if idle >= TICKS_BEFORE_SLEEP && sentinel.sleep() {
                idle = 0;
                drop(sentinel);
                // Also when the last owner goes, and for no reason: then it looks once more.
                thread::park();
                continue;
            }
        }
        thread::park_timeout(TICK);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.is_named {
            WorkerSlots::leave();
        }
        if let Some((sentinel, one, _)) = self.counted {
            sentinel.held.fetch_sub(one, Ordering::Release);
        }
    }
}

impl Drop for Sentinel {
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
        // Looked at by this test alone.
        let sentinel = Arc::new(Sentinel {
            handle: Handle::current(),
            held: AtomicUsize::new(0),
            age: AtomicUsize::new(0),
            looks: AtomicUsize::new(0),
            awake: AtomicBool::new(true),
            thread: OnceLock::new(),
            watchers: Mutex::default(),
        });
        for _ in 0..3 {
            assert!(!sentinel.is_stuck());
            let short = sentinel.hold();
            assert!(!sentinel.is_stuck(), "it has just begun");
            drop(short);
        }
        let long = sentinel.hold();
        assert!(!sentinel.is_stuck());
        for _ in 0..3 {
            // Other code that runs beside it, perhaps on another thread, or within it.
            let short = sentinel.hold();
            assert!(sentinel.is_stuck());
            drop(short);
            assert!(sentinel.is_stuck());
        }
        let other = sentinel.hold();
        drop(long);
        assert!(!sentinel.is_stuck());
        assert!(sentinel.is_stuck(), "it has been there for a look as well");
        drop(other);
        assert!(!sentinel.is_stuck());
        assert_eq!(sentinel.held.load(Ordering::Relaxed), 0);
    }
}
