//! The storage of an any's value.

use super::{Held, STORED};
use crate::{Decoder, Frame, NativeEndian};
use alloc::{boxed::Box, sync::Arc};
use bytes::Bytes;

/// Octets of a value that lie in the any itself. Numbers and short text do, so that a sequence of seven million small anys
/// costs its reader no allocation for each.
pub(super) const HERE: usize = 14;

/// The octets of a value, in [`STORED`] form, native order, position 0.
#[derive(Clone)]
pub(super) enum Kept {
    /// A few of them, which need nothing to be decoded against.
    Here { len: u8, octets: [u8; HERE] },
    /// More of them.
    There(Arc<There>),
}

/// Octets that clones of an any share.
pub(super) struct There {
    frame: Frame,
    /// The tables that references and values of value types in them are decoded against.
    held: Option<Box<Held>>,
}

// A peer chooses how many anys there are in a message, so what each takes is watched.
const _: () = assert!(size_of::<Kept>() == 16);

impl Kept {
    /// No octets.
    pub(super) const NOTHING: Self = Self::Here {
        len: 0,
        octets: [0; HERE],
    };

    /// The octets, if they are few.
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

    /// A decoder at their start. Octets that it reads can be kept without copying them, unless they are few.
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

    /// Octets of memory that they take beside those of this, where a buffer of more than `copied` octets was kept: it
    /// has grown to less than twice what is in it.
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
