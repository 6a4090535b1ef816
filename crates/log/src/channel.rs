//! Logs that are event channels: what suppliers push is written, then forwarded. And the events that such logs generate.
//!
//! Suppliers push to objects of the log, which answer when the event is stored. Consumers, and suppliers that are pulled, have channels of
//! an event service of this process, which are made when one asks for them.

use crate::ds_event_log_admin as event_log;
use crate::ds_log_admin::{self as ds, ForwardingState};
use crate::ds_log_notification::{
    ADMINISTRATIVE_STATE, AttributeValueChange, CAPACITY_ALARM_THRESHOLD, CRITICAL,
    FORWARDING_STATE, LOG_FULL_ACTION, MAX_LOG_SIZE, MAX_RECORD_LIFE, MINOR, ProcessingErrorAlarm,
    QUALITY_OF_SERVICE, START_TIME, STOP_TIME, StateChange, ThresholdAlarm, WEEK_MASK,
};
use crate::iterators::Served;
use crate::log::{Log, LogObject, Refused};
use crate::schedule::now;
use crate::stored::StoredLog;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;
use zorb::{Any, IdlType, PoaCurrent, Servant, SystemException, SystemExceptionKind};
use zorb_events::EventService;
use zorb_events::cos_event_channel_admin::{
    self as admin, AlreadyConnected, EventChannelRef, ProxyPushConsumerRef,
    ProxyPushConsumerServant,
};
use zorb_events::cos_event_comm::{self as comm, Disconnected, PushConsumerRef, PushSupplierRef};

/// Suppliers of all logs that may be connected; beyond them the one that has pushed nothing for the longest time is disconnected.
pub(crate) const MAX_SUPPLIERS: usize = 10_000;

/// A channel of the event service, which is made when it is asked for.
#[derive(Default)]
pub(crate) struct Outlet(OnceCell<(EventChannelRef, ProxyPushConsumerRef)>);

fn internal<E>(_: E) -> SystemException {
    SystemExceptionKind::Internal.into()
}

fn present<T>(made: Option<T>) -> Result<T, SystemException> {
    made.ok_or_else(|| SystemExceptionKind::Internal.into())
}

async fn new_channel(events: &EventService) -> Result<EventChannelRef, SystemException> {
    let factory = events.notification_factory();
    let made = factory.create_channel(&[], &[]).await;
    let (channel, _) = made.map_err(|_| SystemExceptionKind::NoResources)?;
    Ok(present(channel)?.into())
}

impl Outlet {
    pub(crate) async fn channel(
        &self,
        events: &EventService,
    ) -> Result<&EventChannelRef, SystemException> {
        let made = self.0.get_or_try_init(async || {
            let channel = new_channel(events).await?;
            let suppliers = present(channel.for_suppliers().await?)?;
            let proxy = present(suppliers.obtain_push_consumer().await?)?;
            proxy.connect_push_supplier(None).await.map_err(internal)?;
            Ok::<_, SystemException>((channel, proxy))
        });
        Ok(&made.await?.0)
    }

    /// Gives an event to the consumers there are. Those of a channel that nobody has asked for are none.
    pub(crate) async fn push(&self, event: &Any) {
        if let Some((_, proxy)) = self.0.get()
            && let Err(error) = proxy.push(event).await
        {
            tracing::warn!(%error, "an event is not forwarded");
        }
    }

    pub(crate) async fn destroy(&self) {
        if let Some((channel, _)) = self.0.get() {
            let _ = channel.destroy().await;
        }
    }
}

impl Log {
    /// Writes an event, as far as the log is open to it, and forwards it. Only what the store fails at is an error, for which the supplier
    /// may push the event again.
    async fn publish(&self, event: &Any) -> Result<(), SystemException> {
        let record = crate::log::stored_record(&[], event);
        let written = self.write(record.map(|record| vec![record])).await;
        match written {
            Ok(()) | Err(Refused::Full(_) | Refused::OffDuty | Refused::Locked) => {}
            Err(Refused::Disabled) => {
                let alarm = ProcessingErrorAlarm {
                    error_num: 1,
                    error_string: format!("log {}: there is no room on disk", self.id),
                };
                self.tell(&alarm).await;
                return Err(SystemExceptionKind::NoResources.into());
            }
            Err(Refused::System(exception)) => return Err(exception),
        }
        if self.attributes().forwarding_state == ForwardingState::On {
            self.forwarded.push(event).await;
        }
        Ok(())
    }

    /// Tells the consumers of the factory of event logs.
    pub(crate) async fn tell<T: IdlType>(&self, event: &T) {
        if self.is_event_log
            && let Ok(event) = Any::new(event)
        {
            self.shared.generated.push(&event).await;
        }
    }

