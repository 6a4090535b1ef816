//! What `cargo xtask claims services` measures: the event service beside omniEvents, and with a consumer that stops; the naming
//! service with a million names beside omniNames, killed, and over engines that fail.
//!
//! `bench-services rate CONSUMERS EVENTS` and `bench-services stopped CONSUMERS EVENTS` print a line of JSON; `bench-services
//! serve` is the service that they start, as a process of its own. `names`, `kills` and `failover` do so with the naming service;
//! `timeline` prints the points of a picture.

#[path = "../../../tests/support/anew.rs"]
#[allow(dead_code, reason = "clusters use a part of it")]
mod anew;
#[path = "../../../crates/named/tests/engines/cluster.rs"]
#[allow(dead_code, reason = "a part of the failures is measured")]
mod cluster;
mod names;
#[path = "../../../crates/named/tests/engines/network.rs"]
#[allow(dead_code, reason = "a part of the failures is measured")]
mod network;
#[path = "../../../tests/support/mod.rs"]
#[allow(dead_code, reason = "clusters use a part of it")]
mod support;

use serde_json::json;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::Running;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zorb::naming::cos_naming::NameComponent;
use zorb::{Any, Orb, SystemException};
use zorb_events::cos_event_channel_admin::{EventChannelRef, ProxyPushConsumerRef};
use zorb_events::cos_event_comm::{PushConsumer, PushConsumerServant, push_consumer::PushError};
use zorb_events::omni_events::EventChannelFactoryRef;
use zorb_events::{CHANNEL_KEY, EventService, Settings};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A consumer, which says when it has which event.
struct Consumer {
    got: UnboundedSender<(u32, Instant)>,
    /// Whether it answers no more.
    is_stopped: Arc<AtomicBool>,
}

impl PushConsumer for Consumer {
    async fn push(&self, data: &Any) -> std::result::Result<(), PushError> {
        if self.is_stopped.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        let number = data.extract().unwrap_or(u32::MAX);
        let _ = self.got.send((number, Instant::now()));
        Ok(())
    }

    async fn disconnect_push_consumer(&self) -> std::result::Result<(), SystemException> {
        Ok(())
    }
}

/// A process that is killed in the end.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program, and waits for the reference that it prints.
fn start(command: &mut Command) -> Result<(Process, String)> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or("no output")?;
    let process = Process(child);
    let mut lines = BufReader::new(output).lines();
    while let Some(line) = lines.next() {
        let line = line?;
        if let Some(at) = line.find("IOR:") {
            // It may have more to say.
            std::thread::spawn(move || lines.for_each(drop));
            return Ok((process, line.split_at(at).1.to_owned()));
        }
    }
    Err("the service does not say where it is".into())
}

async fn ours(orb: &Orb) -> Result<(Process, EventChannelRef)> {
    let (process, reference) = start(Command::new(std::env::current_exe()?).arg("serve"))?;
    let object = orb.string_to_object(&reference).await?;
    Ok((process, object.unchecked_narrow()))
}

/// omniEvents, with a channel that waits for nothing.
async fn omni_events(orb: &Orb, folder: &Path) -> Result<(Running, EventChannelRef)> {
    let command = |port: u16| {
        let mut command = Command::new("omniEvents");
        command.env("OMNIORB_CONFIG", "/dev/null");
        command.args(["-f", "-v", "-t", "/dev/stdout", "-p"]);
        command.arg(port.to_string()).arg("-l").arg(folder);
        command
    };
    let (running, _, reference) = Running::on_a_port(command, support::reference);
    let factory: EventChannelFactoryRef =
        orb.string_to_object(&reference).await?.unchecked_narrow();
    let key = [NameComponent {
        id: "EventChannel".to_owned(),
        kind: "object interface".to_owned(),
    }];
    let criteria = [zorb_events::cos_life_cycle::NVP {
        name: "CyclePeriod_ns".to_owned(),
        value: Any::new(&0_u32)?,
    }];
    let channel = factory.create_object(&key, &criteria).await;
    let channel = channel.map_err(|error| error.to_string())?;
    let channel = channel.ok_or("no channel")?;
    Ok((running, channel.unchecked_narrow()))
}

type Got = UnboundedReceiver<(u32, Instant)>;

async fn consumers(
    orb: &Orb,
    channel: &EventChannelRef,
    count: usize,
) -> Result<Vec<(Got, Arc<AtomicBool>)>> {
    let admin = channel.for_consumers().await?.ok_or("no admin")?;
    let mut consumers = Vec::new();
    for _ in 0..count {
        let (got, events) = unbounded_channel();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let servant = PushConsumerServant::new(Consumer {
            got,
            is_stopped: Arc::clone(&is_stopped),
        });
        let consumer = orb.root_poa().activate(servant)?;
        let proxy = admin.obtain_push_supplier().await?.ok_or("no proxy")?;
        let connected = proxy.connect_push_consumer(&consumer).await;
        connected.map_err(|error| error.to_string())?;
        consumers.push((events, is_stopped));
    }
    Ok(consumers)
}

