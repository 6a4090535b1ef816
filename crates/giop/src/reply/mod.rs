//! Reply headers of GIOP 1.0, 1.1 and 1.2, and the exceptions in their bodies.

mod contexts;
mod slot;

pub use contexts::add_contexts;
pub use slot::ReplySlot;

use crate::context::{ServiceContext, ServiceContexts};
use crate::error::ProtocolError;
use crate::exception::SystemException;
use crate::header::{HEADER_LEN, Message, MessageHeader, MessageKind, Version};
use crate::request::{BODY_ALIGNMENT, aligned_body, finish_in, seal, write_contexts, write_header};
use zorb_cdr::{
    BigEndian, ByteOrder, DecodeError, Decoder, EncodeError, Encoder, Endian, Gather, LittleEndian,
};

/// Octets before the body of a reply without service contexts: the message's header, the number of contexts, request id
/// and status. The number is a multiple of 8, so a body of GIOP 1.2 begins right there.
pub(crate) const HEADER_OCTETS: usize = HEADER_LEN + BEHIND_MESSAGE_HEADER as usize;

/// Octets of these behind the message's header.
const BEHIND_MESSAGE_HEADER: u32 = 12;

const _: () = assert!(HEADER_OCTETS.is_multiple_of(BODY_ALIGNMENT));

/// The contents of a Reply's body.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Reply message).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ReplyStatus {
    /// The result, then inout and out parameters.
    NoException = 0,
    /// A repository id, then the exception's members.
    UserException = 1,
    /// Repository id, minor code, completion status.
    SystemException = 2,
    /// A reference, to which the request has to be sent.
    LocationForward = 3,
    /// LOCATION_FORWARD_PERM: the object has moved for good (GIOP 1.2).
    LocationForwardPerm = 4,
    /// The addressing for which the server asks (GIOP 1.2).
    NeedsAddressingMode = 5,
}

impl ReplyStatus {
    #[inline]
    fn from_u32(status: u32) -> Result<Self, ProtocolError> {
        Ok(match status {
            0 => Self::NoException,
            1 => Self::UserException,
            2 => Self::SystemException,
            3 => Self::LocationForward,
            4 => Self::LocationForwardPerm,
            5 => Self::NeedsAddressingMode,
            _ => {
                return Err(ProtocolError::BadStatus {
                    kind: MessageKind::Reply,
                    status,
                });
            }
        })
    }
}

/// The header of a received Reply.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Reply message).
#[derive(Debug)]
pub struct ReplyHeader<'a> {
    /// The id of the request that is answered.
    pub request_id: u32,
    /// The reply status, which determines the type of the body.
    pub status: ReplyStatus,
    /// The service contexts of the reply, not yet decoded.
    pub contexts: ServiceContexts<'a>,
    /// The offset of the body in the frame.
    pub body: usize,
}

impl<'a> ReplyHeader<'a> {
    /// Reads the header of `message`. Allocates nothing.
    ///
    /// # Errors
    /// [`Malformed`](ProtocolError::Malformed) if the header ends early;
    /// [`BadStatus`](ProtocolError::BadStatus) for a status that the specification does not have.
    #[inline]
    pub fn read(message: &'a Message) -> Result<Self, ProtocolError> {
        by_order!(message.header.endian, O => match Self::read_common::<O>(message) {
            Some(header) => Ok(header),
            None => Self::read_in::<O>(message),
        })
    }

    /// Reads the parts that most clients need: request id, status, and the position of the body.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    #[inline]
    pub fn head(message: &'a Message) -> Result<(u32, ReplyStatus, usize), ProtocolError> {
        let common = match message.frame.fragment_starts() {
            [] => Self::head_in_place(&message.header, message.frame.octets()),
            _ => None,
        };
        match common {
            Some(head) => Ok(head),
            None => {
                let header = by_order!(message.header.endian, O => Self::read_in::<O>(message))?;
                Ok((header.request_id, header.status, header.body))
            }
        }
    }

