//! Servers of an engine that fail under load.

use crate::cluster::{Cluster, Engine};
use crate::common::{Daemon, client, client_orb, object};
use crate::support::passed;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use zorb::naming::{NamingClient, NamingError};
use zorb::{ObjectRef, Orb, SystemExceptionKind};

/// Callers at a time.
const CALLERS: usize = 32;
/// Changes that have to be acknowledged before the next thing fails, and after the last one has.
const STEP: usize = 64;

/// What callers share.
#[derive(Default)]
struct Load {
    acknowledged: AtomicUsize,
    progress: Notify,
    is_over: AtomicBool,
    /// Names that have to be bound, to these numbers.
    bound: Mutex<BTreeMap<String, usize>>,
    /// When each service made a change last, and its longest pause between two.
    pauses: Mutex<[(Option<Instant>, Duration); 3]>,
    /// Names whose change failed in a way that leaves open whether it was made.
    unknown: Mutex<BTreeMap<String, usize>>,
}

impl Load {
    fn acknowledge(&self, service: usize) {
        let now = Instant::now();
        let (last, longest) = &mut self.pauses.lock().unwrap()[service];
        let pause = last.replace(now).map(|last| now - last);
        *longest = pause.unwrap_or_default().max(*longest);
        self.acknowledged.fetch_add(1, Ordering::Relaxed);
        self.progress.notify_waiters();
    }

    /// Waits until so many more changes are acknowledged.
    async fn advance(&self, more: usize) {
        let until = self.acknowledged.load(Ordering::Relaxed) + more;
        loop {
            let progress = self.progress.notified();
            if self.acknowledged.load(Ordering::Relaxed) >= until {
                return;
            }
            progress.await;
        }
    }
}

