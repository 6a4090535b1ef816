//! Text to tokens, by nom. Comments become the documentation of the token behind them; a preprocessor directive is one
//! token with all of its logical line.

use std::rc::Rc;

use nom::branch::alt;
use nom::bytes::complete::{is_not, tag, take_while, take_while_m_n};
use nom::character::complete::{char, digit0, digit1, none_of, one_of, satisfy};
use nom::combinator::{map, opt, recognize, value};
use nom::multi::fold_many0;
use nom::sequence::{delimited, pair, preceded};
use nom::{IResult, Parser};

use crate::source::{FileId, Span};

/// What a token is. Keywords are identifiers here: which words are reserved is the parser's knowledge.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A word as written.
    Word(Rc<str>),
    /// A word behind a leading underscore, which is not part of it and switches keywords off.
    Escaped(Rc<str>),
    Integer(u64),
    Float(f64),
    /// A fixed-point literal, as written without its suffix.
    Fixed(Rc<str>),
    Char(char),
    WideChar(char),
    Str(Rc<str>),
    WideStr(Rc<str>),
    Punct(&'static str),
    /// `#` first on its line, and the rest of the logical line.
    Directive,
    /// `#pragma ID name "text"` and `#pragma version name 1.2`, which mean a name in the scope they stand in.
    Pragma(Rc<IdPragma>),
    /// What is no token; the message. An error only where it is not skipped by `#ifdef`.
    Bad(Rc<str>),
    /// The end of everything; only the preprocessor makes it.
    End,
}

/// A pragma that sets a repository id.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IdPragma {
    /// Parts of the scoped name.
    pub(crate) name: Vec<String>,
    /// Written with a leading `::`.
    pub(crate) global: bool,
    pub(crate) set: IdSetting,
}

/// What an [`IdPragma`] sets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum IdSetting {
    Id(String),
    Version(u16, u16),
}

/// The prefix that `#pragma prefix` has put in force at a token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Prefix {
    pub(crate) text: String,
    /// How many scopes were open at the pragma: their names are replaced by it.
    pub(crate) depth: usize,
}

/// One token, where it is, and what the text around it says about it.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Comment lines that end on the line before.
    pub(crate) doc: Option<Rc<str>>,
    /// Set by the preprocessor.
    pub(crate) prefix: Rc<Prefix>,
}

/// Splits `text[from..to]` of `file` into tokens. Never fails: what is no token is [`Kind::Bad`].
pub(crate) fn lex(file: FileId, text: &str, from: usize, to: usize) -> Vec<Token> {
    let mut lexer = Lexer {
        file,
        text: &text[..to],
        at: from,
        line: 0,
        line_is_blank: true,
        doc: Comment::default(),
        tokens: Vec::new(),
        prefix: Rc::default(),
    };
    lexer.run();
    lexer.tokens
}

/// Comment lines gathered so far.
#[derive(Default)]
struct Comment {
    text: String,
    /// The line the last of them ends on.
    end: usize,
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    line: usize,
    /// No token yet on this line.
    line_is_blank: bool,
    doc: Comment,
    tokens: Vec<Token>,
    prefix: Rc<Prefix>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let Some(first) = rest.chars().next() else {
                return;
            };
            if first == '\n' {
                self.line += 1;
                self.line_is_blank = true;
                self.at += 1;
            } else if first.is_ascii_whitespace() || first == '\u{b}' || first == '\u{feff}' {
                self.at += first.len_utf8();
            } else if let Ok((_, splice)) = line_splice(rest) {
                self.line += 1;
                self.at += splice.len();
            } else if let Ok((_, comment)) = comment(rest) {
                self.comment(comment);
            } else if rest.starts_with("/*") {
                self.push(rest.len(), Kind::Bad("this comment is never closed".into()));
            } else if first == '#' && self.line_is_blank {
                let length = directive_length(rest);
                self.push(length, Kind::Directive);
            } else {
                let (kind, length) = match token(rest) {
                    Ok((left, kind)) => (kind, rest.len() - left.len()),
                    Err(_) => bad(rest, first),
                };
                self.push(length, kind);
            }
        }
    }

    /// Takes `comment` as documentation if it stands alone on its lines.
    fn comment(&mut self, comment: &str) {
        let begin = self.line;
        let lines = comment.matches('\n').count();
        self.line += lines;
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

    fn push(&mut self, length: usize, kind: Kind) {
        let span = Span::new(self.file, self.at, self.at + length);
        let near = self.doc.end + 1 >= self.line;
        let is_directive = kind == Kind::Directive;
        let doc = std::mem::take(&mut self.doc.text);
        let doc =
            (near && !is_directive && !doc.trim().is_empty()).then(|| Rc::from(doc.trim_end()));
        self.line += self.text[self.at..self.at + length].matches('\n').count();
        self.line_is_blank = false;
        self.at += length;
        self.tokens.push(Token {
            kind,
            span,
            doc,
            prefix: Rc::clone(&self.prefix),
        });
    }
}