    /// Tells which attributes and states have changed.
    pub(crate) async fn tell_changes(&self, before: &StoredLog, after: &StoredLog) {
        if !self.is_event_log || before == after {
            return;
        }
        let logref = self.shared.reference(self).ok();
        let (id, time) = (self.id, now());
        let attributes = |log: &StoredLog| {
            [
                (CAPACITY_ALARM_THRESHOLD, Any::new(&log.thresholds)),
                (LOG_FULL_ACTION, Any::new(&log.full_action)),
                (MAX_LOG_SIZE, Any::new(&log.max_size)),
                (START_TIME, Any::new(&log.interval.start)),
                (STOP_TIME, Any::new(&log.interval.stop)),
                (WEEK_MASK, Any::new(&log.week_mask)),
                (MAX_RECORD_LIFE, Any::new(&log.max_record_life)),
                (QUALITY_OF_SERVICE, Any::new(&[log.qos][..])),
            ]
        };
        let states = |log: &StoredLog| {
            [
                (ADMINISTRATIVE_STATE, Any::new(&log.administrative_state)),
                (FORWARDING_STATE, Any::new(&log.forwarding_state)),
            ]
        };
        for ((type_, old), (_, new)) in attributes(before).into_iter().zip(attributes(after)) {
            if let (Ok(old_value), Ok(new_value)) = (old, new)
                && old_value != new_value
            {
                let logref = logref.clone();
                self.tell(&AttributeValueChange {
                    logref,
                    id,
                    time,
                    type_,
                    old_value,
                    new_value,
                })
                .await;
            }
        }
        for ((_, old), (type_, new)) in states(before).into_iter().zip(states(after)) {
            if let (Ok(old_value), Ok(new_value)) = (old, new)
                && old_value != new_value
            {
                let logref = logref.clone();
                self.tell(&StateChange {
                    logref,
                    id,
                    time,
                    type_,
                    new_value,
                })
                .await;
            }
        }
    }

    /// Tells which thresholds the size of the log has come to.
    pub(crate) async fn tell_thresholds(&self, before: u64, after: u64) {
        let (max, thresholds) = {
            let attributes = self.attributes();
            (attributes.max_size, attributes.thresholds.clone())
        };
        if max == 0 || !self.is_event_log {
            return;
        }
        let percent = |octets: u64| {
            let percent = u128::from(octets) * 100 / u128::from(max);
            u16::try_from(percent).unwrap_or(u16::MAX)
        };
        let (before, after) = (percent(before), percent(after));
        for crossed_value in thresholds {
            if before < crossed_value && crossed_value <= after {
                let alarm = ThresholdAlarm {
                    logref: self.shared.reference(self).ok(),
                    id: self.id,
                    time: now(),
                    crossed_value,
                    observed_value: after,
                    perceived_severity: match crossed_value {
                        100 => CRITICAL,
                        _ => MINOR,
                    },
                };
                self.tell(&alarm).await;
            }
        }
    }

    /// The channel whose suppliers are pulled, for this log as its consumer.
    async fn pulled_channel(&self) -> Result<&EventChannelRef, SystemException> {
        let made = self.pulled.get_or_try_init(async || {
            let channel = new_channel(&self.shared.events).await?;
            let consumers = present(channel.for_consumers().await?)?;
            let proxy = present(consumers.obtain_push_supplier().await?)?;
            let this: PushConsumerRef = self.shared.part(self, CONSUMER)?;
            let connected = proxy.connect_push_consumer(Some(this)).await;
            connected.map_err(internal)?;
            Ok::<_, SystemException>(channel)
        });
        made.await
    }
}

/// What the ids of the further objects of a log end with.
pub(crate) const CONSUMER: &str = "c";
pub(crate) const SUPPLIERS: &str = "s";

impl admin::EventChannel for LogObject {
    async fn for_consumers(&self) -> Result<Option<admin::ConsumerAdminRef>, SystemException> {
        let channel = self.0.forwarded.channel(&self.0.shared.events).await?;
        channel.for_consumers().await
    }

    async fn for_suppliers(&self) -> Result<Option<admin::SupplierAdminRef>, SystemException> {
        Ok(Some(self.0.shared.part(&self.0, SUPPLIERS)?))
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        self.0.destroy().await?;
        self.0.forwarded.destroy().await;
        if let Some(channel) = self.0.pulled.get() {
            let _ = channel.destroy().await;
        }
        Ok(())
    }
}

impl event_log::EventLog for LogObject {}

