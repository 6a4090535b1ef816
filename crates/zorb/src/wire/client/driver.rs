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

/// After how long the driver first looks whether a connection that the reactor looks away from is still in use.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The same, at most, while replies come, each time that it looks after twice as long: a peer that closes the connection is
/// noticed after twice this at the latest, or by the next call. So seldom that its thread's waking up costs no call
/// anything.
const LOOK_AGAIN_BUSY: Duration = Duration::from_millis(80);
/// The same, at most, while somebody blocks for a reply that takes its time, and would notice the end itself; so long it
/// may take, too, when nobody calls any more after such a one.
const LOOK_AGAIN_LATER: Duration = Duration::from_secs(1);
/// How long the first of several one-way calls that leave together waits for the others.
const JOINED_FOR: Duration = Duration::from_millis(1);

impl ClientConnection {
    /// Ends the connection if nobody waits for anything: whoever wants to call from now on makes
    /// another.
    fn retire(&self, limit: Duration) -> bool {
        // Whoever has it may wait for a reply, and be in no table.
        let Some(mut right) = self.reading.claim() else {
            return false;
        };
        let idle = self.retire_unread(limit);
        while let Some(again) = right.give_back() {
            right = again;
            self.leave_to_the_driver();
        }
        idle
    }

    fn retire_unread(&self, limit: Duration) -> bool {
        let mut state = self.state();
        // In this order: a one-way request is counted until it is queued, or is not queued any more.
        let idle = state.end.is_none()
            && state.table.is_empty()
            && state.one_ways == 0
            && self.link.outbound.close_if_empty();
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
        trace::ended(&*self.link.stream, &self.link.endpoint, &end);
        self.link.finish(&end).await;
        drop(dropped);
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
        // Otherwise somebody reads, and goes on looking away perhaps; or it blocks, and has all it wants and looks no
        // further when the reactor has told us, and nobody else, of what it takes.
        if !self.read(cx) {
            watch.later(self.link.messages_received(), cx);
        }
        None
    }
}

/// A timer that is made when it is first wanted, and set anew each time from then on: whoever calls for long allocates
/// nothing.
#[derive(Default)]
struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    is_set: bool,
}

impl Timer {
    fn set(&mut self, after: Duration) {
        let at = Instant::now() + after;
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(at),
            none => *none = Some(Box::pin(tokio::time::sleep_until(at))),
        }
        self.is_set = true;
    }

    /// Ready when it is time; it has to be set again then.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(sleep) = self.sleep.as_mut().filter(|_| self.is_set) else {
            return Poll::Pending;
        };
        let over = sleep.as_mut().poll(cx);
        self.is_set = over.is_pending();
        over
    }
}

/// How the driver looks after a connection from which the reactor looks away: callers read their
/// replies themselves, and when none has come for some time somebody has to notice what the peer
/// does meanwhile.
#[derive(Default)]
struct Watch {
    /// When to look again.
    next: Timer,
    /// How many messages had come by the last look.
    received: u64,
    /// How long after the last look that is.
    every: Duration,
    /// When to write what has been joined.
    joined: Timer,
}

impl Watch {
    /// Whether something has come lately; if so, the driver is polled again to ask anew, after twice as long each time.
    fn is_busy(&mut self, received: u64, cx: &mut Context<'_>) -> bool {
        if !self.next.is_set {
            self.look(received, LOOK_AGAIN_BUSY);
        }
        while self.next.poll(cx).is_ready() {
            if received == self.received {
                return false;
            }
            self.look(received, LOOK_AGAIN_BUSY);
        }
        true
    }

    fn stop(&mut self) {
        self.next.is_set = false;
        self.every = Duration::ZERO;
    }

    /// Somebody has been reading for long, and nothing has come: asks again, after twice as long each time.
    fn later(&mut self, received: u64, cx: &mut Context<'_>) {
        self.look(received, LOOK_AGAIN_LATER);
        // It has just begun.
        let _ = self.next.poll(cx);
    }

    fn look(&mut self, received: u64, at_most: Duration) {
        self.every = (self.every * 2).clamp(LOOK_AGAIN, at_most);
        self.received = received;
        self.next.set(self.every);
    }

    /// Writes what is to leave together, some time after the first of it was queued.
    fn write_joined(&mut self, link: &Link, cx: &mut Context<'_>) {
        while link.outbound.has_joined() {
            if !self.joined.is_set {
                self.joined.set(JOINED_FOR);
            }
            if self.joined.poll(cx).is_pending() {
                return;
            }
            link.write_joined();
        }
    }
}

