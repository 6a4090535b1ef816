//! What has become of the handshakes of servers.

use crate::failure::Failure;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Lines of the log that handshakes of clients are behind, and in what time.
const LOG_LINES: u32 = 10;
const LOG_WINDOW: Duration = Duration::from_secs(10);

/// Counts of the handshakes that clients have begun at the endpoints of a transport: see
/// [`Tls::handshakes`](crate::Tls::handshakes).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handshakes {
    /// Handshakes that were done.
    pub done: u64,
    /// Handshakes that failed, for whatever reason.
    pub failed: u64,
    /// Those of the failed ones that were not done in time.
    pub late: u64,
    /// Those of the failed ones that made room for others.
    pub evicted: u64,
    /// The last failure: the client, and why.
    pub last_failure: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Statistics(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    counts: Handshakes,
    window: Option<Instant>,
    logged: u32,
    omitted: u64,
}

impl Statistics {
    pub(crate) fn counts(&self) -> Handshakes {
        self.state().counts.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn done(&self) {
        let counts = &mut self.state().counts;
        counts.done = counts.done.saturating_add(1);
    }

    /// Counts a failure, and logs it unless many were logged lately.
    pub(crate) fn failed(&self, peer: &(impl fmt::Debug + Peer), failure: &Failure) {
        let mut state = self.state();
        let counts = &mut state.counts;
        counts.failed = counts.failed.saturating_add(1);
        match failure {
            Failure::Late(_) => counts.late = counts.late.saturating_add(1),
            Failure::Evicted => counts.evicted = counts.evicted.saturating_add(1),
            _ => {}
        }
        let text = format!("{}: {failure}", peer.shown());
        counts.last_failure = Some(text.clone());
        let now = Instant::now();
        let is_new = state
            .window
            .is_none_or(|begun| now.saturating_duration_since(begun) >= LOG_WINDOW);
        if is_new {
            state.window = Some(now);
            state.logged = 0;
        }
        if state.logged >= LOG_LINES {
            state.omitted = state.omitted.saturating_add(1);
            return;
        }
        state.logged = state.logged.saturating_add(1);
        let omitted = std::mem::take(&mut state.omitted);
        drop(state);
        tracing::warn!(omitted, "TLS handshake failed: {text}");
    }
}

/// A peer, for messages.
pub(crate) trait Peer {
    fn shown(&self) -> String;
}

impl Peer for zorb_transport::Address {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Peer for zorb_transport::HostId {
    fn shown(&self) -> String {
        match self {
            Self::Inet(address) => address.to_string(),
            Self::Local => "this host".to_owned(),
            Self::Named(name) => name.to_string(),
            _ => "an unknown host".to_owned(),
        }
    }
}
