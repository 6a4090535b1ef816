//! The proxies that suppliers have: of a consumer that they push to, or that pulls from them.

use crate::admin::Admin;
use crate::channel::{Channel, Connection, Counted, Form, Idle, Place, Proxy, typed_part};
use crate::cos_event_channel_admin::{self as plain, AlreadyConnected};
use crate::cos_event_comm::{
    self as plain_comm, Disconnected, PullSupplierRef, pull_supplier, push_consumer,
};
use crate::cos_notification::{EventType, NamedPropertyRange, Property, StructuredEvent};
use crate::cos_notify_channel_admin::{
    self as cos, ConnectionAlreadyActive, ConnectionAlreadyInactive, ObtainInfoMode, ProxyType,
    SupplierAdminRef,
};
use crate::cos_notify_comm::{
    self as comm, SequencePullSupplierRef, StructuredPullSupplierRef, notify_publish,
    sequence_pull_supplier, sequence_push_consumer, structured_pull_supplier,
    structured_push_consumer,
};
use crate::counters::add;
use crate::etcl::Budget;
use crate::event::{Body, Event};
use crate::informer::{Informer, Told};
use crate::node::{Node, Target};
use crate::qos::{Level, Qos};
use crate::stored::{self, Row};
use crate::supplier_proxy::{
    DISCONNECT_TIMEOUT, FIRST_PAUSE, MAX_BATCH, MAX_FAILURES, PUSH_TIMEOUT, pause,
};
use crate::typed::TypedInterface;
use crate::types::{Changes, EventTypes};
use crate::{
    cos_typed_event_channel_admin as typed_plain, cos_typed_event_comm as typed_plain_comm,
    cos_typed_notify_channel_admin as typed, cos_typed_notify_comm as typed_comm,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use zorb::{Any, Interface, ObjectRef, SystemException, SystemExceptionKind};

/// How long a supplier that has had no event is left alone before it is asked again.
pub(crate) const PULL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct ConsumerProxy {
    pub(crate) channel: Arc<Channel>,
    pub(crate) admin: Arc<Admin>,
    pub(crate) number: u32,
    pub(crate) is_push: bool,
    pub(crate) form: Form,
    /// The interface of a typed one.
    pub(crate) interface: Option<Arc<TypedInterface>>,
    pub(crate) node: Node,
    connection: Mutex<Connection>,
    /// Whether the supplier is not pulled from for now.
    is_suspended: watch::Sender<bool>,
    informer: Arc<Informer>,
    counted: Counted,
    /// Woken when the proxy ends.
    ended: Notify,
    /// When the client has last called.
    used: Mutex<Instant>,
    /// Held by a call of a typed consumer until the event has its place: one-way calls are not overtaken by others.
    calling: tokio::sync::Mutex<()>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a supplier could not be pulled from.
enum NotPulled {
    /// The supplier says that it is gone.
    Gone,
    Now(SystemException),
}

macro_rules! not_pulled {
    ($($module:ident::$error:ident),*) => { $(
        impl From<$module::$error> for NotPulled {
            fn from(error: $module::$error) -> Self {
                match error {
                    $module::$error::Disconnected(_) => Self::Gone,
                    $module::$error::System(exception) => Self::Now(exception),
                }
            }
        }
    )* };
}
not_pulled!(
    pull_supplier::TryPullError,
    structured_pull_supplier::TryPullStructuredEventError,
    sequence_pull_supplier::TryPullStructuredEventsError
);

impl ConsumerProxy {
    pub(crate) fn new(
        admin: &Arc<Admin>,
        number: u32,
        is_push: bool,
        form: Form,
        interface: Option<Arc<TypedInterface>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            channel: Arc::clone(&admin.channel),
            admin: Arc::clone(admin),
            number,
            is_push,
            form,
            interface,
            node: Node::new(admin.node.get().qos.clone(), EventTypes::default()),
            connection: Mutex::new(Connection::Not),
            is_suspended: watch::channel(false).0,
            informer: Informer::new(Told::Subscriptions),
            counted: Counted::default(),
            ended: Notify::new(),
            used: Mutex::new(Instant::now()),
            calling: tokio::sync::Mutex::default(),
        })
    }

    pub(crate) async fn connect(
        self: &Arc<Self>,
        peer: Option<ObjectRef>,
    ) -> Result<Result<(), AlreadyConnected>, SystemException> {
        {
            let mut connection = locked(&self.connection);
            match *connection {
                Connection::Not => *connection = Connection::To(peer.clone()),
                Connection::To(_) => return Ok(Err(AlreadyConnected {})),
                Connection::Over => return Err(SystemExceptionKind::ObjectNotExist.into()),
            }
        }
        if let Err(exception) = self.store().await {
            let mut connection = locked(&self.connection);
            if matches!(*connection, Connection::To(_)) {
                *connection = Connection::Not;
            }
            return Err(exception);
        }
        self.start(peer);
        Ok(Ok(()))
    }

    /// Goes on as in an earlier run.
    pub(crate) fn resume(self: &Arc<Self>, peer: Option<ObjectRef>) {
        *locked(&self.connection) = Connection::To(peer.clone());
        self.apply();
        self.start(peer);
    }

    pub(crate) async fn store(&self) -> Result<(), SystemException> {
        let state = self.node.get();
        if self.channel.context.journal.is_none() || !state.qos.has_kept_connection() {
            self.channel.remove_row(self.number).await;
            return Ok(());
        }
        let connection = locked(&self.connection).clone();
        let row = stored_row(
            self.interface.as_deref(),
            stored::Proxy {
                is_supplier: false,
                is_push: self.is_push,
                form: self.form as u8,
                admin: self.admin.number,
                is_connected: matches!(connection, Connection::To(_)),
                common: self.node.stored(),
            },
        );
        self.channel
            .store(self.number, &row, connection.peer(), None)
            .await
    }

    pub(crate) fn apply(&self) {
        let state = self.node.get();
        self.is_suspended.send_replace(state.is_suspended);
        self.channel
            .count(Told::Offers, &self.counted, state.types.keys());
    }

    fn start(self: &Arc<Self>, peer: Option<ObjectRef>) {
        if let (false, Some(peer)) = (self.is_push, peer) {
            let proxy = Arc::clone(self);
            tokio::spawn(async move {
                let ended = proxy.ended.notified();
                tokio::select! {
                    () = Arc::clone(&proxy).pull(peer) => {}
                    () = ended => {}
                }
            });
        }
    }

    /// Publishes what passes the filters of the proxy and of its admin.
    async fn publish(
        &self,
        bodies: Vec<Body>,
        turn: Option<tokio::sync::MutexGuard<'_, ()>>,
    ) -> Result<(), SystemException> {
        let (own, admin) = (self.node.get(), self.admin.node.get());
        let mut events = Vec::with_capacity(bodies.len());
        for body in bodies {
            let event = Event::new(body, &own.qos, &self.channel.held);
            let event = event.map_err(|error| {
                SystemException::from(SystemExceptionKind::Marshal).with_detail(error)
            })?;
            let budget = Budget::default();
            let passes = match self.admin.is_or {
                true => own.passes(&event, &budget) || admin.passes(&event, &budget),
                false => own.passes(&event, &budget) && admin.passes(&event, &budget),
            };
            if passes {
                events.push(Arc::new(event));
            }
        }
        match events.is_empty() {
            true => Ok(()),
            false => self.channel.publish(events, turn).await,
        }
    }

    /// Publishes a call of the typed consumer.
    pub(crate) async fn accept_call(&self, call: Body) -> Result<(), SystemException> {
        if self.check_connected().is_err() {
            // Operations of applications have no Disconnected.
            return Err(SystemExceptionKind::BadInvOrder.into());
        }
        let turn = self.calling.lock().await;
        self.publish(vec![call], Some(turn)).await
    }

    /// Asks a supplier for events.
    async fn try_pull(&self, peer: &ObjectRef) -> Result<Vec<Body>, NotPulled> {
        Ok(match self.form {
            Form::Plain | Form::Any | Form::PlainTyped | Form::Typed => {
                let peer: PullSupplierRef = peer.unchecked_narrow();
                let (event, has_event) = peer.try_pull().await?;
                has_event.then_some(Body::Any(event)).into_iter().collect()
            }
            Form::Structured => {
                let peer: StructuredPullSupplierRef = peer.unchecked_narrow();
                let (event, has_event) = peer.try_pull_structured_event().await?;
                let body = has_event.then_some(Body::Structured(event));
                body.into_iter().collect()
            }
            Form::Sequence => {
                let peer: SequencePullSupplierRef = peer.unchecked_narrow();
                let size = self.node.get().qos.batch().min(MAX_BATCH);
                let size = i32::try_from(size).unwrap_or(i32::MAX);
                let (events, has_event) = peer.try_pull_structured_events(size).await?;
                match has_event {
                    true => events.into_iter().map(Body::Structured).collect(),
                    false => Vec::new(),
                }
            }
        })
    }

    /// Pulls events from a supplier until one of the two is gone. An event that cannot be stored is tried again, and no other
    /// is pulled meanwhile.
    async fn pull(self: Arc<Self>, peer: ObjectRef) {
        let peer = peer.with_round_trip_timeout(PUSH_TIMEOUT);
        let mut suspended = self.is_suspended.subscribe();
        let mut failures: u32 = 0;
        loop {
            if suspended.wait_for(|suspended| !suspended).await.is_err() {
                return;
            }
            let wait = match self.try_pull(&peer).await {
                Ok(bodies) if !bodies.is_empty() => {
                    failures = 0;
                    while let Err(exception) = self.publish(bodies.clone(), None).await {
                        tracing::warn!(%exception, "an event that was pulled is not accepted yet");
                        tokio::time::sleep(FIRST_PAUSE).await;
                    }
                    continue;
                }
                Ok(_) => {
                    failures = 0;
                    PULL_INTERVAL
                }
                Err(NotPulled::Gone) => {
                    self.disconnect(false);
                    return;
                }
                Err(NotPulled::Now(exception)) => {
                    failures = failures.saturating_add(1);
                    tracing::info!(%exception, failures, "a supplier cannot be pulled from");
                    let is_gone = exception.kind == SystemExceptionKind::ObjectNotExist;
                    if is_gone || failures >= MAX_FAILURES {
                        add(&self.channel.context.counts.evicted, 1);
                        self.disconnect(!is_gone);
                        return;
                    }
                    pause(failures)
                }
            };
            tokio::time::sleep(wait).await;
        }
    }

    fn check_connected(&self) -> Result<(), Disconnected> {
        *locked(&self.used) = Instant::now();
        match *locked(&self.connection) {
            Connection::To(_) => Ok(()),
            _ => Err(Disconnected {}),
        }
    }
}

