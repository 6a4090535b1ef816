//! Request headers of GIOP 1.0, 1.1 and 1.2.

use crate::context::{ServiceContext, ServiceContexts};
use crate::error::ProtocolError;
use crate::header::{HEADER_LEN, Message, MessageHeader, MessageKind, Version};
use crate::ior::{Ior, TaggedProfile};
use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncodeError, EncodeErrorKind, Encoder, Gather};

/// Alignment of a request or reply body in GIOP 1.2.
pub(crate) const BODY_ALIGNMENT: usize = 8;
/// Where the size stands in the message header.
const SIZE_POSITION: usize = 8;

/// When, if at all, the caller wants an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResponseFlags {
    /// No reply: SYNC_NONE or SYNC_WITH_TRANSPORT.
    None,
    /// A reply before the servant is called: SYNC_WITH_SERVER.
    WithServer,
    /// A reply after the servant returned: two-way calls and SYNC_WITH_TARGET.
    WithTarget,
}

impl ResponseFlags {
    fn from_octet(octet: u8) -> Result<Self, ProtocolError> {
        // The upper bits are reserved; peers that set them are read as if they had not.
        match octet & 3 {
            0 => Ok(Self::None),
            1 => Ok(Self::WithServer),
            3 => Ok(Self::WithTarget),
            _ => Err(ProtocolError::BadResponseFlags(octet)),
        }
    }

    fn to_octet(self) -> u8 {
        match self {
            Self::None => 0,
            Self::WithServer => 1,
            Self::WithTarget => 3,
        }
    }
}

/// How a request says whom it is for (GIOP 1.2): `GIOP::AddressingDisposition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressingDisposition {
    /// By the object key: what every ORB sends first, and all that GIOP 1.0 and 1.1 have.
    #[doc(alias = "KeyAddr")]
    Key = 0,
    /// By a whole profile.
    #[doc(alias = "ProfileAddr")]
    Profile = 1,
    /// By the whole reference.
    #[doc(alias = "ReferenceAddr")]
    Reference = 2,
}

impl AddressingDisposition {
    /// The disposition that a peer names.
    ///
    /// # Errors
    /// When there is none of that number.
    pub fn from_wire(disposition: i16) -> Result<Self, ProtocolError> {
        match disposition {
            0 => Ok(Self::Key),
            1 => Ok(Self::Profile),
            2 => Ok(Self::Reference),
            other => Err(ProtocolError::BadAddressing(other)),
        }
    }
}

