//! Writing CDR.

use crate::{
    ByteOrder, CharSet, Context, Encode, EncodeError, EncodeErrorKind, Endian, Gather, KnownValue,
    Lending, Lent, WireFormat, context::AnyContext, layout::padding,
};
use alloc::{boxed::Box, sync::Arc};
use bytes::{Bytes, BytesMut};
use core::{fmt, marker::PhantomData};

mod value_writer;

use crate::cold_box::ColdBox;
pub use value_writer::ValueMark;
use value_writer::ValueWriter;
pub(crate) use value_writer::WRITTEN_VALUE_OCTETS;

/// [`Bytes`] of at least this many octets are sent from where they are; smaller ones are copied.
///
/// Measured: to hand the kernel two pieces instead of one costs 0.2 µs on UNIX and TCP sockets alike, which is the
/// price of copying 12 to 16 KiB that are in the cache.
pub const SHARE_FROM: usize = 1 << 14;

/// Runs of fewer octets are not [remembered](Encoder::remember_runs): a cut needs few places, and remembering one
/// takes two words.
pub const LONG_RUN: usize = 64;

/// Octets of the buffer that [`Encoder::new`] begins with: the usual message without large arguments fits.
pub(crate) const FIRST_CAPACITY: usize = 512;

/// Writes CDR in byte order `O`.
///
/// Padding is zero. Writing a primitive cannot fail; text, bounds and lengths can. After an error the output is
/// incomplete and has to be discarded.
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{BigEndian, Encoder, WireFormat};
///
/// let mut e = Encoder::<BigEndian>::new(WireFormat::default());
/// e.write_bool(true);
/// e.write_u16(2);
/// e.write_str("hi")?;
/// assert_eq!(e.finish().to_vec(), [1, 0, 0, 2, 0, 0, 0, 3, b'h', b'i', 0]);
///
/// let mut e = Encoder::<BigEndian>::new(WireFormat::default());
/// assert!(e.write_str("no \0 inside").is_err());
/// # Ok::<(), zorb::cdr::EncodeError>(())
/// ```
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
pub struct Encoder<O> {
    out: Gather,
    /// The difference between the number of own octets and the index that alignment counts from.
    bias: usize,
    format: WireFormat,
    remembers_runs: bool,
    /// Whether the header of the message has been rewritten in the other byte order.
    is_reversed: bool,
    /// Whether the output is the value of an any, which keeps the context and the value types that are noted.
    keeps_context: bool,
    any_context: ColdBox<AnyContext>,
    /// The values written so far; `None` before the first.
    values: ColdBox<ValueWriter>,
    order: PhantomData<O>,
}

impl<O: ByteOrder> Encoder<O> {
    /// Makes an encoder at position 0, with a new buffer.
    #[must_use]
    pub fn new(format: WireFormat) -> Self {
        Self::with_buffer(BytesMut::with_capacity(FIRST_CAPACITY), format)
    }

    /// Makes an encoder at position 0, with a buffer that was used before and is cleared.
    #[inline]
    #[must_use]
    pub fn with_buffer(mut buffer: BytesMut, format: WireFormat) -> Self {
        buffer.clear();
        Self {
            out: Gather::new(buffer),
            bias: 0,
            format,
            remembers_runs: false,
            is_reversed: false,
            keeps_context: false,
            any_context: ColdBox::NONE,
            values: ColdBox::NONE,
            order: PhantomData,
        }
    }

    /// Remembers the places of long runs ([`LONG_RUN`] octets and more) of octets, characters and numbers of at most
    /// four octets from here on. A message may be cut inside one at a multiple of 4 without splitting a primitive.
    /// [`Gather::runs`] returns them.
    pub const fn remember_runs(&mut self) {
        self.remembers_runs = true;
    }

    /// Returns the encoder of an any's value, which keeps the context and the value types that are noted.
    pub(crate) fn holding(format: WireFormat) -> Self {
        let mut encoder = Self::new(format);
        encoder.keeps_context = true;
        encoder
    }

    /// Begins the value of another any, in the same buffer.
    #[inline]
    pub(crate) fn hold_anew(&mut self) {
        if self.is_used() {
            let buffer = self.out.take_buffer();
            *self = Self {
                keeps_context: true,
                ..Self::with_buffer(buffer, self.format)
            };
        }
    }

