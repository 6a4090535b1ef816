//! The interface between an adapter and skeletons.

use crate::incoming::Incoming;
use crate::operations::Operations;
use crate::pooled_future::{self, PooledFuture};
use crate::request::Outcome;
use core::any::Any;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

/// A servant behind its skeleton, which the IDL compiler generates: it finds the operation of a request, decodes the
/// arguments, calls the servant and encodes the result.
pub trait Skeleton: Send + Sync + 'static {
    /// The repository id of the most derived interface.
    fn repository_id(&self) -> &'static str;

    /// Whether the servant implements the interface with this repository id. The adapter itself answers for `CORBA::Object`.
    fn is_a(&self, repository_id: &str) -> bool;

    /// Finds the operation and begins the upcall. An upcall of a [message](Incoming::Message) may have ended when this
    /// returns. Its outcome is in [`outcome`](crate::IncomingRequest::outcome) then, and not in the upcall.
    fn start(&self, call: Incoming<'_>) -> Upcall;

    /// The table in which [`start`](Self::start) looks operations up ([`Incoming::find`]), so that a caller that repeats a call
    /// can skip the look-up. A skeleton without a table returns an empty one.
    fn operations(&self) -> &'static Operations {
        static NONE: Operations = Operations::NONE;
        &NONE
    }

    /// The servant, by which the adapter knows whether it is active already, and which can be downcast to its own type. A
    /// skeleton that returns `None` counts as a new servant each time that it is activated.
    fn servant(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    /// Whether upcalls block their thread, so that they run on threads that may block.
    fn blocks(&self) -> bool {
        false
    }
}

/// One execution of a servant's operation: a future of its [`Outcome`].
///
/// The ORB polls it where the request was read; it becomes a task only if that first poll is pending. Dropping it cancels
/// the operation at its current await.
///
/// Costs two boxes, its future's and a pointer's, which are recycled from an earlier upcall of the same operation on this
/// thread.
#[must_use = "an upcall does nothing until it is polled"]
pub struct Upcall(State);

enum State {
    /// The upcall has ended; `None` if its outcome was taken, or was put elsewhere by [`Upcall::start`].
    Over(Option<Outcome>),
    /// Nothing runs, since the arguments are not of the types that the skeleton knows.
    Untyped,
    /// An upcall that was made by [`Upcall::new`]; `None` only while it is dropped.
    Running(Option<Box<dyn PooledFuture>>),
    /// An upcall that is pending after its first poll, which had no waker.
    Polled(Option<Box<dyn PooledFuture>>),
}

impl Upcall {
    /// Makes an upcall that runs `future` when it is polled. Costs recycled boxes.
    #[inline]
    pub fn new(future: impl Future<Output: Finish> + Send + 'static) -> Self {
        Self(State::Running(Some(pooled_future::make(future))))
    }

    /// An upcall of the future that `make` returns, polled once here, without a waker ([`Incoming::Message`]). The outcome
    /// of an upcall that ends in this poll goes to `outcome`.
    #[inline]
    pub fn start<F: Future<Output: Finish> + Send + 'static>(
        make: impl FnOnce() -> F,
        outcome: &mut Option<Outcome>,
    ) -> Self {
        Self(match pooled_future::run(make, outcome) {
            None => State::Over(None),
            Some(waits) => State::Polled(Some(waits)),
        })
    }

    /// Whether the upcall has been polled, and has to be polled again.
    #[must_use]
    #[inline]
    pub const fn has_been_polled(&self) -> bool {
        matches!(self.0, State::Polled(_))
    }

    /// The end of a typed collocated call ([`Incoming::Typed`]) that the skeleton does not accept, because the values have
    /// other types or it takes messages only. The caller has to send a message instead; nothing has run.
    pub const fn untyped() -> Self {
        Self(State::Untyped)
    }

    /// Whether the upcall is [`untyped`](Self::untyped), so that nothing has run.
    #[must_use]
    pub const fn is_untyped(&self) -> bool {
        matches!(self.0, State::Untyped)
    }

    /// Makes an upcall that is ready with `outcome` at its first poll. Allocates nothing.
    pub fn ready(outcome: Outcome) -> Self {
        Self(State::Over(Some(outcome)))
    }
}

/// The output of an upcall's future, which becomes the reply. Generated code implements it for the results of operations.
pub trait Finish {
    /// The reply to the client. The result of a typed collocated call is put into `values` instead, an `Option` of its
    /// type.
    fn finish(self, values: Option<&mut (dyn Any + Send)>) -> Outcome;

    /// Puts the reply of a call by message into `outcome`, which has to be empty. Returning it through several functions would
    /// copy it in each.
    #[inline(always)]
    fn finish_in(self, outcome: &mut Option<Outcome>)
    where
        Self: Sized,
    {
        *outcome = Some(self.finish(None));
    }
}

impl Finish for Outcome {
    #[inline(always)]
    fn finish(self, _: Option<&mut (dyn Any + Send)>) -> Outcome {
        self
    }
}

impl Upcall {
    /// Polls the upcall of a typed collocated call. Its results go to `values`, an `Option` of their type, and the outcome
    /// is [`Outcome::Silent`] then. An exception is a reply message, as for any call.
    pub fn poll_into(
        &mut self,
        cx: &mut Context<'_>,
        values: &mut (dyn Any + Send),
    ) -> Poll<Outcome> {
        self.poll_for(cx, Some(values))
    }

    #[inline]
    fn poll_for(
        &mut self,
        cx: &mut Context<'_>,
        values: Option<&mut (dyn Any + Send)>,
    ) -> Poll<Outcome> {
        match &mut self.0 {
            State::Running(Some(running)) | State::Polled(Some(running)) => {
                running.poll(cx, values)
            }
            // Without a future, or after the outcome was taken, the upcall stays pending.
            State::Running(None) | State::Polled(None) | State::Untyped => Poll::Pending,
            State::Over(outcome) => match outcome.take() {
                Some(outcome) => Poll::Ready(outcome),
                None => Poll::Pending,
            },
        }
    }
}

impl Future for Upcall {
    type Output = Outcome;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        self.poll_for(cx, None)
    }
}

impl Drop for Upcall {
    #[inline]
    fn drop(&mut self) {
        if let State::Running(running) | State::Polled(running) = &mut self.0
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
