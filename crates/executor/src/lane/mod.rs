//! Lanes: tokio runtimes in which connections live and servants run.

use std::{
    fmt, io,
    sync::{Arc, Weak, mpsc},
    thread::{self, JoinHandle},
};

use tokio::{
    runtime::{self, Handle, RuntimeFlavor},
    sync::oneshot,
    task,
};

use crate::{
    Dispatch, NativePriority, Scheduling, WaitPolicy,
    blocking_monitor::{BlockingGuard, BlockingMonitor},
    error::LaneError,
    pool,
    worker_holder::{Watcher, WorkerHolder},
};

mod own_threads;

pub use own_threads::LaneBuilder;

/// A place where connections live and requests are read: a tokio runtime, and the way in which upcalls run there.
///
/// Cloning is cheap, and a clone is the same lane. The *last* clone of a [dedicated](Self::dedicated) lane ends its
/// thread; a lane made by [`current`](Self::current) owns nothing.
///
/// A lane on a current-thread runtime reads and dispatches on one thread, so an upcall that blocks there stops
/// everything in the lane; see [`Dispatch`] for alternatives.
#[derive(Clone, Debug)]
pub struct Lane {
    handle: Handle,
    // Dropped before the thread: queued upcalls may need the lane's reactor to come to their end.
    dispatch: Dispatch,
    wait: WaitPolicy,
    /// Has another worker serve the reactor, and reports code that holds a worker for long.
    monitor: Arc<BlockingMonitor>,
    thread: Option<Arc<LaneThread>>,
}

impl Lane {
    /// Returns the lane of the runtime in which this is called, with upcalls [in place](Dispatch::InPlace).
    ///
    /// # Errors
    /// [`LaneError::NoRuntime`] outside any tokio runtime.
    pub fn current() -> Result<Self, LaneError> {
        let handle = Handle::try_current().map_err(|_| LaneError::NoRuntime)?;
        Ok(Self {
            monitor: BlockingMonitor::new(handle.clone()),
            handle,
            dispatch: Dispatch::InPlace,
            wait: WaitPolicy::default(),
            thread: None,
        })
    }

    /// Returns a builder of a lane with threads of its own, for their number, scheduling, CPUs and stack.
    pub fn builder() -> LaneBuilder {
        LaneBuilder::default()
    }

