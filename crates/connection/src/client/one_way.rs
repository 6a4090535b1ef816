//! One-way calls. They have no waiter, as they have no reply.

use super::super::outbound::{Batched, Ticket};
use super::super::sync::Ordering;
use super::call::ClientRequest;
use super::{CallError, ClientConnection};
use core::future::poll_fn;
use core::task::{Poll, ready};
use zorb_cdr::{Encoder, Lent, NativeEndian};
use zorb_giop::{Fault, RequestId, ResponseFlags, buffers};

/// A one-way request that is being encoded and sent: the connection is in use until this is dropped.
struct InUse<'a>(&'a ClientConnection);

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.one_ways = state.one_ways.saturating_sub(1);
    }
}

impl ClientConnection {
    /// Sends a one-way request. Ready when all of it is handed to the transport (SYNC_WITH_TRANSPORT), or at once, when
    /// it is queued, to leave together with others (`batched`, SYNC_NONE).
    ///
    /// # Errors
    /// See [`CallError`]. [`CallError::Overload`] for a `batched` one for which there is no room.
    ///
    /// # Cancel safety
    /// Safe for the connection: a request that has begun is sent to its end.
    pub async fn send_one_way(
        &self,
        request: &ClientRequest<'_>,
        batched: bool,
    ) -> Result<(), CallError> {
        let mut sent = None;
        poll_fn(|cx| {
            let ticket = match sent {
                Some(ticket) => ticket,
                None => {
                    if batched && !self.link.outbound.has_room() && !self.is_over() {
                        let full = "as many octets as may wait to be sent".to_owned();
                        return Poll::Ready(Err(CallError::Overload(Fault::Overload(full))));
                    }
                    ready!(self.poll_room(cx));
                    let ticket = match batched {
                        true => self.batch_one_way(request).map(|()| None),
                        false => self.write_one_way(request),
                    };
                    match ticket {
                        Ok(Some(ticket)) => *sent.insert(ticket),
                        Ok(None) => return Poll::Ready(Ok(())),
                        Err(error) => return Poll::Ready(Err(error)),
                    }
                }
            };
            if self.link.outbound.poll_written(ticket, cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            // Asked after parking: the end wakes parked tasks afterwards.
            match &self.state().end {
                Some(end) => Poll::Ready(Err(self.ended(end, ticket))),
                None => Poll::Pending,
            }
        })
        .await
    }

    fn batch_one_way(&self, request: &ClientRequest<'_>) -> Result<(), CallError> {
        if self.is_over() {
            self.check(&self.state())?;
        }
        let mut lent = None;
        let mut e = self.encode_one_way(request, &mut lent)?;
        request.sent.store(true, Ordering::Relaxed);
        let batched = match e.as_single() {
            Some(octets) => self.link.batch(octets),
            None => Batched::Separate,
        };
        match batched {
            Batched::Waits | Batched::Full => {
                buffers::give(e.take_buffer());
                Ok(())
            }
            Batched::Closed => {
                // The driver has closed the idle connection, and stores the end before or after this.
                let endpoint = self.link.endpoint.to_string();
                self.check(&self.state())?;
                Err(CallError::NotSent(Fault::ConnectionClosed { endpoint }))
            }
            Batched::Separate => self.batch_separately(e, lent),
        }
    }

    /// Sends a request that is long, lends octets, or is traced.
    #[cold]
    fn batch_separately(
        &self,
        mut e: Encoder<NativeEndian>,
        lent: Option<Lent<'_>>,
    ) -> Result<(), CallError> {
        let _in_use = self.in_use()?;
        let message = match lent {
            None => e.take(),
            Some(lent) => e.take_lending(lent).into_whole(),
        };
        self.link.batch_separately(message);
        Ok(())
    }

    /// The ticket of the request, unless all of it is handed to the transport already.
    fn write_one_way(&self, request: &ClientRequest<'_>) -> Result<Option<Ticket>, CallError> {
        let in_use = self.in_use()?;
        let mut lent = None;
        let mut e = self.encode_one_way(request, &mut lent)?;
        request.sent.store(true, Ordering::Relaxed);
        let ticket = self.write_from(&mut e, lent)?;
        drop(in_use);
        let is_written = self.link.outbound.is_counted(ticket);
        Ok((!is_written).then_some(ticket))
    }

    /// Keeps the connection in use, unless it is over.
    #[inline]
    fn in_use(&self) -> Result<InUse<'_>, CallError> {
        let mut state = self.state();
        self.check(&state)?;
        state.one_ways = state.one_ways.saturating_add(1);
        drop(state);
        Ok(InUse(self))
    }

    #[inline]
    fn encode_one_way<'a>(
        &self,
        request: &ClientRequest<'a>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<Encoder<NativeEndian>, CallError> {
        let number = self.one_way_ids.fetch_add(1, Ordering::Relaxed);
        let id = RequestId::unanswered(number, self.opened_here);
        self.encode(id, ResponseFlags::None, request, lent)
    }
}
