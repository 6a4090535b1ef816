//! The default values of types.

use super::{DynAnyError, MAX_DEPTH, Result, numbers};
use zorb_cdr::{
    Any, Decoder, EncodeError, Encoder, LongDouble, NativeEndian, TcKind, TypeCode, WChar,
    WireFormat,
};

/// Most components of a value that is made of its TypeCode alone. A peer that sends a TypeCode chooses the lengths of arrays.
pub const MAX_DEFAULT_COMPONENTS: u32 = 1 << 16;

/// Refuses types that have no values.
pub(super) fn has_values(ty: &TypeCode) -> Result<()> {
    match ty.unaliased().kind() {
        TcKind::Native | TcKind::LocalInterface | TcKind::Component | TcKind::Home => Err(NONE),
        _ => Ok(()),
    }
}

const NONE: DynAnyError =
    DynAnyError::InconsistentTypeCode("a local or native type, or one that is not whole");

/// Makes the default value of a type that was not made here, such as one within itself that was never completed.
pub(super) fn checked_default(ty: &TypeCode) -> Result<Any> {
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.put(ty).map_err(|_| NONE)?;
    default_value(ty)
}

/// Makes the default value of a type.
pub(super) fn default_value(ty: &TypeCode) -> Result<Any> {
    let mut writer = Writer {
        e: Encoder::new(WireFormat::default()),
        left: MAX_DEFAULT_COMPONENTS,
    };
    writer.value(ty, 0)?;
    decoded(ty, writer.e)
}

/// The value of type `ty` that was written.
pub(super) fn decoded(ty: &TypeCode, e: Encoder<NativeEndian>) -> Result<Any> {
    let octets = e.finish().to_vec();
    let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
    Any::decode_value(ty, &mut d).map_err(|_| NONE)
}

struct Writer {
    e: Encoder<NativeEndian>,
    /// Components that may still be written.
    left: u32,
}

impl Writer {
    /// Writes the default value of a type.
    fn value(&mut self, ty: &TypeCode, depth: u16) -> Result<()> {
        use TcKind as K;
        self.left = self.left.checked_sub(1).ok_or(DynAnyError::TooLarge)?;
        // A type that contains itself has no end: the TypeCode lies.
        let depth = depth.saturating_add(1);
        if depth > MAX_DEPTH {
            return Err(NONE);
        }
        has_values(ty)?;
        let ty = ty.unaliased();
        let wrong = |_: EncodeError| NONE;
        match ty.kind() {
            K::Null | K::Void => {}
            K::Octet | K::Boolean | K::Char => self.e.write_u8(0),
            K::Short | K::UShort => self.e.write_u16(0),
            // The first enumerator, no elements, the null value, a TypeCode `null`, an any of it, a Principal without octets.
            K::Long
            | K::ULong
            | K::Float
            | K::Enum
            | K::Sequence
            | K::Value
            | K::ValueBox
            | K::Event
            | K::TypeCode
            | K::Any
            | K::Principal => self.e.write_u32(0),
            K::LongLong | K::ULongLong | K::Double => self.e.write_u64(0),
            K::LongDouble => self.e.put(&LongDouble::default()).map_err(wrong)?,
            K::WChar => self.e.put(&WChar(0)).map_err(wrong)?,
            K::String => self.e.write_str("").map_err(wrong)?,
            K::WString => self.e.write_wide_str("").map_err(wrong)?,
            K::Fixed => {
                let zero = Any::of_decimal(&ty, "0").map_err(wrong)?;
                zero.encode_value(&mut self.e).map_err(wrong)?;
            }
            // The nil reference: no id, no profiles.
            K::ObjRef => {
                self.e.write_str("").map_err(wrong)?;
                self.e.write_u32(0);
            }
            // A null value.
            K::AbstractInterface => {
                self.e.write_bool(false);
                self.e.write_u32(0);
            }
            K::Struct | K::Except => {
                if ty.kind() == K::Except {
                    let id = ty.id().unwrap_or_default();
                    self.e.write_raw_string(id.as_bytes()).map_err(wrong)?;
                }
                for index in 0..ty.member_count() {
                    let member = ty.member_type(index).ok_or(NONE)?;
                    self.value(&member, depth)?;
                }
            }
            K::Array => {
                let content = ty.content_type().ok_or(NONE)?;
                for _ in 0..ty.length().unwrap_or(0) {
                    self.value(&content, depth)?;
                }
            }
            K::Union => {
                let label = match ty.default_index() {
                    // The value that selects the default member, which stands first.
                    Some(0) => numbers::unused_label(&ty).ok_or(NONE)?,
                    _ => ty.member_label(0).ok_or(NONE)?,
                };
                let discriminator = ty.discriminator_type().ok_or(NONE)?;
                numbers::write_label(&mut self.e, &discriminator, label)?;
                self.value(&ty.member_type(0).ok_or(NONE)?, depth)?;
            }
            _ => return Err(NONE),
        }
        Ok(())
    }
}
