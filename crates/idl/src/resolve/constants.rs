//! Constant expressions, evaluated as IDL says: in 32 or 64 bits according to the target, every step checked.

use super::Resolver;
use crate::ast::{Basic, BinaryOp, Expr, ExprKind, ScopedName};
use crate::diagnostic::Report;
use crate::limits::MAX_FIXED_DIGITS;
use crate::model::{DefKind, ScopeId, Type, Value};
use crate::source::Span;

/// What an expression is evaluated for.
#[derive(Clone, Copy)]
enum Target {
    /// Width in octets, and whether it has a sign.
    Integer {
        octets: u32,
        signed: bool,
    },
    Float,
    Other,
}

impl Target {
    /// What every step of an integer expression must lie in: unsigned, or signed if negative.
    fn range(octets: u32) -> (i128, i128) {
        match octets {
            8 => (i128::from(i64::MIN), i128::from(u64::MAX)),
            _ => (i128::from(i32::MIN), i128::from(u32::MAX)),
        }
    }
}

/// What the target itself can hold, and its name.
fn limits(basic: Basic) -> Option<(i128, i128, &'static str)> {
    Some(match basic {
        Basic::Octet => (0, 255, "octet"),
        Basic::Int8 => (-128, 127, "int8"),
        Basic::Short => (i16::MIN.into(), i16::MAX.into(), "short"),
        Basic::UShort => (0, u16::MAX.into(), "unsigned short"),
        Basic::Long => (i32::MIN.into(), i32::MAX.into(), "long"),
        Basic::ULong => (0, u32::MAX.into(), "unsigned long"),
        Basic::LongLong => (i64::MIN.into(), i64::MAX.into(), "long long"),
        Basic::ULongLong => (0, u64::MAX.into(), "unsigned long long"),
        _ => return None,
    })
}

fn target(basic: Basic) -> Target {
    let integer = |octets, signed| Target::Integer { octets, signed };
    match basic {
        Basic::Octet => integer(1, false),
        Basic::Int8 => integer(1, true),
        Basic::Short => integer(2, true),
        Basic::UShort => integer(2, false),
        Basic::Long => integer(4, true),
        Basic::ULong => integer(4, false),
        Basic::LongLong => integer(8, true),
        Basic::ULongLong => integer(8, false),
        Basic::Float | Basic::Double | Basic::LongDouble => Target::Float,
        Basic::Boolean | Basic::Char | Basic::WideChar => Target::Other,
    }
}

