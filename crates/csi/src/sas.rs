//! The bodies of service context 15: the messages of the SAS protocol.
//!
//! Source: CORBA 3.3 Part 2, Secure Interoperability (Security Attribute Service context element, module `CSI`).

use crate::encapsulation::{octets_size, read, write_secret};
use crate::{IdentityToken, Secret, TokenError};
use bytes::Bytes;
use core::fmt;
use zorb_cdr::{ByteOrder, Decode, DecodeError, Decoder, EncodeError, Encoder};

/// The most octets of a context that are read. Tickets of Kerberos and chains of certificates have some ten thousand.
pub const MAX_CONTEXT_OCTETS: usize = 256 * 1024;

/// The id of a context on its connection, chosen by the client. [`STATELESS`](Self::STATELESS) is that of requests whose context is for themselves alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a number of the specification")]
pub struct ContextId(pub u64);

impl ContextId {
    /// No id: the context is for one request.
    pub const STATELESS: Self = Self(0);
}

/// A message of the protocol: `CSI::SASContextBody`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these four")]
pub enum SasContext {
    /// A request of a client that authenticates or asserts an identity.
    Establish(EstablishContext),
    /// The reply to it: the client has been accepted.
    Complete {
        /// The id of the client.
        id: ContextId,
        /// Whether the server has kept the context, so that requests may refer to it by its id.
        stateful: bool,
        /// A token of the mechanism by which the server authenticates; GSSUP has none.
        final_token: Bytes,
    },
    /// The reply to a request whose context was refused. The operation was not carried out.
    Error(ContextError),
    /// A request within a context that has been established.
    Message {
        /// The id of the context.
        id: ContextId,
        /// Whether the server shall forget the context after this request.
        discard: bool,
    },
}

/// The evidence of a client: `CSI::EstablishContext`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the specification has these four"
)]
pub struct EstablishContext {
    /// The id by which later requests refer to the context.
    pub id: ContextId,
    /// Statements of third parties about the client's privileges.
    pub authorization: Vec<AuthorizationElement>,
    /// In whose name the request is sent.
    pub identity: IdentityToken,
    /// The GSS token by which the client authenticates; empty if it does not.
    pub authentication: Secret,
}

/// A statement about privileges: `CSI::AuthorizationElement`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the specification has these two")]
pub struct AuthorizationElement {
    /// Its type; 0x4f4d0001 is a chain of attribute certificates.
    pub kind: u32,
    /// The statement.
    pub element: Bytes,
}

/// The reply to a request whose context was refused: `CSI::ContextError`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the specification has these three"
)]
pub struct ContextError {
    /// The id of the client.
    pub id: ContextId,
    /// The reason.
    pub status: Status,
    /// A token of the mechanism; JacORB returns that of the client, which has its password.
    pub token: Secret,
}

/// Why a context was refused: the major and minor status of `CSI::ContextError`. Unknown values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the specification has these two")]
pub struct Status {
    /// The kind of failure.
    pub major: i32,
    /// More exactly; the specification has 1 everywhere.
    pub minor: i32,
}

impl Status {
    /// The client has not proven who it is, or must not assert the identity.
    pub const INVALID_EVIDENCE: Self = Self::of(1, 1);
    /// The server has another mechanism. JacORB also says so of [`NO_CONTEXT`](Self::NO_CONTEXT).
    pub const INVALID_MECHANISM: Self = Self::of(2, 1);
    /// A context with the same id has other evidence.
    pub const CONFLICTING_EVIDENCE: Self = Self::of(3, 1);
    /// The server does not have the context to which a request refers.
    pub const NO_CONTEXT: Self = Self::of(4, 1);
    /// [`NO_CONTEXT`](Self::NO_CONTEXT) as GlassFish has it.
    pub const NO_CONTEXT_OF_GLASSFISH: Self = Self::of(1, 4);

    const fn of(major: i32, minor: i32) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor } = *self;
        match *self {
            Self::INVALID_EVIDENCE => f.write_str("invalid evidence"),
            Self::INVALID_MECHANISM => f.write_str("invalid mechanism"),
            Self::CONFLICTING_EVIDENCE => f.write_str("conflicting evidence"),
            Self::NO_CONTEXT | Self::NO_CONTEXT_OF_GLASSFISH => f.write_str("no such context"),
            _ => f.write_str("unknown status"),
        }?;
        write!(f, " ({major}/{minor})")
    }
}

/// Discriminators of the union.
mod kind {
    pub(super) const ESTABLISH: i16 = 0;
    pub(super) const COMPLETE: i16 = 1;
    pub(super) const ERROR: i16 = 4;
    pub(super) const MESSAGE: i16 = 5;
}

impl SasContext {
    /// Makes the reply to a client that has been accepted.
    #[must_use]
    pub const fn complete(id: ContextId, stateful: bool) -> Self {
        let final_token = Bytes::new();
        Self::Complete {
            id,
            stateful,
            final_token,
        }
    }

