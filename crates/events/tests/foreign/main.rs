//! Clients of other ORBs at `zorb-events`, and the same clients of ours at omniEvents. Without omniEvents or JacORB the tests pass,
//! and print what they skipped.

#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../common/mod.rs"]
mod common;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../../tests/support/mod.rs"]
mod support;

use common::notify::{Notifications, alarm, event_type, number_of};
use common::{Channel, Daemon, event, number, orb};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{Running, have, passed};
use tempfile::TempDir;
use zorb_events::cos_notify_channel_admin::{EventChannelFactoryRef, InterFilterGroupOperator};

/// omniEvents' daemon in a folder of its own.
struct OmniEvents {
    _running: Running,
    _folder: TempDir,
    /// The reference of its factory.
    factory: String,
    address: String,
}

impl OmniEvents {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let command = |port: u16| {
            let mut command = Command::new("omniEvents");
            command.env("OMNIORB_CONFIG", "/dev/null");
            command.args(["-f", "-v", "-t", "/dev/stdout", "-p"]);
            command.arg(port.to_string()).arg("-l").arg(folder.path());
            command
        };
        let (running, port, factory) = Running::on_a_port(command, support::reference);
        Self {
            factory,
            _running: running,
            _folder: folder,
            address: format!("127.0.0.1:{port}"),
        }
    }
}

/// Runs a tool of omniEvents, which has to succeed.
fn tool(name: &str, args: &[&str]) -> Vec<String> {
    Running::start(Path::new(name), args).finish().success()
}