    /// Whether there is output or state to be cleared before it begins anew.
    #[inline]
    fn is_used(&self) -> bool {
        !self.out.is_empty()
            || self.bias != 0
            || self.any_context.is_some()
            || self.values.is_some()
    }

    /// Takes the output. Later output goes to another buffer.
    pub(crate) fn take_written(&mut self) -> Gather {
        let empty = Gather::new(BytesMut::new());
        self.bias = 0;
        core::mem::replace(&mut self.out, empty)
    }

    /// Takes the context and the value types that were noted.
    pub(crate) fn take_any_context(&mut self) -> Option<Box<AnyContext>> {
        self.any_context.take()
    }

    /// Notes the context of references that are written to an any: they are [decoded with
    /// it](crate::Decoder::with_context) when they are extracted. Does nothing in other messages.
    #[inline]
    pub fn note_context(&mut self, context: impl FnOnce() -> Option<Arc<dyn Context>>) {
        if self.keeps_context {
            self.any_context
                .get_or_insert_with(Box::default)
                .note_context(context);
        }
    }

    /// Notes the type of a value that is written to an any. Does nothing in other messages.
    #[inline]
    pub fn note_value_type(&mut self, known: &KnownValue) {
        if self.keeps_context {
            self.any_context
                .get_or_insert_with(Box::default)
                .note_type(known);
        }
    }

    /// Notes that the octets written from `start` on may be cut at a multiple of 4.
    #[inline]
    pub(crate) fn end_run(&mut self, start: usize) {
        if self.remembers_runs && self.position().wrapping_sub(start) >= LONG_RUN {
            self.out.note_run(start..self.position());
        }
    }

    /// Returns the byte order `O` as a value.
    #[must_use]
    pub const fn endian(&self) -> Endian {
        O::ENDIAN
    }

    /// Returns the GIOP minor version and the code sets that text is encoded with.
    #[inline]
    #[must_use]
    pub const fn format(&self) -> WireFormat {
        self.format
    }

    /// Writes text in another code set from here on, whatever was agreed on: for a peer that mislabels its octets.
    pub const fn set_char_set(&mut self, char_set: CharSet) {
        self.format.char_set = char_set;
    }

