//! The naming service: with many names, beside omniNames, killed again and again, and over an engine that fails.

use super::{Process, Result, start};
use crate::cluster::{Cluster, Engine};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use zorb::cdr::{NativeEndian, WireFormat, encode_encapsulation};
use zorb::naming::cos_naming::{BindingType, NameComponent};
use zorb::naming::{NamingClient, NamingError};
use zorb::{Bytes, CompletionStatus, ObjectRef, Orb};
use zorb_named::store::{
    Access, Binding, Change, EmbeddedStore, EtcdStore, Key, NatsStore, Replace, Store, Target,
};
use zorb_named::{NamingService, Settings};

/// What is bound.
const OBJECT: &str = "corbaloc:iiop:1.2@bank.zorb.test:2810/Account";
/// Names of a service that has few, and of omniNames.
const FEW: usize = 1_000;
/// Changes of a store at a time while it is filled.
const AT_A_TIME: usize = 1_000;
/// Binds that are timed, one after the other.
const BINDS: usize = 300;
/// Callers while something fails, and binds before and after each failure.
const CALLERS: usize = 32;
const STEP: usize = 200;
/// Points of a picture a second, and the seconds before a failure and after its end.
const SAMPLES: f64 = 4.0;
const BESIDE: f64 = 2.0;

fn name(n: usize) -> String {
    format!("name{n:07}")
}

fn change(store: &impl Store, id: String, reference: &Bytes) -> Result<Change> {
    let kind = String::new();
    Ok(Change::Bind {
        context: store.root(),
        key: Key::of(&NameComponent { id, kind }).ok_or("no name")?,
        binding: Binding {
            binding_type: BindingType::Nobject,
            target: Target::Reference(reference.clone()),
        },
        replace: Replace::Nothing,
    })
}

/// Makes a store with so many names.
async fn fill(folder: &Path, count: usize, reference: &Bytes) -> Result<()> {
    let store = Arc::new(EmbeddedStore::open(folder)?);
    let mut tasks = JoinSet::new();
    for n in 0..count {
        if tasks.len() >= AT_A_TIME {
            let _ = tasks.join_next().await.ok_or("no task")???;
        }
        let change = change(&*store, name(n), reference)?;
        let store = Arc::clone(&store);
        tasks.spawn(async move { store.change(change).await.map(|_| Ok::<(), String>(())) });
    }
    while let Some(done) = tasks.join_next().await {
        let _ = done??;
    }
    store.close().await;
    Ok(())
}

/// The service of a folder or of a URL, as a process; and how long it took until it was ready.
fn serve_process(of: &str) -> Result<(Process, String, Duration)> {
    let started = Instant::now();
    let (process, reference) =
        start(Command::new(std::env::current_exe()?).args(["serve-names", of]))?;
    Ok((process, reference, started.elapsed()))
}

/// What [`serve_process`] starts.
pub(super) async fn serve(of: &str) -> Result<()> {
    async fn run(orb: Orb, store: impl Store) -> Result<()> {
        let service = NamingService::start(&orb, store, Settings::default())?;
        super::print_line(&orb.object_to_string(service.root()))?;
        orb.run().await;
        Ok(())
    }
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build().await?;
    match of.split_once(':') {
        Some(("etcd", _)) => run(orb, EtcdStore::open(of, &Access::default()).await?).await,
        Some(("nats", _)) => run(orb, NatsStore::open(of, &Access::default()).await?).await,
        _ => run(orb, EmbeddedStore::open(of.as_ref())?).await,
    }
}

/// A client with a connection of its own.
async fn caller(root: &str) -> Result<(NamingClient, ObjectRef)> {
    let orb = Orb::builder().build().await?;
    let names = NamingClient::at(&orb.string_to_object(root).await?).await?;
    Ok((names, orb.string_to_object(OBJECT).await?))
}

