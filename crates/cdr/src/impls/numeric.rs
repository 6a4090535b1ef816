//! Numbers, octets and booleans, alone and in bulk.

use crate::{
    ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Layout, Lent,
    SHARE_FROM, Window, WindowMut,
    layout::BLOCK,
    traits::{reserve, try_array},
};
use alloc::{borrow::Cow, vec::Vec};
use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Numbers that are borrowed from a message where they are aligned in native order.
#[doc(hidden)]
pub trait Number:
    FromBytes + IntoBytes + Immutable + Copy + fmt::Debug + Encode + for<'de> Decode<'de> + 'static
{
    /// Borrows `len` numbers, where `len` is from [`Decoder::read_count`]. `None` if they cannot be borrowed; they are
    /// still to be read then.
    fn borrow<'de, O: ByteOrder>(
        decoder: &mut Decoder<'de, O>,
        len: usize,
    ) -> Result<Option<&'de [Self]>, DecodeError>;
}

macro_rules! numeric {
    ($($t:ty: $size:literal, $read:ident, $write:ident, $load:expr, $store:expr;)*) => {$(
        impl Encode for $t {
            const ENCODED: Layout = Layout::primitive($size);

            #[inline(always)]
            fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
                encoder.$write(*self);
                Ok(())
            }

            #[inline]
            fn encode_slice<O: ByteOrder>(
                values: &[Self],
                encoder: &mut Encoder<O>,
            ) -> Result<(), EncodeError> {
                if values.is_empty() {
                    return Ok(());
                }
                encoder.align($size);
                let start = encoder.position();
                if O::IS_NATIVE || $size == 1 {
                    encoder.append(values.as_bytes());
                } else {
                    encoder.reserve(values.len().saturating_mul($size));
                    for values in values.chunks(BLOCK / $size) {
                        let octets = encoder.run_mut(values.len().saturating_mul($size));
                        let (places, _) = octets.as_chunks_mut::<$size>();
                        for (place, value) in places.iter_mut().zip(values) {
                            *place = ($store)(*value);
                        }
                    }
                }
                if $size <= 4 {
                    encoder.end_run(start);
                }
                Ok(())
            }

            #[inline]
            fn encode_slice_lent<'a, O: ByteOrder>(
                values: &'a [Self],
                encoder: &mut Encoder<O>,
                lent: &mut Option<Lent<'a>>,
            ) -> Result<(), EncodeError> {
                let octets = values.as_bytes();
                if octets.len() < SHARE_FROM || !(O::IS_NATIVE || $size == 1) {
                    return Self::encode_slice(values, encoder);
                }
                encoder.align($size);
                let start = encoder.position();
                encoder.append_or_lend(octets, lent);
                if $size <= 4 {
                    encoder.end_run(start);
                }
                Ok(())
            }

            #[inline(always)]
            fn encode_fixed<O: ByteOrder>(
                &self,
                window: &mut WindowMut<'_>,
            ) -> Result<(), EncodeError> {
                window.store::<$size>(($store)(*self))
            }
        }

        impl<'de> Decode<'de> for $t {
            const MIN_SIZE: usize = $size;
            const LAYOUT: Layout = Layout::primitive($size);

            #[inline(always)]
            fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
                decoder.$read()
            }

            #[inline]
            fn decode_into<O: ByteOrder>(
                decoder: &mut Decoder<'de, O>,
                len: usize,
                values: &mut Vec<Self>,
            ) -> Result<(), DecodeError> {
                if len == 0 {
                    return Ok(());
                }
                decoder.align($size)?;
                reserve(decoder, len, values)?;
                if let Some(octets) = decoder.run(len.saturating_mul($size)) {
                    let (numbers, _) = octets.as_chunks::<$size>();
                    values.extend(numbers.iter().map(|number| ($load)(*number)));
                } else {
                    // The number goes on in the next GIOP 1.1 fragment, or is truncated.
                    for _ in 0..len {
                        values.push(decoder.$read()?);
                    }
                }
                Ok(())
            }

            #[inline]
            fn decode_array<O: ByteOrder, const N: usize>(
                decoder: &mut Decoder<'de, O>,
            ) -> Result<[Self; N], DecodeError> {
                if N == 0 {
                    return try_array(|| decoder.$read());
                }
                decoder.align($size)?;
                match decoder.run(N.saturating_mul($size)) {
                    Some(octets) => {
                        let mut values = [Self::default(); N];
                        let (numbers, _) = octets.as_chunks::<$size>();
                        for (value, number) in values.iter_mut().zip(numbers) {
                            *value = ($load)(*number);
                        }
                        Ok(values)
                    }
                    None => try_array(|| decoder.$read()),
                }
            }

            #[inline(always)]
            fn decode_fixed<O: ByteOrder>(window: &mut Window<'_>) -> Self {
                ($load)(window.load::<$size>())
            }

            #[inline(always)]
            fn decode_fixed_array<O: ByteOrder, const N: usize>(
                window: &mut Window<'_>,
            ) -> [Self; N] {
                let mut values = [Self::default(); N];
                window.align($size);
                let (numbers, _) = window.take(N.saturating_mul($size)).as_chunks::<$size>();
                for (value, number) in values.iter_mut().zip(numbers) {
                    *value = ($load)(*number);
                }
                values
            }
        }

        impl Number for $t {
            #[inline]
            fn borrow<'de, O: ByteOrder>(
                decoder: &mut Decoder<'de, O>,
                len: usize,
            ) -> Result<Option<&'de [Self]>, DecodeError> {
                if len == 0 {
                    return Ok(Some(&[]));
                }
                decoder.align($size)?;
                if (O::IS_NATIVE || $size == 1)
                    && let Some(octets) = decoder.peek_run(len.saturating_mul($size))
                    && let Ok(values) = <[Self]>::ref_from_bytes(octets)
                {
                    decoder.run(octets.len());
                    return Ok(Some(values));
                }
                Ok(None)
            }
        }
    )*};
}

