//! Modules, interfaces, types, constants: what may stand in a file, a module or an interface.

use std::rc::Rc;

use nom::Parser;
use nom::combinator::{cut, opt};
use nom::sequence::{delimited, preceded};

use super::expressions::const_expr;
use super::input::{
    Parsed, Tokens, commas, expected, head, is_keyword, keyword, nested, punct, scoped_name,
    semicolon,
};
use super::list;
use super::members::{attribute, members, operation};
use super::types::{declarator, type_spec};
use crate::ast::{Definition, DefinitionKind, Head, ScopedName};
use crate::lexer::Kind;
use crate::source::Span;

/// definition: type_dcl ";" | const_dcl ";" | except_dcl ";" | interface ";" | module ";" | …
pub(super) fn definition<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let i = skip_annotations(i)?;
    match (i.word(), &i.first().kind) {
        (_, Kind::Pragma(_)) => pragma(i, out),
        (Some("module"), _) => module(i, out),
        (Some("interface"), _) => interface(i, out),
        (Some("typedef"), _) => typedef(i, out),
        (Some("const"), _) => constant(i, out),
        (Some("exception"), _) => exception(i, out),
        (Some("struct" | "enum"), _) => {
            let (i, definition) = constructed(i)?;
            out.push(definition);
            semicolon(i)
        }
        (Some(word), _) => match unsupported_construct(i, word) {
            Some(what) => unsupported(i, what, out),
            None => expected(i, "a definition"),
        },
        _ => expected(i, "a definition"),
    }
}

/// export: type_dcl ";" | const_dcl ";" | except_dcl ";" | attr_dcl ";" | op_dcl ";"
fn export<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let i = skip_annotations(i)?;
    match (i.word(), &i.first().kind) {
        (_, Kind::Pragma(_)) => pragma(i, out),
        (Some("typedef"), _) => typedef(i, out),
        (Some("const"), _) => constant(i, out),
        (Some("exception"), _) => exception(i, out),
        (Some("struct" | "enum" | "union" | "native"), _) => definition(i, out),
        (Some("readonly" | "attribute"), _) => attribute(i, out),
        (Some("typeid" | "typeprefix"), _) if matches!(i.nth(1).kind, Kind::Word(_)) => {
            definition(i, out)
        }
        (Some("factory"), _) => expected(i, "an operation, an attribute or a type"),
        (Some(_), _) | (_, Kind::Escaped(_) | Kind::Punct("::")) => operation(i, out),
        _ => expected(i, "an operation, an attribute or a type"),
    }
}

fn pragma<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let token = i.first();
    if let Kind::Pragma(pragma) = &token.kind {
        let name = crate::ast::Ident {
            text: Rc::from(""),
            span: token.span,
        };
        let head = Head {
            name,
            doc: None,
            prefix: Rc::clone(&token.prefix),
        };
        out.push(Definition {
            head,
            kind: DefinitionKind::Pragma(Rc::clone(pragma)),
        });
    }
    Ok((i.advance(), ()))
}

/// module: "module" identifier "{" definition+ "}"
fn module<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let from = i.first();
    let (i, head) = cut(preceded(keyword("module"), head(from))).parse(i)?;
    if i.is_punct("<") {
        return reject(i, from.span, "template modules", Some(head), out);
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

/// A braced list; its opening brace may be missed, its closing one is missed once, at the end of the file.
fn body<'a, T>(
    i: Tokens<'a>,
    item: impl Fn(Tokens<'a>, &mut Vec<T>) -> Parsed<'a, ()>,
) -> Parsed<'a, Vec<T>> {
    let (i, open) = cut(punct("{")).parse(i)?;
    let (i, items) = list(i, item);
    if i.at_end() {
        if !i.context.failed.get() {
            let report = crate::diagnostic::Report::new(
                i.first().span,
                "expected `}`, found the end of the file",
            );
            i.context
                .error(report.label(open, "this brace is never closed"));
        }
        return Ok((i, items));
    }
    let (i, _) = punct("}")(i)?;
    Ok((i, items))
}

