//! The storage of an any's value: few octets within the any, more behind a shared pointer.

use super::{Held, STORED};
use crate::{Decoder, Frame, NativeEndian};
use alloc::{boxed::Box, sync::Arc};
use bytes::Bytes;

/// Largest value, in octets, that is stored in the any itself. Numbers and short text fit, so that the reader of a
/// sequence of seven million small anys allocates for none of them.
pub(super) const HERE: usize = 14;

/// The octets of a value, in [`STORED`] form, native order, position 0.
#[derive(Clone)]
pub(super) enum Kept {
    /// At most [`HERE`] octets, which are decoded without a context.
    Here { len: u8, octets: [u8; HERE] },
    /// More octets, or octets that are decoded with a context.
    There(Arc<There>),
}

/// Octets that clones of an any share.
pub(super) struct There {
    frame: Frame,
    /// The context and the value types with which references and values of value types are decoded.
    held: Option<Box<Held>>,
}

// A peer chooses the number of anys in a message, so each of them has to stay small.
const _: () = assert!(size_of::<Kept>() == 16);

impl Kept {
    /// No octets.
    pub(super) const NOTHING: Self = Self::Here {
        len: 0,
        octets: [0; HERE],
    };

    /// Stores the octets in place; `None` if they are more than [`HERE`].
    #[inline]
    pub(super) fn here(octets: &[u8]) -> Option<Self> {
        let mut copied = [0; HERE];
        copied.get_mut(..octets.len())?.copy_from_slice(octets);
        Some(Self::Here {
            len: u8::try_from(octets.len()).ok()?,
            octets: copied,
        })
    }

    pub(super) fn there(octets: Bytes, held: Option<Box<Held>>) -> Self {
        let frame = Frame::new(octets);
        Self::There(Arc::new(There { frame, held }))
    }

    #[inline]
    pub(super) fn octets(&self) -> &[u8] {
        match self {
            Self::Here { len, octets } => octets.get(..usize::from(*len)).unwrap_or(octets),
            Self::There(there) => there.frame.octets(),
        }
    }

    /// Returns a decoder at the start of the value. Octets that it reads can be kept without a copy, unless they are
    /// stored in place.
    pub(super) fn decoder(&self) -> Decoder<'_, NativeEndian> {
        let there = match self {
            Self::Here { .. } => return Decoder::from_slice(self.octets(), STORED),
            Self::There(there) => there,
        };
        let d = Decoder::new(&there.frame, STORED);
        match &there.held {
            Some(held) => d.with_context(&**held),
            None => d,
        }
    }

    /// Returns the octets of memory that the value takes beside this. A buffer of more than `copied` octets was kept as
    /// it was and counts twice, since growth leaves it more than half full.
    #[inline]
    pub(super) fn memory(&self, copied: usize) -> usize {
        let Self::There(there) = self else { return 0 };
        let octets = match there.frame.len() {
            len if len <= copied => len,
            len => len.saturating_mul(2),
        };
        let held = there.held.as_ref().map_or(0, |held| held.octets());
        size_of::<([usize; 2], There)>()
            .saturating_add(octets)
            .saturating_add(held)
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.octets() == other.octets()
    }
}
