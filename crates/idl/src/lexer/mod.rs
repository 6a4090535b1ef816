//! The lexer: text to tokens, one at a time. A comment becomes the documentation of the token after it, or a trailing
//! comment on the token before it. A preprocessor directive is one token with all of its logical line. Line splices are
//! gone already.

mod literals;
mod malformed;

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use crate::limits::MAX_NAME_CHARS;
use crate::source::{FileId, Span};
use literals::{narrow_literal, number, wide_literal};

/// The kind of a token. Keywords are identifiers here: the parser knows the reserved words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A word as written.
    Word(Rc<str>),
    /// An escaped identifier, without its leading underscore, which makes it no keyword.
    Escaped(Rc<str>),
    Integer(u64),
    /// A floating-point literal as written: its value depends on the type of its use.
    Float(Rc<str>),
    /// A fixed-point literal, as written without its suffix.
    Fixed(Rc<str>),
    Char(char),
    /// A code point, or a single surrogate, which is a wide character as well.
    WideChar(u32),
    Str(Rc<str>),
    WideStr(Rc<str>),
    /// A punctuation mark. `!`, `?` and `.` are for the preprocessor only.
    Punct(&'static str),
    /// A preprocessor directive: `#` first on its line, and the rest of the logical line.
    Directive,
    /// `#pragma ID name "text"` or `#pragma version name 1.2`, whose name is looked up in the scope of the pragma.
    Pragma(Rc<IdPragma>),
    /// A comment on the declaration before it: `///< text`. The preprocessor attaches it there.
    TrailingComment(Rc<str>),
    /// The message for text that is not a token. It is reported only where `#ifdef` does not skip the text.
    Bad(Rc<str>),
    /// The end of the input; only the preprocessor makes it.
    End,
}

/// A pragma that sets a repository id.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IdPragma {
    /// Parts of the scoped name.
    pub(crate) name: Vec<String>,
    /// Whether the name has a leading `::`.
    pub(crate) global: bool,
    pub(crate) set: IdSetting,
}

/// The setting of an [`IdPragma`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum IdSetting {
    Id(String),
    Version(u16, u16),
}

/// The prefix that `#pragma prefix` has put in force at a token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Prefix {
    pub(crate) text: String,
    /// The number of scopes open at the pragma, whose names the prefix replaces.
    pub(crate) depth: usize,
}

/// One token, with its place, its documentation, and the prefix in force.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// The comment lines that end on the line before it.
    pub(crate) doc: Option<Rc<str>>,
    /// The `#pragma prefix` in force, which the preprocessor sets.
    pub(crate) prefix: Rc<Prefix>,
}

/// The words of a compilation, each allocated once.
#[derive(Debug, Default)]
pub(crate) struct Words(HashSet<Rc<str>>);

impl Words {
    pub(crate) fn get(&mut self, word: &str) -> Rc<str> {
        if let Some(known) = self.0.get(word) {
            return Rc::clone(known);
        }
        let new: Rc<str> = word.into();
        self.0.insert(Rc::clone(&new));
        new
    }
}

/// All tokens of `text[range]`, a part of `file`. Never fails: text that is not a token becomes [`Kind::Bad`].
pub(crate) fn lex(
    file: FileId,
    text: &Rc<str>,
    range: Range<usize>,
    words: &mut Words,
) -> Vec<Token> {
    let mut lexer = Lexer::new(file, Rc::clone(text), range);
    let tokens = std::iter::from_fn(|| lexer.next(words));
    tokens
        .filter(|token| !matches!(token.kind, Kind::TrailingComment(_)))
        .collect()
}

/// Comment lines gathered so far.
#[derive(Default)]
struct Comment {
    text: String,
    /// The line on which the last comment ends.
    end: usize,
}

/// The state of the lexer: its place in a text, and the comments gathered before it.
pub(crate) struct Lexer {
    file: FileId,
    text: Rc<str>,
    at: usize,
    end: usize,
    line: usize,
    /// Whether the line has no token yet.
    line_is_blank: bool,
    doc: Comment,
    no_prefix: Rc<Prefix>,
}

impl Lexer {
    pub(crate) fn new(file: FileId, text: Rc<str>, range: Range<usize>) -> Self {
        Self {
            file,
            text,
            at: range.start,
            end: range.end,
            line: 0,
            line_is_blank: true,
            doc: Comment::default(),
            no_prefix: Rc::default(),
        }
    }

