//! A channel: what its suppliers publish goes to all its consumers whose filters let it pass.

use crate::admin::Admin;
use crate::cos_notify_channel_admin::ProxyType;
use crate::counters::add;
use crate::event::{Event, Held};
use crate::filter::{Filter, Filters, MappingFilter};
use crate::informer::Told;
use crate::node::Node;
use crate::qos::{AdminProperties, Qos};
use crate::service::Context;
use crate::stored::{self, Row};
use crate::supplier_proxy::{SupplierProxy, Verdict};
use crate::types::{Changes, EventTypes, Key, Named};
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Instant;
use zorb::cdr::{ByteOrder, Decode, Decoder, EncapsulationVisitor, NativeEndian, WireFormat};
use zorb::{DecodeError, Ior, ObjectRef, SystemException, SystemExceptionKind};

/// Octets of a proxy, an admin or a filter in the store.
pub(crate) const MAX_STORED_OBJECT_OCTETS: usize = 512 * 1024;
/// Admins of a channel that clients have made.
pub(crate) const MAX_ADMINS: usize = 1_000;
/// Consumers whose filters are evaluated before other tasks have their turn.
const EVALUATED_AT_A_TIME: usize = 16;

/// The form of the events that a proxy takes or gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Form {
    /// An any, by the operations of CosEvent alone.
    Plain = 0,
    Any = 1,
    Structured = 2,
    Sequence = 3,
    /// Calls of an interface, by the operations of CosTypedEvent alone.
    PlainTyped = 4,
    Typed = 5,
}

impl Form {
    pub(crate) fn of_stored(stored: u8) -> Self {
        match stored {
            1 => Self::Any,
            2 => Self::Structured,
            3 => Self::Sequence,
            4 => Self::PlainTyped,
            5 => Self::Typed,
            _ => Self::Plain,
        }
    }

    /// Whether its objects have the operations of CosNotification.
    pub(crate) const fn is_notification(self) -> bool {
        !matches!(self, Self::Plain | Self::PlainTyped)
    }
}

/// What a proxy is connected to.
#[derive(Clone, Debug)]
pub(crate) enum Connection {
    Not,
    /// To a peer, which may be nil where it need not be called.
    To(Option<ObjectRef>),
    Over,
}

impl Connection {
    pub(crate) fn peer(&self) -> Option<&ObjectRef> {
        match self {
            Self::To(peer) => peer.as_ref(),
            _ => None,
        }
    }
}

/// Encodes what is stored of an object, with its peer if it has one.
fn row_octets(row: &Row, peer: Option<&ObjectRef>) -> Result<Vec<u8>, SystemException> {
    let octets = zorb::cdr::encode_encapsulation::<NativeEndian>(WireFormat::default(), |e| {
        e.put(row)?;
        e.put(peer.map_or(&Ior::NIL, ObjectRef::ior))
    });
    match octets {
        Ok(octets) if octets.len() <= MAX_STORED_OBJECT_OCTETS => Ok(octets),
        _ => Err(SystemExceptionKind::ImpLimit.into()),
    }
}

/// What is stored of an object, and the peer that it has.
pub(crate) fn read_row(octets: &[u8]) -> Result<(Row, Ior), DecodeError> {
    zorb::cdr::decode_encapsulation(octets, WireFormat::default(), ReadRow)
}

struct ReadRow;

impl<'de> EncapsulationVisitor<'de> for ReadRow {
    type Output = (Row, Ior);

    fn visit<O: ByteOrder>(
        self,
        decoder: &mut Decoder<'de, O>,
    ) -> Result<Self::Output, DecodeError> {
        Ok((Row::decode(decoder)?, Ior::decode(decoder)?))
    }
}

/// What is stored of a channel.
pub(crate) fn read_channel(octets: &[u8]) -> Result<stored::Channel, DecodeError> {
    zorb::cdr::decode_encapsulation(octets, WireFormat::default(), ReadChannel)
}

struct ReadChannel;

impl<'de> EncapsulationVisitor<'de> for ReadChannel {
    type Output = stored::Channel;

    fn visit<O: ByteOrder>(
        self,
        decoder: &mut Decoder<'de, O>,
    ) -> Result<Self::Output, DecodeError> {
        stored::Channel::decode(decoder)
    }
}

