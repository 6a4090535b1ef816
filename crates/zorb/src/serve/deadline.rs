//! The deadline that a client states in a service context: a request that waits for a thread beyond it is refused.

use crate::orb::OrbInner;
use crate::policy::deadline_of;
use std::time::Instant;
use zorb_connection::Counter;
use zorb_giop::{CompletionStatus, Fault, ServiceContextId, SystemException};
use zorb_poa::ServerRequest;

/// The deadline of a call: the one that it was made with in this ORB, or the one in the context of a request that has just
/// arrived. Costs a few instructions for a request without service contexts, else the parsing of its header.
pub(crate) fn of(request: &ServerRequest) -> Option<Instant> {
    match request.deadline() {
        None => deadline_of(request.context(ServiceContextId::DEADLINE)?),
        deadline => deadline,
    }
}

/// Whether a request that a thread begins now is late. Reads the clock for requests with a deadline.
#[inline]
pub(crate) fn is_late(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}

/// Counts a request whose deadline has passed, and returns its exception: TIMEOUT with COMPLETED_NO.
#[cold]
pub(crate) fn late(orb: &OrbInner) -> SystemException {
    orb.count(Counter::RequestsLate);
    Fault::DeadlinePassed.raise(CompletionStatus::No)
}
