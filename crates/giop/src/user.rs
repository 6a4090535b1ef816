//! User exceptions, which an interface's operations raise.

use crate::exception::SystemException;
use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncodeError, Encoder};

/// An exception that an interface declares.
pub trait UserException: core::error::Error + Send + Sync + 'static {
    /// Its repository id.
    const REPOSITORY_ID: &'static str;
}

/// The error of an operation: one of the user exceptions it raises,
/// or a system exception.
///
/// Generated for every operation with a `raises` clause; `SystemException` itself serves those
/// without one.
pub trait OperationError: From<SystemException> + Sized {
    /// Returns the system exception, if it is one.
    fn system(&self) -> Option<&SystemException>;

    /// Returns the repository id of the exception.
    fn repository_id(&self) -> &str;

    /// Writes a user exception: repository id, then members. Writes nothing for a system
    /// exception.
    ///
    /// # Errors
    /// The error of a member that cannot be encoded, such as a string with a NUL.
    fn encode_user<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError>;

    /// Reads the members of the user exception `repository_id`; `None` when the operation does
    /// not raise it.
    fn decode_user<O: ByteOrder>(
        repository_id: &[u8],
        d: &mut Decoder<'_, O>,
    ) -> Option<Result<Self, DecodeError>>;
}

impl OperationError for SystemException {
    fn system(&self) -> Option<&SystemException> {
        Some(self)
    }

    fn repository_id(&self) -> &str {
        self.kind.repository_id()
    }

    fn encode_user<O: ByteOrder>(&self, _: &mut Encoder<O>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn decode_user<O: ByteOrder>(
        _: &[u8],
        _: &mut Decoder<'_, O>,
    ) -> Option<Result<Self, DecodeError>> {
        None
    }
}
