//! One-way calls. They are in no table: nobody will answer them.

use super::calls::{Request, settle};
use super::{CallError, ClientConnection};
use crate::wire::outbound::{Joined, Ticket};
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;
use zorb_cdr::{Encoder, NativeEndian};
use zorb_giop::{Fault, RequestId, ResponseFlags, buffers};

/// A one-way request that is being made and sent: its connection is in use until this is dropped.
struct Underway<'a>(&'a ClientConnection);

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.0.state().one_ways -= 1;
    }
}

impl ClientConnection {
    /// Sends a one-way request; ready when all of it is handed to the transport
    /// (SYNC_WITH_TRANSPORT), or when it is queued, to leave together with others (`joined`, SYNC_NONE).
    /// `sent` as in [`call`](Self::call).
    pub(crate) async fn call_one_way(
        &self,
        request: Request<'_>,
        sent: &AtomicBool,
        joined: bool,
    ) -> Result<(), CallError> {
        // Nothing here need ever be waited for, and others want to run too.
        tokio::task::coop::consume_budget().await;
        self.room().await;
        match self.send_one_way(request, sent, joined)? {
            Some(ticket) => self.is_away(ticket).await,
            None => Ok(()),
        }
    }

    /// The same, for which there has to be [room](Self::has_room). If there is a ticket, whoever wants to know whether all
    /// of it is handed to the transport has to [wait](Self::is_away).
    #[inline]
    pub(crate) fn send_one_way(
        &self,
        request: Request<'_>,
        sent: &AtomicBool,
        joined: bool,
    ) -> Result<Option<Ticket>, CallError> {
        match joined {
            true => self.join_one_way(request, sent).map(|()| None),
            false => self.write_one_way(request, sent),
        }
    }

    /// Ready when all of a message is handed to the transport.
    pub(crate) async fn is_away(&self, ticket: Ticket) -> Result<(), CallError> {
        poll_fn(|cx| {
            if self.link.outbound.poll_written(ticket, cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            // Asked after parking: whoever ends the connection wakes the parked afterwards.
            match &self.state().end {
                Some(end) => Poll::Ready(Err(self.ended(end, ticket))),
                None => Poll::Pending,
            }
        })
        .await
    }

    fn join_one_way(&self, request: Request<'_>, sent: &AtomicBool) -> Result<(), CallError> {
        if self.is_over() {
            self.check(&self.state())?;
        }
        let mut e = self.encode_one_way(request)?;
        sent.store(true, Ordering::Relaxed);
        let joined = match e.as_single() {
            Some(octets) => self.link.join(octets),
            None => Joined::Alone,
        };
        match joined {
            Joined::Waits | Joined::Enough => {
                buffers::give(e.take_buffer());
                Ok(())
            }
            Joined::Closed => {
                // Said by who has closed it, before or after; until then it is as if idle.
                let endpoint = self.link.endpoint.to_string();
                self.check(&self.state())?;
                Err(CallError::NotSent(Fault::ConnectionClosed { endpoint }))
            }
            Joined::Alone => self.join_alone(e, request),
        }
    }

    /// A request that is long, lends octets, or is to be shown.
    #[cold]
    fn join_alone(
        &self,
        mut e: Encoder<NativeEndian>,
        (_, _, arguments): Request<'_>,
    ) -> Result<(), CallError> {
        let _underway = self.underway()?;
        let mut message = e.take();
        settle(&mut message, arguments)?;
        self.link.join_alone(message);
        Ok(())
    }

    fn write_one_way(
        &self,
        request: Request<'_>,
        sent: &AtomicBool,
    ) -> Result<Option<Ticket>, CallError> {
        let underway = self.underway()?;
        let mut e = self.encode_one_way(request)?;
        sent.store(true, Ordering::Relaxed);
        let (_, _, arguments) = request;
        let ticket = self.write_from(&mut e, arguments)?;
        drop(underway);
        // As a rule.
        let is_away = self.link.outbound.is_counted(ticket);
        Ok((!is_away).then_some(ticket))
    }

    /// Has the connection in use, unless it is over.
    #[inline]
    fn underway(&self) -> Result<Underway<'_>, CallError> {
        let mut state = self.state();
        self.check(&state)?;
        state.one_ways += 1;
        drop(state);
        Ok(Underway(self))
    }

    #[inline]
    fn encode_one_way(&self, request: Request<'_>) -> Result<Encoder<NativeEndian>, CallError> {
        let (requests, ..) = request;
        let number = self.unanswered.fetch_add(1, Ordering::Relaxed);
        let id = RequestId::unanswered(number, true);
        let mut e = self.encoder(requests.version());
        e.set_lending();
        self.encode_as(&mut e, id, ResponseFlags::None, request)?;
        Ok(e)
    }
}
