//! Errors of serde's data model.

use crate::{DecodeError, EncodeError};
use alloc::{boxed::Box, string::ToString};
use core::error::Error;
use core::fmt;

/// An error of CDR, or of a type that implements the traits of serde.
///
/// The error of CDR is the [`source`](core::error::Error::source), and `Display` does not show it. The alternate form
/// (`{:#}`) shows both.
///
/// ```
/// use core::error::Error;
/// use zorb_cdr::{BigEndian, WireFormat, from_bytes};
///
/// let error = from_bytes::<BigEndian, u32>(&[0; 3], WireFormat::default()).unwrap_err();
/// assert_eq!(error.to_string(), "cannot decode the value");
/// assert_eq!(error.source().unwrap().to_string(), "expected 4 more octets, found 3 at octet 0");
/// ```
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
            Self::Decode(_) => f.write_str("cannot decode the value")?,
            Self::Encode(_) => f.write_str("cannot encode the value")?,
            Self::Custom(text) => f.write_str(text)?,
        }
        match self.source() {
            Some(source) if f.alternate() => write!(f, ": {source}"),
            _ => Ok(()),
        }
    }
}

impl Error for SerdeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Decode(error) => Some(error),
            Self::Encode(error) => Some(error),
            Self::Custom(_) => None,
        }
    }
}

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
