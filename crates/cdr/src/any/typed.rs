//! The Rust types of which an any can be made, and to which it can be extracted.

use super::Any;
use crate::{
    Array, ByteOrder, Char, Codec, DecodeError, Decoder, Encode, EncodeError, Encoder, Fixed,
    LongDouble, Principal, SendCodec, Seq, StaticType, TypeCode, WChar,
};
use alloc::{string::String, vec::Vec};
use bytes::Bytes;

/// A Rust type that represents an IDL type, so that an [`Any`] can be made of its values.
///
/// Generated types implement it, and so do the Rust types of built-in IDL types: `()`, numbers, `bool`, [`Char`],
/// [`WChar`], `String` and `str` (as `string`), [`Bytes`], [`Vec`], arrays, [`Any`], [`TypeCode`], references and
/// options of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no place in IDL, so an any cannot hold it",
    note = "types come from IDL; `usize`, `char` and tuples have no place in IDL"
)]
pub trait IdlType {
    /// The type as static data.
    #[doc(hidden)]
    const TYPE: &'static StaticType;

    /// Writes a value in the form that it has in an any.
    #[doc(hidden)]
    fn put_idl<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError>;
}

/// An [`IdlType`] whose values can be extracted from an [`Any`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot come out of an any",
    note = "what comes out is owned: `String`, not `str`; a reference may be nil: `Option<FooRef>`"
)]
pub trait IdlValue: IdlType + Sized {
    /// The codec of values in an any.
    #[doc(hidden)]
    type Codec: Codec<Value = Self>;
}

/// A type that may be nil, so that its IDL values are `Option`s of it: a typed reference or a value type.
pub trait IdlReference: Sized {
    /// The type as static data.
    #[doc(hidden)]
    const TYPE: &'static StaticType;
    /// The codec of values.
    #[doc(hidden)]
    type Codec: Codec<Value = Option<Self>, Borrowed = Option<Self>>;
}

impl TypeCode {
    /// Returns the TypeCode of a Rust type. An IDL type without a Rust type of its own, such as a `typedef` or a
    /// bounded string, has that of the Rust type that represents it.
    ///
    /// ```
    /// # extern crate zorb_cdr as zorb;
    /// use zorb::TypeCode;
    /// assert_eq!(TypeCode::of::<Vec<[f64; 3]>>().to_string(), "sequence<double[3]>");
    /// ```
    #[must_use]
    pub const fn of<T: IdlType + ?Sized>() -> Self {
        Self::from_static(T::TYPE)
    }
}

/// Implements [`IdlType`](crate::IdlType) and [`IdlValue`](crate::IdlValue) for a type that is its own codec.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_type {
    ($name:ty, $type:expr) => {
        impl $crate::IdlType for $name {
            const TYPE: &'static $crate::StaticType = $type;

            #[inline]
            fn put_idl<__O: $crate::ByteOrder>(
                &self,
                encoder: &mut $crate::Encoder<__O>,
            ) -> ::core::result::Result<(), $crate::EncodeError> {
                $crate::Encode::encode(self, encoder)
            }
        }

        impl $crate::IdlValue for $name {
            type Codec = Self;
        }
    };
}

// `()` is `void`, the type of operations without a result; `Any::default()` is of type `null`.
idl_type!((), &StaticType::Void);
idl_type!(bool, &StaticType::Boolean);
idl_type!(u8, &StaticType::Octet);
idl_type!(i16, &StaticType::Short);
idl_type!(u16, &StaticType::UShort);
idl_type!(i32, &StaticType::Long);
idl_type!(u32, &StaticType::ULong);
idl_type!(i64, &StaticType::LongLong);
idl_type!(u64, &StaticType::ULongLong);
idl_type!(f32, &StaticType::Float);
idl_type!(f64, &StaticType::Double);
idl_type!(LongDouble, &StaticType::LongDouble);
idl_type!(Char, &StaticType::Char);
idl_type!(WChar, &StaticType::WChar);
idl_type!(String, &StaticType::String(0));
idl_type!(Bytes, &StaticType::Sequence(&StaticType::Octet, 0));
idl_type!(TypeCode, &StaticType::TypeCode);
idl_type!(Principal, &StaticType::Principal);
idl_type!(Any, &StaticType::Any);

