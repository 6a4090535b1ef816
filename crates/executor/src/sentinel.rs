//! Keeps a multi-thread runtime's reactor served while one of its workers is held.
//!
//! A worker that wakes from the reactor with a single task to run does not call another worker to
//! the reactor before it runs it. If that task blocks, nobody polls the reactor until something
//! else wakes a worker, although others are idle: every connection stands still. So while code
//! that may block runs on a worker, a thread looks from time to time whether it is still at it,
//! and then gives the runtime an empty task: an idle worker takes it, and goes to the reactor
//! when it finds nothing more to do.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::{self, Thread};
use std::time::Duration;
use tokio::runtime::Handle;

/// How often a held worker is looked for: what a blocking task costs everybody else, once.
const TICK: Duration = Duration::from_millis(5);
/// Ticks without a held worker after which the thread sleeps until it is woken. Waking it is a
/// system call, so this keeps that to one a second.
const TICKS_BEFORE_SLEEP: u32 = 200;

#[derive(Debug)]
pub(crate) struct Sentinel {
    handle: Handle,
    /// Pieces of code that hold a worker right now.
    held: AtomicUsize,
    /// Whether the thread looks.
    awake: AtomicBool,
    thread: OnceLock<Option<Thread>>,
}

/// Code that may block is running, until this is dropped. See [`Lane::hold`](crate::Lane::hold).
#[derive(Debug)]
#[must_use = "the worker counts as held until this is dropped"]
pub struct Held<'a>(pub(crate) Option<&'a Sentinel>);

impl Sentinel {
    pub(crate) fn new(handle: Handle) -> Arc<Self> {
        Arc::new(Self {
            handle,
            held: AtomicUsize::new(0),
            awake: AtomicBool::new(false),
            thread: OnceLock::new(),
        })
    }

    pub(crate) fn hold(self: &Arc<Self>) -> Held<'_> {
        // Either we see that the thread has gone to sleep, or it sees us: both orders are
        // sequentially consistent, here and in `sleep`.
        self.held.fetch_add(1, Ordering::SeqCst);
        if !self.awake.load(Ordering::SeqCst) {
            self.wake();
        }
        Held(Some(self))
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
}

fn watch(sentinel: &Weak<Sentinel>) {
    let mut idle = 0;
    let mut was_held = false;
    loop {
        {
            let Some(sentinel) = sentinel.upgrade() else {
                return;
            };
            let held = sentinel.held.load(Ordering::Relaxed) > 0;
            if held && was_held {
                drop(sentinel.handle.spawn(async {}));
            }
            was_held = held;
            idle = if held { 0 } else { idle + 1 };
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
        if let Some(sentinel) = self.0 {
            sentinel.held.fetch_sub(1, Ordering::Release);
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
