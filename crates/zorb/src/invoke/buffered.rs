//! One-way requests of SYNC_NONE that wait on their connection for others, within the limits of a
//! [`BufferingConstraint`](crate::policy::BufferingConstraint).

use super::Invocation;
use crate::object::{ObjectRef, Target};
use crate::orb::Orb;
use std::time::Instant;
use zorb_connection::{CallError, Departure};
use zorb_giop::SystemException;

impl ObjectRef {
    /// When a request of SYNC_NONE leaves.
    pub(super) fn departure(&self, invocation: &Invocation<'_>) -> Departure {
        let Some(constraint) = self.levels().get(|policies| policies.buffering) else {
            return Departure::Batched;
        };
        let mut limits = constraint.limits();
        // A request that waits in the buffer beyond its request end time would leave too late.
        let contexts = invocation.contexts.as_ref();
        if let Some(end) = contexts.and_then(|contexts| contexts.request_end) {
            let left = end.at.saturating_duration_since(Instant::now());
            limits.time = Some(limits.time.map_or(left, |time| time.min(left)));
        }
        Departure::Buffered(limits)
    }

    /// Sends the one-way requests of SYNC_NONE that wait on the connection of this reference, whatever their
    /// [`BufferingConstraint`](crate::policy::BufferingConstraint) says. Ready when the operating system has taken them,
    /// those made through this reference before its connection was there included.
    ///
    /// A reference that is not bound, and an object of the same ORB, have none.
    ///
    /// # Errors
    /// COMM_FAILURE if the connection ends before; BAD_INV_ORDER once the ORB has shut down. A request that was dropped as
    /// its connection could not be made is [counted](crate::Counter::OneWaysRefused), and no error here.
    ///
    /// # Cancel safety
    /// Safe: what was begun is sent.
    #[doc(alias = "BUFFER_FLUSH")]
    pub async fn flush_one_ways(&self) -> Result<(), SystemException> {
        let orb = self.orb().inner();
        orb.deferred().ended(self.binding_id()).await;
        let Some(bound) = self.bound()? else {
            return Ok(());
        };
        match bound.get().map(|binding| &binding.target) {
            Some(Target::Remote(remote)) => {
                let flushed = remote.connection.flush_one_ways().await;
                flushed.map_err(CallError::raise)
            }
            Some(Target::Local) | None => Ok(()),
        }
    }
}

impl Orb {
    /// Sends the one-way requests of SYNC_NONE that wait on any connection of this ORB: see
    /// [`ObjectRef::flush_one_ways`]. Those whose connections are still to be made are not waited for.
    ///
    /// # Errors
    /// That of the first connection that ends before, when all others are done; BAD_INV_ORDER once the ORB has shut down.
    ///
    /// # Cancel safety
    /// Safe: what was begun is sent.
    #[doc(alias = "BUFFER_FLUSH")]
    pub async fn flush_one_ways(&self) -> Result<(), SystemException> {
        self.inner().check_not_down()?;
        let connections = self.inner().connection_cache().connections();
        // All are written before one is waited for.
        let flushes: Vec<_> = (connections.iter())
            .map(|connection| connection.flush_one_ways())
            .collect();
        let mut outcome = Ok(());
        for flush in flushes {
            outcome = outcome.and(flush.await.map_err(CallError::raise));
        }
        outcome
    }
}
