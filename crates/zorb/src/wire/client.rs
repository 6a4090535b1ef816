//! The client's end of a connection, shared by all references to one endpoint.
//!
//! - here: its state, what is told when it ends, and what becomes of a message;
//! - `calls`: the calls;
//! - `lone`: the usual one, in one piece;
//! - `one_way`: those that have no reply;
//! - `reading`: who reads, within its poll;
//! - `blocks`: who reads and blocks its thread;
//! - `driver`: the task that looks after it.

mod blocks;
mod calls;
mod driver;
mod lone;
mod one_way;
mod reading;

pub(crate) use calls::{Called, Calling, refused_by_omniorb};

use super::cache::Connecting;
use super::ear::{Ear, Mine, State};
use super::link::{End, Handled, Link, Reading};
use super::profile::OmniOrb;
use super::right::Right;
use super::waiting::{Busy, Waiting};
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::task::Waker;
use std::sync::{Arc, MutexGuard};
use zorb_cdr::{EncodeError, Encoder, NativeEndian, WireFormat};
use zorb_executor::WaitPolicy;
use zorb_giop::codeset::CodeSets;
use zorb_giop::{
    CompletionStatus, Fault, LocateReply, Message, MessageKind, ProtocolError, Reader, ReplyHeader,
    ReplyStatus, RequestId, ResponseFlags, ServiceContext, SystemException, Version,
};
use zorb_transport::{Connection, Endpoint};

/// Requests in flight on one connection. A peer with as many unanswered is overloaded or gone.
const MAX_IN_FLIGHT: usize = 16 << 10;

/// What a call wants of the server and of its wait.
pub(crate) struct How {
    /// Whether the server is to answer when the request has arrived, or when it has been carried out.
    pub(crate) response: ResponseFlags,
    /// Unless as the connection's.
    pub(crate) wait: Option<WaitPolicy>,
}

/// The arguments of a call, to be written into its request.
pub(crate) trait EncodeArguments: Sync {
    /// Writes them.
    fn encode(&self, encoder: &mut Encoder<NativeEndian>) -> Result<(), EncodeError>;
    /// The octets that were left out, if the encoder lends.
    fn lent(&self) -> Option<&[u8]>;
}

/// Why a call has no reply.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The arguments cannot be encoded; nothing was sent.
    Encode(Fault),
    /// The connection ended before the request was whole on it, or the peer guarantees that it
    /// was not processed: it may be sent again.
    NotSent(Fault),
    /// The connection ended after the request was sent: it may have been carried out.
    Lost(Fault),
    /// Too much in flight.
    Overload(Fault),
}

impl CallError {
    pub(crate) fn raise(self) -> SystemException {
        match self {
            Self::Encode(fault) | Self::NotSent(fault) | Self::Overload(fault) => {
                fault.raise(CompletionStatus::No)
            }
            Self::Lost(fault) => fault.raise(CompletionStatus::Maybe),
        }
    }
}

/// A reply, and how long the request was.
pub(crate) struct Answered {
    pub(crate) arrived: Arrived,
    pub(crate) request_octets: usize,
}

/// A reply, and what its header says of it: its status, and where its body begins; nothing of a LocateReply.
pub(crate) struct Arrived {
    pub(crate) message: Message,
    pub(crate) head: Option<(ReplyStatus, usize)>,
}

pub(crate) struct ClientConnection {
    link: Link,
    ear: Arc<Ear>,
    /// Whoever waits reads, within its own poll; the driver when several wait, or nobody.
    reading: Right<Reading>,
    /// Whether the reactor looks away, so that nobody is woken: see [`look_after`](Self::look_after).
    unwatched: AtomicBool,
    /// The id of the next call that is [made in one piece](lone): of those, none is in the table. Told by who has the right
    /// to read, and what there is none of yet by who has the state.
    lone: AtomicU32,
    /// Whether the next reply to a call that is alone may be [small](zorb_giop::SmallReply) again, as the last one was. Told
    /// by who has the right to read.
    few: AtomicBool,
    /// The ear, as what the reactor wakes.
    listener: Waker,
    wait: WaitPolicy,
    busy: Arc<Busy>,
    /// Whether there is an end.
    over: AtomicBool,
    code_sets: CodeSets,
    contexts: Vec<ServiceContext>,
    /// The peer has answered once, so it knows our code sets.
    announced: AtomicBool,
    omniorb: OmniOrb,
    spoke_1_2: AtomicBool,
    /// Ids of requests that have no reply.
    unanswered: AtomicU32,
}