    /// The next token, if there is one.
    pub(crate) fn next(&mut self, words: &mut Words) -> Option<Token> {
        let text = Rc::clone(&self.text);
        loop {
            let rest = &text[self.at..self.end];
            let first = *rest.as_bytes().first()?;
            match first {
                b'\n' => self.line_end(),
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if rest.starts_with("//") || rest.starts_with("/*") => {
                    let Some(length) = comment_length(rest) else {
                        let kind = Kind::Bad("this comment is never closed".into());
                        return Some(self.token(rest, rest.len(), kind));
                    };
                    let comment = &rest[..length];
                    if let Some(text) = trailing_comment(comment) {
                        let span = Span::new(self.file, self.at, self.at + length);
                        self.line += lines_in(comment);
                        self.at += length;
                        return Some(self.made(Kind::TrailingComment(text), span, None));
                    }
                    self.comment(comment);
                }
                b'#' if self.line_is_blank => {
                    return Some(self.token(rest, directive_length(rest), Kind::Directive));
                }
                // A byte order mark, which may stand anywhere in concatenated files.
                0xef if rest.starts_with('\u{feff}') => self.at += '\u{feff}'.len_utf8(),
                _ => {
                    let (kind, length) = scan(rest, first, words);
                    return Some(self.token(rest, length, kind));
                }
            }
        }
    }

    /// The next directive. The text before it is scanned for comments and strings only, as text that `#if` skips need not be
    /// IDL; its doc comments are dropped.
    pub(crate) fn next_directive(&mut self) -> Option<Token> {
        let text = Rc::clone(&self.text);
        self.doc.text.clear();
        loop {
            let rest = &text[self.at..self.end];
            let octets = rest.as_bytes();
            let first = *octets.first()?;
            match first {
                b'\n' => self.line_end(),
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'#' if self.line_is_blank => {
                    return Some(self.token(rest, directive_length(rest), Kind::Directive));
                }
                b'/' if rest.starts_with("//") || rest.starts_with("/*") => {
                    let length = comment_length(rest).unwrap_or(rest.len());
                    self.line += lines_in(&rest[..length]);
                    self.at += length;
                }
                // An apostrophe does not open a literal here: skipped text may be prose.
                b'"' => {
                    self.line_is_blank = false;
                    self.at += closed_quote(rest).unwrap_or(1);
                }
                _ => {
                    self.line_is_blank = false;
                    let special = |octet: &u8| matches!(octet, b'\n' | b'/' | b'"');
                    let plain = octets[1..].iter().position(special);
                    self.at += plain.map_or(octets.len(), |at| at + 1);
                }
            }
        }
    }

    fn line_end(&mut self) {
        self.line += 1;
        self.line_is_blank = true;
        self.at += 1;
    }

    /// Takes `comment` as documentation if it stands alone on its lines.
    fn comment(&mut self, comment: &str) {
        let begin = self.line;
        self.line += lines_in(comment);
        self.at += comment.len();
        if !self.line_is_blank {
            return;
        }
        let follows = !self.doc.text.is_empty() && self.doc.end + 1 == begin;
        if !follows {
            self.doc.text.clear();
        }
        for line in comment_lines(comment) {
            self.doc.text.push_str(line);
            self.doc.text.push('\n');
        }
        self.doc.end = self.line;
    }

    fn token(&mut self, rest: &str, length: usize, kind: Kind) -> Token {
        let span = Span::new(self.file, self.at, self.at + length);
        let mut doc = None;
        if !self.doc.text.is_empty() {
            let near = self.doc.end + 1 >= self.line && kind != Kind::Directive;
            let text = self.doc.text.trim();
            doc = (near && !text.is_empty()).then(|| Rc::from(text));
            self.doc.text.clear();
        }
        // Words and marks, nearly all tokens, contain no line ends.
        if matches!(kind, Kind::Directive | Kind::Bad(_)) {
            self.line += lines_in(&rest[..length]);
        }
        self.line_is_blank = false;
        self.at += length;
        self.made(kind, span, doc)
    }

    fn made(&self, kind: Kind, span: Span, doc: Option<Rc<str>>) -> Token {
        Token {
            kind,
            span,
            doc,
            prefix: Rc::clone(&self.no_prefix),
        }
    }
}

fn lines_in(text: &str) -> usize {
    text.bytes().filter(|octet| *octet == b'\n').count()
}

