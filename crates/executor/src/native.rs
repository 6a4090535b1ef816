//! Properties of an operating system's thread: scheduling policy, priority, CPUs.
use std::{io, ops::RangeInclusive};

use rustix::thread::{CpuSet, sched_setaffinity};
use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue,
    ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    thread_schedule_policy_param,
};

use crate::{NativePriority, error::BuildError};

/// The scheduling policy of threads (`sched(7)`).
///
/// The real-time policies need a privilege: CAP_SYS_NICE, or a resource limit RLIMIT_RTPRIO of at least the priority.
/// Without it, the pool is not built; no policy falls back to another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheduling {
    /// The policy of the creating thread, such as SCHED_OTHER: native priorities are not changed, and
    /// [`Priority`](crate::Priority) orders queues only.
    #[default]
    Inherited,
    /// SCHED_FIFO: a thread runs until it waits, or until one of a higher priority is ready.
    Fifo,
    /// SCHED_RR: as SCHED_FIFO, but threads of one priority take turns.
    RoundRobin,
}

impl Scheduling {
    /// Returns the native priorities of the policy; `None` where they are not changed.
    #[must_use]
    pub fn native_range(self) -> Option<RangeInclusive<i32>> {
        let policy = ThreadSchedulePolicy::Realtime(self.realtime()?);
        // Linux has 1 to 99 for both, and POSIX promises 32 levels; a policy that the system does not know has none.
        let least = ThreadPriority::min_value_for_policy(policy).ok()?;
        let most = ThreadPriority::max_value_for_policy(policy).ok()?;
        Some(least..=most)
    }

    const fn realtime(self) -> Option<RealtimeThreadSchedulePolicy> {
        match self {
            Self::Inherited => None,
            Self::Fifo => Some(RealtimeThreadSchedulePolicy::Fifo),
            Self::RoundRobin => Some(RealtimeThreadSchedulePolicy::RoundRobin),
        }
    }

    /// Returns the policy's name in `sched(7)`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Inherited => "the inherited scheduling policy",
            Self::Fifo => "SCHED_FIFO",
            Self::RoundRobin => "SCHED_RR",
        }
    }

    /// Its native priorities, for messages.
    pub(crate) fn range_text(self) -> String {
        match self.native_range() {
            Some(range) => format!("{} to {}", range.start(), range.end()),
            None => "any".to_owned(),
        }
    }

    /// Gives the calling thread this policy and this priority; nothing for [`Inherited`](Self::Inherited). Costs a system call.
    ///
    /// # Errors
    /// `InvalidInput` for a priority that is none of the policy's, `PermissionDenied` where the process lacks the privilege.
    pub fn apply(self, native: NativePriority) -> io::Result<()> {
        let Some(policy) = self.realtime() else {
            return Ok(());
        };
        let value = u8::try_from(native.0)
            .ok()
            .and_then(|value| ThreadPriorityValue::try_from(value).ok())
            .ok_or(io::ErrorKind::InvalidInput)?;
        set_thread_priority_and_policy(
            thread_native_id(),
            ThreadPriority::Crossplatform(value),
            ThreadSchedulePolicy::Realtime(policy),
        )
        .map_err(error)
    }
}

/// Returns the scheduling policy and priority that the kernel has for the calling thread, for tests, traces and
/// diagnostics.
///
/// Costs a system call. A policy that [`Scheduling`] does not name is [`Scheduling::Inherited`], with priority 0.
///
/// # Errors
/// The error of the operating system.
pub fn current_thread_scheduling() -> io::Result<(Scheduling, NativePriority)> {
    let (policy, parameters) = thread_schedule_policy_param(thread_native_id()).map_err(error)?;
    let scheduling = match policy {
        ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo) => Scheduling::Fifo,
        ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin) => {
            Scheduling::RoundRobin
        }
        ThreadSchedulePolicy::Realtime(_)
        | ThreadSchedulePolicy::Normal(
            NormalThreadSchedulePolicy::Idle
            | NormalThreadSchedulePolicy::Batch
            | NormalThreadSchedulePolicy::Other,
        ) => Scheduling::Inherited,
    };
    Ok((scheduling, NativePriority(parameters.sched_priority)))
}

/// Gives the calling thread its CPUs, all that it may use where none are listed, its policy and its priority.
pub(crate) fn prepare(
    cpus: &[usize],
    scheduling: Scheduling,
    native: NativePriority,
) -> Result<(), BuildError> {
    if !cpus.is_empty() {
        pin(cpus).map_err(|source| BuildError::Cpus {
            cpus: cpus.to_vec(),
            source,
        })?;
    }
    scheduling
        .apply(native)
        .map_err(|source| BuildError::Scheduling {
            scheduling,
            native,
            source,
        })
}

/// Lets the calling thread run on these CPUs only.
pub(crate) fn pin(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        if *cpu >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        set.set(*cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

fn error(error: thread_priority::Error) -> io::Error {
    match error {
        thread_priority::Error::OS(number) => io::Error::from_raw_os_error(number),
        other => io::Error::other(other),
    }
}
