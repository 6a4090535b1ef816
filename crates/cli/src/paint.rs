//! Colours of the output.

use anstyle::{AnsiColor, Style};
use std::fmt::{self, Write};

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Applies the choice to all further output.
    pub(crate) fn apply(self) {
        match self {
            // anstream checks the terminal, NO_COLOR, CLICOLOR and CLICOLOR_FORCE.
            Self::Auto => {}
            Self::Always => anstream::ColorChoice::Always.write_global(),
            Self::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

/// The style of each part of the output. [`anstream`] removes colours if the output is not a terminal.
#[derive(Debug)]
pub(crate) struct Paint {
    /// Headings.
    pub(crate) title: Style,
    /// Names of facts.
    pub(crate) label: Style,
    /// Technical details.
    pub(crate) pale: Style,
    /// Success.
    pub(crate) good: Style,
    /// Failure.
    pub(crate) bad: Style,
    /// A remark.
    pub(crate) hint: Style,
}

impl Paint {
    /// No colours at all.
    #[cfg(test)]
    pub(crate) const fn plain() -> Self {
        let plain = Style::new();
        Self {
            title: plain,
            label: plain,
            pale: plain,
            good: plain,
            bad: plain,
            hint: plain,
        }
    }

    pub(crate) const fn new() -> Self {
        const fn color(color: AnsiColor) -> Style {
            color.on_default()
        }
        Self {
            title: Style::new().bold(),
            label: color(AnsiColor::Cyan),
            pale: color(AnsiColor::BrightBlack),
            good: color(AnsiColor::Green),
            bad: color(AnsiColor::Red).bold(),
            hint: color(AnsiColor::Yellow),
        }
    }
}

/// Untrusted text, with control characters escaped, so that it cannot control the terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clean<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for Clean<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Cleaner(f), "{}", self.0)
    }
}

struct Cleaner<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Cleaner<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if character.is_control() {
                write!(self.0, "{}", character.escape_debug())?;
            } else {
                self.0.write_char(character)?;
            }
        }
        Ok(())
    }
}
