//! What becomes of events while NATS takes none: the channel has them, and the bridge the one that is pushed.

use crate::foreign::OmniEvents;
use crate::support::{HANG, Running, have, passed};
use crate::{Channel, Server, bridge, number, ready};
use async_nats::jetstream::stream::{Config, DiscardPolicy};
use async_nats::jetstream::{self, Message};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use zorb::{Any, CompletionStatus, Interface, Orb, SystemException, SystemExceptionKind};
use zorb_events::Settings;
use zorb_events::cos_event_channel_admin::proxy_push_supplier::ConnectPushConsumerError;
use zorb_events::cos_event_channel_admin::{
    ConsumerAdmin, ConsumerAdminRef, ConsumerAdminServant, EventChannel, EventChannelServant,
    ProxyPullSupplierRef, ProxyPushSupplier, ProxyPushSupplierRef, ProxyPushSupplierServant,
    SupplierAdminRef,
};
use zorb_events::cos_event_comm::push_consumer::PushError;
use zorb_events::cos_event_comm::{PushConsumerRef, PushSupplier};

/// A channel in which a test pushes to the consumer itself, and that forgets each consumer at once.
struct Forgetful {
    orb: Orb,
    url: String,
    consumers: UnboundedReceiver<PushConsumerRef>,
}

struct Root(ConsumerAdminRef);
struct Admin(ProxyPushSupplierRef);
struct Proxy(UnboundedSender<PushConsumerRef>);

impl EventChannel for Root {
    async fn for_consumers(&self) -> Result<Option<ConsumerAdminRef>, SystemException> {
        Ok(Some(self.0.clone()))
    }

