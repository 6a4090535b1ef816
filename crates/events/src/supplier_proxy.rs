//! The proxies that consumers have: of a supplier that pushes to them, or that they pull from.

use crate::admin::Admin;
use crate::channel::{Channel, Connection, Counted, Form, Idle, Place, Proxy};
use crate::consumer_proxy::stored_row;
use crate::cos_event_channel_admin::{self as plain, AlreadyConnected, TypeError};
use crate::cos_event_comm::{self as plain_comm, Disconnected, PushConsumerRef, push_consumer};
use crate::cos_notification::{EventType, NamedPropertyRange, Property, StructuredEvent};
use crate::cos_notify_channel_admin::{
    self as cos, ConnectionAlreadyActive, ConnectionAlreadyInactive, ConsumerAdminRef,
    ObtainInfoMode, ProxyType,
};
use crate::cos_notify_comm::{
    self as comm, SequencePushConsumerRef, StructuredPushConsumerRef, notify_subscribe,
    sequence_pull_supplier, sequence_push_consumer, structured_pull_supplier,
    structured_push_consumer,
};
use crate::cos_notify_filter::MappingFilterRef;
use crate::cos_typed_event_comm::TypedPushConsumerRef;
use crate::cos_typed_notify_channel_admin as typed;
use crate::counters::add;
use crate::etcl::Budget;
use crate::event::Event;
use crate::informer::{Informer, Told};
use crate::node::{Node, Target, mapping_reference};
use crate::qos::{Level, Qos};
use crate::queue::{Entry, Queue};
use crate::stored;
use crate::typed::TypedInterface;
use crate::types::{Changes, EventTypes};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use zorb::{
    Any, CompletionStatus, Interface, ObjectRef, RequestError, SyncScope, SystemException,
    SystemExceptionKind, TcKind,
};

/// How long a consumer may take for an event.
pub(crate) const PUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a peer may take to be told that it is disconnected.
pub(crate) const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Failures one after the other after which a consumer that is not kept is evicted, and a supplier that is pulled.
pub(crate) const MAX_FAILURES: u32 = 5;
/// The pause after a failure. Each further one doubles it, up to the longest.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(100);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Events of a sequence, whatever MaximumBatchSize says and a client asks for.
pub(crate) const MAX_BATCH: usize = 1_000;
/// Octets of a sequence with more than one event.
pub(crate) const MAX_BATCH_OCTETS: usize = 4 * 1024 * 1024;

pub(crate) struct SupplierProxy {
    pub(crate) channel: Arc<Channel>,
    pub(crate) admin: Arc<Admin>,
    pub(crate) number: u32,
    pub(crate) is_push: bool,
    pub(crate) form: Form,
    /// The interface of a typed one.
    interface: Option<Arc<TypedInterface>>,
    pub(crate) node: Node,
    pub(crate) queue: Queue,
    connection: Mutex<Connection>,
    /// Whether deliveries wait.
    is_suspended: watch::Sender<bool>,
    informer: Arc<Informer>,
    counted: Counted,
    /// What was pulled and is not known to have arrived: the next pull says so.
    pulled: Mutex<Vec<Entry>>,
    /// When the client has last called.
    used: Mutex<Instant>,
}

/// With what an event goes to a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    priority: i16,
    expires: Option<i64>,
    starts: Option<i64>,
}

/// Why a delivery failed.
enum Failed {
    /// The consumer says that it is gone.
    Gone,
    /// Perhaps it works later.
    Now(SystemException),
}

impl From<SystemException> for Failed {
    fn from(exception: SystemException) -> Self {
        match exception.kind {
            SystemExceptionKind::ObjectNotExist | SystemExceptionKind::InvObjref => Self::Gone,
            _ => Self::Now(exception),
        }
    }
}

macro_rules! failed {
    ($($module:ident::$error:ident),*) => { $(
        impl From<$module::$error> for Failed {
            fn from(error: $module::$error) -> Self {
                match error {
                    $module::$error::Disconnected(_) => Self::Gone,
                    $module::$error::System(exception) => exception.into(),
                }
            }
        }
    )* };
}
failed!(
    push_consumer::PushError,
    structured_push_consumer::PushStructuredEventError,
    sequence_push_consumer::PushStructuredEventsError
);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pause after so many failures, one after the other.
pub(crate) fn pause(failures: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}

