//! A request on its way to a servant, and the reply on its way back.

use bytes::Bytes;
use core::fmt;
use std::sync::{Arc, OnceLock};
use zorb_cdr::{
    ByteOrder, Context, Decode, Decoder, Encode, EncodeError, Encoder, Endian, NativeEndian,
    Shared, WireFormat,
};
use zorb_giop::{
    CompletionStatus, Fault, Ior, Message, MessageHeader, OperationError, ProtocolError,
    ReplyBuilder, ReplyStatus, RequestHeader, ResponseFlags, SystemException, Version, buffers,
};

/// What has to be known of a request to answer it.
#[derive(Debug, Clone, Copy)]
pub struct Receipt {
    /// The version the reply is written in.
    pub version: Version,
    /// Whose reply it is.
    pub request_id: u32,
    /// Whether one is wanted, and when.
    pub response: ResponseFlags,
    /// How text travels on the connection.
    pub format: WireFormat,
}

/// What an upcall ends with.
pub enum Outcome {
    /// A whole message, ready to be written.
    Reply(zorb_cdr::Gather),
    /// Nobody waits for anything.
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
    /// The empty reply of a request that only wants to know that it has arrived
    /// (SYNC_WITH_SERVER), before the servant is called; `None` for every other request.
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

    /// A reply with a result.
    #[must_use]
    pub fn reply(&self, result: &impl Encode) -> Outcome {
        let mut outcome = None;
        self.reply_in(result, &mut outcome);
        outcome.unwrap_or(Outcome::Silent)
    }

    /// The same, put where it is looked for. What is there already stays: that has to be empty.
    #[inline]
    pub fn reply_in(&self, result: &impl Encode, outcome: &mut Option<Outcome>) {
        zorb_giop::probe!(Upcalled);
        debug_assert!(outcome.is_none(), "there is an outcome already");
        // What is known to be nothing is not dropped when it is written over.
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
        zorb_giop::probe!(ReplySealed);
        match written {
            Ok(()) => *outcome = Some(Outcome::Reply(encoder.finish())),
            // The servant has done its work.
            Err(error) => {
                let exception = Fault::of_result(error).raise(CompletionStatus::Yes);
                *outcome = Some(self.system_exception(&exception));
            }
        }
    }

    /// A reply with whichever exception `error` is.
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

    /// A reply with a system exception, as it is.
    #[must_use]
    pub fn system_exception(&self, exception: &SystemException) -> Outcome {
        if self.response != ResponseFlags::WithTarget {
            return Outcome::Silent;
        }
        self.refusal(exception)
    }

    /// The reply that sends the client on to `target`, for good if it may (GIOP 1.2; before, a
    /// client is told the same without that). Whoever waits only until the request has arrived is
    /// told too; whoever does not wait cannot be.
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

    /// The reply to a request that is not served at all: whoever waits only until it has arrived
    /// (SYNC_WITH_SERVER) and has no [`acknowledgement`](Self::acknowledgement) yet is told too.
    #[must_use]
    pub fn refusal(&self, exception: &SystemException) -> Outcome {
        if self.response == ResponseFlags::None {
            return Outcome::Silent;
        }
        self.message(ReplyStatus::SystemException, |e| e.put(exception))
            .map_or(Outcome::Silent, Outcome::Reply)
    }
}

/// What a request takes from its header, which borrows from the message: the message is the request's then.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    request_id: u32,
    response: ResponseFlags,
    operation: Name,
    body: usize,
}

/// Where an operation's name is, and its number in the servant's table once that is known.
#[derive(Debug, Clone, Copy)]
struct Name {
    at: u32,
    len: u32,
    /// [`UNKNOWN`](Self::UNKNOWN) before it has been looked up.
    number: u32,
}

impl Name {
    /// The number before the operation has been looked up. No operation has it.
    const UNKNOWN: u32 = u32::MAX;

