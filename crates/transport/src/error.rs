use std::{error::Error, fmt, io};

use crate::Endpoint;

/// What a transport was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Finding the addresses of a host name.
    Resolve,
    /// Opening a connection to a peer.
    Connect,
    /// Opening an endpoint for peers to connect to.
    Listen,
}

/// A connection or listener that could not be opened: what was tried, where, and why it failed.
///
/// The message names all three, as in `cannot connect to iiop://127.0.0.1:1: Connection refused (os error 111)`;
/// [`source`](Error::source) therefore goes on behind the cause and does not say it again.
#[derive(Debug)]
pub struct TransportError {
    endpoint: Endpoint,
    operation: Operation,
    cause: io::Error,
}

impl TransportError {
    /// For transports: `operation` on `endpoint` failed because of `cause`.
    #[must_use]
    pub const fn new(operation: Operation, endpoint: Endpoint, cause: io::Error) -> Self {
        Self {
            endpoint,
            operation,
            cause,
        }
    }

    /// The endpoint as it was asked for.
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the error with another endpoint: for a transport over a transport, whose endpoints are called otherwise.
    #[must_use]
    pub fn of(self, endpoint: Endpoint) -> Self {
        Self { endpoint, ..self }
    }

    /// What was being done.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        self.operation
    }

    /// The operating system's reason, unchanged; where a host name has several addresses, that of each.
    #[must_use]
    pub const fn cause(&self) -> &io::Error {
        &self.cause
    }

    /// The kind of the cause: `ConnectionRefused` where there is no listener, `NotFound` for a UNIX socket that is not
    /// there, `Unsupported` where no transport knows the endpoint's scheme, and so on.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.cause.kind()
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.operation {
            Operation::Resolve => "resolve",
            Operation::Connect => "connect to",
            Operation::Listen => "listen on",
        };
        write!(f, "cannot {what} {}: {}", self.endpoint, self.cause)
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

/// Keeps the kind; the error itself stays within reach through [`io::Error::get_ref`].
impl From<TransportError> for io::Error {
    fn from(error: TransportError) -> Self {
        Self::new(error.kind(), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_operation_endpoint_and_cause() {
        let check = |operation, expected: &str| {
            let endpoint = Endpoint::iiop("bank.example", 2809);
            let cause = io::Error::from_raw_os_error(libc::ECONNREFUSED);
            assert_eq!(
                TransportError::new(operation, endpoint, cause).to_string(),
                expected
            );
        };
        check(
            Operation::Resolve,
            "cannot resolve iiop://bank.example:2809: Connection refused (os error 111)",
        );
        check(
            Operation::Connect,
            "cannot connect to iiop://bank.example:2809: Connection refused (os error 111)",
        );
        check(
            Operation::Listen,
            "cannot listen on iiop://bank.example:2809: Connection refused (os error 111)",
        );
    }

    #[test]
    fn an_io_error_made_from_it_keeps_kind_and_message() {
        let error = || {
            TransportError::new(
                Operation::Connect,
                Endpoint::uiop("/tmp/x"),
                io::ErrorKind::NotFound.into(),
            )
        };
        let io = io::Error::from(error());
        assert_eq!(io.kind(), io::ErrorKind::NotFound);
        assert_eq!(io.to_string(), error().to_string());
        assert!(
            io.get_ref()
                .is_some_and(|inner| inner.is::<TransportError>())
        );
    }
}
