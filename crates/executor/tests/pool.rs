//! A worker pool: order, bounds, panics, and the end.
use std::{
    io::ErrorKind,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, SyncSender, channel, sync_channel},
    },
    thread,
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use zorb_executor::{
    BuildError, Job, Lane, LaneError, Priority, RejectReason, Submission, WorkerPool, blocking,
};

#[test]
fn jobs_run_by_priority_and_then_in_order_of_arrival() {
    let check = |priorities: &[i16], expected: &[usize]| {
        let lane = Lane::dedicated("lane").unwrap();
        let pool = pool(&lane, 1, 16);
        let gate = Gate::hold(&pool);
        let trace = Trace::default();
        for (number, priority) in priorities.iter().enumerate() {
            pool.try_submit(Priority(*priority), trace.entry(number))
                .unwrap();
        }
        gate.open();
        drop(pool);
        assert_eq!(trace.read(), expected);
    };
    check(&[0, 0, 0, 0], &[0, 1, 2, 3]);
    check(&[1, 2, 3, 4], &[3, 2, 1, 0]);
    check(&[0, 7, 0, 7, -1, 7], &[1, 3, 5, 0, 2, 4]);
    check(&[i16::MIN, 0, i16::MAX], &[2, 1, 0]);
}

#[test]
fn a_full_queue_gives_the_job_back() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 1, 2);
    let gate = Gate::hold(&pool);
    let trace = Trace::default();
    for number in 0..2 {
        pool.try_submit(Priority::default(), trace.entry(number))
            .unwrap();
    }
    // However urgent: what waits already is not thrown out.
    let rejected = pool
        .try_submit(Priority(i16::MAX), trace.entry(2))
        .unwrap_err();
    assert_eq!(rejected.reason(), RejectReason::Full);
    assert_eq!(rejected.to_string(), "the queue of the worker pool is full");
    lane.handle().block_on(rejected.into_job());
    gate.open();
    drop(pool);
    assert_eq!(trace.read(), [2, 0, 1]);
}

#[test]
fn there_is_room_again_when_a_job_has_been_taken() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 1, 1);
    let gate = Gate::hold(&pool);
    let (taken, is_taken) = channel();
    let first = async move { taken.send(()).unwrap() };
    pool.try_submit(Priority::default(), Job::new(first))
        .unwrap();
    let trace = Trace::default();
    let rejected = pool
        .try_submit(Priority::default(), trace.entry(0))
        .unwrap_err();
    gate.open();
    is_taken.recv().unwrap();
    pool.try_submit(Priority::default(), rejected.into_job())
        .unwrap();
    drop(pool);
    assert_eq!(trace.read(), [0]);
}

#[test]
fn as_many_jobs_run_at_once_as_there_are_threads() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 3, 16);
    // None of them ends before all have begun.
    let barrier = Arc::new(std::sync::Barrier::new(3));
    for _ in 0..3 {
        let barrier = Arc::clone(&barrier);
        pool.try_submit(
            Priority::default(),
            Job::new(async move {
                barrier.wait();
            }),
        )
        .unwrap();
    }
    drop(pool);
    assert_eq!(Arc::strong_count(&barrier), 1);
}

#[test]
fn a_blocked_job_does_not_stop_its_lane() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 1, 1);
    let gate = Gate::hold(&pool);
    let task = lane.spawn(async { 6 * 7 });
    assert_eq!(lane.handle().block_on(task).unwrap(), 42);
    gate.open();
}

#[test]
fn a_job_awaits_sockets_that_the_lane_drives() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 2, 2);
    let (address, listens) = channel();
    let (accepted, was_accepted) = channel();
    let server = async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        address.send(listener.local_addr().unwrap()).unwrap();
        accepted.send(listener.accept().await.is_ok()).unwrap();
    };
    pool.try_submit(Priority::default(), Job::new(server))
        .unwrap();
    let address = listens.recv().unwrap();
    let client = async move { drop(TcpStream::connect(address).await.unwrap()) };
    pool.try_submit(Priority::default(), Job::new(client))
        .unwrap();
    assert_eq!(was_accepted.recv(), Ok(true));
}

