//! What hostile clients ask for.

use crate::{any, log, numbers, service};
use std::time::Duration;
use zorb::SystemExceptionKind;
use zorb_log::Settings;
use zorb_log::ds_log_admin::basic_log_factory::CreateError;
use zorb_log::ds_log_admin::log::WriteRecordsError;
use zorb_log::ds_log_admin::{DEFAULT_GRAMMAR as GRAMMAR, HALT};

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_bounded_and_destroyed_ones_make_room() {
    let mut settings = Settings::default();
    settings.max_logs = 2;
    settings.max_octets = 10_000;
    let (_orb, service) = service(settings).await;
    let first = log(&service).await;
    let second = log(&service).await;
    let third = service.factory().create(HALT, 0).await;
    assert!(
        matches!(third, Err(CreateError::System(error)) if error.kind == SystemExceptionKind::NoResources)
    );
    // The octets of all logs are bounded together.
    first
        .write_records(&[any(&"x".repeat(6_000)[..])])
        .await
        .unwrap();
    let large = [any(&"x".repeat(5_000)[..])];
    let full = second.write_records(&large).await;
    assert!(matches!(full, Err(WriteRecordsError::LogFull(full)) if full.n_records_written == 0));
    first.destroy().await.unwrap();
    second.write_records(&large).await.unwrap();
    log(&service).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn iterators_that_nobody_destroys_take_the_places_of_each_other() {
    let mut settings = Settings::default();
    // Of which a host has half.
    settings.max_iterators = 4;
    settings.iterator_idle = Duration::ZERO;
    let (_orb, service) = service(settings).await;
    let log = log(&service).await;
    let large = any(&"x".repeat(600_000)[..]);
    log.write_records(&[large.clone(), large.clone(), large])
        .await
        .unwrap();
    let mut all = Vec::new();
    for _ in 0..20 {
        all.push(log.query(GRAMMAR, "").await.unwrap().1.unwrap());
    }
    for old in &all[..18] {
        let gone = old.destroy().await.unwrap_err();
        assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    }
    assert_eq!(all[18].get(2, 1).await.unwrap()[0].id, 3);
    service.sweep().await;
    assert!(all[18].get(2, 1).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn records_of_megabytes_and_constraints_that_explode_are_answered() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    let large = "x".repeat(8 << 20);
    log.write_records(&[any(&large[..])]).await.unwrap();
    log.write_records(&[any(&vec![0_i32; 1_000_000])])
        .await
        .unwrap();
    log.write_records(&numbers([1])).await.unwrap();
    // Each reply has one of them at least.
    let (first, rest) = log.query(GRAMMAR, "").await.unwrap();
    assert_eq!(first.len(), 1);
    assert_eq!(rest.unwrap().get(1, 10).await.unwrap().len(), 1);
    // Evaluation ends at its bound, and the constraint is false.
    let explodes = vec!["'xy' ~ $.info"; 500].join(" or ");
    assert_eq!(log.match_(GRAMMAR, &explodes).await.unwrap(), 0);
    let explodes = vec!["1 in $.info"; 500].join(" or ");
    assert_eq!(log.match_(GRAMMAR, &explodes).await.unwrap(), 0);
    assert_eq!(log.match_(GRAMMAR, "$.info == 1").await.unwrap(), 1);
    let many: Vec<u64> = (0..100_000).collect();
    assert_eq!(log.delete_records_by_id(&many).await.unwrap(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_older_than_a_log_keeps_is_gone_for_readers_at_once() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    log.set_max_record_life(u32::MAX).await.unwrap();
    log.write_records(&numbers(0..3)).await.unwrap();
    assert_eq!(log.get_n_records().await.unwrap(), 3);
    log.set_max_record_life(1).await.unwrap();
    // No longer than a second, and however long that takes here.
    while log.get_n_records().await.unwrap() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(log.get_current_size().await.unwrap(), 0);
    assert!(log.query(GRAMMAR, "").await.unwrap().0.is_empty());
}
