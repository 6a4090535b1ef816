//! Errors of the ORB's own operations.

use crate::keys::KeyTableError;
use crate::options::OptionError;
use crate::poa::NoContext;
use crate::real_time::ThreadpoolError;
use core::fmt;
use std::io;
use zorb_executor::LaneError;
use zorb_giop::url::UrlError;
use zorb_giop::{Chain, CompletionStatus, Fault, SystemException};
use zorb_poa::{AdapterError, AdapterInactive};
use zorb_transport::TransportError;

/// The error of an operation of the ORB.
///
/// Calls on objects fail with the exceptions of their interface, or with a [`SystemException`]. This type is for all
/// other operations: building the ORB, reading references, activating servants.
///
/// An error of the operating system, or of decoding a reference, is the [`source`](core::error::Error::source), and `Display`
/// does not show it. The alternate form (`{:#}`) and `Debug` show both.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call to another object, which the operation needed, failed.
    #[error(transparent)]
    System(#[from] SystemException),
    /// A text is not a valid object URL.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// An invalid setting, from the builder, the environment or the arguments.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The ORB cannot listen to an endpoint.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The object adapter refused the operation.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The caller is not in an upcall, so no request is being executed.
    #[error(transparent)]
    NoContext(#[from] NoContext),
    /// The key table refused the operation.
    #[error(transparent)]
    KeyTable(#[from] KeyTableError),
    /// There is no tokio runtime to run in, or it cannot run the requested dispatch.
    #[error(transparent)]
    Lane(#[from] LaneError),
    /// The operating system refused to start a thread.
    #[error(fmt = cannot_start_a_thread)]
    Thread(#[source] io::Error),
    /// A thread pool could not be created.
    #[error(transparent)]
    Threadpool(#[from] ThreadpoolError),
    /// There is no initial reference of that name, or it cannot be resolved or registered.
    #[error("initial reference {name:?}: {why}")]
    InvalidName {
        /// The name.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// The ORB listens nowhere, so it cannot make references to its objects.
    #[error(
        "the ORB listens nowhere, so no reference can lead to it: call Orb::builder().listen(\"iiop://host:port\")"
    )]
    NoEndpoint,
    /// A file that holds a reference cannot be read.
    #[error(fmt = cannot_read)]
    File {
        /// The file.
        path: String,
        /// The error of the operating system.
        #[source]
        cause: io::Error,
    },
}

fn cannot_start_a_thread(cause: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("cannot start a thread")?;
    write_cause(cause, f)
}

fn cannot_read(path: &str, cause: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "cannot read {path}")?;
    write_cause(cause, f)
}

/// Writes the cause, in the alternate form of an error only.
pub(crate) fn write_cause(cause: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match f.alternate() {
        true => write!(f, ": {cause}"),
        false => Ok(()),
    }
}

impl Error {
    /// Converts the error to the system exception that CORBA assigns to it. Its detail has the text of the causes;
    /// `SystemException::from` keeps the causes themselves.
    ///
    /// A system exception is returned unchanged. Of adapter errors, a destroyed POA is OBJECT_NOT_EXIST, one that is being
    /// destroyed and a second servant manager are BAD_INV_ORDER, an unknown id is BAD_PARAM, and others are OBJ_ADAPTER. Names,
    /// files and the key table are BAD_PARAM; options, transports, lanes, threads and missing endpoints are INITIALIZE. All
    /// of these are COMPLETED_NO. Allocates the detail.
    #[must_use]
    pub fn to_system_exception(&self) -> SystemException {
        if let Self::System(exception) = self {
            return exception.clone();
        }
        self.raise().with_local_detail(Chain(self))
    }

    /// The exception, without detail and source of its own. None of these errors arises after a servant has started.
    fn raise(&self) -> SystemException {
        let text = self.to_string();
        let fault = match self {
            Self::System(exception) => return exception.clone(),
            Self::Adapter(error) => return error.clone().into(),
            Self::NoContext(error) => return (*error).into(),
            Self::Url(error) => Fault::Url(error.clone()),
            Self::Threadpool(error) => error.fault(),
            Self::InvalidName { .. } | Self::File { .. } | Self::KeyTable(_) => {
                Fault::BadParameter(text)
            }
            Self::Option(_)
            | Self::Transport(_)
            | Self::Lane(_)
            | Self::Thread(_)
            | Self::NoEndpoint => Fault::CannotInitialize(text),
        };
        fault.raise(CompletionStatus::No)
    }
}

impl fmt::Debug for Error {
    /// Shows the text and its causes: a `main` that returns the error prints this.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl From<AdapterInactive> for Error {
    fn from(error: AdapterInactive) -> Self {
        Self::Adapter(error.into())
    }
}

/// The exception of [`Error::to_system_exception`]. The error's source becomes its source; neither is sent to clients.
impl From<Error> for SystemException {
    fn from(error: Error) -> Self {
        if let Error::System(exception) = error {
            return exception;
        }
        error.raise().of_error(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::cos_naming::naming_context::ResolveError;
    use core::error::Error as _;

    #[test]
    fn the_exception_of_a_bad_url_keeps_kind_minor_code_text_and_source() {
        for text in ["IOR:00", "IOR:0x", "corbaloc:iiop:here:port/Key", "xyz:"] {
            let bad = || text.parse::<zorb_giop::url::ObjectUrl>().unwrap_err();
            let expected = SystemException::from(bad());
            let raised = SystemException::from(Error::Url(bad()));
            assert_eq!((raised.kind, raised.minor), (expected.kind, expected.minor));
            assert_eq!(raised.detail(), expected.detail(), "{text}");
            let source = |of: &SystemException| of.source().map(ToString::to_string);
            assert_eq!(source(&raised), source(&expected), "{text}");
            let whole = Error::Url(bad()).to_system_exception();
            assert_eq!(whole.detail(), Some(&*format!("{:#}", Error::Url(bad()))));
        }
    }

    #[test]
    fn exceptions_made_of_an_error_keep_its_source() {
        let error = || Error::File {
            path: "/nowhere".to_owned(),
            cause: io::ErrorKind::NotFound.into(),
        };
        let whole = "cannot read /nowhere: entity not found";
        assert_eq!(error().to_string(), "cannot read /nowhere");
        assert_eq!(format!("{:#}", error()), whole);
        assert_eq!(error().to_system_exception().detail(), Some(whole));
        let raised = SystemException::from(error());
        assert_eq!(raised.detail(), Some("cannot read /nowhere"));
        // In a servant, `?` converts it to the error of an operation.
        for raised in [
            &raised as &dyn core::error::Error,
            &ResolveError::from(error()),
        ] {
            let source = raised
                .source()
                .and_then(|it| it.downcast_ref::<io::Error>());
            assert_eq!(source.unwrap().kind(), io::ErrorKind::NotFound);
            assert!(!raised.to_string().contains("entity"), "{raised}");
            assert!(format!("{raised:#}").ends_with(whole), "{raised:#}");
        }
    }
}
