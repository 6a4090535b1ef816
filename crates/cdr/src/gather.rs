//! What goes out.

use crate::rare::Rare;
use alloc::vec::Vec;
use bytes::{Bytes, BytesMut};
use core::{fmt, num::NonZero, ops::Range, ptr::NonNull};

/// Octets in the order in which they go out, some of them shared rather than copied.
///
/// Made by [`Encoder::finish`](crate::Encoder::finish). Hand [`chunks`](Self::chunks) to `writev`, then take the buffer
/// back with [`into_buffer`](Self::into_buffer).
///
/// If the encoder was one that [lends](crate::Encoder::lending), octets may be missing that are still where the caller
/// has them ([`is_lent`](Self::is_lent)): then [`chunks_with`](Self::chunks_with) is to be used, until
/// [`settle`](Self::settle) has copied them.
///
/// Small, since a message is passed on many times before it is out: what is more than octets in one piece, with one
/// other piece between them at most, is behind a pointer.
#[derive(Default)]
pub struct Gather {
    /// All octets that are not shared, one behind the other.
    own: BytesMut,
    /// Octets that are elsewhere, and the index in `own` before which they go. The first have a place of their own, since
    /// a message rarely has more and should not need an allocation then.
    first: Option<(usize, Piece)>,
    /// Nothing for nearly every message.
    rest: Rare<Rest>,
}

/// Octets that are not in the buffer.
enum Piece {
    Shared(Bytes),
    /// At most one of a message.
    Lent(Lent),
}

/// What few messages have.
#[derive(Default)]
struct Rest {
    /// Pieces behind the first.
    more: Vec<(usize, Piece)>,
    /// Octets in these.
    octets: usize,
    /// See [`Encoder::remember_runs`](crate::Encoder::remember_runs).
    runs: Vec<Range<usize>>,
}

const _: () = assert!(size_of::<Gather>() <= 11 * size_of::<usize>());

/// Which octets are lent, without holding on to them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lent {
    address: NonZero<usize>,
    len: usize,
}

impl Lent {
    pub(crate) fn of(octets: &[u8]) -> Self {
        Self {
            address: NonNull::from(octets).addr(),
            len: octets.len(),
        }
    }
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Shared(octets) => octets.len(),
            Self::Lent(lent) => lent.len,
        }
    }
}

impl Gather {
    #[inline]
    pub(crate) const fn new(own: BytesMut) -> Self {
        Self {
            own,
            first: None,
            rest: Rare::NONE,
        }
    }

    /// Number of octets in all.
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

    /// Octets of memory that it keeps: all of its buffer, which may be much larger than what is in it, and what it shares.
    /// What is [lent](Self::is_lent) is the lender's.
    #[must_use]
    pub fn memory(&self) -> usize {
        let shared = self.pieces().map(|(_, piece)| match piece {
            Piece::Shared(octets) => octets.len(),
            Piece::Lent(_) => 0,
        });
        shared.fold(self.own.capacity(), usize::saturating_add)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The octets in pieces, in order; none of them empty. What is [lent](Self::is_lent) is not among them.
    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        debug_assert!(!self.is_lent(), "octets that are lent are not sent");
        self.chunks_or(&[])
    }

