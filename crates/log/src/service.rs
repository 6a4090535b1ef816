//! The service as an application starts it.

use crate::channel::{CONSUMER, MAX_SUPPLIERS, Outlet, SUPPLIERS, Supplier};
use crate::ds_event_log_admin::{
    EventLogFactoryRef, EventLogFactoryServant, EventLogRef, EventLogServant,
};
use crate::ds_log_admin::{
    self as ds, BasicLogFactory, BasicLogFactoryRef, BasicLogFactoryServant, BasicLogRef,
    BasicLogServant, ForwardingState, HALT, InvalidLogFullAction, LogIdAlreadyExists, LogMgr,
    LogRef, TimeInterval, WRAP, basic_log_factory,
};
use crate::ds_log_notification::ObjectCreation;
use crate::iterators::{Cursor, Locator, Objects};
use crate::log::{Log, LogObject};
use crate::schedule::now;
use crate::store::{Change, LogStore, MAX_CHANGED, Outcome, octets_of};
use crate::stored::StoredLog;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use zorb::{
    Error, IdAssignment, IdUniqueness, Interface, Orb, Poa, Policies, RequestProcessing,
    ServantRetention, SystemException, SystemExceptionKind,
};
use zorb_events::EventService;
use zorb_events::cos_event_channel_admin::SupplierAdminServant;
use zorb_events::cos_event_comm::PushConsumerServant;
use zorb_service::StoreError;

/// The plain key of the factory of logs: `corbaloc::host:11172/BasicLogFactory`.
pub const FACTORY_KEY: &str = "BasicLogFactory";
/// The plain key of the factory of logs that are event channels: `corbaloc::host:11172/EventLogFactory`.
pub const EVENT_FACTORY_KEY: &str = "EventLogFactory";
/// Where the program listens, on this host alone.
pub const DEFAULT_ENDPOINT: &str = "iiop://127.0.0.1:11172";
/// The POA of all objects, whose name is part of all references.
const POA: &str = "logs";
/// The POAs of the iterators, and of what suppliers push to, which end with the run.
const ITERATORS_POA: &str = "iterators";
const SUPPLIERS_POA: &str = "suppliers";
/// Queries that read records at a time; others wait for their turn.
pub(crate) const MAX_SCANS: usize = 8;

/// The limits of a service.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Logs that there may be.
    pub max_logs: usize,
    /// Octets of the records of all logs.
    pub max_octets: u64,
    /// Iterators that there may be; beyond it the one that was not used for the longest time is destroyed.
    pub max_iterators: usize,
    /// How long an iterator may be unused.
    pub iterator_idle: Duration,
}

impl Settings {
    /// Logs that there may be unless set.
    pub const MAX_LOGS: usize = 1_000;
    /// Octets of the records of all logs unless set.
    pub const MAX_OCTETS: u64 = 64 * 1024 * 1024 * 1024;
    /// Octets of the records of all logs in memory, also where more is set.
    pub const MAX_OCTETS_IN_MEMORY: u64 = 256 * 1024 * 1024;
    /// Iterators that there may be unless set.
    pub const MAX_ITERATORS: usize = 10_000;
    /// How long an iterator may be unused unless set.
    pub const ITERATOR_IDLE: Duration = Duration::from_secs(600);
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_logs: Self::MAX_LOGS,
            max_octets: Self::MAX_OCTETS,
            max_iterators: Self::MAX_ITERATORS,
            iterator_idle: Self::ITERATOR_IDLE,
        }
    }
}

/// What the logs of a service share.
pub(crate) struct Shared {
    pub(crate) poa: Poa,
    pub(crate) store: LogStore,
    pub(crate) settings: Settings,
    pub(crate) iterators: Arc<Objects<Cursor>>,
    pub(crate) suppliers: Arc<Objects<Supplier>>,
    /// Has the channels of event logs.
    pub(crate) events: EventService,
    /// What event logs say of themselves.
    pub(crate) generated: Outlet,
    /// Held while records are read for a query.
    pub(crate) scans: Semaphore,
    /// What the ids of logs begin with, so that a reference of another store or run is to no other log.
    instance: String,
    /// The number of the last log that was made.
    last: AtomicU64,
    /// The store could not make the last change.
    is_disabled: AtomicBool,
    logs: Mutex<BTreeMap<u32, Arc<Log>>>,
    /// Held while a log is made.
    making: tokio::sync::Mutex<()>,
}

/// Why a log was not made.
pub(crate) enum NotMade {
    Exists,
    FullAction,
    System(SystemException),
}

impl<E: Into<SystemException>> From<E> for NotMade {
    fn from(error: E) -> Self {
        Self::System(error.into())
    }
}

