//! Serving requests: from their receipt by a connection to their reply.
//!
//! The steps behind receiving and parsing ([`zorb_connection::server`]): **locate** the target, **admit** the request
//! (state of the POA manager, limits), **dispatch** it to the servant, past the interceptors ([`intercepted`]), **reply**. A request that waits, for its
//! servant, its manager or a key resolver, is [pending](zorb_connection::PendingRequest) and goes on with the step that
//! it waits before.

mod attend;
mod deadline;
mod dispatch;
mod held_worker;
mod intercepted;
mod located;
mod origin;
mod upcall;

pub(crate) use attend::{UpcallsEnd, sleep_until};
pub(crate) use dispatch::{dispatch, main_loop_of};
pub(crate) use intercepted::is_of_other_types;
pub(crate) use located::locate_reply;
pub(crate) use origin::{Origin, ReplySink, Served};
pub(crate) use upcall::{caught, enter, off_reactor, released};

use crate::keys::Found;
use crate::observe;
use crate::orb::OrbInner;
use bytes::Bytes;
use core::any::Any;
use dispatch::into_reply;
use origin::{Connection, held_by};
use std::sync::{Arc, Weak};
use tokio::runtime::Handle;
use tokio_util::task::task_tracker::TaskTrackerToken;
use zorb_cdr::Context;
use zorb_connection::server::Located;
use zorb_connection::{
    BidirectionalConnection, BusyConnections, Counter, OrderKey, Owner, ReceivedRequest, Settings,
    Turn,
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
    fn serve(connection: &Connection, request: ReceivedRequest<Self>) -> zorb_connection::Served {
        let orb = connection.owner();
        let context = Arc::clone(orb) as Arc<dyn Context>;
        let ReceivedRequest {
            message,
            offsets,
            format,
            target,
        } = request;
        let mut request = ServerRequest::new(message, offsets, format, context);
        request.set_peer(Arc::clone(connection.peer()) as Arc<dyn Any + Send + Sync>);
        if request.has_contexts() | orb.settings().request_times.limit.is_some() {
            deadline::arrive(orb, &mut request);
        }
        match serve(orb, Origin::Reader(connection), target, request) {
            Served::Ended(request) => match request.into_outcome() {
                Outcome::Reply(reply) => zorb_connection::Served::Replied(reply),
                Outcome::Silent => zorb_connection::Served::Silent,
            },
            Served::Gone => zorb_connection::Served::Pending,
            // A message is never typed.
            Served::OtherTypes(..) => zorb_connection::Served::Silent,
        }
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

/// Serves a call whose target has been located.
#[inline]
pub(crate) fn serve(
    orb: &Arc<OrbInner>,
    origin: Origin<'_>,
    target: RequestTarget,
    mut request: ServerRequest,
) -> Served {
    match target {
        RequestTarget::Object { object, number, .. } => {
            request.set_number(number);
            admit(orb, origin, object, request)
        }
        RequestTarget::Unknown(key) => ask(orb, origin, key, request),
        RequestTarget::Forward(target) => {
            let outcome = request.receipt().forward(&target, false);
            origin.answer(request, outcome)
        }
        RequestTarget::Refused(exception) => refuse(orb, origin, request, &exception),
    }
}

/// Admits a request to its object: at once, later, or not at all.
#[inline]
fn admit(
    orb: &Arc<OrbInner>,
    origin: Origin<'_>,
    object: Arc<ActiveObject>,
    request: ServerRequest,
) -> Served {
    let response = request.receipt().response;
    match object.manager().state() {
        PoaManagerState::Active => {
            if response != ResponseFlags::WithTarget {
                return admit_one_way(orb, origin, object, request);
            }
            if is_behind_held(&origin, &object) {
                return hold(orb, origin, object, request);
            }
            dispatch(orb, origin, object, request)
        }
        PoaManagerState::Holding if response == ResponseFlags::WithServer => {
            admit_one_way(orb, origin, object, request)
        }
        PoaManagerState::Holding => hold(orb, origin, object, request),
        state => leave(orb, origin, state, request),
    }
}

/// Whether a request has to wait behind those of its connection that its manager has held, and that have not all begun yet.
#[inline]
fn is_behind_held(origin: &Origin<'_>, object: &ActiveObject) -> bool {
    match origin {
        Origin::Reader(connection) => connection.has_turns(held_by(object)),
        Origin::Caller(_) | Origin::Sink(_) => false,
    }
}

/// Does not admit a request: its manager refuses it.
#[cold]
fn leave(
    orb: &OrbInner,
    origin: Origin<'_>,
    state: PoaManagerState,
    request: ServerRequest,
) -> Served {
    if is_shut_down(orb, state) && !origin.is_collocated() {
        leave_unanswered(&request.receipt());
        return Served::Gone;
    }
    if state == PoaManagerState::Discarding {
        orb.count(Counter::RequestsDiscarded);
    }
    match state.admit() {
        Err(exception) => refuse(orb, origin, request, &exception),
        Ok(()) => Served::Gone,
    }
}

/// Admits a request whose client waits for its arrival, or for nothing.
#[inline(never)]
fn admit_one_way(
    orb: &Arc<OrbInner>,
    origin: Origin<'_>,
    object: Arc<ActiveObject>,
    mut request: ServerRequest,
) -> Served {
    let receipt = request.receipt();
    let mut acknowledges_later = None;
    if receipt.response == ResponseFlags::WithServer
        && let Some(connection) = origin.connection()
    {
        let acknowledged = match &origin {
            Origin::Sink(ReplySink::Pending(pending)) => pending.is_acknowledged(),
            _ => false,
        };
        match (object.skeleton().is_some(), acknowledged) {
            (true, false) => {
                let acknowledgement = receipt.acknowledgement();
                connection.queue_reply(acknowledgement.and_then(into_reply));
            }
            // A client that has its acknowledgement gets nothing else.
            (false, true) if object.forward().is_some() || object.refusal().is_some() => {
                return origin.answer(request, Outcome::Silent);
            }
            (_, true) => {}
            // A request that is forwarded or refused has not arrived yet.
            (false, false) => acknowledges_later = Some(Arc::downgrade(&connection)),
        }
    }
    if object.manager().state() == PoaManagerState::Holding || is_behind_held(&origin, &object) {
        return hold(orb, origin, object, request);
    }
    let has_turn = match &origin {
        Origin::Reader(_) => false,
        Origin::Sink(ReplySink::Pending(pending)) => pending.has_turn(),
        Origin::Caller(_) | Origin::Sink(_) => true,
    };
    if receipt.response == ResponseFlags::None && object.orders_one_ways() && !has_turn {
        return serve_in_order(orb, origin, object, request);
    }
    if let Some(connection) = acknowledges_later {
        // Left to the upcall, which forwards or refuses the request, or asks the servant manager.
        request.acknowledge_by(move |reply| {
            if let Some(connection) = connection.upgrade() {
                connection.send_reply(into_reply(reply));
            }
        });
    }
    dispatch(orb, origin, object, request)
}

/// Whether a manager refuses requests because the ORB is shutting down.
fn is_shut_down(orb: &OrbInner, state: PoaManagerState) -> bool {
    state == PoaManagerState::Inactive && orb.is_stopping()
}

/// Leaves a request without an answer, as those that have not been read: CloseConnection follows, after which the
/// client may send the request again, elsewhere.
#[cold]
fn leave_unanswered(receipt: &Receipt) {
    let request_id = receipt.request_id;
    tracing::debug!(request_id, "request left unanswered: shutting down");
}

/// Dispatches a one-way request when the one before it, of its connection, has ended.
#[cold]
fn serve_in_order(
    orb: &Arc<OrbInner>,
    origin: Origin<'_>,
    object: Arc<ActiveObject>,
    request: ServerRequest,
) -> Served {
    let Some(connection) = origin.connection() else {
        return dispatch(orb, origin, object, request);
    };
    let mut turn = connection.turn(OrderKey::OneWays);
    let mut sink = origin.into_sink(&request.receipt(), request.octets());
    if turn.has_come() {
        sink.keep_turn(turn);
        return dispatch(orb, Origin::Sink(sink), object, request);
    }
    let inner = Arc::clone(orb);
    orb.track(async move {
        turn.comes().await;
        sink.keep_turn(turn);
        let found = find_again(&inner, &request);
        go_on(&inner, sink, found.into(), request, None);
    });
    Served::Gone
}

/// The object of a request that has waited, which may have been deactivated meanwhile.
fn find_again(orb: &OrbInner, request: &ServerRequest) -> Result<Found, SystemException> {
    let key = request.object_key();
    orb.find_for_peer(&key.ok_or_else(|| Missing::Object.raise())?)
}

#[cold]
fn refuse(
    orb: &OrbInner,
    origin: Origin<'_>,
    request: ServerRequest,
    exception: &SystemException,
) -> Served {
    observe::refused(orb);
    let receipt = request.receipt();
    let request_id = receipt.request_id;
    tracing::debug!(request_id, error = ?exception, "request refused");
    origin.answer(request, receipt.refusal(exception))
}

/// Goes on with a call that has waited, and whose target has been located, unless its client has cancelled it. Its turn ends
/// when it has begun.
fn go_on(
    orb: &Arc<OrbInner>,
    sink: ReplySink,
    target: RequestTarget,
    request: ServerRequest,
    turn: Option<Turn>,
) {
    match sink {
        ReplySink::Pending(pending) => pending.go_on(move |pending| {
            let _turn = turn;
            if pending.is_cancelled() {
                tracing::debug!(
                    request_id = request.receipt().request_id,
                    "request cancelled"
                );
                return pending.answer(None);
            }
            let orb = Arc::clone(pending.owner());
            let origin = Origin::Sink(ReplySink::Pending(pending));
            serve(&orb, origin, target, request);
        }),
        sink => {
            serve(orb, Origin::Sink(sink), target, request);
        }
    }
}

/// Asks the key resolver for the object of a request, while the connection goes on.
#[cold]
fn ask(orb: &Arc<OrbInner>, origin: Origin<'_>, key: Bytes, request: ServerRequest) -> Served {
    let receipt = request.receipt();
    let sink = origin.into_sink(&receipt, request.octets());
    let (inner, client) = (Arc::clone(orb), sink.client(&receipt));
    orb.track(async move {
        let client = client.as_ref();
        let asked = OrbInner::ask(&inner, key, ReplySink::host(client));
        let found = tokio::select! {
            biased;
            found = asked => found,
            _ = sink.abandoned(client, &receipt) => {
                return sink.leave_abandoned(&inner, client, &receipt);
            }
        };
        go_on(&inner, sink, found.into(), request, None);
    });
    Served::Gone
}

/// Holds a request until the manager leaves HOLDING, and those before it have begun; then its key is looked up again.
#[cold]
fn hold(
    orb: &Arc<OrbInner>,
    origin: Origin<'_>,
    object: Arc<ActiveObject>,
    request: ServerRequest,
) -> Served {
    let receipt = request.receipt();
    let mut turn = (origin.connection()).map(|connection| connection.turn(held_by(&object)));
    let mut sink = origin.into_sink(&receipt, request.octets());
    if object.skeleton().is_some()
        && receipt.response == ResponseFlags::WithServer
        && let ReplySink::Pending(pending) = &mut sink
    {
        pending.set_acknowledged();
    }
    let client = sink.client(&receipt);
    let released = released(&object, ReplySink::host(client.as_ref()));
    let manager = Arc::clone(object.manager());
    // A held request is no upcall: the object may be deactivated, and its id used again.
    drop(object);
    let inner = Arc::clone(orb);
    orb.track(async move {
        let client = client.as_ref();
        let released = tokio::select! {
            biased;
            released = released => released,
            _ = sink.abandoned(client, &receipt) => {
                return sink.leave_abandoned(&inner, client, &receipt);
            }
        };
        if is_shut_down(&inner, manager.state()) {
            return leave_unanswered(&receipt);
        }
        let found = match released {
            Ok(()) => {
                if let Some(turn) = &mut turn {
                    turn.comes().await;
                }
                find_again(&inner, &request)
            }
            // A request that is refused does not wait for those before it.
            Err(refused) => {
                if manager.state() == PoaManagerState::Holding {
                    inner.count_refused(receipt.response);
                }
                Err(refused)
            }
        };
        go_on(&inner, sink, found.into(), request, turn);
    });
    Served::Gone
}
