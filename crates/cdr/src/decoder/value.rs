//! Reading values (of value types): tags, sharing, chunks.
//!
//! While a value in chunks is read, the decoder's piece ends with the chunk, so that reading a primitive costs what it
//! always does, and what does not fit comes to `next_piece`, which opens the next chunk. Between two chunks the piece
//! ends at the current position, which has the same effect.

use super::Decoder;
use crate::{
    DecodeError, DecodeErrorKind, Frame, Limits,
    value::{
        CHUNKED, CODEBASE, ID_LIST, INDIRECTION, KNOWN_FLAGS, LAST_TAG, ONE_ID, Shared, TAG,
        TYPE_INFO,
    },
};
use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec::Vec};
use core::fmt;

/// What is not in chunks has no end that would be known beforehand.
const NO_CHUNK: usize = usize::MAX;
/// No end tag has been read that would end outer values too.
const NOT_ENDED: u16 = u16::MAX;

/// Repository ids, or a list of them that several values have.
type Ids<'de> = Arc<[&'de [u8]]>;

/// What begins at the current position.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "CDR knows these three and no others"
)]
pub enum ValueStart<'de> {
    /// The null value.
    Null,
    /// A value that was read before, or is being read: what [`Decoder::share_value`] was given.
    Again(Shared),
    /// A value, whose state follows.
    New(ValueHead<'de>),
}

/// A value that is being read, and what it says of itself before its state.
#[derive(Debug)]
#[must_use = "a value that has begun has to be ended"]
pub struct ValueHead<'de> {
    position: usize,
    ids: Ids<'de>,
    chunked: bool,
    /// Values in chunks that this one is in.
    outer: u16,
    /// Levels of nesting that were left before it, and octets that were owed.
    left: (u16, usize),
    /// Where to go on behind it, if it was skipped and is read only now.
    back: Option<Box<Back<'de>>>,
}

/// Where a decoder stood when it went back to a value that had been skipped.
#[derive(Debug)]
struct Back<'de> {
    pos: usize,
    piece: &'de [u8],
    chunk_end: usize,
    depth: u16,
    ended: u16,
}

impl<'de> ValueHead<'de> {
    /// The repository ids of its type and of the bases it can be truncated to, the most derived first; none if it is
    /// of the type that is expected.
    #[must_use]
    pub fn ids(&self) -> &[&'de [u8]] {
        &self.ids
    }

    /// Whether its state is in chunks, so that the rest of it can be skipped.
    #[must_use]
    pub const fn is_chunked(&self) -> bool {
        self.chunked
    }
}

/// What is known of the values of a message.
#[derive(Clone)]
pub(super) struct ValueReader<'de> {
    /// All octets of the message, or of the encapsulation.
    whole: &'de [u8],
    little: bool,
    /// By the positions of their tags.
    values: BTreeMap<usize, Known>,
    /// Where values begin that are being read.
    open: Vec<usize>,
    shared: SharedValues,
    /// Repository ids and codebases, by the positions of their lengths.
    strings: BTreeMap<usize, &'de [u8]>,
    /// Lists of repository ids, by the positions of their counts.
    lists: BTreeMap<usize, Ids<'de>>,
    /// Values in chunks that are being read.
    depth: u16,
    /// Where the current chunk ends; the current position between two chunks; [`NO_CHUNK`] outside of any.
    chunk_end: usize,
    /// The depth of the outermost value that an end tag has ended before it was this value's turn.
    ended: u16,
    /// Values that have begun.
    count: u32,
    /// Where the last indirection to a value led.
    again: usize,
    /// Octets that were read again.
    again_octets: usize,
}

/// The values that [`Decoder::share_value`] was given, and whether they go round in circles.
#[derive(Clone, Default)]
struct SharedValues {
    values: Vec<Shared>,
    cyclic: bool,
    collector: Option<CycleCollector>,
}

/// What becomes of the values of a message among which there are cycles: something that takes those apart, which
/// nobody else refers to, when it is dropped.
pub type CycleCollector = fn(Vec<Shared>) -> Shared;

