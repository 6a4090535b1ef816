//! Request headers of GIOP 1.0, 1.1 and 1.2.

use crate::addressing::AddressingDisposition;
use crate::context::{ServiceContext, ServiceContexts};
use crate::error::ProtocolError;
use crate::header::{HEADER_LEN, Message, MessageHeader, MessageKind, Version};
use crate::ior::{Ior, TaggedProfile};
use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncodeError, EncodeErrorKind, Encoder, Gather};

mod offsets;
mod template;

pub use offsets::HeaderOffsets;
pub use template::RequestTemplate;

/// Alignment of a request or reply body in GIOP 1.2.
pub(crate) const BODY_ALIGNMENT: usize = 8;
/// The offset of the size in the message header.
const SIZE_POSITION: usize = 8;

/// Whether a request gets a reply, and when.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Request message).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResponseFlags {
    /// The client wants no reply: SYNC_NONE or SYNC_WITH_TRANSPORT.
    None,
    /// The client wants a reply before the servant is called: SYNC_WITH_SERVER.
    WithServer,
    /// The client wants a reply after the servant has returned: two-way calls and SYNC_WITH_TARGET.
    WithTarget,
}

impl ResponseFlags {
    fn from_octet(octet: u8) -> Result<Self, ProtocolError> {
        // The upper bits are reserved, and ignored.
        match octet & 3 {
            0 => Ok(Self::None),
            1 => Ok(Self::WithServer),
            3 => Ok(Self::WithTarget),
            _ => Err(ProtocolError::BadResponseFlags(octet)),
        }
    }

    /// Returns the octet in a version; before GIOP 1.2 it is a boolean.
    fn in_version(self, version: Version) -> u8 {
        match self {
            Self::WithTarget if version < Version::V1_2 => 1,
            _ if version < Version::V1_2 => 0,
            Self::None => 0,
            Self::WithServer => 1,
            Self::WithTarget => 3,
        }
    }
}

/// The target of a request.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Request message).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetAddress<'a> {
    /// An object key, the form that every ORB sends first.
    Key(&'a [u8]),
    /// A whole profile (GIOP 1.2).
    Profile(TaggedProfile),
    /// A whole reference and the profile chosen from it (GIOP 1.2).
    Reference {
        /// The index of the chosen profile, which a peer may state beyond the last one.
        selected: u32,
        /// The reference.
        ior: Box<Ior>,
    },
}

impl<'a> TargetAddress<'a> {
    pub(crate) fn read<O: ByteOrder>(
        d: &mut Decoder<'a, O>,
    ) -> Result<Result<Self, ProtocolError>, DecodeError> {
        Ok(Ok(match d.read_i16()? {
            0 => Self::Key(d.read_octets()?),
            1 => Self::Profile(d.get()?),
            2 => Self::Reference {
                selected: d.read_u32()?,
                ior: Box::new(d.get()?),
            },
            other => return Ok(Err(ProtocolError::BadAddressing(other))),
        }))
    }

    /// Writes it in the form of GIOP 1.2.
    pub(crate) fn write<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        match self {
            Self::Key(key) => {
                e.write_i16(AddressingDisposition::Key as i16);
                e.write_octets(key)
            }
            Self::Profile(profile) => {
                e.write_i16(AddressingDisposition::Profile as i16);
                e.put(profile)
            }
            Self::Reference { selected, ior } => {
                e.write_i16(AddressingDisposition::Reference as i16);
                e.write_u32(*selected);
                e.put(&**ior)
            }
        }
    }

    /// Returns a copy of the object key. Reads the profile where the target is not a key.
    #[must_use]
    pub fn object_key(&self) -> Option<bytes::Bytes> {
        let profile = match self {
            Self::Key(key) => return Some(bytes::Bytes::copy_from_slice(key)),
            Self::Profile(profile) => profile,
            Self::Reference { selected, ior } => {
                ior.profiles.get(usize::try_from(*selected).ok()?)?
            }
        };
        profile.object_key()
    }
}

/// The header of a received Request; everything in it is borrowed from the message.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Request message).
#[derive(Debug)]
pub struct RequestHeader<'a> {
    /// The request id, chosen by the client.
    pub request_id: u32,
    /// Whether a reply is wanted, and when.
    pub response: ResponseFlags,
    /// The object that is called, in the form that the client chose.
    pub target: TargetAddress<'a>,
    /// The operation's name on the wire, without its NUL.
    pub operation: &'a [u8],
    /// The offset of that name in the frame.
    pub operation_at: usize,
    /// The service contexts of the request, not yet decoded.
    pub contexts: ServiceContexts<'a>,
    /// The offset of the arguments in the frame. In GIOP 1.2 it is a multiple of 8 unless there are none.
    pub body: usize,
}

