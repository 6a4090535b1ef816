//! `#include` and `import`: finding and reading files, within limits.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::Preprocessor;
use super::piece::{Piece, macro_name};
use crate::diagnostic::Report;
use crate::lexer::{Kind, Lexer, Token};
use crate::limits::{
    MAX_FILE_OCTETS, MAX_INCLUDE_DEPTH, MAX_INCLUDES, MAX_READ_OCTETS, MAX_SHOWN_CHARS,
};
use crate::source::{BUILTIN_NAME, FileId, Span, decode};

/// The argument of `#include`.
struct Wanted {
    name: String,
    /// Whether the name is in quotes: the directory of the including file is searched first.
    local: bool,
}

/// The built-in `orb.idl`, with declarations of module CORBA, for use if no directory has one.
const BUILTIN: &str = include_str!("../../idl/orb.idl");

/// The name of an `import`.
enum Imported {
    /// A module, by the first part of its name.
    Module(Rc<str>),
    File(Rc<str>),
}

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, directive: Span, at: Span, args: &[Token]) {
        let place = Span::new(directive.file, at.start as usize, directive.end as usize);
        let Some(Wanted { name, local }) = self.wanted(place, at, args) else {
            let report = Report::new(at, "expected a file behind `#include`");
            return self
                .lost(report.hint("write `#include \"file.idl\"` or `#include <file.idl>`"));
        };
        let candidates = self.candidates(directive.file, &name, local);
        let Some(path) = candidates.iter().find(|path| path.exists()) else {
            if name == "orb.idl" {
                return self.include_builtin(place);
            }
            let hint = missing(&candidates);
            let name = shown(&name);
            let report = Report::new(place, format!("cannot find the file `{name}`"));
            return self.lost(report.hint(hint));
        };
        match self.read_file(path, false) {
            Ok(file) => self.enter(place, file),
            Err(cause) => {
                let message = format!("cannot read `{}`: {cause}", path.display());
                self.lost(Report::new(place, message));
            }
        }
    }

    /// Handles an `import` that a `;` has just ended. For `import ::Name`, reads the file in which the OMG keeps module `Name`,
    /// before the statement; for `import "file"`, reads that file in place of the statement. Without such a file the module may
    /// have come from elsewhere, which the resolver decides.
    pub(super) fn import(&mut self) {
        let Some((start, imported)) = self.imported() else {
            return;
        };
        let name = match &imported {
            Imported::File(name) => name.to_string(),
            Imported::Module(name) if &**name == "CORBA" => "orb.idl".to_owned(),
            Imported::Module(name) => format!("{name}.idl"),
        };
        let statement = self.out.split_off(start);
        let place = statement.first().map(|word| word.span).unwrap_or_default();
        let candidates = self.candidates(place.file, &name, true);
        let found = candidates.iter().find(|path| path.is_file());
        if let Some(path) = found
            && !self.is_known(path)
        {
            match self.read_file(path, false) {
                Ok(file) => self.enter(place, file),
                Err(cause) => {
                    let message = format!("cannot read `{}`: {cause}", path.display());
                    self.lost(Report::new(place, message));
                }
            }
        }
        if found.is_none() && name == "orb.idl" {
            self.include_builtin(place);
        }
        if found.is_none() || matches!(imported, Imported::Module(_)) {
            self.out.extend(statement);
        }
    }

    /// Includes the [built-in](BUILTIN) `orb.idl`.
    fn include_builtin(&mut self, place: Span) {
        let known = self.known.get(Path::new(BUILTIN_NAME)).copied();
        let file = known
            .unwrap_or_else(|| self.add(BUILTIN_NAME.to_owned(), None, BUILTIN.to_owned(), false));
        self.known.insert(PathBuf::from(BUILTIN_NAME), file);
        self.enter(place, file);
    }

    /// The beginning and the target of the import whose `;` is the last token; `None` for any other statement.
    fn imported(&self) -> Option<(usize, Imported)> {
        let is_import =
            |token: &Token| matches!(&token.kind, Kind::Word(word) if &**word == "import");
        let mut at = self.out.len().checked_sub(2)?;
        let imported = if let Kind::Str(name) = &self.out.get(at)?.kind {
            at = at.checked_sub(1)?;
            Imported::File(Rc::clone(name))
        } else {
            // A scoped name, read from its end.
            loop {
                let (Kind::Word(name) | Kind::Escaped(name)) = &self.out.get(at)?.kind else {
                    return None;
                };
                at = at.checked_sub(1)?;
                if self.out.get(at)?.kind == Kind::Punct("::") {
                    at = at.checked_sub(1)?;
                }
                if is_import(self.out.get(at)?) {
                    break Imported::Module(Rc::clone(name));
                }
                if self.out.get(at + 1)?.kind != Kind::Punct("::") {
                    return None;
                }
            }
        };
        let before = at.checked_sub(1).and_then(|at| self.out.get(at));
        let begins = matches!(
            before.map(|token| &token.kind),
            None | Some(Kind::Punct(";" | "}") | Kind::Pragma(_))
        );
        (begins && is_import(self.out.get(at)?)).then_some((at, imported))
    }

    /// Whether the file at `path` has been read already.
    fn is_known(&self, path: &Path) -> bool {
        let canonical = path.canonicalize();
        canonical.is_ok_and(|path| self.known.contains_key(&path))
    }

    /// The file to include, as written or as the expansion of macros.
    fn wanted(&mut self, place: Span, at: Span, args: &[Token]) -> Option<Wanted> {
        let text = self.sources.file(place.file).text();
        let rest = text[at.end as usize..place.end as usize].trim();
        let between = |open: char, close: char| {
            let rest = rest.strip_prefix(open)?;
            rest.split_once(close)
                .map(|(name, _)| name.trim().to_owned())
        };
        let wanted = match (between('"', '"'), between('<', '>')) {
            (Some(name), _) => Wanted { name, local: true },
            (None, Some(name)) => Wanted { name, local: false },
            (None, None) => {
                let pieces = self.expanded(Piece::row(args.to_vec()));
                match pieces.as_slice() {
                    [one] if let Kind::Str(name) = &one.kind => Wanted {
                        name: name.to_string(),
                        local: true,
                    },
                    [open, name @ .., close] if open.is("<") && close.is(">") => Wanted {
                        name: name
                            .iter()
                            .map(|piece| piece.spelled(self.sources))
                            .collect(),
                        local: false,
                    },
                    _ => return None,
                }
            }
        };
        (!wanted.name.is_empty()).then_some(wanted)
    }

    /// The paths at which the file may be, in the order of the search.
    fn candidates(&self, includer: FileId, name: &str, local: bool) -> Vec<PathBuf> {
        let includer = self.sources.file(includer);
        // The name as written, not the canonical path, so that messages stay short.
        let own_dir = includer
            .path
            .as_ref()
            .and_then(|_| Path::new(&includer.name).parent());
        let own_dir = own_dir.filter(|_| local).map(Path::to_path_buf);
        let dirs: Vec<PathBuf> = own_dir
            .into_iter()
            .chain(self.include_dirs.iter().cloned())
            .collect();
        let mut candidates: Vec<PathBuf> = dirs.iter().map(|dir| dir.join(name)).collect();
        // The name may be written for a system that separates directories by backslashes.
        if name.contains('\\') {
            let name = name.replace('\\', "/");
            candidates.extend(dirs.iter().map(|dir| dir.join(&name)));
        }
        candidates
    }

    fn enter(&mut self, place: Span, file: FileId) {
        let done = |name| self.macros.contains_key(name);
        if self.once.contains(&file) || self.guards.get(&file).is_some_and(done) {
            return;
        }
        self.sources.include(file, place);
        if self.open_files.contains(&file) {
            // A guarded file may be included again while it is open: it is empty the second time.
            if !self.guarded(file) {
                let name = &self.sources.file(file).name;
                let hint = "add an include guard: `#ifndef X`, `#define X`, `#endif`";
                let report = Report::new(place, format!("`{name}` includes itself"));
                self.lost(report.hint(hint));
            }
            return;
        }
        if self.open_files.len() >= MAX_INCLUDE_DEPTH {
            let message =
                format!("files include each other more than {MAX_INCLUDE_DEPTH} levels deep");
            return self.lost(Report::new(place, message));
        }
        self.includes += 1;
        if self.includes > MAX_INCLUDES {
            return self.overflow(
                place,
                format!("files are included more than {MAX_INCLUDES} times"),
            );
        }
        self.file(file);
    }

    /// Whether `file` begins with an include guard that is already defined.
    fn guarded(&mut self, file: FileId) -> bool {
        let text = self.sources.file(file).text().clone();
        let range = 0..text.len();
        let mut lexer = Lexer::new(file, text, range);
        let mut tokens = std::iter::from_fn(|| lexer.next(&mut self.words));
        let Some(Token {
            kind: Kind::Directive,
            span,
            ..
        }) = tokens.find(|token| !matches!(token.kind, Kind::TrailingComment(_)))
        else {
            return false;
        };
        let words = self.directive_words(span);
        let Some((
            Token {
                kind: Kind::Word(word),
                ..
            },
            args,
        )) = words.split_first()
        else {
            return false;
        };
        let name = match &**word {
            "ifndef" => args.first().and_then(|name| macro_name(name, self.sources)),
            "if" => self.guard_of(args),
            _ => None,
        };
        name.is_some_and(|name| self.macros.contains_key(&name))
    }

    /// The file at `path`, which is read unless it was read before.
    pub(super) fn read_file(&mut self, path: &Path, main: bool) -> Result<FileId, String> {
        let canonical = fs::canonicalize(path).map_err(|error| error.to_string())?;
        if let Some(&file) = self.known.get(&canonical) {
            if main {
                self.sources.make_main(file);
            }
            return Ok(file);
        }
        let metadata = fs::metadata(&canonical).map_err(|error| error.to_string())?;
        // Reading a pipe or a device might never end.
        if !metadata.is_file() {
            return Err("it is not a regular file".to_owned());
        }
        if metadata.len() > MAX_FILE_OCTETS {
            return Err(format!("it is longer than {MAX_FILE_OCTETS} octets"));
        }
        self.read_octets = self.read_octets.saturating_add(metadata.len());
        if self.read_octets > MAX_READ_OCTETS {
            return Err(format!(
                "all files together are longer than {MAX_READ_OCTETS} octets"
            ));
        }
        let octets = fs::read(&canonical).map_err(|error| error.to_string())?;
        let name = path.display().to_string();
        let file = self.add(name, Some(canonical.clone()), decode(octets), main);
        self.known.insert(canonical, file);
        Ok(file)
    }
}

/// The message for a file that was not found.
fn missing(candidates: &[PathBuf]) -> String {
    if candidates.is_empty() {
        return "no include directory is set".to_owned();
    }
    if let Some(other) = candidates.iter().find_map(|path| in_other_case(path)) {
        return format!(
            "there is `{}`: file names are case-sensitive",
            other.display()
        );
    }
    let searched: Vec<String> = candidates
        .iter()
        .map(|path| format!("`{}`", shown(&path.display().to_string())))
        .collect();
    format!("looked for {}", searched.join(", "))
}

/// A file whose name differs from `path` in case only.
fn in_other_case(path: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?;
    let mut entries = fs::read_dir(path.parent()?).ok()?.flatten();
    let found = entries.find(|entry| entry.file_name().eq_ignore_ascii_case(wanted))?;
    Some(path.with_file_name(found.file_name()))
}

/// The name of a file as a message shows it, limited in length.
fn shown(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((at, _)) => Cow::Owned(format!("{}\u{2026}", &name[..at])),
        None => Cow::Borrowed(name),
    }
}
