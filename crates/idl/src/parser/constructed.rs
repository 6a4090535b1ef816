//! Structs, unions, enums, bitsets and bitmasks, as declarations and where a type may stand.

use std::rc::Rc;

use nom::Parser;
use nom::combinator::{cut, opt};
use nom::sequence::{delimited, preceded};

use super::annotations::{Start, head, start};
use super::expressions::{bound, const_expr};
use super::input::{Parsed, Tokens, expected, nested, refused};
use super::members::members;
use super::pragmas::inner_pragma;
use super::recovery::body;
use super::terminals::{commas, keyword, punct, scoped_name, semicolon};
use super::type_specs::{declarator, type_spec};
use crate::ast::{
    BitfieldDcl, CaseLabel, Definition, DefinitionKind, Head, MemberDcl, ScopedName, SwitchCase,
    UnionDef,
};
use crate::source::Span;

/// struct_type | union_type | enum_type | a forward declaration.
pub(super) fn constructed<'a>(i: Tokens<'a>, start: &Start) -> Parsed<'a, Definition> {
    match i.word() {
        Some("enum") => enumeration(i, start),
        Some("union") => union(i, start),
        _ => structure(i, start),
    }
}

/// enum_type: "enum" identifier "{" enumerator { "," enumerator }* "}"
fn enumeration<'a>(i: Tokens<'a>, start: &Start) -> Parsed<'a, Definition> {
    let (i, head) = cut(preceded(keyword("enum"), head(start))).parse(i)?;
    let (i, names) = names(i)?;
    let kind = DefinitionKind::Enum(names);
    Ok((i, Definition { head, kind }))
}

/// "{" name { "," name }* "}"
fn names<'a>(i: Tokens<'a>) -> Parsed<'a, Vec<Head>> {
    cut(delimited(punct("{"), commas(annotated), close_list)).parse(i)
}

fn annotated<'a>(i: Tokens<'a>) -> Parsed<'a, Head> {
    let (i, start) = start(i)?;
    head(&start)(i)
}

/// `}`, or another enumerator.
fn close_list<'a>(i: Tokens<'a>) -> Parsed<'a, Span> {
    match i.is_punct("}") {
        true => punct("}")(i),
        false => expected(i, "`,` or `}`"),
    }
}

/// struct_type: "struct" identifier [ ":" scoped_name ] "{" member* "}"
fn structure<'a>(i: Tokens<'a>, start: &Start) -> Parsed<'a, Definition> {
    let (i, head) = cut(preceded(keyword("struct"), head(start))).parse(i)?;
    if i.is_punct(";") {
        let kind = DefinitionKind::StructForward;
        return Ok((i, Definition { head, kind }));
    }
    let (i, base) = base(i)?;
    nested(i, |i| {
        let (i, members) = body(i, members)?;
        let kind = DefinitionKind::Struct { base, members };
        Ok((i, Definition { head, kind }))
    })
}

fn base<'a>(i: Tokens<'a>) -> Parsed<'a, Option<ScopedName>> {
    opt(preceded(punct(":"), cut(scoped_name))).parse(i)
}

/// union_type: "union" identifier "switch" "(" switch_type_spec ")" "{" case+ "}"
fn union<'a>(i: Tokens<'a>, start: &Start) -> Parsed<'a, Definition> {
    let (i, head) = cut(preceded(keyword("union"), head(start))).parse(i)?;
    if i.is_punct(";") {
        let kind = DefinitionKind::UnionForward;
        return Ok((i, Definition { head, kind }));
    }
    if !i.is_word("switch") {
        return expected(i, "`switch` or `;`");
    }
    let (i, _) = cut(punct("(")).parse(i.advance())?;
    let (i, discriminator) = discriminator(i)?;
    let (i, _) = cut(punct(")")).parse(i)?;
    nested(i, |i| {
        let open = i;
        let (i, cases) = body(i, case)?;
        if cases.is_empty() && !i.context.failed.get() {
            let report = crate::diagnostic::Report::new(
                open.first().span,
                "a union needs at least one member",
            );
            i.context.error(report.hint("write `case 1: long name;`"));
        }
        let union = UnionDef {
            discriminator,
            cases,
        };
        let kind = DefinitionKind::Union(union);
        Ok((i, Definition { head, kind }))
    })
}