    async fn for_suppliers(&self) -> Result<Option<SupplierAdminRef>, SystemException> {
        Ok(None)
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl ConsumerAdmin for Admin {
    async fn obtain_push_supplier(&self) -> Result<Option<ProxyPushSupplierRef>, SystemException> {
        Ok(Some(self.0.clone()))
    }

    async fn obtain_pull_supplier(&self) -> Result<Option<ProxyPullSupplierRef>, SystemException> {
        Ok(None)
    }
}

impl PushSupplier for Proxy {
    async fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl ProxyPushSupplier for Proxy {
    async fn connect_push_consumer(
        &self,
        push_consumer: Option<PushConsumerRef>,
    ) -> Result<(), ConnectPushConsumerError> {
        let _ = self.0.send(push_consumer.expect("a consumer"));
        Ok(())
    }
}

impl Forgetful {
    async fn new() -> Self {
        let orb = Orb::builder().listen("iiop://127.0.0.1:0");
        let orb = orb.build().await.unwrap();
        let poa = orb.root_poa();
        let (sender, consumers) = unbounded_channel();
        let proxy = ProxyPushSupplierServant::new(Proxy(sender));
        let admin = ConsumerAdminServant::new(Admin(poa.activate(proxy).unwrap()));
        let root = EventChannelServant::new(Root(poa.activate(admin).unwrap()));
        let url = poa.activate(root).unwrap().as_object().to_string();
        poa.the_poa_manager().activate().unwrap();
        Self {
            orb,
            url,
            consumers,
        }
    }

    /// The consumer that connects next, as a client of the channel has it.
    async fn consumer(&mut self) -> PushConsumerRef {
        let consumer = tokio::time::timeout(HANG, self.consumers.recv()).await;
        let consumer = consumer.expect("the bridge connects").unwrap();
        let text = self.orb.object_to_string(&consumer);
        let consumer = self.orb.string_to_object(&text).await.unwrap();
        consumer.unchecked_narrow()
    }
}

/// Waits until the bridge has tried so often to store an event.
fn tried(bridge: &mut Running, tries: u32) {
    let words = [
        "an event waits for NATS".to_owned(),
        format!("tries={tries}"),
    ];
    let is_it = |line: &str| words.iter().all(|word| line.contains(word)).then_some(());
    assert!(bridge.find(is_it).is_some(), "{bridge:?}");
}

fn numbers(messages: &[Message]) -> Vec<i32> {
    let text = |message: &Message| String::from_utf8(message.payload.to_vec()).unwrap();
    messages
        .iter()
        .map(|message| text(message).parse().unwrap())
        .collect()
}

/// The events that are stored, up to this one.
async fn up_to(server: &Server, last: i32) -> Vec<i32> {
    let mut found = Vec::new();
    while found.last() != Some(&last) {
        found = numbers(&server.messages("plant.out", found.len() + 1).await);
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_channel_has_what_nats_does_not_take_and_the_bridge_one_event() {
    let cell = "bridge/pressure_omnievents";
    if !have(cell, &[Path::new("omniEvents")]) {
        return;
    }
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let events = OmniEvents::start(&[("MaxQueueLength", 16)]).await;
    let mut bridge = bridge(&server, &events.url, &["--publish", "plant.out"]);
    ready(&mut bridge);
    let supplier = events.supplier().await;
    supplier.push(&number(0)).await.unwrap();
    server.messages("plant.out", 1).await;
    server.kill();
    supplier.push(&number(1)).await.unwrap();
    tried(&mut bridge, 1);
    for n in 2..=100 {
        supplier.push(&number(n)).await.unwrap();
    }
    // Longer than any channel was made to wait before: it would have disconnected the bridge, and forgotten what it had for it.
    tried(&mut bridge, 16);
    server.start();
    supplier.push(&number(101)).await.unwrap();
    let found = up_to(&server, 101).await;
    // The one that waited in the bridge, and what the channel keeps: all of that.
    let (before, behind) = found.split_at(2);
    assert_eq!(before, [0, 1]);
    assert!(behind.len() <= 16 + 1, "{behind:?}");
    let all: Vec<i32> = (behind[0]..=101).collect();
    assert_eq!(behind, all, "some are lost");
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_has_what_a_full_stream_does_not_take_and_brings_it_again() {
    let cell = "bridge/pressure_full";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let context = jetstream::new(server.client().await);
    let mut config = Config {
        name: "plant".to_owned(),
        subjects: vec!["plant.out".to_owned()],
        max_messages: 5,
        discard: DiscardPolicy::New,
        ..Config::default()
    };
    context.create_stream(config.clone()).await.unwrap();
    let mut settings = Settings::default();
    settings.max_events_per_consumer = 16;
    let folder = tempfile::tempdir().unwrap();
    let channel = Channel::with(settings, "iiop://127.0.0.1:0", folder).await;
    let mut bridge = bridge(&server, &channel.url, &["--publish", "plant.out"]);
    ready(&mut bridge);
    let supplier = channel.supplier().await;
    for n in 0..=5 {
        supplier.push(&number(n)).await.unwrap();
    }
    tried(&mut bridge, 1);
    for n in 6..=100 {
        supplier.push(&number(n)).await.unwrap();
    }
    // This channel says how long a push may take.
    let back = |line: &str| line.contains("given back to the channel").then_some(());
    assert!(bridge.find(back).is_some(), "{bridge:?}");
    config.max_messages = -1;
    context.update_stream(&config).await.unwrap();
    supplier.push(&number(101)).await.unwrap();
    let found = up_to(&server, 101).await;
    assert_eq!(found[..5], [0, 1, 2, 3, 4]);
    assert!(found.is_sorted_by(|one, next| one < next), "{found:?}");
    // What is not there the channel says that it has discarded.
    let counters = channel.service.counters();
    let stored = u64::try_from(found.len()).unwrap();
    assert_eq!(stored + counters.discarded, 102, "{counters:?}");
    assert!(found.len() <= 5 + 1 + 16 + 1, "{found:?}");
    assert_eq!(counters.evicted, 0);
    passed(cell);
}

/// Pushes, and returns the number if the channel should push it again.
async fn push(consumer: PushConsumerRef, n: i32) -> Option<i32> {
    match consumer.push(&number(n)).await {
        Ok(()) => None,
        Err(PushError::System(exception)) => {
            assert_eq!(exception.kind, SystemExceptionKind::Transient);
            assert_eq!(exception.completed, CompletionStatus::No);
            Some(n)
        }
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn few_pushes_wait_for_nats_and_all_others_are_given_back() {
    let cell = "bridge/pressure_places";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let mut channel = Forgetful::new().await;
    let mut bridge = bridge(&server, &channel.url, &["--publish", "plant.out"]);
    ready(&mut bridge);
    let consumer = channel.consumer().await;
    assert_eq!(push(consumer.clone(), 0).await, None);
    server.kill();
    let mut pushes = JoinSet::new();
    for n in 1..=200 {
        pushes.spawn(push(consumer.clone(), n));
    }
    let mut given_back = 0;
    while given_back < 200 - 64 {
        let ended = tokio::time::timeout(HANG, pushes.join_next()).await;
        let ended = ended.expect("it has no place").unwrap().unwrap();
        assert!(ended.is_some(), "nothing is stored");
        given_back += 1;
    }
    tried(&mut bridge, 16);
    assert!(pushes.try_join_next().is_none(), "the others wait");
    server.start();
    while let Some(ended) = pushes.join_next().await {
        assert_eq!(ended.unwrap(), None);
    }
    assert_eq!(server.messages("plant.out", 65).await.len(), 65);
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bridge_that_is_ended_gives_back_the_event_that_waits() {
    let cell = "bridge/pressure_ended";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let mut channel = Forgetful::new().await;
    let mut bridge = bridge(&server, &channel.url, &["--publish", "plant.out"]);
    ready(&mut bridge);
    let consumer = channel.consumer().await;
    server.kill();
    let waits = tokio::spawn(push(consumer, 1));
    tried(&mut bridge, 1);
    let id = i32::try_from(bridge.id()).ok().and_then(Pid::from_raw);
    kill_process(id.unwrap(), Signal::TERM).unwrap();
    assert_eq!(waits.await.unwrap(), Some(1));
    let ended = bridge.finish();
    assert_eq!(ended.status.code(), Some(0), "{:?}", ended.lines);
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_has_forgotten_the_bridge_without_a_word_is_connected_to_again() {
    let cell = "bridge/forgotten";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let mut channel = Forgetful::new().await;
    let mut bridge = bridge(&server, &channel.url, &["--publish", "plant.out"]);
    ready(&mut bridge);
    channel.consumer().await;
    let consumer = channel.consumer().await;
    let said = bridge.find(|line| line.contains("had disconnected the bridge").then_some(()));
    assert!(said.is_some(), "{bridge:?}");
    assert_eq!(push(consumer, 1).await, None);
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_too_long_for_a_message_is_left_out_and_holds_up_no_other() {
    let cell = "bridge/too_long";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let context = jetstream::new(server.client().await);
    let config = Config {
        name: "plant".to_owned(),
        subjects: vec!["plant.out".to_owned()],
        max_message_size: 1_000,
        ..Config::default()
    };
    let mut stream = context.create_stream(config.clone()).await.unwrap();
    let channel = Channel::new().await;
    let mut bridge = bridge(&server, &channel.url, &["--publish", "plant.out"]);
    ready(&mut bridge);
    let supplier = channel.supplier().await;
    // For the stream; for the server; and for the server with the headers that it has.
    let largest = server.client().await.max_payload();
    for (at, length) in [2_000, largest * 2, largest - 10].into_iter().enumerate() {
        let text = "a".repeat(length);
        supplier
            .push(&Any::new(text.as_str()).unwrap())
            .await
            .unwrap();
        let left_out = format!("left_out={}", at + 1);
        let is_it = |line: &str| line.contains(&left_out).then_some(());
        assert!(bridge.find(is_it).is_some(), "{bridge:?}");
        supplier
            .push(&number(i32::try_from(at).unwrap()))
            .await
            .unwrap();
        assert_eq!(server.messages("plant.out", at + 1).await.len(), at + 1);
    }
    assert_eq!(stream.info().await.unwrap().state.messages, 3);
    passed(cell);
}
