//! The callers of this ORB's objects: who has made a call, and gets its outcome.

use super::dispatch::into_reply;
use super::upcall::Caller;
use crate::orb::OrbInner;
use std::sync::Arc;
use tokio::sync::oneshot;
use zorb_connection::{Counter, OrderKey, PendingRequest, ServerConnection, Turn};
use zorb_giop::{CompletionStatus, Fault, ResponseFlags};
use zorb_poa::{ActiveObject, Outcome, Receipt, ServerRequest};
use zorb_shares::{CancelReason, Client, HostKey};

pub(super) type Connection = Arc<ServerConnection<OrbInner>>;
pub(super) type Pending = PendingRequest<OrbInner>;

/// Who has a call that is about to be served.
pub(crate) enum Origin<'a> {
    /// The reader of the connection that its request came on.
    Reader(&'a Connection),
    /// A caller of the same ORB. It takes the outcome of a call that goes on from here.
    Caller(&'a mut Option<oneshot::Receiver<ServerRequest>>),
    /// None any more: the call has waited, or is a one-way call of the same ORB.
    Sink(ReplySink),
}

/// Where the outcome of a call goes that its caller does not wait for on its own stack.
pub(crate) enum ReplySink {
    /// To the client of a connection.
    Pending(Pending),
    /// To a caller of the same ORB, which may be gone.
    Caller(oneshot::Sender<ServerRequest>),
    /// Nowhere: a one-way call of the same ORB, with its turn among those of its reference.
    Nobody(Option<Turn>),
}

/// What has become of a call.
pub(crate) enum Served {
    /// Its outcome is in it, for its origin.
    Ended(ServerRequest),
    /// It goes on, or its outcome has gone to its sink, or it gets none.
    Gone,
    /// Nothing has run: the servant knows other types than the caller of this typed call.
    OtherTypes(Arc<ActiveObject>, ServerRequest),
}

impl Origin<'_> {
    /// Whether the call comes from this ORB.
    pub(super) fn is_collocated(&self) -> bool {
        !matches!(self, Self::Reader(_) | Self::Sink(ReplySink::Pending(_)))
    }

    /// Whether the call's stack waits for the outcome: of a caller of the same ORB.
    #[inline]
    pub(super) const fn is_caller(&self) -> bool {
        matches!(self, Self::Caller(_))
    }

    /// Whether it is a one-way call of this ORB.
    pub(super) const fn is_one_way_here(&self) -> bool {
        matches!(self, Self::Sink(ReplySink::Nobody(_)))
    }

    /// The connection of its client; a stand-in if that has ended, and `None` for a call of this ORB.
    pub(super) fn connection(&self) -> Option<Connection> {
        match self {
            Self::Reader(connection) => Some(Arc::clone(connection)),
            Self::Sink(ReplySink::Pending(pending)) => Some(pending.connection()),
            Self::Caller(_) | Self::Sink(_) => None,
        }
    }

    /// The caller, as the log of a panic names it.
    #[inline]
    pub(super) fn caller(&self) -> Caller<'_> {
        match self {
            Self::Reader(connection) => Caller::Connection(connection),
            Self::Sink(sink) => sink.caller(),
            Self::Caller(_) => Caller::Collocated,
        }
    }

    /// The sink of a call that goes on.
    pub(super) fn into_sink(self, receipt: &Receipt, octets: usize) -> ReplySink {
        match self {
            Self::Reader(connection) => {
                ReplySink::Pending(Pending::new(connection, receipt.request_id, octets))
            }
            Self::Caller(result) => {
                let (done, outcome) = oneshot::channel();
                *result = Some(outcome);
                ReplySink::Caller(done)
            }
            Self::Sink(sink) => sink,
        }
    }

    /// Ends a call whose upcall has ended where it began.
    #[inline]
    pub(super) fn end(self, request: ServerRequest) -> Served {
        match self {
            Self::Reader(_) | Self::Caller(_) => Served::Ended(request),
            Self::Sink(sink) => sink.end(request),
        }
    }

    /// Ends a call whose servant has not been called.
    #[cold]
    pub(super) fn answer(self, mut request: ServerRequest, outcome: Outcome) -> Served {
        request.set_outcome(outcome);
        match self {
            Self::Sink(ReplySink::Pending(pending)) => {
                let is_acknowledged = pending.is_acknowledged();
                let reply = into_reply(request.into_outcome());
                pending.answer(reply.filter(|_| !is_acknowledged));
                Served::Gone
            }
            other => other.end(request),
        }
    }
}

/// Who waits for the result of an upcall.
pub(super) enum Waiter<'a> {
    /// The client of a connection.
    Client(&'a Pending),
    /// A caller of the same ORB.
    Caller(&'a mut oneshot::Sender<ServerRequest>),
    Nobody,
}

impl Waiter<'_> {
    /// Whether it is a caller of the same ORB.
    pub(super) const fn is_caller(&self) -> bool {
        matches!(self, Self::Caller(_))
    }

    /// Waits until it has given up, and returns how.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing.
    pub(super) async fn gives_up(self) -> CancelReason {
        match self {
            Self::Client(pending) => {
                let client = pending.connection().client().clone();
                pending.abandoned(&client).await
            }
            Self::Caller(done) => {
                done.closed().await;
                CancelReason::ByCaller
            }
            Self::Nobody => core::future::pending().await,
        }
    }
}

