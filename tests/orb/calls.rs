//! Calls between two ORBs in one process, over real sockets: callbacks, dropped and timed-out
//! calls, blocking servants, shutdown, both flavours of runtime.

use crate::anew::{anywhere, listening};
use crate::savings::spawn;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use zorb::executor::{Dispatch, WorkerPool};
use zorb::{CompletionStatus, Interface, Orb, SystemException, SystemExceptionKind as Kind, minor};

zorb::idl! {
    module Calls {
        interface Peer {
            long add(in long a, in long b);
            /// Calls `other.add` while it is being called itself, `depth` times to and fro.
            long bounce(in Peer other, in long depth);
            /// Waits until `release`.
            long wait(in long value);
            void release();
            /// Blocks its thread until `unblock`.
            void block();
            void unblock();
            string echo(in string text);
            oneway void note(in long value);
            long noted();
            void end(in boolean wait);
            void pass_on(in Peer other);
            Peer make(out Peer absent);
        };
        struct Point { double x, y, z; string name; };
        interface Other {
            void nothing();
            void put(in Point where);
        };
    };
}

use calls::{OtherRef, Peer, PeerRef, PeerServant};

struct Servant {
    orb: Orb,
    released: Semaphore,
    waiting: Notify,
    notes: AtomicUsize,
    blocked: Notify,
    blocker: (std::sync::Mutex<bool>, std::sync::Condvar),
}

impl Servant {
    fn new(orb: &Orb) -> Arc<Self> {
        Arc::new(Self {
            orb: orb.clone(),
            released: Semaphore::new(0),
            waiting: Notify::new(),
            notes: AtomicUsize::new(0),
            blocked: Notify::new(),
            blocker: Default::default(),
        })
    }
}

impl Peer for Servant {
    async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a.wrapping_add(b))
    }

    async fn bounce(&self, other: Option<PeerRef>, depth: i32) -> Result<i32, SystemException> {
        let other = other.expect("a peer");
        if depth == 0 {
            return other.add(0, 0).await;
        }
        let me = self
            .orb
            .root_poa()
            .activate(PeerServant::from_arc(Self::new(&self.orb)))?;
        let depth = other.bounce(&me, depth - 1).await?;
        self.orb.root_poa().deactivate_object(&me)?;
        Ok(depth + 1)
    }

    async fn wait(&self, value: i32) -> Result<i32, SystemException> {
        self.waiting.notify_one();
        self.released
            .acquire()
            .await
            .expect("never closed")
            .forget();
        Ok(value)
    }

    async fn release(&self) -> Result<(), SystemException> {
        self.released.add_permits(1);
        Ok(())
    }

    async fn block(&self) -> Result<(), SystemException> {
        self.blocked.notify_one();
        let mut unblocked = self.blocker.0.lock().unwrap();
        while !*unblocked {
            unblocked = self.blocker.1.wait(unblocked).unwrap();
        }
        Ok(())
    }

    async fn unblock(&self) -> Result<(), SystemException> {
        *self.blocker.0.lock().unwrap() = true;
        self.blocker.1.notify_all();
        Ok(())
    }

    async fn echo(&self, text: &str) -> Result<String, SystemException> {
        Ok(text.to_owned())
    }

    async fn note(&self, value: i32) -> Result<(), SystemException> {
        self.notes
            .fetch_add(usize::try_from(value).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    }

    async fn noted(&self) -> Result<i32, SystemException> {
        Ok(i32::try_from(self.notes.load(Ordering::Relaxed)).unwrap())
    }

    async fn end(&self, wait: bool) -> Result<(), SystemException> {
        self.orb.shutdown(wait).await
    }

    async fn make(&self) -> Result<(Option<PeerRef>, Option<PeerRef>), SystemException> {
        let servant = PeerServant::from_arc(Self::new(&self.orb));
        Ok((Some(self.orb.root_poa().activate(servant)?), None))
    }

    async fn pass_on(&self, other: Option<PeerRef>) -> Result<(), SystemException> {
        other.expect("a peer").release().await
    }
}

