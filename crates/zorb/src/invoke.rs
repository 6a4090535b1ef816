//! The way of one call: bind, send, wait, follow forwards, decode.

use crate::keys::Found;
use crate::object::{Binding, ObjectRef, Target, may_resend};
use crate::orb::OrbInner;
use crate::wire::{
    Answered, CallError, ClientConnection, begin, locate_reply, refused_by_omniorb, released,
    run_upcall_in_place,
};
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use tokio::sync::oneshot;
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError,
    Encoder, Endian, LittleEndian, NativeEndian, WireFormat,
};
use zorb_giop::{
    CompletionStatus, Fault, Ior, LocateReply, Message, MessageKind, OperationError, ProtocolError,
    ReplyHeader, ReplyStatus, RequestBuilder, ResponseFlags, ServiceContextId, SystemException,
    SystemExceptionKind, Version, buffers, exception_detail, minor,
};
use zorb_poa::{Missing, Outcome, Receipt, Request, State, Upcall};

/// Forwards that one call follows. Servers that send a client in circles exist.
const MAX_FORWARDS: usize = 10;
/// Times that one call is sent again because the connection ended before it could start.
const MAX_RESENDS: usize = 2;

/// What a stub knows of an operation.
#[derive(Debug)]
pub struct Operation {
    name: &'static str,
    one_way: bool,
}

impl Operation {
    /// An operation with a reply.
    #[must_use]
    pub const fn two_way(name: &'static str) -> Self {
        Self {
            name,
            one_way: false,
        }
    }

    /// An operation without.
    #[must_use]
    pub const fn one_way(name: &'static str) -> Self {
        Self {
            name,
            one_way: true,
        }
    }

    /// Its name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

type Arguments<'a> = dyn Fn(&mut Encoder<NativeEndian>) -> Result<(), EncodeError> + Sync + 'a;

/// A reply that has come: the message and how its text is to be read.
struct Reply {
    message: Message,
    format: WireFormat,
    status: ReplyStatus,
    body: usize,
}

impl ObjectRef {
    /// Calls an operation and waits for its result. For generated stubs.
    ///
    /// # Errors
    /// Whatever the operation raises, or the ORB on its behalf.
    ///
    /// # Cancel safety
    /// Safe for the connection: what was begun is finished, and the server is told
    /// (CancelRequest). Whether the operation was carried out is not known then.
    #[doc(hidden)]
    pub async fn invoke<A, R, E>(&self, operation: &Operation, arguments: A) -> Result<R, E>
    where
        A: Encode + Send + Sync,
        R: for<'de> Decode<'de>,
        E: OperationError,
    {
        debug_assert!(!operation.one_way, "one-way operations have no result");
        let reply = self
            .request(operation.name, &|e: &mut Encoder<NativeEndian>| {
                self.relabel(e);
                e.put(&arguments)
            })
            .await
            .map_err(|exception| E::from(exception.received()))?;
        match reply.message.header.endian {
            Endian::Big => self.result::<BigEndian, R, E>(&reply),
            Endian::Little => self.result::<LittleEndian, R, E>(&reply),
        }
    }

    /// Calls a one-way operation; ready when the request is handed to the transport
    /// (SYNC_WITH_TRANSPORT). For generated stubs.
    ///
    /// # Errors
    /// What went wrong up to there; what happens at the server is never told.
    ///
    /// # Cancel safety
    /// Safe for the connection; whether the request was sent is not known then.
    #[doc(hidden)]
    pub async fn invoke_oneway<A>(
        &self,
        operation: &Operation,
        arguments: A,
    ) -> Result<(), SystemException>
    where
        A: Encode + Send + Sync,
    {
        self.request_one_way(operation.name, &|e: &mut Encoder<NativeEndian>| {
            self.relabel(e);
            e.put(&arguments)
        })
        .await
        .map_err(SystemException::received)
    }

    /// Writes text as the reference says that its server really reads it.
    fn relabel<O: ByteOrder>(&self, e: &mut Encoder<O>) {
        if let Some(char_set) = self.char_code_set() {
            e.set_char_set(char_set);
        }
    }

