//! Constant expressions, and literals where no expression may stand.

use std::rc::Rc;

use nom::Parser;
use nom::combinator::cut;

use super::input::{Parsed, Tokens, expected, nested};
use super::terminals::{punct, scoped_name};
use crate::ast::{BinaryOp, Expr, ExprKind, StringLiteral};
use crate::diagnostic::Report;
use crate::lexer::Kind;

/// const_expr: or_expr. The levels of precedence, the lowest first, and their operators.
const LEVELS: [&[(&str, BinaryOp)]; 6] = [
    &[("|", BinaryOp::Or)],
    &[("^", BinaryOp::Xor)],
    &[("&", BinaryOp::And)],
    &[("<<", BinaryOp::ShiftLeft), (">>", BinaryOp::ShiftRight)],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Subtract)],
    &[
        ("*", BinaryOp::Multiply),
        ("/", BinaryOp::Divide),
        ("%", BinaryOp::Remainder),
    ],
];

pub(super) fn const_expr<'a>(i: Tokens<'a>) -> Parsed<'a, Expr> {
    nested(i, |i| level(i, 0))
}

/// A bound between angle brackets.
pub(super) fn bound<'a>(i: Tokens<'a>) -> Parsed<'a, Expr> {
    let outer = i.context.in_angles.replace(true);
    let bound = const_expr(i);
    i.context.in_angles.set(outer);
    bound
}

fn level<'a>(i: Tokens<'a>, at: usize) -> Parsed<'a, Expr> {
    let Some(operators) = LEVELS.get(at) else {
        return unary(i);
    };
    let start = i.first().span;
    let (mut i, first) = level(i, at + 1)?;
    let mut rest = Vec::new();
    while let Some((after, op)) = operator(i, operators) {
        let (after, operand) = cut(|i| level(i, at + 1)).parse(after)?;
        rest.push((op, operand));
        i = after;
    }
    if rest.is_empty() {
        return Ok((i, first));
    }
    let end = i.previous().map_or(start, |token| token.span);
    Ok((
        i,
        Expr {
            span: start.to(end),
            kind: ExprKind::Chain(Box::new(first), rest),
        },
    ))
}

fn operator<'a>(i: Tokens<'a>, operators: &[(&str, BinaryOp)]) -> Option<(Tokens<'a>, BinaryOp)> {
    for &(text, op) in operators {
        match text {
            // The lexer leaves angle brackets single; two that touch are a shift.
            ">>" if i.context.in_angles.get() => {}
            "<<" | ">>" => {
                let half = &text[..1];
                let second = i.nth(1);
                let touching = second.span.start == i.first().span.end
                    && second.span.file == i.first().span.file;
                if i.is_punct(half)
                    && matches!(second.kind, Kind::Punct(mark) if mark == half)
                    && touching
                {
                    return Some((i.advance().advance(), op));
                }
            }
            _ if i.is_punct(text) => return Some((i.advance(), op)),
            _ => {}
        }
    }
    None
}

/// unary_expr: [ "-" | "+" | "~" ] primary_expr
fn unary<'a>(i: Tokens<'a>) -> Parsed<'a, Expr> {
    let start = i.first().span;
    for (mark, op) in [("-", '-'), ("+", '+'), ("~", '~')] {
        if i.is_punct(mark) {
            let (i, operand) = cut(primary).parse(i.advance())?;
            let span = start.to(operand.span);
            return Ok((
                i,
                Expr {
                    span,
                    kind: ExprKind::Unary(op, Box::new(operand)),
                },
            ));
        }
    }
    primary(i)
}

/// primary_expr: scoped_name | literal | "(" const_expr ")"
fn primary<'a>(i: Tokens<'a>) -> Parsed<'a, Expr> {
    let token = i.first();
    let simple = |kind| {
        Ok((
            i.advance(),
            Expr {
                span: token.span,
                kind,
            },
        ))
    };
    match &token.kind {
        Kind::Integer(number) => simple(ExprKind::Integer(*number)),
        Kind::Float(text) => simple(ExprKind::Float(text.clone())),
        Kind::Char(c) => simple(ExprKind::Char(*c)),
        Kind::WideChar(c) => simple(ExprKind::WideChar(*c)),
        Kind::Str(_) => Ok(strings(i, false)),
        Kind::WideStr(_) => Ok(strings(i, true)),
        // The lexer has reported it.
        Kind::Bad(_) => simple(ExprKind::Unsupported),
        Kind::Fixed(text) => simple(ExprKind::Fixed(Rc::clone(text))),
        Kind::Word(word) if &**word == "TRUE" => simple(ExprKind::Boolean(true)),
        Kind::Word(word) if &**word == "FALSE" => simple(ExprKind::Boolean(false)),
        Kind::Word(word) if i.context.reserves(word, false) => expected(i, "a value"),
        Kind::Word(_) | Kind::Escaped(_) | Kind::Punct("::") => {
            let (rest, name) = scoped_name(i)?;
            Ok((
                rest,
                Expr {
                    span: name.span(),
                    kind: ExprKind::Named(name),
                },
            ))
        }
        Kind::Punct("(") => {
            // Parentheses shield a shift from the angle brackets around it.
            let angles = i.context.in_angles.replace(false);
            let inner = cut((const_expr, punct(")"))).parse(i.advance());
            i.context.in_angles.set(angles);
            inner.map(|(i, (inner, _))| (i, inner))
        }
        _ => expected(i, "a value"),
    }
}

/// A string of adjacent literals of one kind, which are concatenated.
fn strings(i: Tokens<'_>, wide: bool) -> (Tokens<'_>, Expr) {
    let (start, mut end) = (i.first().span, i.first().span);
    let mut text = String::new();
    let mut i = i;
    while let (Kind::Str(part), false) | (Kind::WideStr(part), true) = (&i.first().kind, wide) {
        text.push_str(part);
        end = i.first().span;
        i = i.advance();
    }
    if let Kind::Str(_) | Kind::WideStr(_) = &i.first().kind {
        let message = "a wide string and a narrow one do not make one string";
        let report = Report::new(i.first().span, message).label(start, "it begins here");
        i.context
            .error(report.hint("put an `L` in front of all its parts, or of none"));
        while let Kind::Str(_) | Kind::WideStr(_) = &i.first().kind {
            i = i.advance();
        }
    }
    let kind = if wide {
        ExprKind::WideStr(Rc::from(text))
    } else {
        ExprKind::Str(Rc::from(text))
    };
    (
        i,
        Expr {
            span: start.to(end),
            kind,
        },
    )
}

/// string_literal, in one or several pieces.
pub(super) fn text_literal<'a>(i: Tokens<'a>) -> Parsed<'a, StringLiteral> {
    let (start, mut end) = (i.first().span, i.first().span);
    let (mut text, mut at) = (String::new(), i);
    while let Kind::Str(part) = &at.first().kind {
        text.push_str(part);
        end = at.first().span;
        at = at.advance();
    }
    if at.index() == i.index() {
        return expected(i, "a string literal");
    }
    let text = StringLiteral {
        text: text.into(),
        span: start.to(end),
    };
    Ok((at, text))
}
