//! The twelve octets every message begins with.
//!
//! ```text
//!  0        4     5     6      7     8              12
//!  ┌────────┬─────┬─────┬──────┬─────┬──────────────┬──
//!  │ "GIOP" │major│minor│flags │type │ message size │ …
//!  └────────┴─────┴─────┴──────┴─────┴──────────────┴──
//! ```
//!
//! The size counts the octets behind the header, in the byte order of bit 0 of the flags. Source: CORBA 3.3 Part 2,
//! GIOP Message Header.

use crate::error::ProtocolError;
use bytes::Bytes;
use core::fmt;
use zorb_cdr::{CharSet, DecodeError, Decoder, DefaultLabels, Endian, Frame, WCharSet, WireFormat};

/// Octets of a message header.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (message header).
pub const HEADER_LEN: usize = 12;
pub(crate) const MAGIC: [u8; 4] = *b"GIOP";
const FLAG_LITTLE_ENDIAN: u8 = 0x01;
const FLAG_MORE_FRAGMENTS: u8 = 0x02;

/// A GIOP or IIOP version.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (message header).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The major number, which is 1 in every version so far.
    pub major: u8,
    /// The minor number: 0 to 2 are supported. GIOP 1.3 differs from 1.2 in requests of the component model only.
    pub minor: u8,
}

impl Version {
    /// GIOP 1.0: no fragments, no wide characters, and a profile without components.
    pub const V1_0: Self = Self { major: 1, minor: 0 };
    /// GIOP 1.1: fragments, flags in place of a byte-order octet.
    pub const V1_1: Self = Self { major: 1, minor: 1 };
    /// GIOP 1.2: addressing modes, interleaved fragments, bodies aligned to 8.
    pub const V1_2: Self = Self { major: 1, minor: 2 };
    /// The highest version that this ORB supports.
    pub const HIGHEST: Self = Self::V1_2;

    /// Whether this ORB supports the version: 1.0 to 1.2.
    #[must_use]
    pub fn is_supported(self) -> bool {
        self.major == 1 && self.minor <= Self::HIGHEST.minor
    }

    /// Whether the service contexts of a request or reply are the last part of its header, and its body is aligned, as
    /// from GIOP 1.2 on. The version has to be a supported one, so that the minor number decides.
    #[inline]
    pub(crate) const fn has_contexts_last(self) -> bool {
        self.minor >= Self::V1_2.minor
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The type of a message.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (message header).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum MessageKind {
    Request = 0,
    Reply = 1,
    CancelRequest = 2,
    LocateRequest = 3,
    LocateReply = 4,
    CloseConnection = 5,
    MessageError = 6,
    Fragment = 7,
}

impl MessageKind {
    pub(crate) fn from_octet(octet: u8) -> Option<Self> {
        Some(match octet {
            0 => Self::Request,
            1 => Self::Reply,
            2 => Self::CancelRequest,
            3 => Self::LocateRequest,
            4 => Self::LocateReply,
            5 => Self::CloseConnection,
            6 => Self::MessageError,
            7 => Self::Fragment,
            _ => return None,
        })
    }

    /// Whether a message of this kind may come in fragments in `version`.
    pub(crate) fn is_fragmentable(self, version: Version) -> bool {
        match self {
            Self::Request | Self::Reply => version >= Version::V1_1,
            Self::LocateRequest | Self::LocateReply => version >= Version::V1_2,
            _ => false,
        }
    }
}

impl fmt::Display for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The decoded header of one message.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (message header).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHeader {
    /// The version the message is written in.
    pub version: Version,
    /// The byte order of the message, which its sender chooses.
    pub endian: Endian,
    /// Whether further fragments of the message follow; always false in GIOP 1.0.
    pub more_fragments: bool,
    /// The kind of the message, such as Request or Reply.
    pub kind: MessageKind,
    /// The number of octets that follow the header.
    pub size: u32,
}

impl MessageHeader {
    /// Reads a header from its twelve octets. Does not check the size against a limit.
    ///
    /// # Errors
    /// [`BadMagic`](ProtocolError::BadMagic) unless the octets begin with `GIOP`;
    /// [`UnsupportedVersion`](ProtocolError::UnsupportedVersion) for a version above 1.2;
    /// [`UnknownMessageKind`](ProtocolError::UnknownMessageKind) for a kind that the version does not have.
    #[inline]
    pub fn parse(octets: &[u8; HEADER_LEN]) -> Result<Self, ProtocolError> {
        let [m0, m1, m2, m3, major, minor, flags, kind, s0, s1, s2, s3] = *octets;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(ProtocolError::BadMagic {
                found: [m0, m1, m2, m3],
            });
        }
        let version = Version { major, minor };
        if !version.is_supported() {
            return Err(ProtocolError::UnsupportedVersion(version));
        }
        let kind = MessageKind::from_octet(kind).ok_or(ProtocolError::UnknownMessageKind(kind))?;
        if kind == MessageKind::Fragment && version == Version::V1_0 {
            return Err(ProtocolError::UnknownMessageKind(7));
        }
        // In 1.0 the octet is a boolean, so anything but zero is little-endian; the other bits
        // mean something only from 1.1 on.
        let little = if version == Version::V1_0 {
            flags != 0
        } else {
            flags & FLAG_LITTLE_ENDIAN != 0
        };
        let endian = Endian::from_flag(little);
        let size = [s0, s1, s2, s3];
        Ok(Self {
            version,
            endian,
            more_fragments: version >= Version::V1_1 && flags & FLAG_MORE_FRAGMENTS != 0,
            kind,
            size: match endian {
                Endian::Big => u32::from_be_bytes(size),
                Endian::Little => u32::from_le_bytes(size),
            },
        })
    }

    /// Returns the header as its twelve octets, with the size in the byte order of the header.
    #[inline]
    #[must_use]
    pub fn to_octets(self) -> [u8; HEADER_LEN] {
        let [m0, m1, m2, m3] = MAGIC;
        let mut flags = if self.endian.is_little() {
            FLAG_LITTLE_ENDIAN
        } else {
            0
        };
        if self.more_fragments {
            flags |= FLAG_MORE_FRAGMENTS;
        }
        let [s0, s1, s2, s3] = match self.endian {
            Endian::Big => self.size.to_be_bytes(),
            Endian::Little => self.size.to_le_bytes(),
        };
        let Version { major, minor } = self.version;
        [
            m0,
            m1,
            m2,
            m3,
            major,
            minor,
            flags,
            self.kind as u8,
            s0,
            s1,
            s2,
            s3,
        ]
    }
}

/// Makes a message that is a header only: CloseConnection or MessageError. Allocates 12 octets.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CloseConnection and MessageError messages).
#[must_use]
pub fn empty_message(kind: MessageKind, version: Version) -> Bytes {
    let header = MessageHeader {
        version,
        endian: Endian::NATIVE,
        more_fragments: false,
        kind,
        size: 0,
    };
    Bytes::copy_from_slice(&header.to_octets())
}

/// One whole message, its fragments put together.
///
/// Index 0 of the frame is the first octet of the header, which is where CDR alignment counts
/// from. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Message {
    /// The header; its `size` is that of the whole message, fragments included.
    pub header: MessageHeader,
    /// The octets of the message, header included.
    pub frame: Frame,
}