impl SupplierProxy {
    pub(crate) fn new(
        admin: &Arc<Admin>,
        number: u32,
        is_push: bool,
        form: Form,
        interface: Option<Arc<TypedInterface>>,
    ) -> Arc<Self> {
        let channel = &admin.channel;
        let qos = admin.node.get().qos.clone();
        let policy = qos.policy(&channel.admin_properties(), channel.context.ability());
        Arc::new(Self {
            channel: Arc::clone(channel),
            admin: Arc::clone(admin),
            number,
            is_push,
            form,
            interface,
            node: Node::new(qos, EventTypes::all()),
            queue: Queue::new(policy),
            connection: Mutex::new(Connection::Not),
            is_suspended: watch::channel(false).0,
            informer: Informer::new(Told::Offers),
            counted: Counted::default(),
            pulled: Mutex::new(Vec::new()),
            used: Mutex::new(Instant::now()),
        })
    }

    /// Whether its connection survives a crash.
    pub(crate) fn is_kept(&self) -> bool {
        self.channel.context.journal.is_some() && self.node.get().qos.has_kept_connection()
    }

    /// Whether it gets all events, as they are.
    pub(crate) fn is_open(&self) -> bool {
        self.interface.is_none() && self.node.is_open() && self.admin.node.is_open()
    }

    /// With what an event goes to the consumer; `None` if it does not. Filters take no more steps than one constraint alone may.
    pub(crate) fn verdict(&self, event: &Event) -> Option<Verdict> {
        let own = self.node.get();
        let mut priority = event.qos.priority.unwrap_or_else(|| own.qos.priority());
        let mut lifetime = event.qos.timeout;
        if !self.is_open() {
            let admin = self.admin.node.get();
            let budget = Budget::default();
            let ty = event.event_type();
            if !(own.types.matches(ty) && admin.types.matches(ty)) {
                return None;
            }
            if let Some(interface) = &self.interface {
                interface.call(event.call()?)?;
            }
            let passes = match self.admin.is_or {
                true => own.passes(event, &budget) || admin.passes(event, &budget),
                false => own.passes(event, &budget) && admin.passes(event, &budget),
            };
            if !passes {
                return None;
            }
            // A value by default is not as much as what the header says.
            if let Some(filter) = own.priority().or_else(|| admin.priority()) {
                let (is_met, value) = filter.map(event, &budget);
                if let (Ok(value), true) = (
                    value.extract::<i16>(),
                    is_met || event.qos.priority.is_none(),
                ) {
                    priority = value;
                }
            }
            if let Some(filter) = own.lifetime().or_else(|| admin.lifetime()) {
                let (is_met, value) = filter.map(event, &budget);
                if let (Ok(value), true) = (value.extract::<u64>(), is_met || lifetime.is_none()) {
                    lifetime = Some(i64::try_from(value).unwrap_or(i64::MAX));
                }
            }
        }
        let lifetime = lifetime.unwrap_or_else(|| own.qos.timeout());
        Some(Verdict {
            priority,
            expires: event.expires(Some(lifetime)),
            starts: event.qos.start.filter(|_| own.qos.has_start_times()),
        })
    }

    /// Gives an event to the consumer, or notes that it is none for it.
    pub(crate) fn offer(
        &self,
        number: u64,
        event: &Arc<Event>,
        verdict: Option<Verdict>,
        is_again: bool,
    ) {
        let Some(verdict) = verdict else {
            self.queue.skip(number);
            self.moved();
            return;
        };
        let discarded = self.queue.offer(Entry {
            number,
            event: Arc::clone(event),
            priority: verdict.priority,
            expires: verdict.expires,
            starts: verdict.starts,
            is_again,
        });
        self.discarded(discarded);
    }

