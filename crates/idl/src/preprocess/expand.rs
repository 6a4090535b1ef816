//! Macro expansion by the rules of C: the expansion is scanned again together with the text after it, and a macro is not
//! expanded within its own expansion.

use std::rc::Rc;
use std::vec::IntoIter;

use super::define::Macro;
use super::piece::Piece;
use super::{Preprocessor, Reader};
use crate::diagnostic::Report;
use crate::lexer::Kind;
use crate::limits::{MAX_MACRO_DEPTH, MAX_MACRO_TOKENS};
use crate::source::Span;

/// Pieces that have yet to be scanned, and the macro that made them.
pub(super) struct Expansion {
    pieces: IntoIter<Piece>,
    by: Option<Rc<Macro>>,
}

/// The source of pieces: the expansions above `base` on the stack, followed by a file, if there is one.
struct Supply<'r> {
    base: usize,
    reader: Option<&'r mut Reader>,
}

impl Preprocessor<'_> {
    /// Emits the expansion of `first`, which was just read from a file.
    pub(super) fn expand(&mut self, first: Piece, reader: &mut Reader) {
        let mut supply = Supply {
            base: self.stack.len(),
            reader: Some(reader),
        };
        let mut first = Some(first);
        while let Some(piece) = first.take().or_else(|| self.pop(supply.base)) {
            if let Some(piece) = self.step(piece, &mut supply) {
                let token = piece.token(&self.prefix);
                self.emit(token);
            }
            if self.full {
                self.stack.truncate(supply.base);
            }
        }
    }

    /// `pieces` with every macro in them expanded, independent of the text after them.
    pub(super) fn expanded(&mut self, pieces: Vec<Piece>) -> Vec<Piece> {
        let mut supply = Supply {
            base: self.stack.len(),
            reader: None,
        };
        self.stack.push(Expansion {
            pieces: pieces.into_iter(),
            by: None,
        });
        let mut done = Vec::new();
        while let Some(piece) = self.pop(supply.base) {
            done.extend(self.step(piece, &mut supply));
            if self.full {
                self.stack.truncate(supply.base);
            }
        }
        done
    }

    /// The next piece above `base`. An exhausted expansion is removed, so that its macro may be used again.
    fn pop(&mut self, base: usize) -> Option<Piece> {
        while self.stack.len() > base {
            let piece = self.stack.last_mut().and_then(|top| top.pieces.next());
            if piece.is_some() {
                return piece;
            }
            self.stack.pop();
        }
        None
    }

    /// Returns `piece`, unless it is the use of a macro, whose expansion goes onto the stack.
    fn step(&mut self, mut piece: Piece, supply: &mut Supply<'_>) -> Option<Piece> {
        if piece.frozen {
            return Some(piece);
        }
        if self.in_condition && matches!(&piece.kind, Kind::Word(word) if &**word == "defined") {
            return self.defined(piece, supply);
        }
        let found = piece
            .macro_name(self.sources)
            .and_then(|name| self.macros.get(&name));
        let Some(found) = found.map(Rc::clone) else {
            return Some(piece);
        };
        let made_it =
            |context: &Expansion| context.by.as_ref().is_some_and(|by| Rc::ptr_eq(by, &found));
        if self.stack.iter().any(made_it) {
            piece.frozen = true;
            return Some(piece);
        }
        if found.parameters.is_some() && !self.opens_call(supply) {
            return Some(piece);
        }
        if self.stack.len() >= MAX_MACRO_DEPTH {
            let message =
                format!("macros expand into each other more than {MAX_MACRO_DEPTH} levels deep");
            self.overflow(piece.place, message);
            return None;
        }
        let arguments = match &found.parameters {
            None => Vec::new(),
            Some(parameters) => match self.arguments(&found, parameters.len(), &piece, supply) {
                Ok(arguments) => arguments,
                Err(report) => {
                    self.lost(report);
                    // The parser treats it as an error that was reported.
                    return Some(piece.with(Kind::Bad("".into())));
                }
            },
        };
        let place = piece.place;
        if let Some(definition) = found.span {
            self.sources.expand(place, definition);
        }
        let mut pieces = self.substitute(&found, arguments, place);
        self.macro_tokens += pieces.len().max(1);
        if self.macro_tokens > MAX_MACRO_TOKENS {
            self.overflow(
                place,
                format!("macros make more than {MAX_MACRO_TOKENS} tokens"),
            );
            return None;
        }
        if let Some(first) = pieces.first_mut() {
            first.blank = piece.blank;
            first.doc = piece.doc.take();
        }
        self.stack.push(Expansion {
            pieces: pieces.into_iter(),
            by: Some(found),
        });
        None
    }

    /// The value of `defined X` or `defined(X)`, as 1 or 0. The name is read without expanding macros.
    fn defined(&mut self, piece: Piece, supply: &mut Supply<'_>) -> Option<Piece> {
        let mut next = self.pull(supply, piece.place);
        let in_parentheses = next.as_ref().is_some_and(|next| next.is("("));
        if in_parentheses {
            next = self.pull(supply, piece.place);
        }
        let name = next.and_then(|next| next.macro_name(self.sources));
        let closed = !in_parentheses
            || self
                .pull(supply, piece.place)
                .is_some_and(|next| next.is(")"));
        match name.filter(|_| closed) {
            Some(name) => {
                let known = self.macros.contains_key(&name);
                Some(piece.with(Kind::Integer(u64::from(known))))
            }
            None => {
                let report = Report::new(piece.place, "expected a name behind `defined`");
                self.lost(report.hint("write `defined X` or `defined(X)`"));
                // One error is enough.
                self.stack.truncate(supply.base);
                Some(piece.with(Kind::Integer(0)))
            }
        }
    }

    /// Whether the next piece is `(`. Looks past the ends of expansions, without removing them.
    fn opens_call(&mut self, supply: &mut Supply<'_>) -> bool {
        let above = self.stack.get(supply.base..).unwrap_or_default();
        let next = above
            .iter()
            .rev()
            .find_map(|context| context.pieces.as_slice().first());
        if let Some(piece) = next {
            return piece.is("(");
        }
        let Some(reader) = &mut supply.reader else {
            return false;
        };
        if reader.ahead.is_none() {
            reader.ahead = reader.read(&mut self.words);
        }
        matches!(&reader.ahead, Some(token) if token.kind == Kind::Punct("("))
    }

    /// The next piece, from an expansion or from the file.
    fn pull(&mut self, supply: &mut Supply<'_>, caller: Span) -> Option<Piece> {
        if let Some(piece) = self.pop(supply.base) {
            return Some(piece);
        }
        let reader = supply.reader.as_deref_mut()?;
        let token = self.next(reader, Some(caller))?;
        let blank = token.span.start != reader.last_end;
        reader.last_end = token.span.end;
        Some(Piece::of(token, blank))
    }

    /// The arguments between the parentheses after the name `used`.
    fn arguments(
        &mut self,
        called: &Macro,
        wanted: usize,
        used: &Piece,
        supply: &mut Supply<'_>,
    ) -> Result<Vec<Vec<Piece>>, Report> {
        let unclosed = || {
            let message = format!("the arguments of `{}` are never closed", called.name);
            with_definition(Report::new(used.place, message), called)
        };
        // The opening parenthesis, which was seen before.
        self.pull(supply, used.place).ok_or_else(unclosed)?;
        let mut arguments = Vec::new();
        let mut argument = Vec::new();
        let mut depth = 0_usize;
        loop {
            let piece = self.pull(supply, used.place).ok_or_else(unclosed)?;
            match piece.kind {
                Kind::Punct(")") if depth == 0 => break,
                // The last parameter of a variadic macro has the commas as well.
                Kind::Punct(",")
                    if depth == 0 && !(called.variadic && arguments.len() + 1 == wanted) =>
                {
                    arguments.push(std::mem::take(&mut argument));
                    continue;
                }
                Kind::Punct("(") => depth += 1,
                Kind::Punct(")") => depth -= 1,
                _ => {}
            }
            argument.push(piece);
        }
        // No argument and a single empty one have the same text.
        if wanted > 0 || !argument.is_empty() || !arguments.is_empty() {
            arguments.push(argument);
        }
        // The variadic parameter gets no arguments.
        if called.variadic && arguments.len() + 1 == wanted {
            arguments.push(Vec::new());
        }
        if arguments.len() != wanted {
            let (least, wanted) = match called.variadic {
                true => ("at least ", wanted.saturating_sub(1)),
                false => ("", wanted),
            };
            let plural = if wanted == 1 { "" } else { "s" };
            let given = arguments.len();
            let message = format!(
                "`{}` takes {least}{wanted} argument{plural}, and is given {given}",
                called.name
            );
            return Err(with_definition(Report::new(used.place, message), called));
        }
        Ok(arguments)
    }
}

/// Adds a label for the definition of the macro.
fn with_definition(report: Report, called: &Macro) -> Report {
    match called.span {
        Some(span) => report.label(span, "the macro is defined here"),
        None => report,
    }
}
