//! The task that drives a connection: it reads when no caller does, writes batches, and ends the connection.

use super::super::counters::Counter;
use super::super::end::End;
use super::super::link::{LOOK_AGAIN, Link};
use super::super::outbound::Due;
use super::super::sync::time::{self, Instant, Sleep};
use super::super::trace;
use super::ClientConnection;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;
use zorb_giop::{Cause, LifeAction};

/// How long the first message of a batch waits for others.
const BATCH_TIME: Duration = Duration::from_millis(1);

impl ClientConnection {
    /// Ends the connection if no call is in progress, and returns whether it did. A later call opens another connection.
    pub(crate) fn retire(&self, end: End) -> bool {
        let retired = self.retire_with(end);
        let is_retired = retired.is_some();
        if let Some(retired) = retired {
            self.close_retired(retired);
        }
        is_retired
    }

    /// Ends the connection if no call is in progress, so that another one may have its place, and returns what
    /// [`close_retired`](Self::close_retired) has to do then.
    pub(crate) fn retire_for_another(&self) -> Option<LifeAction> {
        self.retire_with(End::Purged)
    }

    /// Closes a connection that has been retired.
    pub(crate) fn close_retired(&self, action: LifeAction) {
        self.link.say_last(action);
        self.link.outbound.driver.notify();
    }

    /// Closes the connection in order, as no reference uses it any more. One on which requests of the peer are pending is closed
    /// when they have ended. A connection that the peer has opened stays open: the peer closes it.
    pub fn release(&self) {
        match &self.both {
            _ if !self.opened_here || self.is_over() => {}
            Some(both) => both.release(),
            None => self.end(End::Released),
        }
    }

    /// [Releases](Self::release) the connection, unless a call is in progress.
    pub fn release_if_idle(&self) {
        if self.opened_here {
            // No further call will join the batch.
            self.link.write_batch();
            match &self.both {
                Some(both) => both.release(),
                None => {
                    self.retire(End::Released);
                }
            }
        }
    }

    fn retire_with(&self, end: End) -> Option<LifeAction> {
        // A reader may have its reply and still hold the lease.
        if self.waiters.reading.is_held() {
            return None;
        }
        let mut state = self.state();
        // In this order: a one-way request is counted until it is queued.
        let idle = state.life.is_open()
            && state.table.is_empty()
            && state.one_ways == 0
            && self.link.outbound.close_if_empty();
        idle.then(|| self.set_end(&mut state, end))
    }

    /// Drives the connection until it ends. It ends by itself if it is not used for `idle_timeout`, or if a reply that has
    /// begun makes no progress within `stall_timeout`.
    pub(crate) fn drive(
        self: Arc<Self>,
        idle_timeout: Option<Duration>,
        stall_timeout: Option<Duration>,
    ) -> impl Future<Output = ()> {
        // A runtime that shuts down drops its tasks, even tasks that were never polled.
        let dropped = EndOnDrop(Arc::clone(&self));
        async move {
            self.drive_until_end(idle_timeout, stall_timeout).await;
            drop(dropped);
        }
    }

