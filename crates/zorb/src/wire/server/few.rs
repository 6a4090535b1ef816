//! Small requests of a client that waits for the reply to each: they are received where they are looked at, and no buffer
//! is taken for them and given back.

use super::super::link::{Behind, End, Reading};
use super::ServerConnection;
use super::known::Known;
use core::task::{Context, Poll};
use std::sync::Arc;
use zorb_executor::WaitPolicy;

/// Octets that are received so. Enough for a request with [few octets](zorb_poa::Request::FEW) of arguments, as long as
/// its object's key and its operation's name are no longer than most; every connection that is served by a task has them.
const OCTETS: usize = 256;
/// Such requests in a row, each with nothing behind it, after which the next is expected to be one: what is not one is
/// received in two pieces.
const IN_A_ROW: u32 = 8;

/// Where small requests come to.
pub(super) struct Few {
    place: [u8; OCTETS],
    /// Whether every wait is slept through. Whoever tries for what comes does so with a buffer.
    sleeps: bool,
    in_a_row: u32,
}

impl Few {
    pub(super) fn new(policy: WaitPolicy) -> Self {
        Self {
            place: [0; OCTETS],
            sleeps: policy == WaitPolicy::Park,
            in_a_row: 0,
        }
    }

    /// To be said of a small request that was served: whether it was the last one that had come.
    #[inline]
    pub(super) fn was_served(&mut self, was_last: bool) {
        self.in_a_row = match was_last && self.sleeps {
            true => self.in_a_row.saturating_add(1),
            false => 0,
        };
    }

    /// To be said of every other message.
    #[inline]
    pub(super) const fn was_other(&mut self) {
        self.in_a_row = 0;
    }
}

impl ServerConnection {
    /// Receives and serves a small request like the last one that was known, if such a one is expected; or the reactor
    /// knows whom to wake for it. `None` when there is more to do than that: nothing was received, or it is with what has
    /// been read, or it was served and the reactor does not listen yet, or something is left to be written.
    #[inline]
    pub(super) fn poll_few(
        self: &Arc<Self>,
        reading: &mut Reading,
        known: &Known,
        few: &mut Few,
        cx: &mut Context<'_>,
    ) -> Option<Poll<End>> {
        let outbound = &self.link.outbound;
        // Nor is there anything to write before that.
        let may = few.in_a_row >= IN_A_ROW
            && reading.reader.may_be_small()
            && outbound.queued_octets() == 0
            && !outbound.is_blocked();
        if !may {
            return None;
        }
        let (octets, listens) = match self.link.poll_read_few(reading, &mut few.place, cx) {
            Poll::Pending => return Some(Poll::Pending),
            Poll::Ready(Ok(Some(come))) => come,
            Poll::Ready(Ok(None)) => {
                few.was_other();
                return None;
            }
            Poll::Ready(Err(end)) => return Some(Poll::Ready(end)),
        };
        let octets = few.place.get(..octets).unwrap_or_default();
        let served = (reading.reader.whole(octets))
            .is_some_and(|header| self.serve_small(known, &header, octets, Behind::Nothing));
        if !served {
            let received = self.link.receive(&mut reading.reader, octets);
            few.was_other();
            return received.err().map(Poll::Ready);
        }
        // For others of this ORB, which may try.
        reading
            .waiting
            .is_alone(self.orb.busy(), Arc::as_ptr(self).addr());
        // What did not fit into the socket, or has come since, is for the way of all others.
        (listens && outbound.queued_octets() == 0).then_some(Poll::Pending)
    }
}
