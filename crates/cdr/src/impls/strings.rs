//! Characters and strings.

use crate::{
    ByteOrder, CharSet, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError,
    EncodeErrorKind, Encoder, Layout, Window, WindowMut, WireFormat, layout::BLOCK,
    traits::reserve,
};
use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The range of a `char` where text is UTF-8.
pub(crate) const ONE_OCTET_OF_UTF_8: &str = "one octet of UTF-8";

/// An IDL `char`: one code point of ISO 8859-1.
///
/// It is sent as one octet of the code set that the connection uses. In UTF-8 only code points below 0x80 are one
/// octet; the others are data conversion errors there, in both directions.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
///
/// ```
/// # extern crate zorb_cdr as zorb;
/// use zorb::Char;
/// assert_eq!(char::from(Char(0xe4)), 'ä');
/// assert_eq!(Char::try_from('ä')?, Char(0xe4));
/// assert!(Char::try_from('€').is_err());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    FromBytes,
    Immutable,
    IntoBytes,
    KnownLayout,
)]
#[repr(transparent)]
#[expect(clippy::exhaustive_structs, reason = "any octet is one")]
pub struct Char(pub u8);

/// The error of converting a character to a [`Char`]: it is not one of ISO 8859-1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a character of ISO 8859-1, found U+{:04X}", u32::from(*.0))]
pub struct NotOneOctet(char);

impl Char {
    /// Returns the octet for the wire, or the reason why the character has none.
    #[inline(always)]
    fn to_wire(self, format: WireFormat) -> Result<u8, EncodeError> {
        if self.0 >= 0x80 && format.char_set == CharSet::Utf8 {
            return Err(EncodeError::new(EncodeErrorKind::NotInCodeSet {
                found: u32::from(self.0),
                set: ONE_OCTET_OF_UTF_8,
            }));
        }
        Ok(self.0)
    }

    /// Returns the character for an octet from the wire, or the reason why there is none.
    #[inline(always)]
    fn from_wire(octet: u8, format: WireFormat) -> Result<Self, DecodeErrorKind> {
        if octet >= 0x80 && format.char_set == CharSet::Utf8 {
            return Err(DecodeErrorKind::NotInCodeSet {
                found: u32::from(octet),
                set: ONE_OCTET_OF_UTF_8,
            });
        }
        Ok(Self(octet))
    }
}

/// Whether each of these octets is a character of the connection's code set.
#[inline]
fn is_one_octet_each(octets: &[u8], format: WireFormat) -> bool {
    format.char_set != CharSet::Utf8 || octets.is_ascii()
}

impl fmt::Debug for Char {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", char::from(self.0))
    }
}

impl fmt::Display for Char {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&char::from(self.0), f)
    }
}

impl From<u8> for Char {
    fn from(octet: u8) -> Self {
        Self(octet)
    }
}

impl From<Char> for u8 {
    fn from(c: Char) -> Self {
        c.0
    }
}

impl From<Char> for char {
    fn from(c: Char) -> Self {
        Self::from(c.0)
    }
}

impl TryFrom<char> for Char {
    type Error = NotOneOctet;

    fn try_from(c: char) -> Result<Self, NotOneOctet> {
        u8::try_from(u32::from(c))
            .map(Self)
            .map_err(|_| NotOneOctet(c))
    }
}

impl PartialEq<char> for Char {
    fn eq(&self, other: &char) -> bool {
        char::from(*self) == *other
    }
}

impl Encode for Char {
    const ENCODED: Layout = Layout::primitive(1);

    #[inline]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        let octet = self.to_wire(encoder.format())?;
        encoder.write_u8(octet);
        Ok(())
    }

    #[inline]
    fn encode_slice<O: ByteOrder>(
        values: &[Self],
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        let all = values.iter().fold(0, |all, value| all | value.0);
        if !is_one_octet_each(&[all], encoder.format()) {
            // Finds the character that is not one octet, and returns its error.
            return values.iter().try_for_each(|value| value.encode(encoder));
        }
        let start = encoder.position();
        encoder.reserve(values.len());
        for values in values.chunks(BLOCK) {
            let places = encoder.run_mut(values.len());
            for (place, value) in places.iter_mut().zip(values) {
                *place = value.0;
            }
        }
        encoder.end_run(start);
        Ok(())
    }

    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(&self, window: &mut WindowMut<'_>) -> Result<(), EncodeError> {
        window.store_character(self.0)
    }
}

