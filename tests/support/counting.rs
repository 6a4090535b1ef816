//! An allocator that counts what each thread asks for, and what is held of it: a test and the server it talks to share a
//! thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting.
pub(crate) struct Counting;

thread_local! {
    /// Requests of this thread, freed again or not.
    pub(crate) static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Octets of these requests.
    pub(crate) static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    /// Octets of this thread's requests less those that it has freed: modulo the size of the address space, as a thread
    /// may free what another one asked for.
    static HELD: Cell<usize> = const { Cell::new(0) };
    /// The most that [`HELD`] has been since [`held_by`] began.
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn count(octets: usize) {
    // A thread that is ending has no counters any more.
    let _ = ALLOCATIONS.try_with(|all| all.set(all.get() + 1));
    let _ = ALLOCATED.try_with(|all| all.set(all.get() + octets));
}

/// Memory held grows by `change` octets, modulo the size of the address space.
fn hold(change: usize) {
    let held = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(change));
        held.get()
    });
    if let Ok(held) = held {
        let _ = PEAK.try_with(|peak| {
            if held.cast_signed() > peak.get().cast_signed() {
                peak.set(held);
            }
        });
    }
}

// SAFETY: every method hands its arguments to the system's allocator as they are, which keeps the
// contract; counting touches nothing else.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        hold(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        hold(layout.size());
        // SAFETY: as for `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        hold(size.wrapping_sub(layout.size()));
        // SAFETY: `at` came from this allocator, that is from `System`, with this layout.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        hold(layout.size().wrapping_neg());
        // SAFETY: `at` came from this allocator, that is from `System`, with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Memory that was held while something was done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// The most octets at any time, beside those that were held before.
    pub(crate) peak: usize,
    /// Octets that are held still.
    pub(crate) live: usize,
}

/// Begins to measure; what this gives back goes to [`held_since`].
pub(crate) fn hold_from_here() -> usize {
    let before = HELD.get();
    PEAK.set(before);
    before
}

/// Memory that has been held since [`hold_from_here`].
pub(crate) fn held_since(before: usize) -> Memory {
    let more = |octets: usize| {
        let more = octets.wrapping_sub(before).cast_signed();
        usize::try_from(more).unwrap_or(0)
    };
    Memory {
        peak: more(PEAK.get()),
        live: more(HELD.get()),
    }
}

/// Octets that `work` asks the allocator for, freed again or not.
pub(crate) fn allocated_by<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = ALLOCATED.get();
    let result = work();
    (ALLOCATED.get() - before, result)
}