#[test]
fn workers_have_names_and_are_inside_their_lane() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = WorkerPool::builder()
        .lane(&lane)
        .name("upcall")
        .threads(1)
        .build()
        .unwrap();
    let (tell, receiver) = channel();
    let job = async move {
        let name = thread::current().name().map(str::to_owned);
        tell.send((name, Lane::current().unwrap().id())).unwrap();
    };
    pool.try_submit(Priority::default(), Job::new(job)).unwrap();
    assert_eq!(
        receiver.recv().unwrap(),
        (Some("upcall-0".into()), lane.id())
    );
}

#[test]
fn a_job_that_panics_takes_no_worker_with_it() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 1, 16);
    let trace = Trace::default();
    for number in 0..3 {
        pool.try_submit(
            Priority::default(),
            Job::new(async { panic!("a servant gone wrong") }),
        )
        .unwrap();
        pool.try_submit(Priority::default(), trace.entry(number))
            .unwrap();
    }
    drop(pool);
    assert_eq!(trace.read(), [0, 1, 2]);
}

#[test]
fn the_last_owner_waits_until_the_queue_is_drained() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 2, 1000);
    let trace = Trace::default();
    let other = pool.clone();
    let gates = [Gate::hold(&pool), Gate::hold(&pool)];
    for number in 0..1000 {
        pool.try_submit(Priority::default(), trace.entry(number))
            .unwrap();
    }
    // Not the last, so it does not wait: nothing could run.
    drop(pool);
    assert_eq!(trace.read(), []);
    for gate in gates {
        gate.open();
    }
    drop(other);
    assert_eq!(trace.read().len(), 1000);
}

#[tokio::test]
async fn shutdown_waits_for_the_queue_and_refuses_from_then_on() {
    let pool = WorkerPool::builder()
        .threads(1)
        .queue_capacity(16)
        .build()
        .unwrap();
    let gate = Gate::hold(&pool);
    let trace = Trace::default();
    // Jobs that get on only while this very thread runs the reactor and its tasks.
    let (tell, receiver) = oneshot::channel();
    let first = trace.entry(0);
    let waits = async move {
        receiver.await.unwrap();
        first.await;
    };
    pool.try_submit(Priority::default(), Job::new(waits))
        .unwrap();
    pool.try_submit(Priority::default(), trace.entry(1))
        .unwrap();
    let closing = tokio::spawn({
        let pool = pool.clone();
        async move { pool.shutdown().await }
    });
    tokio::task::yield_now().await;
    let rejected = pool
        .try_submit(Priority::default(), trace.entry(2))
        .unwrap_err();
    assert_eq!(rejected.reason(), RejectReason::Closed);
    assert_eq!(rejected.to_string(), "the worker pool was shut down");
    gate.open();
    tell.send(()).unwrap();
    closing.await.unwrap();
    // Again, by two callers at once.
    tokio::join!(pool.shutdown(), pool.shutdown());
    assert_eq!(trace.read(), [0, 1]);
}

#[tokio::test]
async fn dropped_inside_a_runtime_the_pool_drains_by_itself() {
    let pool = WorkerPool::builder()
        .threads(1)
        .queue_capacity(16)
        .build()
        .unwrap();
    let (tell, receiver) = oneshot::channel();
    let (end, ended) = oneshot::channel();
    // It needs this thread after the pool was dropped by it; to wait here would be for ever.
    let job = async move {
        receiver.await.unwrap();
        end.send(()).unwrap();
    };
    pool.try_submit(Priority::default(), Job::new(job)).unwrap();
    drop(pool);
    tell.send(()).unwrap();
    ended.await.unwrap();
}

#[test]
fn a_job_may_shut_its_own_pool_down() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 1, 16);
    let gate = Gate::hold(&pool);
    let trace = Trace::default();
    let own = pool.clone();
    pool.try_submit(
        Priority::default(),
        Job::new(async move { own.shutdown().await }),
    )
    .unwrap();
    pool.try_submit(Priority::default(), trace.entry(0))
        .unwrap();
    gate.open();
    lane.handle().block_on(pool.shutdown());
    assert_eq!(trace.read(), [0]);
}

