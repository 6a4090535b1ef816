//! The atomics and locks of the crate. The models in `models/` replace them by those of loom.

#[cfg(not(zorb_model))]
mod real {
    pub(crate) use atomic_waker::AtomicWaker;
    pub(crate) use core::sync::atomic::{
        AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub(crate) use std::sync::{Mutex, MutexGuard};
    pub(crate) use std::{thread, thread_local};
    pub(crate) use tokio::time;

    /// A value that an exchange checks. Models take the newest one, since with any other the exchange fails.
    #[inline(always)]
    pub(crate) fn newest(of: &AtomicU64) -> u64 {
        of.load(Ordering::Acquire)
    }

    /// The atomics and locks of the write side. Models of other parts do not explore it.
    pub(crate) mod writes {
        pub(crate) use super::{
            AtomicBool, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering, fence,
        };
    }

    /// The clock and the scheduler that a spin uses.
    pub(crate) mod clock {
        pub(crate) use std::thread::yield_now;
        use std::time::Instant;

        #[inline]
        pub(crate) fn now() -> Instant {
            Instant::now()
        }
    }
}

#[cfg(not(zorb_model))]
pub(crate) use real::*;

#[cfg(zorb_model)]
pub(crate) use crate::loom_sync::{
    AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, AtomicWaker, Mutex, MutexGuard,
    Ordering, clock, newest, thread, thread_local, time, writes,
};
