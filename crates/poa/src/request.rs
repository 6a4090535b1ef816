//! Requests on their way to a servant, and their replies.

use crate::operations::Operations;
use crate::panicked;
use crate::pooled_future;
use crate::shared_request::{Parts, ReplyContexts, SharedRequest, find};
use crate::skeleton::Started;
use bytes::Bytes;
use core::any::Any;
use core::cell::RefCell;
use core::marker::PhantomData;
use core::{fmt, mem};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use zorb_cdr::{
    BigEndian, ByteOrder, Context, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder,
    Endian, LittleEndian, MemoryReservation, NativeEndian, Shared, WireFormat,
};
use zorb_giop::{
    CompletionStatus, Fault, HeaderOffsets, Ior, Message, OperationError, ProtocolError, RawBody,
    ReplyBuilder, ReplyStatus, RequestHeader, ResponseFlags, ServiceContext, ServiceContextId,
    ServiceContexts, SystemException, SystemExceptionKind, Version, add_contexts, buffers,
};

/// The data of a request that its reply needs.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Request message, Reply message).
#[derive(Debug, Clone, Copy)]
pub struct Receipt {
    /// The GIOP version of the request and its reply.
    pub version: Version,
    /// The id of the request, which the reply repeats.
    pub request_id: u32,
    /// Whether the client waits for a reply, and if so, for the arrival of the request or for the end of the upcall.
    pub response: ResponseFlags,
    /// The wire format of text on the connection.
    pub format: WireFormat,
}

/// The outcome of an upcall, as the ORB sends it.
pub enum Outcome {
    /// A whole Reply message, ready to be written.
    Reply(zorb_cdr::Gather),
    /// The request gets no reply, as its client waits for none.
    Silent,
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply(message) => write!(f, "Reply({} octets)", message.len()),
            Self::Silent => f.write_str("Silent"),
        }
    }
}

impl Receipt {
    /// The data for the exceptions of a collocated call, which has no message.
    pub const OF_VALUES: Self = Self {
        version: Version::HIGHEST,
        request_id: 0,
        response: ResponseFlags::WithTarget,
        format: WireFormat::DEFAULT,
    };

    /// The empty reply that acknowledges the arrival of a request (SYNC_WITH_SERVER), before the servant is called; `None` for
    /// a request of another SyncScope.
    #[must_use]
    pub fn acknowledgement(&self) -> Option<Outcome> {
        (self.response == ResponseFlags::WithServer).then(|| {
            self.message(ReplyStatus::NoException, |_| Ok(()))
                .map_or(Outcome::Silent, Outcome::Reply)
        })
    }

    #[inline]
    fn message(
        &self,
        status: ReplyStatus,
        body: impl FnOnce(&mut Encoder<NativeEndian>) -> Result<(), EncodeError>,
    ) -> Result<zorb_cdr::Gather, EncodeError> {
        ReplyBuilder {
            version: self.version,
            request_id: self.request_id,
            status,
            contexts: &[],
        }
        .encode(Encoder::with_buffer(buffers::take(), self.format), body)
    }

    /// Makes the reply of a body that is passed on as it is: a result, or a user exception if `is_exception`. A body that would have
    /// another meaning in the reply becomes a system exception.
    #[must_use]
    pub fn raw_reply(&self, body: &RawBody, is_exception: bool) -> Outcome {
        if self.response != ResponseFlags::WithTarget {
            return Outcome::Silent;
        }
        let reply = ReplyBuilder {
            version: self.version,
            request_id: self.request_id,
            status: match is_exception {
                false => ReplyStatus::NoException,
                true => ReplyStatus::UserException,
            },
            contexts: &[],
        };
        let format = self.format;
        let message = match body.endian() {
            Endian::Big => reply.encode(Encoder::<BigEndian>::new(format), |e| e.put(body)),
            Endian::Little => reply.encode(Encoder::<LittleEndian>::new(format), |e| e.put(body)),
        };
        match message {
            Ok(message) => Outcome::Reply(message),
            Err(error) => {
                self.system_exception(&Fault::of_result(error).raise(CompletionStatus::Yes))
            }
        }
    }

    /// Encodes the reply with a result; `Silent` for a request whose client waits for no result. A result that cannot be encoded
    /// becomes a system exception.
    #[must_use]
    #[inline]
    pub fn reply(&self, result: &impl Encode) -> Outcome {
        if self.response != ResponseFlags::WithTarget {
            return Outcome::Silent;
        }
        match self.message(ReplyStatus::NoException, |e| e.put(result)) {
            Ok(message) => Outcome::Reply(message),
            // The servant has carried the operation out.
            Err(error) => {
                self.system_exception(&Fault::of_result(error).raise(CompletionStatus::Yes))
            }
        }
    }

    /// The reply with the user or system exception `error`.
    #[must_use]
    pub fn exception(&self, error: &impl OperationError) -> Outcome {
        if self.response != ResponseFlags::WithTarget {
            return Outcome::Silent;
        }
        if let Some(system) = error.system() {
            return self.system_exception(&system.for_caller());
        }
        match self.message(ReplyStatus::UserException, |e| error.encode_user(e)) {
            Ok(message) => Outcome::Reply(message),
            Err(error) => {
                self.system_exception(&Fault::of_result(error).raise(CompletionStatus::Yes))
            }
        }
    }

