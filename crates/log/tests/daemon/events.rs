//! Logs that are event channels.

use crate::{Daemon, any, infos, numbers, service};
use std::sync::atomic::{AtomicBool, Ordering};
use zorb::{Any, IdlType, Orb, SystemException};
use zorb_events::cos_event_channel_admin::ProxyPullSupplierRef;
use zorb_events::cos_event_channel_admin::proxy_push_consumer::ConnectPushSupplierError;
use zorb_events::cos_event_comm::pull_supplier::{PullError, TryPullError};
use zorb_events::cos_event_comm::push_consumer::PushError;
use zorb_events::cos_event_comm::{PullSupplier, PullSupplierServant};
use zorb_log::Settings;
use zorb_log::ds_event_log_admin::event_log_factory::CreateError;
use zorb_log::ds_event_log_admin::{EventLogFactoryRef, EventLogRef};
use zorb_log::ds_log_admin::{
    AdministrativeState, DEFAULT_GRAMMAR as GRAMMAR, ForwardingState, HALT, LogMgrRef,
};
use zorb_log::ds_log_notification::{
    AttributeValueChange, MAX_RECORD_LIFE, ObjectCreation, ObjectDeletion, StateChange,
    ThresholdAlarm,
};

async fn puller(log: &EventLogRef) -> ProxyPullSupplierRef {
    let admin = log.for_consumers().await.unwrap().unwrap();
    let proxy = admin.obtain_pull_supplier().await.unwrap().unwrap();
    proxy.connect_pull_consumer(None).await.unwrap();
    proxy
}

#[tokio::test(flavor = "multi_thread")]
async fn what_suppliers_push_is_logged_then_forwarded() {
    let (_orb, service) = service(Settings::default()).await;
    let made = service.event_factory().create(HALT, 0, &[]).await.unwrap();
    let log = made.0.unwrap();
    let pull = puller(&log).await;
    let suppliers = log.for_suppliers().await.unwrap().unwrap();
    let push = suppliers.obtain_push_consumer().await.unwrap().unwrap();
    let early = push.push(&any(&1_i32)).await;
    assert!(matches!(early, Err(PushError::Disconnected(_))));
    push.connect_push_supplier(None).await.unwrap();
    let twice = push.connect_push_supplier(None).await;
    assert!(matches!(
        twice,
        Err(ConnectPushSupplierError::AlreadyConnected(_))
    ));
    for event in numbers(0..3) {
        push.push(&event).await.unwrap();
    }
    // Each is in the log when its push is answered.
    let (logged, _) = log.query(GRAMMAR, "").await.unwrap();
    assert_eq!(infos(&logged), [0, 1, 2]);
    for event in numbers(0..3) {
        assert_eq!(pull.pull().await.unwrap(), event);
    }
    // Without forwarding it is logged alone; locked it is forwarded alone.
    log.set_forwarding_state(ForwardingState::Off)
        .await
        .unwrap();
    push.push(&any(&3_i32)).await.unwrap();
    log.set_forwarding_state(ForwardingState::On).await.unwrap();
    log.set_administrative_state(AdministrativeState::Locked)
        .await
        .unwrap();
    push.push(&any(&4_i32)).await.unwrap();
    assert_eq!(pull.pull().await.unwrap(), any(&4_i32));
    let (logged, _) = log.query(GRAMMAR, "").await.unwrap();
    assert_eq!(infos(&logged), [0, 1, 2, 3]);
    push.disconnect_push_consumer().await.unwrap();
    assert!(push.push(&any(&5_i32)).await.is_err());
    let other = suppliers.obtain_push_consumer().await.unwrap().unwrap();
    other.connect_push_supplier(None).await.unwrap();
    log.destroy().await.unwrap();
    let gone = other.push(&any(&5_i32)).await;
    assert!(matches!(gone, Err(PushError::Disconnected(_))));
    assert!(pull.pull().await.is_err());
}

/// A supplier with one event.
struct Once(AtomicBool);

impl PullSupplier for Once {
    async fn pull(&self) -> Result<Any, PullError> {
        Ok(any(&1_i32))
    }

    async fn try_pull(&self) -> Result<(Any, bool), TryPullError> {
        Ok((any(&7_i32), !self.0.swap(true, Ordering::Relaxed)))
    }

