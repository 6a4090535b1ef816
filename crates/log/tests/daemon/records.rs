//! What is written, queried, retrieved, annotated and deleted.

use crate::{any, infos, log, numbers, pair, service};
use zorb::SystemExceptionKind;
use zorb_log::Settings;
use zorb_log::ds_log_admin::log::{
    DeleteRecordsError, GetRecordAttributeError, MatchError, QueryError, SetRecordAttributeError,
};
use zorb_log::ds_log_admin::{DEFAULT_GRAMMAR, LogRecord};

const GRAMMAR: &str = DEFAULT_GRAMMAR;

#[tokio::test(flavor = "multi_thread")]
async fn records_are_queried_counted_and_deleted_by_what_they_have() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    log.write_records(&numbers(0..10)).await.unwrap();
    log.write_records(&[any("text")]).await.unwrap();
    assert_eq!(log.get_n_records().await.unwrap(), 11);
    let (all, rest) = log.query(GRAMMAR, "").await.unwrap();
    let ids: Vec<u64> = all.iter().map(|record| record.id).collect();
    assert_eq!(ids, (1..=11).collect::<Vec<_>>());
    assert!(rest.is_none());
    assert!(all.is_sorted_by_key(|record| record.time));
    for (constraint, expected) in [
        ("$.info >= 3 and $.info < 6", 3),
        ("$info == 'text'", 1),
        ("$id <= 2 or $.id == 11", 3),
        // As clients of TAO's write it.
        ("id > 0 and time <= $curtime", 11),
        ("info == 'text' or id == 1", 2),
        ("$time > $curtime", 0),
        ("$time <= $curtime", 11),
        ("exist $.attr_list[0]", 0),
        ("$.info.x == 1", 0),
    ] {
        let found = log.match_(GRAMMAR, constraint).await.unwrap();
        assert_eq!(found, expected, "{constraint}");
        let (found, _) = log.query(GRAMMAR, constraint).await.unwrap();
        assert_eq!(found.len(), expected as usize, "{constraint}");
    }
    let deleted = log.delete_records(GRAMMAR, "$info < 5").await.unwrap();
    assert_eq!(deleted, 5);
    let deleted = log.delete_records_by_id(&[6, 6, 1, 99]).await.unwrap();
    assert_eq!(deleted, 1);
    let (left, _) = log.query(GRAMMAR, "$info >= 0").await.unwrap();
    assert_eq!(infos(&left), [6, 7, 8, 9]);
    // No other record has the id of one that was deleted.
    log.delete_records(GRAMMAR, "").await.unwrap();
    assert_eq!(log.get_current_size().await.unwrap(), 0);
    log.write_records(&numbers([1])).await.unwrap();
    assert_eq!(log.query(GRAMMAR, "").await.unwrap().0[0].id, 12);
    let grammar = log.query("SQL", "").await;
    assert!(matches!(grammar, Err(QueryError::InvalidGrammar(_))));
    for wrong in ["$info >", "((((", &"(".repeat(100_000)] {
        let matched = log.match_(GRAMMAR, wrong).await;
        assert!(matches!(matched, Err(MatchError::InvalidConstraint(_))));
        let deleted = log.delete_records(GRAMMAR, wrong).await;
        assert!(matches!(
            deleted,
            Err(DeleteRecordsError::InvalidConstraint(_))
        ));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_retrieved_from_a_time_on_and_backwards() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    for n in 0..10 {
        log.write_records(&numbers([n])).await.unwrap();
    }
    let (all, _) = log.query(GRAMMAR, "").await.unwrap();
    let fifth = all[5].time;
    let from = all.iter().position(|it| it.time == fifth).unwrap();
    let from = i32::try_from(from).unwrap();
    let forward = log.retrieve(fifth, 3).await.unwrap();
    assert_eq!(infos(&forward.0), [from, from + 1, from + 2]);
    assert!(forward.1.is_none());
    let (back, rest) = log.retrieve(fifth, -3).await.unwrap();
    assert_eq!(infos(&back), [from - 1, from - 2, from - 3]);
    assert!(rest.is_none());
    let (all_back, rest) = log.retrieve(u64::MAX, i32::MIN).await.unwrap();
    assert_eq!(infos(&all_back), (0..10).rev().collect::<Vec<_>>());
    assert!(rest.is_none());
    for (time, many) in [(fifth, 0), (u64::MAX, 5), (0, -5), (0, 0)] {
        let (none, rest) = log.retrieve(time, many).await.unwrap();
        assert!(none.is_empty() && rest.is_none(), "{time} {many}");
    }
    assert_eq!(log.retrieve(0, i32::MAX).await.unwrap().0.len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn iterators_have_what_a_reply_had_no_room_for() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    let large = |n: i32| any(&(n, "x".repeat(300_000)).1[..]);
    for n in 0..10 {
        log.write_records(&[large(n)]).await.unwrap();
    }
    log.write_records(&numbers(0..3)).await.unwrap();
    let ids = |records: &[LogRecord]| records.iter().map(|it| it.id).collect::<Vec<_>>();
    let (first, rest) = log.query(GRAMMAR, "").await.unwrap();
    assert_eq!(ids(&first), [1, 2, 3]);
    let rest = rest.unwrap();
    // Positions count from the first record of the query.
    assert_eq!(ids(&rest.get(3, 2).await.unwrap()), [4, 5]);
    assert_eq!(ids(&rest.get(5, 100).await.unwrap()), [6, 7, 8]);
    assert_eq!(ids(&rest.get(9, 0).await.unwrap()), [10, 11, 12, 13]);
    assert!(rest.get(13, 1).await.unwrap().is_empty());
    assert!(rest.get(14, 1).await.is_err());
    assert_eq!(ids(&rest.get(0, 1).await.unwrap()), [1]);
    assert!(rest.get(u32::MAX, u32::MAX).await.is_err());
    rest.destroy().await.unwrap();
    let gone = rest.destroy().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    let (back, rest) = log.retrieve(u64::MAX, -8).await.unwrap();
    assert_eq!(ids(&back), [13, 12, 11, 10, 9, 8]);
    let rest = rest.unwrap();
    assert_eq!(ids(&rest.get(6, 100).await.unwrap()), [7, 6]);
    assert!(rest.get(8, 100).await.unwrap().is_empty());
    // One that selects few goes on at the next.
    let (few, rest) = log.query(GRAMMAR, "$id > 9 or $id == 2").await.unwrap();
    assert_eq!((ids(&few), rest.is_none()), (vec![2, 10, 11, 12, 13], true));
    log.destroy().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_of_records_are_set_and_selected_by() {
    let (_orb, service) = service(Settings::default()).await;
    let log = log(&service).await;
    let given = LogRecord {
        id: 77,
        time: 5,
        attr_list: vec![pair("comment", "mine")],
        info: any(&0_i32),
    };
    log.write_recordlist(&[given]).await.unwrap();
    log.write_records(&numbers(1..5)).await.unwrap();
    // The log gives the ids and times.
    let (all, _) = log.query(GRAMMAR, "").await.unwrap();
    assert_eq!(all[0].id, 1);
    assert!(all[0].time > 5);
    assert_eq!(
        log.get_record_attribute(1).await.unwrap(),
        [pair("comment", "mine")]
    );
    let before = log.get_current_size().await.unwrap();
    let ticket = [pair("ticket", "17")];
    log.set_record_attribute(2, &ticket).await.unwrap();
    assert!(log.get_current_size().await.unwrap() > before);
    let set = log.set_records_attribute(GRAMMAR, "$info >= 3", &ticket);
    assert_eq!(set.await.unwrap(), 2);
    let constraint = "$.attr_list(ticket) == '17'";
    let (found, _) = log.query(GRAMMAR, constraint).await.unwrap();
    assert_eq!(infos(&found), [1, 3, 4]);
    assert_eq!(found[0].attr_list, ticket);
    let none = log.set_record_attribute(99, &ticket).await;
    assert!(matches!(
        none,
        Err(SetRecordAttributeError::InvalidRecordId(_))
    ));
    let none = log.get_record_attribute(99).await;
    assert!(matches!(
        none,
        Err(GetRecordAttributeError::InvalidRecordId(_))
    ));
    for wrong in [vec![pair("", "a")], vec![pair("a", "1"), pair("a", "2")]] {
        let refused = log.set_record_attribute(2, &wrong).await;
        let Err(SetRecordAttributeError::InvalidAttribute(refused)) = refused else {
            panic!("{wrong:?}");
        };
        assert_eq!(refused.attr_name, wrong.last().unwrap().name);
    }
    assert_eq!(log.get_record_attribute(2).await.unwrap(), ticket);
}
