//! What generated skeletons are, seen from the adapter.

use crate::place::{self, Place};
use crate::request::{Outcome, Request};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// A servant behind its generated skeleton.
pub trait Skeleton: Send + Sync + 'static {
    /// The repository id of the most derived interface.
    fn repository_id(&self) -> &'static str;

    /// Whether the servant implements the interface with this repository id. `CORBA::Object` is
    /// the adapter's business.
    fn is_a(&self, repository_id: &str) -> bool;

    /// Finds the operation and begins the upcall; nothing of it has run when this returns.
    fn start(&self, request: Request) -> Upcall;
}

/// One operation on its way through a servant: a future of what goes back to the client.
///
/// Whoever holds it polls it where the request was read; it becomes a task only when that first
/// poll is pending. Dropping it abandons the operation at its current await.
///
/// Costs a box, which is one that an earlier upcall of the same operation has left on this thread
/// if there is one.
#[must_use = "an upcall does nothing until it is polled"]
pub struct Upcall(State);

enum State {
    /// There is nothing to run.
    Over(Option<Outcome>),
    /// `None` only while it is dropped.
    Running(Option<Pin<Box<dyn Place>>>),
}

impl Upcall {
    /// An upcall that runs `future`.
    #[inline]
    pub fn new(future: impl Future<Output = Outcome> + Send + 'static) -> Self {
        Self(State::Running(Some(place::make(future))))
    }

    /// An upcall that is over before it begins.
    pub fn ready(outcome: Outcome) -> Self {
        Self(State::Over(Some(outcome)))
    }
}

impl Future for Upcall {
    type Output = Outcome;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        match &mut self.0 {
            State::Running(Some(running)) => running.as_mut().poll(cx),
            // As of any future, nothing more comes of one that was ready.
            State::Running(None) => Poll::Pending,
            State::Over(outcome) => match outcome.take() {
                Some(outcome) => Poll::Ready(outcome),
                None => Poll::Pending,
            },
        }
    }
}

impl Drop for Upcall {
    #[inline]
    fn drop(&mut self) {
        if let State::Running(running) = &mut self.0
            && let Some(running) = running.take()
        {
            running.leave();
        }
    }
}

impl fmt::Debug for Upcall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upcall").finish_non_exhaustive()
    }
}
