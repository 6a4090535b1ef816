//! Type specifications.

use nom::Parser;
use nom::combinator::{cut, opt};
use nom::multi::many0;
use nom::sequence::{delimited, preceded};

use super::annotations::{Start, head, start};
use super::constructed::constructed;
use super::expressions::{bound, const_expr};
use super::input::{Parsed, Tokens, describe, expected, nested, refused};
use super::mistakes::{no_such_type, no_type};
use super::terminals::{punct, scoped_name};
use crate::ast::{Basic, Expr, Head, TypeKind, TypeSpec};
use crate::diagnostic::Report;
use crate::lexer::Kind;

/// type_spec: base_type | template_type | scoped_name | constr_type
pub(super) fn type_spec<'a>(i: Tokens<'a>) -> Parsed<'a, TypeSpec> {
    let start = i.first().span;
    let (i, kind) = kind(i)?;
    let end = i.previous().map_or(start, |token| token.span);
    Ok((
        i,
        TypeSpec {
            span: start.to(end),
            kind,
        },
    ))
}

fn kind<'a>(i: Tokens<'a>) -> Parsed<'a, TypeKind> {
    if let Some((rest, basic)) = basic(i) {
        // Only a name or a closing mark may follow a type.
        return match no_type(i, rest.index() - i.index()) {
            Some(report) => refused(i, report),
            None => Ok((rest, TypeKind::Basic(basic))),
        };
    }
    match (i.word(), &i.first().kind) {
        (Some("string"), _) => text(i, false),
        (Some("wstring"), _) => text(i, true),
        (Some("sequence"), _) => nested(i.advance(), sequence),
        (Some("Object"), _) => Ok((i.advance(), TypeKind::Object)),
        (Some("struct" | "enum" | "union"), _) => {
            let (i, definition) = constructed(i, &Start::inline(i))?;
            Ok((i, TypeKind::Inline(Box::new(definition))))
        }
        (Some("any"), _) => Ok((i.advance(), TypeKind::Any)),
        (Some("ValueBase"), _) => Ok((i.advance(), TypeKind::ValueBase)),
        (Some("fixed"), _) => fixed(i.advance()),
        (Some("map"), _) if matches!(i.nth(1).kind, Kind::Punct("<")) => nested(i.advance(), map),
        (Some("unsigned"), _) => match no_type(i, 1) {
            Some(report) => refused(i, report),
            None => refused(i, no_such_type(i, 1)),
        },
        (Some("signed"), _) if let Some(report) = no_type(i, 1) => refused(i, report),
        (Some("void"), _) => expected(i, "a type"),
        (Some(word), _) if i.context.reserves(word, false) => expected(i, "a type"),
        (Some(_), _) | (_, Kind::Escaped(_) | Kind::Punct("::")) => {
            scoped_name.map(TypeKind::Named).parse(i)
        }
        _ => expected(i, "a type"),
    }
}

/// The basic types, longest spelling first.
fn basic(i: Tokens<'_>) -> Option<(Tokens<'_>, Basic)> {
    let second = |word: &str| matches!(&i.nth(1).kind, Kind::Word(found) if &**found == word);
    let third = |word: &str| matches!(&i.nth(2).kind, Kind::Word(found) if &**found == word);
    let (words, basic) = match i.word()? {
        "boolean" => (1, Basic::Boolean),
        "char" => (1, Basic::Char),
        "wchar" => (1, Basic::WideChar),
        "octet" => (1, Basic::Octet),
        "short" => (1, Basic::Short),
        "float" => (1, Basic::Float),
        "double" => (1, Basic::Double),
        "long" if second("long") => (2, Basic::LongLong),
        "long" if second("double") => (2, Basic::LongDouble),
        "long" => (1, Basic::Long),
        "unsigned" if second("short") => (2, Basic::UShort),
        "unsigned" if second("long") && third("long") => (3, Basic::ULongLong),
        "unsigned" if second("long") => (2, Basic::ULong),
        _ => return None,
    };
    let mut rest = i;
    for _ in 0..words {
        rest = rest.advance();
    }
    Some((rest, basic))
}

