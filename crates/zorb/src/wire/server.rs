//! The server's end of a connection: requests in, upcalls polled in place, replies out.

mod apart;
mod few;
mod held;
mod known;
mod lone;
mod pending;
mod room;
mod thread;

use super::link::{Behind, End, Handled, Link, Reading};
use super::outbound::Stays;
use super::trace;
use super::upcall::{Begun, begin, run_in_place, run_upcall_in_place};
use super::waiting::{self, Waiting};
use crate::keys::Found;
use crate::orb::{OrbInner, Served};
use apart::Driven;
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::task::{Context, Poll};
use few::Few;
pub(crate) use held::locate_reply;
use known::Known;
use pending::Pending;
use room::Room;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedSemaphorePermit;
use zorb_executor::{Dispatch, Priority};
use zorb_giop::codeset::CodeSets;
use zorb_giop::{
    CompletionStatus, Fault, Message, MessageKind, ProtocolError, Reader, RequestHead,
    RequestHeader, ResponseFlags, ServiceContextId, SystemException, Version,
};
use zorb_poa::{
    ActiveObject, Missing, Outcome, Places, Receipt, Request, State, Upcall, is_reserved,
};
use zorb_transport::{Connection, Endpoint};

/// Upcalls of one connection that may be pending at a time; beyond it a request is TRANSIENT,
/// rather than unread, so that a request which others wait for always gets through.
const MAX_PENDING_UPCALLS: usize = 4096;

pub(crate) struct ServerConnection {
    link: Link,
    orb: Arc<OrbInner>,
    pending: AtomicUsize,
    /// Octets of the requests of these.
    pending_octets: AtomicUsize,
    /// Its transport has no reads that block, as a thread has found out.
    cannot_block: AtomicBool,
    /// Pending upcalls by request id, and whether their client has given them up.
    given_up: Mutex<HashMap<u32, bool>>,
    /// What the client chose, once it has.
    code_sets: Mutex<Option<CodeSets>>,
    told_too_large: AtomicBool,
    room: Room,
    /// Where every connection has a thread: who of those that have waited runs.
    turn: Arc<tokio::sync::Mutex<()>>,
    _permit: OwnedSemaphorePermit,
}

