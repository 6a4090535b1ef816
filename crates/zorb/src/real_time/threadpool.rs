//! Thread pools, and their lanes.

use super::settings::{RealTimeSettings, raise};
use crate::endpoints::Listen;
use crate::error::Error;
use crate::options::{OptionError, Source};
use crate::orb::OrbInner;
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio_util::sync::CancellationToken;
use zorb_connection::{Acceptor, Reactor};
use zorb_executor::{
    BuildError, Lane, LaneCounters, LaneThreads, Priority, Scheduling, WorkerPool,
};
use zorb_giop::{CompletionStatus, RealTimeFault, SystemException, SystemExceptionKind};
use zorb_poa::Adapter;
use zorb_transport::{Endpoint, Listener};

/// A lane of a thread pool: `RTCORBA::ThreadpoolLane`, with its endpoints.
#[derive(Debug, Clone)]
#[must_use = "a lane does nothing until a pool has it"]
pub struct ThreadpoolLane {
    threads: LaneThreads,
    listen: Vec<String>,
}

impl ThreadpoolLane {
    /// A lane of this priority with this many static threads, which exist from the creation of the pool.
    pub const fn new(priority: Priority, static_threads: usize) -> Self {
        Self {
            threads: LaneThreads::new(priority, static_threads),
            listen: Vec::new(),
        }
    }

    /// The same lane with threads that are started when all others are busy.
    pub const fn dynamic(mut self, dynamic_threads: usize) -> Self {
        self.threads = self.threads.dynamic(dynamic_threads);
        self
    }

    /// Has the lane listen there, as [`Builder::listen`](crate::Builder::listen) reads it: `iiop` or `uiop`. May be
    /// repeated. A lane that listens nowhere serves what comes to the endpoints of the ORB, and collocated calls.
    #[doc(alias = "-ORBLaneListenEndpoints")]
    pub fn listen(mut self, endpoint: impl Into<String>) -> Self {
        self.listen.push(endpoint.into());
        self
    }
}

/// What a thread pool is made of: the arguments of `create_threadpool` and `create_threadpool_with_lanes`.
///
/// Requests wait in a buffer of 1,024 requests of any size when no thread is free, unless [`buffering`](Self::buffering)
/// says otherwise.
#[derive(Debug, Clone)]
#[must_use = "a description does nothing until a pool is created"]
pub struct ThreadpoolOptions {
    static_threads: usize,
    dynamic_threads: usize,
    default_priority: Priority,
    lanes: Option<Vec<ThreadpoolLane>>,
    allow_borrowing: bool,
    buffering: Buffering,
    stack_size: usize,
    cpus: Vec<usize>,
    idle_timeout: Option<Duration>,
}

impl ThreadpoolOptions {
    /// A pool without lanes: a thread takes the priority of each request that it runs.
    #[doc(alias = "create_threadpool")]
    pub const fn new(static_threads: usize, default_priority: Priority) -> Self {
        Self {
            static_threads,
            dynamic_threads: 0,
            default_priority,
            lanes: None,
            allow_borrowing: false,
            buffering: Buffering::Default,
            stack_size: 0,
            cpus: Vec::new(),
            idle_timeout: None,
        }
    }

    /// A pool with lanes: a request goes to the lane of its priority, whose threads and reactor keep that.
    #[doc(alias = "create_threadpool_with_lanes")]
    pub fn with_lanes(lanes: impl IntoIterator<Item = ThreadpoolLane>) -> Self {
        Self {
            lanes: Some(lanes.into_iter().collect()),
            ..Self::new(0, Priority::MIN)
        }
    }

    /// How many threads a pool without lanes starts when all others are busy.
    pub const fn dynamic_threads(mut self, dynamic_threads: usize) -> Self {
        self.dynamic_threads = dynamic_threads;
        self
    }

