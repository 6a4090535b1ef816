//! Upcalls that wait, while somebody waits for their results.

use super::deadline;
use super::origin::{ReplySink, Waiter};
use crate::orb::OrbInner;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::task::Poll;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;
use tokio::time::Sleep;
use zorb_connection::Counter;
use zorb_giop::{CompletionStatus, Fault, ResponseFlags};
use zorb_poa::{ActiveObject, Receipt, ServerRequest, SharedRequest};
use zorb_shares::CancelReason;

/// What an upcall that waits is watched for.
pub(super) struct Attention {
    deadline: Option<Instant>,
    /// Whether it is dropped when nobody waits for its result.
    drops: bool,
    /// The request, if its servant has shared it.
    shared: Option<SharedRequest>,
}

impl Attention {
    /// For the upcall of a request with this deadline, which its servant may have `shared`.
    pub(super) fn of(
        object: &ActiveObject,
        deadline: Option<Instant>,
        receipt: &Receipt,
        shared: Option<SharedRequest>,
    ) -> Self {
        Self {
            deadline,
            drops: object.drops_cancelled() && receipt.response == ResponseFlags::WithTarget,
            shared,
        }
    }

    /// Polls an upcall to its end.
    ///
    /// # Errors
    /// It is to be dropped: nobody waits for its result any more, or the time limit of the shutdown has passed.
    pub(super) async fn attend(
        self,
        orb: &OrbInner,
        upcall: Pin<&mut (impl Future<Output = ServerRequest> + Send)>,
        waiter: Waiter<'_>,
    ) -> Result<ServerRequest, CancelReason> {
        match self.drops || waiter.is_caller() {
            // The client of a connection is heard by the connection, which tells the request.
            false => match orb.upcalls_end().before(upcall).await {
                Some(ended) => Ok(ended),
                None => Err(ended_by_shutdown(orb)),
            },
            true => Box::pin(self.watch(orb, upcall, waiter)).await,
        }
    }

    async fn watch(
        mut self,
        orb: &OrbInner,
        mut upcall: Pin<&mut (impl Future<Output = ServerRequest> + Send)>,
        waiter: Waiter<'_>,
    ) -> Result<ServerRequest, CancelReason> {
        let mut gives_up = pin!(waiter.gives_up());
        let passes = self.deadline.filter(|_| self.drops);
        let mut passes = pin!(passes.map(|at| sleep_until(orb, at)));
        let mut shut_down = pin!(orb.upcalls_end().comes(address_of(&upcall)));
        let mut is_over = false;
        poll_fn(|cx| {
            // That of another upcall, which somebody else has polled.
            drop(SharedRequest::take_waiting());
            // First: the result of an upcall that has ended is used, whoever has given up meanwhile.
            if let Poll::Ready(ended) = upcall.as_mut().poll(cx) {
                return Poll::Ready(Ok(ended));
            }
            self.shared = SharedRequest::take_waiting().or_else(|| self.shared.take());
            if shut_down.as_mut().poll(cx).is_ready() {
                if let Some(shared) = &self.shared {
                    shared.cancellation().cancel(CancelReason::ShutDown);
                }
                return Poll::Ready(Err(ended_by_shutdown(orb)));
            }
            if is_over || !self.drops && self.shared.is_none() {
                return Poll::Pending;
            }
            let passed = |passes: Pin<&mut Option<Sleep>>, cx: &mut _| {
                let passes = passes.as_pin_mut();
                passes.is_some_and(|passes| passes.poll(cx).is_ready())
            };
            let reason = match gives_up.as_mut().poll(cx) {
                Poll::Ready(reason) => reason,
                Poll::Pending if passed(passes.as_mut(), cx) => CancelReason::DeadlinePassed,
                Poll::Pending => return Poll::Pending,
            };
            is_over = true;
            if let Some(shared) = &self.shared {
                shared.cancellation().cancel(reason);
            }
            if reason == CancelReason::ShutDown {
                return Poll::Ready(Err(ended_by_shutdown(orb)));
            }
            match self.drops {
                true => {
                    // Before the upcall is dropped, so that who sees that sees the count.
                    orb.count(Counter::UpcallsDropped);
                    Poll::Ready(Err(reason))
                }
                false => Poll::Pending,
            }
        })
        .await
    }
}

