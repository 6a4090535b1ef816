//! The limit on descriptors of the process, and the connections that it permits.

use rustix::process::{Resource, getrlimit};

/// Descriptors reserved for other uses than connections of clients: listeners, the runtime, files and logs of the
/// program. Without them an ORB at its limit could not accept a connection to refuse it with CloseConnection.
const RESERVED: usize = 64;

/// Descriptors that the process may have; `None` without a limit.
pub(crate) fn limit() -> Option<usize> {
    let limit = getrlimit(Resource::Nofile).current?;
    usize::try_from(limit).ok()
}

/// The connections of clients that `descriptors` permit, at most `wanted`.
pub(crate) fn for_clients(wanted: usize, descriptors: Option<usize>) -> usize {
    let most = descriptors.map_or(usize::MAX, |all| all.saturating_sub(RESERVED).max(1));
    wanted.min(most)
}

/// Logs that fewer connections are served than configured (a warning), or than by default.
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
