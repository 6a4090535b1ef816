//! Attributes and states of logs, and what they do to writers.

use crate::{any, infos, log, numbers, service};
use zorb::{Interface, SystemExceptionKind};
use zorb_log::Settings;
use zorb_log::ds_log_admin::basic_log_factory::{CreateError, CreateWithIdError};
use zorb_log::ds_log_admin::log::{
    CopyWithIdError, FlushError, SetCapacityAlarmThresholdsError, SetIntervalError,
    SetLogFullActionError, SetLogQosError, SetMaxSizeError, SetWeekMaskError, WriteRecordsError,
};
use zorb_log::ds_log_admin::{
    AdministrativeState, BasicLogRef, DEFAULT_GRAMMAR as GRAMMAR, ForwardingState, HALT,
    OperationalState, QO_S_FLUSH, QO_S_NONE, QO_S_RELIABILITY, Time24, Time24Interval,
    TimeInterval, WRAP, WeekMaskItem,
};

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_made_found_copied_and_destroyed() {
    let (_orb, service) = service(Settings::default()).await;
    let factory = service.factory();
    assert!(factory.list_logs().await.unwrap().is_empty());
    let (first, id) = factory.create(HALT, 1_000).await.unwrap();
    let first = first.unwrap();
    assert_eq!(first.id().await.unwrap(), id);
    let second = factory.create_with_id(40, WRAP, 0).await.unwrap().unwrap();
    assert_eq!(second.id().await.unwrap(), 40);
    let taken = factory.create_with_id(40, WRAP, 0).await;
    assert!(matches!(
        taken,
        Err(CreateWithIdError::LogIdAlreadyExists(_))
    ));
    let action = factory.create(2, 0).await;
    assert!(matches!(action, Err(CreateError::InvalidLogFullAction(_))));
    assert_eq!(factory.list_logs_by_id().await.unwrap(), [id, 40]);
    let logs = factory.list_logs().await.unwrap();
    assert_eq!(logs.len(), 2);
    let found = factory.find_log(40).await.unwrap().unwrap();
    assert_eq!(found.as_object(), second.as_object());
    assert!(factory.find_log(41).await.unwrap().is_none());
    let manager = first.my_factory().await.unwrap().unwrap();
    assert_eq!(manager.list_logs_by_id().await.unwrap(), [id, 40]);

    first.write_records(&numbers(0..3)).await.unwrap();
    first.set_max_record_life(9_999).await.unwrap();
    let (copy, copy_id) = first.copy().await.unwrap();
    let copy = copy.unwrap();
    assert_eq!(copy_id, 41);
    assert_eq!(copy.get_max_record_life().await.unwrap(), 9_999);
    assert_eq!(copy.get_max_size().await.unwrap(), 1_000);
    assert_eq!(copy.get_n_records().await.unwrap(), 0);
    let taken = first.copy_with_id(40).await;
    assert!(matches!(taken, Err(CopyWithIdError::LogIdAlreadyExists(_))));
    let copy = first.copy_with_id(7).await.unwrap().unwrap();
    let copy: BasicLogRef = copy.as_object().narrow().await.unwrap().unwrap();
    copy.destroy().await.unwrap();
    let gone = copy.get_n_records().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    assert!(factory.find_log(7).await.unwrap().is_none());
    // A new log of that id is no other object, and has no record of the old one.
    let again = factory.create_with_id(7, HALT, 0).await.unwrap().unwrap();
    assert_eq!(again.get_n_records().await.unwrap(), 0);
    assert!(copy.id().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_log_halts_and_says_how_many_records_were_written() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    log.write_records(&numbers(0..4)).await.unwrap();
    let size = log.get_current_size().await.unwrap();
    let small = log.set_max_size(size - 1).await;
    assert!(matches!(small, Err(SetMaxSizeError::InvalidParam(_))));
    log.set_max_size(size * 2).await.unwrap();
    assert!(!log.get_availability_status().await.unwrap().log_full);
    let full = log.write_records(&numbers(4..100)).await;
    let Err(WriteRecordsError::LogFull(full)) = full else {
        panic!("{full:?}");
    };
    assert_eq!(full.n_records_written, 4);
    assert!(log.get_availability_status().await.unwrap().log_full);
    let (all, _) = log.query(GRAMMAR, "").await.unwrap();
    assert_eq!(infos(&all), (0..8).collect::<Vec<_>>());
    let again = log.write_records(&numbers([9])).await;
    assert!(matches!(again, Err(WriteRecordsError::LogFull(full)) if full.n_records_written == 0));
    log.delete_records_by_id(&[1]).await.unwrap();
    assert!(!log.get_availability_status().await.unwrap().log_full);
    log.write_records(&numbers([9])).await.unwrap();
    let attributes = [crate::pair("a", &"x".repeat(1_000))];
    assert!(log.set_record_attribute(2, &attributes).await.is_err());
    log.set_max_size(0).await.unwrap();
    log.write_records(&numbers(0..100)).await.unwrap();
    log.set_record_attribute(2, &attributes).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_log_wraps_over_its_oldest_records() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    log.write_records(&numbers(0..4)).await.unwrap();
    let size = log.get_current_size().await.unwrap();
    log.set_max_size(size).await.unwrap();
    log.set_log_full_action(WRAP).await.unwrap();
    log.write_records(&numbers(4..7)).await.unwrap();
    let (all, _) = log.query(GRAMMAR, "").await.unwrap();
    assert_eq!(infos(&all), [3, 4, 5, 6]);
    assert_eq!(log.get_current_size().await.unwrap(), size);
    // It says that records are lost, as the specification has it.
    assert!(log.get_availability_status().await.unwrap().log_full);
    // One that never has room removes no other.
    let large = log.write_records(&[any(&"x".repeat(10_000)[..])]).await;
    assert!(matches!(large, Err(WriteRecordsError::LogFull(full)) if full.n_records_written == 0));
    assert_eq!(log.get_n_records().await.unwrap(), 4);
    log.write_records(&numbers(0..1_000)).await.unwrap();
    let (all, _) = log.retrieve(0, 100).await.unwrap();
    assert_eq!(infos(&all), [996, 997, 998, 999]);
    let action = log.set_log_full_action(7).await;
    assert!(matches!(
        action,
        Err(SetLogFullActionError::InvalidLogFullAction(_))
    ));
    assert_eq!(log.get_log_full_action().await.unwrap(), WRAP);
}

#[tokio::test(flavor = "multi_thread")]
async fn locked_logs_and_those_off_duty_refuse_records_and_are_read() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    log.write_records(&numbers(0..2)).await.unwrap();
    log.set_administrative_state(AdministrativeState::Locked)
        .await
        .unwrap();
    let locked = log.write_records(&numbers([2])).await;
    assert!(matches!(locked, Err(WriteRecordsError::LogLocked(_))));
    assert_eq!(log.query(GRAMMAR, "").await.unwrap().0.len(), 2);
    log.set_administrative_state(AdministrativeState::Unlocked)
        .await
        .unwrap();
    let over = TimeInterval { start: 1, stop: 2 };
    log.set_interval(&over).await.unwrap();
    assert!(log.get_availability_status().await.unwrap().off_duty);
    let off = log.write_records(&numbers([2])).await;
    assert!(matches!(off, Err(WriteRecordsError::LogOffDuty(_))));
    let far = TimeInterval {
        start: u64::MAX,
        stop: 0,
    };
    log.set_interval(&far).await.unwrap();
    assert!(log.get_availability_status().await.unwrap().off_duty);
    let wrong = log.set_interval(&TimeInterval { start: 2, stop: 1 }).await;
    assert!(matches!(
        wrong,
        Err(SetIntervalError::InvalidTimeInterval(_))
    ));
    let always = TimeInterval {
        start: 0,
        stop: u64::MAX,
    };
    log.set_interval(&always).await.unwrap();
    assert_eq!(log.get_interval().await.unwrap(), always);
    log.write_records(&numbers([2])).await.unwrap();

    let week = |days, hour| WeekMaskItem {
        days,
        intervals: vec![Time24Interval {
            start: Time24 { hour: 0, minute: 0 },
            stop: Time24 { hour, minute: 59 },
        }],
    };
    log.set_week_mask(&[week(127, 23)]).await.unwrap();
    log.write_records(&numbers([3])).await.unwrap();
    let wrong = log.set_week_mask(&[week(128, 23)]).await;
    assert!(matches!(wrong, Err(SetWeekMaskError::InvalidMask(_))));
    let wrong = log.set_week_mask(&[week(1, 24)]).await;
    assert!(matches!(wrong, Err(SetWeekMaskError::InvalidTime(_))));
    let wrong = log.set_week_mask(&[week(1, 23), week(1, 22)]).await;
    assert!(matches!(
        wrong,
        Err(SetWeekMaskError::InvalidTimeInterval(_))
    ));
    assert_eq!(log.get_week_mask().await.unwrap(), [week(127, 23)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn quality_of_service_thresholds_and_states_are_kept_and_checked() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    assert_eq!(log.get_log_qos().await.unwrap(), [QO_S_NONE]);
    let denied = log.set_log_qos(&[QO_S_NONE, QO_S_FLUSH, 9]).await;
    let Err(SetLogQosError::UnsupportedQoS(denied)) = denied else {
        panic!("{denied:?}");
    };
    // In memory nothing is reliable.
    assert_eq!(denied.denied, [QO_S_FLUSH, 9]);
    assert!(log.set_log_qos(&[QO_S_RELIABILITY]).await.is_err());
    let flushed = log.flush().await;
    assert!(matches!(flushed, Err(FlushError::UnsupportedQoS(_))));
    log.set_capacity_alarm_thresholds(&[10, 50, 100])
        .await
        .unwrap();
    for wrong in [&[101][..], &[10, 10], &[50, 10]] {
        let refused = log.set_capacity_alarm_thresholds(wrong).await;
        assert!(matches!(
            refused,
            Err(SetCapacityAlarmThresholdsError::InvalidThreshold(_))
        ));
    }
    assert_eq!(
        log.get_capacity_alarm_thresholds().await.unwrap(),
        [10, 50, 100]
    );
    log.set_forwarding_state(ForwardingState::Off)
        .await
        .unwrap();
    let forwarding = log.get_forwarding_state().await.unwrap();
    assert_eq!(forwarding, ForwardingState::Off);
    let operational = log.get_operational_state().await.unwrap();
    assert_eq!(operational, OperationalState::Enabled);
}
