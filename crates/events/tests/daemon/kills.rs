//! `kill -9` in the middle of events.

use crate::common::{Channel, Daemon, event, number, orb};
use crate::support::HANG;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::Notify;
use zorb_events::cos_event_channel_admin::ProxyPushConsumerRef;

/// How often the program is killed.
const LIVES: u32 = 15;
/// Suppliers that push all the time.
const SUPPLIERS: u32 = 8;

/// Pushes events until the program is gone.
async fn push(
    proxy: ProxyPushConsumerRef,
    next: Arc<AtomicU32>,
    acknowledged: Arc<Mutex<BTreeSet<u32>>>,
    enough: (usize, Arc<Notify>),
) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if proxy.push(&event(number)).await.is_err() {
            return;
        }
        let mut acknowledged = acknowledged.lock().unwrap();
        acknowledged.insert(number);
        if acknowledged.len() == enough.0 {
            enough.1.notify_one();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_event_reaches_every_consumer_at_least_once() {
    let folder = tempfile::tempdir().unwrap();
    let orb = orb().await;
    let daemon = Daemon::in_folder(folder.path());
    let address = daemon.address();
    let channel = daemon.channel(&orb).await;
    let (mut received, _) = channel.consumer().await;
    let pull = channel.pull_proxy().await;
    let mut proxies = Vec::new();
    for _ in 0..SUPPLIERS {
        proxies.push(channel.push_proxy().await);
    }
    let next = Arc::new(AtomicU32::new(0));
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let mut pulled: BTreeMap<u32, u32> = BTreeMap::new();
    let mut daemon = Some(daemon);
    for life in 0..LIVES {
        let running = match daemon.take() {
            Some(first) => first,
            None => Daemon::again(folder.path(), &address),
        };
        // Each life ends at another place.
        let so_far = acknowledged.lock().unwrap().len();
        let enough = (so_far + 40 + 17 * life as usize, Arc::new(Notify::new()));
        let mut tasks = tokio::task::JoinSet::new();
        for proxy in &proxies {
            tasks.spawn(push(
                proxy.clone(),
                Arc::clone(&next),
                Arc::clone(&acknowledged),
                enough.clone(),
            ));
        }
        let mut over = Box::pin(enough.1.notified());
        loop {
            tokio::select! {
                () = &mut over => break,
                event = pull.pull() => {
                    *pulled.entry(number(&event.unwrap())).or_default() += 1;
                }
            }
        }
        drop(running);
        tasks.join_all().await;
    }
    let _daemon = Daemon::again(folder.path(), &address);
    let acknowledged = std::mem::take(&mut *acknowledged.lock().unwrap());
    // A pull that was given up took an event that never arrived; it is not confirmed, so it comes again in the next run.
    drop(_daemon);
    let _daemon = Daemon::again(folder.path(), &address);
    let started = Instant::now();
    while !acknowledged.iter().all(|n| pulled.contains_key(n)) {
        let event = pull.pull().await.unwrap();
        *pulled.entry(number(&event)).or_default() += 1;
        assert!(started.elapsed() < HANG, "events are lost");
    }
    let mut pushed: BTreeMap<u32, u32> = BTreeMap::new();
    while !acknowledged.iter().all(|n| pushed.contains_key(n)) {
        *pushed.entry(received.number().await).or_default() += 1;
    }
    let again = |got: &BTreeMap<u32, u32>| got.values().map(|times| times - 1).sum::<u32>();
    eprintln!(
        "{} acknowledged; delivered again: {} pushed, {} pulled",
        acknowledged.len(),
        again(&pushed),
        again(&pulled)
    );
    // Nothing comes that was not sent.
    let sent = next.load(Ordering::Relaxed);
    assert!(pushed.keys().chain(pulled.keys()).all(|n| *n < sent));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_that_is_away_gets_in_order_what_it_has_missed() {
    let folder = tempfile::tempdir().unwrap();
    let orb = orb().await;
    let daemon = Daemon::in_folder(folder.path());
    let address = daemon.address();
    let channel = daemon.channel(&orb).await;
    let pull = channel.pull_proxy().await;
    let push = channel.push_proxy().await;
    for n in 0..10 {
        push.push(&event(n)).await.unwrap();
    }
    for n in 0..5 {
        assert_eq!(number(&pull.pull().await.unwrap()), n);
    }
    assert_eq!(daemon.terminate().status.code(), Some(0));
    // Number 4 is not confirmed: it may not have arrived.
    let daemon = Daemon::again(folder.path(), &address);
    for n in 4..10 {
        assert_eq!(number(&pull.pull().await.unwrap()), n);
    }
    push.push(&event(10)).await.unwrap();
    assert_eq!(number(&pull.pull().await.unwrap()), 10);
    // Once it has said that it has all, none comes again.
    assert!(!pull.try_pull().await.unwrap().1);
    assert_eq!(daemon.terminate().status.code(), Some(0));
    let daemon = Daemon::again(folder.path(), &address);
    assert!(!pull.try_pull().await.unwrap().1);
    // A channel and its name are kept, and what is destroyed is not.
    let channel = Channel::at(&orb, &daemon.url).await;
    let (_received, proxy) = channel.consumer().await;
    proxy.disconnect_push_supplier().await.unwrap();
    pull.disconnect_pull_supplier().await.unwrap();
    push.push(&event(11)).await.unwrap();
    drop(daemon);
    let _daemon = Daemon::again(folder.path(), &address);
    assert!(pull.try_pull().await.is_err());
    push.push(&event(12)).await.unwrap();
}
