//! An allocator that counts while counting is on: `#[global_allocator] static A: Counting = Counting;`.

#![expect(
    unsafe_code,
    reason = "an allocator can only be replaced by an unsafe implementation"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The system's allocator. Until [`start`] it costs one load more.
#[derive(Debug)]
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static OCTETS: AtomicU64 = AtomicU64::new(0);

/// Counts from now on, in every thread.
pub fn start() {
    ON.store(true, Ordering::Relaxed);
}

/// Allocations of the process, growing ones included, and their octets; `None` while counting is off.
#[must_use]
pub fn so_far() -> Option<(u64, u64)> {
    let counts = (
        ALLOCATIONS.load(Ordering::Relaxed),
        OCTETS.load(Ordering::Relaxed),
    );
    ON.load(Ordering::Relaxed).then_some(counts)
}

/// The allocations between two counts.
#[must_use]
pub fn between(before: Option<(u64, u64)>, after: Option<(u64, u64)>) -> Option<(u64, u64)> {
    let (before, after) = (before?, after?);
    Some((after.0 - before.0, after.1 - before.1))
}

fn count(octets: usize) {
    if ON.load(Ordering::Relaxed) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        OCTETS.fetch_add(octets as u64, Ordering::Relaxed);
    }
}

// SAFETY: every method hands its arguments to the system's allocator as they are, which keeps the contract; counting
// touches nothing but atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as for `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: `at` came from this allocator, that is from `System`, with this layout.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from this allocator, that is from `System`, with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_between_counts_that_were_not_taken() {
        assert_eq!(between(None, Some((1, 1))), None);
        assert_eq!(between(Some((1, 10)), Some((3, 50))), Some((2, 40)));
    }
}
