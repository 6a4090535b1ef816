//! Reading values of value types: values within values, and indirections to earlier ones.
//!
//! - here: where values begin and end, and indirections to them;
//! - `head`: the header of a value before its state;
//! - `chunks`: chunks, end tags and skipped values;
//! - `table`: lists of values and repository ids;
//! - `value_reader`: the values of a message that have begun or ended.

mod chunks;
mod head;
mod table;
mod value_reader;

pub use value_reader::CycleCollector;
pub(super) use value_reader::ValueReader;
use value_reader::{
    COLLECTED_OCTETS, NONE_OPEN, NOT_ENDED, Progress, ProgressState, ValueEntry, narrow,
};

use super::Decoder;
use crate::{
    DecodeError, DecodeErrorKind, Limits,
    context::Copied,
    stack::{self, PIECE_IN_VALUES, Room},
    value::{INDIRECTION, Shared},
};
use alloc::{boxed::Box, sync::Arc};

/// The repository ids of a value.
#[derive(Debug, Clone)]
enum Ids<'de> {
    None,
    One([&'de [u8]; 1]),
    /// A list that several values may have.
    List(Arc<[&'de [u8]]>),
}

/// The form of the value at the current position.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "CDR knows these three and no others"
)]
pub enum ValueStart<'de> {
    /// The null value.
    Null,
    /// An indirection to a value that was read before or is being read: the one passed to [`Decoder::share_value`].
    Indirection(Shared),
    /// A new value, whose state follows.
    New(ValueHead<'de>),
}

/// The header of a value that is being read: its repository ids, and whether its state is in chunks.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
#[must_use = "a value that has begun has to be ended"]
pub struct ValueHead<'de> {
    /// Its number among the values of the message.
    number: u32,
    ids: Ids<'de>,
    chunked: bool,
    /// Values in chunks that this one is in.
    outer: u32,
    /// Levels of nesting that were left before it, and octets that were owed.
    left: (u16, usize),
    /// [`ValueReader::reach`] of the value around it.
    reach: usize,
    /// Where to continue behind it, if it was skipped before and is read only now.
    back: Option<Box<Back<'de>>>,
}

/// The state of a decoder before it went back to a value that had been skipped.
#[derive(Debug)]
struct Back<'de> {
    pos: usize,
    piece: &'de [u8],
    chunk_end: usize,
    depth: u32,
    ended: u32,
}

impl<'de> ValueHead<'de> {
    /// Returns the repository ids of its type and of the bases it can be truncated to, the most derived first; none if
    /// it is of the expected type.
    #[must_use]
    pub fn ids(&self) -> &[&'de [u8]] {
        match &self.ids {
            Ids::None => &[],
            Ids::One(id) => id,
            Ids::List(ids) => ids,
        }
    }

    /// Whether the state of the value is in chunks, so that its end can be skipped (truncation to a base type).
    #[must_use]
    pub const fn is_chunked(&self) -> bool {
        self.chunked
    }
}

