//! Configuration of a lane with threads of its own.
use std::{
    io,
    sync::{Arc, mpsc},
    thread,
};

use tokio::{
    runtime::{self, Runtime},
    sync::oneshot,
};

use super::{Lane, LaneThread};
use crate::{
    Dispatch, NativePriority, Scheduling, WaitPolicy,
    blocking_monitor::BlockingMonitor,
    error::{BuildError, MAX_THREADS},
    native,
};

/// Describes a [`Lane`] of the leader/followers kind: the thread that reads a request runs its upcall, without a queue and
/// without a hand-over.
///
/// By default that is one thread called `lane`, with the scheduling, the CPUs and the stack size of the program's
/// threads.
///
/// With one thread, the lane is a current-thread runtime. With several, it is a multi-thread runtime: the worker that is
/// parked at the reactor is the leader, and one of the idle others follows when it leaves with a request. An upcall that
/// blocks or computes takes one thread from the lane; the last thread is left in the reactor by
/// [`Dispatch::BlockInPlace`] only, which moves the worker's duties to another thread (at most
/// [`blocking_threads`](Self::blocking_threads), the lane's dynamic threads).
#[derive(Clone, Debug)]
#[must_use]
pub struct LaneBuilder {
    name: String,
    threads: usize,
    blocking_threads: usize,
    cpus: Vec<usize>,
    stack_size: Option<usize>,
    scheduling: Scheduling,
    native: NativePriority,
}

impl Default for LaneBuilder {
    fn default() -> Self {
        Self {
            name: "lane".into(),
            threads: 1,
            blocking_threads: 512,
            cpus: Vec::new(),
            stack_size: None,
            scheduling: Scheduling::Inherited,
            native: NativePriority(0),
        }
    }
}

impl LaneBuilder {
    /// Sets the name of the threads. (Linux shows 15 octets of it.)
    pub fn name(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// Sets the number of threads that read and run upcalls; at least 1.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets the largest number of threads beyond these, for blocking sections; 512 unless set. They end after ten idle
    /// seconds.
    pub fn blocking_threads(self, blocking_threads: usize) -> Self {
        Self {
            blocking_threads,
            ..self
        }
    }

    /// Sets the CPUs that the threads run on, by number; those of the thread that builds the lane unless set.
    pub fn cpus(self, cpus: impl IntoIterator<Item = usize>) -> Self {
        Self {
            cpus: cpus.into_iter().collect(),
            ..self
        }
    }

    /// Sets the size of each thread's stack in octets; 2 MiB, or the value of RUST_MIN_STACK, unless set.
    pub fn stack_size(self, octets: usize) -> Self {
        Self {
            stack_size: Some(octets),
            ..self
        }
    }

    /// Sets the scheduling policy and native priority of the threads. Under a real-time policy the lane
    /// [parks](WaitPolicy::Park) while it waits, since a thread that spins lets no thread of lower priority run.
    pub fn scheduling(self, scheduling: Scheduling, native: NativePriority) -> Self {
        Self {
            scheduling,
            native,
            ..self
        }
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// A [`BuildError`] for an invalid description, and where the operating system refuses a thread, a descriptor for
    /// the reactor, a scheduling policy or a CPU.
    ///
    /// # Blocking
    /// Waits until the lane's first thread has its scheduling policy, its priority and its CPUs, and the others are
    /// started.
    pub fn build(self) -> Result<Lane, BuildError> {
        self.check()?;
        let is_real_time = self.scheduling.native_range().is_some();
        let mut builder = thread::Builder::new().name(self.name.clone());
        if let Some(octets) = self.stack_size {
            builder = builder.stack_size(octets);
        }
        let (started, start) = mpsc::sync_channel(1);
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            // The runtime is made and dropped on its own thread, since async code must not drop one.
            let runtime = match self.prepare().and_then(|()| self.runtime()) {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error))),
            };
            if started.send(Ok(runtime.handle().clone())).is_ok() {
                // Completes when the sender is dropped.
                let _ = runtime.block_on(stopped);
            }
            runtime.shutdown_background();
        };
        let thread = builder.spawn(run).map_err(BuildError::Thread)?;
        let handle = start
            .recv()
            .map_err(|error| BuildError::Thread(io::Error::other(error)))??;
        let thread = LaneThread {
            stop: Some(stop),
            thread: Some(thread),
        };
        Ok(Lane {
            monitor: BlockingMonitor::new(handle.clone()),
            handle,
            dispatch: Dispatch::InPlace,
            wait: if is_real_time {
                WaitPolicy::Park
            } else {
                WaitPolicy::default()
            },
            thread: Some(Arc::new(thread)),
        })
    }

    fn check(&self) -> Result<(), BuildError> {
        if self.threads == 0 {
            return Err(BuildError::NoThreads);
        }
        let all = self.threads.saturating_add(self.blocking_threads);
        if all > MAX_THREADS {
            return Err(BuildError::TooManyThreads(all));
        }
        if self.name.contains('\0') {
            return Err(BuildError::NameHasNul);
        }
        match self.scheduling.native_range() {
            Some(range) if !range.contains(&self.native.0) => {
                Err(BuildError::NativePriorityOutOfRange {
                    scheduling: self.scheduling,
                    native: self.native,
                })
            }
            _ => Ok(()),
        }
    }

    /// Gives the calling thread its CPUs, its policy and its priority.
    fn prepare(&self) -> Result<(), BuildError> {
        native::prepare(&self.cpus, self.scheduling, self.native)
    }

    fn runtime(&self) -> Result<Runtime, BuildError> {
        if self.threads == 1 {
            let mut builder = runtime::Builder::new_current_thread();
            return self.finish(&mut builder);
        }
        let mut builder = runtime::Builder::new_multi_thread();
        builder.worker_threads(self.threads);
        self.finish(&mut builder)
    }

    fn finish(&self, builder: &mut runtime::Builder) -> Result<Runtime, BuildError> {
        if let Some(octets) = self.stack_size {
            builder.thread_stack_size(octets);
        }
        let this = self.clone();
        builder
            .thread_name(self.name.as_str())
            .max_blocking_threads(self.blocking_threads.max(1))
            // The lane's first thread was granted all of this. If the process has lost its privilege since, a later
            // thread keeps the priority that it inherits from the one that starts it.
            .on_thread_start(move || drop(this.prepare()))
            .enable_all()
            .build()
            .map_err(BuildError::Thread)
    }
}