    fn result<O: ByteOrder, R, E>(&self, reply: &Reply) -> Result<R, E>
    where
        R: for<'de> Decode<'de>,
        E: OperationError,
    {
        // A status has been read, so the operation was carried out.
        let marshal = |error: DecodeError| {
            let fault = match error.kind() {
                DecodeErrorKind::WideInGiop1_0 => Fault::WideResultInGiop1_0,
                _ => Fault::Decode(error),
            };
            E::from(fault.raise(CompletionStatus::Yes).received())
        };
        let mut d = Decoder::<O>::at(&reply.message.frame, reply.body, reply.format)
            .map_err(marshal)?
            .with_context(&**self.orb().inner());
        match reply.status {
            ReplyStatus::NoException => d.get().map_err(marshal),
            ReplyStatus::UserException => {
                let id = d.read_raw_string().map_err(marshal)?;
                match E::decode_user(id, &mut d) {
                    Some(Ok(exception)) => Err(exception),
                    Some(Err(error)) => Err(marshal(error)),
                    None => {
                        let id = String::from_utf8_lossy(id).into_owned();
                        let unlisted = Fault::UnlistedException(id).raise(CompletionStatus::Yes);
                        Err(E::from(unlisted.received()))
                    }
                }
            }
            // `request` has dealt with everything else.
            _ => Err(E::from(SystemException::new(
                SystemExceptionKind::Internal,
                0,
                CompletionStatus::Maybe,
            ))),
        }
    }

    async fn request(
        &self,
        operation: &str,
        arguments: &Arguments<'_>,
    ) -> Result<Reply, SystemException> {
        let sent = AtomicBool::new(false);
        self.within_limit(&sent, self.request_until_done(operation, arguments, &sent))
            .await
    }

    /// Holds everything that a call does to its time limit: resolving, connecting, waiting for
    /// room, forwards, and sending again. `sent`: whether a request is on its way to the servant,
    /// which decides what the exception says of its completion.
    async fn within_limit<T>(
        &self,
        sent: &AtomicBool,
        calling: impl Future<Output = Result<T, SystemException>>,
    ) -> Result<T, SystemException> {
        let Some(limit) = self.round_trip_timeout() else {
            return calling.await;
        };
        let sleep = {
            // Callers may be outside any runtime; the ORB's has the clock then. It may be gone
            // too, but then the call is over at its first poll, before anybody looks at the clock.
            let home = self.home();
            let _runtime = home.enter();
            tokio::time::sleep(limit)
        };
        tokio::select! {
            biased;
            result = calling => result,
            () = sleep => {
                let endpoint = self.whereabouts();
                Err(if sent.load(Ordering::Relaxed) {
                    Fault::Timeout { endpoint, limit }.raise(CompletionStatus::Maybe)
                } else {
                    Fault::SendTimeout { endpoint, limit }.raise(CompletionStatus::No)
                })
            }
        }
    }

    async fn request_until_done(
        &self,
        operation: &str,
        arguments: &Arguments<'_>,
        sent: &AtomicBool,
    ) -> Result<Reply, SystemException> {
        let mut binding = self.binding().await?;
        let mut forwards = 0;
        let mut resends = 0;
        let mut fell_back = false;
        let mut readdressed = 0;
        loop {
            let called = match &binding.target {
                Target::Remote(connection) => {
                    connection
                        .call(
                            binding.version,
                            &binding.address(),
                            operation,
                            arguments,
                            sent,
                        )
                        .await
                }
                Target::Local => {
                    let orb = self.orb().inner();
                    call_local(orb, &binding, operation, arguments, true, sent)
                        .await
                        .map(|message| message.ok_or(()))
                        .and_then(|message| {
                            message.map_err(|()| CallError::Lost(Fault::OrbShutDown))
                        })
                        .map(|message| Answered {
                            message,
                            request_octets: 0,
                        })
                }
            };
            // Whatever goes on from here does so because the servant was not reached.
            sent.store(false, Ordering::Relaxed);
            let failed = match called {
                Ok(answered) => match self.read_reply(answered.message, &binding)? {
                    Answer::Reply(reply) => return Ok(reply),
                    Answer::Forward(ior) => {
                        forwards += 1;
                        if forwards > MAX_FORWARDS {
                            return Err(Fault::TooManyForwards {
                                limit: MAX_FORWARDS,
                            }
                            .raise(CompletionStatus::No));
                        }
                        match self.bind_forward(&ior).await {
                            Ok(forwarded) => {
                                binding = forwarded;
                                readdressed = 0;
                                continue;
                            }
                            // Whoever sent us there may know better by now.
                            Err(dead_end) if !fell_back && is_worth_asking_anew(&dead_end) => {
                                fell_back = true;
                                self.unbind(&binding);
                                binding = self.binding().await?;
                                continue;
                            }
                            Err(dead_end) => return Err(dead_end),
                        }
                    }
                    Answer::Readdress(wanted) => {
                        binding = self
                            .readdress(&binding, wanted, &mut readdressed)
                            .map_err(|error| self.broken(error, CompletionStatus::No))?;
                        continue;
                    }
                    Answer::Exception(exception) => {
                        explain_size(exception, answered.request_octets)
                    }
                },
                Err(error) => {
                    self.unbind(&binding);
                    if may_resend(&error) && resends < MAX_RESENDS {
                        resends += 1;
                        // A forwarded location that is gone is asked for anew where it was told.
                        binding = self.binding().await?;
                        continue;
                    }
                    error.raise()
                }
            };
            // The place a forward led to has failed before anything was done: ask once more
            // where the reference itself says.
            if binding.forwarded && !fell_back && is_worth_asking_anew(&failed) {
                fell_back = true;
                self.unbind(&binding);
                binding = self.binding().await?;
                continue;
            }
            return Err(failed);
        }
    }