    /// Makes the reply to a client that has been refused, without a token: it tells no more than the status.
    #[must_use]
    pub fn refused(id: ContextId, status: Status) -> Self {
        let token = Secret::default();
        Self::Error(ContextError { id, status, token })
    }

    /// Returns the id of the context.
    #[must_use]
    pub const fn id(&self) -> ContextId {
        match self {
            Self::Establish(establish) => establish.id,
            Self::Error(error) => error.id,
            Self::Complete { id, .. } | Self::Message { id, .. } => *id,
        }
    }

    /// Writes the data of the service context, big-endian. Copies of tokens that are made on the way are wiped.
    ///
    /// # Errors
    /// A part is longer than 4 GiB.
    pub fn to_octets(&self) -> Result<Secret, TokenError> {
        let size = self.size();
        let octets = write_secret(size, |e| self.write(e))?;
        debug_assert!(octets.expose().len() <= size, "the buffer has grown");
        Ok(octets)
    }

    /// Octets that the context takes at most: those of its tokens, and of its numbers with their padding.
    fn size(&self) -> usize {
        let numbers = 40_usize;
        let of = |octets: &[u8]| octets_size(octets.len());
        match self {
            Self::Establish(context) => (context.authorization.iter())
                .map(|each| of(&each.element).saturating_add(8))
                .chain([
                    of(context.identity.octets()),
                    of(context.authentication.expose()),
                ])
                .fold(numbers, usize::saturating_add),
            Self::Complete { final_token, .. } => numbers.saturating_add(of(final_token)),
            Self::Error(error) => numbers.saturating_add(of(error.token.expose())),
            Self::Message { .. } => numbers,
        }
    }

    fn write<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.write_i16(match self {
            Self::Establish(_) => kind::ESTABLISH,
            Self::Complete { .. } => kind::COMPLETE,
            Self::Error(_) => kind::ERROR,
            Self::Message { .. } => kind::MESSAGE,
        });
        e.write_u64(self.id().0);
        match self {
            Self::Establish(context) => {
                e.write_count(context.authorization.len())?;
                for each in &context.authorization {
                    e.write_u32(each.kind);
                    e.write_octets(&each.element)?;
                }
                e.put(&context.identity)?;
                e.write_octets(context.authentication.expose())
            }
            Self::Complete {
                stateful,
                final_token,
                ..
            } => {
                e.write_bool(*stateful);
                e.write_octets(final_token)
            }
            Self::Error(error) => {
                e.write_i32(error.status.major);
                e.write_i32(error.status.minor);
                e.write_octets(error.token.expose())
            }
            Self::Message { discard, .. } => {
                e.write_bool(*discard);
                Ok(())
            }
        }
    }

    /// Reads the data of the service context. Costs work and memory in proportion to them.
    ///
    /// # Errors
    /// The data are malformed, or more than [`MAX_CONTEXT_OCTETS`].
    pub fn from_octets(octets: &[u8]) -> Result<Self, TokenError> {
        let (limit, found) = (MAX_CONTEXT_OCTETS, octets.len());
        if found > limit {
            return Err(TokenError::TooLarge { limit, found });
        }
        match read::<Read>(octets)? {
            Read::Known(context) => Ok(context),
            Read::Unknown(found) => Err(TokenError::UnknownContext { found }),
        }
    }
}

enum Read {
    Known(SasContext),
    Unknown(i16),
}