    #[inline]
    fn of(header: &RequestHeader<'_>) -> Self {
        let (at, len) = (
            u32::try_from(header.operation_at),
            u32::try_from(header.operation.len()),
        );
        // One that is farther behind than a message is long is nobody's.
        let (at, len) = at.ok().zip(len.ok()).unwrap_or_default();
        Self {
            at,
            len,
            number: Self::UNKNOWN,
        }
    }

    #[inline]
    fn octets(self, message: &Message) -> &[u8] {
        let octets = message.frame.octets();
        let behind = octets.get(self.at as usize..).unwrap_or_default();
        behind.get(..self.len as usize).unwrap_or_default()
    }
}

impl Places {
    /// Where the parts are that `header` tells of.
    #[must_use]
    #[inline]
    pub fn of(header: &RequestHeader<'_>) -> Self {
        Self {
            request_id: header.request_id,
            response: header.response,
            operation: Name::of(header),
            body: header.body,
        }
    }

    /// The same, and the number of the operation in the table of the object's
    /// [skeleton](crate::Skeleton::operations), if it has one.
    #[must_use]
    pub const fn with_number(mut self, number: Option<u32>) -> Self {
        if let Some(number) = number {
            self.operation.number = number;
        }
        self
    }

    /// Where the arguments begin.
    #[must_use]
    #[inline]
    pub const fn body(&self) -> usize {
        self.body
    }

    /// Whether a reply is wanted, and when.
    #[must_use]
    #[inline]
    pub const fn response(&self) -> ResponseFlags {
        self.response
    }

    /// What has to be known to answer the request, which came in this version.
    #[must_use]
    #[inline]
    pub const fn receipt(&self, version: Version, format: WireFormat) -> Receipt {
        Receipt {
            version,
            request_id: self.request_id,
            response: self.response,
            format,
        }
    }

    /// The same of another request, whose header differs in nothing but its id and where the arguments begin.
    #[must_use]
    #[inline]
    pub const fn again(self, request_id: u32, body: usize) -> Self {
        Self {
            request_id,
            body,
            ..self
        }
    }
}

/// A request: the message it came in, and where its parts are.
///
/// Arguments are borrowed from the message, which lives as long as this does.
pub struct Request {
    octets: Octets,
    receipt: Receipt,
    operation: Name,
    body: usize,
    context: Arc<dyn Context>,
    /// Takes cycles of values among the arguments apart that the servant did not keep. Rare, so it is not to make
    /// requests larger, which are handed on by value: up to [128 octets](SIZE) that is a few instructions.
    cycles: OnceLock<Box<Shared>>,
}

/// Where the arguments are.
enum Octets {
    /// Where they were received, with the rest of the message.
    Message(Message),
    /// By themselves, behind what is known of the message otherwise.
    Few {
        octets: [u8; Request::FEW],
        len: u8,
        endian: Endian,
    },
}

/// Octets of a request at most: more than this a compiler moves by a call of `memcpy`.
const SIZE: usize = 128;

const _: () = assert!(size_of::<Request>() <= SIZE);

impl Request {
    /// Octets of arguments that are [copied](Self::of_few) rather than shared: some numbers, a short string. As many as
    /// take no more room here than a message does.
    pub const FEW: usize = 48;

    /// Takes over a message whose header has been read. `context` is what object references
    /// among the arguments are decoded against.
    ///
    /// # Errors
    /// When the header cannot be read.
    pub fn new(
        message: Message,
        format: WireFormat,
        context: Arc<dyn Context>,
    ) -> Result<Self, ProtocolError> {
        let places = Places::of(&RequestHeader::read(&message)?);
        Ok(Self::at(places, message, format, context))
    }

