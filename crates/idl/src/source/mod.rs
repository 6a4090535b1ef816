//! Where text came from: files, and positions in them.

mod text;

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use crate::limits::MAX_SHOWN_CHARS;
use crate::options::{Setting, Settings};
use text::Text;
pub(crate) use text::{NoText, decode};

/// Index of a file in its [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct FileId(u32);

/// A run of octets in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Span {
    pub(crate) file: FileId,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(file: FileId, start: usize, end: usize) -> Self {
        // Files are bounded by `MAX_FILE_OCTETS`, so that positions fit.
        Self {
            file,
            start: u32::try_from(start).unwrap_or(u32::MAX),
            end: u32::try_from(end).unwrap_or(u32::MAX),
        }
    }

    /// The zero-width place right behind `self`.
    pub(crate) fn after(self) -> Self {
        Self {
            start: self.end,
            ..self
        }
    }

    /// The zero-width place right in front of `self`.
    pub(crate) fn before(self) -> Self {
        Self {
            end: self.start,
            ..self
        }
    }

    /// From the start of `self` to the end of `other`; `self` when they lie in different files.
    pub(crate) fn to(self, other: Self) -> Self {
        if self.file == other.file && other.end >= self.start {
            Self {
                end: other.end,
                ..self
            }
        } else {
            self
        }
    }
}

/// How diagnostics call the `orb.idl` that is built in. No file has such a name, since those are absolute paths.
pub(crate) const BUILTIN_NAME: &str = "<orb.idl>";

/// One text and where its lines begin.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// How diagnostics call it.
    pub(crate) name: String,
    /// Canonical path; `None` for text that never was a file.
    pub(crate) path: Option<PathBuf>,
    text: Text,
    /// Asked for by name, as opposed to included.
    pub(crate) main: bool,
    line_starts: Vec<usize>,
    /// The `#line` directives, in order.
    renumbered: Vec<Renumbered>,
    /// The first `#include` of it, or `import`.
    included: Option<Span>,
}

/// From `line` on, lines are reported as others.
#[derive(Debug)]
struct Renumbered {
    line: usize,
    reported: usize,
    /// `None` leaves the name as it is.
    file: Option<String>,
}

impl SourceFile {
    /// The text of spans.
    pub(crate) fn text(&self) -> &Rc<str> {
        &self.text.clean
    }

    /// The line, from 1, that octet `at` of the original lies on.
    fn physical_line(&self, at: usize) -> usize {
        self.line_starts
            .partition_point(|&start| start <= at)
            .max(1)
    }

    /// The number and file under which `line` is reported.
    fn reported_line(&self, line: usize) -> (usize, &str) {
        let behind = self.renumbered.partition_point(|mark| mark.line <= line);
        match behind.checked_sub(1).and_then(|at| self.renumbered.get(at)) {
            Some(mark) => (
                mark.reported.saturating_add(line - mark.line),
                mark.file.as_deref().unwrap_or(&self.name),
            ),
            None => (line, &self.name),
        }
    }
}

/// A position as people count: from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// Characters on that line; at least 1.
    pub(crate) length: usize,
    /// The line, or the part of it around the column when it is long.
    pub(crate) source_line: String,
    /// The column that `source_line` begins at: 1, unless the line is long.
    pub(crate) source_column: usize,
}

/// Columns from one tab stop to the next.
const TAB: usize = 8;

/// The line that something begins on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// From 1, whatever `#line` says.
    pub(crate) line: usize,
    /// Columns of blanks at the beginning of the line.
    pub(crate) indent: usize,
    /// Nothing but blanks stands before it.
    pub(crate) first: bool,
}

/// All texts of one compilation.
#[derive(Debug, Default)]
pub(crate) struct SourceMap {
    files: Vec<SourceFile>,
    settings: Option<Settings>,
    /// Where macros are used, and where the name of each stands in its definition.
    expansions: HashMap<Span, Span>,
    /// The text that the macros of [`Options::defines`](crate::Options::defines) are made of.
    defines: Option<FileId>,
}

