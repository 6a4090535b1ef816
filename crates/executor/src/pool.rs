//! Half-sync/half-async: a bounded, ordered queue and plain threads that empty it.
use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    error::Error,
    fmt, io, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use tokio::{runtime::Handle, sync::watch};

use crate::{Lane, LaneError};

/// A piece of work: a future that one worker drives to its end.
pub type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Which of two waiting jobs goes first: the one with the *higher* number. The default is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(pub i16);

/// A bounded queue of jobs and the threads that run them: highest [`Priority`] first, and first come first served
/// within one.
///
/// Each worker is a plain thread that enters the lane's runtime and drives one job at a time to its end, so a job may
/// block or compute for as long as it likes: it takes up one worker, and harms nobody else. What a job awaits is
/// driven elsewhere: sockets and timers by the lane's own reactor, **which somebody must be running**. A
/// current-thread runtime's is driven by its own thread alone, so while that thread is blocked (or after it has ended)
/// no job's socket or timer gets on. The pool does not keep its lane alive.
///
/// A job that panics ends; its worker goes on. The panic is reported by the panic hook, as for any thread.
///
/// Cloning is cheap, and a clone is the same pool. When the last clone is dropped the pool takes no more jobs, runs
/// those that are queued, and ends its threads. The dropping thread waits for that unless it is inside a runtime
/// (jobs may need just that thread to get on) or one of the workers; async code that wants to wait calls
/// [`shutdown`](Self::shutdown).
#[derive(Clone)]
pub struct WorkerPool {
    owner: Arc<Owner>,
}

impl WorkerPool {
    /// Starts to describe a pool.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Queues a job, unless there is no room.
    ///
    /// Allocates nothing; takes the pool's lock for a moment. Safe to call from anywhere, the workers included.
    ///
    /// # Errors
    /// [`Rejected`] gives the job back when the queue is full, or the pool was shut down.
    pub fn try_submit(&self, priority: Priority, job: Job) -> Result<(), Rejected> {
        let shared = &self.owner.shared;
        let mut queue = shared.lock();
        if !queue.open {
            return Err(Rejected {
                job,
                reason: RejectReason::Closed,
            });
        }
        if queue.jobs.len() >= queue.capacity {
            return Err(Rejected {
                job,
                reason: RejectReason::Full,
            });
        }
        let turn = Reverse(queue.next_turn);
        // At a job a nanosecond it would take five centuries to come round.
        queue.next_turn = queue.next_turn.wrapping_add(1);
        queue.jobs.push(Entry {
            priority,
            turn,
            job,
        });
        drop(queue);
        shared.work.notify_one();
        Ok(())
    }

    /// Takes no more jobs, and is done when all those queued have run and the threads have ended.
    ///
    /// Called by one of the pool's own jobs it does not wait, since that would be for itself.
    ///
    /// # Cancel safety
    /// The pool is closed as soon as this was polled once, and winds up whether or not anybody waits.
    pub async fn shutdown(&self) {
        self.owner.shared.close();
        if self.owner.runs_on_this_thread() {
            return;
        }
        let mut workers = self.owner.shared.workers.subscribe();
        // The sender lives as long as we do.
        let _ = workers.wait_for(|alive| *alive == 0).await;
        // They have done their last work, and end without waiting for anything.
        self.owner.join();
    }
}

impl fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.owner.shared.lock();
        f.debug_struct("WorkerPool")
            .field("queued", &queue.jobs.len())
            .field("queue_capacity", &queue.capacity)
            .field("open", &queue.open)
            .finish_non_exhaustive()
    }
}

/// Describes a [`WorkerPool`]: four threads called `worker-0` and so on, a queue of 1,024 jobs, and the runtime that
/// [`build`](Self::build) is called in, unless told otherwise.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    threads: usize,
    queue_capacity: usize,
    name: String,
    lane: Option<Handle>,
}

impl Builder {
    /// How many threads, and so how many jobs run at once; at least 1.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// How many jobs wait at most, those that are running not counted; at least 1. Room for all is allocated at the
    /// start.
    pub fn queue_capacity(self, jobs: usize) -> Self {
        Self {
            queue_capacity: jobs,
            ..self
        }
    }