/// What is stored of a proxy.
pub(crate) fn stored_row(interface: Option<&TypedInterface>, base: stored::Proxy) -> Row {
    match interface {
        Some(interface) => Row::OfTypedProxy(stored::TypedProxy {
            base,
            interface_id: interface.id.clone(),
        }),
        None => Row::OfProxy(base),
    }
}

/// The operation by which a supplier hears that it is disconnected.
fn disconnecting(form: Form, is_push: bool) -> &'static str {
    match (form, is_push) {
        (Form::Plain | Form::Any | Form::PlainTyped | Form::Typed, true) => {
            "disconnect_push_supplier"
        }
        (Form::Plain | Form::Any | Form::PlainTyped | Form::Typed, false) => {
            "disconnect_pull_supplier"
        }
        (Form::Structured, true) => "disconnect_structured_push_supplier",
        (Form::Structured, false) => "disconnect_structured_pull_supplier",
        (Form::Sequence, true) => "disconnect_sequence_push_supplier",
        (Form::Sequence, false) => "disconnect_sequence_pull_supplier",
    }
}

impl Proxy for ConsumerProxy {
    fn disconnect(self: Arc<Self>, is_peer_told: bool) {
        let before = std::mem::replace(&mut *locked(&self.connection), Connection::Over);
        let peer = match before {
            Connection::Over => return,
            Connection::To(peer) if is_peer_told => peer,
            _ => None,
        };
        self.channel
            .count(Told::Offers, &self.counted, BTreeSet::new());
        let operation = disconnecting(self.form, self.is_push);
        self.channel.end_proxy(self.number, async move {
            let Some(peer) = peer else { return };
            let peer = peer.with_round_trip_timeout(DISCONNECT_TIMEOUT);
            let told = peer.invoke::<_, (), SystemException>(operation, ()).await;
            if let Err(exception) = told {
                tracing::debug!(%exception, "a supplier is not told that it is disconnected");
            }
        });
        self.stop();
    }

