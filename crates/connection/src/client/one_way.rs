//! One-way calls. Without a reply they have no entry in the table of waiters.

use super::super::blocking::{Calls, calls, may_block};
use super::super::outbound::{Batched, Buffering, Ticket};
use super::super::sync::Ordering;
use super::call::ClientRequest;
use super::{CallError, ClientConnection, is_timing_out};
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use zorb_cdr::{Encoder, Lent, NativeEndian};
use zorb_giop::{Fault, RequestId, ResponseFlags, buffers};

/// The time at which a one-way request is written to its connection.
///
/// Source of SYNC_NONE and SYNC_WITH_TRANSPORT: CORBA 3.3 Part 1, CORBA Messaging. The specification leaves batching to the
/// ORB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a connection has these modes")]
pub enum OneWayMode {
    /// By a write of its own. Sending completes when the whole request is handed to the transport (SYNC_WITH_TRANSPORT).
    AtOnce,
    /// Within about a millisecond, together with others. Sending completes at once (SYNC_NONE).
    Batched,
    /// When one of the limits is reached, together with others. Sending completes at once.
    Buffered(Buffering),
}

/// A one-way request that is being encoded and sent: the connection is in use until this is dropped.
struct InUse<'a>(&'a ClientConnection);

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.one_ways = state.one_ways.saturating_sub(1);
    }
}

/// A request that waits for its peer to read. If its time limit passes, and the peer has neither read nor sent anything
/// meanwhile, the connection is silent.
struct Stuck<'a> {
    connection: &'a ClientConnection,
    received: u64,
    written: u64,
}

impl<'a> Stuck<'a> {
    #[cold]
    fn on(connection: &'a ClientConnection) -> Self {
        Self {
            connection,
            received: connection.link.messages_received(),
            written: connection.link.outbound.written_octets(),
        }
    }
}

impl Drop for Stuck<'_> {
    fn drop(&mut self) {
        let link = &self.connection.link;
        if is_timing_out()
            && link.messages_received() == self.received
            && link.outbound.written_octets() == self.written
        {
            self.connection.doubt();
        }
    }
}

