//! The decoder's record of the value types of one message: the targets of indirections, the current chunk, cycles, and the
//! counts that limits bound.
//!
//! A peer chooses how many values a message has, so each takes little here: its record is [`VALUE_OCTETS`].

use super::{Ids, table::Table};
use crate::{stack::Pieces, value::Shared};
use alloc::vec::Vec;
use core::fmt;

/// The end of the chunk of a value without chunks.
pub(super) const NO_CHUNK: usize = usize::MAX;
/// No end tag has been read that would end outer values too.
pub(super) const NOT_ENDED: u32 = u32::MAX;

/// No value that is being read.
pub(super) const NONE_OPEN: usize = usize::MAX;

/// Octets of memory that a value is charged for its record: its entry, and its number while it is read, in lists that
/// have grown.
pub(super) const VALUE_OCTETS: usize = size_of::<ValueEntry>() + 2 * size_of::<u32>();

/// Octets of memory that a repository id, or a codebase, is charged.
pub(super) const STRING_OCTETS: usize = size_of::<SharedString>();

/// Octets of memory that a list of so many repository ids is charged.
pub(super) const fn list_octets(ids: usize) -> usize {
    /// Its entry, in a list that has grown, and its reference counts.
    const ENTRY: usize = 2 * size_of::<(u32, Ids<'_>)>() + size_of::<[usize; 2]>();
    size_of::<&[u8]>().saturating_mul(ids).saturating_add(ENTRY)
}

/// Octets of memory that a value of a message with cycles is charged for their collection.
pub(super) const COLLECTED_OCTETS: usize = 64;

/// The values of a message.
#[derive(Clone)]
pub(in crate::decoder) struct ValueReader<'de> {
    /// All octets of the message, or of the encapsulation.
    pub(super) whole: &'de [u8],
    pub(super) little: bool,
    pub(super) shared: SharedValues,
    /// The numbers of the values that are being read.
    pub(super) open: Vec<u32>,
    /// The index in `open` of the outermost value that the innermost one, or a value in it, refers to; [`NONE_OPEN`] if
    /// there is none.
    pub(super) reach: usize,
    /// Repository ids and codebases, in their order.
    pub(super) strings: Table<SharedString>,
    /// Lists of repository ids, by the positions of their counts, in their order.
    pub(super) lists: Vec<(u32, Ids<'de>)>,
    /// Values in chunks that are being read.
    pub(super) depth: u32,
    /// Where the current chunk ends; the current position between two chunks; [`NO_CHUNK`] outside of any.
    pub(super) chunk_end: usize,
    /// The depth of the outermost value that the end tag of an inner value has ended already.
    pub(super) ended: u32,
    /// Values that have begun.
    pub(super) count: u32,
    /// The number of the value that the last indirection led to.
    pub(super) indirection: u32,
    /// Octets of values that were read again through indirections.
    pub(super) reread_octets: usize,
    /// The stack that was allocated for nested values.
    pub(super) stack: Pieces,
}

/// The values, and the cycles among those that were passed to [`Decoder::share_value`](crate::Decoder::share_value).
#[derive(Clone)]
pub(super) struct SharedValues {
    /// The values, in the order of their tags.
    entries: Table<ValueEntry>,
    /// Whether there are cycles.
    pub(super) cyclic: bool,
    pub(super) collector: Option<CycleCollector>,
    /// Values whose place another one has taken, which was read from the same octets.
    pub(super) displaced: Vec<Shared>,
}

/// Makes a collector of a message's values among which there are cycles. Dropping it frees the cycles that have no
/// other references.
pub type CycleCollector = fn(Vec<Shared>) -> Shared;

impl SharedValues {
    /// Returns the collector of the values, if there are cycles among them.
    pub(super) fn take(&mut self) -> Option<Shared> {
        let collector = self.collector.take().filter(|_| self.cyclic)?;
        // The collector has to have the only references but for those of the values themselves.
        let values = (self.entries.iter_mut()).filter_map(|entry| entry.value.take());
        let displaced = core::mem::take(&mut self.displaced);
        Some(collector(values.chain(displaced).collect()))
    }
}

// The drop of a type with the lifetime of the message would keep that borrowed until the decoder's scope ends.
impl Drop for SharedValues {
    /// Frees the cycles that the caller has not taken, such as those of a malformed message.
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// A position at which a value begins: what an indirection to it finds.
#[derive(Clone)]
pub(super) struct ValueEntry {
    /// The position of its tag.
    pub(super) position: u32,
    /// Values in chunks that it is in.
    pub(super) outer: u32,
    /// The value, once it has been passed to [`Decoder::share_value`](crate::Decoder::share_value).
    pub(super) value: Option<Shared>,
    pub(super) progress: Progress,
}

// Some hundred thousand of them are in a message of a megabyte.
const _: () = assert!(size_of::<ValueEntry>() == 32);

/// How far a value has been read, in 8 octets.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    /// The index in [`ValueReader::open`], or the position behind the value.
    at: u32,
    /// The number of another value, or a mark.
    reaches: u32,
}

/// [`Progress`] as an enum.
pub(super) enum ProgressState {
    /// It was skipped.
    Skipped,
    /// It is being read; its index in [`ValueReader::open`].
    Open(usize),
    /// It has been read.
    Ended {
        /// The position behind it.
        end: usize,
        /// The number of the outermost value to which it refers and which was still being read at its end.
        reaches: Option<u32>,
    },
}

impl Progress {
    const SKIPPED: u32 = u32::MAX;
    const OPEN: u32 = u32::MAX - 1;
    const COMPLETE: u32 = u32::MAX - 2;

    pub(super) const fn skipped() -> Self {
        let reaches = Self::SKIPPED;
        Self { at: 0, reaches }
    }

    pub(super) fn open(level: usize) -> Self {
        let reaches = Self::OPEN;
        Self {
            at: narrow(level),
            reaches,
        }
    }

    pub(super) fn ended(end: usize, reaches: Option<u32>) -> Self {
        let reaches = reaches.unwrap_or(Self::COMPLETE);
        Self {
            at: narrow(end),
            reaches,
        }
    }

    pub(super) fn state(self) -> ProgressState {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        match self.reaches {
            Self::SKIPPED => ProgressState::Skipped,
            Self::OPEN => ProgressState::Open(at),
            reaches => ProgressState::Ended {
                end: at,
                reaches: (reaches != Self::COMPLETE).then_some(reaches),
            },
        }
    }
}

/// Where a repository id or a codebase is: behind its length.
#[derive(Clone)]
pub(super) struct SharedString {
    /// The position of its length.
    pub(super) position: u32,
    /// Octets of the text.
    pub(super) len: u32,
}

/// A position in a message; values begin in the first 4 GiB of it only.
pub(super) fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
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
            shared: SharedValues {
                entries: Table::new(),
                cyclic: false,
                collector: None,
                displaced: Vec::new(),
            },
            open: Vec::new(),
            reach: NONE_OPEN,
            strings: Table::new(),
            lists: Vec::new(),
            depth: 0,
            chunk_end: NO_CHUNK,
            ended: NOT_ENDED,
            count: 0,
            indirection: 0,
            reread_octets: 0,
            stack: Pieces::default(),
        }
    }

    /// Returns the number of the value at a position, which is added to the table if it is not there.
    pub(super) fn number_at(&mut self, position: usize, added: ValueEntry) -> u32 {
        match self.find(position) {
            Some(number) => number,
            None => narrow(self.shared.entries.push(added)),
        }
    }

    /// Returns the number of the value whose tag is at a position.
    pub(super) fn find(&self, position: usize) -> Option<u32> {
        let position = u32::try_from(position).ok()?;
        let found = self
            .shared
            .entries
            .find(|entry| entry.position.cmp(&position))?;
        u32::try_from(found).ok()
    }

    pub(super) fn entry(&self, number: u32) -> Option<&ValueEntry> {
        self.shared.entries.get(usize::try_from(number).ok()?)
    }

    pub(super) fn entry_mut(&mut self, number: u32) -> Option<&mut ValueEntry> {
        self.shared.entries.get_mut(usize::try_from(number).ok()?)
    }

    fn state(&self, number: u32) -> Option<ProgressState> {
        Some(self.entry(number)?.progress.state())
    }

    /// Returns the text of a repository id or a codebase whose length is at a position.
    pub(super) fn string(&self, position: usize) -> Option<&'de [u8]> {
        let wanted = u32::try_from(position).ok()?;
        let found = self.strings.find(|string| string.position.cmp(&wanted))?;
        let len = usize::try_from(self.strings.get(found)?.len).ok()?;
        self.whole.get(position.checked_add(4)?..)?.get(..len)
    }

    /// Notes a string. One that is read again has been noted.
    pub(super) fn note_string(&mut self, position: usize, text: &[u8]) {
        let string = SharedString {
            position: narrow(position),
            len: narrow(text.len()),
        };
        let last = self.strings.last();
        if last.is_none_or(|last| last.position < string.position) {
            self.strings.push(string);
        }
    }

    /// Returns the list of repository ids whose count is at a position.
    pub(super) fn list(&self, position: usize) -> Option<Ids<'de>> {
        let position = u32::try_from(position).ok()?;
        let found = self.lists.binary_search_by_key(&position, |(at, _)| *at);
        Some(self.lists.get(found.ok()?)?.1.clone())
    }

    /// Notes a list. One that is read again has been noted.
    pub(super) fn note_list(&mut self, position: usize, ids: Ids<'de>) {
        let position = narrow(position);
        if self.lists.last().is_none_or(|(last, _)| *last < position) {
            self.lists.push((position, ids));
        }
    }

    /// Returns the index in `open` of the outermost unfinished value that a value is or refers to. [`NONE_OPEN`] if it
    /// is complete, and all values to which it refers.
    ///
    /// The result is stored at every value on the way, so that a peer cannot have the same way walked again and again.
    pub(super) fn reach_of(&mut self, number: u32) -> usize {
        let mut last = number;
        let found = loop {
            match self.state(last) {
                Some(ProgressState::Open(level)) => break level,
                Some(ProgressState::Ended {
                    reaches: Some(next),
                    ..
                }) => last = next,
                _ => break NONE_OPEN,
            }
        };
        let reaches = (found != NONE_OPEN).then_some(last);
        let mut at = number;
        while at != last
            && let Some(entry) = self.entry_mut(at)
            && let ProgressState::Ended {
                end,
                reaches: Some(next),
            } = entry.progress.state()
        {
            entry.progress = Progress::ended(end, reaches);
            at = next;
        }
        found
    }
}
