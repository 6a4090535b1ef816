//! Pools that cannot be, without privilege too; deadlines of collocated calls; mutexes by name.

use super::*;
use crate::savings::spawn;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::task::Poll;
use std::time::Duration;
use zorb::executor::BuildError;
use zorb::policy::PolicyOverrides;
use zorb::real_time::{ThreadpoolError, ThreadpoolOptions};
use zorb::{Counter, Interface};

/// Runs on a thread that may not have real-time priorities, nor those that it starts; `None` where the limits of the process
/// permit them.
fn unprivileged<T: Send + 'static>(run: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let limit = getrlimit(Resource::Rtprio);
    if limit.current != Some(0) {
        eprintln!("skipped: RLIMIT_RTPRIO permits real-time priorities");
        return None;
    }
    let thread = std::thread::spawn(|| {
        let mut own = capabilities(None).unwrap();
        own.effective.remove(CapabilitySet::SYS_NICE);
        own.permitted.remove(CapabilitySet::SYS_NICE);
        own.inheritable = CapabilitySet::empty();
        set_capabilities(None, own).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(run)
    });
    Some(thread.join().unwrap())
}

#[test]
fn a_process_without_the_privilege_learns_what_permits_real_time_priorities() {
    let refused = unprivileged(async {
        let server = Orb::builder().scheduling(Scheduling::Fifo).build().await;
        let server = server.unwrap();
        let rt = server.rt_orb();
        let mut refused = Vec::new();
        for options in [
            ThreadpoolOptions::new(1, Priority(1)),
            ThreadpoolOptions::with_lanes([ThreadpoolLane::new(Priority(1), 1).listen(LOCAL)]),
        ] {
            refused.push(rt.create_threadpool(options).await.unwrap_err());
        }
        let thread = std::thread::spawn({
            let current = server.rt_current();
            move || {
                (
                    current.set_the_priority(Priority(9)),
                    current.the_priority(),
                )
            }
        });
        let (set, got) = thread.join().unwrap();
        raises(set, Kind::NoPermission, 0);
        raises(got, Kind::Initialize, 0);
        server.shutdown(true).await.unwrap();
        refused
    });
    for error in refused.into_iter().flatten() {
        let text = error.to_string();
        assert!(text.contains("CAP_SYS_NICE or an RLIMIT_RTPRIO"), "{text}");
        let error = match error {
            Error::Threadpool(ThreadpoolError::Threads(error @ BuildError::Scheduling { .. })) => {
                Error::Threadpool(ThreadpoolError::Threads(error))
            }
            other => panic!("{other:?}"),
        };
        raises(
            Err::<(), _>(SystemException::from(error)),
            Kind::Initialize,
            0,
        );
    }
}