    /// As [`chunks`](Self::chunks), with the octets that are [lent](Self::is_lent) in their place: `lent`, which have to
    /// be [those](Self::lacks).
    pub fn chunks_with<'a>(&'a self, lent: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        debug_assert!(self.lacks(lent), "other octets than were lent");
        self.chunks_or(lent)
    }

    /// Whether these are the octets that are missing: as many, and where the encoder left them.
    #[must_use]
    pub fn lacks(&self, lent: &[u8]) -> bool {
        let lent = Lent::of(lent);
        self.pieces()
            .any(|(_, piece)| matches!(piece, Piece::Lent(missing) if *missing == lent))
    }

    /// Whether octets are missing, which the encoder left where they were.
    #[inline(always)]
    #[must_use]
    pub fn is_lent(&self) -> bool {
        self.first.is_some() && self.has_lent_piece()
    }

    fn has_lent_piece(&self) -> bool {
        self.pieces()
            .any(|(_, piece)| matches!(piece, Piece::Lent(_)))
    }

    /// Puts a copy of what was lent in its place: all octets are here then. False, and nothing happens, if `lent` is not
    /// what was lent.
    pub fn settle(&mut self, lent: &[u8]) -> bool {
        let missing = Lent::of(lent);
        let more = self.rest.iter_mut().flat_map(|rest| &mut rest.more);
        for (_, piece) in self.first.iter_mut().chain(more) {
            if matches!(piece, Piece::Lent(lent) if *lent == missing) {
                *piece = Piece::Shared(Bytes::copy_from_slice(lent));
                return true;
            }
        }
        false
    }

    /// The octets in pieces, with `lent` where a piece has none.
    fn chunks_or<'a>(&'a self, lent: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let starts = core::iter::once(0).chain(self.pieces().map(|(at, _)| *at));
        let ends = self
            .pieces()
            .map(|(at, _)| *at)
            .chain(core::iter::once(self.own.len()));
        let elsewhere = self
            .pieces()
            .map(move |(_, piece)| match piece {
                Piece::Shared(octets) => octets.as_ref(),
                Piece::Lent(_) => lent,
            })
            .chain(core::iter::once(&[] as &[u8]));
        starts
            .zip(ends)
            .zip(elsewhere)
            .flat_map(|((start, end), piece)| [self.own.get(start..end).unwrap_or_default(), piece])
            .filter(|chunk| !chunk.is_empty())
    }

    /// All octets in one piece if they are in one, so that a plain `write` does.
    #[inline]
    #[must_use]
    pub fn as_single(&self) -> Option<&[u8]> {
        match &self.first {
            None => Some(&self.own),
            Some((_, Piece::Shared(octets))) if self.own.is_empty() && !self.has_more() => {
                Some(octets)
            }
            Some(_) => None,
        }
    }

    /// Whether there are pieces behind the first.
    fn has_more(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| !rest.more.is_empty())
    }

    /// A copy of all octets.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(self.len());
        for chunk in self.chunks() {
            octets.extend_from_slice(chunk);
        }
        octets
    }

    /// All octets in one piece; copies them unless they are in one already.
    #[must_use]
    pub fn into_bytes(mut self) -> Bytes {
        debug_assert!(!self.is_lent(), "octets that are lent are not here");
        if self.first.is_none() {
            return self.own.freeze();
        }
        if self.own.is_empty()
            && !self.has_more()
            && let Some((_, Piece::Shared(octets))) = self.first.take()
        {
            return octets;
        }
        self.to_vec().into()
    }

    /// All octets in the pieces in which they lie in memory, none of them empty, to be cut further without copying.
    #[must_use]
    pub fn into_pieces(mut self) -> Vec<Bytes> {
        debug_assert!(!self.is_lent(), "octets that are lent are not here");
        let mut own = self.own.freeze();
        let more = self.rest.take().map(|rest| rest.more).unwrap_or_default();
        let mut pieces = Vec::with_capacity(more.len().saturating_add(3));
        let mut taken = 0_usize;
        for (at, piece) in self.first.into_iter().chain(more) {
            let before = at.saturating_sub(taken).min(own.len());
            taken = at;
            pieces.push(own.split_to(before));
            if let Piece::Shared(octets) = piece {
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

    /// Where there are octets, or numbers of at most four octets, one behind the other, if the encoder was asked to
    /// [remember](crate::Encoder::remember_runs). In order, by position in the whole.
    #[must_use]
    pub fn runs(&self) -> &[Range<usize>] {
        self.rest.as_ref().map_or(&[], |rest| &rest.runs)
    }

    pub(crate) fn note_run(&mut self, run: Range<usize>) {
        self.rest.get_or_insert_default().runs.push(run);
    }

    /// The buffer of the octets that were not shared, to be used again
    /// ([`Encoder::with_buffer`](crate::Encoder::with_buffer)).
    #[inline]
    #[must_use]
    pub fn into_buffer(self) -> BytesMut {
        self.own
    }

    /// The same of a message that stays where it is, and is used up with that.
    #[inline]
    #[must_use]
    pub fn take_buffer(&mut self) -> BytesMut {
        core::mem::take(&mut self.own)
    }

    /// What is not in the buffer, and before which octet of our own it goes.
    fn pieces(&self) -> impl Iterator<Item = &(usize, Piece)> {
        let more = self.rest.iter().flat_map(|rest| &rest.more);
        self.first.iter().chain(more)
    }

    #[inline(always)]
    pub(crate) const fn own(&mut self) -> &mut BytesMut {
        &mut self.own
    }

    pub(crate) fn share(&mut self, octets: Bytes) {
        self.put_in(Piece::Shared(octets));
    }

    /// Leaves out octets that are added when it is sent. There may be none yet.
    pub(crate) fn lend(&mut self, octets: &[u8]) {
        self.put_in(Piece::Lent(Lent::of(octets)));
    }

    fn put_in(&mut self, piece: Piece) {
        let at = self.own.len();
        if self.first.is_none() {
            self.first = Some((at, piece));
            return;
        }
        let rest = self.rest.get_or_insert_default();
        rest.octets = rest.octets.wrapping_add(piece.len());
        rest.more.push((at, piece));
    }

    /// The place of `len` octets of our own that were written at `position` of the whole.
    #[inline]
    pub(crate) fn place(&mut self, position: usize, len: usize) -> Option<&mut [u8]> {
        let index = match &self.first {
            None => position,
            Some(_) => self.own_index(position)?,
        };
        self.own.get_mut(index..index.checked_add(len)?)
    }

    /// Which octet of our own is at `position` of the whole; nothing inside another piece.
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
