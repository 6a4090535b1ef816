//! Serving requests: from their receipt by a connection to their reply.
//!
//! The steps behind receiving and parsing ([`zorb_connection::server`]): **locate** the target, **admit** the request
//! (state of the POA manager, limits), **dispatch** it to the servant, **reply**. A request that waits, for its
//! servant, its manager or a key resolver, is [pending](zorb_connection::PendingRequest) and goes on with the step that
//! it waits before.

mod deadline;
mod dispatch;
mod held_worker;
mod located;
mod server_points;
mod upcall;

pub(crate) use dispatch::{Execution, ExecutionSite, Origin, refusal};
pub(crate) use located::locate_reply;
pub(crate) use server_points::{Intercepted, receive_collocated, reply_contexts};
pub(crate) use upcall::{
    Caller, begin, beside_others, caught, enter, enter_object, off_reactor, released,
    to_end_in_lane,
};

use crate::keys::Found;
use crate::orb::OrbInner;
use bytes::Bytes;
use dispatch::{dispatch, into_reply};
use std::sync::{Arc, Weak};
use tokio::runtime::Handle;
use tokio_util::task::task_tracker::TaskTrackerToken;
use zorb_cdr::Context;
use zorb_connection::server::Located;
use zorb_connection::{
    BidirectionalConnection, BusyConnections, Counter, OrderKey, Owner, PendingRequest,
    ReceivedRequest, ServerConnection, Settings, Turn,
};
use zorb_executor::Lane;
use zorb_giop::{
    Ior, LocateReply, RequestHeader, ResponseFlags, SystemException, SystemExceptionKind,
    TargetAddress,
};
use zorb_poa::{
    ActiveObject, Missing, Outcome, PoaManagerState, Receipt, ServerRequest, is_reserved,
};
use zorb_shares::{Client, HostKey};

type Connection = Arc<ServerConnection<OrbInner>>;
type Pending = PendingRequest<OrbInner>;

/// The target of a request.
#[derive(Debug)]
pub(crate) enum RequestTarget {
    Object {
        object: Arc<ActiveObject>,
        /// The number of the operation in the servant's table, if it has one.
        number: Option<u32>,
        /// The count of changes of the adapters before the object was looked up, if the same key leads to the same
        /// object until there are more.
        changes: Option<u64>,
    },
    /// Another ORB has the object: the client is forwarded.
    Forward(Arc<Ior>),
    /// The key resolver has to be asked.
    Unknown(Bytes),
    Refused(SystemException),
}

/// A target of an adapter's, as the request header cache keeps it. It keeps no servant alive.
#[derive(Debug)]
pub(crate) struct CachedTarget {
    object: Weak<ActiveObject>,
    number: u32,
    changes: u64,
}

impl From<Result<Found, SystemException>> for RequestTarget {
    fn from(found: Result<Found, SystemException>) -> Self {
        match found {
            Ok(Found::Object(object)) => Self::Object {
                object,
                number: None,
                changes: None,
            },
            Ok(Found::Forward(target)) => Self::Forward(target),
            Ok(Found::Unknown(key)) => Self::Unknown(key),
            Err(exception) => Self::Refused(exception),
        }
    }
}

impl Owner for OrbInner {
    type Target = RequestTarget;
    type Cached = CachedTarget;

    fn settings(&self) -> &Settings {
        self.connection_settings()
    }

    fn lane(&self) -> &Lane {
        Self::lane(self)
    }

    fn busy(&self) -> &BusyConnections {
        self.busy_connections()
    }

    fn is_stopping(&self) -> bool {
        Self::is_stopping(self)
    }

    fn track(&self, task: impl Future<Output = ()> + Send + 'static) {
        Self::track(self, task);
    }

    fn track_in(&self, home: &Handle, task: impl Future<Output = ()> + Send + 'static) {
        Self::track_in(self, home, task);
    }

    fn track_thread(&self) -> TaskTrackerToken {
        self.task()
    }

    fn offered(&self, connection: &Arc<BidirectionalConnection>, client: &Client, context: &[u8]) {
        let lane = Self::lane(self).handle();
        if !(self.bidirectional()).take(connection, client, context, lane) {
            self.count(Counter::CallbackEndpointsIgnored);
        }
    }