impl Shared {
    fn logs(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Log>>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn object_id(&self, number: u64) -> String {
        format!("{}{number}", self.instance)
    }

    /// Whether the store makes changes, as far as is known.
    pub(crate) fn is_enabled(&self) -> bool {
        !self.is_disabled.load(Ordering::Relaxed)
    }

    /// Makes a change, which is on disk when this is ready.
    pub(crate) async fn change(&self, change: Change) -> Result<Outcome, StoreError> {
        let made = self.store.change(change).await;
        self.is_disabled.store(made.is_err(), Ordering::Relaxed);
        made
    }

    /// Makes a change of a log.
    pub(crate) async fn change_log(&self, change: Change) -> Result<Outcome, SystemException> {
        match self.change(change).await {
            Ok(Outcome::Gone) => Err(SystemExceptionKind::ObjectNotExist.into()),
            Ok(Outcome::NoRoom) => Err(SystemExceptionKind::NoResources.into()),
            Ok(outcome) => Ok(outcome),
            Err(error) => Err(error.raise()),
        }
    }

    /// Removes the records of a log that was destroyed.
    pub(crate) async fn purge(&self, log: u64) -> Result<(), SystemException> {
        while self.change_log(Change::Purge { log }).await? == Outcome::Changed(MAX_CHANGED) {}
        Ok(())
    }

    /// The factory that makes logs as this one.
    pub(crate) fn factory(&self) -> Result<BasicLogFactoryRef, Error> {
        self.poa.create_reference_with_id(FACTORY_KEY)
    }

    pub(crate) fn event_factory(&self) -> Result<EventLogFactoryRef, Error> {
        self.poa.create_reference_with_id(EVENT_FACTORY_KEY)
    }

    /// The object of a log, of the kind that it is.
    pub(crate) fn typed<R: Interface>(&self, log: &Log) -> Result<R, Error> {
        self.part(log, "")
    }

    /// A further object of a log.
    pub(crate) fn part<R: Interface>(&self, log: &Log, part: &str) -> Result<R, Error> {
        let id = format!("{}{part}", self.object_id(log.number));
        self.poa.create_reference_with_id(id)
    }

    pub(crate) fn reference(&self, log: &Log) -> Result<LogRef, Error> {
        Ok(match log.is_event_log {
            true => self.typed::<EventLogRef>(log)?.into(),
            false => self.typed::<BasicLogRef>(log)?.into(),
        })
    }

    /// Takes the objects of a log away that is destroyed.
    pub(crate) fn forget(&self, log: &Log) {
        for part in ["", CONSUMER, SUPPLIERS] {
            let id = format!("{}{part}", self.object_id(log.number));
            let _ = self.poa.deactivate_object_with_id(id);
        }
        self.logs().remove(&log.id);
    }

    /// Logs of a kind.
    fn all(&self, is_event_log: bool) -> Vec<Arc<Log>> {
        let logs = self.logs();
        let of_kind = logs.values().filter(|log| log.is_event_log == is_event_log);
        of_kind.cloned().collect()
    }

    fn references(&self, is_event_log: bool) -> Result<Vec<Option<LogRef>>, SystemException> {
        let logs = self.all(is_event_log);
        let references = logs.iter().map(|log| Ok(Some(self.reference(log)?)));
        references.collect()
    }

    fn find(&self, id: u32, is_event_log: bool) -> Result<Option<LogRef>, SystemException> {
        let found = self.logs().get(&id).cloned();
        let found = found.filter(|log| log.is_event_log == is_event_log);
        Ok(found.map(|log| self.reference(&log)).transpose()?)
    }

    /// Serves a log.
    fn activate(self: &Arc<Self>, number: u64, stored: StoredLog) -> Result<Arc<Log>, Error> {
        let log = Arc::new(Log::new(Arc::clone(self), number, stored));
        let id = self.object_id(number);
        let object = || LogObject(Arc::clone(&log));
        if log.is_event_log {
            let servant = SupplierAdminServant::new(object());
            self.poa
                .activate_object_with_id(format!("{id}{SUPPLIERS}"), servant)?;
            let servant = PushConsumerServant::new(object());
            self.poa
                .activate_object_with_id(format!("{id}{CONSUMER}"), servant)?;
            let servant = EventLogServant::new(object());
            self.poa.activate_object_with_id(id, servant)?;
        } else {
            let servant = BasicLogServant::new(object());
            self.poa.activate_object_with_id(id, servant)?;
        }
        self.logs().insert(log.id, Arc::clone(&log));
        Ok(log)
    }

    /// Makes a log with the attributes of `stored`, and its id if it has one.
    pub(crate) async fn create(
        self: &Arc<Self>,
        id: Option<u32>,
        mut stored: StoredLog,
    ) -> Result<Arc<Log>, NotMade> {
        if ![WRAP, HALT].contains(&stored.full_action) {
            return Err(NotMade::FullAction);
        }
        let _making = self.making.lock().await;
        stored.id = {
            let logs = self.logs();
            match id {
                Some(id) if logs.contains_key(&id) => return Err(NotMade::Exists),
                _ if logs.len() >= self.settings.max_logs => {
                    return Err(SystemException::from(SystemExceptionKind::NoResources).into());
                }
                Some(id) => id,
                None => free_id(&logs),
            }
        };
        let number = self.last.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let row = octets_of(&stored)?;
        let log = number;
        self.change_log(Change::Create { log, row }).await?;
        let made = self.activate(number, stored)?;
        let (id, time) = (made.id, now());
        made.tell(&ObjectCreation { id, time }).await;
        Ok(made)
    }
}

/// An id behind all others, or one between them.
fn free_id(logs: &BTreeMap<u32, Arc<Log>>) -> u32 {
    let last = logs.last_key_value().map_or(0, |(id, _)| *id);
    last.checked_add(1).unwrap_or_else(|| {
        let mut free = 1..u32::MAX;
        free.find(|id| !logs.contains_key(id)).unwrap_or(0)
    })
}

/// The attributes of a new log.
fn attributes(full_action: u16, max_size: u64) -> StoredLog {
    StoredLog {
        id: 0,
        is_event_log: false,
        qos: ds::QO_S_NONE,
        max_record_life: 0,
        max_size,
        full_action,
        administrative_state: ds::AdministrativeState::Unlocked,
        forwarding_state: ForwardingState::On,
        interval: TimeInterval { start: 0, stop: 0 },
        thresholds: Vec::new(),
        week_mask: Vec::new(),
    }
}

/// The servant of the factory.
struct Factory(Arc<Shared>);

impl LogMgr for Factory {
    async fn list_logs(&self) -> Result<Vec<Option<LogRef>>, SystemException> {
        self.0.references(false)
    }

