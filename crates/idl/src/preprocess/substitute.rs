//! Substitution of arguments in the body of a macro: `#` makes a string of an argument, `##` one token of two.

use std::rc::Rc;

use super::Preprocessor;
use super::define::{Body, Macro, MacroPart, group};
use super::piece::{Piece, Spelling};
use crate::diagnostic::Report;
use crate::lexer::{Kind, lex};
use crate::limits::{MAX_MACRO_OCTETS, MAX_MACRO_TOKENS};
use crate::source::{FileId, Span};
use std::borrow::Cow;

/// An argument as it was written and, once needed, with its macros expanded.
struct Argument {
    written: Vec<Piece>,
    expanded: Option<Vec<Piece>>,
}

impl Preprocessor<'_> {
    /// The expansion of `found`, used at `place`. Stops at the limit on tokens that macros may make.
    pub(super) fn substitute(
        &mut self,
        found: &Macro,
        arguments: Vec<Vec<Piece>>,
        place: Span,
    ) -> Vec<Piece> {
        let parts = match &found.body {
            Body::Pieces(parts) => parts,
            Body::Line => {
                let line = self.sources.line(place).0;
                let kind = Kind::Integer(u64::try_from(line).unwrap_or(u64::MAX));
                return vec![made(kind, line.to_string(), place)];
            }
            Body::File => {
                let name = self.sources.line(place).1.to_owned();
                return vec![made_string(&name, place)];
            }
            Body::Text(text) => return vec![made_string(text, place)],
        };
        let mut arguments: Vec<Argument> = arguments
            .into_iter()
            .map(|written| Argument {
                written,
                expanded: None,
            })
            .collect();
        let parts = &*match found.variadic {
            true => self.settled(parts, &mut arguments, place),
            false => Cow::Borrowed(&**parts),
        };
        let mut out: Vec<Piece> = Vec::new();
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            if out.len() > MAX_MACRO_TOKENS {
                break;
            }
            let pastes = |at: usize| parts.get(at).is_some_and(|part| part.piece.is("##"));
            if let Some(number) = swallows(found, parts, at) {
                // `, ## __VA_ARGS__`: the comma is kept if there are arguments, and nothing is pasted.
                let written = arguments
                    .get(number)
                    .map(|argument| argument.written.clone());
                let written = written.unwrap_or_default();
                if !written.is_empty() {
                    out.push(at_place(&part.piece, place));
                    out.extend(written);
                }
                at += 3;
            } else if part.piece.is("##") && at > 0 {
                let (right, taken) = self.operand(parts, at + 1, &arguments, place);
                self.paste(&mut out, right, place);
                at += 1 + taken;
            } else if pastes(at + 1) || is_string(found, part) && pastes(at + 2) {
                let (mut left, taken) = self.operand(parts, at, &arguments, place);
                if left.is_empty() {
                    // An empty piece, so that it is the operand of `##`, and not the piece before it.
                    left.push(made(Kind::Bad("".into()), String::new(), place));
                }
                out.append(&mut left);
                at += taken;
            } else if is_string(found, part) {
                let (mut string, taken) = self.operand(parts, at, &arguments, place);
                out.append(&mut string);
                at += taken;
            } else if let Some(number) = part.parameter {
                let mut pieces = self.argument(&mut arguments, number);
                if let Some(first) = pieces.first_mut() {
                    first.blank = part.piece.blank;
                }
                out.append(&mut pieces);
                at += 1;
            } else {
                out.push(at_place(&part.piece, place));
                at += 1;
            }
        }
        // Remove the empty pieces.
        out.retain(|piece| !matches!(&piece.spelling, Spelling::Made(text) if text.is_empty()));
        out
    }

    /// The parts of the body of a variadic macro in which every `__VA_OPT__(…)` is replaced by its contents or by an empty
    /// piece.
    fn settled<'p>(
        &mut self,
        parts: &'p [MacroPart],
        arguments: &mut [Argument],
        place: Span,
    ) -> Cow<'p, [MacroPart]> {
        if !parts.iter().any(|part| self.is_if_rest(part)) {
            return Cow::Borrowed(parts);
        }
        let rest = arguments.len().saturating_sub(1);
        let keeps = !self.argument(arguments, rest).is_empty();
        let mut settled = Vec::new();
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            at += 1;
            let inner = match self.is_if_rest(part) {
                true => group(parts, at),
                false => None,
            };
            let Some(inner) = inner else {
                settled.push(part.clone());
                continue;
            };
            at = inner.end + 1;
            let inner = parts.get(inner).filter(|inner| keeps && !inner.is_empty());
            match inner {
                Some(inner) => settled.extend_from_slice(inner),
                None => settled.push(MacroPart {
                    piece: made(Kind::Bad("".into()), String::new(), place),
                    parameter: None,
                }),
            }
        }
        Cow::Owned(settled)
    }

    /// The pieces of an operand of `##`, whose macros are not expanded, and the number of parts of the body that it takes.
    fn operand(
        &mut self,
        parts: &[MacroPart],
        at: usize,
        arguments: &[Argument],
        place: Span,
    ) -> (Vec<Piece>, usize) {
        let written = |part: &MacroPart| {
            let argument = part.parameter.and_then(|number| arguments.get(number));
            argument.map(|argument| argument.written.clone())
        };
        match (parts.get(at), parts.get(at + 1)) {
            (Some(hash), Some(name)) if hash.piece.is("#") && name.parameter.is_some() => {
                let argument = written(name).unwrap_or_default();
                let mut string = self.stringified(&argument, place);
                string.blank = hash.piece.blank;
                (vec![string], 2)
            }
            (Some(part), _) => {
                let pieces = written(part).unwrap_or_else(|| vec![at_place(&part.piece, place)]);
                (pieces, 1)
            }
            (None, _) => (Vec::new(), 1),
        }
    }

    fn argument(&mut self, arguments: &mut [Argument], number: usize) -> Vec<Piece> {
        let Some(argument) = arguments.get_mut(number) else {
            return Vec::new();
        };
        if argument.expanded.is_none() {
            argument.expanded = Some(self.expanded(argument.written.clone()));
        }
        argument.expanded.clone().unwrap_or_default()
    }

    /// Whether macros may make so many more octets of text. Reports the limit.
    fn may_make(&mut self, octets: usize, place: Span) -> bool {
        self.macro_octets = self.macro_octets.saturating_add(octets);
        let fits = self.macro_octets <= MAX_MACRO_OCTETS;
        if !fits {
            let message = format!("macros make more than {MAX_MACRO_OCTETS} octets of text");
            self.overflow(place, message);
        }
        fits
    }

    /// `#argument`: a string literal of the spelling, with runs of blanks as one.
    fn stringified(&mut self, argument: &[Piece], place: Span) -> Piece {
        let octets = argument
            .iter()
            .map(|piece| piece.spelled(self.sources).len() + 1);
        let octets = octets.sum();
        // The text counts twice: as the value and as the spelling.
        if !self.may_make(2 * octets, place) {
            return made_string("", place);
        }
        let mut text = String::with_capacity(octets);
        for (index, piece) in argument.iter().enumerate() {
            if piece.blank && index > 0 {
                text.push(' ');
            }
            text.push_str(piece.spelled(self.sources));
        }
        made_string(&text, place)
    }

    /// Joins the last of `out` and the first of `right` to one token.
    fn paste(&mut self, out: &mut Vec<Piece>, right: Vec<Piece>, place: Span) {
        let mut right = right.into_iter();
        let Some(first) = right.next() else {
            return;
        };
        if let Some(last) = out.pop() {
            let octets = [&last, &first].map(|piece| piece.spelled(self.sources).len());
            if !self.may_make(octets.iter().sum(), place) {
                return;
            }
            let text = [last.spelled(self.sources), first.spelled(self.sources)].concat();
            let text: Rc<str> = text.into();
            let tokens = lex(FileId::default(), &text, 0..text.len(), &mut self.words);
            let joined = match tokens.as_slice() {
                [] if text.is_empty() => Kind::Bad("".into()),
                // `_` and `__x` are invalid in IDL, and valid as parts of further pasting.
                [one] if one.span.end as usize == text.len() && one.kind != Kind::Directive => {
                    one.kind.clone()
                }
                _ => {
                    let quote = |piece: &Piece| piece.spelled(self.sources).to_owned();
                    let message = format!(
                        "`##` cannot make one token of `{}` and `{}`",
                        quote(&last),
                        quote(&first)
                    );
                    self.lost(Report::new(place, message));
                    Kind::Bad("".into())
                }
            };
            out.push(Piece {
                kind: joined,
                doc: None,
                place: last.place,
                spelling: Spelling::Made(text),
                blank: last.blank,
                frozen: false,
            });
        } else {
            out.push(first);
        }
        out.extend(right);
    }
}