    /// Whether a lane without an idle thread may use one of a lower lane, at its own priority; not unless set.
    #[doc(alias = "allow_borrowing")]
    pub const fn borrowing(mut self, allow_borrowing: bool) -> Self {
        self.allow_borrowing = allow_borrowing;
        self
    }

    /// How many requests wait at most, and how many octets of them. Zero does not apply that limit: without one on requests,
    /// 1,024 of them wait. The limit that is reached first counts. A request beyond is TRANSIENT, minor code 1.
    #[doc(alias = "max_buffered_requests")]
    #[doc(alias = "max_request_buffer_size")]
    pub const fn buffering(mut self, max_requests: usize, max_octets: usize) -> Self {
        self.buffering = Buffering::Bounded(max_requests, max_octets);
        self
    }

    /// No request waits: one for which no thread is free is TRANSIENT, minor code 1.
    #[doc(alias = "allow_request_buffering")]
    pub const fn without_buffering(mut self) -> Self {
        self.buffering = Buffering::Off;
        self
    }

    /// Octets of stack of each thread; 0 for the default.
    pub const fn stack_size(mut self, octets: usize) -> Self {
        self.stack_size = octets;
        self
    }

    /// The CPUs that the threads run on, by number.
    pub fn cpus(mut self, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.cpus = cpus.into_iter().collect();
        self
    }

    /// How long a dynamic thread is idle before it ends; 10 s unless set.
    pub const fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    fn workers(
        &self,
        id: u32,
        settings: &RealTimeSettings,
        home: &Lane,
        reactors: &[(Priority, Lane)],
    ) -> Result<WorkerPool, BuildError> {
        let mut builder = WorkerPool::builder()
            .name(format!("pool{id}"))
            .lane(home)
            .lane_runtimes(
                (reactors.iter()).map(|(priority, lane)| (*priority, lane.handle().clone())),
            )
            .scheduling(settings.scheduling)
            .mapping(Arc::clone(&settings.mapping))
            .cpus(self.cpus.iter().copied())
            .borrowing(self.allow_borrowing)
            .default_priority(self.default_priority);
        builder = match &self.lanes {
            Some(lanes) => builder.lanes(lanes.iter().map(|lane| lane.threads)),
            None => builder
                .threads(self.static_threads)
                .dynamic_threads(self.dynamic_threads),
        };
        builder = match self.buffering {
            Buffering::Default | Buffering::Bounded(0, 0) => builder,
            Buffering::Off => builder.queue_capacity(0),
            Buffering::Bounded(0, octets) => builder.queue_octets(octets),
            Buffering::Bounded(requests, 0) => builder.queue_capacity(requests),
            Buffering::Bounded(requests, octets) => {
                builder.queue_capacity(requests).queue_octets(octets)
            }
        };
        if self.stack_size > 0 {
            builder = builder.stack_size(self.stack_size);
        }
        if let Some(timeout) = self.idle_timeout {
            builder = builder.idle_timeout(timeout);
        }
        builder.build()
    }
}

/// How many requests, and how many octets of them, wait for a thread.
#[derive(Debug, Clone, Copy)]
enum Buffering {
    Default,
    Off,
    /// 0: that limit is not applied.
    Bounded(usize, usize),
}

/// Why a thread pool could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadpoolError {
    /// Its threads: impossible numbers and priorities (BAD_PARAM), a priority that cannot be mapped (DATA_CONVERSION, minor
    /// code 2), a scheduling policy that the process may not have (INITIALIZE), no thread (INTERNAL).
    #[error("thread pool: {0}")]
    Threads(#[from] BuildError),
    /// The reactor of a lane cannot be started (INTERNAL).
    #[error("the reactor of lane {priority}: {source}")]
    Reactor {
        /// The lane.
        priority: Priority,
        /// What the system said.
        source: std::io::Error,
    },
    /// A lane listens to an endpoint of a transport whose references cannot state priorities (BAD_PARAM).
    #[error("lanes listen to iiop and uiop endpoints, found {0:?}")]
    Endpoint(String),
}

