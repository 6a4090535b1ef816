//! Configuration of a worker pool.
use std::{sync::Arc, time::Duration};

use tokio::runtime::Handle;

use super::{
    WorkerPool,
    lanes::{Lanes, Room, Shape},
    worker::{Native, Shared, Threads},
};
use crate::{
    LinearMapping, Priority, PriorityMapping, Scheduling,
    error::{BuildError, LaneError, MAX_THREADS},
};

/// The threads of one lane of a [`WorkerPool`] (`RTCORBA::ThreadpoolLane`, Real-time CORBA 1.2, section 5.8, "Thread
/// Pools").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneThreads {
    /// The priority of the requests that the lane runs, and of its threads; 0 to 32,767.
    pub priority: Priority,
    /// Threads that exist as long as the pool; at least 1.
    pub static_threads: usize,
    /// Threads beyond these that are started when all are busy, and end again when idle for
    /// [`idle_timeout`](Builder::idle_timeout).
    pub dynamic_threads: usize,
}

impl LaneThreads {
    /// Makes a lane of this priority with this many static threads, and no dynamic ones.
    #[must_use]
    pub const fn new(priority: Priority, static_threads: usize) -> Self {
        Self {
            priority,
            static_threads,
            dynamic_threads: 0,
        }
    }

    /// Returns the lane with dynamic threads.
    #[must_use]
    pub const fn dynamic(self, dynamic_threads: usize) -> Self {
        Self {
            dynamic_threads,
            ..self
        }
    }
}

/// Describes a [`WorkerPool`].
///
/// By default that is a pool without lanes, of four threads called `worker-0` and so on. It has a queue of 1,024
/// requests of any size, the runtime in which [`build`](Self::build) is called, and the scheduling of the thread that
/// builds it.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    threads: usize,
    dynamic_threads: usize,
    default_priority: Priority,
    lanes: Option<Vec<LaneThreads>>,
    borrowing: bool,
    room: Room,
    name: String,
    runtime: Option<Handle>,
    scheduling: Scheduling,
    mapping: Arc<dyn PriorityMapping>,
    cpus: Vec<usize>,
    stack_size: Option<usize>,
    idle_timeout: Duration,
    lane_runtimes: Vec<(Priority, Handle)>,
}

impl Builder {
    /// Sets the number of static threads of a pool without lanes, and so of requests that run at once; at least 1.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets the largest number of threads that a pool without lanes starts beyond the static ones when all are busy.
    pub fn dynamic_threads(self, dynamic_threads: usize) -> Self {
        Self {
            dynamic_threads,
            ..self
        }
    }

    /// Sets the priority at which threads of a pool without lanes start. With real-time scheduling, a thread takes the
    /// priority of each request that it runs.
    pub fn default_priority(self, default_priority: Priority) -> Self {
        Self {
            default_priority,
            ..self
        }
    }

    /// Sets lanes, in place of the threads of a pool without lanes: a request goes to the lane that has exactly its
    /// priority, and threads keep the priority of their lane.
    pub fn lanes(self, lanes: impl IntoIterator<Item = LaneThreads>) -> Self {
        Self {
            lanes: Some(lanes.into_iter().collect()),
            ..self
        }
    }

    /// Sets whether a lane whose threads are all busy borrows an idle thread of a lower lane, which gets the higher priority
    /// for that one request. A thread that becomes idle then serves the queues of higher lanes first. False unless set.
    pub fn borrowing(self, borrowing: bool) -> Self {
        Self { borrowing, ..self }
    }

    /// Sets the largest number of requests that wait in all lanes together, without those that are running; 0 for a pool that
    /// refuses requests for which no thread is free. Each lane leaves an equal share of the room to every lane above
    /// it, so that a lane which is always full causes no refusal of urgent requests. Requests of [clients](super::Submission::client) of
    /// one host leave a quarter of each lane's share to those of others. Room for all is allocated at the start, in each lane.
    pub fn queue_capacity(self, requests: usize) -> Self {
        let room = Room {
            requests,
            ..self.room
        };
        Self { room, ..self }
    }

    /// Sets the largest number of octets that wait in all lanes together; unlimited unless set. They are shared as the
    /// [requests](Self::queue_capacity) are. A request counts the octets that its [`Submission`](super::Submission)
    /// states.
    pub fn queue_octets(self, octets: usize) -> Self {
        let room = Room {
            octets,
            ..self.room
        };
        Self { room, ..self }
    }

