//! Decoding of replies.

use crate::decoding::ReplyContext;
use crate::object::{Binding, ObjectRef};
use crate::signature::TypedResults;
use std::time::Instant;
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, DecodeError, DecodeErrorKind, Endian, LittleEndian, WireFormat,
};
use zorb_connection::Counter;
use zorb_connection::client::refused_by_omniorb;
use zorb_giop::{
    CompletionStatus, Fault, Ior, OperationError, ProtocolError, ReplyHeader, ReplySlot,
    ReplyStatus, ServiceContextId, SystemException, SystemExceptionKind, exception_detail, minor,
};
use zorb_poa::signature::Results;

/// A reply that is not final: it holds neither a result nor a user exception of the operation.
pub(super) enum Answer {
    Forward(Ior),
    /// The addressing mode that the server needs.
    Readdress(i16),
    Exception(SystemException),
}

impl ObjectRef {
    /// Decodes the result in a reply, or the user exception.
    #[inline]
    pub(super) fn result<R: Results, E: OperationError>(
        &self,
        reply: &ReplySlot,
        format: WireFormat,
        deadline: Option<Instant>,
    ) -> Result<R::Values, E> {
        match reply.endian() {
            Endian::Big => self.decode_result::<BigEndian, R, E>(reply, format, deadline),
            Endian::Little => self.decode_result::<LittleEndian, R, E>(reply, format, deadline),
        }
    }

    #[inline]
    fn decode_result<O: ByteOrder, R, E>(
        &self,
        reply: &ReplySlot,
        format: WireFormat,
        deadline: Option<Instant>,
    ) -> Result<R::Values, E>
    where
        R: Results,
        E: OperationError,
    {
        let marshal = malformed::<E>;
        let context = self.reply_context(deadline);
        let read = reply.read::<O, _>(format, &context, |d| {
            if reply.status() == ReplyStatus::NoException {
                return R::decode(d).map_err(marshal);
            }
            let id = d.read_raw_string().map_err(marshal)?;
            match E::decode_user(id, d) {
                Some(Ok(exception)) => Err(exception),
                Some(Err(error)) => Err(marshal(error)),
                None => {
                    let id = String::from_utf8_lossy(id).into_owned();
                    let unlisted = Fault::UnlistedException(id).raise(CompletionStatus::Yes);
                    Err(raised(unlisted))
                }
            }
        });
        read.unwrap_or_else(|error| Err(marshal(error)))
    }

    /// The context in which a reply is decoded, up to the end of the call's time limit.
    #[inline]
    pub(crate) fn reply_context(&self, deadline: Option<Instant>) -> ReplyContext<'_> {
        let orb = &**self.orb().inner();
        ReplyContext { orb, deadline }
    }

    /// The results of a collocated call that was not marshalled.
    pub(super) fn convert<R: TypedResults, E: OperationError>(
        &self,
        results: Option<R::Values>,
    ) -> Result<R::Values, E> {
        let Some(results) = results else {
            return Err(raised(internal()));
        };
        R::convert(results, self.orb())
            .map_err(|error| raised(Fault::of_result(error).raise(CompletionStatus::Yes)))
    }

    /// The exception for a server that broke the protocol.
    pub(super) fn broken(
        &self,
        error: ProtocolError,
        completed: CompletionStatus,
    ) -> SystemException {
        let endpoint = self.endpoints_text();
        Fault::Protocol { endpoint, error }.raise(completed)
    }

    /// Reads a reply that is not final.
    ///
    /// # Errors
    /// IMP_LIMIT for a reply that was cut short by the limit on messages, MARSHAL or a protocol error for a malformed
    /// one.
    pub(super) fn read_reply(
        &self,
        reply: &ReplySlot,
        binding: &Binding,
    ) -> Result<Answer, SystemException> {
        let format = self.format(binding);
        let status = reply.status();
        let mut explained = None;
        if let Some(message) = reply.message() {
            if message.is_cut_short() {
                self.orb().inner().count(Counter::RepliesTooLarge);
                let fault = Fault::MessageTooLarge {
                    endpoint: self.endpoints_text(),
                    kind: message.header.kind,
                    octets: message.octets(),
                    limit: self.orb().inner().limits().max_message_octets,
                };
                return Err(fault.raise(match status {
                    ReplyStatus::NoException | ReplyStatus::UserException => CompletionStatus::Yes,
                    _ => CompletionStatus::Maybe,
                }));
            }
            if status == ReplyStatus::SystemException {
                let header = ReplyHeader::read(message)
                    .map_err(|error| self.broken(error, CompletionStatus::Maybe))?;
                explained = (header.contexts)
                    .get(ServiceContextId::EXCEPTION_DETAIL_MESSAGE)
                    .and_then(exception_detail);
            }
        }
        let malformed = |error| Fault::Decode(error).raise(CompletionStatus::Maybe);
        Ok(match status {
            ReplyStatus::SystemException => {
                let raised = decode::<SystemException>(reply, format).map_err(malformed)?;
                Answer::Exception(match explained {
                    Some(text) => {
                        let text = text.trim();
                        raised.with_local_detail(format_args!("the server says: {text}"))
                    }
                    None => raised,
                })
            }
            ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
                Answer::Forward(decode(reply, format).map_err(malformed)?)
            }
            ReplyStatus::NeedsAddressingMode => {
                Answer::Readdress(decode(reply, format).map_err(malformed)?)
            }
            // Final replies are decoded by `result` and do not come here.
            ReplyStatus::NoException | ReplyStatus::UserException => Answer::Exception(internal()),
        })
    }
}

fn decode<T: for<'de> Decode<'de>>(
    reply: &ReplySlot,
    format: WireFormat,
) -> Result<T, DecodeError> {
    match reply.endian() {
        Endian::Big => reply.decoder::<BigEndian>(format)?.get(),
        Endian::Little => reply.decoder::<LittleEndian>(format)?.get(),
    }
}

/// Converts a system exception to the error type of the operation.
#[cold]
pub(super) fn raised<E: OperationError>(exception: SystemException) -> E {
    E::from(exception.received())
}

/// The exception for an outcome that the ORB rules out, such as a reply in place of values.
#[cold]
pub(super) fn internal() -> SystemException {
    Fault::Internal("the reply has another form than its request".to_owned())
        .raise(CompletionStatus::Maybe)
}

/// The error for a result that cannot be decoded. The reply's status was read, so the operation was carried out:
/// COMPLETED_YES.
#[cold]
fn malformed<E: OperationError>(error: DecodeError) -> E {
    let fault = match error.kind() {
        DecodeErrorKind::WideInGiop1_0 => Fault::WideResultInGiop1_0,
        _ => Fault::Decode(error),
    };
    raised(fault.raise(CompletionStatus::Yes))
}

/// Adds the size of the request and the limit to an exception for a message that was too large.
pub(super) fn explain_size(exception: SystemException, octets: usize) -> SystemException {
    let minor = exception.minor;
    if minor == minor::MESSAGE_TOO_LARGE
        && exception.kind == SystemExceptionKind::ImpLimit
        && exception.completed == CompletionStatus::No
    {
        exception.with_local_detail(format_args!(
            "the server refuses a request of {octets} octets: its Builder::max_message_octets is less"
        ))
    } else if minor::OMNIORB_MESSAGE_TOO_LARGE.contains(&minor)
        && exception.kind == SystemExceptionKind::Marshal
    {
        // In GIOP 1.0 omniORB checks the length of a reply before it sends any of it, with the same minor code.
        exception.with_local_detail(refused_by_omniorb(octets))
    } else {
        exception
    }
}