impl ClientConnection {
    /// Sends a one-way request.
    ///
    /// # Errors
    /// [`CallError::Encode`] if the arguments cannot be encoded, [`CallError::Overload`] if the queue is full and `mode`
    /// does not permit to wait, [`CallError::NotSent`] or [`CallError::Lost`] if the connection ends before.
    ///
    /// # Cancel safety
    /// Safe for the connection: a request that has begun is sent to its end.
    pub async fn send_one_way(
        &self,
        request: &ClientRequest<'_>,
        mode: OneWayMode,
    ) -> Result<(), CallError> {
        let limits = match &mode {
            OneWayMode::Buffered(limits) => Some(limits),
            OneWayMode::AtOnce | OneWayMode::Batched => None,
        };
        let batched = mode != OneWayMode::AtOnce;
        let mut sent = None;
        let mut stuck = None;
        let mut send = |cx: &mut Context<'_>| {
            let ticket = match sent {
                Some(ticket) => ticket,
                None => {
                    if batched && !self.link.outbound.has_room() && !self.is_over() {
                        let full = "as many octets as may wait to be sent".to_owned();
                        return Poll::Ready(Err(CallError::Overload(Fault::Overload(full))));
                    }
                    ready!(self.poll_room(cx));
                    let ticket = match batched {
                        true => self.batch_one_way(request, limits).map(|()| None),
                        false => self.write_one_way(request),
                    };
                    match ticket {
                        Ok(Some(ticket)) => *sent.insert(ticket),
                        Ok(None) => return Poll::Ready(Ok(())),
                        Err(error) => return Poll::Ready(Err(error)),
                    }
                }
            };
            self.poll_taken(ticket, cx)
        };
        poll_fn(|cx| {
            let polled = send(cx);
            if polled.is_pending() {
                stuck.get_or_insert_with(|| Stuck::on(self));
            }
            polled
        })
        .await
    }

    /// Ready when the transport has taken the message, or the connection has ended.
    fn poll_taken(&self, ticket: Ticket, cx: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        if self.link.outbound.poll_written(ticket, cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        // Checked after parking: the end is stored first, and wakes parked tasks afterwards.
        match self.state().life.end() {
            Some(end) => Poll::Ready(Err(self.ended(end, ticket))),
            None => Poll::Pending,
        }
    }

    /// Writes the one-way requests that wait for others. Ready when the transport has taken all requests that were sent before.
    ///
    /// # Errors
    /// [`CallError::NotSent`] or [`CallError::Lost`] if the connection ends before that.
    ///
    /// # Cancel safety
    /// Safe: the call itself begins to write, whether or not the future is polled.
    pub fn flush_one_ways(&self) -> impl Future<Output = Result<(), CallError>> {
        let last = self.link.outbound.last_ticket();
        // At the call, not at the first poll.
        self.link.write_batch();
        poll_fn(move |cx| self.poll_taken(last, cx))
    }

    /// Ready when there is room for another request, or the connection has ended.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing, and can be repeated.
    pub async fn room(&self) {
        poll_fn(|cx| self.poll_room(cx)).await;
    }

    /// Waits for room for a request. A caller whose time limit passes meanwhile leaves the connection silent.
    pub(super) fn wait_for_room(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let mut stuck = None;
        Box::pin(poll_fn(move |cx| {
            let polled = self.poll_room(cx);
            if polled.is_pending() {
                stuck.get_or_insert_with(|| Stuck::on(self));
            }
            polled
        }))
    }

    fn batch_one_way(
        &self,
        request: &ClientRequest<'_>,
        limits: Option<&Buffering>,
    ) -> Result<(), CallError> {
        self.look_before_sending(may_block());
        if self.is_over() {
            self.check(&self.state())?;
        }
        let mut lent = None;
        let mut e = self.encode_one_way(request, &mut lent)?;
        request.sent.store(true, Ordering::Relaxed);
        let batched = match e.as_single() {
            Some(octets) => self.link.batch(octets, limits),
            None => Batched::Separate,
        };
        match batched {
            Batched::Waits | Batched::Full => {
                buffers::give(e.take_buffer());
                Ok(())
            }
            Batched::Closed => {
                // The driver has closed the idle connection, and stores the end before or after this.
                let endpoint = self.endpoint.to_string();
                self.check(&self.state())?;
                Err(CallError::NotSent(Fault::ConnectionClosed { endpoint }))
            }
            Batched::Separate => self.batch_separately(e, lent, limits),
        }
    }

    /// Sends a request that is long, lends octets, or is traced.
    #[cold]
    fn batch_separately(
        &self,
        mut e: Encoder<NativeEndian>,
        lent: Option<Lent<'_>>,
        limits: Option<&Buffering>,
    ) -> Result<(), CallError> {
        let _in_use = self.in_use()?;
        let message = match lent {
            None => e.take(),
            Some(lent) => e.take_lending(lent).into_whole(),
        };
        self.link.batch_separately(message, limits);
        Ok(())
    }

    /// The ticket of the request, unless all of it is handed to the transport already.
    fn write_one_way(&self, request: &ClientRequest<'_>) -> Result<Option<Ticket>, CallError> {
        let calls = calls();
        self.look_before_sending(calls == Calls::Block);
        let in_use = self.in_use()?;
        let mut lent = None;
        let mut e = self.encode_one_way(request, &mut lent)?;
        request.sent.store(true, Ordering::Relaxed);
        let ticket = self.write_from(&mut e, lent, calls)?;
        drop(in_use);
        let is_written = self.link.outbound.is_counted(ticket);
        Ok((!is_written).then_some(ticket))
    }

    /// Counts the call as a use of the connection, unless the connection has ended.
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
        let mut e = self.encoder(request.template.version());
        self.encode(&mut e, id, ResponseFlags::None, request, lent)?;
        Ok(e)
    }
}
