//! Evaluation of constant expressions by the rules of IDL: in 32 or 64 bits according to the target, with every step
//! checked.

use super::Resolver;
use super::arithmetic::{Refusal, Width, binary, is_number, noun, symbol, unary};
use super::decimal::{Decimal, MAX_DIGITS};
use crate::ast::{Basic, BinaryOp, Expr, ExprKind, ScopedName};
use crate::diagnostic::Report;
use crate::model::{DefId, DefKind, ScopeId, Type, Value};
use crate::real::{Precision, Real};
use crate::source::Span;

/// The range of an integer type, and its name.
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

/// The width of integers, and the precision of floating-point numbers, in which a constant of this type is computed.
fn width(ty: &Type) -> Width {
    let (octets, signed) = match ty {
        Type::Basic(Basic::Octet) => (1, false),
        Type::Basic(Basic::Int8) => (1, true),
        Type::Basic(Basic::Short) => (2, true),
        Type::Basic(Basic::UShort) => (2, false),
        Type::Basic(Basic::Long) => (4, true),
        Type::Basic(Basic::ULong) => (4, false),
        Type::Basic(Basic::ULongLong) => (8, false),
        // No other type is an integer: the widest one suffices to find the mismatch.
        _ => (8, true),
    };
    let precision = match ty {
        Type::Basic(Basic::LongDouble) => Precision::Quad,
        _ => Precision::Double,
    };
    Width {
        octets,
        signed,
        precision,
    }
}