    /// Returns the number of octets written so far, shared ones included, counted from the start of the message also
    /// inside an encapsulation.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.out.len()
    }

    /// Writes zero octets up to the next multiple of `n`, a power of two up to 8. Primitives do this themselves.
    #[inline]
    pub fn align(&mut self, n: usize) {
        let pad = padding(self.index(), n);
        if pad != 0 {
            self.pad(pad);
        }
    }

    /// Writes octets as they are, without a count.
    #[inline]
    pub fn append(&mut self, octets: &[u8]) {
        self.out.own().extend_from_slice(octets);
    }

    /// Writes octets as they are, without a count, and without copying if they are at least [`SHARE_FROM`].
    pub fn append_shared(&mut self, octets: &Bytes) {
        if octets.len() < SHARE_FROM {
            self.append(octets);
        } else {
            self.bias = self.bias.wrapping_add(octets.len());
            self.out.share(octets.clone());
        }
    }

    /// Writes octets, or leaves them out if they are at least [`SHARE_FROM`] and none are left out yet: then they are
    /// in `lent` afterwards.
    #[inline]
    pub(crate) fn append_or_lend<'a>(&mut self, octets: &'a [u8], lent: &mut Option<Lent<'a>>) {
        if octets.len() < SHARE_FROM || lent.is_some() {
            return self.append(octets);
        }
        self.bias = self.bias.wrapping_add(octets.len());
        *lent = Some(self.out.lend(octets));
    }

    /// Rewrites all octets written so far, which is the header of a message, in the other byte order: the body that follows is
    /// [appended](Self::append) in that order. `reverse` returns `None` if they are no such header, and the output has to be
    /// discarded then. Copies the octets.
    #[cold]
    pub fn reverse(&mut self, reverse: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<()> {
        let mut octets = self.out.to_vec();
        reverse(&mut octets)?;
        self.out = Gather::new(BytesMut::from(&*octets));
        self.bias = 0;
        self.is_reversed = !self.is_reversed;
        Some(())
    }

    /// Whether the header has been [reversed](Self::reverse), so that what is filled in later is in the other byte order.
    #[inline]
    #[must_use]
    pub const fn is_reversed(&self) -> bool {
        self.is_reversed
    }

    /// Writes the length of a sequence.
    ///
    /// # Errors
    /// [`TooLong`](EncodeErrorKind::TooLong) if an unsigned long cannot hold it.
    #[inline]
    pub fn write_count(&mut self, count: usize) -> Result<(), EncodeError> {
        match u32::try_from(count) {
            Ok(count) => {
                self.write_u32(count);
                Ok(())
            }
            Err(_) => Err(EncodeErrorKind::TooLong { found: count }.into()),
        }
    }

    /// Writes a `sequence<octet>`: the count and a copy of the octets.
    ///
    /// # Errors
    /// Returns the errors of [`write_count`](Self::write_count).
    pub fn write_octets(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        self.write_count(octets.len())?;
        let start = self.position();
        self.append(octets);
        self.end_run(start);
        Ok(())
    }

    /// Writes a `sequence<octet>`, whose octets may be left out.
    pub(crate) fn write_octets_lent<'a>(
        &mut self,
        octets: &'a [u8],
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        self.write_count(octets.len())?;
        let start = self.position();
        self.append_or_lend(octets, lent);
        self.end_run(start);
        Ok(())
    }

    /// Writes a `sequence<octet>` whose octets are sent from where they are if they are at least [`SHARE_FROM`].
    ///
    /// # Errors
    /// Returns the errors of [`write_count`](Self::write_count).
    pub fn write_shared(&mut self, octets: &Bytes) -> Result<(), EncodeError> {
        self.write_count(octets.len())?;
        let start = self.position();
        self.append_shared(octets);
        self.end_run(start);
        Ok(())
    }

    /// Writes a value of any type that implements [`Encode`].
    ///
    /// # Errors
    /// Returns the errors of the type's [`encode`](Encode::encode), such as an exceeded bound.
    #[inline]
    pub fn put<T: Encode + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        value.encode(self)
    }

    /// Writes an encapsulation: `f` writes its contents, behind the byte order octet, at which alignment restarts.
    ///
    /// # Errors
    /// The error of `f`; [`TooLong`](EncodeErrorKind::TooLong) for more than 4 GiB.
    pub fn encapsulation(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.write_u32(0);
        let start = self.position();
        let outer = self.bias;
        let own = self.out.own().len();
        self.bias = own.wrapping_neg();
        // No indirection of values leads into an encapsulation or out of one.
        let values = self.values.take();
        self.write_bool(O::ENDIAN.is_little());
        f(self)?;
        *self.values = values;
        let len = self.position().wrapping_sub(start);
        // Shared octets inside have moved the bias of the inside; the outside moves by as much.
        let moved = self.bias.wrapping_add(own);
        self.bias = outer.wrapping_add(moved);
        let count = u32::try_from(len).map_err(|_| EncodeErrorKind::TooLong { found: len })?;
        self.patch_u32(start.wrapping_sub(4), count);
        Ok(())
    }

    /// Overwrites an unsigned long at `position`, which must have been written before and not be shared; otherwise
    /// nothing happens (and debug builds panic).
    #[inline]
    pub fn patch_u32(&mut self, position: usize, value: u32) {
        self.patch(position, O::store_u32(value));
    }

    /// Overwrites an octet, as [`patch_u32`](Self::patch_u32) does.
    #[inline]
    pub fn patch_u8(&mut self, position: usize, value: u8) {
        self.patch(position, [value]);
    }

    /// Drops the octets behind `position`, which must not be shared ones. An encoder of messages so removes the padding
    /// before a body that turned out to be empty.
    #[inline]
    pub fn truncate(&mut self, position: usize) {
        let back = self.position().saturating_sub(position);
        let own = self.out.own();
        own.truncate(own.len().saturating_sub(back));
    }

    /// Ends the message and returns its octets, from the first one of the encoder on. Copies and allocates nothing:
    /// shared octets stay where they are.
    #[inline]
    #[must_use]
    pub fn finish(self) -> Gather {
        self.out
    }

    /// Returns the octets written, if they are in one piece; `None` otherwise. See [`Gather::as_single`].
    #[inline]
    #[must_use]
    pub fn as_single(&self) -> Option<&[u8]> {
        self.out.as_single()
    }

    /// Returns the octets written, as [`finish`](Self::finish) does; resets the encoder.
    #[must_use]
    pub fn take(&mut self) -> Gather {
        core::mem::take(&mut self.out)
    }

    /// Returns the octets written, with those that were left out; resets the encoder.
    pub fn take_lending<'a>(&mut self, lent: Lent<'a>) -> Lending<'a> {
        Lending::new(self.take(), lent)
    }

    /// Takes the buffer, to be used again. The encoder must not be used afterwards.
    #[inline]
    #[must_use]
    pub fn take_buffer(&mut self) -> BytesMut {
        core::mem::take(self.out.own())
    }

    #[inline]
    fn patch<const N: usize>(&mut self, position: usize, octets: [u8; N]) {
        let place = self.out.place(position, N).and_then(<[u8]>::as_mut_array);
        debug_assert!(place.is_some(), "nothing to patch at octet {position}");
        if let Some(place) = place {
            *place = octets;
        }
    }

    /// Returns the index that alignment counts from.
    #[inline(always)]
    pub(crate) fn index(&mut self) -> usize {
        self.out.own().len().wrapping_add(self.bias)
    }

    /// Appends up to 7 zero octets. A fixed number is written and the surplus dropped, which costs less than a copy of
    /// varying length.
    #[inline(always)]
    fn pad(&mut self, pad: usize) {
        let own = self.out.own();
        let end = own.len().wrapping_add(pad);
        own.extend_from_slice(&[0; 7]);
        own.truncate(end);
    }

    /// Writes a primitive of `N` octets, aligned to `N`.
    #[inline(always)]
    fn primitive<const N: usize>(&mut self, octets: [u8; N]) {
        let pad = padding(self.index(), N);
        if pad != 0 {
            self.pad(pad);
        }
        self.out.own().extend_from_slice(&octets);
    }

    /// Makes room for `octets`, so that blocks of them can be appended without growing the buffer each time.
    #[inline]
    pub(crate) fn reserve(&mut self, octets: usize) {
        self.out.own().reserve(octets);
    }

    /// Appends `len` zero octets to be stored into.
    #[inline(always)]
    pub(crate) fn run_mut(&mut self, len: usize) -> &mut [u8] {
        let own = self.out.own();
        let start = own.len();
        own.resize(start.saturating_add(len), 0);
        own.get_mut(start..).unwrap_or_default()
    }
}