impl ServerConnection {
    pub(crate) fn new(
        stream: Box<dyn Connection>,
        endpoint: Endpoint,
        orb: &Arc<OrbInner>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            link: Link::new(
                stream,
                endpoint,
                orb.max_fragment(false),
                orb.settings().trace_payload,
            ),
            orb: Arc::clone(orb),
            pending: AtomicUsize::new(0),
            pending_octets: AtomicUsize::new(0),
            cannot_block: AtomicBool::new(false),
            given_up: Mutex::new(HashMap::new()),
            code_sets: Mutex::new(None),
            told_too_large: AtomicBool::new(false),
            room: Room::default(),
            turn: Arc::default(),
            _permit: permit,
        }
    }

    /// Reads and serves until the connection or the ORB ends.
    pub(crate) fn drive(self: Arc<Self>) -> impl Future<Output = ()> + Send {
        let serving = self.orb.enter_serving(&self);
        let reading = self.reading();
        self.drive_on(serving, reading, None)
    }

    /// What whoever reads it begins with.
    fn reading(&self) -> Reading {
        let lane = self.orb.lane();
        Reading {
            reader: Reader::new(self.orb.limits()).skip_too_large(),
            waiting: Waiting::new(waiting::limit(lane, lane.handle().id())),
        }
    }

    /// Goes on with a connection as it is, or ends it as it has `ended`.
    async fn drive_on(
        self: Arc<Self>,
        serving: Served,
        mut reading: Reading,
        mut ended: Option<End>,
    ) {
        let end = loop {
            let driven = match ended {
                Some(end) => break end,
                None => self.drive_a_while(&mut reading).await,
            };
            match driven {
                Driven::Over(end) => break end,
                Driven::CrowdedOut(leave) => {
                    (reading, ended) = self.serve_apart(reading).await;
                    drop(leave);
                }
            }
        };
        trace::ended(&*self.link.stream, &self.link.endpoint, &end);
        if let End::Broken(error) = &end {
            trace::refused(&*self.link.stream, error);
        }
        if matches!(end, End::ShutDown | End::Idle(_)) {
            self.link
                .send_empty(MessageKind::CloseConnection, Version::V1_0);
        }
        self.link.finish(&end).await;
        drop(serving);
    }

    /// Reads and serves until the connection or the ORB ends, or a thread may do so better.
    ///
    /// One future, which what ends the connection otherwise is no part of until it is wanted: every layer costs every
    /// poll.
    fn drive_a_while<'a>(
        self: &'a Arc<Self>,
        reading: &mut Reading,
    ) -> impl Future<Output = Driven<'a>> + Send {
        let (policy, this) = (self.orb.wait_policy(), Arc::as_ptr(self).addr());
        let idle_timeout = self.orb.settings().idle_timeout;
        let workers = self.workers();
        let (mut known, mut few) = (Known::default(), Few::new(policy));
        let mut stays = Stays::default();
        let mut failed = None;
        let is_unused = |_| self.pending.load(Ordering::Acquire) == 0;
        let mut idle = idle_timeout.map(|_| Box::pin(self.link.idle(idle_timeout, is_unused)));
        poll_fn(move |cx| {
            self.link.outbound.driver.stay(cx.waker(), &mut stays);
            if self.orb.is_stopping() {
                if let Poll::Ready(end) = self.poll_drained(cx) {
                    return Poll::Ready(Driven::Over(end));
                }
            } else {
                let served = match self.poll_few(reading, &known, &mut few, cx) {
                    Some(served) => served,
                    None => self.link.poll_messages(
                        reading,
                        policy,
                        cx,
                        // A client that sends and does not read gets no further than this.
                        |cx| self.link.outbound.poll_room(cx).is_ready(),
                        // What is pending has something better to do with the thread.
                        |waiting| {
                            if self.pending.load(Ordering::Acquire) > 0 {
                                return false;
                            }
                            let alone = waiting.is_alone(self.orb.busy(), this);
                            waiting.has_company(alone);
                            alone
                        },
                        &mut (&mut known, &mut few),
                        |(known, few), reader| {
                            let served = self.serve_front(known, reader);
                            if served {
                                few.was_served(reader.is_idle());
                            }
                            served
                        },
                        |(known, few), message, behind| {
                            few.was_other();
                            self.handle(known, message, behind)
                        },
                    ),
                };
                if let Poll::Ready(end) = served {
                    return Poll::Ready(Driven::Over(end));
                }
                if reading.waiting.is_crowded_out()
                    && self.may_have_a_thread()
                    && let Some(leave) = self.orb.busy().leave_for_a_thread(workers)
                {
                    return Poll::Ready(Driven::CrowdedOut(leave));
                }
            }
            if self.link.outbound.failure().is_some() {
                let failed = failed.get_or_insert_with(|| Box::pin(self.link.failed()));
                if let Poll::Ready(end) = failed.as_mut().poll(cx) {
                    return Poll::Ready(Driven::Over(end));
                }
            }
            match &mut idle {
                None => Poll::Pending,
                Some(idle) => idle.as_mut().poll(cx).map(Driven::Over),
            }
        })
    }

    /// Reads no more; over when every upcall is done. The replies that are not out by then have
    /// until the end of [`Link::finish`]: a client that never reads must not keep the ORB alive.
    fn poll_drained(&self, cx: &mut Context<'_>) -> Poll<End> {
        if let Poll::Ready(Err(error)) = self.link.outbound.poll_unblock(&*self.link.stream, cx) {
            return Poll::Ready(End::Lost(error.to_string()));
        }
        if self.pending.load(Ordering::Acquire) == 0 {
            return Poll::Ready(End::ShutDown);
        }
        Poll::Pending
    }

    #[inline]
    fn handle(self: &Arc<Self>, known: &mut Known, message: Message, behind: Behind) -> Handled {
        if message.header.kind == MessageKind::Request {
            return match self.request(known, message, behind) {
                Ok(()) => Ok(()),
                Err(error) => Err(End::Broken(error)),
            };
        }
        self.handle_other(&message)
    }

    fn handle_other(self: &Arc<Self>, message: &Message) -> Handled {
        match message.header.kind {
            MessageKind::LocateRequest => self.locate(message).map_err(End::Broken),
            MessageKind::CancelRequest => {
                let id = message.cancelled_request().map_err(End::Broken)?;
                // A request that was answered already may have passed its id on to another.
                if let Some(given_up) = self.given_up().get_mut(&id) {
                    *given_up = true;
                }
                Ok(())
            }
            MessageKind::CloseConnection => Err(End::Closed),
            MessageKind::MessageError => Err(End::PeerRefuses),
            kind @ (MessageKind::Request
            | MessageKind::Reply
            | MessageKind::LocateReply
            | MessageKind::Fragment) => Err(End::Broken(ProtocolError::WrongDirection { kind })),
        }
    }

    fn given_up(&self) -> MutexGuard<'_, HashMap<u32, bool>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the driver: the ORB is shutting down.
    pub(crate) fn wake(&self) {
        self.link.outbound.driver.ring();
    }

    fn send(&self, outcome: Outcome) {
        if let Outcome::Reply(message) = outcome {
            self.link.queue(message);
        }
    }

    /// What was agreed on about text; a CodeSets context settles it for the connection.
    #[inline]
    fn code_sets(&self, known: &mut Known, header: &RequestHeader<'_>) -> Result<CodeSets, Fault> {
        let mut agreed = self
            .code_sets
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = header.contexts.get(ServiceContextId::CODE_SETS) {
            match (CodeSets::from_context(data), *agreed) {
                (Ok(Some(chosen)), Some(before)) if !before.may_become(chosen) => {
                    return Err(Fault::CodeSetsChanged);
                }
                // Who cannot know that it was heard says it again and again.
                (Ok(Some(chosen)), before) if before == Some(chosen) => {}
                (Ok(Some(chosen)), _) => {
                    *agreed = Some(chosen);
                    known.clear();
                }
                (Ok(None), _) => return Err(Fault::UnsupportedCodeSet),
                (Err(error), _) => return Err(Fault::Decode(error)),
            }
        }
        Ok(agreed.unwrap_or_else(|| self.orb.settings().unstated_code_sets()))
    }

    fn request(
        self: &Arc<Self>,
        known: &mut Known,
        message: Message,
        behind: Behind,
    ) -> Result<(), ProtocolError> {
        // Counted before anything is looked for.
        let changes = self.orb.adapters().changes();
        if message.is_cut_short() {
            return self.unknown_request(known, None, changes, message, behind);
        }
        if let Some(again) = known.like_last(&message, changes) {
            self.again(again, message, behind);
            return Ok(());
        }
        self.other_request(known, changes, message, behind)
    }

    /// A request that is not like the last one.
    fn other_request(
        self: &Arc<Self>,
        known: &mut Known,
        changes: u64,
        message: Message,
        behind: Behind,
    ) -> Result<(), ProtocolError> {
        let mark = RequestHead::mark(&message);
        match mark.and_then(|mark| known.find(mark, &message, changes)) {
            Some(again) => self.again(again, message, behind),
            None => return self.unknown_request(known, mark, changes, message, behind),
        }
        Ok(())
    }

    /// A request whose header has to be read, and whose object to be looked for.
    fn unknown_request(
        self: &Arc<Self>,
        known: &mut Known,
        mark: Option<u64>,
        changes: u64,
        message: Message,
        behind: Behind,
    ) -> Result<(), ProtocolError> {
        let header =
            RequestHeader::read(&message).map_err(|error| self.unreadable(&message, error))?;
        zorb_giop::probe!(HeaderRead);
        if self.link.outbound.max_fragment().is_none()
            && let Some(octets) = self.orb.max_fragment(needs_fragments(&header))
        {
            self.link.outbound.set_max_fragment(octets);
        }
        let code_sets = self.code_sets(known, &header);
        let format = code_sets
            .as_ref()
            .unwrap_or(&CodeSets::UNSTATED)
            .with_minor(message.header.version.minor);
        // What is behind a plain key is for more to say than the adapters.
        let is_adapters = match &header.target {
            zorb_giop::TargetAddress::Key(key) => is_reserved(key),
            _ => false,
        };
        let found = match &header.target {
            zorb_giop::TargetAddress::Key(key) => self.orb.find_for_peer(key),
            other => match other.object_key() {
                Some(key) => self.orb.find_for_peer(&key),
                None => Err(Missing::Adapter.raise()),
            },
        };
        let too_large = message.is_cut_short().then(|| self.too_large(&message));
        let places = Places::of(&header);
        // What is agreed on is what it says then, or it would have been refused; if something else is agreed on later,
        // nothing is known any more.
        let contexts = &header.contexts;
        let says_no_more =
            contexts.is_empty() || contexts.only(ServiceContextId::CODE_SETS).is_some();
        let may_come_again = is_adapters && says_no_more;
        drop(header);
        if let (Some(mark), Ok(Found::Object(object)), Ok(_)) = (mark, &found, &code_sets)
            && may_come_again
            && known.comes_again(mark)
        {
            known.remember(mark, &message, format, object, changes);
        }
        let context = Arc::clone(&self.orb) as Arc<dyn zorb_cdr::Context>;
        let request = Request::at(places, message, format, context);
        let found = match (too_large, code_sets) {
            (None, Ok(_)) => found,
            (Some(fault), _) | (None, Err(fault)) => Err(fault.raise(CompletionStatus::No)),
        };
        match found {
            Ok(Found::Object(object)) => self.found(object, request, behind),
            found => self.serve(found, request, None),
        }
        Ok(())
    }

    /// Serves a request whose object has been found.
    #[inline]
    fn found(self: &Arc<Self>, object: Arc<ActiveObject>, request: Request, behind: Behind) {
        if object.manager().state() == State::Active
            && request.receipt().response == ResponseFlags::WithTarget
            && self.check_pending(request.octets()).is_ok()
        {
            // As a rule: straight to the servant.
            self.dispatch(&object, request, None, behind);
        } else {
            self.serve(Ok(Found::Object(object)), request, None);
        }
    }

    /// The answer to a request of which only the first octets were kept.
    fn too_large(&self, message: &Message) -> Fault {
        let fault = Fault::MessageTooLarge {
            endpoint: self.link.stream.peer().to_string(),
            kind: message.header.kind,
            octets: message.octets(),
            limit: self.orb.limits().max_message_octets,
        };
        // Told aloud once: a client that goes on should not fill the log.
        if self.told_too_large.swap(true, Ordering::Relaxed) {
            tracing::debug!(%fault, "message too large");
        } else {
            tracing::warn!(%fault, "message too large; others on this connection are told at debug level");
        }
        fault
    }

    /// What is wrong with a request whose header cannot be read.
    fn unreadable(&self, message: &Message, error: ProtocolError) -> ProtocolError {
        if !message.is_cut_short() {
            return error;
        }
        ProtocolError::MessageTooLarge {
            octets: message.octets(),
            limit: self.orb.limits().max_message_octets,
        }
    }

    #[inline]
    fn check_pending(&self, octets: usize) -> Result<(), SystemException> {
        match self.pending.load(Ordering::Acquire) {
            0 => Ok(()),
            pending => self.check_all_pending(pending, octets),
        }
    }

    fn check_all_pending(&self, pending: usize, octets: usize) -> Result<(), SystemException> {
        if pending >= MAX_PENDING_UPCALLS {
            let overload = format!("{MAX_PENDING_UPCALLS} upcalls of this connection are pending");
            return Err(Fault::Overload(overload).raise(CompletionStatus::No));
        }
        let pending = self.pending_octets.load(Ordering::Relaxed);
        let limit = self.orb.limits().max_message_octets;
        if pending > 0 && pending.saturating_add(octets) > limit {
            let overload = format!("requests of {pending} octets are pending, of {limit} at most");
            return Err(Fault::Overload(overload).raise(CompletionStatus::No));
        }
        Ok(())
    }

    fn dispatch(
        self: &Arc<Self>,
        object: &ActiveObject,
        request: Request,
        pending: Option<Pending>,
        behind: Behind,
    ) {
        let receipt = request.receipt();
        let octets = request.octets();
        // The first poll is in place, with nobody to wake: a future that is not ready then is
        // polled again at once by its own task.
        let first = |request| run_in_place(&self.orb, || object.start(request), &receipt);
        let begun = match self.orb.lane().dispatch() {
            Dispatch::Pool(pool) => {
                let upcall = begin(object, request);
                let pending = pending.unwrap_or_else(|| Pending::new(self, receipt, octets));
                let job = async move {
                    let outcome = pending.connection.poll_on(upcall, receipt).await;
                    pending.finish(outcome);
                };
                if pool.try_submit(Priority::default(), Box::pin(job)).is_err() {
                    let overload = Fault::Overload("the worker pool's queue is full".to_owned());
                    self.send(receipt.system_exception(&overload.raise(CompletionStatus::No)));
                }
                return;
            }
            Dispatch::BlockInPlace => tokio::task::block_in_place(|| first(request)),
            _ => first(request),
        };
        match begun {
            Begun::Over(outcome) => match (pending, outcome) {
                (None, Outcome::Reply(mut reply)) => self.link.reply(&mut reply, behind),
                (None, Outcome::Silent) => {}
                (Some(pending), outcome) => pending.finish(outcome),
            },
            Begun::Waits(upcall) => {
                let pending = pending.unwrap_or_else(|| Pending::new(self, receipt, octets));
                self.run_on(upcall, receipt, pending);
            }
        }
    }

    /// Goes on with an upcall in a task of its own; the connection goes on reading meanwhile.
    fn run_on(&self, upcall: Upcall, receipt: Receipt, pending: Pending) {
        self.orb.track(async move {
            let outcome = pending.connection.poll_on(upcall, receipt).await;
            pending.finish(outcome);
        });
    }

    async fn poll_on(&self, mut upcall: Upcall, receipt: Receipt) -> Outcome {
        poll_fn(|cx| run_upcall_in_place(&self.orb, &mut upcall, cx, &receipt)).await
    }
}

/// Whether the client takes long messages in fragments only: see `Candidate::needs_fragments`.
fn needs_fragments(header: &RequestHeader<'_>) -> bool {
    header
        .contexts
        .get(ServiceContextId::RMI_CUSTOM_MAX_STREAM_FORMAT)
        .is_some()
}
