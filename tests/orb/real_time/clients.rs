//! Priorities that clients send, the endpoints that they choose, and calls within one ORB.

use super::*;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use zorb::policy::{Policy, PolicyOverrides, PolicyType, Protocol, SetOverrideType};
use zorb::real_time::{PriorityBand, PriorityTransform, ThreadpoolOptions};
use zorb::{
    Any, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton, Interface, ObjectId,
    ObjectRef, RequestError,
};

fn band(low: i16, high: i16) -> PriorityBand {
    PriorityBand { low, high }
}

/// Calls the object at a priority.
async fn at(client: &Orb, object: &ProbeRef, priority: i16) -> Result<Spot, SystemException> {
    let current = client.rt_current();
    current.scope(Priority(priority), object.place()).await?
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_s_priority_chooses_the_lane_of_its_request() {
    let (server, client) = (server().await, client().await);
    let pool = lanes(&server, &[10, 40]).await;
    let poa = poa(&server, "propagated", propagated(10).threadpool(&pool)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let object = seen_by(&client, &object).await;
    for _ in 0..3 {
        for priority in [10, 40] {
            let place = at(&client, &object, priority).await.unwrap();
            assert_eq!(place.priority, priority);
            assert_eq!(place.scheduled, native(i32::from(priority)));
        }
    }
    let started: Vec<_> = pool.counters().iter().map(|lane| lane.started).collect();
    assert_eq!(started, [3, 3]);
    // One connection for each lane.
    assert_eq!(server.connections_served(), 2);
    // An endpoint of no lane.
    raises(at(&client, &object, 11).await, Kind::InvPolicy, 1);
    assert_eq!(at(&client, &object, 40).await.unwrap().priority, 40);
    server.shutdown(true).await.unwrap();
}

/// A probe without generated code.
struct ByName(Teller);

impl DynamicServant for ByName {
    async fn invoke(&self, _: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let place = Any::new(&self.0.place().await?).map_err(SystemException::from)?;
        Ok(DynamicReply::new(Some(place), Vec::new()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dynamic_calls_and_servants_have_the_lanes_of_static_ones() {
    let (server, client) = (server().await, client().await);
    let pool = lanes(&server, &[10, 40]).await;
    let poa = poa(&server, "propagated", propagated(10).threadpool(&pool)).unwrap();
    let of_skeleton: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let dynamic = ByName(Teller {
        orb: server.clone(),
        gate: Arc::new(tokio::sync::Semaphore::new(0)),
    });
    let dynamic = DynamicSkeleton::new(ProbeRef::REPOSITORY_ID, dynamic);
    let dynamic: ProbeRef = poa.activate(dynamic).unwrap().unchecked_narrow();
    for near in [of_skeleton, dynamic] {
        let far = seen_by(&client, &near).await;
        for (orb, object) in [(&client, far), (&server, near)] {
            let place = object.as_object().request("place");
            let place = place.returns(zorb::TypeCode::of::<Spot>());
            let spot = |response: zorb::Response| {
                let spot: Spot = response.result.unwrap().extract().unwrap();
                (spot.priority, spot.scheduled)
            };
            let current = orb.rt_current();
            for priority in [10, 40] {
                let expected = (priority, native(i32::from(priority)));
                let stub = at(orb, &object, priority).await.unwrap();
                assert_eq!((stub.priority, stub.scheduled), expected);
                let invoked = current.scope(Priority(priority), place.invoke()).await;
                assert_eq!(spot(invoked.unwrap().unwrap()), expected);
                // At the priority of its caller, although the task that waits has none.
                let sent = poll_fn(|_| Poll::Ready(place.send_deferred()));
                let pending = current.scope(Priority(priority), sent).await.unwrap();
                assert_eq!(spot(pending.await.unwrap()), expected);
            }
            let nowhere = current.scope(Priority(11), place.invoke()).await.unwrap();
            let RequestError::System(nowhere) = nowhere.unwrap_err() else {
                panic!("a system exception");
            };
            let stub = at(orb, &object, 11).await.unwrap_err();
            assert_eq!((nowhere.kind, nowhere.minor), (stub.kind, stub.minor));
        }
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_one_way_call_that_is_held_keeps_the_priority_of_its_caller() {
    let orb = server().await;
    let pool = lanes(&orb, &[10, 40]).await;
    let poa = poa(&orb, "propagated", propagated(10).threadpool(&pool)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&orb)).unwrap();
    let manager = poa.the_poa_manager();
    manager.hold_requests().unwrap();
    let current = orb.rt_current();
    let mut calling = pin!(current.scope(Priority(40), object.pass()));
    let first = poll_fn(|cx| Poll::Ready(calling.as_mut().poll(cx))).await;
    manager.activate().unwrap();
    let called = match first {
        Poll::Ready(called) => called,
        Poll::Pending => calling.await,
    };
    called.unwrap().unwrap();
    // Returns when the gate was opened.
    let waited = current.scope(Priority(10), object.wait()).await;
    waited.unwrap().unwrap();
    let started: Vec<_> = pool.counters().iter().map(|lane| lane.started).collect();
    assert_eq!(started, [1, 1]);
    orb.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_priority_without_a_lane_that_reaches_the_server_all_the_same_is_no_resources() {
    let (server, client) = (server().await, client().await);
    // Lanes that listen nowhere: the ORB's endpoint leads to all of them.
    let made = [10, 40].map(|priority| ThreadpoolLane::new(Priority(priority), 1));
    let options = ThreadpoolOptions::with_lanes(made);
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let poa = poa(&server, "propagated", propagated(10).threadpool(&pool)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let object = seen_by(&client, &object).await;
    raises(at(&client, &object, 11).await, Kind::NoResources, 2);
    assert_eq!(at(&client, &object, 40).await.unwrap().priority, 40);
    assert_eq!(server.connections_served(), 1);
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_current_priority_is_that_of_a_scope_and_else_of_the_thread() {
    let orb = client().await;
    let current = orb.rt_current();
    raises(current.the_priority(), Kind::Initialize, 0);
    raises(current.set_the_priority(Priority(-1)), Kind::BadParam, 0);
    raises(
        current.scope(Priority(-1), async {}).await,
        Kind::BadParam,
        0,
    );
    let seen = async {
        tokio::task::yield_now().await;
        current.set_the_priority(Priority(6)).unwrap();
        tokio::task::yield_now().await;
        current.the_priority().unwrap()
    };
    assert_eq!(current.scope(Priority(5), seen).await.unwrap(), Priority(6));
    raises(current.the_priority(), Kind::Initialize, 0);
    let own = orb.rt_current();
    let thread = std::thread::spawn(move || {
        own.set_the_priority(Priority(9)).unwrap();
        own.the_priority().unwrap()
    });
    assert_eq!(thread.join().unwrap(), Priority(9));
    orb.shutdown(true).await.unwrap();
}

#[test]
fn a_thread_gets_the_native_priority_at_once() {
    let orb = Orb::builder()
        .scheduling(scheduling())
        .priority_mapping(zorb::executor::DirectMapping)
        .build_blocking()
        .unwrap();
    let current = orb.rt_current();
    let thread = std::thread::spawn(move || {
        current.set_the_priority(Priority(9)).unwrap();
        let (_, before) = current_thread_scheduling().unwrap();
        // Beyond the native priorities, where there are any.
        let refused = current.set_the_priority(Priority(100));
        (before, refused, current_thread_scheduling().unwrap().1)
    });
    let (before, refused, after) = thread.join().unwrap();
    assert_eq!((before.0, after.0), (native(9), native(9)));
    if may_be_real_time() {
        raises(refused, Kind::DataConversion, 2);
    }
    orb.shutdown(true).unwrap();
}

#[derive(Debug)]
struct NoMapping;

impl zorb::executor::PriorityMapping for NoMapping {
    fn to_native(&self, _: Priority, _: &std::ops::RangeInclusive<i32>) -> Option<NativePriority> {
        None
    }

    fn to_corba(&self, _: NativePriority, _: &std::ops::RangeInclusive<i32>) -> Option<Priority> {
        None
    }
}

#[tokio::test]
async fn an_orb_whose_mapping_maps_nothing_does_not_start() {
    let builder = Orb::builder().scheduling(Scheduling::Fifo);
    let refused = builder.priority_mapping(NoMapping).build().await;
    let refused = refused.map(drop).map_err(SystemException::from);
    raises(refused, Kind::Initialize, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_without_a_priority_sends_that_of_its_native_one() {
    let server = server().await;
    let options = ThreadpoolOptions::new(1, Priority(3));
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let poa = poa(&server, "propagated", propagated(10).threadpool(&pool)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let real_time = Orb::builder()
        .scheduling(Scheduling::Fifo)
        .priority_mapping(zorb::executor::DirectMapping)
        .build()
        .await
        .unwrap();
    let object = seen_by(&real_time, &object).await;
    // The workers of this runtime have no real-time priority.
    raises(object.place().await, Kind::DataConversion, 2);
    if may_be_real_time() {
        let thread = std::thread::spawn(move || {
            Scheduling::Fifo.apply(NativePriority(21)).unwrap();
            zorb::blocking::Wait::wait(object.place())
        });
        let place = tokio::task::spawn_blocking(|| thread.join().unwrap());
        let place = place.await.unwrap().unwrap();
        assert_eq!((place.priority, place.scheduled), (21, 21));
    }
    server.shutdown(true).await.unwrap();
}

#[derive(Debug)]
struct Shift;

impl PriorityTransform for Shift {
    fn inbound(&self, priority: Priority, _: &ObjectId) -> Option<Priority> {
        (priority != Priority(66)).then_some(Priority(priority.0 + 1))
    }

    fn outbound(&self, priority: Priority, _: &ObjectId) -> Option<Priority> {
        (priority != Priority(77)).then_some(Priority(priority.0 + 10))
    }
}

zorb::idl! {
    module Relayed {
        interface Relay {
            // The priority that `there` is called at from here, or the number of an exception.
            short pass(in short priority);
        };
    };
}
use relayed::{Relay, RelayRef, RelayServant};

/// Calls another object inside its own upcall.
struct Through {
    orb: Orb,
    there: ObjectRef,
}

impl Relay for Through {
    async fn pass(&self, priority: i16) -> Result<i16, SystemException> {
        self.orb.rt_current().set_the_priority(Priority(priority))?;
        let there: ProbeRef = self.there.unchecked_narrow();
        Ok(there.place().await?.priority)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transforms_change_what_comes_in_and_what_an_upcall_sends() {
    let shifting = Orb::builder()
        .listen(LOCAL)
        .priority_transform(Shift)
        .build()
        .await
        .unwrap();
    let (server, client) = (server().await, client().await);
    let plain = poa(&server, "propagated", propagated(10)).unwrap();
    let there: ProbeRef = plain.activate(Teller::new(&server)).unwrap();
    let there = seen_by(&shifting, &there).await;
    let poa = poa(&shifting, "propagated", propagated(10)).unwrap();
    let probe: ProbeRef = poa.activate(Teller::new(&shifting)).unwrap();
    let probe = seen_by(&client, &probe).await;
    assert_eq!(at(&client, &probe, 20).await.unwrap().priority, 21);
    raises(at(&client, &probe, 66).await, Kind::Unknown, 0);
    let through = Through {
        orb: shifting.clone(),
        there: there.as_object().clone(),
    };
    let relay: RelayRef = poa.activate(RelayServant::new(through)).unwrap();
    let relay = client
        .string_to_object(&relay.as_object().to_string())
        .await;
    let relay: RelayRef = relay.unwrap().unchecked_narrow();
    assert_eq!(relay.pass(30).await.unwrap(), 40);
    // A failure of the nested call is UNKNOWN to the client, too.
    assert!(relay.pass(77).await.is_err());
    // Not in an upcall.
    assert_eq!(at(&shifting, &there, 50).await.unwrap().priority, 50);
    for orb in [shifting, server] {
        orb.shutdown(true).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bands_have_a_connection_each() {
    let (server, client) = (server().await, client().await);
    let pool = lanes(&server, &[10, 40]).await;
    let policies = propagated(10)
        .threadpool(&pool)
        .priority_bands([band(0, 20), band(21, 60)]);
    let poa = poa(&server, "bands", policies).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let object = seen_by(&client, &object).await;
    for (priority, lane) in [(5, 10), (10, 10), (30, 40), (60, 40)] {
        let place = at(&client, &object, priority).await.unwrap();
        assert_eq!((place.priority, place.scheduled), (priority, native(lane)));
    }
    assert_eq!(server.connections_served(), 2);
    raises(at(&client, &object, 61).await, Kind::InvPolicy, 1);
    // Bands of the client as well.
    let own = PolicyOverrides::new().priority_bands([band(0, 99)]);
    let both: ProbeRef = object.as_object().with_policies(&own).unchecked_narrow();
    raises(at(&client, &both, 5).await, Kind::InvPolicy, 1);
    let inconsistent = both.as_object().validate_connection().await.unwrap();
    assert_eq!(inconsistent, [PolicyType::PRIORITY_BANDED_CONNECTION]);
    let current = client.rt_current();
    let validated = object.as_object().validate_connection();
    let connected = current.scope(Priority(5), validated);
    assert_eq!(connected.await.unwrap().unwrap(), []);
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_s_bands_are_bound_at_the_server() {
    let (server, client) = (server().await, client().await);
    let made = [10, 40].map(|priority| ThreadpoolLane::new(Priority(priority), 1));
    let options = ThreadpoolOptions::with_lanes(made);
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let laned = poa(&server, "propagated", propagated(10).threadpool(&pool)).unwrap();
    let object: ProbeRef = laned.activate(Teller::new(&server)).unwrap();
    let object = seen_by(&client, &object).await;
    let with = |bands: &[PriorityBand]| -> ProbeRef {
        let own = PolicyOverrides::new().priority_bands(bands.iter().copied());
        object.as_object().with_policies(&own).unchecked_narrow()
    };
    let good = with(&[band(0, 20), band(21, 60)]);
    assert_eq!(at(&client, &good, 10).await.unwrap().priority, 10);
    assert_eq!(at(&client, &good, 40).await.unwrap().priority, 40);
    assert_eq!(server.connections_served(), 2);
    // The server refuses a band without a lane.
    let empty = with(&[band(11, 20)]);
    raises(at(&client, &empty, 12).await, Kind::InvPolicy, 1);
    // No priority model.
    let root = server.root_poa();
    let plain: ProbeRef = root.activate(Teller::new(&server)).unwrap();
    let own = PolicyOverrides::new().priority_bands([band(0, 99)]);
    let plain = seen_by(&client, &plain).await;
    let plain: ProbeRef = plain.as_object().with_policies(&own).unchecked_narrow();
    raises(plain.place().await, Kind::InvPolicy, 1);
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_override_no_policy_of_the_server() {
    let (server, client) = (server().await, client().await);
    let root = server.root_poa();
    let object: ProbeRef = root.activate(Teller::new(&server)).unwrap();
    let object = seen_by(&client, &object).await;
    let model = PriorityModelPolicy::server_declared(Priority(1));
    for policy in [
        Policy::PriorityModel(model),
        Policy::Threadpool(1),
        Policy::ServerProtocol([Protocol::IIOP].into()),
    ] {
        let refused = object
            .as_object()
            .set_policy_overrides(&[policy], SetOverrideType::AddOverride);
        raises(refused.map(drop), Kind::NoPermission, 0);
    }
    let created = |policy_type, value: &Any| Policy::create(policy_type, value);
    let number = Any::new(&7_u32).unwrap();
    assert_eq!(
        created(PolicyType::THREADPOOL, &number),
        Ok(Policy::Threadpool(7))
    );
    let refused = created(PolicyType::PRIORITY_MODEL, &number).unwrap_err();
    assert_eq!(
        refused.reason,
        zorb::policy::PolicyErrorReason::BadPolicyValue
    );
    let refused = created(PolicyType::PRIORITY_BANDED_CONNECTION, &number).unwrap_err();
    assert_eq!(
        refused.reason,
        zorb::policy::PolicyErrorReason::BadPolicyType
    );
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn collocated_calls_go_through_the_lane_of_their_object() {
    let server = server().await;
    let pool = lanes(&server, &[10, 40]).await;
    let declared = poa(&server, "declared", declared(10).threadpool(&pool)).unwrap();
    let object: ProbeRef = declared.activate(Teller::new(&server)).unwrap();
    let place = object.place().await.unwrap();
    assert_eq!((place.priority, place.scheduled), (10, native(10)));
    assert!(place.thread.starts_with("pool"), "{}", place.thread);
    let propagated = poa(&server, "propagated", propagated(10).threadpool(&pool)).unwrap();
    let object: ProbeRef = propagated.activate(Teller::new(&server)).unwrap();
    let place = at(&server, &object, 40).await.unwrap();
    assert_eq!((place.priority, place.scheduled), (40, native(40)));
    raises(at(&server, &object, 11).await, Kind::NoResources, 2);
    // A lane of one thread that calls itself, and another lane.
    let here = Through {
        orb: server.clone(),
        there: object.as_object().clone(),
    };
    let relay: RelayRef = declared.activate(RelayServant::new(here)).unwrap();
    assert_eq!(relay.pass(10).await.unwrap(), 10);
    assert_eq!(relay.pass(40).await.unwrap(), 40);
    let started: Vec<_> = pool.counters().iter().map(|lane| lane.started).collect();
    // The call within the lane was no request to it.
    assert_eq!(started, [3, 2]);
    assert_eq!(server.connections_served(), 0);
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_without_lanes_calls_its_own_objects_on_the_thread_that_it_has() {
    let server = server().await;
    let options = ThreadpoolOptions::new(1, Priority(3));
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let poa = poa(&server, "declared", declared(7).threadpool(&pool)).unwrap();
    let urgent = poa.activate_object_with_priority(Teller::new(&server), Priority(50));
    let urgent: ProbeRef = urgent.unwrap();
    let through = Through {
        orb: server.clone(),
        there: urgent.as_object().clone(),
    };
    let relay: RelayRef = poa.activate(RelayServant::new(through)).unwrap();
    assert_eq!(relay.pass(20).await.unwrap(), 50);
    let usual: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let place = usual.place().await.unwrap();
    assert_eq!((place.priority, place.scheduled), (7, native(7)));
    server.shutdown(true).await.unwrap();
}