    fn discarded(&self, discarded: usize) {
        if discarded > 0 {
            add(&self.channel.context.counts.discarded, discarded);
            self.moved();
        }
    }

    /// Goes by what its properties are.
    pub(crate) fn apply(&self) {
        let state = self.node.get();
        let properties = self.channel.admin_properties();
        let policy = state
            .qos
            .policy(&properties, self.channel.context.ability());
        self.discarded(self.queue.set_policy(policy));
        self.is_suspended.send_replace(state.is_suspended);
        if self.form.is_notification() && matches!(*locked(&self.connection), Connection::To(_)) {
            let types = state.types.keys();
            self.channel
                .count(Told::Subscriptions, &self.counted, types);
        }
    }

    /// Connects to a peer, and stores that.
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
        let last = self.channel.add_consumer(self.number, Arc::clone(self));
        if let Err(exception) = self.store(Some(last)).await {
            self.channel.drop_consumer(self.number);
            let mut connection = locked(&self.connection);
            if matches!(*connection, Connection::To(_)) {
                *connection = Connection::Not;
            }
            return Err(exception);
        }
        self.apply();
        self.start(peer);
        Ok(Ok(()))
    }

    /// Goes on as in an earlier run.
    pub(crate) fn resume(self: &Arc<Self>, peer: Option<ObjectRef>) {
        *locked(&self.connection) = Connection::To(peer.clone());
        self.channel.add_consumer(self.number, Arc::clone(self));
        self.apply();
        self.start(peer);
    }

    /// Stores the proxy as it is; with where it begins when it is connected.
    pub(crate) async fn store(&self, progress: Option<u64>) -> Result<(), SystemException> {
        if !self.is_kept() {
            self.channel.remove_row(self.number).await;
            return Ok(());
        }
        let connection = locked(&self.connection).clone();
        let row = stored_row(
            self.interface.as_deref(),
            stored::Proxy {
                is_supplier: true,
                is_push: self.is_push,
                form: self.form as u8,
                admin: self.admin.number,
                is_connected: matches!(connection, Connection::To(_)),
                common: self.node.stored(),
            },
        );
        // One that is connected has a place to go on from.
        let progress = match connection {
            Connection::To(_) => progress.or_else(|| Some(self.queue.progress())),
            _ => None,
        };
        self.channel
            .store(self.number, &row, connection.peer(), progress)
            .await
    }

    fn start(self: &Arc<Self>, peer: Option<ObjectRef>) {
        if let (true, Some(peer)) = (self.is_push, peer) {
            let deliveries = &self.channel.context.deliveries;
            deliveries.start(&peer.clone(), Arc::clone(self).deliver(peer));
        }
    }

    /// Notes how far the consumer is.
    fn moved(&self) {
        if let (Some(journal), true) = (&self.channel.context.journal, self.is_kept()) {
            journal.moved(self.channel.id, self.number, self.queue.progress());
        }
    }

    fn done(&self, entries: &[Entry], expired: usize) {
        self.queue.done(entries);
        let counts = &self.channel.context.counts;
        add(&counts.delivered, entries.len());
        add(&counts.expired, expired);
        let again = entries.iter().filter(|entry| entry.is_again).count();
        add(&counts.redelivered, again);
        self.moved();
    }

    /// Takes the events of the next delivery; `None` when the proxy is disconnected. A sequence is waited for as long as
    /// PacingInterval says.
    async fn next_events(&self) -> Option<(Vec<Entry>, usize)> {
        let mut suspended = self.is_suspended.subscribe();
        loop {
            suspended
                .wait_for(|is_suspended| !is_suspended)
                .await
                .ok()?;
            let qos = self.node.get().qos.clone();
            let size = match self.form {
                Form::Sequence => qos.batch().min(MAX_BATCH),
                _ => 1,
            };
            let (mut entries, mut expired) = self.queue.next(size, MAX_BATCH_OCTETS).await?;
            if size > 1 && !qos.pacing().is_zero() && !entries.is_empty() {
                let mut octets = octets_of(&entries);
                let until = tokio::time::Instant::now() + qos.pacing().min(LONGEST_PACING);
                while entries.len() < size && octets < MAX_BATCH_OCTETS {
                    let left = size.saturating_sub(entries.len());
                    let room = MAX_BATCH_OCTETS.saturating_sub(octets);
                    let more = tokio::time::timeout_at(until, self.queue.next(left, room)).await;
                    let Ok(Some((more, over))) = more else { break };
                    octets = octets.saturating_add(octets_of(&more));
                    entries.extend(more);
                    expired = expired.saturating_add(over);
                }
            }
            if *suspended.borrow() && !entries.is_empty() {
                add(&self.channel.context.counts.expired, expired);
                self.discarded(self.queue.put_back(entries));
                continue;
            }
            return Some((entries, expired));
        }
    }

    /// The object of a typed consumer that is called, or why there is none.
    async fn typed_consumer(&self, peer: &ObjectRef) -> Result<ObjectRef, SystemException> {
        let peer: TypedPushConsumerRef = peer.unchecked_narrow();
        let target = peer.get_typed_consumer().await?;
        let target = target.ok_or(SystemExceptionKind::InvObjref)?;
        Ok(target
            .with_round_trip_timeout(PUSH_TIMEOUT)
            // A one-way call is answered, too: an event that is lost on the way is tried again.
            .with_sync_scope(SyncScope::WithTarget))
    }

    /// Calls the operations that events are.
    async fn call(
        &self,
        interface: &TypedInterface,
        target: &ObjectRef,
        entries: &[Entry],
    ) -> Result<(), Failed> {
        for entry in entries {
            // A queue has nothing else.
            let Some((operation, arguments)) = entry.event.call().and_then(|it| interface.call(it))
            else {
                continue;
            };
            let signature = &operation.signature;
            let request = signature.request(target, &arguments)?;
            match signature.is_oneway {
                true => request.send().await?,
                false => {
                    let called = request.invoke().await.map_err(|error| match error {
                        RequestError::System(exception) => exception,
                        error => error.into(),
                    });
                    called?;
                }
            }
        }
        Ok(())
    }

    async fn push(
        &self,
        peer: &ObjectRef,
        target: &mut Option<ObjectRef>,
        entries: &[Entry],
    ) -> Result<(), Failed> {
        if let Some(interface) = &self.interface {
            let target = match target {
                Some(target) => target,
                None => {
                    let found = self.typed_consumer(peer).await.map_err(|mut exception| {
                        // No event was under way.
                        exception.completed = CompletionStatus::No;
                        exception
                    });
                    target.insert(found?)
                }
            };
            return self.call(interface, target, entries).await;
        }
        match self.form {
            Form::Plain | Form::Any | Form::PlainTyped | Form::Typed => {
                let peer: PushConsumerRef = peer.unchecked_narrow();
                for entry in entries {
                    peer.push(entry.event.plain()).await?;
                }
            }
            Form::Structured => {
                let peer: StructuredPushConsumerRef = peer.unchecked_narrow();
                for entry in entries {
                    peer.push_structured_event(entry.event.structured()).await?;
                }
            }
            Form::Sequence if entries.is_empty() => {}
            Form::Sequence => {
                let peer: SequencePushConsumerRef = peer.unchecked_narrow();
                let events = entries.iter().map(|entry| entry.event.structured().clone());
                let events: Vec<_> = events.collect();
                peer.push_structured_events(&events).await?;
            }
        }
        Ok(())
    }

    /// Pushes events to a consumer until one of the two is gone.
    async fn deliver(self: Arc<Self>, peer: ObjectRef) {
        let peer = peer.with_round_trip_timeout(PUSH_TIMEOUT);
        let counts = &self.channel.context.counts;
        let mut failures: u32 = 0;
        let mut failing_since = None;
        let mut target = None;
        while let Some((mut entries, expired)) = self.next_events().await {
            match self.push(&peer, &mut target, &entries).await {
                Ok(()) => {
                    failures = 0;
                    failing_since = None;
                    self.done(&entries, expired);
                }
                Err(Failed::Gone) => {
                    self.disconnect(false);
                    return;
                }
                Err(Failed::Now(exception)) => {
                    // It may be another one by now.
                    target = None;
                    failures = failures.saturating_add(1);
                    let since = *failing_since.get_or_insert_with(Instant::now);
                    tracing::info!(%exception, failures, "a consumer does not take an event");
                    let is_unknown = exception.completed != CompletionStatus::No;
                    if is_unknown && !self.is_kept() {
                        // At most once: it may have got them.
                        self.queue.done(&entries);
                        add(&counts.unconfirmed, entries.len());
                    } else {
                        for entry in &mut entries {
                            entry.is_again |= is_unknown;
                        }
                        let discarded = self.queue.put_back(entries);
                        add(&counts.discarded, discarded);
                    }
                    let is_over = match self.is_kept() {
                        true => since.elapsed() >= self.channel.context.settings.unreachable_for,
                        false => failures >= MAX_FAILURES,
                    };
                    if is_over {
                        tracing::warn!(%exception, "a consumer is evicted");
                        add(&counts.evicted, 1);
                        self.disconnect(true);
                        return;
                    }
                    tokio::time::sleep(pause(failures)).await;
                }
            }
        }
    }

    /// The exception for a proxy that is not connected.
    fn check_connected(&self) -> Result<(), Disconnected> {
        match *locked(&self.connection) {
            Connection::To(_) => Ok(()),
            _ => Err(Disconnected {}),
        }
    }

    /// What was pulled before has arrived: the client asks for more.
    fn confirm_pulled(&self) {
        *locked(&self.used) = Instant::now();
        let entries = std::mem::take(&mut *locked(&self.pulled));
        if !entries.is_empty() {
            self.queue.done(&entries);
            self.moved();
        }
    }

    fn hand_out(&self, entries: &[Entry], expired: usize) {
        let counts = &self.channel.context.counts;
        add(&counts.delivered, entries.len());
        add(&counts.expired, expired);
        let again = entries.iter().filter(|entry| entry.is_again).count();
        add(&counts.redelivered, again);
        locked(&self.pulled).extend_from_slice(entries);
    }

    /// Takes events, waiting for the first; `None` when the proxy is disconnected.
    pub(crate) async fn pull_entries(&self, max: usize) -> Result<Vec<Arc<Event>>, Disconnected> {
        self.check_connected()?;
        self.confirm_pulled();
        loop {
            let (entries, expired) = self
                .queue
                .next(max, MAX_BATCH_OCTETS)
                .await
                .ok_or(Disconnected {})?;
            *locked(&self.used) = Instant::now();
            self.hand_out(&entries, expired);
            if !entries.is_empty() {
                return Ok(entries.into_iter().map(|entry| entry.event).collect());
            }
        }
    }

    /// Takes events that are there.
    pub(crate) fn try_pull_entries(&self, max: usize) -> Result<Vec<Arc<Event>>, Disconnected> {
        self.check_connected()?;
        self.confirm_pulled();
        let (entries, expired) = self.queue.take(max, MAX_BATCH_OCTETS);
        self.hand_out(&entries, expired);
        Ok(entries.into_iter().map(|entry| entry.event).collect())
    }
}

