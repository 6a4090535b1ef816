//! Overload: requests that wait because a limit on pending upcalls is reached.
//!
//! ```text
//!  received ──► room? ──yes──► parse, locate, serve
//!                 │ no, or others wait already
//!                 ▼
//!              backlog ──► room again: parse, locate, serve, in the order in which they came
//! ```
//!
//! While requests wait, the connection is still read: a CancelRequest removes its request from the backlog, and a
//! CloseConnection ends the connection. With a full backlog the connection is not read until there is room, unless waiting
//! does not help:
//!
//! - Its client has gone, or upcalls of clients that have gone take most of the room. The end of the connection comes after
//!   the further requests; once it is read, the upcalls, the descriptor and the place of the connection are released.
//! - This end sends requests on the connection, too. A reply that an upcall waits for may come after the further requests.
//!
//! In these cases further requests are read and refused.

use super::super::counters::Counter;
use super::super::end::End;
use super::super::fairness::Overload;
use super::super::owner::{Owner, Served};
use super::super::sync::Ordering;
use super::ServerConnection;
use super::backlog::{RoomShared, WaitingRequest};
use super::header_cache::{DriverState, RequestHeaderCache};
use core::task::{Context, Poll};
use std::sync::Arc;
use zorb_giop::{
    CompletionStatus, Fault, Message, MessageKind, Received, ResponseFlags, SystemException,
};

/// The limit that a request has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    Connection,
    Octets,
    Host,
    All,
}

impl<O: Owner> ServerConnection<O> {
    /// Whether the limits have to be checked before a request of so many octets is served.
    #[inline]
    pub(super) fn is_loaded(&self, octets: usize) -> bool {
        self.pending.load(Ordering::Acquire) != 0
            || self.has_no_memory(octets)
            || !self.admitted.host().has_room()
            || !self.backlog.is_empty()
    }

    /// The limit that leaves no room for another pending upcall, of a request of so many octets.
    pub(super) fn full(&self, octets: usize) -> Option<Full> {
        let host = self.admitted.host();
        // Loaded before the octets: an upcall that ends subtracts its octets first.
        let pending = self.pending.load(Ordering::SeqCst);
        if pending >= host.limits().max_upcalls_per_connection {
            return Some(Full::Connection);
        }
        let pending_octets = self.pending_octets.load(Ordering::Relaxed);
        let limit = self.owner.settings().limits.max_message_octets;
        if pending > 0 && pending_octets.saturating_add(octets) > limit {
            return Some(Full::Octets);
        }
        match (host.has_room_of_its_own(), host.has_room()) {
            (false, _) => Some(Full::Host),
            (true, false) => Some(Full::All),
            (true, true) => None,
        }
    }

    /// Handles a request while others are pending, or memory is scarce.
    #[inline(never)]
    pub(super) fn handle_loaded(
        self: &Arc<Self>,
        cache: &mut RequestHeaderCache<O>,
        received: Received<'_>,
    ) -> Result<Served, End> {
        if self.has_no_memory(received.octets().len()) {
            let exception = self.no_memory();
            let message = received.into_message();
            let cause = Counter::RequestsRefusedForMemory;
            return self.refuse(cache, message, exception, cause);
        }
        let full = match self.backlog.is_empty() {
            true => self.full(received.octets().len()),
            // The request waits behind those in the backlog.
            false => Some(Full::Connection),
        };
        let Some(full) = full else {
            let request = self.parse(cache, received).map_err(End::Broken)?;
            return Ok(O::serve(self, request));
        };
        let message = self.keep(received);
        match self.admitted.host().limits().overload {
            Overload::Wait if !self.is_stuck() => self.wait(message),
            Overload::Wait | Overload::Refuse => {
                let full = self.full(message.octets()).unwrap_or(full);
                let (exception, cause) = (self.overloaded(full), Counter::PendingRequestsRefused);
                self.refuse(cache, message, exception, cause)
            }
        }
    }