impl<'a> RequestHeader<'a> {
    /// Reads the header of `message`. Allocates only for the rare addressing forms.
    ///
    /// # Errors
    /// [`Malformed`](ProtocolError::Malformed) if the header ends early;
    /// [`BadResponseFlags`](ProtocolError::BadResponseFlags) and [`BadAddressing`](ProtocolError::BadAddressing) for
    /// values that the specification does not have.
    pub fn read(message: &'a Message) -> Result<Self, ProtocolError> {
        by_order!(message.header.endian, O => match Self::read_common::<O>(message) {
            Some(header) => Ok(header),
            None => Self::read_in::<O>(message),
        })
    }

    /// Reads the header of a request of the most frequent form: GIOP 1.2, in one piece, an object key, no service
    /// contexts. `None` for every other one, malformed ones included.
    fn read_common<O: ByteOrder>(message: &'a Message) -> Option<Self> {
        if message.header.version < Version::V1_2 || !message.frame.fragment_starts().is_empty() {
            return None;
        }
        let octets = message.frame.octets();
        let long = |at: usize| Some(O::load_u32(*octets.get(at..)?.first_chunk()?));
        let length = |at: usize| usize::try_from(long(at)?).ok();
        let aligned = |at: usize| at.checked_next_multiple_of(4);
        let [flags, _, _, _, d0, d1] = *octets.get(FLAGS_AT..)?.first_chunk()?;
        if O::load_u16([d0, d1]) != AddressingDisposition::Key as u16 {
            return None;
        }
        let key_at = KEY_LENGTH_AT.checked_add(4)?;
        let key_end = key_at.checked_add(length(KEY_LENGTH_AT)?)?;
        let key = octets.get(key_at..key_end)?;
        let length_at = aligned(key_end)?;
        let operation_at = length_at.checked_add(4)?;
        let operation_end = operation_at.checked_add(length(length_at)?)?;
        let (0, operation) = octets.get(operation_at..operation_end)?.split_last()? else {
            return None;
        };
        let contexts_at = aligned(operation_end)?;
        if long(contexts_at)? != 0 || has_nul(operation) {
            return None;
        }
        let end = contexts_at.checked_add(4)?;
        let body = end.checked_next_multiple_of(BODY_ALIGNMENT)?;
        Some(Self {
            request_id: long(ID_POSITION)?,
            response: ResponseFlags::from_octet(flags).ok()?,
            target: TargetAddress::Key(key),
            operation,
            operation_at,
            contexts: ServiceContexts::none::<O>(message, end),
            body: if body <= octets.len() { body } else { end },
        })
    }

    fn read_in<O: ByteOrder>(message: &'a Message) -> Result<Self, ProtocolError> {
        let bad = |e| message.malformed(e);
        let mut d = message.decoder::<O>().map_err(bad)?;
        if message.header.version >= Version::V1_2 {
            let request_id = d.read_u32().map_err(bad)?;
            let response = ResponseFlags::from_octet(d.read_u8().map_err(bad)?)?;
            d.take(3).map_err(bad)?;
            let target = TargetAddress::read(&mut d).map_err(bad)??;
            let (operation, operation_at) = read_operation(&mut d).map_err(bad)?;
            let contexts = ServiceContexts::read(&mut d, &message.frame).map_err(bad)?;
            Ok(Self {
                request_id,
                response,
                target,
                operation,
                operation_at,
                contexts,
                body: aligned_body(&mut d),
            })
        } else {
            let contexts = ServiceContexts::read(&mut d, &message.frame).map_err(bad)?;
            let request_id = d.read_u32().map_err(bad)?;
            let response = if d.read_bool().map_err(bad)? {
                ResponseFlags::WithTarget
            } else {
                ResponseFlags::None
            };
            if message.header.version == Version::V1_1 {
                d.take(3).map_err(bad)?;
            }
            let target = TargetAddress::Key(d.read_octets().map_err(bad)?);
            let (operation, operation_at) = read_operation(&mut d).map_err(bad)?;
            // The principal: deprecated, of any length, and skipped.
            d.read_octets().map_err(bad)?;
            Ok(Self {
                request_id,
                response,
                target,
                operation,
                operation_at,
                contexts,
                body: d.position(),
            })
        }
    }
}