    /// The reply with a system exception, unchanged.
    #[must_use]
    pub fn system_exception(&self, exception: &SystemException) -> Outcome {
        if self.response != ResponseFlags::WithTarget {
            return Outcome::Silent;
        }
        self.refusal(exception)
    }

    /// The reply that forwards the client to `target`: LOCATION_FORWARD, or LOCATION_FORWARD_PERM if `permanent` and the
    /// request has GIOP 1.2. A client that waits only for the arrival of its request (SYNC_WITH_SERVER) gets it, too; a client
    /// that waits for no reply gets none.
    #[must_use]
    pub fn forward(&self, target: &Ior, permanent: bool) -> Outcome {
        if self.response == ResponseFlags::None {
            return Outcome::Silent;
        }
        let status = if permanent {
            ReplyStatus::LocationForwardPerm
        } else {
            ReplyStatus::LocationForward
        };
        match self.message(status, |e| e.put(target)) {
            Ok(message) => Outcome::Reply(message),
            Err(error) => self.refusal(&Fault::Encode(error).raise(CompletionStatus::No)),
        }
    }

    /// The reply to a request that is refused, with the [detail](SystemException::with_detail) of the exception. A client
    /// that waits only for the arrival of its request (SYNC_WITH_SERVER) gets it, too, unless it has got its [`acknowledgement`](Self::acknowledgement).
    #[must_use]
    pub fn refusal(&self, exception: &SystemException) -> Outcome {
        if self.response == ResponseFlags::None {
            return Outcome::Silent;
        }
        ReplyBuilder {
            version: self.version,
            request_id: self.request_id,
            status: ReplyStatus::SystemException,
            contexts: exception.detail_context().as_slice(),
        }
        .encode(
            Encoder::<NativeEndian>::with_buffer(buffers::take(), self.format),
            |e| e.put(exception),
        )
        .map_or(Outcome::Silent, Outcome::Reply)
    }
}

/// Decodes the arguments of a request whose types are known at run time: see [`ServerRequest::arguments_by`].
pub trait DecodeArguments<'a> {
    /// The decoded arguments.
    type Arguments;

    /// Decodes them.
    ///
    /// # Errors
    /// The octets are malformed.
    fn decode<O: ByteOrder>(
        self,
        decoder: &mut Decoder<'a, O>,
    ) -> Result<Self::Arguments, DecodeError>;
}

/// Arguments that are a value of a type.
struct Static<A>(PhantomData<A>);

impl<'a, A: Decode<'a>> DecodeArguments<'a> for Static<A> {
    type Arguments = A;

    #[inline(always)]
    fn decode<O: ByteOrder>(self, decoder: &mut Decoder<'a, O>) -> Result<A, DecodeError> {
        decoder.get()
    }
}

/// A request on its way to a servant and back: its message, what is known of it, and, when its upcall has ended, its
/// outcome. Each step of the way has it and passes it on; the future of its upcall owns it meanwhile.
///
/// A collocated call is the same value. Its arguments and results are Rust values where caller and servant know the same
/// types ([`ServerRequest::typed`]), else a message as from any client.
///
/// It is one pointer, to a box that is recycled from an earlier request of the thread. Arguments are borrowed from its message,
/// which lives as long as the request.
///
/// Source: CORBA 3.3 Part 1, The Dynamic Skeleton Interface (`CORBA::ServerRequest`).
pub struct ServerRequest(Box<State>);

struct State {
    body: Body,
    receipt: Receipt,
    /// The number of the operation; [`UNKNOWN`] until it has been looked up.
    number: u32,
    /// Resolves object references and value types among the arguments.
    context: Option<Arc<dyn Context>>,
    /// Who has sent it, as the owner of the adapter knows its clients.
    peer: Option<Arc<dyn Any + Send + Sync>>,
    /// The time after which nobody has use for the reply, if a caller of the same ORB has stated it.
    deadline: Option<Instant>,
    outcome: Option<Outcome>,
    /// What few requests have.
    rare: OnceLock<Box<Rare>>,
    /// Where the box goes when the request has ended on another thread.
    home: Option<Arc<Home>>,
}

/// The arguments, in the form in which they came.
enum Body {
    /// None any more: the request has been answered.
    Nothing,
    /// A message from any client.
    Message(Message, HeaderOffsets),
    /// An [`Exchange`] of a collocated call. The mutex is never locked; it makes values `Sync` that need not be.
    Values(Mutex<Box<dyn Any + Send>>),
}

/// The number of an operation that has not been looked up. No operation has it.
const UNKNOWN: u32 = u32::MAX;

impl State {
    const fn new() -> Self {
        Self {
            body: Body::Nothing,
            receipt: Receipt::OF_VALUES,
            number: UNKNOWN,
            context: None,
            peer: None,
            deadline: None,
            outcome: None,
            rare: OnceLock::new(),
            home: None,
        }
    }

