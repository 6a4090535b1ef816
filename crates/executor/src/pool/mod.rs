//! Half-sync/half-async: bounded, ordered queues and plain threads that empty them, with or without lanes.
use std::{
    error::Error,
    fmt,
    sync::{Arc, mpsc},
    time::Instant,
};

use tokio::runtime::Handle;
use zorb_shares::Client;

use crate::{
    Priority,
    error::{BuildError, MAX_THREADS},
};

mod builder;
mod job;
mod lanes;
#[cfg(zorb_model)]
#[path = "../../models/tests/queue.rs"]
mod models;
mod queue;
mod spawned;
mod worker;

pub use builder::{Builder, LaneThreads};
pub use job::Job;
pub use lanes::{LaneCounters, RejectReason};
use lanes::{Refused, Request};
use queue::Submitted;
pub use spawned::{SpawnError, Spawned};
use worker::Shared;
pub use worker::{blocking, current_priority};

/// Threads that run requests, and bounded queues of the requests that no thread is free for (Real-time CORBA 1.2,
/// section
/// 5.8, "Thread Pools").
///
/// Each thread enters the runtime of its lane and drives one job at a time to its end. So a job may block or compute
/// for any time: it occupies one thread, and delays nothing else. The futures that a job awaits are driven elsewhere:
/// sockets and timers by the runtime's own reactor, **which has to be running**. A current-thread runtime's is driven
/// by its own thread alone, so while that thread is blocked (or after it has ended) no job's socket or timer makes
/// progress. The pool does not keep its runtime alive.
///
/// A job that panics ends; its thread goes on. The panic is reported by the panic hook, as for any thread.
///
/// # Order
/// A queue orders its requests by [`Priority`], then by deadline (the earliest first, and all of them before requests
/// without one), then by arrival. First come, first served keeps a pool with more clients than threads fair.
///
/// # Lanes
/// ```text
///                       lane 30 ┌──────────┐   ┌────────┐ ┌────────┐
///  Submission ──priority──┬────▶│  queue   │──▶│ thread │ │ thread │ ◀─┐ borrowed: an idle thread of a lower lane,
///                         │     └──────────┘   └────────┘ └────────┘   │ at the priority of the request
///                         │     lane 10 ┌──────────┐   ┌────────┐      │
///                         └────────────▶│  queue   │──▶│ thread │ ─────┘
///                                       └──────────┘   └────────┘
/// ```
/// With [`Builder::lanes`] a request goes to the lane of exactly its priority, and is refused where there is none. A
/// lane without an idle thread starts a dynamic one if it may, then [borrows](Builder::borrowing) one of a lower lane
/// if it may, then queues, then refuses. Without lanes, all requests share one queue, and with a real-time
/// [`Scheduling`](crate::Scheduling) a thread takes the priority of each request before it runs it.
///
/// # Life of a thread
/// ```text
///   build ──1──▶ idle ──2──▶ running ──3──▶ running the next
///                 ▲ │         │  ▲ └──4──▶ idle
///                 │ 5         6  7
///    dynamic, ────┘ ▼         ▼  │
///    with its      ended     blocked (the lane may run another thread meanwhile)
///    request: 2
/// ```
/// | | transition | where it is decided |
/// |---|---|---|
/// | 1 | a static thread has its scheduling, its CPUs and its runtime | [`Builder::build`], which fails if one has not |
/// | 2 | a request of the lane comes, or, if the thread is borrowed, of a lane above it | [`submit`](Self::submit): the thread that became idle last |
/// | 3 | the most urgent request that waits in the thread's own lane; a borrowed thread has its own priority again | when the request before has ended |
/// | 4 | none waits | when the request before has ended |
/// | 5 | a dynamic thread was idle for [`idle_timeout`](Builder::idle_timeout), or its lane has one too many; any thread of a pool that has ended | the thread itself |
/// | 6, 7 | a [`blocking`](crate::blocking) section begins, and ends | the request |
///
/// # End
/// A clone is the same pool, and costs a reference count. When the last clone is dropped the pool takes no more jobs,
/// runs those that are queued, and ends its threads. The dropping thread waits for that unless it is inside a runtime
/// (jobs may need just that thread to make progress) or one of the pool's; async code waits by
/// [`shutdown`](Self::shutdown).
#[derive(Clone)]
pub struct WorkerPool {
    owner: Arc<Owner>,
}

