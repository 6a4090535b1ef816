//! Files to one stream of tokens: `#include`, conditionals, object-like macros and pragmas.
//!
//! The stream says with every token which repository id prefix is in force there, so that the grammar need not know
//! that pragmas and files exist: every scope of IDL opens with a brace, hence counting braces tells how many names of
//! the path a prefix replaces.

mod include;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::diagnostic::{Report, Sink};
use crate::lexer::{IdPragma, IdSetting, Kind, Prefix, Token, lex};
use crate::limits::{MAX_FILE_OCTETS, MAX_MACRO_DEPTH, MAX_TOKENS};
use crate::source::{FileId, SourceMap, Span};
use include::read;

/// What the compiler is given.
pub(crate) enum Input<'a> {
    Text { name: &'a str, text: &'a str },
    File(&'a Path),
}

/// Reads every input, and all they include, into one stream that ends in [`Kind::End`].
pub(crate) fn preprocess(
    inputs: &[Input<'_>],
    include_dirs: &[PathBuf],
    sources: &mut SourceMap,
    sink: &Sink,
) -> Vec<Token> {
    let mut pre = Preprocessor {
        include_dirs,
        sources,
        sink,
        macros: HashMap::new(),
        open_files: Vec::new(),
        once: HashSet::new(),
        prefix: Rc::default(),
        braces: Vec::new(),
        out: Vec::new(),
        expansions: 0,
        full: false,
    };
    let mut last = FileId::default();
    for input in inputs {
        if let Some(file) = pre.open_input(input) {
            last = file;
            pre.file(file);
        }
    }
    let mut out = pre.out;
    let end = sources_end(sources, last);
    out.push(Token {
        kind: Kind::End,
        span: end,
        doc: None,
        prefix: Rc::default(),
    });
    out
}

fn sources_end(sources: &SourceMap, file: FileId) -> Span {
    // Behind the last thing that is not blank: that is where a missing brace is missed.
    let end = sources.file(file).text.trim_end().len();
    Span::new(file, end, end)
}

struct Macro {
    span: Span,
    body: Vec<Token>,
}

/// One `#ifdef … #else … #endif` that is open.
struct Conditional {
    span: Span,
    /// Whether the text around it counts.
    outer: bool,
    /// Whether the group being read counts.
    active: bool,
    /// Whether one of its groups has counted already.
    taken: bool,
    had_else: bool,
}

struct Preprocessor<'a> {
    include_dirs: &'a [PathBuf],
    sources: &'a mut SourceMap,
    sink: &'a Sink,
    macros: HashMap<Rc<str>, Macro>,
    open_files: Vec<FileId>,
    once: HashSet<PathBuf>,
    prefix: Rc<Prefix>,
    /// The prefix in force outside of each open brace.
    braces: Vec<Rc<Prefix>>,
    out: Vec<Token>,
    /// Macros expanded so far; they count even where they expand to nothing.
    expansions: usize,
    /// `MAX_TOKENS` was reached; said once.
    full: bool,
}