impl Resolver<'_> {
    /// The value of `expr` as a `ty`, whose name is at `written`; `Value::Error` after a reported error.
    pub(super) fn constant(
        &mut self,
        scope: ScopeId,
        ty: &Type,
        written: Option<Span>,
        expr: &Expr,
    ) -> Value {
        let ty = self.model.unaliased(ty).clone();
        match &ty {
            Type::Error => return Value::Error,
            Type::Basic(_) | Type::Str { .. } | Type::Fixed { .. } => {}
            Type::Named(id) if matches!(self.model.def(*id).kind, DefKind::Enum(_)) => {
                return self.enumerator(scope, *id, expr);
            }
            _ => {
                let report = Report::new(
                    written.unwrap_or(expr.span),
                    "a constant cannot have this type",
                )
                .hint("numbers, characters, booleans, strings and enums can be constants");
                self.report(report);
                return Value::Error;
            }
        }
        let Some(value) = self.evaluate(scope, expr, width(&ty)) else {
            return Value::Error;
        };
        match fit(&ty, value, expr, written) {
            Ok(value) => value,
            Err(report) => {
                self.report(*report);
                Value::Error
            }
        }
    }

    /// The value of `expr` for a constant of type `fixed` without digits, at `written`. Its type follows from the value.
    pub(super) fn fixed_constant(&mut self, scope: ScopeId, written: Span, expr: &Expr) -> Value {
        let roomy = Type::Fixed {
            digits: u8::MAX,
            scale: u8::MAX,
        };
        match self.evaluate(scope, expr, width(&roomy)) {
            Some(value @ Value::Fixed { .. }) => value,
            Some(value) => {
                self.report(mismatch(&roomy, &value, expr, Some(written)));
                Value::Error
            }
            None => Value::Error,
        }
    }

    fn fixed_literal(&self, text: &str, span: Span) -> Option<Value> {
        if let Ok(Decimal { unscaled, scale }) = Decimal::parse(text) {
            return Some(Value::Fixed { unscaled, scale });
        }
        let message = format!("a fixed-point number has at most {MAX_DIGITS} digits");
        self.report(Report::new(span, message));
        None
    }

    fn float_literal(&self, text: &str, span: Span, precision: Precision) -> Option<Value> {
        let number = Real::parse(text, precision);
        if number.is_none() {
            // The lexer has accepted the literal, so it fits a quad.
            self.report(beyond_double(text, span));
        }
        number.map(Value::Float)
    }

    /// `value` in the precision of the expression: a long double is rounded where the target is a double.
    fn at_precision(&self, value: Value, span: Span, precision: Precision) -> Option<Value> {
        let Value::Float(number) = value else {
            return Some(value);
        };
        let rounded = number.rounded(precision);
        if rounded.is_none() {
            self.report(beyond_double(&number.to_string(), span));
        }
        rounded.map(Value::Float)
    }

    /// The bound of a string, a sequence or an array, at least 1; 1 after a reported error.
    pub(super) fn bound(&mut self, scope: ScopeId, expr: &Expr) -> u32 {
        let Some(value) = self.evaluate(scope, expr, width(&Type::Basic(Basic::ULong))) else {
            return 1;
        };
        let message = match value {
            Value::Integer(number) if number < 1 => {
                format!("a bound is at least 1, and this is {number}")
            }
            Value::Integer(number) => match u32::try_from(number) {
                Ok(number) => return number,
                Err(_) => format!("a bound is at most {}", u32::MAX),
            },
            value => format!("a bound is a whole number, and this is {}", noun(&value)),
        };
        self.report(Report::new(expr.span, message));
        1
    }

    fn enumerator(&mut self, scope: ScopeId, of: DefId, expr: &Expr) -> Value {
        let mut found = None;
        if let ExprKind::Named(name) = &expr.kind {
            let Some(id) = self.lookup(scope, name) else {
                return Value::Error;
            };
            let enumerator = match &self.model.def(id).kind {
                DefKind::Const(_, Value::Error) | DefKind::Unsupported => return Value::Error,
                DefKind::Const(_, Value::Enumerator(value)) => *value,
                _ => id,
            };
            if let DefKind::Enumerator(parent) = self.model.def(enumerator).kind {
                if parent == of {
                    return Value::Enumerator(enumerator);
                }
                found = Some(format!("one of `{}`", self.model.def(parent).name));
            } else {
                found = Some(self.model.noun(id).to_owned());
            }
        }
        let of = self.model.def(of);
        let mut message = format!("expected an enumerator of `{}`", of.name);
        if let Some(found) = found {
            message += &format!(", found {found}");
        }
        self.report(Report::new(expr.span, message).label(of.span, "the enum is declared here"));
        Value::Error
    }

    /// The value of `expr`, computed in `width`; `None` after a reported error.
    fn evaluate(&mut self, scope: ScopeId, expr: &Expr, width: Width) -> Option<Value> {
        Some(match &expr.kind {
            ExprKind::Integer(number) => Value::Integer((*number).into()),
            ExprKind::Float(text) => self.float_literal(text, expr.span, width.precision)?,
            ExprKind::Fixed(text) => self.fixed_literal(text, expr.span)?,
            ExprKind::Boolean(value) => Value::Boolean(*value),
            ExprKind::Char(c) => Value::Char(*c),
            ExprKind::WideChar(c) => Value::WideChar(*c),
            ExprKind::Str(text) => Value::Str(text.clone()),
            ExprKind::WideStr(text) => Value::WideStr(text.clone()),
            ExprKind::Named(name) => {
                let value = self.named_constant(scope, name)?;
                self.at_precision(value, expr.span, width.precision)?
            }
            ExprKind::Unary(op, operand) => {
                let value = self.evaluate(scope, operand, width)?;
                match unary(*op, value.clone(), width) {
                    Ok(value) => value,
                    Err(_) => {
                        let only = if is_number(&value) {
                            "whole numbers"
                        } else {
                            "numbers"
                        };
                        let message = format!("`{op}` is for {only} only");
                        let what = format!("this is {}", noun(&value));
                        self.report(Report::new(expr.span, message).label(operand.span, what));
                        return None;
                    }
                }
            }
            ExprKind::Chain(first, rest) => {
                let mut left = self.part(scope, first, width)?;
                let mut left_span = first.span;
                for (op, operand) in rest {
                    let right = self.part(scope, operand, width)?;
                    let span = first.span.to(operand.span);
                    left = match binary(*op, &left, &right, width.precision) {
                        Ok(value) => value,
                        Err(refusal) => {
                            let operands = [(&left, left_span), (&right, operand.span)];
                            self.report(refused(*op, &refusal, operands, span));
                            return None;
                        }
                    };
                    self.in_range(&left, span, width)?;
                    left_span = span;
                }
                left
            }
            ExprKind::Unsupported => return None,
        })
    }

    /// The value of an operand, which has to be in the range of the expression.
    fn part(&mut self, scope: ScopeId, expr: &Expr, width: Width) -> Option<Value> {
        let value = self.evaluate(scope, expr, width)?;
        self.in_range(&value, expr.span, width)?;
        Some(value)
    }

    /// Checks that the result of a step fits the width of the expression.
    fn in_range(&self, value: &Value, span: Span, width: Width) -> Option<()> {
        let (least, most) = width.range();
        match value {
            Value::Integer(number) if !(least..=most).contains(number) => {
                let message = format!("{number} is out of range in this expression");
                let bits = if width.octets == 8 { 64 } else { 32 };
                let hint =
                    format!("every step of it is computed in {bits} bits: {least} to {most}");
                self.report(Report::new(span, message).hint(hint));
                None
            }
            _ => Some(()),
        }
    }

    fn named_constant(&mut self, scope: ScopeId, name: &ScopedName) -> Option<Value> {
        let id = self.lookup(scope, name)?;
        let def = self.model.def(id);
        let hint = match &def.kind {
            DefKind::Const(_, Value::Error) | DefKind::Unsupported => return None,
            DefKind::Const(_, value) => return Some(value.clone()),
            DefKind::Enumerator(_) => Some(
                "enumerators have no numbers: one stands for itself where its enum is asked for",
            ),
            _ => None,
        };
        let message = format!("`{}` is {}, not a constant", def.name, self.model.noun(id));
        let mut report = Report::new(name.span(), message).label(def.span, "declared here");
        if let Some(hint) = hint {
            report = report.hint(hint);
        }
        self.report(report);
        None
    }
}