    /// Starts a thread called `name` with its own current-thread runtime, I/O and timers included. Upcalls run [in
    /// place](Dispatch::InPlace).
    ///
    /// Dropping the last clone stops the thread: it finishes the poll that it is in, drops all tasks
    /// of the lane, and ends. The dropping thread waits for that unless it must not: it is the lane's own, or it is
    /// inside a runtime, where two lanes could end up waiting for each other. Blocking jobs of the lane
    /// (`spawn_blocking`) that have begun are not waited for.
    ///
    /// # Errors
    /// The error of the operating system that refuses a thread, or the descriptors of its reactor. `InvalidInput` for a name
    /// that contains a NUL.
    ///
    /// # Blocking
    /// Waits until the thread has started.
    pub fn dedicated(name: impl Into<String>) -> io::Result<Self> {
        let name = name.into();
        if name.contains('\0') {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a thread name cannot contain NUL",
            ));
        }
        let (started, start) = mpsc::sync_channel(1);
        let (stop, stopped) = oneshot::channel::<()>();
        // The runtime is made and dropped on its own thread, since async code must not drop one.
        let thread = thread::Builder::new().name(name).spawn(move || {
            let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error))),
            };
            if started.send(Ok(runtime.handle().clone())).is_ok() {
                // Completes when the sender is dropped.
                let _ = runtime.block_on(stopped);
            }
            runtime.shutdown_background();
        })?;
        let handle = start.recv().map_err(io::Error::other)??;
        let thread = LaneThread {
            stop: Some(stop),
            thread: Some(thread),
        };
        Ok(Self {
            monitor: BlockingMonitor::new(handle.clone()),
            handle,
            dispatch: Dispatch::InPlace,
            wait: WaitPolicy::default(),
            thread: Some(Arc::new(thread)),
        })
    }

    /// Starts a [dedicated](Self::dedicated) lane whose thread has this scheduling policy and this native priority. Its
    /// connections [park](WaitPolicy::Park) while they wait: a thread of a real-time priority that spins stops all
    /// others of its CPU.
    ///
    /// # Errors
    /// The errors of [`dedicated`](Self::dedicated); `PermissionDenied` where the process may not have the priority,
    /// `InvalidInput` where the policy has no such priority. No lane falls back to another policy.
    ///
    /// # Blocking
    /// Waits until the thread has its priority.
    pub fn dedicated_at(
        name: impl Into<String>,
        scheduling: Scheduling,
        native: NativePriority,
    ) -> io::Result<Self> {
        let lane = Self::dedicated(name)?;
        let (applied, result) = mpsc::sync_channel(1);
        drop(lane.spawn(async move {
            // The receiver waits.
            let _ = applied.send(scheduling.apply(native));
        }));
        result.recv().map_err(io::Error::other)??;
        Ok(lane.with_wait(WaitPolicy::Park))
    }

    /// Returns the lane with another way of running upcalls.
    ///
    /// # Errors
    /// [`LaneError::DispatchDoesNotFit`] for [`Dispatch::BlockInPlace`] on a current-thread runtime, which cannot.
    pub fn with_dispatch(self, dispatch: Dispatch) -> Result<Self, LaneError> {
        if dispatch.fits(self.flavor()) {
            Ok(Self { dispatch, ..self })
        } else {
            Err(LaneError::DispatchDoesNotFit)
        }
    }

    /// Returns the lane with another wait policy for its connections; [`Adaptive`](WaitPolicy::Adaptive) unless set.
    #[must_use]
    pub fn with_wait(self, wait: WaitPolicy) -> Self {
        Self { wait, ..self }
    }

    /// Returns the wait policy of its connections.
    #[must_use]
    pub const fn wait(&self) -> WaitPolicy {
        self.wait
    }

    /// Whether the lane has one thread of its own, which nothing but the lane's own work delays.
    #[must_use]
    pub fn is_dedicated(&self) -> bool {
        self.thread.is_some() && self.flavor() == RuntimeFlavor::CurrentThread
    }

    /// Returns the way in which upcalls run.
    #[must_use]
    pub const fn dispatch(&self) -> &Dispatch {
        &self.dispatch
    }

    /// Returns the id of the lane. Lanes made by [`current`](Self::current) in the same runtime have the same id, also
    /// on the thread of a dedicated one.
    #[must_use]
    pub fn id(&self) -> LaneId {
        LaneId(self.handle.id())
    }

    /// Returns the handle of the tokio runtime in which the lane's tasks run.
    #[must_use]
    pub const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Whether the lane has one thread or several.
    #[must_use]
    pub fn flavor(&self) -> RuntimeFlavor {
        self.handle.runtime_flavor()
    }

    /// Marks that code which may block runs on a worker of this lane, until the guard is dropped. Meanwhile a thread of
    /// the lane's has another worker serve the reactor, if one is free. tokio itself wakes none when a worker goes from
    /// the reactor to its only task.
    ///
    /// Costs two atomic operations, and a system call after a second without any. Does nothing on current-thread
    /// runtimes, which have no other worker.
    pub fn hold(&self) -> BlockingGuard<'_> {
        self.monitor.hold()
    }

    /// Marks as [`hold`](Self::hold) does, and names the code, so that [watchers](Self::watch) are called if it runs for
    /// [`BlockingGuard::LONG`]. Code within other such code of this thread is not named: the outer code holds the worker.
    ///
    /// Costs five stores more; on current-thread runtimes it costs only these, and a system call after a second without any.
    #[inline]
    pub fn hold_as(&self, holder: WorkerHolder) -> BlockingGuard<'_> {
        self.monitor.hold_as(holder)
    }

    /// Adds a watcher, which is called for code that [holds](Self::hold_as) a worker for long, while it does.
    pub fn watch(&self, watcher: Weak<dyn Watcher>) {
        self.monitor.watch_with(watcher);
    }

    /// Starts a task in the lane, which goes on if the handle is dropped. Costs one allocation.
    pub fn spawn<F>(&self, future: F) -> task::JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.handle.spawn(future)
    }
}

impl pool::Builder {
    /// Sets the lane whose runtime the threads enter: its reactor and its clock drive the futures that requests await.
    pub fn lane(self, lane: &Lane) -> Self {
        self.runtime(lane.handle().clone())
    }
}

/// The identity of a lane, for comparing, hashing and printing.
///
/// No two lanes that exist at the same time have the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneId(runtime::Id);

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The thread of a dedicated lane, stopped with its last owner.
#[derive(Debug)]
struct LaneThread {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for LaneThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        // The lane's own thread is inside its runtime when it drops this, and leaves the runtime only afterwards.
        if let Some(thread) = self.thread.take()
            && Handle::try_current().is_err()
        {
            // An error is a panic that the thread has reported already.
            let _ = thread.join();
        }
    }
}
