//! The component model and template modules. They are parsed in full, so that their own errors are reported, and each is
//! refused once. Their names stay declared, so that uses cause no further errors.

use std::rc::Rc;

use nom::Parser;
use nom::combinator::{cut, opt};
use nom::sequence::preceded;

use super::annotations::{Start, head, skip_group, start};
use super::declarations::{definition, export};
use super::input::{Parsed, Tokens, expected, nested};
use super::keywords::is_keyword;
use super::members::{attribute, parameters, raises};
use super::recovery::body;
use super::terminals::{commas, ident, keyword, punct, scoped_name, semicolon};
use super::value_dcl::value_of;
use crate::ast::{Definition, DefinitionKind, Head, InterfaceKind, ScopedName};
use crate::diagnostic::Report;
use crate::lexer::Kind;
use crate::source::Span;

/// The message for a refused declaration, with its alternative.
struct Refusal {
    what: &'static str,
    hint: &'static str,
    /// The suffixes of the names of further declarations that the refused one implies.
    implied: &'static [&'static str],
}

const EVENT: Refusal = Refusal {
    what: "event types",
    hint: "declare it as a `valuetype`",
    implied: &["Consumer"],
};
const COMPONENT: Refusal = Refusal {
    what: "components",
    hint: "declare its equivalent interface",
    implied: &[],
};
const HOME: Refusal = Refusal {
    what: "homes",
    hint: "declare its equivalent interface",
    implied: &["Explicit", "Implicit"],
};
const PORT: Refusal = Refusal {
    what: "port types and connectors",
    hint: "declare the interfaces of their ports",
    implied: &[],
};
const TEMPLATE: Refusal = Refusal {
    what: "template modules",
    hint: "write the module for the types that it is needed for",
    implied: &[],
};

/// The declaration that `word` begins, if it is one of these.
pub(super) fn component_model<'a>(
    i: Tokens<'a>,
    word: &str,
    start: &Start,
    out: &mut Vec<Definition>,
) -> Option<Parsed<'a, ()>> {
    let next = match &i.nth(1).kind {
        Kind::Word(next) => Some(&**next),
        _ => None,
    };
    let named =
        next.is_some_and(|next| !is_keyword(next)) || matches!(i.nth(1).kind, Kind::Escaped(_));
    Some(match (word, next) {
        ("eventtype", _) | ("abstract" | "custom", Some("eventtype")) => event(i, start, out),
        ("component", _) if named => component(i, start, out),
        ("home", _) if named => home(i, start, out),
        ("porttype" | "connector", _) if named => ports(i, start, out),
        ("alias", _) if named => alias(i, start, out),
        _ => return None,
    })
}

/// Runs `parser` on a refused construct, without reporting refusals inside it.
fn inside<'a, T>(i: Tokens<'a>, parser: impl FnOnce(Tokens<'a>) -> Parsed<'a, T>) -> Parsed<'a, T> {
    let outer = i.context.refused_inside.replace(true);
    let parsed = nested(i, parser);
    i.context.refused_inside.set(outer);
    parsed
}

/// Reports `refusal` at `span`, and keeps the names.
fn refuse(i: Tokens<'_>, span: Span, refusal: &Refusal, head: Head, out: &mut Vec<Definition>) {
    let context = i.context;
    if !context.refused_inside.get() {
        let message = format!("{} are not supported", refusal.what);
        context
            .sink
            .report(Report::new(span, message).hint(refusal.hint));
    }
    let implied = refusal.implied.iter().map(|end| {
        let mut head = head.clone();
        head.name.text = Rc::from(format!("{}{end}", head.name.text));
        head
    });
    let heads: Vec<Head> = std::iter::once(head.clone()).chain(implied).collect();
    out.extend(heads.into_iter().map(|head| Definition {
        head,
        kind: DefinitionKind::Unsupported,
    }));
}

/// event: [ "abstract" | "custom" ] "eventtype" identifier …; the rest has the syntax of a value type.
fn event<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let span = i.first().span;
    let mut parsed = Vec::new();
    let (rest, ()) = inside(i, |i| value_of(i, "eventtype", start, &mut parsed))?;
    if let Some(definition) = parsed.pop() {
        if let DefinitionKind::ValueForward(_) = definition.kind {
            out.push(definition);
            return Ok((rest, ()));
        }
        refuse(rest, span, &EVENT, definition.head, out);
    }
    Ok((rest, ()))
}

/// [ ":" scoped_name ] [ "supports" scoped_name { "," scoped_name }* ]
fn inherits<'a>(i: Tokens<'a>) -> Parsed<'a, ()> {
    let base = opt(preceded(punct(":"), cut(scoped_name)));
    let supports = opt(preceded(keyword("supports"), cut(commas(scoped_name))));
    (base, supports).map(drop).parse(i)
}