/// A server at `endpoint`, and its servant.
async fn server_at(endpoint: &str, dispatch: Dispatch) -> (Orb, Arc<Servant>, PeerRef) {
    let orb = listening(|| Orb::builder().listen(endpoint).dispatch(dispatch.clone())).await;
    let servant = Servant::new(&orb);
    let poa = orb.root_poa();
    let peer = poa
        .activate(PeerServant::from_arc(Arc::clone(&servant)))
        .unwrap();
    poa.the_poa_manager().activate().unwrap();
    (orb, servant, peer)
}

async fn server() -> (Orb, Arc<Servant>, PeerRef) {
    server_at("iiop://127.0.0.1:0", Dispatch::InPlace).await
}

/// The same object as another ORB sees it.
async fn from_afar(orb: &Orb, peer: &PeerRef) -> PeerRef {
    let object = orb.string_to_object(&peer.to_string()).await.unwrap();
    object.unchecked_narrow()
}

async fn client() -> Orb {
    Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap()
}

/// A bound against hangs, not a measurement.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future)
        .await
        .expect("no hang")
}

async fn callbacks_go_to_and_fro() {
    let (server, _, peer) = server().await;
    let client = client().await;
    let (mine, _, me) = {
        let servant = Servant::new(&client);
        let me = client
            .root_poa()
            .activate(PeerServant::from_arc(Arc::clone(&servant)))
            .unwrap();
        client.root_poa().the_poa_manager().activate().unwrap();
        (client.clone(), servant, me)
    };
    let peer = from_afar(&client, &peer).await;
    assert_eq!(in_time(peer.bounce(&me, 7)).await.unwrap(), 7);
    // And many at a time.
    let bounces = (0..50).map(|_| {
        let (peer, me) = (peer.clone(), me.clone());
        spawn(async move { peer.bounce(&me, 3).await.unwrap() })
    });
    for bounce in bounces.collect::<Vec<_>>() {
        assert_eq!(in_time(bounce).await.unwrap(), 3);
    }
    in_time(mine.shutdown(true)).await.unwrap();
    in_time(server.shutdown(true)).await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn callbacks_go_to_and_fro_on_one_thread() {
    callbacks_go_to_and_fro().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callbacks_go_to_and_fro_on_many() {
    callbacks_go_to_and_fro().await;
}

#[tokio::test]
async fn a_call_dropped_at_any_await_leaves_the_connection_usable() {
    let (_server, servant, peer) = server().await;
    let client = client().await;
    let peer = from_afar(&client, &peer).await;
    for polls in 0..40 {
        {
            let mut call = pin!(peer.wait(polls));
            for _ in 0..polls {
                let mut cx = Context::from_waker(Waker::noop());
                match call.as_mut().poll(&mut cx) {
                    Poll::Ready(_) => panic!("it was not released"),
                    Poll::Pending => tokio::task::yield_now().await,
                }
            }
        }
        assert_eq!(in_time(peer.add(polls, 1)).await.unwrap(), polls + 1);
    }
    // Those that arrived are answered now, without a caller; the next replies are still the right ones.
    servant.released.add_permits(1000);
    for n in 0..100 {
        assert_eq!(in_time(peer.wait(n)).await.unwrap(), n);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_reply_matches_no_call() {
    let (_server, servant, peer) = server().await;
    let client = client().await;
    let peer = from_afar(&client, &peer).await;
    // The connection is there from now on: a request is sent within the first poll, and no time passes before it.
    assert_eq!(in_time(peer.echo("first")).await.unwrap(), "first");
    let mut late = 0;
    for n in 0..20 {
        let hasty = peer.with_round_trip_timeout(Duration::from_millis(5));
        match hasty.wait(n).await {
            // By the permit for a request that the server had refused, as its time had passed on the way.
            Ok(answer) => assert_eq!(answer, n),
            Err(error) => {
                assert_eq!(error.kind, Kind::Timeout);
                late += i32::from(error.completed == CompletionStatus::Maybe);
                servant.released.add_permits(1);
            }
        }
        assert_eq!(in_time(peer.echo("on time")).await.unwrap(), "on time");
    }
    assert!(late > 0, "no reply was late");
}

#[tokio::test(start_paused = true)]
async fn the_default_timeout_holds_for_every_call() {
    let (_server, _servant, peer) = server().await;
    let client = Orb::builder()
        .round_trip_timeout(Duration::from_secs(3600))
        .build()
        .await
        .unwrap();
    let peer = from_afar(&client, &peer).await;
    let error = peer.wait(1).await.unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::Timeout, CompletionStatus::Maybe)
    );
    assert!(error.to_string().contains("within 3600s"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocking_servant_does_not_stop_other_connections() {
    let (_server, servant, peer) = server().await;
    let (one, two) = (client().await, client().await);
    let (blocked, free) = (from_afar(&one, &peer).await, from_afar(&two, &peer).await);
    in_time(free.add(1, 1)).await.unwrap();
    let blocking = spawn(async move { blocked.block().await });
    in_time(servant.blocked.notified()).await;
    for n in 0..100 {
        assert_eq!(in_time(free.add(n, 1)).await.unwrap(), n + 1);
    }
    in_time(free.unblock()).await.unwrap();
    in_time(blocking).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_pool_serves_on_while_more_servants_block_than_the_runtime_has_threads() {
    let pool = WorkerPool::builder().threads(6).build().unwrap();
    let (server, servant, peer) = server_at("iiop://127.0.0.1:0", Dispatch::Pool(pool)).await;
    let mut blocking = Vec::new();
    for _ in 0..5 {
        let client = client().await;
        let peer = from_afar(&client, &peer).await;
        blocking.push(spawn(async move { peer.block().await }));
        in_time(servant.blocked.notified()).await;
    }
    let client = client().await;
    let free = from_afar(&client, &peer).await;
    assert_eq!(in_time(free.add(2, 2)).await.unwrap(), 4);
    in_time(free.unblock()).await.unwrap();
    for blocking in blocking {
        in_time(blocking).await.unwrap().unwrap();
    }
    in_time(server.shutdown(true)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn requests_that_were_held_go_to_the_worker_pool_too() {
    let pool = WorkerPool::builder().threads(2).build().unwrap();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .dispatch(Dispatch::Pool(pool))
        .build()
        .await
        .unwrap();
    let servant = Servant::new(&orb);
    let poa = orb.root_poa();
    let peer = PeerServant::from_arc(Arc::clone(&servant));
    let peer = poa.activate(peer).unwrap();
    let (one, two) = (client().await, client().await);
    let (blocked, free) = (from_afar(&one, &peer).await, from_afar(&two, &peer).await);
    let blocking = spawn(async move { blocked.block().await });
    // Held is what has been read: the same client's question comes behind it.
    let asking = from_afar(&one, &peer).await;
    assert!(in_time(asking.as_object().locate()).await.unwrap());
    poa.the_poa_manager().activate().unwrap();
    in_time(servant.blocked.notified()).await;
    let asked = spawn(async move {
        let sum = free.add(1, 1).await;
        free.unblock().await.unwrap();
        sum
    });
    assert_eq!(in_time(asked).await.unwrap().unwrap(), 2);
    in_time(blocking).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn blocking_in_place_frees_even_the_only_worker() {
    let (_server, servant, peer) = server_at("iiop://127.0.0.1:0", Dispatch::BlockInPlace).await;
    let (one, two) = (client().await, client().await);
    let (blocked, free) = (from_afar(&one, &peer).await, from_afar(&two, &peer).await);
    let blocking = spawn(async move { blocked.block().await });
    in_time(servant.blocked.notified()).await;
    assert_eq!(in_time(free.add(1, 1)).await.unwrap(), 2);
    in_time(free.unblock()).await.unwrap();
    in_time(blocking).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_tasks_share_one_connection() {
    let (server, _, peer) = server().await;
    let client = client().await;
    let peer = from_afar(&client, &peer).await;
    let tasks: Vec<_> = (0..400)
        .map(|n| {
            let peer = peer.clone();
            spawn(async move {
                let text = format!("text {n}");
                for _ in 0..20 {
                    assert_eq!(peer.echo(&text).await.unwrap(), text);
                }
            })
        })
        .collect();
    for task in tasks {
        in_time(task).await.unwrap();
    }
    assert_eq!(server.connections_served(), 1);
}

#[tokio::test]
async fn one_way_calls_keep_their_order_with_two_way_ones() {
    let (_server, _, peer) = server().await;
    let client = client().await;
    let peer = from_afar(&client, &peer).await;
    for n in 1..=1000 {
        in_time(peer.note(1)).await.unwrap();
        if n % 100 == 0 {
            assert_eq!(in_time(peer.noted()).await.unwrap(), n);
        }
    }
}

#[tokio::test]
async fn shutdown_lets_calls_in_progress_finish_and_refuses_what_comes_after() {
    let (server, servant, peer) = server().await;
    let client = client().await;
    let peer = from_afar(&client, &peer).await;
    let waiting = spawn({
        let peer = peer.clone();
        async move { peer.wait(42).await }
    });
    in_time(servant.waiting.notified()).await;
    server.shutdown(false).await.unwrap();
    servant.released.add_permits(1);
    assert_eq!(in_time(waiting).await.unwrap().unwrap(), 42);
    in_time(server.run()).await;
    // Again does nothing, and waits for nothing.
    in_time(server.shutdown(true)).await.unwrap();
    let error = in_time(peer.add(1, 1)).await.unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::Transient, CompletionStatus::No)
    );
    in_time(client.shutdown(true)).await.unwrap();
    let error = in_time(peer.add(1, 1)).await.unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::BadInvOrder, minor::ORB_SHUT_DOWN)
    );
}

#[tokio::test]
async fn a_servant_may_end_its_orb_but_not_wait_for_that() {
    let (server, _, peer) = server().await;
    let client = client().await;
    let peer = from_afar(&client, &peer).await;
    let error = in_time(peer.end(true)).await.unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::BadInvOrder, minor::WOULD_DEADLOCK)
    );
    in_time(peer.end(false)).await.unwrap();
    in_time(server.run()).await;
}

#[tokio::test]
async fn a_server_that_comes_back_is_found_again_but_not_its_earlier_objects() {
    let (first, _, peer) = server_at(&anywhere(), Dispatch::InPlace).await;
    let endpoint = first.endpoints()[0].to_string();
    let client = client().await;
    let stale = from_afar(&client, &peer).await;
    assert_eq!(in_time(stale.add(1, 2)).await.unwrap(), 3);
    in_time(first.shutdown(true)).await.unwrap();
    let (_second, _, peer) = server_at(&endpoint, Dispatch::InPlace).await;
    let fresh = from_afar(&client, &peer).await;
    assert_eq!(in_time(fresh.add(1, 2)).await.unwrap(), 3);
    let error = in_time(stale.add(1, 2)).await.unwrap_err();
    assert_eq!(error.kind, Kind::ObjectNotExist);
    assert!(in_time(stale.as_object().non_existent()).await.unwrap());
    assert!(!in_time(fresh.as_object().non_existent()).await.unwrap());
    assert!(!in_time(stale.as_object().locate()).await.unwrap());
    assert!(in_time(fresh.as_object().locate()).await.unwrap());
}

#[tokio::test]
async fn narrowing_asks_only_when_it_must() {
    let (server, _, peer) = server().await;
    let client = client().await;
    let object = client.string_to_object(&peer.to_string()).await.unwrap();
    assert!(in_time(object.narrow::<PeerRef>()).await.unwrap().is_some());
    assert_eq!(
        server.connections_served(),
        0,
        "the reference says what it is"
    );
    assert!(
        in_time(object.narrow::<OtherRef>())
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(server.connections_served(), 1);
    let untyped = client.object(zorb::Ior {
        type_id: String::new(),
        ..object.ior().clone()
    });
    assert!(
        in_time(untyped.narrow::<PeerRef>())
            .await
            .unwrap()
            .is_some()
    );
    let wrong: OtherRef = object.unchecked_narrow();
    let error = in_time(wrong.nothing()).await.unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::BadOperation, minor::NO_SUCH_OPERATION)
    );
    assert!(error.completed == CompletionStatus::No);
}

#[tokio::test]
async fn a_reference_that_is_returned_can_be_called() {
    let (_server, _, peer) = server().await;
    let client = client().await;
    for peer in [from_afar(&client, &peer).await, peer] {
        let (made, absent) = in_time(peer.make()).await.unwrap();
        assert!(absent.is_none());
        assert_eq!(in_time(made.unwrap().add(20, 2)).await.unwrap(), 22);
    }
}

#[tokio::test]
async fn a_collocated_call_needs_no_socket() {
    let (server, _, peer) = server().await;
    assert_eq!(in_time(peer.add(1, 2)).await.unwrap(), 3);
    let again = from_afar(&server, &peer).await;
    assert_eq!(in_time(again.echo("ä")).await.unwrap(), "ä");
    assert_eq!(in_time(again.bounce(&peer, 3)).await.unwrap(), 3);
    assert_eq!(server.connections_served(), 0);
}

#[tokio::test]
async fn what_a_servant_got_from_elsewhere_does_not_speak_of_the_servant() {
    let (server, _, peer) = server().await;
    let client = client().await;
    let gone = {
        let servant = PeerServant::from_arc(Servant::new(&client));
        let gone = client.root_poa().activate(servant).unwrap();
        client.root_poa().the_poa_manager().activate().unwrap();
        client.root_poa().deactivate_object(&gone).unwrap();
        gone
    };
    let peer = from_afar(&client, &peer).await;
    let error = in_time(peer.pass_on(&gone)).await.unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::Unknown, CompletionStatus::Maybe)
    );
    in_time(server.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn requests_wait_while_the_poa_manager_holds_them() {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let peer = orb
        .root_poa()
        .activate(PeerServant::from_arc(Servant::new(&orb)))
        .unwrap();
    let client = client().await;
    let far = from_afar(&client, &peer).await;
    let held = spawn(async move { far.add(20, 3).await });
    let near = spawn({
        let peer = peer.clone();
        async move { peer.add(20, 4).await }
    });
    while orb.connections_served() == 0 {
        tokio::task::yield_now().await;
    }
    orb.root_poa().the_poa_manager().activate().unwrap();
    assert_eq!(in_time(held).await.unwrap().unwrap(), 23);
    assert_eq!(in_time(near).await.unwrap().unwrap(), 24);
    let manager = Arc::clone(orb.root_poa().the_poa_manager());
    let far = from_afar(&client, &peer).await;
    manager.discard_requests().unwrap();
    let error = in_time(far.add(1, 1)).await.unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::Transient, minor::REQUEST_DISCARDED)
    );
    manager.deactivate();
    let error = in_time(far.add(1, 1)).await.unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::ObjAdapter, minor::ADAPTER_INACTIVE)
    );
}

