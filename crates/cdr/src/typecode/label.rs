//! Labels of unions on the wire.

use super::{TcKind, encoding::INDIRECTION};
use crate::{
    ByteOrder, Char, DecodeError, DecodeErrorKind, Decoder, DefaultLabels, EncodeError,
    EncodeErrorKind, Encoder, WChar,
};

/// Writes a label, or a discriminator.
pub(crate) fn write_label<O: ByteOrder>(
    kind: TcKind,
    label: i128,
    e: &mut Encoder<O>,
) -> Result<(), EncodeError> {
    const WRONG: EncodeErrorKind = EncodeErrorKind::Expected("a label in the range of its type");
    macro_rules! number {
        ($write:ident) => {
            match label.try_into() {
                Ok(label) => e.$write(label),
                Err(_) => return Err(WRONG.into()),
            }
        };
    }
    match kind {
        TcKind::Short => number!(write_i16),
        TcKind::UShort => number!(write_u16),
        TcKind::Long => number!(write_i32),
        TcKind::ULong | TcKind::Enum => number!(write_u32),
        TcKind::LongLong => number!(write_i64),
        TcKind::ULongLong => number!(write_u64),
        TcKind::Octet => number!(write_u8),
        TcKind::Boolean => e.write_bool(label != 0),
        TcKind::Char => match u8::try_from(label) {
            Ok(octet) => e.put(&Char(octet))?,
            Err(_) => return Err(WRONG.into()),
        },
        TcKind::WChar => match u16::try_from(label) {
            Ok(unit) => e.put(&WChar(unit))?,
            Err(_) => return Err(WRONG.into()),
        },
        _ => return Err(EncodeErrorKind::Expected("a type that unions may switch over").into()),
    }
    Ok(())
}

/// Reads a label, or a discriminator.
pub(crate) fn read_label<O: ByteOrder>(
    kind: TcKind,
    d: &mut Decoder<'_, O>,
) -> Result<i128, DecodeError> {
    Ok(match kind {
        TcKind::Short => i128::from(d.read_i16()?),
        TcKind::UShort => i128::from(d.read_u16()?),
        TcKind::Long => i128::from(d.read_i32()?),
        TcKind::ULong | TcKind::Enum => i128::from(d.read_u32()?),
        TcKind::LongLong => i128::from(d.read_i64()?),
        TcKind::ULongLong => i128::from(d.read_u64()?),
        TcKind::Octet => i128::from(d.read_u8()?),
        TcKind::Boolean => i128::from(d.read_bool()?),
        TcKind::Char => i128::from(d.get::<Char>()?.0),
        TcKind::WChar => i128::from(d.get::<WChar>()?.0),
        _ => {
            return Err(d.error(DecodeErrorKind::Expected(
                "a type that unions may switch over",
            )));
        }
    })
}

/// Writes the label of a default: a zero, as a value of the discriminator's type or as one octet.
///
/// The octets differ where a name behind one octet would begin elsewhere than behind a discriminator: always for eight
/// octets, and behind a member whose type does not end at a multiple of four, as an enum's.
pub(super) fn write_default_label<O: ByteOrder>(
    kind: TcKind,
    e: &mut Encoder<O>,
) -> Result<(), EncodeError> {
    match e.format().default_labels {
        DefaultLabels::Discriminator => write_label(kind, 0, e),
        DefaultLabels::Octet => {
            e.write_u8(0);
            Ok(())
        }
    }
}

/// Reads the label of a default, which is a value of the discriminator's type (omniORB, TAO) or one octet (ORBs in Java).
///
/// Where the name behind it begins elsewhere for each, both are tried. The octets that follow may be read as a name
/// and a type from either position, since a label of zero looks like an empty name without its terminator. Some peers
/// send such a name, but not where a whole discriminator would have a whole name and a type behind it.
pub(super) fn default_label<O: ByteOrder>(
    kind: TcKind,
    d: &mut Decoder<'_, O>,
) -> Result<i128, DecodeError> {
    let narrow = d.peek(|d| {
        d.read_u8().ok()?;
        name_position(d)
    });
    let wide = d.peek(|d| {
        read_label(kind, d).ok()?;
        name_position(d)
    });
    if narrow != wide {
        let narrow = d.peek(|d| d.read_u8().ok().and_then(|_| named_type(d)));
        let wide = d.peek(|d| read_label(kind, d).ok().and_then(|_| named_type(d)));
        let is_wide = wide.is_some_and(|name| name.is_identifier && name.length > 0);
        if is_wide {
            return match narrow {
                Some(name) if name.length > 0 => Err(d.error(DecodeErrorKind::Expected(
                    "a default label that is surely one octet, or surely a discriminator",
                ))),
                _ => read_label(kind, d),
            };
        }
    }
    d.read_u8().map(i128::from)
}

/// Returns where a name begins.
fn name_position<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Option<usize> {
    d.align(4).ok()?;
    Some(d.position())
}

/// A name in front of a type.
struct Named {
    /// Octets of the name, its terminator included.
    length: u32,
    /// Whether it is an IDL identifier, or empty.
    is_identifier: bool,
}

/// Returns the name that follows, if the kind of a type is behind it.
fn named_type<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Option<Named> {
    let length = d.peek(Decoder::read_u32).ok()?;
    let name = d.read_raw_string().ok()?;
    let kind = d.read_u32().ok()?;
    let is_type = kind == INDIRECTION || TcKind::from_number(kind).is_some();
    let is_letter = |octet: &u8| octet.is_ascii_alphanumeric() || *octet == b'_';
    is_type.then_some(Named {
        length,
        is_identifier: name.iter().all(is_letter),
    })
}
