//! Value types.

use std::rc::Rc;

use nom::Parser;
use nom::combinator::{cut, opt};
use nom::sequence::preceded;

use super::annotations::{Start, head, start};
use super::declarations::export;
use super::input::{Parsed, Tokens, expected, nested, refused};
use super::members::{parameters, raises};
use super::recovery::body;
use super::terminals::{commas, keyword, punct, scoped_name, semicolon};
use super::type_specs::{declarator, type_spec};
use crate::ast::{Definition, DefinitionKind, Factory, MemberDcl, ScopedName, ValueDef, ValueKind};
use crate::source::Span;

/// value: [ "abstract" | "custom" ] "valuetype" identifier …
pub(super) fn value<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    value_of(i, "valuetype", start, out)
}

/// A value type that is declared by `word`.
pub(super) fn value_of<'a>(
    i: Tokens<'a>,
    word: &'static str,
    start: &Start,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
    let (i, kind) = match i.word() {
        Some("abstract") => (i.advance(), ValueKind::Abstract),
        Some("custom") => (i.advance(), ValueKind::Custom),
        _ => (i, ValueKind::Stateful),
    };
    let (i, head) = cut(preceded(keyword(word), head(start))).parse(i)?;
    if i.is_punct(";") {
        let kind = DefinitionKind::ValueForward(kind);
        out.push(Definition { head, kind });
        return semicolon(i);
    }
    let has_body = i.is_punct(":") || i.is_word("supports") || i.is_punct("{");
    if !has_body {
        if kind != ValueKind::Stateful {
            return expected(i, "`:`, `supports`, `{` or `;`");
        }
        let Ok((i, ty)) = type_spec(i) else {
            return expected(i, "`:`, `supports`, `{`, `;` or the type of a value box");
        };
        let kind = DefinitionKind::ValueBox(ty);
        out.push(Definition { head, kind });
        return semicolon(i);
    }
    let (i, (truncatable, bases)) = bases(i)?;
    let (i, supports) = opt(preceded(keyword("supports"), cut(commas(scoped_name)))).parse(i)?;
    if !i.is_punct("{") {
        return expected(i, "`{`");
    }
    nested(i, |i| {
        let (i, body) = body(i, element)?;
        let value = ValueDef {
            kind,
            truncatable,
            bases,
            supports: supports.unwrap_or_default(),
            body,
        };
        let kind = DefinitionKind::Value(value);
        out.push(Definition { head, kind });
        semicolon(i)
    })
}

/// [ ":" [ "truncatable" ] scoped_name { "," scoped_name }* ]
fn bases<'a>(i: Tokens<'a>) -> Parsed<'a, (Option<Span>, Vec<ScopedName>)> {
    if !i.is_punct(":") {
        return Ok((i, (None, Vec::new())));
    }
    let i = i.advance();
    let (i, truncatable) = opt(keyword("truncatable")).parse(i)?;
    let (i, bases) = cut(commas(base)).parse(i)?;
    Ok((i, (truncatable, bases)))
}

fn base<'a>(i: Tokens<'a>) -> Parsed<'a, ScopedName> {
    let message = match i.word() {
        Some("truncatable") => "only the first base can be `truncatable`",
        Some("ValueBase") => "every value type derives from `ValueBase` already",
        _ => return scoped_name(i),
    };
    let report = crate::diagnostic::Report::new(i.first().span, message);
    refused(
        i,
        match i.is_word("ValueBase") {
            true => report.hint("leave it out"),
            false => report,
        },
    )
}

/// value_element: export | state_member | init_dcl
fn element<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let (inner, start) = start(i)?;
    match inner.word() {
        Some("public" | "private") => state(inner, &start, out),
        Some("factory") => factory(inner, &start, out),
        _ => export(i, out),
    }
}

/// state_member: ( "public" | "private" ) type_spec declarators ";"
fn state<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let public = i.is_word("public");
    let (i, ty) = cut(type_spec).parse(i.advance())?;
    let (i, declarators) = cut(commas(declarator(start))).parse(i)?;
    let ty = Rc::new(ty);
    for (index, (head, dimensions)) in declarators.into_iter().enumerate() {
        let member = MemberDcl {
            head: head.clone(),
            ty: Rc::clone(&ty),
            dimensions,
            first: index == 0,
        };
        let kind = DefinitionKind::State { public, member };
        out.push(Definition { head, kind });
    }
    semicolon(i)
}

/// init_dcl: "factory" identifier "(" parameters ")" [ raises ] ";"
fn factory<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let (i, head) = cut(preceded(keyword("factory"), head(start))).parse(i)?;
    let (i, _) = cut(punct("(")).parse(i)?;
    let (i, parameters) = parameters(i)?;
    let (i, raises) = opt(raises("raises")).parse(i)?;
    let factory = Factory {
        parameters,
        raises: raises.unwrap_or_default(),
    };
    let kind = DefinitionKind::Factory(factory);
    out.push(Definition { head, kind });
    semicolon(i)
}
