//! Where text came from: files, and positions in them.

use std::path::PathBuf;

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

/// One text and where its lines begin.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// How diagnostics call it.
    pub(crate) name: String,
    /// Canonical path; `None` for text that never was a file.
    pub(crate) path: Option<PathBuf>,
    pub(crate) text: String,
    /// Asked for by name, as opposed to included.
    pub(crate) main: bool,
    line_starts: Vec<usize>,
}

/// A position as people count: from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// Characters on that line; at least 1.
    pub(crate) length: usize,
    pub(crate) source_line: String,
}

/// All texts of one compilation.
#[derive(Debug, Default)]
pub(crate) struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    pub(crate) fn add(
        &mut self,
        name: String,
        path: Option<PathBuf>,
        text: String,
        main: bool,
    ) -> FileId {
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes()
                    .enumerate()
                    .filter(|(_, octet)| *octet == b'\n')
                    .map(|(at, _)| at + 1),
            )
            .collect();
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile {
            name,
            path,
            text,
            main,
            line_starts,
        });
        id
    }

    pub(crate) fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Canonical paths of everything that was read from disk, each once, in reading order.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for path in self.files.iter().filter_map(|file| file.path.as_ref()) {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        }
        paths
    }

    pub(crate) fn location(&self, span: Span) -> Location {
        let file = self.file(span.file);
        let start = floor_boundary(&file.text, span.start as usize);
        let end = floor_boundary(&file.text, span.end as usize).max(start);
        let line = file.line_starts.partition_point(|&at| at <= start).max(1);
        let line_start = file.line_starts.get(line - 1).copied().unwrap_or(0);
        let line_end = file.text[line_start..]
            .find('\n')
            .map_or(file.text.len(), |at| line_start + at);
        let source_line = file.text[line_start..line_end].trim_end_matches('\r');
        let column = file.text[line_start..start].chars().count() + 1;
        let length = file.text[start..end.min(line_end).max(start)]
            .chars()
            .count()
            .max(1);
        Location {
            file: file.name.clone(),
            line,
            column,
            length,
            source_line: source_line.to_owned(),
        }
    }
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
        let id = map.add(
            "a.idl".into(),
            None,
            "one\r\n tw\u{f6} x\nthree".into(),
            true,
        );
        let location = map.location(Span::new(id, 11, 12));
        assert_eq!((location.line, location.column, location.length), (2, 6, 1));
        assert_eq!(location.source_line, " tw\u{f6} x");
        let end = map.location(Span::new(id, 400, 500));
        assert_eq!((end.line, end.column, end.length), (3, 6, 1));
    }

    #[test]
    fn an_empty_file_has_a_first_line() {
        let mut map = SourceMap::default();
        let id = map.add("a.idl".into(), None, String::new(), true);
        let location = map.location(Span::new(id, 0, 0));
        assert_eq!((location.line, location.column), (1, 1));
    }
}
