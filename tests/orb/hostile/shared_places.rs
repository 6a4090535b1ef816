//! Places that clients share: a host has a share of them, a client that goes leaves its own, and what finds none is refused
//! at once.

use crate::hostile::crowd::connect_from;
use crate::hostile::held::is_read;
use crate::hostile::honest_pair::{World, within};
use crate::hostile::raw::{Call, Raw, message};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zorb::Counter;
use zorb::executor::{Dispatch, WorkerPool};
use zorb_giop::{MessageKind, ResponseFlags, Version};

/// More requests than a POA manager holds, and than keys are looked up.
const REQUESTS: u32 = 1100;

/// Sends requests without reading replies.
async fn send_all(peer: &mut Raw, key: &[u8], operation: &str, ids: std::ops::RangeInclusive<u32>) {
    for id in ids {
        peer.send(&Call::new(key, operation).id(id).empty()).await;
    }
}

async fn until(is_so: impl Fn() -> bool) {
    within(async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_a_manager_holds_leave_places_to_other_hosts_and_are_refused_at_once() {
    let mut world = World::start().await;
    let key = world.key();
    let manager = Arc::clone(world.server.root_poa().the_poa_manager());
    manager.hold_requests().unwrap();
    let mut greedy = connect_from("127.0.0.2", &world).await;
    send_all(&mut greedy, &key, "wait", 1..=REQUESTS).await;
    // Its share is held; the others have their replies while the manager still holds.
    for _ in 768..REQUESTS {
        let refused = greedy.receive().await.expect("a refusal");
        assert_eq!(refused.header.kind, MessageKind::Reply);
    }
    // The last refusal is read before its request has left its place.
    until(|| world.server.pending_upcalls() == 768).await;
    let mut other = connect_from("127.0.0.3", &world).await;
    let twice = Call::new(&key, "twice").id(7).with(|e| e.put(&4i32));
    other.send(&twice).await;
    is_read(&mut other).await;
    // The greedy client goes, and its requests with it.
    drop(greedy);
    until(|| world.server.pending_upcalls() == 1).await;
    let mut again = connect_from("127.0.0.2", &world).await;
    again
        .send(&Call::new(&key, "twice").id(8).with(|e| e.put(&5i32)))
        .await;
    is_read(&mut again).await;
    manager.activate().unwrap();
    assert_eq!(other.receive_reply(7).await, Ok(8i32));
    assert_eq!(again.receive_reply(8).await, Ok(10i32));
    assert_eq!(world.entered_so_far(), 0);
    drop((other, again));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_request_that_its_client_cancels_leaves_its_place() {
    let world = World::start().await;
    let key = world.key();
    let manager = Arc::clone(world.server.root_poa().the_poa_manager());
    manager.hold_requests().unwrap();
    let mut peer = Raw::connect(&world).await;
    send_all(&mut peer, &key, "wait", 1..=20).await;
    is_read(&mut peer).await;
    assert_eq!(world.server.pending_upcalls(), 20);
    for id in 1..=20_u8 {
        let cancel = message(Version::V1_2, MessageKind::CancelRequest, &[id, 0, 0, 0]);
        peer.send(&cancel).await;
    }
    until(|| world.server.pending_upcalls() == 0).await;
    manager.activate().unwrap();
    drop(peer);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_way_requests_of_a_client_that_has_gone_stay_held() {
    let mut world = World::start().await;
    let key = world.key();
    let manager = Arc::clone(world.server.root_poa().the_poa_manager());
    manager.hold_requests().unwrap();
    let mut peer = Raw::connect(&world).await;
    let forget = Call {
        response: ResponseFlags::None,
        ..Call::new(&key, "forget_later")
    };
    peer.send(&forget.empty()).await;
    send_all(&mut peer, &key, "wait", 2..=9).await;
    is_read(&mut peer).await;
    drop(peer);
    until(|| world.server.pending_upcalls() == 1).await;
    manager.activate().unwrap();
    world.entered().await;
    world.subject.open(1);
    until(|| world.server.pending_upcalls() == 0).await;
    assert_eq!(world.entered_so_far(), 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_are_looked_up_leave_places_to_other_hosts_and_end_with_their_client() {
    let world = World::start().await;
    let key = world.ior();
    let asked = Arc::new(AtomicUsize::new(0));
    world.server.key_table().set_key_resolver({
        let (asked, orb) = (Arc::clone(&asked), world.server.clone());
        move |plain| {
            let (asked, object) = (Arc::clone(&asked), orb.object(key.clone()));
            async move {
                match &plain[..] {
                    b"answered" => Ok(Some(object)),
                    _ => {
                        let _asked = Asked::new(asked);
                        core::future::pending().await
                    }
                }
            }
        }
    });
    let mut greedy = connect_from("127.0.0.2", &world).await;
    send_all(&mut greedy, b"never", "wait", 1..=REQUESTS).await;
    for _ in 192..REQUESTS {
        let refused = greedy.receive().await.expect("a refusal");
        assert_eq!(refused.header.kind, MessageKind::Reply);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 192);
    let mut other = connect_from("127.0.0.3", &world).await;
    other
        .send(&Call::new(b"answered", "twice").id(7).with(|e| e.put(&4i32)))
        .await;
    assert_eq!(other.receive_reply(7).await, Ok(8i32));
    // LocateRequests ask, too.
    let mut locates = connect_from("127.0.0.4", &world).await;
    let body = [&[9, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0][..], b"never"].concat();
    locates
        .send(&message(Version::V1_2, MessageKind::LocateRequest, &body))
        .await;
    until(|| asked.load(Ordering::SeqCst) == 193).await;
    drop(greedy);
    until(|| asked.load(Ordering::SeqCst) == 1).await;
    drop(locates);
    until(|| asked.load(Ordering::SeqCst) == 0).await;
    drop(other);
    world.end().await;
}

/// A look-up in progress.
struct Asked(Arc<AtomicUsize>);

impl Asked {
    fn new(asked: Arc<AtomicUsize>) -> Self {
        asked.fetch_add(1, Ordering::SeqCst);
        Self(asked)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_of_a_worker_pool_leaves_places_to_other_hosts_and_to_those_who_come_behind() {
    const ROOM: u32 = 16;
    let pool = WorkerPool::builder()
        .threads(1)
        .queue_capacity(ROOM as usize);
    let pool = pool.build().unwrap();
    let dispatch = Dispatch::Pool(pool.clone());
    let mut world = World::start_with(|builder| builder.dispatch(dispatch)).await;
    let key = world.key();
    let counters = world.server.counters();
    let refused = || counters.get(Counter::PoolQueueFull);
    let queued = || pool.counters()[0].queued;
    // The thread is in this upcall.
    let mut first = Raw::connect(&world).await;
    first.send(&Call::new(&key, "wait").empty()).await;
    world.entered().await;
    let mut greedy = connect_from("127.0.0.2", &world).await;
    send_all(&mut greedy, &key, "wait", 1..=100).await;
    let share = ROOM - ROOM / 4;
    for _ in share..100 {
        let refused = greedy.receive().await.expect("a refusal");
        assert_eq!(refused.header.kind, MessageKind::Reply);
    }
    assert_eq!(
        (refused(), queued()),
        (u64::from(100 - share), share as usize)
    );
    let mut other = connect_from("127.0.0.3", &world).await;
    other
        .send(&Call::new(&key, "twice").id(7).with(|e| e.put(&4i32)))
        .await;
    until(|| queued() == share as usize + 1).await;
    // Its client has gone: its requests leave their places to others, and are not begun.
    drop(greedy);
    until(|| world.server.connections_served() == 3).await;
    // One less, as the other client's request waits.
    let mut next = connect_from("127.0.0.2", &world).await;
    for id in 1..share {
        next.send(&Call::new(&key, "twice").id(id).with(|e| e.put(&4i32)))
            .await;
    }
    is_read(&mut next).await;
    assert_eq!(refused(), u64::from(100 - share));
    world.let_go().await;
    assert_eq!(first.receive_reply(1).await, Ok(()));
    assert_eq!(other.receive_reply(7).await, Ok(8i32));
    for id in 1..share {
        assert_eq!(next.receive_reply(id).await, Ok(8i32));
    }
    assert_eq!(world.entered_so_far(), 0);
    drop((first, other, next));
    world.end().await;
}
