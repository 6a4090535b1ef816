//! Values of any type: `any`.
//!
//! - here: [`Any`], made of Rust values and extracted to them;
//! - `typed`: the Rust types that an any can hold;
//! - `untyped`: values as arguments and results, without their TypeCodes;
//! - `walk`: reading and writing by TypeCode alone;
//! - `values`: values of value types;
//! - `stored_value`: the storage of a value's octets;
//! - `parts`: reading and building values that have no Rust type;
//! - `show`: values as text.

mod parts;
mod show;
mod stored_value;
mod typed;
mod untyped;
mod values;
mod walk;

pub use parts::{Elements, ValueParts};
pub use typed::{ExceptionCodec, IdlReference, IdlType, IdlValue};

use crate::{
    ByteOrder, CharSet, Codec, Decode, DecodeError, DecodeErrorKind, Decoder, DefaultLabels,
    Encode, EncodeError, EncodeErrorKind, Encoder, NativeEndian, TypeCode, WCharSet, WireFormat,
    traits::decode_run,
    typecode::{
        Sameness, TcKind,
        data::{NULL, TypeRef},
        encoding::encode_type,
        same,
    },
};
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;
use core::hash::{Hash, Hasher};
use stored_value::StoredValue;
use values::Values;
use walk::{Walk, encode_error};

/// The format of stored values: GIOP 1.2 in UTF-8 and UTF-16, except that a `char` keeps all of its 256 values.
const STORED: WireFormat = WireFormat {
    minor: 2,
    char_set: CharSet::Stored,
    wchar_set: WCharSet::Utf16,
    default_labels: DefaultLabels::Discriminator,
};

/// A value of any IDL type, together with its [`TypeCode`]: IDL's `any`.
///
/// ```
/// # extern crate zorb_cdr as zorb;
/// use zorb::{Any, TypeCode};
///
/// let any = Any::new("forty-two")?;
/// assert_eq!(any.type_code(), &TypeCode::string(0));
/// assert_eq!(any.extract::<String>()?, "forty-two");
///
/// let wrong = any.extract::<i32>().unwrap_err();
/// assert_eq!(wrong.to_string(), "expected an any with long, found string");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The value is stored as octets in one format, whatever the format of the message that it came in. It is checked when
/// it is decoded, so an `Any` always holds a value of its type. A clone increments at most two reference counts. Values
/// of up to 14 octets are stored without an allocation. Values of types that are unknown when the program is compiled
/// can be inspected with [`members`](Self::members), [`elements`](Self::elements) and their like, printed, and
/// forwarded.
///
/// `==` compares for equivalent types and equal octets: `-0.0` is not `0.0`, and a NaN equals itself.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (TypeCodes); CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer
/// syntax of any).
#[derive(Clone)]
pub struct Any {
    ty: TypeCode,
    value: StoredValue,
}

// A peer chooses the number of anys in a message, so each of them has to stay small.
const _: () = assert!(size_of::<Any>() == 32);

/// Largest value, in octets, that is copied to a buffer of its exact size. It is the capacity of the encoder's first
/// buffer. A small value that kept that buffer would hold some hundred octets of memory for each of its own. The sender
/// of a sequence of anys would then choose the memory that this process needs.
const COPIED: usize = crate::encoder::FIRST_CAPACITY;

/// Why a value does not come out of an any.
///
/// An error of decoding is the [`source`](core::error::Error::source), and `Display` does not show it. The alternate
/// form (`{:#}`) shows both.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The value is of another type.
    #[error("expected an any with {expected}, found {found}")]
    WrongType {
        /// The type that was asked for.
        expected: TypeCode,
        /// The type of the value.
        found: TypeCode,
    },
    /// The repository id is the expected one, but the sender's definition of the type differs.
    #[error(fmt = malformed)]
    Malformed {
        /// The type that was asked for.
        expected: TypeCode,
        /// The error of decoding the value as that type.
        #[source]
        error: DecodeError,
    },
}

fn malformed(expected: &TypeCode, error: &DecodeError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "malformed value of type {expected}")?;
    match f.alternate() {
        true => write!(f, ": {error}"),
        false => Ok(()),
    }
}

impl Any {
    /// Puts a value into an any. Allocates.
    ///
    /// # Errors
    /// Returns the errors of [`Encode::encode`], such as an exceeded bound or text with a NUL.
    pub fn new<T: IdlType + ?Sized>(value: &T) -> Result<Self, EncodeError> {
        let mut e = Encoder::holding(STORED);
        value.put_idl(&mut e)?;
        Ok(Self::written(TypeCode::from_static(T::TYPE), &mut e))
    }

