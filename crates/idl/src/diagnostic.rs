//! Diagnostics: errors of the IDL, their places and their layout.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use crate::limits::{MAX_DIAGNOSTICS, MAX_MESSAGE_CHARS, MAX_SHOWN_CHARS, MAX_SHOWN_INCLUDES};
use crate::options::Setting;
use crate::source::{FileId, Location, SourceMap, Span};

/// One error of the IDL: its place, a message, and a correction where known.
///
/// [`Display`](fmt::Display) draws it as rustc does, with the line of IDL and carets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The file, as the caller named it or `#include` found it.
    pub file: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The number of the column, from 1, in characters.
    pub column: usize,
    /// The number of characters that the error covers on that line; at least 1.
    pub length: usize,
    /// The message: lowercase, no full stop.
    pub message: String,
    /// Other places that matter, such as an earlier declaration.
    pub labels: Vec<Label>,
    /// The correction, such as the name that was probably meant; `None` where none is known.
    pub hint: Option<String>,
    /// The line of IDL that `line` names; the part of it that matters, if it is very long.
    pub source_line: String,
    /// The column that `source_line` begins at: 1, unless only a part of the line is there.
    pub source_column: usize,
    /// The option at fault, if the error is in an option and not in the IDL.
    pub setting: Option<Setting>,
}

/// A second place that helps to understand a [`Diagnostic`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The file, as the caller named it or `#include` found it.
    pub file: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The number of the column, from 1, in characters.
    pub column: usize,
    /// The number of characters that the label covers; at least 1.
    pub length: usize,
    /// The text of the label, such as "first declared here".
    pub message: String,
    /// The line of IDL that `line` names; the part of it that matters, if it is very long.
    pub source_line: String,
    /// The column that `source_line` begins at: 1, unless only a part of the line is there.
    pub source_column: usize,
}

/// The kind of a piece of a drawn [`Diagnostic`], for a program that colours it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The word "error".
    Severity,
    /// The message.
    Message,
    /// Line numbers, bars and arrows.
    Frame,
    /// The text of the IDL, and blanks.
    Source,
    /// The underline of the error.
    Mark,
    /// The underline of another place, and its text.
    OtherMark,
    /// The hint, and a name of a file.
    Note,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = Ok(());
        self.draw(|_, text| result = result.and_then(|()| f.write_str(text)));
        result
    }
}

impl Diagnostic {
    /// Draws as [`Display`](fmt::Display) does, and passes each piece of text with its kind to `put`. Line ends are pieces or
    /// parts of pieces.
    pub fn draw(&self, mut put: impl FnMut(Part, &str)) {
        let widest = self
            .labels
            .iter()
            .map(|label| label.line)
            .chain([self.line])
            .max()
            .unwrap_or(1);
        let gutter = widest.to_string().len();
        let blank = " ".repeat(gutter);
        put(Part::Severity, "error");
        put(Part::Message, &format!(": {}", self.message));
        put(Part::Frame, &format!("\n{blank}--> "));
        let place = match self.source_line.is_empty() && self.line == 1 {
            // An option, or a file that could not be read: it has no lines.
            true => format!("{}\n", self.file),
            false => format!("{}:{}:{}\n", self.file, self.line, self.column),
        };
        put(Part::Note, &place);
        Snippet {
            gutter,
            place: (self.line, self.column, self.length),
            source: &self.source_line,
            source_column: self.source_column,
            mark: '^',
            note: "",
        }
        .draw(&mut put);
        for label in &self.labels {
            put(Part::Frame, &format!("{blank}::: "));
            let place = format!("{}:{}:{}\n", label.file, label.line, label.column);
            put(Part::Note, &place);
            Snippet {
                gutter,
                place: (label.line, label.column, label.length),
                source: &label.source_line,
                source_column: label.source_column,
                mark: '-',
                note: &label.message,
            }
            .draw(&mut put);
        }
        if let Some(hint) = &self.hint {
            put(Part::Frame, &format!("{blank} = "));
            put(Part::Note, &format!("help: {hint}\n"));
        }
    }
}

