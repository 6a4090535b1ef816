//! A log: its attributes, what is written to it, and what is read from it.

use crate::channel::Outlet;
use crate::ds_log_admin::{
    self as ds, AdministrativeState, AvailabilityStatus, ForwardingState, HALT, InvalidAttribute,
    InvalidConstraint, InvalidGrammar, InvalidLogFullAction, InvalidParam, InvalidRecordId,
    InvalidThreshold, IteratorRef, LogDisabled, LogFull, LogIdAlreadyExists, LogLocked, LogMgrRef,
    LogOffDuty, LogRecord, LogRef, NVPair, OperationalState, QO_S_FLUSH, QO_S_NONE,
    QO_S_RELIABILITY, TimeInterval, UnsupportedQoS, WRAP, WeekMaskItem, log,
};
use crate::ds_log_notification::ObjectDeletion;
use crate::iterators::{Cursor, Selection};
use crate::schedule::{UNITS_OF_A_SECOND, check_interval, check_mask, is_on_duty, now};
use crate::service::{NotMade, Shared};
use crate::store::{Change, MAX_CHANGED, Order, Outcome, Place, Room, Sizes, octets_of};
use crate::stored::{StoredLog, StoredRecord};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;
use zorb::{Any, EncodeError, SystemException, SystemExceptionKind};
use zorb_events::cos_event_channel_admin::EventChannelRef;
use zorb_events::etcl::Constraint;
use zorb_service::StoreError;

/// A log of a service.
pub(crate) struct Log {
    pub(crate) shared: Arc<Shared>,
    /// The number of the log in the store, which no other gets.
    pub(crate) number: u64,
    pub(crate) id: u32,
    pub(crate) is_event_log: bool,
    attributes: Mutex<StoredLog>,
    /// Held while other attributes are stored.
    changing: tokio::sync::Mutex<()>,
    is_destroyed: AtomicBool,
    /// What an event log gives its consumers.
    pub(crate) forwarded: Outlet,
    /// The channel of its suppliers that are pulled.
    pub(crate) pulled: OnceCell<EventChannelRef>,
}

/// Why records were not written.
pub(crate) enum Refused {
    /// There is no room. So many were written.
    Full(usize),
    OffDuty,
    Locked,
    Disabled,
    System(SystemException),
}

/// What is done with records that a constraint selects.
#[derive(Clone, Copy)]
enum Each<'a> {
    Count,
    Delete,
    Annotate(&'a [NVPair]),
}

/// Whether a record is selected by a constraint. Evaluation is bounded.
pub(crate) fn matches(constraint: &Constraint, record: &LogRecord) -> bool {
    Any::new(record).is_ok_and(|record| constraint.matches(&record))
}

/// Reads a constraint of a client.
fn constraint<E: From<InvalidGrammar> + From<InvalidConstraint>>(
    grammar: &str,
    text: &str,
) -> Result<Arc<Constraint>, E> {
    if grammar != ds::DEFAULT_GRAMMAR {
        return Err(InvalidGrammar {}.into());
    }
    let constraint = text.parse::<Constraint>();
    Ok(Arc::new(constraint.map_err(|_| InvalidConstraint {})?))
}

/// Attributes of records have names, and each a name of its own.
fn check_attributes(attributes: &[NVPair]) -> Result<(), InvalidAttribute> {
    let mut names = HashSet::new();
    let wrong = attributes
        .iter()
        .find(|one| one.name.is_empty() || !names.insert(&one.name));
    match wrong {
        None => Ok(()),
        Some(NVPair { name, value }) => Err(InvalidAttribute {
            attr_name: name.clone(),
            value: value.clone(),
        }),
    }
}

/// A count of many as an operation returns it.
fn count(many: usize) -> u32 {
    u32::try_from(many).unwrap_or(u32::MAX)
}

pub(crate) fn stored_record(attributes: &[NVPair], info: &Any) -> Result<Vec<u8>, EncodeError> {
    octets_of(&StoredRecord {
        attr_list: attributes.to_vec(),
        info: info.clone(),
    })
}

impl Log {
    pub(crate) fn new(shared: Arc<Shared>, number: u64, stored: StoredLog) -> Self {
        Self {
            shared,
            number,
            id: stored.id,
            is_event_log: stored.is_event_log,
            attributes: Mutex::new(stored),
            changing: tokio::sync::Mutex::default(),
            is_destroyed: AtomicBool::new(false),
            forwarded: Outlet::default(),
            pulled: OnceCell::new(),
        }
    }

