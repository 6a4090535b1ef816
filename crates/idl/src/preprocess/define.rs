//! `#define` and `#undef`: the table of macros.

use std::collections::HashMap;
use std::rc::Rc;

use super::Preprocessor;
use super::piece::{Piece, macro_name};
use crate::diagnostic::Report;
use crate::lexer::{Kind, Token};
use crate::source::Span;

/// The definition of a macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: Rc<str>,
    /// The place of its definition; `None` for a macro of the compiler.
    pub(super) span: Option<Span>,
    /// The names of its parameters; `None` for a macro without parentheses.
    pub(super) parameters: Option<Vec<Rc<str>>>,
    /// Whether the last parameter stands for all remaining arguments.
    pub(super) variadic: bool,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    Pieces(Vec<MacroPart>),
    /// `__LINE__`
    Line,
    /// `__FILE__`
    File,
    /// `__DATE__` or `__TIME__`, with the text of C for an unknown date or time, so that builds are reproducible.
    Text(&'static str),
}

/// A piece of the body of a macro, and the parameter that it names.
#[derive(Debug, Clone)]
pub(super) struct MacroPart {
    pub(super) piece: Piece,
    pub(super) parameter: Option<usize>,
}

/// The parameter that `...` declares.
pub(super) const REST: &str = "__VA_ARGS__";

/// Keeps the text in the parentheses after it if there are arguments for [`REST`].
pub(super) const IF_REST: &str = "__VA_OPT__";

/// The file name, in diagnostics, of the text made from [`Options::defines`](crate::Options::defines).
const OPTIONS: &str = "<defines>";