    fn stop(&self) {
        self.ended.notify_waiters();
    }

    fn idle(&self) -> Idle {
        let used = *locked(&self.used);
        match (&*locked(&self.connection), self.is_push) {
            (Connection::Not, _) => Idle::Unconnected(used),
            (Connection::To(_), true) => Idle::Unpushed(used),
            _ => Idle::Not,
        }
    }

    fn place(&self) -> Place {
        Place {
            is_supplier: false,
            is_push: self.is_push,
            form: self.form,
            admin: self.admin.number,
        }
    }

    fn inform(&self, changes: &Changes) {
        if self.form.is_notification()
            && let Some(peer) = locked(&self.connection).peer()
        {
            self.informer.inform(peer, changes);
        }
    }
}

/// The servant of a proxy: of any form, since a skeleton serves the operations of its interface alone.
pub(crate) struct Consumer(pub(crate) Arc<ConsumerProxy>);

impl Target for Consumer {
    fn node(&self) -> &Node {
        &self.0.node
    }

    fn channel(&self) -> &Arc<Channel> {
        &self.0.channel
    }

    fn level(&self) -> Level {
        Level::Proxy
    }

    fn above(&self) -> Option<Qos> {
        Some(self.0.admin.node.get().qos.clone())
    }

    fn apply(&self) {
        self.0.apply();
    }

