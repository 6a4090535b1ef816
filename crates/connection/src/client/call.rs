//! Two-way calls: encode, send, wait.

use super::super::blocking::{self, Calls};
use super::super::end::End;
use super::super::outbound::{Flush, Ticket};
use super::super::owner::PeerOrb;
use super::super::sync::{MutexGuard, Ordering};
use super::super::trace;
use super::{CallError, ClientConnection, OwnReply, State, Waiter};
use core::future::poll_fn;
use core::sync::atomic::AtomicBool;
use core::task::{Context, Poll, Waker};
use std::borrow::Cow;
use std::io;
use zorb_cdr::{EncodeError, EncodeErrorKind, Encoder, Lent, NativeEndian, WireFormat};
use zorb_executor::WaitPolicy;
use zorb_giop::{
    Cause, Fault, LocateReply, LocateRequestHeader, MessageKind, ProtocolError, ReplySlot,
    RequestId, RequestTemplate, ResponseFlags, ServiceContext, TargetAddress, Unanswered, Version,
    buffers, cancel_request,
};

/// The longest message that omniORB accepts by default, in octets.
const OMNIORB_MAX_MESSAGE_OCTETS: usize = 2 << 20;
const OMNIORB_LIMIT: &str = "2097152 octets, unless giopMaxMsgSize says otherwise";

/// The probable reason why omniORB refused a request of so many octets, or did not send its reply, as text for a message.
#[must_use]
pub fn refused_by_omniorb(octets: usize) -> String {
    if octets > OMNIORB_MAX_MESSAGE_OCTETS {
        too_large_for("omniORB", octets)
    } else {
        format!("omniORB sends no more than {OMNIORB_LIMIT}")
    }
}

fn too_large_for(peer: &str, octets: usize) -> String {
    format!("the request was of {octets} octets, and {peer} takes {OMNIORB_LIMIT}")
}

/// The arguments of a call, to be encoded into its request.
pub trait EncodeArguments: Sync {
    /// Encodes them.
    ///
    /// # Errors
    /// Values that cannot be expressed on the wire.
    fn encode(&self, encoder: &mut Encoder<NativeEndian>) -> Result<(), EncodeError>;

    /// Encodes them, but may leave out one run of octets, which is returned in `lent` and sent from the caller's memory. The
    /// provided method leaves out nothing.
    ///
    /// # Errors
    /// Values that cannot be expressed on the wire.
    fn encode_lent<'a>(
        &'a self,
        encoder: &mut Encoder<NativeEndian>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        let _ = lent;
        self.encode(encoder)
    }
}

/// A request to be sent on a connection.
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a request is made of all of these"
)]
pub struct ClientRequest<'a> {
    /// The part of the request header that all requests to the object share.
    pub template: &'a RequestTemplate<NativeEndian>,
    /// The name of the operation on the wire, such as `_get_owner` for an attribute.
    pub operation: &'a str,
    /// The `in` and `inout` arguments, which are encoded once the connection's code sets are known.
    pub arguments: &'a dyn EncodeArguments,
    /// The service contexts of the caller. The connection adds its own, such as the code sets.
    pub contexts: &'a [ServiceContext],
    /// Whether the server replies, and if so, on arrival of the request or after its execution.
    pub response: ResponseFlags,
    /// The wait policy of the caller; `None` for that of the connection.
    pub wait: Option<WaitPolicy>,
    /// A flag that the connection sets before the first octet of the request may leave; the servant may run from then on.
    pub sent: &'a AtomicBool,
    /// The length of the encoded request in octets, which the connection stores here.
    pub octets: &'a core::sync::atomic::AtomicUsize,
}

impl core::fmt::Debug for ClientRequest<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ClientRequest")
            .field("operation", &self.operation)
            .field("response", &self.response)
            .finish_non_exhaustive()
    }
}

