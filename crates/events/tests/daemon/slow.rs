//! Consumers that are slow, gone, or lie.

use crate::common::{Daemon, event, is_gone, orb};
use zorb::{Any, SystemExceptionKind};
use zorb_events::{EventService, Settings};

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_that_stops_delays_neither_the_others_nor_the_supplier() {
    let daemon = Daemon::start(&["--max-events", "50"]);
    let orb = orb().await;
    let channel = daemon.channel(&orb).await;
    let (mut stopped, _) = channel.consumer().await;
    let mut others = Vec::new();
    for _ in 0..20 {
        others.push(channel.consumer().await);
    }
    let push = channel.push_proxy().await;
    let answers = stopped.stall().await;
    // Far more than its queue holds, each only after all others have the one before: nothing waits for it.
    for n in 0..300 {
        push.push(&event(n)).await.unwrap();
        for (received, _) in &mut others {
            assert_eq!(received.number().await, n);
        }
    }
    drop(answers);
    // It has the one that it was busy with, and the newest.
    let first = stopped.number().await;
    assert_eq!(first, 0);
    assert_eq!(stopped.numbers(50).await, (250..300).collect::<Vec<_>>());
    push.push(&event(300)).await.unwrap();
    assert_eq!(stopped.number().await, 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_that_fails_is_tried_again_and_evicted_in_the_end() {
    let orb = orb().await;
    let service = EventService::start(&orb, None, Settings::default())
        .await
        .unwrap();
    let clients = crate::common::orb().await;
    let url = orb.corbaloc_url(zorb_events::CHANNEL_KEY).unwrap();
    let channel = crate::common::Channel::at(&clients, &url).await;
    let push = channel.push_proxy().await;

    // It fails for a while, and surely has not got the event.
    let (mut received, _) = channel.consumer().await;
    received.fail(Some(SystemExceptionKind::Transient));
    push.push(&event(1)).await.unwrap();
    received.fail(None);
    let mut after = 2;
    // The servant's exception is COMPLETED_MAYBE: at most once, so that event is not sent again.
    let got = loop {
        push.push(&event(after)).await.unwrap();
        after += 1;
        let so_far = received.so_far();
        if let Some(first) = so_far.first() {
            break *first;
        }
        tokio::task::yield_now().await;
    };
    assert!(got >= 1);

    // It fails for ever.
    let (lying, proxy) = channel.consumer().await;
    lying.fail(Some(SystemExceptionKind::NoMemory));
    while service.counters().evicted == 0 {
        push.push(&event(0)).await.unwrap();
    }
    while !is_gone(&proxy).await {}
    let counters = service.counters();
    assert!(counters.published > counters.unconfirmed, "{counters:?}");

    // One that says that it is not there is told nothing and tried no more.
    let (gone, proxy) = channel.consumer().await;
    gone.fail(Some(SystemExceptionKind::ObjectNotExist));
    push.push(&event(0)).await.unwrap();
    while !is_gone(&proxy).await {}
    assert_eq!(service.counters().evicted, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_and_queues_have_limits() {
    let orb = orb().await;
    let mut settings = Settings::default();
    settings.max_proxies = 10;
    settings.max_channels = 3;
    settings.max_octets_per_consumer = 100_000;
    let service = EventService::start(&orb, None, settings).await.unwrap();
    let clients = crate::common::orb().await;
    let url = orb.corbaloc_url(zorb_events::CHANNEL_KEY).unwrap();
    let channel = crate::common::Channel::at(&clients, &url).await;
    let pull = channel.pull_proxy().await;
    let push = channel.push_proxy().await;
    for n in 2..10 {
        channel.consumers.obtain_pull_supplier().await.unwrap();
        assert!(n < 10);
    }
    let refused = channel.suppliers.obtain_push_consumer().await.unwrap_err();
    assert_eq!(refused.kind, SystemExceptionKind::NoResources);
    for n in 1..3 {
        let made = service.factory().create_channel(&format!("c{n}")).await;
        made.unwrap();
    }
    assert!(service.factory().create_channel("c3").await.is_err());
    // By octets, long before there are many events.
    let large = Any::new(&"x".repeat(10_000)).unwrap();
    for _ in 0..100 {
        push.push(&large).await.unwrap();
    }
    assert_eq!(service.counters().discarded, 91);
    let mut left = 0;
    while pull.try_pull().await.unwrap().1 {
        left += 1;
    }
    assert_eq!(left, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_that_clients_have_left_behind_make_way_and_those_in_use_do_not() {
    let orb = orb().await;
    let mut settings = Settings::default();
    settings.max_proxies = 10;
    settings.idle_for = std::time::Duration::ZERO;
    settings.unreachable_for = std::time::Duration::from_secs(3_600);
    let service = EventService::start(&orb, None, settings).await.unwrap();
    let clients = crate::common::orb().await;
    let url = orb.corbaloc_url(zorb_events::CHANNEL_KEY).unwrap();
    let channel = crate::common::Channel::at(&clients, &url).await;
    let (mut received, pushed) = channel.consumer().await;
    let waits = channel.pull_proxy().await;
    let waiting = tokio::spawn({
        let waits = waits.clone();
        async move { waits.pull().await.map(|any| crate::common::number(&any)) }
    });
    while orb.pending_upcalls() == 0 {
        tokio::task::yield_now().await;
    }
    let push = channel.push_proxy().await;
    // A hundred clients that connect to pull, and are gone.
    for _ in 0..100 {
        // It is used, so an older one goes.
        push.push(&event(1)).await.unwrap();
        channel.pull_proxy().await;
    }
    assert!(service.counters().evicted >= 92, "{:?}", service.counters());
    assert_eq!(received.numbers(100).await, [1; 100]);
    assert!(!is_gone(&pushed).await && !is_gone(&push).await);
    assert_eq!(waiting.await.unwrap().unwrap(), 1);

    // One that was never connected goes by itself; connected ones stay.
    let forgotten = channel.consumers.obtain_pull_supplier().await.unwrap();
    service.evict_idle_proxies();
    assert!(is_gone(&forgotten.unwrap()).await);
    assert!(!is_gone(&pushed).await && !is_gone(&push).await);
}
