//! Stack for values within values.
//!
//! Values are read and written by functions that call each other once for each value in a value, so a list of values
//! takes stack in proportion to its length. A thread's stack has the size that its creator chose, 2 MiB for tokio's
//! workers. With the feature `deep-values` a thread whose stack runs out gets another piece, up to
//! [`Limits::VALUE_STACK`] in all.

use crate::Limits;
use core::sync::atomic::{AtomicUsize, Ordering};

/// An upper bound of the stack that one level of [`nested`](crate::Decoder::nested) takes. A level in an any takes half
/// of it in a debug build.
const LEVEL: usize = 4 << 10;

/// Octets of a piece of stack, beside the reserve for one more value. Each counts as memory in use, whether it is or not.
const PIECE: usize = 4 << 20;

/// Values that a piece of stack counts as. Allocating and freeing one costs as much, and a peer's values could cross
/// its edge again and again.
pub(crate) const PIECE_IN_VALUES: u32 = 16;

/// Pieces of stack that were allocated for values.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pieces {
    /// Octets of the pieces that are in use.
    octets: usize,
}

/// The stack that the next value has.
pub(crate) enum Room {
    /// The stack suffices.
    Enough,
    /// A further piece of this many octets is needed.
    Get(usize),
    /// The limit of stack is reached.
    None,
    /// The stack's size is unknown, so levels have to be counted.
    Unknown,
}

impl Pieces {
    /// Returns whether there is stack for a value with `levels` of nesting in it, before the next value in it.
    #[inline]
    pub(crate) fn room(self, levels: u16) -> Room {
        let reserve = usize::from(levels).saturating_mul(LEVEL);
        match left() {
            None => Room::Unknown,
            Some(left) if left >= reserve => Room::Enough,
            Some(_) if self.octets >= Limits::VALUE_STACK => Room::None,
            Some(_) => Room::Get(reserve.saturating_add(PIECE)),
        }
    }

    pub(crate) const fn exceeds(self, octets: usize) -> bool {
        self.octets > octets
    }

    pub(crate) const fn with(self, octets: usize) -> Self {
        Self {
            octets: self.octets.saturating_add(octets),
        }
    }
}

/// Octets of the pieces that all writers of the process have in use.
static OF_WRITERS: AtomicUsize = AtomicUsize::new(0);

/// Pieces of stack of a writer, until it is dropped. Readers count theirs with the memory of their messages, of which
/// writers know nothing.
pub(crate) struct WriterPiece {
    octets: usize,
}

impl WriterPiece {
    /// Takes a piece; `None` if all writers together would have more than [`Limits::WRITERS_STACK`].
    pub(crate) fn take(octets: usize) -> Option<Self> {
        let fits = |all: usize| {
            let all = all.checked_add(octets);
            all.filter(|all| *all <= Limits::WRITERS_STACK)
        };
        let taken = OF_WRITERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        taken.ok().map(|_| Self { octets })
    }
}

impl Drop for WriterPiece {
    fn drop(&mut self) {
        OF_WRITERS.fetch_sub(self.octets, Ordering::Relaxed);
    }
}

/// Returns the number of octets of stack that this thread has left.
#[cfg(feature = "deep-values")]
#[inline]
fn left() -> Option<usize> {
    stacker::remaining_stack()
}

#[cfg(not(feature = "deep-values"))]
#[inline]
const fn left() -> Option<usize> {
    None
}

/// Calls `f` on a new piece of stack of `octets` octets.
#[cfg(feature = "deep-values")]
pub(crate) fn on_more<R>(octets: usize, f: impl FnOnce() -> R) -> R {
    stacker::grow(octets, f)
}

#[cfg(not(feature = "deep-values"))]
pub(crate) fn on_more<R>(_: usize, f: impl FnOnce() -> R) -> R {
    f()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_writers_together_have_a_limit_of_stack() {
        let half = Limits::WRITERS_STACK / 2;
        let first = WriterPiece::take(half + 1);
        assert!(first.is_some() && WriterPiece::take(half).is_none());
        drop(first);
        assert!(WriterPiece::take(half).is_some());
        assert!(WriterPiece::take(usize::MAX).is_none());
    }
}
