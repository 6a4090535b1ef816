//! Endpoints that did not answer lately.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;
use zorb_transport::Endpoint;

/// How long an endpoint that does not serve is tried after all others: long enough for calls to reach the others meanwhile,
/// short enough that a server which comes back soon has its place again.
const REMEMBERED: Duration = Duration::from_secs(30);

/// The limit on endpoints remembered; references may name any number.
const MAX_REMEMBERED: usize = 1024;

/// Remembers endpoints that do not serve, so that a reference which names other endpoints, too, tries these first: endpoints
/// that neither accepted nor refused a connection, that accepted one and ended it without an answer, and those on whose
/// connection a call has timed out. A refusal costs no time and is not remembered; an answer is the end. A clone shares the
/// memory.
#[derive(Debug, Clone, Default)]
pub struct UnresponsiveEndpoints(Arc<Mutex<HashMap<Endpoint, Instant>>>);

impl UnresponsiveEndpoints {
    fn lock(&self) -> MutexGuard<'_, HashMap<Endpoint, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an endpoint does not serve: it comes last, behind those noted before.
    pub fn remember(&self, endpoint: &Endpoint) {
        let now = Instant::now();
        let mut unresponsive = self.lock();
        if unresponsive.len() >= MAX_REMEMBERED {
            unresponsive.retain(|_, since| now.duration_since(*since) < REMEMBERED);
        }
        if unresponsive.len() < MAX_REMEMBERED || unresponsive.contains_key(endpoint) {
            unresponsive.insert(endpoint.clone(), now);
        }
    }

    /// Notes that an endpoint answered.
    pub(crate) fn forget(&self, endpoint: &Endpoint) {
        self.lock().remove(endpoint);
    }

    /// When an endpoint was last found not to serve; `None` if that was not in the last 30 seconds, or it has answered since.
    #[must_use]
    pub fn since(&self, endpoint: &Endpoint) -> Option<Instant> {
        let since = self.lock().get(endpoint).copied();
        since.filter(|since| since.elapsed() < REMEMBERED)
    }

    /// Whether an endpoint was found not to serve in the last 30 seconds.
    #[must_use]
    pub fn contains(&self, endpoint: &Endpoint) -> bool {
        self.since(endpoint).is_some()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    fn host(number: usize) -> Endpoint {
        Endpoint::iiop(format!("h{number}"), 1)
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_remembered_for_a_while_and_until_it_ends() {
        let unresponsive = UnresponsiveEndpoints::default();
        unresponsive.remember(&host(0));
        unresponsive.remember(&host(1));
        unresponsive.forget(&host(1));
        assert!(
            unresponsive.contains(&host(0))
                && !unresponsive.contains(&host(1))
                && !unresponsive.contains(&host(2))
        );
        tokio::time::advance(REMEMBERED).await;
        assert!(!unresponsive.contains(&host(0)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_is_bounded_and_makes_room_when_it_is_old() {
        let unresponsive = UnresponsiveEndpoints::default();
        (0..=MAX_REMEMBERED).for_each(|number| unresponsive.remember(&host(number)));
        assert_eq!(unresponsive.lock().len(), MAX_REMEMBERED);
        tokio::time::advance(REMEMBERED).await;
        unresponsive.remember(&host(MAX_REMEMBERED));
        assert!(unresponsive.contains(&host(MAX_REMEMBERED)));
        assert_eq!(unresponsive.lock().len(), 1);
    }
}
