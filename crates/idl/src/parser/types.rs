//! What may stand where a type is asked for.

use nom::Parser;
use nom::combinator::{cut, opt};
use nom::multi::many0;
use nom::sequence::{delimited, preceded};

use super::declarations::{constructed, skip_group};
use super::expressions::{bound, const_expr};
use super::input::{Parsed, Tokens, expected, head, is_keyword, nested, punct, scoped_name};
use crate::ast::{Basic, Expr, Head, TypeKind, TypeSpec};
use crate::lexer::{Kind, Token};

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
        return Ok((rest, TypeKind::Basic(basic)));
    }
    match (i.word(), &i.first().kind) {
        (Some("string"), _) => text(i, false),
        (Some("wstring"), _) => text(i, true),
        (Some("sequence"), _) => nested(i.advance(), sequence),
        (Some("Object"), _) => Ok((i.advance(), TypeKind::Object)),
        (Some("struct" | "enum"), _) => {
            let (i, definition) = constructed(i)?;
            Ok((i, TypeKind::Inline(Box::new(definition))))
        }
        (Some("union"), _) => unsupported_inline(i, "unions"),
        (Some("any"), _) => unsupported(i, "`any`"),
        (Some("ValueBase"), _) => unsupported(i, "value types"),
        (Some("fixed"), _) => unsupported(i, "`fixed`"),
        (Some("long"), _) => unsupported(i, "`long double`"),
        (Some("map"), _) if matches!(i.nth(1).kind, Kind::Punct("<")) => unsupported(i, "maps"),
        (Some("void"), _) => expected(i, "a type"),
        (Some(word), _) if is_keyword(word) => expected(i, "a type"),
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
        "long" if second("double") => return None,
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
    let bracketed = delimited(punct("<"), bound, punct(">"));
    let (i, bound) =
        opt(preceded(nom::combinator::peek(punct("<")), cut(bracketed))).parse(i.advance())?;
    Ok((
        i,
        TypeKind::Str {
            wide,
            bound: bound.map(Box::new),
        },
    ))
}

/// "sequence" "<" type_spec [ "," positive_int_const ] ">"
fn sequence<'a>(i: Tokens<'a>) -> Parsed<'a, TypeKind> {
    let (i, (_, element, bound)) =
        cut((punct("<"), type_spec, opt(preceded(punct(","), cut(bound))))).parse(i)?;
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

/// A name and its dimensions, documented by the first token of its declaration.
pub(super) fn declarator<'a>(
    from: &'a Token,
) -> impl Fn(Tokens<'a>) -> Parsed<'a, (Head, Vec<Expr>)> {
    move |i| (head(from), dimensions).parse(i)
}

/// { "[" positive_int_const "]" }*
fn dimensions<'a>(i: Tokens<'a>) -> Parsed<'a, Vec<Expr>> {
    many0(delimited(punct("["), cut(const_expr), cut(punct("]")))).parse(i)
}

fn unsupported<'a>(i: Tokens<'a>, what: &str) -> Parsed<'a, TypeKind> {
    i.context.unsupported(i.first().span, what);
    let rest = if i.is_word("long") { i.advance() } else { i }.advance();
    let rest = if rest.is_punct("<") {
        skip_group(rest, "<", ">")
    } else {
        rest
    };
    Ok((rest, TypeKind::Unsupported))
}

/// A union in the place of a type: up to and with its closing brace.
fn unsupported_inline<'a>(i: Tokens<'a>, what: &str) -> Parsed<'a, TypeKind> {
    i.context.unsupported(i.first().span, what);
    let mut rest = i;
    while !rest.at_end() && !rest.is_punct("{") && !rest.is_punct(";") && !rest.is_punct("}") {
        rest = if rest.is_punct("(") {
            skip_group(rest, "(", ")")
        } else {
            rest.advance()
        };
    }
    let rest = if rest.is_punct("{") {
        skip_group(rest, "{", "}")
    } else {
        rest
    };
    Ok((rest, TypeKind::Unsupported))
}
