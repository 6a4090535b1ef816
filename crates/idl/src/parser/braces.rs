//! Finds an unclosed brace by the layout of the text, as the contents of braces are usually indented.

use super::input::Tokens;
use super::mistakes::begins_definition;
use crate::lexer::Kind;
use crate::source::Span;

/// Whether the definition at `i` is outside of the body of the unclosed brace at `open`, by its indentation: it is first on
/// its line, and indented no further than the line of the brace, while the body is.
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

/// The first brace from `open` on whose closing brace is indented less than its own line, and that closing brace. For text
/// in which some brace is not closed.
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