impl SourceMap {
    /// Adds a text; the second value is why it cannot be compiled, in which case it counts as empty.
    pub(crate) fn add(
        &mut self,
        name: String,
        path: Option<PathBuf>,
        text: String,
        main: bool,
    ) -> (FileId, Option<NoText>) {
        let (text, fault) = Text::new(text);
        let line_ends = text.original().match_indices('\n');
        let line_starts = std::iter::once(0)
            .chain(line_ends.map(|(at, _)| at + 1))
            .collect();
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile {
            name,
            path,
            text,
            main,
            line_starts,
            renumbered: Vec::new(),
            included: None,
        });
        (id, fault)
    }

    /// Adds the file that options have their places in.
    pub(crate) fn add_settings(&mut self) -> Settings {
        let (file, _) = self.add("<options>".to_owned(), None, String::new(), false);
        let settings = Settings { file };
        self.settings = Some(settings);
        settings
    }

    /// Notes that each line of `file` but the first is one of the macros that the options define.
    pub(crate) fn set_defines(&mut self, file: FileId) {
        self.defines = Some(file);
    }

    /// The option that `span` is a place of.
    pub(crate) fn setting(&self, span: Span) -> Option<Setting> {
        if self.defines == Some(span.file) {
            return self.line(span).0.checked_sub(2).map(Setting::Define);
        }
        self.settings.and_then(|settings| settings.at(span))
    }

    pub(crate) fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Notes that `id` is included at `place`.
    pub(crate) fn include(&mut self, id: FileId, place: Span) {
        let file = &mut self.files[id.0 as usize];
        file.included.get_or_insert(place);
    }

    /// Where `id` was first included, unless it was asked for by name.
    pub(crate) fn included(&self, id: FileId) -> Option<Span> {
        let file = self.file(id);
        file.included.filter(|_| !file.main)
    }

    /// Notes that what stands at `place` is a macro that is defined at `definition`.
    pub(crate) fn expand(&mut self, place: Span, definition: Span) {
        // Its own expansions are at the same place, and less specific.
        self.expansions.entry(place).or_insert(definition);
    }

    /// Where the macro at `place` is defined, if there is one.
    pub(crate) fn expansion(&self, place: Span) -> Option<Span> {
        self.expansions.get(&place).copied()
    }

    /// Notes that `id` was asked for by name after all.
    pub(crate) fn make_main(&mut self, id: FileId) {
        self.files[id.0 as usize].main = true;
    }

    /// The text of `span`, without line splices.
    pub(crate) fn text(&self, span: Span) -> &str {
        let text: &str = self.file(span.file).text();
        text.get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// The line behind that of `directive` is reported as line `reported`, of `file` if that is given.
    pub(crate) fn renumber(&mut self, directive: Span, reported: usize, file: Option<String>) {
        let source = &mut self.files[directive.file.0 as usize];
        let line = source.physical_line(source.text.end(directive.end as usize)) + 1;
        // A file that is read a second time says the same again.
        if source
            .renumbered
            .last()
            .is_some_and(|last| last.line >= line)
        {
            return;
        }
        let before = source.renumbered.last().and_then(|last| last.file.clone());
        source.renumbered.push(Renumbered {
            line,
            reported,
            file: file.or(before),
        });
    }

    /// Canonical paths of everything that was read from disk, each once, in reading order.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut known = std::collections::HashSet::new();
        let paths = self.files.iter().filter_map(|file| file.path.as_ref());
        paths.filter(|path| known.insert(*path)).cloned().collect()
    }

    /// The number of the line `span` begins on, and the name of its file, as they are reported.
    pub(crate) fn line(&self, span: Span) -> (usize, &str) {
        let file = self.file(span.file);
        file.reported_line(file.physical_line(file.text.begin(span.start as usize)))
    }

    /// How `span` lies on the line it begins on.
    pub(crate) fn layout(&self, span: Span) -> Layout {
        let file = self.file(span.file);
        let text = file.text.original();
        let start = floor_boundary(text, file.text.begin(span.start as usize));
        let line = file.physical_line(start);
        let line_start = file.line_starts.get(line - 1).copied().unwrap_or(0);
        let before = &text[line_start.min(start)..start];
        let blank = before.chars().take_while(|c| c.is_whitespace());
        let indent = blank.fold(0, |column, c| match c {
            '\t' => (column / TAB + 1) * TAB,
            _ => column + 1,
        });
        Layout {
            line,
            indent,
            first: before.trim_start().is_empty(),
        }
    }

    pub(crate) fn location(&self, span: Span) -> Location {
        let file = self.file(span.file);
        let text = file.text.original();
        let start = floor_boundary(text, file.text.begin(span.start as usize));
        let end = floor_boundary(text, file.text.end(span.end as usize)).max(start);
        let line = file.physical_line(start);
        let line_start = file.line_starts.get(line - 1).copied().unwrap_or(0);
        let line_end = text[line_start..]
            .find('\n')
            .map_or(text.len(), |at| line_start + at);
        let source_line = text[line_start..line_end].trim_end_matches('\r');
        let column = text[line_start..start].chars().count() + 1;
        let length = text[start..end.min(line_end).max(start)]
            .chars()
            .count()
            .max(1);
        let (source_column, source_line) = part(source_line, start - line_start, column);
        let (line, name) = file.reported_line(line);
        Location {
            file: name.to_owned(),
            line,
            column,
            length,
            source_line,
            source_column,
        }
    }
}