impl WorkerPool {
    /// The largest number of threads of a pool: static and dynamic ones of all lanes together.
    pub const MAX_THREADS: usize = MAX_THREADS;

    /// Returns a builder of a pool, for its lanes, threads, queue and scheduling.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Starts the static threads, and waits until each of them is ready.
    fn start(shared: Shared) -> Result<Self, BuildError> {
        // From here on an early return drops the owner, which ends the threads that were started.
        let owner = Owner {
            shared: Arc::new(shared),
        };
        let workers: Vec<_> = owner.shared.queue.lock().lanes.workers().collect();
        let (started, ready) = mpsc::sync_channel(workers.len());
        for worker in workers {
            worker::start(&owner.shared, worker, Some(started.clone()))
                .map_err(BuildError::Thread)?;
        }
        drop(started);
        for result in ready {
            result?;
        }
        Ok(Self {
            owner: Arc::new(owner),
        })
    }

    /// Makes a job for this pool, in the box of one that has ended here, if that had a future of the same type; else in
    /// a new box. Takes the pool's lock for a moment.
    pub fn job(&self, future: impl Future<Output = ()> + Send + 'static) -> Job {
        Job::renew(self.owner.shared.queue.take_used(), future)
    }

    /// Submits a job without a deadline that takes no room in octets.
    ///
    /// # Errors
    /// Returns the errors of [`submit`](Self::submit).
    pub fn try_submit(&self, priority: Priority, job: Job) -> Result<(), Rejected> {
        self.submit(Submission::new(priority, job))
    }

    /// Assigns a request to a thread, or queues it where there is room.
    ///
    /// Takes the pool's lock for a moment and wakes one thread at most; starts a thread where a dynamic one is due.
    /// Allocates nothing else. Safe to call from anywhere, the pool's own threads included.
    ///
    /// # Errors
    /// [`Rejected`] returns the job when no thread is free and the queue is full, or the share of the client's host in it is
    /// taken, when no lane has its priority, when
    /// its priority has no native one, or when the pool was shut down.
    pub fn submit(&self, submission: Submission) -> Result<(), Rejected> {
        let request = self.request(submission)?;
        self.owner.shared.submit(request).map_err(Rejected::from)
    }

    /// Assigns a request to a thread or to the queue, and waits until there is room for it. It is for submitters that
    /// read no further input meanwhile. Of several that wait, the most urgent request goes first; one that comes by
    /// [`submit`](Self::submit) meanwhile may take the room before it. Each try takes the pool's lock, and a request
    /// that waits allocates once.
    ///
    /// # Errors
    /// Returns the errors of [`submit`](Self::submit), but [`RejectReason::Full`] only for a request that takes more
    /// octets than the queue ever has for its lane.
    ///
    /// # Cancel safety
    /// A request that has no room yet is dropped.
    pub async fn submit_when_free(&self, submission: Submission) -> Result<(), Rejected> {
        let mut request = self.request(submission)?;
        let shared = &self.owner.shared;
        let mut key = None;
        loop {
            match shared.queue.submit_or_wait(request, &mut key) {
                Submitted::Taken(None) => return Ok(()),
                Submitted::Taken(Some(worker)) => {
                    return shared.start_dynamic(worker).map_err(Rejected::from);
                }
                Submitted::Refused(refused) => return Err(refused.into()),
                Submitted::Waits(back, ticket) => {
                    request = back;
                    ticket.called().await;
                }
            }
        }
    }

