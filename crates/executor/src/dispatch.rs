use tokio::runtime::RuntimeFlavor;

use crate::WorkerPool;

/// Which thread runs the upcalls of a [`Lane`](crate::Lane); the crate's front page has a table of what each promises.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Dispatch {
    /// The thread that read the request: no queue, no hand-over. For upcalls that neither block nor compute for long.
    /// On a multi-thread runtime that is a worker of it, or a thread that one of several busy connections has for as long
    /// as they are, if they are waited for [adaptively](crate::WaitPolicy::Adaptive).
    #[default]
    InPlace,
    /// The thread that read the request, once it has passed its other duties to another one (tokio's
    /// `block_in_place`). Only for lanes on a multi-thread runtime.
    BlockInPlace,
    /// The threads of a pool.
    Pool(WorkerPool),
}

impl Dispatch {
    /// Whether a runtime of this flavour can do it.
    #[must_use]
    pub fn fits(&self, flavor: RuntimeFlavor) -> bool {
        !(matches!(self, Self::BlockInPlace) && flavor == RuntimeFlavor::CurrentThread)
    }
}
