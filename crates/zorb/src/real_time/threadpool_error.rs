//! Errors of creating thread pools.

use crate::error::write_cause;
use core::fmt;
use std::io;
use zorb_executor::{BuildError, Priority};
use zorb_giop::{Fault, RealTimeFault};

/// The reason why a thread pool could not be created.
///
/// An error of the operating system is the [`source`](core::error::Error::source), and `Display` does not show it. The
/// alternate form (`{:#}`) shows both.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadpoolError {
    /// The threads cannot be started: invalid numbers or priorities (BAD_PARAM), a priority that cannot be mapped
    /// (DATA_CONVERSION, minor code 2), a scheduling policy that the process must not use (INITIALIZE), or a thread
    /// that the operating system refuses (INTERNAL).
    #[error(transparent)]
    Threads(#[from] BuildError),
    /// The reactor of a lane cannot be started (INTERNAL).
    #[error(fmt = cannot_start_the_reactor)]
    Reactor {
        /// The priority of the lane.
        priority: Priority,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A lane listens to an endpoint of a transport that has no profile, so references cannot state its priority (BAD_PARAM).
    #[error(
        "expected an endpoint of a transport with a profile in references for a lane, found {0:?}"
    )]
    Endpoint(String),
}

fn cannot_start_the_reactor(
    priority: &Priority,
    source: &io::Error,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "cannot start the reactor of lane {priority}")?;
    write_cause(source, f)
}

impl ThreadpoolError {
    /// The fault of `create_threadpool`.
    pub(crate) fn fault(&self) -> Fault {
        let text = self.to_string();
        match self {
            Self::Threads(BuildError::Unmappable { priority, .. }) => {
                Fault::RealTime(RealTimeFault::Unmappable(priority.0))
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
            | Self::Endpoint(_) => Fault::BadParameter(text),
            Self::Threads(BuildError::Scheduling { .. }) => Fault::CannotInitialize(text),
            Self::Threads(_) | Self::Reactor { .. } => Fault::Internal(text),
        }
    }
}
