//! Loads and stores at known places: the inside of one value of fixed layout.
//!
//! A window is exactly as long as the layout of its type says, and begins at a phase that is a constant after
//! inlining. The offsets of all members are then constants too, so the compiler drops the checks written here and
//! leaves plain loads and stores. Nothing relies on that for safety: a wrong layout is an error, not a wild access.

use crate::{
    ByteOrder, DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind, WireFormat,
    layout::padding,
};
use core::fmt;

/// The octets of one value that is being decoded.
pub struct Window<'a> {
    octets: &'a [u8],
    at: usize,
    phase: usize,
    format: WireFormat,
}

impl<'a> Window<'a> {
    #[inline(always)]
    pub(crate) const fn new(octets: &'a [u8], phase: usize, format: WireFormat) -> Self {
        Self {
            octets,
            at: 0,
            phase,
            format,
        }
    }

    /// What was agreed on about text.
    #[inline(always)]
    #[must_use]
    pub const fn format(&self) -> WireFormat {
        self.format
    }

    /// The next primitive of `N` octets, aligned to `N`.
    ///
    /// # Errors
    /// None, if the layout of the type is that of its members.
    #[inline(always)]
    pub fn load<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let start = self
            .at
            .wrapping_add(padding(self.phase.wrapping_add(self.at), N));
        let end = start.wrapping_add(N);
        match self.octets.get(start..end).map(<[u8; N]>::try_from) {
            Some(Ok(octets)) => {
                self.at = end;
                Ok(octets)
            }
            _ => {
                Err(self.error_behind(0, DecodeErrorKind::Expected("a layout that fits its type")))
            }
        }
    }

    /// Octets without alignment.
    ///
    /// # Errors
    /// None, if the layout of the type is that of its members.
    #[inline(always)]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let end = self.at.wrapping_add(len);
        match self.octets.get(self.at..end) {
            Some(octets) => {
                self.at = end;
                Ok(octets)
            }
            None => {
                Err(self.error_behind(0, DecodeErrorKind::Expected("a layout that fits its type")))
            }
        }
    }

    /// An error about the last `len` octets. Offsets are relative to the window until whoever opened it adds where
    /// that is.
    // Inlined, and only what it calls is cold: a reference to the window that leaves the loop would keep the whole
    // window in memory.
    #[inline(always)]
    #[must_use]
    pub const fn error_behind(&self, len: usize, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(kind, self.at.saturating_sub(len))
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
}

impl<'a> WindowMut<'a> {
    #[inline(always)]
    pub(crate) const fn new(octets: &'a mut [u8], phase: usize, format: WireFormat) -> Self {
        Self {
            octets,
            at: 0,
            phase,
            format,
        }
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
        match self.octets.get_mut(start..end) {
            Some(place) => {
                place.copy_from_slice(&value);
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
    ///
    /// # Errors
    /// None, if the layout of the type is that of its members.
    #[inline(always)]
    pub fn load_u32<O: ByteOrder>(&mut self) -> Result<u32, DecodeError> {
        Ok(O::load_u32(self.load()?))
    }
}
