//! The chunks of values: their starts and ends, end tags, and values that are skipped.
//!
//! While a value in chunks is read, the decoder's piece (the part of the frame that it reads now) ends with the chunk, so that reading a primitive needs no other
//! check. A read beyond the piece calls `next_piece`, which opens the next chunk. Between two chunks the piece ends at
//! the current position, which has the same effect.

use super::value_reader::{NO_CHUNK, NOT_ENDED, Progress, ValueEntry, ValueReader, narrow};
use crate::{
    DecodeError, DecodeErrorKind, Decoder, Frame,
    value::{INDIRECTION, LAST_TAG, TAG},
};

impl<'de, O> Decoder<'de, O> {
    /// Returns the result of `f`, without advancing.
    pub(crate) fn peek<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let here = (self.pos, self.piece, self.bias, self.later);
        let chunk_end = self.chunk_end();
        let result = f(self);
        (self.pos, self.piece, self.bias, self.later) = here;
        if let Some(values) = &mut self.values {
            values.chunk_end = chunk_end;
        }
        result
    }

    /// Returns the end of the current chunk.
    #[inline]
    pub(in crate::decoder) fn chunk_end(&self) -> usize {
        self.values.as_ref().map_or(NO_CHUNK, |v| v.chunk_end)
    }

    /// Opens the next chunk. Returns false, and changes nothing, if no chunk follows.
    #[cold]
    pub(in crate::decoder) fn next_chunk(&mut self) -> bool {
        let chunk_end = self.chunk_end();
        let open =
            |v: &ValueReader<'_>| v.depth > 0 && v.ended > v.depth && v.chunk_end != NO_CHUNK;
        if !self.values.as_deref().is_some_and(open) {
            return false;
        }
        let here = (self.pos, self.piece, self.bias, self.later);
        self.leave_chunks();
        self.pos = self.pos.max(chunk_end);
        if let Ok(size @ 1..TAG) = self.raw_u32()
            && let Ok(size) = usize::try_from(size)
            && size <= self.remaining()
            && let Some(values) = &mut self.values
        {
            values.chunk_end = self.pos.saturating_add(size);
            self.cut_piece();
            return true;
        }
        (self.pos, self.piece, self.bias, self.later) = here;
        if let Some(values) = &mut self.values {
            values.chunk_end = chunk_end;
        }
        false
    }

    /// Reads the tag of a value, and returns whether it is between two chunks, rather than in one or in no chunk at
    /// all.
    pub(super) fn value_tag(&mut self) -> Result<(u32, bool), DecodeError> {
        let Some(values) = &self.values else {
            return Err(self.truncated(4));
        };
        let at_end = self.aligned(4) >= values.chunk_end;
        if values.depth == 0 || !at_end || values.ended <= values.depth {
            let tag = self.raw_u32()?;
            return match tag {
                0 | INDIRECTION | TAG..=LAST_TAG => Ok((tag, false)),
                _ => Err(self.error_behind(4, DecodeErrorKind::Expected("a value tag"))),
            };
        }
        if self.next_chunk() {
            // A value itself is never in a chunk.
            return match self.raw_u32()? {
                tag @ (0 | INDIRECTION) => Ok((tag, false)),
                _ => {
                    let kind = DecodeErrorKind::Expected("null or an indirection within a chunk");
                    Err(self.error_behind(4, kind))
                }
            };
        }
        self.leave_chunks();
        match self.raw_u32()? {
            tag @ (0 | TAG..=LAST_TAG) => Ok((tag, true)),
            _ => Err(self.error_behind(
                4,
                DecodeErrorKind::Expected("a value tag or the size of a chunk"),
            )),
        }
    }

    /// Skips the rest of a value in chunks, its end tag included.
    pub(super) fn end_of_chunks(&mut self) -> Result<(), DecodeError> {
        let own = self.chunk_depth();
        let chunk_end = self.chunk_end();
        if let Some(values) = &mut self.values
            && values.ended <= own
        {
            // The end tag of an inner value has ended this value as well.
            if values.ended == own {
                values.ended = NOT_ENDED;
            }
            return Ok(());
        }
        if chunk_end > self.pos {
            self.take(chunk_end.wrapping_sub(self.pos))?;
        }
        self.leave_chunks();
        let mut level = own;
        loop {
            let word = self.raw_u32()?;
            match word {
                0 => {}
                1..TAG => {
                    self.take(usize::try_from(word).unwrap_or(usize::MAX))?;
                }
                TAG..=LAST_TAG => {
                    let position = self.pos.wrapping_sub(4);
                    self.value_head(word)?;
                    if let Some(values) = &mut self.values {
                        let skipped = ValueEntry {
                            position: narrow(position),
                            outer: level,
                            value: None,
                            progress: Progress::skipped(),
                        };
                        values.number_at(position, skipped);
                    }
                    // The limit on values bounds the levels.
                    level = level.saturating_add(1);
                }
                _ => {
                    let found = word.wrapping_neg();
                    let Some(tag) = Some(found).filter(|tag| *tag <= level) else {
                        let depth = level;
                        let kind = DecodeErrorKind::BadEndTag { depth, found };
                        return Err(self.error_behind(4, kind));
                    };
                    if tag < own {
                        self.set_ended(tag);
                    }
                    if tag <= own {
                        return Ok(());
                    }
                    level = tag.saturating_sub(1);
                }
            }
        }
    }

    pub(super) fn chunk_depth(&self) -> u32 {
        self.values.as_ref().map_or(0, |values| values.depth)
    }

    pub(super) fn set_depth(&mut self, depth: u32) {
        if let Some(values) = &mut self.values {
            values.depth = depth;
        }
    }

    pub(super) fn set_ended(&mut self, ended: u32) {
        if let Some(values) = &mut self.values {
            values.ended = ended;
        }
    }

    /// Ends the chunk here, so that the next read opens another.
    pub(super) fn between_chunks(&mut self) {
        if let Some(values) = &mut self.values {
            values.chunk_end = self.pos;
            self.cut_piece();
        }
    }

    /// Leaves the value in chunks: reads are no longer bounded by one.
    pub(super) fn leave_chunks(&mut self) {
        if let Some(values) = &mut self.values {
            values.chunk_end = NO_CHUNK;
            self.cut_piece();
        }
    }

    /// Ends the piece with the chunk, or with the GIOP 1.1 fragment.
    fn cut_piece(&mut self) {
        let end = self.piece_end().min(self.chunk_end());
        if let Some(values) = &self.values {
            self.piece = values.whole.get(..end).unwrap_or(self.piece);
        }
    }

    /// Returns all octets that positions count in. Called while the piece is not cut to a chunk.
    pub(super) fn whole(&self) -> &'de [u8] {
        match self.frame.map(Frame::octets) {
            Some(octets) if !self.later.is_empty() => octets,
            _ => self.piece,
        }
    }
}