/// The message for an operator that does not apply.
fn refused(
    op: BinaryOp,
    refusal: &Refusal,
    [(left, left_span), (right, right_span)]: [(&Value, Span); 2],
    span: Span,
) -> Report {
    let symbol = symbol(op);
    let label = |report: Report, value: &Value, span| {
        report.label(span, format!("this is {}", noun(value)))
    };
    match refusal {
        Refusal::DivisionByZero => Report::new(right_span, "division by zero"),
        Refusal::ShiftCount(count) => Report::new(
            right_span,
            format!("a shift is by 0 to 63 bits, not by {count}"),
        ),
        Refusal::TooLarge => Report::new(span, "the result is too large"),
        Refusal::WholeOnly => {
            let report = Report::new(span, format!("`{symbol}` is for whole numbers only"));
            match left {
                Value::Integer(_) => label(report, right, right_span),
                _ => label(report, left, left_span),
            }
        }
        Refusal::NumbersOnly => {
            let report = Report::new(span, format!("`{symbol}` is for numbers only"));
            let text = |value| matches!(value, &Value::Str(_) | &Value::WideStr(_));
            let glue = op == BinaryOp::Add && text(left) && text(right);
            let (value, at) = match is_number(left) {
                true => (right, right_span),
                false => (left, left_span),
            };
            let report = label(report, value, at);
            match glue {
                true => report.hint("leave it out: string literals that touch are one"),
                false => report,
            }
        }
        Refusal::Mixed => {
            let message = format!(
                "`{symbol}` cannot combine {} and {}",
                noun(left),
                noun(right)
            );
            let report = Report::new(span, message);
            match (left, right) {
                (Value::Integer(_), other) | (other, Value::Integer(_)) => {
                    let example = match other {
                        Value::Float(_) => "with a point, as in `1.0`",
                        _ => "with a `d` behind it, as in `1d`",
                    };
                    report.hint(format!("write the whole number {example}"))
                }
                _ => report,
            }
        }
    }
}

/// The value of `expr` converted to `ty`, whose name is at `written`.
fn fit(ty: &Type, value: Value, expr: &Expr, written: Option<Span>) -> Result<Value, Box<Report>> {
    let refuse = |message: String| Err(Box::new(Report::new(expr.span, message)));
    match (ty, value) {
        (Type::Basic(basic), Value::Integer(number)) if let Some(limits) = limits(*basic) => {
            let (least, most, name) = limits;
            if (least..=most).contains(&number) {
                return Ok(Value::Integer(number));
            }
            refuse(format!(
                "{number} does not fit into {name} ({least} to {most})"
            ))
        }
        (Type::Basic(Basic::Float), Value::Float(number)) => match number.rounded_to_single() {
            Some(number) => Ok(Value::Float(number)),
            None => refuse(format!("{number} does not fit into float")),
        },
        (Type::Basic(Basic::Double | Basic::LongDouble), value @ Value::Float(_))
        | (Type::Basic(Basic::Boolean), value @ Value::Boolean(_)) => Ok(value),
        (Type::Basic(Basic::WideChar), Value::WideChar(c)) if c > 0xffff => {
            refuse("a wchar is one unit of UTF-16, and this character takes two".to_owned())
        }
        (Type::Basic(Basic::WideChar), value @ Value::WideChar(_)) => Ok(value),
        (Type::Basic(Basic::Char), Value::Char(c)) if u32::from(c) > 0xff => {
            let report = Report::new(expr.span, "a char is one character of ISO 8859-1");
            Err(Box::new(
                labelled(report, written, "the type is given here")
                    .hint(format!("`wchar` has it: `L'{c}'`")),
            ))
        }
        (Type::Basic(Basic::Char), value @ Value::Char(_)) => Ok(value),
        (Type::Str { wide: false, bound }, Value::Str(text)) => {
            text_fits(&text, *bound, expr, written)?;
            Ok(Value::Str(text))
        }
        (Type::Str { wide: true, bound }, Value::WideStr(text)) => {
            text_fits(&text, *bound, expr, written)?;
            Ok(Value::WideStr(text))
        }
        (
            &Type::Fixed { digits, scale },
            Value::Fixed {
                unscaled,
                scale: behind,
            },
        ) => {
            let number = Decimal {
                unscaled,
                scale: behind,
            };
            let fitting = number.cut(scale);
            if fitting.whole_digits() <= digits.saturating_sub(scale) {
                return Ok(Value::Fixed {
                    unscaled: fitting.unscaled,
                    scale: fitting.scale,
                });
            }
            let whole = digits.saturating_sub(scale);
            let message = format!("{number} does not fit into fixed<{digits}, {scale}>");
            let label = format!("{whole} digits in front of the point by this type");
            Err(Box::new(labelled(
                Report::new(expr.span, message),
                written,
                &label,
            )))
        }
        (ty, value) => Err(Box::new(mismatch(ty, &value, expr, written))),
    }
}

