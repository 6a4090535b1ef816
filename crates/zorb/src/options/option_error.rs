//! The error for an invalid option, and where options come from.

use core::fmt;

/// The prefix of every option, on a command line and, without the dash, in the environment.
pub(super) const PREFIX: &str = "-ORB";

/// The source of an option. Later sources take precedence over earlier ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Source {
    #[default]
    Builder,
    Environment,
    Arguments,
}

/// The error for an invalid option of an ORB. Its text names the option, its source, the expected and the found value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionError {
    /// The option as it was written.
    pub(super) option: String,
    pub(super) source: Source,
    pub(super) problem: Problem,
}

/// The reason why an option is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    /// The option is unknown; these known ones resemble it.
    Unknown(Vec<&'static str>),
    /// The option has no value; the expected form.
    NoValue(&'static str),
    Bad(String),
}

impl OptionError {
    pub(crate) fn bad(source: Source, name: &str, why: String) -> Self {
        Self {
            option: match source {
                Source::Builder => name.to_owned(),
                Source::Environment => format!("ORB{name}"),
                Source::Arguments => format!("{PREFIX}{name}"),
            },
            source,
            problem: Problem::Bad(why),
        }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = &self.option;
        match &self.problem {
            Problem::Unknown(near) => {
                write!(f, "argument {option}: no such option, known are ")?;
                for (index, name) in near.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{PREFIX}{name}")?;
                }
                Ok(())
            }
            Problem::NoValue(expected) => {
                write!(f, "argument {option}: expected {expected}, found no value")
            }
            Problem::Bad(why) => match self.source {
                Source::Builder => write!(f, "Orb::builder().{option}: {why}"),
                Source::Environment => write!(f, "environment variable {option}: {why}"),
                Source::Arguments => write!(f, "argument {option}: {why}"),
            },
        }
    }
}

impl core::error::Error for OptionError {}
