//! Models of the state of adapters that threads share. Loom runs each model in every schedule up to a number of
//! preemptions, with every value that an atomic load may return.

mod activation;
mod objects;
mod slots;
mod waits;

use crate::request::{Outcome, ServerRequest};
use crate::skeleton::{Skeleton, Started};
use core::task::{Context, Poll, Waker};
use loom::sync::Notify;
use loom::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::Wake;

/// Explores `body` with up to so many preemptions: all schedules would take hours. Most errors need one or two.
fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(body);
}

/// A task on a thread of its own.
struct Task(Notify);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}

/// Runs a future to its end, polling it once per wake-up.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let task = Arc::new(Task(Notify::new()));
    let waker = Waker::from(Arc::clone(&task));
    let mut future = core::pin::pin!(future);
    loop {
        if let Poll::Ready(ready) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return ready;
        }
        task.0.wait();
    }
}

/// The upcalls on a servant, and its drop.
#[derive(Debug, Default)]
struct Fate {
    /// The number of upcalls in progress.
    executing: AtomicUsize,
    dropped: AtomicUsize,
}

impl Fate {
    /// Runs an upcall.
    fn execute(&self) {
        self.executing.fetch_add(1, Ordering::Relaxed);
        assert!(!self.is_dropped(), "an upcall keeps its servant");
        self.executing.fetch_sub(1, Ordering::Release);
    }

    /// Whether upcalls are in progress. A read-modify-write, which reads the latest value: loom does not see the reference
    /// counts that would order it.
    fn is_executing(&self) -> bool {
        self.executing.fetch_add(0, Ordering::AcqRel) > 0
    }

    fn is_dropped(&self) -> bool {
        self.dropped.fetch_add(0, Ordering::AcqRel) > 0
    }
}

/// A servant, by its repository id.
struct Row {
    name: &'static str,
    fate: Arc<Fate>,
}

impl Row {
    fn with_fate(name: &'static str) -> (Arc<dyn Skeleton>, Arc<Fate>) {
        let fate = Arc::<Fate>::default();
        let row = Self {
            name,
            fate: Arc::clone(&fate),
        };
        (Arc::new(row), fate)
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        assert!(!self.fate.is_executing(), "an upcall keeps its servant");
        let before = self.fate.dropped.fetch_add(1, Ordering::Release);
        assert_eq!(before, 0, "a servant goes once");
    }
}

impl Skeleton for Row {
    fn repository_id(&self) -> &'static str {
        self.name
    }

    fn is_a(&self, id: &str) -> bool {
        id == self.name
    }

    fn start(&self, mut request: ServerRequest) -> Started {
        request.set_outcome(Outcome::Silent);
        Started::Ended(request)
    }
}
