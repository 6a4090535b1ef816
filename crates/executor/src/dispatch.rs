//! The threads on which upcalls run.

use tokio::runtime::RuntimeFlavor;

use crate::WorkerPool;

/// The thread that runs the upcalls of a [`Lane`](crate::Lane). The crate's front page has a table of what each
/// promises.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Dispatch {
    /// The thread that read the request: no queue, no hand-over. For upcalls that neither block nor compute for long.
    /// On a multi-thread runtime that is a worker of it. With [adaptive](crate::WaitPolicy::Adaptive) waits, each of
    /// several busy connections may have a thread of its own instead, while they are busy.
    #[default]
    InPlace,
    /// The thread that read the request, once it has passed its other duties to another one (tokio's
    /// `block_in_place`). Only for lanes on a multi-thread runtime.
    BlockInPlace,
    /// The threads of a pool.
    Pool(WorkerPool),
}

impl Dispatch {
    /// Whether a runtime of this flavour supports it.
    #[must_use]
    pub fn fits(&self, flavor: RuntimeFlavor) -> bool {
        !(matches!(self, Self::BlockInPlace) && flavor == RuntimeFlavor::CurrentThread)
    }
}
