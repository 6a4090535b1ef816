//! The smallest parts of a connection under loom, which tries every order in which threads can get in each other's way,
//! and every value that an atomic may still have for one of them.
//!
//! The very sources of the right to read, of who is told of what comes, and of writing are driven, with loom's atomics and
//! locks in the place of the real ones; of what is around them, the protocol.

#[expect(dead_code, reason = "the models make no one-way calls")]
#[path = "../../src/wire/ear.rs"]
mod ear;

#[path = "../../src/wire/right.rs"]
mod right;

#[path = "../../src/wire/sole.rs"]
mod sole;

#[path = "../../src/wire/mock.rs"]
mod mock;

#[expect(dead_code, reason = "the models do not count octets, nor cut messages")]
#[path = "../../src/wire/outbound/mod.rs"]
mod outbound;

mod bells;
mod ears;
mod reads;
mod soles;
mod sync;
mod writes;

use core::task::{Context, Poll, Waker};
use loom::sync::Notify;
use std::sync::Arc;
use std::task::Wake;

/// Replies, of which nothing counts but whose they are.
mod client {
    pub(crate) struct Arrived(pub(crate) zorb_giop::RequestId);
}

/// A connection ends for one reason.
mod link {
    #[derive(Debug)]
    pub(crate) struct End;
}

/// Nobody listens.
mod trace {
    pub(crate) fn sending_piece(_: &dyn zorb_transport::Connection, _: &zorb_cdr::Gather) {}
}

/// Tries every order with up to so many interruptions where nobody had to let others run; all of
/// them would take hours.
fn model(interruptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(interruptions);
    model.check(body);
}

/// Whoever sleeps until it is woken.
#[derive(Debug)]
struct Bed(Notify);

impl Wake for Bed {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}

impl Bed {
    fn new() -> Arc<Self> {
        Arc::new(Self(Notify::new()))
    }

    /// Polls until it is ready, asleep in between.
    fn sleep_until<R>(self: &Arc<Self>, mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
        let waker = Waker::from(Arc::clone(self));
        loop {
            if let Poll::Ready(ready) = poll(&mut Context::from_waker(&waker)) {
                return ready;
            }
            self.0.wait();
        }
    }
}