#[tokio::test]
async fn a_child_poa_has_its_own_objects() {
    let (orb, _, _) = server().await;
    let child = orb.root_poa().create_poa("child", None).unwrap();
    child.the_poa_manager().activate().unwrap();
    let peer = child
        .activate(PeerServant::from_arc(Servant::new(&orb)))
        .unwrap();
    let client = client().await;
    let far = from_afar(&client, &peer).await;
    assert_eq!(in_time(far.add(1, 1)).await.unwrap(), 2);
    assert!(orb.root_poa().deactivate_object(&peer).is_err());
    child.destroy();
    let error = in_time(far.add(1, 1)).await.unwrap_err();
    assert_eq!(error.kind, Kind::ObjectNotExist);
}

#[test]
fn a_caller_needs_no_runtime_of_its_own() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_server, _, peer) = runtime.block_on(server());
    let peer = runtime.block_on(async {
        let client = client().await;
        from_afar(&client, &peer).await
    });
    // An executor that knows nothing of tokio.
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut call = pin!(peer.add(40, 2));
    loop {
        match call.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(sum) => break assert_eq!(sum.unwrap(), 42),
            Poll::Pending => std::thread::park(),
        }
    }
}

/// A program with many calls in flight keeps as many of these.
#[tokio::test]
async fn what_a_call_keeps_while_it_waits_is_of_bounded_size() {
    let client = client().await;
    let (_server, _, peer) = server().await;
    let other: OtherRef = from_afar(&client, &peer)
        .await
        .as_object()
        .unchecked_narrow();
    let point = calls::Point {
        x: 1.0,
        y: 2.0,
        z: 3.0,
        name: "somewhere".to_owned(),
    };
    let without = size_of_val(&other.nothing());
    let with = size_of_val(&other.put(&point));
    // A small reply in its place, and whatever a call may come to, of which most is what it takes to ask elsewhere.
    assert!(without <= 3 << 10, "{without}");
    // The struct is borrowed.
    assert!(with <= without + 64, "{with}");
}
