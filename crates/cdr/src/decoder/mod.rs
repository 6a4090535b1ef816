//! Decoding CDR: position, alignment, limits, and octets that are borrowed from the message.

use crate::{
    ByteOrder, Context, Decode, DecodeError, DecodeErrorKind, Endian, Frame, Limits, WireFormat,
    layout::padding,
};
use alloc::{boxed::Box, sync::Arc};
use core::{any::Any, fmt, marker::PhantomData};

mod memory;
mod sequence;
mod value;

pub use memory::MemoryReservation;
use value::ValueReader;
pub use value::{CycleCollector, ValueHead, ValueStart};

/// Reads CDR of byte order `O` from a [`Frame`], and borrows from it where the types permit.
///
/// A decoder knows its *position*, on which padding depends: index 0 is the first octet of the GIOP header, or the byte
/// order octet of an encapsulation. Octets behind the last value that is read are ignored.
///
/// After an error, the position is somewhere inside the malformed value.
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{BigEndian, Decoder, WireFormat};
///
/// let octets = [1, 0xee, 0, 2, 0, 0, 0, 3, b'h', b'i', 0];
/// let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
/// assert_eq!(d.read_bool()?, true);
/// assert_eq!(d.read_u16()?, 2); // behind an octet of padding
/// assert_eq!(d.read_str()?, "hi");
/// assert!(d.read_u8().is_err());
/// # Ok::<(), zorb::cdr::DecodeError>(())
/// ```
///
/// A clone reads on from the same position, so that a caller can look ahead.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Clone)]
pub struct Decoder<'de, O> {
    /// All octets up to the end of the current piece: the whole frame, unless it has GIOP 1.1 fragments, or this is
    /// inside a value in chunks.
    piece: &'de [u8],
    /// Next octet, as an index of `piece`.
    pos: usize,
    /// The difference between `pos` and the index that alignment counts from (0 but in later GIOP 1.1 fragments).
    bias: usize,
    /// Octets of all pieces.
    total: usize,
    /// The offsets of the GIOP 1.1 fragments after this one.
    later: &'de [usize],
    /// The position of index 0 in the outermost frame, for errors.
    base: usize,
    frame: Option<&'de Frame>,
    context: Option<&'de dyn Context>,
    /// Octets that enclosing sequences need at least for the elements they still expect.
    owed: usize,
    /// Octets of memory that values may still take before more are [reserved](MemoryReservation).
    memory: u64,
    /// Octets of memory that may still be reserved.
    reservable: u64,
    /// What was taken from the budget that messages share; `None` before the first octet of it.
    reserved: Option<Box<MemoryReservation>>,
    /// Values that may still be read before the context is asked whether it is late.
    until_look: usize,
    /// Levels of nesting that are left.
    depth: u16,
    limits: Limits,
    format: WireFormat,
    /// The values read so far; `None` before the first.
    // Not a `ColdBox`: its drop would keep the message borrowed until the decoder's scope ends.
    values: Option<Box<ValueReader<'de>>>,
    order: PhantomData<O>,
}

impl<'de, O> Decoder<'de, O> {
    /// Returns a decoder at the start of `frame`.
    #[must_use]
    pub fn new(frame: &'de Frame, format: WireFormat) -> Self {
        let mut decoder = Self::from_slice(frame.octets(), format);
        decoder.frame = Some(frame);
        decoder.later = frame.fragment_starts();
        if !decoder.later.is_empty() {
            decoder.piece = frame
                .octets()
                .get(..decoder.piece_end())
                .unwrap_or_default();
        }
        decoder
    }

    /// Returns a decoder at the start of octets that are in no frame, so that
    /// [`OctetsRef::keep`](crate::OctetsRef::keep) copies.
    #[must_use]
    pub const fn from_slice(octets: &'de [u8], format: WireFormat) -> Self {
        let limits = Limits {
            max_depth: Limits::DEPTH,
            max_empty_elements: Limits::EMPTY_ELEMENTS,
            memory: Limits::MEMORY,
            least_memory: Limits::LEAST_MEMORY,
        };
        let (memory, reservable) = memory::unshared(limits.memory_for(octets.len()));
        Self {
            piece: octets,
            pos: 0,
            bias: 0,
            total: octets.len(),
            later: &[],
            base: 0,
            frame: None,
            context: None,
            owed: 0,
            memory,
            reservable,
            reserved: None,
            until_look: memory::LOOK_EVERY,
            depth: limits.max_depth,
            limits,
            format,
            values: None,
            order: PhantomData,
        }
    }

