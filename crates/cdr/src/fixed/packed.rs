//! Packed decimals: two digits in an octet, the sign in the last four bits.

use super::{Fixed, MAX_DIGITS, power_of_ten};
use crate::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, EncodeErrorKind,
    Encoder,
};

const POSITIVE: u8 = 0xc;
const NEGATIVE: u8 = 0xd;

/// Returns the number of octets of a `fixed` of `digits` digits.
const fn octets(digits: u8) -> usize {
    (digits as usize).saturating_add(2) >> 1
}

impl<O: ByteOrder> Encoder<O> {
    /// Writes a `fixed` of `digits` digits, given in units of its last digit: all digits, leading zeros too.
    ///
    /// # Errors
    /// [`TooManyDigits`](EncodeErrorKind::TooManyDigits) if the number has more digits, or the type has more than 31.
    pub fn write_fixed(&mut self, units: i128, digits: u8) -> Result<(), EncodeError> {
        let mut packed = [0; octets(MAX_DIGITS)];
        let place = packed.get_mut(..octets(digits)).unwrap_or_default();
        let mut nibble = if units < 0 { NEGATIVE } else { POSITIVE };
        let mut rest = units.unsigned_abs();
        let mut left = digits;
        for octet in place.iter_mut().rev() {
            let low = nibble;
            let high = next_digit(&mut rest, &mut left);
            *octet = (high << 4) | low;
            nibble = next_digit(&mut rest, &mut left);
        }
        if rest != 0 || digits == 0 || digits > MAX_DIGITS {
            return Err(EncodeErrorKind::TooManyDigits { digits }.into());
        }
        let written = packed.get(..octets(digits)).unwrap_or_default();
        self.append(written);
        Ok(())
    }
}

fn next_digit(rest: &mut u128, left: &mut u8) -> u8 {
    let Some(less) = left.checked_sub(1) else {
        return 0;
    };
    *left = less;
    let digit = rest.wrapping_rem(10);
    *rest = rest.wrapping_div(10);
    u8::try_from(digit).unwrap_or_default()
}

impl<O: ByteOrder> Decoder<'_, O> {
    /// Reads a `fixed` of at most `digits` digits, in units of its last digit. Leading zeros may be missing, since
    /// JacORB leaves them out: the sign ends the number.
    ///
    /// # Errors
    /// [`InvalidDecimal`](DecodeErrorKind::InvalidDecimal) for an octet that holds neither two digits, nor a digit and
    /// the sign; [`TooManyDigits`](DecodeErrorKind::TooManyDigits); the errors of [`read_u8`](Self::read_u8).
    pub fn read_fixed(&mut self, digits: u8) -> Result<i128, DecodeError> {
        let digits = digits.min(MAX_DIGITS);
        let bad = |decoder: &Self, found| {
            decoder.error_behind(1, DecodeErrorKind::InvalidDecimal { found })
        };
        let mut units = 0_i128;
        for n in 1..=octets(digits) {
            let found = self.read_u8()?;
            let (high, low) = (found >> 4, found & 0xf);
            if high > 9 {
                return Err(bad(self, found));
            }
            units = units.wrapping_mul(10).wrapping_add(i128::from(high));
            match low {
                // An even number of digits has a zero in front, where a peer might put another digit.
                POSITIVE | NEGATIVE if units >= power_of_ten(digits) => break,
                POSITIVE => return Ok(units),
                NEGATIVE => return Ok(units.wrapping_neg()),
                0..=9 if n < octets(digits) => {
                    units = units.wrapping_mul(10).wrapping_add(i128::from(low));
                }
                _ => return Err(bad(self, found)),
            }
        }
        Err(self.error(DecodeErrorKind::TooManyDigits { digits }))
    }
}

impl<const D: u8, const S: u8> Encode for Fixed<D, S> {
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_fixed(self.0, D)
    }
}

/// The length varies, since leading zeros may be missing.
impl<'de, const D: u8, const S: u8> Decode<'de> for Fixed<D, S> {
    const MIN_SIZE: usize = 1;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let _ = const { Self::LIMIT };
        decoder.read_fixed(D).map(Self)
    }
}