    /// Refuses a request that is beyond a limit.
    fn refuse(
        self: &Arc<Self>,
        cache: &mut RequestHeaderCache<O>,
        message: Message,
        exception: SystemException,
        cause: Counter,
    ) -> Result<Served, End> {
        let request = self.parse_new(cache, message);
        let mut request = request.map_err(End::Broken)?;
        let counters = &self.owner.settings().counters;
        counters.count(cause);
        if request.offsets.response() == ResponseFlags::None {
            counters.count(Counter::OneWaysDropped);
        }
        request.target = self.owner.refuse(exception);
        Ok(O::serve(self, request))
    }

    /// Adds a request to the backlog.
    pub(super) fn wait(&self, message: Message) -> Result<Served, End> {
        let request = WaitingRequest::new(message).map_err(End::Broken)?;
        self.backlog.push(request);
        if self.backlog.is_full() {
            // Without reads, the end of the stream is not seen: the pace task checks the connection from time to time.
            self.admitted.host().waits().notify_one();
        }
        Ok(Served::Pending)
    }

    /// Whether the backlog is full, and further requests are refused instead of being left unread.
    pub(super) fn is_stuck(&self) -> bool {
        let host = self.admitted.host();
        self.backlog.is_full()
            && (host.is_left_behind()
                || self.has_own_requests()
                || self.client_is_gone.load(Ordering::Relaxed) && !host.has_room())
    }

    /// Whether another message may be read.
    #[inline]
    pub(super) fn may_read(&self) -> bool {
        !self.backlog.is_full() || self.is_stuck()
    }

    /// Wakes the driver if it may read on, and returns whether the connection has to be checked again.
    pub(super) fn check_backlog(&self) -> bool {
        let is_full = self.backlog.is_full();
        if is_full && self.link.stream.is_closed_by_peer() {
            self.client_is_gone.store(true, Ordering::Relaxed);
            self.leave();
        }
        if self.is_stuck() {
            self.wake();
        }
        is_full
    }

    /// The exception of a request that is refused: TRANSIENT, COMPLETED_NO.
    pub(super) fn overloaded(&self, full: Full) -> SystemException {
        let limits = self.admitted.host().limits();
        let overload = match full {
            Full::Connection => {
                let limit = limits.max_upcalls_per_connection;
                format!("{limit} upcalls of this connection are pending")
            }
            Full::Octets => {
                let pending = self.pending_octets.load(Ordering::Relaxed);
                let limit = self.owner.settings().limits.max_message_octets;
                format!("requests of {pending} octets are pending, of {limit} at most")
            }
            Full::Host => {
                let limit = limits.max_upcalls_per_host;
                format!("{limit} upcalls of this host are pending")
            }
            Full::All => format!("{} upcalls are pending", limits.max_upcalls),
        };
        Fault::Overload(overload).raise(CompletionStatus::No)
    }

    /// Ready with `true` when the first waiting request may be served, and with `false` when none waits.
    pub(super) fn poll_backlog_room(
        &self,
        shared: &mut Option<RoomShared>,
        cx: &mut Context<'_>,
    ) -> Poll<bool> {
        loop {
            let Some(octets) = self.backlog.front_octets() else {
                *shared = None;
                return Poll::Ready(false);
            };
            match self.full(octets) {
                None => {
                    *shared = None;
                    return Poll::Ready(true);
                }
                // The upcall that ends wakes the driver.
                Some(Full::Connection | Full::Octets) => return Poll::Pending,
                Some(Full::Host | Full::All) => {
                    let room = shared
                        .get_or_insert_with(|| Box::pin(Arc::clone(self.admitted.host()).room()));
                    if room.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    *shared = None;
                }
            }
        }
    }

    /// Serves the first waiting request.
    pub(super) fn serve_waiting(self: &Arc<Self>, state: &mut DriverState<O>) -> Result<(), End> {
        let Some(message) = self.backlog.pop() else {
            return Ok(());
        };
        let served = match message.header.kind {
            MessageKind::LocateRequest => self.locate(message)?,
            _ => {
                let request = self.parse_new(&mut state.headers, message);
                O::serve(self, request.map_err(End::Broken)?)
            }
        };
        self.note(served, &state.last);
        Ok(())
    }
}