/// interface: "interface" identifier [ ":" scoped_name { "," scoped_name }* ] "{" export* "}" | "interface" identifier
fn interface<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let from = i.first();
    let (i, head) = cut(preceded(keyword("interface"), head(from))).parse(i)?;
    if i.is_punct(";") {
        out.push(Definition {
            head,
            kind: DefinitionKind::InterfaceForward,
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
                bases: bases.unwrap_or_default(),
                body,
            },
        });
        semicolon(i)
    })
}

fn base<'a>(i: Tokens<'a>) -> Parsed<'a, ScopedName> {
    if i.is_word("Object") {
        let report = crate::diagnostic::Report::new(
            i.first().span,
            "every interface derives from `Object` already",
        );
        return super::input::refused(i, report.hint("leave it out"));
    }
    scoped_name(i)
}

/// typedef: "typedef" type_spec declarator { "," declarator }*
fn typedef<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let from = i.first();
    let (i, ty) = cut(preceded(keyword("typedef"), type_spec)).parse(i)?;
    let (i, declarators) = cut(commas(declarator(from))).parse(i)?;
    let ty = Rc::new(ty);
    for (index, (head, dimensions)) in declarators.into_iter().enumerate() {
        let kind = DefinitionKind::Typedef {
            ty: Rc::clone(&ty),
            dimensions,
            first: index == 0,
        };
        out.push(Definition { head, kind });
    }
    semicolon(i)
}

/// const_dcl: "const" const_type identifier "=" const_expr
fn constant<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let from = i.first();
    let (i, (ty, head, _, value)) = cut((
        preceded(keyword("const"), type_spec),
        head(from),
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
fn exception<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let from = i.first();
    let (i, head) = cut(preceded(keyword("exception"), head(from))).parse(i)?;
    nested(i, |i| {
        let (i, members) = body(i, members)?;
        out.push(Definition {
            head,
            kind: DefinitionKind::Exception(members),
        });
        semicolon(i)
    })
}

/// struct_type | enum_type | a forward declaration: also where a type may stand.
pub(super) fn constructed<'a>(i: Tokens<'a>) -> Parsed<'a, Definition> {
    let from = i.first();
    if i.is_word("enum") {
        let (i, head) = cut(preceded(keyword("enum"), head(from))).parse(i)?;
        let enumerators = commas(enumerator);
        let (i, names) = cut(delimited(punct("{"), enumerators, close_list)).parse(i)?;
        return Ok((
            i,
            Definition {
                head,
                kind: DefinitionKind::Enum(names),
            },
        ));
    }
    let (i, head) = cut(preceded(keyword("struct"), head(from))).parse(i)?;
    if i.is_punct(";") {
        return Ok((
            i,
            Definition {
                head,
                kind: DefinitionKind::StructForward,
            },
        ));
    }
    if i.is_punct(":") {
        let mut out = Vec::new();
        let (i, ()) = skip_to_end(
            i,
            i.first().span,
            "struct inheritance",
            Some(head),
            &mut out,
        );
        // `skip_to_end` always pushes what it was given a head for.
        return match out.pop() {
            Some(definition) => Ok((i, definition)),
            None => expected(i, "`{`"),
        };
    }
    nested(i, |i| {
        let open = i;
        let (i, list) = body(i, members)?;
        if list.is_empty() && !i.context.failed.get() {
            let report = crate::diagnostic::Report::new(
                open.first().span,
                "a struct needs at least one member",
            );
            i.context.error(report);
        }
        Ok((
            i,
            Definition {
                head,
                kind: DefinitionKind::Struct(list),
            },
        ))
    })
}

fn enumerator<'a>(i: Tokens<'a>) -> Parsed<'a, Head> {
    let i = skip_annotations(i)?;
    head(i.first())(i)
}