/// The text of a comment without its marks, line by line; with the blanks in front, which matter in blocks of code.
fn comment_lines(comment: &str) -> impl Iterator<Item = &str> {
    let body = match comment.strip_prefix("/*") {
        Some(body) => body
            .strip_suffix("*/")
            .unwrap_or(body)
            .trim_start_matches(['*', '!']),
        None => comment.trim_start_matches('/').trim_start_matches('!'),
    };
    body.lines().map(|line| {
        let line = line.trim_end();
        match line.trim_start().strip_prefix('*') {
            Some(text) => text.trim_start_matches('*'),
            None => line,
        }
    })
}

/// The text of a Doxygen comment on the declaration before it.
fn trailing_comment(comment: &str) -> Option<Rc<str>> {
    let marks = ["///<", "//!<", "/**<", "/*!<"];
    if !marks.iter().any(|mark| comment.starts_with(mark)) {
        return None;
    }
    let mut text = String::new();
    for line in comment_lines(comment) {
        text.push_str(line);
        text.push('\n');
    }
    let text = text.strip_prefix('<').unwrap_or(&text);
    Some(text.trim().into())
}

/// The length of the comment at the start of `rest`, in octets; `None` if it is not closed.
fn comment_length(rest: &str) -> Option<usize> {
    match rest.strip_prefix("/*") {
        Some(body) => body.find("*/").map(|at| at + 4),
        None => Some(rest.find('\n').unwrap_or(rest.len())),
    }
}

/// The length of the directive at the start of `rest`, in octets: to the end of its line, through block comments.
fn directive_length(rest: &str) -> usize {
    let octets = rest.as_bytes();
    let mut at = 0;
    while let Some(octet) = octets.get(at) {
        at += match octet {
            b'\n' => return at,
            b'/' if rest[at..].starts_with("/*") => {
                comment_length(&rest[at..]).unwrap_or(rest.len() - at)
            }
            b'/' if rest[at..].starts_with("//") => {
                return at + comment_length(&rest[at..]).unwrap_or_default();
            }
            b'"' | b'\'' => closed_quote(&rest[at..]).unwrap_or(1),
            _ => 1,
        };
    }
    at
}