/// The text of a comment without its marks, line by line.
fn comment_lines(comment: &str) -> impl Iterator<Item = &str> {
    let body = match comment.strip_prefix("/*") {
        Some(body) => body
            .strip_suffix("*/")
            .unwrap_or(body)
            .trim_start_matches(['*', '!']),
        None => comment.trim_start_matches('/').trim_start_matches('!'),
    };
    body.lines()
        .map(|line| line.trim().trim_start_matches('*').trim())
}

fn line_splice(i: &str) -> IResult<&str, &str> {
    recognize((char('\\'), opt(char('\r')), char('\n'))).parse(i)
}

fn comment(i: &str) -> IResult<&str, &str> {
    let line = recognize(pair(tag("//"), opt(is_not("\n"))));
    let block = recognize((tag("/*"), nom::bytes::complete::take_until("*/"), tag("*/")));
    alt((line, block)).parse(i)
}

/// How long the directive at the start of `rest` is: to the end of its line, through splices and block comments.
fn directive_length(rest: &str) -> usize {
    let mut at = 0;
    while let Some(next) = rest[at..].chars().next() {
        if let Ok((_, splice)) = line_splice(&rest[at..]) {
            at += splice.len();
        } else if next == '\n' {
            break;
        } else if let (true, Ok((_, text))) = (next == '/', comment(&rest[at..])) {
            at += text.len();
        } else {
            at += next.len_utf8();
        }
    }
    at
}

/// What to say about text that is no token, and how much of it to pass over.
fn bad(rest: &str, first: char) -> (Kind, usize) {
    let quoted = rest.strip_prefix('L').unwrap_or(rest);
    if quoted.starts_with('"') {
        return (
            Kind::Bad("this string literal is malformed or never closed".into()),
            quoted_length(rest, '"'),
        );
    }
    if quoted.starts_with('\'') {
        return (
            Kind::Bad("this character literal is malformed".into()),
            quoted_length(rest, '\''),
        );
    }
    if first.is_ascii_digit() {
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
            .unwrap_or(rest.len());
        let message = format!("`{}` is no number IDL knows, or too large", &rest[..length]);
        return (Kind::Bad(message.into()), length);
    }
    (
        Kind::Bad(format!("unexpected character `{}`", first.escape_debug()).into()),
        first.len_utf8(),
    )
}

/// To the quote that closes a broken literal, or to the end of the line.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut opened = false;
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            '\n' => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote && opened => return at + 1,
            _ => opened |= c == quote,
        }
    }
    rest.len()
}

fn token(i: &str) -> IResult<&str, Kind> {
    if i.starts_with("L'") || i.starts_with("L\"") {
        return wide_literal(i);
    }
    alt((narrow_literal, word, number, punct)).parse(i)
}

