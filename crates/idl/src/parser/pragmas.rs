//! Pragmas and other definitions without a name of their own.

use std::rc::Rc;

use super::input::{Parsed, Tokens};
use crate::ast::{Definition, DefinitionKind, Head, Ident};
use crate::lexer::Kind;

/// A definition without a name of its own, at `i`.
pub(super) fn nameless(i: Tokens<'_>, kind: DefinitionKind) -> Definition {
    let token = i.first();
    let name = Ident {
        text: Rc::from(""),
        span: token.span,
    };
    let head = Head {
        name,
        doc: None,
        prefix: Rc::clone(&token.prefix),
        annotations: Vec::new(),
    };
    Definition { head, kind }
}

/// A pragma, as a definition among others.
pub(super) fn pragma<'a>(i: Tokens<'a>, out: &mut Vec<Definition>) -> Parsed<'a, ()> {
    if let Kind::Pragma(pragma) = &i.first().kind {
        let kind = DefinitionKind::Pragma {
            pragma: Rc::clone(pragma),
            within: None,
        };
        out.push(nameless(i, kind));
    }
    Ok((i.advance(), ()))
}

/// Moves a pragma among members behind their type, as the tree has no place for it among them.
pub(super) fn inner_pragma(i: Tokens<'_>) -> Option<Tokens<'_>> {
    let mut moved = Vec::new();
    match &i.first().kind {
        Kind::Pragma(_) => {
            let (rest, ()) = pragma(i, &mut moved).ok()?;
            i.context.pragmas.borrow_mut().append(&mut moved);
            Some(rest)
        }
        _ => None,
    }
}

/// Moves pragmas from within the last definition behind it.
pub(super) fn place_pragmas(i: Tokens<'_>, out: &mut Vec<Definition>) {
    let mut pragmas = i.context.pragmas.take();
    if pragmas.is_empty() {
        return;
    }
    let around = out.last().map(|last| last.head.name.clone());
    for definition in &mut pragmas {
        if let DefinitionKind::Pragma { within, .. } = &mut definition.kind {
            within.clone_from(&around);
        }
    }
    out.append(&mut pragmas);
}
