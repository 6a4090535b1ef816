//! Tokens as an input of nom, the state beside them, and the error type.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::iter::Enumerate;
use std::slice::Iter;

use nom::error::{ErrorKind, ParseError};
use nom::{IResult, Input, Needed};

use super::keywords::{is_keyword, keyword_meant};
use crate::ast::Definition;
use crate::diagnostic::{Report, Sink};
use crate::lexer::{Kind, Token};
use crate::limits::MAX_NESTING;
use crate::preprocess::TrailingComments;
use crate::source::SourceMap;

/// The state of the parser beside its input.
pub(crate) struct Context<'a> {
    pub(crate) sink: &'a Sink,
    /// Whether an error was found: the rest of the tree may be wrong.
    pub(crate) failed: Cell<bool>,
    depth: Cell<usize>,
    /// Whether nesting was too deep: the scopes of further declarations are unknown, and their errors are not reported.
    pub(crate) too_deep: Cell<bool>,
    /// Whether the scopes of definitions are unknown, because of a missing or superfluous brace.
    pub(crate) scopes_unsure: Cell<bool>,
    /// The token before which a `}` was reported missing.
    pub(crate) implied: Cell<Option<usize>>,
    /// Every word of skipped text, in lower case, as it may be a name declared there.
    pub(crate) lost: RefCell<HashSet<String>>,
    pub(crate) sources: &'a SourceMap,
    /// The number of scopes whose `{` was reported missing. As many `}` are superfluous.
    pub(crate) unopened: Cell<usize>,
    /// Whether the parser is inside of a refused declaration.
    pub(crate) refused_inside: Cell<bool>,
    /// Pragmas from within the type that is being parsed, which move behind it.
    pub(crate) pragmas: RefCell<Vec<Definition>>,
    trailing_comments: &'a TrailingComments,
    /// [`Options::lenient`](crate::Options::lenient).
    lenient: bool,
    /// Whether the parser is between the angle brackets of a type, where `>>` closes two of them and is no shift.
    pub(crate) in_angles: Cell<bool>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        sink: &'a Sink,
        trailing_comments: &'a TrailingComments,
        sources: &'a SourceMap,
        lenient: bool,
    ) -> Self {
        Self {
            lenient,
            sink,
            trailing_comments,
            sources,
            scopes_unsure: Cell::new(false),
            implied: Cell::new(None),
            lost: RefCell::default(),
            failed: Cell::new(false),
            depth: Cell::new(0),
            too_deep: Cell::new(false),
            unopened: Cell::new(0),
            refused_inside: Cell::new(false),
            pragmas: RefCell::default(),
            in_angles: Cell::new(false),
        }
    }

    /// Whether `word` is a keyword and cannot be a name. `named`: where only a name can stand, which may be lenient.
    pub(crate) fn reserves(&self, word: &str, named: bool) -> bool {
        match self.lenient {
            true => !named && is_keyword(word) && keyword_meant(word).is_none_or(|it| it == word),
            false => is_keyword(word),
        }
    }

    pub(crate) fn error(&self, report: Report) {
        self.failed.set(true);
        self.sink.report(report);
    }
}

/// A position in the stream; cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct Tokens<'a> {
    /// All tokens; the last is [`Kind::End`].
    all: &'a [Token],
    at: usize,
    /// One past the last token that may be consumed; the end token is not consumed.
    end: usize,
    pub(crate) context: &'a Context<'a>,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(all: &'a [Token], context: &'a Context<'a>) -> Self {
        Self {
            all,
            at: 0,
            end: all.len().saturating_sub(1),
            context,
        }
    }

    /// The next token; the end token if there is no other.
    pub(crate) fn first(&self) -> &'a Token {
        &self.all[self.at]
    }

    pub(crate) fn nth(&self, ahead: usize) -> &'a Token {
        &self.all[(self.at + ahead).min(self.all.len() - 1)]
    }

    pub(crate) fn previous(&self) -> Option<&'a Token> {
        self.at.checked_sub(1).and_then(|at| self.all.get(at))
    }

    /// The trailing comment after the previous token.
    pub(super) fn trailing_comment(&self) -> Option<&'a str> {
        if self.context.trailing_comments.is_empty() {
            return None;
        }
        let at = self.at.checked_sub(1)?;
        self.context.trailing_comments.get(&at).map(String::as_str)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.at >= self.end
    }

    pub(crate) fn index(&self) -> usize {
        self.at
    }

    /// The position after the next token; the same position at the end.
    pub(crate) fn advance(self) -> Self {
        Self {
            at: (self.at + 1).min(self.end),
            ..self
        }
    }

    pub(crate) fn is_punct(&self, punct: &str) -> bool {
        matches!(self.first().kind, Kind::Punct(found) if found == punct)
    }

    pub(crate) fn word(&self) -> Option<&'a str> {
        match &self.first().kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }
}

