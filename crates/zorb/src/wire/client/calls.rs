//! The calls on a connection.

use super::{Answered, Arrived, CallError, ClientConnection, EncodeArguments, How, State};
use crate::blocking;
use crate::wire::link::End;
use crate::wire::outbound::{Flush, Ticket};
use crate::wire::profile::OmniOrb;
use crate::wire::trace;
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::borrow::Cow;
use std::io;
use zorb_cdr::{EncodeError, EncodeErrorKind, Encoder, NativeEndian, WireFormat};
use zorb_executor::WaitPolicy;
use zorb_giop::{
    Fault, LocateRequestHeader, Message, RequestId, RequestTemplate, ResponseFlags, SmallReply,
    TargetAddress, Version, buffers, cancel_request,
};

/// What omniORB takes unless told otherwise.
const OMNIORB_MAX_MESSAGE_OCTETS: usize = 2 << 20;

const OMNIORB_LIMIT: &str = "2097152 octets, unless giopMaxMsgSize says otherwise";

/// Why omniORB refused to take a request of so many octets, or to send the reply to it.
pub(crate) fn refused_by_omniorb(octets: usize) -> String {
    if octets > OMNIORB_MAX_MESSAGE_OCTETS {
        too_large_for("omniORB", octets)
    } else {
        format!("omniORB sends no more than {OMNIORB_LIMIT}")
    }
}

fn too_large_for(whoever: &str, octets: usize) -> String {
    format!("the request was of {octets} octets, and {whoever} takes {OMNIORB_LIMIT}")
}

impl ClientConnection {
    /// Sends a request and waits for its reply, which is in `small` if it is a small one.
    ///
    /// Dropping the future at any point is safe for the connection: what was begun is finished,
    /// the id stays out of use until its reply has come, and the server is told. `sent` is set
    /// once the request is on its way, whatever becomes of the future.
    pub(crate) async fn call(
        &self,
        request: Request<'_>,
        sent: &AtomicBool,
        how: How,
        small: &mut SmallReply,
    ) -> Called {
        self.room().await;
        let mut calling = Calling::Not;
        let is_small = poll_fn(|cx| match &mut calling {
            calling @ Calling::Not => self.start(request, sent, &how, calling, small, cx),
            calling => calling.poll(small, cx),
        })
        .await;
        match calling.into_over() {
            Some(Ok(answered)) if !is_small => Called::Answered(answered),
            Some(Err(error)) if !is_small => Called::Failed(error),
            _ => Called::Small,
        }
    }

    /// Whether [`start`](Self::start) may be called now.
    pub(crate) fn has_room(&self) -> bool {
        self.link.outbound.has_room() || self.is_over()
    }

