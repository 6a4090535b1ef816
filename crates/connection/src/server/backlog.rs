//! The backlog of a connection: requests that wait because a limit on pending upcalls is reached.

use super::super::fairness::{PENDING_OVERHEAD, PeerMemory, Reserved, ServerLimits};
use super::super::sync::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering};
use core::pin::Pin;
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use zorb_giop::{
    LocateRequestHeader, Message, MessageKind, ProtocolError, RequestHeader, ResponseFlags,
};

/// The waiting requests of a connection. Only its driver changes it.
#[derive(Default)]
pub(super) struct Backlog {
    waiting: Mutex<WaitingRequests>,
    /// The number of waiting requests; 0 for nearly all connections.
    pub(super) len: AtomicUsize,
    is_full: AtomicBool,
    /// The memory of the requests.
    reserved: Reserved,
}

/// The waiting requests of a connection, and their octets.
#[derive(Default)]
struct WaitingRequests {
    requests: VecDeque<WaitingRequest>,
    octets: usize,
}

pub(super) struct WaitingRequest {
    message: Message,
    id: u32,
    /// Whether the client waits for no reply. Such a request is served even after the client has gone.
    pub(super) one_way: bool,
}

impl WaitingRequest {
    /// # Errors
    /// When the header of the request cannot be read.
    pub(super) fn new(message: Message) -> Result<Self, ProtocolError> {
        let (id, one_way) = match message.header.kind {
            MessageKind::LocateRequest => (LocateRequestHeader::read(&message)?.request_id, false),
            _ => {
                let header = RequestHeader::read(&message)?;
                (header.request_id, header.response == ResponseFlags::None)
            }
        };
        Ok(Self {
            message,
            id,
            one_way,
        })
    }
}

impl WaitingRequests {
    /// Keeps the requests for which `keep` returns `true`.
    fn retain(&mut self, keep: impl Fn(&WaitingRequest) -> bool) {
        self.requests.retain(keep);
        let octets = self.requests.iter().map(|request| request.message.octets());
        self.octets = octets.sum();
    }
}

impl Backlog {
    /// A backlog whose memory is counted.
    pub(super) fn within(memory: &Arc<PeerMemory>) -> Self {
        Self {
            reserved: Reserved::of(memory),
            ..Self::default()
        }
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingRequests> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Sequentially consistent here and where a request is added: see `PendingRequest::drop`.
        self.len.load(Ordering::SeqCst) == 0
    }

    /// Whether no further message may be read.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    fn change<T>(&self, change: impl FnOnce(&mut WaitingRequests) -> T) -> T {
        let mut waiting = self.waiting();
        let changed = change(&mut waiting);
        let len = waiting.requests.len();
        let is_full = len >= ServerLimits::MAX_WAITING_REQUESTS
            || waiting.octets >= ServerLimits::MAX_WAITING_OCTETS;
        let octets = waiting.octets;
        self.reserved
            .cover_unchecked(|| octets.saturating_add(len.saturating_mul(PENDING_OVERHEAD)));
        self.len.store(len, Ordering::SeqCst);
        self.is_full.store(is_full, Ordering::Relaxed);
        changed
    }

    pub(super) fn push(&self, request: WaitingRequest) {
        self.change(|waiting| {
            waiting.octets = (request.message.octets()).saturating_add(waiting.octets);
            waiting.requests.push_back(request);
        });
    }

    pub(super) fn front_octets(&self) -> Option<usize> {
        let waiting = self.waiting();
        (waiting.requests.front()).map(|request| request.message.octets())
    }

    pub(super) fn pop(&self) -> Option<Message> {
        self.change(|waiting| {
            let request = waiting.requests.pop_front()?;
            waiting.octets = (waiting.octets).saturating_sub(request.message.octets());
            Some(request.message)
        })
    }

    /// Removes a request that its client has cancelled.
    pub(super) fn cancel(&self, id: u32) {
        if !self.is_empty() {
            self.change(|waiting| waiting.retain(|request| request.id != id));
        }
    }

    /// Drops the requests that expect a reply, as the client has gone; one-way requests stay.
    pub(super) fn keep_one_ways(&self) {
        self.change(|waiting| waiting.retain(|request| request.one_way));
    }
}

/// A wait for room under the limits that connections share.
pub(super) type RoomShared = Pin<Box<dyn Future<Output = ()> + Send>>;
