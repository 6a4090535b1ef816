//! Deadlines that reach servants and their calls, and requests for whose results nobody waits any more.

use crate::savings::spawn;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::mpsc;
use zorb::executor::{Dispatch, WorkerPool};
use zorb::policy::PolicyOverrides;
use zorb::{
    Blocking, Builder, CancelReason, Cancellable, CancelledUpcalls, CompletionStatus, Counter,
    CurrentRequest, Interface, Orb, PoaCurrent, Policies, ServiceContext, ServiceContextId,
    SystemException, SystemExceptionKind as Kind,
};

zorb::idl! {
    module Limited {
        interface Callee {
            // Milliseconds until the deadline; -1 without one.
            long long left();
            // Those of this call, and of `to` as this servant calls it: here, or in work that it spawns; within a limit of
            // its own, unless that is 0 seconds.
            string relay(in Callee to, in boolean spawns, in unsigned long seconds);
            // Waits until it is cancelled.
            void wait();
            // Blocks its thread until it is cancelled.
            void block();
            // Waits for ever.
            void stay();
        };
    };
}

use limited::{Callee, CalleeRef, CalleeServant};

#[derive(Debug, PartialEq, Clone, Copy)]
enum Event {
    Begun,
    Cancelled(CancelReason),
    Dropped,
}

struct Servant {
    events: mpsc::UnboundedSender<Event>,
}

fn left() -> i64 {
    let deadline = PoaCurrent::get_request().unwrap().deadline();
    deadline.map_or(-1, |at| {
        i64::try_from(at.saturating_duration_since(Instant::now()).as_millis()).unwrap()
    })
}

/// Reports that it is dropped.
struct Guard(mpsc::UnboundedSender<Event>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Dropped);
    }
}

impl Servant {
    fn begin(&self) -> CurrentRequest {
        let request = PoaCurrent::get_request().unwrap();
        assert!(!request.is_cancelled());
        self.events.send(Event::Begun).unwrap();
        request
    }
}

impl Callee for Servant {
    async fn left(&self) -> Result<i64, SystemException> {
        Ok(left())
    }

    async fn relay(
        &self,
        to: Option<CalleeRef>,
        spawns: bool,
        seconds: u32,
    ) -> Result<String, SystemException> {
        let to = to.unwrap();
        let own = match seconds {
            0 => PolicyOverrides::new(),
            seconds => within(Duration::from_secs(seconds.into())),
        };
        let nested = match spawns {
            false => own.scope(to.left()).await?,
            true => {
                let request = PoaCurrent::get_request()?;
                let call = async move { own.scope(to.left()).await };
                tokio::spawn(request.scope(call)).await.unwrap()?
            }
        };
        Ok(format!("{} {nested}", left()))
    }

    async fn wait(&self) -> Result<(), SystemException> {
        let request = self.begin();
        // Work elsewhere learns it as well.
        let elsewhere = request.clone();
        let elsewhere = tokio::spawn(async move { elsewhere.cancelled().await });
        let reason = request.cancelled().await;
        assert_eq!(elsewhere.await.unwrap(), reason);
        assert_eq!(request.cancel_reason(), Some(reason));
        // The upcall goes on.
        tokio::task::yield_now().await;
        self.events.send(Event::Cancelled(reason)).unwrap();
        Ok(())
    }

    async fn block(&self) -> Result<(), SystemException> {
        let request = self.begin();
        let reason = loop {
            match request.cancel_reason() {
                Some(reason) => break reason,
                None => std::thread::yield_now(),
            }
        };
        self.events.send(Event::Cancelled(reason)).unwrap();
        Ok(())
    }

    async fn stay(&self) -> Result<(), SystemException> {
        let guard = Guard(self.events.clone());
        self.events.send(Event::Begun).unwrap();
        core::future::pending::<()>().await;
        drop(guard);
        Ok(())
    }
}

struct World {
    server: Orb,
    client: Orb,
    events: mpsc::UnboundedReceiver<Event>,
    far: CalleeRef,
    near: CalleeRef,
}

#[derive(Clone, Copy, PartialEq)]
enum As {
    Plain,
    Blocking,
    Cancellable,
    InCancellingPoa,
}