    /// Returns a decoder at `position` of `frame`, such as the end of a header that was read before.
    ///
    /// # Errors
    /// [`Truncated`](DecodeErrorKind::Truncated) if the frame is shorter than that.
    pub fn at(frame: &'de Frame, position: usize, format: WireFormat) -> Result<Self, DecodeError> {
        let mut decoder = Self::new(frame, format);
        decoder.pass(position)?;
        Ok(decoder)
    }

    /// Attaches the context with which values are decoded, such as the ORB of object references, before anything is
    /// read. Its [limits](Context::limits) replace the decoder's.
    #[must_use]
    #[inline]
    pub fn with_context(mut self, context: &'de dyn Context) -> Self {
        self.attach(context);
        self
    }

    /// Attaches a context in place, without moving the decoder as [`with_context`](Self::with_context) does.
    #[inline]
    pub fn attach(&mut self, context: &'de dyn Context) {
        self.context = Some(context);
        if let Some(limits) = context.limits() {
            self.set_limits(limits);
        }
    }

    /// Returns the context of [`with_context`](Self::with_context), also inside encapsulations.
    #[must_use]
    pub fn context(&self) -> Option<&'de (dyn Any + Send + Sync)> {
        self.context.map(Context::as_any)
    }

    /// Returns a decoder of octets that a value has in another byte order, such as a marshalled exception: with the same
    /// context, format and limits, and with as many levels left.
    #[must_use]
    pub fn apart<'o, P>(&self, octets: &'o [u8]) -> Decoder<'o, P>
    where
        'de: 'o,
    {
        let mut decoder = Decoder::from_slice(octets, self.format).with_limits(self.limits);
        decoder.context = self.context;
        decoder.depth = self.depth;
        decoder
    }

    /// Returns the context in a form that outlives the message.
    pub(crate) fn kept_context(&self) -> Option<Arc<dyn Context>> {
        self.context.and_then(Context::keep)
    }

    /// Returns the value type that the context has for this repository id.
    pub(crate) fn value_type(&self, id: &str) -> Option<crate::KnownValue> {
        self.context.and_then(|context| context.value_type(id))
    }

    /// Returns what the value was in the message that its any came in, if the context knows.
    pub(crate) fn value_identity(&self, position: usize) -> Option<crate::Shared> {
        self.context
            .and_then(|context| context.value_identity(position))
    }

    /// Replaces the default [`Limits`], before anything is read.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.set_limits(limits);
        self
    }

    const fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.depth = limits.max_depth;
        let memory = (self.total as u64).saturating_mul(limits.memory as u64);
        let memory = memory.saturating_add(limits.least_memory as u64);
        (self.memory, self.reservable) = memory::unshared(memory);
    }

    /// Returns the index of the next octet, from the start of the frame (GIOP 1.1 fragments included) or of the
    /// encapsulation.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.pos
    }

    /// Returns the index of the next octet in the outermost frame, also inside an encapsulation. TypeCode indirections
    /// count in it.
    #[must_use]
    pub const fn absolute_position(&self) -> usize {
        self.base.wrapping_add(self.pos)
    }

    /// Returns the number of octets that are left.
    #[inline]
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.total.saturating_sub(self.pos)
    }

    /// Returns the GIOP minor version and the code sets that text is decoded with.
    #[inline]
    #[must_use]
    pub const fn format(&self) -> WireFormat {
        self.format
    }

    /// Returns the frame that is being read, if there is one.
    #[must_use]
    pub const fn frame(&self) -> Option<&'de Frame> {
        self.frame
    }

    /// Returns an error at the current position, for hand-written [`Decode`] implementations.
    #[cold]
    #[must_use]
    pub const fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(kind, self.absolute_position())
    }

    /// Returns an error at the start of the last `len` octets that were read.
    #[cold]
    #[must_use]
    pub const fn error_behind(&self, len: usize, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(kind, self.absolute_position().saturating_sub(len))
    }

    /// Steps over padding to the next multiple of `n`, a power of two up to 8. Reading a primitive does this itself.
    ///
    /// # Errors
    /// [`Truncated`](DecodeErrorKind::Truncated) if the octets end before.
    #[inline]
    pub fn align(&mut self, n: usize) -> Result<(), DecodeError> {
        let start = self.aligned(n);
        if start < self.piece.len() || (start == self.piece.len() && self.later.is_empty()) {
            self.pos = start;
            return Ok(());
        }
        self.align_cold(n)
    }

    /// Reads the next `n` octets, without alignment.
    ///
    /// # Errors
    /// [`Truncated`](DecodeErrorKind::Truncated) if there are fewer.
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'de [u8], DecodeError> {
        if let Some(octets) = self.run(n) {
            return Ok(octets);
        }
        self.take_cold(n)
    }

    /// Runs `f` one level deeper. A type that can contain itself, such as a sequence of structs that hold such
    /// sequences, is read inside this, or a message of a few kilobytes overflows the stack.
    ///
    /// # Errors
    /// [`TooDeep`](DecodeErrorKind::TooDeep) beyond [`Limits::max_depth`], and the errors of `f`.
    #[inline]
    pub fn nested<R>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        let Some(depth) = self.depth.checked_sub(1) else {
            return Err(self.error(DecodeErrorKind::TooDeep {
                limit: self.limits.max_depth,
            }));
        };
        let outer = (self.depth, self.owed);
        self.depth = depth;
        let result = f(self);
        (self.depth, self.owed) = outer;
        result
    }

    /// Takes `octets` from the memory that the message may be decoded to. Hand-written [`Decode`] implementations call
    /// it before they allocate other than in sequences. Values that take about as many octets of the message, such as
    /// text, are not charged.
    ///
    /// ```
    /// # mod zorb { pub extern crate zorb_cdr as cdr; }
    /// use zorb::cdr::{BigEndian, Decoder, Limits, WireFormat};
    ///
    /// let octets = [0; 100];
    /// let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
    /// d.charge_memory(100 * Limits::MEMORY)?;
    /// d.charge_memory(Limits::LEAST_MEMORY)?;
    /// assert!(d.charge_memory(1).is_err());
    /// # Ok::<(), zorb::cdr::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TooMuchMemory`](DecodeErrorKind::TooMuchMemory) if fewer are left: see [`Limits::MEMORY`];
    /// [`NoSharedMemory`](DecodeErrorKind::NoSharedMemory) if other messages hold them: see [`Context::memory_budget`].
    #[inline]
    pub fn charge_memory(&mut self, octets: usize) -> Result<(), DecodeError> {
        match self.memory.checked_sub(octets as u64) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => self.charge_reserved(octets),
        }
    }

    /// Reads `len` octets; `None` if the current piece has fewer.
    #[inline(always)]
    pub(crate) fn run(&mut self, len: usize) -> Option<&'de [u8]> {
        let octets = self.peek_run(len)?;
        self.pos = self.pos.wrapping_add(len);
        Some(octets)
    }

    /// The octets that are left of the current piece.
    pub(crate) const fn piece_left(&self) -> usize {
        self.piece.len().saturating_sub(self.pos)
    }

    /// Returns the next `len` octets without advancing.
    #[inline(always)]
    pub(crate) fn peek_run(&self, len: usize) -> Option<&'de [u8]> {
        self.piece.get(self.pos..self.pos.wrapping_add(len))
    }

    /// Goes back over octets that [`run`](Self::run) has just returned.
    #[inline(always)]
    pub(crate) const fn rewind(&mut self, len: usize) {
        self.pos = self.pos.saturating_sub(len);
    }

    /// Returns the index that alignment counts from.
    #[inline(always)]
    pub(crate) const fn index(&self) -> usize {
        self.pos.wrapping_add(self.bias)
    }

    /// Notes that `len` octets at least are needed for elements to come.
    #[inline(always)]
    pub(crate) const fn owe(&mut self, len: usize) {
        self.owed = self.owed.saturating_add(len);
    }

    /// Notes that an element of `len` octets at least is read now.
    #[inline(always)]
    pub(crate) const fn repay(&mut self, len: usize) {
        self.owed = self.owed.saturating_sub(len);
    }

    /// Returns the number of octets that are left and not owed, apart from `own` that are owed to the caller.
    #[inline(always)]
    pub(crate) const fn unowed(&self, own: usize) -> usize {
        self.remaining()
            .saturating_sub(self.owed.saturating_sub(own))
    }

    #[inline(always)]
    const fn aligned(&self, n: usize) -> usize {
        self.pos.wrapping_add(padding(self.index(), n))
    }

    /// Returns a decoder for an encapsulation that was just read: same frame, context and limits, one level deeper.
    pub(crate) const fn inside<P>(&self, octets: &'de [u8]) -> Decoder<'de, P> {
        Decoder {
            piece: octets,
            pos: 0,
            bias: 0,
            total: octets.len(),
            later: &[],
            base: self.absolute_position().wrapping_sub(octets.len()),
            frame: self.frame,
            context: self.context,
            owed: 0,
            memory: self.memory,
            reservable: self.reservable,
            reserved: None,
            until_look: self.until_look,
            depth: self.depth,
            limits: self.limits,
            format: self.format,
            // No indirection of values leads into an encapsulation or out of one.
            values: None,
            order: PhantomData,
        }
    }

    /// Returns the end of the current piece.
    fn piece_end(&self) -> usize {
        match self.later.first() {
            Some(next) => (*next).max(self.pos).min(self.total),
            None => self.total,
        }
    }

    /// Goes on to the next chunk of a value, or to the next GIOP 1.1 fragment; false if there is none.
    fn next_piece(&mut self) -> bool {
        let chunk_end = self.chunk_end();
        if self.piece.len() >= chunk_end {
            return self.next_chunk();
        }
        let (Some(frame), Some((_, later))) = (self.frame, self.later.split_first()) else {
            return false;
        };
        let start = self.piece.len();
        self.later = later;
        self.pos = start;
        let end = self.piece_end().min(chunk_end);
        self.piece = frame.octets().get(..end).unwrap_or(self.piece);
        // Data of a fragment begins behind its header, at index 12.
        self.bias = 12_usize.wrapping_sub(start);
        true
    }

    /// Skips `octets`, such as a header that was read before.
    ///
    /// # Errors
    /// [`Truncated`](DecodeErrorKind::Truncated) if fewer are left.
    pub fn pass(&mut self, octets: usize) -> Result<(), DecodeError> {
        match self.skip(octets) {
            Some(()) => Ok(()),
            None => Err(self.truncated(octets)),
        }
    }

    /// Moves `n` octets on, across fragments, within one chunk.
    fn skip(&mut self, n: usize) -> Option<()> {
        if n != 0 && self.pos >= self.chunk_end() && !self.next_chunk() {
            return None;
        }
        let target = self.pos.checked_add(n).filter(|t| *t <= self.total)?;
        if target > self.chunk_end() {
            return None;
        }
        while target > self.piece.len() {
            if !self.next_piece() {
                return None;
            }
        }
        self.pos = target;
        Some(())
    }

    #[cold]
    #[inline(never)]
    fn take_cold(&mut self, n: usize) -> Result<&'de [u8], DecodeError> {
        if self.skip(n).is_none() {
            return Err(self.truncated(n));
        }
        // `skip` has extended the piece to the end of the octets that it skipped.
        self.piece
            .get(self.pos.wrapping_sub(n)..self.pos)
            .ok_or_else(|| self.truncated(n))
    }

    #[cold]
    #[inline(never)]
    fn align_cold(&mut self, n: usize) -> Result<(), DecodeError> {
        loop {
            let start = self.aligned(n);
            if start < self.piece.len() {
                self.pos = start;
                return Ok(());
            }
            if !self.next_piece() {
                if start == self.piece.len() {
                    self.pos = start;
                    return Ok(());
                }
                return Err(self.truncated(start.wrapping_sub(self.pos)));
            }
        }
    }

    /// Reads a primitive that is not in the rest of the current piece.
    #[cold]
    #[inline(never)]
    fn primitive_cold<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        loop {
            let start = self.aligned(N);
            match self.piece.get(start..).map(|rest| rest.first_chunk::<N>()) {
                Some(Some(octets)) => {
                    self.pos = start.wrapping_add(N);
                    return Ok(*octets);
                }
                // The value begins in this piece and ends in a later one.
                Some(None)
                    if start < self.piece.len()
                        && (!self.later.is_empty() || self.chunk_end() != usize::MAX) =>
                {
                    return Err(self.error(DecodeErrorKind::SplitPrimitive));
                }
                _ => {}
            }
            if !self.next_piece() {
                return Err(self.truncated(start.wrapping_add(N).wrapping_sub(self.pos)));
            }
        }
    }

    #[cold]
    fn truncated(&self, needed: usize) -> DecodeError {
        self.error(DecodeErrorKind::Truncated {
            needed,
            left: self.remaining(),
        })
    }

    /// Reads the next primitive of `N` octets, aligned to `N`.
    #[inline(always)]
    pub(crate) fn primitive<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let start = self.aligned(N);
        let end = start.wrapping_add(N);
        match self.piece.get(start..end).map(<[u8; N]>::try_from) {
            Some(Ok(octets)) => {
                self.pos = end;
                Ok(octets)
            }
            _ => self.primitive_cold(),
        }
    }
}

