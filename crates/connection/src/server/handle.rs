//! Handling of a received message: which of them are requests, and which of those are served.

use super::super::counters::Counter;
use super::super::end::End;
use super::super::owner::Owner;
use super::ServerConnection;
use super::backlog::WaitingRequest;
use super::header_cache::RequestHeaderCache;
use std::sync::Arc;
use zorb_giop::{Cause, Message, MessageKind, ProtocolError, Received};

impl<O: Owner> ServerConnection<O> {
    /// Handles a received message.
    #[inline]
    pub(super) fn handle(
        self: &Arc<Self>,
        cache: &mut RequestHeaderCache<O>,
        received: Received<'_>,
    ) -> Result<(), End> {
        if self.link.outbound.takes_nothing() {
            return self.handle_unanswerable(cache, received);
        }
        if received.header().kind == MessageKind::Request {
            if self.is_loaded(received.octets().len()) {
                return self.handle_loaded(cache, received);
            }
            let request = self.parse(cache, received).map_err(End::Broken)?;
            O::serve(self, request);
            return Ok(());
        }
        self.handle_other(received.into_message())
    }

    #[cold]
    fn handle_other(self: &Arc<Self>, message: Message) -> Result<(), End> {
        match message.header.kind {
            MessageKind::LocateRequest => self.locate(message),
            MessageKind::CancelRequest => {
                let id = message.cancelled_request().map_err(End::Broken)?;
                // The id of a request that was answered already may be another one's by now.
                if let Some(cancelled) = self.cancelled().get_mut(&id) {
                    *cancelled = true;
                }
                self.backlog.cancel(id);
                Ok(())
            }
            MessageKind::CloseConnection => Err(End::Closed),
            MessageKind::MessageError => Err(End::Refused),
            kind @ (MessageKind::Request
            | MessageKind::Reply
            | MessageKind::LocateReply
            | MessageKind::Fragment) => Err(End::Broken(ProtocolError::WrongDirection { kind })),
        }
    }

    /// Handles a message of a client to which nothing can be written any more. Of a client whose socket takes nothing the
    /// one-way requests are served, as it cannot know that they might not be; a connection that was ended here serves no
    /// more.
    #[cold]
    fn handle_unanswerable(
        self: &Arc<Self>,
        cache: &mut RequestHeaderCache<O>,
        received: Received<'_>,
    ) -> Result<(), End> {
        if let Some(why) = self.link.outbound.evicted() {
            return Err(End::Lost(Cause::new(why.to_string())));
        }
        let message = received.into_message();
        match message.header.kind {
            MessageKind::LocateRequest => Ok(()),
            MessageKind::Request => {
                let waiting = WaitingRequest::new(message).map_err(End::Broken)?;
                match waiting.into_one_way() {
                    Some(message) => {
                        let request = self.parse_new(cache, message).map_err(End::Broken)?;
                        O::serve(self, request);
                    }
                    None => self
                        .owner
                        .settings()
                        .counters
                        .count(Counter::RequestsUnanswerable),
                }
                Ok(())
            }
            _ => self.handle_other(message),
        }
    }
}
