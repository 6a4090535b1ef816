//! A received request: where the parts of its header are, and its octets.

use super::{RequestHeader, ResponseFlags};
use crate::header::Message;
use zorb_cdr::{ByteOrder, DecodeError, Decoder, Endian, WireFormat};

/// What a request keeps of its header, which borrows from the message: the message can be moved then.
#[derive(Debug, Clone, Copy)]
pub struct HeaderOffsets {
    request_id: u32,
    response: ResponseFlags,
    operation_at: u32,
    operation_octets: u32,
    body: u32,
}

impl HeaderOffsets {
    /// The offsets of a parsed header.
    #[must_use]
    #[inline]
    pub fn of(header: &RequestHeader<'_>) -> Self {
        let at = u32::try_from(header.operation_at);
        let octets = u32::try_from(header.operation.len());
        // An operation name farther behind than a message is long stays empty, and no servant has it.
        let (operation_at, operation_octets) = at.ok().zip(octets.ok()).unwrap_or_default();
        Self {
            request_id: header.request_id,
            response: header.response,
            operation_at,
            operation_octets,
            body: offset(header.body),
        }
    }

    /// The offsets of another request whose header differs in its request id and the offset of its arguments only.
    #[must_use]
    #[inline]
    pub fn with_request(self, request_id: u32, body: usize) -> Self {
        Self {
            request_id,
            body: offset(body),
            ..self
        }
    }

    /// The request id.
    #[must_use]
    #[inline]
    pub const fn request_id(&self) -> u32 {
        self.request_id
    }

    /// Whether a reply is wanted, and when.
    #[must_use]
    #[inline]
    pub const fn response(&self) -> ResponseFlags {
        self.response
    }

    /// The offset of the arguments in the message.
    #[must_use]
    #[inline]
    pub const fn body(&self) -> usize {
        self.body as usize
    }
}

/// An offset in a message, which is no longer than 4 GiB.
#[inline]
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The octets of a request that its arguments are decoded from.
#[derive(Debug)]
pub enum RequestOctets {
    /// The whole message.
    Message(Message),
    /// A copy of short arguments, without the header: the receive buffer is free for the next message.
    Inline(InlineArguments),
}

/// A copy of short arguments. Aligned, so that moving them takes a few instructions.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(8))]
pub struct InlineArguments {
    /// The arguments; the rest is 0.
    octets: [u8; RequestOctets::MAX_INLINE_OCTETS],
    len: u8,
    endian: Endian,
}

impl RequestOctets {
    /// Longest arguments that are copied, in octets: as many as take no more room here than a message does.
    pub const MAX_INLINE_OCTETS: usize = 48;

    /// Copies arguments, if they are short enough.
    #[must_use]
    #[inline]
    pub fn inline(arguments: &[u8], endian: Endian) -> Option<Self> {
        let mut octets = [0; Self::MAX_INLINE_OCTETS];
        if !arguments.is_empty() {
            octets
                .get_mut(..arguments.len())?
                .copy_from_slice(arguments);
        }
        Some(Self::Inline(InlineArguments {
            octets,
            len: u8::try_from(arguments.len()).ok()?,
            endian,
        }))
    }

    /// The name of the operation; empty where only the arguments are kept.
    #[must_use]
    pub fn operation(&self, offsets: &HeaderOffsets) -> &[u8] {
        let Self::Message(message) = self else {
            return &[];
        };
        let octets = message.frame.octets();
        let behind = octets.get(offsets.operation_at as usize..);
        let name = behind.and_then(|name| name.get(..offsets.operation_octets as usize));
        name.unwrap_or_default()
    }

    /// Octets that are kept.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Message(message) => message.frame.len(),
            Self::Inline(inline) => usize::from(inline.len),
        }
    }

    /// Whether nothing is kept: an inline request without arguments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The byte order of the arguments.
    #[must_use]
    #[inline]
    pub fn endian(&self) -> Endian {
        match self {
            Self::Message(message) => message.header.endian,
            Self::Inline(inline) => inline.endian,
        }
    }

    /// A decoder at the arguments. `O` has to be their [byte order](Self::endian).
    ///
    /// # Errors
    /// When the arguments begin behind the message's end.
    #[inline]
    pub fn decoder<O: ByteOrder>(
        &self,
        offsets: &HeaderOffsets,
        format: WireFormat,
    ) -> Result<Decoder<'_, O>, DecodeError> {
        match self {
            Self::Message(message) => Decoder::at(&message.frame, offsets.body(), format),
            Self::Inline(InlineArguments { octets, len, .. }) => {
                let octets = octets.get(..usize::from(*len)).unwrap_or_default();
                Ok(Decoder::from_slice(octets, format).taken_at(offsets.body()))
            }
        }
    }
}