impl Preprocessor<'_> {
    fn open_input(&mut self, input: &Input<'_>) -> Option<FileId> {
        match input {
            Input::Text { name, text } => {
                let fits = text.len() as u64 <= MAX_FILE_OCTETS;
                let text = if fits {
                    (*text).to_owned()
                } else {
                    String::new()
                };
                let file = self.sources.add((*name).to_owned(), None, text, true);
                if !fits {
                    let message = format!("the text is longer than {MAX_FILE_OCTETS} octets");
                    self.sink
                        .report(Report::new(Span::new(file, 0, 0), message));
                }
                Some(file)
            }
            Input::File(path) => match read(path) {
                Ok((canonical, text)) => {
                    Some(
                        self.sources
                            .add(path.display().to_string(), Some(canonical), text, true),
                    )
                }
                Err(cause) => {
                    let file =
                        self.sources
                            .add(path.display().to_string(), None, String::new(), true);
                    self.sink.report(Report::new(
                        Span::new(file, 0, 0),
                        format!("cannot read the file: {cause}"),
                    ));
                    Some(file)
                }
            },
        }
    }

    /// Everything in one file, with a prefix of its own.
    fn file(&mut self, file: FileId) {
        if self
            .sources
            .file(file)
            .path
            .as_ref()
            .is_some_and(|path| self.once.contains(path))
        {
            return;
        }
        let outer_prefix = std::mem::take(&mut self.prefix);
        self.open_files.push(file);
        let text = &self.sources.file(file).text;
        let tokens = lex(file, text, 0, text.len());
        let mut conditionals: Vec<Conditional> = Vec::new();
        for token in tokens {
            if self.full {
                break;
            }
            let active = conditionals.last().is_none_or(|group| group.active);
            match &token.kind {
                Kind::Directive => self.directive(&token, &mut conditionals),
                Kind::Bad(message) if active => {
                    self.sink.report(Report::new(token.span, &**message));
                    // Goes on, so that the parser knows what it misses and says nothing of it.
                    self.emit(token);
                }
                _ if active => self.expand(token, &mut Vec::new()),
                _ => {}
            }
        }
        for open in conditionals {
            self.sink.report(
                Report::new(open.span, "this conditional is never closed").hint("add `#endif`"),
            );
        }
        self.open_files.pop();
        self.prefix = outer_prefix;
    }

    /// Puts out `token`, or what the macro of that name stands for.
    fn expand(&mut self, token: Token, within: &mut Vec<Rc<str>>) {
        // Also ends what an exponential macro has begun.
        if self.full {
            return;
        }
        let Kind::Word(word) = &token.kind else {
            return self.emit(token);
        };
        let Some(found) = self.macros.get(word).filter(|_| !within.contains(word)) else {
            return self.emit(token);
        };
        if within.len() >= MAX_MACRO_DEPTH {
            let message =
                format!("macros expand into each other more than {MAX_MACRO_DEPTH} levels deep");
            self.sink.report(Report::new(token.span, message));
            self.full = true;
            return;
        }
        self.expansions += 1;
        if self.expansions > MAX_TOKENS {
            return self.overflow(token.span);
        }
        let body = found.body.clone();
        within.push(Rc::clone(word));
        let mut doc = token.doc;
        for part in body {
            // Errors are reported where the macro is used.
            self.expand(
                Token {
                    span: token.span,
                    doc: doc.take(),
                    ..part
                },
                within,
            );
        }
        within.pop();
    }

    fn emit(&mut self, mut token: Token) {
        if self.full {
            return;
        }
        if self.out.len() >= MAX_TOKENS {
            return self.overflow(token.span);
        }
        match token.kind {
            Kind::Punct("{") => self.braces.push(Rc::clone(&self.prefix)),
            Kind::Punct("}") => {
                if let Some(outer) = self.braces.pop() {
                    self.prefix = outer;
                }
            }
            _ => {}
        }
        token.prefix = Rc::clone(&self.prefix);
        self.out.push(token);
    }

    fn overflow(&mut self, span: Span) {
        self.full = true;
        let message = format!("more than {MAX_TOKENS} tokens after preprocessing");
        self.sink.report(Report::new(span, message));
    }

    fn directive(&mut self, token: &Token, conditionals: &mut Vec<Conditional>) {
        let active = conditionals.last().is_none_or(|group| group.active);
        let text = self.sources.file(token.span.file).text.as_str();
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        // Comments and splices are gone in here, and the first token is the `#`.
        let words = lex_directive(token.span.file, text, start, end);
        let Some(Token {
            kind: Kind::Word(name),
            span,
            ..
        }) = words.first().cloned()
        else {
            if active && let Some(word) = words.first() {
                self.sink
                    .report(Report::unsupported(word.span, "this directive"));
            }
            return;
        };
        let args = &words[1..];
        match &*name {
            "ifdef" | "ifndef" => {
                let defined = match args.first().map(|token| &token.kind) {
                    Some(Kind::Word(name)) => self.macros.contains_key(name),
                    _ => {
                        if active {
                            self.sink.report(Report::new(
                                span,
                                format!("expected a name behind `#{name}`"),
                            ));
                        }
                        false
                    }
                };
                open(conditionals, span, active, defined == (&*name == "ifdef"));
            }
            "if" => {
                let holds = active && self.condition(span, args);
                open(conditionals, span, active, holds);
            }
            "elif" => self.elif(span, args, conditionals),
            "else" => match conditionals.last_mut() {
                Some(group) if !group.had_else => {
                    group.active = group.outer && !group.taken;
                    group.taken = true;
                    group.had_else = true;
                }
                _ => self
                    .sink
                    .report(Report::new(span, "`#else` without an open `#if`")),
            },
            "endif" => {
                if conditionals.pop().is_none() {
                    self.sink
                        .report(Report::new(span, "`#endif` without an open `#if`"));
                }
            }
            _ if !active => {}
            "include" => self.include(token.span, span),
            "define" => self.define(span, args),
            "undef" => match args.first().map(|token| &token.kind) {
                Some(Kind::Word(name)) => {
                    self.macros.remove(name);
                }
                _ => self
                    .sink
                    .report(Report::new(span, "expected a name behind `#undef`")),
            },
            "pragma" => self.pragma(span, args),
            "error" => {
                let text = self.sources.file(span.file).text[span.end as usize..end].trim();
                self.sink
                    .report(Report::new(span, format!("#error {text}")));
            }
            // They change nothing that is generated.
            "warning" | "ident" => {}
            _ => self
                .sink
                .report(Report::unsupported(span, &format!("`#{name}`"))),
        }
    }

    fn elif(&mut self, span: Span, args: &[Token], conditionals: &mut [Conditional]) {
        let Some(group) = conditionals.last_mut().filter(|group| !group.had_else) else {
            return self
                .sink
                .report(Report::new(span, "`#elif` without an open `#if`"));
        };
        let candidate = group.outer && !group.taken;
        group.active = candidate && self.condition(span, args);
        group.taken |= group.active;
    }

    /// The conditions that include guards are made of: a number, `defined(X)`, `!defined(X)`.
    fn condition(&self, span: Span, args: &[Token]) -> bool {
        let kinds: Vec<&Kind> = args.iter().map(|token| &token.kind).collect();
        let defined = |word: &Rc<str>| &**word == "defined";
        // The lexer of IDL has no `!`; in a directive it is the one character that may be "bad".
        match kinds[..] {
            [Kind::Integer(number)] => *number != 0,
            [Kind::Word(d), Kind::Word(name)]
            | [
                Kind::Word(d),
                Kind::Punct("("),
                Kind::Word(name),
                Kind::Punct(")"),
            ] if defined(d) => self.macros.contains_key(name),
            [Kind::Bad(not), Kind::Word(d), Kind::Word(name)]
            | [
                Kind::Bad(not),
                Kind::Word(d),
                Kind::Punct("("),
                Kind::Word(name),
                Kind::Punct(")"),
            ] if defined(d) && not.contains("`!`") => !self.macros.contains_key(name),
            _ => {
                self.sink
                    .report(Report::unsupported(span, "this condition").hint(
                        "`#ifdef`, `#ifndef`, `#if defined(X)`, `#if !defined(X)` and `#if 0` are",
                    ));
                false
            }
        }
    }

    fn define(&mut self, span: Span, args: &[Token]) {
        let Some(Token {
            kind: Kind::Word(name),
            span: at,
            ..
        }) = args.first()
        else {
            return self
                .sink
                .report(Report::new(span, "expected a name behind `#define`"));
        };
        let body = &args[1..];
        if let Some(Token {
            kind: Kind::Punct("("),
            span: paren,
            ..
        }) = body.first()
            && paren.start == at.end
        {
            return self
                .sink
                .report(Report::unsupported(*at, "macros with arguments"));
        }
        if let Some(Token {
            kind: Kind::Bad(message),
            span,
            ..
        }) = body.iter().find(|token| matches!(token.kind, Kind::Bad(_)))
        {
            return self.sink.report(Report::new(*span, &**message));
        }
        if let Some(old) = self.macros.get(name) {
            let same = old.body.len() == body.len()
                && old.body.iter().zip(body).all(|(a, b)| a.kind == b.kind);
            if !same {
                let message = format!("`{name}` is defined a second time with another value");
                self.sink
                    .report(Report::new(*at, message).label(old.span, "first defined here"));
            }
            return;
        }
        self.macros.insert(
            Rc::clone(name),
            Macro {
                span: *at,
                body: body.to_vec(),
            },
        );
    }

    fn pragma(&mut self, span: Span, args: &[Token]) {
        let Some(Token {
            kind: Kind::Word(word),
            span: at,
            ..
        }) = args.first()
        else {
            return;
        };
        match &**word {
            "prefix" => match args.get(1).map(|token| &token.kind) {
                Some(Kind::Str(text)) if args.len() == 2 => {
                    if text
                        .chars()
                        .any(|c| c.is_control() || c.is_whitespace() || c == ':')
                    {
                        let message = "a prefix cannot contain blanks or colons";
                        return self.sink.report(Report::new(args[1].span, message));
                    }
                    let text = text.trim_end_matches('/').to_owned();
                    self.prefix = Rc::new(Prefix {
                        text,
                        depth: self.braces.len(),
                    });
                }
                _ => self.sink.report(
                    Report::new(*at, "malformed `#pragma prefix`")
                        .hint("write `#pragma prefix \"example.com\"`"),
                ),
            },
            "ID" | "version" => match id_pragma(word, &args[1..], self.last_text(args)) {
                Some(pragma) => self.emit(Token {
                    kind: Kind::Pragma(Rc::new(pragma)),
                    span,
                    doc: None,
                    prefix: Rc::default(),
                }),
                None => self.sink.report(
                    Report::new(*at, format!("malformed `#pragma {word}`"))
                        .hint("write `#pragma ID name \"IDL:…\"` or `#pragma version name 1.2`"),
                ),
            },
            "once" => {
                if let Some(path) = &self.sources.file(span.file).path {
                    self.once.insert(path.clone());
                }
            }
            // Pragmas are how every other compiler is told its own things.
            _ => {}
        }
    }

    /// The last token as it was written: version 1.10 is not the number 1.1.
    fn last_text(&self, args: &[Token]) -> &str {
        let Some(Token { span, .. }) = args.last() else {
            return "";
        };
        &self.sources.file(span.file).text[span.start as usize..span.end as usize]
    }
}

