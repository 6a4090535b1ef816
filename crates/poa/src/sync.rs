//! The atomics and locks of the crate. The models in `models/` replace them by those of loom.

#[cfg(not(zorb_model))]
mod real {
    pub(crate) use arc_swap::ArcSwapOption;
    pub(crate) use core::sync::atomic::{
        AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    };
    pub(crate) use std::sync::{
        Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
    };
}

#[cfg(not(zorb_model))]
pub(crate) use real::*;

#[cfg(zorb_model)]
pub(crate) use crate::loom_sync::{
    ArcSwapOption, AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Mutex, MutexGuard,
    OnceLock, Ordering, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
