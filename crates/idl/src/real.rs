//! Floating-point numbers of constants: computed in the precision of a double, or of a quad where the target is a
//! `long double`.

use std::fmt;

use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float, FloatConvert, ieee};

use crate::limits::MAX_NUMBER_CHARS;

/// The precision in which an expression is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// IEEE 754 binary64, for `double` and `float`.
    Double,
    /// IEEE 754 binary128, for `long double`.
    Quad,
}

/// An operation on two numbers.
pub(crate) type Operator<T> = fn(T, T) -> T;

/// A finite number, stored as a quad, which holds every double exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Real(Quad);

impl Real {
    /// The value of a literal; `None` if it is too large. A quad of more than [`MAX_NUMBER_CHARS`] characters is refused, since
    /// parsing takes quadratic time.
    pub(crate) fn parse(text: &str, precision: Precision) -> Option<Self> {
        match precision {
            Precision::Double => Self::of_f64(text.parse().ok()?),
            Precision::Quad if text.len() > MAX_NUMBER_CHARS => None,
            Precision::Quad => Self::finite(text.parse().ok()?),
        }
    }

    fn finite(quad: Quad) -> Option<Self> {
        quad.is_finite().then_some(Self(quad))
    }

    fn of_f64(number: f64) -> Option<Self> {
        let double = ieee::Double::from_bits(number.to_bits().into());
        Self::finite(double.convert(&mut false).value)
    }

    /// The nearest double, infinite for a number larger than all doubles.
    pub(crate) fn to_f64(self) -> f64 {
        let double: ieee::Double = self.0.convert(&mut false).value;
        // A double has 64 bits.
        f64::from_bits(u64::try_from(double.to_bits()).unwrap_or_default())
    }

    /// The nearest number of that precision; `None` if there is none.
    pub(crate) fn rounded(self, precision: Precision) -> Option<Self> {
        match precision {
            Precision::Double => Self::of_f64(self.to_f64()),
            Precision::Quad => Some(self),
        }
    }

    /// The nearest number that is a `float`; `None` if there is none.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the narrowing is what is asked for"
    )]
    pub(crate) fn rounded_to_single(self) -> Option<Self> {
        Self::of_f64((self.to_f64() as f32).into())
    }

    /// Whether a double holds the number exactly.
    pub(crate) fn is_double(self) -> bool {
        self.rounded(Precision::Double) == Some(self)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    /// The sign, 15 bits of exponent, 112 of fraction.
    pub(crate) fn bits(self) -> u128 {
        self.0.to_bits()
    }

    pub(crate) fn negated(self) -> Self {
        Self(-self.0)
    }

    /// The result of `double` or `quad`; `None` if it is too large.
    pub(crate) fn combine(
        self,
        other: Self,
        precision: Precision,
        double: Operator<f64>,
        quad: Operator<Quad>,
    ) -> Option<Self> {
        match precision {
            Precision::Double => Self::of_f64(double(self.to_f64(), other.to_f64())),
            Precision::Quad => Self::finite(quad(self.0, other.0)),
        }
    }
}

/// The shortest digits for a double; otherwise as many digits as a quad has.
impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_double() {
            true => write!(f, "{:e}", self.to_f64()),
            false => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_the_nearest_number_of_its_precision() {
        let [double, quad] =
            [Precision::Double, Precision::Quad].map(|it| Real::parse("0.1", it).unwrap());
        assert_eq!(double.to_f64(), 0.1);
        assert_eq!(quad.bits(), 0x3ffb_9999_9999_9999_9999_9999_9999_999a);
        assert!(double.is_double() && !quad.is_double());
        assert_eq!(quad.rounded(Precision::Double), Some(double));
        assert_eq!(
            quad.rounded_to_single().unwrap().to_f64(),
            f64::from(0.1_f32)
        );
        assert_eq!(Real::parse("1e309", Precision::Double), None);
        assert_eq!(
            Real::parse("1e309", Precision::Quad).unwrap().to_f64(),
            f64::INFINITY
        );
        assert_eq!(Real::parse("1e4933", Precision::Quad), None);
    }

    #[test]
    fn no_literal_takes_long_or_panics() {
        for text in [
            "1e99999999999999999999".to_owned(),
            "1e-99999999999999999999".to_owned(),
            format!("0.{}1", "0".repeat(MAX_NUMBER_CHARS - 3)),
            format!("{}.", "9".repeat(MAX_NUMBER_CHARS - 1)),
            format!("1.{}e-4000", "3".repeat(MAX_NUMBER_CHARS - 8)),
        ] {
            let _ = Real::parse(&text, Precision::Quad);
        }
    }
}
