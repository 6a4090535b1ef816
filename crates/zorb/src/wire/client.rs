//! The client's end of a connection, shared by all references to one endpoint.

use super::cache::Connecting;
use super::link::{Blocked, End, Handled, Link, READS_PER_TURN, Reading, Taken, let_others_run};
use super::outbound::Ticket;
use super::profile::OmniOrb;
use super::right::{Held, Right};
use super::trace;
use super::waiting::{Busy, Tried, Waiting};
use crate::blocking;
use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::{Instant, Sleep};
use zorb_cdr::{EncodeError, EncodeErrorKind, Encoder, NativeEndian, WireFormat};
use zorb_executor::WaitPolicy;
use zorb_giop::codeset::CodeSets;
use zorb_giop::{
    CompletionStatus, Fault, LocateReply, LocateRequestHeader, Message, MessageKind, ProtocolError,
    Reader, ReplyHeader, RequestId, RequestTable, RequestTemplate, ResponseFlags, ServiceContext,
    SystemException, TargetAddress, Version, buffers, cancel_request,
};
use zorb_transport::{Connection, Endpoint};

/// Requests in flight on one connection. A peer with as many unanswered is overloaded or gone.
const MAX_IN_FLIGHT: usize = 16 << 10;

/// How often the driver looks whether a connection that the reactor looks away from is still in
/// use: a peer that closes it is noticed after twice this at the latest, or by the next call.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The same, at most, while somebody blocks for a reply that takes its time, and would notice the end itself; so long it
/// may take, too, when nobody calls any more after such a one.
const LOOK_AGAIN_LATER: Duration = Duration::from_secs(1);
/// How long the first of several one-way calls that leave together waits for the others.
const JOINED_FOR: Duration = Duration::from_millis(1);
/// How often whoever reads looks again for others before it leaves that to the driver.
const ROUNDS: usize = 8;

/// How a thread that blocks has led.
enum Led {
    /// What it waited for is here, or it waits no longer.
    Done,
    /// It has to sleep: somebody else reads.
    Asleep,
}

/// Whether who waits for a reply has it, or waits no more.
fn state_is_over(waiter: Option<&Waiter>) -> bool {
    waiter.is_none_or(|waiter| waiter.reply.is_some())
}

/// What a call wants of the server and of its wait.
pub(crate) struct How {
    /// Whether the server is to answer when the request has arrived, or when it has been carried out.
    pub(crate) response: ResponseFlags,
    /// Unless as the connection's.
    pub(crate) wait: Option<WaitPolicy>,
}

/// Encodes the arguments of a call.
pub(crate) type EncodeArguments<'a> =
    dyn Fn(&mut Encoder<NativeEndian>) -> Result<(), EncodeError> + Sync + 'a;

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
    pub(crate) message: Message,
    pub(crate) request_octets: usize,
}

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

#[derive(Default)]
struct Waiter {
    waker: Option<Waker>,
    /// Whether it is a thread that blocks, and reads as soon as it is woken.
    blocks: bool,
    reply: Option<Message>,
}

struct State {
    table: RequestTable<Waiter>,
    /// Set by [`ClientConnection::set_end`] only.
    end: Option<End>,
}

pub(crate) struct ClientConnection {
    link: Link,
    state: Mutex<State>,
    /// Whoever waits reads, within its own poll; the driver when several wait, or nobody.
    reading: Right<Reading>,
    /// Whether the reactor looks away, so that nobody is woken: see [`look_after`](Self::look_after).
    unwatched: AtomicBool,
    /// The driver, as what the reactor wakes.
    bell: Waker,
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
        let bell = Waker::from(Arc::clone(&link.outbound.driver));
        let reading = Reading {
            reader: Reader::new(how.limits).skip_too_large(),
            waiting: Waiting::new(how.wait_limit),
        };
        Self {
            link,
            reading: Right::new(reading, bell.clone()),
            unwatched: AtomicBool::new(false),
            bell,
            wait: how.wait,
            busy: Arc::clone(&how.busy),
            state: Mutex::new(State {
                table: RequestTable::new(true, MAX_IN_FLIGHT),
                end: None,
            }),
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
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        if !self.read(None, cx) && self.unwatched.load(Ordering::Acquire) {
            watch.later(self.link.messages_received(), cx);
        }
        None
    }