impl admin::SupplierAdmin for LogObject {
    async fn obtain_push_consumer(&self) -> Result<Option<ProxyPushConsumerRef>, SystemException> {
        let supplier = Supplier {
            log: Arc::clone(&self.0),
            is_connected: Mutex::new(false),
        };
        Ok(Some(self.0.shared.suppliers.add(supplier)?))
    }

    async fn obtain_pull_consumer(
        &self,
    ) -> Result<Option<admin::ProxyPullConsumerRef>, SystemException> {
        let suppliers = self.0.pulled_channel().await?.for_suppliers().await?;
        present(suppliers)?.obtain_pull_consumer().await
    }
}

/// The log as the consumer of what is pulled.
impl comm::PushConsumer for LogObject {
    async fn push(&self, data: &Any) -> Result<(), comm::push_consumer::PushError> {
        Ok(self.0.publish(data).await?)
    }

    async fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// What a supplier pushes to.
pub(crate) struct Supplier {
    log: Arc<Log>,
    is_connected: Mutex<bool>,
}

impl Supplier {
    fn is_connected(&self) -> MutexGuard<'_, bool> {
        self.is_connected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Served for Supplier {
    type Reference = ProxyPushConsumerRef;

    fn servant(self: Arc<Self>) -> Servant {
        ProxyPushConsumerServant::from_arc(self).into()
    }
}

impl comm::PushConsumer for Supplier {
    async fn push(&self, data: &Any) -> Result<(), comm::push_consumer::PushError> {
        let is_connected = *self.is_connected();
        if !is_connected || self.log.check_exists().is_err() {
            return Err(Disconnected {}.into());
        }
        Ok(self.log.publish(data).await?)
    }

    async fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        *self.is_connected() = false;
        self.log
            .shared
            .suppliers
            .remove(&PoaCurrent::get_object_id()?)
    }
}

impl admin::ProxyPushConsumer for Supplier {
    async fn connect_push_supplier(
        &self,
        _push_supplier: Option<PushSupplierRef>,
    ) -> Result<(), admin::proxy_push_consumer::ConnectPushSupplierError> {
        match std::mem::replace(&mut *self.is_connected(), true) {
            true => Err(AlreadyConnected {}.into()),
            false => Ok(()),
        }
    }
}

/// Consumers of the events that logs generate.
impl admin::ConsumerAdmin for crate::service::EventFactory {
    async fn obtain_push_supplier(
        &self,
    ) -> Result<Option<admin::ProxyPushSupplierRef>, SystemException> {
        let channel = self.0.generated.channel(&self.0.events).await?;
        let consumers = present(channel.for_consumers().await?)?;
        consumers.obtain_push_supplier().await
    }

    async fn obtain_pull_supplier(
        &self,
    ) -> Result<Option<admin::ProxyPullSupplierRef>, SystemException> {
        let channel = self.0.generated.channel(&self.0.events).await?;
        let consumers = present(channel.for_consumers().await?)?;
        consumers.obtain_pull_supplier().await
    }
}

impl event_log::EventLogFactory for crate::service::EventFactory {
    async fn create(
        &self,
        full_action: u16,
        max_size: u64,
        thresholds: &[u16],
    ) -> Result<(Option<event_log::EventLogRef>, u32), event_log::event_log_factory::CreateError>
    {
        crate::log::check_thresholds(thresholds)?;
        let made = self.create(None, full_action, max_size, thresholds).await;
        let log = made.map_err(|error| match error {
            crate::service::NotMade::FullAction => ds::InvalidLogFullAction {}.into(),
            crate::service::NotMade::Exists => internal(()).into(),
            crate::service::NotMade::System(exception) => {
                event_log::event_log_factory::CreateError::from(exception)
            }
        })?;
        Ok((Some(self.0.typed(&log)?), log.id))
    }

    async fn create_with_id(
        &self,
        id: u32,
        full_action: u16,
        max_size: u64,
        thresholds: &[u16],
    ) -> Result<Option<event_log::EventLogRef>, event_log::event_log_factory::CreateWithIdError>
    {
        crate::log::check_thresholds(thresholds)?;
        let made = self.create(Some(id), full_action, max_size, thresholds);
        let log = made.await.map_err(|error| match error {
            crate::service::NotMade::FullAction => ds::InvalidLogFullAction {}.into(),
            crate::service::NotMade::Exists => ds::LogIdAlreadyExists {}.into(),
            crate::service::NotMade::System(exception) => {
                event_log::event_log_factory::CreateWithIdError::from(exception)
            }
        })?;
        Ok(Some(self.0.typed(&log)?))
    }
}