/// The length of the literal at the start of `rest`, in octets, with both quotes; `None` if its line ends before it does.
fn closed_quote(rest: &str) -> Option<usize> {
    let octets = rest.as_bytes();
    let quote = octets.first()?;
    let mut at = 1;
    loop {
        match octets.get(at)? {
            b'\n' => return None,
            b'\\' => at += 2,
            octet if octet == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The token at the start of `rest`, and its length in octets.
fn scan(rest: &str, first: u8, words: &mut Words) -> (Kind, usize) {
    let second = rest.as_bytes().get(1).copied().unwrap_or_default();
    let parsed = match (first, second) {
        (b'L', b'"' | b'\'') => wide_literal(rest),
        (b'"' | b'\'', _) => narrow_literal(rest),
        (b'0'..=b'9', _) | (b'.', b'0'..=b'9') => number(rest),
        (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => return word(rest, words),
        _ => {
            if let Some(mark) = PUNCTS.iter().find(|mark| rest.starts_with(**mark)) {
                return (Kind::Punct(mark), mark.len());
            }
            return bad(rest);
        }
    };
    match parsed {
        Ok((left, kind)) => (kind, rest.len() - left.len()),
        Err(_) => bad(rest),
    }
}

/// Angle brackets stay single, so that `sequence<sequence<long>>` needs no blank; the parser joins the shift operators.
const PUNCTS: [&str; 27] = [
    ";", ",", "::", "{", "}", "(", ")", "<", ">", ":", "=", "[", "]", "+", "-", "|", "^", "&", "*",
    "/", "%", "~", "@", "#", "!", "?", ".",
];

fn word(rest: &str, words: &mut Words) -> (Kind, usize) {
    let part = |octet: &u8| octet.is_ascii_alphanumeric() || *octet == b'_';
    let octets = rest.as_bytes();
    let mut length = octets
        .iter()
        .position(|octet| !part(octet))
        .unwrap_or(octets.len());
    // A word with letters that IDL does not permit is one error, not one for each letter.
    if octets.get(length).is_some_and(|octet| !octet.is_ascii()) {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let end = end.unwrap_or(rest.len());
        if end > length {
            return (no_name(&rest[..end]), end);
        }
        length = end;
    }
    let text = &rest[..length];
    if length > MAX_NAME_CHARS {
        let message = format!("this name is longer than {MAX_NAME_CHARS} characters");
        return (Kind::Bad(message.into()), length);
    }
    let kind = match text.strip_prefix('_') {
        None => Kind::Word(words.get(text)),
        Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Kind::Escaped(words.get(name))
        }
        // Still valid as the name of a macro.
        Some(_) => {
            let message = format!("`{text}` is no name: behind one `_` comes a letter");
            Kind::Bad(message.into())
        }
    };
    (kind, length)
}

fn no_name(text: &str) -> Kind {
    let text = shown(text);
    let message = format!("`{text}` is no name: those have letters from A to Z, digits and `_`");
    Kind::Bad(message.into())
}

/// Text as a message quotes it: its first 40 characters.
fn shown(text: &str) -> String {
    let mut start: String = text.chars().take(40).collect();
    if start.len() < text.len() {
        start.push('\u{2026}');
    }
    start
}

/// The message for text that is not a token, and the number of octets to skip.
fn bad(rest: &str) -> (Kind, usize) {
    let wide = usize::from(rest.starts_with("L\"") || rest.starts_with("L'"));
    let quoted = &rest[wide..];
    if quoted.starts_with(['"', '\'']) {
        let line_end = || quoted.find('\n').unwrap_or(quoted.len());
        let length = wide + closed_quote(quoted).unwrap_or_else(line_end);
        let message = malformed::quoted(&rest[wide..length], wide > 0);
        return (Kind::Bad(message.into()), length);
    }
    let first = rest.chars().next().unwrap_or_default();
    if first.is_ascii_digit() || first == '.' {
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_')
            .unwrap_or(rest.len());
        return (Kind::Bad(bad_number(&rest[..length]).into()), length);
    }
    // An identifier with this beginning, as in `word`.
    if first.is_alphabetic() {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let length = end.unwrap_or(rest.len());
        return (no_name(&rest[..length]), length);
    }
    if let Some(quote) = quote_meant(first) {
        let behind = &rest[first.len_utf8()..];
        let line = &behind[..behind.find('\n').unwrap_or(behind.len())];
        let closed = line.find(|c| quote_meant(c) == Some(quote));
        let last = |at: usize| line[at..].chars().next().map_or(0, char::len_utf8);
        let length = first.len_utf8() + closed.map_or(0, |at| at + last(at));
        let message = format!("`{first}` is no quote of IDL: those are plain, `{quote}`");
        return (Kind::Bad(message.into()), length);
    }
    let message = format!("unexpected character `{}`", first.escape_debug());
    (Kind::Bad(message.into()), first.len_utf8())
}

/// The quote that a word processor may have replaced by `found`.
fn quote_meant(found: char) -> Option<char> {
    match found {
        '\u{201c}'..='\u{201f}' => Some('"'),
        '\u{2018}'..='\u{201b}' => Some('\''),
        _ => None,
    }
}

fn bad_number(text: &str) -> String {
    let number = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let quoted = shown(text);
    if number.len() < text.len() && number.bytes().all(|octet| octet.is_ascii_digit()) {
        return format!(
            "`{quoted}` is no number: IDL has no such suffix, write `{}`",
            shown(number)
        );
    }
    malformed::number(text, &quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).into_iter().map(|token| token.kind).collect()
    }

    fn tokens(text: &str) -> Vec<Token> {
        let range = 0..text.len();
        lex(
            FileId::default(),
            &text.into(),
            range,
            &mut Words::default(),
        )
    }

    #[test]
    fn numbers_keep_their_bases() {
        assert_eq!(kinds("10 012 0xfF 0"), [10, 10, 255, 0].map(Kind::Integer));
        assert_eq!(kinds("1.5 .5 2. 1e3 3.5d 4D"), {
            let reals = ["1.5", ".5", "2.", "1e3"];
            let mut expected = reals.map(|text| Kind::Float(text.into())).to_vec();
            expected.extend(["3.5", "4"].map(|text| Kind::Fixed(text.into())));
            expected
        });
    }

    #[test]
    fn broken_numbers_are_one_bad_token() {
        for text in ["089", "12abc", "0x", "99999999999999999999", "1e9999"] {
            assert!(
                matches!(&kinds(text)[..], [Kind::Bad(_)]),
                "{text}: {:?}",
                kinds(text)
            );
        }
    }

    #[test]
    fn literals_know_their_escapes() {
        assert_eq!(
            kinds(r"'a' '\n' '\377' '\x41'"),
            ['a', '\n', '\u{ff}', 'A'].map(Kind::Char)
        );
        assert_eq!(
            kinds(r#""a\"b" L"\u20ac" L'x'"#),
            [
                Kind::Str("a\"b".into()),
                Kind::WideStr("\u{20ac}".into()),
                Kind::WideChar('x'.into())
            ]
        );
        assert!(matches!(&kinds("'\\777'")[..], [Kind::Bad(_)]));
        assert!(matches!(
            &kinds("\"open\n;")[..],
            [Kind::Bad(_), Kind::Punct(";")]
        ));
    }

    #[test]
    fn a_comment_documents_the_token_below_it_and_no_other() {
        let text = "// licence\n\n/** Says\n * hello. */\nmodule // trailing\nM; // x\n";
        let tokens = tokens(text);
        assert_eq!(tokens[0].doc.as_deref(), Some("Says\n hello."));
        assert!(tokens[1..].iter().all(|token| token.doc.is_none()));
    }

    #[test]
    fn a_comment_with_an_arrow_is_about_what_is_before_it() {
        for text in [
            "///< text",
            "//!<text",
            "/**< text */",
            "/*!<text*/",
            "/**<\n * text\n */",
        ] {
            let text = format!("/// not that\n{text}\nx");
            let tokens = {
                let mut lexer = Lexer::new(FileId::default(), text.as_str().into(), 0..text.len());
                let mut words = Words::default();
                std::iter::from_fn(|| lexer.next(&mut words)).collect::<Vec<_>>()
            };
            assert_eq!(
                tokens[0].kind,
                Kind::TrailingComment("text".into()),
                "{text}"
            );
        }
        let comments = "/** a */ x //! b\n/*! c */ y // < d";
        assert!(
            kinds(comments)
                .iter()
                .all(|kind| matches!(kind, Kind::Word(_)))
        );
        for (text, doc) in [
            ("//! Says.\nx", "Says."),
            ("/*! Says.\n  * More. */\nx", "Says.\n More."),
        ] {
            assert_eq!(tokens(text)[0].doc.as_deref(), Some(doc));
        }
    }

    #[test]
    fn a_directive_is_one_token_to_the_end_of_its_logical_line() {
        let text = "a\n  #define x y /* z\n */ \"/*\" w\nb # c";
        let tokens = tokens(text);
        assert_eq!(tokens[1].kind, Kind::Directive);
        assert_eq!(tokens[2].kind, Kind::Word("b".into()));
        assert_eq!(tokens[3].kind, Kind::Punct("#"));
    }

    #[test]
    fn what_is_no_token_is_one_bad_token() {
        for (text, message) in [
            ("gr\u{f6}\u{df}e", "is no name"),
            ("\u{f6}rtlich", "`\u{f6}rtlich` is no name"),
            (&"9".repeat(1_000), "64 bits"),
            ("__x", "behind one `_` comes a letter"),
            ("_", "behind one `_` comes a letter"),
            ("10UL", "write `10`"),
            ("0190", "octal"),
            ("\"open", "never closed"),
            ("\"\\q\"", "no escape"),
            ("'ab'", "one character"),
            ("\u{201c}abc; d\u{201d}", "no quote of IDL"),
            ("\u{2018}a\u{2019}", "plain, `'`"),
            ("''", "empty"),
            ("'a", "never closed"),
            ("$", "unexpected character `$`"),
            ("/* x", "never closed"),
            (&"x".repeat(MAX_NAME_CHARS + 1), "longer than"),
        ] {
            match &kinds(text)[..] {
                [Kind::Bad(said)] => assert!(said.contains(message), "{text}: {said}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn directives_are_found_in_what_is_no_idl() {
        let text: Rc<str> = "don't /*\n#a\n*/ \"/*\" x\n // #b\n #c\nd".into();
        let mut lexer = Lexer::new(FileId::default(), Rc::clone(&text), 0..text.len());
        let found = lexer.next_directive().unwrap();
        let range = found.span.start as usize..found.span.end as usize;
        assert_eq!(&text[range], "#c");
        assert!(lexer.next_directive().is_none());
    }
}