impl ThreadpoolError {
    /// The exception of `create_threadpool`.
    pub(crate) fn to_system_exception(&self) -> SystemException {
        use SystemExceptionKind as Kind;
        let kind = match self {
            Self::Threads(BuildError::Unmappable { priority, .. }) => {
                return raise(RealTimeFault::Unmappable(priority.0));
            }
            Self::Threads(
                BuildError::NoThreads
                | BuildError::TooManyThreads(_)
                | BuildError::NoLanes
                | BuildError::PriorityOutOfRange(_)
                | BuildError::TwoLanesOfOnePriority(_)
                | BuildError::QueueTooLarge(_)
                | BuildError::Cpus { .. },
            )
            | Self::Endpoint(_) => Kind::BadParam,
            Self::Threads(BuildError::Scheduling { .. }) => Kind::Initialize,
            Self::Threads(_) | Self::Reactor { .. } => Kind::Internal,
        };
        SystemException::new(kind, 0, CompletionStatus::No).with_detail(self)
    }
}

/// A thread pool of an ORB. Cheap to clone; a clone is the same pool.
///
/// It lives until [`RtOrb::destroy_threadpool`](super::RtOrb::destroy_threadpool) or the end of its ORB.
#[derive(Debug, Clone)]
pub struct Threadpool(pub(super) Arc<Pool>);

impl Threadpool {
    /// Its number: `RTCORBA::ThreadpoolId`.
    #[must_use]
    #[doc(alias = "ThreadpoolId")]
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// Where its lanes listen, in ascending order of their priorities.
    #[must_use]
    pub fn endpoints(&self) -> Vec<(Priority, Endpoint)> {
        self.0.endpoints().collect()
    }

    /// What each lane has done and has to do, in ascending order of priority; one entry for a pool without lanes.
    #[must_use]
    pub fn counters(&self) -> Vec<LaneCounters> {
        self.0.workers.counters()
    }
}

/// A lane that listens.
#[derive(Debug)]
struct PoolLane {
    priority: Priority,
    endpoints: Vec<Endpoint>,
    /// Its reactor lives as long as the pool.
    _reactor: Lane,
}

/// What the clones of a pool share.
#[derive(Debug)]
pub(crate) struct Pool {
    id: u32,
    workers: WorkerPool,
    default_priority: Priority,
    /// In ascending order of priority; `None` for a pool without lanes.
    lanes: Option<Vec<PoolLane>>,
    stop: CancellationToken,
    /// The POAs that have it.
    users: Mutex<Vec<Weak<Adapter>>>,
}

impl Pool {
    /// Starts the threads and the reactors, and listens.
    pub(super) async fn start(
        orb: &Arc<OrbInner>,
        id: u32,
        options: &ThreadpoolOptions,
    ) -> Result<Arc<Self>, Error> {
        let settings = &orb.settings().real_time;
        let mut reactors = Vec::new();
        let mut lanes: Vec<_> = options.lanes.iter().flatten().collect();
        lanes.sort_by_key(|lane| lane.threads.priority);
        for lane in &lanes {
            let priority = lane.threads.priority;
            reactors.push((priority, reactor(id, priority, settings)?));
        }
        let workers = (options.workers(id, settings, orb.lane(), &reactors))
            .map_err(ThreadpoolError::from)?;
        let mut acceptors = Vec::new();
        let mut listening = Vec::new();
        for (lane, (priority, reactor)) in lanes.iter().zip(reactors) {
            let mut endpoints = Vec::new();
            for text in &lane.listen {
                let listener = listen(orb, &reactor, text).await?;
                endpoints.push(listener.endpoint().clone());
                let acceptor = Acceptor::new(listener).in_reactor(Reactor::of(&reactor));
                acceptors.push((acceptor, reactor.handle().clone()));
            }
            listening.push(PoolLane {
                priority,
                endpoints,
                _reactor: reactor,
            });
        }
        let pool = Arc::new(Self {
            id,
            workers,
            default_priority: options.default_priority,
            lanes: options.lanes.is_some().then_some(listening),
            stop: orb.stop_token().child_token(),
            users: Mutex::default(),
        });
        for (acceptor, home) in acceptors {
            orb.watch_served();
            let serving = Arc::clone(orb.serving());
            let run = acceptor.run(Arc::downgrade(orb), serving, pool.stop.clone());
            orb.track_in(&home, run);
        }
        Ok(pool)
    }

