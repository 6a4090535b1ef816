//! What channels, admins and proxies have in common: quality of service, filters and types of events.

use crate::channel::Channel;
use crate::cos_notification::{
    EventType, NamedPropertyRange, Property, PropertyError, QoSAdmin, UnsupportedQoS, qo_s_admin,
};
use crate::cos_notify_channel_admin::NotConnected;
use crate::cos_notify_filter::{
    FilterAdmin, FilterNotFound, FilterRef, MappingFilterRef, filter_admin,
};
use crate::etcl::Budget;
use crate::event::Event;
use crate::filter::{Filter, MappingFilter};
use crate::qos::{Level, Qos};
use crate::stored;
use crate::types::{EventTypes, NotChanged};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zorb::{SystemException, SystemExceptionKind, TcKind};

/// Filters that an admin or a proxy uses.
pub(crate) const MAX_USED_FILTERS: usize = 100;

/// The state of a channel, admin or proxy, as far as they are alike.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) qos: Qos,
    filters: BTreeMap<i32, Arc<Filter>>,
    last_filter: i32,
    /// What is offered by it, or subscribed to.
    pub(crate) types: EventTypes,
    pub(crate) priority: Option<Arc<MappingFilter>>,
    pub(crate) lifetime: Option<Arc<MappingFilter>>,
    /// Whether its events wait.
    pub(crate) is_suspended: bool,
}

impl Common {
    fn new(qos: Qos, types: EventTypes) -> Self {
        Self {
            qos,
            filters: BTreeMap::new(),
            last_filter: 0,
            types,
            priority: None,
            lifetime: None,
            is_suspended: false,
        }
    }

    /// Whether one of its filters lets an event pass: all do where there are none.
    pub(crate) fn passes(&self, event: &Event, budget: &Budget) -> bool {
        let mut filters = self.filters.values().filter(|one| !one.is_destroyed());
        let ty = event.event_type();
        match filters.next() {
            None => true,
            Some(first) => {
                let mut all = std::iter::once(first).chain(filters);
                all.any(|filter| filter.met(ty, event.any(), budget).is_some())
            }
        }
    }

    /// What gives events their priority.
    pub(crate) fn priority(&self) -> Option<&Arc<MappingFilter>> {
        self.priority
            .as_ref()
            .filter(|filter| !filter.is_destroyed())
    }

    /// What gives events their lifetime.
    pub(crate) fn lifetime(&self) -> Option<&Arc<MappingFilter>> {
        self.lifetime
            .as_ref()
            .filter(|filter| !filter.is_destroyed())
    }

    /// Whether all events pass, as they are.
    fn is_open(&self) -> bool {
        self.types.has_all()
            && self.filters.is_empty()
            && self.priority.is_none()
            && self.lifetime.is_none()
    }
}

pub(crate) struct Node {
    state: Mutex<Arc<Common>>,
    /// What [`Common::is_open`] says: asked for each event.
    is_open: AtomicBool,
    /// Held by the change that is being stored.
    changing: tokio::sync::Mutex<()>,
}

