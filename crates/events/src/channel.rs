//! A channel: what its suppliers publish goes to all its consumers.

use crate::counters::add;
use crate::event::{Body, Event};
use crate::queue::{Entry, Order, Policy};
use crate::service::Context;
use crate::supplier_proxy::{Connection, SupplierProxy};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;
use zorb::cdr::{ByteOrder, Decode, Decoder, EncapsulationVisitor, NativeEndian, WireFormat};
use zorb::{CompletionStatus, DecodeError, Ior, Orb, SystemException, SystemExceptionKind};
use zorb_service::StoreError;

/// Octets of a proxy in the store: most of them are the reference of its peer.
pub(crate) const MAX_STORED_PROXY_OCTETS: usize = 256 * 1024;

/// A proxy, as it is stored.
#[derive(Debug)]
pub(crate) struct StoredProxy {
    pub(crate) is_supplier: bool,
    pub(crate) is_push: bool,
    pub(crate) connection: Connection,
}

const NOT_CONNECTED: u8 = 0;
const CONNECTED: u8 = 1;

impl StoredProxy {
    fn to_octets(&self) -> Result<Vec<u8>, SystemException> {
        let (state, ior) = match &self.connection {
            Connection::To(Some(peer)) => (CONNECTED, peer.ior()),
            Connection::To(None) => (CONNECTED, &Ior::NIL),
            _ => (NOT_CONNECTED, &Ior::NIL),
        };
        let octets = zorb::cdr::encode_encapsulation::<NativeEndian>(WireFormat::default(), |e| {
            e.put(&self.is_supplier)?;
            e.put(&self.is_push)?;
            e.put(&state)?;
            e.put(ior)
        });
        match octets {
            Ok(octets) if octets.len() <= MAX_STORED_PROXY_OCTETS => Ok(octets),
            _ => Err(SystemExceptionKind::ImpLimit.into()),
        }
    }

    pub(crate) fn from_octets(octets: &[u8], orb: &Orb) -> Result<Self, DecodeError> {
        zorb::cdr::decode_encapsulation(octets, WireFormat::default(), ReadProxy(orb))
    }
}

struct ReadProxy<'a>(&'a Orb);

impl<'de> EncapsulationVisitor<'de> for ReadProxy<'_> {
    type Output = StoredProxy;

    fn visit<O: ByteOrder>(
        self,
        decoder: &mut Decoder<'de, O>,
    ) -> Result<StoredProxy, DecodeError> {
        let is_supplier = bool::decode(decoder)?;
        let is_push = bool::decode(decoder)?;
        let state = u8::decode(decoder)?;
        let ior = Ior::decode(decoder)?;
        let connection = match state {
            CONNECTED => Connection::To((!ior.is_nil()).then(|| self.0.object(ior))),
            _ => Connection::Not,
        };
        Ok(StoredProxy {
            is_supplier,
            is_push,
            connection,
        })
    }
}

/// Disconnects a proxy. The argument says whether its peer is told.
pub(crate) trait Disconnect: Send + Sync + 'static {
    fn disconnect(self: Arc<Self>, is_peer_told: bool);
    /// Ends the tasks and calls of the proxy, which stays connected in the store.
    fn stop(&self);
    /// What the proxy waits for.
    fn idle(&self) -> Idle;
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

