//! Tuples: their members one after the other, as the arguments of an operation are.

use crate::{
    ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Layout, Lent, Window,
    WindowMut,
};

/// Nothing, in no octets.
impl Encode for () {
    const ENCODED: Layout = Layout::EMPTY;

    #[inline(always)]
    fn encode<O: ByteOrder>(&self, _encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        Ok(())
    }

    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(&self, _window: &mut WindowMut<'_>) -> Result<(), EncodeError> {
        Ok(())
    }
}

/// Nothing, in no octets.
impl<'de> Decode<'de> for () {
    const MIN_SIZE: usize = 0;
    const LAYOUT: Layout = Layout::EMPTY;

    #[inline(always)]
    fn decode<O: ByteOrder>(_decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        Ok(())
    }

    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(_window: &mut Window<'_>) -> Self {}
}

macro_rules! tuple {
    ($($t:ident $v:ident)*) => {
        impl<$($t: Encode),*> Encode for ($($t,)*) {
            const ENCODED: Layout = Layout::of_struct(&[$($t::ENCODED),*]);

            #[inline(always)]
            fn encode<Order: ByteOrder>(
                &self,
                encoder: &mut Encoder<Order>,
            ) -> Result<(), EncodeError> {
                let ($($v,)*) = self;
                $($v.encode(encoder)?;)*
                Ok(())
            }

            #[inline(always)]
            fn encode_lent<'a, Order: ByteOrder>(
                &'a self,
                encoder: &mut Encoder<Order>,
                lent: &mut Option<Lent<'a>>,
            ) -> Result<(), EncodeError> {
                let ($($v,)*) = self;
                $($v.encode_lent(encoder, lent)?;)*
                Ok(())
            }

            #[inline(always)]
            fn encode_fixed<Order: ByteOrder>(
                &self,
                window: &mut WindowMut<'_>,
            ) -> Result<(), EncodeError> {
                let ($($v,)*) = self;
                $($v.encode_fixed::<Order>(window)?;)*
                Ok(())
            }
        }

        impl<'de, $($t: Decode<'de>),*> Decode<'de> for ($($t,)*) {
            const MIN_SIZE: usize = 0_usize$(.saturating_add($t::MIN_SIZE))*;
            const LAYOUT: Layout = Layout::of_struct(&[$($t::LAYOUT),*]);

            #[inline(always)]
            fn decode<Order: ByteOrder>(
                decoder: &mut Decoder<'de, Order>,
            ) -> Result<Self, DecodeError> {
                Ok(($($t::decode(decoder)?,)*))
            }

            #[inline(always)]
            fn decode_fixed<Order: ByteOrder>(window: &mut Window<'_>) -> Self {
                ($($t::decode_fixed::<Order>(window),)*)
            }
        }
    };
}

/// Implements the traits for these members and for each shorter tuple.
macro_rules! tuples {
    () => {};
    ($t:ident $v:ident $($rest:ident $r:ident)*) => {
        tuple!($t $v $($rest $r)*);
        tuples!($($rest $r)*);
    };
}

tuples! {
    A a B b C c D d E e F f G g H h I i J j K k L l M m N n O o P p
    Q q R r S s T t U u V v W w X x Y y Z z A1 a1 B1 b1 C1 c1 D1 d1 E1 e1 F1 f1
}
