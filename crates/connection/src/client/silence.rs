//! Connections whose peers have fallen silent, and endpoints that accept connections and do not serve.
//!
//! # A silent connection
//!
//! ```text
//!            ┌──────── a message ────────┐
//!            ▼                           │
//!          OPEN ──── a time limit ────► SILENT ──── another takes its calls ────► REPLACED
//!            │     without a message                                                 │
//!            └───────────── the end, from every standing ──► OVER ◄──────────────────┘
//! ```
//!
//! A call whose time limit has passed, while no message came since it was sent, makes its connection [`SILENT`]: later
//! calls get another connection, which makes it [`REPLACED`]. Calls in progress stay. The driver asks the peer by a
//! LocateRequest. After any message the connection is used again, unless it has been replaced: then it ends with its last
//! call. Without an octet [within a time](ANSWER_WITHIN) it ends, and its calls are COMM_FAILURE, COMPLETED_MAYBE.
//!
//! A call that its caller dropped says little about the peer, which gets [a moment](GRACE) before it is asked.
//!
//! # Standing of an accepted connection
//! The peer of a bidirectional connection may offer a newer connection for the same endpoint, and leave the older one
//! unread. [`REPLACED`] then means that callbacks go to the newer one; the peer ends the older one.

use super::super::end::End;
use super::super::link::LOOK_AGAIN;
use super::super::sync::time::{self, Instant};
use super::super::sync::{AtomicU8, AtomicU64, Ordering, thread_local};
use super::super::unresponsive::UnresponsiveEndpoints;
use super::ClientConnection;
use bytes::Bytes;
use core::cell::Cell;
use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;
use std::sync::Arc;
use zorb_giop::{TargetAddress, Version};
use zorb_transport::Transport;

/// The time in which a peer that is asked has to send an octet: long enough for a server that runs one operation at a
/// time. Until then the connection only keeps the calls that wait on it.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(120);
/// The time for a message after a caller has dropped its call, before the peer is asked.
const GRACE: Duration = Duration::from_secs(1);

/// Calls may use the connection.
pub(super) const OPEN: u8 = 0;
/// A call has timed out, and no message has come since it was sent.
const SILENT: u8 = 1;
/// Another connection has its place.
const REPLACED: u8 = 2;
/// The state of the calls holds an end.
pub(super) const OVER: u8 = 3;

/// Nothing is to be asked.
const NO_DOUBT: u8 = 0;
/// A caller has dropped its call.
const DOUBT: u8 = 1;
/// A time limit has passed.
const ASK: u8 = 2;

thread_local! {
    /// Whether this thread drops calls because their time limit has passed.
    static TIMING_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `drop`, which drops calls because their time limit has passed.
pub fn timing_out<T>(drop: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = TIMING_OUT.try_with(|timing_out| timing_out.set(self.0));
        }
    }
    let before = TIMING_OUT.try_with(|timing_out| timing_out.replace(true));
    let _restore = Restore(before.unwrap_or_default());
    drop()
}

/// Whether this thread is inside [`timing_out`].
#[must_use]
pub fn is_timing_out() -> bool {
    TIMING_OUT.try_with(Cell::get).unwrap_or_default()
}

/// What is remembered of a peer beyond one connection: whether it serves.
pub(super) struct Served {
    unresponsive: UnresponsiveEndpoints,
    transport: Option<Arc<dyn Transport>>,
}

impl Served {
    pub(super) fn new(
        unresponsive: UnresponsiveEndpoints,
        transport: Option<Arc<dyn Transport>>,
    ) -> Self {
        Self {
            unresponsive,
            transport,
        }
    }
}

/// The silence of a connection.
pub(super) struct Silence {
    standing: AtomicU8,
    doubt: AtomicU8,
    /// Messages that had come when the connection fell silent.
    since: AtomicU64,
    /// The key of an object of the peer's, by which it is asked.
    key: Bytes,
}

impl Silence {
    pub(super) fn new(key: Bytes) -> Self {
        Self {
            standing: AtomicU8::new(OPEN),
            doubt: AtomicU8::new(NO_DOUBT),
            since: AtomicU64::new(0),
            key,
        }
    }

    #[inline]
    pub(super) fn standing(&self) -> u8 {
        self.standing.load(Ordering::Acquire)
    }

    pub(super) fn set_over(&self) {
        self.standing.store(OVER, Ordering::Release);
    }

