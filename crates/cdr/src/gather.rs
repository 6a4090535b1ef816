//! Encoded output: one buffer, and between its octets pieces that are shared, or lent by the caller, so that `writev`
//! sends them without a copy.

use crate::cold_box::ColdBox;
use alloc::vec::Vec;
use bytes::{Bytes, BytesMut};
use core::{fmt, ops::Range};

/// Octets in the order in which they go out, some of them shared rather than copied.
///
/// Made by [`Encoder::finish`](crate::Encoder::finish). Hand [`chunks`](Self::chunks) to `writev`, then take the buffer
/// back with [`into_buffer`](Self::into_buffer).
///
/// A message from which octets were [left out](crate::Encode::encode_lent) is a [`Lending`] until they are copied into
/// it.
///
/// The type is small, since a message is moved many times before it is sent. Parts beyond one buffer and one other
/// piece are behind a pointer.
#[derive(Default)]
pub struct Gather {
    /// All octets that are not shared, one after the other.
    own: BytesMut,
    /// The first piece outside of the buffer, and the index in `own` before which it goes. It is stored inline, since a
    /// message rarely has more pieces and then needs no allocation.
    first: Option<(usize, ExternalPiece)>,
    /// Empty for nearly every message.
    rest: ColdBox<Rest>,
}

/// Octets that are not in the buffer.
enum ExternalPiece {
    Shared(Bytes),
    /// The length of octets that the sender adds itself, at most once in a message.
    Lent(usize),
}

/// Parts that few messages have.
#[derive(Default)]
struct Rest {
    /// Pieces behind the first.
    more: Vec<(usize, ExternalPiece)>,
    /// Octets in `more`.
    octets: usize,
    /// See [`Encoder::remember_runs`](crate::Encoder::remember_runs).
    runs: Vec<Range<usize>>,
}

const _: () = assert!(size_of::<Gather>() <= 11 * size_of::<usize>());

/// Octets that an encoder has left out of its message. They are sent from the memory of their owner.
///
/// Only an encoder makes one ([`Encode::encode_lent`](crate::Encode::encode_lent)), so its holder has the octets that
/// the message lacks, for as long as they are borrowed.
#[must_use = "the message is not whole without these octets"]
#[derive(Debug)]
pub struct Lent<'a>(&'a [u8]);

/// A message, and the octets that its encoder has left out.
///
/// Made by [`Encoder::take_lending`](crate::Encoder::take_lending).
#[derive(Debug)]
pub struct Lending<'a> {
    message: Gather,
    lent: &'a [u8],
}

impl<'a> Lending<'a> {
    /// `lent` has to be the octets that were left out of `message`.
    pub(crate) fn new(message: Gather, Lent(lent): Lent<'a>) -> Self {
        debug_assert!(message.lacks(lent.len()), "other octets than were lent");
        Self { message, lent }
    }

    /// Returns the number of octets of the message, shared and left-out ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.message.len()
    }

    /// Whether the message has no octets, left-out ones included.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.message.is_empty()
    }

    /// Returns all octets in pieces, in order, those that were left out from where they are; none of them empty.
    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.message.chunks_or(self.lent)
    }

    /// Returns the whole message, with a copy of the octets that were left out.
    #[must_use]
    pub fn into_whole(mut self) -> Gather {
        self.message.fill(self.lent);
        self.message
    }

    /// Returns the buffer of the octets that the encoder has written, to be used again.
    #[must_use]
    pub fn into_buffer(self) -> BytesMut {
        self.message.into_buffer()
    }
}

impl ExternalPiece {
    fn len(&self) -> usize {
        match self {
            Self::Shared(octets) => octets.len(),
            Self::Lent(octets) => *octets,
        }
    }
}

impl Gather {
    #[inline]
    pub(crate) const fn new(own: BytesMut) -> Self {
        Self {
            own,
            first: None,
            rest: ColdBox::NONE,
        }
    }