    pub(crate) fn attributes(&self) -> MutexGuard<'_, StoredLog> {
        self.attributes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A log that was destroyed has no records.
    pub(crate) fn check_exists(&self) -> Result<(), SystemException> {
        match self.is_destroyed.load(Ordering::Relaxed) {
            true => Err(SystemExceptionKind::ObjectNotExist.into()),
            false => Ok(()),
        }
    }

    fn sizes(&self) -> Result<Sizes, SystemException> {
        let sizes = self.shared.store.sizes(self.number)?;
        sizes.ok_or_else(|| SystemExceptionKind::ObjectNotExist.into())
    }

    fn room(&self) -> Room {
        let attributes = self.attributes();
        Room {
            max_size: attributes.max_size,
            max_octets: self.shared.settings.max_octets,
            wraps: attributes.full_action == WRAP,
        }
    }

    /// Gives the log other attributes, which are stored before they hold. `false` if there are more records than its new size has
    /// room for.
    async fn set(&self, set: impl FnOnce(&mut StoredLog)) -> Result<bool, SystemException> {
        let _changing = self.changing.lock().await;
        let before = self.attributes().clone();
        let mut after = before.clone();
        set(&mut after);
        let change = Change::Set {
            log: self.number,
            row: octets_of(&after)?,
            max_size: (before.max_size != after.max_size).then_some(after.max_size),
        };
        let is_set = self.shared.change_log(change).await? != Outcome::TooSmall;
        if is_set {
            *self.attributes() = after.clone();
            self.tell_changes(&before, &after).await;
        }
        Ok(is_set)
    }

    /// Removes what is older than the log keeps its records. Where the store makes no changes they stay, and can be read.
    pub(crate) async fn expire(&self) {
        let life = u64::from(self.attributes().max_record_life);
        if life == 0 {
            return;
        }
        let log = self.number;
        let before = now().saturating_sub(life.saturating_mul(UNITS_OF_A_SECOND));
        let is_old = |oldest: Option<u64>| oldest.is_some_and(|oldest| oldest < before);
        while self.shared.store.oldest(log).is_ok_and(is_old) {
            let expired = self.shared.change(Change::Expire { log, before }).await;
            if !matches!(expired, Ok(Outcome::Changed(1..))) {
                return;
            }
        }
    }

    /// Writes records. A part of them is written where there is no room for all.
    pub(crate) async fn write(
        &self,
        records: Result<Vec<Vec<u8>>, EncodeError>,
    ) -> Result<(), Refused> {
        let records = records.map_err(|error| Refused::System(error.into()))?;
        self.expire().await;
        {
            let attributes = self.attributes();
            if attributes.administrative_state == AdministrativeState::Locked {
                return Err(Refused::Locked);
            }
            if !is_on_duty(&attributes.interval, &attributes.week_mask, now()) {
                return Err(Refused::OffDuty);
            }
        }
        let expected = records.len();
        let change = Change::Write {
            log: self.number,
            records,
            room: self.room(),
        };
        match self.shared.change(change).await {
            Ok(Outcome::Written {
                records,
                before,
                after,
            }) => {
                self.tell_thresholds(before, after).await;
                match records == expected {
                    true => Ok(()),
                    false => Err(Refused::Full(records)),
                }
            }
            Ok(_) => Err(Refused::System(SystemExceptionKind::ObjectNotExist.into())),
            Err(StoreError::Full) => Err(Refused::Disabled),
            Err(error) => Err(Refused::System(error.raise())),
        }
    }

    async fn write_or<E>(&self, records: Result<Vec<Vec<u8>>, EncodeError>) -> Result<(), E>
    where
        E: From<LogFull> + From<LogOffDuty> + From<LogLocked> + From<LogDisabled>,
        E: From<SystemException>,
    {
        self.write(records).await.map_err(|refused| match refused {
            Refused::Full(written) => {
                let n_records_written = i16::try_from(written).unwrap_or(i16::MAX);
                LogFull { n_records_written }.into()
            }
            Refused::OffDuty => LogOffDuty {}.into(),
            Refused::Locked => LogLocked {}.into(),
            Refused::Disabled => LogDisabled {}.into(),
            Refused::System(exception) => exception.into(),
        })
    }

    /// What a selection has first, and an iterator if a reply has no room for all.
    async fn select(
        self: &Arc<Self>,
        selection: Selection,
    ) -> Result<(Vec<LogRecord>, Option<IteratorRef>), SystemException> {
        self.expire().await;
        let cursor = Cursor::new(Arc::clone(self), selection);
        let (first, has_more) = cursor.first().await?;
        let rest = match has_more {
            true => Some(self.shared.iterators.add(cursor)?),
            false => None,
        };
        Ok((first, rest))
    }