    /// Sends a request, for which `calling` is new; there has to be [room](Self::has_room) for it. Then as
    /// [`Calling::poll`], which is to be asked from then on.
    pub(crate) fn start<'a>(
        &'a self,
        (requests, operation, arguments): Request<'_>,
        sent: &AtomicBool,
        how: &How,
        calling: &mut Calling<'a>,
        small: &mut SmallReply,
        cx: &mut Context<'_>,
    ) -> Poll<bool> {
        let blocks = blocking::may_block();
        let waker = (!blocks).then(|| cx.waker());
        let call = match self.begin(requests.version(), how.wait, waker) {
            Ok(call) => call,
            Err(error) => return calling.fail(error),
        };
        // Where it stays. Until now it was not begun: nothing is there that is to be dropped, of which rustc does not know.
        debug_assert!(matches!(calling, Calling::Not), "it would not be given up");
        let begun = Calling::Sent(Started {
            call,
            request_octets: 0,
        });
        core::mem::forget(core::mem::replace(calling, begun));
        let Calling::Sent(started) = &mut *calling else {
            return Poll::Ready(false);
        };
        let mut e = self.encoder(requests.version());
        e.set_lending();
        if let Err(error) = self.encode(&mut e, requests, &started.call, how, operation, arguments)
        {
            return calling.fail(error);
        }
        zorb_giop::probe!(RequestSealed);
        sent.store(true, Ordering::Relaxed);
        started.request_octets = e.position();
        match self.write_from(&mut e, arguments) {
            Ok(ticket) => started.call.ticket = Some(ticket),
            Err(error) => {
                let error = self.suspect_size(error, started.request_octets);
                return calling.fail(error);
            }
        }
        match started.call.heard {
            Some(_) => Poll::Pending,
            None => calling.poll(small, cx),
        }
    }

    /// Adds to the loss of a connection to what is, or may be, omniORB what may have been the
    /// reason: it resets the connection over a request beyond its limit, and says MessageError in
    /// the middle of a reply.
    #[cold]
    pub(super) fn suspect_size(&self, error: CallError, octets: usize) -> CallError {
        let whoever = match self.omniorb {
            OmniOrb::Yes => "omniORB",
            OmniOrb::Perhaps => "if the server is omniORB, it",
            OmniOrb::No => return error,
        };
        let hint = if octets > OMNIORB_MAX_MESSAGE_OCTETS {
            too_large_for(whoever, octets)
        } else if matches!(self.state().end, Some(End::PeerRefuses)) {
            format!("{whoever} ends the connection so over a reply of more than {OMNIORB_LIMIT}")
        } else {
            return error;
        };
        let explain = |fault| match fault {
            Fault::ConnectionLost { endpoint, cause } => Fault::ConnectionLost {
                endpoint,
                cause: format!("{cause}; {hint}"),
            },
            other => other,
        };
        match error {
            CallError::Lost(fault) => CallError::Lost(explain(fault)),
            CallError::NotSent(fault) => CallError::NotSent(explain(fault)),
            other => other,
        }
    }

    /// Asks where an object is.
    pub(crate) async fn locate(
        &self,
        version: Version,
        target: &TargetAddress<'_>,
    ) -> Result<Message, CallError> {
        self.room().await;
        let mut call = self.begin(version, None, None)?;
        let (e, id, key) = (self.encoder(version), call.id.0, key_of(target));
        let message = LocateRequestHeader::encode_for(e, version, id, &key, target)
            .map_err(|error| self.unsayable(error))?;
        call.ticket = Some(self.write(message)?);
        let arrived = poll_fn(|cx| call.poll_reply(cx)).await?;
        Ok(arrived.message)
    }

    pub(super) async fn room(&self) {
        poll_fn(|cx| {
            // In this order, for the same reason.
            if self.link.outbound.poll_room(cx).is_ready() || self.is_over() {
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
    }

    /// `waker`: whom to wake when the reactor says something, if it listens already; nobody for who blocks.
    #[inline(always)]
    pub(super) fn begin(
        &self,
        version: Version,
        wait: Option<WaitPolicy>,
        waker: Option<&Waker>,
    ) -> Result<Call<'_>, CallError> {
        let wait = wait.unwrap_or(self.wait);
        let mut state = self.ear.bare_state();
        self.check(&state)?;
        let waker = waker.filter(|_| wait == WaitPolicy::Park);
        let is_blocked = || self.link.outbound.is_blocked();
        let begun = (self.ear.begin(&mut state, waker, is_blocked)).map_err(full)?;
        drop(state);
        Ok(Call {
            connection: self,
            id: begun.id,
            version,
            wait,
            ticket: None,
            heard: begun.heard,
            done: false,
        })
    }

    #[inline(always)]
    pub(super) fn check(&self, state: &State) -> Result<(), CallError> {
        match state.end.is_none() && self.link.outbound.failure().is_none() {
            true => Ok(()),
            false => Err(self.unable(state)),
        }
    }

    /// Why nothing can be sent.
    #[cold]
    fn unable(&self, state: &State) -> CallError {
        CallError::NotSent(match (&state.end, self.link.outbound.failure()) {
            (Some(end), _) => self.fault(end),
            (None, cause) => self.lost(cause.unwrap_or_default()),
        })
    }

    /// What the sender of a message without a reply is told when the connection is over.
    pub(super) fn ended(&self, end: &End, ticket: Ticket) -> CallError {
        let fault = self.fault(end);
        let unsent = match end {
            // What has no reply was not processed, whole or not. Nobody closes an idle connection
            // that has something to say.
            End::Closed | End::Idle(_) => true,
            // What was queued is written before the peer is told.
            End::Broken(_) | End::ShutDown => false,
            End::Lost(_) | End::PeerRefuses => self.link.outbound.is_surely_unsent(ticket),
        };
        if unsent {
            CallError::NotSent(fault)
        } else {
            CallError::Lost(fault)
        }
    }

    fn lost(&self, cause: &str) -> Fault {
        Fault::ConnectionLost {
            endpoint: self.link.endpoint.to_string(),
            cause: cause.to_owned(),
        }
    }

    fn fault(&self, end: &End) -> Fault {
        let endpoint = self.link.endpoint.to_string();
        match end {
            End::Closed | End::Idle(_) => Fault::ConnectionClosed { endpoint },
            End::ShutDown => Fault::OrbShutDown,
            End::Broken(error) => Fault::Protocol {
                endpoint,
                error: error.clone(),
            },
            End::Lost(_) | End::PeerRefuses => Fault::ConnectionLost {
                endpoint,
                cause: end.to_string(),
            },
        }
    }

    #[inline(always)]
    pub(super) fn encoder(&self, version: Version) -> Encoder<NativeEndian> {
        if version >= Version::V1_2 && !self.spoke_1_2.load(Ordering::Relaxed) {
            self.spoke_1_2.store(true, Ordering::Relaxed);
        }
        Encoder::with_buffer(buffers::take(), self.format(version))
    }

    /// Writes a request into `e`. It may lack what `arguments` lend.
    #[inline(always)]
    pub(super) fn encode(
        &self,
        e: &mut Encoder<NativeEndian>,
        requests: &RequestTemplate<NativeEndian>,
        call: &Call<'_>,
        how: &How,
        operation: &str,
        arguments: &dyn EncodeArguments,
    ) -> Result<(), CallError> {
        self.encode_as(e, call.id, how.response, (requests, operation, arguments))
    }

    #[inline(always)]
    pub(super) fn encode_as(
        &self,
        e: &mut Encoder<NativeEndian>,
        id: RequestId,
        response: ResponseFlags,
        (requests, operation, arguments): Request<'_>,
    ) -> Result<(), CallError> {
        // Told with every request until the first reply shows that one has arrived.
        let announced = self.contexts.is_empty() || self.announced.load(Ordering::Relaxed);
        let contexts = if announced { &[] } else { &*self.contexts };
        let arguments = |e: &mut Encoder<NativeEndian>| arguments.encode(e);
        requests
            .encode_in(e, id.0, response, operation, contexts, arguments)
            .map_err(|error| self.unsayable(error))
    }

    /// What cannot be put into a request, and whose fault that is.
    #[cold]
    fn unsayable(&self, error: EncodeError) -> CallError {
        CallError::Encode(match error.kind() {
            EncodeErrorKind::WideRefused => Fault::NoWideCodeSet {
                endpoint: self.link.endpoint.to_string(),
                stated: !self.contexts.is_empty(),
            },
            _ => Fault::Encode(error),
        })
    }

    fn write(&self, message: zorb_cdr::Gather) -> Result<Ticket, CallError> {
        self.is_sent(self.link.send(message))
    }

    /// The same, of a request that `e` has written, and that may lack what its arguments lend. The encoder is used up then.
    #[inline(always)]
    pub(super) fn write_from(
        &self,
        e: &mut Encoder<NativeEndian>,
        arguments: &dyn EncodeArguments,
    ) -> Result<Ticket, CallError> {
        match trace::is_on() || e.is_lent() {
            true => self.write_with(e.take(), arguments),
            false => self.is_sent(self.link.outbound.send_from(e, &*self.link.stream)),
        }
    }

    #[cold]
    fn write_with(
        &self,
        message: zorb_cdr::Gather,
        arguments: &dyn EncodeArguments,
    ) -> Result<Ticket, CallError> {
        match message.is_lent() {
            true => self.write_lent(message, arguments),
            false => self.write(message),
        }
    }

    fn write_lent(
        &self,
        mut message: zorb_cdr::Gather,
        arguments: &dyn EncodeArguments,
    ) -> Result<Ticket, CallError> {
        // What is cut or shown has to be there as a whole.
        if self.link.outbound.max_fragment().is_none()
            && !trace::is_on()
            && let Some(lent) = arguments.lent()
            && message.lacks(lent)
        {
            return self.is_sent(
                self.link
                    .outbound
                    .send_lent(message, lent, &*self.link.stream),
            );
        }
        settle(&mut message, arguments)?;
        self.write(message)
    }

    #[inline]
    fn is_sent(&self, (ticket, flushed): (Ticket, io::Result<Flush>)) -> Result<Ticket, CallError> {
        match flushed {
            Ok(_) => Ok(ticket),
            Err(error) => self.is_sent_after(ticket, &error),
        }
    }

    #[cold]
    fn is_sent_after(&self, ticket: Ticket, error: &io::Error) -> Result<Ticket, CallError> {
        // Our message may have been whole before another's failed. The driver finds out what
        // becomes of those who wait.
        if self.link.outbound.is_surely_unsent(ticket) {
            return Err(CallError::NotSent(self.lost(&error.to_string())));
        }
        Ok(ticket)
    }
}

/// Copies into a message what its arguments lend.
pub(super) fn settle(
    message: &mut zorb_cdr::Gather,
    arguments: &dyn EncodeArguments,
) -> Result<(), CallError> {
    if !message.is_lent() || arguments.lent().is_some_and(|lent| message.settle(lent)) {
        return Ok(());
    }
    let moved = EncodeErrorKind::Expected("octets that stay where they are");
    Err(CallError::Encode(Fault::Encode(moved.into())))
}

/// What GIOP 1.0 and 1.1 address an object by.
fn key_of<'a>(target: &TargetAddress<'a>) -> Cow<'a, [u8]> {
    match target {
        TargetAddress::Key(key) => Cow::Borrowed(*key),
        other => Cow::Owned(other.object_key().unwrap_or_default().to_vec()),
    }
}

