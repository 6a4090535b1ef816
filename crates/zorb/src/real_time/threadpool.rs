//! Thread pools, and their lanes.

use super::settings::RealTimeSettings;
use crate::endpoints::{CurrentEndpoints, Listen};
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio_util::sync::CancellationToken;
use zorb_connection::Reactor;
use zorb_executor::{
    Builder as WorkerPoolBuilder, Lane, LaneCounters, LaneThreads, Priority, WorkerPool,
};
use zorb_poa::Adapter;
use zorb_transport::Endpoint;

/// A lane of a thread pool: `RTCORBA::ThreadpoolLane`, with its endpoints.
///
/// Source: Real-time CORBA 1.2, section 5.8, "Thread Pools".
#[derive(Debug, Clone)]
#[must_use = "a lane does nothing until a pool has it"]
pub struct ThreadpoolLane {
    pub(super) threads: LaneThreads,
    pub(super) listen: Vec<String>,
}

impl ThreadpoolLane {
    /// A lane of this priority with this many static threads, which start with the pool.
    pub const fn new(priority: Priority, static_threads: usize) -> Self {
        Self {
            threads: LaneThreads::new(priority, static_threads),
            listen: Vec::new(),
        }
    }

    /// Sets the number of dynamic threads, which start when all others are busy; 0 unless set.
    pub const fn dynamic(mut self, dynamic_threads: usize) -> Self {
        self.threads = self.threads.dynamic(dynamic_threads);
        self
    }

    /// Adds an endpoint of the lane, in the syntax of [`Builder::listen`](crate::Builder::listen), of any transport that
    /// has a profile in references; another one is [`ThreadpoolError::Endpoint`](crate::real_time::ThreadpoolError::Endpoint). May
    /// be repeated. A lane that listens nowhere serves requests that arrive at the ORB's endpoints, and collocated calls.
    #[doc(alias = "-ORBLaneListenEndpoints")]
    pub fn listen(mut self, endpoint: impl Into<String>) -> Self {
        self.listen.push(endpoint.into());
        self
    }
}

/// The configuration of a thread pool: the arguments of `create_threadpool` and `create_threadpool_with_lanes`.
///
/// When no thread is free, up to 1,024 requests of any size wait, unless [`buffering`](Self::buffering) is set.
///
/// Source: Real-time CORBA 1.2, section 5.8, "Thread Pools".
#[derive(Debug, Clone)]
#[must_use = "a description does nothing until a pool is created"]
pub struct ThreadpoolOptions {
    static_threads: usize,
    dynamic_threads: usize,
    pub(super) default_priority: Priority,
    pub(super) lanes: Option<Vec<ThreadpoolLane>>,
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

    /// A pool with lanes: a request goes to the lane of its priority, whose threads and reactor keep that priority.
    #[doc(alias = "create_threadpool_with_lanes")]
    pub fn with_lanes(lanes: impl IntoIterator<Item = ThreadpoolLane>) -> Self {
        Self {
            lanes: Some(lanes.into_iter().collect()),
            ..Self::new(0, Priority::MIN)
        }
    }

    /// Sets the number of dynamic threads of a pool without lanes, which start when all others are busy; 0 unless set.
    pub const fn dynamic_threads(mut self, dynamic_threads: usize) -> Self {
        self.dynamic_threads = dynamic_threads;
        self
    }

    /// Whether a lane without an idle thread may borrow one of a lower lane, raised to its own priority; `false` unless
    /// set.
    #[doc(alias = "allow_borrowing")]
    pub const fn borrowing(mut self, allow_borrowing: bool) -> Self {
        self.allow_borrowing = allow_borrowing;
        self
    }

    /// Limits the waiting requests, by number and by octets. Zero means no such limit, but without a limit on requests,
    /// 1,024 of them wait. A request beyond either limit is TRANSIENT, minor code 1. The limits hold for all lanes
    /// together; each lane leaves an equal share to every lane above it.
    #[doc(alias = "max_buffered_requests")]
    #[doc(alias = "max_request_buffer_size")]
    pub const fn buffering(mut self, max_requests: usize, max_octets: usize) -> Self {
        self.buffering = Buffering::Bounded(max_requests, max_octets);
        self
    }

    /// Disables buffering: a request for which no thread is free is TRANSIENT, minor code 1.
    #[doc(alias = "allow_request_buffering")]
    pub const fn without_buffering(mut self) -> Self {
        self.buffering = Buffering::Off;
        self
    }

    /// The stack of each thread, in octets; 0 for the default.
    pub const fn stack_size(mut self, octets: usize) -> Self {
        self.stack_size = octets;
        self
    }

    /// The CPUs on which the threads run, by number; all unless set.
    pub fn cpus(mut self, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.cpus = cpus.into_iter().collect();
        self
    }

    /// The idle time after which a dynamic thread ends; 10 s unless set.
    pub const fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// The builder of the pool's threads, without the reactors of the lanes.
    pub(super) fn workers(
        &self,
        id: u32,
        settings: &RealTimeSettings,
        home: &Lane,
    ) -> WorkerPoolBuilder {
        let mut builder = WorkerPool::builder()
            .name(format!("pool{id}"))
            .lane(home)
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
        builder
    }
}

/// The limits on requests that wait for a thread.
#[derive(Debug, Clone, Copy)]
enum Buffering {
    Default,
    Off,
    /// Requests, and octets of them; 0 for no such limit.
    Bounded(usize, usize),
}

