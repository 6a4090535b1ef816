//! Tokens on their way through macros.

use std::rc::Rc;

use crate::lexer::{Kind, Token};
use crate::source::{SourceMap, Span};

/// A token, and what macros have to know of it.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) doc: Option<Rc<str>>,
    /// Where errors are reported: where the macro is used.
    pub(super) place: Span,
    pub(super) spelling: Spelling,
    /// There is a blank in front of it.
    pub(super) blank: bool,
    /// It named the macro that made it, and stays what it is.
    pub(super) frozen: bool,
}

/// How a token is written.
#[derive(Debug, Clone)]
pub(super) enum Spelling {
    /// As it is there.
    Source(Span),
    /// By `#` or `##`, which is nowhere.
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

    /// Tokens that follow each other in one text.
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

    /// Something else in its place.
    pub(super) fn with(&self, kind: Kind) -> Self {
        Self {
            kind,
            ..self.clone()
        }
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.kind, Kind::Punct(found) if found == mark)
    }

    /// As it is written.
    pub(super) fn spelled<'a>(&'a self, sources: &'a SourceMap) -> &'a str {
        match &self.spelling {
            Spelling::Source(span) => sources.text(*span),
            Spelling::Made(text) => text,
        }
    }

    /// As the name of a macro, if it can be one.
    pub(super) fn macro_name(&self, sources: &SourceMap) -> Option<Rc<str>> {
        match &self.kind {
            Kind::Word(word) => Some(Rc::clone(word)),
            Kind::Escaped(_) | Kind::Bad(_) => underscored(self.spelled(sources)),
            _ => None,
        }
    }
}

/// As [`Piece::macro_name`], of a token as it stands in its file.
pub(super) fn macro_name(token: &Token, sources: &SourceMap) -> Option<Rc<str>> {
    match &token.kind {
        Kind::Word(word) => Some(Rc::clone(word)),
        Kind::Escaped(_) | Kind::Bad(_) => underscored(sources.text(token.span)),
        _ => None,
    }
}

/// `text` if it is a name of C that begins with an underscore, as those of IDL do not.
fn underscored(text: &str) -> Option<Rc<str>> {
    let name =
        text.starts_with('_') && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    name.then(|| text.into())
}
