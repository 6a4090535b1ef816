//! Why tokens and contexts are malformed.

use thiserror::Error;
use zorb_cdr::{DecodeError, EncodeError};

/// Why octets are not the token, name or context that they should be, or why one cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The frame of a GSS token is malformed.
    #[error("expected a GSS token, found other octets")]
    NotAToken,
    /// The length of a token differs from the octets that follow.
    #[error("expected a token of {stated} octets, found {found}")]
    Length {
        /// The length that the token states.
        stated: usize,
        /// Octets that follow.
        found: usize,
    },
    /// The token is of another mechanism.
    #[error("expected a token of GSSUP, found one of another mechanism")]
    OtherMechanism,
    /// An exported name is malformed.
    #[error("expected an exported name, found other octets")]
    NotAnExportedName,
    /// A chain of certificates is malformed.
    #[error("expected a sequence of certificates, found other octets")]
    NotCertificates,
    /// An identity token is of another type than the one asked for.
    #[error("expected another type of identity token")]
    OtherIdentity,
    /// A name is not UTF-8.
    #[error("expected a name in UTF-8, found other octets")]
    NotUtf8,
    /// A context is larger than [`MAX_CONTEXT_OCTETS`](crate::MAX_CONTEXT_OCTETS).
    #[error("expected a context of at most {limit} octets, found {found}")]
    TooLarge {
        /// The limit.
        limit: usize,
        /// Octets of the context.
        found: usize,
    },
    /// The discriminator of a context is none of the four.
    #[error("expected a SAS context of type 0, 1, 4 or 5, found {found}")]
    UnknownContext {
        /// The discriminator.
        found: i16,
    },
    /// An encapsulation is malformed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A value is too long to be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}