/// The offset of the response flags in a request of GIOP 1.2.
pub(crate) const FLAGS_AT: usize = ID_POSITION + RESPONSE_BEHIND_ID;
/// The offset of the object key's length, if the request has a key: behind flags, three octets, addressing disposition,
/// two octets.
pub(crate) const KEY_LENGTH_AT: usize = FLAGS_AT + 8;

/// Whether an octet is 0; eight at a time.
#[inline]
fn has_nul(octets: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    let (words, rest) = octets.as_chunks::<8>();
    // An octet whose highest bit was not set has it afterwards only if it was 0, or one below it was.
    let in_word = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        word.wrapping_sub(ONES) & !word & (ONES << 7) != 0
    };
    words.iter().any(in_word) || rest.contains(&0)
}

/// Reads the operation's name, and returns its offset with it.
fn read_operation<'a, O: ByteOrder>(
    d: &mut Decoder<'a, O>,
) -> Result<(&'a [u8], usize), DecodeError> {
    let name = d.read_raw_string()?;
    // The name is followed by one NUL (a name without even that is empty).
    let at = d.position().saturating_sub(name.len()).saturating_sub(1);
    Ok((name, at))
}

/// Returns the offset of a GIOP 1.2 body: the next multiple of 8, or the current position when nothing follows.
pub(crate) fn aligned_body<O: ByteOrder>(d: &mut Decoder<'_, O>) -> usize {
    let end = d.position();
    match d.align(BODY_ALIGNMENT) {
        Ok(()) => d.position(),
        Err(_) => end,
    }
}

/// The header of a Request to be encoded.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Request message).
#[derive(Debug, Clone, Copy)]
pub struct RequestBuilder<'a> {
    /// The version to write; at most the one in the profile used.
    pub version: Version,
    /// The request id, unique among the requests of the connection whose reply may still come.
    pub request_id: u32,
    /// Whether a reply is wanted, and when.
    pub response: ResponseFlags,
    /// The object key of the profile used, as the server made it.
    pub key: &'a [u8],
    /// The name of the operation on the wire, such as `_get_owner` for an attribute.
    pub operation: &'a str,
    /// The service contexts to send, in this order.
    pub contexts: &'a [ServiceContext],
}

