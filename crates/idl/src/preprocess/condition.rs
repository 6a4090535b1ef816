//! The expression of `#if`, with every operator of C. Numbers have 64 bits; an operation is signed unless one side is not.

use super::piece::Piece;
use crate::diagnostic::Report;
use crate::lexer::Kind;
use crate::limits::MAX_NESTING;
use crate::source::{SourceMap, Span};

/// A number of the preprocessor.
#[derive(Debug, Clone, Copy)]
struct Value {
    bits: i64,
    unsigned: bool,
}

/// Binary operators by precedence, the lowest first. A longer operator stands before its own prefix.
const BINARY: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// The operators of two marks, so that their first mark is not taken for an operator.
const DOUBLE: [&str; 8] = ["||", "&&", "==", "!=", "<=", ">=", "<<", ">>"];

/// Whether the expression is true, after macros and `defined` have been replaced.
pub(super) fn evaluate(
    pieces: &[Piece],
    directive: Span,
    sources: &SourceMap,
) -> Result<bool, Report> {
    let mut evaluator = Evaluator {
        pieces,
        at: 0,
        directive,
        sources,
        depth: 0,
        idle: 0,
    };
    let value = evaluator.ternary()?;
    match evaluator.pieces.get(evaluator.at) {
        None => Ok(value.bits != 0),
        Some(rest) => Err(Report::new(
            rest.place,
            "expected an operator in this condition",
        )),
    }
}

struct Evaluator<'a> {
    pieces: &'a [Piece],
    at: usize,
    directive: Span,
    sources: &'a SourceMap,
    depth: usize,
    /// The number of enclosing operands whose value does not matter. A division by zero is no error there.
    idle: usize,
}