    /// The server broke the protocol.
    fn broken(&self, error: ProtocolError, completed: CompletionStatus) -> SystemException {
        let endpoint = self.whereabouts();
        Fault::Protocol { endpoint, error }.raise(completed)
    }

    fn read_reply(&self, message: Message, binding: &Binding) -> Result<Answer, SystemException> {
        // What kind of reply it was is not known, so neither is what happened.
        let lost = |error| self.broken(error, CompletionStatus::Maybe);
        let kind = message.header.kind;
        if kind != MessageKind::Reply {
            return Err(lost(ProtocolError::WrongDirection { kind }));
        }
        let header = ReplyHeader::read(&message).map_err(lost)?;
        let (status, body) = (header.status, header.body);
        if message.is_cut_short() {
            let fault = Fault::MessageTooLarge {
                endpoint: self.whereabouts(),
                kind,
                octets: message.octets(),
                limit: self.orb().inner().limits().max_message_octets,
            };
            return Err(fault.raise(match status {
                ReplyStatus::NoException | ReplyStatus::UserException => CompletionStatus::Yes,
                _ => CompletionStatus::Maybe,
            }));
        }
        let explained = match status {
            ReplyStatus::SystemException => header
                .contexts
                .get(ServiceContextId::EXCEPTION_DETAIL_MESSAGE)
                .and_then(exception_detail),
            _ => None,
        };
        let reply = Reply {
            format: match self.char_code_set() {
                Some(char_set) => WireFormat {
                    char_set,
                    ..binding.format()
                },
                None => binding.format(),
            },
            status,
            body,
            message,
        };
        let malformed = |error| Fault::Decode(error).raise(CompletionStatus::Maybe);
        Ok(match status {
            ReplyStatus::NoException | ReplyStatus::UserException => Answer::Reply(reply),
            ReplyStatus::SystemException => {
                let raised = reply.decode::<SystemException>().map_err(malformed)?;
                Answer::Exception(match explained {
                    Some(text) => raised.with_detail(format_args!("the server says: {text}")),
                    None => raised,
                })
            }
            ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
                Answer::Forward(reply.decode::<Ior>().map_err(malformed)?)
            }
            ReplyStatus::NeedsAddressingMode => {
                Answer::Readdress(reply.decode::<i16>().map_err(malformed)?)
            }
        })
    }

    async fn request_one_way(
        &self,
        operation: &str,
        arguments: &Arguments<'_>,
    ) -> Result<(), SystemException> {
        let sent = AtomicBool::new(false);
        self.within_limit(
            &sent,
            self.request_one_way_until_sent(operation, arguments, &sent),
        )
        .await
    }

    async fn request_one_way_until_sent(
        &self,
        operation: &str,
        arguments: &Arguments<'_>,
        sent: &AtomicBool,
    ) -> Result<(), SystemException> {
        let mut resends = 0;
        let mut forwards = 0;
        loop {
            let binding = self.binding().await?;
            let called = match &binding.target {
                Target::Remote(connection) => connection
                    .call_one_way(
                        binding.version,
                        &binding.address(),
                        operation,
                        arguments,
                        sent,
                    )
                    .await
                    .map(|()| None),
                Target::Local => {
                    let orb = self.orb().inner();
                    call_local(orb, &binding, operation, arguments, false, sent).await
                }
            };
            sent.store(false, Ordering::Relaxed);
            match called {
                Ok(None) => return Ok(()),
                Ok(Some(message)) => match self.read_reply(message, &binding)? {
                    Answer::Forward(ior) => {
                        forwards += 1;
                        if forwards > MAX_FORWARDS {
                            return Err(Fault::TooManyForwards {
                                limit: MAX_FORWARDS,
                            }
                            .raise(CompletionStatus::No));
                        }
                        self.bind_forward(&ior).await?;
                    }
                    // Nobody is told what becomes of a one-way call.
                    Answer::Exception(_) | Answer::Readdress(_) | Answer::Reply(_) => {
                        return Ok(());
                    }
                },
                Err(error) => {
                    self.unbind(&binding);
                    if !may_resend(&error) || resends == MAX_RESENDS {
                        return Err(error.raise());
                    }
                    resends += 1;
                }
            }
        }
    }
}

