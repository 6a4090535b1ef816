//! IDL text from Rust tokens. Every token is placed at its line and column in the source, so that directives end with their
//! lines, and the place of a diagnostic leads back to its token.

use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

/// The IDL text, and the places of its tokens.
#[derive(Default)]
pub(crate) struct Rebuilt {
    pub(crate) text: String,
    /// The line in the Rust source that is line 1 of the text.
    pub(crate) first_line: usize,
    /// The line and column, from 1, at which each token begins, in order.
    tokens: Vec<(usize, usize, Span)>,
    /// The octet of the text at which each of them begins.
    octets: Vec<usize>,
    line: usize,
    column: usize,
}

impl Rebuilt {
    pub(crate) fn new(tokens: &[TokenTree]) -> Self {
        let first_line = tokens
            .first()
            .map_or(1, |token| token.span().start().line());
        let mut rebuilt = Self {
            first_line,
            line: 1,
            column: 1,
            ..Self::default()
        };
        rebuilt.stream(tokens);
        rebuilt
    }

    /// The span of the token at a place in the text, or of the one before it.
    pub(crate) fn span(&self, line: usize, column: usize) -> Option<Span> {
        let behind = self
            .tokens
            .partition_point(|&(l, c, _)| (l, c) <= (line, column));
        self.tokens
            .get(behind.saturating_sub(1))
            .map(|&(.., span)| span)
    }

    /// The span of the token at an octet of the text, or of the one before it.
    pub(crate) fn span_at(&self, octet: usize) -> Option<Span> {
        let behind = self.octets.partition_point(|&at| at <= octet);
        (self.tokens.get(behind.checked_sub(1)?)).map(|&(.., span)| span)
    }

    fn stream(&mut self, tokens: &[TokenTree]) {
        let mut rest = tokens;
        while let [token, tail @ ..] = rest {
            if let Some((comment, behind)) = doc_comment(rest) {
                self.place(&comment.0, comment.1);
                // Text after a comment on its line would become part of it.
                self.newline();
                rest = behind;
                continue;
            }
            match token {
                TokenTree::Group(group) => self.group(group),
                TokenTree::Ident(ident) => self.place(&ident.to_string(), ident.span()),
                TokenTree::Punct(punct) => self.place(&punct.as_char().to_string(), punct.span()),
                TokenTree::Literal(literal) => self.place(&literal.to_string(), literal.span()),
            }
            rest = tail;
        }
    }

    fn group(&mut self, group: &Group) {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        let (open, close) = match group.delimiter() {
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::None => ("", ""),
        };
        if !open.is_empty() {
            self.place(open, group.span_open());
        }
        self.stream(&tokens);
        if !close.is_empty() {
            self.place(close, group.span_close());
        }
    }

    /// Appends `text` at the place of `span`, or right here if the text is past that place already, as for tokens that a macro
    /// has made.
    fn place(&mut self, text: &str, span: Span) {
        let start = span.start();
        let line = (start.line() + 1).saturating_sub(self.first_line);
        // Tokens on lines far apart come from different files.
        let near = line > self.line && line - self.line < 10_000;
        if near {
            while self.line < line {
                self.newline();
            }
        }
        if line == self.line {
            while self.column < start.column() {
                self.text.push(' ');
                self.column += 1;
            }
        }
        // A blank keeps two words apart.
        let touches = |c: char| c.is_alphanumeric() || c == '_';
        if self.text.ends_with(touches) && text.starts_with(touches) {
            self.text.push(' ');
            self.column += 1;
        }
        self.tokens.push((self.line, self.column, span));
        self.octets.push(self.text.len());
        for c in text.chars() {
            self.text.push(c);
            match c {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
        }
    }

    fn newline(&mut self) {
        self.text.push('\n');
        self.line += 1;
        self.column = 1;
    }
}

/// The doc comment at the start of `tokens`, which Rust has turned into `#[doc = "…"]`, and the tokens after it.
fn doc_comment(tokens: &[TokenTree]) -> Option<((String, Span), &[TokenTree])> {
    let [TokenTree::Punct(hash), rest @ ..] = tokens else {
        return None;
    };
    let rest = match rest {
        [TokenTree::Punct(bang), rest @ ..] if bang.as_char() == '!' => rest,
        rest => rest,
    };
    let [TokenTree::Group(group), rest @ ..] = rest else {
        return None;
    };
    if hash.as_char() != '#' || group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
    let [
        TokenTree::Ident(doc),
        TokenTree::Punct(_),
        TokenTree::Literal(text),
    ] = &inner[..]
    else {
        return None;
    };
    if doc.to_string() != "doc" {
        return None;
    }
    let span = hash.span();
    let source = span
        .source_text()
        .filter(|source| source.starts_with("//") || source.starts_with("/*"));
    let comment = source.unwrap_or_else(|| made_comment(text));
    Some(((comment, span), rest))
}

/// A comment with the text of the literal. A `*/` in the text is broken up, so that it does not end the comment.
fn made_comment(text: &proc_macro::Literal) -> String {
    let stream: TokenStream = TokenTree::Literal(text.clone()).into();
    let value = syn::parse::<syn::LitStr>(stream)
        .map(|literal| literal.value())
        .unwrap_or_default();
    format!("/**{}*/", value.replace("*/", "* /"))
}
