//! Why thread pools cannot be created.

use super::settings::raise;
use zorb_executor::{BuildError, Priority};
use zorb_giop::{CompletionStatus, RealTimeFault, SystemException, SystemExceptionKind};

/// Why a thread pool could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadpoolError {
    /// Its threads: impossible numbers and priorities (BAD_PARAM), a priority that cannot be mapped (DATA_CONVERSION, minor
    /// code 2), a scheduling policy that the process may not have (INITIALIZE), no thread (INTERNAL).
    #[error("thread pool: {0}")]
    Threads(#[from] BuildError),
    /// The reactor of a lane cannot be started (INTERNAL).
    #[error("the reactor of lane {priority}: {source}")]
    Reactor {
        /// The lane.
        priority: Priority,
        /// What the system said.
        source: std::io::Error,
    },
    /// A lane listens to an endpoint of a transport whose references cannot state priorities (BAD_PARAM).
    #[error("lanes listen to iiop and uiop endpoints, found {0:?}")]
    Endpoint(String),
}

impl ThreadpoolError {
    /// The exception of `create_threadpool`.
    pub(crate) fn to_system_exception(&self) -> SystemException {
        use SystemExceptionKind as Kind;
        let kind = match self {
            Self::Threads(BuildError::Unmappable { priority, .. }) => {
                return raise(RealTimeFault::Unmappable(priority.0));
            }
            Self::Threads(
                BuildError::NoThreads
                | BuildError::TooManyThreads(_)
                | BuildError::NoLanes
                | BuildError::PriorityOutOfRange(_)
                | BuildError::TwoLanesOfOnePriority(_)
                | BuildError::QueueTooLarge(_)
                | BuildError::Cpus { .. },
            )
            | Self::Endpoint(_) => Kind::BadParam,
            Self::Threads(BuildError::Scheduling { .. }) => Kind::Initialize,
            Self::Threads(_) | Self::Reactor { .. } => Kind::Internal,
        };
        SystemException::new(kind, 0, CompletionStatus::No).with_detail(self)
    }
}
