//! The deadline that a client states in a service context: a request that waits for a thread beyond it is refused.

use crate::orb::OrbInner;
use crate::policy::deadline_of;
use std::time::Instant;
use zorb_connection::Counter;
use zorb_giop::{CompletionStatus, Fault, ServiceContextId};
use zorb_poa::{Outcome, Receipt, ServerRequest};

/// The deadline of a request that has just arrived. Costs a few instructions for a request without service contexts, else
/// the parsing of its header.
pub(crate) fn of(request: &ServerRequest) -> Option<Instant> {
    deadline_of(request.context(ServiceContextId::DEADLINE)?)
}

/// Whether a request that a thread begins now is late. Reads the clock for requests with a deadline.
#[inline]
pub(crate) fn is_late(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}

/// Counts a request whose deadline has passed, and returns its outcome: TIMEOUT with COMPLETED_NO.
#[cold]
pub(crate) fn refuse_late(orb: &OrbInner, receipt: &Receipt) -> Outcome {
    orb.count(Counter::RequestsLate);
    receipt.system_exception(&Fault::DeadlinePassed.raise(CompletionStatus::No))
}
