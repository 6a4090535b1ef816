//! Shutdowns with a time limit.

use crate::lives::cell_servant::{client, in_time, seen};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use zorb::executor::{Dispatch, Lane, WorkerPool};
use zorb::real_time::{
    Priority, PriorityModelPolicy, RtPolicies, ThreadpoolLane, ThreadpoolOptions,
};
use zorb::{
    Blocking, Builder, CancelReason, CompletionStatus as Completed, Counter, ObjectId, Orb, Poa,
    PoaCurrent, Policies, RequestProcessing, Servant, ServantLocator, ServantManagerError,
    ServantRetention, ShutdownReport, SystemException, SystemExceptionKind as Kind, minor,
};

zorb::idl! {
    module Overdue {
        interface Task {
            /// Never returns.
            long stay(in long value);
            oneway void stay_unheard();
            /// Blocks its thread until the test says so.
            long block(in long value);
        };
    };
}

use overdue::{Task, TaskRef, TaskServant};

const DROPPED: (Kind, u32, Completed) = (Kind::CommFailure, 0, Completed::Maybe);
const SHUT_DOWN_MAYBE: (Kind, u32, Completed) =
    (Kind::BadInvOrder, minor::ORB_SHUT_DOWN, Completed::Maybe);

#[derive(Debug, PartialEq, Clone, Copy)]
enum Event {
    Begun,
    Dropped,
    Returns(Option<CancelReason>),
}

struct Overtime {
    events: mpsc::UnboundedSender<Event>,
    go_on: Mutex<std::sync::mpsc::Receiver<()>>,
}

struct Guard(mpsc::UnboundedSender<Event>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Dropped);
    }
}

impl Overtime {
    async fn stay<T>(&self) -> T {
        let _guard = Guard(self.events.clone());
        self.events.send(Event::Begun).unwrap();
        core::future::pending().await
    }
}

impl Task for Overtime {
    async fn stay(&self, _: i32) -> Result<i32, SystemException> {
        Self::stay(self).await
    }

    async fn stay_unheard(&self) -> Result<(), SystemException> {
        Self::stay(self).await
    }

