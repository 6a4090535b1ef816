//! The preprocessor: files to one stream of tokens, with `#include`, conditionals, macros and pragmas.
//!
//! Every token of the stream carries the repository id prefix in force there, so that the parser need not know of pragmas
//! and files. Every scope of IDL opens with a brace, so counting braces shows how many names of the path a prefix replaces.
//!
//! ```text
//!   Reader (a file) ──► directives ──► include: another Reader
//!         │                │            conditional, condition: active text
//!         │                └──────────► define: the table of macros
//!         ▼
//!       expand ──► substitute (#, ##, arguments) ──► expand …
//!         ▼
//!       emit ──► the stream
//! ```

mod condition;
mod conditional;
mod define;
mod expand;
mod include;
mod piece;
mod pragma;
mod substitute;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::diagnostic::{Report, Sink};
use crate::lexer::{Kind, Lexer, Prefix, Token, Words, lex};
use crate::limits::{MAX_FILE_OCTETS, MAX_TOKENS};
use crate::options::Options;
use crate::source::{FileId, SourceMap, Span};
use conditional::Conditional;
use define::Macro;
use expand::Expansion;
use piece::Piece;

/// The input of the compiler.
pub(crate) enum Input<'a> {
    Text { name: &'a str, text: &'a str },
    File(&'a Path),
}

/// The input of the parser.
pub(crate) struct Stream {
    /// The tokens; the last is [`Kind::End`].
    pub(crate) tokens: Vec<Token>,
    /// Comments after the tokens that they document.
    pub(crate) trailing_comments: TrailingComments,
    /// Whether the stream has all of the text. If not, errors of the parser may be consequences of the missing part.
    pub(crate) whole: bool,
}

/// Comments by `///<`, by the index of the token before them.
pub(crate) type TrailingComments = HashMap<usize, String>;

/// Reads all inputs, with the files that they include, into one stream.
pub(crate) fn preprocess(
    inputs: &[Input<'_>],
    options: &Options,
    sources: &mut SourceMap,
    sink: &Sink,
) -> Stream {
    let mut pre = Preprocessor {
        include_dirs: &options.include_dirs,
        sources,
        sink,
        words: Words::default(),
        macros: HashMap::new(),
        stack: Vec::new(),
        macro_tokens: 0,
        macro_octets: 0,
        in_condition: false,
        open_files: Vec::new(),
        outsides: Vec::new(),
        once: HashSet::new(),
        known: HashMap::new(),
        guards: HashMap::new(),
        root: 0,
        texts: HashMap::new(),
        includes: 0,
        read_octets: 0,
        prefix: Rc::default(),
        no_prefix: Rc::default(),
        braces: Vec::new(),
        out: Vec::new(),
        trailing_comments: TrailingComments::new(),
        whole: true,
        full: false,
    };
    pre.predefine(&options.defines);
    let mut last = FileId::default();
    for (root, input) in inputs.iter().enumerate() {
        pre.root = root;
        if let Some(file) = pre.open_input(input) {
            last = file;
            pre.file(file);
        }
    }
    let (mut tokens, trailing_comments, whole) = (pre.out, pre.trailing_comments, pre.whole);
    tokens.push(Token {
        kind: Kind::End,
        span: sources_end(sources, last),
        doc: None,
        prefix: Rc::default(),
    });
    Stream {
        tokens,
        trailing_comments,
        whole,
    }
}

fn sources_end(sources: &SourceMap, file: FileId) -> Span {
    // After the last octet that is not blank, where a missing brace is reported.
    let end = sources.file(file).text().trim_end().len();
    Span::new(file, end, end)
}

struct Preprocessor<'a> {
    include_dirs: &'a [PathBuf],
    sources: &'a mut SourceMap,
    sink: &'a Sink,
    words: Words,
    macros: HashMap<Rc<str>, Rc<Macro>>,
    /// Expansions still to be scanned; the innermost is the last.
    stack: Vec<Expansion>,
    /// The number of tokens that macros have made so far.
    macro_tokens: usize,
    /// The number of octets of text that `#` and `##` have made so far.
    macro_octets: usize,
    /// Whether the condition of an `#if` is being expanded, in which `defined` is an operator.
    in_condition: bool,
    open_files: Vec<FileId>,
    /// Where each open file began.
    outsides: Vec<Outside>,
    /// Files with `#pragma once`, which are not entered again.
    once: HashSet<FileId>,
    /// Files read so far, by canonical path.
    known: HashMap<PathBuf, FileId>,
    /// The macros of include guards: once the macro is defined, its file is empty.
    guards: HashMap<FileId, Rc<str>>,
    /// The index of the input that is being read.
    root: usize,
    /// What files outside of all braces were read as: the input that did so first, and their own tokens in `out`.
    texts: HashMap<FileId, (usize, Vec<Range<usize>>)>,
    includes: usize,
    read_octets: u64,
    prefix: Rc<Prefix>,
    no_prefix: Rc<Prefix>,
    /// The prefix in force outside of each open brace.
    braces: Vec<Rc<Prefix>>,
    out: Vec<Token>,
    trailing_comments: TrailingComments,
    /// Whether no part of the text is missing so far.
    whole: bool,
    /// Whether a limit was reached, which is reported once: nothing more is read.
    full: bool,
}