impl Evaluator<'_> {
    /// Runs `inner` one level deeper, up to the limit on nesting. Only parentheses and `?:` recurse.
    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Report>,
    ) -> Result<T, Report> {
        if self.depth >= MAX_NESTING {
            let message = format!("nested more than {MAX_NESTING} levels deep");
            return Err(Report::new(self.place(), message));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Evaluates `inner`, whose value matters only if `matters`.
    fn operand<T>(
        &mut self,
        matters: bool,
        inner: impl FnOnce(&mut Self) -> Result<T, Report>,
    ) -> Result<T, Report> {
        self.idle += usize::from(!matters);
        let result = inner(self);
        self.idle -= usize::from(!matters);
        result
    }

    fn ternary(&mut self) -> Result<Value, Report> {
        let condition = self.binary(0)?;
        if !self.taken("?") {
            return Ok(condition);
        }
        let holds = condition.bits != 0;
        let yes = self.deeper(|it| it.operand(holds, Self::ternary))?;
        if !self.taken(":") {
            return Err(Report::new(self.place(), "expected `:` in this condition"));
        }
        let no = self.deeper(|it| it.operand(!holds, Self::ternary))?;
        let unsigned = yes.unsigned || no.unsigned;
        let bits = if holds { yes.bits } else { no.bits };
        Ok(Value { bits, unsigned })
    }

    /// Evaluates operators from precedence `level` on; each level is one stack frame.
    fn binary(&mut self, level: usize) -> Result<Value, Report> {
        let Some(operators) = BINARY.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        loop {
            let place = self.place();
            let Some(&operator) = operators.iter().find(|operator| self.taken(operator)) else {
                return Ok(left);
            };
            let matters = match operator {
                "&&" => left.bits != 0,
                "||" => left.bits == 0,
                _ => true,
            };
            let right = self.operand(matters, |it| it.binary(level + 1))?;
            left = self.apply(operator, left, right, place)?;
        }
    }

    fn apply(
        &self,
        operator: &str,
        left: Value,
        right: Value,
        place: Span,
    ) -> Result<Value, Report> {
        let unsigned = left.unsigned || right.unsigned;
        let (a, b) = (left.bits, right.bits);
        let (ua, ub) = (a.cast_unsigned(), b.cast_unsigned());
        let truth = |holds: bool| Value {
            bits: i64::from(holds),
            unsigned: false,
        };
        let number = |bits: i64| Value { bits, unsigned };
        let less = |strict: bool, swapped: bool| {
            let (a, b, ua, ub) = if swapped {
                (b, a, ub, ua)
            } else {
                (a, b, ua, ub)
            };
            truth(match (unsigned, strict) {
                (true, true) => ua < ub,
                (true, false) => ua <= ub,
                (false, true) => a < b,
                (false, false) => a <= b,
            })
        };
        Ok(match operator {
            "||" => truth(a != 0 || b != 0),
            "&&" => truth(a != 0 && b != 0),
            "|" => number(a | b),
            "^" => number(a ^ b),
            "&" => number(a & b),
            "==" => truth(a == b),
            "!=" => truth(a != b),
            "<" => less(true, false),
            "<=" => less(false, false),
            ">" => less(true, true),
            ">=" => less(false, true),
            "<<" | ">>" => {
                let right_way = (operator == ">>") == (right.unsigned || b >= 0);
                let bits = shifted(
                    left,
                    if right.unsigned { ub } else { b.unsigned_abs() },
                    right_way,
                );
                Value { bits, ..left }
            }
            "+" => number(a.wrapping_add(b)),
            "-" => number(a.wrapping_sub(b)),
            "*" => number(a.wrapping_mul(b)),
            _ if b == 0 => {
                if self.idle == 0 {
                    return Err(Report::new(place, "division by zero"));
                }
                number(0)
            }
            "/" if unsigned => number((ua / ub).cast_signed()),
            "/" => number(a.wrapping_div(b)),
            _ if unsigned => number((ua % ub).cast_signed()),
            _ => number(a.wrapping_rem(b)),
        })
    }

    fn unary(&mut self) -> Result<Value, Report> {
        // A row of unary operators does not recurse.
        let mut operators = Vec::new();
        while let Some(operator) = ["!", "~", "-", "+"].iter().find(|mark| self.taken(mark)) {
            operators.push(*operator);
        }
        let mut value = self.primary()?;
        for operator in operators.into_iter().rev() {
            value = match operator {
                "!" => Value {
                    bits: i64::from(value.bits == 0),
                    unsigned: false,
                },
                "~" => Value {
                    bits: !value.bits,
                    ..value
                },
                "-" => Value {
                    bits: value.bits.wrapping_neg(),
                    ..value
                },
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Value, Report> {
        if self.taken("(") {
            let value = self.deeper(Self::ternary)?;
            if !self.taken(")") {
                return Err(Report::new(self.place(), "expected `)` in this condition"));
            }
            return Ok(value);
        }
        let Some(piece) = self.pieces.get(self.at) else {
            return Err(Report::new(
                self.place(),
                "expected a value in this condition",
            ));
        };
        self.at += 1;
        let signed = |bits: i64| Value {
            bits,
            unsigned: false,
        };
        match &piece.kind {
            Kind::Integer(number) => Ok(integer(*number, false)),
            Kind::Char(c) => Ok(signed(i64::from(u32::from(*c)))),
            Kind::WideChar(c) => Ok(signed(i64::from(*c))),
            // C++ does the same.
            Kind::Word(word) if &**word == "true" => Ok(signed(1)),
            // An undefined name is 0.
            Kind::Word(_) | Kind::Escaped(_) => Ok(signed(0)),
            Kind::Bad(message) => {
                let text = piece.spelled(self.sources);
                if text.starts_with('_') {
                    return Ok(signed(0));
                }
                suffixed(text).ok_or_else(|| Report::new(piece.place, &**message))
            }
            _ => Err(Report::new(
                piece.place,
                "expected a value in this condition",
            )),
        }
    }

    /// Consumes `operator` if it comes next, and returns whether it did.
    fn taken(&mut self, operator: &str) -> bool {
        let Some(first) = self.pieces.get(self.at) else {
            return false;
        };
        let second = self.pieces.get(self.at + 1).filter(|next| !next.blank);
        let is_double = |double: &str| {
            first.is(&double[..1]) && second.is_some_and(|second| second.is(&double[1..]))
        };
        let double = DOUBLE.iter().find(|double| is_double(double));
        match double {
            Some(double) if *double == operator => self.at += 2,
            None if first.is(operator) => self.at += 1,
            _ => return false,
        }
        true
    }

    /// The place of the next piece, or of the directive if there is none.
    fn place(&self) -> Span {
        self.pieces
            .get(self.at)
            .map_or(self.directive, |piece| piece.place)
    }
}

fn integer(number: u64, unsigned: bool) -> Value {
    let bits = number.cast_signed();
    Value {
        bits,
        unsigned: unsigned || bits < 0,
    }
}

/// The value of a number with a suffix of C, which IDL does not have: `100L`, `0xffUL`.
fn suffixed(text: &str) -> Option<Value> {
    let number = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = &text[number.len()..];
    let hex = number
        .strip_prefix("0x")
        .or_else(|| number.strip_prefix("0X"));
    let octal = number.strip_prefix('0').filter(|digits| !digits.is_empty());
    let number = match (hex, octal) {
        (Some(digits), _) => u64::from_str_radix(digits, 16),
        (None, Some(digits)) => u64::from_str_radix(digits, 8),
        (None, None) => number.parse(),
    };
    Some(integer(number.ok()?, suffix.contains(['u', 'U'])))
}

fn shifted(value: Value, by: u64, right: bool) -> i64 {
    let by = u32::try_from(by).unwrap_or(u32::MAX);
    let gone = if value.unsigned || !right {
        0
    } else {
        value.bits >> 63
    };
    match (right, value.unsigned) {
        (false, _) => value.bits.checked_shl(by).unwrap_or(gone),
        (true, true) => value
            .bits
            .cast_unsigned()
            .checked_shr(by)
            .map_or(gone, u64::cast_signed),
        (true, false) => value.bits.checked_shr(by).unwrap_or(gone),
    }
}