    /// What the threads are called; each gets a number behind it. (Linux shows 15 octets of it.)
    pub fn name(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// Whose runtime the workers enter.
    pub fn lane(self, lane: &Lane) -> Self {
        Self {
            lane: Some(lane.handle().clone()),
            ..self
        }
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// `InvalidInput` when there are to be no threads or no queue, or a name has NUL in it; an error that holds
    /// [`LaneError::NoRuntime`] outside any runtime when no lane was given; whatever the operating system says when it
    /// has no more threads (those started already end again).
    pub fn build(self) -> io::Result<WorkerPool> {
        let invalid = |message| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        if self.threads == 0 {
            return invalid("expected at least one thread, found 0");
        }
        if self.queue_capacity == 0 {
            return invalid("expected a queue of at least one job, found 0");
        }
        if self.name.contains('\0') {
            return invalid("a thread name cannot contain NUL");
        }
        let handle = match self.lane {
            Some(handle) => handle,
            None => Handle::try_current().map_err(|_| io::Error::other(LaneError::NoRuntime))?,
        };
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                jobs: BinaryHeap::with_capacity(self.queue_capacity),
                capacity: self.queue_capacity,
                next_turn: 0,
                open: true,
            }),
            work: Condvar::new(),
            workers: watch::Sender::new(0),
        });
        // From here on an early return drops the owner, which ends the threads that there are.
        let owner = Owner {
            shared,
            threads: Mutex::default(),
        };
        for number in 0..self.threads {
            let worker = Worker::new(Arc::clone(&owner.shared), handle.clone());
            let thread = thread::Builder::new()
                .name(format!("{}-{number}", self.name))
                .spawn(move || worker.run())?;
            lock(&owner.threads).push(thread);
        }
        Ok(WorkerPool {
            owner: Arc::new(owner),
        })
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            threads: 4,
            queue_capacity: 1024,
            name: "worker".into(),
            lane: None,
        }
    }
}

/// A job that was not queued, and why.
pub struct Rejected {
    job: Job,
    reason: RejectReason,
}

impl Rejected {
    /// Why.
    #[must_use]
    pub const fn reason(&self) -> RejectReason {
        self.reason
    }

    /// The job, untouched.
    #[must_use]
    pub fn into_job(self) -> Job {
        self.job
    }
}

impl fmt::Debug for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected")
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            RejectReason::Full => "the queue of the worker pool is full",
            RejectReason::Closed => "the worker pool was shut down",
        })
    }
}

impl Error for Rejected {}

/// Why a job was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectReason {
    /// As many jobs wait as may: an overload, which passes.
    Full,
    /// The pool was shut down, for good.
    Closed,
}

/// What all clones of a pool hold together.
struct Owner {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Owner {
    fn runs_on_this_thread(&self) -> bool {
        let this = thread::current().id();
        lock(&self.threads)
            .iter()
            .any(|thread| thread.thread().id() == this)
    }

    fn join(&self) {
        let threads = mem::take(&mut *lock(&self.threads));
        for thread in threads {
            // Workers do not panic; jobs do, and are caught.
            let _ = thread.join();
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.close();
        if Handle::try_current().is_err() && !self.runs_on_this_thread() {
            self.join();
        }
    }
}

/// What clones and workers share.
struct Shared {
    queue: Mutex<Queue>,
    /// Told of each new job, and of the end.
    work: Condvar,
    /// How many workers there are; 0 again at the end.
    workers: watch::Sender<usize>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    fn close(&self) {
        self.lock().open = false;
        self.work.notify_all();
    }

    /// The next job in order; `None` once there is none and never will be.
    fn next_job(&self) -> Option<Job> {
        let queue = self.lock();
        let mut queue = self
            .work
            .wait_while(queue, |queue| queue.open && queue.jobs.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        queue.jobs.pop().map(|entry| entry.job)
    }
}

struct Queue {
    jobs: BinaryHeap<Entry>,
    capacity: usize,
    next_turn: u64,
    open: bool,
}

/// The greatest entry goes first: higher priority, then earlier turn.
struct Entry {
    priority: Priority,
    turn: Reverse<u64>,
    job: Job,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.priority, self.turn).cmp(&(other.priority, other.turn))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

/// One thread's part. Counts as alive from before its thread is started until it is dropped.
struct Worker {
    shared: Arc<Shared>,
    handle: Handle,
}

impl Worker {
    fn new(shared: Arc<Shared>, handle: Handle) -> Self {
        shared.workers.send_modify(|alive| *alive += 1);
        Self { shared, handle }
    }

    fn run(self) {
        while let Some(job) = self.shared.next_job() {
            // The job is used up by the call, so nobody can see what a panic left of it.
            let _ = catch_unwind(AssertUnwindSafe(|| self.handle.block_on(job)));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.workers.send_modify(|alive| *alive -= 1);
    }
}

/// Nothing of ours panics under these locks, so poison would mean nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
