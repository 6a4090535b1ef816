//! The stack that values within values take, and more of it.
//!
//! Values are read and written by functions that call each other once for each value in a value, so a list that is built
//! of values takes stack by its length. A thread's stack has the size that its creator chose, 2 MiB for tokio's
//! workers; with the feature `deep-values` it gets another piece where that runs out, up to [`Limits::VALUE_STACK`].

use crate::Limits;

/// The stack of one level of [`nested`](crate::Decoder::nested) at most, generously: a level in an any takes half of it
/// in a debug build.
const LEVEL: usize = 4 << 10;

/// Octets of a piece of stack, beside what has to be left. Of what is not used the system gives us no memory, and pieces
/// that are large are few.
const PIECE: usize = 16 << 20;

/// Values that a segment of stack counts as: allocating and freeing one costs as much, and a peer's values could cross its edge
/// again and again.
pub(crate) const PIECE_IN_VALUES: u32 = 16;

/// Pieces of stack that values have got.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pieces {
    /// Octets of those that are in use.
    octets: usize,
}

/// The step before the next value.
pub(crate) enum Room {
    /// The stack suffices.
    Enough,
    /// A further piece of stack of so many octets is needed.
    Get(usize),
    /// The limit of stack is reached.
    None,
    /// The stack's size is unknown, so levels have to be counted.
    Unknown,
}

impl Pieces {
    /// Whether there is stack for a value in which there are `levels` of something else, before the next value in it.
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

/// Octets of stack that this thread has left.
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

/// Calls `f` with a new piece of stack of so many octets.
#[cfg(feature = "deep-values")]
pub(crate) fn on_more<R>(octets: usize, f: impl FnOnce() -> R) -> R {
    stacker::grow(octets, f)
}

#[cfg(not(feature = "deep-values"))]
pub(crate) fn on_more<R>(_: usize, f: impl FnOnce() -> R) -> R {
    f()
}
