//! Trailing comments: comments after the declaration that they document, as in `long x; ///< how far`.

use std::rc::Rc;

use super::input::Tokens;
use crate::ast::{
    BitfieldDcl, Definition, DefinitionKind, Expr, Head, MemberDcl, ParamDcl, ScopedName,
    StringLiteral, SwitchCase,
};

/// A syntax node that a trailing comment may document.
pub(super) trait Documentable {
    /// The heads that hold its documentation.
    fn heads(&mut self) -> Vec<&mut Head>;

    /// Adds the trailing comment on the token before `i`, which is the last one of this node or the comma after it.
    fn add_trailing_comment(&mut self, i: Tokens<'_>) {
        if let Some(text) = i.trailing_comment() {
            self.heads().into_iter().for_each(|head| add(head, text));
        }
    }
}

/// Adds the trailing comment on the `;` before `i` to the names of the statement that it ends: to all, unless some have
/// their own.
pub(super) fn on_all<T: Documentable>(i: Tokens<'_>, items: &mut [T]) {
    let Some(text) = i.trailing_comment() else {
        return;
    };
    let mut heads: Vec<&mut Head> = items.iter_mut().flat_map(Documentable::heads).collect();
    // Pragmas and similar definitions declare no name.
    heads.retain(|head| !head.name.text.is_empty());
    let Some(last) = heads
        .last()
        .map(|last| (last.doc.clone(), Rc::clone(&last.name.text)))
    else {
        return;
    };
    let same = heads.iter().all(|head| head.doc == last.0);
    heads.retain(|head| same || head.name.text == last.1);
    heads.into_iter().for_each(|head| add(head, text));
}

fn add(head: &mut Head, text: &str) {
    let doc = match &head.doc {
        Some(before) => format!("{before}\n\n{text}").into(),
        None => text.into(),
    };
    head.doc = Some(doc);
}

impl Documentable for Head {
    fn heads(&mut self) -> Vec<&mut Head> {
        vec![self]
    }
}

impl Documentable for (Head, Vec<Expr>) {
    fn heads(&mut self) -> Vec<&mut Head> {
        vec![&mut self.0]
    }
}

impl Documentable for Definition {
    fn heads(&mut self) -> Vec<&mut Head> {
        match &mut self.kind {
            DefinitionKind::State { member, .. } => vec![&mut self.head, &mut member.head],
            _ => vec![&mut self.head],
        }
    }
}

impl Documentable for MemberDcl {
    fn heads(&mut self) -> Vec<&mut Head> {
        vec![&mut self.head]
    }
}

impl Documentable for SwitchCase {
    fn heads(&mut self) -> Vec<&mut Head> {
        vec![&mut self.member.head]
    }
}

impl Documentable for BitfieldDcl {
    fn heads(&mut self) -> Vec<&mut Head> {
        self.head.iter_mut().collect()
    }
}

impl Documentable for ParamDcl {
    fn heads(&mut self) -> Vec<&mut Head> {
        vec![&mut self.head]
    }
}

impl Documentable for ScopedName {
    fn heads(&mut self) -> Vec<&mut Head> {
        Vec::new()
    }
}

impl Documentable for StringLiteral {
    fn heads(&mut self) -> Vec<&mut Head> {
        Vec::new()
    }
}

/// Parsed and discarded declarations.
impl Documentable for () {
    fn heads(&mut self) -> Vec<&mut Head> {
        Vec::new()
    }
}