    async fn store(&self) -> Result<(), SystemException> {
        self.0.store().await
    }
}

impl Consumer {
    fn disconnect(&self) {
        Arc::clone(&self.0).disconnect(true);
    }

    /// Connects to a peer that is called.
    async fn connect<T: Interface>(
        &self,
        peer: Option<T>,
    ) -> Result<Result<(), AlreadyConnected>, SystemException> {
        let peer = peer.ok_or(SystemExceptionKind::BadParam)?;
        self.0.connect(Some(peer.as_object().clone())).await
    }

    /// Connects to a peer that calls.
    async fn connect_caller<T: Interface>(
        &self,
        peer: Option<T>,
    ) -> Result<Result<(), AlreadyConnected>, SystemException> {
        self.0
            .connect(peer.map(|peer| peer.as_object().clone()))
            .await
    }

    async fn accept<E: From<Disconnected> + From<SystemException>>(
        &self,
        bodies: Vec<Body>,
    ) -> Result<(), E> {
        self.0.check_connected()?;
        Ok(self.0.publish(bodies, None).await?)
    }
}

impl comm::NotifyPublish for Consumer {
    async fn offer_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), notify_publish::OfferChangeError> {
        self.change_types(added, removed).await
    }
}

impl cos::ProxyConsumer for Consumer {
    async fn my_type(&self) -> Result<ProxyType, SystemException> {
        Ok(self.0.place().proxy_type())
    }

    async fn my_admin(&self) -> Result<Option<SupplierAdminRef>, SystemException> {
        Ok(Some(self.0.admin.reference()?))
    }

    async fn obtain_subscription_types(
        &self,
        mode: ObtainInfoMode,
    ) -> Result<Vec<EventType>, SystemException> {
        let types = self.0.channel.types(Told::Subscriptions);
        Ok(self.0.informer.obtain(mode, types))
    }

    async fn validate_event_qos(
        &self,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, cos::proxy_consumer::ValidateEventQosError> {
        Ok(self.validate_event(required_qos)?)
    }
}

impl plain_comm::PushConsumer for Consumer {
    async fn push(&self, data: &Any) -> Result<(), push_consumer::PushError> {
        self.accept(vec![Body::Any(data.clone())]).await
    }

