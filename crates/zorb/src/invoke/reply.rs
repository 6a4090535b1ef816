//! What a reply says.

use crate::object::{Binding, ObjectRef};
use crate::signature::Results;
use crate::wire::{Answered, Arrived, refused_by_omniorb};
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Endian, LittleEndian,
    WireFormat,
};
use zorb_giop::{
    CompletionStatus, Fault, Ior, Message, MessageKind, OperationError, ProtocolError, ReplyHeader,
    ReplyStatus, ServiceContextId, SmallReply, SystemException, SystemExceptionKind,
    exception_detail, minor,
};

/// A reply that has come: the message and how its text is to be read.
pub(super) struct Reply {
    pub(super) message: Message,
    format: WireFormat,
    status: ReplyStatus,
    body: usize,
}

pub(super) enum Answer {
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

impl ObjectRef {
    /// The result in a reply, or the exception.
    #[inline]
    pub(super) fn result<O: ByteOrder, R, E>(&self, reply: &Reply) -> Result<R::Values, E>
    where
        R: Results,
        E: OperationError,
    {
        let frame = &reply.message.frame;
        let d = Decoder::<O>::at(frame, reply.body, reply.format).map_err(malformed)?;
        self.read_result::<O, R, E>(d, reply.status)
    }

    /// The same of a small reply.
    #[inline]
    pub(super) fn small_result<O: ByteOrder, R, E>(
        &self,
        reply: &SmallReply,
        format: WireFormat,
    ) -> Result<R::Values, E>
    where
        R: Results,
        E: OperationError,
    {
        let d = reply.body::<O>(format).map_err(malformed)?;
        self.read_result::<O, R, E>(d, reply.status())
    }

    #[inline]
    fn read_result<O: ByteOrder, R, E>(
        &self,
        d: Decoder<'_, O>,
        status: ReplyStatus,
    ) -> Result<R::Values, E>
    where
        R: Results,
        E: OperationError,
    {
        let mut d = d.with_context(&**self.orb().inner());
        let marshal = malformed::<E>;
        match status {
            ReplyStatus::NoException => R::decode(&mut d).map_err(marshal),
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

    /// The server broke the protocol.
    pub(super) fn broken(
        &self,
        error: ProtocolError,
        completed: CompletionStatus,
    ) -> SystemException {
        let endpoint = self.whereabouts();
        Fault::Protocol { endpoint, error }.raise(completed)
    }

    /// The reply, if it is one with a result or an exception of the operation's own, and nothing is to be said of it.
    pub(super) fn plain_reply(
        &self,
        answered: Answered,
        binding: &Binding,
    ) -> Result<Reply, Answered> {
        match answered.arrived.head {
            Some((status @ (ReplyStatus::NoException | ReplyStatus::UserException), body))
                if !answered.arrived.message.is_cut_short() =>
            {
                Ok(self.reply(answered.arrived.message, binding.format(), status, body))
            }
            _ => Err(answered),
        }
    }

    /// How the text of replies is to be read.
    #[inline]
    pub(super) fn format(&self, binding: &Binding) -> WireFormat {
        self.format_in(binding.format())
    }

    #[inline]
    fn format_in(&self, format: WireFormat) -> WireFormat {
        match self.char_code_set() {
            Some(char_set) => WireFormat { char_set, ..format },
            None => format,
        }
    }

    fn reply(
        &self,
        message: Message,
        format: WireFormat,
        status: ReplyStatus,
        body: usize,
    ) -> Reply {
        Reply {
            format: self.format_in(format),
            status,
            body,
            message,
        }
    }

    pub(super) fn read_reply(
        &self,
        arrived: Arrived,
        binding: &Binding,
    ) -> Result<Answer, SystemException> {
        self.read_reply_in(arrived, binding.format())
    }

    /// The same, with text that travels so.
    pub(super) fn read_reply_in(
        &self,
        arrived: Arrived,
        format: WireFormat,
    ) -> Result<Answer, SystemException> {
        let Arrived { message, head } = arrived;
        // What kind of reply it was is not known, so neither is what happened.
        let lost = |error| self.broken(error, CompletionStatus::Maybe);
        let kind = message.header.kind;
        if kind != MessageKind::Reply {
            return Err(lost(ProtocolError::WrongDirection { kind }));
        }
        let (status, body) = match head {
            Some(head) => head,
            None => {
                let header = ReplyHeader::read(&message).map_err(lost)?;
                (header.status, header.body)
            }
        };
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
            ReplyStatus::SystemException => ReplyHeader::read(&message)
                .map_err(lost)?
                .contexts
                .get(ServiceContextId::EXCEPTION_DETAIL_MESSAGE)
                .and_then(exception_detail),
            _ => None,
        };
        let reply = self.reply(message, format, status, body);
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
}

/// A result that cannot be read. A status has been, so the operation was carried out.
#[cold]
fn malformed<E: OperationError>(error: DecodeError) -> E {
    let fault = match error.kind() {
        DecodeErrorKind::WideInGiop1_0 => Fault::WideResultInGiop1_0,
        _ => Fault::Decode(error),
    };
    E::from(fault.raise(CompletionStatus::Yes).received())
}

/// Adds to an exception that says that a message was too large what is known of that: how large the
/// request was, and whose limit it is.
pub(super) fn explain_size(exception: SystemException, octets: usize) -> SystemException {
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