/// How long a sequence is waited for at most.
const LONGEST_PACING: Duration = Duration::from_secs(24 * 60 * 60);

fn octets_of(entries: &[Entry]) -> usize {
    let octets = entries.iter().map(|entry| entry.event.octets);
    octets.fold(0, usize::saturating_add)
}

/// The operation by which a consumer hears that it is disconnected.
fn disconnecting(form: Form, is_push: bool) -> &'static str {
    match (form, is_push) {
        (Form::Plain | Form::Any | Form::PlainTyped | Form::Typed, true) => {
            "disconnect_push_consumer"
        }
        (Form::Plain | Form::Any | Form::PlainTyped | Form::Typed, false) => {
            "disconnect_pull_consumer"
        }
        (Form::Structured, true) => "disconnect_structured_push_consumer",
        (Form::Structured, false) => "disconnect_structured_pull_consumer",
        (Form::Sequence, true) => "disconnect_sequence_push_consumer",
        (Form::Sequence, false) => "disconnect_sequence_pull_consumer",
    }
}

impl Proxy for SupplierProxy {
    fn disconnect(self: Arc<Self>, is_peer_told: bool) {
        let before = std::mem::replace(&mut *locked(&self.connection), Connection::Over);
        if matches!(before, Connection::Over) {
            return;
        }
        self.confirm_pulled();
        self.stop();
        self.channel
            .count(Told::Subscriptions, &self.counted, BTreeSet::new());
        let peer = match before {
            Connection::To(peer) if is_peer_told => peer,
            _ => None,
        };
        let operation = disconnecting(self.form, self.is_push);
        self.channel.end_proxy(self.number, async move {
            let Some(peer) = peer else { return };
            let peer = peer.with_round_trip_timeout(DISCONNECT_TIMEOUT);
            let told = peer.invoke::<_, (), SystemException>(operation, ()).await;
            if let Err(exception) = told {
                tracing::debug!(%exception, "a consumer is not told that it is disconnected");
            }
        });
    }