impl Message {
    /// Returns the format of text in the header of this message, whose names and ids are read as octets.
    pub(crate) fn header_format(&self) -> WireFormat {
        WireFormat {
            minor: self.header.version.minor,
            char_set: CharSet::Latin1,
            wchar_set: WCharSet::None,
            default_labels: DefaultLabels::Discriminator,
        }
    }

    /// Returns a decoder behind the message header.
    pub(crate) fn decoder<O: zorb_cdr::ByteOrder>(&self) -> Result<Decoder<'_, O>, DecodeError> {
        Decoder::at(&self.frame, HEADER_LEN, self.header_format())
    }

    pub(crate) fn malformed(&self, error: DecodeError) -> ProtocolError {
        ProtocolError::Malformed {
            kind: self.header.kind,
            error,
        }
    }

    /// Whether these are only the first octets of a message beyond the limit:
    /// [`Reader::skip_too_large`](crate::Reader::skip_too_large).
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.octets() > self.frame.len()
    }

    /// Returns the number of octets of the whole message, header included.
    #[must_use]
    pub fn octets(&self) -> usize {
        usize::try_from(self.header.size)
            .unwrap_or(usize::MAX)
            .saturating_add(HEADER_LEN)
    }

    /// Makes a message of octets that were encoded in this process. Copies them unless they are in one piece.
    ///
    /// # Errors
    /// Returns the errors of [`MessageHeader::parse`]; [`BadMagic`](ProtocolError::BadMagic) for fewer than twelve octets.
    pub fn from_gather(message: zorb_cdr::Gather) -> Result<Self, ProtocolError> {
        let octets = message.into_bytes();
        let Some(header) = octets.first_chunk::<HEADER_LEN>() else {
            return Err(ProtocolError::BadMagic { found: [0; 4] });
        };
        Ok(Self {
            header: MessageHeader::parse(header)?,
            frame: Frame::new(octets),
        })
    }

    /// Reads the request id of a CancelRequest. For a message of another kind, the result has no meaning.
    ///
    /// # Errors
    /// [`Malformed`](ProtocolError::Malformed) if the body has fewer than four octets.
    pub fn cancelled_request(&self) -> Result<u32, ProtocolError> {
        by_order!(self.header.endian, O => self.decoder::<O>().and_then(|mut d| d.read_u32()))
            .map_err(|e| self.malformed(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_a_round_trip_in_both_orders() {
        for endian in [Endian::Big, Endian::Little] {
            for minor in 0..=2 {
                let header = MessageHeader {
                    version: Version { major: 1, minor },
                    endian,
                    more_fragments: minor > 0,
                    kind: MessageKind::Reply,
                    size: 0x0102_0304,
                };
                assert_eq!(MessageHeader::parse(&header.to_octets()), Ok(header));
            }
        }
    }

    #[test]
    fn a_wrong_magic_version_or_type_is_refused() {
        let good = MessageHeader {
            version: Version::V1_2,
            endian: Endian::Big,
            more_fragments: false,
            kind: MessageKind::Request,
            size: 0,
        }
        .to_octets();
        let mut bad = good;
        bad[0] = b'g';
        assert!(matches!(
            MessageHeader::parse(&bad),
            Err(ProtocolError::BadMagic { .. })
        ));
        for (at, octet) in [(4, 2), (4, 0), (5, 3), (5, 255)] {
            let mut bad = good;
            bad[at] = octet;
            assert!(matches!(
                MessageHeader::parse(&bad),
                Err(ProtocolError::UnsupportedVersion(_))
            ));
        }
        let mut bad = good;
        bad[7] = 8;
        assert_eq!(
            MessageHeader::parse(&bad),
            Err(ProtocolError::UnknownMessageKind(8))
        );
    }
}
