//! How many descriptors the process may have, and what that leaves for connections.

use rustix::process::{Resource, getrlimit};

/// Descriptors that connections of clients leave: those of listeners, of the runtime, of files and logs of the program.
/// Without them an ORB at its limit could not even accept a connection to tell it that it is refused.
const RESERVED: usize = 64;

/// Descriptors that the process may have; `None`: without limit.
pub(crate) fn limit() -> Option<usize> {
    let limit = getrlimit(Resource::Nofile).current?;
    usize::try_from(limit).ok()
}

/// Connections of clients that there are descriptors for, at most `wanted`.
pub(crate) fn for_clients(wanted: usize, descriptors: Option<usize>) -> usize {
    let most = descriptors.map_or(usize::MAX, |all| all.saturating_sub(RESERVED).max(1));
    wanted.min(most)
}

/// Says that fewer connections are served than were asked for, or than are by default.
pub(crate) fn report_fewer(wanted: usize, served: usize, is_asked_for: bool) {
    let descriptors = limit();
    if is_asked_for {
        tracing::warn!(
            max_connections = wanted,
            served,
            ?descriptors,
            "fewer connections are served than Builder::max_connections says: \
             the process may have no more descriptors (RLIMIT_NOFILE, ulimit -n)"
        );
    } else {
        tracing::info!(
            served,
            ?descriptors,
            "fewer connections are served than by default: \
             the process may have no more descriptors (RLIMIT_NOFILE, ulimit -n)"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_some_descriptors_and_there_is_always_one() {
        assert_eq!(for_clients(12_000, None), 12_000);
        assert_eq!(for_clients(12_000, Some(1_048_576)), 12_000);
        assert_eq!(for_clients(12_000, Some(1_024)), 960);
        assert_eq!(for_clients(100, Some(1_024)), 100);
        assert_eq!(for_clients(100, Some(10)), 1);
    }

    #[test]
    fn the_process_has_a_limit_that_can_be_read() {
        assert!(limit().is_none_or(|descriptors| descriptors > 3));
    }
}
