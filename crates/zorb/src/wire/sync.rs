//! What the smallest parts synchronise by; the models in `tests/models` put loom's in its place.

pub(super) use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
};
pub(super) use std::sync::{Mutex, MutexGuard};
