//! The service as an application starts it.

use crate::ds_log_admin::{
    self as ds, BasicLogFactory, BasicLogFactoryRef, BasicLogFactoryServant, BasicLogRef,
    BasicLogServant, ForwardingState, HALT, InvalidLogFullAction, LogIdAlreadyExists, LogMgr,
    LogRef, TimeInterval, WRAP, basic_log_factory,
};
use crate::iterators::{Iterators, Locator};
use crate::log::{Log, LogObject};
use crate::store::{Change, LogStore, MAX_CHANGED, Outcome, octets_of};
use crate::stored::StoredLog;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use zorb::{
    CompletionStatus, Error, IdAssignment, IdUniqueness, Orb, Poa, Policies, RequestProcessing,
    ServantRetention, SystemException, SystemExceptionKind,
};
use zorb_service::StoreError;

/// The plain key of the factory of logs: `corbaloc::host:11172/BasicLogFactory`.
pub const FACTORY_KEY: &str = "BasicLogFactory";
/// Where the program listens, on this host alone.
pub const DEFAULT_ENDPOINT: &str = "iiop://127.0.0.1:11172";
/// The POA of all objects, whose name is part of all references.
const POA: &str = "logs";
/// The POA of the iterators, which end with the run.
const ITERATORS_POA: &str = "iterators";
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

/// The exception for a failure of the store, whose cause goes to the log of the program.
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

/// What the logs of a service share.
pub(crate) struct Shared {
    pub(crate) poa: Poa,
    pub(crate) store: LogStore,
    pub(crate) settings: Settings,
    pub(crate) iterators: Arc<Iterators>,
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
            Err(error) => Err(store_failed(&error)),
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

    pub(crate) fn reference(&self, log: &Log) -> Result<BasicLogRef, Error> {
        let id = self.object_id(log.number);
        self.poa.create_reference_with_id(id)
    }

    /// Takes the object of a log away that is destroyed.
    pub(crate) fn forget(&self, log: &Log) {
        let _ = self
            .poa
            .deactivate_object_with_id(self.object_id(log.number));
        self.logs().remove(&log.id);
    }

    /// Serves a log.
    fn activate(self: &Arc<Self>, number: u64, stored: StoredLog) -> Result<Arc<Log>, Error> {
        let log = Arc::new(Log::new(Arc::clone(self), number, stored));
        let servant = BasicLogServant::new(LogObject(Arc::clone(&log)));
        let _: BasicLogRef = self
            .poa
            .activate_object_with_id(self.object_id(number), servant)?;
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
        Ok(self.activate(number, stored)?)
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
        let logs: Vec<_> = self.0.logs().values().cloned().collect();
        let references = logs.iter().map(|log| {
            let reference = self.0.reference(log)?;
            Ok(Some(reference.into()))
        });
        references.collect()
    }

    async fn find_log(&self, id: u32) -> Result<Option<LogRef>, SystemException> {
        let found = self.0.logs().get(&id).cloned();
        let reference = found.map(|log| self.0.reference(&log)).transpose()?;
        Ok(reference.map(Into::into))
    }

    async fn list_logs_by_id(&self) -> Result<Vec<u32>, SystemException> {
        Ok(self.0.logs().keys().copied().collect())
    }
}

impl BasicLogFactory for Factory {
    async fn create(
        &self,
        full_action: u16,
        max_size: u64,
    ) -> Result<(Option<BasicLogRef>, u32), basic_log_factory::CreateError> {
        match self.0.create(None, attributes(full_action, max_size)).await {
            Ok(log) => Ok((Some(self.0.reference(&log)?), log.id)),
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
            Ok(log) => Ok(Some(self.0.reference(&log)?)),
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
}

impl core::fmt::Debug for LogService {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LogService")
            .field("factory", &self.factory)
            .finish_non_exhaustive()
    }
}

impl LogService {
    /// Serves the logs of a store, and makes others. Reads the attributes of all, and none of their records.
    ///
    /// # Errors
    /// The ORB listens nowhere, or has a service already; the store cannot be read.
    pub fn start(orb: &Orb, store: LogStore, mut settings: Settings) -> Result<Self, Error> {
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
        let iterators_poa = poa.create_poa_with(ITERATORS_POA, located, Some(manager))?;
        let (max, idle) = (settings.max_iterators, settings.iterator_idle);
        let iterators = Arc::new(Iterators::new(iterators_poa.clone(), max, idle));
        iterators_poa.set_servant_locator(Locator(Arc::clone(&iterators)))?;
        let (all, last) = store.load()?;
        let shared = Arc::new(Shared {
            iterators,
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
        poa.the_poa_manager().activate()?;
        Ok(Self { shared, factory })
    }

    /// The factory of logs.
    #[must_use]
    pub fn factory(&self) -> &BasicLogFactoryRef {
        &self.factory
    }

    /// Removes records that are older than their log keeps them, and iterators that were not used for
    /// [`Settings::iterator_idle`]. To be called from time to time: queries see to the records of their log, and to no others.
    ///
    /// # Cancel safety
    /// The rest is removed the next time.
    pub async fn sweep(&self) {
        self.shared.iterators.evict_idle();
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