fn open(conditionals: &mut Vec<Conditional>, span: Span, outer: bool, holds: bool) {
    let active = outer && holds;
    conditionals.push(Conditional {
        span,
        outer,
        active,
        taken: active,
        had_else: false,
    });
}

/// The tokens of a directive behind its `#`. What looks like a second directive in there is `#` and more words.
fn lex_directive(file: FileId, text: &str, start: usize, end: usize) -> Vec<Token> {
    lex(file, text, start + 1, end)
}

fn id_pragma(word: &str, args: &[Token], value_text: &str) -> Option<IdPragma> {
    let (mut name, mut global, mut at) = (Vec::new(), false, 0);
    if args.first()?.kind == Kind::Punct("::") {
        global = true;
        at = 1;
    }
    loop {
        match &args.get(at)?.kind {
            Kind::Word(part) | Kind::Escaped(part) => name.push(part.to_string()),
            _ => return None,
        }
        at += 1;
        match args.get(at)?.kind {
            Kind::Punct("::") => at += 1,
            _ => break,
        }
    }
    let [value] = args.get(at..)? else {
        return None;
    };
    let set = match &value.kind {
        Kind::Str(id) if word == "ID" => IdSetting::Id(id.to_string()),
        Kind::Float(_) if word == "version" => {
            let (major, minor) = value_text.split_once('.')?;
            IdSetting::Version(major.parse().ok()?, minor.parse().ok()?)
        }
        _ => return None,
    };
    Some(IdPragma { name, global, set })
}
