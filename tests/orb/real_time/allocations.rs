//! Allocations of a call through a lane: on its client's thread, on the reactor's and on that of its servant.

use super::*;
use crate::counting::ALLOCATIONS;
use zorb::Interface;
use zorb::real_time::ThreadpoolOptions;

zorb::idl! {
    module Counted {
        interface Meter {
            // Allocations of the thread that runs it, so far.
            unsigned long long allocations();
            // Is served when the gate opens.
            void hold();
        };
    };
}
use counted::{Meter, MeterRef, MeterServant};

#[derive(Default)]
struct Counts {
    gate: Arc<tokio::sync::Notify>,
}

impl Meter for Counts {
    async fn allocations(&self) -> Result<u64, SystemException> {
        Ok(ALLOCATIONS.get() as u64)
    }

    async fn hold(&self) -> Result<(), SystemException> {
        self.gate.notified().await;
        Ok(())
    }
}

const CALLS: u64 = 200;
/// Rounds of so many calls, of which one has to be without an allocation. Rare ones are made once, such as room for another
/// buffer in the list of a thread.
const ROUNDS: usize = 5;

/// Allocations of a round of calls at a priority: of the client's thread, the reactor's, and the servant's.
async fn allocations(
    client: &Orb,
    priority: Option<i16>,
    policies: RtPolicies,
    pool: &Threadpool,
    server: &Orb,
) -> [u64; 3] {
    let (counts, gate) = (Counts::default(), Arc::<tokio::sync::Notify>::default());
    let of_lane: MeterRef = {
        let poa = poa(server, "lane", policies.threadpool(pool)).unwrap();
        let gate = Arc::clone(&gate);
        poa.activate(MeterServant::new(Counts { gate })).unwrap()
    };
    // An object without a pool is served in place: at the endpoint of a lane, by the lane's reactor.
    let ior = of_lane.as_object().ior();
    let root: MeterRef = server
        .root_poa()
        .activate(MeterServant::new(counts))
        .unwrap();
    let mut at_lane = ior.clone();
    let key = root.as_object().ior().profiles[0].object_key().unwrap();
    let mut body = zorb_giop::ior::IiopProfile::from_tagged(&at_lane.profiles[0]).unwrap();
    body.object_key = key;
    body.components.clear();
    at_lane.profiles = vec![body.to_tagged().unwrap()];
    let reactor: MeterRef = client.object(at_lane).unchecked_narrow();
    let of_lane: MeterRef = client.object(ior.clone()).unchecked_narrow();
    let run = async {
        // A worker returns the box of its job behind the reply, so that the next request may need another one: both are
        // there when one request has waited for the other.
        let opens = async {
            while pool.counters()[0].queued == 0 {
                tokio::task::yield_now().await;
            }
            gate.notify_one();
        };
        let (held, waited, ()) = tokio::join!(of_lane.hold(), of_lane.allocations(), opens);
        held.unwrap();
        waited.unwrap();
        let mut counted = [u64::MAX; 3];
        for _ in 0..ROUNDS {
            let reactor_before = reactor.allocations().await.unwrap();
            let servant_before = of_lane.allocations().await.unwrap();
            let client_before = ALLOCATIONS.get() as u64;
            let mut servant = 0;
            for _ in 0..CALLS {
                servant = of_lane.allocations().await.unwrap();
            }
            let client = ALLOCATIONS.get() as u64;
            let reactor = reactor.allocations().await.unwrap();
            counted = [
                client - client_before,
                reactor - reactor_before,
                servant - servant_before,
            ];
            if counted == [0; 3] {
                break;
            }
        }
        counted
    };
    match priority {
        Some(priority) => client
            .rt_current()
            .scope(Priority(priority), run)
            .await
            .unwrap(),
        None => run.await,
    }
}

/// A client whose thread is this one, and a server whose threads are its own.
#[tokio::test]
async fn a_call_through_a_pool_allocates_nothing_on_the_steady_path() {
    let home = zorb::executor::Lane::dedicated("home").unwrap();
    let builder = Orb::builder().listen(LOCAL).lane(home);
    let server = builder.build().await.unwrap();
    let client = client().await;
    let lanes = || {
        let lane = ThreadpoolLane::new(Priority(10), 1).listen(LOCAL);
        ThreadpoolOptions::with_lanes([lane])
    };
    let without_lanes = || ThreadpoolOptions::new(1, Priority(10));
    for (name, options, policies, priority) in [
        ("declared", lanes(), declared(10), None),
        ("propagated", lanes(), propagated(10), Some(10)),
        ("without lanes", without_lanes(), propagated(10), None),
        (
            "propagated without lanes",
            without_lanes(),
            propagated(10),
            Some(7),
        ),
    ] {
        let pool = server.rt_orb().create_threadpool(options).await.unwrap();
        let counted = allocations(&client, priority, policies, &pool, &server).await;
        assert_eq!(counted, [0; 3], "{name}: client, reactor, servant");
        server.root_poa().find_poa("lane").unwrap().destroy();
    }
    server.shutdown(true).await.unwrap();
}