fn word(i: &str) -> IResult<&str, Kind> {
    let name = || {
        recognize(pair(
            satisfy(|c| c.is_ascii_alphabetic()),
            take_while(|c: char| c.is_ascii_alphanumeric() || c == '_'),
        ))
    };
    alt((
        map(preceded(char('_'), name()), |text: &str| {
            Kind::Escaped(text.into())
        }),
        map(name(), |text: &str| Kind::Word(text.into())),
    ))
    .parse(i)
}

fn narrow_literal(i: &str) -> IResult<&str, Kind> {
    alt((
        map(character(false), Kind::Char),
        map(string(false), |text| Kind::Str(text.into())),
    ))
    .parse(i)
}

fn wide_literal(i: &str) -> IResult<&str, Kind> {
    preceded(
        char('L'),
        alt((
            map(character(true), Kind::WideChar),
            map(string(true), |text| Kind::WideStr(text.into())),
        )),
    )
    .parse(i)
}

fn character<'a>(
    wide: bool,
) -> impl Parser<&'a str, Output = char, Error = nom::error::Error<&'a str>> {
    delimited(
        char('\''),
        alt((escape(wide), none_of("'\\\n"))),
        char('\''),
    )
}

fn string<'a>(
    wide: bool,
) -> impl Parser<&'a str, Output = String, Error = nom::error::Error<&'a str>> {
    let part = alt((escape(wide), none_of("\"\\\n")));
    let body = fold_many0(part, String::new, |mut text, c| {
        text.push(c);
        text
    });
    delimited(char('"'), body, char('"'))
}

/// `\n`, `\ooo`, `\xhh` and, in wide literals, `\uhhhh`.
fn escape<'a>(
    wide: bool,
) -> impl Parser<&'a str, Output = char, Error = nom::error::Error<&'a str>> {
    move |i: &'a str| {
        let (i, _) = char('\\')(i)?;
        let simple = alt((
            value('\n', char('n')),
            value('\t', char('t')),
            value('\u{b}', char('v')),
            value('\u{8}', char('b')),
            value('\r', char('r')),
            value('\u{c}', char('f')),
            value('\u{7}', char('a')),
            one_of("\\?'\""),
        ));
        let octal = code(8, take_while_m_n(1, 3, |c: char| c.is_digit(8)), wide);
        let hex = preceded(
            char('x'),
            code(
                16,
                take_while_m_n(1, 2, |c: char| c.is_ascii_hexdigit()),
                wide,
            ),
        );
        let unicode = preceded(
            char('u'),
            code(
                16,
                take_while_m_n(1, 4, |c: char| c.is_ascii_hexdigit()),
                wide,
            ),
        );
        match wide {
            true => alt((simple, octal, hex, unicode)).parse(i),
            false => alt((simple, octal, hex)).parse(i),
        }
    }
}

fn code<'a>(
    radix: u32,
    mut digits: impl Parser<&'a str, Output = &'a str, Error = nom::error::Error<&'a str>>,
    wide: bool,
) -> impl Parser<&'a str, Output = char, Error = nom::error::Error<&'a str>> {
    move |i: &'a str| {
        let (rest, digits) = digits.parse(i)?;
        let most = if wide { 0xffff } else { 0xff };
        // A lone surrogate is no `char`; there is no IDL in the world that needs one in a literal.
        let found = u32::from_str_radix(digits, radix)
            .ok()
            .filter(|&code| code <= most)
            .and_then(char::from_u32);
        match found {
            Some(c) => Ok((rest, c)),
            None => Err(nom::Err::Error(nom::error::make_error(
                i,
                nom::error::ErrorKind::Char,
            ))),
        }
    }
}

fn number(i: &str) -> IResult<&str, Kind> {
    let (rest, kind) = alt((hexadecimal, real, integer)).parse(i)?;
    // `12abc` and `0x1g` are one broken number, and not two tokens.
    match rest.chars().next() {
        Some(c) if c.is_ascii_alphanumeric() || c == '_' => Err(nom::Err::Error(
            nom::error::make_error(i, nom::error::ErrorKind::Digit),
        )),
        _ => Ok((rest, kind)),
    }
}

