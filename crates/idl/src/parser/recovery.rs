//! Lists of items, which survive a faulty one: the error is reported, and parsing continues behind it.

use nom::Parser;
use nom::combinator::cut;

use super::braces;
use super::input::{Fault, Parsed, Tokens, describe};
use super::keywords::is_keyword;
use super::mistakes::hint;
use super::terminals::punct;
use super::trailing_comments::{self, Documentable};
use crate::diagnostic::Report;
use crate::lexer::Kind;
use crate::limits::MAX_DIAGNOSTICS;

/// Items up to `}` or the end; faulty ones are reported and left out. `open`: the brace before them. Where the indentation
/// of a faulty item shows that the brace should have been closed, that is reported, and the list ends there.
pub(super) fn list<'a, T: Documentable>(
    mut i: Tokens<'a>,
    open: Option<Tokens<'a>>,
    item: impl Fn(Tokens<'a>, &mut Vec<T>) -> Parsed<'a, ()>,
) -> (Tokens<'a>, Vec<T>) {
    let mut items = Vec::new();
    let mut faults = 0;
    while !i.at_end() && !i.is_punct("}") {
        let before = items.len();
        match item(i, &mut items) {
            Ok((rest, ())) => {
                trailing_comments::on_all(rest, items.get_mut(before..).unwrap_or_default());
                i = rest;
            }
            Err(error) => {
                let fault = unwrap(i, error);
                items.truncate(before);
                if let Some(open) = open.filter(|&open| braces::is_outside(open, i)) {
                    let found = describe(i.first());
                    let message = format!("expected `}}`, found {found}");
                    let report = Report::new(i.first().span, message);
                    let brace = open.first().span;
                    i.context
                        .error(report.label(brace, "this brace is never closed"));
                    i.context.implied.set(Some(i.index()));
                    return (i, items);
                }
                let rest = match i.context.implied.get() {
                    // An inner body was not closed, and the text after it does not fit either.
                    Some(implied) if implied == fault.at && implied > i.index() => {
                        (i.index()..implied).fold(i, |i, _| i.advance())
                    }
                    _ => past(i, fault),
                };
                lose(i, rest);
                i = rest;
                faults += 1;
            }
        }
        if faults > MAX_DIAGNOSTICS {
            i.context.scopes_unsure.set(true);
            // No further error would be shown.
            while !i.at_end() {
                i = i.advance();
            }
        }
    }
    (i, items)
}

/// A list in braces. Without an opening brace it fails. A missing closing brace is reported once, at a definition that
/// cannot be in the list or at the end of the file.
pub(super) fn body<'a, T: Documentable>(
    i: Tokens<'a>,
    item: impl Fn(Tokens<'a>, &mut Vec<T>) -> Parsed<'a, ()>,
) -> Parsed<'a, Vec<T>> {
    let from = i;
    let (i, open) = cut(punct("{")).parse(i)?;
    let (i, items) = list(i, Some(from), item);
    if i.context.implied.get() == Some(i.index()) {
        return Ok((i, items));
    }
    if i.at_end() {
        i.context.scopes_unsure.set(true);
        if !i.context.failed.get() {
            let report = Report::new(i.first().span, "expected `}`, found the end of the file");
            let (open, close) = match braces::misplaced(from) {
                Some((open, close)) => (open, Some(close)),
                None => (open, None),
            };
            let report = report.label(open, "this brace is never closed");
            let report = match close {
                Some(close) => report.label(close, "this one stands under another brace"),
                None => report,
            };
            i.context.error(report);
        }
        return Ok((i, items));
    }
    let (i, _) = punct("}")(i)?;
    Ok((i, items))
}

/// Reports `fault` of the item at `i`, and returns where the next item begins.
fn past<'a>(i: Tokens<'a>, fault: Fault) -> Tokens<'a> {
    let at = fault.at;
    let unopened = fault.expected.iter().any(|what| what.contains("`{`"));
    report(i, fault);
    let rest = recover(i, at);
    let mut passed = (0..rest.index() - i.index()).map(|ahead| i.nth(ahead));
    if unopened && !passed.any(|token| matches!(token.kind, Kind::Punct("{"))) {
        i.context.unopened.set(i.context.unopened.get() + 1);
        i.context.scopes_unsure.set(true);
    }
    rest
}

