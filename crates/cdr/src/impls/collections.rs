//! Sequences, arrays and references.

use crate::{
    ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Layout, Lent, Octets,
    OctetsRef, Window, WindowMut,
};
use alloc::{
    borrow::{Cow, ToOwned},
    vec::Vec,
};
use bytes::Bytes;

impl<T: Encode + ?Sized> Encode for &T {
    const ENCODED: Layout = T::ENCODED;

    #[inline(always)]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        T::encode(self, encoder)
    }

    #[inline(always)]
    fn encode_lent<'a, O: ByteOrder>(
        &'a self,
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        T::encode_lent(self, encoder, lent)
    }

    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(&self, window: &mut WindowMut<'_>) -> Result<(), EncodeError> {
        T::encode_fixed::<O>(self, window)
    }
}

impl<T: Encode + ToOwned + ?Sized> Encode for Cow<'_, T> {
    #[inline]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        T::encode(self, encoder)
    }
}

/// A sequence.
impl<T: Encode> Encode for [T] {
    #[inline]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_count(self.len())?;
        T::encode_slice(self, encoder)
    }

    #[inline]
    fn encode_lent<'a, O: ByteOrder>(
        &'a self,
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        encoder.write_count(self.len())?;
        T::encode_slice_lent(self, encoder, lent)
    }
}

/// A sequence.
impl<T: Encode> Encode for Vec<T> {
    #[inline]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        self.as_slice().encode(encoder)
    }
}

/// A sequence. The count is checked against the rest of the message before anything is allocated.
impl<'de, T: Decode<'de>> Decode<'de> for Vec<T> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let mut values = Self::new();
        decoder.read_into(&mut values)?;
        Ok(values)
    }
}

/// An array: no count.
impl<T: Encode, const N: usize> Encode for [T; N] {
    const ENCODED: Layout = Layout::of_array(T::ENCODED, N);

    #[inline]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        T::encode_slice(self, encoder)
    }

    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(&self, window: &mut WindowMut<'_>) -> Result<(), EncodeError> {
        window.plainly(|window| {
            self.iter()
                .try_for_each(|value| value.encode_fixed::<O>(window))
        })
    }
}

/// An array: no count.
impl<'de, T: Decode<'de>, const N: usize> Decode<'de> for [T; N] {
    const MIN_SIZE: usize = T::MIN_SIZE.saturating_mul(N);
    const LAYOUT: Layout = Layout::of_array(T::LAYOUT, N);

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        T::decode_array(decoder)
    }

    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(window: &mut Window<'_>) -> Self {
        T::decode_fixed_array::<O, N>(window)
    }
}

/// A `sequence<octet>`, sent without copying if it is large.
impl Encode for Bytes {
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_shared(self)
    }
}

/// A `sequence<octet>`, kept as [`OctetsRef::keep`] does.
impl<'de> Decode<'de> for Bytes {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        Ok(decoder.read_octets_ref()?.keep())
    }
}

/// A `sequence<octet>`.
impl Encode for Octets<'_> {
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        match self.shared() {
            Some(bytes) => encoder.write_shared(bytes),
            None => encoder.write_octets(self),
        }
    }

    #[inline]
    fn encode_lent<'a, O: ByteOrder>(
        &'a self,
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        match self.shared() {
            Some(bytes) => encoder.write_shared(bytes),
            None => encoder.write_octets_lent(self, lent),
        }
    }
}

/// A `sequence<octet>`.
impl Encode for OctetsRef<'_> {
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_octets(self)
    }
}

/// A `sequence<octet>`, borrowed.
impl<'de> Decode<'de> for OctetsRef<'de> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        decoder.read_octets_ref()
    }
}