impl<const D: u8, const S: u8> IdlType for Fixed<D, S> {
    const TYPE: &'static StaticType = &StaticType::Fixed(D as u16, S as i16);

    fn put_idl<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        Encode::encode(self, encoder)
    }
}

impl<const D: u8, const S: u8> IdlValue for Fixed<D, S> {
    type Codec = Self;
}

impl IdlType for str {
    const TYPE: &'static StaticType = &StaticType::String(0);

    fn put_idl<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_str(self)
    }
}

impl<T: IdlType + ?Sized> IdlType for &T {
    const TYPE: &'static StaticType = T::TYPE;

    fn put_idl<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        T::put_idl(self, encoder)
    }
}

impl<T: IdlValue> IdlType for [T] {
    const TYPE: &'static StaticType = &StaticType::Sequence(T::TYPE, 0);

    fn put_idl<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        Seq::<T::Codec>::encode(self, encoder)
    }
}

impl<T: IdlValue> IdlType for Vec<T> {
    const TYPE: &'static StaticType = &StaticType::Sequence(T::TYPE, 0);

    fn put_idl<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        Seq::<T::Codec>::encode(self, encoder)
    }
}

impl<T: IdlValue> IdlValue for Vec<T> {
    type Codec = Seq<T::Codec>;
}

impl<T: IdlValue, const N: usize> IdlType for [T; N] {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there is no array in IDL of more than an unsigned long can count, nor any memory can hold"
    )]
    const TYPE: &'static StaticType = &StaticType::Array(T::TYPE, N as u32);

    fn put_idl<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        Array::<T::Codec, N>::encode(self, encoder)
    }
}

impl<T: IdlValue, const N: usize> IdlValue for [T; N] {
    type Codec = Array<T::Codec, N>;
}

impl<T: IdlReference> IdlType for Option<T> {
    const TYPE: &'static StaticType = T::TYPE;

    fn put_idl<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        T::Codec::encode(self, encoder)
    }
}

impl<T: IdlReference> IdlValue for Option<T> {
    type Codec = T::Codec;
}

/// The codec of an exception in an any: its repository id, then its members.
#[doc(hidden)]
#[derive(Debug)]
pub struct ExceptionCodec<T>(core::marker::PhantomData<T>);

impl<T: IdlType + Encode + for<'de> crate::Decode<'de>> Codec for ExceptionCodec<T> {
    type Value = T;
    type Borrowed = T;
    const MIN_SIZE: usize = 4;

    fn encode<O: ByteOrder>(value: &T, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        let id = TypeCode::of::<T>();
        encoder.write_raw_string(id.id().unwrap_or_default().as_bytes())?;
        value.encode(encoder)
    }

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<T, DecodeError> {
        decoder.read_raw_string()?;
        decoder.get()
    }
}

impl<T: IdlType + Encode + for<'de> crate::Decode<'de> + Send + 'static> SendCodec
    for ExceptionCodec<T>
{
}

/// Implements [`IdlType`](crate::IdlType) and [`IdlValue`](crate::IdlValue) for an exception.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_exception {
    ($name:ty, $type:expr) => {
        impl $crate::IdlType for $name {
            const TYPE: &'static $crate::StaticType = $type;

            fn put_idl<__O: $crate::ByteOrder>(
                &self,
                encoder: &mut $crate::Encoder<__O>,
            ) -> ::core::result::Result<(), $crate::EncodeError> {
                <$crate::ExceptionCodec<Self> as $crate::Codec>::encode(self, encoder)
            }
        }

        impl $crate::IdlValue for $name {
            type Codec = $crate::ExceptionCodec<Self>;
        }
    };
}