/// Tells everybody who waits when the driver is gone, whatever became of it.
struct EndOnDrop(Arc<ClientConnection>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        // Also when it has said goodbye and is not heard to the end: somebody may block for what comes.
        self.0.link.stream.close();
        if self.0.state().end.is_none() {
            self.0
                .end(End::Lost("its runtime has shut down".to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::cache::Connecting;
    use crate::wire::mock::{Acts, Mock};
    use crate::wire::profile::OmniOrb;
    use crate::wire::sole::Is;
    use core::sync::atomic::AtomicBool;
    use std::io;
    use zorb_executor::WaitPolicy;
    use zorb_giop::codeset::CodeSets;

    /// A peer that closes when it is told to. Its reactor has said all that it had to say.
    #[derive(Debug)]
    struct Closes(Arc<AtomicBool>);

    impl Acts for Closes {
        fn read(&self) -> io::Result<usize> {
            match self.0.load(Ordering::Acquire) {
                true => Ok(0),
                false => Err(io::ErrorKind::WouldBlock.into()),
            }
        }
    }

    fn connecting() -> Connecting {
        Connecting {
            silent: Default::default(),
            code_sets: CodeSets::UNSTATED,
            max_fragment: None,
            omniorb: OmniOrb::No,
            transports: Default::default(),
            limits: Default::default(),
            timeout: Duration::MAX,
            trace_payload: 0,
            idle_timeout: None,
            wait: WaitPolicy::Park,
            wait_limit: Duration::ZERO,
            busy: Arc::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_lone_caller_has_kept_the_driver_from_is_looked_at_when_it_has_gone() {
        let closes = Arc::new(AtomicBool::new(false));
        let stream = Box::new(Mock::new(Closes(Arc::clone(&closes))));
        let endpoint = "uiop:///nowhere".parse().unwrap();
        let connection = ClientConnection::new(stream, endpoint, false, &connecting());
        let connection = Arc::new(connection);
        let right = connection.reading.claim().expect("nobody reads yet");
        // The reactor tells the driver of the reply, which a caller who blocks is just reading.
        let driving = tokio::spawn(Arc::clone(&connection).drive(None));
        tokio::task::yield_now().await;
        // It has all it wants, and nobody else is there.
        connection.let_go(right, false);
        closes.store(true, Ordering::Release);
        let noticed = tokio::time::timeout(LOOK_AGAIN_LATER, driving).await;
        noticed.expect("somebody looks").unwrap();
        assert!(connection.is_over());
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Woken(core::sync::atomic::AtomicUsize);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_call_that_is_alone_is_in_no_table_until_somebody_looks_there() {
        let stream = Box::new(Mock::new(Closes(Arc::default())));
        let endpoint = "uiop:///nowhere".parse().unwrap();
        let connection = ClientConnection::new(stream, endpoint, false, &connecting());
        let woken = Arc::new(Woken::default());
        let waker = std::task::Waker::from(Arc::clone(&woken));
        let begin = || {
            let call = connection.begin(zorb_giop::Version::V1_2, None, Some(&waker));
            call.expect("there is room for it")
        };
        // As after a call: the reactor listens.
        connection.state().armed = true;
        drop(begin());
        assert_eq!(connection.ear.sole.is(), Is::None);
        // It waits, though it is not there to be seen.
        let call = begin();
        assert_eq!(connection.ear.sole.is(), Is::Under(call.id));
        assert!(!connection.retire(Duration::ZERO));
        drop(call);
        drop(begin());
        let mut before = None;
        for _ in 0..3 {
            let call = begin();
            assert!(before.replace(call.id) != Some(call.id));
            {
                assert_eq!(connection.ear.sole.is(), Is::Under(call.id));
                assert!(connection.ear.bare_state().table.is_empty());
            }
            // Somebody comes, and it is one of two.
            let other = begin();
            assert!(other.id != call.id);
            let mut state = connection.state();
            assert_eq!(connection.ear.sole.is(), Is::None);
            assert_eq!(state.table.len(), 2);
            for id in [call.id, other.id] {
                assert!(
                    state
                        .table
                        .get_mut(id)
                        .is_some_and(|waiter| waiter.waker.is_some())
                );
            }
            drop(state);
            drop(other);
            drop(call);
            assert!(connection.state().table.is_empty());
            drop(begin());
        }
        // And the reactor knows whom to wake as long as nobody does.
        let call = begin();
        assert_eq!(connection.ear.sole.is(), Is::Under(call.id));
        connection.listener.wake_by_ref();
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        assert!(connection.ear.told.load(Ordering::Relaxed));
        assert!(connection.state().table.get_mut(call.id).is_some());
    }
}
