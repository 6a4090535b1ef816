//! Pieces: tokens during macro expansion.

use std::rc::Rc;

use crate::lexer::{Kind, Token};
use crate::source::{SourceMap, Span};

/// A token with the data that macro expansion needs.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) doc: Option<Rc<str>>,
    /// The place at which errors are reported: the use of the macro.
    pub(super) place: Span,
    pub(super) spelling: Spelling,
    /// Whether a blank precedes it.
    pub(super) blank: bool,
    /// Whether it names the macro that made it, so that it is not expanded again.
    pub(super) frozen: bool,
}

/// The spelling of a token.
#[derive(Debug, Clone)]
pub(super) enum Spelling {
    /// The text at this place.
    Source(Span),
    /// Text that `#` or `##` has made, which is in no file.
    Made(Rc<str>),
}

impl Piece {
    pub(super) fn of(token: Token, blank: bool) -> Self {
        Self {
            kind: token.kind,
            doc: token.doc,
            place: token.span,
            spelling: Spelling::Source(token.span),
            blank,
            frozen: false,
        }
    }

    /// The pieces of tokens that follow each other in one text.
    pub(super) fn row(tokens: Vec<Token>) -> Vec<Self> {
        let mut end = None;
        let pieces = tokens.into_iter().map(|token| {
            let blank = end.is_some_and(|end| end != token.span.start);
            end = Some(token.span.end);
            Self::of(token, blank)
        });
        pieces.collect()
    }

    pub(super) fn token(self, prefix: &Rc<crate::lexer::Prefix>) -> Token {
        Token {
            kind: self.kind,
            span: self.place,
            doc: self.doc,
            prefix: Rc::clone(prefix),
        }
    }

    /// The piece with another kind.
    pub(super) fn with(&self, kind: Kind) -> Self {
        Self {
            kind,
            ..self.clone()
        }
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.kind, Kind::Punct(found) if found == mark)
    }

    /// The spelling of the piece.
    pub(super) fn spelled<'a>(&'a self, sources: &'a SourceMap) -> &'a str {
        match &self.spelling {
            Spelling::Source(span) => sources.text(*span),
            Spelling::Made(text) => text,
        }
    }

    /// The piece as the name of a macro, if it can be one.
    pub(super) fn macro_name(&self, sources: &SourceMap) -> Option<Rc<str>> {
        match &self.kind {
            Kind::Word(word) => Some(Rc::clone(word)),
            Kind::Escaped(_) | Kind::Bad(_) => underscored(self.spelled(sources)),
            _ => None,
        }
    }
}

/// A token of a file as the name of a macro, if it can be one.
pub(super) fn macro_name(token: &Token, sources: &SourceMap) -> Option<Rc<str>> {
    match &token.kind {
        Kind::Word(word) => Some(Rc::clone(word)),
        Kind::Escaped(_) | Kind::Bad(_) => underscored(sources.text(token.span)),
        _ => None,
    }
}

/// `text` if it is an identifier of C that begins with an underscore, which IDL does not permit.
fn underscored(text: &str) -> Option<Rc<str>> {
    let name =
        text.starts_with('_') && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    name.then(|| text.into())
}
