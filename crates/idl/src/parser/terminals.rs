//! The parsers of punctuation, keywords and names, and of lists with commas.

use std::rc::Rc;

use nom::Parser;
use nom::combinator::{cut, opt};
use nom::multi::many0;
use nom::sequence::preceded;

use super::input::{Fault, Parsed, Tokens, describe, expected, refused};
use super::keywords::{begins_type, is_keyword, keyword_meant};
use super::mistakes::modifier;
use super::trailing_comments::Documentable;
use crate::ast::{Ident, ScopedName};
use crate::diagnostic::Report;
use crate::lexer::Kind;
use crate::options::LENIENT;
use crate::source::Span;

/// One punctuation mark, named `what` in messages.
pub(super) fn punct<'a>(mark: &'static str) -> impl Fn(Tokens<'a>) -> Parsed<'a, Span> {
    let what = mark_name(mark);
    move |i| {
        if i.is_punct(mark) {
            Ok((i.advance(), i.first().span))
        } else {
            expected(i, what)
        }
    }
}

fn mark_name(mark: &'static str) -> &'static str {
    match mark {
        "{" => "`{`",
        "}" => "`}`",
        "(" => "`(`",
        ")" => "`)`",
        "<" => "`<`",
        ">" => "`>`",
        "]" => "`]`",
        "[" => "`[`",
        "=" => "`=`",
        ":" => "`:`",
        "," => "`,`",
        "::" => "`::`",
        _ => "`;`",
    }
}

/// One keyword.
pub(super) fn keyword<'a>(word: &'static str) -> impl Fn(Tokens<'a>) -> Parsed<'a, Span> {
    move |i| {
        if i.is_word(word) {
            Ok((i.advance(), i.first().span))
        } else {
            expected(i, word)
        }
    }
}

/// An identifier that is not a keyword.
pub(super) fn ident<'a>(i: Tokens<'a>) -> Parsed<'a, Ident> {
    let token = i.first();
    match &token.kind {
        Kind::Escaped(text) => Ok((
            i.advance(),
            Ident {
                text: Rc::clone(text),
                span: token.span,
            },
        )),
        Kind::Word(text) if i.context.reserves(text, true) => {
            let message = match keyword_meant(text) {
                Some(keyword) if keyword != &**text => {
                    format!("`{text}` differs only in case from a keyword")
                }
                _ => format!("expected a name, found the keyword `{text}`"),
            };
            let scoped = i
                .previous()
                .is_some_and(|token| matches!(token.kind, Kind::Punct("::")));
            if let Some(report) = modifier(i) {
                return refused(i, report);
            }
            let hint = match &**text {
                _ if scoped && begins_type(text) => format!("the type is `{text}`"),
                "Object" | "ValueBase" if scoped => format!("`{text}` stands alone"),
                _ => format!("the name can be written `_{text}`{LENIENT}"),
            };
            let report = Report::new(token.span, message).hint(hint);
            Err(nom::Err::Error(Fault {
                at: i.index(),
                expected: vec!["a name"],
                report: Some(Box::new(report)),
            }))
        }
        Kind::Word(text) => Ok((
            i.advance(),
            Ident {
                text: Rc::clone(text),
                span: token.span,
            },
        )),
        _ => expected(i, "a name"),
    }
}

pub(super) fn scoped_name<'a>(i: Tokens<'a>) -> Parsed<'a, ScopedName> {
    let (i, global) = opt(punct("::")).parse(i)?;
    let (i, first) = ident(i)?;
    // After `::` no other alternative fits.
    let (i, rest) = many0(preceded(punct("::"), cut(ident))).parse(i)?;
    let parts = std::iter::once(first).chain(rest).collect();
    Ok((
        i,
        ScopedName {
            global: global.is_some(),
            parts,
        },
    ))
}

/// item { "," item }*; after a comma no other alternative fits.
pub(super) fn commas<'a, T: Documentable>(
    item: impl Fn(Tokens<'a>) -> Parsed<'a, T>,
) -> impl Fn(Tokens<'a>) -> Parsed<'a, Vec<T>> {
    move |i| {
        let (mut i, mut last) = item(i)?;
        let mut items = Vec::new();
        loop {
            last.add_trailing_comment(i);
            if !i.is_punct(",") {
                items.push(last);
                return Ok((i, items));
            }
            i = i.advance();
            last.add_trailing_comment(i);
            items.push(last);
            (i, last) = cut(&item).parse(i)?;
        }
    }
}

/// The `;` that ends a declaration. If it is only missing, that is reported, and parsing continues: the rest of the file
/// may be valid.
pub(super) fn semicolon<'a>(i: Tokens<'a>) -> Parsed<'a, ()> {
    if i.is_punct(";") {
        return Ok((i.advance(), ()));
    }
    // An operation that ends in `const`, as in C++.
    let ends = i.is_word("const") && matches!(i.nth(1).kind, Kind::Punct(";"));
    let is_value = i.is_word("TRUE") || i.is_word("FALSE");
    let begins = i.word().is_some_and(is_keyword) && !ends && !is_value;
    let forgotten = i.at_end() || i.is_punct("}") || begins;
    let reported = i
        .previous()
        .is_some_and(|token| matches!(token.kind, Kind::Bad(_)));
    if !forgotten {
        // The text after a malformed token causes no second error.
        let at = i.index() - usize::from(reported);
        return expected(i, "`;`").map_err(|error| error.map(|fault: Fault| Fault { at, ..fault }));
    }
    let implied = i.context.implied.get() == Some(i.index());
    if reported || implied || (i.at_end() && i.context.failed.get()) {
        return Ok((i, ()));
    }
    let place = i
        .previous()
        .map_or_else(|| i.first().span, |token| token.span.after());
    i.context.error(Report::new(
        place,
        format!("expected `;`, found {}", describe(i.first())),
    ));
    Ok((i, ()))
}
