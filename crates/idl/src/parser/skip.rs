//! What is refused as a whole, and passed over.

use super::annotations::Start;
use super::input::{Parsed, Tokens, head, is_keyword, semicolon};
use crate::ast::{Definition, DefinitionKind, Head};
use crate::lexer::Kind;
use crate::source::Span;

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

/// What `word` begins, in words for a message, if it is something that we do not do.
pub(super) fn unsupported_construct(i: Tokens<'_>, word: &str) -> Option<&'static str> {
    let next = match &i.nth(1).kind {
        Kind::Word(next) => Some(&**next),
        _ => None,
    };
    let named =
        next.is_some_and(|next| !is_keyword(next)) || matches!(i.nth(1).kind, Kind::Escaped(_));
    Some(match (word, next) {
        ("eventtype", _) | ("abstract" | "custom", Some("eventtype")) => "event types",
        ("component", _) if named => "components",
        ("home", _) if named => "homes",
        ("porttype", _) if named => "port types",
        ("connector", _) if named => "connectors",
        ("alias", _) if named => "template modules",
        _ => return None,
    })
}

/// A whole declaration that is not supported: reported at its first word, its name kept so that uses are no errors.
pub(super) fn unsupported<'a>(
    i: Tokens<'a>,
    start: &Start,
    what: &str,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
    let span = i.first().span;
    let mut name = i.advance();
    while name
        .word()
        .is_some_and(|word| is_keyword(word) || word == "eventtype")
    {
        name = name.advance();
    }
    let declared = head(start)(name).ok().map(|(_, head)| head);
    reject(i, span, what, declared, out)
}

pub(super) fn reject<'a>(
    mut i: Tokens<'a>,
    span: Span,
    what: &str,
    head: Option<Head>,
    out: &mut Vec<Definition>,
) -> Parsed<'a, ()> {
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
    semicolon(i)
}
