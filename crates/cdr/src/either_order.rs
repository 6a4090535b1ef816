//! Decoders and encoders of either byte order.

use crate::{BigEndian, ByteOrder, Decoder, Encoder, LittleEndian, order::EitherOrder};

/// A decoder of either byte order, for functions that are called through a pointer and cannot be generic over the
/// order.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "CDR knows two byte orders and one flag bit"
)]
pub enum AnyDecoder<'a, 'de> {
    /// For a message in big endian.
    Big(&'a mut Decoder<'de, BigEndian>),
    /// For a message in little endian.
    Little(&'a mut Decoder<'de, LittleEndian>),
}

/// An encoder of either byte order, for functions that are called through a pointer and cannot be generic over the
/// order.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "CDR knows two byte orders and one flag bit"
)]
pub enum AnyEncoder<'a> {
    /// For a message in big endian.
    Big(&'a mut Encoder<BigEndian>),
    /// For a message in little endian.
    Little(&'a mut Encoder<LittleEndian>),
}

impl<'a, 'de> AnyDecoder<'a, 'de> {
    /// Wraps a decoder.
    #[doc(hidden)]
    #[inline(always)]
    pub fn new<O: ByteOrder>(decoder: &'a mut Decoder<'de, O>) -> Self {
        O::wrap(decoder)
    }
}

impl<'a, 'de> EitherOrder for AnyDecoder<'a, 'de> {
    type Of<O: ByteOrder> = &'a mut Decoder<'de, O>;

    #[inline(always)]
    fn big(decoder: &'a mut Decoder<'de, BigEndian>) -> Self {
        Self::Big(decoder)
    }

    #[inline(always)]
    fn little(decoder: &'a mut Decoder<'de, LittleEndian>) -> Self {
        Self::Little(decoder)
    }
}

impl<'a> AnyEncoder<'a> {
    /// Wraps an encoder.
    #[doc(hidden)]
    #[inline(always)]
    pub fn new<O: ByteOrder>(encoder: &'a mut Encoder<O>) -> Self {
        O::wrap(encoder)
    }
}

impl<'a> EitherOrder for AnyEncoder<'a> {
    type Of<O: ByteOrder> = &'a mut Encoder<O>;

    #[inline(always)]
    fn big(encoder: &'a mut Encoder<BigEndian>) -> Self {
        Self::Big(encoder)
    }

    #[inline(always)]
    fn little(encoder: &'a mut Encoder<LittleEndian>) -> Self {
        Self::Little(encoder)
    }
}