/// Whom a request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetAddress<'a> {
    /// An object key: the form every ORB sends first.
    Key(&'a [u8]),
    /// A whole profile (GIOP 1.2).
    Profile(TaggedProfile),
    /// A whole reference and the profile chosen from it (GIOP 1.2).
    Reference {
        /// Index of the chosen profile.
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

    /// Writes it as GIOP 1.2 wants it.
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

    /// The object key, wherever it stands. Costs a look into the profile for the rarer forms.
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
#[derive(Debug)]
pub struct RequestHeader<'a> {
    /// Chosen by the client.
    pub request_id: u32,
    /// Whether a reply is wanted, and when.
    pub response: ResponseFlags,
    /// Whom it is for.
    pub target: TargetAddress<'a>,
    /// The operation's name on the wire, without its NUL.
    pub operation: &'a [u8],
    /// Where that name begins in the frame.
    pub operation_at: usize,
    /// The service contexts.
    pub contexts: ServiceContexts<'a>,
    /// Where the arguments begin in the frame. In GIOP 1.2 a multiple of 8 unless there are none.
    pub body: usize,
}

impl<'a> RequestHeader<'a> {
    /// Reads the header of `message`. Allocates only for the rare addressing forms.
    ///
    /// # Errors
    /// When the header is cut short or holds values that the specification does not have.
    pub fn read(message: &'a Message) -> Result<Self, ProtocolError> {
        by_order!(message.header.endian, O => Self::read_in::<O>(message))
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
            // The principal: deprecated, of any length, and nobody's business.
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

/// The operation's name, and where it begins.
fn read_operation<'a, O: ByteOrder>(
    d: &mut Decoder<'a, O>,
) -> Result<(&'a [u8], usize), DecodeError> {
    let name = d.read_raw_string()?;
    // The name is followed by one NUL (a name without even that is empty).
    let at = d.position().saturating_sub(name.len()).saturating_sub(1);
    Ok((name, at))
}

/// Where a GIOP 1.2 body begins: the next multiple of 8, or right here when nothing follows.
pub(crate) fn aligned_body<O: ByteOrder>(d: &mut Decoder<'_, O>) -> usize {
    let end = d.position();
    match d.align(BODY_ALIGNMENT) {
        Ok(()) => d.position(),
        Err(_) => end,
    }
}

/// What a Request is made of, but for its arguments.
#[derive(Debug, Clone, Copy)]
pub struct RequestBuilder<'a> {
    /// The version to write; at most the one in the profile used.
    pub version: Version,
    /// Unique among the requests of the connection whose reply may still come.
    pub request_id: u32,
    /// Whether a reply is wanted, and when.
    pub response: ResponseFlags,
    /// The object key.
    pub key: &'a [u8],
    /// The operation's name on the wire.
    pub operation: &'a str,
    /// The service contexts to send.
    pub contexts: &'a [ServiceContext],
}

impl RequestBuilder<'_> {
    /// Writes the message: header, then whatever `arguments` writes, in one pass into `e`, which
    /// must be new (position 0).
    ///
    /// # Errors
    /// Whatever `arguments` fails with, or a message longer than 4 GiB.
    pub fn encode<O: ByteOrder>(
        &self,
        e: Encoder<O>,
        arguments: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<Gather, EncodeError> {
        self.encode_for(&TargetAddress::Key(self.key), e, arguments)
    }

    /// The same for a server that wants the object addressed in another way than by its key alone
    /// (NEEDS_ADDRESSING_MODE). Before GIOP 1.2 there is no other, and [`key`](Self::key) is sent.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), and a profile or reference that cannot be encoded.
    pub fn encode_for<O: ByteOrder>(
        &self,
        target: &TargetAddress<'_>,
        mut e: Encoder<O>,
        arguments: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<Gather, EncodeError> {
        write_header(&mut e, self.version, MessageKind::Request);
        if self.version >= Version::V1_2 {
            e.write_u32(self.request_id);
            e.write_u8(self.response.to_octet());
            e.write_u8(0);
            e.write_u8(0);
            e.write_u8(0);
            target.write(&mut e)?;
            e.write_raw_string(self.operation.as_bytes())?;
            write_contexts(&mut e, self.contexts)?;
        } else {
            write_contexts(&mut e, self.contexts)?;
            e.write_u32(self.request_id);
            e.write_bool(self.response == ResponseFlags::WithTarget);
            if self.version == Version::V1_1 {
                e.write_u8(0);
                e.write_u8(0);
                e.write_u8(0);
            }
            e.write_octets(self.key)?;
            e.write_raw_string(self.operation.as_bytes())?;
            e.write_octets(&[])?;
        }
        finish(e, self.version, arguments)
    }
}

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

/// Writes the body where the version wants it and fills in the size.
pub(crate) fn finish<O: ByteOrder>(
    mut e: Encoder<O>,
    version: Version,
    body: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
) -> Result<Gather, EncodeError> {
    if version >= Version::V1_2 {
        // An empty body is not padded: peers compare the size with what they expect.
        let end_of_header = e.position();
        e.align(BODY_ALIGNMENT);
        let start_of_body = e.position();
        body(&mut e)?;
        if e.position() == start_of_body {
            e.truncate(end_of_header);
        }
    } else {
        if version == Version::V1_1 {
            // It may be cut there later: see `Fragments`.
            e.remember_runs();
        }
        body(&mut e)?;
    }
    close(e)
}

/// Fills in the size and hands the message out.
pub(crate) fn close<O: ByteOrder>(mut e: Encoder<O>) -> Result<Gather, EncodeError> {
    let size = e.position().saturating_sub(HEADER_LEN);
    match u32::try_from(size) {
        Ok(size) => e.patch_u32(SIZE_POSITION, size),
        Err(_) => return Err(EncodeErrorKind::TooLong { found: size }.into()),
    }
    Ok(e.finish())
}