async fn world(server: Builder, servant: As) -> World {
    let server = server.listen("iiop://127.0.0.1:0").build().await.unwrap();
    let root = server.root_poa();
    root.the_poa_manager().activate().unwrap();
    let (sender, events) = mpsc::unbounded_channel();
    let skeleton = CalleeServant::new(Servant { events: sender });
    let near: CalleeRef = match servant {
        As::Plain => root.activate(skeleton),
        As::Blocking => root.activate(Blocking(skeleton)),
        As::Cancellable => root.activate(Cancellable(skeleton)),
        As::InCancellingPoa => {
            let policies = Policies::DEFAULT.with_cancelled_upcalls(CancelledUpcalls::Dropped);
            let poa = root.create_poa_with("drops", policies, Some(root.the_poa_manager()));
            poa.unwrap().activate(skeleton)
        }
    }
    .unwrap();
    let client = Orb::builder().build().await.unwrap();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    World {
        server,
        client,
        events,
        far: far.unchecked_narrow(),
        near,
    }
}

impl World {
    async fn event(&mut self) -> Event {
        self.events.recv().await.unwrap()
    }
}

fn pool() -> Builder {
    let pool = WorkerPool::builder().threads(2).build().unwrap();
    Orb::builder().dispatch(Dispatch::Pool(pool))
}

async fn worlds() -> Vec<World> {
    vec![
        world(Orb::builder(), As::Plain).await,
        world(Orb::builder(), As::Blocking).await,
        world(Orb::builder(), As::Cancellable).await,
        world(pool(), As::Plain).await,
    ]
}

const HOUR: Duration = Duration::from_secs(3_600);
const MINUTE: Duration = Duration::from_secs(60);

fn within(limit: Duration) -> PolicyOverrides {
    PolicyOverrides::new().relative_round_trip_timeout(limit)
}

