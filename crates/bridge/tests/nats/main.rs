//! The bridge between channels of this process and a server of NATS that the tests start, kill and start again. Without the engines
//! that `cargo xtask peers` builds they pass, and print what they skipped.

#[path = "../../../../tests/support/anew.rs"]
mod anew;
#[path = "../../../tls/tests/support/mod.rs"]
mod certificates;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../named/tests/engines/cluster.rs"]
mod cluster;
mod foreign;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../named/tests/engines/jwt.rs"]
mod jwt;
#[path = "../../../named/tests/engines/network.rs"]
mod network;
mod pressure;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../../tests/support/mod.rs"]
mod support;

use async_nats::jetstream;
use futures_util::StreamExt;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;
use support::{HANG, Running, have, passed};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zorb::{Any, Bytes, Interface, Orb, SystemException};
use zorb_bridge::{Payload, REDELIVERED, REPEATS, SEQUENCE, STREAM};
use zorb_events::cos_event_channel_admin::ProxyPushConsumerRef;
use zorb_events::cos_event_comm::push_consumer::PushError;
use zorb_events::cos_event_comm::{PushConsumer, PushConsumerServant};
use zorb_events::cos_notification::StructuredEvent;
use zorb_events::cos_notify_channel_admin::{
    ClientType, EventChannelRef, StructuredProxyPullSupplierRef,
};
use zorb_events::{CHANNEL_KEY, EventService, EventStore, Settings};

/// A server of NATS in a folder, at an address of its own.
struct Server {
    folder: TempDir,
    host: String,
    running: Option<Running>,
}

impl Server {
    /// One that does not run yet; `None`, and a word about it, without NATS.
    fn new(what: &str) -> Option<Self> {
        have(what, &[&Self::program()]).then(|| Self {
            folder: tempfile::tempdir().unwrap(),
            host: anew::anywhere()
                .trim_start_matches("iiop://")
                .replace(":0", ""),
            running: None,
        })
    }

    fn program() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/engines/build/nats-server")
    }

    fn start(&mut self) {
        let mut command = Command::new(Self::program());
        command.args([
            "--addr",
            &self.host,
            "--port",
            "4222",
            "--jetstream",
            "--store_dir",
        ]);
        command.arg(self.folder.path());
        let mut running = Running::command(command);
        let is_ready = running.find(|line| line.contains("Server is ready").then_some(()));
        assert!(is_ready.is_some(), "{running:?}");
        self.running = Some(running);
    }

    fn kill(&mut self) {
        self.running = None;
    }

    fn address(&self) -> String {
        format!("{}:4222", self.host)
    }

    async fn client(&self) -> async_nats::Client {
        async_nats::connect(self.address()).await.unwrap()
    }

    /// The messages of a subject from the first, until there are as many different events as wanted.
    async fn messages(&self, subject: &str, different: usize) -> Vec<jetstream::Message> {
        let context = jetstream::new(self.client().await);
        let stream = context.get_stream("plant").await.unwrap();
        let config = jetstream::consumer::pull::OrderedConfig {
            filter_subject: subject.to_owned(),
            ..Default::default()
        };
        let consumer = stream.create_consumer(config).await.unwrap();
        let mut messages = consumer.messages().await.unwrap();
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        while seen.len() < different {
            let message = tokio::time::timeout(HANG, messages.next()).await;
            let message = message.expect("more messages").unwrap().unwrap();
            seen.insert(message.payload.clone());
            found.push(message);
        }
        found
    }
}

/// The program while it runs. Dropping it kills it (SIGKILL).
fn bridge(server: &Server, channel: &str, args: &[&str]) -> Running {
    bridge_to(&server.address(), channel, args)
}

fn bridge_to(servers: &str, channel: &str, args: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zorb-bridge"));
    if !args.contains(&"--listen") {
        command.args(["--listen", "iiop://127.0.0.1:0"]);
    }
    command.args(["--nats", servers, "--stream", "plant"]);
    command.env("RUST_LOG", "error,zorb_bridge=info");
    Running::command({
        command.args(["--channel", channel]).args(args);
        command
    })
}

fn ready(bridge: &mut Running) {
    let ready = bridge.find(|line| line.starts_with("zorb-bridge is ready").then_some(()));
    assert!(ready.is_some(), "{bridge:?}");
}