    async fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pulled_from_suppliers_is_logged_then_forwarded() {
    let (orb, service) = service(Settings::default()).await;
    let made = service.event_factory().create(HALT, 0, &[]).await.unwrap();
    let log = made.0.unwrap();
    let pull = puller(&log).await;
    let poa = orb.root_poa();
    let once = PullSupplierServant::new(Once(AtomicBool::new(false)));
    let once = poa.activate(once).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let suppliers = log.for_suppliers().await.unwrap().unwrap();
    let proxy = suppliers.obtain_pull_consumer().await.unwrap().unwrap();
    proxy.connect_pull_supplier(Some(once)).await.unwrap();
    assert_eq!(pull.pull().await.unwrap(), any(&7_i32));
    let (logged, _) = log.query(GRAMMAR, "").await.unwrap();
    assert_eq!(infos(&logged), [7]);
}

#[tokio::test(flavor = "multi_thread")]
async fn consumers_of_the_factory_are_told_what_becomes_of_logs() {
    async fn next<T: IdlType + zorb::cdr::IdlValue>(consumer: &ProxyPullSupplierRef) -> T {
        consumer.pull().await.unwrap().extract().unwrap()
    }
    let (_orb, service) = service(Settings::default()).await;
    let factory = service.event_factory();
    let consumer = factory.obtain_pull_supplier().await.unwrap().unwrap();
    consumer.connect_pull_consumer(None).await.unwrap();
    let wrong = factory.create(HALT, 0, &[101]).await;
    assert!(matches!(wrong, Err(CreateError::InvalidThreshold(_))));
    let (log, id) = factory.create(HALT, 100, &[50, 100]).await.unwrap();
    let log = log.unwrap();
    let created: ObjectCreation = next(&consumer).await;
    assert_eq!(created.id, id);
    log.set_max_record_life(77).await.unwrap();
    let changed: AttributeValueChange = next(&consumer).await;
    assert_eq!(
        (changed.id, changed.type_, changed.old_value),
        (id, MAX_RECORD_LIFE, any(&0_u32))
    );
    assert_eq!(changed.new_value, any(&77_u32));
    log.set_administrative_state(AdministrativeState::Unlocked)
        .await
        .unwrap();
    log.set_forwarding_state(ForwardingState::Off)
        .await
        .unwrap();
    let state: StateChange = next(&consumer).await;
    assert_eq!(state.new_value, any(&ForwardingState::Off));
    assert_eq!(state.logref.unwrap().id().await.unwrap(), id);
    // 32 octets each.
    log.write_records(&numbers(0..2)).await.unwrap();
    let alarm: ThresholdAlarm = next(&consumer).await;
    assert_eq!((alarm.crossed_value, alarm.observed_value), (50, 64));
    assert!(log.write_records(&numbers(2..9)).await.is_err());
    log.destroy().await.unwrap();
    let deleted: ObjectDeletion = next(&consumer).await;
    assert_eq!(deleted.id, id);
    // Basic logs tell nothing, and each factory has its own.
    service.factory().create(HALT, 0).await.unwrap();
    assert!(!consumer.try_pull().await.unwrap().1);
    assert!(factory.list_logs().await.unwrap().is_empty());
    let event_log = factory.create_with_id(9, HALT, 0, &[]).await.unwrap();
    assert_eq!(factory.list_logs_by_id().await.unwrap(), [9]);
    assert!(service.factory().find_log(9).await.unwrap().is_none());
    let manager: LogMgrRef = event_log.unwrap().my_factory().await.unwrap().unwrap();
    assert!(manager.find_log(9).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_log_outlives_a_kill_with_what_was_pushed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let first = Daemon::start(&["--data", data]);
    let endpoint = first.endpoint();
    let orb = Orb::builder().build().await.unwrap();
    let url = first.url.replace("BasicLogFactory", "EventLogFactory");
    let factory = orb.string_to_object(&url).await.unwrap();
    let factory: EventLogFactoryRef = factory.narrow().await.unwrap().unwrap();
    let (log, id) = factory.create(HALT, 0, &[]).await.unwrap();
    let log = log.unwrap();
    let push = async || {
        let suppliers = log.for_suppliers().await.unwrap().unwrap();
        let push = suppliers.obtain_push_consumer().await.unwrap().unwrap();
        push.connect_push_supplier(None).await.unwrap();
        push
    };
    let pushed = push().await;
    for event in numbers(0..20) {
        pushed.push(&event).await.unwrap();
    }
    // No plain key is that of an event service.
    let events = first.url.replace("BasicLogFactory", "EventService");
    let events = orb.string_to_object(&events).await.unwrap();
    assert!(events.non_existent().await.unwrap_or(true));
    drop(first);
    let again = Daemon::start(&["--data", data, "--listen", &endpoint]);
    assert_eq!(factory.list_logs_by_id().await.unwrap(), [id]);
    let (logged, _) = log.query(GRAMMAR, "").await.unwrap();
    assert_eq!(infos(&logged), (0..20).collect::<Vec<_>>());
    assert!(pushed.push(&any(&20_i32)).await.is_err());
    let pull = puller(&log).await;
    push().await.push(&any(&20_i32)).await.unwrap();
    assert_eq!(pull.pull().await.unwrap(), any(&20_i32));
    // A pull that waits does not hold the end up.
    let waits = tokio::spawn(async move { pull.pull().await.map_err(|_| ()) });
    let ended = again.terminate();
    assert_eq!(ended.status.code(), Some(0), "{:?}", ended.lines);
    assert!(waits.await.unwrap().is_err());
}