impl ClientConnection {
    /// Sends a request and waits for its reply.
    ///
    /// # Errors
    /// [`CallError::Encode`] if the arguments cannot be encoded, [`CallError::Overload`] at the limit on requests in flight,
    /// [`CallError::NotSent`] or [`CallError::Lost`] if the connection ends before the reply.
    ///
    /// # Cancel safety
    /// Safe for the connection: a request that has begun is sent to its end, its id stays out of use until its reply has
    /// come, and the server gets CancelRequest.
    #[inline]
    pub async fn call(
        &self,
        request: &ClientRequest<'_>,
        reply: &mut ReplySlot,
    ) -> Result<(), CallError> {
        if !self.link.outbound.has_room() {
            self.wait_for_room().await;
        }
        let mut call = None;
        poll_fn(|cx| match &mut call {
            Some(call) => Call::poll_reply(call, reply, cx),
            None => self.begin_call(&mut call, request, reply, cx),
        })
        .await
    }

    /// Sends a request, and polls for its reply.
    #[inline]
    fn begin_call<'a>(
        &'a self,
        call: &mut Option<Call<'a>>,
        request: &ClientRequest<'_>,
        reply: &mut ReplySlot,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let calls = blocking::calls();
        let blocks = calls == Calls::Block;
        let waker = (!blocks).then(|| cx.waker());
        let version = request.template.version();
        let wait = match calls {
            // Its request has not left when a spin would begin.
            Calls::Together => Some(WaitPolicy::Park),
            Calls::Pend | Calls::Block => request.wait,
        };
        let begun = self.begin(MessageKind::Reply, version, wait, blocks, waker)?;
        let call = call.insert(begun);
        let mut lent = None;
        let mut e = self.encoder(version);
        self.encode(&mut e, call.id, request.response, request, &mut lent)?;
        request.sent.store(true, Ordering::Relaxed);
        let octets = e.position();
        request.octets.store(octets, Ordering::Relaxed);
        // A thread that blocks claims the lease before its request is sent, so that no other reader finds the reply.
        let lease = match blocks {
            true => self.waiters.reading.claim(),
            false => None,
        };
        match self.write_from(&mut e, lent, calls) {
            Ok(ticket) => call.ticket = Some(ticket),
            Err(error) => return Poll::Ready(Err(self.explain_loss(error, octets))),
        }
        call.octets = octets;
        match blocks {
            true => call.block(lease, reply, cx),
            false if call.parks && !self.link.outbound.is_blocked() => Poll::Pending,
            false => call.poll_read(reply, cx),
        }
    }

    /// Asks the server by a LocateRequest whether it has an object, or where the object is. The servant does not run.
    ///
    /// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (LocateRequest message).
    ///
    /// # Errors
    /// [`CallError::Overload`] at the limit on requests in flight, [`CallError::NotSent`] or [`CallError::Lost`] if the
    /// connection ends before the reply. The inner result is an error if the LocateReply is malformed.
    ///
    /// # Cancel safety
    /// Safe, for the reasons given at [`call`](Self::call).
    pub async fn locate(
        &self,
        version: Version,
        target: &TargetAddress<'_>,
    ) -> Result<Result<LocateReply, ProtocolError>, CallError> {
        self.wait_for_room().await;
        let blocks = blocking::may_block();
        let mut call = self.begin(MessageKind::LocateReply, version, None, blocks, None)?;
        let (e, id, key) = (self.encoder(version), call.id.0, key_of(target));
        let message = LocateRequestHeader::encode_for(e, version, id, &key, target)
            .map_err(|error| self.not_encoded(error))?;
        call.ticket = Some(self.is_sent(self.link.send(message))?);
        let mut reply = ReplySlot::new();
        poll_fn(|cx| Call::poll_reply(&mut call, &mut reply, cx)).await?;
        Ok(match reply.message() {
            Some(message) => LocateReply::read(message).map(|(_, reply)| reply),
            None => Err(ProtocolError::WrongDirection {
                kind: MessageKind::Reply,
            }),
        })
    }

    /// Ready when there is room for another request, or the connection has ended.
    #[inline]
    pub(super) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        // In this order: the end of the connection wakes the tasks that have parked before it.
        match self.link.outbound.poll_room(cx).is_ready() || self.is_over() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Takes a request id for a call that a message of the kind `awaited` answers. `waker`: that of a caller that does not
    /// block; it waits in the table from here on.
    #[inline]
    fn begin(
        &self,
        awaited: MessageKind,
        version: Version,
        wait: Option<WaitPolicy>,
        blocks: bool,
        waker: Option<&Waker>,
    ) -> Result<Call<'_>, CallError> {
        self.look_before_sending(blocks);
        let wait = wait.unwrap_or(self.wait);
        let mut state = self.state();
        self.check(&state)?;
        let id = match state.table.insert(Waiter::of(awaited, waker)) {
            Ok(id) => id,
            Err(full) => {
                drop(state);
                return Err(overload(full));
            }
        };
        let parks = waker.is_some() && self.relies_on_reactor(&state, id, wait);
        drop(state);
        Ok(Call {
            connection: self,
            id,
            awaited,
            version,
            wait,
            parks,
            ticket: None,
            octets: 0,
            heard: self.link.messages_received(),
            done: false,
        })
    }

    /// Whether a caller, whose waker is in the table, need not read: it does not spin, and the reactor watches the socket.
    #[inline]
    pub(super) fn relies_on_reactor(&self, state: &State, id: RequestId, wait: WaitPolicy) -> bool {
        if wait != WaitPolicy::Park || !state.life.is_open() {
            return false;
        }
        let leads = state.table.len() == 1 && !self.link.outbound.is_blocked();
        self.waiters.reading.rely_on_reactor(leads.then_some(id))
    }

    #[inline]
    pub(super) fn check(&self, state: &State) -> Result<(), CallError> {
        match state.life.is_open() && self.link.outbound.failure().is_none() {
            true => Ok(()),
            false => Err(self.unable(state)),
        }
    }

    /// Why nothing can be sent.
    #[cold]
    fn unable(&self, state: &State) -> CallError {
        CallError::NotSent(match (state.life.end(), self.link.outbound.failure()) {
            (Some(end), _) => self.fault(end),
            (None, Some(cause)) => self.lost(cause.clone()),
            (None, None) => self.lost(Cause::new("closed")),
        })
    }

    /// The error of a request without a reply, once the connection has ended.
    pub(super) fn ended(&self, end: &End, ticket: Ticket) -> CallError {
        let fault = self.fault(end);
        let unsent = match end.unanswered() {
            Unanswered::NotProcessed => true,
            Unanswered::Perhaps => false,
            Unanswered::PerhapsIfSent => self.link.outbound.is_surely_unsent(ticket),
        };
        match unsent {
            true => CallError::NotSent(fault),
            false => CallError::Lost(fault),
        }
    }

    fn lost(&self, cause: Cause) -> Fault {
        Fault::ConnectionLost {
            endpoint: self.endpoint.to_string(),
            hint: None,
            cause,
        }
    }

    fn fault(&self, end: &End) -> Fault {
        let endpoint = self.endpoint.to_string();
        match end {
            End::Closed | End::Idle(_) | End::Purged | End::Released | End::NoThread => {
                Fault::ConnectionClosed { endpoint }
            }
            End::ShutDown => Fault::OrbShutDown,
            End::Broken(error) => Fault::Protocol {
                endpoint,
                error: error.clone(),
            },
            End::Lost(cause) => self.lost(cause.clone()),
            End::Refused | End::Silent(_) => self.lost(Cause::new(end.to_string())),
        }
    }

    /// Adds the probable reason to the loss of a connection to a peer that is, or may be, omniORB: omniORB resets the
    /// connection if a request is beyond its limit, and sends MessageError in the middle of a reply.
    #[cold]
    pub(super) fn explain_loss(&self, error: CallError, octets: usize) -> CallError {
        let peer = match self.peer {
            PeerOrb::OmniOrb => "omniORB",
            PeerOrb::Unknown => "if the server is omniORB, it",
            PeerOrb::JacOrb | PeerOrb::GlassFish | PeerOrb::Other => return error,
        };
        let hint = if octets > OMNIORB_MAX_MESSAGE_OCTETS {
            too_large_for(peer, octets)
        } else if matches!(self.state().life.end(), Some(End::Refused)) {
            format!("{peer} ends the connection so over a reply of more than {OMNIORB_LIMIT}")
        } else {
            return error;
        };
        let explain = |fault| match fault {
            Fault::ConnectionLost {
                endpoint, cause, ..
            } => Fault::ConnectionLost {
                endpoint,
                hint: Some(hint),
                cause,
            },
            other => other,
        };
        match error {
            CallError::Lost(fault) => CallError::Lost(explain(fault)),
            CallError::NotSent(fault) => CallError::NotSent(explain(fault)),
            other => other,
        }
    }

    #[inline]
    pub(super) fn encoder(&self, version: Version) -> Encoder<NativeEndian> {
        if version >= Version::V1_2 && !self.spoke_1_2.load(Ordering::Relaxed) {
            self.spoke_1_2.store(true, Ordering::Relaxed);
        }
        self.last_used.store(self.uses.now(), Ordering::Relaxed);
        Encoder::with_buffer(buffers::take(), self.format(version))
    }

    /// Encodes a request. Octets of its arguments that are left out are returned in `lent`.
    #[inline]
    pub(super) fn encode<'a>(
        &self,
        e: &mut Encoder<NativeEndian>,
        id: RequestId,
        response: ResponseFlags,
        request: &ClientRequest<'a>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), CallError> {
        // Code sets are stated with every request until the first reply shows that a request has arrived.
        let announced = self.contexts.is_empty() || self.announced.load(Ordering::Relaxed);
        let all;
        let contexts = match (announced, request.contexts) {
            (true, contexts) => contexts,
            (false, []) => &*self.contexts,
            (false, contexts) => {
                all = [&*self.contexts, contexts].concat();
                &*all
            }
        };
        let arguments = |e: &mut Encoder<NativeEndian>| request.arguments.encode_lent(e, lent);
        let encoded =
            (request.template).encode_in(e, id.0, response, request.operation, contexts, arguments);
        encoded.map_err(|error| self.not_encoded(error))
    }

    #[cold]
    fn not_encoded(&self, error: EncodeError) -> CallError {
        CallError::Encode(match error.kind() {
            EncodeErrorKind::WideRefused => Fault::NoWideCodeSet {
                endpoint: self.endpoint.to_string(),
                stated: !self.contexts.is_empty(),
            },
            _ => Fault::Encode(error),
        })
    }

    /// Sends an encoded request with the octets that were left out of it. The encoder is used up.
    #[inline]
    pub(super) fn write_from(
        &self,
        e: &mut Encoder<NativeEndian>,
        lent: Option<Lent<'_>>,
        calls: Calls,
    ) -> Result<Ticket, CallError> {
        match trace::is_on() || lent.is_some() {
            true => self.write_lent(e, lent),
            false if calls == Calls::Together => Ok(self.link.queue_together(e.take())),
            false => self.is_sent(self.link.outbound.send(e.take(), &*self.link.stream)),
        }
    }

    #[cold]
    fn write_lent(
        &self,
        e: &mut Encoder<NativeEndian>,
        lent: Option<Lent<'_>>,
    ) -> Result<Ticket, CallError> {
        let outbound = &self.link.outbound;
        let message = match lent {
            None => e.take(),
            // A message that is fragmented or traced has to be whole.
            Some(lent) if outbound.max_fragment().is_some() || trace::is_on() => {
                e.take_lending(lent).into_whole()
            }
            Some(lent) => {
                let message = e.take_lending(lent);
                return self.is_sent(outbound.send_lent(message, &*self.link.stream));
            }
        };
        self.is_sent(self.link.send(message))
    }

    #[inline]
    fn is_sent(&self, (ticket, flushed): (Ticket, io::Result<Flush>)) -> Result<Ticket, CallError> {
        match flushed {
            // Checked, as this message may have been whole before another one failed. The driver finds that failure.
            Err(error) if self.link.outbound.is_surely_unsent(ticket) => {
                self.ends_unserved();
                let cause = self.link.outbound.failure_or(error);
                Err(CallError::NotSent(self.lost(cause)))
            }
            _ => Ok(ticket),
        }
    }
}

