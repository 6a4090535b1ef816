//! `#pragma`: repository ids, and `once`.

use std::rc::Rc;

use super::Preprocessor;
use super::piece::Piece;
use crate::diagnostic::Report;
use crate::lexer::{IdPragma, IdSetting, Kind, Prefix, Token};
use crate::source::Span;

impl Preprocessor<'_> {
    pub(super) fn pragma(&mut self, span: Span, args: &[Token]) {
        let Some((word, args)) = args.split_first() else {
            return;
        };
        let Kind::Word(name) = &word.kind else {
            return;
        };
        match &**name {
            "prefix" => self.prefix_pragma(word.span, args),
            "ID" | "version" => match id_pragma(name, args, self.last_text(args)) {
                Some(pragma) => self.emit(Token {
                    kind: Kind::Pragma(Rc::new(pragma)),
                    span,
                    doc: None,
                    prefix: Rc::clone(&self.no_prefix),
                }),
                None => self.sink.report(
                    Report::new(word.span, format!("malformed `#pragma {name}`"))
                        .hint("write `#pragma ID name \"IDL:…\"` or `#pragma version name 1.2`"),
                ),
            },
            "once" => {
                self.once.insert(span.file);
            }
            // Other pragmas are options of other compilers.
            _ => {}
        }
    }

    fn prefix_pragma(&mut self, at: Span, args: &[Token]) {
        // Some files give the prefix by a macro.
        let pieces = self.expanded(Piece::row(args.to_vec()));
        let one = match pieces.as_slice() {
            [one] => one,
            // Some files have a semicolon after the prefix.
            [one, end] if end.is(";") => one,
            _ => return self.malformed_prefix(at),
        };
        let Kind::Str(text) = &one.kind else {
            return self.malformed_prefix(at);
        };
        let refused = |c: char| c.is_control() || c.is_whitespace() || c == ':';
        if text.chars().any(refused) {
            let message = "a prefix cannot contain blanks or colons";
            return self.sink.report(Report::new(one.place, message));
        }
        let (text, depth) = (text.trim_end_matches('/'), self.braces.len());
        // A file that states the prefix of the module around its `#include` once more is a part of that module, as the OMG's
        // files of the module `CORBA` are.
        let is_restated = text == self.prefix.text
            && (self.outsides.last()).is_some_and(|outside| 0 < depth && outside.depth == depth);
        if is_restated {
            return;
        }
        // The names of all open scopes are replaced, also of those in the files that include this one.
        self.prefix = Rc::new(Prefix {
            text: text.to_owned(),
            depth,
        });
    }

    fn malformed_prefix(&self, at: Span) {
        let report = Report::new(at, "malformed `#pragma prefix`");
        self.sink
            .report(report.hint("write `#pragma prefix \"example.com\"`"));
    }

    /// The spelling of the last token, as version 1.10 is not the number 1.1.
    fn last_text(&self, args: &[Token]) -> &str {
        args.last()
            .map_or("", |token| self.sources.text(token.span))
    }
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