/// A line of IDL with something underlined.
struct Snippet<'a> {
    gutter: usize,
    /// Line, column and length.
    place: (usize, usize, usize),
    source: &'a str,
    source_column: usize,
    mark: char,
    note: &'a str,
}

impl Snippet<'_> {
    fn draw(&self, put: &mut impl FnMut(Part, &str)) {
        // An option, or a file that could not be read: there is nothing to show.
        if self.source.is_empty() {
            return;
        }
        let (line, column, length) = self.place;
        let gutter = self.gutter;
        let blank = " ".repeat(gutter);
        let shown = self.source.chars().count();
        // One column per character, tabs included, and no control characters that a terminal would obey.
        let clean = self
            .source
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c });
        let more = |there: bool| there.then_some('\u{2026}');
        let begin = more(self.source_column > 1);
        let end = more(shown >= MAX_SHOWN_CHARS);
        let source: String = begin.into_iter().chain(clean).chain(end).collect();
        put(Part::Frame, &format!("{blank} |\n"));
        let source = source.trim_end();
        let bar = if source.is_empty() { " |" } else { " | " };
        put(Part::Frame, &format!("{line:>gutter$}{bar}"));
        put(Part::Source, &format!("{source}\n"));
        let before = column.saturating_sub(self.source_column).min(shown);
        let length = length.min(shown.saturating_sub(before).max(1));
        let indent = " ".repeat(before + usize::from(begin.is_some()));
        put(Part::Frame, &format!("{blank} | "));
        put(Part::Source, &indent);
        let marks: String = std::iter::repeat_n(self.mark, length).collect();
        let part = match self.mark {
            '^' => Part::Mark,
            _ => Part::OtherMark,
        };
        let text = format!("{marks} {}", self.note);
        put(part, text.trim_end());
        put(Part::Source, "\n");
    }
}

/// The errors of one compilation, in the order of the text; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    dependencies: Vec<std::path::PathBuf>,
    modules: Vec<String>,
}

impl Diagnostics {
    /// A single error without a place in IDL, such as that of an invalid option.
    pub fn of_option(message: impl Into<String>, hint: Option<String>) -> Self {
        let diagnostic = Diagnostic {
            file: "<options>".into(),
            line: 1,
            column: 1,
            length: 1,
            message: message.into(),
            labels: Vec::new(),
            hint,
            source_line: String::new(),
            source_column: 1,
            setting: None,
        };
        Self {
            list: vec![diagnostic],
            dependencies: Vec::new(),
            modules: Vec::new(),
        }
    }

    /// Returns the diagnostics with the option at fault.
    pub(crate) fn with_setting(mut self, setting: Setting) -> Self {
        for diagnostic in &mut self.list {
            diagnostic.setting = Some(setting);
        }
        self
    }

    /// Returns the diagnostics with the outermost modules that the IDL would have become.
    pub(crate) fn with_modules(mut self, modules: Vec<String>) -> Self {
        self.modules = modules;
        self
    }

    /// The Rust names of the outermost modules that the IDL would have become, each once, as far as it was parsed.
    ///
    /// A macro that emits these modules, empty but for an error, keeps rustc from reporting each name that a program uses of
    /// them.
    pub fn modules(&self) -> &[String] {
        &self.modules
    }

    /// Returns an iterator over the diagnostics; there is at least one.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The number of diagnostics: at least one, at most [`MAX_DIAGNOSTICS`] and one that counts the rest.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds `lines` to every line number of `file`, for text that was cut out of another file.
    pub fn shift_lines(&mut self, file: &str, lines: usize) {
        for diagnostic in &mut self.list {
            if diagnostic.file == file {
                diagnostic.line += lines;
            }
            for label in diagnostic
                .labels
                .iter_mut()
                .filter(|label| label.file == file)
            {
                label.line += lines;
            }
        }
    }