impl RequestBuilder<'_> {
    /// Writes the message in one pass into `e`, which must be new (position 0): the header, then the arguments that
    /// `arguments` writes.
    ///
    /// # Errors
    /// The error of `arguments`; [`TooLong`](zorb_cdr::EncodeErrorKind::TooLong) for a message longer than 4 GiB.
    pub fn encode<O: ByteOrder>(
        &self,
        e: Encoder<O>,
        arguments: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<Gather, EncodeError> {
        self.encode_for(&TargetAddress::Key(self.key), e, arguments)
    }

    /// Encodes a request in the addressing disposition that the server asked for
    /// (NEEDS_ADDRESSING_MODE). Before GIOP 1.2 there is no other, and [`key`](Self::key) is sent.
    ///
    /// # Errors
    /// Returns the errors of [`encode`](Self::encode), and that of a profile or reference that cannot be encoded.
    pub fn encode_for<O: ByteOrder>(
        &self,
        target: &TargetAddress<'_>,
        mut e: Encoder<O>,
        arguments: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<Gather, EncodeError> {
        write_header(&mut e, self.version, MessageKind::Request);
        if self.version < Version::V1_2 {
            write_contexts(&mut e, self.contexts)?;
        }
        e.write_u32(self.request_id);
        e.write_u8(self.response.in_version(self.version));
        write_target(&mut e, self.version, target, self.key)?;
        write_operation(&mut e, self.version, self.operation, self.contexts)?;
        finish(e, self.version, arguments)
    }
}

/// Writes a request's target, behind the response flags.
fn write_target<O: ByteOrder>(
    e: &mut Encoder<O>,
    version: Version,
    target: &TargetAddress<'_>,
    key: &[u8],
) -> Result<(), EncodeError> {
    // Reserved in 1.1 and 1.2, and padding in 1.0.
    e.append(&[0; 3]);
    if version >= Version::V1_2 {
        target.write(e)
    } else {
        e.write_octets(key)
    }
}

/// Writes the operation's name, and the principal or the service contexts behind it.
fn write_operation<O: ByteOrder>(
    e: &mut Encoder<O>,
    version: Version,
    operation: &str,
    contexts: &[ServiceContext],
) -> Result<(), EncodeError> {
    e.write_raw_string(operation.as_bytes())?;
    if version < Version::V1_2 {
        // The principal.
        return e.write_octets(&[]);
    }
    match contexts {
        [] => e.write_count(0),
        some => write_contexts(e, some),
    }
}

/// The offset of the request id without service contexts before it.
pub(crate) const ID_POSITION: usize = HEADER_LEN;
/// Octets from the request id to the response flags.
const RESPONSE_BEHIND_ID: usize = 4;

pub(crate) fn write_contexts<O: ByteOrder>(
    e: &mut Encoder<O>,
    contexts: &[ServiceContext],
) -> Result<(), EncodeError> {
    e.put(contexts)
}

/// Writes a message header whose size is filled in by [`finish`].
pub(crate) fn write_header<O: ByteOrder>(e: &mut Encoder<O>, version: Version, kind: MessageKind) {
    debug_assert_eq!(e.position(), 0, "a message starts at its own index 0");
    let header = MessageHeader {
        version,
        endian: O::ENDIAN,
        more_fragments: false,
        kind,
        size: 0,
    };
    e.append(&header.to_octets());
}

/// Writes the body at the alignment of the version, and fills in the size.
#[inline]
pub(crate) fn finish<O: ByteOrder>(
    mut e: Encoder<O>,
    version: Version,
    body: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
) -> Result<Gather, EncodeError> {
    finish_in(&mut e, version, body)?;
    Ok(e.finish())
}

/// Writes the body and fills in the size in place, without moving the message.
#[inline]
pub(crate) fn finish_in<O: ByteOrder>(
    e: &mut Encoder<O>,
    version: Version,
    body: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    if version >= Version::V1_2 {
        // An empty body is not padded: peers compare the size with the one they expect.
        let end_of_header = e.position();
        e.align(BODY_ALIGNMENT);
        let start_of_body = e.position();
        body(e)?;
        if e.position() == start_of_body {
            e.truncate(end_of_header);
        }
    } else {
        if version == Version::V1_1 {
            // `Fragments` may cut the message there later.
            e.remember_runs();
        }
        body(e)?;
    }
    seal(e)
}

/// Fills in the size and returns the message.
#[inline]
pub(crate) fn close<O: ByteOrder>(mut e: Encoder<O>) -> Result<Gather, EncodeError> {
    seal(&mut e)?;
    Ok(e.finish())
}

/// Fills in the size.
#[inline]
pub(crate) fn seal<O: ByteOrder>(e: &mut Encoder<O>) -> Result<(), EncodeError> {
    let size = e.position().saturating_sub(HEADER_LEN);
    match u32::try_from(size) {
        Ok(size) if e.is_reversed() => e.patch_u32(SIZE_POSITION, size.swap_bytes()),
        Ok(size) => e.patch_u32(SIZE_POSITION, size),
        Err(_) => return Err(EncodeErrorKind::TooLong { found: size }.into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use zorb_cdr::{NativeEndian, WireFormat};

    #[test]
    fn a_common_header_is_read_as_any_other() {
        let builder = RequestBuilder {
            version: Version::V1_2,
            request_id: 0x0102_0304,
            response: ResponseFlags::WithTarget,
            key: b"a key",
            operation: "an_operation",
            contexts: &[],
        };
        let e = Encoder::<NativeEndian>::new(WireFormat::default());
        let octets = builder.encode(e, |e| e.put(&(7_u8, "text", 1.5_f64)));
        let octets = octets.unwrap().to_vec();
        let read = |octets: &[u8]| {
            let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
            let frame = zorb_cdr::Frame::new(Bytes::copy_from_slice(octets));
            let message = Message { header, frame };
            let one = RequestHeader::read_common::<NativeEndian>(&message);
            let other = RequestHeader::read_in::<NativeEndian>(&message);
            match (one, other) {
                (Some(one), Ok(other)) => {
                    assert_eq!(format!("{one:?}"), format!("{other:?}"));
                    true
                }
                (Some(one), Err(error)) => panic!("{one:?} is {error}"),
                (None, _) => false,
            }
        };
        assert!(read(&octets));
        // A header that is read this way has the same contents when it is parsed in full, and no octet makes it panic.
        for at in HEADER_LEN..octets.len() {
            read(&octets[..at]);
            for octet in [0, 1, 2, 4, 5, 12, 13, 0x7f, 0x80, 0xff] {
                let mut other = octets.clone();
                other[at] = octet;
                read(&other);
            }
        }
        for n in 0..20 {
            let mut name = vec![b'x'; n];
            assert!(!has_nul(&name));
            for at in 0..n {
                name[at] = 0;
                assert!(has_nul(&name), "{n} {at}");
                name[at] = 0x81;
            }
        }
    }
}