    fn clear(&mut self) {
        self.body = Body::Nothing;
        self.number = UNKNOWN;
        self.context = None;
        self.peer = None;
        self.deadline = None;
        if self.rare.get().is_some() {
            self.rare = OnceLock::new();
        }
    }
}

/// Boxes of requests that a thread keeps. Usually one is in use at a time; requests that wait have theirs with them.
const MAX_KEPT: usize = 16;
/// Boxes that wait for the thread that has made them, after other threads have ended their requests.
const MAX_RETURNED: usize = 128;

/// The boxes of a thread that are not in use.
struct Boxes {
    free: RefCell<Vec<ServerRequest>>,
    home: Arc<Home>,
}

/// Where other threads return the boxes of a thread. Boxes in it do not refer to it.
#[derive(Default)]
struct Home(Mutex<Vec<ServerRequest>>);

thread_local! {
    static BOXES: Boxes = Boxes {
        free: RefCell::new(Vec::with_capacity(MAX_KEPT)),
        home: Arc::default(),
    };
}

impl Boxes {
    /// A box of an earlier request, or a new one.
    #[inline]
    fn take(&self) -> Option<ServerRequest> {
        let mut free = self.free.try_borrow_mut().ok()?;
        match free.pop() {
            None => Some(self.take_returned(&mut free)),
            taken => taken,
        }
    }

    #[cold]
    fn take_returned(&self, free: &mut Vec<ServerRequest>) -> ServerRequest {
        // The lock is held for a push or this; while another thread has it, a box is made.
        if let Ok(mut returned) = self.home.0.try_lock() {
            let left = returned.len().saturating_sub(MAX_KEPT);
            free.extend(returned.drain(left..).map(|mut returned| {
                returned.0.home = Some(Arc::clone(&self.home));
                returned
            }));
        }
        free.pop().unwrap_or_else(|| {
            let mut made = ServerRequest(Box::new(State::new()));
            made.0.home = Some(Arc::clone(&self.home));
            made
        })
    }

    /// Keeps the box of a request that has ended, or returns it to the thread that has made it.
    #[inline]
    fn keep(&self, emptied: ServerRequest) {
        match &emptied.0.home {
            Some(home) if !Arc::ptr_eq(home, &self.home) => give_back(emptied),
            _ => {
                if let Ok(mut free) = self.free.try_borrow_mut()
                    && free.len() < MAX_KEPT
                {
                    free.push(emptied);
                }
            }
        }
    }
}

fn give_back(mut emptied: ServerRequest) {
    if let Some(home) = emptied.0.home.take() {
        let mut returned = home.0.lock().unwrap_or_else(PoisonError::into_inner);
        if returned.len() < MAX_RETURNED {
            returned.push(emptied);
        }
    }
}

/// Arguments and results of a collocated call, as values of its caller's types.
struct Exchange<A, R> {
    arguments: Option<A>,
    results: Option<R>,
}

#[derive(Default)]
struct Rare {
    /// The memory that the arguments take, beside that of the message.
    memory: OnceLock<Box<MemoryReservation>>,
    /// Breaks up cycles of values among the arguments that the servant did not keep.
    cycles: OnceLock<Box<Shared>>,
    /// Sends the acknowledgement that is left to the upcall.
    acknowledgement: Option<Acknowledgement>,
    /// The time by which the upcall has to begin, if it is not the deadline.
    begin_by: Option<Instant>,
    /// The service contexts of a typed call.
    contexts: Option<Arc<[ServiceContext]>>,
    /// The service contexts that are added to the reply.
    reply: OfReply,
    /// The request for code that may outlive its upcall, and what ends with the request.
    shared: OnceLock<(SharedRequest, Option<Box<dyn Any + Send + Sync>>)>,
    /// What the owner of the adapter keeps with a typed call that has to be made anew as a message.
    kept: Option<Box<dyn Any + Send + Sync>>,
}

/// The service contexts of the reply of a request. A panic that unwinds the request leaves them for the reply that says so.
#[derive(Default)]
struct OfReply {
    contexts: OnceLock<ReplyContexts>,
    /// Whether the request is a part of another value's, which has the reply.
    is_shared: bool,
}

impl Drop for OfReply {
    fn drop(&mut self) {
        if let Some(contexts) = self.contexts.take().filter(|_| !self.is_shared) {
            panicked::keep_contexts(contexts);
        }
    }
}

impl Rare {
    /// The outcome with the contexts that were added to its reply.
    #[cold]
    fn complete(&self, outcome: Outcome, receipt: &Receipt) -> Outcome {
        let added = self
            .reply
            .contexts
            .get()
            .map(ReplyContexts::close)
            .unwrap_or_default();
        match outcome {
            Outcome::Reply(reply) if !added.is_empty() => match add_contexts(reply, &added) {
                Ok(reply) => Outcome::Reply(reply),
                Err(error) => {
                    receipt.system_exception(&Fault::of_result(error).raise(CompletionStatus::Yes))
                }
            },
            outcome => outcome,
        }
    }
}

/// The acknowledgement of a request (SYNC_WITH_SERVER) that waits for its servant manager. Dropping it sends it, so that a
/// client gets its reply whatever becomes of the request.
pub(crate) struct Acknowledgement {
    receipt: Receipt,
    send: Option<Box<SendReply>>,
}

