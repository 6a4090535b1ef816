//! Modules, interfaces, types and constants: the declarations of a file, a module or an interface.

use std::rc::Rc;

use nom::Parser;
use nom::combinator::{cut, opt};
use nom::sequence::preceded;

use super::annotations::{self, Start, head, is_definition, start};
use super::components::{component_model, template};
use super::constructed::{bitmask, bitset, constructed};
use super::expressions::{const_expr, text_literal};
use super::input::{Parsed, Tokens, expected, nested, refused};
use super::members::{attribute, members, operation};
use super::pragmas::{nameless, place_pragmas, pragma};
use super::recovery::body;
use super::terminals::{commas, ident, keyword, punct, scoped_name, semicolon};
use super::type_specs::{declarator, type_spec};
use super::value_dcl::value;
use crate::ast::{Definition, DefinitionKind, InterfaceKind, ScopedName};
use crate::diagnostic::Report;
use crate::lexer::Kind;

/// definition: type_dcl ";" | const_dcl ";" | except_dcl ";" | interface ";" | module ";" | value ";" | …
pub(super) fn definition<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let (i, start) = start(i)?;
    if is_definition(i) {
        return semicolon(annotations::definition(i));
    }
    let second = match &i.nth(1).kind {
        Kind::Word(word) => Some(&**word),
        _ => None,
    };
    match (i.word(), &i.first().kind) {
        (_, Kind::Pragma(_)) => pragma(i, out),
        (Some("module"), _) => module(i, &start, out),
        (Some("interface"), _) => interface(i, InterfaceKind::Plain, &start, out),
        (Some("abstract"), _) if second == Some("interface") => {
            interface(i.advance(), InterfaceKind::Abstract, &start, out)
        }
        (Some("local"), _) if second == Some("interface") => {
            interface(i.advance(), InterfaceKind::Local, &start, out)
        }
        (Some("valuetype"), _) => value(i, &start, out),
        (Some("abstract" | "custom"), _) if second == Some("valuetype") => value(i, &start, out),
        (Some("abstract"), _) if second != Some("eventtype") => {
            expected(i.advance(), "`interface` or `valuetype`")
        }
        (Some("custom"), _) if second != Some("eventtype") => expected(i.advance(), "`valuetype`"),
        (Some("local"), _) => expected(i.advance(), "`interface`"),
        (Some("import"), _) => import(i, out),
        (Some("typeid" | "typeprefix"), _) => type_id(i, out),
        (Some(word), _) => match type_or_constant(i, word, &start, out) {
            Some(parsed) => parsed,
            None => {
                component_model(i, word, &start, out).unwrap_or_else(|| expected(i, "a definition"))
            }
        },
        _ => expected(i, "a definition"),
    }
}

/// A declaration that modules and interfaces may both contain, if `word` begins one.
fn type_or_constant<'a>(
    i: Tokens<'a>,
    word: &str,
    start: &Start,
    out: &mut Vec<Definition>,
) -> Option<Parsed<'a, ()>> {
    let second = &i.nth(1).kind;
    let named = matches!(second, Kind::Word(_) | Kind::Escaped(_));
    Some(match word {
        "typedef" => typedef(i, start, out),
        "const" => constant(i, start, out),
        "exception" => exception(i, start, out),
        "native" => native(i, start, out),
        "struct" | "enum" | "union" => match constructed(i, start) {
            Ok((i, definition)) => {
                out.push(definition);
                place_pragmas(i, out);
                semicolon(i)
            }
            Err(error) => Err(error),
        },
        // Older files use these words as names, and an operation may begin with the name of a type.
        "bitset" if named && matches!(i.nth(2).kind, Kind::Punct("{" | ":")) => {
            bitset(i, start, out)
        }
        "bitmask" if named && matches!(i.nth(2).kind, Kind::Punct("{")) => bitmask(i, start, out),
        "typeid" | "typeprefix" if names_a_text(i.advance()) => type_id(i, out),
        _ => return None,
    })
}

/// Whether a scoped name and a string literal follow.
fn names_a_text(i: Tokens<'_>) -> bool {
    let text = |i: Tokens<'_>| matches!(i.first().kind, Kind::Str(_));
    scoped_name(i).is_ok_and(|(rest, _)| text(rest)) || (i.is_punct("::") && text(i.advance()))
}

/// export: type_dcl ";" | const_dcl ";" | except_dcl ";" | attr_dcl ";" | op_dcl ";"
pub(super) fn export<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    const WHAT: &str = "an operation, an attribute or a type";
    let (i, start) = start(i)?;
    if is_definition(i) {
        return semicolon(annotations::definition(i));
    }
    match (i.word(), &i.first().kind) {
        (_, Kind::Pragma(_)) => pragma(i, out),
        (Some("readonly" | "attribute"), _) => attribute(i, &start, out),
        (Some(word @ ("factory" | "public" | "private")), _) => {
            let message = format!("only a value type has `{word}` in it");
            refused(i, Report::new(i.first().span, message))
        }
        (Some("module" | "interface" | "abstract" | "local" | "valuetype" | "custom"), _) => {
            let message = "this cannot stand inside an interface or value type";
            let report = Report::new(i.first().span, message);
            let hint = match i.context.sources.layout(i.first().span).first {
                true => "declare it outside; or is there a `}` missing before it?",
                false => "declare it outside",
            };
            refused(i, report.hint(hint))
        }
        (Some(word), _) => match type_or_constant(i, word, &start, out) {
            Some(parsed) => parsed,
            None => operation(i, &start, out),
        },
        (_, Kind::Escaped(_) | Kind::Punct("::")) => operation(i, &start, out),
        _ => expected(i, WHAT),
    }
}

