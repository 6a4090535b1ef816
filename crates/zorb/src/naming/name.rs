//! Names, and their stringified form.

use super::cos_naming::NameComponent;
use super::naming_error::NamingError;
use core::fmt;
use core::ops::Deref;
use core::str::FromStr;
use zorb_giop::url::{CorbalocAddress, ObjectUrl, escape};
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// A name: one or more components, each an id and a kind.
///
/// As text, components are separated by `/`, id and kind by `.`; a backslash escapes these and itself.
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
///
/// Source: the OMG Naming Service, stringified names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Name(pub Vec<NameComponent>);

impl Name {
    /// The `corbaname:` URL of this name in the naming context at `address`: `corbaname:`, the address unchanged, `#`,
    /// and the name with `%` escapes. The URL of the empty name, which means the context itself, has no `#`. The
    /// counterpart of `NamingContextExt::to_url`, without a call.
    ///
    /// ```
    /// use zorb::naming::Name;
    /// let name: Name = "bank/the savings".parse()?;
    /// let url = name.to_url(":naming.example.com:2809")?;
    /// assert_eq!(url, "corbaname::naming.example.com:2809#bank/the%20savings");
    /// assert!(name.to_url("naming.example.com").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NamingError::InvalidAddress`] unless `address` has the form of a `corbaloc:` URL after its first colon:
    /// addresses separated by commas (`:host:port`, `iiop:1.2@host:port`, `rir:`), and optionally a slash and the key
    /// of the context.
    pub fn to_url(&self, address: &str) -> Result<String, NamingError> {
        let invalid = |why: &dyn fmt::Display| NamingError::InvalidAddress {
            address: address.to_owned(),
            why: why.to_string(),
        };
        // Characters that end the address for a parser of URLs.
        if let Some(stray) = address.chars().find(|&c| c == '#' || c.is_whitespace()) {
            return Err(invalid(&format_args!("expected no {stray:?} in it")));
        }
        let mut url = format!("corbaname:{address}");
        let context = match url.parse() {
            Ok(ObjectUrl::Corbaname { context, .. }) => Some(context),
            Ok(_) => None,
            Err(error) => return Err(invalid(&error)),
        };
        // Other protocols are refused, since a reader of the URL may lack their transports.
        for address in context.iter().flat_map(|context| &context.addresses) {
            if let CorbalocAddress::Other { protocol, .. } = address {
                let expected = format_args!("expected iiop, uiop or rir, found {protocol:?}");
                return Err(invalid(&expected));
            }
        }
        if !self.is_empty() {
            url.push('#');
            url.push_str(&escape(self.to_string().as_bytes()));
        }
        Ok(url)
    }
}

impl Deref for Name {
    type Target = Vec<NameComponent>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The reason why text is no stringified name. Positions are in characters, from 1 on.
///
/// Source: the OMG Naming Service, stringified names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// A component is empty: between two slashes, before the first slash, or after the last.
    #[error("expected a component, found none at character {0}")]
    EmptyComponent(usize),
    /// A dot without a kind after it ("a."), or a second dot.
    #[error("expected one dot with a kind behind it, found another form at character {0}")]
    BadDot(usize),
    /// A backslash before a character other than a slash, a dot or a backslash.
    #[error("expected / . or \\ behind a backslash, found another character at {0}")]
    BadEscape(usize),
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let mut components = Vec::new();
        let mut id = String::new();
        let mut kind: Option<String> = None;
        let mut at = 0_usize;
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
            at = at.saturating_add(1);
            match character {
                '/' => finish(&mut id, &mut kind, at)?,
                '.' if kind.is_some() => return Err(NameError::BadDot(at)),
                '.' => kind = Some(String::new()),
                character => {
                    let plain = if character == '\\' {
                        at = at.saturating_add(1);
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
        finish(&mut id, &mut kind, at.saturating_add(1))?;
        Ok(Self(components))
    }
}

impl From<Vec<NameComponent>> for Name {
    fn from(components: Vec<NameComponent>) -> Self {
        Self(components)
    }
}

impl From<&[NameComponent]> for Name {
    fn from(components: &[NameComponent]) -> Self {
        Self(components.to_vec())
    }
}

/// Types that operations of a [`NamingClient`](super::NamingClient) take as a name: text, or a [`Name`].
pub trait IntoName: sealed::Sealed {
    #[doc(hidden)]
    fn into_name(self) -> Result<Name, NamingError>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for &str {}
    impl Sealed for &String {}
    impl Sealed for super::Name {}
    impl Sealed for &super::Name {}
}

impl IntoName for &str {
    fn into_name(self) -> Result<Name, NamingError> {
        self.parse().map_err(|why| NamingError::InvalidName {
            name: self.to_owned(),
            why: Some(why),
        })
    }
}

impl IntoName for &String {
    fn into_name(self) -> Result<Name, NamingError> {
        self.as_str().into_name()
    }
}

impl IntoName for Name {
    fn into_name(self) -> Result<Name, NamingError> {
        Ok(self)
    }
}

impl IntoName for &Name {
    fn into_name(self) -> Result<Name, NamingError> {
        Ok(self.clone())
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

/// BAD_PARAM, COMPLETED_NO.
impl From<NameError> for SystemException {
    fn from(error: NameError) -> Self {
        Fault::BadParameter(error.to_string()).raise(CompletionStatus::No)
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

    #[test]
    fn a_url_is_read_again_as_the_address_and_the_name_it_was_made_of() {
        let nasty: String = (' '..='~').chain(['é', 'Ж', '\u{1}']).collect();
        let name = Name(vec![
            NameComponent {
                id: nasty.clone(),
                kind: nasty,
            },
            NameComponent {
                id: String::new(),
                kind: String::new(),
            },
        ]);
        for address in [
            ":",
            ":h",
            ":h:1",
            "iiop:1.2@h:1,:[::1]:2/Key",
            "rir:",
            "rir:/NameService",
        ] {
            let url = name.to_url(address).unwrap();
            let (context, rest) = url.split_once('#').unwrap();
            assert_eq!(context, format!("corbaname:{address}"));
            assert!(rest.bytes().all(|octet| octet.is_ascii_graphic()), "{rest}");
            let Ok(ObjectUrl::Corbaname { name: read, .. }) = url.parse() else {
                panic!("{url} is a corbaname");
            };
            assert_eq!(read.parse(), Ok(name.clone()));
        }
        let context = Name::default().to_url(":h").unwrap();
        assert_eq!(context, "corbaname::h");
    }

    #[test]
    fn an_address_that_is_none_makes_no_url_and_is_said_to_be_none() {
        for (address, message) in [
            (
                "",
                "invalid address \"\": bad address \"\": expected iiop:, uiop:, rir: or a colon",
            ),
            (
                "host:2809",
                "invalid address \"host:2809\": bad address \"host:2809\": expected iiop:, uiop:, rir: or a colon",
            ),
            (
                ":h:99999",
                "invalid address \":h:99999\": bad address \":h:99999\": expected a port between 0 and 65535",
            ),
            (":h#a", "invalid address \":h#a\": expected no '#' in it"),
            (":h ", "invalid address \":h \": expected no ' ' in it"),
            (
                "rir:,:h",
                "invalid address \"rir:,:h\": bad object url: rir: stands alone",
            ),
        ] {
            let error = Name::default().to_url(address).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
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
