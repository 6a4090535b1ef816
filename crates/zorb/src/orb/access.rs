//! Accessors of parts of the ORB.

use super::OrbInner;
use crate::addresses::read_profile;
use crate::profile::candidates;
use crate::real_time::RealTime;
use crate::serve::UpcallsEnd;
use bytes::Bytes;
use std::sync::{Arc, Weak};
use tokio_util::sync::CancellationToken;
use zorb_connection::Serving;
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException};
use zorb_poa::KeyOwner;

impl OrbInner {
    /// The ORB's real-time state: thread pools, mutexes and defaults.
    pub(crate) const fn real_time(&self) -> &RealTime {
        &self.real_time
    }

    /// Cancelled when the shutdown begins.
    pub(crate) const fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }

    pub(crate) const fn serving(&self) -> &Arc<Serving<Self>> {
        &self.serving
    }

    /// The end of all upcalls, at the time limit of a shutdown.
    pub(crate) const fn upcalls_end(&self) -> &UpcallsEnd {
        &self.upcalls_end
    }

    /// Starts the task that checks the pace of all served connections, unless it runs already.
    pub(crate) fn watch_served(&self) {
        if !self.real_time.set_watched() {
            let serving = Arc::clone(&self.serving);
            self.track(serving.watch(Weak::clone(&self.this), self.stop.clone()));
        }
    }

    /// Checks that the ORB is not shutting down.
    ///
    /// # Errors
    /// BAD_INV_ORDER once the shutdown has begun.
    pub(crate) fn check_serves(&self) -> Result<(), SystemException> {
        match self.is_stopping() {
            true => Err(Fault::OrbShutDown.raise(CompletionStatus::No)),
            false => Ok(()),
        }
    }

    /// The object key, if the reference is one to an object of this ORB. A transient key names its ORB; another server
    /// may have an equal persistent or plain key, so its profile has to name one of this ORB's endpoints, too.
    pub(crate) fn local_key(&self, ior: &Ior) -> Option<Bytes> {
        let transports = self.transports();
        let keys = (ior.profiles.iter())
            .filter_map(|profile| Some(read_profile(profile, transports)?.1.ok()?.object_key));
        let ours = keys
            .into_iter()
            .find(|key| self.adapters.key_owner(key) == KeyOwner::ThisServer);
        ours.or_else(|| {
            candidates(ior, zorb_giop::Version::HIGHEST, transports)
                .into_iter()
                .find(|way| {
                    self.adapters.key_owner(&way.key) == KeyOwner::AnyServer
                        && (self.listening.contains(&way.endpoint)
                            || self.real_time.listens_at(&way.endpoint, &self.published)
                            || self.published.is_own(&way.endpoint))
                })
                .map(|way| way.key)
        })
    }
}