#[cold]
fn full(full: zorb_giop::TableFull) -> CallError {
    CallError::Overload(Fault::Overload(full.to_string()))
}

/// A request in flight; giving it up is told to the table and the server.
pub(super) struct Call<'a> {
    pub(super) connection: &'a ClientConnection,
    pub(super) id: RequestId,
    version: Version,
    pub(super) wait: WaitPolicy,
    pub(super) ticket: Option<Ticket>,
    /// How often the reactor had told of something when it began, if it listened, and knows whom to wake.
    pub(super) heard: Option<u32>,
    pub(super) done: bool,
}

/// A request that has been sent, and how long it was.
pub(crate) struct Started<'a> {
    call: Call<'a>,
    request_octets: usize,
}

/// What a request is made of: the beginning of all to its object, the operation, the arguments.
pub(crate) type Request<'a> = (
    &'a RequestTemplate<NativeEndian>,
    &'a str,
    &'a dyn EncodeArguments,
);

/// A call from one poll to the next. What it comes to stays here, and is not handed from one function to the next, but for
/// the usual reply.
#[derive(Default)]
pub(crate) enum Calling<'a> {
    /// Not begun.
    #[default]
    Not,
    /// Sent, or about to be.
    Sent(Started<'a>),
    /// Over: with a reply that is not a small one, or with none.
    Over(Result<Answered, CallError>),
}

