//! The threads of a pool, and their shared state.
use std::{
    cell::{Cell, RefCell},
    ops::RangeInclusive,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::SyncSender},
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::watch,
};

use super::{
    job::Job,
    lanes::{Assigned, Lanes, Refused, Request, WorkerId},
    queue::Queue,
};
use crate::{NativePriority, Priority, PriorityMapping, Scheduling, error::BuildError, native};

/// The mapping of priorities to native ones.
#[derive(Debug)]
pub(super) struct Native {
    pub(super) scheduling: Scheduling,
    /// `None` where native priorities are not changed.
    pub(super) range: Option<RangeInclusive<i32>>,
    pub(super) mapping: Arc<dyn PriorityMapping>,
    /// Whether requests run at the priority of their lane, which was checked when the pool was built.
    pub(super) exact: bool,
}

impl Native {
    /// Whether requests of this priority can run.
    pub(super) fn check(&self, priority: Priority) -> Result<(), BuildError> {
        if self.range.is_some() && self.of(priority).is_none() {
            return Err(BuildError::Unmappable {
                priority,
                scheduling: self.scheduling,
            });
        }
        Ok(())
    }

    /// Whether a request of this priority may be submitted.
    pub(super) fn admits(&self, priority: Priority) -> bool {
        self.exact || self.range.is_none() || self.of(priority).is_some()
    }

    /// Returns the native priority; `None` where native priorities are not changed, or the mapping has none.
    fn of(&self, priority: Priority) -> Option<NativePriority> {
        let range = self.range.as_ref()?;
        self.mapping
            .to_native(priority, range)
            .filter(|native| range.contains(&native.0))
    }
}

/// Settings of all threads of a pool.
#[derive(Debug)]
pub(super) struct Threads {
    pub(super) name: String,
    pub(super) stack_size: Option<usize>,
    pub(super) idle_timeout: Duration,
    pub(super) cpus: Vec<usize>,
    pub(super) native: Native,
    pub(super) runtime: Handle,
    /// The runtimes of lanes that have their own.
    pub(super) lane_runtimes: Vec<(Priority, Handle)>,
}

impl Threads {
    /// Returns the runtime that requests of a priority enter.
    fn runtime_for(&self, priority: Priority) -> &Handle {
        let mut own = self.lane_runtimes.iter();
        let found = own.find(|(of, _)| *of == priority);
        found.map_or(&self.runtime, |(_, runtime)| runtime)
    }
}

/// The state that the clones of a pool and its threads share.
pub(super) struct Shared {
    pub(super) queue: Queue<Job>,
    pub(super) threads: Threads,
    /// Number of threads; 0 again at the end.
    pub(super) alive: watch::Sender<usize>,
    handles: Mutex<Vec<JoinHandle<()>>>,
}

impl Shared {
    pub(super) fn new(lanes: Lanes<Job>, threads: Threads) -> Self {
        Self {
            queue: Queue::new(lanes),
            threads,
            alive: watch::Sender::new(0),
            handles: Mutex::default(),
        }
    }

    /// Places a request: wakes the worker that has it, or starts the thread that will.
    pub(super) fn submit(self: &Arc<Self>, request: Request<Job>) -> Result<(), Refused<Job>> {
        match self.queue.submit(request)? {
            None => Ok(()),
            Some(worker) => self.start_dynamic(worker),
        }
    }

    /// Starts the thread of a dynamic worker that has a request.
    pub(super) fn start_dynamic(self: &Arc<Self>, worker: WorkerId) -> Result<(), Refused<Job>> {
        match start(self, worker, None) {
            Ok(()) => Ok(()),
            // Requests wait then as they would without dynamic threads.
            Err(_) => self.queue.start_failed(worker),
        }
    }

    pub(super) fn take_handles(&self) -> Vec<JoinHandle<()>> {
        std::mem::take(&mut self.handles())
    }

