//! omniEvents' channel, events of which go to a cluster of NATS.

use crate::cluster::{Cluster, Engine};
use crate::support::{self, HANG, Running, have, passed};
use crate::{REPEATS, bridge_to, number, ready};
use async_nats::jetstream::consumer::{DeliverPolicy, pull::OrderedConfig};
use async_nats::jetstream::{self, Message};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zorb::naming::cos_naming::NameComponent;
use zorb::{Any, Orb};
use zorb_events::cos_event_channel_admin::{EventChannelRef, ProxyPushConsumerRef};
use zorb_events::cos_life_cycle::NVP;
use zorb_events::omni_events::EventChannelFactoryRef;

/// omniEvents with a channel.
pub(crate) struct OmniEvents {
    _running: Running,
    _folder: TempDir,
    pub(crate) orb: Orb,
    pub(crate) channel: EventChannelRef,
    pub(crate) url: String,
}

impl OmniEvents {
    /// Starts it, with a channel of these criteria.
    pub(crate) async fn start(criteria: &[(&str, u32)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let command = |port: u16| {
            let mut command = Command::new("omniEvents");
            command.env("OMNIORB_CONFIG", "/dev/null");
            command.args(["-f", "-v", "-t", "/dev/stdout", "-p"]);
            command.arg(port.to_string()).arg("-l").arg(folder.path());
            command
        };
        let (running, _, factory) = Running::on_a_port(command, support::reference);
        let orb = Orb::builder().listen("iiop://127.0.0.1:0");
        let orb = orb.build().await.unwrap();
        let factory = orb.string_to_object(&factory).await.unwrap();
        let factory: EventChannelFactoryRef = factory.narrow().await.unwrap().unwrap();
        let key = [NameComponent {
            id: "EventChannel".to_owned(),
            kind: "object interface".to_owned(),
        }];
        let criteria = criteria.iter().map(|(name, value)| NVP {
            name: (*name).to_owned(),
            value: Any::new(value).unwrap(),
        });
        let criteria: Vec<NVP> = criteria.collect();
        let made = factory.create_object(&key, &criteria).await;
        let made = made.unwrap().unwrap();
        Self {
            _running: running,
            _folder: folder,
            url: orb.object_to_string(&made),
            orb,
            channel: made.unchecked_narrow(),
        }
    }

    pub(crate) async fn supplier(&self) -> ProxyPushConsumerRef {
        let admin = self.channel.for_suppliers().await.unwrap().unwrap();
        let proxy = admin.obtain_push_consumer().await.unwrap().unwrap();
        proxy.connect_push_supplier(None).await.unwrap();
        proxy
    }
}

/// The servers of a cluster, as the bridge takes them.
pub(crate) fn servers(cluster: &Cluster) -> String {
    let url = cluster.url();
    let servers = url.strip_prefix("nats://").unwrap();
    servers.strip_suffix("/names").unwrap().to_owned()
}

/// A client of these servers that soon leaves one which is cut off.
pub(crate) async fn context(servers: &str) -> jetstream::Context {
    let urls: Vec<String> = (servers.split(','))
        .map(|one| format!("nats://{one}"))
        .collect();
    let client = async_nats::ConnectOptions::new()
        .ping_interval(Duration::from_secs(1))
        .connect(urls);
    let mut context = jetstream::new(client.await.unwrap());
    context.set_timeout(Duration::from_secs(2));
    context
}

/// Sends all messages of the stream, each once and in order, whatever becomes of servers.
async fn read(context: jetstream::Context, messages: UnboundedSender<Message>) {
    let mut next = 1;
    loop {
        let Ok(stream) = context.get_stream("plant").await else {
            continue;
        };
        let config = OrderedConfig {
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: next,
            },
            ..OrderedConfig::default()
        };
        let Ok(consumer) = stream.create_consumer(config).await else {
            continue;
        };
        let Ok(mut found) = consumer.messages().await else {
            continue;
        };
        while let Some(Ok(message)) = found.next().await {
            let sequence = message.info().unwrap().stream_sequence;
            if sequence < next {
                continue;
            }
            next = sequence + 1;
            if messages.send(message).is_err() {
                return;
            }
        }
    }
}

/// What the messages are that were read so far.
#[derive(Default)]
struct Read {
    ids: BTreeMap<String, i32>,
    /// The number that comes next for the first time.
    next: i32,
    /// Messages that come again as they were, and that say which message they perhaps repeat.
    same: usize,
    marked: usize,
}

impl Read {
    /// Reads on until so many different numbers have come, in their order; all that come again have to say so.
    async fn until(&mut self, count: i32, messages: &mut UnboundedReceiver<Message>) {
        while self.next < count {
            let message = tokio::time::timeout(HANG, messages.recv()).await;
            let message = message.expect("more messages").unwrap();
            let headers = message.headers.as_ref().expect("headers");
            let id = headers.get("Nats-Msg-Id").expect("an id").to_string();
            let text = core::str::from_utf8(&message.payload).unwrap();
            let number: i32 = text.parse().unwrap();
            match self.ids.insert(id, number) {
                Some(before) => {
                    assert_eq!(before, number, "an id is of two events");
                    self.same += 1;
                }
                None if number < self.next => {
                    let before = headers.get(REPEATS).expect("it is marked").as_str();
                    assert_eq!(self.ids.get(before), Some(&number));
                    self.marked += 1;
                }
                None => {
                    assert_eq!(number, self.next, "one is lost");
                    self.next += 1;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_event_of_a_foreign_channel_reaches_a_cluster_that_loses_a_server_and_is_parted() {
    let cell = "bridge/cluster_out";
    if !have(cell, &[Path::new("omniEvents")]) {
        return;
    }
    let Some(mut cluster) = Cluster::start_apart(Engine::Nats, cell) else {
        return;
    };
    // So long that it discards none.
    let events = OmniEvents::start(&[("MaxQueueLength", 1_000)]).await;
    let servers = servers(&cluster);
    let mut bridge = bridge_to(&servers, &events.url, &["--publish", "plant.out"]);
    ready(&mut bridge);
    let (sender, mut messages) = unbounded_channel();
    tokio::spawn(read(context(&servers).await, sender));
    let supplier = events.supplier().await;
    let mut found = Read::default();
    for n in 0..120 {
        supplier.push(&number(n)).await.unwrap();
        match n {
            20 | 50 | 60 | 90 => {}
            _ => continue,
        }
        // Some are stored before the next thing fails, and the others go on meanwhile.
        found.until(n - 10, &mut messages).await;
        match n {
            20 => cluster.kill(0),
            50 => cluster.restart(0),
            60 => cluster.cut_off(1),
            _ => cluster.mend(),
        }
    }
    found.until(120, &mut messages).await;
    eprintln!("{} come again, {} by another id", found.same, found.marked);
    passed(cell);
}