/// Binds names of its own, and looks at once whether another service knows them.
async fn call(me: usize, orb: Orb, names: Vec<NamingClient>, load: Arc<Load>) {
    for n in 0.. {
        if load.is_over.load(Ordering::Relaxed) {
            return;
        }
        let (name, number) = (format!("caller{me}-{n}"), me * 1_000_000 + n);
        let (here, there) = (&names[n % 3], &names[(n + 1) % 3]);
        match here.bind(&name, &object(&orb, number).await).await {
            Ok(()) => {
                load.bound.lock().unwrap().insert(name.clone(), number);
                load.acknowledge(n % 3);
            }
            Err(NamingError::System { exception, .. }) => {
                // That nothing was changed is said only if nothing was.
                if exception.completed != zorb::CompletionStatus::No {
                    load.unknown.lock().unwrap().insert(name, number);
                    continue;
                }
            }
            Err(error) => panic!("{name}: {error}"),
        }
        let is_bound = load.bound.lock().unwrap().contains_key(&name);
        match there.resolve::<ObjectRef>(&name).await {
            Ok(found) => {
                assert!(is_bound, "{name} is bound, though its bind has failed");
                assert!(found.is_equivalent(&object(&orb, number).await), "{name}");
            }
            Err(NamingError::NotFound { .. }) => assert!(!is_bound, "{name} is lost"),
            Err(NamingError::System { exception, .. }) => {
                assert_eq!(
                    exception.kind,
                    SystemExceptionKind::Transient,
                    "{exception}"
                );
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// Three services, and callers of all of them.
struct Services {
    /// They end with it.
    _daemons: Vec<Daemon>,
    orb: Orb,
    names: Vec<NamingClient>,
    load: Arc<Load>,
    callers: tokio::task::JoinSet<()>,
}

impl Services {
    async fn start(cluster: &Cluster) -> Self {
        // Each uses another server first.
        let daemons: Vec<Daemon> = (0..3)
            .map(|at| Daemon::start(&["--store", &cluster.url_from(at)]))
            .collect();
        let orb = client_orb().await;
        let mut names = Vec::new();
        for daemon in &daemons {
            names.push(client(&orb, &daemon.url).await);
        }
        let load = Arc::new(Load::default());
        let mut callers = tokio::task::JoinSet::new();
        for me in 0..CALLERS {
            callers.spawn(call(me, orb.clone(), names.clone(), Arc::clone(&load)));
        }
        Self {
            _daemons: daemons,
            orb,
            names,
            load,
            callers,
        }
    }

    /// Waits until they make changes again.
    async fn advance(&self, what: &str) {
        let started = Instant::now();
        self.load.advance(1).await;
        eprintln!("{what}: the next change after {:?}", started.elapsed());
        self.load.advance(STEP).await;
    }

    /// Ends the callers, and checks what all three services say.
    async fn check(self) {
        let Self {
            _daemons,
            orb,
            names,
            load,
            callers,
        } = self;
        load.is_over.store(true, Ordering::Relaxed);
        callers.join_all().await;
        let bound = std::mem::take(&mut *load.bound.lock().unwrap());
        let unknown = std::mem::take(&mut *load.unknown.lock().unwrap());
        let pauses = load.pauses.lock().unwrap().map(|(_, longest)| longest);
        let (acknowledged, open) = (bound.len(), unknown.len());
        eprintln!("{acknowledged} acknowledged, {open} left open, longest pauses {pauses:?}");
        let mut tasks = tokio::task::JoinSet::new();
        for (at, (name, number)) in bound.into_iter().enumerate() {
            let (names, orb) = (names[at % 3].clone(), orb.clone());
            tasks.spawn(async move {
                let found: ObjectRef = names.resolve(&name).await.expect(&name);
                assert!(found.is_equivalent(&object(&orb, number).await), "{name}");
            });
        }
        tasks.join_all().await;
        // What was left open is made whole or not at all, and all agree.
        for (name, number) in &unknown {
            let mut answers = Vec::new();
            for names in &names {
                answers.push(match names.resolve::<ObjectRef>(name).await {
                    Ok(found) => {
                        assert!(found.is_equivalent(&object(&orb, *number).await), "{name}");
                        true
                    }
                    Err(NamingError::NotFound { .. }) => false,
                    Err(error) => panic!("{name}: {error}"),
                });
            }
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_etcd_killed_and_one_that_hangs_lose_nothing_and_stop_nothing() {
    killed_and_hanging(Engine::Etcd).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_nats_killed_and_one_that_hangs_lose_nothing_and_stop_nothing() {
    killed_and_hanging(Engine::Nats).await;
}

async fn killed_and_hanging(engine: Engine) {
    let cell = engine.cell("failures");
    let Some(mut cluster) = Cluster::start(engine, &cell) else {
        return;
    };
    let services = Services::start(&cluster).await;
    services.advance("start").await;
    for at in 0..3 {
        // One of the three is the leader.
        cluster.kill(at);
        services.advance("kill").await;
        cluster.restart(at);
        services.advance("restart").await;
        cluster.hang(at);
        services.advance("hang").await;
        cluster.resume(at);
        services.advance("resume").await;
    }
    services.check().await;
    passed(&cell);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_etcd_that_is_cut_off_answers_nothing_wrong_and_loses_nothing() {
    cut_off(Engine::Etcd).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_nats_that_is_cut_off_answers_nothing_wrong_and_loses_nothing() {
    cut_off(Engine::Nats).await;
}

/// One of the three is the leader, and thinks so for some time after it has lost the others.
async fn cut_off(engine: Engine) {
    let cell = engine.cell("partition");
    let Some(cluster) = Cluster::start_apart(engine, &cell) else {
        return;
    };
    let services = Services::start(&cluster).await;
    services.advance("start").await;
    for at in 0..3 {
        cluster.cut_from_others(at);
        services.advance("cut from the others").await;
        cluster.mend();
        services.advance("mended").await;
        cluster.cut_off(at);
        services.advance("cut off").await;
        cluster.mend();
        services.advance("mended").await;
    }
    services.check().await;
    passed(&cell);
}