impl ClientConnection {
    /// `announce`: whether the server stated code sets, so that ours are told.
    pub(crate) fn new(
        stream: Box<dyn Connection>,
        endpoint: Endpoint,
        announce: bool,
        how: &Connecting,
    ) -> Self {
        let link = Link::new(stream, endpoint, how.max_fragment, how.trace_payload);
        let driver = Arc::clone(&link.outbound.driver);
        let ear = Arc::new(Ear::new(MAX_IN_FLIGHT, Arc::clone(&driver)));
        let reading = Reading {
            reader: Reader::new(how.limits).skip_too_large(),
            waiting: Waiting::new(how.wait_limit),
        };
        Self {
            link,
            reading: Right::new(reading, Waker::from(driver)),
            unwatched: AtomicBool::new(false),
            lone: AtomicU32::new(lone::NONE),
            few: AtomicBool::new(false),
            listener: Waker::from(Arc::clone(&ear)),
            ear,
            wait: how.wait,
            busy: Arc::clone(&how.busy),
            over: AtomicBool::new(false),
            announced: AtomicBool::new(false),
            code_sets: how.code_sets,
            contexts: announce
                .then(|| how.code_sets.to_context().ok())
                .flatten()
                .into_iter()
                .collect(),
            omniorb: how.omniorb,
            spoke_1_2: AtomicBool::new(false),
            unanswered: AtomicU32::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.ear.state()
    }

    /// Whether the connection is over.
    pub(crate) fn is_over(&self) -> bool {
        self.link.outbound.failure().is_some() || self.over.load(Ordering::Acquire)
    }

    fn set_end(&self, state: &mut State, end: End) {
        state.end = Some(end);
        self.over.store(true, Ordering::Release);
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.link.endpoint
    }

    /// How text travels on it.
    pub(crate) fn format(&self, version: Version) -> WireFormat {
        self.code_sets.with_minor(version.minor)
    }

    /// What is over is told to everybody, the driver included.
    fn over(&self, end: End) {
        if matches!(end, End::Closed | End::Lost(_) | End::PeerRefuses) {
            // Nothing is to be written after the callers have been told what was not.
            self.link.stream.close();
        }
        self.end(end);
        self.link.outbound.driver.ring();
    }

    /// Tells everybody who waits that nothing more will come.
    fn end(&self, end: End) {
        let mut state = self.state();
        if state.end.is_none() {
            self.set_end(&mut state, end);
        }
        // From here on the driver alone asks the reactor.
        state.armed = false;
        state.leader = None;
        // A reply that has come stays for its caller; everybody else finds the end.
        let wakers: Vec<Waker> = state
            .table
            .waiting_mut()
            .filter_map(|waiter| waiter.waker.take())
            .collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        self.link.outbound.wake_all();
    }

    /// Ends the connection in order: CloseConnection, then nothing more.
    pub(crate) fn shut_down(&self) {
        self.say_goodbye();
        self.end(End::ShutDown);
        self.link.outbound.driver.ring();
    }

    fn say_goodbye(&self) {
        // Before 1.2 only servers close in words.
        if self.spoke_1_2.load(Ordering::Relaxed) {
            self.link
                .send_empty(MessageKind::CloseConnection, Version::V1_2);
        }
    }

    /// `mine`: what whoever reads waits for itself, which nobody need be told of.
    fn handle(&self, message: Message, mine: Option<&mut Mine>) -> Handled {
        let (id, head) = match message.header.kind {
            MessageKind::Reply => {
                let (id, status, body) = ReplyHeader::head(&message).map_err(End::Broken)?;
                // A LocateRequest carries no contexts, so its reply tells nothing.
                if !self.announced.load(Ordering::Relaxed) {
                    self.announced.store(true, Ordering::Relaxed);
                }
                (id, Some((status, body)))
            }
            MessageKind::LocateReply => {
                let (id, _) = LocateReply::read(&message).map_err(End::Broken)?;
                (id, None)
            }
            MessageKind::CloseConnection => return Err(End::Closed),
            MessageKind::MessageError => return Err(End::PeerRefuses),
            kind => return Err(End::Broken(ProtocolError::WrongDirection { kind })),
        };
        let id = RequestId(id);
        let arrived = Arrived { message, head };
        if let Some(mine) = mine
            && mine.id == id
        {
            // Of several the first counts.
            mine.got.get_or_insert(arrived);
            return Ok(());
        }
        self.ear.deliver(id, arrived);
        Ok(())
    }
}

impl fmt::Debug for ClientConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConnection")
            .field("endpoint", &self.link.endpoint)
            .field("over", &self.is_over())
            .finish_non_exhaustive()
    }
}
