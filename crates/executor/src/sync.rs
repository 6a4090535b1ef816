//! The threads and the lock that a pool's queue is built from. The models in `models/` replace them by loom's.

#[cfg(not(zorb_model))]
mod real {
    pub(crate) use crate::lock::{Guard, Lock};
    pub(crate) use std::thread::{self, Thread};
}

#[cfg(not(zorb_model))]
pub(crate) use real::*;

#[cfg(zorb_model)]
pub(crate) use crate::loom_sync::{Guard, Lock, Thread, thread};
