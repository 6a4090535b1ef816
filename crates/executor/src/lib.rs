//! Lanes and thread pools, which decide which thread runs a piece of work, and in which order. They know nothing of the
//! work.
//!
//! A [`Lane`] is a tokio runtime as a place where connections live and requests are read: that of the caller, or a
//! thread of its own. A [`WorkerPool`] is the other half of the half-sync/half-async pattern. It has bounded queues,
//! ordered by [`Priority`] and deadline, and plain threads that run jobs, even those that block or compute for long,
//! while the lane goes on reading. [`Dispatch`] selects which of the two runs the upcalls of a lane.
//!
//! For real-time work a pool has lanes of threads at native priorities: [`LaneThreads`], [`Scheduling`], a
//! [`PriorityMapping`] from CORBA's priorities to those of the system, and a lock with priority inheritance,
//! `RtMutex` (on Linux).
//!
//! # What a lane promises
//! | lane's runtime | [`Dispatch`] | while one upcall blocks or computes |
//! |---|---|---|
//! | current-thread | `InPlace` | nothing else in the lane runs |
//! | multi-thread | `InPlace` | everything goes on while another worker is free ([`Lane::hold`]), but for a task that the blocked worker itself woke last |
//! | multi-thread | `BlockInPlace` | everything goes on, at the price of moving the worker's duties to another thread |
//! | any | `Pool` | everything goes on, as many upcalls at once as the pool has threads |
//!
//! ```
//! # mod zorb { pub extern crate zorb_executor as executor; }
//! use zorb::executor::{Lane, Priority, WorkerPool};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lane = Lane::dedicated("reader")?;
//! let pool = WorkerPool::builder().lane(&lane).name("worker").threads(2).queue_capacity(64).build()?;
//!
//! let (done, result) = std::sync::mpsc::channel();
//! let job = pool.job(async move { done.send(6 * 7).expect("the receiver is there") });
//! pool.try_submit(Priority::default(), job).expect("a thread is free");
//! assert_eq!(result.recv(), Ok(42));
//! # Ok(()) }
//! ```
//!
//! Lanes at real-time priorities, where the process may have them:
//! ```
//! # mod zorb { pub extern crate zorb_executor as executor; }
//! use zorb::executor::{BuildError, Lane, LaneThreads, Priority, Scheduling, WorkerPool};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let reactor = Lane::dedicated("reactor")?;
//! let pool = WorkerPool::builder()
//!     .lane(&reactor)
//!     .lanes([
//!         LaneThreads::new(Priority(1_000), 2).dynamic(2),
//!         LaneThreads::new(Priority(30_000), 1),
//!     ])
//!     .borrowing(true)
//!     .scheduling(Scheduling::Fifo)
//!     .build();
//! match pool {
//!     Ok(pool) => assert_eq!(pool.counters().len(), 2),
//!     // No pool falls back to another scheduling policy.
//!     Err(error @ BuildError::Scheduling { .. }) => println!("{error}"),
//!     Err(error) => return Err(error.into()),
//! }
//! # Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod blocking_monitor;
mod dispatch;
mod error;
mod lane;
#[cfg(not(zorb_model))]
mod lock;
#[cfg(zorb_model)]
#[path = "../models/loom_sync.rs"]
mod loom_sync;
#[cfg(not(zorb_model))]
mod main_loop;
#[cfg(target_os = "linux")]
mod mutex;
mod native;
mod pool;
mod priority;
mod sync;
mod wait;
mod worker_holder;

pub use blocking_monitor::BlockingGuard;
pub use dispatch::Dispatch;
pub use error::{BuildError, LaneError};
pub use lane::{Lane, LaneBuilder, LaneId};
#[cfg(not(zorb_model))]
pub use main_loop::MainLoop;
#[cfg(target_os = "linux")]
pub use mutex::{RtMutex, RtMutexGuard};
pub use native::{Scheduling, current_thread_scheduling};
pub use pool::{
    Builder, Job, LaneCounters, LaneThreads, RejectReason, Rejected, SpawnError, Spawned,
    Submission, WorkerPool, blocking, current_priority,
};
pub use priority::{
    ContinuousMapping, DirectMapping, LinearMapping, NativePriority, Priority, PriorityMapping,
};
pub use wait::WaitPolicy;
pub use worker_holder::{Watcher, WorkerHolder};
pub use zorb_shares::{Client, HostKey};
