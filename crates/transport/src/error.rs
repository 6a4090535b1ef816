//! The error of a connection or listener that cannot be opened.

use std::{error::Error, fmt, io, time::Duration};

use crate::Endpoint;

/// The operation in which a transport failed.
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

impl fmt::Display for Operation {
    /// As in "cannot …": `resolve`, `connect to`, `listen on`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolve",
            Self::Connect => "connect to",
            Self::Listen => "listen on",
        })
    }
}

/// The error of a connection or listener that could not be opened: the operation, the endpoint, and the cause.
///
/// The message names operation and endpoint, as in `cannot connect to iiop://127.0.0.1:1`; the reason of the operating system
/// is the [`source`](Error::source). The alternate form (`{:#}`) shows both: `…: Connection refused (os error 111)`.
#[derive(Debug)]
pub struct TransportError {
    endpoint: Endpoint,
    operation: Operation,
    cause: io::Error,
    /// The limit that passed, if that is the cause.
    limit: Option<Duration>,
}

impl TransportError {
    /// Makes the error of a transport whose `operation` on `endpoint` failed because of `cause`.
    #[must_use]
    pub const fn new(operation: Operation, endpoint: Endpoint, cause: io::Error) -> Self {
        Self {
            endpoint,
            operation,
            cause,
            limit: None,
        }
    }

    /// Makes the error of a transport whose `operation` on `endpoint` was not done within `limit`. Its kind is
    /// [`TimedOut`](io::ErrorKind::TimedOut).
    #[must_use]
    pub fn late(operation: Operation, endpoint: Endpoint, limit: Duration) -> Self {
        Self {
            limit: Some(limit),
            ..Self::new(operation, endpoint, io::ErrorKind::TimedOut.into())
        }
    }

    /// Returns the caller's time limit, if it has passed; `None` for a failure of the operation itself.
    #[must_use]
    pub const fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Returns the endpoint as it was asked for.
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the error with another endpoint, for a transport over a transport, whose endpoints have other names.
    #[must_use]
    pub fn of(self, endpoint: Endpoint) -> Self {
        Self { endpoint, ..self }
    }

    /// Returns the operation that failed.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the operating system's reason, unchanged; where a host name has several addresses, that of each.
    #[must_use]
    pub const fn cause(&self) -> &io::Error {
        &self.cause
    }

    /// Returns the kind of the cause: `ConnectionRefused` where there is no listener, `NotFound` for a UNIX socket that
    /// does not exist, `Unsupported` where no transport has the endpoint's scheme, and so on.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.cause.kind()
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}", self.operation, self.endpoint)?;
        if let Some(limit) = self.limit {
            return write!(f, " within {limit:?}");
        }
        match f.alternate() {
            true => write_causes(&self.cause, f),
            false => Ok(()),
        }
    }
}

/// Causes that the alternate form shows. A transport of the application may have errors whose sources lead back to them.
const MAX_CAUSES: usize = 16;

fn write_causes(cause: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let first: &(dyn Error + 'static) = cause;
    let causes = std::iter::successors(Some(first), |error| (*error).source());
    for cause in causes.take(MAX_CAUSES) {
        write!(f, ": {cause}")?;
    }
    Ok(())
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // A limit that has passed is all there is to say.
        match self.limit {
            Some(_) => None,
            None => Some(&self.cause),
        }
    }
}

/// Keeps the kind; [`io::Error::get_ref`] returns the error itself.
impl From<TransportError> for io::Error {
    fn from(error: TransportError) -> Self {
        Self::new(error.kind(), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_operation_and_endpoint_and_the_cause_is_the_source() {
        let check = |operation, expected: &str| {
            let endpoint = Endpoint::iiop("bank.example", 2809);
            let cause = io::Error::from_raw_os_error(libc::ECONNREFUSED);
            let error = TransportError::new(operation, endpoint, cause);
            assert_eq!(error.to_string(), expected);
            let cause = error.source().unwrap();
            assert!(cause.is::<io::Error>());
            let whole = format!("{expected}: Connection refused (os error 111)");
            assert_eq!(format!("{error:#}"), whole);
        };
        check(
            Operation::Resolve,
            "cannot resolve iiop://bank.example:2809",
        );
        check(
            Operation::Connect,
            "cannot connect to iiop://bank.example:2809",
        );
        check(
            Operation::Listen,
            "cannot listen on iiop://bank.example:2809",
        );
    }

    #[test]
    fn a_limit_that_passed_is_shown_with_what_was_under_way() {
        let endpoint = Endpoint::iiop("bank.example", 2809);
        let limit = Duration::from_secs(5);
        let error = TransportError::late(Operation::Resolve, endpoint, limit);
        let expected = "cannot resolve iiop://bank.example:2809 within 5s";
        assert_eq!(error.to_string(), expected);
        assert_eq!(format!("{error:#}"), expected);
        assert_eq!(
            (error.kind(), error.limit()),
            (io::ErrorKind::TimedOut, Some(limit))
        );
    }

    #[test]
    fn the_alternate_form_shows_every_cause_and_ends() {
        #[derive(Debug)]
        struct Inner(bool);

        impl fmt::Display for Inner {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tunnel")
            }
        }

        impl Error for Inner {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                match self.0 {
                    true => Some(self),
                    false => Some(&fmt::Error),
                }
            }
        }

        let shown = |cyclic| {
            let cause = io::Error::other(Inner(cyclic));
            let endpoint = Endpoint::uiop("/tmp/x");
            format!(
                "{:#}",
                TransportError::new(Operation::Connect, endpoint, cause)
            )
        };
        let one = "cannot connect to uiop:///tmp/x: tunnel";
        assert_eq!(shown(false), format!("{one}: {}", fmt::Error));
        assert_eq!(
            shown(true),
            format!("{one}{}", ": tunnel".repeat(MAX_CAUSES - 1))
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
        assert_eq!(format!("{io:#}"), format!("{:#}", error()));
        assert!(
            io.get_ref()
                .is_some_and(|inner| inner.is::<TransportError>())
        );
    }
}
