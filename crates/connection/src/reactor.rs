//! Reactors beside that of the owner's lane.

use crate::spin::SpinLimits;
use tokio::runtime::Handle;
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
}

impl Reactor {
    /// The reactor of a lane.
    #[must_use]
    pub fn of(lane: &Lane) -> Self {
        Self {
            handle: lane.handle().clone(),
            spin: SpinLimits::of(lane, lane.handle().id()),
            wait: lane.wait(),
        }
    }
}