macro_rules! read {
    ($($(#[$doc:meta])* $name:ident -> $t:ty = $load:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`Truncated`](DecodeErrorKind::Truncated) if the octets end before;
        /// [`SplitPrimitive`](DecodeErrorKind::SplitPrimitive) if it lies across two GIOP 1.1 fragments or two chunks
        /// of a value. The position is unspecified after an error.
        #[inline(always)]
        pub fn $name(&mut self) -> Result<$t, DecodeError> {
            self.primitive().map($load)
        }
    )*};
}

impl<'de, O: ByteOrder> Decoder<'de, O> {
    /// Returns the byte order `O` as a value.
    #[must_use]
    pub const fn endian(&self) -> Endian {
        O::ENDIAN
    }

    read! {
        /// Reads an `octet`: 1 octet, without alignment.
        read_u8 -> u8 = |[octet]: [u8; 1]| octet;
        /// Reads an `int8` of IDL 4: 1 octet in two's complement, without alignment.
        read_i8 -> i8 = i8::from_ne_bytes;
        /// Reads a `boolean`: 1 octet, without alignment. 0 is false and 1 is true; any other value is read as true,
        /// since some ORBs write it.
        read_bool -> bool = |[octet]: [u8; 1]| octet != 0;
        /// Reads an `unsigned short`: 2 octets behind padding to a multiple of 2.
        read_u16 -> u16 = O::load_u16;
        /// Reads a `short`: 2 octets behind padding to a multiple of 2.
        read_i16 -> i16 = |octets| O::load_u16(octets).cast_signed();
        /// Reads an `unsigned long`: 4 octets behind padding to a multiple of 4.
        read_u32 -> u32 = O::load_u32;
        /// Reads a `long`: 4 octets behind padding to a multiple of 4.
        read_i32 -> i32 = |octets| O::load_u32(octets).cast_signed();
        /// Reads an `unsigned long long`: 8 octets behind padding to a multiple of 8.
        read_u64 -> u64 = O::load_u64;
        /// Reads a `long long`: 8 octets behind padding to a multiple of 8.
        read_i64 -> i64 = |octets| O::load_u64(octets).cast_signed();
        /// Reads a `float`: 4 octets behind padding to a multiple of 4, in IEEE 754 format.
        read_f32 -> f32 = |octets| f32::from_bits(O::load_u32(octets));
        /// Reads a `double`: 8 octets behind padding to a multiple of 8, in IEEE 754 format.
        read_f64 -> f64 = |octets| f64::from_bits(O::load_u64(octets));
    }

    /// Reads a value of any type that implements [`Decode`], with the alignment of that type.
    ///
    /// # Errors
    /// Returns the errors of the type's [`decode`](Decode::decode), such as [`Truncated`](DecodeErrorKind::Truncated).
    #[inline]
    pub fn get<T: Decode<'de>>(&mut self) -> Result<T, DecodeError> {
        T::decode(self)
    }
}

impl<O: ByteOrder> fmt::Debug for Decoder<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("order", &O::ENDIAN)
            .field("position", &self.pos)
            .field("remaining", &self.remaining())
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