/// component: "component" identifier inherits "{" port* "}" | "component" identifier
fn component<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let span = i.first().span;
    let (i, head) = cut(head(start)).parse(i.advance())?;
    if i.is_punct(";") {
        // A forward declaration: a reference to a component is one to its equivalent interface.
        let kind = DefinitionKind::InterfaceForward(InterfaceKind::Plain);
        out.push(Definition { head, kind });
        return semicolon(i);
    }
    let (i, ()) = inherits(i)?;
    let (i, _) = inside(i, |i| body(i, port))?;
    refuse(i, span, &COMPONENT, head, out);
    semicolon(i)
}

/// porttype: "porttype" identifier "{" port* "}"; connector: "connector" identifier [ ":" scoped_name ] "{" port* "}"
fn ports<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let span = i.first().span;
    let (i, head) = cut(head(start)).parse(i.advance())?;
    let (i, ()) = inherits(i)?;
    let (i, _) = inside(i, |i| body(i, port))?;
    refuse(i, span, &PORT, head, out);
    semicolon(i)
}

/// component_export: "provides" type name | "uses" [ "multiple" ] type name | "emits" type name | … | attr_dcl
fn port<'a>(i: Tokens<'a>, _: &mut Vec<()>) -> Parsed<'a, ()> {
    let (i, start) = start(i)?;
    let i = match i.word() {
        Some("attribute" | "readonly") => return attribute(i, &start, &mut Vec::new()),
        Some("uses") if multiple(i.advance()) => i.advance().advance(),
        Some("provides" | "uses" | "emits" | "publishes" | "consumes" | "port" | "mirrorport") => {
            i.advance()
        }
        _ => return expected(i, "a port or an attribute"),
    };
    let (i, _) = cut((interface, ident)).parse(i)?;
    semicolon(i)
}

/// Whether `multiple` stands at `i` as a keyword, and not as the name of a type.
fn multiple(i: Tokens<'_>) -> bool {
    let type_follows = matches!(
        i.nth(1).kind,
        Kind::Word(_) | Kind::Escaped(_) | Kind::Punct("::")
    );
    let name_follows = !matches!(i.nth(2).kind, Kind::Punct(";"));
    i.is_word("multiple") && type_follows && name_follows
}

/// interface_type: scoped_name | "Object"
fn interface<'a>(i: Tokens<'a>) -> Parsed<'a, Option<ScopedName>> {
    match i.is_word("Object") {
        true => Ok((i.advance(), None)),
        false => scoped_name.map(Some).parse(i),
    }
}

/// home: "home" identifier inherits "manages" scoped_name [ "primarykey" scoped_name ] "{" home_export* "}"
fn home<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let span = i.first().span;
    let (i, head) = cut(head(start)).parse(i.advance())?;
    let (i, ()) = inherits(i)?;
    if !i.is_word("manages") {
        return expected(i, "`manages`");
    }
    let primary_key = opt(preceded(keyword("primarykey"), cut(scoped_name)));
    let (i, _) = cut((scoped_name, primary_key)).parse(i.advance())?;
    let (i, _) = inside(i, |i| body(i, home_export))?;
    refuse(i, span, &HOME, head, out);
    semicolon(i)
}

/// home_export: export | ( "factory" | "finder" ) identifier "(" parameters ")" [ raises ]
fn home_export<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let (inner, start) = start(i)?;
    if !matches!(inner.word(), Some("factory" | "finder")) {
        return export(i, out);
    }
    let (i, _) = cut((head(&start), punct("("))).parse(inner.advance())?;
    let (i, _) = parameters(i)?;
    let (i, _) = opt(raises("raises")).parse(i)?;
    semicolon(i)
}

/// template_module: "module" identifier "<" … ">" "{" definition+ "}" | "module" scoped_name "<" … ">" identifier.
/// Parsing starts at the `<`.
pub(super) fn template<'a>(
    i: Tokens<'a>,
    span: Span,
    named: Head,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
    let i = skip_group(i, "<", ">");
    if i.is_punct("{") {
        let (i, _) = inside(i, |i| body(i, definition))?;
        refuse(i, span, &TEMPLATE, named, out);
        return semicolon(i);
    }
    let Ok((i, head)) = head(&Start::default())(i) else {
        return expected(i, "`{`, or the name of a module");
    };
    refuse(i, span, &TEMPLATE, head, out);
    semicolon(i)
}

/// template_module_ref: "alias" scoped_name "<" … ">" identifier
fn alias<'a>(i: Tokens<'a>, start: &Start, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    let span = i.first().span;
    let (i, _) = cut(scoped_name).parse(i.advance())?;
    if !i.is_punct("<") {
        return expected(i, "`<`");
    }
    let (i, head) = cut(head(start)).parse(skip_group(i, "<", ">"))?;
    refuse(i, span, &TEMPLATE, head, out);
    semicolon(i)
}