    /// The same, for who has read the header already, of this message.
    #[must_use]
    #[inline]
    pub fn at(
        places: Places,
        message: Message,
        format: WireFormat,
        context: Arc<dyn Context>,
    ) -> Self {
        Self {
            receipt: places.receipt(message.header.version, format),
            operation: places.operation,
            body: places.body,
            octets: Octets::Message(message),
            context,
            cycles: OnceLock::new(),
        }
    }

    /// A request of an operation whose [number](Places::with_number) is known, with few octets of arguments, which are
    /// copied: the buffer that they were received in is free for the next message. `None` if there are more than
    /// [`FEW`](Self::FEW), or there is no number.
    ///
    /// `header` is the message's, and `body` what there is from [where the arguments begin](Places::body).
    #[must_use]
    #[inline(always)]
    pub fn of_few(
        places: Places,
        header: &MessageHeader,
        body: &[u8],
        format: WireFormat,
        context: Arc<dyn Context>,
    ) -> Option<Self> {
        if places.operation.number == Name::UNKNOWN {
            return None;
        }
        let mut octets = [0; Self::FEW];
        if !body.is_empty() {
            octets.get_mut(..body.len())?.copy_from_slice(body);
        }
        Some(Self {
            receipt: places.receipt(header.version, format),
            operation: places.operation,
            body: places.body,
            octets: Octets::Few {
                octets,
                len: u8::try_from(body.len()).ok()?,
                endian: header.endian,
            },
            context,
            cycles: OnceLock::new(),
        })
    }

    /// The operation's name on the wire; nothing if only its number is known.
    #[must_use]
    #[inline]
    pub fn operation(&self) -> &[u8] {
        match &self.octets {
            Octets::Message(message) => self.operation.octets(message),
            Octets::Few { .. } => &[],
        }
    }

    /// The operation's number in the servant's table, if that is known already.
    #[must_use]
    #[inline]
    pub(crate) fn number(&self) -> Option<u32> {
        (self.operation.number != Name::UNKNOWN).then_some(self.operation.number)
    }

    /// Octets of the whole message, or of what is there of it.
    #[must_use]
    #[inline]
    pub fn octets(&self) -> usize {
        match &self.octets {
            Octets::Message(message) => message.frame.len(),
            Octets::Few { len, .. } => usize::from(*len),
        }
    }

    /// The key of the object that it is for, if its target has one and the header is there. Reads that again.
    #[must_use]
    pub fn object_key(&self) -> Option<Bytes> {
        let Octets::Message(message) = &self.octets else {
            return None;
        };
        let header = RequestHeader::read(message).ok()?;
        header.target.object_key()
    }

    /// What has to be known to answer it.
    #[must_use]
    #[inline]
    pub fn receipt(&self) -> Receipt {
        self.receipt
    }

    /// Decodes the arguments where they lie. What follows them is ignored, as padding may.
    ///
    /// # Errors
    /// MARSHAL or DATA_CONVERSION when they are not what the interface says; COMPLETED_NO, since
    /// the servant has not been entered.
    pub fn arguments<'a, A: Decode<'a>>(&'a self) -> Result<A, SystemException> {
        let endian = match &self.octets {
            Octets::Message(message) => message.header.endian,
            Octets::Few { endian, .. } => *endian,
        };
        let arguments = match endian {
            Endian::Big => self.decode::<A, zorb_cdr::BigEndian>(),
            Endian::Little => self.decode::<A, zorb_cdr::LittleEndian>(),
        };
        zorb_giop::probe!(Demarshalled);
        arguments
    }

    #[inline]
    fn decode<'a, A: Decode<'a>, O: ByteOrder>(&'a self) -> Result<A, SystemException> {
        let read = || {
            let format = self.receipt.format;
            let d = match &self.octets {
                Octets::Message(message) => Decoder::<O>::at(&message.frame, self.body, format)?,
                Octets::Few { octets, len, .. } => {
                    let octets = octets.get(..usize::from(*len)).unwrap_or_default();
                    Decoder::from_slice(octets, format).taken_at(self.body)
                }
            };
            let mut d = d.with_context(&*self.context);
            let arguments = d.get()?;
            if let Some(cycles) = d.take_cycles() {
                // Arguments are read once; what is left over would be dropped, which is fine, too.
                let _ = self.cycles.set(Box::new(cycles));
            }
            Ok(arguments)
        };
        read().map_err(|error| Fault::Decode(error).raise(CompletionStatus::No))
    }

