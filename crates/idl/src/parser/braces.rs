//! Which brace is not closed, by the layout of the text: people indent what is within braces.

use super::input::Tokens;
use super::mistakes::begins_definition;
use crate::lexer::Kind;
use crate::source::Span;

/// Whether the definition at `i` stands where it would behind the body that the brace at `open` begins, though that is
/// not closed: first on its line, no further in than the line of the brace, while the body begins further in.
pub(super) fn is_outside(open: Tokens<'_>, i: Tokens<'_>) -> bool {
    let layout = |i: Tokens<'_>| i.context.sources.layout(i.first().span);
    let one_file = open.first().span.file == i.first().span.file;
    if !one_file || !i.word().is_some_and(begins_definition) {
        return false;
    }
    let (brace, inner, here) = (layout(open), layout(open.advance()), layout(i));
    here.first
        && here.line > brace.line
        && here.indent <= brace.indent
        && inner.first
        && inner.indent > brace.indent
}

/// From the brace at `open` to the end, where some brace is not closed: the first one whose closing brace stands further
/// out than its own line, and that closing brace.
pub(super) fn misplaced(open: Tokens<'_>) -> Option<(Span, Span)> {
    let layout = |span: Span| open.context.sources.layout(span);
    let mut opened: Vec<Span> = Vec::new();
    let mut i = open;
    while !i.at_end() {
        let span = i.first().span;
        match i.first().kind {
            Kind::Punct("{") => opened.push(span),
            Kind::Punct("}") => {
                let open = opened.pop()?;
                let (begin, end) = (layout(open), layout(span));
                if open.file == span.file && end.first && end.indent < begin.indent {
                    return Some((open, span));
                }
            }
            _ => {}
        }
        i = i.advance();
    }
    None
}
