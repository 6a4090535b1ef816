//! Sums, products and quotients, exact up to the digits of the result.

use super::{Fixed, FixedError, power_of_ten};
use core::ops::Neg;

/// Decimal digits of a limb of a product.
const LIMB_DIGITS: u8 = 16;
const LIMB: i128 = power_of_ten(LIMB_DIGITS);

impl<const D: u8, const S: u8> Fixed<D, S> {
    /// Returns the number with other digits; `None` if it has too many before the point. Surplus digits behind the
    /// point are dropped, as in CORBA; [`round`](Self::round) rounds.
    ///
    /// ```
    /// # extern crate zorb_cdr as zorb;
    /// use zorb::Fixed;
    /// let exact: Fixed<6, 4> = "2.7189".parse()?;
    /// assert_eq!(exact.truncate::<3, 2>().map(|f| f.to_string()).as_deref(), Some("2.71"));
    /// assert_eq!(exact.round::<3, 2>().map(|f| f.to_string()).as_deref(), Some("2.72"));
    /// assert_eq!(exact.truncate::<9, 9>(), None); // no digit before the point
    /// # Ok::<(), zorb::FixedError>(())
    /// ```
    #[must_use]
    pub const fn truncate<const E: u8, const R: u8>(self) -> Option<Fixed<E, R>> {
        let units = if R >= S {
            self.0.checked_mul(power_of_ten(R.wrapping_sub(S)))
        } else {
            self.0.checked_div(power_of_ten(S.wrapping_sub(R)))
        };
        match units {
            Some(units) => Fixed::from_unscaled(units),
            None => None,
        }
    }

    /// Returns the number with other digits, rounded to the nearest, halves away from zero; `None` if it has too many
    /// before the point.
    #[must_use]
    pub const fn round<const E: u8, const R: u8>(self) -> Option<Fixed<E, R>> {
        if R >= S {
            return self.truncate();
        }
        let step = power_of_ten(S.wrapping_sub(R));
        let half = step.wrapping_div(2).wrapping_mul(self.0.signum());
        match self.0.wrapping_add(half).checked_div(step) {
            Some(units) => Fixed::from_unscaled(units),
            None => None,
        }
    }

    /// Returns the sum; `None` if it has too many digits.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        // At most 31 digits each, so that the sum fits into 128 bits.
        Self::from_unscaled(self.0.wrapping_add(other.0))
    }

    /// Returns the difference; `None` if it has too many digits.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        Self::from_unscaled(self.0.wrapping_sub(other.0))
    }

    /// Returns the product as a `Fixed<F, R>`. Surplus digits behind the point are dropped; `None` if there are too
    /// many before it.
    #[must_use]
    pub fn checked_mul<const E: u8, const T: u8, const F: u8, const R: u8>(
        self,
        other: Fixed<E, T>,
    ) -> Option<Fixed<F, R>> {
        // Exact, in limbs of 16 digits: 62 digits are more than an i128 has.
        let (a, b) = (self.0.saturating_abs(), other.0.saturating_abs());
        let split = |n: i128| (n.wrapping_div(LIMB), n.wrapping_rem(LIMB));
        let ((a1, a0), (b1, b0)) = (split(a), split(b));
        let (c0, limb0) = split(a0.wrapping_mul(b0));
        let middle = a1.wrapping_mul(b0).wrapping_add(a0.wrapping_mul(b1));
        let (c1, limb1) = split(middle.wrapping_add(c0));
        let (limb3, limb2) = split(a1.wrapping_mul(b1).wrapping_add(c1));
        let drop = i32::from(S).checked_add(i32::from(T))?;
        let drop = drop.checked_sub(i32::from(R))?;
        let mut units = 0_i128;
        let mut weight = drop.checked_neg()?;
        for limb in [limb0, limb1, limb2, limb3] {
            units = units.checked_add(shifted(limb, weight)?)?;
            weight = weight.checked_add(i32::from(LIMB_DIGITS))?;
        }
        let negative = self.is_negative() != other.is_negative();
        Fixed::from_unscaled(if negative {
            units.checked_neg()?
        } else {
            units
        })
    }

    /// Returns the quotient as a `Fixed<F, R>`. Surplus digits behind the point are dropped; `None` if there are too
    /// many before it, or the divisor is zero.
    #[must_use]
    pub fn checked_div<const E: u8, const T: u8, const F: u8, const R: u8>(
        self,
        other: Fixed<E, T>,
    ) -> Option<Fixed<F, R>> {
        let divisor = other.0.saturating_abs();
        let dividend = self.0.saturating_abs();
        let mut units = dividend.checked_div(divisor)?;
        let mut rest = dividend.checked_rem(divisor)?;
        // Units of the quotient of two wholes are 10^(T - S); as many more digits are wanted.
        let more = i32::from(R)
            .checked_add(i32::from(T))?
            .checked_sub(i32::from(S))?;
        for _ in 0..more {
            rest = rest.checked_mul(10)?;
            units = units.checked_mul(10)?;
            units = units.checked_add(rest.checked_div(divisor)?)?;
            rest = rest.checked_rem(divisor)?;
        }
        if more < 0 {
            units = shifted(units, more)?;
        }
        let negative = self.is_negative() != other.is_negative();
        Fixed::from_unscaled(if negative {
            units.checked_neg()?
        } else {
            units
        })
    }
}

/// Returns `n` times 10 to the `weight`, without the digits behind the point; `None` if it overflows.
fn shifted(n: i128, weight: i32) -> Option<i128> {
    let power = 10_i128.checked_pow(weight.unsigned_abs());
    match (weight < 0, power) {
        _ if n == 0 => Some(0),
        (false, Some(power)) => n.checked_mul(power),
        (false, None) => None,
        (true, Some(power)) => n.checked_div(power),
        (true, None) => Some(0),
    }
}

impl<const D: u8, const S: u8> Neg for Fixed<D, S> {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

macro_rules! small_integers {
    ($($t:ty)*) => {$(
        /// Every number of the integer type must fit, or the conversion does not compile; use `try_from` of an `i128`
        /// or `u128` then.
        impl<const D: u8, const S: u8> From<$t> for Fixed<D, S> {
            fn from(whole: $t) -> Self {
                const {
                    let largest = (<$t>::MAX as i128).saturating_mul(power_of_ten(S));
                    assert!(largest < Self::LIMIT, "not every number of the integer type has so few digits");
                }
                Self((whole as i128).saturating_mul(power_of_ten(S)))
            }
        }
    )*};
}

small_integers!(u8 i8 u16 i16 u32 i32 u64 i64);

impl<const D: u8, const S: u8> TryFrom<i128> for Fixed<D, S> {
    type Error = FixedError;

    fn try_from(whole: i128) -> Result<Self, FixedError> {
        whole
            .checked_mul(power_of_ten(S))
            .and_then(Self::from_unscaled)
            .ok_or(FixedError::TooManyDigits {
                digits: D,
                scale: S,
            })
    }
}