/// A channel of a service.
pub(crate) struct Channel {
    pub(crate) context: Arc<Context>,
    /// The number of the channel in the service.
    pub(crate) id: u32,
    /// The name that it was made with, its key in `corbaloc`.
    pub(crate) name: Option<String>,
    state: Mutex<State>,
    /// The number that the next event gets.
    next_event: AtomicU64,
    is_destroyed: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Consumers that are connected. Held while an event is given to all of them, so that all have events in one order.
    consumers: BTreeMap<u32, Arc<SupplierProxy>>,
    proxies: BTreeMap<u32, Weak<dyn Disconnect>>,
    last_proxy: u32,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channel")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The exception for a failure of the store, whose cause goes to the log.
pub(crate) fn store_failed(error: &StoreError) -> SystemException {
    let (kind, completed) = match error {
        StoreError::Full => (SystemExceptionKind::NoResources, CompletionStatus::No),
        StoreError::Failed(cause) => {
            tracing::warn!(%cause, "a request fails, as the store does");
            (SystemExceptionKind::PersistStore, CompletionStatus::Maybe)
        }
        _ => (SystemExceptionKind::Transient, CompletionStatus::Maybe),
    };
    SystemException::new(kind, 0, completed).with_detail(format_args!("{error}"))
}

impl Channel {
    pub(crate) fn new(context: Arc<Context>, id: u32, name: Option<String>) -> Arc<Self> {
        Arc::new(Self {
            context,
            id,
            name,
            state: Mutex::new(State::default()),
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

    /// The policy of a consumer's queue.
    pub(crate) fn policy(&self) -> Policy {
        Policy {
            events: self.context.settings.max_events_per_consumer,
            octets: self.context.settings.max_octets_per_consumer,
            order: Order::Fifo,
            discard: Order::Fifo,
        }
    }

    /// Accepts events. Ready when they are in the queues of all consumers, and on disk if they are kept.
    pub(crate) async fn publish(
        self: &Arc<Self>,
        bodies: Vec<Body>,
    ) -> Result<(), SystemException> {
        let events: Vec<Arc<Event>> = bodies
            .into_iter()
            .map(|body| Arc::new(Event::new(body)))
            .collect();
        let count = events.len();
        match &self.context.journal {
            Some(journal) => {
                let stored = events.into_iter().map(|event| {
                    let octets = event.to_octets()?;
                    Ok((event, octets))
                });
                let stored: Result<Vec<_>, zorb::EncodeError> = stored.collect();
                let stored = stored.map_err(|error| {
                    SystemException::from(SystemExceptionKind::Marshal).with_detail(error)
                })?;
                let published = journal.publish(Arc::clone(self), stored).await;
                published.map_err(|error| store_failed(&error))?;
            }
            None => self.fan_out_new(events),
        }
        add(&self.context.counts.published, count);
        Ok(())
    }

    /// Numbers events and gives them to all consumers.
    fn fan_out_new(&self, events: Vec<Arc<Event>>) {
        let state = self.state();
        let first = self.reserve_numbers(events.len());
        self.give(&state, first, events.into_iter());
    }

    /// Gives events to all consumers. None waits for another.
    pub(crate) fn fan_out(&self, first: u64, events: impl Iterator<Item = Arc<Event>>) {
        let state = self.state();
        self.give(&state, first, events);
    }

    fn give(&self, state: &State, first: u64, events: impl Iterator<Item = Arc<Event>>) {
        for (number, event) in (first..).zip(events) {
            for consumer in state.consumers.values() {
                consumer.offer(Entry {
                    number,
                    event: Arc::clone(&event),
                    priority: event.priority,
                    expires: event.expires,
                    is_again: false,
                });
            }
        }
    }

    /// Whether events are kept for any consumer.
    pub(crate) fn has_kept_consumers(&self) -> bool {
        self.state().consumers.values().any(|one| one.is_kept())
    }

    /// A number for a new proxy, which has it in the store and in its references.
    pub(crate) fn new_proxy(&self) -> u32 {
        let mut state = self.state();
        state.last_proxy = state.last_proxy.saturating_add(1);
        state.last_proxy
    }

    /// Adds a proxy. Beyond [`Settings::max_proxies`](crate::Settings::max_proxies) another one goes, that its client has not used for the
    /// longest time; NO_RESOURCES if there is none.
    pub(crate) fn add_proxy(
        &self,
        number: u32,
        proxy: Weak<dyn Disconnect>,
    ) -> Result<(), SystemException> {
        loop {
            {
                let mut state = self.state();
                if self.is_destroyed() {
                    return Err(SystemExceptionKind::ObjectNotExist.into());
                }
                if state.proxies.len() < self.context.settings.max_proxies {
                    state.last_proxy = state.last_proxy.max(number);
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

    /// Stores a proxy, if anything is kept.
    pub(crate) async fn store_proxy(
        &self,
        number: u32,
        stored: &StoredProxy,
        progress: Option<u64>,
    ) -> Result<(), SystemException> {
        let Some(journal) = &self.context.journal else {
            return Ok(());
        };
        let octets = stored.to_octets()?;
        let put = journal.put((self.id, Some(number)), octets, progress).await;
        put.map_err(|error| store_failed(&error))
    }

    /// Ends a proxy: its object is gone at once, its row in the store soon. Then does what is left.
    pub(crate) fn end_proxy(
        self: &Arc<Self>,
        number: u32,
        then: impl Future<Output = ()> + Send + 'static,
    ) {
        self.remove_proxy(number);
        let id = self.object_id(&format!("p{number}"));
        // It may never have been activated.
        let _ = self.context.poa.deactivate_object_with_id(id);
        let channel = Arc::clone(self);
        tokio::spawn(async move {
            if let (Some(journal), false) = (&channel.context.journal, channel.is_destroyed())
                && let Err(error) = journal.remove((channel.id, Some(number))).await
            {
                tracing::warn!(%error, "a proxy that is gone stays in the store");
            }
            then.await;
        });
    }

    fn proxies(&self) -> Vec<Arc<dyn Disconnect>> {
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
        self.context.forget(self);
        if let Some(journal) = &self.context.journal {
            let removed = journal.remove((self.id, None)).await;
            removed.map_err(|error| store_failed(&error))?;
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
