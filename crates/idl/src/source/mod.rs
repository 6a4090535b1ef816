//! Source files, and positions in them.

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

    /// The zero-width place right after `self`.
    pub(crate) fn after(self) -> Self {
        Self {
            start: self.end,
            ..self
        }
    }

    /// The zero-width place right before `self`.
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

/// The name of the built-in `orb.idl` in diagnostics. It equals the path of no file, as those are absolute.
pub(crate) const BUILTIN_NAME: &str = "<orb.idl>";

/// One text and where its lines begin.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// The name in diagnostics.
    pub(crate) name: String,
    /// The canonical path; `None` for text that is not from a file.
    pub(crate) path: Option<PathBuf>,
    text: Text,
    /// Whether the caller named it, as opposed to `#include`.
    pub(crate) main: bool,
    line_starts: Vec<usize>,
    /// The `#line` directives, in order.
    renumbered: Vec<Renumbered>,
    /// The first `#include` or `import` of it.
    included: Option<Span>,
}

/// A `#line` directive: from `line` on, lines are reported with other numbers.
#[derive(Debug)]
struct Renumbered {
    line: usize,
    reported: usize,
    /// The reported file name; `None` for the file's own.
    file: Option<String>,
}

impl SourceFile {
    /// The text in which spans are positions.
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

/// A position in diagnostics: line and column from 1, columns in characters.
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

/// The layout of a span: its line and the indentation of that line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The number of the line in its file, from 1, regardless of `#line`.
    pub(crate) line: usize,
    /// Columns of blanks at the beginning of the line.
    pub(crate) indent: usize,
    /// Whether only blanks precede the span on its line.
    pub(crate) first: bool,
}

/// All texts of one compilation.
#[derive(Debug, Default)]
pub(crate) struct SourceMap {
    files: Vec<SourceFile>,
    settings: Option<Settings>,
    /// The uses of macros, each with the place of the macro's name in its definition.
    expansions: HashMap<Span, Span>,
    /// The file with the definitions of [`Options::defines`](crate::Options::defines).
    defines: Option<FileId>,
}

impl SourceMap {
    /// Adds a text. The second value is the reason why it cannot be compiled, if there is one; the text counts as empty then.
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

    /// Adds the file in which options have their places.
    pub(crate) fn add_settings(&mut self) -> Settings {
        let (file, _) = self.add("<options>".to_owned(), None, String::new(), false);
        let settings = Settings { file };
        self.settings = Some(settings);
        settings
    }

    /// Notes that each line of `file` but the first defines a macro of the options.
    pub(crate) fn set_defines(&mut self, file: FileId) {
        self.defines = Some(file);
    }

    /// The option whose place is `span`.
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

    /// The first `#include` of `id`, unless the caller named the file.
    pub(crate) fn included(&self, id: FileId) -> Option<Span> {
        let file = self.file(id);
        file.included.filter(|_| !file.main)
    }

    /// Notes that the macro used at `place` is defined at `definition`.
    pub(crate) fn expand(&mut self, place: Span, definition: Span) {
        // Macros within the expansion have the same place; the outermost one is kept.
        self.expansions.entry(place).or_insert(definition);
    }

    /// The definition of the macro used at `place`, if there is one.
    pub(crate) fn expansion(&self, place: Span) -> Option<Span> {
        self.expansions.get(&place).copied()
    }

    /// Notes that the caller has named the file `id`, too.
    pub(crate) fn make_main(&mut self, id: FileId) {
        self.files[id.0 as usize].main = true;
    }

    /// The text of `span`, without line splices.
    pub(crate) fn text(&self, span: Span) -> &str {
        let text: &str = self.file(span.file).text();
        text.get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// Renumbers lines: the line after that of `directive` is reported as line `reported`, of `file` if that is given.
    pub(crate) fn renumber(&mut self, directive: Span, reported: usize, file: Option<String>) {
        let source = &mut self.files[directive.file.0 as usize];
        let line = source.physical_line(source.text.end(directive.end as usize)) + 1;
        // A file that is read a second time repeats its directives.
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

    /// The canonical paths of all files that were read, each once, in reading order.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut known = std::collections::HashSet::new();
        let paths = self.files.iter().filter_map(|file| file.path.as_ref());
        paths.filter(|path| known.insert(*path)).cloned().collect()
    }

    /// The name of the file, and the octet of its text, at which `span` begins.
    pub(crate) fn origin(&self, span: Span) -> (&str, usize) {
        let file = self.file(span.file);
        (&file.name, file.text.begin(span.start as usize))
    }

    /// The reported number of the line on which `span` begins, and the reported name of its file.
    pub(crate) fn line(&self, span: Span) -> (usize, &str) {
        let file = self.file(span.file);
        file.reported_line(file.physical_line(file.text.begin(span.start as usize)))
    }

    /// The layout of `span` on the line on which it begins.
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

/// The part of a line that a diagnostic shows, and the column at which it begins. The part contains octet `at`, which is
/// character `column`, and some text before it.
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