/// Whether so many milliseconds are left of a limit.
fn is_of(left: i64, limit: Duration) -> bool {
    let limit = i64::try_from(limit.as_millis()).unwrap();
    left > limit / 2 && left <= limit
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servant_sees_the_time_limit_of_its_caller_wherever_it_runs() {
    for world in worlds().await {
        for callee in [&world.far, &world.near] {
            assert_eq!(callee.left().await.unwrap(), -1);
            let of_task = within(HOUR).scope(callee.left()).await.unwrap();
            assert!(is_of(of_task, HOUR), "{of_task}");
            let hasty = callee.with_policies(&within(MINUTE));
            let of_both = within(HOUR).scope(hasty.left()).await.unwrap();
            assert!(is_of(of_both, MINUTE), "{of_both}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_calls_of_a_servant_have_what_is_left_or_their_own_limit_if_that_is_less() {
    for world in worlds().await {
        for callee in [&world.far, &world.near] {
            for spawns in [false, true] {
                for (limit, own, expected) in [
                    (Some(HOUR), 0, Some(HOUR)),
                    (Some(MINUTE), 0, Some(MINUTE)),
                    (Some(HOUR), 60, Some(MINUTE)),
                    (Some(MINUTE), 3_600, Some(MINUTE)),
                    (None, 60, Some(MINUTE)),
                    (None, 0, None),
                ] {
                    let limits = limit.map_or_else(PolicyOverrides::new, within);
                    let relayed = limits
                        .scope(callee.relay(&world.near, spawns, own))
                        .await
                        .unwrap();
                    let (here, there) = relayed.split_once(' ').unwrap();
                    let (here, there): (i64, i64) = (here.parse().unwrap(), there.parse().unwrap());
                    match limit {
                        Some(limit) => assert!(is_of(here, limit), "{relayed}"),
                        None => assert_eq!(here, -1),
                    }
                    match expected {
                        Some(limit) => assert!(is_of(there, limit), "{relayed}"),
                        None => assert_eq!(there, -1),
                    }
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_smaller_of_the_limits_of_client_and_server_holds() {
    let world = world(Orb::builder().request_time_limit(MINUTE), As::Plain).await;
    let left = world.far.left().await.unwrap();
    assert!(is_of(left, MINUTE), "{left}");
    let left = within(HOUR).scope(world.far.left()).await.unwrap();
    assert!(is_of(left, MINUTE), "{left}");
    let second = Duration::from_secs(2);
    let left = within(second).scope(world.far.left()).await.unwrap();
    assert!(left <= 2_000, "{left}");
}

/// A context as an ORB in Java writes it, which has contexts big-endian.
fn context(id: u32, octets: Vec<u8>) -> PolicyOverrides {
    let (id, data) = (ServiceContextId(id), octets.into());
    PolicyOverrides::new().service_context(ServiceContext { id, data })
}

/// The context INVOCATION_POLICIES with this absolute time, as JacORB sends it.
fn end_time(policy: u32, time: SystemTime) -> PolicyOverrides {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let ticks = u64::try_from(since.as_nanos() / 100).unwrap() + 122_192_928_000_000_000;
    let mut value = vec![0; 8];
    value.extend(ticks.to_be_bytes());
    value.extend([0; 8]);
    let mut data = vec![0; 4];
    data.extend(1_u32.to_be_bytes());
    data.extend(policy.to_be_bytes());
    data.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
    data.extend(value);
    context(7, data)
}

const REQUEST_END: u32 = 28;
const REPLY_END: u32 = 30;

async fn refused(call: &PolicyOverrides, callee: &CalleeRef) -> bool {
    match call.scope(callee.left()).await {
        Ok(_) => false,
        Err(error) => {
            let expected = (Kind::Timeout, CompletionStatus::No);
            assert_eq!((error.kind, error.completed), expected);
            true
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_times_of_other_orbs_are_honoured_with_a_tolerance_and_reply_end_times_by_option() {
    let (now, second) = (SystemTime::now(), Duration::from_secs(1));
    let usual = world(Orb::builder(), As::Plain).await;
    let tolerant = world(Orb::builder().clock_tolerance(HOUR), As::Plain).await;
    let strict = Orb::builder().check_reply_end_time(true);
    let strict = world(strict, As::Plain).await;
    let past = now - MINUTE;
    assert!(refused(&end_time(REQUEST_END, past), &usual.far).await);
    assert!(!refused(&end_time(REQUEST_END, now + MINUTE), &usual.far).await);
    assert!(!refused(&end_time(REQUEST_END, past), &tolerant.far).await);
    assert!(!refused(&end_time(REPLY_END, past), &usual.far).await);
    assert!(refused(&end_time(REPLY_END, past), &strict.far).await);
    assert_eq!(usual.server.counters().get(Counter::RequestsLate), 1);
    // A reply end time is a deadline for the servant and its calls, a request end time is not.
    let left = |call: PolicyOverrides, world: &World| {
        let far = world.far.clone();
        async move { call.scope(far.left()).await.unwrap() }
    };
    assert_eq!(left(end_time(REPLY_END, now + HOUR), &usual).await, -1);
    assert_eq!(left(end_time(REQUEST_END, now + HOUR), &strict).await, -1);
    let stated = left(end_time(REPLY_END, now + HOUR), &strict).await;
    assert!(is_of(stated, HOUR + 2 * second), "{stated}");
    // What zorb itself sends on request.
    let sends = within(HOUR).send_end_times(true);
    let foreign = strict.far.with_policies(&sends);
    let left = foreign.left().await.unwrap();
    assert!(is_of(left, HOUR), "{left}");
    assert!(
        !refused(
            &within(Duration::from_secs(2)).send_end_times(true),
            &usual.far
        )
        .await
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadlines_in_the_past_in_a_thousand_years_or_malformed_do_no_harm() {
    let world = world(Orb::builder(), As::Plain).await;
    let own = |octets: &[u8]| {
        let data = [&[0; 8], octets].concat();
        context(ServiceContextId::DEADLINE.0, data)
    };
    assert!(refused(&own(&0_u64.to_be_bytes()), &world.far).await);
    let years = 1_000 * 365 * 24 * 3_600 * 10_000_000_u64;
    assert!(!refused(&own(&years.to_be_bytes()), &world.far).await);
    assert!(!refused(&own(&u64::MAX.to_be_bytes()), &world.far).await);
    assert!(!refused(&own(&[1, 2, 3]), &world.far).await);
    let far_off = SystemTime::now() + Duration::from_secs(1_000 * 365 * 24 * 3_600);
    assert!(!refused(&end_time(REQUEST_END, far_off), &world.far).await);
    assert!(refused(&end_time(REQUEST_END, SystemTime::UNIX_EPOCH), &world.far).await);
    for octets in [vec![], vec![9; 3], vec![0; 7], vec![0xff; 64]] {
        assert!(!refused(&context(7, octets), &world.far).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn own_contexts_have_other_ids_where_client_and_server_agree_on_them() {
    let ids = ServiceContextId(0x1234_5600);
    let world = world(Orb::builder().own_context_ids(ids), As::Plain).await;
    let agreed = Orb::builder().own_context_ids(ids).build().await.unwrap();
    let far = agreed
        .string_to_object(&world.near.to_string())
        .await
        .unwrap();
    let far: CalleeRef = far.unchecked_narrow();
    let left = within(HOUR).scope(far.left()).await.unwrap();
    assert!(is_of(left, HOUR), "{left}");
    assert_eq!(within(HOUR).scope(world.far.left()).await.unwrap(), -1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servant_learns_that_its_caller_has_given_up_and_goes_on() {
    for mut world in [
        world(Orb::builder(), As::Plain).await,
        world(Orb::builder(), As::Blocking).await,
        world(pool(), As::Plain).await,
    ] {
        for callee in [world.far.clone(), world.near.clone()] {
            let call = spawn(async move { callee.wait().await });
            assert_eq!(world.event().await, Event::Begun);
            call.abort();
            let cancelled = Event::Cancelled(CancelReason::ByCaller);
            assert_eq!(world.event().await, cancelled);
        }
        let far = world.far.clone();
        let call = spawn(async move { far.wait().await });
        assert_eq!(world.event().await, Event::Begun);
        world.client.shutdown(false).await.unwrap();
        let cancelled = Event::Cancelled(CancelReason::Disconnected);
        assert_eq!(world.event().await, cancelled);
        assert!(call.await.unwrap().is_err());
        assert_eq!(world.server.counters().get(Counter::UpcallsDropped), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servant_that_blocks_its_thread_sees_that_its_caller_has_given_up() {
    for mut world in [
        world(Orb::builder(), As::Blocking).await,
        world(pool(), As::Plain).await,
    ] {
        let far = world.far.clone();
        let call = spawn(async move { far.block().await });
        assert_eq!(world.event().await, Event::Begun);
        call.abort();
        let cancelled = Event::Cancelled(CancelReason::ByCaller);
        assert_eq!(world.event().await, cancelled);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_that_passes_cancels_its_request() {
    let deadline = PolicyOverrides::new().relative_deadline(Duration::from_millis(200));
    for mut world in [
        world(Orb::builder(), As::Plain).await,
        world(pool(), As::Plain).await,
    ] {
        for callee in [&world.far.clone(), &world.near.clone()] {
            deadline.scope(callee.wait()).await.unwrap();
            assert_eq!(world.event().await, Event::Begun);
            let cancelled = Event::Cancelled(CancelReason::DeadlinePassed);
            assert_eq!(world.event().await, cancelled);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upcalls_are_dropped_where_servant_or_poa_want_it() {
    for mut world in [
        world(Orb::builder(), As::Cancellable).await,
        world(Orb::builder(), As::InCancellingPoa).await,
        world(pool(), As::Cancellable).await,
    ] {
        for callee in [world.far.clone(), world.near.clone()] {
            let call = spawn(async move { callee.stay().await });
            assert_eq!(world.event().await, Event::Begun);
            call.abort();
            assert_eq!(world.event().await, Event::Dropped);
        }
        let hasty = PolicyOverrides::new().relative_deadline(Duration::from_millis(200));
        for callee in [&world.far.clone(), &world.near.clone()] {
            let late = hasty.scope(callee.stay()).await.unwrap_err();
            let expected = (Kind::Timeout, CompletionStatus::Maybe);
            assert_eq!((late.kind, late.completed), expected);
            assert_eq!(world.event().await, Event::Begun);
            assert_eq!(world.event().await, Event::Dropped);
        }
        let far = world.far.clone();
        let call = spawn(async move { far.stay().await });
        assert_eq!(world.event().await, Event::Begun);
        world.client.shutdown(false).await.unwrap();
        assert_eq!(world.event().await, Event::Dropped);
        assert!(call.await.unwrap().is_err());
        assert_eq!(world.server.counters().get(Counter::UpcallsDropped), 5);
        assert_eq!(world.near.left().await.unwrap(), -1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_cancelled_requests_leaves_nothing_behind() {
    const CALLS: usize = 2_000;
    let mut world = world(Orb::builder(), As::Cancellable).await;
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let far = world.far.clone();
            spawn(async move { far.stay().await })
        })
        .collect();
    for _ in 0..CALLS {
        assert_eq!(world.event().await, Event::Begun);
    }
    for call in &calls {
        call.abort();
    }
    for _ in 0..CALLS {
        assert_eq!(world.event().await, Event::Dropped);
    }
    assert_eq!(world.far.left().await.unwrap(), -1);
    let dropped = world.server.counters().get(Counter::UpcallsDropped);
    assert_eq!(usize::try_from(dropped).unwrap(), CALLS);
    // The connection is the same, and its ids are free again.
    for _ in 0..100 {
        world.far.left().await.unwrap();
    }
}
