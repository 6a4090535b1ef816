//! GSS tokens and names that all mechanisms share (RFC 2743, sections 3.1 and 3.2).

use crate::TokenError;
use crate::der::{length_octets, read_length, split_element, write_length};
use bytes::Bytes;

/// Object identifiers of mechanisms and kinds of names, in DER with tag and length, as CSIv2 has them everywhere.
pub mod oid {
    /// GSSUP, user name and password: 2.23.130.1.1.1.
    pub const GSSUP: &[u8] = &[6, 6, 0x67, 0x81, 2, 1, 1, 1];
    /// Kerberos version 5: 1.2.840.113554.1.2.2.
    pub const KERBEROS: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2];
    /// Names in the exported form: 1.3.6.1.5.6.4.
    pub const EXPORTED_NAME: &[u8] = &[6, 6, 0x2b, 6, 1, 5, 6, 4];
    /// Names of users with a scope: 2.23.130.1.2.1.
    pub const SCOPED_USERNAME: &[u8] = &[6, 6, 0x67, 0x81, 2, 1, 2, 1];

    /// Returns the name of a mechanism or kind of names that is known here.
    #[must_use]
    pub fn name(der: &[u8]) -> Option<&'static str> {
        match der {
            GSSUP => Some("GSSUP"),
            KERBEROS => Some("Kerberos 5"),
            EXPORTED_NAME => Some("exported name"),
            SCOPED_USERNAME => Some("scoped user name"),
            _ => None,
        }
    }
}

/// The tag of an object identifier.
const OID_TAG: u8 = 6;
/// The tag of a token: application 0, constructed.
const TOKEN_TAG: u8 = 0x60;
/// Groups of seven bits in a length as JacORB writes it.
const MAX_GROUPS: usize = 5;

/// Octets of a token with an inner token of `inner` octets.
pub(crate) const fn token_octets(mechanism: &[u8], inner: usize) -> usize {
    let body = mechanism.len().saturating_add(inner);
    body.saturating_add(1).saturating_add(length_octets(body))
}

/// Frames the inner token of a mechanism: an initial token of RFC 2743, section 3.1. The mechanism is an object identifier in
/// DER.
#[must_use]
pub fn wrap(mechanism: &[u8], inner: &[u8]) -> Vec<u8> {
    let body = mechanism.len().saturating_add(inner.len());
    let mut out = Vec::with_capacity(token_octets(mechanism, inner.len()));
    out.push(TOKEN_TAG);
    write_length(body, &mut out);
    out.extend_from_slice(mechanism);
    out.extend_from_slice(inner);
    out
}

/// Splits an initial token into the object identifier of its mechanism, in DER, and its inner token.
///
/// The length has to fit. It is read as the standard has it, or else as JacORB 3.9 writes it from 128 on, in groups of seven bits.
///
/// # Errors
/// [`NotAToken`](TokenError::NotAToken) and [`Length`](TokenError::Length).
pub fn unwrap(token: &[u8]) -> Result<(&[u8], &[u8]), TokenError> {
    let Some((&TOKEN_TAG, rest)) = token.split_first() else {
        return Err(TokenError::NotAToken);
    };
    let read = read_length(rest);
    let body = match (read, read_groups(rest)) {
        (Some((stated, body)), _) if stated == body.len() => body,
        (_, Some((stated, body))) if stated == body.len() => body,
        (Some((stated, body)), _) => {
            let found = body.len();
            return Err(TokenError::Length { stated, found });
        }
        (None, _) => return Err(TokenError::NotAToken),
    };
    let mechanism = split_element(body, OID_TAG).ok_or(TokenError::NotAToken)?;
    Ok((mechanism.whole, mechanism.behind))
}

/// Reads a length in groups of seven bits, the most significant first, each but the last with the top bit set.
fn read_groups(octets: &[u8]) -> Option<(usize, &[u8])> {
    let last = (octets.iter().take(MAX_GROUPS)).position(|octet| *octet < 0x80)?;
    let (groups, rest) = octets.split_at_checked(last.checked_add(1)?)?;
    let length = groups
        .iter()
        .fold(0_u64, |all, group| (all << 7) | u64::from(group & 0x7f));
    Some((usize::try_from(length).ok()?, rest))
}

/// A name in the form that all mechanisms share: RFC 2743, section 3.2.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the standard has these two")]
pub struct ExportedName {
    /// The mechanism whose name it is: an object identifier in DER.
    pub mechanism: Bytes,
    /// The name, as the mechanism has it. GSSUP: text in UTF-8.
    pub name: Bytes,
}

/// The first octets of an exported name.
const EXPORTED: [u8; 2] = [4, 1];

impl ExportedName {
    /// Makes a name of GSSUP: that of a user, or that of a realm or server in its references.
    #[must_use]
    pub fn gssup(name: &str) -> Self {
        Self {
            mechanism: Bytes::from_static(oid::GSSUP),
            name: Bytes::copy_from_slice(name.as_bytes()),
        }
    }

    /// Writes the name.
    ///
    /// # Errors
    /// The mechanism or the name is too long for its length.
    pub fn to_octets(&self) -> Result<Bytes, TokenError> {
        let too_long = |_| TokenError::NotAnExportedName;
        let mechanism = u16::try_from(self.mechanism.len()).map_err(too_long)?;
        let name = u32::try_from(self.name.len()).map_err(too_long)?;
        let parts: [&[u8]; 5] = [
            &EXPORTED,
            &mechanism.to_be_bytes(),
            &self.mechanism,
            &name.to_be_bytes(),
            &self.name,
        ];
        Ok(parts.concat().into())
    }