/// A proxy, whatever it is for. The argument of `disconnect` says whether its peer is told.
pub(crate) trait Proxy: Send + Sync + 'static {
    fn disconnect(self: Arc<Self>, is_peer_told: bool);
    /// Ends the tasks and calls of the proxy, which stays connected in the store.
    fn stop(&self);
    /// What the proxy waits for.
    fn idle(&self) -> Idle;
    fn place(&self) -> Place;
    /// Tells the peer of types, if it wants to know.
    fn inform(&self, changes: &Changes);
}

/// Which proxy it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Whether consumers have it.
    pub(crate) is_supplier: bool,
    pub(crate) is_push: bool,
    pub(crate) form: Form,
    /// The number of its admin.
    pub(crate) admin: u32,
}

impl Place {
    pub(crate) fn proxy_type(self) -> ProxyType {
        match (self.form, self.is_push) {
            (Form::Plain | Form::Any, true) => ProxyType::PushAny,
            (Form::Plain | Form::Any, false) => ProxyType::PullAny,
            (Form::Structured, true) => ProxyType::PushStructured,
            (Form::Structured, false) => ProxyType::PullStructured,
            (Form::Sequence, true) => ProxyType::PushSequence,
            (Form::Sequence, false) => ProxyType::PullSequence,
            (Form::PlainTyped | Form::Typed, true) => ProxyType::PushTyped,
            (Form::PlainTyped | Form::Typed, false) => ProxyType::PullTyped,
        }
    }
}

/// Since when a proxy waits for its client, and for what.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Idle {
    /// For nothing: the service calls the client.
    Not,
    /// To be connected.
    Unconnected(Instant),
    /// To be pulled from. Events are kept for it.
    Unpulled(Instant),
    /// To be pushed to.
    Unpushed(Instant),
}

/// An event on its way to consumers.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) event: Arc<Event>,
    /// The event as it is stored, if it is.
    pub(crate) octets: Option<Vec<u8>>,
    /// What filters say, by consumer.
    verdicts: BTreeMap<u32, Option<Verdict>>,
}

/// Types that are counted for one client of a channel.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<BTreeSet<Key>>);

