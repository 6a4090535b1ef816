//! Reactors beside that of the owner's lane.

use crate::end::FINISHED_WITHIN;
use crate::spin::SpinLimits;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zorb_executor::{Lane, WaitPolicy};

/// The reactor that reads the connections of an acceptor, where that is not the one of its owner's lane: each lane of a
/// real-time thread pool has its own, so that no thread handles the input of another lane.
///
/// It does not keep the lane alive.
#[derive(Debug, Clone)]
pub struct Reactor {
    pub(crate) handle: Handle,
    pub(crate) spin: SpinLimits,
    pub(crate) wait: WaitPolicy,
    /// Its connections read no more, and end when none of their upcalls is pending.
    pub(crate) stop: CancellationToken,
    /// The drivers of its connections.
    pub(crate) drivers: TaskTracker,
}

impl Reactor {
    /// The reactor of a lane.
    #[must_use]
    pub fn of(lane: &Lane) -> Self {
        Self {
            handle: lane.handle().clone(),
            spin: SpinLimits::of(lane, lane.handle().id()),
            wait: lane.wait(),
            stop: CancellationToken::new(),
            drivers: TaskTracker::new(),
        }
    }

    /// Has its connections end behind their pending upcalls, with CloseConnection: as those of an owner that is stopping. They
    /// find that when they are [woken](crate::Serving::wake_all).
    pub fn stop(&self) {
        self.stop.cancel();
        self.drivers.close();
    }

    /// Ready when every connection has ended. To be asked once it is stopped. Peers have a bounded time to read what is left,
    /// and upcalls that time to end.
    ///
    /// # Cancel safety
    /// Safe.
    pub async fn ended(&self) {
        let _ = tokio::time::timeout(FINISHED_WITHIN, self.drivers.wait()).await;
    }
}
