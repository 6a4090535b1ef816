//! What is known of the values of a message that is read.

use super::Ids;
use crate::value::Shared;
use alloc::{collections::BTreeMap, vec::Vec};
use core::fmt;

/// What is not in chunks has no end that would be known beforehand.
pub(super) const NO_CHUNK: usize = usize::MAX;
/// No end tag has been read that would end outer values too.
pub(super) const NOT_ENDED: u16 = u16::MAX;

/// What is known of the values of a message.
#[derive(Clone)]
pub(in crate::decoder) struct ValueReader<'de> {
    /// All octets of the message, or of the encapsulation.
    pub(super) whole: &'de [u8],
    pub(super) little: bool,
    /// By the positions of their tags.
    pub(super) values: BTreeMap<usize, Known>,
    /// Where values begin that are being read.
    pub(super) open: Vec<usize>,
    pub(super) shared: SharedValues,
    /// Repository ids and codebases, by the positions of their lengths.
    pub(super) strings: BTreeMap<usize, &'de [u8]>,
    /// Lists of repository ids, by the positions of their counts.
    pub(super) lists: BTreeMap<usize, Ids<'de>>,
    /// Values in chunks that are being read.
    pub(super) depth: u16,
    /// Where the current chunk ends; the current position between two chunks; [`NO_CHUNK`] outside of any.
    pub(super) chunk_end: usize,
    /// The depth of the outermost value that an end tag has ended before it was this value's turn.
    pub(super) ended: u16,
    /// Values that have begun.
    pub(super) count: u32,
    /// Where the last indirection to a value led.
    pub(super) again: usize,
    /// Octets that were read again.
    pub(super) again_octets: usize,
}

/// The values that [`Decoder::share_value`] was given, and whether they go round in circles.
#[derive(Clone, Default)]
pub(super) struct SharedValues {
    pub(super) values: Vec<Shared>,
    pub(super) cyclic: bool,
    pub(super) collector: Option<CycleCollector>,
}

/// What becomes of the values of a message among which there are cycles: something that takes those apart, which
/// nobody else refers to, when it is dropped.
pub type CycleCollector = fn(Vec<Shared>) -> Shared;

impl SharedValues {
    pub(super) fn take(&mut self) -> Option<Shared> {
        let collector = self.collector.take().filter(|_| self.cyclic)?;
        Some(collector(core::mem::take(&mut self.values)))
    }
}

impl Drop for SharedValues {
    /// Whoever wanted the cycles has them; nobody does if the message is malformed.
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[derive(Clone)]
pub(super) enum Known {
    /// Read, or at least begun.
    Value {
        /// The number in [`SharedValues`].
        number: usize,
        /// Values in chunks that it is in.
        outer: u16,
        /// The position behind it, when it has ended.
        end: Option<usize>,
    },
    /// Skipped, in so many values in chunks.
    Skipped(u16),
}

impl fmt::Debug for ValueReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueReader").finish_non_exhaustive()
    }
}

impl<'de> ValueReader<'de> {
    pub(super) fn new(whole: &'de [u8], little: bool) -> Self {
        Self {
            whole,
            little,
            values: BTreeMap::new(),
            open: Vec::new(),
            shared: SharedValues::default(),
            strings: BTreeMap::new(),
            lists: BTreeMap::new(),
            depth: 0,
            chunk_end: NO_CHUNK,
            ended: NOT_ENDED,
            count: 0,
            again: 0,
            again_octets: 0,
        }
    }
}
