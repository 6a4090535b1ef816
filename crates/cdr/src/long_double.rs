//! Numbers of quadruple precision.

use crate::{
    ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Layout, Window,
    WindowMut,
};
use core::{
    cmp::Ordering,
    fmt,
    ops::{Add, Div, Mul, Neg, Sub},
    str::FromStr,
};
use rustc_apfloat::{Float, FloatConvert, ieee};

/// An IDL `long double`: an IEEE 754 number of quadruple precision (binary128), with 113 bits, some 34 digits.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
///
/// Its arithmetic is done in software: operators round to the nearest, ties to even, an overflow is an infinity, and none of
/// them panics. Every bit pattern is sent unchanged. Conversion to `f64` rounds to the nearest;
/// conversion from `f64` is exact.
///
/// ```
/// # extern crate zorb_cdr as zorb;
/// use zorb::LongDouble;
///
/// let third = LongDouble::from(1.0) / LongDouble::from(3.0);
/// assert_eq!(third.to_string(), "0.333333333333333333333333333333333317");
/// assert_eq!(f64::from(third), 1.0 / 3.0);
/// assert_eq!("0.25".parse(), Ok(LongDouble::from(0.25)));
/// assert!("a quarter".parse::<LongDouble>().is_err());
/// assert!(LongDouble::NAN != LongDouble::NAN);
/// # Ok::<(), zorb::NotALongDouble>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct LongDouble {
    bits: u128,
}

/// The error of parsing a [`LongDouble`]: the text is not a floating point number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a floating point number")]
pub struct NotALongDouble;

/// Bits of the fraction.
const FRACTION: u32 = 112;
/// The bias of the exponent.
const BIAS: u32 = 0x3fff;
/// The exponent of infinities and NaNs.
const SPECIAL: u32 = 0x7fff;

impl LongDouble {
    /// The number +0.
    pub const ZERO: Self = Self { bits: 0 };
    /// Positive infinity.
    pub const INFINITY: Self = Self {
        bits: (SPECIAL as u128) << FRACTION,
    };
    /// A quiet NaN, which is not equal to itself.
    pub const NAN: Self = Self {
        bits: ((SPECIAL as u128) << FRACTION) | (1 << (FRACTION - 1)),
    };

    /// Makes a number of its bits: the sign, 15 bits of exponent, 112 of fraction.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self { bits }
    }

    /// Returns the bits of the number: the sign, 15 bits of exponent, 112 of fraction.
    #[inline]
    #[must_use]
    pub const fn to_bits(self) -> u128 {
        self.bits
    }

    /// Converts without loss: every double is a long double. NaNs keep their payload.
    #[must_use]
    pub const fn from_f64(number: f64) -> Self {
        let bits = number.to_bits();
        let sign = ((bits >> 63) as u128) << 127;
        let exponent = ((bits >> 52) & 0x7ff) as u32;
        let fraction = (bits & ((1 << 52) - 1)) as u128;
        let (exponent, fraction) = match (exponent, fraction) {
            (0, 0) => (0, 0),
            // A denormal double: its highest bit becomes the one that is not stored.
            (0, _) => {
                let shift = fraction.leading_zeros().saturating_sub(127 - FRACTION);
                let exponent = (BIAS - 1022 + 60).saturating_sub(shift);
                (exponent, (fraction << shift) & ((1 << FRACTION) - 1))
            }
            (0x7ff, _) => (SPECIAL, fraction << 60),
            _ => (exponent.saturating_add(BIAS - 1023), fraction << 60),
        };
        Self {
            bits: sign | ((exponent as u128) << FRACTION) | fraction,
        }
    }

    /// Whether the value is a NaN, neither a number nor an infinity.
    #[must_use]
    pub const fn is_nan(self) -> bool {
        self.bits << 1 > Self::INFINITY.bits << 1
    }

    /// Whether the value is a number: no infinity and no NaN.
    #[must_use]
    pub const fn is_finite(self) -> bool {
        self.bits << 1 < Self::INFINITY.bits << 1
    }

    fn quad(self) -> ieee::Quad {
        ieee::Quad::from_bits(self.bits)
    }

    fn of(quad: ieee::Quad) -> Self {
        Self {
            bits: quad.to_bits(),
        }
    }
}