    /// Returns the number of octets of the message, shared and left-out ones included.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.first {
            None => self.own.len(),
            Some(_) => self.len_with_pieces(),
        }
    }

    fn len_with_pieces(&self) -> usize {
        let first = self.first.as_ref().map_or(0, |(_, piece)| piece.len());
        let more = self.rest.as_ref().map_or(0, |rest| rest.octets);
        self.own.len().wrapping_add(first).wrapping_add(more)
    }

    /// Returns the octets of memory that the message holds: the capacity of its buffer, which may be much larger than
    /// its contents, and the octets that it shares. The [left-out](Lending) octets belong to their owner.
    #[must_use]
    pub fn memory(&self) -> usize {
        let shared = self.pieces().map(|(_, piece)| match piece {
            ExternalPiece::Shared(octets) => octets.len(),
            ExternalPiece::Lent(_) => 0,
        });
        shared.fold(self.own.capacity(), usize::saturating_add)
    }

    /// Whether the message has no octets, neither its own nor shared ones.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the octets in pieces, in order; none of them empty.
    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        debug_assert!(self.is_whole(), "octets that were left out are not sent");
        self.chunks_or(&[])
    }

    /// Whether no octets are left out.
    fn is_whole(&self) -> bool {
        !self
            .pieces()
            .any(|(_, piece)| matches!(piece, ExternalPiece::Lent(_)))
    }

    /// Whether a piece of `octets` octets is left out.
    fn lacks(&self, octets: usize) -> bool {
        self.pieces()
            .any(|(_, piece)| matches!(piece, ExternalPiece::Lent(missing) if *missing == octets))
    }

    /// Puts a copy of the octets that were left out in their place.
    fn fill(&mut self, lent: &[u8]) {
        let more = self.rest.iter_mut().flat_map(|rest| &mut rest.more);
        for (_, piece) in self.first.iter_mut().chain(more) {
            if matches!(piece, ExternalPiece::Lent(_)) {
                *piece = ExternalPiece::Shared(Bytes::copy_from_slice(lent));
            }
        }
    }

    /// Returns the octets in pieces, with `lent` in place of the piece that was left out.
    fn chunks_or<'a>(&'a self, lent: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let ends = self.pieces().map(|(at, piece)| (*at, Some(piece)));
        let mut from = 0;
        ends.chain(core::iter::once((self.own.len(), None)))
            .flat_map(move |(to, piece)| {
                let own = self.own.get(from..to).unwrap_or_default();
                from = to;
                let piece = match piece {
                    Some(ExternalPiece::Shared(octets)) => octets.as_ref(),
                    Some(ExternalPiece::Lent(_)) => lent,
                    None => &[],
                };
                [own, piece]
            })
            .filter(|chunk| !chunk.is_empty())
    }

    /// Returns all octets if they are in one piece, so that one `write` sends them.
    #[inline]
    #[must_use]
    pub fn as_single(&self) -> Option<&[u8]> {
        match &self.first {
            None => Some(&self.own),
            Some((_, ExternalPiece::Shared(octets))) if self.own.is_empty() && !self.has_more() => {
                Some(octets)
            }
            Some(_) => None,
        }
    }

    /// Whether there are pieces behind the first.
    fn has_more(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| !rest.more.is_empty())
    }

    /// Returns a copy of the octets, in one allocation of exactly their number.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(self.len());
        for chunk in self.chunks() {
            octets.extend_from_slice(chunk);
        }
        octets
    }

    /// Returns all octets in one piece; copies them unless they are in one already.
    #[must_use]
    pub fn into_bytes(mut self) -> Bytes {
        debug_assert!(self.is_whole(), "octets that were left out are not here");
        if self.first.is_none() {
            return self.own.freeze();
        }
        if self.own.is_empty()
            && !self.has_more()
            && let Some((_, ExternalPiece::Shared(octets))) = self.first.take()
        {
            return octets;
        }
        self.to_vec().into()
    }

    /// Returns all octets in the pieces in which they lie in memory, none of them empty, to be cut further without
    /// copying.
    #[must_use]
    pub fn into_pieces(mut self) -> Vec<Bytes> {
        debug_assert!(self.is_whole(), "octets that were left out are not here");
        let mut own = self.own.freeze();
        let more = self.rest.take().map(|rest| rest.more).unwrap_or_default();
        let mut pieces = Vec::with_capacity(more.len().saturating_add(3));
        let mut taken = 0_usize;
        for (at, piece) in self.first.into_iter().chain(more) {
            let before = at.saturating_sub(taken).min(own.len());
            taken = at;
            pieces.push(own.split_to(before));
            if let ExternalPiece::Shared(octets) = piece {
                pieces.push(octets);
            }
        }
        pieces.push(own);
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// Adds octets behind the others, without copying.
    pub fn push(&mut self, octets: Bytes) {
        if !octets.is_empty() {
            self.share(octets);
        }
    }

    /// Returns the ranges of long runs of octets, or of numbers of at most four octets, if the encoder was asked to
    /// [remember](crate::Encoder::remember_runs) them. In order, by position in the whole.
    #[must_use]
    pub fn runs(&self) -> &[Range<usize>] {
        self.rest.as_ref().map_or(&[], |rest| &rest.runs)
    }

    pub(crate) fn note_run(&mut self, run: Range<usize>) {
        self.rest.get_or_insert_default().runs.push(run);
    }

    /// Returns the buffer of the octets that were not shared, to be used again
    /// ([`Encoder::with_buffer`](crate::Encoder::with_buffer)).
    #[inline]
    #[must_use]
    pub fn into_buffer(self) -> BytesMut {
        self.own
    }

    /// Takes the buffer of the octets that were not shared, and leaves an empty one.
    #[inline]
    #[must_use]
    pub fn take_buffer(&mut self) -> BytesMut {
        core::mem::take(&mut self.own)
    }

    /// Returns the octets outside of the buffer, and the index of the own octet before which they go.
    fn pieces(&self) -> impl Iterator<Item = &(usize, ExternalPiece)> {
        let more = self.rest.iter().flat_map(|rest| &rest.more);
        self.first.iter().chain(more)
    }

    #[inline(always)]
    pub(crate) const fn own(&mut self) -> &mut BytesMut {
        &mut self.own
    }

    pub(crate) fn share(&mut self, octets: Bytes) {
        self.put_in(ExternalPiece::Shared(octets));
    }

    /// Leaves out octets that are added when it is sent. None may be left out yet.
    pub(crate) fn lend<'a>(&mut self, octets: &'a [u8]) -> Lent<'a> {
        debug_assert!(self.is_whole(), "octets are left out once");
        self.put_in(ExternalPiece::Lent(octets.len()));
        Lent(octets)
    }

    fn put_in(&mut self, piece: ExternalPiece) {
        let at = self.own.len();
        if self.first.is_none() {
            self.first = Some((at, piece));
            return;
        }
        let rest = self.rest.get_or_insert_default();
        rest.octets = rest.octets.wrapping_add(piece.len());
        rest.more.push((at, piece));
    }

    /// Returns `len` octets in `own` that were written at `position` of the whole.
    #[inline]
    pub(crate) fn place(&mut self, position: usize, len: usize) -> Option<&mut [u8]> {
        let index = match &self.first {
            None => position,
            Some(_) => self.own_index(position)?,
        };
        self.own.get_mut(index..index.checked_add(len)?)
    }

    /// Returns the index in `own` of the octet at `position` of the whole; `None` inside another piece.
    fn own_index(&self, position: usize) -> Option<usize> {
        let mut index = position;
        for (at, piece) in self.pieces() {
            if index < *at {
                break;
            }
            index = index.checked_sub(piece.len())?;
            if index < *at {
                return None;
            }
        }
        Some(index)
    }
}

impl From<Bytes> for Gather {
    fn from(bytes: Bytes) -> Self {
        let mut gather = Self::default();
        gather.share(bytes);
        gather
    }
}

impl From<BytesMut> for Gather {
    fn from(own: BytesMut) -> Self {
        Self::new(own)
    }
}

impl fmt::Debug for Gather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gather")
            .field("len", &self.len())
            .field("pieces", &self.pieces().count())
            .finish_non_exhaustive()
    }
}
