//! serde's `Deserializer` on a [`Decoder`].

use super::SerdeError;
use crate::{ByteOrder, DecodeErrorKind, Decoder};
use alloc::borrow::Cow;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

/// Reads the types of serde's data model, as in the table of the [module](super).
#[derive(Debug)]
pub struct Deserializer<'d, 'de, O: ByteOrder> {
    decoder: &'d mut Decoder<'de, O>,
}

impl<'d, 'de, O: ByteOrder> Deserializer<'d, 'de, O> {
    /// Makes a deserializer that goes on where `decoder` is.
    #[must_use]
    pub const fn new(decoder: &'d mut Decoder<'de, O>) -> Self {
        Self { decoder }
    }

    #[cold]
    fn refused(&self, expected: &'static str) -> SerdeError {
        self.decoder
            .error(DecodeErrorKind::Expected(expected))
            .into()
    }

    /// Hands `len` values to the visitor.
    fn members<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_seq(Members {
            decoder: self.decoder,
            left: len,
        })
    }
}

macro_rules! primitives {
    ($($method:ident = $read:ident, $visit:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
            visitor.$visit(self.decoder.$read()?)
        }
    )*};
}

impl<'de, O: ByteOrder> de::Deserializer<'de> for Deserializer<'_, 'de, O> {
    type Error = SerdeError;

    primitives! {
        deserialize_bool = read_bool, visit_bool;
        deserialize_i8 = read_i8, visit_i8;
        deserialize_i16 = read_i16, visit_i16;
        deserialize_i32 = read_i32, visit_i32;
        deserialize_i64 = read_i64, visit_i64;
        deserialize_u8 = read_u8, visit_u8;
        deserialize_u16 = read_u16, visit_u16;
        deserialize_u32 = read_u32, visit_u32;
        deserialize_u64 = read_u64, visit_u64;
        deserialize_f32 = read_f32, visit_f32;
        deserialize_f64 = read_f64, visit_f64;
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, SerdeError> {
        Err(self.refused("a type that is known in advance, since CDR does not describe itself"))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, _: V) -> Result<V::Value, SerdeError> {
        Err(self.refused("an integer of at most 64 bits"))
    }

    fn deserialize_u128<V: Visitor<'de>>(self, _: V) -> Result<V::Value, SerdeError> {
        Err(self.refused("an integer of at most 64 bits"))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        let found = self.decoder.read_u32()?;
        match char::from_u32(found) {
            Some(c) => visitor.visit_char(c),
            None => Err(self
                .decoder
                .error_behind(
                    4,
                    DecodeErrorKind::NotInCodeSet {
                        found,
                        set: "Unicode",
                    },
                )
                .into()),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self.decoder.read_str()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_borrowed_bytes(self.decoder.read_octets()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        if !self.decoder.read_bool()? {
            return visitor.visit_none();
        }
        nested(self.decoder, |decoder| {
            visitor.visit_some(Deserializer::new(decoder))
        })
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        let left = self.decoder.read_count_of_unknown()?;
        nested(self.decoder, |decoder| {
            decoder.owe(left);
            visitor.visit_seq(Elements(Members { decoder, left }))
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        self.members(len, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        self.members(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        let left = self.decoder.read_count_of_unknown()?;
        nested(self.decoder, |decoder| {
            decoder.owe(left);
            visitor.visit_map(Elements(Members { decoder, left }))
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        self.members(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        nested(self.decoder, |decoder| {
            visitor.visit_enum(Deserializer::new(decoder))
        })
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        self.deserialize_u32(visitor)
    }
}

/// Calls [`Decoder::nested`] with a function whose errors are serde's.
fn nested<'de, O: ByteOrder, R>(
    decoder: &mut Decoder<'de, O>,
    f: impl FnOnce(&mut Decoder<'de, O>) -> Result<R, SerdeError>,
) -> Result<R, SerdeError> {
    decoder.nested(|decoder| Ok(f(decoder)))?
}

/// Values one after the other.
struct Members<'d, 'de, O> {
    decoder: &'d mut Decoder<'de, O>,
    left: usize,
}

impl<'de, O: ByteOrder> Members<'_, 'de, O> {
    fn next<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, SerdeError> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        // A visitor collects the values in memory of its own, which may grow to twice their size.
        self.decoder.charge_memory(size_of::<T::Value>())?;
        seed.deserialize(Deserializer::new(self.decoder)).map(Some)
    }
}

impl<'de, O: ByteOrder> de::SeqAccess<'de> for Members<'_, 'de, O> {
    type Error = SerdeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SerdeError> {
        self.next(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// Elements of a sequence or map. For their size hint, each is taken to have at least one octet.
struct Elements<'d, 'de, O>(Members<'d, 'de, O>);

impl<'de, O: ByteOrder> de::SeqAccess<'de> for Elements<'_, 'de, O> {
    type Error = SerdeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SerdeError> {
        self.0.decoder.repay(1);
        self.0.next(seed)
    }

    /// Returns the limit of allocation in advance: for all sequences within each other together no more elements than
    /// octets.
    fn size_hint(&self) -> Option<usize> {
        Some(self.0.left.min(self.0.decoder.unowed(self.0.left)))
    }
}

impl<'de, O: ByteOrder> de::MapAccess<'de> for Elements<'_, 'de, O> {
    type Error = SerdeError;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SerdeError> {
        de::SeqAccess::next_element_seed(self, seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, SerdeError> {
        self.0.decoder.charge_memory(size_of::<T::Value>())?;
        seed.deserialize(Deserializer::new(self.0.decoder))
    }

    fn size_hint(&self) -> Option<usize> {
        de::SeqAccess::size_hint(self)
    }
}

impl<'de, O: ByteOrder> de::EnumAccess<'de> for Deserializer<'_, 'de, O> {
    type Error = SerdeError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Self), SerdeError> {
        let index = self.decoder.read_u32()?;
        let variant = seed.deserialize(IntoDeserializer::<SerdeError>::into_deserializer(index))?;
        Ok((variant, self))
    }
}

impl<'de, O: ByteOrder> de::VariantAccess<'de> for Deserializer<'_, 'de, O> {
    type Error = SerdeError;

    fn unit_variant(self) -> Result<(), SerdeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, SerdeError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        self.members(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        self.members(fields.len(), visitor)
    }
}