    /// Changes the standing from one value to another, unless it has changed meanwhile.
    fn change(&self, from: u8, to: u8) -> bool {
        (self.standing)
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

impl ClientConnection {
    /// Whether calls may use the connection: it has not ended, its peer has not fallen silent, and no other connection has
    /// its place. Costs atomic loads.
    #[inline]
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.silence.standing() == OPEN && self.link.outbound.failure().is_none()
    }

    /// Whether a call has timed out on the connection, and no message has come since.
    pub(crate) fn is_silent(&self) -> bool {
        self.silence.standing() == SILENT
    }

    /// Gives the place of a silent connection to another one. Returns `false` if it is not silent any more, or has ended.
    pub(crate) fn replace(&self) -> bool {
        let replaced = self.silence.change(SILENT, REPLACED);
        if replaced {
            self.link.outbound.driver.notify();
        }
        replaced
    }

    /// Notes that the peer has offered a newer connection, whether or not this one is silent.
    pub(crate) fn outdate(&self) {
        let _ = self.silence.change(OPEN, REPLACED) || self.silence.change(SILENT, REPLACED);
    }

    /// Notes that the newer connections that the peer has offered cannot be used.
    pub(crate) fn renew(&self) {
        self.silence.change(REPLACED, OPEN);
    }

    /// Notes that a call was dropped before any message came.
    #[cold]
    pub(super) fn doubt(&self) {
        if !is_timing_out() {
            let doubted = (self.silence.doubt).compare_exchange(
                NO_DOUBT,
                DOUBT,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if doubted.is_ok() {
                self.link.outbound.driver.notify();
            }
            return;
        }
        self.fall_silent();
        self.silence.doubt.store(ASK, Ordering::Release);
        self.link.outbound.driver.notify();
    }

    /// Has later calls use another connection, and another endpoint if there is one.
    fn fall_silent(&self) {
        let received = self.link.messages_received();
        self.silence.since.store(received, Ordering::Relaxed);
        self.silence.change(OPEN, SILENT);
        self.serves(false);
    }

    /// Notes that the peer has answered.
    #[cold]
    pub(super) fn has_answered(&self) {
        self.answered.store(true, Ordering::Release);
        self.serves(true);
    }

    /// Whether the peer has answered a request on this connection. An end without an answer is one of a peer that accepts
    /// connections and does not serve: its endpoint comes last for a while.
    #[must_use]
    pub fn has_served(&self) -> bool {
        self.answered.load(Ordering::Acquire)
    }

    /// Notes the end of a connection on which the peer has answered nothing: the endpoint comes last for calls from now on.
    #[cold]
    pub(super) fn ends_unserved(&self) {
        if !self.has_served() {
            self.serves(false);
        }
    }

    fn serves(&self, serves: bool) {
        if !self.opened_here {
            return;
        }
        match serves {
            true => self.served.unresponsive.forget(&self.endpoint),
            false => self.served.unresponsive.remember(&self.endpoint),
        }
        if let Some(transport) = &self.served.transport {
            transport.note_served(self.link.stream.peer(), serves);
        }
    }

    /// Ready with the end of a connection whose peer does not answer, or whose place another one has. For the driver, which a
    /// doubt wakes.
    pub(super) async fn unanswered(&self) -> End {
        loop {
            let doubt = poll_fn(|_| match self.silence.doubt.load(Ordering::Acquire) {
                NO_DOUBT if !self.is_replaced() => Poll::Pending,
                doubt => Poll::Ready(doubt),
            })
            .await;
            if doubt == DOUBT {
                let received = self.link.messages_received();
                time::sleep(GRACE).await;
                if self.link.messages_received() == received {
                    self.fall_silent();
                }
            }
            self.silence.doubt.store(NO_DOUBT, Ordering::Release);
            let answer = match doubt {
                NO_DOUBT => Answer::Message,
                _ => self.answer().await,
            };
            if answer == Answer::Nothing {
                return End::Silent(ANSWER_WITHIN);
            }
            if let Some(end) = self.replaced(answer).await {
                return end;
            }
        }
    }

    /// Whether a connection that this end has opened has lost its place to another one.
    fn is_replaced(&self) -> bool {
        self.opened_here && self.silence.standing() == REPLACED
    }

    /// Waits for the last call on a connection that has lost its place, and ends it; `None` when the peer has to be asked.
    async fn replaced(&self, answer: Answer) -> Option<End> {
        let begun = Instant::now();
        while self.is_replaced() && self.silence.doubt.load(Ordering::Acquire) != ASK {
            if self.is_driven_here() && self.retire(End::Released) {
                return Some(End::Released);
            }
            if let Some(both) = &self.both {
                both.release();
            }
            // What waits to be written may be all that keeps the connection.
            if answer == Answer::NotNeeded && begun.elapsed() >= ANSWER_WITHIN {
                return Some(End::Silent(ANSWER_WITHIN));
            }
            time::sleep(LOOK_AGAIN).await;
        }
        None
    }

    /// Asks the peer whether it is there.
    async fn answer(&self) -> Answer {
        let version = match self.spoke_1_2.load(Ordering::Relaxed) {
            true => Version::V1_2,
            false => Version::V1_0,
        };
        let target = TargetAddress::Key(&self.silence.key);
        let mut asked = pin!(self.locate(version, &target));
        let mut is_asking = true;
        // The question itself, among the calls.
        let mut own = 0;
        let (mut octets, mut quiet_since) = (self.link.octets_received(), Instant::now());
        loop {
            // Read anew each time: a later call may have timed out meanwhile.
            if self.link.messages_received() != self.silence.since.load(Ordering::Relaxed) {
                self.silence.change(SILENT, OPEN);
                self.has_answered();
                return Answer::Message;
            }
            if self.is_replaced() && self.state().table.len() <= own {
                return Answer::NotNeeded;
            }
            let now = self.link.octets_received();
            if now != octets {
                (octets, quiet_since) = (now, Instant::now());
            }
            if quiet_since.elapsed() >= ANSWER_WITHIN {
                return Answer::Nothing;
            }
            tokio::select! {
                _ = &mut asked, if is_asking => is_asking = false,
                () = time::sleep(LOOK_AGAIN) => {}
            }
            own = usize::from(is_asking);
        }
    }
}

/// What has become of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// A message came.
    Message,
    /// No octet came in time.
    Nothing,
    /// Another connection has the place of this one, and no call waits on it.
    NotNeeded,
}