/// The scope in which a file begins, and the prefix there, which is in force again behind the file.
struct Outside {
    /// The number of open braces.
    depth: usize,
    prefix: Rc<Prefix>,
    /// The tokens of the file itself in `out`, up to the last file that it included.
    own: Vec<Range<usize>>,
    /// Where its tokens behind that file begin.
    from: usize,
}

/// A file that is being read.
struct Reader {
    lexer: Lexer,
    /// A token that was read ahead.
    ahead: Option<Token>,
    conditionals: Vec<Conditional>,
    guard: Guard,
    /// The end of the last token, by which blanks are found.
    last_end: u32,
}

/// The include guard of a file.
enum Guard {
    /// No token has been read yet.
    Start,
    /// The file began with a conditional that requires this macro to be undefined, and is inside of it.
    Open(Rc<str>),
    /// That conditional has ended, with nothing after it so far.
    Closed(Rc<str>),
    No,
}

impl Reader {
    fn active(&self) -> bool {
        self.conditionals.last().is_none_or(|group| group.active)
    }

    /// The next token or directive; in skipped text, the next directive.
    fn read(&mut self, words: &mut Words) -> Option<Token> {
        if let Some(token) = self.ahead.take() {
            return Some(token);
        }
        if self.active() {
            self.lexer.next(words)
        } else {
            self.lexer.next_directive()
        }
    }
}