/// What a call has come to.
pub(crate) enum Called {
    /// A small reply, which is in its place.
    Small,
    /// Any other reply.
    Answered(Answered),
    /// No reply.
    Failed(CallError),
}

impl Calling<'_> {
    /// Ready when the call is over: whether with a small reply, which is in its place.
    pub(crate) fn poll(&mut self, small: &mut SmallReply, cx: &mut Context<'_>) -> Poll<bool> {
        let Self::Sent(started) = self else {
            return Poll::Ready(false);
        };
        match started.call.poll_heard(small, cx) {
            Poll::Ready(None) => Poll::Ready(true),
            Poll::Ready(Some(heard)) => {
                let over = started.over(heard);
                *self = Self::Over(over);
                Poll::Ready(false)
            }
            Poll::Pending => Poll::Pending,
        }
    }

    #[cold]
    fn fail(&mut self, error: CallError) -> Poll<bool> {
        *self = Self::Over(Err(error));
        Poll::Ready(false)
    }

    /// What it has come to, unless that is a small reply, or nothing.
    pub(crate) fn into_over(self) -> Option<Result<Answered, CallError>> {
        match self {
            Self::Over(over) => Some(over),
            Self::Not | Self::Sent(_) => None,
        }
    }
}

impl Started<'_> {
    fn over(&self, heard: Result<Arrived, CallError>) -> Result<Answered, CallError> {
        let request_octets = self.request_octets;
        match heard {
            Ok(arrived) => Ok(Answered {
                arrived,
                request_octets,
            }),
            Err(error) => Err((self.call.connection).suspect_size(error, request_octets)),
        }
    }
}

