//! Conversion to and from decimal text, and by way of text to and from `f64`.

use super::{Fixed, power_of_ten};
use alloc::string::ToString;
use core::{
    fmt::{self, Write},
    ops::Neg,
    str::FromStr,
};

/// Why a text is not a `Fixed<D, S>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixedError {
    /// The text is not a decimal number: an optional sign, digits, and optionally a point with more digits.
    #[error("expected a decimal number")]
    NotANumber,
    /// The number has more digits before the point than the type.
    #[error("expected a number of fixed<{digits},{scale}>, found more digits before the point")]
    TooManyDigits {
        /// Digits of the type.
        digits: u8,
        /// The digits after the decimal point.
        scale: u8,
    },
    /// The number has more digits behind the point than the type, and not all of them are zero.
    #[error("expected a number of fixed<{digits},{scale}>, found more digits behind the point")]
    Inexact {
        /// Digits of the type.
        digits: u8,
        /// The digits after the decimal point.
        scale: u8,
    },
}

/// Writes the digits, `S` of them behind the point: `-0.50`. Width, fill and `+` are as for integers.
impl<const D: u8, const S: u8> fmt::Display for Fixed<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text {
            octets: [0; 40],
            len: 0,
        };
        let units = self.0.unsigned_abs();
        let scale = power_of_ten(S).unsigned_abs();
        write!(text, "{}", units.checked_div(scale).unwrap_or_default())?;
        if S > 0 {
            let fraction = units.checked_rem(scale).unwrap_or_default();
            write!(text, ".{fraction:0width$}", width = usize::from(S))?;
        }
        f.pad_integral(!self.is_negative(), "", text.as_str())
    }
}

/// The longest text has 31 digits, a zero before the point, and the point.
struct Text {
    octets: [u8; 40],
    len: usize,
}

impl Text {
    fn as_str(&self) -> &str {
        let written = self.octets.get(..self.len).unwrap_or_default();
        core::str::from_utf8(written).unwrap_or_default()
    }
}

impl Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let end = self.len.saturating_add(s.len());
        let place = self.octets.get_mut(self.len..end).ok_or(fmt::Error)?;
        place.copy_from_slice(s.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Parses `19.99`, `-.5`, `7.`, `+3` and, as in IDL, a `d` behind any of them. Zeros beyond the digits of the type are
/// ignored; other digits beyond them are errors.
impl<const D: u8, const S: u8> FromStr for Fixed<D, S> {
    type Err = FixedError;

    fn from_str(text: &str) -> Result<Self, FixedError> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let rest = rest.strip_suffix(['d', 'D']).unwrap_or(rest);
        let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
        let digits = |part: &str| part.bytes().all(|octet| octet.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
            return Err(FixedError::NotANumber);
        }
        let surplus = fraction.get(usize::from(S)..).unwrap_or_default();
        if surplus.bytes().any(|octet| octet != b'0') {
            return Err(FixedError::Inexact {
                digits: D,
                scale: S,
            });
        }
        let kept = fraction.get(..usize::from(S)).unwrap_or(fraction);
        let zeros = usize::from(S).saturating_sub(kept.len());
        let all = whole.bytes().chain(kept.bytes());
        let units = all
            .chain(core::iter::repeat_n(b'0', zeros))
            .map(|octet| octet.wrapping_sub(b'0'))
            .try_fold(0_i128, |units, digit| {
                units.checked_mul(10)?.checked_add(i128::from(digit))
            })
            .and_then(Self::from_unscaled)
            .ok_or(FixedError::TooManyDigits {
                digits: D,
                scale: S,
            })?;
        Ok(if negative { Neg::neg(units) } else { units })
    }
}

/// Converts to the nearest number of the type. An error for NaN, infinities, and numbers with too many digits before
/// the point.
impl<const D: u8, const S: u8> TryFrom<f64> for Fixed<D, S> {
    type Error = FixedError;

    fn try_from(number: f64) -> Result<Self, FixedError> {
        if !number.is_finite() {
            return Err(FixedError::NotANumber);
        }
        // Rust rounds the exact value, so the text is the nearest number with `S` digits behind the point.
        alloc::format!("{number:.scale$}", scale = usize::from(S)).parse()
    }
}

/// Converts to the nearest double.
impl<const D: u8, const S: u8> From<Fixed<D, S>> for f64 {
    fn from(fixed: Fixed<D, S>) -> Self {
        // Decimal text of a number always parses as a double.
        fixed.to_string().parse().unwrap_or_default()
    }
}
