//! The lock with priority inheritance, as the kernel shows it.
#![cfg(target_os = "linux")]
use std::{
    fs,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use zorb_executor::{
    BuildError, DirectMapping, Job, Lane, LaneThreads, Priority, RtMutex, Scheduling, WorkerPool,
};

#[test]
fn one_thread_at_a_time_is_inside() {
    let mutex = RtMutex::new(0_u64);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    *mutex.lock() += 1;
                }
            });
        }
    });
    assert_eq!(mutex.into_inner(), 40_000);
}

#[test]
fn a_bounded_wait_ends_without_the_lock() {
    let mutex = RtMutex::new(());
    let guard = mutex.lock();
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let at_once = mutex.try_lock().is_some();
            let later = mutex.try_lock_for(Duration::from_millis(5)).is_some();
            (at_once, later)
        });
        assert_eq!(waits.join().unwrap(), (false, false));
    });
    drop(guard);
    assert!(mutex.try_lock().is_some());
    assert!(mutex.try_lock_for(Duration::from_millis(5)).is_some());
}

#[test]
fn the_thread_that_holds_the_lock_neither_gets_it_again_nor_waits_for_itself() {
    let mutex = RtMutex::new(());
    let guard = mutex.lock();
    assert!(mutex.try_lock().is_none());
    // Longer than any test takes.
    assert!(mutex.try_lock_for(Duration::from_secs(86_400)).is_none());
    let again = std::panic::AssertUnwindSafe(|| drop(mutex.lock()));
    assert!(std::panic::catch_unwind(again).is_err());
    drop(guard);
    drop(mutex.lock());
}

/// The priority that the scheduler goes by, inheritance included: `priority` of `/proc/…/stat`, -1 - p for a real-time
/// priority of p (`proc_pid_stat(5)`).
fn effective_priority(thread: rustix::process::Pid) -> i32 {
    let stat =
        fs::read_to_string(format!("/proc/self/task/{}/stat", thread.as_raw_nonzero())).unwrap();
    // Behind the name in parentheses, the state is field 3 and the priority field 18.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let priority: i32 = fields.split(' ').nth(18 - 3).unwrap().parse().unwrap();
    -1 - priority
}

#[test]
fn the_holder_inherits_the_priority_of_a_waiting_thread() {
    let runtime = Lane::dedicated("runtime").unwrap();
    let (low, high) = (Priority(10), Priority(30));
    let pool = WorkerPool::builder()
        .lane(&runtime)
        .lanes([LaneThreads::new(low, 1), LaneThreads::new(high, 1)])
        .scheduling(Scheduling::Fifo)
        .mapping(DirectMapping)
        .build();
    let pool = match pool {
        Ok(pool) => pool,
        Err(BuildError::Scheduling { source, .. }) => {
            assert_eq!(source.kind(), std::io::ErrorKind::PermissionDenied);
            eprintln!("skipped: {source}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let mutex = Arc::new(RtMutex::new(()));
    let (locked, is_locked) = mpsc::channel();
    let (open, opens) = mpsc::channel::<()>();
    let holder = {
        let mutex = Arc::clone(&mutex);
        async move {
            let guard = mutex.lock();
            locked.send(rustix::thread::gettid()).unwrap();
            opens.recv().unwrap();
            drop(guard);
            locked.send(rustix::thread::gettid()).unwrap();
        }
    };
    pool.try_submit(low, Job::new(holder)).unwrap();
    let holder = is_locked.recv().unwrap();
    assert_eq!(effective_priority(holder), 10);
    let (entered, enters) = mpsc::channel();
    let waiter = async move {
        drop(mutex.lock());
        entered.send(()).unwrap();
    };
    pool.try_submit(high, Job::new(waiter)).unwrap();
    // The test's own time limit ends it where the kernel never raises the holder.
    while effective_priority(holder) != 30 {
        thread::yield_now();
    }
    open.send(()).unwrap();
    enters.recv().unwrap();
    assert_eq!(is_locked.recv().unwrap(), holder);
    assert_eq!(effective_priority(holder), 10);
}