/// `}`, or another enumerator.
fn close_list<'a>(i: Tokens<'a>) -> Parsed<'a, Span> {
    match i.is_punct("}") {
        true => punct("}")(i),
        false => expected(i, "`,` or `}`"),
    }
}

/// `@name` and `@name(…)`: reported, and passed over.
pub(super) fn skip_annotations(
    mut i: Tokens<'_>,
) -> Result<Tokens<'_>, nom::Err<super::input::Fault>> {
    while i.is_punct("@") {
        i.context
            .unsupported(i.first().span.to(i.nth(1).span), "annotations");
        let (rest, _) = scoped_name(i.advance())?;
        i = rest;
        if i.is_punct("(") {
            i = skip_group(i, "(", ")");
        }
    }
    Ok(i)
}

/// Behind the bracket that closes the one at `i`.
pub(super) fn skip_group<'a>(mut i: Tokens<'a>, open: &str, close: &str) -> Tokens<'a> {
    let mut depth = 0_usize;
    while !i.at_end() {
        if i.is_punct(open) {
            depth += 1;
        } else if i.is_punct(close) {
            depth -= 1;
            if depth == 0 {
                return i.advance();
            }
        } else if i.is_punct(";") && open != "{" {
            return i;
        }
        i = i.advance();
    }
    i
}

/// What `word` begins, in words for a message, if it is something that we do not do yet.
fn unsupported_construct(i: Tokens<'_>, word: &str) -> Option<&'static str> {
    let next = match &i.nth(1).kind {
        Kind::Word(next) => Some(&**next),
        _ => None,
    };
    let named =
        next.is_some_and(|next| !is_keyword(next)) || matches!(i.nth(1).kind, Kind::Escaped(_));
    Some(match (word, next) {
        ("union", _) => "unions",
        ("abstract", Some("interface")) => "abstract interfaces",
        ("local", Some("interface")) => "local interfaces",
        ("valuetype", _) | ("abstract" | "custom", Some("valuetype")) => "value types",
        ("native", _) => "native types",
        ("typeid", _) => "`typeid` declarations",
        ("typeprefix", _) => "`typeprefix` declarations",
        ("import", _) => "`import` declarations",
        ("eventtype", _) | ("abstract" | "custom", Some("eventtype")) => "event types",
        ("component" | "home" | "porttype" | "connector" | "alias", _) if named => "components",
        ("bitset" | "bitmask", _) if named => "bit sets",
        _ => return None,
    })
}

/// A whole declaration that is not supported: reported at its first word, its name kept so that uses are no errors.
fn unsupported<'a>(i: Tokens<'a>, what: &str, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let from = i.first();
    let mut name = i.advance();
    while name.word().is_some_and(is_keyword) {
        name = name.advance();
    }
    let declared = match what {
        "`typeid` declarations" | "`typeprefix` declarations" | "`import` declarations" => None,
        _ => head(from)(name).ok().map(|(_, head)| head),
    };
    reject(i, from.span, what, declared, out)
}

fn reject<'a>(
    i: Tokens<'a>,
    span: Span,
    what: &str,
    head: Option<Head>,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
    let (i, ()) = skip_to_end(i, span, what, head, out);
    semicolon(i)
}

/// Up to, not past, the `;` that ends a declaration.
fn skip_to_end<'a>(
    mut i: Tokens<'a>,
    span: Span,
    what: &str,
    head: Option<Head>,
    out: &mut Vec<Definition>,
) -> (Tokens<'a>, ()) {
    i.context.unsupported(span, what);
    while !i.at_end() && !i.is_punct(";") && !i.is_punct("}") {
        i = if i.is_punct("{") {
            skip_group(i, "{", "}")
        } else {
            i.advance()
        };
    }
    if let Some(head) = head {
        out.push(Definition {
            head,
            kind: DefinitionKind::Unsupported,
        });
    }
    (i, ())
}
