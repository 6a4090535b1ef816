//! What the ORB's own operations fail with.

use crate::keys::KeyTableError;
use crate::options::OptionError;
use crate::poa::NoContext;
use crate::real_time::ThreadpoolError;
use zorb_executor::LaneError;
use zorb_giop::url::UrlError;
use zorb_giop::{CompletionStatus, Fault, SystemException, minor};
use zorb_poa::{AdapterError, AdapterInactive};
use zorb_transport::TransportError;

/// Why an operation of the ORB failed.
///
/// Calls on objects fail with what their interface raises, or with a [`SystemException`]; this is
/// for everything around them: building the ORB, reading references, activating servants.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call that was made on the way failed.
    #[error(transparent)]
    System(#[from] SystemException),
    /// An object URL that is none.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// A setting that cannot be used, from the builder, the environment or the arguments.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// Listening failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The object adapter refused.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// No request is being executed here.
    #[error(transparent)]
    NoContext(#[from] NoContext),
    /// The key table refused.
    #[error(transparent)]
    KeyTable(#[from] KeyTableError),
    /// There is no runtime to run in.
    #[error(transparent)]
    Lane(#[from] LaneError),
    /// The operating system gives no thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    /// A thread pool could not be created.
    #[error(transparent)]
    Threadpool(#[from] ThreadpoolError),
    /// There is no initial reference of that name, or it cannot be had or given.
    #[error("initial reference {name:?}: {why}")]
    InvalidName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A reference to an object of this ORB could lead nowhere.
    #[error(
        "the ORB listens nowhere, so no reference can lead to it: call Orb::builder().listen(\"iiop://host:port\")"
    )]
    NoEndpoint,
    /// A file with a reference in it cannot be read.
    #[error("cannot read {path}: {cause}")]
    File {
        /// The file.
        path: String,
        /// Why.
        cause: std::io::Error,
    },
}

impl Error {
    /// Converts the error to a system exception, for code that passes it on as one.
    #[must_use]
    pub fn to_system_exception(&self) -> SystemException {
        use zorb_giop::SystemExceptionKind as Kind;
        // None of these has reached a servant.
        let completed = CompletionStatus::No;
        let initialize = || SystemException::new(Kind::Initialize, 0, completed).with_detail(self);
        match self {
            Self::System(exception) => exception.clone(),
            Self::Url(error) => Fault::Url(error.clone()).raise(completed),
            Self::Adapter(AdapterError::Destroyed) => {
                SystemException::new(Kind::ObjectNotExist, 0, completed).with_detail(self)
            }
            Self::Adapter(AdapterError::BeingDestroyed) => {
                SystemException::new(Kind::BadInvOrder, minor::ADAPTER_BEING_DESTROYED, completed)
                    .with_detail(self)
            }
            Self::Adapter(AdapterError::UnknownId(_) | AdapterError::IdNotInSet(_)) => {
                SystemException::new(Kind::BadParam, minor::UNKNOWN_OBJECT_ID, completed)
                    .with_detail(self)
            }
            Self::Adapter(AdapterError::ServantManagerSet) => {
                SystemException::new(Kind::BadInvOrder, minor::SERVANT_MANAGER_SET, completed)
                    .with_detail(self)
            }
            Self::NoContext(error) => (*error).into(),
            Self::Threadpool(error) => error.to_system_exception(),
            Self::Adapter(_) => {
                SystemException::new(Kind::ObjAdapter, 0, completed).with_detail(self)
            }
            Self::InvalidName { .. } | Self::File { .. } | Self::KeyTable(_) => {
                SystemException::new(Kind::BadParam, 0, completed).with_detail(self)
            }
            Self::Option(_)
            | Self::Transport(_)
            | Self::Lane(_)
            | Self::Thread(_)
            | Self::NoEndpoint => initialize(),
        }
    }
}

impl core::fmt::Debug for Error {
    /// As `Display`: a `main` that returns it prints this.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(self, f)
    }
}

impl From<AdapterInactive> for Error {
    fn from(error: AdapterInactive) -> Self {
        Self::Adapter(error.into())
    }
}

impl From<Error> for SystemException {
    fn from(error: Error) -> Self {
        error.to_system_exception()
    }
}
