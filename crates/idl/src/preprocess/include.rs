//! `#include`: finding files, reading them, and not reading them for ever.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Preprocessor, lex_directive};
use crate::diagnostic::Report;
use crate::lexer::{Kind, Token, lex};
use crate::limits::{MAX_FILE_OCTETS, MAX_INCLUDE_DEPTH};
use crate::source::{FileId, Span};

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, directive: Span, at: Span) {
        let includer = self.sources.file(directive.file);
        let rest = includer.text[at.end as usize..directive.end as usize].trim();
        let named = |open: char, close: char| {
            rest.strip_prefix(open)
                .and_then(|rest| rest.split_once(close))
                .map(|(name, _)| name.trim().to_owned())
        };
        let (quoted, angled) = (named('"', '"'), named('<', '>'));
        let local = quoted.is_some();
        let Some(name) = quoted.or(angled).filter(|name| !name.is_empty()) else {
            return self.sink.report(
                Report::new(at, "expected a file behind `#include`")
                    .hint("write `#include \"file.idl\"` or `#include <file.idl>`"),
            );
        };
        // By the name it has for people, and not the canonical one, so that messages stay short.
        let own_dir = includer
            .path
            .as_ref()
            .and_then(|_| Path::new(&includer.name).parent());
        let dirs = own_dir
            .filter(|_| local)
            .into_iter()
            .map(Path::to_path_buf)
            .chain(self.include_dirs.iter().cloned());
        let candidates: Vec<PathBuf> = dirs.map(|dir| dir.join(&name)).collect();
        let place = Span::new(directive.file, at.start as usize, directive.end as usize);
        let Some(path) = candidates.iter().find(|path| path.exists()) else {
            // What stands in it (TypeCode and friends) is built in, or not supported yet.
            if name == "orb.idl" {
                return;
            }
            let searched: Vec<String> = candidates
                .iter()
                .map(|path| format!("`{}`", path.display()))
                .collect();
            let hint = match searched.is_empty() {
                true => "there is no include directory to look in".to_owned(),
                false => format!("looked for {}", searched.join(", ")),
            };
            return self
                .sink
                .report(Report::new(place, format!("cannot find the file `{name}`")).hint(hint));
        };
        let path = path.clone();
        match read(&path) {
            Ok((canonical, text)) => self.enter(place, &path, canonical, text),
            Err(cause) => {
                let message = format!("cannot read `{}`: {cause}", path.display());
                self.sink.report(Report::new(place, message));
            }
        }
    }

    fn enter(&mut self, place: Span, path: &Path, canonical: PathBuf, text: String) {
        if self.once.contains(&canonical) {
            return;
        }
        let file = self
            .sources
            .add(path.display().to_string(), Some(canonical), text, false);
        let path = &self.sources.file(file).path;
        if self
            .open_files
            .iter()
            .any(|&open| self.sources.file(open).path == *path)
        {
            // A guarded file may be named again while it is open: nothing is left of it the second time.
            if !self.guarded(file) {
                let name = &self.sources.file(file).name;
                let hint = "add an include guard: `#ifndef X`, `#define X`, `#endif`";
                self.sink
                    .report(Report::new(place, format!("`{name}` includes itself")).hint(hint));
            }
            return;
        }
        if self.open_files.len() >= MAX_INCLUDE_DEPTH {
            let message =
                format!("files include each other more than {MAX_INCLUDE_DEPTH} levels deep");
            return self.sink.report(Report::new(place, message));
        }
        self.file(file);
    }

    /// Whether `file` begins with an include guard that is already defined.
    fn guarded(&self, file: FileId) -> bool {
        let text = self.sources.file(file).text.as_str();
        let tokens = lex(file, text, 0, text.len());
        let Some(Token {
            kind: Kind::Directive,
            span,
            ..
        }) = tokens.first()
        else {
            return false;
        };
        let words = lex_directive(file, text, span.start as usize, span.end as usize);
        let words: Vec<&Kind> = words.iter().map(|token| &token.kind).collect();
        match words[..] {
            [Kind::Word(word), Kind::Word(name)] => {
                &**word == "ifndef" && self.macros.contains_key(name)
            }
            [
                Kind::Word(word),
                Kind::Bad(_),
                Kind::Word(_),
                Kind::Punct("("),
                Kind::Word(name),
                Kind::Punct(")"),
            ]
            | [
                Kind::Word(word),
                Kind::Bad(_),
                Kind::Word(_),
                Kind::Word(name),
            ] => &**word == "if" && self.macros.contains_key(name),
            _ => false,
        }
    }
}

/// The canonical path and the text of a file. Octets that are no UTF-8 are read as ISO 8859-1, which IDL is defined in.
pub(super) fn read(path: &Path) -> Result<(PathBuf, String), String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    // A pipe or a device could keep us for ever.
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if metadata.len() > MAX_FILE_OCTETS {
        return Err(format!("it is longer than {MAX_FILE_OCTETS} octets"));
    }
    let octets = fs::read(path).map_err(|error| error.to_string())?;
    let canonical = fs::canonicalize(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(octets)
        .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect());
    Ok((canonical, text))
}