numeric! {
    u8: 1, read_u8, write_u8, |[octet]: [u8; 1]| octet, |value: Self| [value];
    i8: 1, read_i8, write_i8, Self::from_ne_bytes, Self::to_ne_bytes;
    u16: 2, read_u16, write_u16, O::load_u16, O::store_u16;
    i16: 2, read_i16, write_i16,
        |octets| O::load_u16(octets).cast_signed(),
        |value: Self| O::store_u16(value.cast_unsigned());
    u32: 4, read_u32, write_u32, O::load_u32, O::store_u32;
    i32: 4, read_i32, write_i32,
        |octets| O::load_u32(octets).cast_signed(),
        |value: Self| O::store_u32(value.cast_unsigned());
    u64: 8, read_u64, write_u64, O::load_u64, O::store_u64;
    i64: 8, read_i64, write_i64,
        |octets| O::load_u64(octets).cast_signed(),
        |value: Self| O::store_u64(value.cast_unsigned());
    f32: 4, read_f32, write_f32,
        |octets| Self::from_bits(O::load_u32(octets)),
        |value: Self| O::store_u32(value.to_bits());
    f64: 8, read_f64, write_f64,
        |octets| Self::from_bits(O::load_u64(octets)),
        |value: Self| O::store_u64(value.to_bits());
}

/// A sequence of numbers: borrowed where it is aligned in native order and in one piece, else copied.
impl<'de, T: Number> Decode<'de> for Cow<'de, [T]> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let len = decoder.read_count(size_of::<T>())?;
        if let Some(numbers) = T::borrow(decoder, len)? {
            return Ok(Cow::Borrowed(numbers));
        }
        let mut numbers = Vec::new();
        T::decode_into(decoder, len, &mut numbers)?;
        Ok(Cow::Owned(numbers))
    }
}

/// A boolean: 0 is false, anything else is read as true.
impl Encode for bool {
    const ENCODED: Layout = Layout::primitive(1);

    #[inline(always)]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_bool(*self);
        Ok(())
    }

    #[inline]
    fn encode_slice<O: ByteOrder>(
        values: &[Self],
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        let start = encoder.position();
        encoder.append(values.as_bytes());
        encoder.end_run(start);
        Ok(())
    }

    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(&self, window: &mut WindowMut<'_>) -> Result<(), EncodeError> {
        window.store([u8::from(*self)])
    }
}

impl<'de> Decode<'de> for bool {
    const MIN_SIZE: usize = 1;
    const LAYOUT: Layout = Layout::primitive(1);

    #[inline(always)]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        decoder.read_bool()
    }

    #[inline]
    fn decode_into<O: ByteOrder>(
        decoder: &mut Decoder<'de, O>,
        len: usize,
        values: &mut Vec<Self>,
    ) -> Result<(), DecodeError> {
        reserve(decoder, len, values)?;
        match decoder.run(len) {
            Some(octets) => values.extend(octets.iter().map(|octet| *octet != 0)),
            // The numbers go on in the next GIOP 1.1 fragment, or are truncated.
            None => {
                for _ in 0..len {
                    values.push(decoder.read_bool()?);
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(window: &mut Window<'_>) -> Self {
        let [octet] = window.load();
        octet != 0
    }
}