/// Resolves a second, and the 99th percentile in microseconds.
async fn resolve(root: &str, count: usize, callers: usize, calls: usize) -> Result<(f64, f64)> {
    let mut tasks = JoinSet::new();
    let started = Instant::now();
    for me in 0..callers {
        let (names, _) = caller(root).await?;
        tasks.spawn(async move {
            let mut times = Vec::new();
            for n in 0..calls / callers.max(1) {
                // Names all over the store.
                let wanted = name((me + n * 7_919) % count.max(1));
                let before = Instant::now();
                names
                    .resolve::<ObjectRef>(&wanted)
                    .await
                    .map_err(|e| e.to_string())?;
                times.push(before.elapsed());
            }
            Ok::<_, String>(times)
        });
    }
    let mut times = Vec::new();
    while let Some(of_one) = tasks.join_next().await {
        times.extend(of_one??);
    }
    let rate = times.len() as f64 / started.elapsed().as_secs_f64();
    times.sort_unstable();
    let slow = times
        .get(times.len() * 99 / 100)
        .copied()
        .unwrap_or(Duration::MAX);
    Ok((rate, slow.as_secs_f64() * 1e6))
}

fn omni_names(folder: &Path) -> Result<(Process, String)> {
    // It says on its standard error where it is.
    let line =
        "exec omniNames -start -ignoreport -logdir \"$0\" -ORBendPoint giop:tcp:127.0.0.1: 2>&1";
    let mut command = Command::new("sh");
    command.env("OMNIORB_CONFIG", "/dev/null");
    start(command.args(["-c", line]).arg(folder))
}

/// `names COUNT CALLERS CALLS`.
pub(super) async fn many(count: usize, callers: usize, calls: usize) -> Result<Value> {
    let (_, object) = caller_of_nothing().await?;
    let reference = encode_encapsulation::<NativeEndian>(WireFormat::default(), |encoder| {
        encoder.put(object.ior())
    })?;
    let reference = Bytes::from(reference);
    let folders = [
        tempfile::tempdir()?,
        tempfile::tempdir()?,
        tempfile::tempdir()?,
    ];
    let [many, few, theirs] = folders.each_ref().map(|folder| folder.path());
    fill(many, count, &reference).await?;
    fill(few, FEW, &reference).await?;
    let shown = |folder: &Path| folder.display().to_string();
    let few_p99 = {
        let (_process, root, _) = serve_process(&shown(few))?;
        resolve(&root, FEW, callers, calls).await?.1
    };
    // The first one is killed.
    drop(serve_process(&shown(many))?);
    let (process, root, ready_after) = serve_process(&shown(many))?;
    let (ours, p99) = resolve(&root, count, callers, calls).await?;
    let (names, object) = caller(&root).await?;
    let started = Instant::now();
    for n in 0..BINDS {
        names.bind(&format!("bound{n}"), &object).await?;
    }
    let bind = started.elapsed();
    drop(process);
    let store = EmbeddedStore::open(many)?;
    let started = Instant::now();
    for n in 0..BINDS {
        store
            .change(change(&store, format!("stored{n}"), &reference)?)
            .await?;
    }
    let commit = started.elapsed();
    let omni = async {
        let (_process, root) = omni_names(theirs)?;
        let (names, object) = caller(&root).await?;
        for n in 0..FEW {
            names.bind(&name(n), &object).await?;
        }
        resolve(&root, FEW, callers, calls).await
    };
    let omni = match omni.await {
        Ok((rate, _)) => rate,
        Err(error) => return Ok(json!({ "unmeasurable": error.to_string() })),
    };
    let us = |time: Duration| time.as_secs_f64() * 1e6 / BINDS as f64;
    Ok(json!({
        "zorb": ours, "omninames": omni, "p99_us": p99, "few_p99_us": few_p99,
        "start_s": ready_after.as_secs_f64(), "bind_us": us(bind), "commit_us": us(commit),
    }))
}

async fn caller_of_nothing() -> Result<(Orb, ObjectRef)> {
    let orb = Orb::builder().build().await?;
    let object = orb.string_to_object(OBJECT).await?;
    Ok((orb, object))
}