impl<'a> Input for Tokens<'a> {
    type Item = &'a Token;
    type Iter = Iter<'a, Token>;
    type IterIndices = Enumerate<Iter<'a, Token>>;

    fn input_len(&self) -> usize {
        self.end - self.at
    }

    fn take(&self, index: usize) -> Self {
        Self {
            end: self.at + index,
            ..*self
        }
    }

    fn take_from(&self, index: usize) -> Self {
        Self {
            at: self.at + index,
            ..*self
        }
    }

    fn take_split(&self, index: usize) -> (Self, Self) {
        (self.take_from(index), self.take(index))
    }

    fn position<P: Fn(Self::Item) -> bool>(&self, predicate: P) -> Option<usize> {
        self.iter_elements().position(predicate)
    }

    fn iter_elements(&self) -> Self::Iter {
        self.all[self.at..self.end].iter()
    }

    fn iter_indices(&self) -> Self::IterIndices {
        self.iter_elements().enumerate()
    }

    fn slice_index(&self, count: usize) -> Result<usize, Needed> {
        if self.input_len() >= count {
            Ok(count)
        } else {
            Err(Needed::new(count - self.input_len()))
        }
    }
}

/// Why a parser failed: the furthest token that did not fit, and the expected ones.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) expected: Vec<&'static str>,
    /// The report that replaces the list of expected tokens.
    pub(crate) report: Option<Box<Report>>,
}

impl<'a> ParseError<Tokens<'a>> for Fault {
    fn from_error_kind(input: Tokens<'a>, _: ErrorKind) -> Self {
        Self {
            at: input.index(),
            expected: Vec::new(),
            report: None,
        }
    }

    fn append(_: Tokens<'a>, _: ErrorKind, other: Self) -> Self {
        other
    }

    fn or(mut self, other: Self) -> Self {
        if self.at == other.at {
            for expected in other.expected {
                if !self.expected.contains(&expected) {
                    self.expected.push(expected);
                }
            }
            self.report = self.report.or(other.report);
            self
        } else if self.at > other.at {
            self
        } else {
            other
        }
    }
}

pub(crate) type Parsed<'a, T> = IResult<Tokens<'a>, T, Fault>;

/// Fails recoverably: another alternative may fit.
pub(crate) fn expected<'a, T>(i: Tokens<'a>, what: &'static str) -> Parsed<'a, T> {
    Err(nom::Err::Error(Fault {
        at: i.index(),
        expected: vec![what],
        report: None,
    }))
}

/// Fails for good: no alternative can fit.
pub(crate) fn refused<'a, T>(i: Tokens<'a>, report: Report) -> Parsed<'a, T> {
    Err(nom::Err::Failure(Fault {
        at: i.index(),
        expected: Vec::new(),
        report: Some(Box::new(report)),
    }))
}

/// Runs `parser` one level deeper, unless the limit on nesting is reached.
pub(crate) fn nested<'a, T>(
    i: Tokens<'a>,
    parser: impl FnOnce(Tokens<'a>) -> Parsed<'a, T>,
) -> Parsed<'a, T> {
    let depth = &i.context.depth;
    if depth.get() >= MAX_NESTING {
        let report = Report::new(
            i.first().span,
            format!("nested more than {MAX_NESTING} levels deep"),
        );
        if !i.context.too_deep.replace(true) {
            i.context.error(report.clone());
        }
        return refused(i, report);
    }
    depth.set(depth.get() + 1);
    let result = parser(i);
    depth.set(depth.get() - 1);
    result
}

/// A token as a message names it.
pub(crate) fn describe(token: &Token) -> String {
    match &token.kind {
        Kind::Word(word) => format!("`{word}`"),
        Kind::Escaped(word) => format!("`_{word}`"),
        Kind::Punct(mark) => format!("`{mark}`"),
        Kind::Integer(_) | Kind::Float(_) | Kind::Fixed(_) => "a number".into(),
        Kind::Char(_) => "a character literal".into(),
        Kind::WideChar(_) => "a wide character literal".into(),
        Kind::Str(_) => "a string literal".into(),
        Kind::WideStr(_) => "a wide string literal".into(),
        Kind::Pragma(_) | Kind::Directive => "a directive".into(),
        Kind::TrailingComment(_) => "a comment".into(),
        Kind::Bad(_) => "something else".into(),
        Kind::End => "the end of the file".into(),
    }
}
