//! Threads of loom and their parking, which orders what precedes `unpark` before what follows `park`. Loom's own
//! `unpark` is lost when its thread is about to lock a mutex.
//!
//! The models of connections use them, too.
#![allow(
    dead_code,
    unused_imports,
    reason = "the models of two crates need different parts of it"
)]

use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use loom::sync::{Condvar, Mutex};
pub(crate) use loom::thread::LocalKey;
use std::sync::Arc;
use std::task::Wake;
use std::time::Instant;

/// How long a model is explored, unless `LOOM_MAX_DURATION` says so, in seconds. Those of callers that wait for a reply take an hour
/// to the end.
const EXPLORED_FOR: Duration = Duration::from_secs(10);

/// Executions between two looks at the clock.
const LOOK_EVERY: usize = 1_000;

/// Explores `body` with up to so many preemptions: all schedules would take hours. Most errors need one or two.
pub(crate) fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.checkpoint_interval = LOOK_EVERY;
    let limit = *model.max_duration.get_or_insert(EXPLORED_FOR);
    let (begun, schedules) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&schedules);
    model.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    });
    let end = if begun.elapsed() < limit {
        "all"
    } else {
        "not all"
    };
    // Shown by `--nocapture`.
    eprintln!("{} schedules, {end}", schedules.load(Ordering::Relaxed));
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Thread(Arc<Token>);

/// The token that [`park`] waits for. Loom's `Notify` would be woken spuriously too, at twice as many
/// schedules.
#[derive(Debug, Default)]
struct Token {
    is_there: Mutex<bool>,
    changed: Condvar,
}

loom::thread_local! {
    static CURRENT: Thread = Thread::default();
}

impl Thread {
    pub(crate) fn unpark(&self) {
        *self.0.is_there.lock().expect("no poison") = true;
        self.0.changed.notify_one();
    }

    /// Waits for [`unpark`](Self::unpark), on any one thread.
    pub(crate) fn wait(&self) {
        let Self(token) = self;
        let mut is_there = token.is_there.lock().expect("no poison");
        while !*is_there {
            is_there = token.changed.wait(is_there).expect("no poison");
        }
        *is_there = false;
    }

    /// The id that distinguishes it from other threads.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

pub(crate) fn current() -> Thread {
    CURRENT.with(Thread::clone)
}

pub(crate) fn park() {
    current().wait();
}

/// No model sets a deadline.
pub(crate) fn park_timeout(_: Duration) {
    unreachable!("loom has no clock");
}

/// A task on a thread of its own.
#[derive(Debug)]
pub(crate) struct Task(Thread);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Task {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Thread::default()))
    }

    /// [Runs](Self::run) on after a poll that was pending.
    pub(crate) fn run_on<R>(self: &Arc<Self>, poll: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
        self.0.wait();
        self.run(poll)
    }

    /// Polls until `poll` is ready, once per wake-up.
    pub(crate) fn run<R>(self: &Arc<Self>, mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
        let waker = Waker::from(Arc::clone(self));
        loop {
            if let Poll::Ready(ready) = poll(&mut Context::from_waker(&waker)) {
                return ready;
            }
            self.0.wait();
        }
    }
}
