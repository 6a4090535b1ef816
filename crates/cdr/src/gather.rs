//! What goes out.

use alloc::vec::Vec;
use bytes::{Bytes, BytesMut};
use core::{fmt, ops::Range};

/// Octets in the order in which they go out, some of them shared rather than copied.
///
/// Made by [`Encoder::finish`](crate::Encoder::finish). Hand [`chunks`](Self::chunks) to `writev`, then take the buffer
/// back with [`into_buffer`](Self::into_buffer).
///
/// If the encoder was one that [lends](crate::Encoder::lending), octets may be missing that are still where the caller
/// has them ([`is_lent`](Self::is_lent)): then [`chunks_with`](Self::chunks_with) is to be used, until
/// [`settle`](Self::settle) has copied them.
#[derive(Default)]
pub struct Gather {
    /// All octets that are not shared, one behind the other.
    own: BytesMut,
    /// Shared octets and the index in `own` before which they go. The first has a place of its own, since a message
    /// rarely has more and should not need a `Vec` then.
    first: Option<(usize, Bytes)>,
    more: Vec<(usize, Bytes)>,
    /// Octets in `first` and `more`, and those that are lent.
    shared: usize,
    /// The octets that are lent; their place is that of the one piece that has none.
    lent: Option<Lent>,
    /// See [`Encoder::remember_runs`](crate::Encoder::remember_runs).
    runs: Vec<Range<usize>>,
}

/// Which octets are lent, without holding on to them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lent {
    address: usize,
    len: usize,
}

impl Lent {
    pub(crate) fn of(octets: &[u8]) -> Self {
        Self {
            address: octets.as_ptr().addr(),
            len: octets.len(),
        }
    }
}

impl Gather {
    pub(crate) const fn new(own: BytesMut) -> Self {
        Self {
            own,
            first: None,
            more: Vec::new(),
            shared: 0,
            lent: None,
            runs: Vec::new(),
        }
    }

    /// Number of octets in all.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.own.len().wrapping_add(self.shared)
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
        self.lent == Some(Lent::of(lent))
    }

    /// Whether octets are missing, which the encoder left where they were.
    #[inline(always)]
    #[must_use]
    pub const fn is_lent(&self) -> bool {
        self.lent.is_some()
    }

    /// Puts a copy of what was lent in its place: all octets are here then. False, and nothing happens, if `lent` is not
    /// what was lent.
    pub fn settle(&mut self, lent: &[u8]) -> bool {
        if !self.lacks(lent) {
            return false;
        }
        self.lent = None;
        let mut pieces = self.first.iter_mut().chain(&mut self.more);
        if let Some((_, place)) = pieces.find(|(_, bytes)| bytes.is_empty()) {
            *place = Bytes::copy_from_slice(lent);
        }
        true
    }

    /// The octets in pieces, with `lent` where a piece has none.
    fn chunks_or<'a>(&'a self, lent: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let pieces = self.first.iter().chain(&self.more);
        let starts = core::iter::once(0).chain(self.pieces().map(|(at, _)| *at));
        let ends = self
            .pieces()
            .map(|(at, _)| *at)
            .chain(core::iter::once(self.own.len()));
        let shared = pieces
            .map(move |(_, bytes)| match bytes.as_ref() {
                [] => lent,
                octets => octets,
            })
            .chain(core::iter::once(&[] as &[u8]));
        starts
            .zip(ends)
            .zip(shared)
            .flat_map(|((start, end), shared)| {
                [self.own.get(start..end).unwrap_or_default(), shared]
            })
            .filter(|chunk| !chunk.is_empty())
    }

    /// All octets in one piece if they are in one, so that a plain `write` does.
    #[must_use]
    pub fn as_single(&self) -> Option<&[u8]> {
        if self.shared == 0 {
            return Some(&self.own);
        }
        match &self.first {
            Some((_, bytes)) if self.own.is_empty() && self.more.is_empty() && !self.is_lent() => {
                Some(bytes)
            }
            _ => None,
        }
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
        if self.shared == 0 {
            return self.own.freeze();
        }
        if self.own.is_empty()
            && self.more.is_empty()
            && let Some((_, bytes)) = self.first.take()
        {
            return bytes;
        }
        self.to_vec().into()
    }

    /// All octets in the pieces in which they lie in memory, none of them empty, to be cut further without copying.
    #[must_use]
    pub fn into_pieces(self) -> Vec<Bytes> {
        debug_assert!(!self.is_lent(), "octets that are lent are not here");
        let mut own = self.own.freeze();
        let mut pieces = Vec::with_capacity(self.more.len().saturating_add(3));
        let mut taken = 0_usize;
        for (at, bytes) in self.first.into_iter().chain(self.more) {
            let before = at.saturating_sub(taken).min(own.len());
            taken = at;
            pieces.push(own.split_to(before));
            pieces.push(bytes);
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
        &self.runs
    }

    pub(crate) fn note_run(&mut self, run: Range<usize>) {
        self.runs.push(run);
    }

    /// The buffer of the octets that were not shared, to be used again
    /// ([`Encoder::with_buffer`](crate::Encoder::with_buffer)).
    #[must_use]
    pub fn into_buffer(self) -> BytesMut {
        self.own
    }

    /// The shared octets, and before which octet of our own they go.
    fn pieces(&self) -> impl Iterator<Item = &(usize, Bytes)> {
        self.first.iter().chain(&self.more)
    }

    #[inline(always)]
    pub(crate) const fn own(&mut self) -> &mut BytesMut {
        &mut self.own
    }

    pub(crate) fn share(&mut self, bytes: Bytes) {
        self.shared = self.shared.wrapping_add(bytes.len());
        let piece = (self.own.len(), bytes);
        if self.first.is_none() {
            self.first = Some(piece);
        } else {
            self.more.push(piece);
        }
    }

    /// Leaves out octets that are added when it is sent. There may be none yet.
    pub(crate) fn lend(&mut self, octets: &[u8]) {
        self.share(Bytes::new());
        self.shared = self.shared.wrapping_add(octets.len());
        self.lent = Some(Lent::of(octets));
    }

    /// Octets of a piece.
    fn len_of(&self, piece: &Bytes) -> usize {
        match (piece.len(), self.lent) {
            (0, Some(lent)) => lent.len,
            (len, _) => len,
        }
    }

    /// The place of `len` octets of our own that were written at `position` of the whole.
    pub(crate) fn place(&mut self, position: usize, len: usize) -> Option<&mut [u8]> {
        let mut index = position;
        for (at, bytes) in self.first.iter().chain(&self.more) {
            if index < *at {
                break;
            }
            index = index.checked_sub(self.len_of(bytes))?;
            if index < *at {
                return None; // inside the shared octets
            }
        }
        self.own.get_mut(index..index.checked_add(len)?)
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
            .field("shared", &self.shared)
            .finish_non_exhaustive()
    }
}