/// A thread pool of an ORB. A clone costs a reference count and is the same pool.
///
/// # The life of a lane
/// ```text
///  create_threadpool                                    destroy_threadpool, once no POA has the pool
///        │                                                     │
///        ▼                                                     ▼
///  ┌──────────┐  every thread has its    ┌─────────┐     ┌───────────┐  the queue is  ┌───────┐
///  │ starting │─────────────────────────▶│ serving │────▶│  closing  │───────────────▶│ ended │
///  └──────────┘  priority and its CPUs,  └─────────┘     └───────────┘  empty         └───────┘
///        │       endpoints are open
///        ▼
///  ThreadpoolError: all that was started ends again
///
///  the life of a request:
///
///   socket ──▶ reactor ──▶ queue ───────────────▶ thread ──▶ servant ──▶ reply ──▶ socket
///              reads it,   by priority, then      │  static: waits for the next request
///              at the      deadline, then         │  dynamic: ends after idle_timeout
///              lane's      arrival                └─ borrowed: raised for one request of a higher
///              priority    │                                   lane, then restored
///                          ├─ full: TRANSIENT, minor code 1
///                          └─ deadline past when a thread gets to it: TIMEOUT, no upcall
/// ```
///
/// All lanes share the pool's buffer for waiting requests, as specified. Each lane leaves an equal share of it to every
/// lane above, so that requests of low priority cannot use up the room of urgent ones. Lanes that must not share a
/// buffer belong to pools of their own.
///
/// It lives until [`RtOrb::destroy_threadpool`](super::RtOrb::destroy_threadpool) or the shutdown of its ORB. Source:
/// Real-time CORBA 1.2, section 5.8, "Thread Pools".
#[derive(Debug, Clone)]
pub struct Threadpool(pub(super) Arc<Pool>);

impl Threadpool {
    /// The id of the pool: `RTCORBA::ThreadpoolId`.
    #[must_use]
    #[doc(alias = "ThreadpoolId")]
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// The endpoints of the lanes, in ascending order of priority.
    #[must_use]
    pub fn endpoints(&self) -> Vec<(Priority, Endpoint)> {
        self.0.endpoints().collect()
    }

    /// Statistics and queue of each lane, in ascending order of priority; one entry for a pool without lanes.
    #[must_use]
    pub fn counters(&self) -> Vec<LaneCounters> {
        self.0.workers.counters()
    }
}

/// A lane of a running pool.
#[derive(Debug)]
pub(super) struct PoolLane {
    pub(super) priority: Priority,
    pub(super) listening: Vec<(Listen, Endpoint)>,
    /// The reactor that reads the connections of the lane.
    pub(super) reader: Reactor,
    /// The reactor's thread, which lives as long as the pool.
    pub(super) _reactor: Lane,
}

/// The state that clones of a pool share.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(super) id: u32,
    pub(super) workers: WorkerPool,
    pub(super) default_priority: Priority,
    /// The lanes in ascending order of priority; `None` for a pool without lanes.
    pub(super) lanes: Option<Vec<PoolLane>>,
    pub(super) stop: CancellationToken,
    /// The POAs that use the pool.
    pub(super) users: Mutex<Vec<Weak<Adapter>>>,
}

impl Pool {
    /// The threads of the pool.
    pub(crate) const fn workers(&self) -> &WorkerPool {
        &self.workers
    }

    /// Identifies the pool among those of all ORBs.
    pub(super) fn address(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    pub(super) fn default_priority(&self) -> Priority {
        self.default_priority
    }

    /// The priorities of the lanes, in ascending order; `None` without lanes.
    pub(super) fn lane_priorities(&self) -> Option<impl Iterator<Item = Priority> + Clone> {
        let lanes = self.lanes.as_ref()?;
        Some(lanes.iter().map(|lane| lane.priority))
    }

    /// The endpoints of the lanes.
    pub(super) fn endpoints(&self) -> impl Iterator<Item = (Priority, Endpoint)> {
        self.listeners()
            .map(|(priority, _, endpoint)| (priority, endpoint.clone()))
    }

    /// The endpoints of the lanes as references name them.
    pub(super) fn published(
        &self,
        by: &CurrentEndpoints,
    ) -> impl Iterator<Item = (Priority, Endpoint)> {
        self.listeners().flat_map(|(priority, listen, endpoint)| {
            let published = by.of_listener(listen, endpoint).into_iter();
            published.map(move |endpoint| (priority, endpoint))
        })
    }

    /// Whether a reference that names `endpoint` leads to one of the lanes.
    pub(super) fn is_named_by(&self, endpoint: &Endpoint, by: &CurrentEndpoints) -> bool {
        self.listeners().any(|(_, listen, own)| {
            by.names(own, endpoint) || by.of_listener(listen, own).contains(endpoint)
        })
    }

    fn listeners(&self) -> impl Iterator<Item = (Priority, &Listen, &Endpoint)> {
        let lanes = self.lanes.iter().flatten();
        lanes.flat_map(|lane| {
            let listening = lane.listening.iter();
            listening.map(|(listen, endpoint)| (lane.priority, listen, endpoint))
        })
    }

    pub(super) fn used_by(&self, adapter: &Arc<Adapter>) {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.retain(|user| user.strong_count() > 0);
        users.push(Arc::downgrade(adapter));
    }

    /// Whether a POA that has not been destroyed uses the pool.
    pub(super) fn is_in_use(&self) -> bool {
        let users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let mut users = users.iter().filter_map(Weak::upgrade);
        users.any(|adapter| !adapter.is_destroyed())
    }
}