    /// The files that were read before the compiler stopped. A build that watches them notices a correction.
    pub fn dependencies(&self) -> &[std::path::PathBuf] {
        &self.dependencies
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.list.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// An error with spans that have yet to become lines and columns.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    span: Span,
    message: String,
    labels: Vec<(Span, String)>,
    hint: Option<String>,
}

impl Report {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            labels: Vec::new(),
            hint: None,
        }
    }

    pub(crate) fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push((span, message.into()));
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the report with labels for the origin of its text: the use of a macro, and the `#include`s that led to its
    /// file, unless an earlier report has them for this file.
    fn with_origins(mut self, sources: &SourceMap, reported: &mut HashSet<FileId>) -> Self {
        let known = |report: &Self, place| report.labels.iter().any(|(span, _)| *span == place);
        if let Some(place) = sources.expansion(self.span)
            && !known(&self, place)
        {
            self = self.label(place, "expanded from here");
        }
        let mut file = self.span.file;
        for _ in 0..MAX_SHOWN_INCLUDES {
            let Some(place) = sources.included(file).filter(|_| reported.insert(file)) else {
                break;
            };
            if !known(&self, place) {
                self = self.label(place, "included from here");
            }
            file = place.file;
        }
        self
    }

    fn locate(self, sources: &SourceMap) -> Diagnostic {
        let Location {
            file,
            line,
            column,
            length,
            source_line,
            source_column,
        } = sources.location(self.span);
        let labels = self.labels.into_iter().map(|(span, message)| {
            let Location {
                file,
                line,
                column,
                length,
                source_line,
                source_column,
            } = sources.location(span);
            Label {
                file,
                line,
                column,
                length,
                message: shortened(message),
                source_line,
                source_column,
            }
        });
        Diagnostic {
            file,
            line,
            column,
            length,
            message: shortened(self.message),
            labels: labels.collect(),
            hint: self.hint.map(shortened),
            source_line,
            source_column,
            setting: sources.setting(self.span),
        }
    }
}

/// Limits the length of a message, as it may quote arbitrary text.
fn shortened(mut message: String) -> String {
    if let Some((at, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS) {
        message.truncate(at);
        message.push('\u{2026}');
    }
    message
}

/// Collects the errors of all stages. Shared by reference, as nom's parsers are plain functions.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    reports: RefCell<Vec<Report>>,
    dropped: Cell<usize>,
}

impl Sink {
    pub(crate) fn report(&self, report: Report) {
        let mut reports = self.reports.borrow_mut();
        // Each error of a place is reported once: a second visit (an attribute's two operations) finds nothing new.
        if reports
            .iter()
            .any(|known| known.span == report.span && known.message == report.message)
        {
            return;
        }
        if reports.len() < MAX_DIAGNOSTICS {
            reports.push(report);
        } else {
            self.dropped.set(self.dropped.get() + 1);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.reports.borrow().is_empty()
    }

    /// All reported errors in the order of the text; `None` if there are none.
    pub(crate) fn finish(self, sources: &SourceMap) -> Option<Diagnostics> {
        let mut reports = self.reports.into_inner();
        let last = reports.last()?.span;
        reports.sort_by_key(|report| (report.span.file, report.span.start));
        let mut reported = HashSet::new();
        let mut list: Vec<Diagnostic> = reports
            .into_iter()
            .map(|report| report.with_origins(sources, &mut reported).locate(sources))
            .collect();
        if self.dropped.get() > 0 {
            let more = Report::new(
                last,
                format!("{} more errors are not shown", self.dropped.get()),
            );
            list.push(more.locate(sources));
        }
        Some(Diagnostics {
            list,
            dependencies: sources.paths(),
            modules: Vec::new(),
        })
    }
}
