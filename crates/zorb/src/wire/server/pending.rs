//! Requests that wait: for their servant, their POA manager, a locator.

use super::ServerConnection;
use crate::keys::Found;
use core::sync::atomic::Ordering;
use std::sync::Arc;
use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_poa::{Outcome, Receipt, Request};

/// Replies of this size are sent however many wait: exceptions, mostly, and the upcalls that may be
/// pending bound their number.
const SMALL_REPLY: usize = 1 << 10;

/// Counts a request as pending, from when it has to wait until it is answered.
pub(super) struct Pending {
    pub(super) connection: Arc<ServerConnection>,
    request_id: u32,
    /// What an exception is written with; a LocateRequest has none.
    receipt: Option<Receipt>,
    /// Octets of the request, which lives as long.
    octets: usize,
    /// Its client was told that it has arrived, which was all that it wanted to know.
    pub(super) acknowledged: bool,
    /// Once it is answered, its client may use the id for another request.
    answered: bool,
}

impl Pending {
    pub(super) fn new(connection: &Arc<ServerConnection>, receipt: Receipt, octets: usize) -> Self {
        let mut pending = Self::question(connection, receipt.request_id);
        connection
            .pending_octets
            .fetch_add(octets, Ordering::Relaxed);
        pending.octets = octets;
        pending.receipt = Some(receipt);
        pending
    }

    /// For a LocateRequest.
    pub(super) fn question(connection: &Arc<ServerConnection>, request_id: u32) -> Self {
        connection.pending.fetch_add(1, Ordering::AcqRel);
        connection.given_up().insert(request_id, false);
        Self {
            connection: Arc::clone(connection),
            request_id,
            receipt: None,
            octets: 0,
            acknowledged: false,
            answered: false,
        }
    }

    pub(super) fn of(connection: &Arc<ServerConnection>, request: &Request) -> Self {
        Self::new(connection, request.receipt(), request.octets())
    }

    /// Goes on with a request that has waited, unless its client has given it up: where its servant
    /// may block, if servants may, and one after the other then, as where they are read.
    pub(super) async fn go_on(self, found: Result<Found, SystemException>, request: Request) {
        let connection = Arc::clone(&self.connection);
        if !connection.orb.settings().threads {
            return self.go_on_here(found, request);
        }
        let turn = Arc::clone(&connection.turn).lock_owned().await;
        let on_a_thread = connection.orb.lane().handle().spawn_blocking(move || {
            let _turn = turn;
            self.go_on_here(found, request);
        });
        // It has told of a panic itself.
        let _ = on_a_thread.await;
    }

    fn go_on_here(self, found: Result<Found, SystemException>, request: Request) {
        let connection = Arc::clone(&self.connection);
        if connection.given_up().get(&self.request_id) == Some(&true) {
            tracing::debug!(request_id = self.request_id, "request given up");
            return self.answer(Outcome::Silent);
        }
        connection.serve(found, request, Some(self));
        // Nobody else does: an acknowledgement has been queued, perhaps.
        connection.flush();
    }

    /// Sends what the upcall came to, unless its client has given it up.
    pub(super) fn finish(self, outcome: Outcome) {
        let outcome = self.affordable(outcome);
        self.answer(outcome);
    }

    /// The same, where there was no upcall.
    pub(super) fn answer(mut self, outcome: Outcome) {
        self.answered = true;
        let given_up = self.connection.given_up().remove(&self.request_id);
        if given_up != Some(true) {
            self.connection.send(outcome);
        }
        self.connection.flush();
    }

    /// The outcome, unless too much waits already for a client that does not read it: other
    /// replies are not made before there is room, but this upcall had begun.
    fn affordable(&self, outcome: Outcome) -> Outcome {
        let (Outcome::Reply(reply), Some(receipt)) = (&outcome, &self.receipt) else {
            return outcome;
        };
        if reply.len() <= SMALL_REPLY {
            return outcome;
        }
        let connection = &self.connection;
        let queued = connection.link.outbound.queued_octets();
        if queued <= connection.orb.limits().max_message_octets {
            return outcome;
        }
        // The servant has done its work.
        let unread = Fault::UnreadReplies { octets: queued };
        receipt.system_exception(&unread.raise(CompletionStatus::Yes))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.answered {
            self.connection.given_up().remove(&self.request_id);
        }
        self.connection
            .pending_octets
            .fetch_sub(self.octets, Ordering::Relaxed);
        if self.connection.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            // A connection that is being drained waits for this.
            self.connection.wake();
        }
    }
}
