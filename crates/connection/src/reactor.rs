//! Reactors other than that of the owner's lane.

use crate::end::FINISHED_WITHIN;
use crate::spin::SpinLimits;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zorb_executor::{Lane, WaitPolicy};

/// The reactor that reads the connections of an acceptor, if it is not that of its owner's lane. Each lane of a real-time
/// thread pool has its own reactor, so that no thread handles the input of another lane.
///
/// A `Reactor` does not keep its lane alive.
#[derive(Debug, Clone)]
pub struct Reactor {
    pub(crate) handle: Handle,
    pub(crate) spin: SpinLimits,
    pub(crate) wait: WaitPolicy,
    /// Once cancelled, its connections stop reading, and end when none of their upcalls is pending.
    pub(crate) stop: CancellationToken,
    /// The drivers of its connections.
    pub(crate) drivers: TaskTracker,
}

impl Reactor {
    /// Makes the reactor of a lane: its connections are read in the lane's runtime, and wait by the lane's policy.
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

    /// Ends its connections after their pending upcalls, with CloseConnection, as a stopping owner ends its own. The
    /// connections notice it when they are [woken](crate::Serving::wake_all).
    pub fn stop(&self) {
        self.stop.cancel();
        self.drivers.close();
    }

    /// Ready when every connection has ended; to be called after [`stop`](Self::stop). The wait is bounded in time, for
    /// upcalls to end and for peers to read their replies.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing, and can be repeated.
    pub async fn ended(&self) {
        let _ = tokio::time::timeout(FINISHED_WITHIN, self.drivers.wait()).await;
    }
}