impl Preprocessor<'_> {
    /// Defines the predefined macros and those of the caller.
    pub(super) fn predefine(&mut self, defines: &[(String, String)]) {
        let ours = [
            ("__LINE__", Body::Line),
            ("__FILE__", Body::File),
            ("__DATE__", Body::Text("??? ?? ????")),
            ("__TIME__", Body::Text("??:??:??")),
        ];
        for (name, body) in ours {
            let name: Rc<str> = name.into();
            let known = Macro {
                name: Rc::clone(&name),
                span: None,
                parameters: None,
                variadic: false,
                body,
            };
            self.macros.insert(name, Rc::new(known));
        }
        // Each definition has a line of its own, which an error can show.
        let mut text = String::from("#define __ZORB_IDL__ 1\n");
        for (name, value) in defines {
            let line = format!("#define {name} {value}").replace(['\n', '\r'], " ");
            text.push_str(&line);
            text.push('\n');
        }
        let file = self.add(OPTIONS.to_owned(), None, text, false);
        self.sources.set_defines(file);
        self.file(file);
    }

    pub(super) fn define(&mut self, span: Span, args: &[Token]) {
        let name = args
            .first()
            .and_then(|token| macro_name(token, self.sources));
        let (Some(name), Some(first)) = (name, args.first()) else {
            return self
                .sink
                .report(Report::new(span, "expected a name behind `#define`"));
        };
        if &*name == "defined" {
            let message = "`defined` cannot be the name of a macro";
            return self.sink.report(Report::new(first.span, message));
        }
        if is_rest(&name) {
            return self.sink.report(misplaced(&name, first.span));
        }
        let mut rest = &args[1..];
        let (mut parameters, mut variadic) = (None, false);
        // Only a parenthesis directly after the name begins parameters.
        if let [paren, tail @ ..] = rest
            && paren.kind == Kind::Punct("(")
            && paren.span.start == first.span.end
        {
            match self.parameters(paren.span, tail) {
                Ok((names, body)) => {
                    variadic = names.last().is_some_and(|last| &**last == REST);
                    parameters = Some(names);
                    rest = body;
                }
                Err(report) => return self.lost(report),
            }
        }
        let body = match self.body(rest, parameters.as_deref()) {
            Ok(body) => body,
            Err(report) => return self.lost(report),
        };
        let new = Macro {
            name: Rc::clone(&name),
            span: Some(first.span),
            parameters,
            variadic,
            body: Body::Pieces(body),
        };
        if let Some(old) = self.macros.get(&name) {
            if !self.same(old, &new) {
                let message = format!("`{name}` is defined a second time with another value");
                let report = Report::new(first.span, message);
                let report = match old.span {
                    Some(span) => report.label(span, "first defined here"),
                    None => report.hint("the compiler itself defines it"),
                };
                self.sink.report(report);
            }
            return;
        }
        self.macros.insert(name, Rc::new(new));
    }

    pub(super) fn undefine(&mut self, span: Span, args: &[Token]) {
        match args
            .first()
            .and_then(|token| macro_name(token, self.sources))
        {
            Some(name) => {
                self.macros.remove(&name);
            }
            None => self
                .sink
                .report(Report::new(span, "expected a name behind `#undef`")),
        }
    }

    /// The names of the parameters up to `)`, and the tokens after it.
    fn parameters<'t>(
        &self,
        open: Span,
        mut rest: &'t [Token],
    ) -> Result<(Vec<Rc<str>>, &'t [Token]), Report> {
        let mut names: Vec<Rc<str>> = Vec::new();
        if let [close, body @ ..] = rest
            && close.kind == Kind::Punct(")")
        {
            return Ok((names, body));
        }
        loop {
            let unclosed = || Report::new(open, "the parameters of the macro are never closed");
            if let Some(behind) = dots(rest) {
                names.push(REST.into());
                let (close, body) = behind.split_first().ok_or_else(unclosed)?;
                return match close.kind {
                    Kind::Punct(")") => Ok((names, body)),
                    _ => Err(Report::new(close.span, "expected `)` behind `...`")),
                };
            }
            let (name, behind) = rest.split_first().ok_or_else(unclosed)?;
            let Some(text) = macro_name(name, self.sources) else {
                return Err(Report::new(name.span, "expected the name of a parameter"));
            };
            if is_rest(&text) {
                return Err(misplaced(&text, name.span));
            }
            if dots(behind).is_some() {
                let message = "what `...` stands for has no name of its own";
                let report = Report::new(name.span, message);
                return Err(report.hint(format!("leave out `{text}`, and write `{REST}` for it")));
            }
            if names.contains(&text) {
                let message = format!("two parameters are called `{text}`");
                return Err(Report::new(name.span, message));
            }
            names.push(text);
            let (mark, behind) = behind.split_first().ok_or_else(unclosed)?;
            rest = behind;
            match mark.kind {
                Kind::Punct(",") => {}
                Kind::Punct(")") => return Ok((names, rest)),
                _ => return Err(Report::new(mark.span, "expected `,` or `)`")),
            }
        }
    }

    /// The replacement of a macro: joins the two marks of `##`, finds parameters, and checks operators.
    fn body(
        &self,
        tokens: &[Token],
        parameters: Option<&[Rc<str>]>,
    ) -> Result<Vec<MacroPart>, Report> {
        // A macro may have hundreds of parameters.
        let numbers: HashMap<&str, usize> = parameters
            .unwrap_or_default()
            .iter()
            .enumerate()
            .map(|(number, name)| (&**name, number))
            .collect();
        let mut parts: Vec<MacroPart> = Vec::new();
        for piece in Piece::row(tokens.to_vec()) {
            if let Some(last) = parts.last_mut()
                && last.piece.is("#")
                && piece.is("#")
                && !piece.blank
            {
                last.piece.kind = Kind::Punct("##");
                continue;
            }
            let name = piece.macro_name(self.sources);
            let parameter = name.as_ref().and_then(|name| numbers.get(&**name).copied());
            if let Some(name) = name.filter(|name| is_rest(name))
                && !numbers.contains_key(REST)
            {
                return Err(misplaced(&name, piece.place));
            }
            parts.push(MacroPart { piece, parameter });
        }
        pasted(&parts)?;
        if numbers.contains_key(REST) {
            self.optional(&parts)?;
        }
        for (at, part) in parts.iter().enumerate() {
            let follows = parts
                .get(at + 1)
                .is_some_and(|next| next.parameter.is_some());
            if parameters.is_some() && part.piece.is("#") && !follows {
                let message = "`#` wants a parameter of the macro behind it";
                return Err(Report::new(part.piece.place, message));
            }
        }
        Ok(parts)
    }

    /// Checks that every [`IF_REST`] is followed by parentheses.
    fn optional(&self, parts: &[MacroPart]) -> Result<(), Report> {
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            at += 1;
            if !self.is_if_rest(part) {
                continue;
            }
            let Some(inner) = group(parts, at) else {
                let opens = parts.get(at).is_some_and(|next| next.piece.is("("));
                let message = match opens {
                    true => format!("the parenthesis behind `{IF_REST}` is never closed"),
                    false => format!("expected `(` behind `{IF_REST}`"),
                };
                return Err(Report::new(part.piece.place, message));
            };
            let inner = parts.get(inner).unwrap_or_default();
            if let Some(again) = inner.iter().find(|part| self.is_if_rest(part)) {
                let message = format!("`{IF_REST}` cannot stand within itself");
                return Err(Report::new(again.piece.place, message));
            }
            pasted(inner)?;
        }
        Ok(())
    }

    pub(super) fn is_if_rest(&self, part: &MacroPart) -> bool {
        matches!(part.piece.kind, Kind::Bad(_)) && part.piece.spelled(self.sources) == IF_REST
    }

    /// Whether two definitions of a macro are the same, so that the second one is permitted.
    fn same(&self, old: &Macro, new: &Macro) -> bool {
        let (Body::Pieces(a), Body::Pieces(b)) = (&old.body, &new.body) else {
            return false;
        };
        old.parameters == new.parameters
            && a.len() == b.len()
            && a.iter().zip(b).enumerate().all(|(at, (a, b))| {
                (at == 0 || a.piece.blank == b.piece.blank)
                    && a.piece.spelled(self.sources) == b.piece.spelled(self.sources)
            })
    }
}

/// The tokens after the `...` that `tokens` begin with.
fn dots(tokens: &[Token]) -> Option<&[Token]> {
    let dot = |token: &Token| token.kind == Kind::Punct(".");
    match tokens {
        [a, b, c, rest @ ..] if [a, b, c].into_iter().all(dot) => Some(rest),
        _ => None,
    }
}

/// The parts between the parenthesis at `open` and the one that closes it.
pub(super) fn group(parts: &[MacroPart], open: usize) -> Option<std::ops::Range<usize>> {
    let mut depth = 0_usize;
    for (at, part) in parts.iter().enumerate().skip(open) {
        if part.piece.is("(") {
            depth += 1;
        } else if part.piece.is(")") {
            depth = depth.checked_sub(1)?;
        }
        if depth == 0 {
            return part.piece.is(")").then_some(open + 1..at);
        }
    }
    None
}

/// Checks that every `##` has an operand on either side.
fn pasted(parts: &[MacroPart]) -> Result<(), Report> {
    for edge in [parts.first(), parts.last()].into_iter().flatten() {
        if edge.piece.is("##") {
            let message = "`##` needs something on both of its sides";
            return Err(Report::new(edge.piece.place, message));
        }
    }
    Ok(())
}

fn is_rest(name: &str) -> bool {
    [REST, IF_REST].contains(&name)
}

fn misplaced(name: &str, place: Span) -> Report {
    Report::new(place, format!("`{name}` stands only in a macro with `...`"))
}
