//! A reply on its way from the receive buffer to the caller that decodes it.

use super::{ReplyHeader, ReplyStatus};
use crate::error::ProtocolError;
use crate::header::{Message, MessageHeader};
use crate::reader::Received;
use bytes::Bytes;
use zorb_cdr::{ByteOrder, Context, DecodeError, Decoder, Endian, Frame, WireFormat};

/// The place of a call's reply, filled once the reply has been received.
///
/// A short reply is copied, so that the receive buffer is free at once; a longer one shares the buffer.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct ReplySlot {
    inline: [u8; Self::MAX_INLINE_OCTETS],
    /// Octets of a copied message.
    len: usize,
    /// A message that is not copied.
    message: Option<Message>,
    endian: Endian,
    status: ReplyStatus,
    body: usize,
}

impl ReplySlot {
    /// Longest message that is copied, in octets: copying it costs less than sharing it.
    pub const MAX_INLINE_OCTETS: usize = 128;

    /// Makes an empty slot, in which no reply is stored. Allocates nothing.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self {
            inline: [0; Self::MAX_INLINE_OCTETS],
            len: 0,
            message: None,
            endian: Endian::NATIVE,
            status: ReplyStatus::NoException,
            body: 0,
        }
    }

    /// Stores a received reply of this `status`, whose body begins at offset `body`. A result or a user exception may
    /// be copied; other replies keep their message, with its service contexts.
    #[inline]
    pub fn fill(&mut self, received: Received<'_>, status: ReplyStatus, body: usize) {
        let octets = received.octets();
        let copies = matches!(
            status,
            ReplyStatus::NoException | ReplyStatus::UserException
        ) && received.is_contiguous();
        match self.inline.get_mut(..octets.len()) {
            Some(inline) if copies => {
                inline.copy_from_slice(octets);
                self.len = octets.len();
                self.endian = received.header().endian;
                self.status = status;
                self.body = body;
                self.message = None;
                received.discard();
            }
            _ => self.set_message(received.into_message(), status, body),
        }
    }

    /// Stores a reply that has been split off its buffer.
    pub fn set_message(&mut self, message: Message, status: ReplyStatus, body: usize) {
        self.endian = message.header.endian;
        self.status = status;
        self.body = body;
        self.message = Some(message);
    }

    /// Stores a reply that was encoded in this process.
    ///
    /// # Errors
    /// Returns the errors of [`ReplyHeader::head`]; the slot does not change then.
    pub fn set_local(&mut self, message: Message) -> Result<(), ProtocolError> {
        let (_, status, body) = ReplyHeader::head(&message)?;
        self.set_message(message, status, body);
        Ok(())
    }

    /// Returns the byte order of the reply.
    #[inline]
    #[must_use]
    pub const fn endian(&self) -> Endian {
        self.endian
    }

    /// Returns the status of the reply, which determines the type of the body.
    #[inline]
    #[must_use]
    pub const fn status(&self) -> ReplyStatus {
        self.status
    }

    /// Returns the message, unless it was copied.
    #[must_use]
    pub const fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// Returns the reply as a message of its own, with the offset of its body. Copies a short reply; `None` if the slot is
    /// empty.
    #[must_use]
    pub fn to_message(&self) -> Option<(Message, usize)> {
        if let Some(message) = &self.message {
            return Some((message.clone(), self.body));
        }
        let octets = self.inline.get(..self.len)?;
        let header = MessageHeader::parse(octets.first_chunk()?).ok()?;
        let frame = Frame::new(Bytes::copy_from_slice(octets));
        Some((Message { header, frame }, self.body))
    }

    /// Whether the body is complete and holds a result or a user exception.
    #[inline]
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(
            self.status,
            ReplyStatus::NoException | ReplyStatus::UserException
        ) && !self.message.as_ref().is_some_and(Message::is_cut_short)
    }

    /// Returns a decoder at the body. `O` has to be the reply's [byte order](Self::endian).
    ///
    /// # Errors
    /// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the slot is empty, or the body begins behind the end of the
    /// message.
    #[inline]
    pub fn decoder<O: ByteOrder>(&self, format: WireFormat) -> Result<Decoder<'_, O>, DecodeError> {
        let mut d = self.whole(format);
        d.pass(self.body)?;
        Ok(d)
    }

    /// Calls `read` with a decoder at the body that has a context. `O` has to be the reply's [byte
    /// order](Self::endian).
    ///
    /// # Errors
    /// The errors of [`decoder`](Self::decoder). That returns its decoder, and so moves it; this reads where the
    /// decoder was made.
    #[inline]
    pub fn read<'s, O: ByteOrder, T>(
        &'s self,
        format: WireFormat,
        context: &'s dyn Context,
        read: impl FnOnce(&mut Decoder<'s, O>) -> T,
    ) -> Result<T, DecodeError> {
        let mut d = self.whole(format);
        d.attach(context);
        d.pass(self.body)?;
        Ok(read(&mut d))
    }

    /// Returns a decoder at the start of the message.
    #[inline(always)]
    fn whole<O: ByteOrder>(&self, format: WireFormat) -> Decoder<'_, O> {
        match &self.message {
            Some(message) => Decoder::new(&message.frame, format),
            None => {
                let octets = self.inline.get(..self.len).unwrap_or_default();
                Decoder::from_slice(octets, format)
            }
        }
    }
}