/// A channel whose events are in a folder.
struct Channel {
    orb: Orb,
    service: EventService,
    url: String,
    folder: TempDir,
}

struct Received(UnboundedSender<Any>);

impl PushConsumer for Received {
    async fn push(&self, data: &Any) -> Result<(), PushError> {
        let _ = self.0.send(data.clone());
        Ok(())
    }

    async fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl Channel {
    async fn new() -> Self {
        Self::at("iiop://127.0.0.1:0", tempfile::tempdir().unwrap()).await
    }

    async fn at(endpoint: &str, folder: TempDir) -> Self {
        Self::with(Settings::default(), endpoint, folder).await
    }

    async fn with(settings: Settings, endpoint: &str, folder: TempDir) -> Self {
        let orb = anew::listening(|| Orb::builder().listen(endpoint)).await;
        let store = EventStore::open(folder.path()).unwrap();
        let service = EventService::start(&orb, Some(store), settings)
            .await
            .unwrap();
        let url = orb.corbaloc_url(CHANNEL_KEY).unwrap();
        Self {
            orb,
            service,
            url,
            folder,
        }
    }

    /// Ends the service; its folder and where it listened.
    async fn end(self) -> (String, TempDir) {
        let url = self.url.split_once('@').unwrap().1;
        let endpoint = format!("iiop://{}", url.split_once('/').unwrap().0);
        self.service.stop();
        self.orb.shutdown(true).await.unwrap();
        self.service.close().await;
        (endpoint, self.folder)
    }

    async fn supplier(&self) -> ProxyPushConsumerRef {
        let admin = self
            .service
            .channel()
            .for_suppliers()
            .await
            .unwrap()
            .unwrap();
        let proxy = admin.obtain_push_consumer().await.unwrap().unwrap();
        proxy.connect_push_supplier(None).await.unwrap();
        proxy
    }

    async fn consumer(&self) -> UnboundedReceiver<Any> {
        let (sender, received) = unbounded_channel();
        let poa = self.orb.root_poa();
        poa.the_poa_manager().activate().unwrap();
        let consumer = poa
            .activate(PushConsumerServant::new(Received(sender)))
            .unwrap();
        let admin = self
            .service
            .channel()
            .for_consumers()
            .await
            .unwrap()
            .unwrap();
        let proxy = admin.obtain_push_supplier().await.unwrap().unwrap();
        proxy.connect_push_consumer(&consumer).await.unwrap();
        received
    }
}

fn number(n: i32) -> Any {
    Any::new(&n).unwrap()
}

/// Checks that messages have the numbers below `count`, each at least once and in order; how many come twice, all of them marked.
fn check(messages: &[jetstream::Message], count: i32) -> usize {
    let (mut next, mut again) = (0, 0);
    let mut ids = BTreeMap::new();
    for message in messages {
        let headers = message.headers.as_ref().expect("headers");
        let id = headers.get("Nats-Msg-Id").expect("an id").to_string();
        let Ok(number) = std::str::from_utf8(&message.payload)
            .unwrap()
            .parse::<i32>()
        else {
            panic!("{message:?}");
        };
        assert_eq!(ids.insert(id, number), None, "an id comes twice");
        if number < next {
            assert_eq!(number, next - 1, "out of order");
            let before = headers.get(REPEATS).expect("it is marked").as_str();
            assert_eq!(ids.get(before), Some(&number));
            again += 1;
        } else {
            assert_eq!(number, next, "one is lost");
            assert!(headers.get(REPEATS).is_none());
            next += 1;
        }
    }
    assert_eq!(next, count);
    again
}

#[tokio::test(flavor = "multi_thread")]
async fn events_become_messages_and_messages_events_of_every_type() {
    let cell = "bridge/both_ways";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let channel = Channel::new().await;
    let ways = ["--publish", "plant.out", "--subscribe", "plant.in"];
    for (payload, form) in [(Payload::Json, "json"), (Payload::Cdr, "cdr")] {
        let subjects = ways.map(|way| way.replace("plant", form));
        let mut args: Vec<&str> = subjects.iter().map(String::as_str).collect();
        // One stream for each.
        let stream = format!("plant-{form}");
        args.extend(["--payload", form, "--name", form, "--stream", &stream]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_zorb-bridge"));
        command.args([
            "--listen",
            "iiop://127.0.0.1:0",
            "--nats",
            &server.address(),
        ]);
        command.args(["--channel", &channel.url]).args(&args);
        let mut bridge = Running::command(command);
        ready(&mut bridge);
        let mut consumer = channel.consumer().await;
        let client = server.client().await;
        let mut messages = client.subscribe(format!("{form}.out")).await.unwrap();
        client.flush().await.unwrap();
        let events = [
            Any::new("hot").unwrap(),
            Any::new(&3_i32).unwrap(),
            Any::new(&3_u16).unwrap(),
            Any::new(&vec![0.5_f64]).unwrap(),
        ];
        let supplier = channel.supplier().await;
        for event in &events {
            supplier.push(event).await.unwrap();
            let message = messages.next().await.unwrap();
            assert_eq!(payload.decode(&message.payload).unwrap(), *event);
            assert_eq!(consumer.recv().await.unwrap(), *event);
            let sent = payload.encode(event).unwrap();
            let context = jetstream::new(client.clone());
            let stored = context.publish(format!("{form}.in"), sent).await.unwrap();
            stored.await.unwrap();
            assert_eq!(consumer.recv().await.unwrap(), *event);
            // The bridge is a consumer, too.
            assert_eq!(
                payload
                    .decode(&messages.next().await.unwrap().payload)
                    .unwrap(),
                *event
            );
        }
    }
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_equals_the_one_before_is_marked_by_the_next_run_too() {
    let cell = "bridge/repeats";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let channel = Channel::new().await;
    let supplier = channel.supplier().await;
    let mut messages = (server.client().await)
        .subscribe("plant.out")
        .await
        .unwrap();
    let mut before = None;
    for run in [[1, 1], [1, 2]] {
        let mut bridge = bridge(&server, &channel.url, &["--publish", "plant.out"]);
        ready(&mut bridge);
        for n in run {
            supplier.push(&number(n)).await.unwrap();
            let headers = messages.next().await.unwrap().headers.unwrap();
            let repeats = headers.get(REPEATS).map(ToString::to_string);
            let expected = before.take().filter(|_| n == 1);
            assert_eq!(repeats, expected);
            before = headers.get("Nats-Msg-Id").map(ToString::to_string);
        }
    }
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_under_load_loses_no_event_and_an_engine_that_is_away_is_waited_for()
 {
    let cell = "bridge/server_killed";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    let channel = Channel::new().await;
    let mut bridge = bridge(&server, &channel.url, &["--publish", "plant.out"]);
    let said = bridge.find(|line| line.contains("waits for NATS").then_some(()));
    assert!(said.is_some(), "{bridge:?}");
    server.start();
    ready(&mut bridge);
    let supplier = channel.supplier().await;
    for n in 0..300 {
        supplier.push(&number(n)).await.unwrap();
        match n {
            100 | 200 => {
                // Some of what was pushed is published, some waits.
                server.messages("plant.out", 50).await;
                server.kill();
            }
            150 | 250 => server.start(),
            _ => {}
        }
    }
    let again = check(&server.messages("plant.out", 300).await, 300);
    eprintln!("{again} come again");
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bridge_that_is_killed_under_load_goes_on_and_marks_what_comes_again() {
    let cell = "bridge/bridge_killed";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let channel = Channel::new().await;
    let folder = tempfile::tempdir().unwrap();
    // The next run listens at the same port.
    let endpoint = anew::anywhere().replace(":0", ":11170");
    let data = folder.path().to_str().unwrap();
    let args = [
        "--publish",
        "plant.out",
        "--data",
        data,
        "--listen",
        &endpoint,
    ];
    let start = || {
        let mut bridge = bridge(&server, &channel.url, &args);
        ready(&mut bridge);
        bridge
    };
    let mut running = Some(start());
    let supplier = channel.supplier().await;
    for n in 0..300 {
        supplier.push(&number(n)).await.unwrap();
        match n {
            100 | 200 => {
                server.messages("plant.out", 50).await;
                drop(running.take());
            }
            150 | 250 => running = Some(start()),
            _ => {}
        }
    }
    let again = check(&server.messages("plant.out", 300).await, 300);
    eprintln!("{again} come again");
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_reach_a_channel_that_was_away_and_those_of_a_killed_bridge_come_again() {
    let cell = "bridge/channel_away";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let channel = Channel::new().await;
    let (endpoint, folder) = channel.end().await;
    let url = format!(
        "corbaloc:iiop:1.2@{}/{CHANNEL_KEY}",
        &endpoint["iiop://".len()..]
    );
    let data = tempfile::tempdir().unwrap();
    let args = [
        "--subscribe",
        "plant.in",
        "--data",
        data.path().to_str().unwrap(),
    ];
    let mut running = bridge(&server, &url, &args);
    let said = running.find(|line| line.contains("waits for the channel").then_some(()));
    assert!(said.is_some(), "{running:?}");
    let channel = Channel::at(&endpoint, folder).await;
    let mut consumer = channel.consumer().await;
    ready(&mut running);
    let context = jetstream::new(server.client().await);
    let mut received = BTreeSet::new();
    for n in 0..200 {
        let payload = Bytes::from(n.to_string());
        context
            .publish("plant.in", payload)
            .await
            .unwrap()
            .await
            .unwrap();
        if n % 50 == 49 {
            // Some are pushed, and not all acknowledged.
            received.insert(consumer.recv().await.unwrap().extract::<i32>().unwrap());
            drop(running);
            running = bridge(&server, &url, &args);
        }
    }
    while received.len() < 200 {
        let event = tokio::time::timeout(HANG, consumer.recv()).await;
        received.insert(
            event
                .expect("more events")
                .unwrap()
                .extract::<i32>()
                .unwrap(),
        );
    }
    passed(cell);
}

/// What a bridge says of an event in its header.
fn header(event: &StructuredEvent, name: &str) -> Option<Any> {
    let mut header = event.header.variable_header.iter();
    let found = header.find(|property| property.name == name);
    found.map(|property| property.value.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn structured_events_say_which_message_they_are_and_whether_it_came_before() {
    let cell = "bridge/marks";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let channel = Channel::new().await;
    let mut anys = channel.consumer().await;
    let object = channel.service.channel().as_object().clone();
    let notifications: EventChannelRef = object.narrow().await.unwrap().unwrap();
    let admin = notifications
        .default_consumer_admin()
        .await
        .unwrap()
        .unwrap();
    let obtained = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
    let proxy = obtained.await.unwrap().0.unwrap().as_object().clone();
    let proxy: StructuredProxyPullSupplierRef = proxy.narrow().await.unwrap().unwrap();
    proxy.connect_structured_pull_consumer(None).await.unwrap();

    let args = ["--subscribe", "plant.in", "--structured"];
    let mut running = bridge(&server, &channel.url, &args);
    ready(&mut running);
    let context = jetstream::new(server.client().await);
    let publish = |n: i32| {
        let context = context.clone();
        async move {
            let sent = context
                .publish("plant.in", Bytes::from(n.to_string()))
                .await;
            sent.unwrap().await.unwrap().sequence
        }
    };
    let first = publish(1).await;
    let event = proxy.pull_structured_event().await.unwrap();
    assert_eq!(header(&event, STREAM), Some(Any::new("plant").unwrap()));
    assert_eq!(header(&event, SEQUENCE), Some(Any::new(&first).unwrap()));
    assert_eq!(header(&event, REDELIVERED), None);
    assert_eq!(event.remainder_of_body, number(1));
    assert_eq!(anys.recv().await.unwrap(), number(1));
    drop(running);

    // Fetched by another client of the same consumer, which does not say that it has it; by the bridge that is gone before, perhaps, whose fetch
    // ends later than it.
    let consumer: jetstream::consumer::PullConsumer = (context.get_stream("plant").await.unwrap())
        .get_consumer("zorb-bridge")
        .await
        .unwrap();
    let second = publish(2).await;
    let fetch = consumer.fetch().max_messages(1).expires(HANG);
    let mut fetched = fetch.messages().await.unwrap();
    let message = fetched.next().await.unwrap().unwrap();
    message
        .ack_with(jetstream::AckKind::Nak(None))
        .await
        .unwrap();
    let mut running = bridge(&server, &channel.url, &args);
    ready(&mut running);
    let event = proxy.pull_structured_event().await.unwrap();
    assert_eq!(header(&event, SEQUENCE), Some(Any::new(&second).unwrap()));
    assert_eq!(header(&event, REDELIVERED), Some(Any::new(&true).unwrap()));
    assert_eq!(event.remainder_of_body, number(2));
    assert_eq!(anys.recv().await.unwrap(), number(2));
    passed(cell);
}

/// omniEvents' channel, to which messages go while the cluster loses a server, and another one has no network.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_channel_gets_every_message_of_a_cluster_that_loses_a_server_and_is_parted() {
    let cell = "bridge/cluster";
    if !have(cell, &[Path::new("omniEvents")]) {
        return;
    }
    let Some(mut cluster) = cluster::Cluster::start_apart(cluster::Engine::Nats, cell) else {
        return;
    };
    let events = foreign::OmniEvents::start(&[]).await;
    let (orb, url) = (&events.orb, &events.url);
    let (sender, mut received) = unbounded_channel();
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let consumer = poa
        .activate(PushConsumerServant::new(Received(sender)))
        .unwrap();
    let admin = events.channel.for_consumers().await.unwrap().unwrap();
    let proxy = admin.obtain_push_supplier().await.unwrap().unwrap();
    proxy.connect_push_consumer(&consumer).await.unwrap();

    let servers = foreign::servers(&cluster);
    let mut bridge = bridge_to(&servers, url, &["--subscribe", "plant.in"]);
    ready(&mut bridge);
    let context = foreign::context(&servers).await;
    for n in 0..120 {
        // Until it is acknowledged; stored once, by its id.
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Nats-Msg-Id", n.to_string());
        loop {
            let payload = Bytes::from(n.to_string());
            let sent = context.publish_with_headers("plant.in", headers.clone(), payload);
            if let Ok(stored) = sent.await
                && stored.await.is_ok()
            {
                break;
            }
        }
        match n {
            20 => cluster.kill(0),
            50 => cluster.restart(0),
            60 => cluster.cut_off(1),
            90 => cluster.mend(),
            _ => {}
        }
    }
    let mut all = BTreeSet::new();
    let mut again = 0;
    while all.len() < 120 {
        let event = tokio::time::timeout(HANG, received.recv()).await;
        let event: i32 = event.expect("more events").unwrap().extract().unwrap();
        again += usize::from(!all.insert(event));
    }
    eprintln!("{again} come again");
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_over_tls_opens_nats_and_a_wrong_one_is_said() {
    let cell = "bridge/secured";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    let authority = certificates::Authority::new("engines");
    let pem = authority.issue("server", &[&server.host]);
    let config = server.folder.path().join("nats.conf");
    let store = server.folder.path().join("store");
    let text = format!(
        "listen: \"{}:4222\"\njetstream {{ store_dir: {store:?} }}\n\
         tls {{ cert_file: {pem:?}, key_file: {pem:?} }}\n\
         authorization {{ user: zorb, password: \"hush-4711\" }}\n",
        server.host
    );
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new(Server::program());
    command.arg("--config").arg(&config);
    let mut running = Running::command(command);
    let is_ready = running.find(|line| line.contains("Server is ready").then_some(()));
    assert!(is_ready.is_some(), "{running:?}");
    server.running = Some(running);
    let channel = Channel::new().await;
    let ca = authority.trust();
    for (password, is_right) in [("hush-4711", true), ("other-4711", false)] {
        let file = server.folder.path().join(password);
        std::fs::write(&file, password).unwrap();
        let (ca, file) = (ca.to_str().unwrap(), file.to_str().unwrap());
        let user = ["--engine-user", "zorb", "--engine-password-file", file];
        let args = [&["--publish", "plant.out", "--engine-ca", ca][..], &user].concat();
        let mut bridge = bridge(&server, &channel.url, &args);
        if is_right {
            ready(&mut bridge);
            continue;
        }
        let ended = bridge.finish();
        assert_eq!(ended.status.code(), Some(1));
        let said = ended.lines.join("\n");
        assert!(said.contains("authorization violation"), "{said}");
        assert!(!said.contains("4711"), "{said}");
    }
    passed(cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn creds_open_nats_and_those_of_an_account_without_jetstream_are_refused() {
    let cell = "bridge/creds";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    let mut operator = jwt::Operator::new();
    let account = operator.account(jwt::Account::with_jetstream());
    let plain = operator.account(jwt::Account::without_jetstream());
    let config = server.folder.path().join("nats.conf");
    let store = server.folder.path().join("store");
    let text = format!(
        "listen: \"{}:4222\"\njetstream {{ store_dir: {store:?} }}\n{}",
        server.host,
        operator.config()
    );
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new(Server::program());
    command.arg("--config").arg(&config);
    let mut running = Running::command(command);
    let is_ready = running.find(|line| line.contains("Server is ready").then_some(()));
    assert!(is_ready.is_some(), "{running:?}");
    server.running = Some(running);
    let channel = Channel::new().await;
    for (account, is_right) in [(account, true), (plain, false)] {
        let creds = account.user(&jwt::User::default()).creds();
        let file = server.folder.path().join("creds");
        std::fs::write(&file, &creds).unwrap();
        let args = [
            "--publish",
            "plant.out",
            "--engine-creds",
            file.to_str().unwrap(),
        ];
        let mut bridge = bridge(&server, &channel.url, &args);
        if is_right {
            ready(&mut bridge);
            channel.supplier().await.push(&number(1)).await.unwrap();
            let options = async_nats::ConnectOptions::with_credentials(&creds).unwrap();
            let client = options.connect(server.address()).await.unwrap();
            let stream = jetstream::new(client).get_stream("plant").await.unwrap();
            let stored = loop {
                if let Ok(stored) = stream.get_raw_message(1).await {
                    break stored;
                }
            };
            assert_eq!(stored.payload, "1");
            continue;
        }
        let ended = bridge.finish();
        let said = ended.lines.join("\n");
        assert_eq!(ended.status.code(), Some(1), "{said}");
        let last = ended.lines.last().unwrap();
        assert!(
            last.contains("JetStream") && last.contains("not enabled for account"),
            "{said}"
        );
    }
    passed(cell);
}

/// The words of a line of a file that starts the program, with these in place of others.
fn words(line: &str, here: &[(&str, &str)]) -> Vec<String> {
    let word = |word: &str| {
        let found = here.iter().find(|(its, _)| *its == word);
        found.map_or(word, |(_, ours)| ours).to_owned()
    };
    line.split([' ', ',', '"', '[', ']'])
        .filter(|word| !word.is_empty())
        .map(word)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_unit_and_the_container_start_is_ready_when_it_says_so_and_ends_in_order() {
    let cell = "bridge/packaging";
    let Some(mut server) = Server::new(cell) else {
        return;
    };
    server.start();
    let channel = Channel::new().await;
    let setting = |text: &'static str, name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap_or_else(|| panic!("no {name}"))
    };
    let unit = include_str!("../../packaging/zorb-bridge.service");
    let container = include_str!("../../packaging/Containerfile");
    let subjects = ["--stream", "plant", "--publish", "plant.out"];
    for (line, besides) in [
        (setting(unit, "ExecStart="), &[][..]),
        (setting(container, "ENTRYPOINT "), &subjects),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let data = data.to_str().unwrap();
        let endpoint = "iiop://127.0.0.1:0";
        let here = [
            ("/var/lib/zorb-bridge", data),
            ("/data", data),
            ("iiop://0.0.0.0:11170", endpoint),
            (
                "/usr/local/bin/zorb-bridge",
                env!("CARGO_BIN_EXE_zorb-bridge"),
            ),
        ];
        let words = words(line, &here);
        let socket = folder.path().join("notify");
        let listening = UnixDatagram::bind(&socket).unwrap();
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(besides)
            .env("NOTIFY_SOCKET", &socket);
        command.args(["--nats", &server.address(), "--channel", &channel.url]);
        if !words.iter().any(|word| word == "--listen") {
            command.args(["--listen", endpoint]);
        }
        let mut bridge = Running::command(command);
        ready(&mut bridge);
        let mut said = [0; 100];
        let length = listening.recv(&mut said).unwrap();
        assert_eq!(&said[..length], b"READY=1");
        assert!(Path::new(data).join("consumer.ior").exists());
        let id = i32::try_from(bridge.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(id.unwrap(), rustix::process::Signal::TERM).unwrap();
        let ended = bridge.finish();
        assert_eq!(ended.status.code(), Some(0), "{:?}", ended.lines);
    }
    passed(cell);
}
