//! The service as an application starts it.

use crate::channel::{Channel, Form, read_channel, read_row};
use crate::consumer_proxy::ConsumerProxy;
use crate::cos_event_channel_admin::EventChannelRef;
use crate::cos_notify_channel_admin::{
    self as notify, EventChannelFactoryServant as NotificationServant,
};
use crate::cos_notify_filter::{FilterRef, MappingFilterRef};
use crate::cos_typed_notify_channel_admin as typed;
use crate::counters::{Counters, Counts};
use crate::deliveries::Deliveries;
use crate::event::Event;
use crate::factory::Factory;
use crate::filter::{Filter, MappingFilter};
use crate::journal::{FLUSHED_EVERY, Journal, Kept};
use crate::omni_events::{EventChannelFactoryRef, EventChannelFactoryServant};
use crate::qos::{Ability, AdminProperties, Qos};
use crate::stored::{self, Row};
use crate::supplier_proxy::{MAX_BATCH, SupplierProxy};
use crate::typed::{Interfaces, TypedInterface};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use zorb::{
    Error, IdAssignment, IdUniqueness, Interface, Ior, ObjectRef, Orb, Poa, Policies,
    SystemException, SystemExceptionKind,
};
use zorb_dynamic::IdlTypes;
use zorb_service::OpenError;

/// The plain key of the factory of event channels: `corbaloc::host:11169/EventService`.
pub const SERVICE_KEY: &str = "EventService";
/// The plain key of the factory of CosNotification: `corbaloc::host:11169/NotificationService`. Its channels are those of
/// [`SERVICE_KEY`], which have the interfaces of both specifications.
pub const NOTIFICATION_KEY: &str = "NotificationService";
/// The plain key of the factory of typed channels, which are those of [`NOTIFICATION_KEY`].
pub const TYPED_NOTIFICATION_KEY: &str = "TypedNotificationService";
/// The key of the same factory in omniEvents, whose tools look for it there.
pub const OMNIEVENTS_KEY: &str = "omniEvents";
/// The name and the plain key of the channel that is there from the beginning.
pub const CHANNEL_KEY: &str = "EventChannel";
/// The plain key of the same channel as one of typed events.
pub const TYPED_CHANNEL_KEY: &str = "TypedEventChannel";
/// The endpoint that clients of omniEvents expect a service at, of this host alone.
pub const DEFAULT_ENDPOINT: &str = "iiop://127.0.0.1:11169";
/// The POA of all objects, whose name is part of all references.
const POA: &str = "events";
/// Octets of the name of a channel.
pub(crate) const MAX_NAME_OCTETS: usize = 1_024;

/// The limits of a service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Channels that there may be.
    pub max_channels: usize,
    /// Proxies that a channel may have: consumers and suppliers together.
    pub max_proxies: usize,
    /// Events that wait for a consumer. Beyond it one is discarded, by the discard policy.
    pub max_events_per_consumer: usize,
    /// Octets of events that wait for a consumer.
    pub max_octets_per_consumer: usize,
    /// How long a consumer whose connection is kept in the store may be unreachable before it is disconnected, and one that pulls may
    /// not pull.
    pub unreachable_for: Duration,
    /// How long a proxy may be unconnected, and unused before another one takes its place where there are too many.
    pub idle_for: Duration,
    /// The interfaces of typed events. Without them none is supported.
    pub types: Option<Arc<IdlTypes>>,
}

impl Settings {
    /// Channels that there may be unless set.
    pub const MAX_CHANNELS: usize = 1_000;
    /// Proxies of a channel unless set.
    pub const MAX_PROXIES: usize = 10_000;
    /// Events that wait for a consumer unless set.
    pub const MAX_EVENTS_PER_CONSUMER: usize = 10_000;
    /// Octets of events that wait for a consumer unless set.
    pub const MAX_OCTETS_PER_CONSUMER: usize = 64 * 1024 * 1024;
    /// How long a kept consumer may be unreachable unless set.
    pub const UNREACHABLE_FOR: Duration = Duration::from_secs(24 * 60 * 60);
    /// How long a proxy may be unconnected unless set.
    pub const IDLE_FOR: Duration = Duration::from_secs(600);
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_channels: Self::MAX_CHANNELS,
            max_proxies: Self::MAX_PROXIES,
            max_events_per_consumer: Self::MAX_EVENTS_PER_CONSUMER,
            max_octets_per_consumer: Self::MAX_OCTETS_PER_CONSUMER,
            unreachable_for: Self::UNREACHABLE_FOR,
            idle_for: Self::IDLE_FOR,
            types: None,
        }
    }
}

