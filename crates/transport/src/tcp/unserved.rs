//! Addresses that have accepted connections lately, and have not served on them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time for which an address that does not serve is tried after the others of its host, unless it serves before.
const REMEMBERED: Duration = Duration::from_secs(30);
/// Most addresses remembered; references may name any number.
const MAX_REMEMBERED: usize = 1024;

/// Addresses that accept connections and do not serve.
#[derive(Clone, Debug, Default)]
pub(super) struct Unserved(Arc<Mutex<HashMap<SocketAddr, Instant>>>);

impl Unserved {
    fn lock(&self) -> MutexGuard<'_, HashMap<SocketAddr, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether an address serves.
    pub(super) fn note(&self, address: SocketAddr, serves: bool, now: Instant) {
        let mut unserved = self.lock();
        if serves {
            unserved.remove(&address);
            return;
        }
        if unserved.len() >= MAX_REMEMBERED {
            unserved.retain(|_, since| is_recent(*since, now));
        }
        if unserved.len() < MAX_REMEMBERED || unserved.contains_key(&address) {
            unserved.insert(address, now);
        }
    }

    /// Returns the addresses in the order in which they are tried: those without a recent failure, and the others, the one
    /// that failed last at the end.
    pub(super) fn in_order(&self, mut addresses: Vec<SocketAddr>, now: Instant) -> Vec<SocketAddr> {
        if addresses.len() < 2 {
            return addresses;
        }
        let unserved = self.lock();
        let since = |address: &SocketAddr| {
            let since = unserved.get(address).copied();
            since.filter(|since| is_recent(*since, now))
        };
        // Stable, and `None` comes first.
        addresses.sort_by_key(since);
        addresses
    }
}

fn is_recent(since: Instant, now: Instant) -> bool {
    now.saturating_duration_since(since) < REMEMBERED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn an_address_that_does_not_serve_comes_last_for_a_while_and_until_it_serves() {
        let (unserved, now) = (Unserved::default(), Instant::now());
        let all = || (1..=3).map(address).collect::<Vec<_>>();
        let ports = |now| -> Vec<u16> {
            let in_order = unserved.in_order(all(), now);
            in_order.iter().map(SocketAddr::port).collect()
        };
        assert_eq!(ports(now), [1, 2, 3]);
        unserved.note(address(2), false, now);
        unserved.note(address(1), false, now + Duration::from_millis(1));
        assert_eq!(ports(now), [3, 2, 1]);
        unserved.note(address(2), true, now);
        assert_eq!(ports(now), [2, 3, 1]);
        assert_eq!(ports(now + 2 * REMEMBERED), [1, 2, 3]);
    }

    #[test]
    fn a_bounded_number_of_addresses_is_remembered() {
        let (unserved, now) = (Unserved::default(), Instant::now());
        for port in 0..=MAX_REMEMBERED {
            unserved.note(address(port.try_into().unwrap()), false, now);
        }
        assert_eq!(unserved.lock().len(), MAX_REMEMBERED);
        unserved.note(address(9_999), false, now + REMEMBERED);
        assert_eq!(unserved.lock().len(), 1);
    }
}