impl Resolver<'_> {
    /// The value of `expr` as a `ty`; `Value::Error` when that has been reported.
    pub(super) fn constant(&mut self, scope: ScopeId, ty: &Type, expr: &Expr) -> Value {
        let ty = self.model.unaliased(ty).clone();
        let for_target = match &ty {
            Type::Basic(basic) => target(*basic),
            Type::Error => return Value::Error,
            _ => Target::Other,
        };
        if let Type::Named(id) = ty
            && let DefKind::Enum(_) = self.model.def(id).kind
        {
            return self.enumerator(scope, id, expr);
        }
        let Some(value) = self.evaluate(scope, expr, for_target) else {
            return Value::Error;
        };
        match self.fit(&ty, value, expr.span) {
            Ok(value) => value,
            Err(report) => {
                self.report(report);
                Value::Error
            }
        }
    }

    /// The positive number that bounds a string, a sequence or an array; 1 when there is none and that was reported.
    pub(super) fn bound(&mut self, scope: ScopeId, expr: &Expr) -> u32 {
        let value = self.evaluate(scope, expr, target(Basic::ULong));
        match value {
            None => 1,
            Some(Value::Integer(number)) if number >= 1 => u32::try_from(number).unwrap_or(1),
            Some(_) => {
                self.report(Report::new(
                    expr.span,
                    "a bound must be a whole number of at least 1",
                ));
                1
            }
        }
    }

    fn enumerator(&mut self, scope: ScopeId, of: crate::model::DefId, expr: &Expr) -> Value {
        if let ExprKind::Named(name) = &expr.kind {
            let Some(id) = self.lookup(scope, name) else {
                return Value::Error;
            };
            match &self.model.def(id).kind {
                DefKind::Enumerator(parent) if *parent == of => return Value::Enumerator(id),
                DefKind::Const(_, Value::Enumerator(value)) => {
                    let value = *value;
                    if matches!(self.model.def(value).kind, DefKind::Enumerator(parent) if parent == of)
                    {
                        return Value::Enumerator(value);
                    }
                }
                DefKind::Unsupported | DefKind::Const(_, Value::Error) => return Value::Error,
                _ => {}
            }
        }
        let message = format!("expected an enumerator of `{}`", self.model.def(of).name);
        self.report(Report::new(expr.span, message));
        Value::Error
    }

    fn fit(&self, ty: &Type, value: Value, span: Span) -> Result<Value, Report> {
        let mismatch = |what: &str| Err(Report::new(span, format!("expected {what}")));
        match (ty, value) {
            (Type::Basic(basic), Value::Integer(number))
                if let Some((least, most, name)) = limits(*basic) =>
            {
                if (least..=most).contains(&number) {
                    return Ok(Value::Integer(number));
                }
                Err(Report::new(
                    span,
                    format!("{number} does not fit into {name} ({least} to {most})"),
                ))
            }
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the narrowing is what is checked"
            )]
            (Type::Basic(Basic::Float), Value::Float(number)) if (number as f32).is_infinite() => {
                Err(Report::new(
                    span,
                    format!("{number:e} does not fit into float"),
                ))
            }
            (
                Type::Basic(Basic::Float | Basic::Double | Basic::LongDouble),
                value @ Value::Float(_),
            )
            | (Type::Basic(Basic::Boolean), value @ Value::Boolean(_)) => Ok(value),
            (Type::Basic(Basic::WideChar), Value::WideChar(c)) if c.len_utf16() > 1 => {
                Err(Report::new(
                    span,
                    "a wchar is one unit of UTF-16, and this character takes two",
                ))
            }
            (Type::Basic(Basic::WideChar), value @ Value::WideChar(_)) => Ok(value),
            (Type::Basic(Basic::Char), Value::Char(c)) => {
                match u32::from(c) <= 0xff {
                    true => Ok(Value::Char(c)),
                    false => Err(Report::new(span, "a char is one character of ISO 8859-1")
                        .hint("use wchar")),
                }
            }
            (Type::Fixed { .. }, value @ Value::Fixed { .. }) => Ok(value),
            (Type::Fixed { .. }, _) => mismatch("a fixed-point number such as `1.5d`"),
            (Type::Str { wide, bound }, Value::Str(text) | Value::WideStr(text))
                if text.contains('\0')
                    || bound.is_some_and(|bound| text.chars().count() > bound as usize) =>
            {
                let _ = wide;
                Err(match bound {
                    Some(bound) if !text.contains('\0') => Report::new(
                        span,
                        format!("this string is longer than its bound of {bound}"),
                    ),
                    _ => Report::new(span, "a string cannot contain the character of code 0"),
                })
            }
            (Type::Str { wide: false, .. }, value @ Value::Str(_))
            | (Type::Str { wide: true, .. }, value @ Value::WideStr(_)) => Ok(value),
            (Type::Basic(basic), _) => mismatch(match basic {
                Basic::Boolean => "`TRUE` or `FALSE`",
                Basic::Char => "a character literal",
                Basic::WideChar => "a wide character literal such as `L'x'`",
                Basic::Float | Basic::Double | Basic::LongDouble => "a number",
                _ => "a whole number",
            }),
            (Type::Str { wide: false, .. }, _) => mismatch("a string literal"),
            (Type::Str { wide: true, .. }, _) => mismatch("a wide string literal such as `L\"x\"`"),
            _ => Err(Report::new(span, "a constant cannot have this type")
                .hint("numbers, characters, booleans, strings and enums can be constants")),
        }
    }

    /// `None` when a fault was reported.
    fn evaluate(&mut self, scope: ScopeId, expr: &Expr, target: Target) -> Option<Value> {
        let value = match &expr.kind {
            ExprKind::Integer(number) => match target {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "a literal for a float is rounded, as any"
                )]
                Target::Float => Value::Float(*number as f64),
                _ => Value::Integer((*number).into()),
            },
            ExprKind::Float(number) => Value::Float(*number),
            ExprKind::Fixed(text) => self.fixed_literal(text, expr.span)?,
            ExprKind::Boolean(value) => Value::Boolean(*value),
            ExprKind::Char(c) => Value::Char(*c),
            ExprKind::WideChar(c) => Value::WideChar(*c),
            ExprKind::Str(text) => Value::Str(text.clone()),
            ExprKind::WideStr(text) => Value::WideStr(text.clone()),
            ExprKind::Named(name) => self.named_constant(scope, name, target)?,
            ExprKind::Unary(op, operand) => {
                let value = self.evaluate(scope, operand, target)?;
                self.unary(*op, value, expr.span, target)?
            }
            ExprKind::Chain(first, rest) => {
                let mut left = self.evaluate(scope, first, target)?;
                for (op, operand) in rest {
                    let right = self.evaluate(scope, operand, target)?;
                    let span = expr.span.to(operand.span);
                    left = self.binary(*op, left, right, span, operand.span)?;
                    left = self.checked(left, span, target)?;
                }
                left
            }
            ExprKind::Unsupported => return None,
        };
        self.checked(value, expr.span, target)
    }

    /// Zeros in front and behind do not count.
    fn fixed_literal(&self, text: &str, span: Span) -> Option<Value> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = [whole, fraction].concat();
        let digits = digits.trim_start_matches('0');
        let unscaled = match digits {
            "" => Some(0),
            digits if digits.len() <= usize::from(MAX_FIXED_DIGITS) => digits.parse().ok(),
            _ => None,
        };
        let scale = u8::try_from(fraction.len()).ok();
        match (unscaled, scale.filter(|scale| *scale <= MAX_FIXED_DIGITS)) {
            (Some(unscaled), Some(scale)) => Some(Value::Fixed { unscaled, scale }),
            _ => {
                let message = format!("a fixed-point number has at most {MAX_FIXED_DIGITS} digits");
                self.report(Report::new(span, message));
                None
            }
        }
    }

    /// Every step must fit the width it is computed in.
    fn checked(&self, value: Value, span: Span, target: Target) -> Option<Value> {
        let message = match (&value, target) {
            (Value::Integer(number), Target::Integer { octets, .. }) => {
                let (least, most) = Target::range(octets);
                if (least..=most).contains(number) {
                    return Some(value);
                }
                format!("{number} is out of range in this expression ({least} to {most})")
            }
            (Value::Float(number), _) if !number.is_finite() => {
                "this number is too large".to_owned()
            }
            _ => return Some(value),
        };
        self.report(Report::new(span, message));
        None
    }

    fn named_constant(
        &mut self,
        scope: ScopeId,
        name: &ScopedName,
        target: Target,
    ) -> Option<Value> {
        let id = self.lookup(scope, name)?;
        match (&self.model.def(id).kind, target) {
            (DefKind::Const(_, Value::Error) | DefKind::Unsupported, _) => None,
            #[expect(
                clippy::cast_precision_loss,
                reason = "a whole number for a float is rounded, as any"
            )]
            (DefKind::Const(_, Value::Integer(number)), Target::Float) => {
                Some(Value::Float(*number as f64))
            }
            (DefKind::Const(_, value), _) => Some(value.clone()),
            _ => {
                let def = self.model.def(id);
                let message = format!("`{}` is {}, not a constant", def.name, self.model.noun(id));
                self.report(Report::new(name.span(), message).label(def.span, "declared here"));
                None
            }
        }
    }

    fn unary(&self, op: char, value: Value, span: Span, target: Target) -> Option<Value> {
        match (op, value) {
            ('+', value @ (Value::Integer(_) | Value::Float(_) | Value::Fixed { .. })) => {
                Some(value)
            }
            ('-', Value::Integer(number)) => Some(Value::Integer(-number)),
            ('-', Value::Fixed { unscaled, scale }) => Some(Value::Fixed {
                unscaled: -unscaled,
                scale,
            }),
            ('-', Value::Float(number)) => Some(Value::Float(-number)),
            ('~', Value::Integer(number)) => Some(Value::Integer(match target {
                Target::Integer {
                    octets,
                    signed: false,
                } => (1 << (octets * 8)) - 1 - number,
                _ => -(number + 1),
            })),
            (op, _) => {
                self.report(Report::new(
                    span,
                    format!("`{op}` cannot be applied to this value"),
                ));
                None
            }
        }
    }

    fn binary(
        &self,
        op: BinaryOp,
        left: Value,
        right: Value,
        span: Span,
        right_span: Span,
    ) -> Option<Value> {
        let result = match (left, right) {
            (Value::Integer(left), Value::Integer(right)) => {
                integers(op, left, right).map(Value::Integer)
            }
            (Value::Float(left), Value::Float(right)) => match op {
                BinaryOp::Add => Ok(Value::Float(left + right)),
                BinaryOp::Subtract => Ok(Value::Float(left - right)),
                BinaryOp::Multiply => Ok(Value::Float(left * right)),
                BinaryOp::Divide if right == 0.0 => Err("division by zero"),
                BinaryOp::Divide => Ok(Value::Float(left / right)),
                _ => Err("this operator is for whole numbers only"),
            },
            _ => Err("these two values cannot be combined"),
        };
        match result {
            Ok(value) => Some(value),
            Err(message) => {
                let at = if message == "division by zero" {
                    right_span
                } else {
                    span
                };
                self.report(Report::new(at, message));
                None
            }
        }
    }
}

/// Operands lie within 64 bits, so that nothing overflows 128 but a product, which is checked, and a shift, whose count
/// is.
fn integers(op: BinaryOp, left: i128, right: i128) -> Result<i128, &'static str> {
    let shift = || {
        u32::try_from(right)
            .ok()
            .filter(|&count| count < 64)
            .ok_or("a shift is by 0 to 63 bits")
    };
    Ok(match op {
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::And => left & right,
        BinaryOp::ShiftLeft => left
            .checked_mul(1_i128 << shift()?)
            .ok_or("this number is too large")?,
        BinaryOp::ShiftRight => left >> shift()?,
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left.checked_mul(right).ok_or("this number is too large")?,
        BinaryOp::Divide => left.checked_div(right).ok_or("division by zero")?,
        BinaryOp::Remainder => left.checked_rem(right).ok_or("division by zero")?,
    })
}