/// What the channels of a service share.
pub(crate) struct Context {
    pub(crate) orb: Orb,
    pub(crate) poa: Poa,
    pub(crate) journal: Option<Journal>,
    pub(crate) settings: Settings,
    pub(crate) interfaces: Interfaces,
    pub(crate) counts: Counts,
    pub(crate) deliveries: Arc<Deliveries>,
    /// What the ids of all objects begin with, so that a reference of another store or run is to no other object.
    pub(crate) instance: String,
    channels: Mutex<Channels>,
}

#[derive(Default)]
struct Channels {
    /// Their objects own them.
    by_number: BTreeMap<u32, Weak<Channel>>,
    last: u32,
}

/// Why a channel was not made.
pub(crate) enum NotMade {
    NameInUse,
    Failed(SystemException),
}

impl<E: Into<SystemException>> From<E> for NotMade {
    fn from(exception: E) -> Self {
        Self::Failed(exception.into())
    }
}

impl Context {
    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Channel>> {
        let channels = self.channels();
        let all = channels.by_number.values();
        all.filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn find(&self, name: &str) -> Option<Arc<Channel>> {
        let mut all = self.all().into_iter();
        all.find(|channel| channel.name.as_deref() == Some(name))
    }

    pub(crate) fn find_channel(&self, id: u32) -> Option<Arc<Channel>> {
        self.channels().by_number.get(&id).and_then(Weak::upgrade)
    }

    /// The number of a channel that was just made.
    pub(crate) fn channel_id(&self, channel: &notify::EventChannelRef) -> Option<i32> {
        let channel: Arc<crate::admin::ChannelObject> =
            self.poa.reference_to_servant(channel).ok()?;
        i32::try_from(channel.0.id).ok()
    }

    /// What the service can do.
    pub(crate) fn ability(&self) -> Ability {
        Ability {
            is_durable: self.journal.is_some(),
            max_events: self.settings.max_events_per_consumer,
            max_octets: self.settings.max_octets_per_consumer,
            max_batch: i64::try_from(MAX_BATCH).unwrap_or(i64::MAX),
        }
    }

    /// The filter of a reference. Those of other programs are BAD_PARAM: a channel waits for no other one to give its events.
    pub(crate) fn served_filter(&self, filter: &FilterRef) -> Result<Arc<Filter>, SystemException> {
        let served = self.poa.reference_to_servant(filter);
        served.map_err(|_| SystemExceptionKind::BadParam.into())
    }

    pub(crate) fn served_mapping_filter(
        &self,
        filter: &MappingFilterRef,
    ) -> Result<Arc<MappingFilter>, SystemException> {
        let served = self.poa.reference_to_servant(filter);
        served.map_err(|_| SystemExceptionKind::BadParam.into())
    }

    /// The factory of CosNotification.
    pub(crate) fn notification_factory(
        &self,
    ) -> Result<notify::EventChannelFactoryRef, SystemException> {
        let id = format!("{}n", self.instance);
        Ok(self.poa.create_reference_with_id(id)?)
    }

    /// The factory of typed channels.
    pub(crate) fn typed_factory(
        &self,
    ) -> Result<typed::TypedEventChannelFactoryRef, SystemException> {
        let id = format!("{}y", self.instance);
        Ok(self.poa.create_reference_with_id(id)?)
    }

    /// Makes a channel. With a name it has that as its plain key.
    pub(crate) async fn create(
        self: &Arc<Self>,
        name: Option<String>,
        properties: Option<(Qos, AdminProperties)>,
    ) -> Result<notify::EventChannelRef, NotMade> {
        if name
            .as_ref()
            .is_some_and(|name| name.is_empty() || name.len() > MAX_NAME_OCTETS)
        {
            return Err(NotMade::NameInUse);
        }
        let (qos, admin) = properties
            .unwrap_or_else(|| (Qos::of_service(self.ability()), AdminProperties::default()));
        let channel = {
            let mut channels = self.channels();
            if channels.by_number.len() >= self.settings.max_channels {
                return Err(SystemException::from(SystemExceptionKind::NoResources).into());
            }
            channels.last = channels.last.saturating_add(1);
            let channel = Channel::new(Arc::clone(self), channels.last, name, qos, admin);
            channels
                .by_number
                .insert(channel.id, Arc::downgrade(&channel));
            channel
        };
        let made = self.make(&channel).await;
        if made.is_err() {
            self.forget(&channel);
        }
        made
    }

    async fn make(&self, channel: &Arc<Channel>) -> Result<notify::EventChannelRef, NotMade> {
        let reference = channel.activate().map_err(SystemException::from)?;
        if let Some(name) = &channel.name {
            let bound = self.orb.key_table().bind(name, &reference);
            bound.map_err(|_| NotMade::NameInUse)?;
        }
        channel.store_channel().await?;
        Ok(reference)
    }

    /// Takes a channel's objects and its key away.
    pub(crate) fn forget(&self, channel: &Channel) {
        self.channels().by_number.remove(&channel.id);
        channel.deactivate();
        if let Some(name) = &channel.name {
            let keys = self.orb.key_table();
            let is_ours = keys.find(name).is_some_and(|bound| {
                let reference = channel.reference::<notify::EventChannelRef>("e");
                reference.is_ok_and(|reference| bound == *reference.as_object())
            });
            if is_ours {
                let _ = keys.unbind(name);
            }
        }
    }

    /// Makes channels of an earlier run again, with their objects and the events that their consumers have not had.
    fn restore(self: &Arc<Self>, kept: Vec<Kept>) -> Result<(), Error> {
        let mut channels = Vec::new();
        for kept in kept {
            let Ok(stored) = read_channel(&kept.value) else {
                tracing::error!(channel = kept.number, "a stored channel is malformed");
                continue;
            };
            let name = (!stored.name.is_empty()).then_some(stored.name);
            let qos = Qos::from_stored(&stored.qos);
            let qos = qos.unwrap_or_else(|| Qos::of_service(self.ability()));
            let admin = AdminProperties::from_stored(&stored.admin).unwrap_or_default();
            let channel = Channel::new(Arc::clone(self), kept.number, name, qos, admin);
            {
                let mut channels = self.channels();
                channels.last = channels.last.max(channel.id);
                channels
                    .by_number
                    .insert(channel.id, Arc::downgrade(&channel));
            }
            let reference = channel.activate()?;
            if let Some(name) = &channel.name {
                self.orb.key_table().bind(name, &reference)?;
            }
            let last = kept.events.last().map(|(number, _)| *number);
            let progress = kept.objects.iter().filter_map(|(_, _, progress)| *progress);
            channel.go_on_behind(progress.chain(last).max().unwrap_or(0));
            let mut rows = Vec::new();
            for (number, value, progress) in kept.objects {
                match read_row(&value) {
                    Ok((row, peer)) => rows.push((number, row, peer, progress)),
                    Err(error) => {
                        tracing::error!(channel = channel.id, number, %error, "a stored object is malformed");
                    }
                }
            }
            // First: what uses them may be of another channel.
            for (number, row, _, _) in &rows {
                if let Row::OfFilter(filter) = row {
                    channel.number_is_used(*number);
                    channel.restore_filter(*number, filter)?;
                }
            }
            channels.push((channel, rows, kept.events));
        }
        for (channel, rows, events) in channels {
            Self::restore_objects(&channel, rows, events)?;
        }
        Ok(())
    }

    fn restore_objects(
        channel: &Arc<Channel>,
        rows: Vec<(u32, Row, Ior, Option<u64>)>,
        events: Vec<(u64, Vec<u8>)>,
    ) -> Result<(), Error> {
        for (number, row, _, _) in &rows {
            if let Row::OfAdmin(admin) = row {
                if *number != u32::MAX {
                    channel.number_is_used(*number);
                }
                channel.restore_admin(*number, admin)?;
            }
        }
        let mut consumers = Vec::new();
        for (number, row, peer, progress) in rows {
            let (stored, interface) = match row {
                Row::OfProxy(stored) => (stored, None),
                Row::OfTypedProxy(typed) => {
                    let id = typed.interface_id;
                    let Some(interface) = channel.context.interfaces.find(&id) else {
                        channel.number_is_used(number);
                        tracing::error!(
                            channel = channel.id,
                            number,
                            id,
                            "a stored proxy waits for a run with the IDL of its interface"
                        );
                        continue;
                    };
                    (typed.base, Some(interface))
                }
                _ => continue,
            };
            let peer = (!peer.is_nil()).then(|| channel.context.orb.object(peer));
            let consumer = Self::restore_proxy(channel, number, &stored, interface, peer.clone())?;
            if let Some(proxy) = consumer {
                consumers.push((proxy, peer, progress.unwrap_or(0)));
            }
        }
        for (number, octets) in events {
            let Some(event) = Event::from_octets(&octets, &channel.held) else {
                tracing::error!(channel = channel.id, number, "a stored event is malformed");
                continue;
            };
            let event = Arc::new(event);
            for (proxy, _, progress) in &consumers {
                if number > *progress {
                    proxy.offer(number, &event, proxy.verdict(&event), true);
                }
            }
        }
        for (proxy, peer, _) in consumers {
            proxy.resume(peer);
        }
        Ok(())
    }

    /// Makes a proxy of an earlier run again: one of a consumer that goes on when it has its events.
    fn restore_proxy(
        channel: &Arc<Channel>,
        number: u32,
        stored: &stored::Proxy,
        interface: Option<Arc<TypedInterface>>,
        peer: Option<ObjectRef>,
    ) -> Result<Option<Arc<SupplierProxy>>, Error> {
        let Some(admin) = channel.find_admin(stored.admin) else {
            tracing::error!(channel = channel.id, number, "a stored proxy has no admin");
            return Ok(None);
        };
        let form = Form::of_stored(stored.form);
        if stored.is_supplier {
            let proxy = SupplierProxy::new(&admin, number, stored.is_push, form, interface);
            proxy.node.restore(channel, &stored.common);
            proxy.apply();
            channel.activate_supplier(&proxy)?;
            return Ok(stored.is_connected.then_some(proxy));
        }
        let proxy = ConsumerProxy::new(&admin, number, stored.is_push, form, interface);
        proxy.node.restore(channel, &stored.common);
        channel.activate_consumer(&proxy)?;
        if stored.is_connected {
            proxy.resume(peer);
        }
        Ok(None)
    }
}

/// An event service of an ORB. A clone is another handle of it.
///
/// Its objects are persistent: references to them are the same octets in each run with the same store, endpoints and server id.
#[derive(Clone)]
pub struct EventService {
    context: Arc<Context>,
    factory: EventChannelFactoryRef,
    notification: notify::EventChannelFactoryRef,
    channel: EventChannelRef,
}

impl core::fmt::Debug for EventService {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("EventService")
            .field("channel", &self.channel)
            .finish_non_exhaustive()
    }
}