    /// What takes cycles of values among the arguments apart that nobody has kept: to be dropped behind the results, among
    /// which they may be.
    #[must_use]
    #[inline]
    pub fn take_cycles(&mut self) -> Option<Box<Shared>> {
        self.cycles.take()
    }

    /// Ends the upcall with a result.
    #[must_use]
    pub fn reply(&self, result: impl Encode) -> Outcome {
        self.receipt().reply(&result)
    }

    /// Ends the upcall with whichever exception the servant raised.
    #[must_use]
    pub fn exception(&self, error: &impl OperationError) -> Outcome {
        self.receipt().exception(error)
    }

    /// Ends the upcall with a system exception of the ORB.
    #[must_use]
    pub fn system_exception(&self, exception: &SystemException) -> Outcome {
        self.receipt().system_exception(exception)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("receipt", &self.receipt())
            .field("operation", &String::from_utf8_lossy(self.operation()))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_giop::RequestBuilder;

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

    /// What a request says, made with a message and of few octets.
    fn both<O: ByteOrder>(arguments: &[u8]) -> (Request, Option<Request>) {
        let message = message::<O>(arguments);
        let format = WireFormat::default();
        let places = Places::of(&RequestHeader::read(&message).unwrap()).with_number(Some(3));
        let octets = message.frame.octets();
        let body = octets.get(places.body()..).unwrap_or_default();
        let few = Request::of_few(places, &message.header, body, format, context());
        (Request::at(places, message, format, context()), few)
    }

    fn read<'a, A: Decode<'a> + fmt::Debug>(request: &'a Request) -> String {
        format!("{:?}", request.arguments::<A>())
    }

    fn check<O: ByteOrder>() {
        for count in 0..=Request::FEW + 1 {
            let arguments: Vec<u8> = (0..).map(|n| n & 3).take(count).collect();
            let (whole, few) = both::<O>(&arguments);
            assert_eq!(few.is_some(), count <= Request::FEW, "{count}");
            let Some(few) = few else { continue };
            assert_eq!((whole.number(), few.number()), (Some(3), Some(3)));
            assert_eq!(
                format!("{:?}", whole.receipt()),
                format!("{:?}", few.receipt())
            );
            assert_eq!(few.octets(), count);
            // Aligned as they were, and wrong at the same octet.
            assert_eq!(read::<u8>(&whole), read::<u8>(&few), "{count}");
            assert_eq!(read::<u64>(&whole), read::<u64>(&few), "{count}");
            assert_eq!(read::<(u8, f64)>(&whole), read::<(u8, f64)>(&few));
            assert_eq!(read::<(bool, String)>(&whole), read::<(bool, String)>(&few));
            assert_eq!(read::<Vec<u16>>(&whole), read::<Vec<u16>>(&few));
        }
    }

    #[test]
    fn few_arguments_are_read_by_themselves_as_in_their_message() {
        check::<zorb_cdr::BigEndian>();
        check::<zorb_cdr::LittleEndian>();
    }

    #[test]
    fn an_operation_without_a_number_needs_its_name_and_the_message_with_it() {
        let message = message::<NativeEndian>(b"");
        let places = Places::of(&RequestHeader::read(&message).unwrap());
        let format = WireFormat::default();
        assert!(Request::of_few(places, &message.header, b"", format, context()).is_none());
        let request = Request::at(places, message, format, context());
        assert_eq!(
            (request.number(), request.operation()),
            (None, &b"an_operation"[..])
        );
    }
}