#[test]
fn a_job_may_be_the_last_owner_of_its_own_pool() {
    let check = |job: fn(WorkerPool)| {
        let lane = Lane::dedicated("lane").unwrap();
        let pool = pool(&lane, 1, 16);
        let gate = Gate::hold(&pool);
        let own = pool.clone();
        pool.try_submit(Priority::default(), Job::new(async move { job(own) }))
            .unwrap();
        let (end, ended) = channel();
        let last = async move { end.send(()).unwrap() };
        pool.try_submit(Priority::default(), Job::new(last))
            .unwrap();
        drop(pool);
        gate.open();
        ended.recv().unwrap();
    };
    check(drop);
    // The panic's message outlives the job, and goes when the worker is outside the runtime again.
    check(|pool| std::panic::panic_any(pool));
}

#[test]
fn a_description_that_makes_no_sense_is_refused() {
    let lane = Lane::dedicated("lane").unwrap();
    let builder = || WorkerPool::builder().lane(&lane);
    let check = |result: Result<WorkerPool, BuildError>, expected: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.to_string(), expected);
        // Where an I/O error is wanted, its kind says what is wrong, and the cause stays reachable.
        let error = std::io::Error::from(error);
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.get_ref().unwrap().is::<BuildError>());
    };
    check(
        builder().threads(0).build(),
        "expected at least one static thread, found 0",
    );
    check(
        builder().name("a\0b").build(),
        "a thread name cannot contain NUL",
    );
    let error = WorkerPool::builder().build().unwrap_err();
    assert!(matches!(error, BuildError::Lane(LaneError::NoRuntime)));
}

#[test]
fn a_pool_without_a_queue_refuses_what_no_thread_is_free_for() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = WorkerPool::builder()
        .lane(&lane)
        .threads(1)
        .queue_capacity(0)
        .build()
        .unwrap();
    let gate = Gate::hold(&pool);
    let rejected = pool
        .try_submit(Priority::default(), Job::new(async {}))
        .unwrap_err();
    assert_eq!(rejected.reason(), RejectReason::Full);
    gate.open();
}

#[test]
fn pools_cross_threads() {
    fn check<T: Send + Sync>() {}
    check::<WorkerPool>();
    check::<Lane>();
    check::<zorb_executor::Dispatch>();
}

#[test]
fn any_future_is_spawned_on_a_pool_and_its_result_comes_back() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 1, 1);
    let sum = pool.spawn(Priority::default(), async { 6 * 7 }).unwrap();
    assert_eq!(lane.handle().block_on(sum), Ok(42));
    let panics = async { panic!("a future gone wrong") };
    let panicked = pool.spawn(Priority::default(), panics).unwrap();
    let error = lane.handle().block_on::<_>(async move {
        let result: Result<(), _> = panicked.await;
        result.unwrap_err()
    });
    assert_eq!(
        error.to_string(),
        "the future panicked on its thread of the worker pool"
    );
    let gate = Gate::hold(&pool);
    let queued = pool.spawn(Priority::default(), async {}).unwrap();
    let refused = pool.spawn(Priority::default(), async {}).unwrap_err();
    assert_eq!(refused, RejectReason::Full);
    gate.open();
    assert_eq!(lane.handle().block_on(queued), Ok(()));
}

#[tokio::test]
async fn submitters_that_wait_for_room_get_it_by_urgency() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 1, 1);
    let gate = Gate::hold(&pool);
    let trace = Trace::default();
    pool.try_submit(Priority::default(), trace.entry(0))
        .unwrap();
    let mut waiting = Vec::new();
    for (number, priority) in [(1, 1), (2, 5), (3, 3)] {
        let (pool, job) = (pool.clone(), trace.entry(number));
        waiting.push(tokio::spawn(async move {
            let submission = Submission::new(Priority(priority), job);
            pool.submit_when_free(submission).await.unwrap();
        }));
    }
    // One that goes away leaves its place to the others.
    let gone = pool.submit_when_free(Submission::new(Priority(9), trace.entry(9)));
    tokio::select! {
        biased;
        _ = gone => panic!("the queue is full"),
        () = tokio::task::yield_now() => {}
    }
    gate.open();
    for waits in waiting {
        waits.await.unwrap();
    }
    pool.shutdown().await;
    assert_eq!(trace.read(), [0, 2, 3, 1]);
    let closed = pool.submit_when_free(Submission::new(Priority(1), trace.entry(4)));
    assert_eq!(closed.await.unwrap_err().reason(), RejectReason::Closed);
}