async fn supplier(channel: &EventChannelRef) -> Result<ProxyPushConsumerRef> {
    let admin = channel.for_suppliers().await?.ok_or("no admin")?;
    let proxy = admin.obtain_push_consumer().await?.ok_or("no proxy")?;
    let connected = proxy.connect_push_supplier(None).await;
    connected.map_err(|error| error.to_string())?;
    Ok(proxy)
}

/// Events a second from one supplier to all consumers.
async fn rate(orb: &Orb, channel: &EventChannelRef, count: usize, events: u32) -> Result<f64> {
    let mut consumers = consumers(orb, channel, count).await?;
    let proxy = supplier(channel).await?;
    let started = Instant::now();
    for number in 0..events {
        let pushed = proxy.push(&Any::new(&number)?).await;
        pushed.map_err(|error| error.to_string())?;
    }
    for (got, _) in &mut consumers {
        while got.recv().await.ok_or("no consumer")?.0 != events.saturating_sub(1) {}
    }
    Ok(f64::from(events) / started.elapsed().as_secs_f64())
}

/// The 99th percentile of the time from a push to a consumer that does not stop, in microseconds.
async fn latency(
    channel: &EventChannelRef,
    consumers: &mut [(Got, Arc<AtomicBool>)],
    events: u32,
) -> Result<f64> {
    let proxy = supplier(channel).await?;
    let mut times = Vec::new();
    for number in 0..events {
        let started = Instant::now();
        let pushed = proxy.push(&Any::new(&number)?).await;
        pushed.map_err(|error| error.to_string())?;
        for (got, is_stopped) in consumers.iter_mut() {
            if !is_stopped.load(Ordering::Relaxed) {
                let (_, at) = got.recv().await.ok_or("no consumer")?;
                times.push(at.saturating_duration_since(started));
            }
        }
    }
    times.sort_unstable();
    let place = times.len().saturating_mul(99) / 100;
    let time = times.get(place).copied().unwrap_or(Duration::MAX);
    Ok(time.as_secs_f64() * 1e6)
}

async fn serve() -> Result<()> {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build().await?;
    let mut settings = Settings::default();
    // What is measured is the rate of delivery, not of discarding.
    settings.max_events_per_consumer = 1_000_000;
    let service = EventService::start(&orb, None, settings).await?;
    print_line(&orb.object_to_string(service.channel()))?;
    debug_assert!(orb.key_table().find(CHANNEL_KEY).is_some());
    orb.run().await;
    Ok(())
}

fn print_line(text: &str) -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

#[tokio::main]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let answer = match words[..] {
        ["serve"] => return serve().await,
        ["serve-names", of] => return names::serve(of).await,
        ["names", count, callers, calls] => {
            names::many(count.parse()?, callers.parse()?, calls.parse()?).await?
        }
        ["kills", times, count] => names::kills(times.parse()?, count.parse()?).await?,
        ["failover"] => names::failover().await?,
        ["timeline", servers, seconds] => {
            names::timeline(servers.parse()?, seconds.parse()?).await?
        }
        ["rate", count, events] => {
            let orb = client().await?;
            let (count, events) = (count.parse()?, events.parse()?);
            let zorb = {
                let (_process, channel) = ours(&orb).await?;
                rate(&orb, &channel, count, events).await?
            };
            let folder =
                std::env::temp_dir().join(format!("bench-services-{}", std::process::id()));
            std::fs::create_dir_all(&folder)?;
            let theirs = async {
                let (_process, channel) = omni_events(&orb, &folder).await?;
                rate(&orb, &channel, count, events).await
            };
            let theirs = theirs.await;
            std::fs::remove_dir_all(&folder)?;
            match theirs {
                Ok(theirs) => json!({ "zorb": zorb, "omnievents": theirs }),
                Err(error) => json!({ "unmeasurable": error.to_string() }),
            }
        }
        ["stopped", count, events] => {
            let orb = client().await?;
            let (_process, channel) = ours(&orb).await?;
            let mut consumers = consumers(&orb, &channel, count.parse()?).await?;
            let events = events.parse()?;
            let without = latency(&channel, &mut consumers, events).await?;
            if let Some((_, is_stopped)) = consumers.first() {
                is_stopped.store(true, Ordering::Relaxed);
            }
            let with = latency(&channel, &mut consumers, events).await?;
            json!({ "without_us": without, "with_us": with })
        }
        _ => return Err(
                "rate CONSUMERS EVENTS, stopped CONSUMERS EVENTS, names COUNT CALLERS CALLS, kills TIMES COUNT, \
                 failover, or timeline SERVERS SECONDS"
                    .into(),
            ),
    };
    print_line(&answer.to_string())
}

async fn client() -> Result<Orb> {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build().await?;
    orb.root_poa().the_poa_manager().activate()?;
    Ok(orb)
}
