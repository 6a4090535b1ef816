//! Upcalls that wait, while somebody waits for their results.

use super::deadline;
use super::origin::{ReplySink, Waiter};
use crate::orb::OrbInner;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::Poll;
use std::time::Instant;
use tokio::time::Sleep;
use zorb_connection::Counter;
use zorb_giop::ResponseFlags;
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
    /// Nobody waits for its result any more, and it is to be dropped.
    pub(super) async fn attend(
        self,
        orb: &OrbInner,
        upcall: Pin<&mut (impl Future<Output = ServerRequest> + Send)>,
        waiter: Waiter<'_>,
    ) -> Result<ServerRequest, CancelReason> {
        match self.drops || waiter.is_caller() {
            // The client of a connection is heard by the connection, which tells the request.
            false => Ok(upcall.await),
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
        let mut is_over = false;
        poll_fn(|cx| {
            // That of another upcall, which somebody else has polled.
            drop(SharedRequest::take_waiting());
            // First: the result of an upcall that has ended is used, whoever has given up meanwhile.
            if let Poll::Ready(ended) = upcall.as_mut().poll(cx) {
                return Poll::Ready(Ok(ended));
            }
            self.shared = SharedRequest::take_waiting().or_else(|| self.shared.take());
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

/// Sleeps by the clock of the ORB's runtime, on whatever thread.
pub(crate) fn sleep_until(orb: &OrbInner, at: Instant) -> Sleep {
    let _runtime = orb.lane().handle().enter();
    tokio::time::sleep_until(at.into())
}

impl ReplySink {
    /// Ends a request whose upcall was dropped, as nobody waits for its result.
    #[cold]
    pub(super) fn end_dropped(self, receipt: Receipt, reason: CancelReason) {
        tracing::debug!(request_id = receipt.request_id, ?reason, "upcall dropped");
        if reason == CancelReason::DeadlinePassed {
            let outcome = receipt.system_exception(&deadline::dropped());
            self.end(ServerRequest::answered(receipt, outcome));
        } else if let Self::Pending(pending) = self {
            pending.answer(None);
        }
    }
}
