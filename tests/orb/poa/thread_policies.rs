//! Thread policies.

use super::*;
use crate::savings::spawn;
use zorb::ThreadModel;

async fn crowd(drawers: &[DrawerRef]) -> i32 {
    let calls: Vec<_> = (0..24)
        .map(|n| {
            let drawer = drawers[n % drawers.len()].clone();
            spawn(async move { drawer.crowd().await.unwrap() })
        })
        .collect();
    let mut most = 0;
    for call in calls {
        most = most.max(in_time(call).await.unwrap());
    }
    most
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn upcalls_of_a_single_thread_adapter_take_turns_across_awaits() {
    let world = World::new().await;
    for (thread, is_crowded) in [
        (ThreadModel::OrbControlled, true),
        (ThreadModel::SingleThread, false),
        (ThreadModel::MainThread, false),
    ] {
        let policies = user()
            .with_thread(thread)
            .with_id_uniqueness(IdUniqueness::Multiple);
        let poa = world.poa("turns", policies);
        let desk = desk("one");
        let mut drawers = Vec::new();
        for id in ["a", "b"] {
            let reference = poa.activate_object_with_id(id, drawer(&desk)).unwrap();
            drawers.extend(world.both(&reference).await);
        }
        assert_eq!(crowd(&drawers).await > 1, is_crowded, "{thread:?}");
        poa.destroy();
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn turns_of_default_servants_and_of_main_thread_adapters_exclude_each_other() {
    let world = World::new().await;
    let policies =
        default_servant(ServantRetention::NonRetain).with_thread(ThreadModel::SingleThread);
    let poa = world.poa("default", policies);
    poa.set_servant(drawer(&desk("default"))).unwrap();
    let drawers = [
        poa.create_reference_with_id::<DrawerRef>("a").unwrap(),
        poa.create_reference_with_id("b").unwrap(),
    ];
    assert_eq!(crowd(&drawers).await, 1);
    let desk = desk("main");
    let main = |name| {
        let poa = world.poa(name, user().with_thread(ThreadModel::MainThread));
        poa.activate_object_with_id(name, drawer(&desk)).unwrap()
    };
    assert_eq!(crowd(&[main("one"), main("two")]).await, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_upcall_that_calls_its_own_adapter_shares_its_turn() {
    let world = World::new().await;
    let policies = user()
        .with_thread(ThreadModel::SingleThread)
        .with_id_uniqueness(IdUniqueness::Multiple);
    let (poa, free) = (world.poa("turns", policies), world.poa("free", user()));
    let desk = desk("one");
    let inner = poa.activate_object_with_id("inner", drawer(&desk)).unwrap();
    let outer = poa.activate_object_with_id("outer", drawer(&desk)).unwrap();
    let between = free.activate_object_with_id("free", RelayServant::new(Wire(inner.clone())));
    let between = between.unwrap();
    for outer in world.both(&outer).await {
        let said = in_time(outer.nested(&inner)).await.unwrap();
        assert_eq!(said, "outer inner outer");
    }
    // By way of an adapter without turns, which awaits before it calls back.
    let start = poa.activate_object_with_id("start", RelayServant::new(Start(between)));
    let start = start.unwrap();
    let far = world.client.string_to_object(&start.to_string()).await;
    for start in [start, far.unwrap().unchecked_narrow()] {
        assert_eq!(in_time(start.pass_on()).await.unwrap(), "inner");
    }
    // A panic passes the turn on.
    for outer in world.both(&outer).await {
        assert_eq!(raised(in_time(outer.burst()).await).0, Kind::Unknown);
        assert_eq!(in_time(outer.id()).await.unwrap(), "outer");
    }
    world.end().await;
}

zorb::idl! {
    interface Relay { string pass_on(); };
}

struct Wire(DrawerRef);

impl Relay for Wire {
    async fn pass_on(&self) -> Result<String, SystemException> {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.0.id().await
    }
}

struct Start(RelayRef);

impl Relay for Start {
    async fn pass_on(&self) -> Result<String, SystemException> {
        self.0.pass_on().await
    }
}
