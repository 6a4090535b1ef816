//! Lanes: which runtime, which thread, and how a dedicated one ends.
use std::{
    io::ErrorKind,
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    thread,
    time::Duration,
};

use tokio::{
    net::UdpSocket,
    runtime::{Builder, RuntimeFlavor},
    sync::Barrier,
    time::{Instant, sleep_until},
};
use zorb_executor::{
    BuildError, Dispatch, Job, Lane, LaneError, NativePriority, Priority, Scheduling, WaitPolicy,
    WorkerPool, current_thread_scheduling,
};

#[test]
fn outside_a_runtime_there_is_no_current_lane() {
    assert_eq!(Lane::current().unwrap_err(), LaneError::NoRuntime);
    assert_eq!(
        LaneError::NoRuntime.to_string(),
        "expected to be called inside a tokio runtime, found none"
    );
}

#[tokio::test]
async fn all_current_lanes_of_a_runtime_are_one() {
    let lane = Lane::current().unwrap();
    assert_eq!(lane.id(), Lane::current().unwrap().id());
    assert_eq!(lane.flavor(), RuntimeFlavor::CurrentThread);
    assert_eq!(
        lane.spawn(async { Lane::current().unwrap().id() })
            .await
            .unwrap(),
        lane.id()
    );
    assert!(matches!(lane.dispatch(), Dispatch::InPlace));
}

#[test]
fn lanes_of_different_runtimes_are_different() {
    let lanes = [Lane::dedicated("a").unwrap(), Lane::dedicated("b").unwrap()];
    assert_ne!(lanes[0].id(), lanes[1].id());
    assert_ne!(lanes[0].id().to_string(), lanes[1].id().to_string());
    assert_eq!(lanes[0].clone().id(), lanes[0].id());
}

#[test]
fn a_dedicated_lane_has_a_thread_of_its_name_and_knows_itself() {
    let lane = Lane::dedicated("reader").unwrap();
    assert_eq!(lane.flavor(), RuntimeFlavor::CurrentThread);
    let task = lane.spawn(async {
        (
            thread::current().name().map(str::to_owned),
            Lane::current().unwrap().id(),
        )
    });
    let found = lane.handle().block_on(task).unwrap();
    assert_eq!(found, (Some("reader".into()), lane.id()));
}

#[test]
fn a_dedicated_lane_has_sockets_and_timers() {
    let lane = Lane::dedicated("reader").unwrap();
    let task = lane.spawn(async {
        sleep_until(Instant::now() + Duration::from_nanos(1)).await;
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket
            .send_to(b"x", socket.local_addr().unwrap())
            .await
            .unwrap();
        socket.recv_from(&mut [0]).await.unwrap().0
    });
    assert_eq!(lane.handle().block_on(task).unwrap(), 1);
}

