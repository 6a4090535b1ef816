//! serde's `Serializer` on an [`Encoder`].

use super::SerdeError;
use crate::{ByteOrder, EncodeError, EncodeErrorKind, Encoder};
use serde::{Serialize, ser};

/// Writes the types of serde's data model, as in the table of the [module](super).
#[derive(Debug)]
pub struct Serializer<'e, O: ByteOrder> {
    encoder: &'e mut Encoder<O>,
}

impl<'e, O: ByteOrder> Serializer<'e, O> {
    /// Makes a serializer that appends to `encoder`, aligned from the encoder's own start. After an error, the encoder holds a
    /// part of the value.
    #[must_use]
    pub const fn new(encoder: &'e mut Encoder<O>) -> Self {
        Self { encoder }
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerdeError> {
        value.serialize(Serializer::new(self.encoder))
    }

    fn count(self, len: Option<usize>) -> Result<Self, SerdeError> {
        let Some(len) = len else {
            return Err(refused("a sequence whose length is known in advance"));
        };
        self.encoder.write_count(len)?;
        Ok(self)
    }
}

#[cold]
fn refused(expected: &'static str) -> SerdeError {
    EncodeError::new(EncodeErrorKind::Expected(expected)).into()
}

macro_rules! primitives {
    ($($method:ident($t:ty) = $write:ident;)*) => {$(
        fn $method(self, value: $t) -> Result<(), SerdeError> {
            self.encoder.$write(value);
            Ok(())
        }
    )*};
}

impl<O: ByteOrder> ser::Serializer for Serializer<'_, O> {
    type Ok = ();
    type Error = SerdeError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    primitives! {
        serialize_bool(bool) = write_bool;
        serialize_i8(i8) = write_i8;
        serialize_i16(i16) = write_i16;
        serialize_i32(i32) = write_i32;
        serialize_i64(i64) = write_i64;
        serialize_u8(u8) = write_u8;
        serialize_u16(u16) = write_u16;
        serialize_u32(u32) = write_u32;
        serialize_u64(u64) = write_u64;
        serialize_f32(f32) = write_f32;
        serialize_f64(f64) = write_f64;
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_i128(self, _: i128) -> Result<(), SerdeError> {
        Err(refused("an integer of at most 64 bits"))
    }

    fn serialize_u128(self, _: u128) -> Result<(), SerdeError> {
        Err(refused("an integer of at most 64 bits"))
    }

    fn serialize_char(self, value: char) -> Result<(), SerdeError> {
        self.serialize_u32(u32::from(value))
    }

    fn serialize_str(self, value: &str) -> Result<(), SerdeError> {
        Ok(self.encoder.write_str(value)?)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), SerdeError> {
        Ok(self.encoder.write_octets(value)?)
    }

    fn serialize_none(self) -> Result<(), SerdeError> {
        self.serialize_bool(false)
    }

    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), SerdeError> {
        self.encoder.write_bool(true);
        self.value(value)
    }

    fn serialize_unit(self) -> Result<(), SerdeError> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), SerdeError> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), SerdeError> {
        self.serialize_u32(index)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        value: &T,
    ) -> Result<(), SerdeError> {
        self.value(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), SerdeError> {
        self.encoder.write_u32(index);
        self.value(value)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self, SerdeError> {
        self.count(len)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, SerdeError> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, SerdeError> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, SerdeError> {
        self.encoder.write_u32(index);
        Ok(self)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self, SerdeError> {
        self.count(len)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, SerdeError> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, SerdeError> {
        self.encoder.write_u32(index);
        Ok(self)
    }
}

/// Members and elements follow one after the other, in all compound types of serde.
macro_rules! members {
    ($($trait:ident::$method:ident($($name:ident: $t:ty)?);)*) => {$(
        impl<O: ByteOrder> ser::$trait for Serializer<'_, O> {
            type Ok = ();
            type Error = SerdeError;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: $t,)?
                value: &T,
            ) -> Result<(), SerdeError> {
                self.value(value)
            }

            fn end(self) -> Result<(), SerdeError> {
                Ok(())
            }
        }
    )*};
}

members! {
    SerializeSeq::serialize_element();
    SerializeTuple::serialize_element();
    SerializeTupleStruct::serialize_field();
    SerializeTupleVariant::serialize_field();
    SerializeStruct::serialize_field(_name: &'static str);
    SerializeStructVariant::serialize_field(_name: &'static str);
}

impl<O: ByteOrder> ser::SerializeMap for Serializer<'_, O> {
    type Ok = ();
    type Error = SerdeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerdeError> {
        self.value(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerdeError> {
        self.value(value)
    }

    fn end(self) -> Result<(), SerdeError> {
        Ok(())
    }
}