type IsExpected = fn(&BuildError) -> bool;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pools_of_too_many_lanes_or_for_absent_cpus_start_nothing() {
    let server = client().await;
    let rt = server.rt_orb();
    let lanes = (0..5_000).map(|priority| ThreadpoolLane::new(Priority(priority), 1));
    let one = || ThreadpoolOptions::new(1, Priority(1));
    let bad = Kind::BadParam;
    let cases: [(ThreadpoolOptions, Kind, IsExpected); 6] = [
        (ThreadpoolOptions::with_lanes(lanes), bad, |error| {
            matches!(error, BuildError::TooManyThreads(5_000))
        }),
        (
            ThreadpoolOptions::new(1_000_000, Priority(1)),
            bad,
            |error| matches!(error, BuildError::TooManyThreads(1_000_000)),
        ),
        (one().dynamic_threads(usize::MAX), bad, |error| {
            matches!(error, BuildError::TooManyThreads(usize::MAX))
        }),
        (one().cpus([1_000]), bad, |error| {
            matches!(error, BuildError::Cpus { .. })
        }),
        (one().buffering(usize::MAX, 0), bad, |error| {
            matches!(error, BuildError::QueueTooLarge(usize::MAX))
        }),
        // More than there are addresses: the system starts no such thread.
        (one().stack_size(1 << 47), Kind::Internal, |error| {
            matches!(error, BuildError::Thread(_))
        }),
    ];
    for (options, kind, is_expected) in cases {
        let error = rt.create_threadpool(options).await.unwrap_err();
        match &error {
            Error::Threadpool(ThreadpoolError::Threads(error)) if is_expected(error) => {}
            other => panic!("{other:?}"),
        }
        raises(Err::<(), _>(SystemException::from(error)), kind, 0);
    }
    let reactors = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = reactors.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    assert!(names.into_iter().all(|name| !name.contains("io4999")));
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_that_is_created_while_the_orb_shuts_down_ends() {
    // On a busy machine the lane has often listened by the time of the first poll.
    const MOST: usize = 5_000;
    let (mut ended, mut rounds) = (0, 0);
    while rounds < 100 || ended == 0 && rounds < MOST {
        rounds += 1;
        let orb = server().await;
        let rt = orb.rt_orb();
        let options =
            ThreadpoolOptions::with_lanes([ThreadpoolLane::new(Priority(1), 1).listen(LOCAL)]);
        let mut creating = Box::pin(rt.create_threadpool(options));
        let first = std::future::poll_fn(|cx| Poll::Ready(creating.as_mut().poll(cx))).await;
        orb.shutdown(true).await.unwrap();
        if first.is_pending() {
            let refused = creating.await.map(drop).map_err(SystemException::from);
            raises(refused, Kind::BadInvOrder, 4);
            assert_eq!(orb.rt_orb().threadpool(1).map(drop), None);
            ended += 1;
        }
    }
    assert!(
        ended > 0,
        "the shutdown never began while a lane was about to listen"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collocated_call_whose_deadline_is_past_when_its_lane_gets_to_it_is_not_made() {
    let server = server().await;
    let pool = lanes(&server, &[10]).await;
    let poa = poa(&server, "declared", declared(10).threadpool(&pool)).unwrap();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let teller = Teller {
        orb: server.clone(),
        gate: Arc::clone(&gate),
    };
    let object: ProbeRef = poa.activate(ProbeServant::new(teller)).unwrap();
    let holds = spawn({
        let object = object.clone();
        async move { object.wait().await }
    });
    while pool.counters()[0].started < 1 {
        tokio::task::yield_now().await;
    }
    let with = |deadline| -> ProbeRef {
        let deadline = PolicyOverrides::new().relative_deadline(deadline);
        object
            .as_object()
            .with_policies(&deadline)
            .unchecked_narrow()
    };
    let (late, early) = (with(Duration::ZERO), with(Duration::from_secs(3_600)));
    let calls = [late, early].map(|object| spawn(async move { object.place().await }));
    while pool.counters()[0].queued < 2 {
        tokio::task::yield_now().await;
    }
    gate.add_permits(1);
    holds.await.unwrap().unwrap();
    let [late, early] = calls;
    raises(late.await.unwrap(), Kind::Timeout, 0);
    assert_eq!(early.await.unwrap().unwrap().priority, 10);
    let late = (
        pool.counters()[0].late,
        server.counters().get(Counter::RequestsLate),
    );
    assert_eq!(late, (1, 1));
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_low_lane_that_is_always_full_has_no_urgent_request_refused() {
    let (server, client) = (server().await, client().await);
    let lane = |priority| ThreadpoolLane::new(Priority(priority), 1).listen(LOCAL);
    let options = ThreadpoolOptions::with_lanes([10, 40].map(lane)).buffering(4, 0);
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let poa = poa(&server, "propagated", propagated(10).threadpool(&pool)).unwrap();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let teller = Teller {
        orb: server.clone(),
        gate: Arc::clone(&gate),
    };
    let object: ProbeRef = poa.activate(ProbeServant::new(teller)).unwrap();
    let object = seen_by(&client, &object).await;
    let call = |priority| {
        let (current, object) = (client.rt_current(), object.clone());
        spawn(async move {
            let waits = current.scope(Priority(priority), object.wait());
            waits.await.unwrap()
        })
    };
    let reached = async |lane: usize, queued: usize, refused: u64| {
        loop {
            let counters = pool.counters()[lane];
            if (counters.started, counters.queued, counters.refused) == (1, queued, refused) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let mut calls = vec![call(10)];
    reached(0, 0, 0).await;
    // Two are all that a lane of two has in a room for four.
    for (queued, refused) in [(1, 0), (2, 0), (2, 1), (2, 2)] {
        calls.push(call(10));
        reached(0, queued, refused).await;
    }
    calls.push(call(40));
    reached(1, 0, 0).await;
    for queued in [1, 2] {
        calls.push(call(40));
        reached(1, queued, 0).await;
    }
    gate.add_permits(6);
    let mut refused = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(place) => assert!([10, 40].contains(&place.priority)),
            Err(_) => refused += 1,
        }
    }
    assert_eq!(refused, 2);
    server.shutdown(true).await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn mutexes_are_found_by_their_names() {
    let orb = client().await;
    let rt = orb.rt_orb();
    let name = "valve";
    assert_eq!(rt.open_named_mutex(name).unwrap_err().name, name);
    let (made, is_new) = rt.create_named_mutex(name);
    assert!(is_new);
    let (found, is_new) = rt.create_named_mutex(name);
    assert!(!is_new);
    let opened = rt.open_named_mutex(name).unwrap();
    let held = made.lock();
    for same in [&found, &opened] {
        assert!(same.try_lock().is_none());
        assert!(same.try_lock_for(Duration::from_millis(1)).is_none());
    }
    // One without a name, and one of another name, are others.
    assert!(rt.create_mutex().try_lock().is_some());
    assert!(rt.create_named_mutex("pump").0.try_lock().is_some());
    drop(held);
    assert!(opened.try_lock().is_some());
    rt.destroy_named_mutex(name).unwrap();
    assert!(rt.destroy_named_mutex(name).is_err());
    assert!(rt.create_named_mutex(name).1);
    assert!(!Arc::ptr_eq(&made, &rt.open_named_mutex(name).unwrap()));
    orb.shutdown(true).await.unwrap();
}