impl Default for ReplySlot {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Limits, Reader, ReplyBuilder, ServiceContext, ServiceContextId, Version,
        reply::HEADER_OCTETS,
    };
    use zorb_cdr::{BigEndian, Encoder, LittleEndian};

    const PLAIN: ReplyBuilder<'_> = ReplyBuilder {
        version: Version::V1_2,
        request_id: 0x0102_0304,
        status: ReplyStatus::NoException,
        contexts: &[],
    };

    fn encoded<O: ByteOrder>(builder: &ReplyBuilder<'_>, body: &[u8]) -> Vec<u8> {
        let written = builder.encode(Encoder::<O>::new(WireFormat::default()), |e| {
            e.append(body);
            Ok(())
        });
        written.unwrap().to_vec()
    }

    /// Returns the body in the slot, and whether the message was copied.
    fn received<O: ByteOrder>(octets: &[u8]) -> (Vec<u8>, bool) {
        let mut reader = Reader::new(Limits::default());
        reader.buffer().extend_from_slice(octets);
        let received = reader.receive(|_, _| {}).unwrap().unwrap();
        let in_place = ReplyHeader::head_in_place(received.header(), received.octets());
        let mut slot = ReplySlot::new();
        match in_place {
            Some((id, status, body)) => {
                assert_eq!(id, PLAIN.request_id);
                slot.fill(received, status, body);
            }
            None => slot.set_local(received.into_message()).unwrap(),
        }
        assert!(reader.is_idle());
        let mut d = slot.decoder::<O>(WireFormat::default()).unwrap();
        let left = d.remaining();
        (d.take(left).unwrap().to_vec(), slot.message().is_none())
    }

    #[test]
    fn short_results_are_copied_and_longer_ones_shared() {
        for status in [ReplyStatus::NoException, ReplyStatus::UserException] {
            let builder = ReplyBuilder { status, ..PLAIN };
            for len in [0, 1, 8, 104, 105, 4000] {
                let body = vec![7; len];
                let copied = len + HEADER_OCTETS <= ReplySlot::MAX_INLINE_OCTETS;
                let little = received::<LittleEndian>(&encoded::<LittleEndian>(&builder, &body));
                assert_eq!(little, (body.clone(), copied));
                let big = received::<BigEndian>(&encoded::<BigEndian>(&builder, &body));
                assert_eq!(big, (body, copied));
            }
        }
    }

    #[test]
    fn replies_with_contexts_and_system_exceptions_keep_their_message() {
        let context = ServiceContext {
            id: ServiceContextId(7),
            data: vec![1].into(),
        };
        let contexts = &[context][..];
        let with_contexts = ReplyBuilder { contexts, ..PLAIN };
        assert!(!received::<LittleEndian>(&encoded::<LittleEndian>(&with_contexts, b"12345678")).1);
        let status = ReplyStatus::SystemException;
        let raised = ReplyBuilder { status, ..PLAIN };
        assert!(!received::<LittleEndian>(&encoded::<LittleEndian>(&raised, b"12345678")).1);
    }

    #[test]
    fn an_empty_slot_has_nothing_to_decode() {
        let slot = ReplySlot::new();
        let mut d = slot.decoder::<BigEndian>(WireFormat::default()).unwrap();
        assert!(d.read_u8().is_err());
    }
}