/// The object key, by which GIOP 1.0 and 1.1 address an object.
fn key_of<'a>(target: &TargetAddress<'a>) -> Cow<'a, [u8]> {
    match target {
        TargetAddress::Key(key) => Cow::Borrowed(*key),
        other => Cow::Owned(other.object_key().unwrap_or_default().to_vec()),
    }
}

#[cold]
fn overload(full: zorb_giop::TableFull) -> CallError {
    CallError::Overload(Fault::Overload(full.to_string()))
}

/// A request in flight. Dropping it cancels the request.
pub(super) struct Call<'a> {
    pub(super) connection: &'a ClientConnection,
    pub(super) id: RequestId,
    awaited: MessageKind,
    version: Version,
    pub(super) wait: WaitPolicy,
    /// The caller was parked before its request was sent.
    parks: bool,
    ticket: Option<Ticket>,
    octets: usize,
    /// Messages that had come on the connection when the call began.
    heard: u64,
    pub(super) done: bool,
}

impl Call<'_> {
    /// This call as the one that the reader reads for first.
    #[inline]
    pub(super) const fn own_reply<'r>(&self, reply: &'r mut ReplySlot) -> OwnReply<'r> {
        OwnReply::new(self.id, self.awaited, self.wait, reply)
    }

    /// Looks for a reply that another reader has put into the table, or for the end, and sets the caller's waker for both.
    pub(super) fn poll_table(
        &mut self,
        reply: &mut ReplySlot,
        waker: &Waker,
        blocks: bool,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.connection.state();
        match self.take_reply(&mut state, reply, waker, blocks) {
            true => Poll::Ready(Ok(())),
            false => self.poll_end(state),
        }
    }

    /// The error of a call without a reply, once the connection has ended.
    pub(super) fn poll_end(&mut self, state: MutexGuard<'_, State>) -> Poll<Result<(), CallError>> {
        match state.life.end().cloned() {
            Some(end) => {
                drop(state);
                let error = self.over(&end);
                let octets = self.octets;
                Poll::Ready(Err(self.connection.explain_loss(error, octets)))
            }
            None => Poll::Pending,
        }
    }

    /// Takes the reply from the table, if it is there; else sets the caller's waker.
    #[inline]
    pub(super) fn take_reply(
        &mut self,
        state: &mut State,
        reply: &mut ReplySlot,
        waker: &Waker,
        blocks: bool,
    ) -> bool {
        let Some(waiter) = state.table.get_mut(self.id) else {
            return false;
        };
        waiter.blocks = blocks;
        match waiter.reply.take() {
            Some(arrived) => {
                state.took(true);
                state.table.finish(self.id);
                self.done = true;
                arrived.move_to(reply);
                true
            }
            None => {
                waiter.set_waker(waker);
                false
            }
        }
    }

    /// The error of a call whose connection has ended.
    #[cold]
    fn over(&mut self, end: &End) -> CallError {
        self.done = true;
        match self.ticket {
            Some(ticket) => self.connection.ended(end, ticket),
            None => CallError::NotSent(self.connection.fault(end)),
        }
    }

    #[cold]
    fn cancel(&self) {
        let driver = &self.connection.link.outbound.driver;
        let mut state = self.connection.state();
        let Some(ticket) = self.ticket else {
            state.forget(self.id);
            drop(state);
            if self.connection.waiters.reading.resign(self.id) {
                driver.notify();
            }
            return;
        };
        let Some(waiter) = state.table.abandon(self.id) else {
            return;
        };
        let is_unanswered = waiter.reply.is_none();
        state.took(!is_unanswered);
        let is_open = state.life.is_open();
        drop(state);
        if is_unanswered && self.connection.link.messages_received() == self.heard {
            self.connection.doubt();
        }
        if self.connection.waiters.reading.resign(self.id) {
            driver.notify();
        }
        // Nothing follows the last message of a connection.
        if !is_open || !self.connection.peer.takes_cancels() {
            return;
        }
        // No further fragment of the request is written.
        self.connection.link.outbound.cancel(ticket);
        // CancelRequest is a hint, which the server may ignore; the connection does not depend on it.
        let encoder = Encoder::<NativeEndian>::with_buffer(buffers::take(), WireFormat::default());
        if let Ok(message) = cancel_request(encoder, self.version, self.id.0) {
            // The driver finds a failure.
            let _ = self.connection.link.send(message);
        }
    }
}

impl Drop for Call<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.done {
            self.cancel();
        }
    }
}