impl<'de> Decode<'de> for Read {
    const MIN_SIZE: usize = 2;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let discriminator = d.read_i16()?;
        if !matches!(
            discriminator,
            kind::ESTABLISH | kind::COMPLETE | kind::ERROR | kind::MESSAGE
        ) {
            return Ok(Self::Unknown(discriminator));
        }
        let id = ContextId(d.read_u64()?);
        Ok(Self::Known(match discriminator {
            kind::ESTABLISH => SasContext::Establish(EstablishContext {
                id,
                authorization: {
                    let count = d.read_count(8)?;
                    (0..count)
                        .map(|_| {
                            let kind = d.read_u32()?;
                            let element = Bytes::copy_from_slice(d.read_octets()?);
                            Ok(AuthorizationElement { kind, element })
                        })
                        .collect::<Result<_, DecodeError>>()?
                },
                identity: d.get()?,
                authentication: d.read_octets()?.into(),
            }),
            kind::COMPLETE => SasContext::Complete {
                id,
                stateful: d.read_bool()?,
                final_token: Bytes::copy_from_slice(d.read_octets()?),
            },
            kind::ERROR => SasContext::Error(ContextError {
                id,
                status: Status {
                    major: d.read_i32()?,
                    minor: d.read_i32()?,
                },
                token: d.read_octets()?.into(),
            }),
            _ => SasContext::Message {
                id,
                discard: d.read_bool()?,
            },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gssup::InitialContextToken;
    use proptest::prelude::*;

    fn octets(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pair = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16);
        digits.chunks(2).map(|each| pair(each).unwrap()).collect()
    }

    /// The forms of the specification, computed by hand.
    #[test]
    fn contexts_have_the_octets_of_the_specification() {
        let id = ContextId::STATELESS;
        let (zero, none) = ("00 00 00 00 00 00 00 00", "00 00 00 00");
        let establish =
            format!("{none} {none} {zero} {none} {none} 01 00 00 00 00 00 00 03 61 62 63");
        let complete = format!("00 00 00 01 {none} {zero} {none} {none}");
        let refused = format!("00 00 00 04 {none} {zero} 00 00 00 02 00 00 00 01 {none}");
        let message = "00 00 00 05 00 00 00 00 00 00 00 00 00 00 00 07 00".to_owned();
        for (hex, context) in [
            (
                establish,
                SasContext::Establish(EstablishContext {
                    id,
                    authorization: Vec::new(),
                    identity: IdentityToken::Absent,
                    authentication: "abc".into(),
                }),
            ),
            (complete, SasContext::complete(id, false)),
            (refused, SasContext::refused(id, Status::INVALID_MECHANISM)),
            (
                message,
                SasContext::Message {
                    id: ContextId(7),
                    discard: false,
                },
            ),
        ] {
            let octets = octets(&hex);
            assert_eq!(context.to_octets().unwrap().expose(), octets, "{context:?}");
            assert_eq!(SasContext::from_octets(&octets).unwrap(), context);
            for end in 0..octets.len() {
                SasContext::from_octets(&octets[..end]).unwrap_err();
            }
        }
    }

    #[test]
    fn contexts_that_are_none_are_refused() {
        assert_eq!(
            SasContext::from_octets(&octets("00 00 00 02 00 00 00 00")),
            Err(TokenError::UnknownContext { found: 2 })
        );
        let (limit, found) = (MAX_CONTEXT_OCTETS, MAX_CONTEXT_OCTETS + 1);
        assert_eq!(
            SasContext::from_octets(&vec![0; found]),
            Err(TokenError::TooLarge { limit, found })
        );
        // A sequence that claims more than there is.
        let claims = octets("00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ff ff ff ff");
        assert!(matches!(
            SasContext::from_octets(&claims),
            Err(TokenError::Decode(_))
        ));
    }

    #[test]
    fn no_context_shows_a_password() {
        let token = InitialContextToken {
            username: "alice".to_owned(),
            password: "hunter2".into(),
            target_name: Bytes::new(),
        };
        let authentication = token.to_token().unwrap();
        let context = SasContext::Establish(EstablishContext {
            id: ContextId(1),
            authorization: Vec::new(),
            identity: IdentityToken::Absent,
            authentication: authentication.clone(),
        });
        let error = SasContext::Error(ContextError {
            id: ContextId(1),
            status: Status::INVALID_EVIDENCE,
            token: authentication,
        });
        for shown in [format!("{context:?}"), format!("{error:?}")] {
            let hidden = ["hunter2", "104, 117, 110"];
            assert!(hidden.iter().all(|part| !shown.contains(part)), "{shown}");
        }
    }

    fn some_octets() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(any::<u8>(), 0..300)
    }

    fn identity() -> impl Strategy<Value = IdentityToken> {
        (0..6_u32, some_octets(), 9..u32::MAX).prop_map(|(form, octets, number)| match form {
            0 => IdentityToken::Absent,
            1 => IdentityToken::Anonymous,
            2 => IdentityToken::PrincipalName(octets.into()),
            3 => IdentityToken::X509CertChain(octets.into()),
            4 => IdentityToken::DistinguishedName(octets.into()),
            _ => IdentityToken::Other(number, octets.into()),
        })
    }

    fn context() -> impl Strategy<Value = SasContext> {
        let id = || any::<u64>().prop_map(ContextId);
        let element = (any::<u32>(), some_octets()).prop_map(|(kind, element)| {
            let element = element.into();
            AuthorizationElement { kind, element }
        });
        let authorization = proptest::collection::vec(element, 0..4);
        prop_oneof![
            (id(), authorization, identity(), some_octets()).prop_map(
                |(id, authorization, identity, authentication)| {
                    let authentication = authentication.into();
                    SasContext::Establish(EstablishContext {
                        id,
                        authorization,
                        identity,
                        authentication,
                    })
                }
            ),
            (id(), any::<bool>(), some_octets()).prop_map(|(id, stateful, token)| {
                let final_token = token.into();
                SasContext::Complete {
                    id,
                    stateful,
                    final_token,
                }
            }),
            (id(), any::<i32>(), any::<i32>(), some_octets()).prop_map(
                |(id, major, minor, token)| {
                    let (status, token) = (Status { major, minor }, token.into());
                    SasContext::Error(ContextError { id, status, token })
                }
            ),
            (id(), any::<bool>()).prop_map(|(id, discard)| SasContext::Message { id, discard }),
        ]
    }

    proptest! {
        #[test]
        fn every_context_comes_back(context in context()) {
            let octets = context.to_octets().unwrap();
            prop_assert_eq!(SasContext::from_octets(octets.expose()).unwrap(), context);
        }
    }
}