    /// Reads, unless somebody else does, who looks again then; says whether it did. For the driver, or for the caller
    /// of `mine`, who has written down its waker. If the connection comes to its end, everybody is told.
    fn read(&self, mine: Option<(RequestId, WaitPolicy)>, cx: &mut Context<'_>) -> bool {
        let mut held = self.reading.claim();
        for round in 0..ROUNDS {
            let Some(mut right) = held else {
                return round > 0;
            };
            if let Err(end) = right.with(|reading| self.read_a_turn(reading, mine, cx)) {
                // Before the right is let go: whoever has it next would find the end of the
                // stream behind the CloseConnection that we have taken.
                self.over(end);
                return true;
            }
            held = right.give_back();
        }
        // Others ask faster than we look; dropping the right wakes the driver.
        drop(held);
        self.leave_to_the_driver();
        true
    }

    /// Reads what there is, and has somebody woken by what comes next: the caller, if nobody else
    /// waits, or the driver. Only when nobody waits at all may the reactor go on looking away.
    fn read_a_turn(
        &self,
        reading: &mut Reading,
        mine: Option<(RequestId, WaitPolicy)>,
        cx: &mut Context<'_>,
    ) -> Result<(), End> {
        let bell = &mut Context::from_waker(&self.bell);
        let mut messages = 0;
        for _ in 0..READS_PER_TURN {
            let taken = self.link.take(
                &mut reading.reader,
                &mut messages,
                || Ok(true),
                |message| self.handle(message),
            )?;
            if taken == Taken::Turn {
                break;
            }
            let (waits, alone) = {
                let mut state = self.state();
                if state.end.is_some() {
                    return Ok(());
                }
                let waits = mine.is_some_and(|(id, _)| {
                    let waiter = state.table.get_mut(id);
                    waiter.is_some_and(|waiter| waiter.reply.is_none())
                });
                (waits, state.table.len() == usize::from(mine.is_some()))
            };
            if mine.is_some() && alone && !waits && reading.waiting.is_unwatched() {
                // Mine is here. The driver looks after the connection.
                return Ok(());
            }
            let leads = waits && alone && !self.link.outbound.is_blocked();
            let tried = match mine {
                Some((_, policy)) if leads && self.is_alone(reading) => {
                    self.link.try_read(reading, policy)
                }
                _ => Tried::Sleep,
            };
            match tried {
                Tried::Read(read) => {
                    self.link.has_come(read)?;
                    if reading.waiting.is_unwatched()
                        && !self.unwatched.swap(true, Ordering::AcqRel)
                    {
                        // It looks after the connection from now on.
                        self.link.outbound.driver.ring();
                    }
                }
                Tried::Yield => {
                    let_others_run(cx);
                    return Ok(());
                }
                Tried::Sleep => {
                    let read = if leads {
                        self.link.poll_read(reading, cx)
                    } else {
                        self.link.poll_read(reading, bell)
                    };
                    self.unwatched.store(false, Ordering::Release);
                    match read {
                        Poll::Ready(come) => come?,
                        Poll::Pending => {
                            if self.state().end.is_some() {
                                // The driver may have asked the reactor before us.
                                self.link.outbound.driver.ring();
                            }
                            return Ok(());
                        }
                    }
                }
            }
        }
        self.leave_to_the_driver();
        Ok(())
    }

    /// There is more to read: the driver does so at once, whether or not the reactor looks away.
    fn leave_to_the_driver(&self) {
        self.unwatched.store(false, Ordering::Release);
        self.link.outbound.driver.ring();
    }

    /// Whether nothing else of this ORB had anything to do lately.
    fn is_alone(&self, reading: &mut Reading) -> bool {
        (reading.waiting).is_alone(&self.busy, core::ptr::from_ref(self).addr())
    }