fn beyond_double(number: &str, span: Span) -> Report {
    let message = format!("{number} does not fit into double");
    Report::new(span, message).hint("a `long double` has room for it")
}

/// The report with a label at `written`, if there is such a place.
fn labelled(report: Report, written: Option<Span>, text: &str) -> Report {
    match written {
        Some(span) => report.label(span, text),
        None => report,
    }
}

fn text_fits(
    text: &str,
    bound: Option<u32>,
    expr: &Expr,
    written: Option<Span>,
) -> Result<(), Box<Report>> {
    if text.contains('\0') {
        let message = "a string cannot contain the character of code 0";
        return Err(Box::new(Report::new(expr.span, message)));
    }
    let length = text.chars().count();
    match bound {
        Some(bound) if length > bound as usize => {
            let message = format!("this string of {length} characters is longer than its bound");
            let report = Report::new(expr.span, message);
            let bound = format!("at most {bound} by this type");
            Err(Box::new(labelled(report, written, &bound)))
        }
        _ => Ok(()),
    }
}

/// The report of a value whose kind does not fit `ty`.
fn mismatch(ty: &Type, value: &Value, expr: &Expr, written: Option<Span>) -> Report {
    let wanted = match ty {
        Type::Basic(Basic::Boolean) => "`TRUE` or `FALSE`",
        Type::Basic(Basic::Char) => "a character",
        Type::Basic(Basic::WideChar) => "a wide character",
        Type::Basic(Basic::Float | Basic::Double | Basic::LongDouble) => "a floating-point number",
        Type::Fixed { .. } => "a fixed-point number",
        Type::Str { wide: false, .. } => "a string",
        Type::Str { wide: true, .. } => "a wide string",
        _ => "a whole number",
    };
    let found = noun(value);
    let report = Report::new(expr.span, format!("expected {wanted}, found {found}"));
    let report = labelled(report, written, "this type asks for it");
    let hint = match (ty, value) {
        (Type::Basic(Basic::Boolean), Value::Integer(0)) => "write `FALSE`".to_owned(),
        (Type::Basic(Basic::Boolean), Value::Integer(1)) => "write `TRUE`".to_owned(),
        (Type::Basic(Basic::WideChar), Value::Char(_))
        | (Type::Str { wide: true, .. }, Value::Str(_)) => {
            "put an `L` in front of the quotes".to_owned()
        }
        (Type::Basic(Basic::Char), Value::WideChar(_))
        | (Type::Str { wide: false, .. }, Value::WideStr(_)) => "leave the `L` out".to_owned(),
        (Type::Basic(Basic::Char), Value::Str(text)) if text.chars().count() == 1 => {
            "a character stands in single quotes".to_owned()
        }
        (Type::Str { wide: false, .. }, Value::Char(_)) => {
            "a string stands in double quotes".to_owned()
        }
        (Type::Fixed { .. }, Value::Integer(_) | Value::Float(_)) => {
            "put a `d` behind the number, as in `1.5d`".to_owned()
        }
        (Type::Basic(basic), Value::Fixed { .. })
            if limits(*basic).is_none() && matches!(wanted, "a floating-point number") =>
        {
            "leave the `d` out".to_owned()
        }
        (Type::Basic(Basic::Float | Basic::Double | Basic::LongDouble), Value::Integer(_)) => {
            let example = match &expr.kind {
                ExprKind::Integer(number) => format!("{number}.0"),
                _ => "1.0".to_owned(),
            };
            format!("give the number a point, as in `{example}`")
        }
        (Type::Basic(basic), Value::Float(number))
            if let number = number.to_f64()
                && limits(*basic).is_some()
                && number.fract() == 0.0
                && number.abs() < 1e15 =>
        {
            format!("write `{number:.0}`")
        }
        _ => return report,
    };
    report.hint(hint)
}