impl<'a> Call<'a> {
    /// One that blocks, and that was sent without being in the table.
    pub(super) const fn lone(
        connection: &'a ClientConnection,
        id: RequestId,
        version: Version,
        wait: WaitPolicy,
        ticket: Ticket,
    ) -> Self {
        Self {
            connection,
            id,
            version,
            wait,
            ticket: Some(ticket),
            heard: None,
            done: false,
        }
    }
}

impl Call<'_> {
    /// Whether the reply is here, or the end; whoever finds either wakes us from now on.
    pub(super) fn poll_answered(
        &mut self,
        cx: &mut Context<'_>,
        blocks: bool,
    ) -> Poll<Result<Arrived, CallError>> {
        let mut guard = self.connection.state();
        let state = &mut *guard;
        if let Some(waiter) = state.table.get_mut(self.id) {
            waiter.blocks = blocks;
            match waiter.reply.take() {
                Some(reply) => {
                    state.untaken -= 1;
                    state.table.finish(self.id);
                    self.done = true;
                    return Poll::Ready(Ok(reply));
                }
                None => waiter.wakes(cx.waker()),
            }
        }
        let Some(end) = &state.end else {
            return Poll::Pending;
        };
        self.done = true;
        Poll::Ready(Err(match self.ticket {
            Some(ticket) => self.connection.ended(end, ticket),
            None => CallError::NotSent(self.connection.fault(end)),
        }))
    }
}

impl Drop for Call<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.done {
            self.give_up();
        }
    }
}

impl Call<'_> {
    #[cold]
    fn give_up(&self) {
        let mut state = self.connection.state();
        let Some(ticket) = self.ticket else {
            state.forget(self.id);
            drop(state);
            if self.heard.is_some() {
                // As below.
                self.connection.link.outbound.driver.ring();
            }
            return;
        };
        let Some(waiter) = state.table.abandon(self.id) else {
            return;
        };
        state.untaken -= usize::from(waiter.reply.is_some());
        drop(state);
        // The reactor may know nobody but us.
        self.connection.link.outbound.driver.ring();
        if !self.connection.omniorb.takes_cancels() {
            return;
        }
        // Of a request in fragments nothing more goes out.
        self.connection.link.outbound.give_up(ticket);
        // A hint that may go unheard; the connection does not depend on it.
        let encoder = Encoder::<NativeEndian>::with_buffer(buffers::take(), WireFormat::default());
        if let Ok(message) = cancel_request(encoder, self.version, self.id.0) {
            // A failure is the driver's business.
            let _ = self.connection.link.send(message);
        }
    }
}