enum Answer {
    Reply(Reply),
    Forward(Ior),
    /// How the server wants to be told whom a request is for.
    Readdress(i16),
    Exception(SystemException),
}

impl Reply {
    fn decode<T: for<'de> Decode<'de>>(&self) -> Result<T, DecodeError> {
        let frame = &self.message.frame;
        match self.message.header.endian {
            Endian::Big => Decoder::<BigEndian>::at(frame, self.body, self.format)?.get(),
            Endian::Little => Decoder::<LittleEndian>::at(frame, self.body, self.format)?.get(),
        }
    }
}

/// Adds to an exception that says that a message was too large what is known of that: how large the
/// request was, and whose limit it is.
fn explain_size(exception: SystemException, octets: usize) -> SystemException {
    let minor = exception.minor;
    if minor == minor::MESSAGE_TOO_LARGE
        && exception.kind == SystemExceptionKind::ImpLimit
        && exception.completed == CompletionStatus::No
    {
        exception.with_detail(format_args!(
            "the server refuses a request of {octets} octets: its Builder::max_message_octets is less"
        ))
    } else if minor::OMNIORB_MESSAGE_TOO_LARGE.contains(&minor)
        && exception.kind == SystemExceptionKind::Marshal
    {
        // In GIOP 1.0 it counts a reply before it sends any of it.
        exception.with_detail(refused_by_omniorb(octets))
    } else {
        exception
    }
}

fn is_worth_asking_anew(exception: &SystemException) -> bool {
    use SystemExceptionKind as Kind;
    exception.completed == CompletionStatus::No
        && matches!(
            exception.kind,
            Kind::Transient | Kind::CommFailure | Kind::ObjectNotExist
        )
}

/// Asks where an object is.
pub(crate) async fn locate(object: &ObjectRef) -> Result<bool, SystemException> {
    // Nothing is carried out, however far the question got.
    let sent = AtomicBool::new(false);
    object
        .within_limit(&sent, locate_until_done(object))
        .await
        .map_err(SystemException::received)
}

async fn locate_until_done(object: &ObjectRef) -> Result<bool, SystemException> {
    let mut binding = object.binding().await?;
    let mut forwards = 0;
    let mut resends = 0;
    let mut readdressed = 0;
    loop {
        let reply = match &binding.target {
            Target::Local => {
                let orb = object.orb().inner();
                locate_reply(orb, orb.find_or_ask(&binding.key).await)
            }
            Target::Remote(connection) => {
                let located = connection.locate(binding.version, &binding.address()).await;
                let message = match located {
                    Ok(message) => message,
                    Err(error) => {
                        object.unbind(&binding);
                        if may_resend(&error) && resends < MAX_RESENDS {
                            resends += 1;
                            binding = object.binding().await?;
                            continue;
                        }
                        return Err(error.raise());
                    }
                };
                read_locate_reply(&message, connection)?
            }
        };
        match reply {
            LocateReply::UnknownObject => return Ok(false),
            LocateReply::ObjectHere => return Ok(true),
            LocateReply::ObjectForward(ior) | LocateReply::ObjectForwardPerm(ior) => {
                forwards += 1;
                if forwards > MAX_FORWARDS {
                    return Err(Fault::TooManyForwards {
                        limit: MAX_FORWARDS,
                    }
                    .raise(CompletionStatus::No));
                }
                binding = object.bind_forward(&ior).await?;
            }
            // That is how JacORB says UNKNOWN_OBJECT.
            LocateReply::SystemException(exception)
                if exception.kind == SystemExceptionKind::ObjectNotExist =>
            {
                return Ok(false);
            }
            LocateReply::SystemException(exception) => return Err(exception),
            LocateReply::NeedsAddressingMode(wanted) => {
                binding = object
                    .readdress(&binding, wanted, &mut readdressed)
                    .map_err(|error| object.broken(error, CompletionStatus::No))?;
            }
        }
    }
}

