//! What is wrong with the IDL, and how it is told.

use std::cell::{Cell, RefCell};
use std::fmt;

use crate::limits::{MAX_DIAGNOSTICS, MAX_MESSAGE_CHARS, MAX_SHOWN_CHARS};
use crate::source::{Location, SourceMap, Span};

/// One fault: where it is, what is wrong, and what would be right.
///
/// [`Display`](fmt::Display) draws it as rustc does, with the line of IDL and a caret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The file, as it was named by the caller or found by `#include`.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// How many characters of that line are meant; at least 1.
    pub length: usize,
    /// What is wrong: lowercase, no full stop.
    pub message: String,
    /// Other places that matter, such as an earlier declaration.
    pub labels: Vec<Label>,
    /// What would be right, where that is known.
    pub hint: Option<String>,
    /// The line of IDL that `line` names; the part of it that matters, if it is very long.
    pub source_line: String,
    /// The column that `source_line` begins at: 1, unless only a part of the line is there.
    pub source_column: usize,
}

/// A second place that helps to understand a [`Diagnostic`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// How many characters are meant; at least 1.
    pub length: usize,
    /// What is there, such as "first declared here".
    pub message: String,
    /// The line of IDL that `line` names; the part of it that matters, if it is very long.
    pub source_line: String,
    /// The column that `source_line` begins at: 1, unless only a part of the line is there.
    pub source_column: usize,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        let widest = self
            .labels
            .iter()
            .map(|label| label.line)
            .chain([self.line])
            .max()
            .unwrap_or(1);
        let gutter = widest.to_string().len();
        let blank = " ".repeat(gutter);
        writeln!(f, "{blank}--> {}:{}:{}", self.file, self.line, self.column)?;
        let place = (self.line, self.column, self.length);
        let source = (&*self.source_line, self.source_column);
        snippet(f, gutter, place, source, '^', "")?;
        for label in &self.labels {
            writeln!(
                f,
                "{blank}::: {}:{}:{}",
                label.file, label.line, label.column
            )?;
            let place = (label.line, label.column, label.length);
            let source = (&*label.source_line, label.source_column);
            snippet(f, gutter, place, source, '-', &label.message)?;
        }
        if let Some(hint) = &self.hint {
            writeln!(f, "{blank} = help: {hint}")?;
        }
        Ok(())
    }
}

fn snippet(
    f: &mut fmt::Formatter<'_>,
    gutter: usize,
    (line, column, length): (usize, usize, usize),
    (source, source_column): (&str, usize),
    mark: char,
    note: &str,
) -> fmt::Result {
    // An option, or a file that could not be read: there is nothing to show.
    if source.is_empty() {
        return Ok(());
    }
    let blank = " ".repeat(gutter);
    let shown = source.chars().count();
    // One column per character, whatever the terminal thinks of tabs; and nothing a terminal would obey.
    let clean = source.chars().map(|c| if c.is_control() { ' ' } else { c });
    let begin = if source_column > 1 { "\u{2026}" } else { "" };
    let end = if shown >= MAX_SHOWN_CHARS {
        "\u{2026}"
    } else {
        ""
    };
    let source: String = begin.chars().chain(clean).chain(end.chars()).collect();
    let before = column.saturating_sub(source_column).min(shown);
    let indent = " ".repeat(before + begin.chars().count());
    let length = length.min(shown.saturating_sub(before).max(1));
    let marks: String = std::iter::repeat_n(mark, length).collect();
    writeln!(f, "{blank} |")?;
    writeln!(f, "{}", format!("{line:>gutter$} | {source}").trim_end())?;
    writeln!(
        f,
        "{}",
        format!("{blank} | {indent}{marks} {note}").trim_end()
    )
}

/// Everything that is wrong with one compilation, in the order of the text; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    dependencies: Vec<std::path::PathBuf>,
}

impl Diagnostics {
    /// A fault that has no place in any IDL, such as an option that means nothing.
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
        };
        Self {
            list: vec![diagnostic],
            dependencies: Vec::new(),
        }
    }

    /// The faults.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// How many there are; at least one, at most [`MAX_DIAGNOSTICS`] and one that counts the rest.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Moves every line of `file` down by `lines`: for text that was cut out of another file.
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

    /// Files that were read before the compiler gave up. A build that watches them notices the repair.
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

/// A fault before its spans have been turned into lines and columns.
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

    /// The one wording for what IDL allows and we do not do yet; `what` reads as a plural ("unions").
    pub(crate) fn unsupported(span: Span, what: &str) -> Self {
        let verb = if what.ends_with('s') { "are" } else { "is" };
        Self::new(span, format!("{what} {verb} not supported yet"))
    }

    pub(crate) fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push((span, message.into()));
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
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
        }
    }
}

/// A message may quote the text, and the text may be anything.
fn shortened(mut message: String) -> String {
    if let Some((at, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS) {
        message.truncate(at);
        message.push('\u{2026}');
    }
    message
}

/// Where the stages of the compiler leave what they find. Shared by reference, as nom's parsers are plain functions.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    reports: RefCell<Vec<Report>>,
    dropped: Cell<usize>,
}

impl Sink {
    pub(crate) fn report(&self, report: Report) {
        let mut reports = self.reports.borrow_mut();
        // One place is told one thing once: a second visit (an attribute's two operations) finds nothing new.
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

    /// Everything reported, sorted as the text is; `None` when all is well.
    pub(crate) fn finish(self, sources: &SourceMap) -> Option<Diagnostics> {
        let mut reports = self.reports.into_inner();
        let last = reports.last()?.span;
        reports.sort_by_key(|report| (report.span.file, report.span.start));
        let mut list: Vec<Diagnostic> = reports
            .into_iter()
            .map(|report| report.locate(sources))
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
        })
    }
}