    async fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl plain::ProxyPushConsumer for Consumer {
    async fn connect_push_supplier(
        &self,
        push_supplier: Option<plain_comm::PushSupplierRef>,
    ) -> Result<(), plain::proxy_push_consumer::ConnectPushSupplierError> {
        Ok(self.connect_caller(push_supplier).await??)
    }
}

impl typed_plain_comm::TypedPushConsumer for Consumer {
    async fn get_typed_consumer(&self) -> Result<Option<ObjectRef>, SystemException> {
        let channel = &self.0.channel;
        let id = channel.object_id(&typed_part(self.0.number));
        Ok(Some(channel.context.poa.id_to_reference(id)?))
    }
}

impl typed_plain::TypedProxyPushConsumer for Consumer {}
impl typed_comm::TypedPushConsumer for Consumer {}

impl plain_comm::PullConsumer for Consumer {
    async fn disconnect_pull_consumer(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl plain::ProxyPullConsumer for Consumer {
    async fn connect_pull_supplier(
        &self,
        pull_supplier: Option<PullSupplierRef>,
    ) -> Result<(), plain::proxy_pull_consumer::ConnectPullSupplierError> {
        Ok(self.connect(pull_supplier).await??)
    }
}

impl comm::PushConsumer for Consumer {}
impl comm::PullConsumer for Consumer {}

impl comm::StructuredPushConsumer for Consumer {
    async fn push_structured_event(
        &self,
        notification: &StructuredEvent,
    ) -> Result<(), structured_push_consumer::PushStructuredEventError> {
        self.accept(vec![Body::Structured(notification.clone())])
            .await
    }

    async fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl comm::SequencePushConsumer for Consumer {
    async fn push_structured_events(
        &self,
        notifications: &[StructuredEvent],
    ) -> Result<(), sequence_push_consumer::PushStructuredEventsError> {
        let bodies = notifications.iter().cloned().map(Body::Structured);
        self.accept(bodies.collect()).await
    }

    async fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl comm::StructuredPullConsumer for Consumer {
    async fn disconnect_structured_pull_consumer(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl comm::SequencePullConsumer for Consumer {
    async fn disconnect_sequence_pull_consumer(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

macro_rules! pushed {
    ($interface:ident, $module:ident, $connect:ident, $peer:ty, $error:ident) => {
        impl cos::$interface for Consumer {
            async fn $connect(&self, peer: Option<$peer>) -> Result<(), cos::$module::$error> {
                Ok(self.connect_caller(peer).await??)
            }
        }
    };
}
impl typed::TypedProxyPushConsumer for Consumer {
    async fn connect_typed_push_supplier(
        &self,
        push_supplier: Option<plain_comm::PushSupplierRef>,
    ) -> Result<(), typed::typed_proxy_push_consumer::ConnectTypedPushSupplierError> {
        Ok(self.connect_caller(push_supplier).await??)
    }
}

pushed!(
    ProxyPushConsumer,
    proxy_push_consumer,
    connect_any_push_supplier,
    plain_comm::PushSupplierRef,
    ConnectAnyPushSupplierError
);
pushed!(
    StructuredProxyPushConsumer,
    structured_proxy_push_consumer,
    connect_structured_push_supplier,
    comm::StructuredPushSupplierRef,
    ConnectStructuredPushSupplierError
);
pushed!(
    SequenceProxyPushConsumer,
    sequence_proxy_push_consumer,
    connect_sequence_push_supplier,
    comm::SequencePushSupplierRef,
    ConnectSequencePushSupplierError
);

macro_rules! pulling {
    ($interface:ident, $module:ident, $connect:ident, $peer:ty, $error:ident) => {
        impl cos::$interface for Consumer {
            async fn $connect(&self, peer: Option<$peer>) -> Result<(), cos::$module::$error> {
                Ok(self.connect(peer).await??)
            }

            async fn suspend_connection(&self) -> Result<(), cos::$module::SuspendConnectionError> {
                self.set_suspended(
                    self.0.check_connected().is_ok(),
                    true,
                    ConnectionAlreadyInactive {}.into(),
                )
                .await
            }

            async fn resume_connection(&self) -> Result<(), cos::$module::ResumeConnectionError> {
                self.set_suspended(
                    self.0.check_connected().is_ok(),
                    false,
                    ConnectionAlreadyActive {}.into(),
                )
                .await
            }
        }
    };
}
pulling!(
    ProxyPullConsumer,
    proxy_pull_consumer,
    connect_any_pull_supplier,
    PullSupplierRef,
    ConnectAnyPullSupplierError
);
pulling!(
    StructuredProxyPullConsumer,
    structured_proxy_pull_consumer,
    connect_structured_pull_supplier,
    StructuredPullSupplierRef,
    ConnectStructuredPullSupplierError
);
pulling!(
    SequenceProxyPullConsumer,
    sequence_proxy_pull_consumer,
    connect_sequence_pull_supplier,
    SequencePullSupplierRef,
    ConnectSequencePullSupplierError
);
