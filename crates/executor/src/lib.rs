//! Who runs a piece of work, on which thread and in which order. Knows nothing of what the work is.
//!
//! A [`Lane`] is a tokio runtime seen as a place where connections live and requests are read: the one that we are
//! in, or a thread of its own. A [`WorkerPool`] is the other half of the half-sync/half-async pattern: a bounded
//! queue, ordered by [`Priority`], and plain threads that run whatever comes, even if it blocks or computes for long,
//! while the lane goes on reading. [`Dispatch`] says which of the two runs the upcalls of a lane.
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
//! use zorb_executor::{Lane, Priority, WorkerPool};
//!
//! # fn main() -> std::io::Result<()> {
//! let lane = Lane::dedicated("reader")?;
//! let pool = WorkerPool::builder().lane(&lane).name("worker").threads(2).queue_capacity(64).build()?;
//!
//! let (done, result) = std::sync::mpsc::channel();
//! let job = Box::pin(async move { done.send(6 * 7).expect("somebody waits") });
//! pool.try_submit(Priority::default(), job).expect("the queue is empty");
//! assert_eq!(result.recv(), Ok(42));
//! # Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod dispatch;
mod lane;
mod pool;
mod sentinel;
mod wait;

pub use dispatch::Dispatch;
pub use lane::{Lane, LaneError, LaneId};
pub use pool::{Builder, Job, Priority, RejectReason, Rejected, WorkerPool};
pub use sentinel::Held;
pub use wait::WaitPolicy;
