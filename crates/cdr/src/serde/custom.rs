//! Errors of serde's data model.

use crate::{DecodeError, EncodeError};
use alloc::{boxed::Box, string::ToString};
use core::fmt;

/// An error of CDR, or of a type that implements the traits of serde.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SerdeError {
    /// The octets are malformed.
    Decode(DecodeError),
    /// The value has no form in CDR.
    Encode(EncodeError),
    /// The error of the type's own implementation.
    Custom(Box<str>),
}

impl fmt::Display for SerdeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(e) => e.fmt(f),
            Self::Encode(e) => e.fmt(f),
            Self::Custom(text) => f.write_str(text),
        }
    }
}

impl core::error::Error for SerdeError {}

impl From<DecodeError> for SerdeError {
    fn from(e: DecodeError) -> Self {
        Self::Decode(e)
    }
}

impl From<EncodeError> for SerdeError {
    fn from(e: EncodeError) -> Self {
        Self::Encode(e)
    }
}

impl serde::ser::Error for SerdeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Custom(message.to_string().into())
    }
}

impl serde::de::Error for SerdeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Custom(message.to_string().into())
    }
}