/// `kills TIMES COUNT`: kills a service under load, and starts it again.
pub(super) async fn kills(times: usize, count: usize) -> Result<Value> {
    let (orb, object) = caller_of_nothing().await?;
    let octets = encode_encapsulation::<NativeEndian>(WireFormat::default(), |encoder| {
        encoder.put(object.ior())
    })?;
    let folder = tempfile::tempdir()?;
    fill(folder.path(), count, &octets.into()).await?;
    let of = folder.path().display().to_string();
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let mut slowest = Duration::ZERO;
    for round in 0..times {
        let (process, root, ready_after) = serve_process(&of)?;
        slowest = slowest.max(ready_after);
        let mut tasks = JoinSet::new();
        for me in 0..4 {
            let (root, acknowledged) = (root.clone(), Arc::clone(&acknowledged));
            tasks.spawn(async move {
                let Ok((names, object)) = caller(&root).await else {
                    return;
                };
                for n in 0.. {
                    let name = format!("round{round}-{me}-{n}");
                    match names.bind(&name, &object).await {
                        Ok(()) => acknowledged.lock().await.insert(name),
                        Err(_) => return,
                    };
                }
            });
        }
        tokio::time::sleep(Duration::from_millis(50 + 10 * (round as u64 % 16))).await;
        drop(process);
        tasks.join_all().await;
    }
    let (_process, root, ready_after) = serve_process(&of)?;
    slowest = slowest.max(ready_after);
    let names = NamingClient::at(&orb.string_to_object(&root).await?).await?;
    let acknowledged = acknowledged.lock().await;
    let mut lost = 0_u32;
    for name in acknowledged.iter() {
        if names.resolve::<ObjectRef>(name).await.is_err() {
            lost += 1;
        }
    }
    Ok(
        json!({ "lost": lost, "start_s": slowest.as_secs_f64(), "acknowledged": acknowledged.len() }),
    )
}

/// What the callers of [`failover`] share.
#[derive(Default)]
struct Load {
    is_over: AtomicBool,
    acknowledged: AtomicUsize,
    wrong: AtomicUsize,
    bound: Mutex<Vec<String>>,
    /// When each service made a change last, and its longest pause.
    pauses: Mutex<[(Option<Instant>, Duration); 3]>,
}

