//! The task that looks after a connection, and reads it when no caller does.

use super::ClientConnection;
use crate::wire::link::{End, Link};
use crate::wire::trace;
use core::future::poll_fn;
use core::pin::Pin;
use core::sync::atomic::Ordering;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;
use tokio::time::{Instant, Sleep};

/// How often the driver looks whether a connection that the reactor looks away from is still in
/// use: a peer that closes it is noticed after twice this at the latest, or by the next call.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The same, at most, while somebody blocks for a reply that takes its time, and would notice the end itself; so long it
/// may take, too, when nobody calls any more after such a one.
const LOOK_AGAIN_LATER: Duration = Duration::from_secs(1);
/// How long the first of several one-way calls that leave together waits for the others.
const JOINED_FOR: Duration = Duration::from_millis(1);

impl ClientConnection {
    /// Ends the connection if nobody waits for anything: whoever wants to call from now on makes
    /// another.
    fn retire(&self, limit: Duration) -> bool {
        let mut state = self.state();
        // In this order: a one-way request is in the table until it is queued.
        let idle = state.end.is_none()
            && state.table.is_empty()
            && self.link.outbound.queued_octets() == 0;
        if idle {
            self.set_end(&mut state, End::Idle(limit));
        }
        idle
    }

    /// Sees to it that the connection is read until it ends, which it does by itself when nobody
    /// has used it for `idle_timeout`. The driver task runs this and nothing else.
    pub(crate) async fn drive(self: Arc<Self>, idle_timeout: Option<Duration>) {
        // A runtime that shuts down drops its tasks where they stand.
        let dropped = EndOnDrop(Arc::clone(&self));
        let mut watch = Watch::default();
        let read = poll_fn(|cx| {
            self.link.outbound.driver.register(cx.waker());
            let ended = self.look_after(&mut watch, cx);
            // Some caller may have found the end.
            match self.state().end.clone().or(ended) {
                Some(end) => Poll::Ready(end),
                None => Poll::Pending,
            }
        });
        let end = tokio::select! {
            biased;
            end = read => end,
            end = self.link.failed() => end,
            end = self.link.idle(idle_timeout, |limit| self.retire(limit)) => {
                self.say_goodbye();
                end
            }
        };
        self.over(end.clone());
        drop(dropped);
        trace::ended(&*self.link.stream, &self.link.endpoint, &end);
        self.link.finish(&end).await;
    }

    /// One poll of the driver: it reads when no caller does so for itself.
    fn look_after(&self, watch: &mut Watch, cx: &mut Context<'_>) -> Option<End> {
        if self.state().end.is_some() {
            return None;
        }
        watch.write_joined(&self.link, cx);
        if let Err(end) = self.link.unblock(cx) {
            return Some(end);
        }
        let outbound = &self.link.outbound;
        // What the peer says instead of reading has to be read by somebody.
        let is_stuck = outbound.is_blocked() || outbound.failure().is_some();
        if self.unwatched.load(Ordering::Acquire) && !is_stuck {
            if watch.is_busy(self.link.messages_received(), cx) {
                return None;
            }
        } else {
            watch.stop();
        }
        // Otherwise somebody reads, and goes on looking away perhaps.
        if !self.read(cx) && self.unwatched.load(Ordering::Acquire) {
            watch.later(self.link.messages_received(), cx);
        }
        None
    }
}

/// How the driver looks after a connection from which the reactor looks away: callers read their
/// replies themselves, and when none has come for some time somebody has to notice what the peer
/// does meanwhile.
#[derive(Default)]
struct Watch {
    /// When to look again, and how many messages had come by the last look.
    next: Option<(Pin<Box<Sleep>>, u64)>,
    /// How long ago it was asked last, while somebody has been reading for long.
    every: Duration,
    /// When to write what has been joined.
    joined: Option<Pin<Box<Sleep>>>,
}

impl Watch {
    /// Whether something has come lately; if so, the driver is polled again to ask anew.
    fn is_busy(&mut self, received: u64, cx: &mut Context<'_>) -> bool {
        let (timer, before) =
            (self.next).get_or_insert_with(|| (Box::pin(tokio::time::sleep(LOOK_AGAIN)), received));
        while timer.as_mut().poll(cx).is_ready() {
            if received == *before {
                self.next = None;
                return false;
            }
            *before = received;
            self.every = Duration::ZERO;
            timer.as_mut().reset(Instant::now() + LOOK_AGAIN);
        }
        true
    }

    fn stop(&mut self) {
        self.next = None;
        self.every = Duration::ZERO;
    }

    /// Asks again, after twice as long each time.
    fn later(&mut self, received: u64, cx: &mut Context<'_>) {
        self.every = (self.every * 2).clamp(LOOK_AGAIN, LOOK_AGAIN_LATER);
        let mut timer = Box::pin(tokio::time::sleep(self.every));
        // It has just begun.
        let _ = timer.as_mut().poll(cx);
        self.next = Some((timer, received));
    }

    /// Writes what is to leave together, some time after the first of it was queued.
    fn write_joined(&mut self, link: &Link, cx: &mut Context<'_>) {
        while link.outbound.has_joined() {
            let timer =
                (self.joined).get_or_insert_with(|| Box::pin(tokio::time::sleep(JOINED_FOR)));
            if timer.as_mut().poll(cx).is_pending() {
                return;
            }
            self.joined = None;
            link.write_joined();
        }
    }
}

/// Tells everybody who waits when the driver is gone, whatever became of it.
struct EndOnDrop(Arc<ClientConnection>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        if self.0.state().end.is_none() {
            self.0.link.stream.close();
            self.0
                .end(End::Lost("its runtime has shut down".to_owned()));
        }
    }
}
