//! Writing values (of value types): tags, sharing, chunks.
//!
//! A chunk has the octets between two nested values. Its size is filled in when it ends, so writing a primitive needs
//! no check.

use super::Encoder;
use crate::{
    ByteOrder, EncodeError, EncodeErrorKind, Limits,
    context::Copied,
    stack::{self, PIECE_IN_VALUES, Pieces, Room, WriterPiece},
    value::{CHUNKED, ID_LIST, INDIRECTION, ONE_ID, Shared, TAG},
};
use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec::Vec};
use core::fmt;

/// The values of a message.
#[derive(Default)]
pub(super) struct ValueWriter {
    /// The positions of values, by their addresses in memory. The values are kept, so that no address is used again.
    values: BTreeMap<usize, (usize, Shared)>,
    /// The offsets of repository ids.
    ids: Ids,
    /// Nesting levels of values written since the stack was last checked.
    levels: u16,
    /// The depth of those values that are in chunks.
    depth: u32,
    /// The stack that was allocated for nested values.
    stack: Pieces,
    /// How often stack was allocated.
    pieces: u32,
    /// The offset of the current chunk.
    chunk: usize,
    /// The offset behind the last end tag.
    ended: usize,
    /// The values that were to be written since [`Encoder::trace_values`]; `None` while values are written.
    traced: Option<Vec<Shared>>,
}

/// Octets of memory that a value takes in [`ValueWriter::values`], a tree whose nodes are two thirds full.
pub(crate) const WRITTEN_VALUE_OCTETS: usize = size_of::<(usize, usize, Shared)>() / 2 * 3;

/// The offsets of repository ids.
type Ids = BTreeMap<Box<str>, usize>;

/// The repository ids outside of an any that is being written.
#[must_use = "an any that has begun has to be ended"]
pub(crate) struct OuterIds(Ids);

/// A value that is being written.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
#[must_use = "a value that has begun has to be ended"]
pub struct ValueMark {
    /// Values in chunks that it is in.
    outer: u32,
    chunked: bool,
}

impl fmt::Debug for ValueWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueWriter").finish_non_exhaustive()
    }
}

impl<O: ByteOrder> Encoder<O> {
    /// Writes the null value, an unsigned long of 0, in place of a value of any value type.
    pub fn write_null_value(&mut self) {
        self.write_u32(0);
    }

    /// Records values from here on instead of writing them, each as often as it would be written. The record shows
    /// which values refer to which, without a traversal of its own for every type.
    pub fn trace_values(&mut self) {
        let values = self.values.get_or_insert_with(Box::default);
        values.traced = Some(Vec::new());
    }

    /// Returns the values recorded since [`trace_values`](Self::trace_values).
    #[must_use]
    pub fn traced_values(mut self) -> Vec<Shared> {
        self.values
            .take()
            .and_then(|values| values.traced)
            .unwrap_or_default()
    }

    /// Begins to write a value; `None` if it was written before, and an indirection to it is complete. Otherwise the
    /// caller writes the state in [`value_state`](Self::value_state), and then calls [`end_value`](Self::end_value).
    ///
    /// `ids` are the repository ids of its type and of the bases that it may be truncated to, the most derived first.
    /// The value is written in chunks if there are several ids, if `custom`, or if it is within a value in chunks.
    ///
    /// # Errors
    /// [`TooDeep`](EncodeErrorKind::TooDeep) for values within each other beyond [`Limits::DEPTH`], if not in
    /// `value_state`;
    /// [`TooLong`](EncodeErrorKind::TooLong) for a chunk or a distance of almost 2 GiB.
    #[inline(never)]
    pub fn begin_value(
        &mut self,
        value: &Shared,
        ids: &[&str],
        custom: bool,
    ) -> Result<Option<ValueMark>, EncodeError> {
        let key = Arc::as_ptr(value).addr();
        let values = self.values.get_or_insert_with(Box::default);
        if let Some(traced) = &mut values.traced {
            traced.push(Arc::clone(value));
            return Ok(None);
        }
        if self.write_value_indirection(value)? {
            return Ok(None);
        }
        let values = self.values.get_or_insert_with(Box::default);
        if values.levels >= Limits::DEPTH {
            let limit = Limits::DEPTH;
            return Err(EncodeErrorKind::TooDeep { limit }.into());
        }
        values.levels = values.levels.saturating_add(1);
        let outer = values.depth;
        let chunked = custom || ids.len() > 1 || outer > 0;
        if outer > 0 {
            self.end_chunk()?;
        }
        let type_info = match ids {
            [] => 0,
            [_] => ONE_ID,
            _ => ID_LIST,
        };
        self.write_u32(TAG | type_info | if chunked { CHUNKED } else { 0 });
        let position = self.position().wrapping_sub(4);
        let values = self.values.get_or_insert_with(Box::default);
        values.values.insert(key, (position, Arc::clone(value)));
        self.write_ids(ids)?;
        if chunked {
            self.set_chunk_depth(outer.saturating_add(1));
            self.begin_chunk();
        }
        Ok(Some(ValueMark { outer, chunked }))
    }

