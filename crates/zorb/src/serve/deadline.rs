//! The time limits that a client states in service contexts, and that of the server.

use crate::orb::OrbInner;
use crate::policy::{TimeStated, deadline_of, times_of};
use std::time::Instant;
use zorb_connection::Counter;
use zorb_giop::{CompletionStatus, Fault, ServiceContextId, SystemException};
use zorb_poa::ServerRequest;

/// Reads the time limits of a request that has just arrived from its service contexts, and sets its deadline: the earliest of
/// those that the client states and the one of this server.
#[cold]
pub(crate) fn arrive(orb: &OrbInner, request: &mut ServerRequest) {
    let limits = &orb.settings().request_times;
    let now = Instant::now();
    let mut deadline = (limits.limit).and_then(|limit| now.checked_add(limit));
    let mut earlier = |other: Option<Instant>| {
        deadline = deadline.into_iter().chain(other).min();
    };
    let mut begin_by = None;
    if let Some(contexts) = request.service_contexts().filter(|all| !all.is_empty()) {
        let own = contexts.get(orb.settings().own_contexts.deadline());
        earlier(own.and_then(|data| deadline_of(data, now)));
        if let Some(data) = contexts.get(ServiceContextId::INVOCATION_POLICIES) {
            for (stated, at) in times_of(data, now, limits.clock_tolerance) {
                match stated {
                    TimeStated::RequestEnd => begin_by = at,
                    TimeStated::ReplyEnd if limits.honours_reply_end => earlier(at),
                    TimeStated::ReplyEnd => {}
                }
            }
        }
    }
    request.set_deadline(deadline);
    if let Some(begin_by) = begin_by {
        request.set_begin_by(begin_by);
    }
}

/// Whether a request that a thread begins now is late. Reads the clock for requests with a deadline.
#[inline]
pub(crate) fn is_late(begin_by: Option<Instant>) -> bool {
    begin_by.is_some_and(|begin_by| begin_by <= Instant::now())
}

/// Counts a request whose deadline has passed, and returns its exception: TIMEOUT with COMPLETED_NO.
#[cold]
pub(crate) fn late(orb: &OrbInner) -> SystemException {
    orb.count(Counter::RequestsLate);
    Fault::DeadlinePassed.raise(CompletionStatus::No)
}

/// The exception of an upcall that was dropped at its deadline: TIMEOUT with COMPLETED_MAYBE.
#[cold]
pub(crate) fn dropped() -> SystemException {
    Fault::UpcallDropped.raise(CompletionStatus::Maybe)
}