#[test]
fn a_name_with_nul_is_refused() {
    assert_eq!(
        Lane::dedicated("a\0b").unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn the_last_owner_ends_the_thread_and_all_tasks() {
    let lane = Lane::dedicated("reader").unwrap();
    let (tell, receiver) = channel();
    let last_words = LastWords(tell);
    lane.spawn(async move {
        let _last_words = last_words;
        std::future::pending::<()>().await;
    });
    let other = lane.clone();
    drop(lane);
    // Still alive.
    assert_eq!(
        other.handle().block_on(other.spawn(async { 1 })).unwrap(),
        1
    );
    drop(other);
    // The drop has waited for the thread, so it is said already.
    assert_eq!(receiver.try_recv(), Ok("reader".into()));
}

#[test]
fn a_lane_may_be_dropped_by_its_own_thread() {
    let lane = Lane::dedicated("reader").unwrap();
    let (tell, receiver) = channel();
    let last_words = LastWords(tell);
    let handle = lane.handle().clone();
    handle.spawn(async move {
        // The lane first, while the thread runs us.
        let _last_words = last_words;
        drop(lane);
        std::future::pending::<()>().await;
    });
    drop(handle);
    assert_eq!(receiver.recv(), Ok("reader".into()));
}

#[tokio::test]
async fn a_lane_may_be_dropped_inside_another_runtime() {
    let lane = Lane::dedicated("reader").unwrap();
    let (tell, receiver) = tokio::sync::oneshot::channel();
    let (hold, held) = tokio::sync::oneshot::channel::<()>();
    lane.spawn(async move {
        // Ends with the lane, without a wait here.
        let _tell = tell;
        let _ = held.await;
    });
    drop(lane);
    let receiver: Result<(), _> = receiver.await;
    assert!(receiver.is_err());
    drop(hold);
}

#[test]
fn two_lanes_may_drop_each_other() {
    let (one, two) = (
        Lane::dedicated("one").unwrap(),
        Lane::dedicated("two").unwrap(),
    );
    let (tell, receiver) = channel();
    let (a, b) = (one.handle().clone(), two.handle().clone());
    // Both run before either lane ends: a task that comes too late is dropped by the thread that spawns it.
    let both_run = Arc::new(Barrier::new(2));
    for (handle, other) in [(a, two), (b, one)] {
        let last_words = LastWords(tell.clone());
        let both_run = Arc::clone(&both_run);
        handle.spawn(async move {
            let _last_words = last_words;
            both_run.wait().await;
            drop(other);
            std::future::pending::<()>().await;
        });
    }
    let mut names = [receiver.recv().unwrap(), receiver.recv().unwrap()];
    names.sort();
    assert_eq!(names, ["one", "two"]);
}

#[test]
fn a_lanes_pool_is_drained_while_the_lane_still_runs() {
    let lane = Lane::dedicated("reader").unwrap();
    let pool = WorkerPool::builder()
        .lane(&lane)
        .threads(1)
        .build()
        .unwrap();
    let lane = lane.with_dispatch(Dispatch::Pool(pool)).unwrap();
    let Dispatch::Pool(pool) = lane.dispatch() else {
        panic!("it was just set")
    };
    let (tell, receiver) = channel();
    let job = async move {
        // Needs the lane's reactor.
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket
            .send_to(b"x", socket.local_addr().unwrap())
            .await
            .unwrap();
        tell.send(socket.recv_from(&mut [0]).await.unwrap().0)
            .unwrap();
    };
    pool.try_submit(Priority::default(), Job::new(job)).unwrap();
    drop(lane);
    assert_eq!(receiver.try_recv(), Ok(1));
}

#[test]
fn only_a_multi_thread_lane_blocks_in_place() {
    let check = |builder: &mut Builder, expected: Option<LaneError>| {
        let runtime = builder.build().unwrap();
        let _inside = runtime.enter();
        let lane = Lane::current()
            .unwrap()
            .with_dispatch(Dispatch::BlockInPlace);
        assert_eq!(lane.err(), expected);
    };
    check(
        &mut Builder::new_current_thread(),
        Some(LaneError::DispatchDoesNotFit),
    );
    check(Builder::new_multi_thread().worker_threads(1), None);
}

/// Sends the name of the thread that it is dropped on.
struct LastWords(Sender<String>);

impl Drop for LastWords {
    fn drop(&mut self) {
        let thread = thread::current();
        let _ = self.0.send(thread.name().unwrap_or_default().to_owned());
    }
}

#[test]
fn a_lane_of_several_threads_serves_while_one_of_them_blocks() {
    let lane = Lane::builder()
        .name("leader")
        .threads(2)
        .stack_size(256 * 1024)
        .build()
        .unwrap();
    assert_eq!(lane.flavor(), RuntimeFlavor::MultiThread);
    assert!(!lane.is_dedicated());
    let (open, opened) = channel::<()>();
    let blocked = lane.spawn(async move { zorb_executor::blocking(|| opened.recv()) });
    let name = lane.spawn(async { thread::current().name().map(str::to_owned) });
    assert_eq!(
        lane.handle().block_on(name).unwrap().as_deref(),
        Some("leader")
    );
    open.send(()).unwrap();
    assert_eq!(lane.handle().block_on(blocked).unwrap(), Ok(()));
}

#[test]
fn threads_of_a_lane_have_the_scheduling_and_the_cpus_that_they_were_given() {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let cpu = (0..rustix::thread::CpuSet::MAX_CPU)
        .find(|cpu| allowed.is_set(*cpu))
        .unwrap();
    for threads in [1, 3] {
        let lane = Lane::builder()
            .threads(threads)
            .cpus([cpu])
            .scheduling(Scheduling::RoundRobin, NativePriority(7))
            .build();
        let lane = match lane {
            Ok(lane) => lane,
            Err(error @ BuildError::Scheduling { .. }) => {
                return eprintln!("skipped: {error}");
            }
            Err(error) => panic!("{error}"),
        };
        assert_eq!(lane.wait(), WaitPolicy::Park);
        let look = move || {
            let cpus = rustix::thread::sched_getaffinity(None).unwrap();
            (
                current_thread_scheduling().unwrap(),
                cpus.count(),
                cpus.is_set(cpu),
            )
        };
        let expected = ((Scheduling::RoundRobin, NativePriority(7)), 1, true);
        let seen = lane.spawn(async move { look() });
        assert_eq!(lane.handle().block_on(seen).unwrap(), expected);
        // A thread for a blocking section is one of the lane's, too.
        let seen = lane.handle().spawn_blocking(look);
        assert_eq!(lane.handle().block_on(seen).unwrap(), expected);
    }
}

#[test]
fn impossible_lanes_are_typed_errors() {
    let error = Lane::builder().threads(0).build().unwrap_err();
    assert!(matches!(error, BuildError::NoThreads));
    let error = Lane::builder().threads(1_000_000).build().unwrap_err();
    assert!(matches!(error, BuildError::TooManyThreads(1_000_512)));
    let error = Lane::builder().name("a\0b").build().unwrap_err();
    assert!(matches!(error, BuildError::NameHasNul));
    let error = Lane::builder().cpus([1_000_000]).build().unwrap_err();
    assert!(matches!(error, BuildError::Cpus { .. }), "{error}");
    let error = Lane::builder()
        .scheduling(Scheduling::Fifo, NativePriority(100))
        .build()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a native priority of SCHED_FIFO (1 to 99), found 100"
    );
}
