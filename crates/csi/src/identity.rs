//! Identities that a client asserts: the identity token of a context.

use crate::TokenError;
use crate::der::split_element;
use crate::gss::ExportedName;
use bytes::Bytes;
use core::ops::BitOr;
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, LittleEndian,
    WireFormat,
};

/// In whose name a request is sent, if not in that of the client itself: `CSI::IdentityToken`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these")]
pub enum IdentityToken {
    /// In the client's own name.
    #[default]
    Absent,
    /// In that of nobody.
    Anonymous,
    /// In that of a principal: an [exported name](Self::principal_name).
    PrincipalName(Bytes),
    /// In that of the subject of a [chain of certificates](Self::certificates).
    X509CertChain(Bytes),
    /// In that of an X.501 name, in DER.
    DistinguishedName(Bytes),
    /// Another form, with its number.
    Other(u32, Bytes),
}

/// Forms of identity tokens as bits: `CSI::IdentityTokenType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a number of the specification with names"
)]
pub struct IdentityTypes(pub u32);

impl IdentityTypes {
    /// [`IdentityToken::Anonymous`].
    pub const ANONYMOUS: Self = Self(1);
    /// [`IdentityToken::PrincipalName`].
    pub const PRINCIPAL_NAME: Self = Self(2);
    /// [`IdentityToken::X509CertChain`].
    pub const X509_CERT_CHAIN: Self = Self(4);
    /// [`IdentityToken::DistinguishedName`].
    pub const DISTINGUISHED_NAME: Self = Self(8);

    /// Whether all of these bits are set.
    #[must_use]
    pub const fn contains(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }
}

impl BitOr for IdentityTypes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The tag of a sequence in DER.
const SEQUENCE: u8 = 0x30;

impl IdentityToken {
    /// Makes the token of a principal with a name of GSSUP.
    ///
    /// # Errors
    /// The name is longer than 4 GiB.
    pub fn named(name: &str) -> Result<Self, TokenError> {
        ExportedName::gssup(name)
            .to_octets()
            .map(Self::PrincipalName)
    }

    /// Returns the form of the token; none for [`Absent`](Self::Absent).
    #[must_use]
    pub const fn kind(&self) -> IdentityTypes {
        IdentityTypes(match self {
            Self::Absent => 0,
            Self::Anonymous => 1,
            Self::PrincipalName(_) => 2,
            Self::X509CertChain(_) => 4,
            Self::DistinguishedName(_) => 8,
            Self::Other(number, _) => *number,
        })
    }

    /// Returns the name of a principal.
    ///
    /// # Errors
    /// The token has another form, or its name is malformed.
    pub fn principal_name(&self) -> Result<ExportedName, TokenError> {
        match self {
            Self::PrincipalName(octets) => ExportedName::from_octets(octets),
            _ => Err(TokenError::OtherIdentity),
        }
    }

    /// Returns the certificates of a chain, each in DER, in the order of the token. They are not verified. The specification has
    /// the subject's certificate first, GlassFish last.
    ///
    /// # Errors
    /// The token has another form, or is not a sequence of elements of DER.
    pub fn certificates(&self) -> Result<Vec<Bytes>, TokenError> {
        let Self::X509CertChain(chain) = self else {
            return Err(TokenError::OtherIdentity);
        };
        let malformed = TokenError::NotCertificates;
        let chain = split_element(unwrapped(chain), SEQUENCE).ok_or(malformed)?;
        if !chain.behind.is_empty() {
            return Err(malformed);
        }
        let (mut rest, mut certificates) = (chain.value, Vec::new());
        while !rest.is_empty() {
            let certificate = split_element(rest, SEQUENCE).ok_or(malformed)?;
            certificates.push(Bytes::copy_from_slice(certificate.whole));
            rest = certificate.behind;
        }
        Ok(certificates)
    }

    /// The octets of the token's form, if it has any.
    pub(crate) fn octets(&self) -> &[u8] {
        match self {
            Self::Absent | Self::Anonymous => &[],
            Self::PrincipalName(octets)
            | Self::X509CertChain(octets)
            | Self::DistinguishedName(octets)
            | Self::Other(_, octets) => octets,
        }
    }
}

/// The octets of an identity without the encapsulation of a sequence of octets that GlassFish puts around them. Names and
/// certificates begin with neither 0 nor 1.
pub(crate) fn unwrapped(octets: &[u8]) -> &[u8] {
    fn read<O: ByteOrder>(octets: &[u8]) -> Option<&[u8]> {
        let mut d = Decoder::<O>::from_slice(octets, WireFormat::default());
        d.read_u8().ok()?;
        d.read_octets().ok()
    }
    let inner = match octets.first() {
        Some(0) => read::<BigEndian>(octets),
        Some(1) => read::<LittleEndian>(octets),
        _ => None,
    };
    inner.unwrap_or(octets)
}

impl Encode for IdentityToken {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.write_u32(self.kind().0);
        match self {
            Self::Absent | Self::Anonymous => {
                e.write_bool(true);
                Ok(())
            }
            other => e.write_octets(other.octets()),
        }
    }
}

impl<'de> Decode<'de> for IdentityToken {
    const MIN_SIZE: usize = 5;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let number = d.read_u32()?;
        if number <= 1 {
            d.read_bool()?;
            return Ok(match number {
                0 => Self::Absent,
                _ => Self::Anonymous,
            });
        }
        let octets = Bytes::copy_from_slice(d.read_octets()?);
        Ok(match number {
            2 => Self::PrincipalName(octets),
            4 => Self::X509CertChain(octets),
            8 => Self::DistinguishedName(octets),
            other => Self::Other(other, octets),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_taken_apart_also_if_it_is_encapsulated_once_more() {
        let (leaf, ca) = (b"\x30\x03abc", b"\x30\x01x");
        let chain = [&b"\x30\x08"[..], leaf, ca].concat();
        let encapsulated = [&b"\0\0\0\0\0\0\0\x0a"[..], &chain].concat();
        for octets in [chain.clone(), encapsulated] {
            let token = IdentityToken::X509CertChain(octets.into());
            assert_eq!(token.certificates().unwrap(), [&leaf[..], &ca[..]]);
            assert_eq!(token.principal_name(), Err(TokenError::OtherIdentity));
        }
        for end in 0..chain.len() {
            let token = IdentityToken::X509CertChain(Bytes::copy_from_slice(&chain[..end]));
            assert_eq!(token.certificates(), Err(TokenError::NotCertificates));
        }
    }
}
