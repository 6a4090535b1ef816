//! The naming service, from a client's side.
//!
//! [`cos_naming`] is what the IDL compiler makes of the OMG's `CosNaming`; [`Name`] reads and
//! writes stringified names without asking a server.
//!
//! ```no_run
//! # async fn example(orb: zorb::Orb, account: zorb::ObjectRef) -> Result<(), Box<dyn std::error::Error>> {
//! use zorb::naming::{Name, cos_naming::NamingContextExtRef};
//!
//! let root: NamingContextExtRef = orb
//!     .resolve_initial_references("NameService")
//!     .await?
//!     .narrow()
//!     .await?
//!     .ok_or("not a naming context")?;
//! let name: Name = "bank/accounts.savings".parse()?;
//! root.rebind(&name, &account).await?;
//! # Ok(()) }
//! ```
//!
//! Source: OMG Naming Service Specification 1.3.

use crate::error::Error;
use crate::object::ObjectRef;
use core::fmt;
use core::ops::Deref;
use core::str::FromStr;
use cos_naming::{NameComponent, NamingContextRef, naming_context::ResolveError};
use zorb_giop::{CompletionStatus, SystemException, SystemExceptionKind, minor};

#[allow(
    missing_docs,
    reason = "the OMG's names, documented in its specification"
)]
mod generated {
    #[zorb_idl_macros::idl_file("idl/CosNaming.idl", crate = "crate")]
    pub mod cos {}
}

pub use generated::cos::cos_naming;

/// A name: one or more components, each an id and a kind.
///
/// As text, components are separated by `/`, id and kind by `.`; a backslash takes its meaning
/// from either and from itself.
///
/// ```
/// use zorb::naming::Name;
/// let name: Name = r"a.dir/b\.c/.kind".parse()?;
/// assert_eq!(name.len(), 3);
/// assert_eq!((name[1].id.as_str(), name[1].kind.as_str()), ("b.c", ""));
/// assert_eq!(name.to_string(), r"a.dir/b\.c/.kind");
/// assert!("a//b".parse::<Name>().is_err());
/// # Ok::<(), zorb::naming::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Name(pub Vec<NameComponent>);

impl Deref for Name {
    type Target = Vec<NameComponent>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Why text is no stringified name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing between two slashes, or before the first, or behind the last.
    #[error("expected a component, found none at character {0}")]
    EmptyComponent(usize),
    /// A dot with nothing behind it ("a."), or a second one.
    #[error("expected one dot with a kind behind it, found another form at character {0}")]
    BadDot(usize),
    /// A backslash before something else than a slash, a dot or a backslash.
    #[error("expected / . or \\ behind a backslash, found another character at {0}")]
    BadEscape(usize),
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let mut components = Vec::new();
        let mut id = String::new();
        let mut kind: Option<String> = None;
        let mut at = 0;
        let mut characters = text.chars();
        let mut finish = |id: &mut String, kind: &mut Option<String>, at: usize| {
            let component = match (core::mem::take(id), kind.take()) {
                (id, None) if id.is_empty() => return Err(NameError::EmptyComponent(at)),
                (id, Some(kind)) if kind.is_empty() && !id.is_empty() => {
                    return Err(NameError::BadDot(at));
                }
                (id, kind) => NameComponent {
                    id,
                    kind: kind.unwrap_or_default(),
                },
            };
            components.push(component);
            Ok(())
        };
        while let Some(character) = characters.next() {
            at += 1;
            match character {
                '/' => finish(&mut id, &mut kind, at)?,
                '.' if kind.is_some() => return Err(NameError::BadDot(at)),
                '.' => kind = Some(String::new()),
                character => {
                    let plain = if character == '\\' {
                        at += 1;
                        characters
                            .next()
                            .filter(|c| matches!(c, '/' | '.' | '\\'))
                            .ok_or(NameError::BadEscape(at))?
                    } else {
                        character
                    };
                    kind.as_mut().unwrap_or(&mut id).push(plain);
                }
            }
        }
        finish(&mut id, &mut kind, at + 1)?;
        Ok(Self(components))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn escaped(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            use fmt::Write;
            for character in text.chars() {
                if matches!(character, '/' | '.' | '\\') {
                    f.write_char('\\')?;
                }
                f.write_char(character)?;
            }
            Ok(())
        }
        for (index, component) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("/")?;
            }
            escaped(&component.id, f)?;
            if !component.kind.is_empty() || component.id.is_empty() {
                f.write_str(".")?;
                escaped(&component.kind, f)?;
            }
        }
        Ok(())
    }
}

/// Resolves the name of a `corbaname:` URL in the context it names.
pub(crate) async fn resolve_url(context: &ObjectRef, name: &str) -> Result<ObjectRef, Error> {
    let bad = |detail: &dyn fmt::Display| {
        SystemException::new(
            SystemExceptionKind::BadParam,
            minor::BAD_SCHEME_SPECIFIC_PART,
            CompletionStatus::No,
        )
        .with_detail(format_args!("corbaname {name:?}: {detail}"))
    };
    let components: Name = name.parse().map_err(|error| bad(&error))?;
    // Whoever is not a naming context answers BAD_OPERATION.
    let context: NamingContextRef = context.unchecked_narrow();
    match context.resolve(&components).await {
        Ok(Some(object)) => Ok(object),
        Ok(None) => Err(bad(&"bound to a nil reference").into()),
        Err(ResolveError::System(exception)) => Err(exception.into()),
        Err(error) => Err(bad(&error).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Result<Vec<(String, String)>, NameError> {
        let name: Name = text.parse()?;
        assert_eq!(name.to_string(), text);
        Ok(name.0.into_iter().map(|c| (c.id, c.kind)).collect())
    }

    fn part(id: &str, kind: &str) -> (String, String) {
        (id.to_owned(), kind.to_owned())
    }

    #[test]
    fn names_are_read_and_written_as_the_specification_says() {
        assert_eq!(parts("a"), Ok(vec![part("a", "")]));
        assert_eq!(parts("a/b.k"), Ok(vec![part("a", ""), part("b", "k")]));
        assert_eq!(parts(".k"), Ok(vec![part("", "k")]));
        assert_eq!(parts("."), Ok(vec![part("", "")]));
        assert_eq!(
            parts(r"a\/b/c\.d/e\\"),
            Ok(vec![part("a/b", ""), part("c.d", ""), part(r"e\", "")])
        );
        for bad in ["", "/a", "a/", "a//b", "a.", "a.b.c", r"a\", r"a\b"] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }
}