/// Counts an upcall that is about to be dropped by the shutdown.
#[cold]
fn ended_by_shutdown(orb: &OrbInner) -> CancelReason {
    orb.count(Counter::UpcallsDropped);
    let end = orb.upcalls_end();
    end.dropped.fetch_add(1, Ordering::SeqCst);
    CancelReason::ShutDown
}

/// Lists of waiting upcalls, each with a lock of its own.
const LISTS: usize = 16;

/// The end of all upcalls of an ORB, at the time limit of its shutdown.
///
/// An upcall that has to wait registers once, in one of several lists: two short locks, and no allocation.
#[derive(Default)]
pub(crate) struct UpcallsEnd {
    has_come: AtomicBool,
    waiting: [Notify; LISTS],
    /// Upcalls that were dropped.
    dropped: AtomicUsize,
    /// Upcalls that no connection counts.
    local: AtomicUsize,
}

impl UpcallsEnd {
    /// Has all upcalls end that await, and those that will.
    pub(crate) fn come(&self) {
        self.has_come.store(true, Ordering::SeqCst);
        self.waiting.iter().for_each(Notify::notify_waiters);
    }

    pub(super) fn has_come(&self) -> bool {
        self.has_come.load(Ordering::SeqCst)
    }

    /// The number of upcalls that were dropped.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// The number of upcalls that run, and are not pending on a connection.
    pub(crate) fn local(&self) -> usize {
        self.local.load(Ordering::SeqCst)
    }

    /// Waits for the end, in the list of this address.
    async fn comes(&self, address: usize) {
        // Upcalls of one type lie at multiples of its size.
        let list = (address >> 6 ^ address >> 10) % LISTS;
        let Some(list) = self.waiting.get(list) else {
            return core::future::pending().await;
        };
        // Made before the look: either this sees the end, or `come` wakes it.
        let woken = list.notified();
        if !self.has_come() {
            woken.await;
        }
    }

    /// Polls an upcall until it ends, or all have to: `None`.
    pub(super) async fn before<T>(
        &self,
        mut upcall: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Option<T> {
        let mut comes = pin!(self.comes(address_of(&upcall)));
        poll_fn(|cx| match upcall.as_mut().poll(cx) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending => comes.as_mut().poll(cx).map(|()| None),
        })
        .await
    }
}

/// The address of an upcall, which is pinned there.
fn address_of<F>(upcall: &Pin<&mut F>) -> usize {
    core::ptr::from_ref(&**upcall).addr()
}

/// Counts an upcall that is not pending on a connection, until it is dropped.
pub(super) struct LocalUpcall(Arc<OrbInner>);

impl LocalUpcall {
    pub(super) fn count(orb: &Arc<OrbInner>) -> Self {
        orb.upcalls_end().local.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(orb))
    }
}

impl Drop for LocalUpcall {
    fn drop(&mut self) {
        self.0.upcalls_end().local.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Sleeps by the clock of the ORB's runtime, on whatever thread.
pub(crate) fn sleep_until(orb: &OrbInner, at: Instant) -> Sleep {
    let _runtime = orb.lane().handle().enter();
    tokio::time::sleep_until(at.into())
}

impl ReplySink {
    /// Ends a request whose upcall was dropped.
    #[cold]
    pub(super) fn end_dropped(self, receipt: Receipt, reason: CancelReason) {
        tracing::debug!(request_id = receipt.request_id, ?reason, "upcall dropped");
        let exception = match (reason, &self) {
            (CancelReason::DeadlinePassed, _) => deadline::dropped(),
            // Answered, so that no CloseConnection permits its client to send the request again.
            (CancelReason::ShutDown, Self::Pending(_)) => {
                Fault::DroppedByShutdown.raise(CompletionStatus::Maybe)
            }
            (CancelReason::ShutDown, _) => Fault::OrbShutDown.raise(CompletionStatus::Maybe),
            _ => {
                if let Self::Pending(pending) = self {
                    pending.answer(None);
                }
                return;
            }
        };
        let outcome = receipt.system_exception(&exception);
        self.end(ServerRequest::answered(receipt, outcome));
    }

    /// Leaves a request that has not begun when all upcalls end. Its client gets CloseConnection, and may send it elsewhere.
    #[cold]
    pub(super) fn leave_unbegun(self, receipt: Receipt) {
        if let Self::Pending(_) = self {
            return super::leave_unanswered(&receipt);
        }
        let exception = Fault::OrbShutDown.raise(CompletionStatus::No);
        let outcome = receipt.system_exception(&exception);
        self.end(ServerRequest::answered(receipt, outcome));
    }
}