    fn locate(&self, header: &RequestHeader<'_>, opened_here: bool) -> RequestTarget {
        if opened_here && !self.is_for_peer(&header.target) {
            return RequestTarget::Refused(Missing::Adapter.raise());
        }
        // Counted before anything is looked up.
        let changes = self.adapters().changes();
        let (found, is_adapters) = match &header.target {
            // The key table and the key resolver know plain keys, too.
            TargetAddress::Key(key) => (self.find_for_peer(key), is_reserved(key)),
            other => match self.key_of(other) {
                Some(key) => (self.find_for_peer(&key), false),
                None => (Err(Missing::Adapter.raise()), false),
            },
        };
        match found {
            Ok(Found::Object(object)) => RequestTarget::Object {
                number: object.number_of(header.operation),
                changes: (is_adapters && !object.is_for_one_request()).then_some(changes),
                object,
            },
            found => found.into(),
        }
    }

    fn refuse(&self, exception: SystemException) -> RequestTarget {
        RequestTarget::Refused(exception)
    }

    fn cache(&self, target: &RequestTarget) -> Option<CachedTarget> {
        match target {
            RequestTarget::Object {
                object,
                number: Some(number),
                changes: Some(changes),
            } => Some(CachedTarget {
                object: Arc::downgrade(object),
                number: *number,
                changes: *changes,
            }),
            _ => None,
        }
    }

    #[inline]
    fn recall(&self, cached: &CachedTarget) -> Option<RequestTarget> {
        if cached.changes != self.adapters().changes() {
            return None;
        }
        Some(RequestTarget::Object {
            object: cached.object.upgrade()?,
            number: Some(cached.number),
            changes: None,
        })
    }

    #[inline]
    fn serve(connection: &Connection, request: ReceivedRequest<Self>) {
        let number = match &request.target {
            RequestTarget::Object { number, .. } => *number,
            _ => None,
        };
        let context = Arc::clone(connection.owner()) as Arc<dyn Context>;
        let ReceivedRequest {
            message,
            offsets,
            format,
            target,
        } = request;
        // The request stays in place until its upcall takes it: a move costs as much as a step of the call.
        let request = ServerRequest::new(message, offsets, format, context).with_number(number);
        serve(connection, target, &mut Some(request), None);
    }

    fn locate_request(&self, target: &TargetAddress<'_>, opened_here: bool) -> Located {
        if opened_here && !self.is_for_peer(target) {
            return Located::Reply(LocateReply::UnknownObject);
        }
        let found = match self.key_of(target) {
            Some(key) => self.find_for_peer(&key),
            None => Err(Missing::Adapter.raise()),
        };
        Located::Reply(match found {
            // It may yet be here, and its requests learn that they are early.
            Err(early) if early.kind == SystemExceptionKind::Transient => LocateReply::ObjectHere,
            Ok(Found::Unknown(key)) => return Located::Ask(key),
            found => locate_reply(self, found),
        })
    }

    async fn ask(self: Arc<Self>, key: Bytes, host: HostKey) -> LocateReply {
        let found = Self::ask(&self, key, host).await;
        locate_reply(&self, found)
    }
}

impl OrbInner {
    /// Whether the peer of a connection that this ORB has opened may call the object: others are not there for it.
    #[cold]
    fn is_for_peer(&self, target: &TargetAddress<'_>) -> bool {
        let key = self.key_of(target);
        key.is_some_and(|key| self.bidirectional().is_permitted(&key))
    }
}

/// Serves a request whose target has been located. `pending`: its place among the pending requests, if it has waited.
#[inline]
fn serve(
    connection: &Connection,
    target: RequestTarget,
    request: &mut Option<ServerRequest>,
    pending: Option<Pending>,
) {
    if let RequestTarget::Object { object, .. } = target {
        return admit(connection, object, request, pending);
    }
    let Some(request) = request.take() else {
        return;
    };
    match target {
        RequestTarget::Object { .. } => {}
        RequestTarget::Unknown(key) => ask(connection, key, request, pending),
        RequestTarget::Forward(target) => {
            let outcome = request.receipt().forward(&target, false);
            answer(connection, pending, outcome);
        }
        RequestTarget::Refused(exception) => {
            refuse(connection, pending, &request.receipt(), &exception)
        }
    }
}

