//! What a channel does for its suppliers and consumers.

use crate::common::{self, Channel, Daemon, event, number, orb, told_consumer, told_supplier};
use zorb::{SystemException, SystemExceptionKind};
use zorb_events::cos_event_channel_admin::{
    proxy_pull_consumer::ConnectPullSupplierError, proxy_push_consumer::ConnectPushSupplierError,
    proxy_push_supplier::ConnectPushConsumerError,
};
use zorb_events::cos_event_comm::pull_supplier::PullError;
use zorb_events::cos_event_comm::push_consumer::PushError;
use zorb_events::omni_events::EventChannelFactoryRef;

#[tokio::test(flavor = "multi_thread")]
async fn every_mix_of_push_and_pull_gives_every_event_to_every_consumer_in_order() {
    let daemon = Daemon::start(&[]);
    let orb = orb().await;
    let channel = daemon.channel(&orb).await;
    let (mut first, _) = channel.consumer().await;
    let (mut second, _) = channel.consumer().await;
    let pull = channel.pull_proxy().await;
    let push = channel.push_proxy().await;
    let (offered, _) = channel.supplier().await;
    let (nothing, has_event) = pull.try_pull().await.unwrap();
    assert!(!has_event, "{nothing:?}");

    for n in 0..100 {
        push.push(&event(n)).await.unwrap();
    }
    let expected: Vec<u32> = (0..100).collect();
    assert_eq!(first.numbers(100).await, expected);
    assert_eq!(second.numbers(100).await, expected);
    for n in 0..100 {
        let any = match n % 2 {
            0 => pull.pull().await.unwrap(),
            _ => pull.try_pull().await.unwrap().0,
        };
        assert_eq!(number(&any), n);
    }
    // A pull that has to wait.
    let waiting = tokio::spawn({
        let pull = pull.clone();
        async move { pull.pull().await.map(|any| number(&any)) }
    });
    for n in 100..110 {
        offered.offer(n);
    }
    assert_eq!(first.numbers(10).await, (100..110).collect::<Vec<_>>());
    assert_eq!(second.numbers(10).await, (100..110).collect::<Vec<_>>());
    assert_eq!(waiting.await.unwrap().unwrap(), 100);
    for n in 101..110 {
        assert_eq!(number(&pull.pull().await.unwrap()), n);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_gets_what_is_published_after_it_has_connected() {
    let daemon = Daemon::start(&[]);
    let orb = orb().await;
    let channel = daemon.channel(&orb).await;
    let push = channel.push_proxy().await;
    push.push(&event(1)).await.unwrap();
    let (mut late, _) = channel.consumer().await;
    push.push(&event(2)).await.unwrap();
    assert_eq!(late.number().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_are_connected_once_and_wrong_peers_are_refused() {
    let daemon = Daemon::start(&[]);
    let orb = orb().await;
    let channel = daemon.channel(&orb).await;
    let bad_param = |exception: &SystemException| exception.kind == SystemExceptionKind::BadParam;

    let proxy = channel.suppliers.obtain_push_consumer().await.unwrap();
    let proxy = proxy.unwrap();
    let early = proxy.push(&event(1)).await;
    assert!(
        matches!(early, Err(PushError::Disconnected(_))),
        "{early:?}"
    );
    proxy.connect_push_supplier(None).await.unwrap();
    let again = proxy.connect_push_supplier(None).await;
    assert!(matches!(
        again,
        Err(ConnectPushSupplierError::AlreadyConnected(_))
    ));

    let proxy = channel.consumers.obtain_pull_supplier().await.unwrap();
    let early = proxy.unwrap().pull().await;
    assert!(
        matches!(early, Err(PullError::Disconnected(_))),
        "{early:?}"
    );

    let proxy = channel.consumers.obtain_push_supplier().await.unwrap();
    let nil = proxy.unwrap().connect_push_consumer(None).await;
    assert!(
        matches!(&nil, Err(ConnectPushConsumerError::System(e)) if bad_param(e)),
        "{nil:?}"
    );
    let proxy = channel.suppliers.obtain_pull_consumer().await.unwrap();
    let nil = proxy.unwrap().connect_pull_supplier(None).await;
    assert!(
        matches!(&nil, Err(ConnectPullSupplierError::System(e)) if bad_param(e)),
        "{nil:?}"
    );
}

fn is_gone<T: std::fmt::Debug>(result: Result<T, SystemException>) {
    let exception = result.expect_err("it is gone");
    assert_eq!(exception.kind, SystemExceptionKind::ObjectNotExist);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disconnect_on_one_side_reaches_the_other() {
    let daemon = Daemon::start(&[]);
    let orb = orb().await;
    let channel = daemon.channel(&orb).await;
    let push = channel.push_proxy().await;

    // By the consumer, at its proxy.
    let (mut received, proxy) = channel.consumer().await;
    proxy.disconnect_push_supplier().await.unwrap();
    assert!(received.next().await.is_none());
    is_gone(proxy.disconnect_push_supplier().await);

    // By the consumer, in its answer; nobody calls it again.
    let (mut received, proxy) = channel.consumer().await;
    received.leave();
    push.push(&event(1)).await.unwrap();
    while !common::is_gone(&proxy).await {}
    assert!(received.so_far().is_empty());

    // A pull that waits ends.
    let (consumer, mut told) = told_consumer(&orb);
    let proxy = channel.consumers.obtain_pull_supplier().await.unwrap();
    let proxy = proxy.unwrap();
    proxy.connect_pull_consumer(&consumer).await.unwrap();
    let waiting = tokio::spawn({
        let proxy = proxy.clone();
        async move { proxy.pull().await }
    });
    proxy.disconnect_pull_supplier().await.unwrap();
    told.recv().await.unwrap();
    assert!(waiting.await.unwrap().is_err());

    // All, by the channel.
    let (supplier, mut told) = told_supplier(&orb);
    let connected = channel.suppliers.obtain_push_consumer().await.unwrap();
    let connected = connected.unwrap();
    connected.connect_push_supplier(&supplier).await.unwrap();
    let (mut received, _) = channel.consumer().await;
    let (mut offered, _) = channel.supplier().await;
    channel.reference.destroy().await.unwrap();
    assert!(received.next().await.is_none());
    told.recv().await.unwrap();
    offered.disconnected().await;
    is_gone(channel.reference.destroy().await);
    is_gone(channel.consumers.obtain_pull_supplier().await);
    let late = push.push(&event(1)).await;
    assert!(matches!(late, Err(PushError::System(_))), "{late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_factory_makes_channels_that_have_nothing_in_common() {
    let daemon = Daemon::start(&[]);
    let orb = orb().await;
    let address = daemon.address();
    let factory = orb
        .string_to_object(&format!("corbaloc::{address}/EventService"))
        .await
        .unwrap();
    let factory: EventChannelFactoryRef = factory.narrow().await.unwrap().expect("a factory");
    assert!(factory.is_alive().await.unwrap());
    let orders = factory.create_channel("orders").await.unwrap().unwrap();
    assert!(factory.create_channel("orders").await.is_err());
    assert!(factory.create_channel("EventService").await.is_err());
    assert!(factory.join_channel("absent").await.is_err());
    let joined = factory.join_channel("orders").await.unwrap().unwrap();
    assert_eq!(joined, orders);
    let orders = Channel::at(&orb, &format!("corbaloc::{address}/orders")).await;
    let channel = daemon.channel(&orb).await;
    let (mut here, _) = channel.consumer().await;
    let (mut there, _) = orders.consumer().await;
    orders.push_proxy().await.push(&event(1)).await.unwrap();
    channel.push_proxy().await.push(&event(2)).await.unwrap();
    assert_eq!((here.number().await, there.number().await), (2, 1));
    // Its name is free again.
    orders.reference.destroy().await.unwrap();
    assert!(factory.join_channel("orders").await.is_err());
    factory.create_channel("orders").await.unwrap();
}