impl Node {
    pub(crate) fn new(qos: Qos, types: EventTypes) -> Self {
        let state = Common::new(qos, types);
        Self {
            is_open: AtomicBool::new(state.is_open()),
            state: Mutex::new(Arc::new(state)),
            changing: tokio::sync::Mutex::default(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Arc<Common>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self) -> Arc<Common> {
        Arc::clone(&self.locked())
    }

    fn put(&self, state: Arc<Common>) {
        let mut locked = self.locked();
        self.is_open.store(state.is_open(), Ordering::Relaxed);
        *locked = state;
    }

    /// Whether all events pass, as they are.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// The state as it is stored.
    pub(crate) fn stored(&self) -> stored::Node {
        let state = self.get();
        let mapping = [state.priority(), state.lifetime()].into_iter().enumerate();
        let mapping = mapping.filter_map(|(id, filter)| {
            let filter = filter?;
            Some(stored::Use {
                id: i32::try_from(id).ok()?,
                channel: filter.channel_id(),
                number: filter.number,
            })
        });
        let used = state.filters.iter().filter(|(_, one)| !one.is_destroyed());
        stored::Node {
            qos: state.qos.stored(),
            last_filter: state.last_filter,
            filters: used
                .map(|(id, filter)| stored::Use {
                    id: *id,
                    channel: filter.channel_id(),
                    number: filter.number,
                })
                .collect(),
            mapping: mapping.collect(),
            has_all_types: state.types.has_all(),
            types: state.types.named(),
            is_suspended: state.is_suspended,
        }
    }

    /// Goes on with the state of an earlier run. Filters that are not there any more are left out.
    pub(crate) fn restore(&self, channel: &Channel, stored: &stored::Node) {
        let mut state = Common::clone(&self.get());
        if let Some(qos) = Qos::from_stored(&stored.qos) {
            state.qos = qos;
        }
        state.last_filter = stored.last_filter;
        state.types = EventTypes::from_stored(stored.has_all_types, &stored.types);
        state.is_suspended = stored.is_suspended;
        let find = |one: &stored::Use| {
            channel
                .context
                .find_channel(one.channel)?
                .find_filter(one.number)
        };
        for one in &stored.filters {
            if let Some(filter) = find(one) {
                state.filters.insert(one.id, filter);
            }
        }
        for one in &stored.mapping {
            let channel = channel.context.find_channel(one.channel);
            let filter = channel.and_then(|channel| channel.find_mapping_filter(one.number));
            match one.id {
                0 => state.priority = filter,
                _ => state.lifetime = filter,
            }
        }
        self.put(Arc::new(state));
    }
}

/// An object with such a state.
pub(crate) trait Target: Send + Sync + 'static {
    fn node(&self) -> &Node;
    fn channel(&self) -> &Arc<Channel>;
    fn level(&self) -> Level;
    /// The quality of service of what is above.
    fn above(&self) -> Option<Qos>;
    /// The state has changed.
    fn apply(&self);
    /// Stores the object.
    fn store(&self) -> impl Future<Output = Result<(), SystemException>> + Send;

    /// Changes the state and stores it: all, or nothing.
    fn change<R: Send, E: From<SystemException> + Send>(
        &self,
        change: impl FnOnce(&mut Common) -> Result<R, E> + Send,
    ) -> impl Future<Output = Result<R, E>> + Send {
        async move {
            let node = self.node();
            let _changing = node.changing.lock().await;
            let before = node.get();
            let mut after = Common::clone(&before);
            let made = change(&mut after)?;
            node.put(Arc::new(after));
            self.apply();
            if let Err(exception) = self.store().await {
                node.put(before);
                self.apply();
                return Err(exception.into());
            }
            Ok(made)
        }
    }

    /// Changes what is offered, or subscribed to.
    fn change_types<
        E: From<SystemException> + From<crate::cos_notify_comm::InvalidEventType> + Send,
    >(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> impl Future<Output = Result<(), E>> + Send {
        async move {
            self.change(|state| {
                let changed = state.types.change(added, removed);
                changed.map_err(|error| match error {
                    NotChanged::Invalid(invalid) => invalid.into(),
                    NotChanged::System(exception) => exception.into(),
                })
            })
            .await
        }
    }

    /// Has deliveries of a proxy that is connected wait, or go on; `already` is the exception for one that does so.
    fn set_suspended<E: From<NotConnected> + From<SystemException> + Send>(
        &self,
        is_connected: bool,
        is_suspended: bool,
        already: E,
    ) -> impl Future<Output = Result<(), E>> + Send {
        async move {
            if !is_connected {
                return Err(NotConnected {}.into());
            }
            self.change(|state| {
                if state.is_suspended == is_suspended {
                    return Err(already);
                }
                state.is_suspended = is_suspended;
                Ok(())
            })
            .await
        }
    }

    /// What an event may have as its properties here.
    fn validate_event(
        &self,
        required: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, UnsupportedQoS> {
        let qos = &self.node().get().qos;
        let ability = self.channel().context.ability();
        let ranges = qos.validate(Level::Event, required, Some(qos), ability);
        ranges.map_err(unsupported)
    }

    /// Uses a mapping filter of values of this kind, or none.
    fn map_by(
        &self,
        filter: Option<MappingFilterRef>,
        kind: TcKind,
        set: impl FnOnce(&mut Common, Option<Arc<MappingFilter>>) + Send,
    ) -> impl Future<Output = Result<(), SystemException>> + Send {
        async move {
            let filter = match filter {
                Some(filter) => Some(self.channel().context.served_mapping_filter(&filter)?),
                None => None,
            };
            if filter.as_ref().is_some_and(|filter| !filter.is_of(kind)) {
                return Err(SystemExceptionKind::BadParam.into());
            }
            self.change(|state| {
                set(state, filter);
                Ok(())
            })
            .await
        }
    }
}

/// The reference of a mapping filter that is in use.
pub(crate) fn mapping_reference(
    filter: Option<&Arc<MappingFilter>>,
) -> Result<Option<MappingFilterRef>, SystemException> {
    filter.map(|filter| filter.reference()).transpose()
}

pub(crate) fn unsupported(qos_err: Vec<PropertyError>) -> UnsupportedQoS {
    UnsupportedQoS { qos_err }
}

impl<T: Target> QoSAdmin for T {
    async fn get_qos(&self) -> Result<Vec<Property>, SystemException> {
        Ok(self.node().get().qos.properties(self.level()))
    }

    async fn set_qos(&self, qos: &[Property]) -> Result<(), qo_s_admin::SetQosError> {
        let (level, above) = (self.level(), self.above());
        let ability = self.channel().context.ability();
        self.change(|state| {
            let set = state.qos.set(level, qos, above.as_ref(), ability);
            Ok(set.map_err(unsupported)?)
        })
        .await
    }

    async fn validate_qos(
        &self,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, qo_s_admin::ValidateQosError> {
        let ability = self.channel().context.ability();
        let (level, above) = (self.level(), self.above());
        let qos = &self.node().get().qos;
        let ranges = qos.validate(level, required_qos, above.as_ref(), ability);
        Ok(ranges.map_err(unsupported)?)
    }
}

impl<T: Target> FilterAdmin for T {
    async fn add_filter(&self, new_filter: Option<FilterRef>) -> Result<i32, SystemException> {
        let filter = new_filter.ok_or(SystemExceptionKind::BadParam)?;
        let filter = self.channel().context.served_filter(&filter)?;
        self.change(|state| {
            state.filters.retain(|_, filter| !filter.is_destroyed());
            let id = state.last_filter.checked_add(1);
            let id = id.filter(|_| state.filters.len() < MAX_USED_FILTERS);
            let id = id.ok_or(SystemExceptionKind::ImpLimit)?;
            state.last_filter = id;
            state.filters.insert(id, filter);
            Ok(id)
        })
        .await
    }

    async fn remove_filter(&self, filter: i32) -> Result<(), filter_admin::RemoveFilterError> {
        self.change(|state| {
            let removed = state.filters.remove(&filter);
            removed.ok_or(FilterNotFound {})?;
            Ok(())
        })
        .await
    }

    async fn get_filter(
        &self,
        filter: i32,
    ) -> Result<Option<FilterRef>, filter_admin::GetFilterError> {
        let state = self.node().get();
        let found = state.filters.get(&filter);
        let found = found.filter(|filter| !filter.is_destroyed());
        Ok(Some(found.ok_or(FilterNotFound {})?.reference()?))
    }

    async fn get_all_filters(&self) -> Result<Vec<i32>, SystemException> {
        let state = self.node().get();
        let all = state.filters.iter().filter(|(_, one)| !one.is_destroyed());
        Ok(all.map(|(id, _)| *id).collect())
    }

    async fn remove_all_filters(&self) -> Result<(), SystemException> {
        self.change(|state| {
            state.filters.clear();
            Ok(())
        })
        .await
    }
}
