//! An allocator that counts what each thread asks for: a test and the server it talks to share a thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting.
pub(crate) struct Counting;

thread_local! {
    /// Requests of this thread, freed again or not.
    pub(crate) static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Octets of these requests.
    pub(crate) static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

fn count(octets: usize) {
    // A thread that is ending has no counters any more.
    let _ = ALLOCATIONS.try_with(|all| all.set(all.get() + 1));
    let _ = ALLOCATED.try_with(|all| all.set(all.get() + octets));
}

// SAFETY: every method hands its arguments to the system's allocator as they are, which keeps the
// contract; counting touches nothing else.
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

/// Octets that `work` asks the allocator for, freed again or not.
pub(crate) fn allocated_by<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = ALLOCATED.get();
    let result = work();
    (ALLOCATED.get() - before, result)
}
