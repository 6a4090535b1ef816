//! Lanes of real threads: their scheduling as the kernel has it, borrowing, dynamic threads, bounds, and what cannot be
//! built.
use std::{
    io,
    sync::{Arc, Barrier, mpsc},
    thread,
    time::{Duration, Instant},
};

use zorb_executor::{
    BuildError, ContinuousMapping, DirectMapping, Job, Lane, LaneThreads, NativePriority, Priority,
    RejectReason, Scheduling, Submission, WorkerPool, current_priority, current_thread_scheduling,
};

const LOW: Priority = Priority(10);
const HIGH: Priority = Priority(30);

/// The properties of its thread that a job sees.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    thread: String,
    corba: Option<Priority>,
    native: (Scheduling, NativePriority),
}

fn look() -> Seen {
    Seen {
        thread: thread::current().name().unwrap().to_owned(),
        corba: current_priority(),
        native: current_thread_scheduling().unwrap(),
    }
}

fn seen_by(pool: &WorkerPool, priority: Priority) -> Seen {
    let (seen, sees) = mpsc::channel();
    pool.try_submit(
        priority,
        Job::new(async move { seen.send(look()).unwrap() }),
    )
    .unwrap();
    sees.recv().unwrap()
}

/// Keeps one thread of the lane busy until it is dropped.
struct Busy {
    _end: mpsc::Sender<()>,
}

impl Busy {
    fn new(pool: &WorkerPool, priority: Priority) -> Self {
        let (end, ends) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel();
        let job = async move {
            begun.send(()).unwrap();
            let _ = ends.recv();
        };
        pool.try_submit(priority, Job::new(job)).unwrap();
        begins.recv().unwrap();
        Self { _end: end }
    }
}

/// Whether the process may use real-time priorities, as the kernel says it: CI runs as root, a developer may not.
fn may_be_real_time(error: &BuildError) -> bool {
    match error {
        BuildError::Scheduling { source, .. } => {
            assert_eq!(source.kind(), io::ErrorKind::PermissionDenied);
            let text = error.to_string();
            assert!(text.contains("SCHED_FIFO"), "{text}");
            assert!(text.contains("CAP_SYS_NICE"), "{text}");
            eprintln!("skipped: {text}");
            false
        }
        other => panic!("{other}"),
    }
}

fn fifo(runtime: &Lane, borrowing: bool) -> Option<WorkerPool> {
    WorkerPool::builder()
        .lane(runtime)
        .lanes([LaneThreads::new(HIGH, 1), LaneThreads::new(LOW, 1)])
        .borrowing(borrowing)
        .scheduling(Scheduling::Fifo)
        .mapping(DirectMapping)
        .name("rt")
        .build()
        .inspect_err(|error| assert!(!may_be_real_time(error)))
        .ok()
}

#[test]
fn threads_of_a_lane_have_its_priority_in_the_kernel() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let Some(pool) = fifo(&runtime, false) else {
        return;
    };
    let expected = |thread: &str, priority: Priority| Seen {
        thread: thread.into(),
        corba: Some(priority),
        native: (Scheduling::Fifo, NativePriority(priority.0.into())),
    };
    assert_eq!(seen_by(&pool, LOW), expected("rt-0", LOW));
    assert_eq!(seen_by(&pool, HIGH), expected("rt-1", HIGH));
    assert_eq!(current_priority(), None);
}

#[test]
fn a_borrowed_thread_is_raised_for_one_request_and_restored() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let Some(pool) = fifo(&runtime, true) else {
        return;
    };
    let busy = Busy::new(&pool, HIGH);
    let borrowed = seen_by(&pool, HIGH);
    assert_eq!(borrowed.thread, "rt-0");
    assert_eq!(borrowed.native.1, NativePriority(30));
    let own = seen_by(&pool, LOW);
    assert_eq!(own.thread, "rt-0");
    assert_eq!(own.native.1, NativePriority(10));
    drop(busy);
    assert_eq!(pool.counters()[1].borrowed, 1);
}

#[test]
fn a_thread_without_lanes_takes_the_priority_of_each_request() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let pool = WorkerPool::builder()
        .lane(&runtime)
        .threads(1)
        .scheduling(Scheduling::Fifo)
        .mapping(ContinuousMapping)
        .build();
    let pool = match pool {
        Ok(pool) => pool,
        Err(error) => return assert!(!may_be_real_time(&error)),
    };
    for (priority, native) in [(0, 1), (5, 6), (98, 99), (0, 1)] {
        let seen = seen_by(&pool, Priority(priority));
        assert_eq!(seen.native, (Scheduling::Fifo, NativePriority(native)));
    }
    let rejected = pool
        .try_submit(Priority(99), Job::new(async {}))
        .unwrap_err();
    assert_eq!(rejected.reason(), RejectReason::Unmappable);
}

#[test]
fn a_lane_that_is_stuck_delays_no_other() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let pool = WorkerPool::builder()
        .lane(&runtime)
        .lanes([LaneThreads::new(LOW, 1), LaneThreads::new(HIGH, 1)])
        .queue_capacity(1)
        .build()
        .unwrap();
    let busy = Busy::new(&pool, LOW);
    pool.try_submit(LOW, Job::new(async {})).unwrap();
    let rejected = pool.try_submit(LOW, Job::new(async {})).unwrap_err();
    assert_eq!(rejected.reason(), RejectReason::Full);
    assert_eq!(seen_by(&pool, HIGH).corba, Some(HIGH));
    let rejected = pool
        .try_submit(Priority(20), Job::new(async {}))
        .unwrap_err();
    assert_eq!(rejected.reason(), RejectReason::NoLane);
    drop(busy);
}

