//! Stack for values within values.
//!
//! Values are read and written by functions that call each other once for each value in a value, so a list of values
//! takes stack in proportion to its length. A thread's stack has the size that its creator chose, 2 MiB for tokio's
//! workers. With the feature `deep-values` a thread whose stack runs out gets another piece, up to
//! [`Limits::VALUE_STACK`] in all.

use crate::Limits;

/// An upper bound of the stack that one level of [`nested`](crate::Decoder::nested) takes. A level in an any takes half
/// of it in a debug build.
const LEVEL: usize = 4 << 10;

/// Octets of a piece of stack, beside the reserve for one more value. Large pieces are few, and the system provides no
/// memory for unused pages.
const PIECE: usize = 16 << 20;

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

    pub(crate) const fn with(self, octets: usize) -> Self {
        Self {
            octets: self.octets.saturating_add(octets),
        }
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