impl ReplySink {
    /// Whether the call comes from this ORB.
    pub(super) const fn is_local(&self) -> bool {
        !matches!(self, Self::Pending(_))
    }

    pub(super) fn caller(&self) -> Caller<'_> {
        match self {
            Self::Pending(pending) => Caller::Pending(pending),
            Self::Caller(_) | Self::Nobody(_) => Caller::Collocated,
        }
    }

    /// The client, where clients share places. A request whose client waits for no result is served although its client has
    /// gone.
    pub(super) fn client(&self, receipt: &Receipt) -> Option<Client> {
        match self {
            Self::Pending(pending) => {
                let connection = pending.connection();
                let client = connection.client();
                Some(match receipt.response {
                    ResponseFlags::WithTarget => client.clone(),
                    _ => client.staying(),
                })
            }
            Self::Caller(_) | Self::Nobody(_) => None,
        }
    }

    /// Waits until the client of a connection no longer waits for the result: it has cancelled its request, or has gone.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing.
    pub(super) async fn abandoned(
        &self,
        client: Option<&Client>,
        receipt: &Receipt,
    ) -> CancelReason {
        match (self, client) {
            (Self::Pending(pending), Some(client))
                if receipt.response == ResponseFlags::WithTarget =>
            {
                pending.abandoned(client).await
            }
            _ => core::future::pending().await,
        }
    }

    /// Whether the client of a connection has cancelled the request.
    pub(super) fn is_cancelled(&self) -> bool {
        match self {
            Self::Pending(pending) => pending.is_cancelled(),
            Self::Caller(done) => done.is_closed(),
            Self::Nobody(_) => false,
        }
    }

    /// The caller, as the log of a panic names it, and the wait for it to give up.
    pub(super) fn split(&mut self, receipt: &Receipt) -> (Caller<'_>, Waiter<'_>) {
        let waits = receipt.response == ResponseFlags::WithTarget;
        match self {
            Self::Pending(pending) => {
                let pending = &*pending;
                let waiter = match waits {
                    true => Waiter::Client(pending),
                    false => Waiter::Nobody,
                };
                (Caller::Pending(pending), waiter)
            }
            Self::Caller(done) if waits => (Caller::Collocated, Waiter::Caller(done)),
            Self::Caller(_) | Self::Nobody(_) => (Caller::Collocated, Waiter::Nobody),
        }
    }

    /// Ends a call for whose result nobody waits.
    #[cold]
    pub(super) fn leave_abandoned(
        self,
        orb: &OrbInner,
        client: Option<&Client>,
        receipt: &Receipt,
    ) {
        if client.is_some_and(Client::is_gone) {
            orb.count(Counter::RequestsUnanswerable);
        }
        let request_id = receipt.request_id;
        tracing::debug!(
            request_id,
            "request dropped: cancelled, or its client has gone"
        );
        if let Self::Pending(pending) = self {
            pending.answer(None);
        }
    }

    /// Sends the outcome of an upcall.
    pub(super) fn end(self, request: ServerRequest) -> Served {
        let receipt = request.receipt();
        match self {
            Self::Pending(pending) => {
                pending.finish(into_reply(request.into_outcome()), |octets| {
                    // The servant has done its work.
                    let unread = Fault::UnreadReplies { octets };
                    into_reply(receipt.system_exception(&unread.raise(CompletionStatus::Yes)))
                });
            }
            Self::Caller(done) => {
                // The caller may be gone.
                let _ = done.send(request);
            }
            Self::Nobody(turn) => {
                drop(request);
                drop(turn);
            }
        }
        Served::Gone
    }

    /// The host whose place a call takes that waits.
    pub(super) fn host(client: Option<&Client>) -> HostKey {
        client.map_or(HostKey::THIS_PROCESS, Client::host)
    }

    /// Gives a one-way request of a connection the turn that ends with it.
    pub(super) fn keep_turn(&mut self, turn: Turn) {
        if let Self::Pending(pending) = self {
            pending.keep_turn(turn);
        }
    }

    /// Takes the turn of a one-way call that is over when the call has begun, unless it `keeps` it until its end.
    pub(super) fn turn_to_begin(&mut self, keeps: bool) -> Option<Turn> {
        match self {
            Self::Nobody(turn) if !keeps => turn.take(),
            Self::Pending(_) | Self::Caller(_) | Self::Nobody(_) => None,
        }
    }
}

/// The order of the requests of a connection that the manager of an object has held.
#[inline]
pub(super) fn held_by(object: &ActiveObject) -> OrderKey {
    OrderKey::Manager(Arc::as_ptr(object.manager()).addr())
}