/// A store of events in a folder.
#[derive(Debug)]
pub struct EventStore(Journal);

impl EventStore {
    /// Opens the store in a folder, and makes what is missing. Blocks on the disk.
    ///
    /// # Errors
    /// [`OpenError`], of which [`InUse`](OpenError::InUse) means that another process has it open.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        Journal::open(folder).map(Self)
    }
}

impl EventService {
    /// Serves event channels: those of the store, and one under [`CHANNEL_KEY`] if that has none. Without a store events and
    /// connections end with the process. Reads what the store has, events too.
    ///
    /// # Errors
    /// The ORB listens nowhere, or has a service already; the store cannot be read.
    pub async fn start(
        orb: &Orb,
        store: Option<EventStore>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let policies = Policies::PERSISTENT
            .with_id_assignment(IdAssignment::User)
            .with_id_uniqueness(IdUniqueness::Multiple);
        let poa = orb.root_poa().create_poa_with(POA, policies, None)?;
        let journal = store.map(|EventStore(journal)| journal);
        let id: u128 = match &journal {
            Some(journal) => u128::from_be_bytes(journal.id()),
            None => {
                let mut id = [0; 16];
                getrandom::fill(&mut id).map_err(|error| {
                    SystemException::from(SystemExceptionKind::NoResources).with_local_detail(error)
                })?;
                u128::from_be_bytes(id)
            }
        };
        let context = Arc::new(Context {
            orb: orb.clone(),
            poa: poa.clone(),
            journal,
            interfaces: Interfaces::new(settings.types.clone()),
            settings,
            counts: Counts::default(),
            deliveries: Arc::default(),
            instance: format!("{:016x}.", id >> 64),
            channels: Mutex::default(),
        });
        let factory_id = format!("{}f", context.instance);
        let servant = EventChannelFactoryServant::new(Factory(Arc::clone(&context)));
        let factory = poa.activate_object_with_id(factory_id, servant)?;
        let servant = NotificationServant::new(Factory(Arc::clone(&context)));
        let notification =
            poa.activate_object_with_id(format!("{}n", context.instance), servant)?;
        orb.key_table().bind(NOTIFICATION_KEY, &notification)?;
        let servant = typed::TypedEventChannelFactoryServant::new(Factory(Arc::clone(&context)));
        let typed = poa.activate_object_with_id(format!("{}y", context.instance), servant)?;
        orb.key_table().bind(TYPED_NOTIFICATION_KEY, &typed)?;
        for key in [SERVICE_KEY, OMNIEVENTS_KEY] {
            orb.key_table().bind(key, &factory)?;
        }
        if let Some(journal) = &context.journal {
            let kept = journal.load().map_err(|error| error.raise())?;
            context.restore(kept)?;
            let context = Arc::downgrade(&context);
            tokio::spawn(async move {
                let mut ticks = tokio::time::interval(FLUSHED_EVERY);
                loop {
                    ticks.tick().await;
                    let Some(context) = context.upgrade() else {
                        return;
                    };
                    if let Some(journal) = &context.journal
                        && let Err(error) = journal.flush().await
                    {
                        tracing::debug!(%error, "the progress of consumers is not stored");
                    }
                }
            });
        }
        let channel: notify::EventChannelRef = match context.find(CHANNEL_KEY) {
            Some(channel) => channel.reference("e")?,
            None => match context.create(Some(CHANNEL_KEY.to_owned()), None).await {
                Ok(channel) => channel,
                Err(NotMade::Failed(exception)) => return Err(exception.into()),
                Err(NotMade::NameInUse) => {
                    return Err(SystemException::from(SystemExceptionKind::Internal).into());
                }
            },
        };
        if let Some(found) = context.find(CHANNEL_KEY) {
            let typed: typed::TypedEventChannelRef = found.reference("t")?;
            orb.key_table().bind(TYPED_CHANNEL_KEY, &typed)?;
        }
        poa.the_poa_manager().activate()?;
        Ok(Self {
            context,
            factory,
            notification,
            channel: channel.into(),
        })
    }