/// The parameter for the rest, if `, ## __VA_ARGS__` stands at `at`.
fn swallows(found: &Macro, parts: &[MacroPart], at: usize) -> Option<usize> {
    let [comma, paste, rest] = parts.get(at..at.checked_add(3)?)? else {
        return None;
    };
    let last = found.parameters.as_ref()?.len().checked_sub(1);
    let swallows = found.variadic && comma.piece.is(",") && paste.piece.is("##");
    rest.parameter
        .filter(|_| swallows && rest.parameter == last)
}

/// Whether `part` is the `#` before a parameter.
fn is_string(found: &Macro, part: &MacroPart) -> bool {
    found.parameters.is_some() && part.piece.is("#")
}

/// A piece of a body, with the use of the macro as its place.
fn at_place(piece: &Piece, place: Span) -> Piece {
    Piece {
        place,
        ..piece.clone()
    }
}

fn made(kind: Kind, spelled: String, place: Span) -> Piece {
    Piece {
        kind,
        doc: None,
        place,
        spelling: Spelling::Made(spelled.into()),
        blank: false,
        frozen: false,
    }
}

/// A string literal whose value is `text`.
fn made_string(text: &str, place: Span) -> Piece {
    let spelled = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    made(Kind::Str(text.into()), spelled, place)
}