    /// Sets the name of the threads, each with its number appended. (Linux shows 15 octets of it.)
    pub fn name(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// Sets the runtime that the threads enter.
    pub(crate) fn runtime(self, runtime: Handle) -> Self {
        Self {
            runtime: Some(runtime),
            ..self
        }
    }

    /// Runtimes of single lanes, in place of that of the pool: the lane's own reactor and clock drive the futures that
    /// its requests await.
    pub fn lane_runtimes(self, runtimes: impl IntoIterator<Item = (Priority, Handle)>) -> Self {
        Self {
            lane_runtimes: runtimes.into_iter().collect(),
            ..self
        }
    }

    /// Sets the scheduling policy of the threads.
    pub fn scheduling(self, scheduling: Scheduling) -> Self {
        Self { scheduling, ..self }
    }

    /// Sets the mapping of CORBA priorities to native ones under a real-time policy; [`LinearMapping`] unless set.
    pub fn mapping(self, mapping: impl PriorityMapping + 'static) -> Self {
        Self {
            mapping: Arc::new(mapping),
            ..self
        }
    }

    /// Sets the CPUs that the threads run on, by number; those of the thread that builds the pool unless set.
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

    /// Sets the time for which a dynamic thread is idle before it ends; 10 s unless set.
    pub fn idle_timeout(self, idle_timeout: Duration) -> Self {
        Self {
            idle_timeout,
            ..self
        }
    }

    /// Checks the description for errors that [`build`](Self::build) finds without the operating system, and starts
    /// nothing.
    ///
    /// # Errors
    /// A [`BuildError`] for an invalid description.
    pub fn check(&self) -> Result<(), BuildError> {
        self.checked().map(drop)
    }

    /// Returns the lanes of a valid description, and the mapping of their priorities to native ones.
    fn checked(&self) -> Result<(Vec<Shape>, Native), BuildError> {
        let shapes = self.shapes()?;
        if self.name.contains('\0') {
            return Err(BuildError::NameHasNul);
        }
        let native = Native {
            scheduling: self.scheduling,
            range: self.scheduling.native_range(),
            mapping: Arc::clone(&self.mapping),
            exact: self.lanes.is_some(),
        };
        for shape in &shapes {
            native.check(shape.priority)?;
        }
        Ok((shapes, native))
    }

    /// Starts the static threads.
    ///
    /// # Errors
    /// A [`BuildError`] for an invalid description, and where the operating system refuses a thread, a scheduling
    /// policy or a CPU; threads that were started already end again.
    ///
    /// # Blocking
    /// Waits until each static thread has its scheduling policy, its priority and its CPUs.
    pub fn build(self) -> Result<WorkerPool, BuildError> {
        let (shapes, native) = self.checked()?;
        let exact = native.exact;
        let runtime = match self.runtime {
            Some(handle) => handle,
            None => Handle::try_current().map_err(|_| BuildError::Lane(LaneError::NoRuntime))?,
        };
        let lanes = Lanes::new(&shapes, exact, self.borrowing, self.room)
            .map_err(|_| BuildError::QueueTooLarge(self.room.requests))?;
        let shared = Shared::new(
            lanes,
            Threads {
                name: self.name,
                stack_size: self.stack_size,
                idle_timeout: self.idle_timeout,
                cpus: self.cpus,
                native,
                runtime,
                lane_runtimes: self.lane_runtimes,
            },
        );
        WorkerPool::start(shared)
    }

    /// Returns the lanes in ascending order of priority, each of them valid.
    fn shapes(&self) -> Result<Vec<Shape>, BuildError> {
        let Some(lanes) = &self.lanes else {
            let shape = Shape {
                priority: self.default_priority,
                static_threads: self.threads,
                dynamic_threads: self.dynamic_threads,
            };
            return check_threads(vec![shape]);
        };
        if lanes.is_empty() {
            return Err(BuildError::NoLanes);
        }
        let mut shapes: Vec<_> = lanes
            .iter()
            .map(|lane| Shape {
                priority: lane.priority,
                static_threads: lane.static_threads,
                dynamic_threads: lane.dynamic_threads,
            })
            .collect();
        shapes.sort_by_key(|shape| shape.priority);
        for shape in &shapes {
            if !shape.priority.is_valid() {
                return Err(BuildError::PriorityOutOfRange(shape.priority));
            }
        }
        for pair in shapes.windows(2) {
            if pair[0].priority == pair[1].priority {
                return Err(BuildError::TwoLanesOfOnePriority(pair[0].priority));
            }
        }
        check_threads(shapes)
    }
}

fn check_threads(shapes: Vec<Shape>) -> Result<Vec<Shape>, BuildError> {
    let mut threads = 0_usize;
    for shape in &shapes {
        if shape.static_threads == 0 {
            return Err(BuildError::NoThreads);
        }
        threads = threads
            .saturating_add(shape.static_threads)
            .saturating_add(shape.dynamic_threads);
    }
    if threads > MAX_THREADS {
        return Err(BuildError::TooManyThreads(threads));
    }
    Ok(shapes)
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            threads: 4,
            dynamic_threads: 0,
            default_priority: Priority::default(),
            lanes: None,
            borrowing: false,
            room: Room {
                requests: 1024,
                octets: usize::MAX,
            },
            name: "worker".into(),
            runtime: None,
            scheduling: Scheduling::default(),
            mapping: Arc::new(LinearMapping),
            cpus: Vec::new(),
            stack_size: None,
            lane_runtimes: Vec::new(),
            idle_timeout: Duration::from_secs(10),
        }
    }
}