    /// Returns the any whose value was written. The encoder keeps its buffer unless the value needs all of it.
    #[inline]
    fn written(ty: TypeCode, e: &mut Encoder<NativeEndian>) -> Self {
        let context = e.take_any_context();
        if context.is_none()
            && let Some(value) = e.as_single().and_then(StoredValue::inline)
        {
            return Self { ty, value };
        }
        let value = match e.as_single() {
            Some(octets) if octets.len() <= COPIED => Bytes::copy_from_slice(octets),
            _ => e.take_written().into_bytes(),
        };
        let value = StoredValue::shared(value, context);
        Self { ty, value }
    }

    /// Puts a value into an any with a TypeCode that the value's Rust type does not determine: an alias, a bounded
    /// string or sequence, a wide string.
    ///
    /// ```
    /// # extern crate zorb_cdr as zorb;
    /// use zorb::{Any, TypeCode};
    ///
    /// let wide = Any::with_type_code(&TypeCode::wstring(0), "wide")?;
    /// assert_eq!(wide.extract::<String>().unwrap(), "wide");
    /// assert!(Any::with_type_code(&TypeCode::string(3), "too long").is_err());
    /// assert!(Any::with_type_code(&TypeCode::string(3), &7).is_err());
    /// # Ok::<(), zorb::EncodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if the value cannot be of that type,
    /// [`BoundExceeded`](EncodeErrorKind::BoundExceeded), and the errors of [`new`](Self::new).
    pub fn with_type_code<T: IdlType + ?Sized>(
        ty: &TypeCode,
        value: &T,
    ) -> Result<Self, EncodeError> {
        Self::new(value)?.converted(ty)
    }

    /// Returns the value as one of another type that can hold it: see [`with_type_code`](Self::with_type_code).
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if the value cannot be of that type, and
    /// [`BoundExceeded`](EncodeErrorKind::BoundExceeded).
    pub fn converted(&self, ty: &TypeCode) -> Result<Self, EncodeError> {
        if !same(self.ty.view(), ty.view(), Sameness::Convertible) {
            return Err(EncodeErrorKind::Expected("a value that is of the TypeCode's type").into());
        }
        let mut e = Encoder::holding(STORED);
        self.write(ty.view(), &mut e)?;
        Ok(Self::written(ty.clone(), &mut e))
    }

    /// Returns the TypeCode of the value, as the sender or [`with_type_code`](Self::with_type_code) stated it: aliases
    /// and bounds included.
    #[must_use]
    pub const fn type_code(&self) -> &TypeCode {
        &self.ty
    }

    /// Octets of the value as it is stored, without its TypeCode: what limits on memory count.
    #[must_use]
    pub fn value_octets(&self) -> usize {
        self.value.octets().len()
    }

    /// Whether [`extract`](Self::extract) would find a value of this type.
    #[must_use]
    pub fn is<T: IdlValue>(&self) -> bool {
        self.is_convertible(TypeRef::Static(T::TYPE))
    }

    fn is_convertible(&self, to: TypeRef<'_>) -> bool {
        let from = self.ty.view().unaliased();
        // Every reference is an Object.
        let object = to.kind() == TcKind::ObjRef && to.id() == "IDL:omg.org/CORBA/Object:1.0";
        if values::derives(from, to) {
            return true;
        }
        (object && from.kind() == TcKind::ObjRef) || same(from, to, Sameness::Convertible)
    }

    /// Returns the value if it is of type `T`. Aliases, bounds and the width of text are ignored, since Rust types do
    /// not express them. A reference of any interface can be extracted as an `ObjectRef`.
    ///
    /// # Errors
    /// [`WrongType`](ExtractError::WrongType) if the value is of another type. [`Malformed`](ExtractError::Malformed)
    /// if the sender's type has the repository id of `T`, but another form.
    pub fn extract<T: IdlValue>(&self) -> Result<T, ExtractError> {
        let to = TypeRef::Static(T::TYPE);
        if !self.is_convertible(to) {
            return Err(ExtractError::WrongType {
                expected: TypeCode::from_static(T::TYPE),
                found: self.ty.clone(),
            });
        }
        self.decode::<T>(to)
            .map_err(|error| ExtractError::Malformed {
                expected: TypeCode::from_static(T::TYPE),
                error,
            })
    }

    fn decode<T: IdlValue>(&self, to: TypeRef<'_>) -> Result<T, DecodeError> {
        let from = self.ty.view();
        let as_is = matches!(to.kind(), TcKind::ObjRef | TcKind::Value | TcKind::ValueBox);
        if as_is || same(from, to, Sameness::Equivalent) {
            return Self::whole::<T>(self.value.decoder());
        }
        // A decoder of `T` ignores other bounds, but expects text of `T`'s width, so the value is written anew as `to`.
        let mut e = Encoder::<NativeEndian>::holding(STORED);
        self.write(to, &mut e)
            .map_err(|_| DecodeError::new(OTHER_FORM, 0))?;
        let other = Self::written(self.ty.clone(), &mut e);
        Self::whole::<T>(other.value.decoder())
    }

