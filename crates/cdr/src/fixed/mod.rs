//! Decimal numbers of a fixed number of digits.

mod arithmetic;
mod decimal_text;
mod packed;

use core::fmt;
pub use decimal_text::FixedError;

/// An IDL `fixed<D, S>`: a decimal number of at most `D` digits, `S` of them behind the point.
///
/// It is stored as a whole number of units of 10⁻ˢ, so it is exact, as amounts of money have to be. `D` is 1 to 31 and
/// `S` at most `D`; other types do not compile once they are used.
///
/// ```
/// # extern crate zorb_cdr as zorb;
/// use zorb::Fixed;
///
/// let price: Fixed<7, 2> = "19.99".parse()?;
/// let pieces = Fixed::<3, 0>::from(12_u8);
/// // The type of a result is whatever is asked for; surplus fraction digits are dropped, too large is `None`.
/// let total: Fixed<9, 2> = price.checked_mul(pieces).ok_or("too much")?;
/// assert_eq!(total.to_string(), "239.88");
/// assert_eq!(total.unscaled(), 23_988);
/// let third: Option<Fixed<9, 4>> = total.checked_div(Fixed::<3, 0>::from(3_u8));
/// assert_eq!(third.map(|third| third.to_string()).as_deref(), Some("79.9600"));
///
/// assert!("123456.00".parse::<Fixed<7, 2>>().is_err()); // six digits before the point
/// assert!("0.001".parse::<Fixed<7, 2>>().is_err()); // it would not be the same number
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// There are no operators `+`, `-`, `*`, `/`: a result may have too many digits, for which an operator could only panic
/// or return a wrong amount.
///
/// On the wire it is `D` decimal digits, two in an octet, and a sign in the last four bits. Fewer digits are read too,
/// since JacORB drops leading zeros.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fixed<const D: u8, const S: u8>(i128);

impl<const D: u8, const S: u8> Fixed<D, S> {
    /// 10 to the `D`, the first number that is too large.
    const LIMIT: i128 = {
        assert!(
            D >= 1 && D <= MAX_DIGITS && S <= D,
            "a fixed has 1 to 31 digits, and no more behind the point"
        );
        power_of_ten(D)
    };

    /// The number 0.
    pub const ZERO: Self = Self(0);
    /// The largest number: `D` nines, `S` of them behind the point.
    pub const MAX: Self = Self(Self::LIMIT.saturating_sub(1));
    /// The smallest number, the negative of [`MAX`](Self::MAX).
    pub const MIN: Self = Self(Self::MAX.0.saturating_neg());
    /// The number of decimal digits in all, `D`.
    pub const DIGITS: u8 = D;
    /// The number of digits behind the point, `S`.
    pub const SCALE: u8 = S;

    /// Returns the number of `units` of 10⁻ˢ; `None` if it has more than `D` digits. `from_unscaled(1999)` is 19.99 for
    /// two digits behind the point.
    #[must_use]
    pub const fn from_unscaled(units: i128) -> Option<Self> {
        if units.unsigned_abs() < Self::LIMIT.unsigned_abs() {
            Some(Self(units))
        } else {
            None
        }
    }

    /// Returns the number of `units` of 10⁻ˢ, for constants in generated code: too many digits do not compile.
    #[doc(hidden)]
    #[must_use]
    pub const fn constant(units: i128) -> Self {
        assert!(
            units.unsigned_abs() < Self::LIMIT.unsigned_abs(),
            "the constant has more digits than its type"
        );
        Self(units)
    }

    /// Returns the number in units of 10⁻ˢ: 1999 for 19.99.
    #[inline]
    #[must_use]
    pub const fn unscaled(self) -> i128 {
        self.0
    }

    /// Returns the whole part, without the digits behind the point.
    #[must_use]
    pub const fn trunc(self) -> i128 {
        match self.0.checked_div(power_of_ten(S)) {
            Some(whole) => whole,
            None => 0, // a power of ten is not zero
        }
    }

    /// Returns the number without its sign.
    #[must_use]
    pub const fn abs(self) -> Self {
        Self(self.0.saturating_abs())
    }

    /// Whether the number is less than zero.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}

/// The most digits of a `fixed` in IDL.
pub(crate) const MAX_DIGITS: u8 = 31;

/// Returns 10 to the `n`, saturated at the largest `i128` (which no fixed reaches).
pub(crate) const fn power_of_ten(n: u8) -> i128 {
    10_i128.saturating_pow(n as u32)
}

impl<const D: u8, const S: u8> fmt::Debug for Fixed<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