    /// Does something with the records that a constraint selects, some at a time; how many they were.
    async fn for_each(
        self: &Arc<Self>,
        constraint: Arc<Constraint>,
        each: Each<'_>,
    ) -> Result<u32, SystemException> {
        self.expire().await;
        let (mut at, mut counted) = (Some(Place::default()), 0_usize);
        while let Some(place) = at {
            let (this, constraint) = (Arc::clone(self), Arc::clone(&constraint));
            let (found, next) = self
                .reading(move || {
                    let mut found = Vec::new();
                    let store = &this.shared.store;
                    let next = store.scan(this.number, Order::Ids, place, |kept| {
                        let record = kept.record();
                        if record.is_some_and(|record| matches(&constraint, &record)) {
                            found.push(kept.id);
                        }
                        ControlFlow::Continue(())
                    })?;
                    Ok((found, next))
                })
                .await?;
            counted = counted.saturating_add(match each {
                _ if found.is_empty() => 0,
                Each::Count => found.len(),
                Each::Delete => self.delete(found).await?,
                Each::Annotate(attributes) => self.annotate(found, attributes).await?,
            });
            at = next;
        }
        Ok(count(counted))
    }

    /// Reads records on a thread that may block, when it is this request's turn.
    pub(crate) async fn reading<R: Send + 'static>(
        &self,
        read: impl FnOnce() -> Result<R, SystemException> + Send + 'static,
    ) -> Result<R, SystemException> {
        self.check_exists()?;
        let turn = self.shared.scans.acquire().await;
        let read = tokio::task::spawn_blocking(read).await;
        drop(turn);
        read.unwrap_or_else(|_| Err(SystemExceptionKind::Internal.into()))
    }

    /// Makes a change of some records; how many they were.
    async fn change_records(&self, change: Change) -> Result<usize, SystemException> {
        match self.shared.change_log(change).await? {
            Outcome::Changed(changed) => Ok(changed),
            _ => Err(SystemExceptionKind::Internal.into()),
        }
    }

    async fn delete(&self, ids: Vec<u64>) -> Result<usize, SystemException> {
        let log = self.number;
        self.change_records(Change::Delete { log, ids }).await
    }

    async fn annotate(
        &self,
        ids: Vec<u64>,
        attributes: &[NVPair],
    ) -> Result<usize, SystemException> {
        let change = Change::Annotate {
            log: self.number,
            ids,
            attributes: attributes.to_vec(),
            room: self.room(),
        };
        self.change_records(change).await
    }

    /// A log with the attributes of this one, and no records.
    async fn copy(&self, id: Option<u32>) -> Result<(LogRef, u32), NotMade> {
        let attributes = self.attributes().clone();
        let made = self.shared.create(id, attributes).await?;
        Ok((self.shared.reference(&made)?, made.id))
    }

    pub(crate) async fn destroy(&self) -> Result<(), SystemException> {
        let log = self.number;
        self.shared.change_log(Change::Destroy { log }).await?;
        self.is_destroyed.store(true, Ordering::Relaxed);
        self.shared.forget(self);
        // What remains is removed at the next sweep.
        let _ = self.shared.purge(log).await;
        let (id, time) = (self.id, now());
        self.tell(&ObjectDeletion { id, time }).await;
        Ok(())
    }
}

/// The servant of a log.
pub(crate) struct LogObject(pub(crate) Arc<Log>);

impl ds::Log for LogObject {
    async fn my_factory(&self) -> Result<Option<LogMgrRef>, SystemException> {
        let shared = &self.0.shared;
        Ok(Some(match self.0.is_event_log {
            true => shared.event_factory()?.into(),
            false => shared.factory()?.into(),
        }))
    }

    async fn id(&self) -> Result<u32, SystemException> {
        Ok(self.0.id)
    }

    async fn get_log_qos(&self) -> Result<Vec<u16>, SystemException> {
        Ok(vec![self.0.attributes().qos])
    }

    async fn set_log_qos(&self, qos: &[u16]) -> Result<(), log::SetLogQosError> {
        let is_durable = self.0.shared.store.is_durable();
        let is_supported = |qos: &u16| match *qos {
            QO_S_NONE => true,
            QO_S_FLUSH | QO_S_RELIABILITY => is_durable,
            _ => false,
        };
        let denied: Vec<u16> = qos.iter().copied().filter(|it| !is_supported(it)).collect();
        if !denied.is_empty() {
            return Err(UnsupportedQoS { denied }.into());
        }
        let highest = qos.iter().copied().max().unwrap_or(QO_S_NONE);
        self.0.set(|log| log.qos = highest).await?;
        Ok(())
    }