type SendReply = dyn FnOnce(Outcome) + Send + Sync;

impl Acknowledgement {
    /// Sends none: the client gets the outcome of the request instead.
    pub(crate) fn withdraw(mut self) {
        self.send = None;
    }
}

impl Drop for Acknowledgement {
    fn drop(&mut self) {
        if let Some(send) = self.send.take()
            && let Some(acknowledgement) = self.receipt.acknowledgement()
        {
            send(acknowledgement);
        }
    }
}

impl ServerRequest {
    fn empty() -> Self {
        // At the end of a thread its boxes are gone.
        let taken = BOXES.try_with(Boxes::take).ok().flatten();
        taken.unwrap_or_else(|| Self(Box::new(State::new())))
    }

    /// A request whose header has been parsed. `context` resolves object references and value types among the
    /// arguments. Costs a recycled box.
    #[must_use]
    #[inline]
    pub fn new(
        message: Message,
        offsets: HeaderOffsets,
        format: WireFormat,
        context: Arc<dyn Context>,
    ) -> Self {
        let mut new = Self::empty();
        let state = &mut *new.0;
        state.receipt = Receipt {
            version: message.header.version,
            request_id: offsets.request_id(),
            response: offsets.response(),
            format,
        };
        state.body = Body::Message(message, offsets);
        state.context = Some(context);
        new
    }

    /// A collocated call with these arguments, of the operation with this number in the table of the servant's
    /// [skeleton](crate::Skeleton::operations). Its caller expects [results](Self::into_values) of type `R`. Costs two recycled
    /// boxes.
    #[must_use]
    pub fn typed<A: Send + 'static, R: Send + 'static>(number: u32, arguments: A) -> Self {
        let mut exchange = pooled_future::recycled::<Exchange<A, R>>(|| Exchange {
            arguments: None,
            results: None,
        });
        exchange.arguments = Some(arguments);
        let mut new = Self::empty();
        let state = &mut *new.0;
        state.receipt = Receipt::OF_VALUES;
        state.body = Body::Values(Mutex::new(exchange));
        state.number = number;
        new
    }

    /// A request whose upcall has panicked just now on this thread, and taken it along: answered by this exception, with the
    /// service contexts that had been added to its reply.
    #[must_use]
    pub fn panicked(receipt: Receipt, exception: &SystemException) -> Self {
        let new = Self::answered(receipt, receipt.system_exception(exception));
        if let Some(contexts) = panicked::take_contexts() {
            let rare = new.0.rare.get_or_init(Box::default);
            // It is new, and has none.
            let _ = rare.reply.contexts.set(contexts);
        }
        new
    }

    /// A request that has been answered without its upcall, which has been dropped, or never began.
    #[must_use]
    pub fn answered(receipt: Receipt, outcome: Outcome) -> Self {
        let mut new = Self::empty();
        new.0.receipt = receipt;
        new.0.outcome = Some(outcome);
        new
    }

    /// A request in a whole message, whose header is parsed here.
    ///
    /// # Errors
    /// The header of the request is malformed.
    pub fn from_message(
        message: Message,
        format: WireFormat,
        context: Arc<dyn Context>,
    ) -> Result<Self, ProtocolError> {
        let offsets = HeaderOffsets::of(&RequestHeader::read(&message)?);
        Ok(Self::new(message, offsets, format, context))
    }

    /// Notes the number of the operation in the table of the object's [skeleton](crate::Skeleton::operations), if the
    /// operation has one.
    #[inline]
    pub fn set_number(&mut self, number: Option<u32>) {
        if let Some(number) = number {
            self.0.number = number;
        }
    }

    /// The operation's name as the header has it, without the closing NUL; that of an attribute begins with `_get_` or `_set_`.
    /// The octets are borrowed from the message. Empty for a [typed](Self::typed) call, which has a
    /// [number](Self::number).
    #[must_use]
    #[inline]
    pub fn operation(&self) -> &[u8] {
        match &self.0.body {
            Body::Message(message, offsets) => offsets.operation(message),
            Body::Nothing | Body::Values(_) => &[],
        }
    }

    /// The operation's number in the table of the skeleton, if it is known.
    #[must_use]
    #[inline]
    pub fn number(&self) -> Option<u32> {
        (self.0.number != UNKNOWN).then_some(self.0.number)
    }

    /// The operation's number in `operations`, the table of the [skeleton](crate::Skeleton::operations) that is called. A
    /// number that is known already costs no look-up.
    #[must_use]
    #[inline]
    pub fn find(&self, operations: &Operations) -> Option<u32> {
        match self.number() {
            None => operations.find(self.operation()),
            number => number,
        }
    }

    /// The message with its offsets; `None` for a typed call.
    #[inline]
    fn message(&self) -> Option<(&Message, &HeaderOffsets)> {
        match &self.0.body {
            Body::Message(message, offsets) => Some((message, offsets)),
            Body::Nothing | Body::Values(_) => None,
        }
    }