#[tokio::test]
async fn a_request_that_never_fits_does_not_wait_for_room() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = WorkerPool::builder()
        .lane(&lane)
        .threads(1)
        .queue_octets(100)
        .build()
        .unwrap();
    let gate = Gate::hold(&pool);
    let submission = Submission {
        octets: 101,
        ..Submission::new(Priority::default(), Job::new(async {}))
    };
    let refused = pool.submit_when_free(submission).await.unwrap_err();
    assert_eq!(refused.reason(), RejectReason::Full);
    // Pools close while submitters wait.
    let full = Submission {
        octets: 100,
        ..Submission::new(Priority::default(), Job::new(async {}))
    };
    pool.submit(full).unwrap();
    let waits = tokio::spawn({
        let pool = pool.clone();
        async move {
            let submission = Submission {
                octets: 1,
                ..Submission::new(Priority::default(), Job::new(async {}))
            };
            pool.submit_when_free(submission).await
        }
    });
    tokio::task::yield_now().await;
    let closing = tokio::spawn({
        let pool = pool.clone();
        async move { pool.shutdown().await }
    });
    let refused = waits.await.unwrap().unwrap_err();
    assert_eq!(refused.reason(), RejectReason::Closed);
    gate.open();
    closing.await.unwrap();
}

#[tokio::test]
async fn a_pool_without_a_queue_takes_the_request_of_a_waiting_submitter_when_a_thread_is_idle() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 1, 0);
    let trace = Trace::default();
    for number in 0..100 {
        let submission = Submission::new(Priority::default(), trace.entry(number));
        pool.submit_when_free(submission).await.unwrap();
    }
    pool.shutdown().await;
    assert_eq!(trace.read(), (0..100).collect::<Vec<_>>());
}

#[test]
fn a_lane_goes_on_while_its_only_thread_is_in_a_blocking_section() {
    let lane = Lane::dedicated("lane").unwrap();
    let pool = pool(&lane, 1, 16);
    let gate = Gate::hold(&pool);
    let (open, opened): (_, Receiver<()>) = sync_channel(1);
    let blocks = pool.spawn(
        Priority::default(),
        async move { blocking(|| opened.recv()) },
    );
    // Queued behind the one that blocks, it opens the way for it.
    let frees = pool.spawn(Priority::default(), async move { open.send(()).unwrap() });
    gate.open();
    assert_eq!(lane.handle().block_on(blocks.unwrap()), Ok(Ok(())));
    assert_eq!(lane.handle().block_on(frees.unwrap()), Ok(()));
    drop(pool);
    // Elsewhere it just runs the section.
    assert_eq!(blocking(|| 42), 42);
    assert_eq!(lane.handle().block_on(async { blocking(|| 42) }), 42);
}

fn pool(lane: &Lane, threads: usize, queue_capacity: usize) -> WorkerPool {
    WorkerPool::builder()
        .lane(lane)
        .threads(threads)
        .queue_capacity(queue_capacity)
        .build()
        .unwrap()
}

/// A job that blocks its worker until the gate is opened.
struct Gate(SyncSender<()>);

impl Gate {
    /// Returns when a worker stands before the gate.
    fn hold(pool: &WorkerPool) -> Self {
        let (open, opened): (_, Receiver<()>) = sync_channel(1);
        let (stand, stands) = channel();
        let job = async move {
            stand.send(()).unwrap();
            // An error is a gate that was dropped, which opens it too.
            let _ = opened.recv();
        };
        pool.try_submit(Priority::default(), Job::new(job)).unwrap();
        stands.recv().unwrap();
        Self(open)
    }

    fn open(self) {
        self.0.send(()).unwrap();
    }
}

/// Which jobs ran, in order.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<Vec<usize>>>);

impl Trace {
    fn entry(&self, number: usize) -> Job {
        let trace = Arc::clone(&self.0);
        Job::new(async move { trace.lock().unwrap().push(number) })
    }

    fn read(&self) -> Vec<usize> {
        self.0.lock().unwrap().clone()
    }
}
