//! Whether the result of a request is still of use.

use crate::client::Waiting;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why the result of a request is of no use any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelReason {
    /// The caller has cancelled the request, or has dropped its call.
    ByCaller,
    /// The connection of the caller has ended.
    Disconnected,
    /// The deadline of the request has passed.
    DeadlinePassed,
    /// The ORB that serves the request shuts down, and the time limit of that has passed.
    ShutDown,
}

impl CancelReason {
    const ALL: [Self; 4] = [
        Self::ByCaller,
        Self::Disconnected,
        Self::DeadlinePassed,
        Self::ShutDown,
    ];

    const fn number(self) -> u8 {
        match self {
            Self::ByCaller => 1,
            Self::Disconnected => 2,
            Self::DeadlinePassed => 3,
            Self::ShutDown => 4,
        }
    }
}

/// Whether the result of one request is still of use, and a wait until it is not. A clone is of the same request, and costs a
/// reference count.
///
/// ```
/// use zorb_shares::{CancelReason, Cancellation};
///
/// let cancellation = Cancellation::new();
/// assert_eq!(cancellation.reason(), None);
/// cancellation.cancel(CancelReason::ByCaller);
/// // The first reason stays.
/// cancellation.cancel(CancelReason::Disconnected);
/// assert_eq!(cancellation.reason(), Some(CancelReason::ByCaller));
/// ```
#[derive(Clone, Default)]
pub struct Cancellation(Arc<State>);

#[derive(Default)]
struct State {
    /// The number of the reason; 0 while there is none.
    reason: AtomicU8,
    waiting: Mutex<Waiting>,
}

impl State {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reason(&self) -> Option<CancelReason> {
        let number = self.reason.load(Ordering::Acquire);
        let mut all = CancelReason::ALL.into_iter();
        all.find(|reason| reason.number() == number)
    }
}

impl Cancellation {
    /// Makes one of a request that is not cancelled. Costs an allocation.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns why the result is of no use; `None` while it is. Costs an atomic load.
    #[must_use]
    pub fn reason(&self) -> Option<CancelReason> {
        self.0.reason()
    }

    /// Notes that the result is of no use, and wakes all that wait for that. The first reason stays.
    pub fn cancel(&self, reason: CancelReason) {
        let state = &self.0;
        let mut waiting = state.waiting();
        if state.reason().is_some() {
            return;
        }
        state.reason.store(reason.number(), Ordering::Release);
        let wakers = waiting.take();
        drop(waiting);
        wakers.for_each(Waker::wake);
    }

    /// Waits until the result is of no use, and returns why.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing.
    pub fn cancelled(&self) -> WaitCancelled {
        WaitCancelled {
            cancellation: self.clone(),
            number: None,
        }
    }

    /// Whether both are of the same request.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation").field(&self.reason()).finish()
    }
}

/// The wait of [`Cancellation::cancelled`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct WaitCancelled {
    cancellation: Cancellation,
    /// Its number among the waiting tasks.
    number: Option<u64>,
}

impl Future for WaitCancelled {
    type Output = CancelReason;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CancelReason> {
        let this = &mut *self;
        let state = &this.cancellation.0;
        let mut waiting = state.waiting();
        // Under the lock: either this sees the reason, or `cancel` sees the waker.
        match state.reason() {
            Some(reason) => Poll::Ready(reason),
            None => {
                waiting.set(&mut this.number, cx.waker());
                Poll::Pending
            }
        }
    }
}

impl Drop for WaitCancelled {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.cancellation.0.waiting().remove(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::pin::pin;

    #[test]
    fn all_that_wait_learn_the_first_reason() {
        let cancellation = Cancellation::new();
        let (mut first, mut second) = (
            pin!(cancellation.cancelled()),
            pin!(cancellation.clone().cancelled()),
        );
        let mut cx = Context::from_waker(Waker::noop());
        assert!(first.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        cancellation.cancel(CancelReason::Disconnected);
        cancellation.cancel(CancelReason::ByCaller);
        let expected = Poll::Ready(CancelReason::Disconnected);
        assert_eq!(first.as_mut().poll(&mut cx), expected);
        assert_eq!(second.as_mut().poll(&mut cx), expected);
        assert_eq!(pin!(cancellation.cancelled()).poll(&mut cx), expected);
    }

    #[test]
    fn a_wait_that_is_dropped_leaves_no_waker() {
        let cancellation = Cancellation::new();
        {
            let mut dropped = pin!(cancellation.cancelled());
            let mut cx = Context::from_waker(Waker::noop());
            assert!(dropped.as_mut().poll(&mut cx).is_pending());
        }
        assert_eq!(cancellation.0.waiting().take().count(), 0);
    }
}