macro_rules! write {
    ($($(#[$doc:meta])* $name:ident($t:ty) = $store:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(&mut self, value: $t) {
            self.primitive($store(value));
        }
    )*};
}

impl<O: ByteOrder> Encoder<O> {
    write! {
        /// Writes an octet.
        write_u8(u8) = |value| [value];
        /// Writes an int8 of IDL 4.
        write_i8(i8) = i8::to_ne_bytes;
        /// Writes a boolean, as 0 or 1.
        write_bool(bool) = |value| [u8::from(value)];
        /// Writes an unsigned short.
        write_u16(u16) = O::store_u16;
        /// Writes a short.
        write_i16(i16) = |value: i16| O::store_u16(value.cast_unsigned());
        /// Writes an unsigned long.
        write_u32(u32) = O::store_u32;
        /// Writes a long.
        write_i32(i32) = |value: i32| O::store_u32(value.cast_unsigned());
        /// Writes an unsigned long long.
        write_u64(u64) = O::store_u64;
        /// Writes a long long.
        write_i64(i64) = |value: i64| O::store_u64(value.cast_unsigned());
        /// Writes a float.
        write_f32(f32) = |value: f32| O::store_u32(value.to_bits());
        /// Writes a double.
        write_f64(f64) = |value: f64| O::store_u64(value.to_bits());
    }
}

impl<O: ByteOrder> fmt::Debug for Encoder<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("order", &O::ENDIAN)
            .field("position", &self.position())
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