impl<'de, O: crate::ByteOrder> Decoder<'de, O> {
    /// Begins to read a value. If it is new, its state follows. First call [`share_value`](Self::share_value), since
    /// the state may refer to the value itself. Then read the state in [`value_state`](Self::value_state); the rest of
    /// a value in chunks may be left unread. Then call [`end_value`](Self::end_value).
    ///
    /// Without `value_state`, values within each other count as [nested](Self::nested).
    ///
    /// These are three calls rather than one with a closure, so that values within values take less stack.
    ///
    /// # Errors
    /// [`BadIndirection`](DecodeErrorKind::BadIndirection), [`TooManyValues`](DecodeErrorKind::TooManyValues),
    /// [`TooDeep`](DecodeErrorKind::TooDeep) as [`nested`](Self::nested), [`Truncated`](DecodeErrorKind::Truncated),
    /// and [`Expected`](DecodeErrorKind::Expected) for octets that begin no value.
    #[inline(never)]
    pub fn begin_value(&mut self) -> Result<ValueStart<'de>, DecodeError> {
        if self.values.is_none() {
            let little = O::ENDIAN.is_little();
            self.values = Some(Box::new(ValueReader::new(self.whole(), little)));
        }
        let (tag, between) = self.value_tag()?;
        match tag {
            0 => {
                if between {
                    self.between_chunks();
                }
                Ok(ValueStart::Null)
            }
            INDIRECTION => self.indirect_value(),
            _ => {
                if self.chunk_depth() > 0 && !between {
                    let kind = DecodeErrorKind::Expected("a value to begin between two chunks");
                    return Err(self.error_behind(4, kind));
                }
                let outer = self.chunk_depth();
                self.new_value(tag, outer, None).map(ValueStart::New)
            }
        }
    }

    /// Notes the value that has begun with `head`, so that later indirections refer to it.
    pub fn share_value(&mut self, head: &ValueHead<'de>, value: Shared) {
        if let Some(values) = &mut self.values
            && let Some(entry) = values.entry_mut(head.number)
            && let Some(displaced) = entry.value.replace(value)
        {
            values.shared.displaced.push(displaced);
        }
    }

    /// Returns the identity of a copied value that has begun, if it was copied before: from this message, or from the one that
    /// its any came in.
    pub(crate) fn copied_value(&self, head: &ValueHead<'de>) -> Option<Shared> {
        let entry = self.values.as_ref()?.entry(head.number)?;
        match &entry.value {
            Some(value) if value.is::<Copied>() => Some(Arc::clone(value)),
            Some(_) => None,
            None => self.value_identity(usize::try_from(entry.position).ok()?),
        }
    }

    /// Reads the state of a value that has begun: calls `read`, on more stack if too little is left for another value.
    /// The limit on [nesting](Self::nested) begins anew within the state: levels around the value do not count.
    ///
    /// # Errors
    /// [`TooMuchStack`](DecodeErrorKind::TooMuchStack) for values within each other that would take more than
    /// [`Limits::VALUE_STACK`]; [`TooManyValues`](DecodeErrorKind::TooManyValues), since more stack counts as several
    /// values; and the errors of `read`.
    #[inline]
    pub fn value_state<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        let levels = self.limits.max_depth;
        let room = self.values.as_ref().map(|values| values.stack.room(levels));
        let outer = (self.depth, self.owed);
        let result = match room {
            Some(Room::Enough) => {
                self.depth = levels;
                read(self)
            }
            Some(Room::Get(octets)) => {
                self.depth = levels;
                self.on_more_stack(octets, read)
            }
            Some(Room::None) => Err(self.too_much_stack()),
            // `begin_value` has counted it.
            Some(Room::Unknown) | None => read(self),
        };
        (self.depth, self.owed) = outer;
        result
    }

    #[cold]
    #[inline(never)]
    fn on_more_stack<R>(
        &mut self,
        octets: usize,
        read: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        self.count_values(PIECE_IN_VALUES)?;
        let Some(values) = &mut self.values else {
            return read(self);
        };
        let before = values.stack;
        values.stack = before.with(octets);
        self.reserve(octets)?;
        let result = stack::on_more(octets, || read(self));
        self.unreserve(octets);
        if let Some(values) = &mut self.values {
            values.stack = before;
        }
        result
    }

    #[cold]
    fn too_much_stack(&self) -> DecodeError {
        let limit = Limits::VALUE_STACK;
        self.error(DecodeErrorKind::TooMuchStack { limit })
    }

    /// Calls `read`, and returns whether all values that it reads are complete. It returns `false` if one of them is
    /// still being read or refers to such a value, so that some state is missing.
    ///
    /// # Errors
    /// The error of `read`.
    pub fn completely<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<(R, bool), DecodeError> {
        let reach = |d: &mut Self, reach| {
            let values = d.values.as_mut();
            values.map_or(NONE_OPEN, |v| core::mem::replace(&mut v.reach, reach))
        };
        let before = reach(self, NONE_OPEN);
        let result = read(self)?;
        let reached = reach(self, NONE_OPEN);
        reach(self, before.min(reached));
        Ok((result, reached == NONE_OPEN))
    }

    /// Registers a collector for cycles among the values of this message. Reference counts never free a cycle, and a
    /// peer may send many.
    pub fn collect_cycles(&mut self, collector: CycleCollector) {
        if let Some(values) = &mut self.values {
            values.shared.collector = Some(collector);
        }
    }

    /// Returns the collector of the values that were read, if there are cycles among them. The caller drops it when the
    /// values are not needed any more; otherwise it is dropped with the decoder.
    #[inline]
    #[must_use]
    pub fn take_cycles(&mut self) -> Option<Shared> {
        self.values.as_mut()?.shared.take()
    }

    /// Ends a value whose state has been read: skips the rest of one in chunks.
    ///
    /// # Errors
    /// [`BadEndTag`](DecodeErrorKind::BadEndTag), [`TooDeep`](DecodeErrorKind::TooDeep),
    /// [`Truncated`](DecodeErrorKind::Truncated), and the errors of values that are skipped.
    #[inline(never)]
    pub fn end_value(&mut self, head: ValueHead<'de>) -> Result<(), DecodeError> {
        if head.chunked {
            self.end_of_chunks()?;
            self.set_depth(head.outer);
        }
        (self.depth, self.owed) = head.left;
        let position = self.pos;
        if let Some(values) = &mut self.values {
            values.open.pop();
            // A value that refers only to itself, or to values within it, is complete.
            let outermost = values.open.get(values.reach).copied();
            let reach = outermost.map_or(NONE_OPEN, |_| values.reach);
            values.reach = head.reach.min(reach);
            if let Some(entry) = values.entry_mut(head.number) {
                entry.progress = Progress::ended(position, outermost);
            }
        }
        match head.back {
            Some(back) => {
                (self.pos, self.piece) = (back.pos, back.piece);
                if let Some(values) = &mut self.values {
                    values.chunk_end = back.chunk_end;
                    values.depth = back.depth;
                    values.ended = back.ended;
                }
            }
            None if head.outer > 0 => self.between_chunks(),
            None => self.leave_chunks(),
        }
        Ok(())
    }

    /// Reads the parts after the tag of a value within `outer` chunked values.
    fn new_value(
        &mut self,
        tag: u32,
        outer: u32,
        back: Option<Box<Back<'de>>>,
    ) -> Result<ValueHead<'de>, DecodeError> {
        let position = self.pos.wrapping_sub(4);
        let (ids, chunked) = self.value_head(tag)?;
        let left = (self.depth, self.owed);
        let Some(depth) = self.depth.checked_sub(1) else {
            let limit = self.limits.max_depth;
            return Err(self.error(DecodeErrorKind::TooDeep { limit }));
        };
        self.depth = depth;
        let (mut number, mut reach) = (0, NONE_OPEN);
        let mut is_collected = false;
        if let Some(values) = &mut self.values {
            let progress = Progress::open(values.open.len());
            let entry = ValueEntry {
                position: narrow(position),
                outer,
                value: None,
                progress,
            };
            number = values.number_at(position, entry);
            if let Some(entry) = values.entry_mut(number) {
                entry.progress = progress;
            }
            values.open.push(number);
            core::mem::swap(&mut values.reach, &mut reach);
            is_collected = values.shared.cyclic;
        }
        if is_collected {
            self.charge_memory(COLLECTED_OCTETS)?;
        }
        if chunked {
            self.set_depth(outer.saturating_add(1));
            self.between_chunks();
        }
        Ok(ValueHead {
            number,
            ids,
            chunked,
            outer,
            left,
            reach,
            back,
        })
    }

    fn indirect_value(&mut self) -> Result<ValueStart<'de>, DecodeError> {
        let target = self.indirection()?;
        let Some(values) = &mut self.values else {
            return Err(self.bad_indirection(target));
        };
        let found =
            (values.find(target)).and_then(|number| Some((number, values.entry(number)?.clone())));
        let Some((number, entry)) = found else {
            return Err(self.bad_indirection(target));
        };
        match (entry.value, entry.progress.state()) {
            (Some(value), state) => {
                let is_first = matches!(state, ProgressState::Open(_)) && !values.shared.cyclic;
                values.shared.cyclic |= is_first;
                values.reach = values.reach.min(values.reach_of(number));
                values.indirection = number;
                let count = usize::try_from(values.count).unwrap_or(usize::MAX);
                if is_first {
                    self.charge_memory(count.saturating_mul(COLLECTED_OCTETS))?;
                }
                Ok(ValueStart::Indirection(value))
            }
            // Decoding cannot go back to an earlier fragment of GIOP 1.1, which has another alignment.
            (None, ProgressState::Skipped) if self.later.is_empty() && self.bias == 0 => {
                self.go_back(target, entry.outer).map(ValueStart::New)
            }
            _ => Err(self.bad_indirection(target)),
        }
    }

    /// Rereads a value for which [`begin_value`](Self::begin_value) returned [`Indirection`](ValueStart::Indirection), for
    /// a caller that cannot share the earlier result. [`end_value`](Self::end_value) continues behind the indirection.
    ///
    /// # Errors
    /// [`BadIndirection`](DecodeErrorKind::BadIndirection) if the value is still being read;
    /// [`TooMuchReread`](DecodeErrorKind::TooMuchReread) if all that was reread is more than
    /// [`Limits::REREAD_OCTETS`] times the message; and as [`begin_value`](Self::begin_value).
    #[inline(never)]
    pub fn reread_value(&mut self) -> Result<ValueHead<'de>, DecodeError> {
        let (total, whole) = (self.total, self.later.is_empty() && self.bias == 0);
        let Some(values) = &mut self.values else {
            return Err(self.bad_indirection(0));
        };
        let entry = values.entry(values.indirection);
        let Some((position, outer, state)) =
            entry.map(|entry| (entry.position, entry.outer, entry.progress.state()))
        else {
            return Err(self.bad_indirection(0));
        };
        let target = usize::try_from(position).unwrap_or(usize::MAX);
        match state {
            ProgressState::Ended { end, .. } if whole => {
                // Each indirection is eight octets, and may stand for almost the whole message.
                let size = end.saturating_sub(target);
                values.reread_octets = values.reread_octets.saturating_add(size);
                let limit = total.saturating_mul(Limits::REREAD_OCTETS);
                if values.reread_octets > limit {
                    return Err(self.error_behind(8, DecodeErrorKind::TooMuchReread { limit }));
                }
                self.go_back(target, outer)
            }
            _ => Err(self.bad_indirection(target)),
        }
    }

    /// Goes back to a value at an earlier position and begins to read it.
    fn go_back(&mut self, target: usize, outer: u32) -> Result<ValueHead<'de>, DecodeError> {
        let back = self.values.as_ref().map(|values| {
            Box::new(Back {
                pos: self.pos,
                piece: self.piece,
                chunk_end: values.chunk_end,
                depth: values.depth,
                ended: values.ended,
            })
        });
        self.leave_chunks();
        self.pos = target;
        self.set_ended(NOT_ENDED);
        self.set_depth(outer);
        let tag = self.read_u32()?;
        self.new_value(tag, outer, back)
    }

    fn bad_indirection(&self, target: usize) -> DecodeError {
        let of = "value";
        self.error_behind(8, DecodeErrorKind::BadIndirection { of, target })
    }
}
