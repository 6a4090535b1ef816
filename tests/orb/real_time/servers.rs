//! Thread pools, POAs with real-time policies, and per-object priorities.

use super::*;
use crate::savings::spawn;
use core::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use zorb::real_time::{DestroyThreadpoolError, PriorityBand, ThreadpoolError, ThreadpoolOptions};
use zorb::{AdapterError, PoaPolicyType};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_without_lanes_runs_each_request_at_the_priority_of_its_object() {
    let (server, client) = (server().await, client().await);
    let options = ThreadpoolOptions::new(1, Priority(3));
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let poa = poa(&server, "declared", declared(7).threadpool(&pool)).unwrap();
    let usual: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let urgent: ProbeRef = poa
        .activate_object_with_priority(Teller::new(&server), Priority(50))
        .unwrap();
    for (object, priority) in [(&usual, 7), (&urgent, 50), (&usual, 7)] {
        let place = seen_by(&client, object).await.place().await.unwrap();
        assert_eq!(place.priority, priority);
        assert_eq!(place.scheduled, native(i32::from(priority)));
        assert!(place.thread.starts_with("pool"), "{}", place.thread);
    }
    // A pool without a priority model runs all at its default priority.
    let policies = RtPolicies::new().threadpool(&pool);
    let plain = super::poa(&server, "plain", policies).unwrap();
    let object: ProbeRef = plain.activate(Teller::new(&server)).unwrap();
    let place = seen_by(&client, &object).await.place().await.unwrap();
    assert_eq!((place.priority, place.scheduled), (3, native(3)));
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_upcall_sets_ends_with_it() {
    let (server, client) = (server().await, client().await);
    let options = ThreadpoolOptions::new(1, Priority(3));
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let poa = poa(&server, "declared", declared(7).threadpool(&pool)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let object = seen_by(&client, &object).await;
    let place = object.change(60).await.unwrap();
    assert_eq!((place.priority, place.scheduled), (60, native(60)));
    let place = object.place().await.unwrap();
    assert_eq!((place.priority, place.scheduled), (7, native(7)));
    raises(object.change(-1).await, Kind::BadParam, 0);
    if may_be_real_time() {
        // Beyond the native priorities.
        raises(object.change(100).await, Kind::DataConversion, 2);
    }
    assert_eq!(object.place().await.unwrap().priority, 7);
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_lane_has_its_thread_its_reactor_and_its_endpoint() {
    // Other tests have lanes of other priorities.
    let (server, client) = (server().await, client().await);
    let pool = lanes(&server, &[13, 43]).await;
    assert_eq!(pool.endpoints().len(), 2);
    let poa = poa(&server, "declared", declared(13).threadpool(&pool)).unwrap();
    let low: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let high: ProbeRef = poa
        .activate_object_with_id_and_priority_of(&server, 43)
        .unwrap();
    for (object, priority, at) in [(&low, 13, 0), (&high, 43, 1)] {
        // Its reference leads to its lane.
        let reference = format!("{:?}", zorb::Interface::as_object(object));
        let (_, endpoint) = &pool.endpoints()[at];
        assert!(reference.contains(&endpoint.to_string()), "{reference}");
        let place = seen_by(&client, object).await.place().await.unwrap();
        assert_eq!(place.priority, priority);
        assert_eq!(place.scheduled, native(i32::from(priority)));
    }
    let counters = pool.counters();
    assert_eq!(
        counters.iter().map(|lane| lane.started).collect::<Vec<_>>(),
        [1, 1]
    );
    if may_be_real_time() {
        assert_eq!(threads_at("io13"), [(Scheduling::Fifo as i32, 13)]);
        assert_eq!(threads_at("io43"), [(Scheduling::Fifo as i32, 43)]);
    }
    server.shutdown(true).await.unwrap();
}

/// Policy and priority of this process's threads whose names end so, as the kernel has them (`proc_pid_stat(5)`, fields
/// 40 and 41).
fn threads_at(name: &str) -> Vec<(i32, i32)> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let mut found = Vec::new();
    for task in tasks.flatten() {
        let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else {
            continue;
        };
        let (before, after) = stat.rsplit_once(')').unwrap();
        if !before.ends_with(name) {
            continue;
        }
        let fields: Vec<&str> = after.split_whitespace().collect();
        let field = |number: usize| fields[number - 3].parse::<i32>().unwrap();
        found.push((field(41), field(40)));
    }
    found
}

trait ActivateWithPriority {
    fn activate_object_with_id_and_priority_of(
        &self,
        orb: &Orb,
        priority: i16,
    ) -> Result<ProbeRef, Error>;
}

impl ActivateWithPriority for Poa {
    /// By a reference that was made first.
    fn activate_object_with_id_and_priority_of(
        &self,
        orb: &Orb,
        priority: i16,
    ) -> Result<ProbeRef, Error> {
        let made: ProbeRef = self.create_reference_with_priority(Priority(priority))?;
        let id = self.reference_to_id(&made)?;
        self.activate_object_with_id_and_priority(id, Teller::new(orb), Priority(priority))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_of_an_orb_without_priorities_runs_at_the_server_priority() {
    let (server, client) = (server().await, client().await);
    let pool = lanes(&server, &[10, 40]).await;
    let poa = poa(&server, "propagated", propagated(40).threadpool(&pool)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let place = seen_by(&client, &object).await.place().await.unwrap();
    assert_eq!((place.priority, place.scheduled), (40, native(40)));
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poa_without_a_pool_has_a_priority_and_the_orb_s_threads() {
    let (server, client) = (server().await, client().await);
    let poa = poa(&server, "declared", declared(7)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let object = seen_by(&client, &object).await;
    let place = object.place().await.unwrap();
    assert_eq!((place.priority, place.scheduled), (7, 0));
    // The thread is a worker of the runtime: it keeps its native priority.
    let place = object.change(60).await.unwrap();
    assert_eq!((place.priority, place.scheduled), (60, 0));
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_buffer_is_transient_and_the_lane_goes_on() {
    let (server, client) = (server().await, client().await);
    let lane = ThreadpoolLane::new(Priority(10), 1).listen(LOCAL);
    let options = ThreadpoolOptions::with_lanes([lane]).without_buffering();
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let poa = poa(&server, "declared", declared(10).threadpool(&pool)).unwrap();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let teller = Teller {
        orb: server.clone(),
        gate: Arc::clone(&gate),
    };
    let object: ProbeRef = poa.activate(ProbeServant::new(teller)).unwrap();
    let object = seen_by(&client, &object).await;
    let waiting = spawn({
        let object = object.clone();
        async move { object.wait().await }
    });
    while pool.counters()[0].started == 0 {
        tokio::task::yield_now().await;
    }
    raises(object.place().await, Kind::Transient, 1);
    gate.add_permits(1);
    assert_eq!(waiting.await.unwrap().unwrap().priority, 10);
    // The thread may still be on its way back.
    while object.place().await.is_err() {
        tokio::task::yield_now().await;
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policies_that_exclude_each_other_are_invalid() {
    let server = server().await;
    let plain = ThreadpoolOptions::new(1, Priority(3));
    let plain = server.rt_orb().create_threadpool(plain).await.unwrap();
    let laned = lanes(&server, &[10, 40]).await;
    let band = |low, high| PriorityBand { low, high };
    let model = PoaPolicyType::PriorityModel;
    let banded = PoaPolicyType::PriorityBandedConnection;
    for (policies, expected) in [
        (declared(-1), model),
        (propagated(-1), model),
        (
            RtPolicies::new().threadpool(&laned),
            PoaPolicyType::Threadpool,
        ),
        (declared(11).threadpool(&laned), model),
        (RtPolicies::new().priority_bands([band(0, 9)]), banded),
        (propagated(1).priority_bands([]), banded),
        (propagated(1).priority_bands([band(5, 4)]), banded),
        (propagated(1).priority_bands([band(-1, 4)]), banded),
        (declared(5).priority_bands([band(0, 4), band(6, 9)]), banded),
        (
            propagated(1)
                .threadpool(&laned)
                .priority_bands([band(0, 10), band(11, 39)]),
            banded,
        ),
    ] {
        let made = poa(&server, "invalid", policies.clone());
        match made {
            Err(Error::Adapter(AdapterError::InvalidPolicy(error))) => {
                assert_eq!(error.policy, expected, "{policies:?}: {error}");
            }
            other => panic!("{policies:?}: {other:?}"),
        }
    }
    for (name, policies) in [
        ("a", declared(11).threadpool(&plain)),
        ("b", propagated(11).threadpool(&laned)),
        ("c", declared(40).threadpool(&laned)),
        (
            "d",
            declared(12)
                .threadpool(&laned)
                .priority_bands([band(0, 20), band(21, 50)]),
        ),
    ] {
        poa(&server, name, policies).unwrap();
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_have_priorities_with_server_declared_only() {
    let server = server().await;
    let laned = lanes(&server, &[10, 40]).await;
    let declared = poa(&server, "declared", declared(10).threadpool(&laned)).unwrap();
    let propagated = poa(&server, "propagated", propagated(10).threadpool(&laned)).unwrap();
    let activate = |poa: &Poa, priority| {
        poa.activate_object_with_priority(Teller::new(&server), Priority(priority))
    };
    for poa in [&propagated, &server.root_poa()] {
        let wrong = activate(poa, 10);
        assert!(matches!(
            wrong,
            Err(Error::Adapter(AdapterError::WrongPolicy(_)))
        ));
    }
    // Out of range, and without a lane.
    for priority in [-1, 11] {
        let refused = activate(&declared, priority).map_err(SystemException::from);
        raises(refused, Kind::BadParam, 0);
    }
    let made: ProbeRef = declared
        .create_reference_with_priority(Priority(40))
        .unwrap();
    let id = declared.reference_to_id(&made).unwrap();
    let again = declared
        .activate_object_with_id_and_priority(&id, Teller::new(&server), Priority(10))
        .map_err(SystemException::from);
    raises(again, Kind::BadInvOrder, 18);
    declared
        .activate_object_with_id_and_priority(&id, Teller::new(&server), Priority(40))
        .unwrap();
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pools_that_cannot_be_say_why() {
    let server = server().await;
    let rt = server.rt_orb();
    let refused = async |options| {
        let error = rt.create_threadpool(options).await.unwrap_err();
        assert!(matches!(
            error,
            Error::Threadpool(ThreadpoolError::Threads(_) | ThreadpoolError::Endpoint(_))
        ));
        Err::<(), _>(SystemException::from(error))
    };
    let bad = Kind::BadParam;
    let lane = |priority, threads| ThreadpoolLane::new(Priority(priority), threads);
    raises(
        refused(ThreadpoolOptions::new(0, Priority(1))).await,
        bad,
        0,
    );
    raises(refused(ThreadpoolOptions::with_lanes([])).await, bad, 0);
    for lanes in [
        vec![lane(1, 0)],
        vec![lane(-1, 1)],
        vec![lane(5, 1), lane(5, 1)],
        vec![lane(5, 1_000_000)],
        vec![lane(5, 1).listen("other:bank")],
    ] {
        let refused = rt
            .create_threadpool(ThreadpoolOptions::with_lanes(lanes))
            .await;
        let error = refused.unwrap_err();
        let kind = error.to_system_exception().kind;
        assert!(matches!(kind, Kind::BadParam | Kind::Initialize), "{error}");
    }
    let cpus = ThreadpoolOptions::new(1, Priority(1)).cpus([1_000_000]);
    raises(refused(cpus).await, bad, 0);
    if may_be_real_time() {
        // Native priorities end at 99.
        let unmappable = ThreadpoolOptions::with_lanes([lane(100, 1)]);
        raises(refused(unmappable).await, Kind::DataConversion, 2);
        let unmappable = ThreadpoolOptions::new(1, Priority(100));
        raises(refused(unmappable).await, Kind::DataConversion, 2);
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_that_a_poa_has_is_not_destroyed() {
    let server = server().await;
    let rt = server.rt_orb();
    let pool = lanes(&server, &[10]).await;
    let id = pool.id();
    assert!(rt.threadpool(id).is_some());
    let poa = poa(&server, "declared", declared(10).threadpool(&pool)).unwrap();
    let in_use = rt.destroy_threadpool(id).await;
    assert_eq!(in_use, Err(DestroyThreadpoolError::InUse(id)));
    raises(in_use.map_err(SystemException::from), Kind::BadInvOrder, 0);
    poa.destroy();
    rt.destroy_threadpool(id).await.unwrap();
    let (_, endpoint) = &pool.endpoints()[0];
    let address = (endpoint.host().unwrap(), endpoint.port().unwrap());
    // Its listener goes with the task that accepts.
    while std::net::TcpStream::connect(address).is_ok() {
        tokio::task::yield_now().await;
    }
    let gone = rt.destroy_threadpool(id).await;
    assert_eq!(gone, Err(DestroyThreadpoolError::InvalidThreadpool(id)));
    assert!(rt.threadpool(id).is_none());
    server.shutdown(true).await.unwrap();
}

/// LocateRequest of GIOP 1.0, big-endian, with id 1, for the key `x`.
const LOCATE: &[u8] = b"GIOP\x01\0\0\x03\0\0\0\x09\0\0\0\x01\0\0\0\x01x";

/// The next line of a server's output.
async fn heard<const N: usize>(client: &mut TcpStream) -> [u8; N] {
    let mut octets = [0; N];
    let read = tokio::time::timeout(Duration::from_secs(60), client.read_exact(&mut octets));
    read.await.expect("no hang").expect("octets");
    octets
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_a_pool_that_is_destroyed_hear_that_their_connection_is_closed() {
    let server = server().await;
    let pool = lanes(&server, &[10]).await;
    let (_, endpoint) = &pool.endpoints()[0];
    let address = (endpoint.host().unwrap(), endpoint.port().unwrap());
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(LOCATE).await.unwrap();
    let located: [u8; 20] = heard(&mut client).await;
    assert_eq!(located[7], 4, "a LocateReply");
    let id = pool.id();
    drop(pool);
    server.rt_orb().destroy_threadpool(id).await.unwrap();
    let closed: [u8; 12] = heard(&mut client).await;
    assert_eq!(
        (&closed[..4], closed[7]),
        (&b"GIOP"[..], 5),
        "CloseConnection"
    );
    drop(client);
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn poas_take_over_the_policies_of_the_orb() {
    let (server, client) = (server().await, client().await);
    let pool = lanes(&server, &[10, 40]).await;
    server
        .rt_orb()
        .set_policy_defaults(declared(40).threadpool(&pool));
    let root = server.root_poa();
    root.the_poa_manager().activate().unwrap();
    let manager = root.the_poa_manager().clone();
    let child = root.create_poa("child", Some(&manager)).unwrap();
    let object: ProbeRef = child.activate(Teller::new(&server)).unwrap();
    let place = seen_by(&client, &object).await.place().await.unwrap();
    assert_eq!((place.priority, place.scheduled), (40, native(40)));
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn references_name_a_lane_on_every_interface_by_addresses_that_others_can_reach() {
    let (server, client) = (server().await, client().await);
    let lane = ThreadpoolLane::new(Priority(14), 1)
        .listen("iiop://0.0.0.0:0")
        .listen("iiop://127.0.0.1:0/hostname_in_ior=bank.invalid&port_in_ior=99");
    let options = ThreadpoolOptions::with_lanes([lane]);
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let poa = poa(&server, "everywhere", declared(14).threadpool(&pool)).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let reference = format!("{:?}", zorb::Interface::as_object(&object));
    assert!(!reference.contains("0.0.0.0"), "{reference}");
    assert!(reference.contains("iiop://bank.invalid:99"), "{reference}");
    let place = seen_by(&client, &object).await.place().await.unwrap();
    assert_eq!(place.priority, 14);
    server.shutdown(true).await.unwrap();
}