    /// Returns the octets of memory that the message of the request takes.
    #[must_use]
    #[inline]
    pub fn octets(&self) -> usize {
        self.message().map_or(0, |(message, _)| message.frame.len())
    }

    /// Returns a copy of the object key; `None` if the target is a profile or a reference without a key that can be read.
    /// The header is parsed again.
    #[must_use]
    pub fn object_key(&self) -> Option<Bytes> {
        let (message, _) = self.message()?;
        let header = RequestHeader::read(message).ok()?;
        header.target.object_key()
    }

    /// Whether the request has service contexts. Costs a few instructions.
    #[must_use]
    #[inline]
    pub fn has_contexts(&self) -> bool {
        match self.message() {
            Some((message, offsets)) => offsets.has_contexts(message),
            None => self.rare().is_some_and(|rare| rare.contexts.is_some()),
        }
    }

    /// The data of the first service context with this id, read where it lies. Costs a few instructions for a request without
    /// contexts, else a walk over their list.
    #[must_use]
    pub fn context(&self, id: ServiceContextId) -> Option<&[u8]> {
        match self.message() {
            Some((message, offsets)) => offsets.contexts(message).get(id),
            None => find(self.rare()?.contexts.as_deref()?, id),
        }
    }

    /// The service contexts, borrowed from the message; `None` for a typed call. Costs a walk over their list.
    #[must_use]
    pub fn service_contexts(&self) -> Option<ServiceContexts<'_>> {
        let (message, offsets) = self.message()?;
        Some(offsets.contexts(message))
    }

    /// Sets the service contexts of a [typed](Self::typed) call, which has no message.
    pub fn set_contexts(&mut self, contexts: Arc<[ServiceContext]>) {
        self.0.rare.get_or_init(Box::default);
        if let Some(rare) = self.0.rare.get_mut() {
            rare.contexts = Some(contexts);
        }
    }

    #[inline]
    fn rare(&self) -> Option<&Rare> {
        self.0.rare.get().map(|rare| &**rare)
    }

    fn reply_contexts(&self) -> &ReplyContexts {
        let rare = self.0.rare.get_or_init(Box::default);
        (rare.reply.contexts).get_or_init(ReplyContexts::default)
    }

    /// Adds a service context to the reply, whatever its status is. A request without a reply drops it. Costs a copy of the
    /// reply when that is made.
    ///
    /// # Errors
    /// BAD_INV_ORDER, minor code 15, if a context of this id was added before, unless `replace` is set; BAD_INV_ORDER once the
    /// reply has been made; IMP_LIMIT beyond [`MAX_REPLY_CONTEXTS`](crate::MAX_REPLY_CONTEXTS) or
    /// [`MAX_REPLY_CONTEXT_OCTETS`](crate::MAX_REPLY_CONTEXT_OCTETS).
    pub fn add_reply_context(
        &self,
        context: ServiceContext,
        replace: bool,
    ) -> Result<(), SystemException> {
        self.reply_contexts().add(context, replace)
    }

    /// Returns the data of a service context that was [added](Self::add_reply_context) to the reply.
    #[must_use]
    pub fn added_reply_context(&self, id: ServiceContextId) -> Option<Bytes> {
        self.rare()?.reply.contexts.get()?.get(id)
    }

    /// Takes the service contexts that were added to the reply of a call that has ended, for a caller of the same ORB whose
    /// results are values. The outcome is without them then.
    #[must_use]
    #[inline]
    pub fn take_reply_contexts(&mut self) -> Vec<ServiceContext> {
        match self.rare().and_then(|rare| rare.reply.contexts.get()) {
            None => Vec::new(),
            Some(reply) => reply.close(),
        }
    }

    /// The request for code that may outlive its upcall: the same value each time. At the first call, `watch` may have its
    /// [cancellation](SharedRequest::cancellation) noted where the caller can be heard; what it returns is dropped with the
    /// request. Costs an allocation, or two, at the first call.
    pub fn share(
        &self,
        watch: impl FnOnce(&SharedRequest) -> Option<Box<dyn Any + Send + Sync>>,
    ) -> &SharedRequest {
        let rare = self.0.rare.get_or_init(Box::default);
        let (shared, _) = rare.shared.get_or_init(|| {
            let shared = SharedRequest::new(Parts {
                message: self.message(),
                receipt: self.receipt(),
                number: self.number(),
                contexts: rare.contexts.clone().unwrap_or_default(),
                peer: self.0.peer.clone(),
                deadline: self.0.deadline,
                reply: self.reply_contexts().clone(),
            });
            let watched = watch(&shared);
            (shared, watched)
        });
        shared
    }

    /// A request that was [shared](Self::share), for [`enter`](Self::enter). It is not replied to.
    pub(crate) fn of_shared(shared: &SharedRequest) -> Self {
        let parts = shared.parts();
        let mut new = Self::empty();
        let state = &mut *new.0;
        state.receipt = parts.receipt;
        if let Some((message, offsets)) = parts.message {
            state.body = Body::Message(message.clone(), *offsets);
        }
        state.number = parts.number.unwrap_or(UNKNOWN);
        state.peer = parts.peer;
        state.deadline = parts.deadline;
        let rare = Rare {
            contexts: (!parts.contexts.is_empty()).then_some(parts.contexts),
            reply: OfReply {
                contexts: OnceLock::from(parts.reply),
                is_shared: true,
            },
            shared: OnceLock::from((shared.clone(), None)),
            ..Rare::default()
        };
        state.rare = OnceLock::from(Box::new(rare));
        new
    }

    /// Who has sent the request, as a type of the owner of the adapter; `None` for a collocated call.
    #[must_use]
    pub fn peer<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(self.0.peer.as_ref()?).downcast().ok()
    }

    /// Notes who has sent the request.
    #[inline]
    pub fn set_peer(&mut self, peer: Arc<dyn Any + Send + Sync>) {
        self.0.peer = Some(peer);
    }

    /// The time after which nobody has use for the reply, if it was [set](Self::set_deadline).
    #[must_use]
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// Sets the time after which nobody has use for the reply.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.0.deadline = deadline;
    }

    /// The time by which the upcall has to begin: the deadline, or an [earlier time](Self::set_begin_by).
    #[must_use]
    #[inline]
    pub fn begin_by(&self) -> Option<Instant> {
        let begin_by = self.rare().and_then(|rare| rare.begin_by);
        match (self.0.deadline, begin_by) {
            (Some(deadline), Some(begin_by)) => Some(deadline.min(begin_by)),
            (deadline, begin_by) => deadline.or(begin_by),
        }
    }

    /// Sets the time by which the upcall has to begin. It may take until its deadline then.
    pub fn set_begin_by(&mut self, begin_by: Instant) {
        self.0.rare.get_or_init(Box::default);
        if let Some(rare) = self.0.rare.get_mut() {
            rare.begin_by = Some(begin_by);
        }
    }

    /// Whether the request that this thread executes has a deadline.
    #[must_use]
    #[inline]
    pub fn has_current_deadline() -> bool {
        Self::current(|request| request.deadline().is_some()).unwrap_or(false)
    }

    /// Leaves the request for [`SharedRequest::take_waiting`], if it is shared: its upcall waits.
    #[inline]
    pub(crate) fn note_waiting(&self) {
        match self.rare().and_then(|rare| rare.shared.get()) {
            None => SharedRequest::note_waiting(None),
            Some((shared, _)) => SharedRequest::note_waiting(Some(shared)),
        }
    }

    /// Returns the parts of the request that its reply needs. They stay valid after the request is dropped.
    #[must_use]
    #[inline]
    pub const fn receipt(&self) -> Receipt {
        self.0.receipt
    }

    /// The arguments as they lie in the message, which is not copied; `None` for a [typed](Self::typed) call.
    #[must_use]
    pub fn raw_arguments(&self) -> Option<RawBody> {
        let (message, offsets) = self.message()?;
        Some(RawBody::new(message, offsets.body(), self.0.receipt.format))
    }

    /// Decodes the arguments, borrowing from the message where possible. Octets after them are ignored, as padding may follow.
    ///
    /// # Errors
    /// MARSHAL or DATA_CONVERSION if the octets are not arguments of type `A`; COMPLETED_NO, since the servant has not been
    /// called.
    #[inline]
    pub fn arguments<'a, A: Decode<'a>>(&'a self) -> Result<A, SystemException> {
        self.arguments_by(Static(PhantomData))
    }

    /// Decodes the arguments as `decode` does, whose types may be known at run time only.
    ///
    /// # Errors
    /// Returns the errors of [`arguments`](Self::arguments).
    #[inline]
    pub fn arguments_by<'a, D: DecodeArguments<'a>>(
        &'a self,
        decode: D,
    ) -> Result<D::Arguments, SystemException> {
        match &self.0.body {
            Body::Message(message, offsets) => match message.header.endian {
                Endian::Big => self.decode::<D, BigEndian>(message, offsets, decode),
                Endian::Little => self.decode::<D, LittleEndian>(message, offsets, decode),
            },
            Body::Nothing | Body::Values(_) => Err(no_message()),
        }
    }

    #[inline]
    fn decode<'a, D: DecodeArguments<'a>, O: ByteOrder>(
        &'a self,
        message: &'a Message,
        offsets: &HeaderOffsets,
        decode: D,
    ) -> Result<D::Arguments, SystemException> {
        let read = || {
            let mut d = offsets.arguments::<O>(message, self.0.receipt.format)?;
            if let Some(context) = &self.0.context {
                d = d.with_context(&**context);
            }
            let arguments = decode.decode(&mut d)?;
            if let Some(reservation) = d.take_reservation() {
                let rare = self.0.rare.get_or_init(Box::default);
                // That of a second decoding is given back at once, as its arguments are rarely kept.
                let _ = rare.memory.set(reservation);
            }
            if let Some(cycles) = d.take_cycles() {
                // Arguments are usually decoded once; a second decoding drops its own cycles.
                let rare = self.0.rare.get_or_init(Box::default);
                let _ = rare.cycles.set(Box::new(cycles));
            }
            Ok(arguments)
        };
        read().map_err(|error| Fault::Decode(error).raise(CompletionStatus::No))
    }

    /// Whether the arguments are values of a collocated call.
    #[must_use]
    #[inline]
    pub const fn is_typed(&self) -> bool {
        matches!(self.0.body, Body::Values(_))
    }

    fn exchange<A: Send + 'static, R: Send + 'static>(&mut self) -> Option<&mut Exchange<A, R>> {
        match &mut self.0.body {
            Body::Values(values) => {
                let values = values.get_mut().unwrap_or_else(PoisonError::into_inner);
                values.downcast_mut()
            }
            Body::Nothing | Body::Message(..) => None,
        }
    }

    /// Takes the arguments of a [typed](Self::typed) call. `None` if its caller knows other types, and for a message.
    pub fn take_values<A: Send + 'static, R: Send + 'static>(&mut self) -> Option<A> {
        self.exchange::<A, R>()?.arguments.take()
    }

    /// Ends a [typed](Self::typed) call with these results. Those of other types are dropped.
    pub fn set_values<A: Send + 'static, R: Send + 'static>(&mut self, results: R) {
        if let Some(exchange) = self.exchange::<A, R>() {
            exchange.results = Some(results);
        }
        self.0.outcome = Some(Outcome::Silent);
    }

    /// The results of a typed call that has ended; else its outcome, which is an exception.
    ///
    /// # Errors
    /// The outcome of a call without results of this type.
    pub fn into_values<A: Send + 'static, R: Send + 'static>(mut self) -> Result<R, Outcome> {
        let results = self
            .exchange::<A, R>()
            .and_then(|exchange| exchange.results.take());
        if let Body::Values(values) = mem::replace(&mut self.0.body, Body::Nothing) {
            let values = values.into_inner().unwrap_or_else(PoisonError::into_inner);
            if let Ok(exchange) = values.downcast::<Exchange<A, R>>() {
                pooled_future::recycle(exchange);
            }
        }
        // An interceptor may have ended the call with an exception after the servant had set its results.
        match (self.into_outcome(), results) {
            (Outcome::Silent, Some(results)) => Ok(results),
            (outcome, _) => Err(outcome),
        }
    }

    /// Leaves the acknowledgement of a request for an object without a servant to the upcall: `send` is called once a servant
    /// manager has found a servant, and before the servant is called, or when the request is dropped. If the upcall forwards the
    /// request, or the adapter or its manager raises an exception, that is its outcome, and `send` is not called. For requests
    /// of SYNC_WITH_SERVER that have no [acknowledgement](Receipt::acknowledgement) yet; a second `send` is dropped. Costs two
    /// allocations.
    ///
    /// Source: CORBA 3.3 Part 1, CORBA Messaging (SYNC_WITH_SERVER: forwards have occurred when the reply is sent).
    pub fn acknowledge_by(&mut self, send: impl FnOnce(Outcome) + Send + Sync + 'static) {
        let acknowledgement = Acknowledgement {
            receipt: self.receipt(),
            send: Some(Box::new(send)),
        };
        self.0.rare.get_or_init(Box::default);
        if let Some(rare) = self.0.rare.get_mut() {
            match rare.acknowledgement {
                None => rare.acknowledgement = Some(acknowledgement),
                Some(_) => acknowledgement.withdraw(),
            }
        }
    }

    /// Withdraws the acknowledgement that is left to the upcall, as the client gets another reply. Returns `false` if the
    /// client (SYNC_WITH_SERVER) has its acknowledgement already, and gets no other reply.
    pub(crate) fn withdraw_acknowledgement(&mut self) -> bool {
        let may_reply = !self.is_acknowledged();
        if let Some(acknowledgement) = self.take_acknowledgement() {
            acknowledgement.withdraw();
        }
        may_reply
    }

    /// Whether the client waits for an acknowledgement (SYNC_WITH_SERVER), and it is not left to the upcall.
    pub(crate) fn is_acknowledged(&self) -> bool {
        let is_left = (self.0.rare.get()).is_some_and(|rare| rare.acknowledgement.is_some());
        self.receipt().response == ResponseFlags::WithServer && !is_left
    }

    /// Takes the acknowledgement that is left to the upcall. Dropping it sends it.
    pub(crate) fn take_acknowledgement(&mut self) -> Option<Acknowledgement> {
        self.0.rare.get_mut()?.acknowledgement.take()
    }

    /// Ends the upcall with a result. One that cannot be encoded becomes a system exception.
    #[inline]
    pub fn set_result(&mut self, result: &impl Encode) {
        self.0.outcome = Some(self.0.receipt.reply(result));
    }

    /// Ends the upcall with a user or system exception of the servant.
    pub fn set_exception(&mut self, error: &impl OperationError) {
        self.0.outcome = Some(self.0.receipt.exception(error));
    }

    /// Ends the upcall with a system exception of the ORB, which its client gets unchanged.
    pub fn set_system_exception(&mut self, exception: &SystemException) {
        self.0.outcome = Some(self.0.receipt.system_exception(exception));
    }

    /// Changes the outcome of an upcall that has ended.
    pub fn map_outcome(&mut self, change: impl FnOnce(Outcome) -> Outcome) {
        self.0.outcome = self.0.outcome.take().map(change);
    }

    /// Returns the outcome of an upcall that has ended.
    #[must_use]
    #[inline]
    pub fn outcome(&self) -> Option<&Outcome> {
        self.0.outcome.as_ref()
    }

    /// Keeps a value of the owner of the adapter with the request, in place of an earlier one. Allocates.
    pub fn keep<T: Any + Send + Sync>(&mut self, value: T) {
        self.0.rare.get_or_init(Box::default);
        if let Some(rare) = self.0.rare.get_mut() {
            rare.kept = Some(Box::new(value));
        }
    }

    /// Takes the value that is [kept](Self::keep); `None` without one of this type.
    #[must_use]
    #[inline]
    pub fn take_kept<T: Any + Send + Sync>(&mut self) -> Option<T> {
        let kept = self.0.rare.get_mut()?.kept.take()?;
        kept.downcast().ok().map(|kept| *kept)
    }

    /// Ends the upcall with this outcome.
    pub fn set_outcome(&mut self, outcome: Outcome) {
        self.0.outcome = Some(outcome);
    }

    /// Ends the upcall of an operation that the skeleton does not know: BAD_OPERATION.
    #[cold]
    pub fn unknown_operation(mut self) -> Started {
        let name = String::from_utf8_lossy(self.operation()).into_owned();
        self.set_system_exception(&Fault::NoOperation(name).raise(CompletionStatus::No));
        Started::Ended(self)
    }

    /// The outcome of a request whose upcall has ended; INTERNAL if the upcall has set none. What the request has held is
    /// given back.
    #[must_use]
    #[inline]
    pub fn into_outcome(self) -> Outcome {
        let Self(mut state) = self;
        let outcome = match state.outcome.take() {
            Some(outcome) => outcome,
            None => state.receipt.system_exception(&no_message()),
        };
        let outcome = match state.rare.get() {
            None => outcome,
            Some(rare) => rare.complete(outcome, &state.receipt),
        };
        // This may run code of the application.
        state.clear();
        // At the end of a thread its boxes are gone, and this one is freed.
        let _ = BOXES.try_with(|boxes| boxes.keep(Self(state)));
        outcome
    }
}

