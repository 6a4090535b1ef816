//! Arithmetic of fixed-point constants: computed in up to 62 digits, truncated (not rounded) to 31.

use std::cmp::Ordering;

use crate::limits::MAX_FIXED_DIGITS;

/// The most digits of a fixed-point number.
pub(super) const MAX_DIGITS: u32 = MAX_FIXED_DIGITS as u32;

/// Two limbs of this base hold any intermediate result: 64 digits.
const BASE: u128 = 10_u128.pow(32);

/// A decimal number of at most [`MAX_DIGITS`] digits: `unscaled` has all digits, of which `scale` are after the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) unscaled: i128,
    pub(super) scale: u8,
}

/// Why an operation has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalError {
    /// The result has too many digits before the point.
    Overflow,
    DivisionByZero,
}

/// A number without a sign, of up to 64 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    fn new(number: u128) -> Self {
        Self {
            high: number / BASE,
            low: number % BASE,
        }
    }

    fn times_ten(self) -> Self {
        let low = self.low * 10;
        Self {
            high: self.high * 10 + low / BASE,
            low: low % BASE,
        }
    }

    fn tenth(self) -> Self {
        Self {
            high: self.high / 10,
            low: self.low / 10 + self.high % 10 * (BASE / 10),
        }
    }

    fn plus(self, other: Self) -> Self {
        let low = self.low + other.low;
        Self {
            high: self.high + other.high + low / BASE,
            low: low % BASE,
        }
    }

    /// The difference; `self` must not be less than `other`.
    fn minus(self, other: Self) -> Self {
        let borrow = u128::from(self.low < other.low);
        Self {
            high: self.high - other.high - borrow,
            low: self.low + borrow * BASE - other.low,
        }
    }

    /// The product of two numbers of at most 32 digits.
    fn product(left: u128, right: u128) -> Self {
        const HALF: u128 = 10_u128.pow(16);
        let (left_high, left_low) = (left / HALF, left % HALF);
        let (right_high, right_low) = (right / HALF, right % HALF);
        let middle = left_high * right_low + left_low * right_high;
        let low = left_low * right_low + middle % HALF * HALF;
        Self {
            high: left_high * right_high + middle / HALF + low / BASE,
            low: low % BASE,
        }
    }
}