    /// Reads a name. GlassFish wraps names into an encapsulation of a sequence of octets once more, which is read too.
    ///
    /// # Errors
    /// [`NotAnExportedName`](TokenError::NotAnExportedName).
    pub fn from_octets(octets: &[u8]) -> Result<Self, TokenError> {
        Self::read(crate::identity::unwrapped(octets)).ok_or(TokenError::NotAnExportedName)
    }

    fn read(octets: &[u8]) -> Option<Self> {
        let rest = octets.strip_prefix(&EXPORTED)?;
        let (length, rest) = rest.split_first_chunk()?;
        let (mechanism, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        let (length, name) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        (length == name.len()).then(|| Self {
            mechanism: Bytes::copy_from_slice(mechanism),
            name: Bytes::copy_from_slice(name),
        })
    }
}

/// Splits a user name at its scope: `alice@example.org` is `alice` in `example.org`. `\` escapes `@` and itself. Without a
/// scope there is no `@`.
///
/// Source: CORBA 3.3 Part 2, Secure Interoperability (scoped-username GSS name form).
#[must_use]
pub fn split_scope(user: &str) -> (String, Option<String>) {
    let (mut name, mut scope) = (String::new(), None::<String>);
    let mut characters = user.chars();
    while let Some(character) = characters.next() {
        let character = match character {
            '@' if scope.is_none() => {
                scope = Some(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        scope.as_mut().unwrap_or(&mut name).push(character);
    }
    (name, scope)
}

/// Joins a user name and its scope, and escapes `@` and `\` in both.
#[must_use]
pub fn join_scope(name: &str, scope: Option<&str>) -> String {
    let escape = |text: &str, joined: &mut String| {
        for character in text.chars() {
            if matches!(character, '@' | '\\') {
                joined.push('\\');
            }
            joined.push(character);
        }
    };
    let mut joined = String::new();
    escape(name, &mut joined);
    if let Some(scope) = scope {
        joined.push('@');
        escape(scope, &mut joined);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_token_longer_than_127_octets_has_a_length_of_der_and_jacorbs_is_read_too() {
        let inner = [7; 192];
        let token = wrap(oid::GSSUP, &inner);
        assert_eq!(token.get(..3).unwrap(), [0x60, 0x81, 200]);
        assert_eq!(unwrap(&token).unwrap(), (oid::GSSUP, &inner[..]));
        // 200 = 1 * 128 + 72.
        let of_jacorb = [&[0x60, 0x81, 72][..], oid::GSSUP, &inner].concat();
        assert_eq!(unwrap(&of_jacorb).unwrap(), (oid::GSSUP, &inner[..]));
    }

    #[test]
    fn malformed_tokens_are_refused() {
        let whole = wrap(oid::GSSUP, b"x");
        for end in 0..whole.len() {
            unwrap(&whole[..end]).unwrap_err();
        }
        unwrap(&[&whole[..], b"y"].concat()).unwrap_err();
        assert_eq!(unwrap(&[0x60, 1, 6]), Err(TokenError::NotAToken));
        let error = unwrap(&[0x60, 9, 6, 0]).unwrap_err();
        assert_eq!(
            error,
            TokenError::Length {
                stated: 9,
                found: 2
            }
        );
    }

    #[test]
    fn an_exported_name_is_that_of_the_standard() {
        let octets = b"\x04\x01\x00\x08\x06\x06\x67\x81\x02\x01\x01\x01\x00\x00\x00\x07default";
        let name = ExportedName::gssup("default");
        assert_eq!(name.to_octets().unwrap(), octets[..]);
        assert_eq!(ExportedName::from_octets(octets).unwrap(), name);
        for end in 0..octets.len() {
            ExportedName::from_octets(&octets[..end]).unwrap_err();
        }
        // Once more in an encapsulation, in either byte order.
        let length = u8::try_from(octets.len()).unwrap();
        for head in [[0, 0, 0, 0, 0, 0, 0, length], [1, 0, 0, 0, length, 0, 0, 0]] {
            let twice = [&head[..], octets].concat();
            assert_eq!(ExportedName::from_octets(&twice).unwrap(), name);
        }
    }

    #[test]
    fn a_scope_is_behind_the_first_at_sign_that_is_not_escaped() {
        for (user, name, scope) in [
            ("alice", "alice", None),
            ("alice@default", "alice", Some("default")),
            (r"a\@b@c", "a@b", Some("c")),
            ("@realm", "", Some("realm")),
            (r"a\\@r", r"a\", Some("r")),
        ] {
            let split = split_scope(user);
            assert_eq!((split.0.as_str(), split.1.as_deref()), (name, scope));
            assert_eq!(join_scope(name, scope), user);
        }
    }

    proptest! {
        #[test]
        fn tokens_names_and_scopes_come_back(
            inner in proptest::collection::vec(any::<u8>(), 0..400),
            name in ".{0,40}",
            scope in proptest::option::of(".{0,40}"),
        ) {
            let token = wrap(oid::KERBEROS, &inner);
            prop_assert_eq!(token.len(), token_octets(oid::KERBEROS, inner.len()));
            prop_assert_eq!(unwrap(&token).unwrap(), (oid::KERBEROS, &inner[..]));
            let exported = ExportedName::gssup(&name);
            let octets = exported.to_octets().unwrap();
            prop_assert_eq!(ExportedName::from_octets(&octets).unwrap(), exported);
            let joined = join_scope(&name, scope.as_deref());
            prop_assert_eq!(split_scope(&joined), (name, scope));
        }
    }
}