    /// Reads request id, status and offset of the body of a reply in one piece without service contexts, from its
    /// octets; `None` for every other reply, which [`head`](Self::head) reads.
    #[inline]
    #[must_use]
    pub fn head_in_place(
        header: &MessageHeader,
        octets: &[u8],
    ) -> Option<(u32, ReplyStatus, usize)> {
        let (id, status) = match header.endian {
            Endian::Big => id_and_status::<BigEndian>(header.version, octets),
            Endian::Little => id_and_status::<LittleEndian>(header.version, octets),
        }?;
        Some((id, ReplyStatus::from_u32(status).ok()?, HEADER_OCTETS))
    }

    /// Reads the header of a reply in one piece without service contexts, which is of fixed size in every version;
    /// `None` for every other one, malformed ones included.
    #[inline]
    fn read_common<O: ByteOrder>(message: &'a Message) -> Option<Self> {
        if !message.frame.fragment_starts().is_empty() {
            return None;
        }
        let version = message.header.version;
        let (request_id, status) = id_and_status::<O>(version, message.frame.octets())?;
        let behind = match version.has_contexts_last() {
            true => HEADER_OCTETS,
            false => HEADER_LEN.saturating_add(4),
        };
        Some(Self {
            request_id,
            status: ReplyStatus::from_u32(status).ok()?,
            contexts: ServiceContexts::none::<O>(message, behind),
            body: HEADER_OCTETS,
        })
    }

    #[cold]
    fn read_in<O: ByteOrder>(message: &'a Message) -> Result<Self, ProtocolError> {
        let bad = |e| message.malformed(e);
        let mut d = message.decoder::<O>().map_err(bad)?;
        if message.header.version >= Version::V1_2 {
            let request_id = d.read_u32().map_err(bad)?;
            let status = ReplyStatus::from_u32(d.read_u32().map_err(bad)?)?;
            let contexts = ServiceContexts::read(&mut d, &message.frame).map_err(bad)?;
            Ok(Self {
                request_id,
                status,
                contexts,
                body: aligned_body(&mut d),
            })
        } else {
            let contexts = ServiceContexts::read(&mut d, &message.frame).map_err(bad)?;
            let request_id = d.read_u32().map_err(bad)?;
            let status = ReplyStatus::from_u32(d.read_u32().map_err(bad)?)?;
            Ok(Self {
                request_id,
                status,
                contexts,
                body: d.position(),
            })
        }
    }
}

/// Reads the fixed fields of a reply without service contexts; `None` for a reply with any.
#[inline]
fn id_and_status<O: ByteOrder>(version: Version, octets: &[u8]) -> Option<(u32, u32)> {
    let (words, _) = octets.first_chunk::<HEADER_OCTETS>()?.as_chunks();
    let [_, _, _, a, b, c] = *words else {
        return None;
    };
    let (a, b, c) = (O::load_u32(a), O::load_u32(b), O::load_u32(c));
    let (contexts, id, status) = match version.has_contexts_last() {
        true => (c, a, b),
        false => (a, b, c),
    };
    (contexts == 0).then_some((id, status))
}

/// The header of a Reply to be encoded.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Reply message).
#[derive(Debug, Clone, Copy)]
pub struct ReplyBuilder<'a> {
    /// The version of the request, which the reply has to have too.
    pub version: Version,
    /// The id of the request that is answered.
    pub request_id: u32,
    /// The reply status, which determines the type of the body.
    pub status: ReplyStatus,
    /// The service contexts to send, in this order.
    pub contexts: &'a [ServiceContext],
}

