//! The real-time state of an ORB: its thread pools, named mutexes, and defaults for POAs.

#[cfg(target_os = "linux")]
use super::named_mutexes::NamedMutexes;
use super::policies::RtPolicies;
use super::threadpool::Pool;
use crate::endpoints::CurrentEndpoints;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zorb_transport::Endpoint;

/// The real-time state of a running ORB.
#[derive(Debug, Default)]
pub(crate) struct RealTime {
    pools: Mutex<Pools>,
    defaults: Mutex<RtPolicies>,
    #[cfg(target_os = "linux")]
    pub(super) mutexes: NamedMutexes,
    /// Whether the task that checks the pace of served connections runs.
    watched: AtomicBool,
}

#[derive(Debug, Default)]
pub(super) struct Pools {
    pub(super) by_id: BTreeMap<u32, Arc<Pool>>,
    pub(super) next: u32,
}

impl RealTime {
    pub(super) fn pools(&self) -> MutexGuard<'_, Pools> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The policies of POAs that do not set their own.
    pub(super) fn defaults(&self) -> RtPolicies {
        let defaults = self.defaults.lock().unwrap_or_else(PoisonError::into_inner);
        defaults.clone()
    }

    /// Sets the policies of POAs that do not set their own.
    pub(super) fn set_defaults(&self, policies: RtPolicies) {
        let mut defaults = self.defaults.lock().unwrap_or_else(PoisonError::into_inner);
        *defaults = policies;
    }

    /// Whether a lane of the ORB listens at the endpoint.
    pub(crate) fn listens_at(&self, endpoint: &Endpoint, published: &CurrentEndpoints) -> bool {
        let pools = self.pools();
        let mut pools = pools.by_id.values();
        pools.any(|pool| pool.is_named_by(endpoint, published))
    }

    /// Marks the served connections as watched, and returns whether they were already.
    pub(crate) fn set_watched(&self) -> bool {
        self.watched.swap(true, Ordering::AcqRel)
    }

    /// Drops all pools. Their threads end after their queued requests.
    pub(crate) fn clear(&self) {
        let pools = core::mem::take(&mut self.pools().by_id);
        let defaults =
            core::mem::take(&mut *self.defaults.lock().unwrap_or_else(PoisonError::into_inner));
        drop((pools, defaults));
    }
}