impl Decimal {
    /// The value of a literal without its suffix: digits with at most one point. Leading and trailing zeros do not count as
    /// digits.
    pub(super) fn parse(text: &str) -> Result<Self, DecimalError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let mut unscaled = 0_i128;
        if whole.len() + fraction.len() > MAX_DIGITS as usize {
            return Err(DecimalError::Overflow);
        }
        for digit in whole.bytes().chain(fraction.bytes()) {
            unscaled = unscaled * 10 + i128::from(digit.saturating_sub(b'0'));
        }
        let scale = u8::try_from(fraction.len()).map_err(|_| DecimalError::Overflow)?;
        Ok(Self { unscaled, scale })
    }

    /// The number of digits before the point; a single zero does not count.
    pub(super) fn whole_digits(self) -> u8 {
        let digits = self.unscaled.unsigned_abs().checked_ilog10();
        let digits = digits.map_or(0, |log| log + 1);
        u8::try_from(digits)
            .unwrap_or(u8::MAX)
            .saturating_sub(self.scale)
    }

    /// The number with at most `scale` digits after the point; further digits are dropped.
    pub(super) fn cut(mut self, scale: u8) -> Self {
        while self.scale > scale {
            self.unscaled /= 10;
            self.scale -= 1;
        }
        self
    }

    pub(super) fn negated(self) -> Self {
        Self {
            unscaled: -self.unscaled,
            ..self
        }
    }

    pub(super) fn plus(self, other: Self) -> Result<Self, DecimalError> {
        let scale = self.scale.max(other.scale);
        let (left, right) = (self.at_scale(scale), other.at_scale(scale));
        let (negative, sum) = match (self.unscaled < 0, other.unscaled < 0) {
            (sign, same) if sign == same => (sign, left.plus(right)),
            (sign, _) => match left.cmp(&right) {
                Ordering::Less => (!sign, right.minus(left)),
                _ => (sign, left.minus(right)),
            },
        };
        Self::normal(negative, sum, u32::from(scale))
    }

    pub(super) fn minus(self, other: Self) -> Result<Self, DecimalError> {
        self.plus(other.negated())
    }

    pub(super) fn times(self, other: Self) -> Result<Self, DecimalError> {
        let product = Wide::product(self.unscaled.unsigned_abs(), other.unscaled.unsigned_abs());
        let negative = (self.unscaled < 0) != (other.unscaled < 0);
        let scale = u32::from(self.scale) + u32::from(other.scale);
        Self::normal(negative, product, scale)
    }

    pub(super) fn divided_by(self, other: Self) -> Result<Self, DecimalError> {
        let divisor = other.unscaled.unsigned_abs();
        if divisor == 0 {
            return Err(DecimalError::DivisionByZero);
        }
        let dividend = self.unscaled.unsigned_abs();
        let (mut quotient, mut rest) = (dividend / divisor, dividend % divisor);
        let mut scale = i32::from(self.scale) - i32::from(other.scale);
        // Long division: one more digit at a time, while there is room and a remainder.
        while (scale < 0 || rest != 0) && quotient < 10_u128.pow(MAX_DIGITS - 1) && scale < 62 {
            rest *= 10;
            quotient = quotient * 10 + rest / divisor;
            rest %= divisor;
            scale += 1;
        }
        let scale = u32::try_from(scale).map_err(|_| DecimalError::Overflow)?;
        let negative = (self.unscaled < 0) != (other.unscaled < 0);
        Self::normal(negative, Wide::new(quotient), scale)
    }

    fn at_scale(self, scale: u8) -> Wide {
        let number = Wide::new(self.unscaled.unsigned_abs());
        (self.scale..scale).fold(number, |number, _| number.times_ten())
    }

    /// Drops digits at the end until [`MAX_DIGITS`] are left, and trailing zeros after the point.
    fn normal(negative: bool, mut number: Wide, mut scale: u32) -> Result<Self, DecimalError> {
        let most = Wide::new(10_u128.pow(MAX_DIGITS));
        while number >= most || scale > MAX_DIGITS || (scale > 0 && number.low.is_multiple_of(10)) {
            if scale == 0 {
                return Err(DecimalError::Overflow);
            }
            number = number.tenth();
            scale -= 1;
        }
        // Below 10^31, so that it is in the low limb and fits.
        let unscaled = i128::try_from(number.low).map_err(|_| DecimalError::Overflow)?;
        Ok(Self {
            unscaled: if negative { -unscaled } else { unscaled },
            scale: u8::try_from(scale).map_err(|_| DecimalError::Overflow)?,
        })
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let scale = usize::from(self.scale);
        let digits = format!("{:0>1$}", self.unscaled.unsigned_abs(), scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        match fraction {
            "" => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        match text.strip_prefix('-') {
            Some(text) => Decimal::parse(text).unwrap().negated(),
            None => Decimal::parse(text).unwrap(),
        }
    }

    const ONES: &str = "1111111111111111111111111111111";
    const NINES: &str = "9999999999999999999999999999999";
    const SMALLEST: &str = "0.0000000000000000000000000000001";

    #[test]
    fn literals_keep_the_digits_that_count() {
        for (text, printed, whole, scale) in [
            ("0012.500", "12.5", 2, 1),
            (".5", "0.5", 0, 1),
            ("5.", "5", 1, 0),
            ("0", "0", 0, 0),
            ("0.00", "0", 0, 0),
            ("100", "100", 3, 0),
            ("0.001", "0.001", 0, 3),
        ] {
            let found = number(text);
            assert_eq!(found.to_string(), printed);
            assert_eq!((found.whole_digits(), found.scale), (whole, scale));
        }
        assert_eq!(
            Decimal::parse(&format!("{ONES}1")),
            Err(DecimalError::Overflow)
        );
    }

    #[test]
    fn sums_and_differences_align_their_points() {
        for (left, right, sum) in [
            ("1.5", "2.25", "3.75"),
            ("1.5", "-2.25", "-0.75"),
            ("-1.5", "1.5", "0"),
            ("-1.5", "-1.5", "-3"),
            (ONES, SMALLEST, ONES),
            ("1", SMALLEST, "1"),
            ("0.1", SMALLEST, "0.1000000000000000000000000000001"),
        ] {
            assert_eq!(number(left).plus(number(right)).unwrap().to_string(), sum);
            assert_eq!(
                number(left)
                    .minus(number(right).negated())
                    .unwrap()
                    .to_string(),
                sum
            );
        }
        assert_eq!(number(NINES).plus(number("1")), Err(DecimalError::Overflow));
    }

    #[test]
    fn products_are_cut_to_31_digits() {
        for (left, right, product) in [
            ("1.5", "-1.5", "-2.25"),
            ("2.5", "4", "10"),
            ("-3", "-3", "9"),
            (SMALLEST, SMALLEST, "0"),
            (SMALLEST, ONES, "0.1111111111111111111111111111111"),
            (
                "1.111111111111111111111111111111",
                "0.9",
                "0.9999999999999999999999999999999",
            ),
        ] {
            let found = number(left).times(number(right)).unwrap();
            assert_eq!(found.to_string(), product);
        }
        assert_eq!(
            number(NINES).times(number(NINES)),
            Err(DecimalError::Overflow)
        );
    }

    #[test]
    fn quotients_have_as_many_digits_as_there_is_room_for() {
        for (left, right, quotient) in [
            ("10", "4", "2.5"),
            ("1", "3", "0.3333333333333333333333333333333"),
            ("-2", "3", "-0.6666666666666666666666666666666"),
            ("200", "3", "66.66666666666666666666666666666"),
            ("1", "0.5", "2"),
            ("1", "8", "0.125"),
            ("0", "7", "0"),
            (ONES, ONES, "1"),
            ("1", SMALLEST, ""),
        ] {
            match number(left).divided_by(number(right)) {
                Ok(found) => assert_eq!(found.to_string(), quotient),
                Err(fault) => assert_eq!((fault, quotient), (DecimalError::Overflow, "")),
            }
        }
        assert_eq!(
            number("1").divided_by(number("0")),
            Err(DecimalError::DivisionByZero)
        );
    }

    #[test]
    fn surplus_digits_are_cut_and_not_rounded() {
        assert_eq!(number("-1.567").cut(2).to_string(), "-1.56");
        assert_eq!(number("1.5").cut(3).to_string(), "1.5");
        assert_eq!(number("1.567").cut(0).to_string(), "1");
    }
}