    fn stop(&self) {
        self.queue.close();
        self.is_suspended.send_replace(false);
    }

    fn idle(&self) -> Idle {
        let used = *locked(&self.used);
        match (&*locked(&self.connection), self.is_push) {
            (Connection::Not, _) => Idle::Unconnected(used),
            // A pull that waits is the client's last word for as long as it waits.
            (Connection::To(_), false) if !self.queue.is_awaited() => Idle::Unpulled(used),
            _ => Idle::Not,
        }
    }

    fn place(&self) -> Place {
        Place {
            is_supplier: true,
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
pub(crate) struct Supplier(pub(crate) Arc<SupplierProxy>);

impl Target for Supplier {
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
        self.0.store(None).await
    }
}

impl Supplier {
    fn disconnect(&self) {
        Arc::clone(&self.0).disconnect(true);
    }

    /// Connects to a peer that is called.
    async fn connect_to<T: Interface, E>(&self, peer: Option<T>) -> Result<(), E>
    where
        E: From<AlreadyConnected> + From<SystemException>,
    {
        let peer = peer.ok_or_else(|| SystemException::from(SystemExceptionKind::BadParam))?;
        Ok(self.0.connect(Some(peer.as_object().clone())).await??)
    }

    /// Connects to a typed consumer, if it gives an object of the interface.
    async fn connect_typed<E>(&self, peer: Option<TypedPushConsumerRef>) -> Result<(), E>
    where
        E: From<AlreadyConnected> + From<TypeError> + From<SystemException>,
    {
        let peer = peer.ok_or_else(|| SystemException::from(SystemExceptionKind::BadParam))?;
        let peer = peer.as_object();
        if let Some(interface) = &self.0.interface {
            let asked = peer.with_round_trip_timeout(PUSH_TIMEOUT);
            let is_typed = match self.0.typed_consumer(&asked).await {
                Ok(target) => target.is_a(&interface.id).await?,
                Err(exception) => match exception.kind {
                    // It has no such operation, or no such object.
                    SystemExceptionKind::BadOperation | SystemExceptionKind::InvObjref => false,
                    _ => return Err(exception.into()),
                },
            };
            if !is_typed {
                return Err(TypeError {}.into());
            }
        }
        Ok(self.0.connect(Some(peer.clone())).await??)
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
}

/// How many events a client asks for.
fn batch(max_number: i32) -> Result<usize, SystemException> {
    match usize::try_from(max_number) {
        Ok(max) if max > 0 => Ok(max.min(MAX_BATCH)),
        _ => Err(SystemExceptionKind::BadParam.into()),
    }
}

fn structured(events: &[Arc<Event>]) -> Vec<StructuredEvent> {
    let events = events.iter().map(|event| event.structured().clone());
    events.collect()
}

/// An event for a client that there is none for.
fn no_event() -> StructuredEvent {
    use crate::cos_notification::{EventHeader, FixedEventHeader};
    StructuredEvent {
        header: EventHeader {
            fixed_header: FixedEventHeader {
                event_type: EventType {
                    domain_name: String::new(),
                    type_name: String::new(),
                },
                event_name: String::new(),
            },
            variable_header: Vec::new(),
        },
        filterable_data: Vec::new(),
        remainder_of_body: Any::default(),
    }
}

impl comm::NotifySubscribe for Supplier {
    async fn subscription_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), notify_subscribe::SubscriptionChangeError> {
        self.change_types(added, removed).await
    }
}

impl cos::ProxySupplier for Supplier {
    async fn my_type(&self) -> Result<ProxyType, SystemException> {
        Ok(self.0.place().proxy_type())
    }

    async fn my_admin(&self) -> Result<Option<ConsumerAdminRef>, SystemException> {
        Ok(Some(self.0.admin.reference()?))
    }

    async fn priority_filter(&self) -> Result<Option<MappingFilterRef>, SystemException> {
        mapping_reference(self.0.node.get().priority())
    }

    async fn set_priority_filter(
        &self,
        value: Option<MappingFilterRef>,
    ) -> Result<(), SystemException> {
        let set = |state: &mut crate::node::Common, filter| state.priority = filter;
        self.map_by(value, TcKind::Short, set).await
    }

    async fn lifetime_filter(&self) -> Result<Option<MappingFilterRef>, SystemException> {
        mapping_reference(self.0.node.get().lifetime())
    }

    async fn set_lifetime_filter(
        &self,
        value: Option<MappingFilterRef>,
    ) -> Result<(), SystemException> {
        let set = |state: &mut crate::node::Common, filter| state.lifetime = filter;
        self.map_by(value, TcKind::ULongLong, set).await
    }

    async fn obtain_offered_types(
        &self,
        mode: ObtainInfoMode,
    ) -> Result<Vec<EventType>, SystemException> {
        Ok(self
            .0
            .informer
            .obtain(mode, self.0.channel.types(Told::Offers)))
    }

    async fn validate_event_qos(
        &self,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, cos::proxy_supplier::ValidateEventQosError> {
        Ok(self.validate_event(required_qos)?)
    }
}

impl plain_comm::PushSupplier for Supplier {
    async fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl plain::ProxyPushSupplier for Supplier {
    async fn connect_push_consumer(
        &self,
        push_consumer: Option<PushConsumerRef>,
    ) -> Result<(), plain::proxy_push_supplier::ConnectPushConsumerError> {
        let peer = push_consumer.map(|peer| peer.as_object().unchecked_narrow());
        self.connect_typed(peer).await
    }
}

impl plain_comm::PullSupplier for Supplier {
    async fn pull(&self) -> Result<Any, plain_comm::pull_supplier::PullError> {
        let events = self.0.pull_entries(1).await?;
        let event = events.first().ok_or(Disconnected {})?;
        Ok(event.plain().clone())
    }

    async fn try_pull(&self) -> Result<(Any, bool), plain_comm::pull_supplier::TryPullError> {
        let events = self.0.try_pull_entries(1)?;
        Ok(match events.first() {
            Some(event) => (event.plain().clone(), true),
            None => (Any::default(), false),
        })
    }

    async fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl plain::ProxyPullSupplier for Supplier {
    async fn connect_pull_consumer(
        &self,
        pull_consumer: Option<plain_comm::PullConsumerRef>,
    ) -> Result<(), plain::proxy_pull_supplier::ConnectPullConsumerError> {
        Ok(self.connect_caller(pull_consumer).await??)
    }
}

impl comm::PushSupplier for Supplier {}
impl comm::PullSupplier for Supplier {}

impl comm::StructuredPushSupplier for Supplier {
    async fn disconnect_structured_push_supplier(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl comm::SequencePushSupplier for Supplier {
    async fn disconnect_sequence_push_supplier(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl comm::StructuredPullSupplier for Supplier {
    async fn pull_structured_event(
        &self,
    ) -> Result<StructuredEvent, structured_pull_supplier::PullStructuredEventError> {
        let events = self.0.pull_entries(1).await?;
        let event = events.first().ok_or(Disconnected {})?;
        Ok(event.structured().clone())
    }

    async fn try_pull_structured_event(
        &self,
    ) -> Result<(StructuredEvent, bool), structured_pull_supplier::TryPullStructuredEventError>
    {
        let events = self.0.try_pull_entries(1)?;
        Ok(match events.first() {
            Some(event) => (event.structured().clone(), true),
            None => (no_event(), false),
        })
    }

    async fn disconnect_structured_pull_supplier(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

impl comm::SequencePullSupplier for Supplier {
    async fn pull_structured_events(
        &self,
        max_number: i32,
    ) -> Result<Vec<StructuredEvent>, sequence_pull_supplier::PullStructuredEventsError> {
        let events = self.0.pull_entries(batch(max_number)?).await?;
        Ok(structured(&events))
    }

    async fn try_pull_structured_events(
        &self,
        max_number: i32,
    ) -> Result<(Vec<StructuredEvent>, bool), sequence_pull_supplier::TryPullStructuredEventsError>
    {
        let events = self.0.try_pull_entries(batch(max_number)?)?;
        let has_event = !events.is_empty();
        Ok((structured(&events), has_event))
    }

    async fn disconnect_sequence_pull_supplier(&self) -> Result<(), SystemException> {
        self.disconnect();
        Ok(())
    }
}

macro_rules! pushing {
    ($interface:ident, $module:ident, $connect:ident, $peer:ty, $error:ident) => {
        pushing!(
            cos, connect_to, $interface, $module, $connect, $peer, $error
        );
    };
    ($in:ident, $to:ident, $interface:ident, $module:ident, $connect:ident, $peer:ty, $error:ident) => {
        impl $in::$interface for Supplier {
            async fn $connect(&self, peer: Option<$peer>) -> Result<(), $in::$module::$error> {
                self.$to(peer).await
            }

            async fn suspend_connection(&self) -> Result<(), $in::$module::SuspendConnectionError> {
                self.set_suspended(
                    self.0.check_connected().is_ok(),
                    true,
                    ConnectionAlreadyInactive {}.into(),
                )
                .await
            }

            async fn resume_connection(&self) -> Result<(), $in::$module::ResumeConnectionError> {
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
pushing!(
    typed,
    connect_typed,
    TypedProxyPushSupplier,
    typed_proxy_push_supplier,
    connect_typed_push_consumer,
    TypedPushConsumerRef,
    ConnectTypedPushConsumerError
);
pushing!(
    ProxyPushSupplier,
    proxy_push_supplier,
    connect_any_push_consumer,
    PushConsumerRef,
    ConnectAnyPushConsumerError
);
pushing!(
    StructuredProxyPushSupplier,
    structured_proxy_push_supplier,
    connect_structured_push_consumer,
    StructuredPushConsumerRef,
    ConnectStructuredPushConsumerError
);
pushing!(
    SequenceProxyPushSupplier,
    sequence_proxy_push_supplier,
    connect_sequence_push_consumer,
    SequencePushConsumerRef,
    ConnectSequencePushConsumerError
);

macro_rules! pulled {
    ($interface:ident, $module:ident, $connect:ident, $peer:ty, $error:ident) => {
        impl cos::$interface for Supplier {
            async fn $connect(&self, peer: Option<$peer>) -> Result<(), cos::$module::$error> {
                Ok(self.connect_caller(peer).await??)
            }
        }
    };
}
pulled!(
    ProxyPullSupplier,
    proxy_pull_supplier,
    connect_any_pull_consumer,
    plain_comm::PullConsumerRef,
    ConnectAnyPullConsumerError
);
pulled!(
    StructuredProxyPullSupplier,
    structured_proxy_pull_supplier,
    connect_structured_pull_consumer,
    comm::StructuredPullConsumerRef,
    ConnectStructuredPullConsumerError
);
pulled!(
    SequenceProxyPullSupplier,
    sequence_proxy_pull_supplier,
    connect_sequence_pull_consumer,
    comm::SequencePullConsumerRef,
    ConnectSequencePullConsumerError
);
