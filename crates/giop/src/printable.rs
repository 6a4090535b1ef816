//! Text of a peer in messages of errors.

use core::fmt::{self, Write};

/// Shows text with its control characters escaped as in Rust, such as `\r` and `\u{1b}`, and nothing else changed. A host
/// name in a reference may hold line ends or the control sequences of a terminal, and would forge lines of a log.
///
/// ```
/// let shown = zorb_giop::Printable("a\\.b\n").to_string();
/// assert_eq!(shown, r"a\.b\n");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            // Line and paragraph separators end lines as well.
            '\u{2028}' | '\u{2029}' => write!(f, "{}", character.escape_unicode()),
            _ if character.is_control() => write!(f, "{}", character.escape_default()),
            _ => f.write_char(character),
        })
    }
}