impl From<f64> for LongDouble {
    fn from(number: f64) -> Self {
        Self::from_f64(number)
    }
}

impl From<f32> for LongDouble {
    fn from(number: f32) -> Self {
        Self::from_f64(f64::from(number))
    }
}

impl From<i32> for LongDouble {
    fn from(number: i32) -> Self {
        Self::from_f64(f64::from(number))
    }
}

/// Converts to the nearest double; to an infinity beyond the largest one.
impl From<LongDouble> for f64 {
    fn from(number: LongDouble) -> Self {
        let mut loses = false;
        let double: ieee::Double = number.quad().convert(&mut loses).value;
        // A double has 64 bits.
        Self::from_bits(u64::try_from(double.to_bits()).unwrap_or_default())
    }
}

/// Compares as numbers: -0 equals 0, and NaN does not equal itself.
impl PartialEq for LongDouble {
    fn eq(&self, other: &Self) -> bool {
        self.quad() == other.quad()
    }
}

impl PartialOrd for LongDouble {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.quad().partial_cmp(&other.quad())
    }
}

macro_rules! operators {
    ($($trait:ident::$method:ident)*) => {$(
        impl $trait for LongDouble {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                Self::of($trait::$method(self.quad(), other.quad()).value)
            }
        }
    )*};
}

operators!(Add::add Sub::sub Mul::mul Div::div);

impl Neg for LongDouble {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            bits: self.bits ^ (1 << 127),
        }
    }
}

/// Writes enough digits for the text to parse as the same number.
impl fmt::Display for LongDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.quad(), f)
    }
}

impl fmt::Debug for LongDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for LongDouble {
    type Err = NotALongDouble;

    /// Parses `1.5`, `-2e-40`, `inf` or `NaN`, rounded to the nearest number.
    fn from_str(text: &str) -> Result<Self, NotALongDouble> {
        let quad: Result<ieee::Quad, _> = text.parse();
        quad.map(Self::of).map_err(|_| NotALongDouble)
    }
}

/// Returns the halves, the one with the sign first.
#[expect(clippy::cast_possible_truncation, reason = "halves of 128 bits are 64")]
const fn halves(bits: u128) -> (u64, u64) {
    ((bits >> 64) as u64, bits as u64)
}

fn whole<O: ByteOrder>(first: [u8; 8], second: [u8; 8]) -> LongDouble {
    let (first, second) = (
        u128::from(O::load_u64(first)),
        u128::from(O::load_u64(second)),
    );
    LongDouble::from_bits(if O::ENDIAN.is_little() {
        (second << 64) | first
    } else {
        (first << 64) | second
    })
}

impl LongDouble {
    fn store<O: ByteOrder>(self) -> ([u8; 8], [u8; 8]) {
        let (high, low) = halves(self.bits);
        let (first, second) = if O::ENDIAN.is_little() {
            (low, high)
        } else {
            (high, low)
        };
        (O::store_u64(first), O::store_u64(second))
    }
}

/// 16 octets, aligned to 8.
const LAYOUT: Layout = Layout::of_struct(&[Layout::primitive(8), Layout::primitive(8)]);

impl Encode for LongDouble {
    const ENCODED: Layout = LAYOUT;

    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        let (first, second) = self.store::<O>();
        encoder.align(8);
        encoder.append(&first);
        encoder.append(&second);
        Ok(())
    }

    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(&self, window: &mut WindowMut<'_>) -> Result<(), EncodeError> {
        let (first, second) = self.store::<O>();
        window.store(first)?;
        window.store(second)
    }
}

impl<'de> Decode<'de> for LongDouble {
    const MIN_SIZE: usize = 16;
    const LAYOUT: Layout = LAYOUT;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let first = decoder.primitive()?;
        Ok(whole::<O>(first, decoder.primitive()?))
    }

    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(window: &mut Window<'_>) -> Self {
        let first = window.load();
        whole::<O>(first, window.load())
    }
}
