//! Closes clients that are too slow, by the stall timeout or for scarce memory.
//!
//! One task of an ORB checks all of its served connections from time to time, so that a connection needs no timer. The task
//! itself has a timer only while a client makes the ORB wait: a runtime with a timer reads the clock each time it parks.

use super::super::fairness::{Evicted, PaceMonitor, PaceSample, to_evict};
use super::super::owner::Owner;
use super::{ServerConnection, Serving};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use zorb_giop::{MessageKind, Version};

/// The period of the checks.
const LOOK: Duration = Duration::from_secs(1);
/// Connections that are checked before other tasks run.
const CHECKS_PER_TURN: usize = 256;

impl<O: Owner> Serving<O> {
    /// Closes connections whose clients are too slow, until `stop` or until the owner is gone.
    ///
    /// # Cancel safety
    /// Safe: dropping the future ends the checks.
    pub async fn watch(self: Arc<Self>, owner: Weak<O>, stop: CancellationToken) {
        let mut monitors = HashMap::new();
        let mut needs_checks = false;
        loop {
            let next = async {
                if !needs_checks {
                    self.waits().notified().await;
                }
                tokio::time::sleep(LOOK).await;
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = next => {}
            }
            let Some(owner) = owner.upgrade() else { return };
            needs_checks = self.check(&owner, &mut monitors).await;
        }
    }

    /// Checks all connections once, and returns whether one of them has to be checked again.
    async fn check(&self, owner: &Arc<O>, monitors: &mut HashMap<u64, PaceMonitor>) -> bool {
        let settings = owner.settings();
        let now = Instant::now();
        let mut slow = Vec::new();
        let mut needs_checks = false;
        let all = self.all();
        let before = core::mem::take(monitors);
        let mut before = before;
        for (index, (id, connection)) in all.into_iter().enumerate() {
            if index % CHECKS_PER_TURN == CHECKS_PER_TURN - 1 {
                tokio::task::yield_now().await;
            }
            let Some(connection) = connection.upgrade() else {
                continue;
            };
            let sample = PaceSample::of(&connection.link).accepted(!connection.opened_here());
            needs_checks |= sample.needs_checks() | connection.check_backlog();
            let mut monitor =
                (before.remove(&id)).unwrap_or_else(|| PaceMonitor::new(&sample, now));
            let judged =
                (settings.stall_timeout).and_then(|stall| monitor.judge(&sample, now, stall));
            if monitor.is_slow_when_scarce(&sample, now) {
                slow.push((sample.held, Arc::downgrade(&connection)));
            }
            if let Some(why) = judged {
                connection.evict(why);
            }
            monitors.insert(id, monitor);
        }
        for connection in to_evict(&settings.memory, slow) {
            if let Some(connection) = connection.upgrade() {
                connection.evict(Evicted::Scarcity);
            }
        }
        needs_checks
    }
}

impl<O: Owner> ServerConnection<O> {
    /// Ends the connection although its client is reachable.
    fn evict(&self, why: Evicted) {
        if why == Evicted::Unused && self.has_no_pending() {
            // A request may be on its way: CloseConnection lets the client send it elsewhere.
            (self.link).send_empty(MessageKind::CloseConnection, Version::V1_0);
        }
        self.link.evict(why);
    }
}