    /// Its threads.
    pub(crate) const fn workers(&self) -> &WorkerPool {
        &self.workers
    }

    /// What tells it from every other pool that there is.
    pub(super) fn address(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    pub(super) fn default_priority(&self) -> Priority {
        self.default_priority
    }

    /// The priorities of the lanes, in ascending order; `None` without lanes.
    pub(super) fn lane_priorities(&self) -> Option<Vec<Priority>> {
        let lanes = self.lanes.as_ref()?;
        Some(lanes.iter().map(|lane| lane.priority).collect())
    }

    /// The endpoints of the lanes.
    pub(super) fn endpoints(&self) -> impl Iterator<Item = (Priority, Endpoint)> {
        let lanes = self.lanes.iter().flatten();
        lanes.flat_map(|lane| {
            let endpoints = lane.endpoints.iter().cloned();
            endpoints.map(|endpoint| (lane.priority, endpoint))
        })
    }

    pub(super) fn used_by(&self, adapter: &Arc<Adapter>) {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.retain(|user| user.strong_count() > 0);
        users.push(Arc::downgrade(adapter));
    }

    /// Whether a POA that has not been destroyed has it.
    pub(super) fn is_in_use(&self) -> bool {
        let users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let mut users = users.iter().filter_map(Weak::upgrade);
        users.any(|adapter| !adapter.is_destroyed())
    }

    /// Accepts no more connections, and takes no more requests.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.workers.shutdown().await;
    }
}

/// The reactor of a lane, at its native priority.
fn reactor(
    id: u32,
    priority: Priority,
    settings: &RealTimeSettings,
) -> Result<Lane, ThreadpoolError> {
    let name = format!("pool{id}-io{priority}");
    let unmappable = |_| BuildError::Unmappable {
        priority,
        scheduling: settings.scheduling,
    };
    if !priority.is_valid() {
        return Err(BuildError::PriorityOutOfRange(priority).into());
    }
    let (scheduling, native) = match settings.native(priority).map_err(unmappable)? {
        Some(native) => (settings.scheduling, native),
        None => (Scheduling::Inherited, zorb_executor::NativePriority(0)),
    };
    let started = Lane::dedicated_at(name, scheduling, native);
    started.map_err(|source| match source.kind() {
        std::io::ErrorKind::PermissionDenied => BuildError::Scheduling {
            scheduling,
            native,
            source,
        }
        .into(),
        _ => ThreadpoolError::Reactor { priority, source },
    })
}

/// Listens in the reactor of a lane.
async fn listen(
    orb: &Arc<OrbInner>,
    reactor: &Lane,
    text: &str,
) -> Result<Box<dyn Listener>, Error> {
    let listen = Listen::read(text, orb.transports())
        .map_err(|why| OptionError::bad(Source::Builder, "listen", why))?;
    let scheme = listen.address.endpoint.scheme();
    if !matches!(scheme, "iiop" | "uiop") {
        return Err(ThreadpoolError::Endpoint(text.to_owned()).into());
    }
    let orb = Arc::clone(orb);
    let opened = reactor.spawn(async move { listen.open(orb.transports()).await });
    match opened.await {
        Ok(opened) => Ok(opened?),
        Err(_) => Err(Error::Lane(zorb_executor::LaneError::NoRuntime)),
    }
}
