//! Members of structs, operations, attributes.

use std::rc::Rc;

use nom::Parser;
use nom::combinator::{cut, opt};
use nom::sequence::{delimited, preceded};

use super::annotations::{Start, head, start};
use super::expressions::text_literal;
use super::input::{Parsed, Tokens, expected, refused};
use super::pragmas::inner_pragma;
use super::terminals::{commas, keyword, punct, scoped_name, semicolon};
use super::type_specs::{declarator, type_spec};
use crate::ast::{
    Attribute, Definition, DefinitionKind, Direction, MemberDcl, OpDcl, ParamDcl, ScopedName,
    StringLiteral,
};
use crate::diagnostic::Report;

/// member: type_spec declarator { "," declarator }* ";"
pub(super) fn members<'a>(i: Tokens<'a>, out: &mut Vec<MemberDcl>) -> Parsed<'a, ()> {
    if let Some(rest) = inner_pragma(i) {
        return Ok((rest, ()));
    }
    let (i, start) = start(i)?;
    let (i, ty) = type_spec(i)?;
    let (i, declarators) = cut(commas(declarator(&start))).parse(i)?;
    let ty = Rc::new(ty);
    for (index, (head, dimensions)) in declarators.into_iter().enumerate() {
        out.push(MemberDcl {
            head,
            ty: Rc::clone(&ty),
            dimensions,
            first: index == 0,
        });
    }
    semicolon(i)
}

/// op_dcl: [ "oneway" ] op_type_spec identifier "(" parameters ")" [ raises ] [ context ]
pub(super) fn operation<'a>(
    i: Tokens<'a>,
    start: &Start,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
    let (i, oneway) = opt(keyword("oneway")).parse(i)?;
    let (i, result) = match i.is_word("void") {
        true => (i.advance(), None),
        false => {
            let (i, ty) = type_spec(i)?;
            (i, Some(ty))
        }
    };
    let (i, head) = cut(head(start)).parse(i)?;
    let (i, _) = cut(punct("(")).parse(i)?;
    let (i, parameters) = parameters(i)?;
    let (i, raises) = opt(raises("raises")).parse(i)?;
    let (i, context) = opt(context).parse(i)?;
    let operation = OpDcl {
        oneway,
        result,
        parameters,
        raises: raises.unwrap_or_default(),
        context: context.unwrap_or_default(),
    };
    out.push(Definition {
        head,
        kind: DefinitionKind::Operation(operation),
    });
    semicolon(i)
}

/// The parameters of an operation, after the `(` and including the `)`.
pub(super) fn parameters<'a>(i: Tokens<'a>) -> Parsed<'a, Vec<ParamDcl>> {
    if i.is_punct(")") {
        return Ok((i.advance(), Vec::new()));
    }
    let (i, list) = cut(commas(parameter)).parse(i)?;
    match i.is_punct(")") {
        true => Ok((i.advance(), list)),
        false => expected(i, "`,` or `)`"),
    }
}

/// param_dcl: ( "in" | "out" | "inout" ) param_type_spec identifier
fn parameter<'a>(i: Tokens<'a>) -> Parsed<'a, ParamDcl> {
    let (i, start) = start(i)?;
    let direction = match i.word() {
        Some("in") => Direction::In,
        Some("out") => Direction::Out,
        Some("inout") => Direction::InOut,
        _ => return expected(i, "`in`, `out` or `inout`"),
    };
    let (i, (ty, head)) = cut((type_spec, head(&start))).parse(i.advance())?;
    Ok((
        i,
        ParamDcl {
            head,
            direction,
            ty,
        },
    ))
}

/// "raises" "(" scoped_name { "," scoped_name }* ")"
pub(super) fn raises<'a>(word: &'static str) -> impl Fn(Tokens<'a>) -> Parsed<'a, Vec<ScopedName>> {
    move |i| {
        let names = delimited(punct("("), commas(scoped_name), punct(")"));
        preceded(keyword(word), cut(names)).parse(i)
    }
}

/// context_expr: "context" "(" string_literal { "," string_literal }* ")"
fn context<'a>(i: Tokens<'a>) -> Parsed<'a, Vec<StringLiteral>> {
    let names = delimited(punct("("), commas(text_literal), punct(")"));
    preceded(keyword("context"), cut(names)).parse(i)
}

/// attr_dcl: [ "readonly" ] "attribute" type simple_declarator { "," simple_declarator }* | … raises
pub(super) fn attribute<'a>(
    i: Tokens<'a>,
    start: &Start,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
    let (i, readonly) = opt(keyword("readonly")).parse(i)?;
    let readonly = readonly.is_some();
    let (i, ty) = cut(preceded(keyword("attribute"), type_spec)).parse(i)?;
    let (i, names) = cut(commas(head(start))).parse(i)?;
    let raises_at = i;
    let (i, get_raises) = opt(raises(if readonly { "raises" } else { "getraises" })).parse(i)?;
    let (i, set_raises) = match readonly {
        true => (i, None),
        false => opt(raises("setraises")).parse(i)?,
    };
    if names.len() > 1 && (get_raises.is_some() || set_raises.is_some()) {
        let report = Report::new(
            raises_at.first().span,
            "several attributes cannot raise together",
        );
        return refused(i, report.hint("declare each by itself"));
    }
    if !readonly && i.is_word("raises") {
        let message = "only a readonly attribute has `raises`";
        let report = Report::new(i.first().span, message);
        return refused(
            i,
            report.hint("say `getraises` for reading and `setraises` for writing"),
        );
    }
    let ty = Rc::new(ty);
    for head in names {
        let attribute = Attribute {
            readonly,
            ty: Rc::clone(&ty),
            get_raises: get_raises.clone().unwrap_or_default(),
            set_raises: set_raises.clone().unwrap_or_default(),
        };
        out.push(Definition {
            head,
            kind: DefinitionKind::Attribute(attribute),
        });
    }
    semicolon(i)
}
