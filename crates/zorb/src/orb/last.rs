//! The end of an ORB, and what its thread pools need of its life.

use super::OrbInner;
use crate::real_time::RealTime;
use core::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use zorb_connection::Serving;

/// What a shutdown does last. Dropped when all has been waited for, or with the task that waits,
/// by a runtime that has shut down: no task is left then to be waited for, and those that wait for the ORB must not
/// wait for ever.
pub(super) struct Last(pub(super) Arc<OrbInner>);

impl Last {
    /// A caller that finds the cache closed finds this too.
    pub(super) fn end_calls(&self) {
        self.0.ended.store(true, Ordering::Release);
        self.0.cache.close();
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        self.end_calls();
        let down = Down(&self.0.down);
        self.0.adapters.clear();
        self.0.keys.clear();
        self.0.both_ways.clear();
        self.0.real_time.clear();
        drop(down);
        tracing::debug!("the ORB is down");
    }
}

/// Says that the ORB is down, even if a servant panics when it is let go.
struct Down<'a>(&'a watch::Sender<bool>);

impl Drop for Down<'_> {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

impl OrbInner {
    /// Its thread pools.
    pub(crate) const fn real_time(&self) -> &RealTime {
        &self.real_time
    }

    /// Ends with the ORB's life as a server.
    pub(crate) const fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }

    pub(crate) const fn serving(&self) -> &Arc<Serving<Self>> {
        &self.serving
    }

    /// Has the task run that looks at all served connections.
    pub(crate) fn watch_served(&self) {
        if !self.real_time.set_watched() {
            let serving = Arc::clone(&self.serving);
            self.track(serving.watch(Weak::clone(&self.this), self.stop.clone()));
        }
    }
}