impl<'de> Decode<'de> for Char {
    const MIN_SIZE: usize = 1;
    const LAYOUT: Layout = Layout::primitive(1);

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let octet = decoder.read_u8()?;
        Self::from_wire(octet, decoder.format()).map_err(|kind| decoder.error_behind(1, kind))
    }

    #[inline]
    fn decode_into<O: ByteOrder>(
        decoder: &mut Decoder<'de, O>,
        len: usize,
        values: &mut Vec<Self>,
    ) -> Result<(), DecodeError> {
        reserve(decoder, len, values)?;
        match decoder.peek_run(len) {
            Some(octets) if is_one_octet_each(octets, decoder.format()) => {
                decoder.run(len);
                values.extend(octets.iter().map(|octet| Self(*octet)));
            }
            // A character is not ASCII, or the text goes on in the next GIOP 1.1 fragment, or is truncated.
            _ => {
                for _ in 0..len {
                    values.push(Self::decode(decoder)?);
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(window: &mut Window<'_>) -> Self {
        let [octet] = window.load();
        window.note_character(octet);
        Self(octet)
    }
}

/// An IDL `wchar`: one UTF-16 unit, which may be half of a surrogate pair, as Java sends them.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
///
/// ```
/// # extern crate zorb_cdr as zorb;
/// use zorb::WChar;
/// assert_eq!(WChar::try_from('€')?, WChar(0x20ac));
/// assert_eq!(char::try_from(WChar(0x20ac))?, '€');
/// assert!(WChar::try_from('🦀').is_err());
/// assert!(char::try_from(WChar(0xd83e)).is_err());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    FromBytes,
    Immutable,
    IntoBytes,
    KnownLayout,
)]
#[repr(transparent)]
#[expect(clippy::exhaustive_structs, reason = "any unit is one")]
pub struct WChar(pub u16);

/// The error of converting between characters and a [`WChar`]: the character needs two UTF-16 units, or the unit is half of
/// such a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a character of one UTF-16 unit, found 0x{0:x}")]
pub struct NotOneUnit(u32);

impl fmt::Debug for WChar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match char::try_from(*self) {
            Ok(c) => write!(f, "{c:?}"),
            Err(_) => write!(f, "'\\u{{{:x}}}'", self.0),
        }
    }
}

impl fmt::Display for WChar {
    /// Writes the character, or the replacement character for half of a pair.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(
            &char::try_from(*self).unwrap_or(char::REPLACEMENT_CHARACTER),
            f,
        )
    }
}

impl From<u16> for WChar {
    fn from(unit: u16) -> Self {
        Self(unit)
    }
}

impl From<WChar> for u16 {
    fn from(c: WChar) -> Self {
        c.0
    }
}

impl TryFrom<char> for WChar {
    type Error = NotOneUnit;

    fn try_from(c: char) -> Result<Self, NotOneUnit> {
        u16::try_from(u32::from(c))
            .map(Self)
            .map_err(|_| NotOneUnit(u32::from(c)))
    }
}

impl TryFrom<WChar> for char {
    type Error = NotOneUnit;

    fn try_from(c: WChar) -> Result<Self, NotOneUnit> {
        Self::from_u32(u32::from(c.0)).ok_or_else(|| NotOneUnit(u32::from(c.0)))
    }
}

impl Encode for WChar {
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_wide_char(self.0)
    }
}

impl<'de> Decode<'de> for WChar {
    /// Two octets in GIOP 1.1, three or five in 1.2.
    const MIN_SIZE: usize = 2;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        decoder.read_wide_char().map(Self)
    }
}

impl Encode for str {
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_str(self)
    }
}

impl Encode for String {
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_str(self)
    }
}

impl<'de> Decode<'de> for String {
    /// The length alone: some peers write an empty string so.
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        decoder.read_str().map(Cow::into_owned)
    }
}

impl<'de> Decode<'de> for Cow<'de, str> {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        decoder.read_str()
    }
}