    /// Writes the state of a value that has begun: calls `write`, on more stack if too little is left for another
    /// value.
    ///
    /// # Errors
    /// [`TooMuchStack`](EncodeErrorKind::TooMuchStack) for values within each other that would take more than
    /// [`Limits::WRITER_STACK`]; [`NoSharedStack`](EncodeErrorKind::NoSharedStack) for those for which other messages
    /// leave too little; and the errors of `write`.
    #[inline]
    pub fn value_state<R, E: From<EncodeError>>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<R, E>,
    ) -> Result<R, E> {
        let values = self.values.get_or_insert_with(Box::default);
        match values.stack.room(Limits::DEPTH) {
            Room::Enough => {
                let outer = core::mem::take(&mut values.levels);
                let result = write(self);
                self.set_levels(outer);
                result
            }
            Room::Get(octets) => self.on_more_stack(octets, write),
            Room::None => Err(too_much_stack().into()),
            // `begin_value` has counted it.
            Room::Unknown => write(self),
        }
    }

    #[cold]
    #[inline(never)]
    fn on_more_stack<R, E: From<EncodeError>>(
        &mut self,
        octets: usize,
        write: impl FnOnce(&mut Self) -> Result<R, E>,
    ) -> Result<R, E> {
        let values = self.values.get_or_insert_with(Box::default);
        values.pieces = values.pieces.saturating_add(1);
        if values.pieces > Limits::VALUES / PIECE_IN_VALUES {
            return Err(too_much_stack().into());
        }
        if values.stack.with(octets).exceeds(Limits::WRITER_STACK) {
            return Err(too_much_stack().into());
        }
        let Some(_piece) = WriterPiece::take(octets) else {
            return Err(EncodeError::new(EncodeErrorKind::NoSharedStack { needed: octets }).into());
        };
        let before = values.stack;
        values.stack = before.with(octets);
        let outer = core::mem::take(&mut values.levels);
        let result = stack::on_more(octets, || write(self));
        if let Some(values) = &mut *self.values {
            values.stack = before;
        }
        self.set_levels(outer);
        result
    }

    /// Stops counting nesting levels within the value that has begun, since
    /// [`Decoder::value_state`](crate::Decoder::value_state) has checked the stack for its state. Returns the count for
    /// [`end_on_same_stack`](Self::end_on_same_stack).
    pub(crate) fn begin_on_same_stack(&mut self) -> u16 {
        match &mut *self.values {
            // Where the stack's size is unknown, the count of levels is the only bound of nesting, so it goes on.
            Some(values) if !matches!(values.stack.room(0), Room::Unknown) => {
                core::mem::take(&mut values.levels)
            }
            Some(values) => values.levels,
            None => 0,
        }
    }

    pub(crate) fn end_on_same_stack(&mut self, levels: u16) {
        self.set_levels(levels);
    }

    fn set_levels(&mut self, levels: u16) {
        if let Some(values) = &mut *self.values {
            values.levels = levels;
        }
    }

    /// Writes an indirection to a value that was written before; `false`, and nothing written, if it was not.
    ///
    /// # Errors
    /// [`TooLong`](EncodeErrorKind::TooLong) for a distance of almost 2 GiB.
    pub fn write_value_indirection(&mut self, value: &Shared) -> Result<bool, EncodeError> {
        let key = Arc::as_ptr(value).addr();
        let known = self.values.as_ref().and_then(|v| v.values.get(&key));
        let Some((target, _)) = known else {
            return Ok(false);
        };
        let target = *target;
        self.write_indirection(target)?;
        Ok(true)
    }

    /// Ends a value whose state has been written.
    ///
    /// # Errors
    /// [`TooLong`](EncodeErrorKind::TooLong) for a chunk of almost 2 GiB.
    #[inline(never)]
    pub fn end_value(&mut self, mark: ValueMark) -> Result<(), EncodeError> {
        if mark.chunked {
            self.end_chunk()?;
            let depth = mark.outer.saturating_add(1);
            self.end(depth);
            self.set_chunk_depth(mark.outer);
            if mark.outer > 0 {
                self.begin_chunk();
            }
        }
        if let Some(values) = &mut *self.values {
            values.levels = values.levels.saturating_sub(1);
        }
        Ok(())
    }

    /// Notes what the copied values of the any are, each at its position: see [`Any::decode_value`](crate::Any::decode_value).
    pub(crate) fn note_identities(&mut self) {
        let Some(values) = &mut *self.values else {
            return;
        };
        let written = core::mem::take(&mut values.values).into_values();
        let mut written: Vec<_> = written.filter(|(_, it)| it.is::<Copied>()).collect();
        if !written.is_empty() {
            written.sort_unstable_by_key(|(position, _)| *position);
            written.shrink_to_fit();
            self.any_context
                .get_or_insert_with(Box::default)
                .note_identities(written);
        }
    }

    fn write_ids(&mut self, ids: &[&str]) -> Result<(), EncodeError> {
        // A list could be an indirection to an earlier one, but JacORB does not read that.
        if ids.len() > 1 {
            self.write_count(ids.len())?;
        }
        ids.iter().try_for_each(|id| self.write_id(id))
    }

    fn write_id(&mut self, id: &str) -> Result<(), EncodeError> {
        if let Some(target) = self.values.as_ref().and_then(|v| v.ids.get(id)) {
            let target = *target;
            return self.write_indirection(target);
        }
        self.align(4);
        let position = self.position();
        if let Some(values) = &mut *self.values {
            values.ids.insert(id.into(), position);
        }
        self.write_raw_string(id.as_bytes())
    }

    /// Begins an any, in which each repository id is written in full at its first use. TAO and the Java ORBs store the
    /// octets of an any by themselves, and cannot follow an indirection out of it. No indirection behind the any leads
    /// into it either.
    #[inline]
    pub(crate) fn begin_any(&mut self) -> OuterIds {
        let values = self.values.as_mut();
        OuterIds(values.map_or_else(Ids::new, |values| core::mem::take(&mut values.ids)))
    }

    /// Ends an any.
    #[inline]
    pub(crate) fn end_any(&mut self, outer: OuterIds) {
        if let Some(values) = &mut *self.values {
            values.ids = outer.0;
        }
    }

    /// Writes an indirection to `target`. The offset counts from its own position.
    fn write_indirection(&mut self, target: usize) -> Result<(), EncodeError> {
        self.write_u32(INDIRECTION);
        let back = self.position().saturating_sub(target);
        let offset = i32::try_from(back).map_err(|_| EncodeErrorKind::TooLong { found: back })?;
        self.write_i32(offset.wrapping_neg());
        Ok(())
    }

    /// Writes an end tag. If an inner value ends at the same position, one tag ends both. CDR permits two tags as well,
    /// but omniORB crashes when it reads them.
    fn end(&mut self, depth: u32) {
        let tag = depth.wrapping_neg();
        let position = self.position();
        match &*self.values {
            Some(values) if values.ended == position => {
                self.patch_u32(position.wrapping_sub(4), tag);
            }
            _ => self.write_u32(tag),
        }
        let position = self.position();
        if let Some(values) = &mut *self.values {
            values.ended = position;
        }
    }

    fn set_chunk_depth(&mut self, depth: u32) {
        if let Some(values) = &mut *self.values {
            values.depth = depth;
        }
    }

    fn begin_chunk(&mut self) {
        self.write_u32(0);
        let start = self.position();
        if let Some(values) = &mut *self.values {
            values.chunk = start;
        }
    }

    /// Fills in the size of the current chunk, or removes the chunk if it is empty.
    fn end_chunk(&mut self) -> Result<(), EncodeError> {
        let start = self.values.as_ref().map_or(0, |values| values.chunk);
        let size = self.position().wrapping_sub(start);
        let place = start.wrapping_sub(4);
        match u32::try_from(size) {
            Ok(0) => self.truncate(place),
            Ok(size @ 1..TAG) => self.patch_u32(place, size),
            _ => return Err(EncodeErrorKind::TooLong { found: size }.into()),
        }
        Ok(())
    }
}

#[cold]
fn too_much_stack() -> EncodeError {
    let limit = Limits::WRITER_STACK;
    EncodeErrorKind::TooMuchStack { limit }.into()
}
