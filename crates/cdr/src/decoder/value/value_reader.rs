//! The decoder's record of the value types of one message: the targets of indirections, the current chunk, cycles, and the
//! counts that limits bound.

use super::Ids;
use crate::{stack::Pieces, value::Shared};
use alloc::{collections::BTreeMap, vec::Vec};
use core::fmt;

/// The end of the chunk of a value without chunks.
pub(super) const NO_CHUNK: usize = usize::MAX;
/// No end tag has been read that would end outer values too.
pub(super) const NOT_ENDED: u32 = u32::MAX;

/// No value that is being read.
pub(super) const NONE_OPEN: usize = usize::MAX;

/// The values of a message.
#[derive(Clone)]
pub(in crate::decoder) struct ValueReader<'de> {
    /// All octets of the message, or of the encapsulation.
    pub(super) whole: &'de [u8],
    pub(super) little: bool,
    /// By the positions of their tags.
    pub(super) values: BTreeMap<usize, ValueEntry>,
    /// Where values begin that are being read.
    pub(super) open: Vec<usize>,
    /// The index in `open` of the outermost value that the innermost one, or a value in it, refers to; [`NONE_OPEN`] if
    /// there is none.
    pub(super) reach: usize,
    pub(super) shared: SharedValues,
    /// Repository ids and codebases, by the positions of their lengths.
    pub(super) strings: BTreeMap<usize, &'de [u8]>,
    /// Lists of repository ids, by the positions of their counts.
    pub(super) lists: BTreeMap<usize, Ids<'de>>,
    /// Values in chunks that are being read.
    pub(super) depth: u32,
    /// Where the current chunk ends; the current position between two chunks; [`NO_CHUNK`] outside of any.
    pub(super) chunk_end: usize,
    /// The depth of the outermost value that the end tag of an inner value has ended already.
    pub(super) ended: u32,
    /// Values that have begun.
    pub(super) count: u32,
    /// Where the last indirection to a value led.
    pub(super) indirection: usize,
    /// Octets of values that were read again through indirections.
    pub(super) reread_octets: usize,
    /// The stack that was allocated for nested values.
    pub(super) stack: Pieces,
}

/// The values that were passed to [`Decoder::share_value`], and whether they form a cycle.
#[derive(Clone, Default)]
pub(super) struct SharedValues {
    pub(super) values: Vec<Shared>,
    pub(super) cyclic: bool,
    pub(super) collector: Option<CycleCollector>,
}

/// Makes a collector of a message's values among which there are cycles. Dropping it frees the cycles that have no
/// other references.
pub type CycleCollector = fn(Vec<Shared>) -> Shared;

impl SharedValues {
    pub(super) fn take(&mut self) -> Option<Shared> {
        let collector = self.collector.take().filter(|_| self.cyclic)?;
        Some(collector(core::mem::take(&mut self.values)))
    }
}

impl Drop for SharedValues {
    /// Frees the cycles that the caller has not taken, such as those of a malformed message.
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// An entry for a position at which a value begins: what an indirection to it finds.
#[derive(Clone)]
pub(super) enum ValueEntry {
    /// A value that has begun, and perhaps ended.
    Value {
        /// The number in [`SharedValues`].
        number: usize,
        /// Values in chunks that it is in.
        outer: u32,
        progress: Progress,
    },
    /// A value that was skipped, within this many values in chunks.
    Skipped(u32),
}

/// How far a value has been read.
#[derive(Clone, Copy)]
pub(super) enum Progress {
    /// It is being read; its index in [`ValueReader::open`].
    Open(usize),
    /// It has been read.
    Ended {
        /// The position behind it.
        end: usize,
        /// The position of the outermost value to which it refers and which was still being read at its end.
        reaches: Option<usize>,
    },
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
            reach: NONE_OPEN,
            shared: SharedValues::default(),
            strings: BTreeMap::new(),
            lists: BTreeMap::new(),
            depth: 0,
            chunk_end: NO_CHUNK,
            ended: NOT_ENDED,
            count: 0,
            indirection: 0,
            reread_octets: 0,
            stack: Pieces::default(),
        }
    }

    /// Returns the index in `open` of the outermost unfinished value that the value at `target` is or refers to.
    /// [`NONE_OPEN`] if it is complete, and all values to which it refers.
    ///
    /// The result is stored at every value on the way, so that a peer cannot have the same way walked again and again.
    pub(super) fn reach_of(&mut self, target: usize) -> usize {
        let mut way = Vec::new();
        let mut at = target;
        let found = loop {
            match self.progress(at) {
                Some(Progress::Open(level)) => break *level,
                Some(Progress::Ended {
                    reaches: Some(next),
                    ..
                }) => {
                    way.push(at);
                    at = *next;
                }
                _ => break NONE_OPEN,
            }
        };
        for passed in way {
            if let Some(Progress::Ended { reaches, .. }) = self.progress(passed) {
                *reaches = (found != NONE_OPEN).then_some(at);
            }
        }
        found
    }

    pub(super) fn progress(&mut self, at: usize) -> Option<&mut Progress> {
        match self.values.get_mut(&at)? {
            ValueEntry::Value { progress, .. } => Some(progress),
            ValueEntry::Skipped(_) => None,
        }
    }
}