async fn bind_and_look(me: usize, names: Vec<NamingClient>, object: ObjectRef, load: Arc<Load>) {
    for n in 0.. {
        if load.is_over.load(Ordering::Relaxed) {
            return;
        }
        let name = format!("caller{me}-{n}");
        let (Some(here), Some(there)) = (names.get(n % 3), names.get((n + 1) % 3)) else {
            return;
        };
        let is_bound = match here.bind(&name, &object).await {
            Ok(()) => true,
            Err(NamingError::System { exception, .. })
                if exception.completed != CompletionStatus::No =>
            {
                continue;
            }
            Err(_) => false,
        };
        if is_bound {
            let now = Instant::now();
            let mut pauses = load.pauses.lock().await;
            if let Some((last, longest)) = pauses.get_mut(n % 3) {
                let pause = last
                    .replace(now)
                    .map(|last| now.saturating_duration_since(last));
                *longest = pause.unwrap_or_default().max(*longest);
            }
            drop(pauses);
            load.bound.lock().await.push(name.clone());
            load.acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        let is_right = match there.resolve::<ObjectRef>(&name).await {
            Ok(_) => is_bound,
            Err(NamingError::NotFound { .. }) => !is_bound,
            Err(_) => true,
        };
        load.wrong
            .fetch_add(usize::from(!is_right), Ordering::Relaxed);
    }
}

/// `failover`: each server of a cluster of three is killed, and cut off from the others, under load.
pub(super) async fn failover() -> Result<Value> {
    let (Some(etcd), Some(nats)) = (over(Engine::Etcd).await?, over(Engine::Nats).await?) else {
        return Ok(json!({ "unmeasurable": "no engine, or no network namespaces" }));
    };
    Ok(json!({
        "wrong_or_lost": etcd.0 + nats.0,
        "etcd_recovery_s": etcd.1.as_secs_f64(), "nats_recovery_s": nats.1.as_secs_f64(),
    }))
}

/// An engine of three servers, a naming service beside each, and callers that bind and look.
struct UnderLoad {
    cluster: Cluster,
    _services: Vec<Process>,
    names: Vec<NamingClient>,
    load: Arc<Load>,
    callers: JoinSet<()>,
}

impl UnderLoad {
    /// `None` where there is no such engine, or no network namespaces.
    async fn start(engine: Engine) -> Result<Option<Self>> {
        let Some(cluster) = Cluster::start_apart(engine, "claims") else {
            return Ok(None);
        };
        let (orb, object) = caller_of_nothing().await?;
        let (mut services, mut names) = (Vec::new(), Vec::new());
        for at in 0..3 {
            let (process, root, _) = serve_process(&cluster.url_from(at))?;
            services.push(process);
            names.push(NamingClient::at(&orb.string_to_object(&root).await?).await?);
        }
        let load = Arc::new(Load::default());
        let mut callers = JoinSet::new();
        for me in 0..CALLERS {
            callers.spawn(bind_and_look(
                me,
                names.clone(),
                object.clone(),
                Arc::clone(&load),
            ));
        }
        Ok(Some(Self {
            cluster,
            _services: services,
            names,
            load,
            callers,
        }))
    }

    /// Waits for some more binds.
    async fn advance(&self) {
        let until = self.load.acknowledged.load(Ordering::Relaxed) + STEP;
        while self.load.acknowledged.load(Ordering::Relaxed) < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Adds the binds a second of the next seconds to a curve.
    async fn watch(&self, seconds: f64, curve: &mut Vec<f64>) {
        for _ in 0..(seconds * SAMPLES) as usize {
            let before = self.load.acknowledged.load(Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs_f64(1.0 / SAMPLES)).await;
            let more = self.load.acknowledged.load(Ordering::Relaxed) - before;
            curve.push(more as f64 * SAMPLES);
        }
    }
}

/// `timeline SERVERS SECONDS`: binds a second while each of so many servers is killed, and cut off from the others, for so long.
pub(super) async fn timeline(servers: usize, seconds: f64) -> Result<Value> {
    let mut points = Vec::new();
    for (engine, called) in [(Engine::Etcd, "etcd"), (Engine::Nats, "NATS")] {
        for failure in ["killed", "cut off"] {
            for at in 0..servers {
                let Some(mut it) = UnderLoad::start(engine).await? else {
                    return Ok(json!({ "unmeasurable": "no engine, or no network namespaces" }));
                };
                it.advance().await;
                let mut curve = Vec::new();
                it.watch(BESIDE, &mut curve).await;
                match failure {
                    "killed" => it.cluster.kill(at),
                    _ => it.cluster.cut_from_others(at),
                }
                it.watch(seconds, &mut curve).await;
                match failure {
                    "killed" => it.cluster.restart(at),
                    _ => it.cluster.mend(),
                }
                it.watch(BESIDE, &mut curve).await;
                it.load.is_over.store(true, Ordering::Relaxed);
                it.callers.join_all().await;
                let points_of_it = curve.iter().enumerate().map(|(n, rate)| {
                    json!({
                        "panel": format!("{called}: a server is {failure}"),
                        "series": format!("server {}", at + 1),
                        "x": (n as f64 + 0.5) / SAMPLES, "value": rate, "unit": "1/s",
                    })
                });
                points.extend(points_of_it);
            }
        }
    }
    Ok(points.into())
}

/// How many answers are wrong and names lost over an engine, and the longest time without a change at a service.
async fn over(engine: Engine) -> Result<Option<(usize, Duration)>> {
    let Some(mut it) = UnderLoad::start(engine).await? else {
        return Ok(None);
    };
    it.advance().await;
    for at in 0..3 {
        it.cluster.kill(at);
        it.advance().await;
        it.cluster.restart(at);
        it.advance().await;
        it.cluster.cut_from_others(at);
        it.advance().await;
        it.cluster.mend();
        it.advance().await;
    }
    it.load.is_over.store(true, Ordering::Relaxed);
    it.callers.join_all().await;
    let load = it.load;
    let mut lost = 0;
    for name in load.bound.lock().await.iter() {
        let names = it.names.first().ok_or("no service")?;
        if names.resolve::<ObjectRef>(name).await.is_err() {
            lost += 1;
        }
    }
    let wrong = load.wrong.load(Ordering::Relaxed);
    let pauses = load.pauses.lock().await.map(|(_, longest)| longest);
    let longest = pauses.into_iter().max().unwrap_or_default();
    Ok(Some((wrong + lost, longest)))
}
