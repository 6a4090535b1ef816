//! Conditionals: `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif`.

use std::rc::Rc;

use super::piece::{Piece, macro_name};
use super::{Guard, Preprocessor, Reader};
use crate::diagnostic::Report;
use crate::lexer::{Kind, Token};
use crate::source::Span;

/// An open conditional, `#if … #else … #endif`.
pub(super) struct Conditional {
    pub(super) span: Span,
    /// Whether the text around it is active.
    outer: bool,
    /// Whether the group that is being read is active.
    pub(super) active: bool,
    /// Whether one of its groups has been active.
    taken: bool,
    had_else: bool,
}

impl Preprocessor<'_> {
    /// Handles the directive `name` if it belongs to a conditional, and returns whether it does.
    pub(super) fn conditional(
        &mut self,
        name: &str,
        span: Span,
        args: &[Token],
        reader: &mut Reader,
    ) -> bool {
        let active = reader.active();
        match name {
            "ifdef" | "ifndef" => {
                let defined = self.is_defined(name, span, args, active);
                let guard = || macro_name(args.first()?, self.sources);
                note_guard(reader, (name == "ifndef").then(guard).flatten());
                open(reader, span, active, defined == (name == "ifdef"));
            }
            "if" => {
                note_guard(reader, self.guard_of(args));
                let holds = active && self.condition(span, args);
                open(reader, span, active, holds);
            }
            "elif" => {
                not_a_guard(reader);
                let group = reader.conditionals.last();
                let Some(group) = group.filter(|group| !group.had_else) else {
                    self.lost(Report::new(span, "`#elif` without an open `#if`"));
                    return true;
                };
                let active = group.outer && !group.taken && self.condition(span, args);
                if let Some(group) = reader.conditionals.last_mut() {
                    group.active = active;
                    group.taken |= active;
                }
            }
            "else" => {
                not_a_guard(reader);
                match reader.conditionals.last_mut() {
                    Some(group) if !group.had_else => {
                        group.active = group.outer && !group.taken;
                        group.taken = true;
                        group.had_else = true;
                    }
                    Some(group) => {
                        let report = Report::new(span, "a second `#else` of one `#if`")
                            .label(group.span, "the conditional begins here");
                        self.lost(report);
                    }
                    None => self.lost(Report::new(span, "`#else` without an open `#if`")),
                }
            }
            "endif" => {
                if reader.conditionals.pop().is_none() {
                    self.lost(Report::new(span, "`#endif` without an open `#if`"));
                }
                if reader.conditionals.is_empty() {
                    reader.guard = match std::mem::replace(&mut reader.guard, Guard::No) {
                        Guard::Open(name) => Guard::Closed(name),
                        _ => Guard::No,
                    };
                }
            }
            _ => return false,
        }
        true
    }

    fn is_defined(&self, directive: &str, span: Span, args: &[Token], active: bool) -> bool {
        let name = args
            .first()
            .and_then(|token| macro_name(token, self.sources));
        match name {
            Some(name) => self.macros.contains_key(&*name),
            None => {
                if active {
                    let message = format!("expected a name behind `#{directive}`");
                    self.sink.report(Report::new(span, message));
                }
                false
            }
        }
    }

    /// The name `X` of an include guard: `#if !defined(X)` or `#if !defined X`.
    pub(super) fn guard_of(&self, args: &[Token]) -> Option<Rc<str>> {
        let name = match args {
            [not, defined, name] if is(not, "!") && is_defined_word(defined) => name,
            [not, defined, open, name, close]
                if is(not, "!") && is_defined_word(defined) && is(open, "(") && is(close, ")") =>
            {
                name
            }
            _ => return None,
        };
        macro_name(name, self.sources)
    }

    /// Whether the expression of `#if` is true; a faulty one counts as false.
    fn condition(&mut self, span: Span, args: &[Token]) -> bool {
        self.in_condition = true;
        let pieces = self.expanded(Piece::row(args.to_vec()));
        self.in_condition = false;
        match super::condition::evaluate(&pieces, span, self.sources) {
            Ok(holds) => holds,
            Err(report) => {
                self.lost(report);
                false
            }
        }
    }
}

fn is(token: &Token, mark: &str) -> bool {
    matches!(token.kind, Kind::Punct(found) if found == mark)
}

fn is_defined_word(token: &Token) -> bool {
    matches!(&token.kind, Kind::Word(word) if &**word == "defined")
}

fn open(reader: &mut Reader, span: Span, outer: bool, holds: bool) {
    let active = outer && holds;
    reader.conditionals.push(Conditional {
        span,
        outer,
        active,
        taken: active,
        had_else: false,
    });
}

/// Notes a conditional that opens: at the beginning of a file it may be an include guard, whose macro is `name`.
fn note_guard(reader: &mut Reader, name: Option<Rc<str>>) {
    reader.guard = match (std::mem::replace(&mut reader.guard, Guard::No), name) {
        (Guard::Start, Some(name)) => Guard::Open(name),
        // A conditional inside of the guard.
        (Guard::Open(name), _) => Guard::Open(name),
        _ => Guard::No,
    };
}

/// Notes an `#else` of the guard itself: the file is not empty the second time.
fn not_a_guard(reader: &mut Reader) {
    if reader.conditionals.len() == 1 {
        reader.guard = Guard::No;
    }
}