    /// Reads for everybody, blocking this thread, until the reply to `mine` is here, or `until`. If
    /// the connection comes to its end, everybody is told.
    fn lead(
        &self,
        mut right: Held<'_, Reading>,
        mine: (RequestId, WaitPolicy),
        cx: &mut Context<'_>,
        until: Option<std::time::Instant>,
    ) -> Led {
        loop {
            let led = match right.with(|reading| self.lead_a_while(reading, mine, cx, until)) {
                Ok(led) => led,
                Err(end) => {
                    // Before the right is let go, as above.
                    self.over(end);
                    return Led::Done;
                }
            };
            match right.give_back() {
                // Who asked is looked after when the lead is passed on.
                Some(again) => right = again,
                None => return led,
            }
        }
    }

    fn lead_a_while(
        &self,
        reading: &mut Reading,
        (id, policy): (RequestId, WaitPolicy),
        cx: &mut Context<'_>,
        until: Option<std::time::Instant>,
    ) -> Result<Led, End> {
        loop {
            let mut messages = 0;
            let reader = &mut reading.reader;
            let taken = self
                .link
                .take(reader, &mut messages, || Ok(true), |m| self.handle(m))?;
            let alone = {
                let mut state = self.state();
                let waiter = state.table.get_mut(id);
                if state_is_over(waiter.as_deref()) || state.end.is_some() {
                    return Ok(Led::Done);
                }
                state.table.len() == 1
            };
            let left =
                || until.map(|until| until.saturating_duration_since(std::time::Instant::now()));
            // Also while the peer goes on talking of something else.
            if left().is_some_and(|left| left.is_zero()) {
                return Ok(Led::Done);
            }
            if taken == Taken::Turn {
                // What is waited for may be here, and the peer has nothing more to say.
                continue;
            }
            if alone && self.is_alone(reading) {
                // A thread of our own owes nobody a turn.
                match self.link.try_read(reading, policy) {
                    Tried::Read(read) => {
                        self.link.has_come(read)?;
                        continue;
                    }
                    Tried::Yield => continue,
                    Tried::Sleep => {}
                }
            }
            let left = left();
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Led::Done);
            }
            if !self.unwatched.swap(true, Ordering::AcqRel) {
                // It looks after the connection when nobody leads any more.
                self.link.outbound.driver.ring();
            }
            match self.link.read_blocking(reading, left)? {
                Blocked::Read | Blocked::InVain => {}
                Blocked::Cannot => {
                    let read = self.link.poll_read(reading, cx);
                    self.unwatched.store(false, Ordering::Release);
                    match read {
                        Poll::Ready(come) => come?,
                        Poll::Pending => return Ok(Led::Asleep),
                    }
                }
            }
        }
    }

    /// Somebody who blocks needs the connection no more: another one reads from now on, if one
    /// waits.
    fn pass_on(&self) {
        let mut state = self.state();
        if state.table.is_empty() || state.end.is_some() {
            return;
        }
        let mut others = false;
        let next = state
            .table
            .waiting_mut()
            .filter(|waiter| waiter.reply.is_none())
            .find_map(|waiter| {
                others |= waiter.waker.is_some();
                waiter.waker.clone().filter(|_| waiter.blocks)
            });
        drop(state);
        match next {
            Some(next) => next.wake(),
            // They wait for the reactor to wake them.
            None if others => self.leave_to_the_driver(),
            None => {}
        }
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

    fn handle(&self, message: Message) -> Handled {
        let id = match message.header.kind {
            MessageKind::Reply => ReplyHeader::read(&message).map(|header| header.request_id),
            MessageKind::LocateReply => LocateReply::read(&message).map(|(id, _)| id),
            MessageKind::CloseConnection => return Err(End::Closed),
            MessageKind::MessageError => return Err(End::PeerRefuses),
            kind => Err(ProtocolError::WrongDirection { kind }),
        };
        let id = RequestId(id.map_err(End::Broken)?);
        // A LocateRequest carries no contexts, so its reply tells nothing.
        if message.header.kind == MessageKind::Reply && !self.announced.load(Ordering::Relaxed) {
            self.announced.store(true, Ordering::Relaxed);
        }
        let mut state = self.state();
        let Some(waiter) = state.table.get_mut(id) else {
            // A late reply to a call that was given up, or one to nobody: no harm either way.
            state.table.complete(id);
            return Ok(());
        };
        if waiter.reply.is_none() {
            waiter.reply = Some(message);
        }
        let waker = waiter.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Sends a request and waits for its reply.
    ///
    /// Dropping the future at any point is safe for the connection: what was begun is finished,
    /// the id stays out of use until its reply has come, and the server is told. `sent` is set
    /// once the request is on its way, whatever becomes of the future.
    pub(crate) async fn call(
        &self,
        requests: &RequestTemplate<NativeEndian>,
        operation: &str,
        arguments: &EncodeArguments<'_>,
        sent: &AtomicBool,
        how: How,
    ) -> Result<Answered, CallError> {
        self.room().await;
        let mut call = self.begin(requests.version(), how.wait)?;
        let message = self.request(requests, call.id.0, how.response, operation, arguments)?;
        sent.store(true, Ordering::Relaxed);
        let request_octets = message.len();
        call.send(message)
            .map_err(|error| self.suspect_size(error, request_octets))?;
        match poll_fn(|cx| call.poll_reply(cx)).await {
            Ok(message) => Ok(Answered {
                message,
                request_octets,
            }),
            Err(error) => Err(self.suspect_size(error, request_octets)),
        }
    }

    /// Adds to the loss of a connection to what is, or may be, omniORB what may have been the
    /// reason: it resets the connection over a request beyond its limit, and says MessageError in
    /// the middle of a reply.
    fn suspect_size(&self, error: CallError, octets: usize) -> CallError {
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
        let mut call = self.begin(version, None)?;
        let (e, id, key) = (self.encoder(version), call.id.0, key_of(target));
        let message = LocateRequestHeader::encode_for(e, version, id, &key, target)
            .map_err(|error| self.unsayable(error))?;
        call.send(message)?;
        poll_fn(|cx| call.poll_reply(cx)).await
    }

    /// Sends a one-way request; ready when all of it is handed to the transport
    /// (SYNC_WITH_TRANSPORT), or when it is queued, to leave together with others (`joined`, SYNC_NONE).
    /// `sent` as in [`call`](Self::call).
    pub(crate) async fn call_one_way(
        &self,
        requests: &RequestTemplate<NativeEndian>,
        operation: &str,
        arguments: &EncodeArguments<'_>,
        sent: &AtomicBool,
        joined: bool,
    ) -> Result<(), CallError> {
        // Nothing here need ever be waited for, and others want to run too.
        tokio::task::coop::consume_budget().await;
        self.room().await;
        // The id is used up and given back when the message is queued: nobody will answer it, but
        // the connection is in use until then.
        let id = {
            let mut state = self.state();
            self.check(&state)?;
            state.table.insert(Waiter::default()).map_err(full)?
        };
        let message = self.request(requests, id.0, ResponseFlags::None, operation, arguments);
        let queued = message.and_then(|message| {
            sent.store(true, Ordering::Relaxed);
            if joined {
                self.link.join(message);
                return Ok(None);
            }
            self.write(message).map(Some)
        });
        self.state().table.forget(id);
        let Some(ticket) = queued? else {
            return Ok(());
        };
        poll_fn(|cx| {
            if self.link.outbound.poll_written(ticket, cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            // Asked after parking: whoever ends the connection wakes the parked afterwards.
            match &self.state().end {
                Some(end) => Poll::Ready(Err(self.ended(end, ticket))),
                None => Poll::Pending,
            }
        })
        .await
    }

    async fn room(&self) {
        poll_fn(|cx| {
            // In this order, for the same reason.
            if self.link.outbound.poll_room(cx).is_ready() || self.is_over() {
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
    }

    fn begin(&self, version: Version, wait: Option<WaitPolicy>) -> Result<Call<'_>, CallError> {
        let mut state = self.state();
        self.check(&state)?;
        let id = state.table.insert(Waiter::default()).map_err(full)?;
        Ok(Call {
            connection: self,
            id,
            version,
            wait: wait.unwrap_or(self.wait),
            ticket: None,
            done: false,
        })
    }

    fn check(&self, state: &State) -> Result<(), CallError> {
        if let Some(end) = &state.end {
            return Err(CallError::NotSent(self.fault(end)));
        }
        match self.link.outbound.failure() {
            Some(cause) => Err(CallError::NotSent(self.lost(cause))),
            None => Ok(()),
        }
    }

    /// What the sender of a message without a reply is told when the connection is over.
    fn ended(&self, end: &End, ticket: Ticket) -> CallError {
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

    fn encoder(&self, version: Version) -> Encoder<NativeEndian> {
        if version >= Version::V1_2 && !self.spoke_1_2.load(Ordering::Relaxed) {
            self.spoke_1_2.store(true, Ordering::Relaxed);
        }
        Encoder::with_buffer(buffers::take(), self.format(version))
    }

    fn request(
        &self,
        requests: &RequestTemplate<NativeEndian>,
        request_id: u32,
        response: ResponseFlags,
        operation: &str,
        arguments: &EncodeArguments<'_>,
    ) -> Result<zorb_cdr::Gather, CallError> {
        // Told with every request until the first reply shows that one has arrived.
        let announced = self.contexts.is_empty() || self.announced.load(Ordering::Relaxed);
        let contexts = if announced { &[] } else { &*self.contexts };
        let e = self.encoder(requests.version());
        requests
            .encode(e, request_id, response, operation, contexts, arguments)
            .map_err(|error| self.unsayable(error))
    }

    /// What cannot be put into a request, and whose fault that is.
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
        let (ticket, flushed) = self.link.send(message);
        if let Err(error) = flushed {
            // Our message may have been whole before another's failed. The driver finds out what
            // becomes of those who wait.
            if self.link.outbound.is_surely_unsent(ticket) {
                return Err(CallError::NotSent(self.lost(&error.to_string())));
            }
        }
        Ok(ticket)
    }
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
struct Call<'a> {
    connection: &'a ClientConnection,
    id: RequestId,
    version: Version,
    wait: WaitPolicy,
    ticket: Option<Ticket>,
    done: bool,
}

impl Call<'_> {
    fn send(&mut self, message: zorb_cdr::Gather) -> Result<(), CallError> {
        self.ticket = Some(self.connection.write(message)?);
        Ok(())
    }

    fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, CallError>> {
        if let Poll::Ready(answered) = self.poll_answered(cx, false) {
            return Poll::Ready(answered);
        }
        if blocking::may_block() {
            return self.block(cx);
        }
        let connection = self.connection;
        connection.read(Some((self.id, self.wait)), cx);
        self.poll_answered(cx, false)
    }

    /// Blocks this thread until the reply is here, or the end: it reads, or another one does that
    /// passes the lead on when it has its own reply. Pending only when it may block no longer.
    fn block(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, CallError>> {
        let connection = self.connection;
        let until = blocking::until();
        // `cx` may wake nobody: what an upcall is polled with in its caller's place does not.
        let waker = blocking::waker();
        let own = &mut Context::from_waker(&waker);
        loop {
            if until.is_some_and(|until| until <= std::time::Instant::now()) {
                // From here on it is one that waits for a waker.
                let answered = self.poll_answered(cx, false);
                connection.pass_on();
                return answered;
            }
            let answered = self.poll_answered(own, true);
            if answered.is_ready() {
                connection.pass_on();
                return answered;
            }
            let led = match connection.reading.claim() {
                Some(right) => connection.lead(right, (self.id, self.wait), own, until),
                None => Led::Asleep,
            };
            match led {
                Led::Asleep => blocking::sleep(until),
                Led::Done => {}
            }
        }
    }

    /// Whether the reply is here, or the end; whoever finds either wakes us from now on.
    fn poll_answered(
        &mut self,
        cx: &mut Context<'_>,
        blocks: bool,
    ) -> Poll<Result<Message, CallError>> {
        let mut state = self.connection.state();
        if let Some(waiter) = state.table.get_mut(self.id) {
            waiter.blocks = blocks;
            match waiter.reply.take() {
                Some(reply) => {
                    state.table.complete(self.id);
                    self.done = true;
                    return Poll::Ready(Ok(reply));
                }
                None => match &mut waiter.waker {
                    Some(waker) => waker.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                },
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
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let mut state = self.connection.state();
        let Some(ticket) = self.ticket else {
            state.table.forget(self.id);
            return;
        };
        if state.table.abandon(self.id).is_none() {
            return;
        }
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

impl fmt::Debug for ClientConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConnection")
            .field("endpoint", &self.link.endpoint)
            .field("over", &self.is_over())
            .finish_non_exhaustive()
    }
}