/// Admits a request to its object: at once, later, or not at all.
#[inline]
fn admit(
    connection: &Connection,
    object: Arc<ActiveObject>,
    request: &mut Option<ServerRequest>,
    pending: Option<Pending>,
) {
    let Some(known) = &*request else {
        return;
    };
    let receipt = known.receipt();
    let state = object.manager().state();
    let admitted = match state {
        PoaManagerState::Active => Ok(()),
        other => other.admit(),
    };
    if let Err(exception) = admitted {
        return match is_shut_down(connection.owner(), state) {
            true => leave_unanswered(&receipt, pending),
            false => {
                if state == PoaManagerState::Discarding {
                    connection.owner().count(Counter::RequestsDiscarded);
                }
                refuse(connection, pending, &receipt, &exception);
            }
        };
    }
    let mut acknowledges_later = false;
    if receipt.response == ResponseFlags::WithServer {
        let acknowledged = pending.as_ref().is_some_and(Pending::is_acknowledged);
        match (object.skeleton().is_some(), acknowledged) {
            (true, false) => {
                let acknowledgement = receipt.acknowledgement();
                connection.queue_reply(acknowledgement.and_then(into_reply));
            }
            // A client that has its acknowledgement gets nothing else.
            (false, true) if object.forward().is_some() || object.refusal().is_some() => {
                return answer(connection, pending, Outcome::Silent);
            }
            (_, true) => {}
            // A request that is forwarded or refused has not arrived yet.
            (false, false) => acknowledges_later = true,
        }
    }
    match state {
        PoaManagerState::Holding => hold(connection, object, request, pending),
        // Behind those of its connection that were held, and have not all begun yet.
        _ if pending.is_none() && connection.has_turns(held_by(&object)) => {
            hold(connection, object, request, pending);
        }
        _ if receipt.response == ResponseFlags::None
            && object.orders_one_ways()
            && !pending.as_ref().is_some_and(Pending::has_turn) =>
        {
            serve_in_order(connection, object, request, pending);
        }
        _ => {
            if acknowledges_later {
                acknowledge_later(connection, request);
            }
            dispatch(connection, object, request, &receipt, pending);
        }
    }
}

/// Leaves the acknowledgement to the upcall, which forwards or refuses the request, or asks the servant manager.
#[cold]
fn acknowledge_later(connection: &Connection, request: &mut Option<ServerRequest>) {
    let connection = Arc::downgrade(connection);
    if let Some(request) = request {
        request.acknowledge_by(move |reply| {
            if let Some(connection) = connection.upgrade() {
                connection.send_reply(into_reply(reply));
            }
        });
    }
}

/// Whether a manager refuses requests because the ORB is shutting down.
fn is_shut_down(orb: &OrbInner, state: PoaManagerState) -> bool {
    state == PoaManagerState::Inactive && orb.is_stopping()
}

/// Leaves a request without an answer, as those that have not been read: CloseConnection follows, after which the
/// client may send the request again, elsewhere.
#[cold]
fn leave_unanswered(receipt: &Receipt, pending: Option<Pending>) {
    let request_id = receipt.request_id;
    tracing::debug!(request_id, "request left unanswered: shutting down");
    drop(pending);
}

/// Dispatches a one-way request when the one before it, of its connection, has ended.
#[cold]
fn serve_in_order(
    connection: &Connection,
    object: Arc<ActiveObject>,
    place: &mut Option<ServerRequest>,
    pending: Option<Pending>,
) {
    let Some(request) = place.take() else {
        return;
    };
    let receipt = request.receipt();
    let mut pending =
        pending.unwrap_or_else(|| Pending::new(connection, receipt.request_id, request.octets()));
    let mut turn = connection.turn(OrderKey::OneWays);
    if turn.has_come() {
        pending.keep_turn(turn);
        *place = Some(request);
        return dispatch(connection, object, place, &receipt, Some(pending));
    }
    connection.owner().track(async move {
        turn.comes().await;
        pending.keep_turn(turn);
        let found = find_again(pending.owner(), &request);
        go_on(pending, found.into(), request, None);
    });
}

/// The object of a request that has waited, which may have been deactivated meanwhile.
fn find_again(orb: &OrbInner, request: &ServerRequest) -> Result<Found, SystemException> {
    let key = request.object_key();
    orb.find_for_peer(&key.ok_or_else(|| Missing::Object.raise())?)
}

/// Replies to a request whose servant has not been called.
#[cold]
fn answer(connection: &Connection, pending: Option<Pending>, outcome: Outcome) {
    match pending {
        None => connection.queue_reply(into_reply(outcome)),
        Some(pending) if pending.is_acknowledged() => pending.answer(None),
        Some(pending) => pending.answer(into_reply(outcome)),
    }
}

