//! Discriminators and enumerators as numbers, and decimal numbers as text.

use super::{
    DynAnyError::{InvalidValue, TypeMismatch},
    Result, defaults,
};
use std::collections::BTreeSet;
use zorb_cdr::{Any, Char, Encoder, NativeEndian, TcKind, TypeCode, WChar, WireFormat};

const NO_DISCRIMINATOR: super::DynAnyError = TypeMismatch("a value of the discriminator's type");

/// Writes a discriminator, or another value of such a type, by its number.
pub(super) fn write_label(
    e: &mut Encoder<NativeEndian>,
    ty: &TypeCode,
    number: i128,
) -> Result<()> {
    use TcKind as K;
    let out = |_| InvalidValue("a number that the type does not have");
    match ty.unaliased().kind() {
        K::Boolean if number > 1 => return Err(InvalidValue("a boolean of neither 0 nor 1")),
        K::Octet | K::Boolean | K::Char => e.write_u8(u8::try_from(number).map_err(out)?),
        K::Short => e.write_u16(i16::try_from(number).map_err(out)?.cast_unsigned()),
        K::UShort => e.write_u16(u16::try_from(number).map_err(out)?),
        K::Long => e.write_u32(i32::try_from(number).map_err(out)?.cast_unsigned()),
        K::ULong | K::Enum => e.write_u32(u32::try_from(number).map_err(out)?),
        K::LongLong => e.write_u64(i64::try_from(number).map_err(out)?.cast_unsigned()),
        K::ULongLong => e.write_u64(u64::try_from(number).map_err(out)?),
        K::WChar => {
            let unit = WChar(u16::try_from(number).map_err(out)?);
            let written = e.put(&unit);
            written.map_err(|_| InvalidValue("a wide character that cannot be encoded"))?;
        }
        _ => return Err(NO_DISCRIMINATOR),
    }
    Ok(())
}

/// The discriminator of a union as a value.
pub(super) fn discriminator_of(union: &TypeCode, number: i128) -> Result<Any> {
    let ty = union.discriminator_type().ok_or(NO_DISCRIMINATOR)?;
    of_number(&ty, number)
}

/// The value of a type of discriminators that has this number.
pub(super) fn of_number(ty: &TypeCode, number: i128) -> Result<Any> {
    let mut e = Encoder::new(WireFormat::default());
    write_label(&mut e, ty, number)?;
    defaults::decoded(ty, e).map_err(|_| InvalidValue("a number that the type does not have"))
}

/// The number of a value of a type of discriminators: of an enumerator its ordinal, of a character its code.
pub(super) fn number_of(any: &Any) -> Result<i128> {
    use TcKind as K;
    let number = match any.type_code().unaliased().kind() {
        K::Boolean => any.extract::<bool>().map(i128::from),
        K::Octet => any.extract::<u8>().map(i128::from),
        K::Char => any.extract::<Char>().map(|c| i128::from(c.0)),
        K::WChar => any.extract::<WChar>().map(|c| i128::from(c.0)),
        K::Short => any.extract::<i16>().map(i128::from),
        K::UShort => any.extract::<u16>().map(i128::from),
        K::Long => any.extract::<i32>().map(i128::from),
        K::ULong => any.extract::<u32>().map(i128::from),
        K::LongLong => any.extract::<i64>().map(i128::from),
        K::ULongLong => any.extract::<u64>().map(i128::from),
        K::Enum => return ordinal(any).map(i128::from).ok_or(NO_DISCRIMINATOR),
        _ => return Err(NO_DISCRIMINATOR),
    };
    number.map_err(|_| NO_DISCRIMINATOR)
}

/// The ordinal of an enumerator.
pub(super) fn ordinal(any: &Any) -> Option<u32> {
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    any.encode_value(&mut e).ok()?;
    let octets = e.finish().to_vec();
    Some(u32::from_ne_bytes(*octets.first_chunk()?))
}

/// The lowest value of a union's discriminator that is the label of no member; `None` if all are labels.
pub(super) fn unused_label(union: &TypeCode) -> Option<i128> {
    let ty = union.discriminator_type()?.unaliased();
    let count: i128 = match ty.kind() {
        TcKind::Boolean => 2,
        TcKind::Octet | TcKind::Char => 1 << 8,
        TcKind::Enum => i128::try_from(ty.member_count()).ok()?,
        // More than there are labels.
        _ => 1 << 16,
    };
    let members = 0..union.member_count();
    let used: BTreeSet<i128> = members.filter_map(|it| union.member_label(it)).collect();
    (0..count).find(|label| !used.contains(label))
}

/// The index of the member that a value of the discriminator selects.
pub(super) fn selected(union: &TypeCode, number: i128) -> Option<usize> {
    let mut members = 0..union.member_count();
    let labelled = members.find(|&it| union.member_label(it) == Some(number));
    labelled.or_else(|| union.default_index())
}

/// A decimal number as text.
pub(super) struct Literal<'a> {
    pub(super) is_negative: bool,
    /// The digits before the point, without leading zeros.
    pub(super) whole: &'a str,
    /// The digits behind the point, without trailing zeros.
    pub(super) fraction: &'a str,
}

impl<'a> Literal<'a> {
    /// The digits before the point, at least one.
    pub(super) fn whole_or_zero(&self) -> &'a str {
        match self.whole {
            "" => "0",
            whole => whole,
        }
    }

    /// Parses an optional sign, digits with an optional point, and an optional `d` or `D`.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_suffix(['d', 'D']).unwrap_or(text);
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let all = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
        let is_number = all(whole) && all(fraction) && !(whole.is_empty() && fraction.is_empty());
        is_number.then(|| Self {
            is_negative,
            whole: whole.trim_start_matches('0'),
            fraction: fraction.trim_end_matches('0'),
        })
    }
}
