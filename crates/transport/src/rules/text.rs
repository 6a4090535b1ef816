//! Rules as text, in the form of omniORB's transport rules.

use super::{Rule, Rules};
use std::{error::Error, fmt, str::FromStr};

/// The error of a text that is none of [`Rules`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RulesError {
    /// This is no mask of hosts.
    Mask(Box<str>),
    /// This is no transport.
    Action(Box<str>),
    /// The rule names no transport.
    NoAction(Box<str>),
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mask(found) => write!(
                f,
                "expected *, localhost, an address, address/length, address/mask or a host, found {found:?}"
            ),
            Self::Action(found) => write!(
                f,
                "expected tcp, ssl, unix, bidir, none or the scheme of a transport, found {found:?}"
            ),
            Self::NoAction(rule) => {
                write!(
                    f,
                    "expected a mask and transports (* ssl,unix), found {rule:?}"
                )
            }
        }
    }
}

impl Error for RulesError {}

impl FromStr for Rules {
    type Err = RulesError;

    fn from_str(text: &str) -> Result<Self, RulesError> {
        Self::default().with_text(text)
    }
}

/// The rules of a text, each with whether it drops those before it.
pub(super) fn read(text: &str) -> Result<Vec<(bool, Rule)>, RulesError> {
    let rules = text.split(['\n', ';']).map(str::trim);
    rules.filter(|rule| !rule.is_empty()).map(rule).collect()
}

fn rule(text: &str) -> Result<(bool, Rule), RulesError> {
    let none = || RulesError::NoAction(text.into());
    let (clears, rest) = match text.strip_prefix('^') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let (mask, actions) = rest.split_once(char::is_whitespace).ok_or_else(none)?;
    let words = actions.split(|c: char| c == ',' || c.is_whitespace());
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    words.peek().ok_or_else(none)?;
    let mut schemes = Vec::new();
    for word in words {
        match word {
            // What stands behind it does not count in omniORB.
            "none" => break,
            "bidir" | "ziop" => {}
            "tcp" => schemes.push("iiop"),
            "ssl" => schemes.push("ssliop"),
            "unix" => schemes.push("uiop"),
            scheme => {
                let mut octets = scheme.bytes();
                if !octets.all(|octet| octet.is_ascii_alphanumeric() || octet == b'-') {
                    return Err(RulesError::Action(scheme.into()));
                }
                schemes.push(scheme);
            }
        }
    }
    Ok((clears, Rule::allow().schemes(schemes).network(mask)?))
}
