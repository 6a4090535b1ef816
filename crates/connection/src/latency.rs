//! The times that connecting to endpoints took.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;
use zorb_transport::Endpoint;

/// How long a measured time counts: longer than connections are usually kept, short enough to follow a changed route.
const REMEMBERED: Duration = Duration::from_secs(300);

/// The limit on endpoints remembered; references may name any number.
const MAX_REMEMBERED: usize = 1024;

/// Remembers how long connecting took, including name look-ups: at least a network round trip. A reference that names
/// several servers is bound to the nearest by it.
#[derive(Debug, Clone, Default)]
pub struct ConnectTimes(Arc<Mutex<HashMap<Endpoint, (Duration, Instant)>>>);

impl ConnectTimes {
    fn lock(&self) -> MutexGuard<'_, HashMap<Endpoint, (Duration, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an endpoint was connected to in this time.
    pub(crate) fn remember(&self, endpoint: &Endpoint, took: Duration) {
        let now = Instant::now();
        let mut times = self.lock();
        if times.len() >= MAX_REMEMBERED && !times.contains_key(endpoint) {
            times.retain(|_, (_, since)| now.duration_since(*since) < REMEMBERED);
        }
        if times.len() < MAX_REMEMBERED || times.contains_key(endpoint) {
            times.insert(endpoint.clone(), (took, now));
        }
    }

    /// The time that connecting to an endpoint took last; `None` if it was not connected to in the last five minutes.
    #[must_use]
    pub fn get(&self, endpoint: &Endpoint) -> Option<Duration> {
        let (took, since) = self.lock().get(endpoint).copied()?;
        (since.elapsed() < REMEMBERED).then_some(took)
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    fn host(number: usize) -> Endpoint {
        Endpoint::iiop(format!("h{number}"), 1)
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_time_counts_for_a_while() {
        let times = ConnectTimes::default();
        let (long, short) = (Duration::from_millis(9), Duration::from_millis(1));
        times.remember(&host(0), long);
        times.remember(&host(0), short);
        assert_eq!(
            (times.get(&host(0)), times.get(&host(1))),
            (Some(short), None)
        );
        tokio::time::advance(REMEMBERED).await;
        assert_eq!(times.get(&host(0)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_bounded_number_of_endpoints_is_remembered() {
        let times = ConnectTimes::default();
        (0..=MAX_REMEMBERED).for_each(|number| times.remember(&host(number), REMEMBERED));
        assert_eq!(times.lock().len(), MAX_REMEMBERED);
        // Remembering a known endpoint renews its entry.
        times.remember(&host(0), Duration::ZERO);
        assert_eq!(times.get(&host(0)), Some(Duration::ZERO));
        tokio::time::advance(REMEMBERED).await;
        times.remember(&host(MAX_REMEMBERED), Duration::ZERO);
        assert_eq!(times.lock().len(), 1);
    }
}
