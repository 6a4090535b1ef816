//! Loads and stores at known places: the inside of one value of fixed layout.
//!
//! A window is exactly as long as the layout of its type says, and begins at a phase that is a constant after
//! inlining. The offsets of all members are then constants too, so the compiler drops the checks written here and
//! leaves plain loads and stores. Nothing relies on that for safety: a wrong layout is an error, not a wild access.

use crate::{ByteOrder, CharSet, EncodeError, EncodeErrorKind, WireFormat, layout::padding};
use core::fmt;

/// The octets of one value that is being decoded.
///
/// Loads always return something, and what is wrong with it is [noted](Self::note): a loop over windows has no way out
/// in its middle then, and knows how many values it makes. Whoever opened the window looks whether there was
/// a fault, and reads the octets again by [`Decode::decode`](crate::Decode::decode), which tells what
/// it is and where.
pub struct Window<'a> {
    octets: &'a [u8],
    at: usize,
    phase: usize,
    format: WireFormat,
    faults: Faults,
}

/// What was wrong with values, gathered without a branch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// Not 0 once there was a fault.
    bits: u8,
    /// All characters: those beyond 0x7f are none in UTF-8, which is looked at once for all.
    characters: u8,
}

impl Faults {
    #[inline(always)]
    pub(crate) const fn add(&mut self, other: Self) {
        self.bits |= other.bits;
        self.characters |= other.characters;
    }

    /// Whether there was one, where text is as agreed.
    #[inline(always)]
    pub(crate) fn are_in(self, format: WireFormat) -> bool {
        self.bits != 0 || self.characters >= 0x80 && format.char_set == CharSet::Utf8
    }
}

impl<'a> Window<'a> {
    #[inline(always)]
    pub(crate) const fn new(octets: &'a [u8], phase: usize, format: WireFormat) -> Self {
        Self {
            octets,
            at: 0,
            phase,
            format,
            faults: Faults {
                bits: 0,
                characters: 0,
            },
        }
    }

    /// What was agreed on about text.
    #[inline(always)]
    #[must_use]
    pub const fn format(&self) -> WireFormat {
        self.format
    }

    /// Notes that what was loaded is no value of its type.
    #[inline(always)]
    pub const fn note(&mut self, is_fault: bool) {
        self.faults.bits |= is_fault as u8;
    }

    /// Notes a character, which is one octet.
    #[inline(always)]
    pub(crate) const fn note_character(&mut self, octet: u8) {
        self.faults.characters |= octet;
    }

    /// Whether a fault was noted.
    #[inline(always)]
    pub(crate) fn is_faulty(&self) -> bool {
        self.faults.are_in(self.format)
    }

    /// The faults that were noted.
    #[inline(always)]
    pub(crate) const fn faults(&self) -> Faults {
        self.faults
    }

    /// The next primitive of `N` octets, aligned to `N`.
    #[inline(always)]
    pub fn load<const N: usize>(&mut self) -> [u8; N] {
        let start = self
            .at
            .wrapping_add(padding(self.phase.wrapping_add(self.at), N));
        let end = start.wrapping_add(N);
        match self.octets.get(start..end).map(<[u8; N]>::try_from) {
            Some(Ok(octets)) => {
                self.at = end;
                octets
            }
            // The layout of the type is not that of its members.
            _ => {
                self.faults.bits = 1;
                [0; N]
            }
        }
    }

    /// Octets without alignment; none if the layout of the type is not that of its members.
    #[inline(always)]
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let end = self.at.wrapping_add(len);
        match self.octets.get(self.at..end) {
            Some(octets) => {
                self.at = end;
                octets
            }
            None => {
                self.faults.bits = 1;
                &[]
            }
        }
    }

    /// Steps over padding to a multiple of `n`.
    #[inline(always)]
    pub(crate) const fn align(&mut self, n: usize) {
        self.at = self
            .at
            .wrapping_add(padding(self.phase.wrapping_add(self.at), n));
    }
}

impl fmt::Debug for Window<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window")
            .field("len", &self.octets.len())
            .field("at", &self.at)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

/// The octets of one value that is being encoded, all zero before.
pub struct WindowMut<'a> {
    octets: &'a mut [u8],
    at: usize,
    phase: usize,
    format: WireFormat,
    faults: Faults,
}

impl<'a> WindowMut<'a> {
    #[inline(always)]
    pub(crate) const fn new(octets: &'a mut [u8], phase: usize, format: WireFormat) -> Self {
        Self {
            octets,
            at: 0,
            phase,
            format,
            faults: Faults {
                bits: 0,
                characters: 0,
            },
        }
    }

    /// Notes a character, which is one octet.
    #[inline(always)]
    pub(crate) const fn note_character(&mut self, octet: u8) {
        self.faults.characters |= octet;
    }

    /// The faults that were noted.
    #[inline(always)]
    pub(crate) const fn faults(&self) -> Faults {
        self.faults
    }

    /// What was agreed on about text.
    #[inline(always)]
    #[must_use]
    pub const fn format(&self) -> WireFormat {
        self.format
    }

    /// Stores the next primitive of `N` octets, aligned to `N`.
    ///
    /// # Errors
    /// None, if the layout of the type is that of its members.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, value: [u8; N]) -> Result<(), EncodeError> {
        let start = self
            .at
            .wrapping_add(padding(self.phase.wrapping_add(self.at), N));
        let end = start.wrapping_add(N);
        // As an array: a slice is copied by a call, if the compiler does not come to know how long it is.
        let place = self.octets.get_mut(start..);
        match place.and_then(<[u8]>::first_chunk_mut::<N>) {
            Some(place) => {
                *place = value;
                self.at = end;
                Ok(())
            }
            None => Err(mismatch()),
        }
    }

    /// Stores octets without alignment.
    ///
    /// # Errors
    /// None, if the layout of the type is that of its members.
    #[inline(always)]
    pub fn append(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        let end = self.at.wrapping_add(octets.len());
        match self.octets.get_mut(self.at..end) {
            Some(place) => {
                place.copy_from_slice(octets);
                self.at = end;
                Ok(())
            }
            None => Err(mismatch()),
        }
    }
}

impl fmt::Debug for WindowMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowMut")
            .field("len", &self.octets.len())
            .field("at", &self.at)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

#[cold]
const fn mismatch() -> EncodeError {
    EncodeError::new(EncodeErrorKind::Expected("a layout that fits its type"))
}

/// Loads that depend on the byte order, for the implementations of this crate and of the macros.
impl Window<'_> {
    /// An unsigned long.
    #[inline(always)]
    pub fn load_u32<O: ByteOrder>(&mut self) -> u32 {
        O::load_u32(self.load())
    }
}