    fn handles(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        // No code panics under this lock.
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the thread of a worker, which reports through `started` once it has its scheduling and its CPUs.
pub(super) fn start(
    shared: &Arc<Shared>,
    worker: WorkerId,
    started: Option<SyncSender<Result<(), BuildError>>>,
) -> std::io::Result<()> {
    let body = Worker::new(Arc::clone(shared), worker);
    let mut builder =
        thread::Builder::new().name(format!("{}-{}", shared.threads.name, worker.index()));
    if let Some(octets) = shared.threads.stack_size {
        builder = builder.stack_size(octets);
    }
    let handle = builder.spawn(move || body.run(started))?;
    let mut handles = shared.handles();
    // Dynamic threads end, so their handles are removed.
    handles.retain(|handle| !handle.is_finished());
    handles.push(handle);
    Ok(())
}

thread_local! {
    static CURRENT: Cell<Option<Priority>> = const { Cell::new(None) };
    /// The worker that the thread is, while it runs requests.
    static WORKER: RefCell<Option<(Arc<Shared>, WorkerId)>> = const { RefCell::new(None) };
}

/// Returns the priority of the request that runs on this thread; `None` on threads of no
/// [`WorkerPool`](super::WorkerPool).
///
/// It is the attribute `the_priority` of Real-time CORBA's `RTCORBA::Current`.
#[must_use]
pub fn current_priority() -> Option<Priority> {
    CURRENT.get()
}

/// Runs a section that blocks its thread: waits for a lock, for a device, for another program.
///
/// On a thread of a [`WorkerPool`](super::WorkerPool) the lane may have one dynamic thread more meanwhile, which runs
/// the requests that would wait for this one; as many as the lane has threads, static and dynamic, may be replaced at a
/// time. When the section ends, the lane ends a dynamic thread, once that has finished its request. On a worker of
/// tokio's multi-thread runtime this is [`tokio::task::block_in_place`]. On any other thread it just runs the section.
///
/// Costs two locks of the pool; and the start of a thread where a request waits and no replacement is idle.
///
/// # Panics
/// If the section panics.
pub fn blocking<T>(section: impl FnOnce() -> T) -> T {
    // The borrow ends before the section runs, which may have sections of its own.
    let worker = WORKER.with(|worker| worker.borrow().clone());
    match worker {
        Some((shared, worker)) => {
            let blocking = shared.queue.begin_blocking(worker);
            let _end = EndOfBlocking {
                shared: &shared,
                worker,
                replaced: blocking.replaced,
            };
            if let Some(replacement) = blocking.start {
                // A request that was taken is queued again where no thread starts: it had room.
                let _ = shared.start_dynamic(replacement);
            }
            section()
        }
        None => match Handle::try_current() {
            Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
                tokio::task::block_in_place(section)
            }
            _ => section(),
        },
    }
}

struct EndOfBlocking<'a> {
    shared: &'a Shared,
    worker: WorkerId,
    replaced: bool,
}

impl Drop for EndOfBlocking<'_> {
    fn drop(&mut self) {
        self.shared.queue.end_blocking(self.worker, self.replaced);
    }
}

/// The state of one thread, which counts as alive from before it is started until this is dropped.
struct Worker {
    shared: Arc<Shared>,
    id: WorkerId,
    /// The native priority that the thread has now.
    native: Option<NativePriority>,
}

impl Worker {
    fn new(shared: Arc<Shared>, id: WorkerId) -> Self {
        shared.alive.send_modify(|alive| *alive += 1);
        Self {
            shared,
            id,
            native: None,
        }
    }

    fn run(mut self, started: Option<SyncSender<Result<(), BuildError>>>) {
        let ready = self.prepare();
        let failed = ready.is_err();
        if let Some(started) = started {
            // The builder waits for the answer, or has given up already.
            let _ = started.send(ready);
        }
        if failed {
            return self.give_up();
        }
        WORKER.set(Some((Arc::clone(&self.shared), self.id)));
        let mut used = None;
        while let Some(assigned) = self.next(used) {
            used = self.work(assigned);
        }
        WORKER.set(None);
    }

    /// Gives the thread its CPUs, its policy and the priority of its lane.
    fn prepare(&mut self) -> Result<(), BuildError> {
        let threads = &self.shared.threads;
        if !threads.cpus.is_empty() {
            native::pin(&threads.cpus).map_err(|source| BuildError::Cpus {
                cpus: threads.cpus.clone(),
                source,
            })?;
        }
        self.shared.queue.begin(self.id);
        let own = self.shared.queue.lock().lanes.priority_of(self.id);
        if let Some(native) = threads.native.of(own) {
            let scheduling = threads.native.scheduling;
            scheduling
                .apply(native)
                .map_err(|source| BuildError::Scheduling {
                    scheduling,
                    native,
                    source,
                })?;
            self.native = Some(native);
        }
        Ok(())
    }

    /// Gives up a dynamic thread that was refused its scheduling, since it must run nothing at another priority.
    fn give_up(self) {
        // A request for which the queue has no room any more is dropped, and with it the sender of its result.
        let _ = self.shared.queue.start_failed(self.id);
    }

    /// Waits for the next request; `None` when the thread is to end.
    fn next(&self, used: Option<Job>) -> Option<Assigned<Job>> {
        let Shared { queue, threads, .. } = &*self.shared;
        queue.next(self.id, used, threads.idle_timeout)
    }

    /// Runs a request, and returns its job if the box may be used again: not after a panic.
    fn work(&mut self, assigned: Assigned<Job>) -> Option<Job> {
        let own = self.native;
        let Assigned { request, borrowed } = assigned;
        let mut job = request.work;
        self.set_native(self.shared.threads.native.of(request.priority));
        CURRENT.set(Some(request.priority));
        let runtime = self.shared.threads.runtime_for(request.priority);
        // `AssertUnwindSafe` holds: a job that has panicked is dropped, and no code sees its state.
        let ended = catch_unwind(AssertUnwindSafe(|| runtime.block_on(&mut job)));
        CURRENT.set(None);
        if borrowed {
            self.set_native(own);
        }
        (ended.is_ok() && job.is_worth_keeping()).then_some(job)
    }

    /// Sets the native priority, by system calls only where it changes. A thread whose privilege was withdrawn
    /// meanwhile keeps its priority.
    fn set_native(&mut self, native: Option<NativePriority>) {
        if let Some(wanted) = native
            && self.native != native
            && self.shared.threads.native.scheduling.apply(wanted).is_ok()
        {
            self.native = native;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.alive.send_modify(|alive| *alive -= 1);
    }
}
