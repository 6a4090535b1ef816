//! Tokens as an input of nom, the error type, and the parsers of single tokens.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::iter::Enumerate;
use std::rc::Rc;
use std::slice::Iter;

use nom::combinator::{cut, opt};
use nom::error::{ErrorKind, ParseError};
use nom::multi::many0;
use nom::sequence::preceded;
use nom::{IResult, Input, Needed, Parser};
use unicase::Ascii;

use super::annotations::Start;
use super::mistakes::modifier;
use super::trailing_comments::Documentable;
use super::type_specs::begins;
use crate::ast::{Definition, Head, Ident, ScopedName};
use crate::diagnostic::{Report, Sink};
use crate::lexer::{Kind, Token};
use crate::limits::MAX_NESTING;
use crate::preprocess::TrailingComments;
use crate::source::{SourceMap, Span};

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
    /// Whether the parser is between the angle brackets of a type, where `>>` closes two of them and is no shift.
    pub(crate) in_angles: Cell<bool>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        sink: &'a Sink,
        trailing_comments: &'a TrailingComments,
        sources: &'a SourceMap,
    ) -> Self {
        Self {
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

/// One punctuation mark, named `what` in messages.
pub(crate) fn punct<'a>(mark: &'static str) -> impl Fn(Tokens<'a>) -> Parsed<'a, Span> {
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
pub(crate) fn keyword<'a>(word: &'static str) -> impl Fn(Tokens<'a>) -> Parsed<'a, Span> {
    move |i| {
        if i.is_word(word) {
            Ok((i.advance(), i.first().span))
        } else {
            expected(i, word)
        }
    }
}

/// The keywords of CORBA 2.0, to which no name may be equal, ignoring case. Later keywords (`component`, `port`, `map`, …)
/// are not reserved, as too many files use them as names.
static KEYWORDS: phf::Set<Ascii<&'static str>> = phf::phf_set! {
    Ascii::new("any"),
    Ascii::new("attribute"),
    Ascii::new("boolean"),
    Ascii::new("case"),
    Ascii::new("char"),
    Ascii::new("const"),
    Ascii::new("context"),
    Ascii::new("default"),
    Ascii::new("double"),
    Ascii::new("enum"),
    Ascii::new("exception"),
    Ascii::new("FALSE"),
    Ascii::new("float"),
    Ascii::new("in"),
    Ascii::new("inout"),
    Ascii::new("interface"),
    Ascii::new("long"),
    Ascii::new("module"),
    Ascii::new("Object"),
    Ascii::new("octet"),
    Ascii::new("oneway"),
    Ascii::new("out"),
    Ascii::new("raises"),
    Ascii::new("readonly"),
    Ascii::new("sequence"),
    Ascii::new("short"),
    Ascii::new("string"),
    Ascii::new("struct"),
    Ascii::new("switch"),
    Ascii::new("TRUE"),
    Ascii::new("typedef"),
    Ascii::new("union"),
    Ascii::new("unsigned"),
    Ascii::new("void"),
};

/// The keywords that CORBA 2.1 to 2.4 added. Older services of the OMG have names such as `Factory` and `ValueType`, so
/// these keywords are reserved in their exact case only.
static EXACT_KEYWORDS: phf::Set<&'static str> = phf::phf_set! {
    "abstract",
    "custom",
    "factory",
    "fixed",
    "local",
    "native",
    "private",
    "public",
    "supports",
    "truncatable",
    "ValueBase",
    "valuetype",
    "wchar",
    "wstring",
};

pub(crate) fn is_keyword(word: &str) -> bool {
    keyword_meant(word).is_some() || EXACT_KEYWORDS.contains(word)
}

/// The keyword that `word` equals, ignoring case.
pub(crate) fn keyword_meant(word: &str) -> Option<&'static str> {
    KEYWORDS.get_key(&Ascii::new(word)).map(|keyword| **keyword)
}

/// An identifier that is not a keyword.
pub(crate) fn ident<'a>(i: Tokens<'a>) -> Parsed<'a, Ident> {
    let token = i.first();
    match &token.kind {
        Kind::Escaped(text) => Ok((
            i.advance(),
            Ident {
                text: Rc::clone(text),
                span: token.span,
            },
        )),
        Kind::Word(text) if is_keyword(text) => {
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
                _ if scoped && begins(text) => format!("the type is `{text}`"),
                "Object" | "ValueBase" if scoped => format!("`{text}` stands alone"),
                _ => format!("the name can be written `_{text}`"),
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

/// The name of a declaration, with the comment and annotations before it.
pub(super) fn head<'a>(start: &Start) -> impl Fn(Tokens<'a>) -> Parsed<'a, Head> {
    move |i| {
        let prefix = Rc::clone(&i.first().prefix);
        let (i, name) = ident(i)?;
        Ok((
            i,
            Head {
                name,
                doc: start.doc.clone(),
                prefix,
                annotations: start.annotations.clone(),
            },
        ))
    }
}

pub(crate) fn scoped_name<'a>(i: Tokens<'a>) -> Parsed<'a, ScopedName> {
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
pub(crate) fn semicolon<'a>(i: Tokens<'a>) -> Parsed<'a, ()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyword_is_found_whatever_its_case_unless_it_is_of_a_later_version() {
        assert_eq!((KEYWORDS.len(), EXACT_KEYWORDS.len()), (34, 14));
        for keyword in KEYWORDS.iter().map(|keyword| **keyword) {
            let cases = [keyword.to_ascii_uppercase(), keyword.to_ascii_lowercase()];
            for word in cases.iter().map(String::as_str).chain([keyword]) {
                assert_eq!(keyword_meant(word), Some(keyword));
                assert!(is_keyword(word));
            }
        }
        for keyword in EXACT_KEYWORDS.iter() {
            assert!(is_keyword(keyword) && !is_keyword(&keyword.to_ascii_uppercase()));
            assert_eq!(keyword_meant(keyword), None);
        }
        for word in ["", "an", "anyy", "component", "\u{17f}hort", "Factory"] {
            assert!(!is_keyword(word), "{word}");
        }
    }
}