    /// Runs any future on a thread of a lane, and returns its result to the caller. Allocates for the result, and for
    /// the job unless the pool has a [box](Self::job) for it.
    ///
    /// # Errors
    /// The reason why the pool does not take it, as for [`submit`](Self::submit).
    pub fn spawn<F>(
        &self,
        priority: Priority,
        future: F,
    ) -> Result<Spawned<F::Output>, RejectReason>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let (job, spawned) = spawned::job(future);
        self.try_submit(priority, self.job(job))
            .map_err(|rejected| rejected.reason())?;
        Ok(spawned)
    }

    fn request(&self, submission: Submission) -> Result<Request<Job>, Rejected> {
        let Submission {
            priority,
            deadline,
            octets,
            client,
            job,
        } = submission;
        if !self.owner.shared.threads.native.admits(priority) {
            return Err(Rejected {
                job,
                reason: RejectReason::Unmappable,
            });
        }
        Ok(Request {
            priority,
            deadline,
            octets,
            client,
            work: job,
        })
    }

    /// Statistics and queue of each lane, in ascending order of priority; one entry for a pool without lanes.
    ///
    /// The numbers are of one point in time. Takes the pool's lock, and allocates.
    #[must_use]
    pub fn counters(&self) -> Vec<LaneCounters> {
        self.owner.shared.queue.lock().lanes.counters()
    }

    /// Takes no more jobs, and completes when all those queued have run and the threads have ended.
    ///
    /// Within one of the pool's own jobs it does not wait, since the job would deadlock.
    ///
    /// # Cancel safety
    /// The pool is closed as soon as the future was polled once, and ends whether or not the future is polled again.
    pub async fn shutdown(&self) {
        self.owner.shared.queue.close();
        if self.owner.shared.queue.runs_on_this_thread() {
            return;
        }
        let mut alive = self.owner.shared.alive.subscribe();
        // The sender lives as long as this pool.
        let _ = alive.wait_for(|alive| *alive == 0).await;
        // The threads have done their last work, and end without a wait.
        self.owner.join();
    }
}

impl fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.owner.shared.queue.lock();
        f.debug_struct("WorkerPool")
            .field("queued", &state.lanes.queued())
            .field("open", &state.lanes.is_open())
            .finish_non_exhaustive()
    }
}

/// A request to a [`WorkerPool`]: a job, with its priority, deadline and size.
pub struct Submission {
    /// The priority, which selects its lane and its place in the queue.
    pub priority: Priority,
    /// The point in time from which its result is of no use. It decides the order within a priority. The job still runs
    /// after it, and reads the clock itself if it has a shorter answer then.
    pub deadline: Option<Instant>,
    /// Octets of [`Builder::queue_octets`] that it takes while it waits.
    pub octets: usize,
    /// The client whose request it is: its host has a share of the queue, and when it has gone while the queue is full, the
    /// request is dropped for another. `None` for work of the program's own, which has no such limit.
    pub client: Option<Client>,
    /// The job, which a thread of the pool runs to its end.
    pub job: Job,
}

impl Submission {
    /// Makes a request of the program's own, without a deadline, that takes no room in octets.
    #[must_use]
    pub const fn new(priority: Priority, job: Job) -> Self {
        Self {
            priority,
            deadline: None,
            octets: 0,
            client: None,
            job,
        }
    }
}

impl fmt::Debug for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submission")
            .field("priority", &self.priority)
            .field("deadline", &self.deadline)
            .field("octets", &self.octets)
            .finish_non_exhaustive()
    }
}

/// A job that a pool refused, and the reason.
pub struct Rejected {
    job: Job,
    reason: RejectReason,
}

impl Rejected {
    /// Returns the reason of the refusal.
    #[must_use]
    pub const fn reason(&self) -> RejectReason {
        self.reason
    }

    /// Returns the job, unchanged, to be submitted again or dropped.
    pub fn into_job(self) -> Job {
        self.job
    }
}

impl From<Refused<Job>> for Rejected {
    fn from(refused: Refused<Job>) -> Self {
        Self {
            job: refused.request.work,
            reason: refused.reason,
        }
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
            RejectReason::HostFull => "this host has its share of the worker pool's queue",
            RejectReason::Closed => "the worker pool was shut down",
            RejectReason::NoLane => "no lane of the worker pool has the priority",
            RejectReason::Unmappable => "the priority maps to no native one",
        })
    }
}

impl Error for Rejected {}

/// The handle that all clones of a pool share.
struct Owner {
    shared: Arc<Shared>,
}

impl Owner {
    fn join(&self) {
        for thread in self.shared.take_handles() {
            // Threads of a pool do not panic; jobs do, and are caught.
            let _ = thread.join();
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.queue.close();
        if Handle::try_current().is_err() && !self.shared.queue.runs_on_this_thread() {
            self.join();
        }
    }
}
