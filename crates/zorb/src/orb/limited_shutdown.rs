//! A shutdown with a time limit.

use super::{Orb, OrbInner};
use crate::current;
use core::pin::pin;
use core::task::{Context, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::Instant;
use tokio::sync::oneshot;
use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_shares::CancelReason;

/// The time for the replies to dropped upcalls to leave, and for connections to close.
const DROP_GRACE: Duration = Duration::from_secs(2);

/// What had become of the upcalls when [`Orb::shutdown_within`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// The number of upcalls that were dropped at the limit: each had awaited something then, and its client got COMM_FAILURE.
    pub upcalls_dropped: usize,
    /// The number of upcalls, and of requests that wait for their threads, which cannot be dropped: they block a thread. Servants
    /// that block the task that reads their connection, without being [`Blocking`](crate::Blocking), do not count.
    pub upcalls_left: usize,
    /// Whether the ORB is down. Otherwise it will be when what is left has ended: [`Orb::run`] waits for that.
    pub is_complete: bool,
}

impl Orb {
    /// [Shuts down](Self::shutdown), and drops the upcalls that have not ended within `limit`: at the await that each is in, as
    /// Rust futures are cancelled. Returns when the ORB is down, or two seconds after the limit at the latest.
    ///
    /// The client of a dropped upcall gets COMM_FAILURE, COMPLETED_MAYBE, as if the server had been killed, so that no ORB sends the
    /// request again; a caller within this ORB gets BAD_INV_ORDER, COMPLETED_MAYBE. Requests that wait for a thread by then are not
    /// begun: their clients may send them elsewhere.
    ///
    /// An upcall that blocks its thread cannot be dropped: it is told ([`CancelReason::ShutDown`](crate::CancelReason::ShutDown)),
    /// and goes on. A process ends nevertheless when its `main` returns, but for tokio, whose `Runtime` waits for such threads when
    /// it is dropped: `std::process::exit`, or `Runtime::shutdown_background`, does not.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn main_of_a_server(orb: zorb::Orb) -> Result<(), Box<dyn std::error::Error>> {
    /// tokio::signal::ctrl_c().await?;
    /// let report = orb.shutdown_within(Duration::from_secs(20)).await?;
    /// if report.upcalls_left > 0 {
    ///     std::process::exit(1);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// Of several calls, the earliest limit holds, and all report the same upcalls. Costs a thread until the ORB is down.
    ///
    /// # Errors
    /// BAD_INV_ORDER inside an upcall of this ORB, which would deadlock: the shutdown does not begin.
    ///
    /// # Cancel safety
    /// Safe: a shutdown that has begun goes on, and keeps its limit.
    pub async fn shutdown_within(
        &self,
        limit: Duration,
    ) -> Result<ShutdownReport, SystemException> {
        let inner = Arc::clone(self.inner());
        if current::is_upcall_of(&inner) {
            return Err(Fault::WouldDeadlock.raise(CompletionStatus::No));
        }
        let at = Instant::now().checked_add(limit);
        inner.stop();
        let (done, report) = oneshot::channel();
        // No timer of the lane's: a servant may block the only thread that would notice it.
        let watched = Arc::clone(&inner);
        let watch = move || {
            if !watched.is_down_by(at) {
                watched.end_upcalls();
                watched.is_down_by(Instant::now().checked_add(DROP_GRACE));
            }
            let _ = done.send(watched.report());
        };
        let started = thread::Builder::new()
            .name("zorb-shutdown".to_owned())
            .spawn(watch);
        if let Err(error) = started {
            tracing::warn!(%error, "no thread for the time limit of the shutdown: upcalls are dropped now");
            inner.end_upcalls();
            self.run().await;
        }
        Ok(report.await.unwrap_or_else(|_| inner.report()))
    }
}

impl OrbInner {
    /// Blocks until the ORB is down, or until this time. Returns whether it is down.
    fn is_down_by(&self, at: Option<Instant>) -> bool {
        let mut down = self.down.subscribe();
        let mut ended = pin!(down.wait_for(|down| *down));
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut cx = Context::from_waker(&waker);
        loop {
            if ended.as_mut().poll(&mut cx).is_ready() {
                return true;
            }
            match at.map(|at| at.saturating_duration_since(Instant::now())) {
                Some(left) if left.is_zero() => return false,
                Some(left) => thread::park_timeout(left),
                None => thread::park(),
            }
        }
    }

    /// Ends all upcalls: those that await are dropped, the others are told.
    fn end_upcalls(&self) {
        // Told first: a request whose upcall has been dropped is not heard of any more, though its servant may hold a thread.
        self.serving.cancel_all(CancelReason::ShutDown);
        self.upcalls_end.come();
    }

    fn report(&self) -> ShutdownReport {
        let is_complete = *self.down.borrow();
        let upcalls_left = match is_complete {
            true => 0,
            false => {
                let on_readers = match self.settings.threads {
                    true => self.serving.held_up(),
                    false => 0,
                };
                (self.serving.pending_upcalls())
                    .saturating_add(self.upcalls_end.local())
                    .saturating_add(on_readers)
            }
        };
        ShutdownReport {
            upcalls_dropped: self.upcalls_end.dropped(),
            upcalls_left,
            is_complete,
        }
    }
}

/// Wakes a parked thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
