//! Models of what threads share: loom runs each in every schedule up to a number of preemptions, with every value that
//! an atomic load may return.

mod lease;
pub(crate) mod outbound;
mod permit;
mod waker;

use crate::sync::thread::Thread;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::task::Wake;

/// Explores `body` with up to so many preemptions: all schedules would take hours. Most errors need one or two.
pub(crate) fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(body);
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