fn read_locate_reply(
    message: &Message,
    connection: &ClientConnection,
) -> Result<LocateReply, SystemException> {
    let kind = message.header.kind;
    let reply = match kind {
        MessageKind::LocateReply => LocateReply::read(message),
        _ => Err(ProtocolError::WrongDirection { kind }),
    };
    let (_, reply) = reply.map_err(|error| {
        Fault::Protocol {
            endpoint: connection.endpoint().to_string(),
            error,
        }
        .raise(CompletionStatus::No)
    })?;
    Ok(reply)
}

/// A call to an object of this very ORB: through the same adapter and skeleton, and never through
/// a socket. `None` when there is no reply to wait for, which one-way calls have only when they
/// have to go somewhere else.
async fn call_local(
    orb: &Arc<OrbInner>,
    binding: &Binding,
    operation: &str,
    arguments: &Arguments<'_>,
    two_way: bool,
    sent: &AtomicBool,
) -> Result<Option<Message>, CallError> {
    let format = WireFormat::default();
    let mut found = orb.find_or_ask(&binding.key).await;
    while let Ok(Found::Object(object)) = &found
        && object.manager().state() == State::Holding
    {
        found = match released(object).await {
            // Whoever has the key by now.
            Ok(()) => orb.find_or_ask(&binding.key).await,
            Err(exception) => Err(exception),
        };
    }
    let is_forward = match &found {
        Ok(Found::Object(object)) => object.forward().is_some(),
        Ok(Found::Elsewhere(_)) => true,
        _ => false,
    };
    let message = RequestBuilder {
        version: Version::HIGHEST,
        request_id: 0,
        response: if two_way || is_forward {
            ResponseFlags::WithTarget
        } else {
            ResponseFlags::None
        },
        key: &binding.key,
        operation,
        contexts: &[],
    }
    .encode(Encoder::with_buffer(buffers::take(), format), arguments)
    .map_err(|error| CallError::Encode(Fault::Encode(error)))?;
    let own = |error: ProtocolError| {
        CallError::Lost(Fault::Protocol {
            endpoint: "this ORB".to_owned(),
            error,
        })
    };
    let request = Request::new(
        Message::from_gather(message).map_err(own)?,
        format,
        orb.context(),
    )
    .map_err(own)?;
    let receipt = request.receipt();
    let outcome = match found {
        Err(exception) => receipt.system_exception(&exception),
        Ok(Found::Unknown(_)) => receipt.system_exception(&Missing::Adapter.raise()),
        Ok(Found::Elsewhere(target)) => receipt.forward(&target, false),
        Ok(Found::Object(object)) => match object.manager().state().admit() {
            Ok(()) => {
                sent.store(true, Ordering::Relaxed);
                let upcall = begin(&object, request);
                match begin_local(orb, upcall, receipt, two_way || is_forward) {
                    Begun::Over(outcome) => outcome,
                    Begun::Pending(outcome) => outcome.await.map_err(|_| runtime_gone())?,
                }
            }
            Err(exception) => receipt.system_exception(&exception),
        },
    };
    match outcome {
        Outcome::Reply(reply) => Message::from_gather(reply).map(Some).map_err(own),
        Outcome::Silent => Ok(None),
    }
}

/// What became of an upcall of our own at its first poll.
enum Begun {
    Over(Outcome),
    Pending(oneshot::Receiver<Outcome>),
}

/// Polls an upcall of our own. One that is not ready becomes a task, as at a server elsewhere: it
/// runs on whatever becomes of its caller.
fn begin_local(orb: &Arc<OrbInner>, mut upcall: Upcall, receipt: Receipt, two_way: bool) -> Begun {
    if two_way {
        let mut cx = Context::from_waker(Waker::noop());
        if let Poll::Ready(outcome) = run_upcall_in_place(orb, &mut upcall, &mut cx, &receipt) {
            return Begun::Over(outcome);
        }
    }
    let (done, outcome) = oneshot::channel();
    let inner = Arc::clone(orb);
    orb.track(async move {
        let outcome = poll_fn(|cx| run_upcall_in_place(&inner, &mut upcall, cx, &receipt)).await;
        // Whoever is gone wants no answer.
        let _ = done.send(outcome);
    });
    match two_way {
        true => Begun::Pending(outcome),
        false => Begun::Over(Outcome::Silent),
    }
}

#[cold]
fn runtime_gone() -> CallError {
    CallError::Lost(Fault::ConnectionLost {
        endpoint: "this ORB".to_owned(),
        cause: "its runtime has shut down".to_owned(),
    })
}
