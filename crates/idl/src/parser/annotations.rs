//! The comment and the annotations before a declaration.

use std::rc::Rc;

use nom::Parser;
use nom::combinator::cut;

use super::expressions::const_expr;
use super::input::{Parsed, Tokens, expected};
use super::terminals::{ident, punct, scoped_name};
use crate::ast::{Annotation, Expr, Head, Ident};
use crate::lexer::Kind;

/// The comment and the annotations before a declaration, which hold for all names that it declares.
#[derive(Clone, Default)]
pub(super) struct Start {
    pub(super) doc: Option<Rc<str>>,
    pub(super) annotations: Vec<Rc<Annotation>>,
}

impl Start {
    /// The start of a declaration within another one, which has no annotations of its own.
    pub(super) fn inline(i: Tokens<'_>) -> Self {
        Self {
            doc: i.first().doc.clone(),
            annotations: Vec::new(),
        }
    }
}

/// The comment at `i` and the annotations after it.
pub(super) fn start<'a>(i: Tokens<'a>) -> Parsed<'a, Start> {
    let mut start = Start::inline(i);
    if !i.is_punct("@") {
        return Ok((i, start));
    }
    let mut i = i;
    while i.is_punct("@") && !is_definition(i) {
        let (rest, annotation) = annotation(i)?;
        start.annotations.push(Rc::new(annotation));
        i = rest;
    }
    start.doc = start.doc.or_else(|| i.first().doc.clone());
    Ok((i, start))
}

/// The name of a declaration, with the comment and annotations before it.
pub(super) fn head<'a>(start: &Start) -> impl Fn(Tokens<'a>) -> Parsed<'a, Head> {
    move |i| {
        let prefix = Rc::clone(&i.first().prefix);
        let (i, name) = ident(i)?;
        Ok((
            i,
            Head {
                name,
                doc: start.doc.clone(),
                prefix,
                annotations: start.annotations.clone(),
            },
        ))
    }
}

/// annotation_appl: "@" scoped_name [ "(" ( const_expr | parameter { "," parameter }* ) ")" ]
fn annotation<'a>(i: Tokens<'a>) -> Parsed<'a, Annotation> {
    let (i, name) = cut(scoped_name_or_keyword).parse(i.advance())?;
    let mut annotation = Annotation {
        name,
        values: Vec::new(),
    };
    if !i.is_punct("(") {
        return Ok((i, annotation));
    }
    let mut i = i.advance();
    // Empty parentheses, as in `@final()`, are accepted.
    if i.is_punct(")") {
        return Ok((i.advance(), annotation));
    }
    loop {
        let (rest, value) = cut(parameter).parse(i)?;
        annotation.values.push(value);
        i = rest;
        if i.is_punct(")") {
            return Ok((i.advance(), annotation));
        }
        i = match punct(",")(i) {
            Ok((rest, _)) => rest,
            Err(_) => return expected(i, "`,` or `)`"),
        };
    }
}

/// The name of an annotation, which may be a keyword, as in `@default`. A `::` after a blank begins the type that follows:
/// `@key ::Name member`.
fn scoped_name_or_keyword<'a>(i: Tokens<'a>) -> Parsed<'a, crate::ast::ScopedName> {
    match &i.first().kind {
        Kind::Word(word)
            if !matches!(i.nth(1).kind, Kind::Punct("::"))
                || i.nth(1).span.start != i.first().span.end =>
        {
            let part = Ident {
                text: Rc::clone(word),
                span: i.first().span,
            };
            let name = crate::ast::ScopedName {
                global: false,
                parts: vec![part],
            };
            Ok((i.advance(), name))
        }
        _ => scoped_name(i),
    }
}

fn parameter<'a>(i: Tokens<'a>) -> Parsed<'a, (Option<Ident>, Expr)> {
    let named = matches!(i.nth(1).kind, Kind::Punct("="));
    if !named {
        return const_expr.map(|value| (None, value)).parse(i);
    }
    let (i, name) = match i.word() {
        // The name of a parameter may be a keyword, too: `default = 1`.
        Some(word) => (
            i.advance(),
            Ident {
                text: Rc::from(word),
                span: i.first().span,
            },
        ),
        None => ident(i)?,
    };
    let (i, _) = punct("=")(i)?;
    let (i, value) = const_expr(i)?;
    Ok((i, (Some(name), value)))
}

/// Whether `i` stands at `@annotation Name {`, which defines one.
pub(super) fn is_definition(i: Tokens<'_>) -> bool {
    i.is_punct("@")
        && matches!(&i.nth(1).kind, Kind::Word(word) if &**word == "annotation")
        && matches!(i.nth(2).kind, Kind::Word(_) | Kind::Escaped(_))
        && matches!(i.nth(3).kind, Kind::Punct("{"))
}

/// annotation_dcl: skipped, since only known annotations have a meaning.
pub(super) fn definition(i: Tokens<'_>) -> Tokens<'_> {
    skip_group(i.advance().advance().advance(), "{", "}")
}

/// The position after the bracket that closes the one at `i`.
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