impl ReplyBuilder<'_> {
    /// Writes the message in one pass into `e`, which must be new (position 0): the header, then the body that `body`
    /// writes.
    ///
    /// # Errors
    /// The error of `body`; [`TooLong`](zorb_cdr::EncodeErrorKind::TooLong) for a message longer than 4 GiB.
    #[inline]
    pub fn encode<O: ByteOrder>(
        &self,
        mut e: Encoder<O>,
        body: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<Gather, EncodeError> {
        self.write(&mut e, body)?;
        Ok(e.finish())
    }

    /// Encodes a reply and leaves it in the encoder, which has to be new, so that callers need not move the message.
    /// After an error the encoder holds a part of a message.
    ///
    /// # Errors
    /// Returns the errors of [`encode`](Self::encode).
    #[inline]
    pub fn write<O: ByteOrder>(
        &self,
        e: &mut Encoder<O>,
        body: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        // A status that the request's version lacks is sent as the one that it has.
        let status = match self.status {
            ReplyStatus::LocationForwardPerm if self.version < Version::V1_2 => {
                ReplyStatus::LocationForward
            }
            status => status,
        };
        if self.contexts.is_empty() {
            e.append(&self.header_without_contexts::<O>(status));
            if self.version == Version::V1_1 {
                // `Fragments` may cut the message there later.
                e.remember_runs();
            }
            // A body of 1.2 begins here as well, so no padding is needed, whether it is empty or not.
            body(e)?;
            if e.position() != HEADER_OCTETS {
                seal(e)?;
            }
            return Ok(());
        }
        write_header(e, self.version, MessageKind::Reply);
        if self.version >= Version::V1_2 {
            e.write_u32(self.request_id);
            e.write_u32(status as u32);
            write_contexts(e, self.contexts)?;
        } else {
            write_contexts(e, self.contexts)?;
            e.write_u32(self.request_id);
            e.write_u32(status as u32);
        }
        finish_in(e, self.version, body)
    }

    /// Returns the octets of a reply without service contexts and body.
    #[inline]
    fn header_without_contexts<O: ByteOrder>(&self, status: ReplyStatus) -> [u8; HEADER_OCTETS] {
        let header = MessageHeader {
            version: self.version,
            endian: O::ENDIAN,
            more_fragments: false,
            kind: MessageKind::Reply,
            size: BEHIND_MESSAGE_HEADER,
        };
        let (id, status, none) = (
            O::store_u32(self.request_id),
            O::store_u32(status as u32),
            O::store_u32(0),
        );
        let words = match self.version.has_contexts_last() {
            true => [id, status, none],
            false => [none, id, status],
        };
        let mut octets = [0; HEADER_OCTETS];
        let (message, reply) = octets.split_at_mut(HEADER_LEN);
        message.copy_from_slice(&header.to_octets());
        reply.copy_from_slice(words.as_flattened());
        octets
    }
}

/// Reads the body of a SYSTEM_EXCEPTION reply.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Reply message).
///
/// # Errors
/// [`Truncated`](zorb_cdr::DecodeErrorKind::Truncated) if the body ends early;
/// [`InvalidEnum`](zorb_cdr::DecodeErrorKind::InvalidEnum) for a completion status that the specification does not
/// have.
pub fn read_system_exception<O: ByteOrder>(
    d: &mut Decoder<'_, O>,
) -> Result<SystemException, DecodeError> {
    d.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use zorb_cdr::{Frame, WireFormat};

    fn is_read_alike<O: ByteOrder>(octets: &[u8]) -> bool {
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        let frame = Frame::new(Bytes::copy_from_slice(octets));
        let message = Message { header, frame };
        let head = ReplyHeader::head(&message).ok();
        let read = ReplyHeader::read(&message).ok();
        assert_eq!(head, read.map(|it| (it.request_id, it.status, it.body)));
        let one = ReplyHeader::read_common::<O>(&message);
        match (one, ReplyHeader::read_in::<O>(&message)) {
            (Some(one), Ok(other)) => {
                assert_eq!(format!("{one:?}"), format!("{other:?}"));
                true
            }
            (Some(one), Err(error)) => panic!("{one:?} is {error}"),
            (None, _) => false,
        }
    }

    fn check<O: ByteOrder>(version: Version) {
        for is_empty in [true, false] {
            let builder = ReplyBuilder {
                version,
                request_id: 0x0102_0304,
                status: ReplyStatus::UserException,
                contexts: &[],
            };
            let reply = builder.encode(Encoder::<O>::new(WireFormat::default()), |e| {
                if !is_empty {
                    e.write_u8(7);
                }
                Ok(())
            });
            let octets = reply.unwrap().to_vec();
            assert!(is_read_alike::<O>(&octets));
            for at in HEADER_LEN..octets.len() {
                is_read_alike::<O>(&octets[..at]);
                for octet in [0, 1, 3, 6, 0x7f, 0x80, 0xff] {
                    let mut other = octets.clone();
                    other[at] = octet;
                    is_read_alike::<O>(&other);
                }
            }
        }
    }

    #[test]
    fn a_common_header_is_read_as_any_other() {
        for minor in 0..=2 {
            check::<BigEndian>(Version { major: 1, minor });
            check::<LittleEndian>(Version { major: 1, minor });
        }
    }
}