    /// The factory of channels.
    #[must_use]
    pub fn factory(&self) -> &EventChannelFactoryRef {
        &self.factory
    }

    /// The factory of CosNotification, which makes channels with properties.
    #[must_use]
    pub fn notification_factory(&self) -> &notify::EventChannelFactoryRef {
        &self.notification
    }

    /// The channel that is there from the beginning. It is a channel of CosNotification, too.
    #[must_use]
    pub fn channel(&self) -> &EventChannelRef {
        &self.channel
    }

    /// The same channel as one of typed events.
    ///
    /// # Errors
    /// It is destroyed, or the ORB has been shut down.
    pub fn typed_channel(&self) -> Result<typed::TypedEventChannelRef, Error> {
        let channel = self.context.find(CHANNEL_KEY);
        let channel =
            channel.ok_or_else(|| SystemException::from(SystemExceptionKind::ObjectNotExist))?;
        channel.reference("t")
    }

    /// The factory of typed channels, which are those of [`notification_factory`](Self::notification_factory).
    ///
    /// # Errors
    /// The ORB has been shut down.
    pub fn typed_factory(&self) -> Result<typed::TypedEventChannelFactoryRef, Error> {
        Ok(self.context.typed_factory()?)
    }

    /// What has happened to events.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.context.counts.get()
    }

    /// Disconnects proxies that clients have left behind: not connected for [`Settings::idle_for`], or not pulled from for
    /// [`Settings::unreachable_for`].
    pub fn evict_idle_proxies(&self) {
        for channel in self.context.all() {
            channel.evict_idle();
        }
    }

    /// Ends deliveries and waiting pulls. What is kept is delivered in the next run. Comes before the shutdown of the ORB, which
    /// waits for pulls.
    pub fn stop(&self) {
        for channel in self.context.all() {
            channel.stop();
        }
    }

    /// Ends the store, when all that was begun is done.
    ///
    /// # Cancel safety
    /// The store is closed all the same; only the wait ends.
    pub async fn close(&self) {
        if let Some(journal) = &self.context.journal {
            journal.close().await;
        }
    }
}