    async fn find_log(&self, id: u32) -> Result<Option<LogRef>, SystemException> {
        self.0.find(id, false)
    }

    async fn list_logs_by_id(&self) -> Result<Vec<u32>, SystemException> {
        Ok(self.0.all(false).iter().map(|log| log.id).collect())
    }
}

/// The servant of the factory of event logs.
pub(crate) struct EventFactory(pub(crate) Arc<Shared>);

impl EventFactory {
    pub(crate) async fn create(
        &self,
        id: Option<u32>,
        full_action: u16,
        max_size: u64,
        thresholds: &[u16],
    ) -> Result<Arc<Log>, NotMade> {
        let attributes = StoredLog {
            is_event_log: true,
            thresholds: thresholds.to_vec(),
            ..attributes(full_action, max_size)
        };
        self.0.create(id, attributes).await
    }
}

impl LogMgr for EventFactory {
    async fn list_logs(&self) -> Result<Vec<Option<LogRef>>, SystemException> {
        self.0.references(true)
    }

    async fn find_log(&self, id: u32) -> Result<Option<LogRef>, SystemException> {
        self.0.find(id, true)
    }

    async fn list_logs_by_id(&self) -> Result<Vec<u32>, SystemException> {
        Ok(self.0.all(true).iter().map(|log| log.id).collect())
    }
}

impl BasicLogFactory for Factory {
    async fn create(
        &self,
        full_action: u16,
        max_size: u64,
    ) -> Result<(Option<BasicLogRef>, u32), basic_log_factory::CreateError> {
        match self.0.create(None, attributes(full_action, max_size)).await {
            Ok(log) => Ok((Some(self.0.typed(&log)?), log.id)),
            Err(NotMade::FullAction) => Err(InvalidLogFullAction {}.into()),
            Err(NotMade::Exists) => {
                Err(SystemException::from(SystemExceptionKind::Internal).into())
            }
            Err(NotMade::System(exception)) => Err(exception.into()),
        }
    }

    async fn create_with_id(
        &self,
        id: u32,
        full_action: u16,
        max_size: u64,
    ) -> Result<Option<BasicLogRef>, basic_log_factory::CreateWithIdError> {
        let made = self
            .0
            .create(Some(id), attributes(full_action, max_size))
            .await;
        match made {
            Ok(log) => Ok(Some(self.0.typed(&log)?)),
            Err(NotMade::FullAction) => Err(InvalidLogFullAction {}.into()),
            Err(NotMade::Exists) => Err(LogIdAlreadyExists {}.into()),
            Err(NotMade::System(exception)) => Err(exception.into()),
        }
    }
}

/// A log service of an ORB. A clone is another handle of it.
///
/// Its logs are persistent objects: references to them are the same octets in each run with the same store, endpoints and
/// server id.
#[derive(Clone)]
pub struct LogService {
    shared: Arc<Shared>,
    factory: BasicLogFactoryRef,
    event_factory: EventLogFactoryRef,
}

impl core::fmt::Debug for LogService {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LogService")
            .field("factory", &self.factory)
            .finish_non_exhaustive()
    }
}

