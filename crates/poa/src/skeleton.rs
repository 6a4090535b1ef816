//! The interface between an adapter and skeletons.

use crate::operations::Operations;
use crate::pooled_future::{self, PooledFuture};
use crate::request::ServerRequest;
use core::any::Any;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::borrow::Cow;
use std::sync::Arc;

/// A servant behind its skeleton, which the IDL compiler generates: it finds the operation of a request, decodes the
/// arguments, calls the servant and encodes the result.
pub trait Skeleton: Send + Sync + 'static {
    /// The repository id of the most derived interface.
    fn repository_id(&self) -> &str;

    /// The repository id of the object whose request is being executed, for a skeleton of objects of several interfaces.
    fn interface_of_current(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.repository_id())
    }

    /// Whether the servant implements the interface with this repository id. The adapter itself answers for `CORBA::Object`.
    fn is_a(&self, repository_id: &str) -> bool;

    /// Finds the operation and begins its upcall, which may have ended when this returns.
    fn start(&self, request: ServerRequest) -> Started;

    /// Whether [`start`](Self::start) also gets the operations that every object has, such as `_is_a`. The adapter answers them
    /// unless it does.
    fn answers_every_operation(&self) -> bool {
        false
    }

    /// The table in which [`start`](Self::start) looks operations up ([`ServerRequest::find`]), so that a caller that repeats a call
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

    /// Whether upcalls that wait are dropped when nobody waits for their results: the client has cancelled the request, its
    /// connection has ended, or the deadline of the request has passed.
    fn drops_cancelled(&self) -> bool {
        false
    }

    /// Whether upcalls block their thread, so that they run on threads that may block.
    fn blocks(&self) -> bool {
        false
    }
}

/// An upcall that has begun.
#[derive(Debug)]
#[must_use = "a request that is dropped gets no reply"]
#[expect(clippy::exhaustive_enums, reason = "an upcall has ended or has not")]
pub enum Started {
    /// It has ended, and its outcome is in the request.
    Ended(ServerRequest),
    /// It waits, after its first poll, which had no waker.
    Pending(Upcall),
    /// Nothing has run: the arguments of a [typed](ServerRequest::typed) call are of other types than the skeleton knows. The
    /// caller has to make a message of them.
    OtherTypes(ServerRequest),
}

/// One execution of a servant's operation that waits: a future of its request, with the outcome in it.
///
/// Dropping it cancels the operation at its current await. It is in a box that is recycled from an earlier upcall of the same
/// operation on this thread.
#[must_use = "an upcall does nothing until it is polled"]
pub struct Upcall(Option<Box<dyn PooledFuture>>);

impl Upcall {
    /// Begins an upcall: polls the future that `make` returns, once and without a waker, where the request was read. Only an
    /// upcall that waits becomes a task.
    #[inline]
    pub fn start<F: Future<Output = ServerRequest> + Send + 'static>(
        make: impl FnOnce() -> F,
    ) -> Started {
        match pooled_future::run(make) {
            Ok(ended) => Started::Ended(ended),
            Err(waits) => Started::Pending(Self(Some(waits))),
        }
    }
}

impl Future for Upcall {
    type Output = ServerRequest;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ServerRequest> {
        match &mut self.0 {
            Some(running) => running.poll(cx),
            None => Poll::Pending,
        }
    }
}

impl Drop for Upcall {
    #[inline]
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            running.leave();
        }
    }
}

impl fmt::Debug for Upcall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upcall").finish_non_exhaustive()
    }
}
