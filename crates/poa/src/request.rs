//! Requests on their way to a servant, and their replies.

use bytes::Bytes;
use core::fmt;
use std::sync::{Arc, OnceLock};
use zorb_cdr::{
    ByteOrder, Context, Decode, Encode, EncodeError, Encoder, Endian, MemoryReservation,
    NativeEndian, Shared, WireFormat,
};
use zorb_giop::{
    CompletionStatus, Fault, HeaderOffsets, Ior, Message, OperationError, ProtocolError,
    ReplyBuilder, ReplyStatus, RequestHeader, ResponseFlags, ServiceContext, ServiceContextId,
    ServiceContexts, SystemException, Version, buffers,
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

    /// Encodes the reply with a result; `Silent` for a request whose client waits for no result. A result that cannot be encoded
    /// becomes a system exception.
    #[must_use]
    pub fn reply(&self, result: &impl Encode) -> Outcome {
        let mut outcome = None;
        self.reply_in(result, &mut outcome);
        outcome.unwrap_or(Outcome::Silent)
    }

    /// Puts the reply with a result into `outcome`, which has to be empty.
    #[inline]
    pub fn reply_in(&self, result: &impl Encode, outcome: &mut Option<Outcome>) {
        debug_assert!(outcome.is_none(), "there is an outcome already");
        // Overwriting a known `None` drops nothing.
        if outcome.is_some() {
            return;
        }
        if self.response != ResponseFlags::WithTarget {
            *outcome = Some(Outcome::Silent);
            return;
        }
        let mut encoder = Encoder::<NativeEndian>::with_buffer(buffers::take(), self.format);
        let written = ReplyBuilder {
            version: self.version,
            request_id: self.request_id,
            status: ReplyStatus::NoException,
            contexts: &[],
        }
        .write(&mut encoder, |e| e.put(result));
        match written {
            Ok(()) => *outcome = Some(Outcome::Reply(encoder.finish())),
            // The servant has carried the operation out.
            Err(error) => {
                let exception = Fault::of_result(error).raise(CompletionStatus::Yes);
                *outcome = Some(self.system_exception(&exception));
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

/// A request on its way to a servant: its message, and the offsets of its parts.
///
/// Arguments are borrowed from the message, which lives as long as the request.
pub struct ServerRequest {
    message: Message,
    offsets: HeaderOffsets,
    format: WireFormat,
    /// The number of the operation; [`UNKNOWN`](Self::UNKNOWN) until it has been looked up.
    number: u32,
    context: Arc<dyn Context>,
    /// What few requests have. It is boxed, since requests are moved by value, which takes a few instructions up to
    /// [128 octets](SIZE).
    rare: OnceLock<Box<Rare>>,
}

#[derive(Default)]
struct Rare {
    /// The memory that the arguments take, beside that of the message.
    memory: OnceLock<Box<MemoryReservation>>,
    /// Breaks up cycles of values among the arguments that the servant did not keep.
    cycles: OnceLock<Box<Shared>>,
    /// Sends the acknowledgement that is left to the upcall.
    acknowledgement: Option<Acknowledgement>,
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

/// The largest size of a request, in octets: compilers move larger values by a call of `memcpy`.
const SIZE: usize = 128;

const _: () = assert!(size_of::<ServerRequest>() <= SIZE);

impl ServerRequest {
    /// The number of an operation that has not been looked up. No operation has it.
    const UNKNOWN: u32 = u32::MAX;

    /// A request whose header has been parsed. `context` resolves object references and value types among the
    /// arguments.
    #[must_use]
    #[inline]
    pub fn new(
        message: Message,
        offsets: HeaderOffsets,
        format: WireFormat,
        context: Arc<dyn Context>,
    ) -> Self {
        Self {
            message,
            offsets,
            format,
            number: Self::UNKNOWN,
            context,
            rare: OnceLock::new(),
        }
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

    /// The request with the number of its operation in the table of the object's
    /// [skeleton](crate::Skeleton::operations), if the operation has one.
    #[must_use]
    #[inline]
    pub const fn with_number(mut self, number: Option<u32>) -> Self {
        if let Some(number) = number {
            self.number = number;
        }
        self
    }

    /// The operation's name as the header has it, without the closing NUL; that of an attribute begins with `_get_` or `_set_`.
    /// The octets are borrowed from the message.
    #[must_use]
    #[inline]
    pub fn operation(&self) -> &[u8] {
        self.offsets.operation(&self.message)
    }

    /// The operation's number in the table of the skeleton, if it is known.
    #[must_use]
    #[inline]
    pub fn number(&self) -> Option<u32> {
        (self.number != Self::UNKNOWN).then_some(self.number)
    }

    /// Returns the octets of memory that the message of the request takes.
    #[must_use]
    #[inline]
    pub fn octets(&self) -> usize {
        self.message.frame.len()
    }

    /// Returns a copy of the object key; `None` if the target is a profile or a reference without a key that can be read.
    /// The header is parsed again.
    #[must_use]
    pub fn object_key(&self) -> Option<Bytes> {
        let header = RequestHeader::read(&self.message).ok()?;
        header.target.object_key()
    }

    /// The data of the first service context with this id. Parses the header again if there are contexts.
    #[must_use]
    pub fn context(&self, id: ServiceContextId) -> Option<&[u8]> {
        if !self.offsets.has_contexts(&self.message) {
            return None;
        }
        RequestHeader::read(&self.message).ok()?.contexts.get(id)
    }

    /// Returns copies of the service contexts; none if the header is malformed. Parses the header again.
    #[must_use]
    pub fn contexts(&self) -> Vec<ServiceContext> {
        let header = RequestHeader::read(&self.message);
        header.map_or_else(|_| Vec::new(), |header| header.contexts.to_vec())
    }

    /// The service contexts, borrowed from the message; `None` if the header is malformed. Parses the header again.
    #[must_use]
    pub fn service_contexts(&self) -> Option<ServiceContexts<'_>> {
        Some(RequestHeader::read(&self.message).ok()?.contexts)
    }

    /// Returns the parts of the request that its reply needs. They stay valid after the request is dropped.
    #[must_use]
    #[inline]
    pub const fn receipt(&self) -> Receipt {
        Receipt {
            version: self.message.header.version,
            request_id: self.offsets.request_id(),
            response: self.offsets.response(),
            format: self.format,
        }
    }

    /// Decodes the arguments, borrowing from the message where possible. Octets after them are ignored, as padding may follow.
    ///
    /// # Errors
    /// MARSHAL or DATA_CONVERSION if the octets are not arguments of type `A`; COMPLETED_NO, since the servant has not been
    /// called.
    pub fn arguments<'a, A: Decode<'a>>(&'a self) -> Result<A, SystemException> {
        match self.message.header.endian {
            Endian::Big => self.decode::<A, zorb_cdr::BigEndian>(),
            Endian::Little => self.decode::<A, zorb_cdr::LittleEndian>(),
        }
    }

    #[inline]
    fn decode<'a, A: Decode<'a>, O: ByteOrder>(&'a self) -> Result<A, SystemException> {
        let read = || {
            let d = self.offsets.arguments::<O>(&self.message, self.format)?;
            let mut d = d.with_context(&*self.context);
            let arguments = d.get()?;
            if let Some(reservation) = d.take_reservation() {
                let rare = self.rare.get_or_init(Box::default);
                // That of a second decoding is given back at once, as its arguments are rarely kept.
                let _ = rare.memory.set(reservation);
            }
            if let Some(cycles) = d.take_cycles() {
                // Arguments are usually decoded once; a second decoding drops its own cycles.
                let rare = self.rare.get_or_init(Box::default);
                let _ = rare.cycles.set(Box::new(cycles));
            }
            Ok(arguments)
        };
        read().map_err(|error| Fault::Decode(error).raise(CompletionStatus::No))
    }

    /// The collector for cycles of values among the arguments that the servant has not kept. To be dropped after the results,
    /// which may contain these values.
    #[must_use]
    #[inline]
    pub fn take_cycles(&mut self) -> Option<Box<Shared>> {
        self.rare.get_mut()?.cycles.take()
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
        self.rare.get_or_init(Box::default);
        if let Some(rare) = self.rare.get_mut() {
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
        let is_left = self
            .rare
            .get()
            .is_some_and(|rare| rare.acknowledgement.is_some());
        self.receipt().response == ResponseFlags::WithServer && !is_left
    }

    /// Takes the acknowledgement that is left to the upcall. Dropping it sends it.
    pub(crate) fn take_acknowledgement(&mut self) -> Option<Acknowledgement> {
        self.rare.get_mut()?.acknowledgement.take()
    }

    /// The outcome of an upcall that ends with a result.
    #[must_use]
    pub fn reply(&self, result: impl Encode) -> Outcome {
        self.receipt().reply(&result)
    }

    /// The outcome of an upcall that ends with an exception of the servant.
    #[must_use]
    pub fn exception(&self, error: &impl OperationError) -> Outcome {
        self.receipt().exception(error)
    }

    /// The outcome of an upcall that ends with a system exception of the ORB.
    #[must_use]
    pub fn system_exception(&self, exception: &SystemException) -> Outcome {
        self.receipt().system_exception(exception)
    }
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
        fn as_any(&self) -> &(dyn core::any::Any + Send + Sync) {
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
        let request = ServerRequest::from_message(message, format, context()).unwrap();
        assert_eq!(
            (request.number(), request.operation()),
            (None, &b"an_operation"[..])
        );
    }
}