impl LogService {
    /// Serves the logs of a store, and makes others; the channels of event logs are those of an event service of the same ORB. Reads the
    /// attributes of all, and none of their records.
    ///
    /// # Errors
    /// The ORB listens nowhere, or has a service already; the store cannot be read.
    pub fn start(
        orb: &Orb,
        store: LogStore,
        events: EventService,
        mut settings: Settings,
    ) -> Result<Self, Error> {
        if !store.is_durable() {
            settings.max_octets = settings.max_octets.min(Settings::MAX_OCTETS_IN_MEMORY);
        }
        let policies = Policies::PERSISTENT
            .with_id_assignment(IdAssignment::User)
            .with_id_uniqueness(IdUniqueness::Multiple);
        let poa = orb.root_poa().create_poa_with(POA, policies, None)?;
        let located = Policies::default()
            .with_id_assignment(IdAssignment::User)
            .with_id_uniqueness(IdUniqueness::Multiple)
            .with_servant_retention(ServantRetention::NonRetain)
            .with_request_processing(RequestProcessing::ServantManager);
        let manager = poa.the_poa_manager();
        let located = |name| poa.create_poa_with(name, located, Some(manager));
        let iterators_poa = located(ITERATORS_POA)?;
        let iterators = Objects::new(iterators_poa.clone(), settings.max_iterators);
        let iterators = Arc::new(iterators);
        iterators_poa.set_servant_locator(Locator(Arc::clone(&iterators)))?;
        let suppliers_poa = located(SUPPLIERS_POA)?;
        let suppliers = Arc::new(Objects::new(suppliers_poa.clone(), MAX_SUPPLIERS));
        suppliers_poa.set_servant_locator(Locator(Arc::clone(&suppliers)))?;
        let (all, last) = store.load()?;
        let shared = Arc::new(Shared {
            iterators,
            suppliers,
            events,
            generated: Outlet::default(),
            poa: poa.clone(),
            settings,
            scans: Semaphore::new(MAX_SCANS),
            instance: format!("{:016x}.", store.id() >> 64),
            last: AtomicU64::new(last),
            is_disabled: AtomicBool::new(false),
            logs: Mutex::default(),
            making: tokio::sync::Mutex::default(),
            store,
        });
        for (number, stored) in all {
            shared.activate(number, stored)?;
        }
        let servant = BasicLogFactoryServant::new(Factory(Arc::clone(&shared)));
        let factory = poa.activate_object_with_id(FACTORY_KEY, servant)?;
        orb.key_table().bind(FACTORY_KEY, &factory)?;
        let servant = EventLogFactoryServant::new(EventFactory(Arc::clone(&shared)));
        let event_factory = poa.activate_object_with_id(EVENT_FACTORY_KEY, servant)?;
        orb.key_table().bind(EVENT_FACTORY_KEY, &event_factory)?;
        poa.the_poa_manager().activate()?;
        Ok(Self {
            shared,
            factory,
            event_factory,
        })
    }

    /// The factory of logs.
    #[must_use]
    pub fn factory(&self) -> &BasicLogFactoryRef {
        &self.factory
    }

    /// The factory of logs that are event channels.
    #[must_use]
    pub fn event_factory(&self) -> &EventLogFactoryRef {
        &self.event_factory
    }

    /// Removes records that are older than their log keeps them, and iterators that were not used for
    /// [`Settings::iterator_idle`]. To be called from time to time: queries see to the records of their log, and to no others.
    ///
    /// # Cancel safety
    /// The rest is removed the next time.
    pub async fn sweep(&self) {
        let idle = self.shared.settings.iterator_idle;
        self.shared.iterators.evict_idle(idle);
        for log in self.shared.store.removed().unwrap_or_default() {
            let _ = self.shared.purge(log).await;
        }
        let logs: Vec<_> = self.shared.logs().values().cloned().collect();
        for log in logs {
            log.expire().await;
        }
    }

    /// Ends the store, when all that was begun is done.
    ///
    /// # Cancel safety
    /// The store is closed all the same; only the wait ends.
    pub async fn close(&self) {
        self.shared.store.close().await;
    }
}
