//! Conversion of the octets of a file to the text that the lexer reads, and of places in that text back to the file.

use std::rc::Rc;

/// A text without encoding marks and spliced line ends, and with uniform line ends.
#[derive(Debug)]
pub(crate) struct Text {
    /// The text that the lexer reads; spans count its octets.
    pub(crate) clean: Rc<str>,
    /// The text for messages, if it differs.
    original: Option<Box<str>>,
    /// The places of removed line splices, in order.
    cuts: Vec<Cut>,
}

/// A removed line splice: a backslash and a line end before octet `at` of the clean text.
#[derive(Debug)]
struct Cut {
    at: usize,
    /// Octets removed so far, this splice included.
    removed: usize,
}

/// Why octets are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoText {
    /// A zero octet, with its offset.
    Nul(usize),
    /// The byte order mark of UTF-16 at the beginning.
    Utf16,
}

impl NoText {
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Nul(_) => "there is a zero octet here: this is no text",
            Self::Utf16 => {
                "the text is in UTF-16; IDL is ASCII, with ISO 8859-1 or UTF-8 in comments and literals"
            }
        }
    }

    pub(crate) fn at(self) -> usize {
        match self {
            Self::Nul(at) => at,
            Self::Utf16 => 0,
        }
    }
}

/// The text of a file: octets that are not valid UTF-8 are read as ISO 8859-1, the character set of IDL.
pub(crate) fn decode(octets: Vec<u8>) -> String {
    String::from_utf8(octets)
        .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect())
}

impl Text {
    /// The text, and the reason why it cannot be compiled, if there is one.
    pub(crate) fn new(text: String) -> (Self, Option<NoText>) {
        let text = lines(text);
        if let Some(fault) = no_text(&text) {
            // The diagnostic shows the original; an empty text is compiled.
            let empty = Self {
                clean: "".into(),
                original: Some(text.into_boxed_str()),
                cuts: Vec::new(),
            };
            return (empty, Some(fault));
        }
        let (clean, cuts) = unspliced(&text);
        let text = match clean {
            Some(clean) => Self {
                clean: clean.into(),
                original: Some(text.into_boxed_str()),
                cuts,
            },
            None => Self {
                clean: text.into(),
                original: None,
                cuts,
            },
        };
        (text, None)
    }

    /// The text that diagnostics show.
    pub(crate) fn original(&self) -> &str {
        self.original.as_deref().unwrap_or(&self.clean)
    }

    /// The offset in the original of octet `at`, as the beginning of a span.
    pub(crate) fn begin(&self, at: usize) -> usize {
        self.shifted(at, self.cuts.partition_point(|cut| cut.at <= at))
    }

    /// The offset in the original of octet `at`, as the end of a span.
    pub(crate) fn end(&self, at: usize) -> usize {
        self.shifted(at, self.cuts.partition_point(|cut| cut.at < at))
    }

    fn shifted(&self, at: usize, cuts_before: usize) -> usize {
        let cut = cuts_before
            .checked_sub(1)
            .and_then(|index| self.cuts.get(index));
        at + cut.map_or(0, |cut| cut.removed)
    }
}

/// Normalises line ends (a bare carriage return is one) and drops the trailing control characters of old editors.
fn lines(mut text: String) -> String {
    // The end-of-file character of DOS.
    if text.ends_with('\u{1a}') {
        text.pop();
    }
    let octets = text.as_bytes();
    let bare = octets
        .iter()
        .enumerate()
        .any(|(at, octet)| *octet == b'\r' && octets.get(at + 1) != Some(&b'\n'));
    if !bare {
        return text;
    }
    // One octet replaces one, so that no offset changes: CR LF stays.
    let mut behind = text.chars().skip(1);
    text.chars()
        .map(|c| match (c, behind.next()) {
            ('\r', next) if next != Some('\n') => '\n',
            _ => c,
        })
        .collect()
}

fn no_text(text: &str) -> Option<NoText> {
    // The two octets of the byte order mark, read as ISO 8859-1.
    if text.starts_with("\u{ff}\u{fe}") || text.starts_with("\u{fe}\u{ff}") {
        return Some(NoText::Utf16);
    }
    text.find('\0').map(NoText::Nul)
}

/// The text without line splices; `None` if it has none.
fn unspliced(text: &str) -> (Option<String>, Vec<Cut>) {
    let mut cuts = Vec::new();
    let mut clean = String::new();
    let mut taken = 0;
    let mut removed = 0;
    for (at, _) in text.match_indices('\\') {
        let behind = &text[at + 1..];
        let length = match behind.as_bytes() {
            [b'\n', ..] => 2,
            [b'\r', b'\n', ..] => 3,
            _ => continue,
        };
        clean.push_str(&text[taken..at]);
        taken = at + length;
        removed += length;
        cuts.push(Cut {
            at: clean.len(),
            removed,
        });
    }
    if cuts.is_empty() {
        return (None, cuts);
    }
    clean.push_str(&text[taken..]);
    (Some(clean), cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        let (text, fault) = Text::new(text.to_owned());
        assert_eq!(fault, None);
        text.clean.to_string()
    }

    #[test]
    fn a_line_end_behind_a_backslash_is_not_there() {
        assert_eq!(
            clean("in\\\nterface \\\r\n A \\ \n\\"),
            "interface  A \\ \n\\"
        );
    }

    #[test]
    fn places_behind_a_splice_are_found_again() {
        let (text, _) = Text::new("ab\\\ncd\\\r\nef".to_owned());
        assert_eq!(&*text.clean, "abcdef");
        assert_eq!((text.begin(0), text.end(2)), (0, 2));
        assert_eq!((text.begin(2), text.end(3)), (4, 5));
        assert_eq!((text.begin(4), text.end(4), text.end(6)), (9, 6, 11));
    }

    #[test]
    fn a_bare_carriage_return_ends_a_line() {
        assert_eq!(clean("a\rb\r\nc\r"), "a\nb\r\nc\n");
    }

    #[test]
    fn the_end_mark_of_dos_is_none_of_the_text() {
        assert_eq!(clean("a;\r\n\u{1a}"), "a;\r\n");
    }

    #[test]
    fn octets_that_are_no_text_are_reported() {
        let fault = |octets: &[u8]| Text::new(decode(octets.to_vec())).1;
        assert_eq!(fault(b"ab\0c"), Some(NoText::Nul(2)));
        assert_eq!(fault(b"\xff\xfei\0n\0"), Some(NoText::Utf16));
        assert_eq!(fault(b"\xfe\xff\0i\0n"), Some(NoText::Utf16));
        assert_eq!(fault(b"gr\xfc\xdfe"), None);
    }
}
