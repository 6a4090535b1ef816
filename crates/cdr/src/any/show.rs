//! Values of anys as text, for `Debug` and `Display`.

use super::{
    Any,
    parts::checked_enumerator,
    values::{Chosen, choose, lineage},
    walk::{array_length, fixed_digits, read_discriminator, read_text, sequence_length},
};
use crate::{
    Char, DecodeError, DecodeErrorKind, Decoder, LongDouble, NativeEndian, TypeCode, ValueStart,
    WChar,
    typecode::{
        TcKind,
        data::TypeRef,
        display::{Shown, reference, scoped_name, show_label},
    },
};
use alloc::sync::Arc;
use core::fmt;

/// Elements of a sequence that are shown; the others are only counted.
const MAX_SHOWN_ELEMENTS: usize = 64;

impl fmt::Debug for Any {
    /// Writes `Any(Bank::Point { x: 1, y: 2 })`. The type stands in front where the value does not show it: `Any(short
    /// 7)`. `{:#?}` writes the same line; [`Any::members`] has the members one by one. 64 elements of
    /// a sequence are shown, and the others counted. The text is for readers, not to be parsed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Any(")?;
        fmt::Display::fmt(self, f)?;
        f.write_str(")")
    }
}

impl fmt::Display for Any {
    /// Writes the value with the names of types, members and enumerators: `Bank::Point { x: 1, y: 2 }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        whole(self.ty.view(), &mut self.decoder(), f)
    }
}

type Decoding<'a> = Decoder<'a, NativeEndian>;

/// Writes a value, with its type in front unless the value shows it.
fn whole(ty: TypeRef<'_>, d: &mut Decoding<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use TcKind as K;
    let is_self_describing = matches!(
        ty.unaliased().kind(),
        K::Boolean
            | K::String
            | K::WString
            | K::Char
            | K::WChar
            | K::Struct
            | K::Except
            | K::Union
            | K::Enum
            | K::TypeCode
            | K::Any
            | K::Null
            | K::Void
            | K::ObjRef
            | K::Value
            | K::ValueBox
            | K::Event
            | K::AbstractInterface
    );
    if !is_self_describing {
        reference(ty, f)?;
        f.write_str(" ")?;
    }
    value(ty, d, f)
}

/// Writes a value without its type, which the text around it shows.
fn value(ty: TypeRef<'_>, d: &mut Decoding<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut written = Ok(());
    let read = d.nested(|d| {
        let (read, result) = match shown(ty.unaliased(), d, f) {
            Ok(()) => (Ok(()), Ok(())),
            Err(Unshown::Format(error)) => (Ok(()), Err(error)),
            Err(Unshown::Decode(error)) => (Err(error), Ok(())),
        };
        written = result;
        read
    });
    written?;
    if read.is_err() {
        // Values are checked when they are decoded, so this one is nested too deep to be shown. Its end is unknown, so
        // the values behind it are not shown either.
        *d = Decoder::from_slice(&[], super::STORED);
        f.write_str("…")?;
    }
    Ok(())
}

enum Unshown {
    Format(fmt::Error),
    Decode(DecodeError),
}

impl From<fmt::Error> for Unshown {
    fn from(error: fmt::Error) -> Self {
        Self::Format(error)
    }
}