#[cold]
fn refuse(
    connection: &Connection,
    pending: Option<Pending>,
    receipt: &Receipt,
    exception: &SystemException,
) {
    let request_id = receipt.request_id;
    tracing::debug!(request_id, error = ?exception, "request refused");
    answer(connection, pending, receipt.refusal(exception));
}

/// Goes on with a pending request whose target has been located, unless its client has cancelled it. Its turn ends when
/// it has begun.
fn go_on(pending: Pending, target: RequestTarget, request: ServerRequest, turn: Option<Turn>) {
    pending.go_on(move |pending| {
        let _turn = turn;
        if pending.is_cancelled() {
            tracing::debug!(
                request_id = request.receipt().request_id,
                "request cancelled"
            );
            return pending.answer(None);
        }
        let connection = pending.connection();
        let request = &mut Some(request);
        serve(&connection, target, request, Some(pending));
    });
}

/// The client of a request, where it takes a place that clients share. A request whose client waits for no result is served
/// although its client has gone.
fn client_of(connection: &Connection, receipt: &Receipt) -> Client {
    let client = connection.client();
    match receipt.response {
        ResponseFlags::WithTarget => client.clone(),
        _ => client.staying(),
    }
}

/// Waits until nobody waits for the result of a request any more.
async fn abandoned(pending: &Pending, client: &Client, receipt: &Receipt) {
    match receipt.response {
        ResponseFlags::WithTarget => pending.abandoned(client).await,
        _ => core::future::pending().await,
    }
}

/// Ends a request for whose result nobody waits.
#[cold]
fn leave_abandoned(pending: Pending, client: &Client, receipt: &Receipt) {
    let request_id = receipt.request_id;
    if client.is_gone() {
        pending.owner().count(Counter::RequestsUnanswerable);
    }
    tracing::debug!(
        request_id,
        "request dropped: cancelled, or its client has gone"
    );
    pending.answer(None);
}

/// Asks the key resolver for the object of a request, while the connection goes on.
#[cold]
fn ask(connection: &Connection, key: Bytes, request: ServerRequest, pending: Option<Pending>) {
    let receipt = request.receipt();
    let pending =
        pending.unwrap_or_else(|| Pending::new(connection, receipt.request_id, request.octets()));
    let client = client_of(connection, &receipt);
    connection.owner().track(async move {
        let asked = OrbInner::ask(pending.owner(), key, client.host());
        let found = tokio::select! {
            biased;
            found = asked => found,
            () = abandoned(&pending, &client, &receipt) => return leave_abandoned(pending, &client, &receipt),
        };
        go_on(pending, found.into(), request, None);
    });
}

/// The order of the requests of a connection that the manager of an object has held.
#[inline]
fn held_by(object: &ActiveObject) -> OrderKey {
    OrderKey::Manager(Arc::as_ptr(object.manager()).addr())
}

/// Holds a request until the manager leaves HOLDING, and those before it have begun; then its key is looked up again.
#[cold]
fn hold(
    connection: &Connection,
    object: Arc<ActiveObject>,
    request: &mut Option<ServerRequest>,
    pending: Option<Pending>,
) {
    let Some(request) = request.take() else {
        return;
    };
    let receipt = request.receipt();
    let mut pending =
        pending.unwrap_or_else(|| Pending::new(connection, receipt.request_id, request.octets()));
    let mut turn = connection.turn(held_by(&object));
    if object.skeleton().is_some() && receipt.response == ResponseFlags::WithServer {
        pending.set_acknowledged();
    }
    let client = client_of(connection, &receipt);
    let released = released(&object, client.host());
    let manager = Arc::clone(object.manager());
    // A held request is no upcall: the object may be deactivated, and its id used again.
    drop(object);
    connection.owner().track(async move {
        let released = tokio::select! {
            biased;
            released = released => released,
            () = abandoned(&pending, &client, &receipt) => return leave_abandoned(pending, &client, &receipt),
        };
        if is_shut_down(pending.owner(), manager.state()) {
            return leave_unanswered(&receipt, Some(pending));
        }
        let found = match released {
            Ok(()) => {
                turn.comes().await;
                find_again(pending.owner(), &request)
            }
            // A request that is refused does not wait for those before it.
            Err(refused) => {
                if manager.state() == PoaManagerState::Holding {
                    pending.owner().count_refused(receipt.response);
                }
                Err(refused)
            }
        };
        go_on(pending, found.into(), request, Some(turn));
    });
}
