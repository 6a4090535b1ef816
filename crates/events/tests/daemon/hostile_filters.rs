//! Clients whose filters cost as much as they can.

use crate::common::notify::{Notifications, alarm, constraint, number_of, property, structured};
use crate::common::{is_gone, orb};
use zorb::SystemExceptionKind;
use zorb_events::cos_notify_channel_admin::InterFilterGroupOperator;
use zorb_events::cos_notify_filter::filter::AddConstraintsError;
use zorb_events::{EventService, Settings};

fn system(error: AddConstraintsError) -> SystemExceptionKind {
    match error {
        AddConstraintsError::System(exception) => exception.kind,
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_filters_may_cost_and_how_many_there_are_is_bounded() {
    let server = orb().await;
    let service = EventService::start(&server, None, Settings::default())
        .await
        .unwrap();
    let url = server.corbaloc_url(zorb_events::CHANNEL_KEY).unwrap();
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;

    // Constraints: in number, in octets, in depth.
    let filter = channel.filters.create_filter("EXTENDED_TCL").await;
    let filter = filter.unwrap().unwrap();
    let many = vec![constraint(&[], "TRUE"); 1_001];
    let refused = filter.add_constraints(&many).await.unwrap_err();
    assert_eq!(system(refused), SystemExceptionKind::ImpLimit);
    let long = format!("'{}' == ''", "x".repeat(10_000));
    let refused = filter
        .add_constraints(&vec![constraint(&[], &long); 7])
        .await;
    assert_eq!(system(refused.unwrap_err()), SystemExceptionKind::ImpLimit);
    let deep = format!("{}TRUE{}", "(".repeat(5_000), ")".repeat(5_000));
    let refused = filter.add_constraints(&[constraint(&[], &deep)]).await;
    assert!(matches!(
        refused,
        Err(AddConstraintsError::InvalidConstraint(_))
    ));
    assert!(filter.get_all_constraints().await.unwrap().is_empty());

    // Constraints that end at the steps that there are: they let nothing pass, and others get their events.
    let costly = vec!["$large._length > 0 and exist $large"; 100].join(" and ");
    filter
        .add_constraints(&vec![constraint(&[], &costly); 15])
        .await
        .unwrap();
    let (admin, _) = channel
        .channel
        .new_for_consumers(InterFilterGroupOperator::AndOp)
        .await
        .unwrap();
    let admin = admin.unwrap();
    let mut hostile = Vec::new();
    for _ in 0..20 {
        let pull = channel.puller(&admin).await;
        pull.add_filter(&filter).await.unwrap();
        hostile.push(pull);
    }
    let honest = channel.puller(&channel.consumers).await;
    let even = channel.filter(&[], "$number / 2 * 2 == $number").await;
    honest.add_filter(&even).await.unwrap();
    let push = channel.pusher().await;
    let mut large = structured("Alarm", 2, Vec::new());
    large
        .filterable_data
        .push(property("large", &vec![0_i32; 20_000]));
    push.push_structured_event(&large).await.unwrap();
    push.push_structured_event(&alarm(4)).await.unwrap();
    for expected in [2, 4] {
        let got = honest.pull_structured_event().await.unwrap();
        assert_eq!(number_of(&got), expected);
    }
    for pull in &hostile {
        assert!(!pull.try_pull_structured_event().await.unwrap().1);
    }

    // Filters that one object uses, and that a client makes and leaves behind.
    let mut used = 0;
    while honest.add_filter(&even).await.is_ok() {
        used += 1;
    }
    assert_eq!(used, 99);
    let mut made = 0;
    while let Ok(Some(_)) = channel.filters.create_filter("EXTENDED_TCL").await {
        made += 1;
    }
    assert_eq!(made, 998);
    drop(service);
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_that_nobody_uses_make_room_when_they_are_old() {
    let server = orb().await;
    let mut settings = Settings::default();
    settings.idle_for = std::time::Duration::ZERO;
    let _service = EventService::start(&server, None, settings).await.unwrap();
    let url = server.corbaloc_url(zorb_events::CHANNEL_KEY).unwrap();
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let used = channel.filter(&[], "FALSE").await;
    channel.consumers.add_filter(&used).await.unwrap();
    let first = channel.filter(&[], "TRUE").await;
    for _ in 0..1_000 {
        channel.filters.create_filter("EXTENDED_TCL").await.unwrap();
    }
    assert!(is_gone(&first).await);
    assert_eq!(used.get_all_constraints().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_of_structured_events_that_stops_delays_no_other() {
    let server = orb().await;
    let mut settings = Settings::default();
    settings.max_events_per_consumer = 10;
    let service = EventService::start(&server, None, settings).await.unwrap();
    let url = server.corbaloc_url(zorb_events::CHANNEL_KEY).unwrap();
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let (mut stopped, _) = channel.consumer().await;
    let (stopped_sequences, _) = channel
        .sequence_consumer(&[property("MaximumBatchSize", &5_i32)])
        .await;
    let (mut other, _) = channel.consumer().await;
    let push = channel.pusher().await;
    let answers = stopped.stall().await;
    let _no_answers = stopped_sequences.stall().await;
    for n in 0..100 {
        push.push_structured_event(&alarm(n)).await.unwrap();
        assert_eq!(other.numbers(1).await, [n]);
    }
    drop(answers);
    assert_eq!(stopped.numbers(1).await, [0]);
    assert_eq!(stopped.numbers(10).await, (90..100).collect::<Vec<_>>());
    assert!(
        service.counters().discarded >= 89 * 2 - 10,
        "{:?}",
        service.counters()
    );
}
