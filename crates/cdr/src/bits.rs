//! Bit fields: numbers in part of a larger one.

/// What a bit field can hold, in the lowest bits of a number. Negative numbers are in two's complement.
#[doc(hidden)]
pub trait Bits: Copy {
    /// The lowest `width` bits, if that is enough for the value.
    fn to_bits(self, width: u32) -> Option<u64>;

    /// From the lowest `width` bits; the others do not matter.
    fn from_bits(bits: u64, width: u32) -> Self;
}

/// `width` ones.
const fn mask(width: u32) -> u64 {
    match u64::MAX.checked_shr(64_u32.saturating_sub(width)) {
        Some(mask) => mask,
        None => 0,
    }
}

impl Bits for bool {
    fn to_bits(self, width: u32) -> Option<u64> {
        u64::from(self).to_bits(width)
    }

    fn from_bits(bits: u64, width: u32) -> Self {
        bits & mask(width) != 0
    }
}

macro_rules! unsigned {
    ($($t:ty)*) => {$(
        impl Bits for $t {
            fn to_bits(self, width: u32) -> Option<u64> {
                let bits = u64::from(self);
                (bits & mask(width) == bits).then_some(bits)
            }

            #[expect(clippy::allow_attributes, reason = "not all of the types are narrower")]
            #[allow(clippy::cast_possible_truncation, reason = "what is dropped does not matter")]
            fn from_bits(bits: u64, width: u32) -> Self {
                (bits & mask(width)) as $t
            }
        }
    )*};
}

unsigned!(u8 u16 u32 u64);

macro_rules! signed {
    ($($t:ty)*) => {$(
        impl Bits for $t {
            fn to_bits(self, width: u32) -> Option<u64> {
                let bits = i64::from(self).cast_unsigned() & mask(width);
                (Self::from_bits(bits, width) == self).then_some(bits)
            }

            #[expect(clippy::allow_attributes, reason = "not all of the types are narrower")]
            #[allow(clippy::cast_possible_truncation, reason = "what is dropped does not matter")]
            fn from_bits(bits: u64, width: u32) -> Self {
                // The sign to the top, and back with copies of it.
                let unused = 64_u32.saturating_sub(width);
                let top = bits.checked_shl(unused).unwrap_or_default().cast_signed();
                top.checked_shr(unused).unwrap_or_default() as $t
            }
        }
    )*};
}

signed!(i8 i16 i32 i64);