/// The type between the parentheses, which may have annotations.
fn discriminator<'a>(i: Tokens<'a>) -> Parsed<'a, crate::ast::TypeSpec> {
    let (i, _) = start(i)?;
    type_spec(i)
}

/// case: case_label+ type_spec declarator ";"
fn case<'a>(i: Tokens<'a>, out: &mut Vec<SwitchCase>) -> Parsed<'a, ()> {
    if let Some(rest) = inner_pragma(i) {
        return Ok((rest, ()));
    }
    // A comment before `case` documents the member, unless the member has its own.
    let (mut i, outer) = start(i)?;
    let mut labels = Vec::new();
    loop {
        match i.word() {
            Some("default") => {
                labels.push(CaseLabel::Default(i.first().span));
                i = i.advance();
            }
            Some("case") => {
                let (rest, value) = cut(const_expr).parse(i.advance())?;
                labels.push(CaseLabel::Value(value));
                i = rest;
            }
            _ if labels.is_empty() => return expected(i, "`case` or `default`"),
            _ => break,
        }
        i = cut(punct(":")).parse(i)?.0;
    }
    let (i, mut start) = start(i)?;
    start.doc = start.doc.or(outer.doc);
    start.annotations.extend(outer.annotations);
    let (i, ty) = type_spec(i)?;
    let (i, (head, dimensions)) = cut(declarator(&start)).parse(i)?;
    let member = MemberDcl {
        head,
        ty: Rc::new(ty),
        dimensions,
        first: true,
    };
    out.push(SwitchCase { labels, member });
    if i.is_punct(",") {
        let report = crate::diagnostic::Report::new(i.first().span, "a case has one member only");
        return refused(i, report.hint("put the members into a struct"));
    }
    semicolon(i)
}

/// bitset_dcl: "bitset" identifier [ ":" scoped_name ] "{" bitfield* "}"
pub(super) fn bitset<'a>(
    i: Tokens<'a>,
    start: &Start,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
    let (i, head) = cut(preceded(keyword("bitset"), head(start))).parse(i)?;
    let (i, base) = base(i)?;
    let (i, fields) = body(i, bitfield)?;
    let kind = DefinitionKind::Bitset { base, fields };
    out.push(Definition { head, kind });
    semicolon(i)
}

/// bitfield: "bitfield" "<" positive_int_const [ "," destination_type ] ">" identifier* ";"
fn bitfield<'a>(i: Tokens<'a>, out: &mut Vec<BitfieldDcl>) -> Parsed<'a, ()> {
    let (i, start) = start(i)?;
    let (i, _) = keyword("bitfield")(i).or_else(|_| expected(i, "`bitfield`"))?;
    let (i, (_, width, ty, _)) = cut((
        punct("<"),
        bound,
        opt(preceded(punct(","), cut(type_spec))),
        punct(">"),
    ))
    .parse(i)?;
    let (width, ty) = (Rc::new(width), ty.map(Rc::new));
    let field = |head| BitfieldDcl {
        head,
        width: Rc::clone(&width),
        ty: ty.clone(),
    };
    if i.is_punct(";") {
        out.push(field(None));
        return semicolon(i);
    }
    let (i, heads) = cut(commas(head(&start))).parse(i)?;
    out.extend(heads.into_iter().map(|head| field(Some(head))));
    semicolon(i)
}

/// bitmask_dcl: "bitmask" identifier "{" bit_value { "," bit_value }* "}"
pub(super) fn bitmask<'a>(
    i: Tokens<'a>,
    start: &Start,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
    let (i, head) = cut(preceded(keyword("bitmask"), head(start))).parse(i)?;
    let (i, names) = names(i)?;
    let kind = DefinitionKind::Bitmask(names);
    out.push(Definition { head, kind });
    semicolon(i)
}