/// Everything that a channel does for our clients, wherever it is.
async fn every_mix(channel: &Channel) {
    let (mut received, _) = channel.consumer().await;
    let pull = channel.pull_proxy().await;
    let push = channel.push_proxy().await;
    let (offered, _) = channel.supplier().await;
    for n in 0..20 {
        push.push(&event(n)).await.unwrap();
    }
    assert_eq!(received.numbers(20).await, (0..20).collect::<Vec<_>>());
    for n in 0..20 {
        assert_eq!(number(&pull.pull().await.unwrap()), n);
    }
    for n in 20..25 {
        offered.offer(n);
    }
    assert_eq!(received.numbers(5).await, (20..25).collect::<Vec<_>>());
    for n in 20..25 {
        assert_eq!(number(&pull.pull().await.unwrap()), n);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_suppliers_and_consumers_work_with_omnievents() {
    let cell = "zorb-omnievents/all";
    let programs = ["omniEvents", "eventc", "rmeventc"].map(Path::new);
    if !have(cell, &programs) {
        return;
    }
    let server = OmniEvents::start();
    let orb = orb().await;
    let factory = orb.string_to_object(&server.factory).await.unwrap();
    let factory: zorb_events::omni_events::EventChannelFactoryRef =
        factory.narrow().await.unwrap().unwrap();
    let key = [zorb::naming::cos_naming::NameComponent {
        id: "EventChannel".to_owned(),
        kind: "object interface".to_owned(),
    }];
    let made = factory.create_object(&key, &[]).await.unwrap().unwrap();
    let channel = Channel::of(&orb, made.unchecked_narrow()).await;
    every_mix(&channel).await;
    let (mut received, _) = channel.consumer().await;
    channel.reference.destroy().await.unwrap();
    assert!(received.next().await.is_none());
    passed(cell);
}

/// Records as `events` prints them, and plays them to a channel.
#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_omnievents_work_with_our_channels() {
    let cell = "omnievents-zorbevents/tools";
    let programs = ["omniEvents", "eventc", "events", "eventf"].map(Path::new);
    if !have(cell, &programs) {
        return;
    }
    let daemon = Daemon::start(&[]);
    let address = daemon.address();
    let orb = orb().await;
    let channel = daemon.channel(&orb).await;

    // A channel made by eventc, which binds it in a naming service.
    let folder = tempfile::tempdir().unwrap();
    let names = zorb::Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let store = zorb_named::store::EmbeddedStore::open(folder.path()).unwrap();
    let _service =
        zorb_named::NamingService::start(&names, store, zorb_named::Settings::default()).unwrap();
    let url = names.corbaloc_url(zorb_named::SERVICE_KEY).unwrap();
    let init = format!("NameService={url}");
    let factory = format!("corbaloc::{address}/omniEvents");
    tool(
        "eventc",
        &[
            "-n",
            "orders",
            "-i",
            "orders",
            "-ORBInitRef",
            &init,
            &factory,
        ],
    );
    let orders = Channel::at(&orb, &format!("corbaloc::{address}/orders")).await;

    // From that channel to omniEvents' and back to the first one.
    let server = OmniEvents::start();
    let theirs = server.factory.clone();
    tool(
        "eventc",
        &[
            "-n",
            "theirs",
            "-i",
            "theirs",
            "-ORBInitRef",
            &init,
            &theirs,
        ],
    );
    let theirs = format!("corbaloc::{}/theirs", server.address);
    let from = format!("corbaloc::{address}/orders");
    tool("eventf", &[&from, &theirs]);
    let to = format!("corbaloc::{address}/EventChannel");
    tool("eventf", &[&theirs, &to]);
    let (mut received, _) = channel.consumer().await;
    let push = orders.push_proxy().await;
    for n in 0..20 {
        push.push(&event(n)).await.unwrap();
    }
    assert_eq!(received.numbers(20).await, (0..20).collect::<Vec<_>>());

    // Recorded from one of our channels and played to another.
    let mut recording = Command::new("events");
    recording.env("OMNIORB_CONFIG", "/dev/null").arg(&from);
    let file = folder.path().join("recorded");
    let output = std::fs::File::create(&file).unwrap();
    let mut recording = recording.stdout(output).spawn().unwrap();
    // It says nothing when it is connected.
    let mut n = 100;
    while std::fs::metadata(&file).unwrap().len() == 0 {
        push.push(&event(n)).await.unwrap();
        n += 1;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    recording.kill().unwrap();
    recording.wait().unwrap();
    while received.number().await != n - 1 {}
    let mut playing = Command::new("events");
    playing.env("OMNIORB_CONFIG", "/dev/null").args(["-s", &to]);
    let mut playing = playing.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = playing.stdin.take().unwrap();
    input.write_all(&std::fs::read(&file).unwrap()).unwrap();
    let again = received.number().await;
    assert!((100..n).contains(&again), "{again}");
    drop(input);
    playing.kill().unwrap();
    playing.wait().unwrap();
    passed(cell);
}

/// JacORB's notification service.
const NOTIFIER: &str = "../../tests/interop/build/jacorb/notifier";

/// Every form of events there, with a filter of its own: as a supplier that pushes and one that is pulled from, and as
/// consumers of both kinds.
#[tokio::test(flavor = "multi_thread")]
async fn our_suppliers_and_consumers_work_with_jacorbs_notification_service() {
    let cell = "zorb-jacorbnotify/all";
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(NOTIFIER);
    if !have(cell, &[&program]) {
        return;
    }
    let mut notifier = Running::start(&program, &["-printIOR"]);
    let factory = notifier.reference();
    let factory = factory.unwrap_or_else(|| panic!("{notifier:?}"));
    let orb = orb().await;
    let factory = orb.string_to_object(&factory).await.unwrap();
    let factory: EventChannelFactoryRef = factory.narrow().await.unwrap().unwrap();
    let (made, id) = factory.create_channel(&[], &[]).await.unwrap();
    assert!(factory.get_all_channels().await.unwrap().contains(&id));
    let made = made.unwrap();
    let channel = Notifications::of(&orb, made.clone()).await;

    let (mut pushed, _) = channel.consumer().await;
    let (mut sequences, _) = channel.sequence_consumer(&[]).await;
    let puller = channel.puller(&channel.consumers).await;
    let (admin, _) = made
        .new_for_consumers(InterFilterGroupOperator::AndOp)
        .await
        .unwrap();
    let filtered = channel.puller(&admin.unwrap()).await;
    let filter = channel
        .filter(&[event_type("plant", "Alarm")], "$number > 1")
        .await;
    filtered.add_filter(&filter).await.unwrap();
    let push = channel.pusher().await;
    for n in 1..=3 {
        push.push_structured_event(&alarm(n)).await.unwrap();
    }
    // It gives events to its queues by several threads: AnyOrder is that, too.
    let sorted = |mut numbers: Vec<i32>| {
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(sorted(pushed.numbers(3).await), [1, 2, 3]);
    assert_eq!(sorted(sequences.numbers(3).await), [1, 2, 3]);
    let mut pulled = Vec::new();
    for _ in 1..=3 {
        let event = puller.pull_structured_event().await.unwrap();
        let number = number_of(&event);
        assert_eq!(event, alarm(number));
        pulled.push(number);
    }
    assert_eq!(sorted(pulled), [1, 2, 3]);
    let mut pulled = Vec::new();
    for _ in 2..=3 {
        pulled.push(number_of(&filtered.pull_structured_event().await.unwrap()));
    }
    assert_eq!(sorted(pulled), [2, 3]);
    let (offer, _proxy) = channel.supplier().await;
    offer.send(alarm(4)).unwrap();
    assert_eq!(pushed.numbers(1).await, [4]);

    // The same channel as one of CosEvent.
    let plain = Channel::of(&orb, made.clone().into()).await;
    let (mut received, _) = plain.consumer().await;
    let pull = plain.pull_proxy().await;
    let push = plain.push_proxy().await;
    for n in 0..5 {
        push.push(&event(n)).await.unwrap();
    }
    let mut numbers = received.numbers(5).await;
    numbers.sort_unstable();
    assert_eq!(numbers, (0..5).collect::<Vec<_>>());
    let mut pulled = Vec::new();
    for _ in 0..5 {
        pulled.push(number(&pull.pull().await.unwrap()));
    }
    pulled.sort_unstable();
    assert_eq!(pulled, numbers);
    passed(cell);
}

const TYPED: &str = "../../tests/interop/build/omniorb/typed";
const PLANT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plant.idl");

/// The calls of omniORB's supplier, for consumers of structured events.
#[tokio::test(flavor = "multi_thread")]
async fn a_typed_supplier_of_omniorb_calls_our_channel() {
    let cell = "omniorb-zorbtyped/supplier";
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(TYPED);
    if !have(cell, &[&program]) {
        return;
    }
    let daemon = Daemon::start(&["--idl", PLANT]);
    let orb = orb().await;
    let notifications = Notifications::at(&orb, &daemon.url).await;
    let puller = notifications.puller(&notifications.consumers).await;
    let channel = format!("corbaloc::{}/TypedEventChannel", daemon.address());
    let lines = Running::start(&program, &["supplier", &channel]).finish();
    assert_eq!(lines.success(), ["refused", "supplied"]);
    let mut called = Vec::new();
    for _ in 0..3 {
        let event = puller.pull_structured_event().await.unwrap();
        let (first, rest) = event.filterable_data.split_first().unwrap();
        let operation: String = first.value.extract().unwrap();
        let names: Vec<&str> = rest.iter().map(|it| it.name.as_str()).collect();
        called.push(format!("{operation}({})", names.join(", ")));
    }
    // A one-way call may be overtaken by the one behind it.
    called.sort_unstable();
    assert_eq!(
        called,
        [
            "Plant::Alarms::cleared(severity)",
            "Plant::Alarms::raised(severity, all)",
            "Plant::Machine::stopped(why)",
        ]
    );
    passed(cell);
}

/// From omniORB's supplier to its consumer, which our channel calls by the types of IDL.
#[tokio::test(flavor = "multi_thread")]
async fn a_typed_consumer_of_omniorb_is_called_by_our_channel() {
    let cell = "omniorb-zorbtyped/consumer";
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(TYPED);
    if !have(cell, &[&program]) {
        return;
    }
    let daemon = Daemon::start(&["--idl", PLANT]);
    let channel = format!("corbaloc::{}/TypedEventChannel", daemon.address());
    let mut consumer = Running::start(&program, &["consumer", &channel]);
    consumer.find(|line| (line == "connected").then_some(()));
    let supplier = Running::start(&program, &["supplier", &channel]).finish();
    supplier.success();
    let mut lines = consumer.finish().success();
    // A one-way call may be overtaken by the one behind it.
    lines[1..4].sort_unstable();
    assert_eq!(
        lines[..4],
        [
            "connected",
            "cleared 4",
            "raised 3 7:1.5 8:-2",
            "stopped maintenance"
        ]
    );
    passed(cell);
}

#[test]
fn every_operation_works_from_jacorb() {
    let cell = "jacorb-zorbevents/all";
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop/build/jacorb/events");
    if !have(cell, &[&program]) {
        return;
    }
    let daemon = Daemon::start(&[]);
    let lines = Running::start(&program, &[&daemon.url]).finish().success();
    for cell in [
        "push_push",
        "push_pull",
        "pull_push",
        "pull_pull",
        "disconnect",
    ] {
        let expected = format!("cell {cell} ok");
        assert!(lines.contains(&expected), "{expected}: {lines:?}");
    }
    passed(cell);
}

/// Structured events with filters, sequences, properties and types, by an ORB whose IDL is not ours.
#[test]
fn every_part_of_the_notification_service_works_from_jacorb() {
    let cell = "jacorb-zorbnotify/all";
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop/build/jacorb/notify");
    if !have(cell, &[&program]) {
        return;
    }
    let daemon = Daemon::start(&[]);
    let factory = format!("corbaloc::{}/NotificationService", daemon.address());
    let lines = Running::start(&program, &[&factory]).finish().success();
    for cell in [
        "channels",
        "filtered_push",
        "filtered_pull",
        "sequences",
        "anys",
        "priorities",
        "properties",
        "types",
    ] {
        let expected = format!("cell {cell} ok");
        assert!(lines.contains(&expected), "{expected}: {lines:?}");
    }
    passed(cell);
}