/// Notes the words from `i` to `rest`, which are skipped.
fn lose(i: Tokens<'_>, rest: Tokens<'_>) {
    let mut lost = i.context.lost.borrow_mut();
    for ahead in 0..rest.index() - i.index() {
        if let Kind::Word(word) | Kind::Escaped(word) = &i.nth(ahead).kind {
            lost.insert(word.to_lowercase());
        }
    }
}

fn unwrap(i: Tokens<'_>, error: nom::Err<Fault>) -> Fault {
    match error {
        nom::Err::Error(fault) | nom::Err::Failure(fault) => fault,
        // Not reached: all parsers are the "complete" ones of nom.
        nom::Err::Incomplete(_) => Fault {
            at: i.index(),
            expected: Vec::new(),
            report: None,
        },
    }
}

fn report(i: Tokens<'_>, fault: Fault) {
    let token = i.nth(fault.at.saturating_sub(i.index()));
    // The lexer or `nested` has reported this error.
    if matches!(token.kind, Kind::Bad(_)) || i.context.too_deep.get() {
        return i.context.failed.set(true);
    }
    let found = describe(token);
    let report = match (fault.report, &fault.expected[..]) {
        (Some(report), _) => *report,
        (None, []) => Report::new(token.span, format!("unexpected {found}")),
        (None, [one]) => {
            let what = match is_keyword(one) {
                true => format!("`{one}`"),
                false => (*one).to_owned(),
            };
            let report = Report::new(token.span, format!("expected {what}, found {found}"));
            let before = |steps: usize| fault.at.checked_sub(i.index() + steps);
            let previous = before(1).map(|ahead| i.nth(ahead)).or_else(|| i.previous());
            let introduced = before(2).map(|ahead| i.nth(ahead));
            match hint([introduced, previous], token, one) {
                Some(hint) => report.hint(hint),
                None => report,
            }
        }
        (None, [most @ .., last]) => Report::new(
            token.span,
            format!("expected {} or {last}, found {found}", most.join(", ")),
        ),
    };
    i.context.error(report);
}

/// The position after the item that begins at `i` and is faulty at token `at`: after its `;` or its closing brace, but not
/// past the brace that closes the scope around it.
fn recover(i: Tokens<'_>, at: usize) -> Tokens<'_> {
    let start = i.index();
    let mut i = i;
    let mut depth = 0_usize;
    while !i.at_end() {
        let behind = i.index() >= at;
        match i.first().kind {
            Kind::Punct("{") => depth += 1,
            Kind::Punct("}") if depth == 0 => {
                // At least one token is skipped; `list` does not start an item at a closing brace.
                return if i.index() > start { i } else { i.advance() };
            }
            Kind::Punct("}") => {
                depth -= 1;
                if depth == 0 && behind {
                    let i = i.advance();
                    // `struct { … } name;`
                    let named = i.word().is_some_and(|word| !is_keyword(word))
                        && matches!(i.nth(1).kind, Kind::Punct(";"));
                    let i = if named { i.advance() } else { i };
                    return behind_marks(i);
                }
            }
            Kind::Punct(";") if depth == 0 && behind && !parts_parameters(i) => {
                return behind_marks(i);
            }
            _ => {}
        }
        i = i.advance();
    }
    i.context.scopes_unsure.set(true);
    i
}

/// Whether the `;` at `i` stands in place of a `,` between parameters.
fn parts_parameters(i: Tokens<'_>) -> bool {
    let next = i.advance();
    ["in", "out", "inout"].iter().any(|way| next.is_word(way))
}

/// The position after all adjacent `;` and `)`: superfluous ones are one error, however many. The `)` may end a list that
/// contained one of the `;`.
fn behind_marks(mut i: Tokens<'_>) -> Tokens<'_> {
    while (i.is_punct(";") || i.is_punct(")")) && !i.at_end() {
        i = i.advance();
    }
    i
}
