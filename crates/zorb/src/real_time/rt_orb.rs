//! `RTCORBA::RTORB`: thread pools, mutexes, and defaults for POAs.

#[cfg(target_os = "linux")]
use super::named_mutexes::NamedMutexes;
use super::policies::RtPolicies;
use super::settings::raise;
use super::start::{close, start};
use super::threadpool::{Threadpool, ThreadpoolOptions};
use crate::error::Error;
use crate::orb::Orb;
use std::sync::Arc;
use zorb_giop::{CompletionStatus, Fault, RealTimeFault, SystemException};

/// The real-time operations of an ORB: `RTCORBA::RTORB`. A clone costs a reference count.
///
/// Source: Real-time CORBA 1.2 (`RTCORBA::RTORB`).
#[derive(Debug, Clone)]
#[doc(alias = "RTORB")]
pub struct RtOrb(Orb);

impl Orb {
    /// The real-time operations of the ORB: the initial reference `RTORB`.
    #[must_use]
    #[doc(alias = "RTORB")]
    pub fn rt_orb(&self) -> RtOrb {
        RtOrb(self.clone())
    }
}

/// The reason why a thread pool was not destroyed.
///
/// Source: Real-time CORBA 1.2 (`RTCORBA::RTORB::InvalidThreadpool`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DestroyThreadpoolError {
    /// The ORB has no pool with this id: the user exception `RTCORBA::RTORB::InvalidThreadpool`.
    #[error("there is no thread pool {0}")]
    InvalidThreadpool(u32),
    /// A POA uses the pool with this id: BAD_INV_ORDER.
    #[error("thread pool {0} is used by a POA that has not been destroyed")]
    InUse(u32),
}

impl From<DestroyThreadpoolError> for SystemException {
    fn from(error: DestroyThreadpoolError) -> Self {
        match error {
            DestroyThreadpoolError::InUse(id) => raise(RealTimeFault::ThreadpoolInUse(id)),
            DestroyThreadpoolError::InvalidThreadpool(_) => {
                Fault::BadParameter(error.to_string()).raise(CompletionStatus::No)
            }
        }
    }
}

impl RtOrb {
    /// Creates a thread pool. When this is ready, its static threads run and its lanes listen.
    ///
    /// # Errors
    /// [`Error::Threadpool`] for a pool that cannot be created ([`ThreadpoolError`](super::ThreadpoolError) lists the
    /// conditions), [`Error::Option`] for an endpoint that cannot be parsed, [`Error::Transport`] when listening fails,
    /// BAD_INV_ORDER once the ORB is shutting down. Threads and listeners that were started end again.
    ///
    /// # Blocking
    /// Blocks until the threads have their priorities: some microseconds for each.
    ///
    /// # Cancel safety
    /// Safe: threads and listeners that were started end again.
    #[doc(alias = "create_threadpool_with_lanes")]
    pub async fn create_threadpool(&self, options: ThreadpoolOptions) -> Result<Threadpool, Error> {
        let orb = self.0.inner();
        let shut_down = || Error::from(Fault::OrbShutDown.raise(CompletionStatus::No));
        if orb.is_stopping() {
            return Err(shut_down());
        }
        let id = {
            let mut pools = orb.real_time().pools();
            pools.next = pools.next.wrapping_add(1);
            pools.next
        };
        let pool = start(orb, id, &options).await?;
        {
            let mut pools = orb.real_time().pools();
            // Checked under the lock: a shutdown that begins later drops the pool with all others.
            if !orb.is_stopping() {
                pools.by_id.insert(id, Arc::clone(&pool));
                return Ok(Threadpool(pool));
            }
        }
        close(pool, orb).await;
        Err(shut_down())
    }

    #[cfg(target_os = "linux")]
    pub(super) fn mutexes(&self) -> &NamedMutexes {
        &self.0.inner().real_time().mutexes
    }

    /// The pool with this id, if there is one.
    #[must_use]
    pub fn threadpool(&self, id: u32) -> Option<Threadpool> {
        let pools = self.0.inner().real_time().pools();
        pools.by_id.get(&id).cloned().map(Threadpool)
    }

    /// Destroys a thread pool that no POA uses: it accepts no more connections, runs the queued requests, and ends its
    /// threads. Ready after that, or at once on a thread of the pool. Connections to its lanes get CloseConnection
    /// after their last replies, so that their clients connect elsewhere.
    ///
    /// # Errors
    /// [`DestroyThreadpoolError`]; the pool goes on then.
    ///
    /// # Cancel safety
    /// Safe: the first poll ends the pool.
    pub async fn destroy_threadpool(&self, id: u32) -> Result<(), DestroyThreadpoolError> {
        let pool = {
            let mut pools = self.0.inner().real_time().pools();
            match pools.by_id.get(&id) {
                None => return Err(DestroyThreadpoolError::InvalidThreadpool(id)),
                Some(pool) if pool.is_in_use() => return Err(DestroyThreadpoolError::InUse(id)),
                Some(_) => pools.by_id.remove(&id),
            }
        };
        if let Some(pool) = pool {
            close(pool, self.0.inner()).await;
        }
        Ok(())
    }

    /// Sets the real-time policies of POAs that are created later and do not set their own: the ORB level. It covers
    /// the priority model, the thread pool and server protocols, not bands and client protocols.
    #[doc(alias = "ORBPolicyManager")]
    pub fn set_policy_defaults(&self, policies: RtPolicies) {
        self.0.inner().real_time().set_defaults(policies);
    }
}