    async fn block(&self, value: i32) -> Result<i32, SystemException> {
        let request = PoaCurrent::get_request().unwrap();
        self.events.send(Event::Begun).unwrap();
        let go_on = self.go_on.lock().unwrap_or_else(PoisonError::into_inner);
        go_on.recv().unwrap();
        let reason = request.cancel_reason();
        self.events.send(Event::Returns(reason)).unwrap();
        Ok(value)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum As {
    Plain,
    Blocking,
}

struct World {
    server: Orb,
    client: Orb,
    near: TaskRef,
    far: TaskRef,
    events: mpsc::UnboundedReceiver<Event>,
    go_on: std::sync::mpsc::Sender<()>,
}

impl World {
    async fn of(server: Builder, servant: As) -> Self {
        let server = server.listen("iiop://127.0.0.1:0").build().await.unwrap();
        let poa = server.root_poa();
        Self::in_poa(server, &poa, servant).await
    }

    async fn in_poa(server: Orb, poa: &Poa, servant: As) -> Self {
        let activate = |task| match servant {
            As::Plain => poa.activate(task),
            As::Blocking => poa.activate(Blocking(task)),
        };
        Self::with(server, poa, |task| activate(task).unwrap()).await
    }

    async fn with(
        server: Orb,
        poa: &Poa,
        activate: impl FnOnce(TaskServant<Overtime>) -> TaskRef,
    ) -> Self {
        let (events, received) = mpsc::unbounded_channel();
        let (go_on, waits) = std::sync::mpsc::channel();
        let near = activate(TaskServant::new(Overtime {
            events,
            go_on: Mutex::new(waits),
        }));
        poa.the_poa_manager().activate().unwrap();
        let client = client().await;
        let far = client.string_to_object(&near.to_string()).await.unwrap();
        Self {
            server,
            client,
            near,
            far: far.unchecked_narrow(),
            events: received,
            go_on,
        }
    }

    async fn event(&mut self) -> Event {
        in_time(self.events.recv()).await.unwrap()
    }

    /// Shuts down, now and for good.
    async fn end(&self) -> ShutdownReport {
        let report = in_time(self.server.shutdown_within(Duration::ZERO)).await;
        report.unwrap()
    }
}

fn complete(dropped: usize) -> ShutdownReport {
    report(dropped, 0, true)
}

fn report(dropped: usize, left: usize, is_complete: bool) -> ShutdownReport {
    let mut report = ShutdownReport::default();
    report.upcalls_dropped = dropped;
    report.upcalls_left = left;
    report.is_complete = is_complete;
    report
}

fn stay(task: &TaskRef) -> JoinHandle<Result<i32, SystemException>> {
    let task = task.clone();
    tokio::spawn(async move { task.stay(1).await })
}

fn block(task: &TaskRef) -> JoinHandle<Result<i32, SystemException>> {
    let task = task.clone();
    tokio::spawn(async move { task.block(1).await })
}

/// An upcall that never ends is dropped, and its client learns it, once.
async fn is_dropped(mut world: World) {
    let calls = [stay(&world.far), stay(&world.far)];
    for _ in 0..2 {
        assert_eq!(world.event().await, Event::Begun);
    }
    assert_eq!(world.end().await, complete(2));
    for call in calls {
        assert_eq!(seen(in_time(call).await.unwrap()), DROPPED);
    }
    for _ in 0..2 {
        assert_eq!(world.event().await, Event::Dropped);
    }
    assert!(
        world.events.try_recv().is_err(),
        "no call has been sent again"
    );
    assert_eq!(world.server.counters().get(Counter::UpcallsDropped), 2);
    in_time(world.client.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn a_shutdown_drops_what_has_not_ended_at_its_limit() {
    is_dropped(World::of(Orb::builder(), As::Plain).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_drops_what_has_not_ended_on_several_workers_and_on_blocking_threads() {
    is_dropped(World::of(Orb::builder(), As::Plain).await).await;
    is_dropped(World::of(Orb::builder(), As::Blocking).await).await;
    let lane = Lane::current().unwrap();
    let lane = lane.with_dispatch(Dispatch::BlockInPlace).unwrap();
    is_dropped(World::of(Orb::builder().lane(lane), As::Plain).await).await;
}

#[tokio::test]
async fn a_shutdown_drops_what_has_not_ended_in_a_lane_and_in_a_pool() {
    let lane = Lane::dedicated("overdue").unwrap();
    is_dropped(World::of(Orb::builder().lane(lane.clone()), As::Plain).await).await;
    let pool = WorkerPool::builder().threads(2).build().unwrap();
    let lane = lane.with_dispatch(Dispatch::Pool(pool)).unwrap();
    is_dropped(World::of(Orb::builder().lane(lane), As::Plain).await).await;
}

#[tokio::test]
async fn upcalls_that_end_in_time_are_answered() {
    let mut world = World::of(Orb::builder(), As::Blocking).await;
    let call = block(&world.far);
    assert_eq!(world.event().await, Event::Begun);
    let server = world.server.clone();
    let ending = tokio::spawn(async move { server.shutdown_within(Duration::MAX).await });
    world.go_on.send(()).unwrap();
    assert_eq!(in_time(call).await.unwrap(), Ok(1));
    assert_eq!(world.event().await, Event::Returns(None));
    assert_eq!(in_time(ending).await.unwrap().unwrap(), complete(0));
}

#[tokio::test]
async fn callers_of_the_same_orb_learn_that_it_has_shut_down() {
    let mut world = World::of(Orb::builder(), As::Plain).await;
    let call = stay(&world.near);
    assert_eq!(world.event().await, Event::Begun);
    world.near.stay_unheard().await.unwrap();
    world.far.stay_unheard().await.unwrap();
    for _ in 0..2 {
        assert_eq!(world.event().await, Event::Begun);
    }
    assert_eq!(world.end().await, complete(3));
    assert_eq!(seen(in_time(call).await.unwrap()), SHUT_DOWN_MAYBE);
    // A second one finds nothing to do.
    assert_eq!(world.end().await, complete(3));
}

#[tokio::test]
async fn what_blocks_its_thread_is_told_and_counted_and_its_reply_still_comes() {
    let mut world = World::of(Orb::builder(), As::Blocking).await;
    let calls = [block(&world.far), stay(&world.far)];
    for _ in 0..2 {
        assert_eq!(world.event().await, Event::Begun);
    }
    assert_eq!(world.end().await, report(1, 1, false));
    world.go_on.send(()).unwrap();
    let [blocked, dropped] = calls;
    assert_eq!(in_time(blocked).await.unwrap(), Ok(1));
    assert_eq!(seen(in_time(dropped).await.unwrap()), DROPPED);
    assert_eq!(world.event().await, Event::Dropped);
    assert_eq!(
        world.event().await,
        Event::Returns(Some(CancelReason::ShutDown))
    );
    in_time(world.server.run()).await;
    assert_eq!(world.end().await, complete(1));
}

#[tokio::test]
async fn a_request_behind_a_blocked_thread_of_a_pool_is_not_begun() {
    let lane = Lane::dedicated("overdue").unwrap();
    let pool = WorkerPool::builder().threads(1).build().unwrap();
    let lane = lane.with_dispatch(Dispatch::Pool(pool)).unwrap();
    let mut world = World::of(Orb::builder().lane(lane), As::Plain).await;
    let blocked = block(&world.far);
    assert_eq!(world.event().await, Event::Begun);
    let behind = stay(&world.far);
    while world.server.pending_upcalls() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.end().await, report(0, 2, false));
    world.go_on.send(()).unwrap();
    assert_eq!(in_time(blocked).await.unwrap(), Ok(1));
    // Sent again, as CloseConnection permits; but the server is gone.
    let end = seen(in_time(behind).await.unwrap());
    assert_eq!((end.0, end.2), (Kind::Transient, Completed::No));
    assert_eq!(
        world.event().await,
        Event::Returns(Some(CancelReason::ShutDown))
    );
    assert!(world.events.try_recv().is_err(), "it has not begun");
}

#[test]
fn where_each_connection_has_a_thread_what_blocks_is_counted_and_what_awaits_is_dropped() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = (Orb::builder().listen("iiop://127.0.0.1:0"))
        .build_blocking()
        .unwrap();
    let poa = server.root_poa();
    let orb = Orb::clone(&server);
    runtime.block_on(async {
        let mut world = World::in_poa(orb.clone(), &poa, As::Plain).await;
        let (other, far) = (client().await, world.near.to_string());
        let far: TaskRef = other
            .string_to_object(&far)
            .await
            .unwrap()
            .unchecked_narrow();
        let (blocked, dropped) = (block(&far), stay(&world.far));
        for _ in 0..2 {
            assert_eq!(world.event().await, Event::Begun);
        }
        let blocking = server.clone();
        let end = move || blocking.shutdown_within(Duration::ZERO).unwrap();
        let ended = tokio::task::spawn_blocking(end);
        assert_eq!(in_time(ended).await.unwrap(), report(1, 1, false));
        assert_eq!(seen(in_time(dropped).await.unwrap()), DROPPED);
        world.go_on.send(()).unwrap();
        assert_eq!(in_time(blocked).await.unwrap(), Ok(1));
        in_time(world.server.run()).await;
        assert_eq!(world.end().await, complete(1));
    });
}

#[tokio::test]
async fn a_servant_that_blocks_the_only_thread_of_its_lane_does_not_hold_up_the_limit() {
    let lane = Lane::dedicated("overdue").unwrap();
    let mut world = World::of(Orb::builder().lane(lane), As::Plain).await;
    let blocked = block(&world.far);
    assert_eq!(world.event().await, Event::Begun);
    assert_eq!(world.end().await, report(0, 0, false));
    world.go_on.send(()).unwrap();
    in_time(world.server.run()).await;
    assert_eq!(in_time(blocked).await.unwrap(), Ok(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_drops_what_has_not_ended_in_a_real_time_pool_and_lane() {
    for with_lanes in [false, true] {
        let server = (Orb::builder().listen("iiop://127.0.0.1:0"))
            .build()
            .await
            .unwrap();
        let options = match with_lanes {
            false => ThreadpoolOptions::new(2, Priority(3)),
            true => ThreadpoolOptions::with_lanes([
                ThreadpoolLane::new(Priority(3), 2).listen("iiop://127.0.0.1:0")
            ]),
        };
        let pool = server.rt_orb().create_threadpool(options).await.unwrap();
        let model = PriorityModelPolicy::server_declared(Priority(3));
        let policies = RtPolicies::new().priority_model(model).threadpool(&pool);
        let poa = server
            .root_poa()
            .create_rt_poa("scheduled", Policies::default(), policies, None)
            .unwrap();
        is_dropped(World::in_poa(server, &poa, As::Plain).await).await;
    }
}

/// Finds the same servant, which may block, for each request.
struct Finds(Servant);

impl ServantLocator for Finds {
    type Cookie = ();

    async fn preinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        Ok((self.0.clone(), ()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servants_that_are_found_for_one_request_are_dropped_told_and_counted() {
    let world = || async {
        let server = (Orb::builder().listen("iiop://127.0.0.1:0"))
            .build()
            .await
            .unwrap();
        let policies = Policies::PERSISTENT
            .with_servant_retention(ServantRetention::NonRetain)
            .with_request_processing(RequestProcessing::ServantManager);
        let poa = server
            .root_poa()
            .create_poa_with("found", policies, None)
            .unwrap();
        let activate = |task| {
            poa.set_servant_locator(Finds(Blocking(task).into()))
                .unwrap();
            poa.create_reference_with_id("task").unwrap()
        };
        World::with(server, &poa, activate).await
    };
    is_dropped(world().await).await;
    let mut world = world().await;
    let blocked = block(&world.far);
    assert_eq!(world.event().await, Event::Begun);
    // Its client does not wait for the thread.
    assert_eq!(world.end().await, report(1, 1, false));
    assert_eq!(seen(in_time(blocked).await.unwrap()), DROPPED);
    world.go_on.send(()).unwrap();
    assert_eq!(
        world.event().await,
        Event::Returns(Some(CancelReason::ShutDown))
    );
    in_time(world.server.run()).await;
}
