//! Buffered one-way requests of SYNC_NONE: they wait on their connection for further ones, within the limits of a
//! [`BufferingConstraint`](crate::policy::BufferingConstraint).

use super::Invocation;
use crate::object::{ObjectRef, Target};
use crate::orb::Orb;
use std::time::Instant;
use zorb_connection::{CallError, OneWayMode};
use zorb_giop::SystemException;

impl ObjectRef {
    /// When a request of SYNC_NONE is written: with the next batch, or by the limits of its buffering constraint.
    pub(super) fn one_way_mode(&self, invocation: &Invocation<'_>) -> OneWayMode {
        let Some(constraint) = self.levels().get(|policies| policies.buffering) else {
            return OneWayMode::Batched;
        };
        let mut limits = constraint.limits();
        // A request must not wait in the buffer beyond its request end time.
        let contexts = invocation.contexts.as_ref();
        if let Some(end) = contexts.and_then(|contexts| contexts.request_end) {
            let left = end.at.saturating_duration_since(Instant::now());
            limits.time = Some(limits.time.map_or(left, |time| time.min(left)));
        }
        OneWayMode::Buffered(limits)
    }

    /// Sends the one-way requests of SYNC_NONE that wait on the connection of this reference, whatever their
    /// [`BufferingConstraint`](crate::policy::BufferingConstraint). Ready when the operating system has taken them,
    /// including those made through this reference before it was connected.
    ///
    /// A reference that is not bound, and an object of the same ORB, have no waiting requests.
    ///
    /// # Errors
    /// COMM_FAILURE if the connection ends first; BAD_INV_ORDER once the ORB has shut down. A request that was dropped
    /// since its connection could not be made is [counted](crate::Counter::OneWaysRefused), and is no error here.
    ///
    /// # Cancel safety
    /// Safe: a message that was begun is sent.
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
    /// [`ObjectRef::flush_one_ways`]. It does not wait for requests whose connections are still to be made.
    ///
    /// # Errors
    /// COMM_FAILURE of the first connection that ended, after all others are flushed; BAD_INV_ORDER once the ORB has
    /// shut down.
    ///
    /// # Cancel safety
    /// Safe: a message that was begun is sent.
    #[doc(alias = "BUFFER_FLUSH")]
    pub async fn flush_one_ways(&self) -> Result<(), SystemException> {
        self.inner().check_not_down()?;
        let connections = self.inner().connection_cache().connections();
        // Begins all flushes before it awaits the first.
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