    async fn get_max_record_life(&self) -> Result<u32, SystemException> {
        Ok(self.0.attributes().max_record_life)
    }

    async fn set_max_record_life(&self, life: u32) -> Result<(), SystemException> {
        self.0.set(|log| log.max_record_life = life).await?;
        Ok(())
    }

    async fn get_max_size(&self) -> Result<u64, SystemException> {
        Ok(self.0.attributes().max_size)
    }

    async fn set_max_size(&self, size: u64) -> Result<(), log::SetMaxSizeError> {
        self.0.expire().await;
        match self.0.set(|log| log.max_size = size).await? {
            true => Ok(()),
            false => {
                let details = format!("{size} octets are fewer than the records have");
                Err(InvalidParam { details }.into())
            }
        }
    }

    async fn get_current_size(&self) -> Result<u64, SystemException> {
        self.0.expire().await;
        Ok(self.0.sizes()?.octets)
    }

    async fn get_n_records(&self) -> Result<u64, SystemException> {
        self.0.expire().await;
        Ok(self.0.sizes()?.records)
    }

    async fn get_log_full_action(&self) -> Result<u16, SystemException> {
        Ok(self.0.attributes().full_action)
    }

    async fn set_log_full_action(&self, action: u16) -> Result<(), log::SetLogFullActionError> {
        if ![WRAP, HALT].contains(&action) {
            return Err(InvalidLogFullAction {}.into());
        }
        self.0.set(|log| log.full_action = action).await?;
        Ok(())
    }

    async fn get_administrative_state(&self) -> Result<AdministrativeState, SystemException> {
        Ok(self.0.attributes().administrative_state)
    }

    async fn set_administrative_state(
        &self,
        state: AdministrativeState,
    ) -> Result<(), SystemException> {
        self.0.set(|log| log.administrative_state = state).await?;
        Ok(())
    }

    async fn get_forwarding_state(&self) -> Result<ForwardingState, SystemException> {
        Ok(self.0.attributes().forwarding_state)
    }

    async fn set_forwarding_state(&self, state: ForwardingState) -> Result<(), SystemException> {
        self.0.set(|log| log.forwarding_state = state).await?;
        Ok(())
    }

    async fn get_operational_state(&self) -> Result<OperationalState, SystemException> {
        Ok(match self.0.shared.is_enabled() {
            true => OperationalState::Enabled,
            false => OperationalState::Disabled,
        })
    }

    async fn get_interval(&self) -> Result<TimeInterval, SystemException> {
        Ok(self.0.attributes().interval.clone())
    }

    async fn set_interval(&self, interval: &TimeInterval) -> Result<(), log::SetIntervalError> {
        check_interval(interval)?;
        self.0.set(|log| log.interval = interval.clone()).await?;
        Ok(())
    }

    async fn get_availability_status(&self) -> Result<AvailabilityStatus, SystemException> {
        self.0.expire().await;
        let log_full = self.0.sizes()?.is_full;
        let attributes = self.0.attributes();
        Ok(AvailabilityStatus {
            off_duty: !is_on_duty(&attributes.interval, &attributes.week_mask, now()),
            log_full,
        })
    }

    async fn get_capacity_alarm_thresholds(&self) -> Result<Vec<u16>, SystemException> {
        Ok(self.0.attributes().thresholds.clone())
    }

    async fn set_capacity_alarm_thresholds(
        &self,
        threshs: &[u16],
    ) -> Result<(), log::SetCapacityAlarmThresholdsError> {
        check_thresholds(threshs)?;
        self.0.set(|log| log.thresholds = threshs.to_vec()).await?;
        Ok(())
    }

    async fn get_week_mask(&self) -> Result<Vec<WeekMaskItem>, SystemException> {
        Ok(self.0.attributes().week_mask.clone())
    }

    async fn set_week_mask(&self, masks: &[WeekMaskItem]) -> Result<(), log::SetWeekMaskError> {
        check_mask(masks)?;
        self.0.set(|log| log.week_mask = masks.to_vec()).await?;
        Ok(())
    }

    async fn query(
        &self,
        grammar: &str,
        c: &str,
    ) -> Result<(Vec<LogRecord>, Option<IteratorRef>), log::QueryError> {
        let constraint = constraint::<log::QueryError>(grammar, c)?;
        Ok(self.0.select(Selection::Matching(constraint)).await?)
    }

