//! Handling of received messages: serving requests and LocateRequests, cancelling requests, and ending the connection.

use super::super::counters::Counter;
use super::super::end::End;
use super::super::owner::{Owner, Served};
use super::ServerConnection;
use super::backlog::WaitingRequest;
use super::header_cache::RequestHeaderCache;
use std::sync::Arc;
use zorb_giop::{Cause, Message, MessageKind, Received, Role};

impl<O: Owner> ServerConnection<O> {
    /// Handles a received message.
    #[inline]
    pub(super) fn handle(
        self: &Arc<Self>,
        cache: &mut RequestHeaderCache<O>,
        received: Received<'_>,
    ) -> Result<Served, End> {
        if self.link.outbound.takes_nothing() && !self.serves_unanswerable(&received)? {
            received.discard();
            return Ok(Served::Silent);
        }
        if received.header().kind == MessageKind::Request {
            if self.is_loaded(received.octets().len()) {
                return self.handle_loaded(cache, received);
            }
            let request = self.parse(cache, received).map_err(End::Broken)?;
            return Ok(O::serve(self, request));
        }
        self.handle_other(received.into_message())
    }

    #[cold]
    fn handle_other(self: &Arc<Self>, message: Message) -> Result<Served, End> {
        Role::Server.receives(message.header.kind)?;
        if message.header.kind == MessageKind::LocateRequest {
            return self.locate(message);
        }
        let id = message.cancelled_request().map_err(End::Broken)?;
        self.peer.requests.cancel(id);
        self.backlog.cancel(id);
        Ok(Served::Silent)
    }

    /// Whether a message is handled although nothing more can be written to its client. Of requests, only one-way ones are, as
    /// their client cannot learn that they were dropped. A connection that was evicted serves no further request.
    #[cold]
    fn serves_unanswerable(&self, received: &Received<'_>) -> Result<bool, End> {
        if let Some(why) = self.link.outbound.evicted() {
            return Err(End::Lost(Cause::new(why.to_string())));
        }
        match received.header().kind {
            MessageKind::LocateRequest => Ok(false),
            MessageKind::Request => {
                let request = WaitingRequest::new(received.to_message()).map_err(End::Broken)?;
                if !request.one_way {
                    let counters = &self.owner.settings().counters;
                    counters.count(Counter::RequestsUnanswerable);
                }
                Ok(request.one_way)
            }
            _ => Ok(true),
        }
    }
}
