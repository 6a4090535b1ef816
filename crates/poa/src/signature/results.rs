//! Results of an operation: a tuple of codecs, and the Rust type of the values.

use core::borrow::Borrow;
use core::marker::PhantomData;
use zorb_cdr::{ByteOrder, Codec, DecodeError, Decoder, Encode, EncodeError, Encoder, SendCodec};

/// The codecs of the result and of `out` and `inout` parameters, in the order of the reply.
pub trait Results {
    /// The type of the values: `()`, the value, or a tuple of values.
    type Values: Send + 'static;

    /// Decodes the values.
    ///
    /// # Errors
    /// The octets are malformed.
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<Self::Values, DecodeError>;

    /// Encodes the values.
    ///
    /// # Errors
    /// A value cannot be encoded, such as text with a NUL.
    fn encode<O: ByteOrder>(
        values: &Self::Values,
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError>;
}

/// The codec of several results as one, for operations with more results than the longest tuple has.
#[derive(Debug)]
pub struct Group<R>(PhantomData<R>);

impl<R: Results> Codec for Group<R> {
    type Value = R::Values;
    type Borrowed = R::Values;
    const MIN_SIZE: usize = 0;

    fn encode<O: ByteOrder>(
        values: &R::Values,
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        R::encode(values, encoder)
    }

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<R::Values, DecodeError> {
        R::decode(decoder)
    }
}

impl<R: Results> SendCodec for Group<R> {}

/// Encodes results as one value.
pub(super) struct Written<'a, R: Results>(pub(super) &'a R::Values);

impl<R: Results> Encode for Written<'_, R> {
    #[inline(always)]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        R::encode(self.0, encoder)
    }
}

impl Results for () {
    type Values = ();

    #[inline(always)]
    fn decode<O: ByteOrder>(_: &mut Decoder<'_, O>) -> Result<(), DecodeError> {
        Ok(())
    }

    #[inline(always)]
    fn encode<O: ByteOrder>((): &(), _: &mut Encoder<O>) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl<C: SendCodec> Results for (C,) {
    type Values = C::Value;

    #[inline(always)]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<C::Value, DecodeError> {
        C::decode(decoder)
    }

    #[inline(always)]
    fn encode<O: ByteOrder>(value: &C::Value, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        C::encode(value.borrow(), encoder)
    }
}

macro_rules! results {
    ($($codec:ident $value:ident)*) => {
        impl<$($codec: SendCodec),*> Results for ($($codec,)*) {
            type Values = ($($codec::Value,)*);

            #[inline(always)]
            fn decode<Order: ByteOrder>(
                decoder: &mut Decoder<'_, Order>,
            ) -> Result<Self::Values, DecodeError> {
                Ok(($($codec::decode(decoder)?,)*))
            }

            #[inline(always)]
            fn encode<Order: ByteOrder>(
                ($($value,)*): &Self::Values,
                encoder: &mut Encoder<Order>,
            ) -> Result<(), EncodeError> {
                $($codec::encode($value.borrow(), encoder)?;)*
                Ok(())
            }
        }
    };
}

/// Implements [`Results`] for a tuple and each shorter one, down to pairs.
macro_rules! all_results {
    ($last:ident $value:ident) => {};
    ($codec:ident $value:ident $($rest:ident $r:ident)*) => {
        results!($codec $value $($rest $r)*);
        all_results!($($rest $r)*);
    };
}

all_results! {
    A a B b C c D d E e F f G g H h I i J j K k L l
}