    async fn retrieve(
        &self,
        from_time: u64,
        how_many: i32,
    ) -> Result<(Vec<LogRecord>, Option<IteratorRef>), SystemException> {
        let limit = how_many.unsigned_abs();
        let selection = match how_many >= 0 {
            true => Selection::Since(from_time, limit),
            false => Selection::Before(from_time, limit),
        };
        self.0.select(selection).await
    }

    async fn match_(&self, grammar: &str, c: &str) -> Result<u32, log::MatchError> {
        let constraint = constraint::<log::MatchError>(grammar, c)?;
        Ok(self.0.for_each(constraint, Each::Count).await?)
    }

    async fn delete_records(&self, grammar: &str, c: &str) -> Result<u32, log::DeleteRecordsError> {
        let constraint = constraint::<log::DeleteRecordsError>(grammar, c)?;
        Ok(self.0.for_each(constraint, Each::Delete).await?)
    }

    async fn delete_records_by_id(&self, ids: &[u64]) -> Result<u32, SystemException> {
        self.0.expire().await;
        let mut deleted = 0_usize;
        for ids in ids.chunks(MAX_CHANGED) {
            deleted = deleted.saturating_add(self.0.delete(ids.to_vec()).await?);
        }
        Ok(count(deleted))
    }

    async fn write_records(&self, records: &[Any]) -> Result<(), log::WriteRecordsError> {
        let records = records.iter().map(|info| stored_record(&[], info));
        self.0.write_or(records.collect()).await
    }

    async fn write_recordlist(&self, list: &[LogRecord]) -> Result<(), log::WriteRecordlistError> {
        let records = list.iter().map(|it| stored_record(&it.attr_list, &it.info));
        self.0.write_or(records.collect()).await
    }

    async fn set_record_attribute(
        &self,
        id: u64,
        attr_list: &[NVPair],
    ) -> Result<(), log::SetRecordAttributeError> {
        check_attributes(attr_list)?;
        self.0.expire().await;
        match self.0.annotate(vec![id], attr_list).await? {
            0 => Err(InvalidRecordId {}.into()),
            _ => Ok(()),
        }
    }

    async fn set_records_attribute(
        &self,
        grammar: &str,
        c: &str,
        attr_list: &[NVPair],
    ) -> Result<u32, log::SetRecordsAttributeError> {
        let constraint = constraint::<log::SetRecordsAttributeError>(grammar, c)?;
        check_attributes(attr_list)?;
        let each = Each::Annotate(attr_list);
        Ok(self.0.for_each(constraint, each).await?)
    }

    async fn get_record_attribute(
        &self,
        id: u64,
    ) -> Result<Vec<NVPair>, log::GetRecordAttributeError> {
        self.0.expire().await;
        match self.0.shared.store.record(self.0.number, id)? {
            Some(record) => Ok(record.attr_list),
            None => Err(InvalidRecordId {}.into()),
        }
    }

    async fn copy(&self) -> Result<(Option<LogRef>, u32), SystemException> {
        match self.0.copy(None).await {
            Ok((log, id)) => Ok((Some(log), id)),
            Err(NotMade::System(exception)) => Err(exception),
            Err(_) => Err(SystemExceptionKind::Internal.into()),
        }
    }

    async fn copy_with_id(&self, id: u32) -> Result<Option<LogRef>, log::CopyWithIdError> {
        match self.0.copy(Some(id)).await {
            Ok((log, _)) => Ok(Some(log)),
            Err(NotMade::Exists) => Err(LogIdAlreadyExists {}.into()),
            Err(NotMade::System(exception)) => Err(exception.into()),
            Err(NotMade::FullAction) => {
                Err(SystemException::from(SystemExceptionKind::Internal).into())
            }
        }
    }

    async fn flush(&self) -> Result<(), log::FlushError> {
        // What was answered is on disk.
        match self.0.shared.store.is_durable() {
            true => Ok(()),
            false => Err(UnsupportedQoS {
                denied: vec![QO_S_FLUSH],
            }
            .into()),
        }
    }
}

/// Thresholds are percentages, each above the one before.
pub(crate) fn check_thresholds(thresholds: &[u16]) -> Result<(), InvalidThreshold> {
    match thresholds.is_sorted_by(|one, next| one < next)
        && thresholds.iter().all(|threshold| *threshold <= 100)
    {
        true => Ok(()),
        false => Err(InvalidThreshold {}),
    }
}

impl ds::BasicLog for LogObject {
    async fn destroy(&self) -> Result<(), SystemException> {
        self.0.destroy().await
    }
}