/// As much of a line as people like to see, with some of what is before octet `at`, which is character `column`; and
/// the column it begins at.
fn part(line: &str, at: usize, column: usize) -> (usize, String) {
    let (before, behind) = line.split_at(at.min(line.len()));
    if line.len() <= MAX_SHOWN_CHARS {
        return (1, line.to_owned());
    }
    let context = MAX_SHOWN_CHARS / 3;
    let kept = before.chars().rev().take(context).map(char::len_utf8);
    let (kept_chars, kept_octets) = kept.fold((0, 0), |(n, sum), length| (n + 1, sum + length));
    let shown = before[before.len() - kept_octets..]
        .chars()
        .chain(behind.chars());
    (
        column.saturating_sub(kept_chars).max(1),
        shown.take(MAX_SHOWN_CHARS).collect(),
    )
}

/// The nearest character boundary at or before `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_located_by_line_and_column_in_characters() {
        let mut map = SourceMap::default();
        let text = "one\r\n tw\u{f6} x\nthree".to_owned();
        let (id, _) = map.add("a.idl".into(), None, text, true);
        let location = map.location(Span::new(id, 11, 12));
        assert_eq!((location.line, location.column, location.length), (2, 6, 1));
        assert_eq!(location.source_line, " tw\u{f6} x");
        let end = map.location(Span::new(id, 400, 500));
        assert_eq!((end.line, end.column, end.length), (3, 6, 1));
    }

    #[test]
    fn a_layout_counts_blanks_and_tabs() {
        let mut map = SourceMap::default();
        let text = "a {\n  \tb c\r\n d".to_owned();
        let (id, _) = map.add("a.idl".into(), None, text, true);
        let layout = |at| {
            let Layout {
                line,
                indent,
                first,
            } = map.layout(Span::new(id, at, at + 1));
            (line, indent, first)
        };
        assert_eq!(layout(2), (1, 0, false));
        assert_eq!(layout(7), (2, 8, true));
        assert_eq!(layout(9), (2, 8, false));
        assert_eq!(layout(13), (3, 1, true));
    }

    #[test]
    fn an_empty_file_has_a_first_line() {
        let mut map = SourceMap::default();
        let (id, _) = map.add("a.idl".into(), None, String::new(), true);
        let location = map.location(Span::new(id, 0, 0));
        assert_eq!((location.line, location.column), (1, 1));
    }

    #[test]
    fn a_span_across_a_splice_is_located_where_it_begins() {
        let mut map = SourceMap::default();
        let text = "a in\\\nter x\nb".to_owned();
        let (id, _) = map.add("a.idl".into(), None, text, true);
        let location = map.location(Span::new(id, 2, 7));
        assert_eq!((location.line, location.column, location.length), (1, 3, 3));
        let behind = map.location(Span::new(id, 8, 9));
        assert_eq!((behind.line, behind.column), (2, 5));
        let next = map.location(Span::new(id, 10, 11));
        assert_eq!((next.line, next.column), (3, 1));
    }

    #[test]
    fn only_a_part_of_a_long_line_is_shown() {
        let mut map = SourceMap::default();
        let text = format!("{}\u{e4}here{}", "x".repeat(5000), "y".repeat(5000));
        let (id, _) = map.add("a.idl".into(), None, text, true);
        let location = map.location(Span::new(id, 5002, 5006));
        assert_eq!(location.column, 5002);
        let shown: String = location
            .source_line
            .chars()
            .skip(location.column - location.source_column)
            .collect();
        assert!(shown.starts_with("herey"), "{location:?}");
        assert_eq!(location.source_line.chars().count(), MAX_SHOWN_CHARS);
    }

    #[test]
    fn lines_are_reported_as_a_directive_has_numbered_them() {
        let mut map = SourceMap::default();
        let text = "#line 100 \"b.idl\"\nx\ny\n".to_owned();
        let (id, _) = map.add("a.idl".into(), None, text, true);
        map.renumber(Span::new(id, 0, 17), 100, Some("b.idl".into()));
        let location = map.location(Span::new(id, 20, 21));
        assert_eq!((&*location.file, location.line), ("b.idl", 101));
        assert_eq!(location.source_line, "y");
    }
}