impl SharedValues {
    fn take(&mut self) -> Option<Shared> {
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
enum Known {
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

impl<'de, O: crate::ByteOrder> Decoder<'de, O> {
    /// Begins to read a value. When it is a new one, its state follows: call [`share_value`](Self::share_value), since
    /// the state may refer to the value itself; read the state, or as much of it as is understood, since the rest of a
    /// value in chunks can be skipped; then call [`end_value`](Self::end_value).
    ///
    /// This is two calls rather than one that takes a closure, as values are in values, and the stack is not endless.
    ///
    /// # Errors
    /// [`BadIndirection`](DecodeErrorKind::BadIndirection), [`TooManyValues`](DecodeErrorKind::TooManyValues),
    /// [`TooDeep`](DecodeErrorKind::TooDeep) as [`nested`](Self::nested),
    /// [`Truncated`](DecodeErrorKind::Truncated), and [`Expected`](DecodeErrorKind::Expected) for what is no value at
    /// all.
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

    /// Notes the value that has begun with `head`, for references to it.
    pub fn share_value(&mut self, head: &ValueHead<'de>, value: Shared) {
        if let Some(values) = &mut self.values {
            let number = values.shared.values.len();
            values.shared.values.push(value);
            let (outer, end) = (head.outer, None);
            let known = Known::Value { number, outer, end };
            values.values.insert(head.position, known);
        }
    }

    /// Has cycles among the values of this message taken care of. Reference counts do not see that nobody refers to
    /// them from outside any more, and a peer may send as many as it likes.
    pub fn collect_cycles(&mut self, collector: CycleCollector) {
        if let Some(values) = &mut self.values {
            values.shared.collector = Some(collector);
        }
    }

    /// What the collector made of the values that were read, if there are cycles among them. To be dropped when they
    /// are not needed any more, as far as whoever reads can know; otherwise it is dropped with the decoder.
    #[inline]
    #[must_use]
    pub fn take_cycles(&mut self) -> Option<Shared> {
        self.values.as_mut()?.shared.take()
    }

    /// Ends a value whose state has been read: skips what is left of one in chunks.
    ///
    /// # Errors
    /// [`BadEndTag`](DecodeErrorKind::BadEndTag), [`TooDeep`](DecodeErrorKind::TooDeep),
    /// [`Truncated`](DecodeErrorKind::Truncated), and what is wrong with values that are skipped.
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
            if let Some(Known::Value { end, .. }) = values.values.get_mut(&head.position) {
                *end = Some(position);
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

    /// What follows the tag of a value that is in `outer` values in chunks.
    fn new_value(
        &mut self,
        tag: u32,
        outer: u16,
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
        if let Some(values) = &mut self.values {
            values.open.push(position);
        }
        if chunked {
            self.set_depth(outer.saturating_add(1));
            self.between_chunks();
        }
        Ok(ValueHead {
            position,
            ids,
            chunked,
            outer,
            left,
            back,
        })
    }

    fn indirect_value(&mut self) -> Result<ValueStart<'de>, DecodeError> {
        let target = self.indirection()?;
        let known = self
            .values
            .as_mut()
            .and_then(|values| Some((values.values.get(&target)?.clone(), values)));
        match known {
            Some((Known::Value { number, .. }, values))
                if let Some(value) = values.shared.values.get(number).cloned() =>
            {
                values.shared.cyclic |= values.open.contains(&target);
                values.again = target;
                Ok(ValueStart::Again(value))
            }
            // Nobody can go back to an earlier fragment of GIOP 1.1, where alignment was another.
            Some((Known::Skipped(outer), _)) if self.later.is_empty() && self.bias == 0 => {
                self.go_back(target, outer).map(ValueStart::New)
            }
            _ => Err(self.bad_indirection(target)),
        }
    }

    /// Reads the value once more that [`begin_value`](Self::begin_value) said is there
    /// [again](ValueStart::Again): for whoever cannot use what became of it. It goes on behind the indirection when
    /// the value is ended.
    ///
    /// # Errors
    /// [`BadIndirection`](DecodeErrorKind::BadIndirection) if the value is still being read;
    /// [`TooManyValues`](DecodeErrorKind::TooManyValues) if all that was read again is
    /// [`Limits::AGAIN`] times the message; and as [`begin_value`](Self::begin_value).
    #[inline(never)]
    pub fn read_value_again(&mut self) -> Result<ValueHead<'de>, DecodeError> {
        let target = self.values.as_ref().map_or(0, |values| values.again);
        let (total, whole) = (self.total, self.later.is_empty() && self.bias == 0);
        let known = self.values.as_mut().and_then(|values| {
            let known = values.values.get(&target)?.clone();
            Some((known, values))
        });
        match known {
            Some((
                Known::Value {
                    outer,
                    end: Some(end),
                    ..
                },
                values,
            )) if whole => {
                // Each indirection is eight octets, and may stand for almost the whole message.
                let size = end.saturating_sub(target);
                values.again_octets = values.again_octets.saturating_add(size);
                if values.again_octets > total.saturating_mul(Limits::AGAIN) {
                    let limit = Limits::VALUES;
                    return Err(self.error_behind(8, DecodeErrorKind::TooManyValues { limit }));
                }
                self.go_back(target, outer)
            }
            _ => Err(self.bad_indirection(target)),
        }
    }

    /// Begins to read a value that this is already behind.
    fn go_back(&mut self, target: usize, outer: u16) -> Result<ValueHead<'de>, DecodeError> {
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

impl<'de, O> Decoder<'de, O> {
    /// What `f` reads, without going on.
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

    /// Where the current chunk ends.
    #[inline]
    pub(super) fn chunk_end(&self) -> usize {
        self.values.as_ref().map_or(NO_CHUNK, |v| v.chunk_end)
    }

    /// Opens the next chunk; false, and nothing changed, if something else follows.
    #[cold]
    pub(super) fn next_chunk(&mut self) -> bool {
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

    /// The tag of a value, and whether it stands between two chunks, rather than in one or in no chunk at all.
    fn value_tag(&mut self) -> Result<(u32, bool), DecodeError> {
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

    /// What follows a tag: codebase and repository ids.
    fn value_head(&mut self, tag: u32) -> Result<(Ids<'de>, bool), DecodeError> {
        let chunked = tag & CHUNKED != 0;
        let type_info = tag & TYPE_INFO;
        if tag & !(TAG | KNOWN_FLAGS) != 0 || !matches!(type_info, 0 | ONE_ID | ID_LIST) {
            return Err(self.error_behind(4, DecodeErrorKind::Expected("a value tag")));
        }
        if self.chunk_depth() > 0 && !chunked {
            let kind = DecodeErrorKind::Expected("a value in chunks inside of one in chunks");
            return Err(self.error_behind(4, kind));
        }
        if let Some(values) = &mut self.values {
            values.count = values.count.saturating_add(1);
            if values.count > Limits::VALUES {
                let limit = Limits::VALUES;
                return Err(self.error_behind(4, DecodeErrorKind::TooManyValues { limit }));
            }
        }
        if tag & CODEBASE != 0 {
            self.shared_string("codebase")?;
        }
        let ids: Ids<'de> = match type_info {
            ONE_ID => Arc::new([self.shared_string("repository id")?]),
            ID_LIST => self.id_list()?,
            _ => Arc::new([]),
        };
        Ok((ids, chunked))
    }

    fn id_list(&mut self) -> Result<Ids<'de>, DecodeError> {
        let count = self.raw_u32()?;
        let at = self.pos.wrapping_sub(4);
        if count == INDIRECTION {
            let target = self.indirection()?;
            let list = self.values.as_ref().and_then(|v| v.lists.get(&target));
            return list.cloned().ok_or_else(|| {
                let of = "list of repository ids";
                self.error_behind(8, DecodeErrorKind::BadIndirection { of, target })
            });
        }
        if count == 0 || count > Limits::VALUE_IDS {
            let left = self.remaining();
            return Err(self.error_behind(4, DecodeErrorKind::CountTooLarge { count, left }));
        }
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(self.shared_string("repository id")?);
        }
        let ids: Ids<'de> = ids.into();
        if let Some(values) = &mut self.values {
            values.lists.insert(at, Arc::clone(&ids));
        }
        Ok(ids)
    }

    /// A string that may be an indirection to an earlier one.
    fn shared_string(&mut self, of: &'static str) -> Result<&'de [u8], DecodeError> {
        let len = self.raw_u32()?;
        let at = self.pos.wrapping_sub(4);
        if len == INDIRECTION {
            let target = self.indirection()?;
            let string = self.values.as_ref().and_then(|v| v.strings.get(&target));
            return string.copied().ok_or_else(|| {
                self.error_behind(8, DecodeErrorKind::BadIndirection { of, target })
            });
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let octets = self.take(len)?;
        let text = match octets.split_last() {
            None => octets,
            Some((0, text)) => text,
            Some((found, _)) => {
                return Err(self.error_behind(1, DecodeErrorKind::MissingNul { found: *found }));
            }
        };
        if let Some(values) = &mut self.values {
            values.strings.insert(at, text);
        }
        Ok(text)
    }

    /// The offset of an indirection, as the position that it leads to. Offsets count from themselves.
    fn indirection(&mut self) -> Result<usize, DecodeError> {
        let offset = self.raw_u32()?.cast_signed();
        let offset = isize::try_from(offset).unwrap_or(isize::MAX);
        Ok(self.pos.wrapping_sub(4).wrapping_add_signed(offset))
    }

    /// Skips what is left of a value in chunks, its end tag included.
    fn end_of_chunks(&mut self) -> Result<(), DecodeError> {
        let own = self.chunk_depth();
        let chunk_end = self.chunk_end();
        if let Some(values) = &mut self.values
            && values.ended <= own
        {
            // An inner value's end tag was ours as well.
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
                        let skipped = Known::Skipped(level);
                        values.values.entry(position).or_insert(skipped);
                    }
                    level = level.saturating_add(1);
                    let limit = self.limits.max_depth;
                    if level > limit {
                        return Err(self.error(DecodeErrorKind::TooDeep { limit }));
                    }
                }
                _ => {
                    let found = word.wrapping_neg();
                    let tag = u16::try_from(found).ok().filter(|tag| *tag <= level);
                    let Some(tag) = tag else {
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

    fn chunk_depth(&self) -> u16 {
        self.values.as_ref().map_or(0, |values| values.depth)
    }

    fn set_depth(&mut self, depth: u16) {
        if let Some(values) = &mut self.values {
            values.depth = depth;
        }
    }

    fn set_ended(&mut self, ended: u16) {
        if let Some(values) = &mut self.values {
            values.ended = ended;
        }
    }

    /// From here on, whatever is read is looked for in the next chunk.
    fn between_chunks(&mut self) {
        if let Some(values) = &mut self.values {
            values.chunk_end = self.pos;
            self.cut_piece();
        }
    }

    /// From here on, there are no chunks.
    fn leave_chunks(&mut self) {
        if let Some(values) = &mut self.values {
            values.chunk_end = NO_CHUNK;
            self.cut_piece();
        }
    }

    /// Has the piece end with the chunk, or with the GIOP 1.1 fragment.
    fn cut_piece(&mut self) {
        let end = self.piece_end().min(self.chunk_end());
        if let Some(values) = &self.values {
            self.piece = values.whole.get(..end).unwrap_or(self.piece);
        }
    }

    /// All octets that positions count in. Called while the piece is not cut to a chunk.
    fn whole(&self) -> &'de [u8] {
        match self.frame.map(Frame::octets) {
            Some(octets) if !self.later.is_empty() => octets,
            _ => self.piece,
        }
    }

    /// An unsigned long, from wherever one can be read now.
    fn raw_u32(&mut self) -> Result<u32, DecodeError> {
        let octets = self.primitive::<4>()?;
        Ok(match &self.values {
            Some(values) if values.little => u32::from_le_bytes(octets),
            _ => u32::from_be_bytes(octets),
        })
    }
}

impl<'de> ValueReader<'de> {
    fn new(whole: &'de [u8], little: bool) -> Self {
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