impl From<DecodeError> for Unshown {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

fn shown(ty: TypeRef<'_>, d: &mut Decoding<'_>, f: &mut fmt::Formatter<'_>) -> Result<(), Unshown> {
    // Types that can contain others have a function of their own, so that each level takes little stack.
    match ty.kind() {
        TcKind::Any => {
            let inner: TypeCode = d.get()?;
            f.write_str("Any(")?;
            whole(inner.view(), d, f)?;
            Ok(f.write_str(")")?)
        }
        TcKind::Struct | TcKind::Except => members(ty, d, f),
        TcKind::Union => union(ty, d, f),
        TcKind::Value | TcKind::ValueBox | TcKind::Event => value_type(ty, d, f),
        TcKind::AbstractInterface => match d.read_bool()? {
            true => object(ty, d, f),
            false => value_type(ty, d, f),
        },
        TcKind::Sequence => {
            let count = sequence_length(ty, d)?;
            elements(count, ty.content(), d, f)
        }
        TcKind::Array => {
            let count = array_length(ty, d)?;
            elements(count, ty.content(), d, f)
        }
        _ => leaf(ty, d, f),
    }
}

/// Writes a value that contains no others.
#[inline(never)]
fn leaf(ty: TypeRef<'_>, d: &mut Decoding<'_>, f: &mut fmt::Formatter<'_>) -> Result<(), Unshown> {
    use TcKind as K;
    match ty.kind() {
        K::Null | K::Void => f.write_str(ty.kind().keyword())?,
        K::Short => write!(f, "{}", d.read_i16()?)?,
        K::UShort => write!(f, "{}", d.read_u16()?)?,
        K::Long => write!(f, "{}", d.read_i32()?)?,
        K::ULong => write!(f, "{}", d.read_u32()?)?,
        K::LongLong => write!(f, "{}", d.read_i64()?)?,
        K::ULongLong => write!(f, "{}", d.read_u64()?)?,
        K::Octet => write!(f, "{}", d.read_u8()?)?,
        K::Float => write!(f, "{:?}", d.read_f32()?)?,
        K::Double => write!(f, "{:?}", d.read_f64()?)?,
        K::LongDouble => write!(f, "{}", d.get::<LongDouble>()?)?,
        K::Boolean => write!(f, "{}", d.read_bool()?)?,
        K::Char => write!(f, "{:?}", d.get::<Char>()?)?,
        K::WChar => write!(f, "{:?}", d.get::<WChar>()?)?,
        K::String | K::WString => write!(f, "{:?}", read_text(ty, d)?)?,
        K::Fixed => fixed(ty, d, f)?,
        K::Enum => {
            let (ordinal, name) = checked_enumerator(ty, d)?;
            scoped_name(ty, f)?;
            match name {
                "" => write!(f, "::{ordinal}")?,
                name => write!(f, "::{}", Shown(name))?,
            }
        }
        K::Principal => write!(f, "{} octets", d.read_octets()?.len())?,
        K::TypeCode => write!(f, "{:?}", d.get::<TypeCode>()?)?,
        K::ObjRef | K::Component | K::Home => object(ty, d, f)?,
        _ => return Err(d.error(NOT_SHOWN).into()),
    }
    Ok(())
}

#[inline(never)]
fn members(
    ty: TypeRef<'_>,
    d: &mut Decoding<'_>,
    f: &mut fmt::Formatter<'_>,
) -> Result<(), Unshown> {
    if ty.kind() == TcKind::Except {
        d.read_raw_string()?;
    }
    scoped_name(ty, f)?;
    f.write_str(" {")?;
    let some = listed(ty, true, d, f)?;
    Ok(f.write_str(if some { " }" } else { "}" })?)
}

/// Writes members one after the other; returns whether there were any.
fn listed(
    ty: TypeRef<'_>,
    mut first: bool,
    d: &mut Decoding<'_>,
    f: &mut fmt::Formatter<'_>,
) -> Result<bool, Unshown> {
    for (index, member) in ty.members().enumerate() {
        f.write_str(if first { " " } else { ", " })?;
        first = false;
        match member.name {
            "" => write!(f, "{index}: ")?,
            name => write!(f, "{}: ", Shown(name))?,
        }
        value(member.ty, d, f)?;
    }
    Ok(!first)
}

/// Writes a value of a value type. A value that was shown before, perhaps around this one, is not shown again.
#[inline(never)]
fn value_type(
    ty: TypeRef<'_>,
    d: &mut Decoding<'_>,
    f: &mut fmt::Formatter<'_>,
) -> Result<(), Unshown> {
    match d.begin_value()? {
        ValueStart::Null => f.write_str("null")?,
        ValueStart::Indirection(_) => {
            scoped_name(ty, f)?;
            f.write_str(" { as before }")?;
        }
        ValueStart::New(head) => {
            d.share_value(&head, Arc::new(()));
            match &choose(ty, head.ids(), d)? {
                Chosen::Stated => state(ty, d, f)?,
                Chosen::Known(known) if known.custom.is_some() => {
                    scoped_name(known.ty.view(), f)?;
                    // Only the application can read the contents. They are in chunks, so they can be skipped.
                    f.write_str(" { custom }")?;
                }
                Chosen::Known(known) => state(known.ty.view(), d, f)?,
            }
            d.end_value(head)?;
        }
    }
    Ok(())
}

fn state(ty: TypeRef<'_>, d: &mut Decoding<'_>, f: &mut fmt::Formatter<'_>) -> Result<(), Unshown> {
    scoped_name(ty, f)?;
    if ty.kind() == TcKind::ValueBox {
        f.write_str("(")?;
        value(ty.content(), d, f)?;
        return Ok(f.write_str(")")?);
    }
    f.write_str(" {")?;
    let mut first = true;
    for level in lineage(ty, d)?.into_iter().rev() {
        first = !listed(level, first, d, f)?;
    }
    Ok(f.write_str(if first { "}" } else { " }" })?)
}

#[inline(never)]
fn union(ty: TypeRef<'_>, d: &mut Decoding<'_>, f: &mut fmt::Formatter<'_>) -> Result<(), Unshown> {
    let discriminator = read_discriminator(ty, d)?;
    scoped_name(ty, f)?;
    f.write_str(" { case ")?;
    show_label(ty.content(), discriminator, f)?;
    if let Some(member) = ty.selected(discriminator) {
        write!(f, ": {}: ", Shown(member.name))?;
        value(member.ty, d, f)?;
    }
    Ok(f.write_str(" }")?)
}

/// The error of values that cannot be in an any.
const NOT_SHOWN: DecodeErrorKind = DecodeErrorKind::Expected("a type whose values an any may hold");

fn elements(
    count: usize,
    ty: TypeRef<'_>,
    d: &mut Decoding<'_>,
    f: &mut fmt::Formatter<'_>,
) -> Result<(), Unshown> {
    f.write_str("[")?;
    for index in 0..count {
        if index > 0 {
            f.write_str(", ")?;
        }
        if index == MAX_SHOWN_ELEMENTS {
            write!(f, "… {} more", count.saturating_sub(index))?;
            skip(count.saturating_sub(index), ty, d)?;
            break;
        }
        value(ty, d, f)?;
    }
    Ok(f.write_str("]")?)
}

/// Skips elements by copying them to an encoder that is dropped.
fn skip(count: usize, ty: TypeRef<'_>, d: &mut Decoding<'_>) -> Result<(), DecodeError> {
    let mut nowhere = crate::Encoder::<NativeEndian>::new(super::STORED);
    super::Walk::default().run(count, ty, ty, d, &mut nowhere)
}

fn fixed(ty: TypeRef<'_>, d: &mut Decoding<'_>, f: &mut fmt::Formatter<'_>) -> Result<(), Unshown> {
    let digits = fixed_digits(ty, d)?;
    let units = d.read_fixed(digits)?;
    let sign = if units < 0 { "-" } else { "" };
    let units = units.unsigned_abs();
    match u32::try_from(ty.scale()) {
        Ok(0) => write!(f, "{sign}{units}")?,
        // Where the power of ten overflows, all digits are behind the point.
        Ok(scale) => {
            let one = 10_u128.checked_pow(scale);
            let whole = one.and_then(|one| units.checked_div(one)).unwrap_or(0);
            let rest = one.and_then(|one| units.checked_rem(one)).unwrap_or(units);
            let width = usize::try_from(scale).unwrap_or(0);
            write!(f, "{sign}{whole}.{rest:0width$}")?;
        }
        Err(_) => write!(f, "{sign}{units}e{}", ty.scale().unsigned_abs())?,
    }
    Ok(())
}

/// Writes an object reference: its type id and the number of its profiles.
fn object(
    ty: TypeRef<'_>,
    d: &mut Decoding<'_>,
    f: &mut fmt::Formatter<'_>,
) -> Result<(), Unshown> {
    let id = d.read_raw_string()?;
    let profiles = d.read_count(8)?;
    for _ in 0..profiles {
        d.read_u32()?;
        d.read_octets()?;
    }
    reference(ty, f)?;
    match profiles {
        0 => f.write_str(" nil")?,
        _ => write!(f, " {:?}", alloc::string::String::from_utf8_lossy(id))?,
    }
    Ok(())
}
