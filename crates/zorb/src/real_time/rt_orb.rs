//! `RTCORBA::RTORB`: the thread pools of an ORB, and its defaults for POAs.

#[cfg(target_os = "linux")]
use super::named_mutexes::NamedMutexes;
use super::policies::RtPolicies;
use super::settings::raise;
use super::start::{close, start};
use super::threadpool::{Threadpool, ThreadpoolOptions};
use crate::error::Error;
use crate::orb::Orb;
use std::sync::Arc;
use zorb_giop::{CompletionStatus, RealTimeFault, SystemException, SystemExceptionKind};

/// The real-time side of an ORB: `RTCORBA::RTORB`. Cheap to clone.
#[derive(Debug, Clone)]
#[doc(alias = "RTORB")]
pub struct RtOrb(Orb);

impl Orb {
    /// Thread pools, and defaults of real-time policies: the initial reference `RTORB`.
    #[must_use]
    #[doc(alias = "RTORB")]
    pub fn rt_orb(&self) -> RtOrb {
        RtOrb(self.clone())
    }
}

/// Why a thread pool was not destroyed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DestroyThreadpoolError {
    /// The ORB has no pool of that number: the user exception `RTCORBA::RTORB::InvalidThreadpool`.
    #[error("there is no thread pool {0}")]
    InvalidThreadpool(u32),
    /// A POA has it: BAD_INV_ORDER.
    #[error("thread pool {0} is used by a POA that has not been destroyed")]
    InUse(u32),
}

impl From<DestroyThreadpoolError> for SystemException {
    fn from(error: DestroyThreadpoolError) -> Self {
        match error {
            DestroyThreadpoolError::InUse(id) => raise(RealTimeFault::ThreadpoolInUse(id)),
            DestroyThreadpoolError::InvalidThreadpool(_) => {
                Self::new(SystemExceptionKind::BadParam, 0, CompletionStatus::No).with_detail(error)
            }
        }
    }
}

impl RtOrb {
    /// Creates a thread pool: its static threads run, and its lanes listen, when this returns.
    ///
    /// # Errors
    /// [`Error::Threadpool`] for a pool that cannot be ([`ThreadpoolError`](super::ThreadpoolError) has the conditions),
    /// [`Error::Option`] for an endpoint that cannot be read, [`Error::Transport`] when listening fails, BAD_INV_ORDER once
    /// the ORB is shutting down. What was started ends again.
    ///
    /// # Blocking
    /// Waits until the threads have their priorities: some microseconds for each.
    ///
    /// # Cancel safety
    /// Safe: what was begun ends again.
    #[doc(alias = "create_threadpool_with_lanes")]
    pub async fn create_threadpool(&self, options: ThreadpoolOptions) -> Result<Threadpool, Error> {
        let orb = self.0.inner();
        if orb.is_stopping() {
            return Err(zorb_giop::Fault::OrbShutDown
                .raise(CompletionStatus::No)
                .into());
        }
        let id = {
            let mut pools = orb.real_time().pools();
            pools.next = pools.next.wrapping_add(1);
            pools.next
        };
        let pool = start(orb, id, &options).await?;
        orb.real_time().pools().by_id.insert(id, Arc::clone(&pool));
        Ok(Threadpool(pool))
    }

    #[cfg(target_os = "linux")]
    pub(super) fn mutexes(&self) -> &NamedMutexes {
        &self.0.inner().real_time().mutexes
    }

    /// The pool of that number.
    #[must_use]
    pub fn threadpool(&self, id: u32) -> Option<Threadpool> {
        let pools = self.0.inner().real_time().pools();
        pools.by_id.get(&id).cloned().map(Threadpool)
    }

    /// Destroys a thread pool that no POA has: it accepts no more connections, requests that wait are run, and its threads
    /// end. Returns then, or at once on a thread of the pool. Connections to its lanes get CloseConnection behind the last of
    /// their replies, so that their clients go elsewhere.
    ///
    /// # Errors
    /// [`DestroyThreadpoolError`]; nothing happens then.
    ///
    /// # Cancel safety
    /// Safe: the pool ends once this has been polled.
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

    /// The real-time policies of POAs that are created from now on and do not give them: the ORB level. Bands are not taken
    /// over.
    #[doc(alias = "ORBPolicyManager")]
    pub fn set_policy_defaults(&self, policies: RtPolicies) {
        self.0.inner().real_time().set_defaults(policies);
    }
}