/// A channel of a service.
pub(crate) struct Channel {
    pub(crate) context: Arc<Context>,
    /// The number of the channel in the service.
    pub(crate) id: u32,
    /// The name that it was made with, its key in `corbaloc`.
    pub(crate) name: Option<String>,
    pub(crate) node: Node,
    admin: Mutex<AdminProperties>,
    state: Mutex<State>,
    pub(crate) filters: Mutex<Filters>,
    /// Events that any of its queues has.
    pub(crate) held: Held,
    offered: Mutex<Named>,
    subscribed: Mutex<Named>,
    /// The number that the next event gets.
    next_event: AtomicU64,
    is_destroyed: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Consumers that are connected. Held while an event is given to all of them, so that all have events in one order.
    consumers: BTreeMap<u32, Arc<SupplierProxy>>,
    proxies: BTreeMap<u32, Weak<dyn Proxy>>,
    /// Those that clients have made.
    admins: BTreeMap<u32, Weak<Admin>>,
    last_number: u32,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channel")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The part of the object of a typed consumer, beside that of its proxy.
pub(crate) fn typed_part(proxy: u32) -> String {
    format!("t{proxy}")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Channel {
    pub(crate) fn new(
        context: Arc<Context>,
        id: u32,
        name: Option<String>,
        qos: Qos,
        admin: AdminProperties,
    ) -> Arc<Self> {
        Arc::new(Self {
            context,
            id,
            name,
            node: Node::new(qos, EventTypes::all()),
            admin: Mutex::new(admin),
            state: Mutex::new(State::default()),
            filters: Mutex::default(),
            held: Held::default(),
            offered: Mutex::default(),
            subscribed: Mutex::default(),
            next_event: AtomicU64::new(1),
            is_destroyed: AtomicBool::new(false),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn number(&self) -> u32 {
        self.id
    }

    /// The object id of a part of the channel.
    pub(crate) fn object_id(&self, part: &str) -> String {
        format!("{}{}{part}", self.context.instance, self.id)
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.is_destroyed.load(Ordering::Relaxed)
    }

    /// Numbers for events. Called where their order is decided: by the writer of the journal, or with `state` locked.
    pub(crate) fn reserve_numbers(&self, events: usize) -> u64 {
        let events = u64::try_from(events).unwrap_or(u64::MAX);
        self.next_event.fetch_add(events, Ordering::Relaxed)
    }

    /// The number of the last event.
    pub(crate) fn last_number(&self) -> u64 {
        self.next_event.load(Ordering::Relaxed).saturating_sub(1)
    }

    /// Numbers of events go on behind this one.
    pub(crate) fn go_on_behind(&self, number: u64) {
        let next = number.saturating_add(1);
        self.next_event.fetch_max(next, Ordering::Relaxed);
    }

    pub(crate) fn admin_properties(&self) -> AdminProperties {
        locked(&self.admin).clone()
    }

    pub(crate) fn set_admin_properties(&self, properties: AdminProperties) {
        *locked(&self.admin) = properties;
        let consumers: Vec<_> = self.state().consumers.values().cloned().collect();
        for consumer in consumers {
            consumer.apply();
        }
    }

    /// Accepts events. Ready when they are in the queues of all consumers, and on disk if they are kept. IMP_LIMIT where the channel has
    /// as many as it takes. Whoever waits for the turn publishes behind these events.
    pub(crate) async fn publish(
        self: &Arc<Self>,
        events: Vec<Arc<Event>>,
        turn: Option<tokio::sync::MutexGuard<'_, ()>>,
    ) -> Result<(), SystemException> {
        let refuses_beyond = locked(&self.admin).refuses_beyond();
        if refuses_beyond.is_some_and(|limit| self.held.load(Ordering::Relaxed) > limit) {
            return Err(SystemExceptionKind::ImpLimit.into());
        }
        let count = events.len();
        let mut published = Vec::with_capacity(count);
        for event in events {
            published.push(Published {
                verdicts: self.verdicts(&event).await,
                octets: None,
                event,
            });
        }
        match &self.context.journal {
            Some(journal) => {
                for one in &mut published {
                    if one.event.is_persistent() {
                        let octets = one.event.to_octets();
                        one.octets = Some(octets.map_err(|error| {
                            SystemException::from(SystemExceptionKind::Marshal).with_detail(error)
                        })?);
                    }
                }
                let mut storing = pin!(journal.publish(Arc::clone(self), published));
                // The first poll gives them a place among all that is to be stored.
                let stored = poll_fn(|cx| Poll::Ready(storing.as_mut().poll(cx))).await;
                drop(turn);
                let stored = match stored {
                    Poll::Ready(stored) => stored,
                    Poll::Pending => storing.await,
                };
                stored.map_err(|error| error.raise())?;
            }
            None => {
                let state = self.state();
                let first = self.reserve_numbers(count);
                Self::give(&state, first, &published);
            }
        }
        add(&self.context.counts.published, count);
        Ok(())
    }

    /// What the filters of consumers say about an event. Evaluated here, in the task of its supplier and without a lock: filters that
    /// cost much delay none but that one.
    async fn verdicts(&self, event: &Event) -> BTreeMap<u32, Option<Verdict>> {
        let filtering: Vec<_> = {
            let state = self.state();
            let all = state.consumers.iter();
            all.filter(|(_, consumer)| !consumer.is_open())
                .map(|(number, consumer)| (*number, Arc::clone(consumer)))
                .collect()
        };
        let mut verdicts = BTreeMap::new();
        for (chunk, some) in filtering.chunks(EVALUATED_AT_A_TIME).enumerate() {
            if chunk > 0 {
                tokio::task::yield_now().await;
            }
            for (number, consumer) in some {
                verdicts.insert(*number, consumer.verdict(event));
            }
        }
        verdicts
    }

    /// Gives events to all consumers. None waits for another.
    pub(crate) fn fan_out(&self, first: u64, events: &[Published]) {
        Self::give(&self.state(), first, events);
    }

    fn give(state: &State, first: u64, events: &[Published]) {
        for (number, published) in (first..).zip(events) {
            for (proxy, consumer) in &state.consumers {
                let verdict = match published.verdicts.get(proxy) {
                    Some(verdict) => *verdict,
                    None => consumer.verdict(&published.event),
                };
                consumer.offer(number, &published.event, verdict, false);
            }
        }
    }

    /// Whether events are kept for any consumer.
    pub(crate) fn has_kept_consumers(&self) -> bool {
        self.state().consumers.values().any(|one| one.is_kept())
    }

    /// A number for a new proxy, admin or filter, which has it in the store and in its references.
    pub(crate) fn new_number(&self) -> u32 {
        let mut state = self.state();
        state.last_number = state.last_number.saturating_add(1);
        state.last_number
    }

    /// Further numbers are higher than this one.
    pub(crate) fn number_is_used(&self, number: u32) {
        let mut state = self.state();
        state.last_number = state.last_number.max(number);
    }

    /// Proxies of consumers, or of suppliers.
    pub(crate) fn count_proxies(&self, is_supplier: bool) -> usize {
        let all = self.proxies();
        all.iter()
            .filter(|one| one.place().is_supplier == is_supplier)
            .count()
    }

    /// A proxy of an admin.
    pub(crate) fn find_proxy(&self, number: u32) -> Option<Arc<dyn Proxy>> {
        self.state().proxies.get(&number).and_then(Weak::upgrade)
    }

    /// Proxies, with their numbers.
    pub(crate) fn numbered_proxies(&self) -> Vec<(u32, Arc<dyn Proxy>)> {
        let state = self.state();
        let all = state.proxies.iter();
        all.filter_map(|(number, proxy)| Some((*number, proxy.upgrade()?)))
            .collect()
    }

    pub(crate) fn add_admin(&self, admin: &Arc<Admin>) -> Result<(), SystemException> {
        let mut state = self.state();
        if self.is_destroyed() {
            return Err(SystemExceptionKind::ObjectNotExist.into());
        }
        if state.admins.len() >= MAX_ADMINS {
            return Err(SystemExceptionKind::NoResources.into());
        }
        state.admins.insert(admin.number, Arc::downgrade(admin));
        Ok(())
    }

    pub(crate) fn remove_admin(&self, number: u32) {
        self.state().admins.remove(&number);
    }

    /// Admins that clients have made.
    pub(crate) fn admins(&self) -> Vec<Arc<Admin>> {
        self.state()
            .admins
            .values()
            .filter_map(Weak::upgrade)
            .collect()
    }

    pub(crate) fn find_filter(&self, number: u32) -> Option<Arc<Filter>> {
        let id = self.object_id(&format!("f{number}"));
        self.context.poa.id_to_servant(id).ok()
    }

    pub(crate) fn find_mapping_filter(&self, number: u32) -> Option<Arc<MappingFilter>> {
        let id = self.object_id(&format!("f{number}"));
        self.context.poa.id_to_servant(id).ok()
    }

    /// The types that are offered, or subscribed to.
    pub(crate) fn types(&self, told: Told) -> &Mutex<Named> {
        match told {
            Told::Offers => &self.offered,
            Told::Subscriptions => &self.subscribed,
        }
    }

    /// Counts the types of a client, and tells those who want to know what is new to the channel.
    pub(crate) fn count(&self, told: Told, counted: &Counted, after: BTreeSet<Key>) {
        let changes = {
            let mut counted = locked(&counted.0);
            let changes = locked(self.types(told)).change(&counted, &after);
            *counted = after;
            changes
        };
        if changes.is_empty() {
            return;
        }
        for proxy in self.proxies() {
            if proxy.place().is_supplier == (told == Told::Offers) {
                proxy.inform(&changes);
            }
        }
    }

    /// Adds a proxy. Beyond [`Settings::max_proxies`](crate::Settings::max_proxies) another one goes, that its client has not used for the
    /// longest time; NO_RESOURCES if there is none.
    pub(crate) fn add_proxy(
        &self,
        number: u32,
        proxy: Weak<dyn Proxy>,
    ) -> Result<(), SystemException> {
        loop {
            {
                let mut state = self.state();
                if self.is_destroyed() {
                    return Err(SystemExceptionKind::ObjectNotExist.into());
                }
                if state.proxies.len() < self.context.settings.max_proxies {
                    state.last_number = state.last_number.max(number);
                    state.proxies.insert(number, proxy);
                    return Ok(());
                }
            }
            let unused = self.proxies().into_iter().filter_map(|proxy| {
                let since = match proxy.idle() {
                    Idle::Not => return None,
                    Idle::Unconnected(since) | Idle::Unpulled(since) | Idle::Unpushed(since) => {
                        since
                    }
                };
                (since.elapsed() >= self.context.settings.idle_for).then_some((since, proxy))
            });
            let oldest = unused.min_by_key(|(since, _)| *since);
            let (_, oldest) = oldest.ok_or(SystemExceptionKind::NoResources)?;
            add(&self.context.counts.evicted, 1);
            oldest.disconnect(true);
        }
    }

    /// Disconnects proxies that clients have left behind: not connected, or not pulled from for long.
    pub(crate) fn evict_idle(&self) {
        let settings = &self.context.settings;
        for proxy in self.proxies() {
            let is_over = match proxy.idle() {
                Idle::Unconnected(since) => since.elapsed() >= settings.idle_for,
                Idle::Unpulled(since) => since.elapsed() >= settings.unreachable_for,
                Idle::Not | Idle::Unpushed(_) => false,
            };
            if is_over {
                add(&self.context.counts.evicted, 1);
                proxy.disconnect(true);
            }
        }
    }

    pub(crate) fn remove_proxy(&self, number: u32) {
        let mut state = self.state();
        state.proxies.remove(&number);
        state.consumers.remove(&number);
    }

    /// Adds a consumer, which gets what is published from now on: the number of the last event before.
    pub(crate) fn add_consumer(&self, number: u32, proxy: Arc<SupplierProxy>) -> u64 {
        let mut state = self.state();
        let last = self.last_number();
        proxy.queue.skip(last);
        state.consumers.insert(number, proxy);
        last
    }

    /// Takes a consumer out again.
    pub(crate) fn drop_consumer(&self, number: u32) {
        self.state().consumers.remove(&number);
    }

    /// Stores the channel itself.
    pub(crate) async fn store_channel(&self) -> Result<(), SystemException> {
        let Some(journal) = &self.context.journal else {
            return Ok(());
        };
        let stored = stored::Channel {
            name: self.name.clone().unwrap_or_default(),
            qos: self.node.get().qos.stored(),
            admin: self.admin_properties().stored(),
        };
        let octets = zorb::cdr::encode_encapsulation::<NativeEndian>(WireFormat::default(), |e| {
            e.put(&stored)
        });
        let octets = octets.map_err(|_| SystemException::from(SystemExceptionKind::Marshal))?;
        let put = journal.put((self.id, None), octets, None).await;
        put.map_err(|error| error.raise())
    }

    /// Stores a proxy, an admin or a filter, if anything is kept.
    pub(crate) async fn store(
        &self,
        number: u32,
        row: &Row,
        peer: Option<&ObjectRef>,
        progress: Option<u64>,
    ) -> Result<(), SystemException> {
        let Some(journal) = &self.context.journal else {
            return Ok(());
        };
        let octets = row_octets(row, peer)?;
        let put = journal.put((self.id, Some(number)), octets, progress).await;
        put.map_err(|error| error.raise())
    }

    /// Takes the row of a proxy, an admin or a filter out of the store.
    pub(crate) async fn remove_row(&self, number: u32) {
        if let (Some(journal), false) = (&self.context.journal, self.is_destroyed())
            && let Err(error) = journal.remove((self.id, Some(number))).await
        {
            tracing::warn!(%error, "an object that is gone stays in the store");
        }
    }

    /// Ends a proxy: its object is gone at once, its row in the store soon. Then does what is left.
    pub(crate) fn end_proxy(
        self: &Arc<Self>,
        number: u32,
        then: impl Future<Output = ()> + Send + 'static,
    ) {
        self.remove_proxy(number);
        // They may never have been activated.
        for part in [format!("p{number}"), typed_part(number)] {
            let id = self.object_id(&part);
            let _ = self.context.poa.deactivate_object_with_id(id);
        }
        let channel = Arc::clone(self);
        tokio::spawn(async move {
            channel.remove_row(number).await;
            then.await;
        });
    }

    fn proxies(&self) -> Vec<Arc<dyn Proxy>> {
        let state = self.state();
        state.proxies.values().filter_map(Weak::upgrade).collect()
    }

    /// Disconnects all.
    pub(crate) async fn destroy(&self) -> Result<(), SystemException> {
        if self.is_destroyed.swap(true, Ordering::Relaxed) {
            return Err(SystemExceptionKind::ObjectNotExist.into());
        }
        for proxy in self.proxies() {
            proxy.disconnect(true);
        }
        let filters = locked(&self.filters).all();
        for filter in filters {
            filter.end();
        }
        for admin in self.admins() {
            admin.end();
        }
        self.context.forget(self);
        if let Some(journal) = &self.context.journal {
            let removed = journal.remove((self.id, None)).await;
            removed.map_err(|error| error.raise())?;
        }
        Ok(())
    }

    /// Ends all tasks and calls.
    pub(crate) fn stop(&self) {
        for proxy in self.proxies() {
            proxy.stop();
        }
    }
}
