//! GSSUP: a user name and a password in a token (CORBA 3.3 Part 2, Secure Interoperability, module `GSSUP`).

use crate::encapsulation::{octets_size, read, write_secret};
use crate::gss::{oid, token_octets, unwrap, wrap};
use crate::{Secret, TokenError};
use bytes::Bytes;
use core::fmt;
use zorb_cdr::{BigEndian, ByteOrder, Decode, DecodeError, Decoder, Encoder};

/// A user name and a password for a server: `GSSUP::InitialContextToken`. `Debug` does not show the password.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the specification has these three"
)]
pub struct InitialContextToken {
    /// The user name; with a scope, [`name@scope`](crate::gss::split_scope).
    pub username: String,
    /// The password, as a rule UTF-8.
    pub password: Secret,
    /// The name of the server or its realm, as its reference has it: as a rule an [`ExportedName`](crate::gss::ExportedName).
    pub target_name: Bytes,
}

impl InitialContextToken {
    /// Writes the token with its frame. Copies of the password that are made on the way are wiped.
    ///
    /// # Errors
    /// A part is longer than 4 GiB.
    pub fn to_token(&self) -> Result<Secret, TokenError> {
        let name = self.username.as_bytes();
        let inner = write_secret(self.size(), |e: &mut Encoder<BigEndian>| {
            e.write_octets(name)?;
            e.write_octets(self.password.expose())?;
            e.write_octets(&self.target_name)
        })?;
        debug_assert!(inner.expose().len() <= self.size(), "the buffer has grown");
        Ok(wrap(oid::GSSUP, inner.expose()).into())
    }

    /// Octets of the token, at most.
    #[must_use]
    pub fn token_size(&self) -> usize {
        token_octets(oid::GSSUP, self.size())
    }

    fn size(&self) -> usize {
        [
            self.username.len(),
            self.password.expose().len(),
            self.target_name.len(),
        ]
        .into_iter()
        .fold(4, |all, part| all.saturating_add(octets_size(part)))
    }

    /// Reads a token with its frame.
    ///
    /// # Errors
    /// The token is malformed or of another mechanism, or the user name is not UTF-8.
    pub fn from_token(token: &[u8]) -> Result<Self, TokenError> {
        let (oid::GSSUP, inner) = unwrap(token)? else {
            return Err(TokenError::OtherMechanism);
        };
        let (username, password, target_name) = read::<Parts>(inner)?.0;
        Ok(Self {
            username: String::from_utf8(username).map_err(|_| TokenError::NotUtf8)?,
            password,
            target_name: target_name.into(),
        })
    }
}

struct Parts((Vec<u8>, Secret, Vec<u8>));

impl<'de> Decode<'de> for Parts {
    const MIN_SIZE: usize = 12;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let username = d.read_octets()?.to_vec();
        let password = d.read_octets()?.into();
        Ok(Self((username, password, d.read_octets()?.to_vec())))
    }
}

/// Why a server refused a user name and password: the `error_code` of `GSSUP::ErrorToken`. Unknown codes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a number of the specification with names"
)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// The server does not say.
    pub const UNSPECIFIED: Self = Self(1);
    /// There is no such user.
    pub const NO_USER: Self = Self(2);
    /// The password is another one.
    pub const BAD_PASSWORD: Self = Self(3);
    /// The server has another name.
    pub const BAD_TARGET: Self = Self(4);

    /// Writes an error token, with its frame.
    ///
    /// # Errors
    /// None is known.
    pub fn to_token(self) -> Result<Vec<u8>, TokenError> {
        let inner = write_secret(8, |e| {
            e.write_u32(self.0);
            Ok(())
        })?;
        Ok(wrap(oid::GSSUP, inner.expose()))
    }

    /// Reads an error token, with its frame or without. JacORB returns the client's own token in its place, which has no code.
    #[must_use]
    pub fn from_token(token: &[u8]) -> Option<Self> {
        let inner = match unwrap(token) {
            Ok((oid::GSSUP, inner)) => inner,
            Ok(_) => return None,
            Err(_) => token,
        };
        // An encapsulation of an unsigned long, and nothing else.
        const OCTETS: usize = 8;
        match inner.len() {
            OCTETS => read::<u32>(inner).ok().map(Self),
            _ => None,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::UNSPECIFIED => f.write_str("unspecified"),
            Self::NO_USER => f.write_str("no such user"),
            Self::BAD_PASSWORD => f.write_str("bad password"),
            Self::BAD_TARGET => f.write_str("bad target"),
            Self(code) => write!(f, "code {code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gss::ExportedName;
    use proptest::prelude::*;

    fn token(username: &str, password: &str, target: &str) -> InitialContextToken {
        InitialContextToken {
            username: username.to_owned(),
            password: password.into(),
            target_name: ExportedName::gssup(target).to_octets().unwrap(),
        }
    }

    /// alice, secret, default: the octets of RFC 2743 and the specification, computed by hand.
    const ALICE: &[u8] = b"\x60\x3f\x06\x06\x67\x81\x02\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x05alice\x00\x00\x00\x00\x00\x00\x06\
        secret\x00\x00\x00\x00\x00\x17\x04\x01\x00\x08\x06\x06\x67\x81\x02\x01\x01\x01\x00\x00\x00\x07default";

    #[test]
    fn a_token_has_the_octets_of_the_specification() {
        let alice = token("alice", "secret", "default");
        assert_eq!(alice.to_token().unwrap().expose(), ALICE);
        assert_eq!(InitialContextToken::from_token(ALICE).unwrap(), alice);
        for end in 0..ALICE.len() {
            InitialContextToken::from_token(&ALICE[..end]).unwrap_err();
        }
        let shown = format!("{alice:?}");
        assert!(
            shown.contains("alice") && !shown.contains("secret"),
            "{shown}"
        );
    }

    #[test]
    fn a_token_in_the_other_byte_order_is_read() {
        let inner = b"\x01\0\0\0\x01\0\0\0b\0\0\0\x02\0\0\0pw\0\0\0\0\0\0";
        let read = InitialContextToken::from_token(&wrap(oid::GSSUP, inner)).unwrap();
        assert_eq!((read.username.as_str(), read.password), ("b", "pw".into()));
        let kerberos = wrap(oid::KERBEROS, inner);
        let error = InitialContextToken::from_token(&kerberos).unwrap_err();
        assert_eq!(error, TokenError::OtherMechanism);
    }

    #[test]
    fn an_error_token_is_read_with_its_frame_and_without() {
        let token = ErrorCode::BAD_PASSWORD.to_token().unwrap();
        assert_eq!(
            token,
            b"\x60\x10\x06\x06\x67\x81\x02\x01\x01\x01\0\0\0\0\0\0\0\x03"
        );
        for octets in [&token[..], &token[10..]] {
            assert_eq!(ErrorCode::from_token(octets), Some(ErrorCode::BAD_PASSWORD));
        }
        for none in [&[][..], ALICE, b"\0\0\0\0\0\0\0", &token[..17]] {
            assert_eq!(ErrorCode::from_token(none), None);
        }
    }

    proptest! {
        #[test]
        fn a_token_comes_back_whatever_its_length(
            name in ".{0,200}", password in ".{0,200}", target in ".{0,40}",
        ) {
            let token = token(&name, &password, &target);
            let octets = token.to_token().unwrap();
            prop_assert!(octets.expose().len() <= token.token_size());
            prop_assert_eq!(InitialContextToken::from_token(octets.expose()).unwrap(), token);
        }
    }
}
