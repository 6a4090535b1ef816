//! `kill -9` in the middle of changes.

use crate::common::{Daemon, client, client_orb, object};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use zorb::naming::{NamingClient, NamingError};
use zorb::{ObjectRef, Orb};

/// How often the program is killed.
const LIVES: usize = 25;
/// Clients that change names all the time.
const CLIENTS: usize = 16;

/// What a client knows of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    /// What is bound, as far as it was acknowledged; `None`: nothing.
    acknowledged: Option<usize>,
    /// What is bound if the change that was not acknowledged was made.
    asked: Option<usize>,
}

/// Binds, rebinds and unbinds the client's names one after the other until the program is gone.
async fn change(
    names: NamingClient,
    orb: Orb,
    me: usize,
    known: Arc<Mutex<BTreeMap<String, Known>>>,
    done: Arc<AtomicUsize>,
    enough: (usize, Arc<Notify>),
) {
    for n in 0.. {
        let name = format!("client{me}/context{}/name{}", n % 3, n % 7);
        let before = known.lock().unwrap().get(&name).copied();
        let before = before.and_then(|known| known.acknowledged);
        // Each time another object.
        let after = (n % 5 != 4).then(|| me * 1_000_000 + n);
        let asked = Known {
            acknowledged: before,
            asked: after,
        };
        known.lock().unwrap().insert(name.clone(), asked);
        let changed = match (before, after) {
            (None, Some(number)) => names.bind(&name, &object(&orb, number).await).await,
            (Some(_), Some(number)) => names.rebind(&name, &object(&orb, number).await).await,
            (Some(_), None) => names.unbind(&name).await,
            (None, None) => match names.unbind(&name).await {
                Err(NamingError::NotFound { .. }) => Ok(()),
                other => other,
            },
        };
        match changed {
            Ok(()) => {
                let acknowledged = Known {
                    acknowledged: after,
                    asked: after,
                };
                known.lock().unwrap().insert(name, acknowledged);
            }
            Err(error) if error.system().is_some() => return,
            Err(error) => panic!("{name}: {error}"),
        }
        if done.fetch_add(1, Ordering::Relaxed) + 1 == enough.0 {
            enough.1.notify_one();
        }
    }
}

/// The number of the object that is bound.
async fn bound(names: &NamingClient, name: &str) -> Option<usize> {
    match names.resolve::<ObjectRef>(name).await {
        Ok(object) => {
            // The key is the last thing in the profile of a corbaloc.
            let profile = String::from_utf8_lossy(&object.ior().profiles[0].data).into_owned();
            let number = profile.split("Account").nth(1).expect("one of ours");
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            Some(digits.parse().expect("a number"))
        }
        Err(NamingError::NotFound { .. }) => None,
        Err(error) => panic!("{name}: {error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_was_acknowledged_is_lost_and_nothing_is_half_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut known = vec![BTreeMap::<String, Known>::new(); CLIENTS];
    let mut changes = 0;
    for life in 0..LIVES {
        let daemon = Daemon::in_folder(folder.path());
        let orb = client_orb().await;
        let names = client(&orb, &daemon.url).await;
        for (name, known) in known.iter_mut().flatten() {
            let found = bound(&names, name).await;
            assert!(
                found == known.acknowledged || found == known.asked,
                "life {life}: {name}: {found:?} is neither of {known:?}"
            );
            *known = Known {
                acknowledged: found,
                asked: found,
            };
        }
        // Each life ends at another place.
        let enough = (100 + 37 * life, Arc::new(Notify::new()));
        let done = Arc::new(AtomicUsize::new(0));
        let mut tasks = tokio::task::JoinSet::new();
        let shared: Vec<_> = known
            .drain(..)
            .map(|known| Arc::new(Mutex::new(known)))
            .collect();
        for (me, known) in shared.iter().enumerate() {
            tasks.spawn(change(
                names.clone(),
                orb.clone(),
                me,
                Arc::clone(known),
                Arc::clone(&done),
                enough.clone(),
            ));
        }
        enough.1.notified().await;
        drop(daemon);
        tasks.join_all().await;
        changes += done.load(Ordering::Relaxed);
        known = shared
            .into_iter()
            .map(|known| Arc::try_unwrap(known).unwrap().into_inner().unwrap())
            .collect();
    }
    assert!(changes >= 100 * LIVES, "{changes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_and_its_binding_are_made_together() {
    let folder = tempfile::tempdir().unwrap();
    for life in 0..10 {
        let daemon = Daemon::in_folder(folder.path());
        let names = daemon.client().await;
        // A bound context that is not there could not be listed.
        let mut all = names.list();
        while let Some(entry) = all.next().await.unwrap() {
            let context = names.subcontext(&entry.name).await.unwrap();
            context.list().next().await.unwrap();
        }
        let done = Arc::new(AtomicUsize::new(0));
        let enough = Arc::new(Notify::new());
        let mut tasks = tokio::task::JoinSet::new();
        for me in 0..CLIENTS {
            let (names, done, enough) = (names.clone(), Arc::clone(&done), Arc::clone(&enough));
            tasks.spawn(async move {
                for n in 0.. {
                    let name = format!("life{life}-{me}-{n}");
                    if names.bind_new_context(&name).await.is_err() {
                        return;
                    }
                    if done.fetch_add(1, Ordering::Relaxed) == 50 + 13 * life {
                        enough.notify_one();
                    }
                }
            });
        }
        enough.notified().await;
        drop(daemon);
        tasks.join_all().await;
    }
}
