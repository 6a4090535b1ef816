//! Servers of an engine that fail under load.

use crate::cluster::Cluster;
use crate::common::{Daemon, client, client_orb, object};
use crate::support::passed;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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
    /// Names whose change failed in a way that leaves open whether it was made.
    unknown: Mutex<BTreeMap<String, usize>>,
}

impl Load {
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
                load.acknowledged.fetch_add(1, Ordering::Relaxed);
                load.progress.notify_waiters();
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

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_and_one_that_hangs_lose_nothing_and_stop_nothing() {
    let cell = "etcd/failures";
    let Some(mut cluster) = Cluster::start(cell) else {
        return;
    };
    let url = cluster.url();
    let daemons: Vec<Daemon> = (0..3).map(|_| Daemon::start(&["--store", &url])).collect();
    let orb = client_orb().await;
    let mut names = Vec::new();
    for daemon in &daemons {
        names.push(client(&orb, &daemon.url).await);
    }
    let load = Arc::new(Load::default());
    let mut tasks = tokio::task::JoinSet::new();
    for me in 0..CALLERS {
        tasks.spawn(call(me, orb.clone(), names.clone(), Arc::clone(&load)));
    }
    load.advance(STEP).await;
    for at in 0..3 {
        // One of the three is the leader.
        cluster.kill(at);
        load.advance(STEP).await;
        cluster.restart(at);
        load.advance(STEP).await;
        cluster.hang(at);
        load.advance(STEP).await;
        cluster.resume(at);
        load.advance(STEP).await;
    }
    load.is_over.store(true, Ordering::Relaxed);
    tasks.join_all().await;

    let bound = std::mem::take(&mut *load.bound.lock().unwrap());
    let unknown = std::mem::take(&mut *load.unknown.lock().unwrap());
    eprintln!("{} acknowledged, {} left open", bound.len(), unknown.len());
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
    passed(cell);
}