#[test]
fn dynamic_threads_come_and_go() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let pool = WorkerPool::builder()
        .lane(&runtime)
        .threads(1)
        .dynamic_threads(2)
        .queue_capacity(0)
        .idle_timeout(Duration::from_millis(1))
        .build()
        .unwrap();
    for _ in 0..20 {
        // All three have to run at once for the barrier to open.
        let barrier = Arc::new(Barrier::new(4));
        for _ in 0..3 {
            let barrier = Arc::clone(&barrier);
            // A thread that is about to become idle refuses what comes a moment too early.
            let mut job: Job = Job::new(async move {
                barrier.wait();
            });
            while let Err(rejected) = pool.try_submit(Priority::default(), job) {
                assert_eq!(rejected.reason(), RejectReason::Full);
                job = rejected.into_job();
                thread::yield_now();
            }
        }
        barrier.wait();
        thread::sleep(Duration::from_millis(3));
    }
    // The two dynamic ones end, the static one stays.
    while pool.counters()[0].idle != 1 {
        thread::yield_now();
    }
    assert_eq!(pool.counters()[0].started, 60);
}

#[test]
fn a_pool_may_be_dropped_and_shut_down_by_its_own_threads() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let pool = WorkerPool::builder()
        .lane(&runtime)
        .lanes([LaneThreads::new(LOW, 1).dynamic(1)])
        .build()
        .unwrap();
    let (ended, ends) = mpsc::channel();
    let own = pool.clone();
    let job = async move {
        own.shutdown().await;
        drop(own);
        ended.send(()).unwrap();
    };
    pool.try_submit(LOW, Job::new(job)).unwrap();
    drop(pool);
    ends.recv().unwrap();
}

#[test]
fn earlier_deadlines_go_first() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let pool = WorkerPool::builder()
        .lane(&runtime)
        .threads(1)
        .build()
        .unwrap();
    let busy = Busy::new(&pool, Priority::default());
    let (done, order) = mpsc::channel();
    let now = Instant::now();
    for seconds in [30_u64, 10, 20] {
        let done = done.clone();
        pool.submit(Submission {
            deadline: Some(now + Duration::from_secs(seconds)),
            octets: 8,
            ..Submission::new(
                Priority::default(),
                Job::new(async move { done.send(seconds).unwrap() }),
            )
        })
        .unwrap();
    }
    drop((busy, done));
    assert_eq!(order.iter().collect::<Vec<_>>(), [10, 20, 30]);
}

#[test]
fn impossible_pools_are_typed_errors() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let lanes = |lanes: &[(i16, usize, usize)]| {
        WorkerPool::builder()
            .lane(&runtime)
            .lanes(lanes.iter().map(|(priority, threads, dynamic)| {
                LaneThreads::new(Priority(*priority), *threads).dynamic(*dynamic)
            }))
            .build()
            .unwrap_err()
    };
    assert!(matches!(lanes(&[]), BuildError::NoLanes));
    assert!(matches!(lanes(&[(1, 0, 5)]), BuildError::NoThreads));
    assert!(matches!(
        lanes(&[(1, 1, 0), (2, 1, 1_000_000)]),
        BuildError::TooManyThreads(1_000_002)
    ));
    assert!(matches!(
        lanes(&[(1, usize::MAX, usize::MAX)]),
        BuildError::TooManyThreads(usize::MAX)
    ));
    assert!(matches!(
        lanes(&[(-1, 1, 0)]),
        BuildError::PriorityOutOfRange(Priority(-1))
    ));
    assert!(matches!(
        lanes(&[(5, 1, 0), (3, 1, 0), (5, 1, 0)]),
        BuildError::TwoLanesOfOnePriority(Priority(5))
    ));
    let builder = || WorkerPool::builder().lane(&runtime).threads(1);
    let unmappable = builder()
        .lanes([LaneThreads::new(Priority(100), 1)])
        .scheduling(Scheduling::Fifo)
        .mapping(DirectMapping)
        .build()
        .unwrap_err();
    assert_eq!(
        unmappable.to_string(),
        "priority 100 maps to no native priority of SCHED_FIFO; another mapping may have one"
    );
    let cpus = builder().cpus([1_000_000]).build().unwrap_err();
    assert!(matches!(cpus, BuildError::Cpus { .. }), "{cpus}");
    let cpus = builder().cpus([1023]).build().unwrap_err();
    assert!(matches!(cpus, BuildError::Cpus { .. }), "{cpus}");
    let queue = builder().queue_capacity(usize::MAX).build().unwrap_err();
    assert!(matches!(queue, BuildError::QueueTooLarge(usize::MAX)));
}

#[test]
fn threads_run_on_the_cpus_of_their_pool() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let cpu = (0..rustix::thread::CpuSet::MAX_CPU)
        .find(|cpu| allowed.is_set(*cpu))
        .unwrap();
    let pool = WorkerPool::builder()
        .lane(&runtime)
        .threads(1)
        .cpus([cpu])
        .build()
        .unwrap();
    let (seen, sees) = mpsc::channel();
    let job = async move {
        seen.send(rustix::thread::sched_getaffinity(None).unwrap())
            .unwrap();
    };
    pool.try_submit(Priority::default(), Job::new(job)).unwrap();
    let set = sees.recv().unwrap();
    assert_eq!((set.count(), set.is_set(cpu)), (1, true));
}