/// The exception of a request that is asked for what it does not have: a servant's code has mixed requests up.
#[cold]
fn no_message() -> SystemException {
    SystemException::new(SystemExceptionKind::Internal, 0, CompletionStatus::Maybe)
}

impl fmt::Debug for ServerRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerRequest")
            .field("receipt", &self.receipt())
            .field("operation", &String::from_utf8_lossy(self.operation()))
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use zorb_giop::{MessageHeader, RequestBuilder};

    struct Nothing;

    impl Context for Nothing {
        fn as_any(&self) -> &(dyn Any + Send + Sync) {
            self
        }
    }

    fn context() -> Arc<dyn Context> {
        Arc::new(Nothing)
    }

    fn message<O: ByteOrder>(arguments: &[u8]) -> Message {
        let request = RequestBuilder {
            version: Version::V1_2,
            request_id: 7,
            response: ResponseFlags::WithTarget,
            key: b"key",
            operation: "an_operation",
            contexts: &[],
        };
        let octets = request.encode(Encoder::<O>::new(WireFormat::default()), |e| {
            arguments.iter().for_each(|octet| e.write_u8(*octet));
            Ok(())
        });
        let octets = octets.unwrap().into_bytes();
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        Message {
            header,
            frame: zorb_cdr::Frame::new(octets),
        }
    }

    #[test]
    fn a_request_knows_its_operation_by_name_before_it_has_a_number() {
        let message = message::<NativeEndian>(b"");
        let format = WireFormat::default();
        let mut request = ServerRequest::from_message(message, format, context()).unwrap();
        assert_eq!(
            (request.number(), request.operation()),
            (None, &b"an_operation"[..])
        );
        request.set_number(Some(3));
        assert_eq!(request.find(&Operations::NONE), Some(3));
    }

    #[test]
    fn a_typed_call_takes_and_gives_values_of_its_callers_types_alone() {
        let typed = || ServerRequest::typed::<(u8, u16), String>(7, (1, 2));
        let mut call = typed();
        assert_eq!(call.take_values::<(u8, u16), u64>(), None);
        assert_eq!(call.take_values::<(u8, u16), String>(), Some((1, 2)));
        assert_eq!(call.take_values::<(u8, u16), String>(), None);
        call.set_values::<(u8, u16), _>("done".to_owned());
        let results = call.into_values::<(u8, u16), String>();
        assert!(results.is_ok_and(|results| results == "done"));
        // Nothing of an earlier call is left in a box that is used again.
        let mut refused = typed();
        refused.set_system_exception(&no_message());
        let outcome = refused.into_values::<(u8, u16), String>();
        assert!(matches!(outcome, Err(Outcome::Reply(_))));
    }

    #[test]
    fn an_upcall_that_sets_no_outcome_is_an_exception() {
        let message = message::<NativeEndian>(b"");
        let request = ServerRequest::from_message(message, WireFormat::default(), context());
        assert!(matches!(request.unwrap().into_outcome(), Outcome::Reply(_)));
    }
}