    /// Decodes a value that takes all octets of the decoder.
    fn whole<T: IdlValue>(mut d: Decoder<'_, NativeEndian>) -> Result<T, DecodeError> {
        let value = T::Codec::decode(&mut d)?;
        if d.remaining() != 0 {
            return Err(d.error(OTHER_FORM));
        }
        Ok(value)
    }

    /// Writes the value without its TypeCode, as a value of type `to`, to which its type is convertible.
    fn write<O: ByteOrder>(&self, to: TypeRef<'_>, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        self.write_by(Walk::default(), to, e)
    }

    fn write_by<O: ByteOrder>(
        &self,
        mut walk: Walk,
        to: TypeRef<'_>,
        e: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        let mut d = self.decoder();
        walk.copy(self.ty.view(), to, &mut d, e)
            .map_err(|error| encode_error(&walk, error))
    }

    /// Returns a decoder at the start of the value.
    fn decoder(&self) -> Decoder<'_, NativeEndian> {
        self.value.decoder()
    }

    /// Reads a TypeCode and a value of it, which is built in the buffer of `e`.
    #[inline]
    fn read_any<O: ByteOrder>(
        d: &mut Decoder<'_, O>,
        e: &mut Encoder<NativeEndian>,
    ) -> Result<Self, DecodeError> {
        let ty: TypeCode = d.get()?;
        d.nested(|d| Self::read(ty, d, e))
    }

    /// Reads a value of a type without a Rust type, which is built in the buffer of `e`.
    #[inline]
    fn read<O: ByteOrder>(
        ty: TypeCode,
        d: &mut Decoder<'_, O>,
        e: &mut Encoder<NativeEndian>,
    ) -> Result<Self, DecodeError> {
        Self::read_by(Walk::default(), ty, d, e)
    }

    #[inline]
    fn read_by<O: ByteOrder>(
        mut walk: Walk,
        ty: TypeCode,
        d: &mut Decoder<'_, O>,
        e: &mut Encoder<NativeEndian>,
    ) -> Result<Self, DecodeError> {
        if matches!(ty.kind(), TcKind::Null | TcKind::Void) {
            // There is no value to copy. One request may have seven million such anys, so they skip the rest.
            let value = StoredValue::NOTHING;
            return Ok(Self { ty, value });
        }
        e.hold_anew();
        walk.copy(ty.view(), ty.view(), d, e)?;
        if walk.values == Values::OfMessage {
            e.note_identities();
        }
        let any = Self::written(ty, e);
        d.charge_memory(any.value.memory(COPIED))?;
        Ok(any)
    }
}

/// The error of a value whose type has the repository id of the Rust type and another form.
const OTHER_FORM: DecodeErrorKind =
    DecodeErrorKind::Expected("a value of the form that our type has");

impl Default for Any {
    /// Returns the empty any, of type `null`.
    fn default() -> Self {
        Self {
            ty: TypeCode::from_static(&NULL),
            value: StoredValue::NOTHING,
        }
    }
}

impl PartialEq for Any {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value && self.ty.equivalent(&other.ty)
    }
}

impl Eq for Any {}

/// The hash of the value alone, since equivalent types need not be equal.
impl Hash for Any {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.octets().hash(state);
    }
}

/// Writes the TypeCode, then the value.
impl Encode for Any {
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encode_type(self.ty.view(), encoder)?;
        let ids = encoder.begin_any();
        self.write(self.ty.view(), encoder)?;
        encoder.end_any(ids);
        Ok(())
    }
}

/// Reads the TypeCode, then the value, which is checked against it.
impl<'de> Decode<'de> for Any {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        Self::read_any(decoder, &mut Encoder::holding(STORED))
    }

    /// Builds all values in one buffer.
    fn decode_into<O: ByteOrder>(
        decoder: &mut Decoder<'de, O>,
        len: usize,
        values: &mut Vec<Self>,
    ) -> Result<(), DecodeError> {
        let mut e = Encoder::holding(STORED);
        let one = |d: &mut Decoder<'de, O>| Self::read_any(d, &mut e);
        let settled = Self::decode_settled::<O>;
        decode_run(
            decoder,
            len,
            values,
            <Self as Decode<'_>>::MIN_SIZE,
            <Self as Decode<'_>>::LAYOUT,
            one,
            settled,
        )
    }
}
