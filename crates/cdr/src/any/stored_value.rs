//! The storage of an any's value: few octets within the any, more behind a shared pointer.

use super::STORED;
use crate::{Decoder, Frame, NativeEndian, context::AnyContext};
use alloc::{boxed::Box, sync::Arc};
use bytes::Bytes;

/// Largest value, in octets, that is stored in the any itself. Numbers and short text fit, so that the reader of a
/// sequence of seven million small anys allocates for none of them.
pub(super) const INLINE_OCTETS: usize = 14;

/// The octets of a value, in [`STORED`] form, native order, position 0.
#[derive(Clone)]
pub(super) enum StoredValue {
    /// At most [`INLINE_OCTETS`] octets, which are decoded without a context.
    Inline {
        len: u8,
        octets: [u8; INLINE_OCTETS],
    },
    /// More octets, or octets that are decoded with a context.
    Shared(Arc<SharedValue>),
}

/// A value that clones of an any share: its octets and its context.
pub(super) struct SharedValue {
    frame: Frame,
    /// The context and the value types with which references and values of value types are decoded.
    context: Option<Box<AnyContext>>,
}

// A peer chooses the number of anys in a message, so each of them has to stay small.
const _: () = assert!(size_of::<StoredValue>() == 16);

impl StoredValue {
    /// No octets.
    pub(super) const NOTHING: Self = Self::Inline {
        len: 0,
        octets: [0; INLINE_OCTETS],
    };

    /// Stores the octets in place; `None` if they are more than [`INLINE_OCTETS`].
    #[inline]
    pub(super) fn inline(octets: &[u8]) -> Option<Self> {
        let mut copied = [0; INLINE_OCTETS];
        copied.get_mut(..octets.len())?.copy_from_slice(octets);
        Some(Self::Inline {
            len: u8::try_from(octets.len()).ok()?,
            octets: copied,
        })
    }

    pub(super) fn shared(octets: Bytes, context: Option<Box<AnyContext>>) -> Self {
        let frame = Frame::new(octets);
        Self::Shared(Arc::new(SharedValue { frame, context }))
    }

    #[inline]
    pub(super) fn octets(&self) -> &[u8] {
        match self {
            Self::Inline { len, octets } => octets.get(..usize::from(*len)).unwrap_or(octets),
            Self::Shared(shared) => shared.frame.octets(),
        }
    }

    /// Returns a decoder at the start of the value. Octets that it reads can be kept without a copy, unless they are
    /// stored in place.
    pub(super) fn decoder(&self) -> Decoder<'_, NativeEndian> {
        let shared = match self {
            Self::Inline { .. } => return Decoder::from_slice(self.octets(), STORED),
            Self::Shared(shared) => shared,
        };
        let d = Decoder::new(&shared.frame, STORED);
        match &shared.context {
            Some(context) => d.with_context(&**context),
            None => d,
        }
    }

    /// Returns the octets of memory that the value takes beside this. A buffer of more than `copied` octets was kept as
    /// it was and counts twice, since growth leaves it more than half full.
    #[inline]
    pub(super) fn memory(&self, copied: usize) -> usize {
        let Self::Shared(shared) = self else { return 0 };
        let octets = match shared.frame.len() {
            len if len <= copied => len,
            len => len.saturating_mul(2),
        };
        let context = shared
            .context
            .as_ref()
            .map_or(0, |context| context.octets());
        size_of::<([usize; 2], SharedValue)>()
            .saturating_add(octets)
            .saturating_add(context)
    }
}

impl PartialEq for StoredValue {
    fn eq(&self, other: &Self) -> bool {
        self.octets() == other.octets()
    }
}
