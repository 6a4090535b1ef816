//! Errors of building lanes and pools.
use std::{error::Error, fmt, io};

use crate::{NativePriority, Priority, Scheduling};

/// Most threads of a pool.
pub(crate) const MAX_THREADS: usize = 4096;

/// Why a [`Lane`](crate::Lane) cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaneError {
    /// The caller is not inside any tokio runtime.
    NoRuntime,
    /// [`Dispatch::BlockInPlace`](crate::Dispatch::BlockInPlace) was requested on a current-thread runtime.
    DispatchDoesNotFit,
}

impl fmt::Display for LaneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRuntime => "expected to be called inside a tokio runtime, found none",
            Self::DispatchDoesNotFit => {
                "expected a multi-thread runtime to block in place, found a current-thread one"
            }
        })
    }
}

impl Error for LaneError {}

/// Why a [`WorkerPool`](crate::WorkerPool) cannot be built.
///
/// An error of the operating system is the [`source`](Error::source) and no part of the text. The alternate form (`{:#}`)
/// shows both.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A lane, or a pool without lanes, has no static thread.
    #[error("expected at least one static thread, found 0")]
    NoThreads,
    /// More threads than [`WorkerPool::MAX_THREADS`](crate::WorkerPool::MAX_THREADS).
    #[error("expected at most {} threads in all, found {_0}", MAX_THREADS)]
    TooManyThreads(usize),
    /// The list of lanes is empty.
    #[error("expected at least one lane, found none")]
    NoLanes,
    /// The priority of a lane is negative.
    #[error("expected the priority of a lane to be 0 to 32767, found {_0}")]
    PriorityOutOfRange(Priority),
    /// Two lanes have one priority, so that a request of it would belong to either.
    #[error("expected lanes of different priorities, found two of priority {_0}")]
    TwoLanesOfOnePriority(Priority),
    /// The mapping has no native priority for this one (DATA_CONVERSION in Real-time CORBA).
    #[error(
        "priority {priority} maps to no native priority of {}; another mapping may have one",
        scheduling.name()
    )]
    Unmappable {
        /// The CORBA priority.
        priority: Priority,
        /// The policy with the range of native priorities.
        scheduling: Scheduling,
    },
    /// The scheduling policy has no such native priority.
    #[error(
        "expected a native priority of {} ({}), found {native}",
        scheduling.name(),
        scheduling.range_text()
    )]
    NativePriorityOutOfRange {
        /// The policy.
        scheduling: Scheduling,
        /// The native priority.
        native: NativePriority,
    },
    /// The allocator has no memory for a queue of this many requests.
    #[error("no memory for a queue of {_0} requests")]
    QueueTooLarge(usize),
    /// The name of a thread contains a NUL.
    #[error("a thread name cannot contain NUL")]
    NameHasNul,
    /// The builder got no lane, and the caller is in no runtime that the pool could take.
    #[error(transparent)]
    Lane(LaneError),
    /// The operating system refuses the scheduling policy or the priority. Real-time policies need CAP_SYS_NICE, or a
    /// resource limit RLIMIT_RTPRIO of at least the native priority (`ulimit -r`).
    #[error(fmt = scheduling_refused)]
    Scheduling {
        /// The policy.
        scheduling: Scheduling,
        /// The native priority.
        native: NativePriority,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The operating system refuses the CPUs: none of them exists, or the process may not use them.
    #[error(fmt = cpus_refused)]
    Cpus {
        /// The CPUs, by number.
        cpus: Vec<usize>,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The operating system refuses to start a thread, for lack of memory or because of a limit on threads.
    #[error(fmt = thread_refused)]
    Thread(#[source] io::Error),
}

fn scheduling_refused(
    scheduling: &Scheduling,
    native: &NativePriority,
    source: &io::Error,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let policy = scheduling.name();
    write!(
        f,
        "the system refuses {policy} with priority {native}: CAP_SYS_NICE or an RLIMIT_RTPRIO of at least {native} permits it"
    )?;
    write_source(source, f)
}

fn cpus_refused(cpus: &[usize], source: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "the system lets no thread run on CPUs {cpus:?}")?;
    write_source(source, f)
}

fn thread_refused(source: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("the system starts no further thread")?;
    write_source(source, f)
}

/// The alternate form of an error shows its source.
fn write_source(source: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match f.alternate() {
        true => write!(f, ": {source}"),
        false => Ok(()),
    }
}

impl From<BuildError> for io::Error {
    /// `InvalidInput` for an invalid description, and the kind of the cause where the system refuses.
    fn from(error: BuildError) -> Self {
        let kind = match &error {
            BuildError::Scheduling { source, .. }
            | BuildError::Cpus { source, .. }
            | BuildError::Thread(source) => source.kind(),
            BuildError::QueueTooLarge(_) => io::ErrorKind::OutOfMemory,
            BuildError::Lane(_) => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_the_system_is_the_source_and_part_of_the_alternate_form() {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        for error in [
            BuildError::Thread(refused()),
            BuildError::Cpus {
                cpus: vec![7],
                source: refused(),
            },
            BuildError::Scheduling {
                scheduling: Scheduling::Fifo,
                native: NativePriority(1),
                source: refused(),
            },
        ] {
            assert!(error.source().is_some_and(|it| it.is::<io::Error>()));
            assert_eq!(format!("{error:#}"), format!("{error}: {}", refused()));
        }
    }
}