/// "string" [ "<" positive_int_const ">" ]
fn text<'a>(i: Tokens<'a>, wide: bool) -> Parsed<'a, TypeKind> {
    let (text, mut i) = (i, i.advance());
    let mut length = None;
    if i.is_punct("<") {
        let word = text.word().unwrap_or_default();
        given(i.advance(), "a bound", || {
            format!("a text of any length is a `{word}`")
        })?;
        (i, length) = cut(delimited(punct("<"), bound, punct(">")))
            .map(Some)
            .parse(i)?;
    }
    Ok((
        i,
        TypeKind::Str {
            wide,
            bound: length.map(Box::new),
        },
    ))
}

/// Refuses a closing bracket in place of `what`.
fn given<'a>(i: Tokens<'a>, what: &str, hint: impl FnOnce() -> String) -> Parsed<'a, ()> {
    if !i.is_punct(">") {
        return Ok((i, ()));
    }
    let message = format!("expected {what}, found {}", describe(i.first()));
    refused(i, Report::new(i.first().span, message).hint(hint()))
}

/// "sequence" "<" type_spec [ "," positive_int_const ] ">"
fn sequence<'a>(i: Tokens<'a>) -> Parsed<'a, TypeKind> {
    if !i.is_punct("<") {
        let message = format!("expected `<`, found {}", describe(i.first()));
        let report = Report::new(i.first().span, message);
        return refused(i, report.hint("say what it holds, as in `sequence<long>`"));
    }
    let (i, (_, element)) = cut((punct("<"), element)).parse(i)?;
    if i.is_punct(",") {
        given(i.advance(), "a bound", || {
            "a sequence of any length has no `,` here".to_owned()
        })?;
    }
    let (i, bound) = opt(preceded(punct(","), cut(bound))).parse(i)?;
    let i = match punct(">")(i) {
        Ok((i, _)) => i,
        Err(_) if bound.is_some() => return expected(i, "`>`"),
        Err(_) => return expected(i, "`,` or `>`"),
    };
    Ok((
        i,
        TypeKind::Sequence {
            element: Box::new(element),
            bound: bound.map(Box::new),
        },
    ))
}

/// A type between angle brackets, which may have annotations.
fn element<'a>(i: Tokens<'a>) -> Parsed<'a, TypeSpec> {
    let (i, _) = start(i)?;
    type_spec(i)
}

/// "map" "<" type_spec "," type_spec [ "," positive_int_const ] ">"
fn map<'a>(i: Tokens<'a>) -> Parsed<'a, TypeKind> {
    let (i, (_, key)) = cut((punct("<"), element)).parse(i)?;
    given(i, "`,`", || {
        "a map has keys and values, as in `map<string, long>`".to_owned()
    })?;
    let (i, (_, value, bound, _)) = cut((
        punct(","),
        element,
        opt(preceded(punct(","), cut(bound))),
        punct(">"),
    ))
    .parse(i)?;
    let kind = TypeKind::Map {
        key: Box::new(key),
        value: Box::new(value),
        bound: bound.map(Box::new),
    };
    Ok((i, kind))
}

/// "fixed" [ "<" positive_int_const "," positive_int_const ">" ]
fn fixed<'a>(i: Tokens<'a>) -> Parsed<'a, TypeKind> {
    if !i.is_punct("<") {
        return Ok((i, TypeKind::Fixed(None)));
    }
    let how = || "how many digits, and how many behind the point: `fixed<9, 2>`".to_owned();
    let (i, digits) = cut(bound).parse(i.advance())?;
    given(i, "`,`", how)?;
    let (i, _) = cut(punct(",")).parse(i)?;
    given(i, "a number", how)?;
    let (i, (scale, _)) = cut((bound, punct(">"))).parse(i)?;
    Ok((i, TypeKind::Fixed(Some(Box::new((digits, scale))))))
}

/// A name and its dimensions, with the annotations of the declaration and of the declarator itself.
pub(super) fn declarator<'a>(
    outer: &Start,
) -> impl Fn(Tokens<'a>) -> Parsed<'a, (Head, Vec<Expr>)> {
    move |i| {
        if !i.is_punct("@") {
            return (head(outer), dimensions).parse(i);
        }
        let (i, mut start) = start(i)?;
        start.doc = start.doc.or_else(|| outer.doc.clone());
        (head(&start), dimensions).parse(i)
    }
}

/// { "[" positive_int_const "]" }*
fn dimensions<'a>(i: Tokens<'a>) -> Parsed<'a, Vec<Expr>> {
    many0(delimited(punct("["), cut(const_expr), cut(punct("]")))).parse(i)
}
