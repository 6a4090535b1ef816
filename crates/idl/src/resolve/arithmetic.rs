//! The operators of constant expressions.

use std::ops::{Add, Div, Mul, Sub};

use rustc_apfloat::ieee::Quad;

use super::decimal::{Decimal, DecimalError};
use crate::ast::BinaryOp;
use crate::model::Value;
use crate::real::{Operator, Precision, Real};

/// The target of an evaluation: an integer type, or the precision of a floating-point number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Width {
    pub(super) octets: u32,
    pub(super) signed: bool,
    pub(super) precision: Precision,
}

impl Width {
    /// The range of every step of an expression: the signed and the unsigned numbers of 32 or 64 bits.
    pub(super) fn range(self) -> (i128, i128) {
        match self.octets {
            8 => (i64::MIN.into(), u64::MAX.into()),
            _ => (i32::MIN.into(), u32::MAX.into()),
        }
    }

    /// The operator `~`: for a signed number, the two's complement; for an unsigned one, its difference to a number with all
    /// bits set.
    pub(super) fn complement(self, number: i128) -> i128 {
        let all_set = |octets: u32| (1_i128 << (octets * 8)) - 1;
        let wide = self.octets.max(4);
        // A number that only fits an unsigned type is unsigned.
        let unsigned = !self.signed || number > all_set(wide) / 2;
        if number < 0 || !unsigned {
            -(number + 1)
        } else if number <= all_set(self.octets) && !self.signed {
            all_set(self.octets) - number
        } else {
            all_set(wide) - number
        }
    }
}

/// Why an operator gives no value.
#[derive(Debug)]
pub(super) enum Refusal {
    DivisionByZero,
    ShiftCount(i128),
    /// The result exceeds the range of the computation.
    TooLarge,
    /// The operator is for whole numbers only.
    WholeOnly,
    /// The operator is for numbers only.
    NumbersOnly,
    /// The operands are numbers of different kinds.
    Mixed,
}

impl From<DecimalError> for Refusal {
    fn from(fault: DecimalError) -> Self {
        match fault {
            DecimalError::Overflow => Self::TooLarge,
            DecimalError::DivisionByZero => Self::DivisionByZero,
        }
    }
}

/// The kind of `value`, with its article.
pub(super) fn noun(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a floating-point number",
        Value::Fixed { .. } => "a fixed-point number",
        Value::Boolean(_) => "a boolean",
        Value::Char(_) => "a character",
        Value::WideChar(_) => "a wide character",
        Value::Str(_) => "a string",
        Value::WideStr(_) => "a wide string",
        Value::Enumerator(_) => "an enumerator",
        Value::Error => "something else",
    }
}

pub(super) fn is_number(value: &Value) -> bool {
    matches!(
        value,
        Value::Integer(_) | Value::Float(_) | Value::Fixed { .. }
    )
}

pub(super) fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::And => "&",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
    }
}

pub(super) fn unary(op: char, value: Value, width: Width) -> Result<Value, Refusal> {
    match (op, value) {
        ('+', value) if is_number(&value) => Ok(value),
        ('-', Value::Integer(number)) => Ok(Value::Integer(-number)),
        ('-', Value::Float(number)) => Ok(Value::Float(number.negated())),
        ('-', Value::Fixed { unscaled, scale }) => Ok(Value::Fixed {
            unscaled: -unscaled,
            scale,
        }),
        ('~', Value::Integer(number)) => Ok(Value::Integer(width.complement(number))),
        ('~', value) if is_number(&value) => Err(Refusal::WholeOnly),
        _ => Err(Refusal::NumbersOnly),
    }
}

pub(super) fn binary(
    op: BinaryOp,
    left: &Value,
    right: &Value,
    precision: Precision,
) -> Result<Value, Refusal> {
    match (left, right) {
        (&Value::Integer(left), &Value::Integer(right)) => {
            integers(op, left, right).map(Value::Integer)
        }
        (&Value::Float(left), &Value::Float(right)) => {
            floats(op, left, right, precision).map(Value::Float)
        }
        (
            &Value::Fixed { unscaled, scale },
            &Value::Fixed {
                unscaled: right,
                scale: right_scale,
            },
        ) => {
            let left = Decimal { unscaled, scale };
            let right = Decimal {
                unscaled: right,
                scale: right_scale,
            };
            let Decimal { unscaled, scale } = match op {
                BinaryOp::Add => left.plus(right)?,
                BinaryOp::Subtract => left.minus(right)?,
                BinaryOp::Multiply => left.times(right)?,
                BinaryOp::Divide => left.divided_by(right)?,
                _ => return Err(Refusal::WholeOnly),
            };
            Ok(Value::Fixed { unscaled, scale })
        }
        _ if is_number(left) && is_number(right) => Err(match op {
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide => {
                Refusal::Mixed
            }
            _ => Refusal::WholeOnly,
        }),
        _ => Err(Refusal::NumbersOnly),
    }
}

fn floats(op: BinaryOp, left: Real, right: Real, precision: Precision) -> Result<Real, Refusal> {
    let (double, quad): (Operator<f64>, Operator<Quad>) = match op {
        BinaryOp::Add => (Add::add, |left, right| (left + right).value),
        BinaryOp::Subtract => (Sub::sub, |left, right| (left - right).value),
        BinaryOp::Multiply => (Mul::mul, |left, right| (left * right).value),
        BinaryOp::Divide if right.is_zero() => return Err(Refusal::DivisionByZero),
        BinaryOp::Divide => (Div::div, |left, right| (left / right).value),
        _ => return Err(Refusal::WholeOnly),
    };
    left.combine(right, precision, double, quad)
        .ok_or(Refusal::TooLarge)
}

/// An operator on integers. Operands have 64 bits, so only a product and a shift could overflow 128: the product is
/// checked, and so is the count of the shift.
fn integers(op: BinaryOp, left: i128, right: i128) -> Result<i128, Refusal> {
    let count = || {
        u32::try_from(right)
            .ok()
            .filter(|&count| count < 64)
            .ok_or(Refusal::ShiftCount(right))
    };
    let result = match op {
        BinaryOp::Or => Some(left | right),
        BinaryOp::Xor => Some(left ^ right),
        BinaryOp::And => Some(left & right),
        BinaryOp::ShiftLeft => left.checked_mul(1_i128 << count()?),
        BinaryOp::ShiftRight => Some(left >> count()?),
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Multiply => left.checked_mul(right),
        BinaryOp::Divide if right == 0 => return Err(Refusal::DivisionByZero),
        BinaryOp::Divide => left.checked_div(right),
        BinaryOp::Remainder if right == 0 => return Err(Refusal::DivisionByZero),
        BinaryOp::Remainder => left.checked_rem(right),
    };
    result.ok_or(Refusal::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complement_is_that_of_the_type_or_of_the_part() {
        let width = |octets, signed| Width {
            octets,
            signed,
            precision: Precision::Double,
        };
        for (octets, signed, number, complement) in [
            (4, true, 5, -6),
            (4, true, -6, 5),
            (4, false, 0, 0xffff_ffff),
            (2, false, 0, 0xffff),
            (2, false, 0x1_0000, 0xfffe_ffff),
            (1, false, 1, 254),
            (4, false, -1, 0),
            (4, true, 0xffff_fff0, 15),
            (8, false, 0, u64::MAX.into()),
            (8, true, u64::MAX.into(), 0),
        ] {
            assert_eq!(width(octets, signed).complement(number), complement);
        }
    }
}