impl Preprocessor<'_> {
    fn open_input(&mut self, input: &Input<'_>) -> Option<FileId> {
        match input {
            Input::Text { name, text } => {
                let fits = text.len() as u64 <= MAX_FILE_OCTETS;
                let text = if fits { *text } else { "" };
                let file = self.add((*name).to_owned(), None, text.to_owned(), true);
                if !fits {
                    let message = format!("the text is longer than {MAX_FILE_OCTETS} octets");
                    self.lost(Report::new(Span::new(file, 0, 0), message));
                }
                Some(file)
            }
            Input::File(path) => match self.read_file(path, true) {
                Ok(file) => Some(file),
                Err(cause) => {
                    let file = self.add(path.display().to_string(), None, String::new(), true);
                    let message = format!("cannot read the file: {cause}");
                    self.lost(Report::new(Span::new(file, 0, 0), message));
                    Some(file)
                }
            },
        }
    }

    /// Adds a text. One with octets that are not text is reported, and counts as empty.
    fn add(&mut self, name: String, path: Option<PathBuf>, text: String, main: bool) -> FileId {
        let (file, fault) = self.sources.add(name, path, text, main);
        if let Some(fault) = fault {
            let place = Span::new(file, fault.at(), fault.at());
            self.lost(Report::new(place, fault.message()));
        }
        file
    }

    /// Reports an error after which the rest of the text may be invalid as a consequence.
    fn lost(&mut self, report: Report) {
        self.whole = false;
        self.sink.report(report);
    }

    /// Reports that a limit was reached; nothing more is read.
    fn overflow(&mut self, span: Span, message: String) {
        if !self.full {
            self.full = true;
            self.lost(Report::new(span, message));
        }
    }

    /// Reads one file, which has a prefix of its own.
    fn file(&mut self, file: FileId) {
        if self.once.contains(&file) {
            return;
        }
        let begin = self.out.len();
        if let Some(includer) = self.outsides.last_mut() {
            includer.own.push(includer.from..begin);
        }
        self.outsides.push(Outside {
            depth: self.braces.len(),
            prefix: Rc::clone(&self.prefix),
            own: Vec::new(),
            from: begin,
        });
        // A file that is included within a module keeps the prefix there: the OMG's module `CORBA` consists of such files.
        if self.braces.is_empty() {
            self.prefix = Rc::clone(&self.no_prefix);
        }
        self.open_files.push(file);
        let text = Rc::clone(self.sources.file(file).text());
        let range = 0..text.len();
        let mut reader = Reader {
            lexer: Lexer::new(file, text, range),
            ahead: None,
            conditionals: Vec::new(),
            guard: Guard::Start,
            last_end: 0,
        };
        while let Some(token) = self.next(&mut reader, None) {
            if self.full {
                break;
            }
            self.take(token, &mut reader);
        }
        if let Some((open, within)) = reader.conditionals.split_first() {
            let message = match within.len() {
                0 => "this conditional is never closed".to_owned(),
                1 => "this conditional is never closed, nor is one within it".to_owned(),
                many => format!("this conditional is never closed, nor are {many} within it"),
            };
            let mut report = Report::new(open.span, message);
            if let Some(last) = within.last() {
                report = report.label(last.span, "the last of them");
            }
            self.lost(report.hint("add `#endif`"));
        }
        if let Guard::Closed(name) = reader.guard {
            self.guards.insert(file, name);
        }
        self.open_files.pop();
        if let Some(outside) = self.outsides.pop() {
            let Outside {
                depth,
                prefix,
                mut own,
                from,
            } = outside;
            // The file that closes a scope which this one has left open has the prefix of its own behind it.
            for brace in self.braces.iter_mut().skip(depth) {
                *brace = Rc::clone(&prefix);
            }
            self.prefix = prefix;
            if depth == 0 && self.braces.is_empty() {
                own.push(from..self.out.len());
                self.drop_repeated(file, begin, own);
            }
        }
        if let Some(includer) = self.outsides.last_mut() {
            includer.from = self.out.len();
        }
    }

    /// Drops what a file without a guard was read as, from `begin` on, if another input has read the same: compiled on their
    /// own, both inputs are right. Within one input it would be declared twice for other compilers, too.
    fn drop_repeated(&mut self, file: FileId, begin: usize, own: Vec<Range<usize>>) {
        let Some((root, before)) = self.texts.get(&file) else {
            self.texts.insert(file, (self.root, own));
            return;
        };
        let tokens = |own: &[Range<usize>]| {
            let ranges: Vec<&[Token]> = own
                .iter()
                .filter_map(|it| self.out.get(it.clone()))
                .collect();
            ranges
                .concat()
                .into_iter()
                .map(|token| (token.kind, token.prefix))
        };
        let same = || tokens(before).eq(tokens(&own));
        let alone = own.iter().map(ExactSizeIterator::len).sum::<usize>() == self.out.len() - begin;
        if *root != self.root && alone && same() {
            self.out.truncate(begin);
            self.trailing_comments.retain(|&at, _| at < begin);
        }
    }

    /// The next active token of a file, after handling all directives before it. `caller`: the use of a macro whose arguments
    /// are being read.
    fn next(&mut self, reader: &mut Reader, caller: Option<Span>) -> Option<Token> {
        loop {
            let token = reader.read(&mut self.words)?;
            if let Kind::TrailingComment(text) = &token.kind {
                // Within the arguments of a macro, a trailing comment has no declaration to document.
                if caller.is_none() {
                    self.note_trailing_comment(text, token.span);
                }
                continue;
            }
            if token.kind != Kind::Directive {
                if !matches!(reader.guard, Guard::Open(_)) {
                    reader.guard = Guard::No;
                }
                return Some(token);
            }
            self.directive(&token, reader, caller);
            if self.full {
                return None;
            }
        }
    }

    /// Emits `token`, or its expansion if it names a macro.
    fn take(&mut self, token: Token, reader: &mut Reader) {
        let blank = token.span.start != reader.last_end;
        reader.last_end = token.span.end;
        let plain = match &token.kind {
            Kind::Word(word) => !self.macros.contains_key(word),
            // A name with leading underscores can only be the name of a macro.
            Kind::Escaped(_) | Kind::Bad(_) => false,
            _ => true,
        };
        if plain {
            let ends_statement = token.kind == Kind::Punct(";");
            self.emit(token);
            if ends_statement && self.braces.is_empty() {
                self.import();
            }
            return;
        }
        self.expand(Piece::of(token, blank), reader);
    }

    fn emit(&mut self, mut token: Token) {
        if self.full {
            return;
        }
        if self.out.len() >= MAX_TOKENS {
            let message = format!("more than {MAX_TOKENS} tokens after preprocessing");
            return self.overflow(token.span, message);
        }
        match &token.kind {
            Kind::Punct("{") => self.braces.push(Rc::clone(&self.prefix)),
            Kind::Punct("}") => {
                if let Some(outer) = self.braces.pop() {
                    // A file that closes a scope of the files around it ends in the scope around that.
                    let depth = self.braces.len();
                    for outside in self.outsides.iter_mut().filter(|it| it.depth > depth) {
                        (outside.depth, outside.prefix) = (depth, Rc::clone(&outer));
                    }
                    self.prefix = outer;
                }
            }
            Kind::Punct(mark @ ("!" | "?" | ".")) => {
                token.kind = Kind::Bad(format!("unexpected character `{mark}`").into());
            }
            _ => {}
        }
        // An empty one was reported already. Of adjacent ones only the first is reported.
        let touches = self.out.last().is_some_and(|last| {
            matches!(last.kind, Kind::Bad(_)) && last.span.after() == token.span.before()
        });
        if let Kind::Bad(message) = &token.kind
            && !message.is_empty()
            && !touches
        {
            let first = self.sources.text(token.span).chars().next();
            if first.is_some_and(char::is_control) {
                let message = "a control character: this is no text";
                return self.overflow(token.span, message.to_owned());
            }
            // The token is emitted, so that the parser does not report its place again.
            self.sink.report(Report::new(token.span, &**message));
        }
        token.prefix = Rc::clone(&self.prefix);
        self.out.push(token);
    }

    /// Notes the trailing comment at `place` on the last token.
    fn note_trailing_comment(&mut self, text: &str, place: Span) {
        let near = |last: &Token| last.span.file == place.file;
        if text.is_empty() || !self.out.last().is_some_and(near) {
            return;
        }
        let said = self
            .trailing_comments
            .entry(self.out.len() - 1)
            .or_default();
        if !said.is_empty() {
            said.push('\n');
        }
        said.push_str(text);
    }

    fn directive(&mut self, token: &Token, reader: &mut Reader, caller: Option<Span>) {
        let active = reader.active();
        let words = self.directive_words(token.span);
        let Some(Token { kind, span, .. }) = words.first() else {
            return;
        };
        let (span, args) = (*span, &words[1..]);
        let name = match kind {
            Kind::Word(name) => Rc::clone(name),
            // C preprocessors write `# 12 "file.idl"`.
            Kind::Integer(_) => {
                if active {
                    self.line(span, &words, token.span);
                }
                return;
            }
            _ => {
                if active {
                    let message = "expected the name of a directive behind `#`";
                    self.sink.report(Report::new(span, message));
                }
                return;
            }
        };
        if self.conditional(&name, span, args, reader) || !active {
            return;
        }
        if !matches!(reader.guard, Guard::Open(_)) {
            reader.guard = Guard::No;
        }
        match &*name {
            "include" => match caller {
                None => self.include(token.span, span, args),
                Some(caller) => {
                    let message = "`#include` among the arguments of a macro";
                    let report = Report::new(span, message);
                    self.lost(report.label(caller, "the macro is used here"));
                }
            },
            "define" => self.define(span, args),
            "undef" => self.undefine(span, args),
            "line" => self.line(span, args, token.span),
            "pragma" => self.pragma(span, args),
            "error" => {
                let text = self.sources.file(span.file).text();
                let text = &text[span.end as usize..token.span.end as usize];
                let message = format!("#error {}", text.trim());
                self.lost(Report::new(span, message));
            }
            // These directives do not affect the output.
            "warning" | "ident" | "sccs" | "assert" | "unassert" => {}
            _ => self.sink.report(Report::new(
                span,
                format!("no directive is called `#{name}`"),
            )),
        }
    }

    /// The tokens of a directive after its `#`. A further `#` within it begins no other directive.
    fn directive_words(&mut self, directive: Span) -> Vec<Token> {
        let text = self.sources.file(directive.file).text();
        let range = directive.start as usize + 1..directive.end as usize;
        lex(directive.file, text, range, &mut self.words)
    }

    /// Handles `#line 12 "file.idl"`: errors after it are reported with such lines.
    fn line(&mut self, span: Span, args: &[Token], directive: Span) {
        let args: Vec<Piece> = Piece::row(args.to_vec());
        let args = self.expanded(args);
        let kinds: Vec<&Kind> = args.iter().map(|piece| &piece.kind).collect();
        let (line, file) = match kinds[..] {
            [Kind::Integer(line)] => (*line, None),
            // C preprocessors add flags.
            [Kind::Integer(line), Kind::Str(file), ..] => (*line, Some(file.to_string())),
            _ => {
                let report = Report::new(span, "malformed `#line`");
                let report = report.hint("write `#line 12` or `#line 12 \"file.idl\"`");
                return self.sink.report(report);
            }
        };
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        self.sources.renumber(directive, line, file);
    }
}
