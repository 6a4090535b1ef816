//! The threads of a pool, and what they share.
use std::{
    cell::Cell,
    ops::RangeInclusive,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, mpsc::SyncSender},
    thread::{self, JoinHandle, Thread},
    time::{Duration, Instant},
};

use tokio::{runtime::Handle, sync::watch};

use super::lanes::{Assigned, Lanes, Placed, Refused, Request, WorkerId};
use crate::{
    NativePriority, Priority, PriorityMapping, Scheduling,
    error::BuildError,
    lock::{Guard, Lock},
    native,
};

/// A piece of work: a future that one thread of the pool drives to its end.
pub type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How priorities become native ones.
#[derive(Debug)]
pub(super) struct Native {
    pub(super) scheduling: Scheduling,
    /// `None` where native priorities are left alone.
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

    /// The native priority; `None` where native priorities are left alone, or the mapping has none.
    fn of(&self, priority: Priority) -> Option<NativePriority> {
        let range = self.range.as_ref()?;
        self.mapping
            .to_native(priority, range)
            .filter(|native| range.contains(&native.0))
    }
}

/// What all threads of a pool have in common.
#[derive(Debug)]
pub(super) struct Threads {
    pub(super) name: String,
    pub(super) stack_size: Option<usize>,
    pub(super) idle_timeout: Duration,
    pub(super) cpus: Vec<usize>,
    pub(super) native: Native,
    pub(super) runtime: Handle,
}

/// What the clones of a pool and its threads share.
pub(super) struct Shared {
    state: Lock<State>,
    pub(super) threads: Threads,
    /// How many threads there are; 0 again at the end.
    pub(super) alive: watch::Sender<usize>,
}

pub(super) struct State {
    pub(super) lanes: Lanes<Job>,
    /// The threads of the workers, by the index of their ids; `None` until a thread has begun, and when it has ended.
    running: Vec<Option<Thread>>,
    handles: Vec<JoinHandle<()>>,
}

impl Shared {
    pub(super) fn new(lanes: Lanes<Job>, threads: Threads) -> Self {
        Self {
            state: Lock::new(State {
                lanes,
                running: Vec::new(),
                handles: Vec::new(),
            }),
            threads,
            alive: watch::Sender::new(0),
        }
    }

    pub(super) fn lock(&self) -> Guard<'_, State> {
        self.state.lock()
    }

    /// Places a request: wakes the worker that has it, or starts the thread that will.
    pub(super) fn submit(self: &Arc<Self>, request: Request<Job>) -> Result<(), Refused<Job>> {
        let mut state = self.lock();
        let placed = state.lanes.submit(request)?;
        match placed {
            Placed::Queued => Ok(()),
            Placed::Handed(worker) => {
                let thread = state.thread(worker);
                drop(state);
                wake(thread);
                Ok(())
            }
            Placed::Start(worker) => {
                drop(state);
                if start(self, worker, None).is_ok() {
                    return Ok(());
                }
                // Requests wait then as they would without dynamic threads.
                let mut state = self.lock();
                let placed = state.lanes.start_failed(worker)?;
                let thread = match placed {
                    Placed::Handed(worker) => state.thread(worker),
                    Placed::Queued | Placed::Start(_) => None,
                };
                drop(state);
                wake(thread);
                Ok(())
            }
        }
    }

    /// Takes no more requests, and lets the threads end when they have nothing more to do.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.lanes.close();
        let running: Vec<_> = state.running.iter().flatten().cloned().collect();
        drop(state);
        for thread in running {
            thread.unpark();
        }
    }

    pub(super) fn runs_on_this_thread(&self) -> bool {
        let this = thread::current().id();
        self.lock()
            .running
            .iter()
            .flatten()
            .any(|thread| thread.id() == this)
    }

    pub(super) fn take_handles(&self) -> Vec<JoinHandle<()>> {
        std::mem::take(&mut self.lock().handles)
    }
}

impl State {
    fn thread(&self, worker: WorkerId) -> Option<Thread> {
        self.running.get(worker.index())?.clone()
    }

    fn set_thread(&mut self, worker: WorkerId, thread: Option<Thread>) {
        if self.running.len() <= worker.index() {
            self.running.resize(worker.index() + 1, None);
        }
        self.running[worker.index()] = thread;
    }
}

/// A thread that has not begun yet looks for its request before it parks for the first time.
fn wake(thread: Option<Thread>) {
    if let Some(thread) = thread {
        thread.unpark();
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
    let mut state = shared.lock();
    // Dynamic threads come and go.
    state.handles.retain(|handle| !handle.is_finished());
    state.handles.push(handle);
    Ok(())
}

thread_local! {
    static CURRENT: Cell<Option<Priority>> = const { Cell::new(None) };
}

/// The priority of the request that runs on this thread; `None` on threads of no [`WorkerPool`](super::WorkerPool).
///
/// Real-time CORBA's `RTCORBA::Current` has it as `the_priority`.
#[must_use]
pub fn current_priority() -> Option<Priority> {
    CURRENT.get()
}

/// One thread's part. Counts as alive from before its thread is started until it is dropped.
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
        while let Some(assigned) = self.next() {
            self.work(assigned);
        }
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
        let own = {
            let mut state = self.shared.lock();
            state.set_thread(self.id, Some(thread::current()));
            state.lanes.priority_of(self.id)
        };
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

    /// A dynamic thread that was refused its scheduling runs nothing at a priority that it does not have.
    fn give_up(self) {
        let mut state = self.shared.lock();
        state.set_thread(self.id, None);
        let placed = state.lanes.start_failed(self.id);
        let thread = match placed {
            Ok(Placed::Handed(worker)) => state.thread(worker),
            _ => None,
        };
        drop(state);
        wake(thread);
    }

    /// The next request, waited for; `None` when the thread is to end.
    fn next(&self) -> Option<Assigned<Job>> {
        // Set when the thread became idle; `None` for the first look, which finds what waits already.
        let mut idle_until = None;
        loop {
            let now = Instant::now();
            let mut state = self.shared.lock();
            if let Some(assigned) = state.lanes.next(self.id, now) {
                return Some(assigned);
            }
            let timeout = self.shared.threads.idle_timeout;
            let until = *idle_until.get_or_insert_with(|| now.checked_add(timeout));
            let ends = until.is_some_and(|until| until <= now) || !state.lanes.is_open();
            if ends && state.lanes.end(self.id) {
                // In the same step, since the id is free now.
                state.set_thread(self.id, None);
                return None;
            }
            let until = until.filter(|_| state.lanes.is_dynamic(self.id));
            drop(state);
            match until {
                Some(until) => thread::park_timeout(until.saturating_duration_since(now)),
                None => thread::park(),
            }
        }
    }

    fn work(&mut self, assigned: Assigned<Job>) {
        let own = self.native;
        let Assigned { request, borrowed } = assigned;
        self.set_native(self.shared.threads.native.of(request.priority));
        CURRENT.set(Some(request.priority));
        let runtime = &self.shared.threads.runtime;
        // The job is used up by the call, so that no code can see what a panic left of it.
        let _ = catch_unwind(AssertUnwindSafe(|| runtime.block_on(request.work)));
        CURRENT.set(None);
        if borrowed {
            self.set_native(own);
        }
    }

    /// Costs system calls only where the priority is another one than before. A privilege that was taken away meanwhile
    /// leaves the thread as it is.
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
