//! The synchronisation that adapters are built from. The models in `models/` replace it by loom's.

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