fn hexadecimal(i: &str) -> IResult<&str, Kind> {
    let digits = take_while(|c: char| c.is_ascii_hexdigit());
    let literal = preceded(alt((tag("0x"), tag("0X"))), digits);
    nom::combinator::map_res(literal, |digits: &str| {
        u64::from_str_radix(digits, 16).map(Kind::Integer)
    })
    .parse(i)
}

fn integer(i: &str) -> IResult<&str, Kind> {
    let parse = |digits: &str| match digits.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => u64::from_str_radix(octal, 8).map(Kind::Integer),
        _ => digits.parse().map(Kind::Integer),
    };
    nom::combinator::map_res(digit1, parse).parse(i)
}

fn real(i: &str) -> IResult<&str, Kind> {
    let exponent = || recognize((one_of("eE"), opt(one_of("+-")), digit1));
    let with_point = recognize(alt((
        recognize((digit1, char('.'), digit0)),
        recognize(pair(char('.'), digit1)),
    )));
    let (rest, _) = alt((
        recognize(pair(with_point, opt(exponent()))),
        recognize(pair(digit1, exponent())),
        recognize(pair(digit1, nom::combinator::peek(one_of("dD")))),
    ))
    .parse(i)?;
    let text = &i[..i.len() - rest.len()];
    if let Ok((rest, _)) = one_of::<_, _, nom::error::Error<&str>>("dD")(rest) {
        return Ok((rest, Kind::Fixed(text.into())));
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((rest, Kind::Float(number))),
        _ => Err(nom::Err::Error(nom::error::make_error(
            i,
            nom::error::ErrorKind::Float,
        ))),
    }
}

/// Angle brackets stay single, so that `sequence<sequence<long>>` needs no blank; the parser joins the shift operators.
fn punct(i: &str) -> IResult<&str, Kind> {
    const PUNCTS: [&str; 24] = [
        "::", ";", "{", "}", ":", ",", "=", "+", "-", "(", ")", "<", ">", "[", "]", "|", "^", "&",
        "*", "/", "%", "~", "@", "#",
    ];
    for punct in PUNCTS {
        if let Some(rest) = i.strip_prefix(punct) {
            return Ok((rest, Kind::Punct(punct)));
        }
    }
    Err(nom::Err::Error(nom::error::make_error(
        i,
        nom::error::ErrorKind::OneOf,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        lex(FileId::default(), text, 0, text.len())
            .into_iter()
            .map(|token| token.kind)
            .collect()
    }

    #[test]
    fn numbers_keep_their_bases() {
        assert_eq!(kinds("10 012 0xfF 0"), [10, 10, 255, 0].map(Kind::Integer));
        assert_eq!(kinds("1.5 .5 2. 1e3 3.5d 4D"), {
            let mut expected = [1.5, 0.5, 2.0, 1000.0].map(Kind::Float).to_vec();
            expected.extend(["3.5", "4"].map(|text| Kind::Fixed(text.into())));
            expected
        });
    }

    #[test]
    fn broken_numbers_are_one_bad_token() {
        for text in ["089", "12abc", "0x", "99999999999999999999", "1e999"] {
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
                Kind::WideChar('x')
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
        let tokens = lex(FileId::default(), text, 0, text.len());
        assert_eq!(tokens[0].doc.as_deref(), Some("Says\nhello."));
        assert!(tokens[1..].iter().all(|token| token.doc.is_none()));
    }

    #[test]
    fn a_directive_is_one_token_to_the_end_of_its_logical_line() {
        let text = "a\n  #define x \\\n y /* z\n */ w\nb # c";
        let tokens = lex(FileId::default(), text, 0, text.len());
        assert_eq!(tokens[1].kind, Kind::Directive);
        assert_eq!(tokens[2].kind, Kind::Word("b".into()));
        assert_eq!(tokens[3].kind, Kind::Punct("#"));
    }
}