/// type_id_dcl: "typeid" scoped_name string_literal; type_prefix_dcl: "typeprefix" scoped_name string_literal
fn type_id<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let from = i;
    let (i, of) = match scoped_name(i.advance()) {
        Ok(found) => found,
        // `typeprefix :: "x"` applies to the whole file.
        Err(error) if !matches!(i.nth(1).kind, Kind::Punct("::")) => return Err(error),
        Err(_) => {
            let of = ScopedName {
                global: true,
                parts: Vec::new(),
            };
            (i.advance().advance(), of)
        }
    };
    let (i, text) = text_literal(i)?;
    let kind = match from.is_word("typeid") {
        true => DefinitionKind::TypeId { of, id: text },
        false => DefinitionKind::TypePrefix { of, prefix: text },
    };
    out.push(nameless(from, kind));
    // The CORBA module that JacORB ships has no semicolon after a prefix.
    if from.is_word("typeprefix") && !i.is_punct(";") {
        return Ok((i, ()));
    }
    semicolon(i)
}

/// import: "import" imported_scope
fn import<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let from = i;
    // The preprocessor has removed imports of files that it could read.
    if let Kind::Str(name) = &i.nth(1).kind {
        let message = format!("cannot find the file `{name}`, which is to be imported");
        let report = Report::new(i.nth(1).span, message);
        return refused(
            i.advance(),
            report
                .hint("no repository is imported from: an import names a file, as `#include` does"),
        );
    }
    let (i, name) = cut(scoped_name).parse(i.advance())?;
    out.push(nameless(from, DefinitionKind::Import(name)));
    semicolon(i)
}

/// module: "module" identifier "{" definition+ "}"
fn module<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let from = i.first();
    let (i, global) = opt(punct("::")).parse(i.advance())?;
    let (mut i, head) = cut(head(start)).parse(i)?;
    // `module Scope::Generic<long> Name;` instantiates a template.
    while i.is_punct("::") {
        (i, _) = cut(ident).parse(i.advance())?;
    }
    if i.is_punct("<") {
        return template(i, from.span, head, out);
    }
    if global.is_some() {
        return expected(i, "`<`");
    }
    nested(i, |i| {
        let (i, body) = body(i, definition)?;
        out.push(Definition {
            head,
            kind: DefinitionKind::Module(body),
        });
        semicolon(i)
    })
}

/// interface: [ "abstract" | "local" ] "interface" identifier [ ":" scoped_name { "," scoped_name }* ] "{" export* "}"
/// | "interface" identifier
fn interface<'a>(
    i: Tokens<'a>,
    kind: InterfaceKind,
    start: &Start,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
    let (i, head) = cut(preceded(keyword("interface"), head(start))).parse(i)?;
    if i.is_punct(";") {
        out.push(Definition {
            head,
            kind: DefinitionKind::InterfaceForward(kind),
        });
        return semicolon(i);
    }
    let (i, bases) = opt(preceded(punct(":"), cut(commas(base)))).parse(i)?;
    if bases.is_none() && !i.is_punct("{") {
        return expected(i, "`:`, `{` or `;`");
    }
    nested(i, |i| {
        let (i, body) = body(i, export)?;
        out.push(Definition {
            head,
            kind: DefinitionKind::Interface {
                kind,
                bases: bases.unwrap_or_default(),
                body,
            },
        });
        semicolon(i)
    })
}

fn base<'a>(i: Tokens<'a>) -> Parsed<'a, ScopedName> {
    if i.is_word("Object") {
        let report = Report::new(
            i.first().span,
            "every interface derives from `Object` already",
        );
        return refused(i, report.hint("leave it out"));
    }
    scoped_name(i)
}

/// typedef: "typedef" type_spec declarator { "," declarator }*
fn typedef<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let (i, ty) = cut(preceded(keyword("typedef"), type_spec)).parse(i)?;
    let (i, declarators) = cut(commas(declarator(start))).parse(i)?;
    let ty = Rc::new(ty);
    for (index, (head, dimensions)) in declarators.into_iter().enumerate() {
        let kind = DefinitionKind::Typedef {
            ty: Rc::clone(&ty),
            dimensions,
            first: index == 0,
        };
        out.push(Definition { head, kind });
    }
    place_pragmas(i, out);
    semicolon(i)
}

/// const_dcl: "const" const_type identifier "=" const_expr
fn constant<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let (i, (ty, head, _, value)) = cut((
        preceded(keyword("const"), type_spec),
        head(start),
        punct("="),
        const_expr,
    ))
    .parse(i)?;
    out.push(Definition {
        head,
        kind: DefinitionKind::Const { ty, value },
    });
    semicolon(i)
}

/// except_dcl: "exception" identifier "{" member* "}"
fn exception<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let (i, head) = cut(preceded(keyword("exception"), head(start))).parse(i)?;
    nested(i, |i| {
        let (i, members) = body(i, members)?;
        out.push(Definition {
            head,
            kind: DefinitionKind::Exception(members),
        });
        place_pragmas(i, out);
        semicolon(i)
    })
}

/// native: "native" identifier
fn native<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let (i, head) = cut(preceded(keyword("native"), head(start))).parse(i)?;
    let kind = DefinitionKind::Native;
    out.push(Definition { head, kind });
    semicolon(i)
}