    async fn drive_until_end(
        &self,
        idle_timeout: Option<Duration>,
        stall_timeout: Option<Duration>,
    ) {
        let mut timers = Timers::default();
        let driver = &self.link.outbound.driver;
        let read = poll_fn(|cx| {
            match self.both {
                None => driver.register(cx.waker()),
                Some(_) => driver.register_second(cx.waker()),
            }
            let ended = self.poll_drive(&mut timers, cx);
            // A caller may have found the end of the connection.
            match self.state().life.end().cloned().or(ended) {
                Some(end) => Poll::Ready(end),
                None => Poll::Pending,
            }
        });
        let may_end = |limit| self.is_driven_here() && self.retire(End::Idle(limit));
        let end = tokio::select! {
            biased;
            end = read => end,
            end = self.link.failed() => end,
            end = self.link.idle(idle_timeout, may_end) => end,
            end = self.paced(stall_timeout) => end,
            end = self.unanswered() => end,
        };
        self.end(end.clone());
        if let Some(both) = self.both.as_ref().filter(|both| !both.has_left()) {
            // Once it has ended, the driver of the server's role does not leave it.
            let closed = poll_fn(|cx| {
                driver.register_second(cx.waker());
                match both.is_over() {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            });
            return closed.await;
        }
        self.count_end(&end);
        trace::ended(&*self.link.stream, &self.endpoint, &end);
        let is_orderly = (self.state().life.end()).is_some_and(End::is_orderly);
        let on = |event| self.state().life.on(event);
        self.link.finish(is_orderly, on).await;
        if self.state().life.is_cut_short() {
            self.counters.count(Counter::LingersCut);
        }
    }

    /// Ready when a reply that has begun makes no progress. Among served connections, all are checked anyway.
    async fn paced(&self, stall_timeout: Option<Duration>) -> End {
        let stall_timeout = stall_timeout.filter(|_| self.both.is_none());
        self.link.paced(stall_timeout).await
    }

    fn count_end(&self, end: &End) {
        match (self.link.outbound.evicted(), end) {
            (Some(why), _) => self.counters.count(why.counter()),
            (None, End::Broken(_)) => self.counters.count(Counter::ProtocolErrors),
            (None, End::Idle(_)) => self.counters.count(Counter::IdleConnectionsClosed),
            (None, _) => {}
        }
    }

    /// One poll of the driver.
    pub(super) fn poll_drive(&self, timers: &mut Timers, cx: &mut Context<'_>) -> Option<End> {
        if !self.state().life.is_open() {
            return None;
        }
        timers.write_batch(&self.link, cx);
        if !self.is_driven_here() {
            return None;
        }
        if let Err(end) = self.link.unblock(cx) {
            return Some(end);
        }
        let outbound = &self.link.outbound;
        // A peer that sends and does not read may block: its messages have to be read before it reads on.
        let is_stuck = outbound.is_blocked() || outbound.failure().is_some();
        if self.waiters.reading.is_timed() && !is_stuck {
            if timers.is_busy(self.link.messages_received(), cx) {
                return None;
            }
        } else {
            timers.reset();
        }
        // Another reader may go on without the reactor, or may have its reply and stop reading.
        if !self.drive_read(cx) {
            timers.look_later(self.link.messages_received(), cx);
        }
        None
    }
}

/// A timer that is created when it is first set, and reset from then on: a connection in use allocates nothing.
#[derive(Default)]
struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    is_set: bool,
}

impl Timer {
    fn set(&mut self, after: Duration) {
        let now = Instant::now();
        let at = now.checked_add(after).unwrap_or(now);
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(at),
            none => *none = Some(Box::pin(time::sleep_until(at))),
        }
        self.is_set = true;
    }

    /// Ready when the timer expires; it has to be set again then.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(sleep) = self.sleep.as_mut().filter(|_| self.is_set) else {
            return Poll::Pending;
        };
        let expired = sleep.as_mut().poll(cx);
        self.is_set = expired.is_pending();
        expired
    }
}

/// The timers of a driver.
pub(super) struct Timers {
    /// The next look at a connection that callers read without the reactor.
    look: Timer,
    /// Messages received by the last look.
    received: u64,
    batch: Timer,
    /// The time that the timer of the batch is set to.
    batch_due: Due,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            look: Timer::default(),
            received: 0,
            batch: Timer::default(),
            batch_due: Due::Soon,
        }
    }
}

impl Timers {
    /// Whether a message has come lately. If so, the driver is polled again.
    pub(super) fn is_busy(&mut self, received: u64, cx: &mut Context<'_>) -> bool {
        if !self.look.is_set {
            self.set(received);
        }
        while self.look.poll(cx).is_ready() {
            if received == self.received {
                return false;
            }
            self.set(received);
        }
        true
    }

    fn reset(&mut self) {
        self.look.is_set = false;
    }

    /// Sets the timer for the next look, as another reader holds the lease.
    fn look_later(&mut self, received: u64, cx: &mut Context<'_>) {
        self.set(received);
        // The timer was just set, so it is pending; the poll registers the waker.
        let _ = self.look.poll(cx);
    }

    fn set(&mut self, received: u64) {
        self.received = received;
        self.look.set(LOOK_AGAIN);
    }

    /// Writes the batch [a moment](BATCH_TIME) after its first message was queued, or when its limits say.
    fn write_batch(&mut self, link: &Link, cx: &mut Context<'_>) {
        loop {
            let Some(due) = link.outbound.batch_due() else {
                self.batch.is_set = false;
                return;
            };
            if !self.batch.is_set || self.batch_due != due {
                self.batch_due = due;
                self.batch.set(match due {
                    Due::Soon => BATCH_TIME,
                    Due::At(at) => at.saturating_duration_since(Instant::now()),
                });
            }
            if self.batch.poll(cx).is_pending() {
                return;
            }
            link.write_batch();
        }
    }
}

/// Ends the connection when its driver is dropped, for whatever reason.
struct EndOnDrop(Arc<ClientConnection>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        // Closed even if the peer has yet to read a CloseConnection: a thread may block in a read of the stream.
        self.0.link.stream.close();
        if self.0.state().life.is_open() {
            self.0
                .end_calls(End::Lost(Cause::new("its runtime has shut down")));
        }
    }
}
