//! Loads and stores at known offsets in one value of fixed layout.
//!
//! A window is exactly as long as the layout of its type, and begins at a phase that is a constant after inlining. The
//! offsets of all members are then constants too, so the compiler drops the checks written here and leaves plain loads
//! and stores. Nothing relies on that for safety: a wrong layout is an error, not a wild access.

use crate::{ByteOrder, CharSet, EncodeError, EncodeErrorKind, WireFormat, layout::padding};
use core::fmt;

/// The octets of one value that is being decoded.
///
/// A load always returns a value, and [notes](Self::note) whether it is invalid, so a loop over windows has no early
/// exit and a known number of iterations. The caller that opened the window checks for a fault. It then reads the
/// octets again by [`Decode::decode`](crate::Decode::decode), whose error has its kind and position.
pub struct Window<'a> {
    octets: &'a [u8],
    at: usize,
    phase: usize,
    format: WireFormat,
    faults: Faults,
}

/// Faults of values, collected without a branch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// Not 0 once there was a fault.
    bits: u8,
    /// All characters, combined by OR. Octets beyond 0x7f are not characters in UTF-8, which is checked once for all.
    characters: u64,
}

impl Faults {
    #[inline(always)]
    pub(crate) const fn add(&mut self, other: Self) {
        self.bits |= other.bits;
        self.characters |= other.characters;
    }

    /// Whether a fault was noted, for text in the code set of `format`.
    #[inline(always)]
    pub(crate) fn are_in(self, format: WireFormat) -> bool {
        self.bits != 0 || self.characters & BEYOND_ASCII != 0 && format.char_set == CharSet::Utf8
    }
}

/// The highest bit of each octet, which ASCII characters leave clear.
const BEYOND_ASCII: u64 = u64::from_ne_bytes([0x80; 8]);

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

    /// Returns the GIOP minor version and the code sets of the message.
    #[inline(always)]
    #[must_use]
    pub const fn format(&self) -> WireFormat {
        self.format
    }

    /// Notes whether the loaded octets are not a value of their type.
    #[inline(always)]
    pub const fn note(&mut self, is_fault: bool) {
        self.faults.bits |= is_fault as u8;
    }

    /// Notes a character, which is one octet.
    #[inline(always)]
    pub(crate) const fn note_character(&mut self, octet: u8) {
        self.faults.characters |= octet as u64;
    }

    /// Whether a fault was noted.
    #[inline(always)]
    pub(crate) fn is_faulty(&self) -> bool {
        self.faults.are_in(self.format)
    }

    /// Returns the faults that were noted.
    #[inline(always)]
    pub(crate) const fn faults(&self) -> Faults {
        self.faults
    }

    /// Loads the next primitive of `N` octets, aligned to `N`. If fewer are left, because the layout of the type is not that of
    /// its members, returns zeros and notes the fault.
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

    /// Loads the next `len` octets, without alignment. If fewer are left, because the layout of the type is not that of its
    /// members, returns no octets and notes the fault.
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
///
/// Neighbours of different sizes are combined in a register and stored as one word, since stores are the bottleneck.
/// The word of each neighbour is a constant after inlining, as the offsets are.
pub struct WindowMut<'a> {
    octets: &'a mut [u8],
    at: usize,
    phase: usize,
    format: WireFormat,
    faults: Faults,
    word: Word,
    /// Whether each value is stored without a word: inside of a loop, where offsets are not constants.
    is_plain: bool,
}

/// Neighbours of eight octets in all at most, padding between them included, that are still to be stored.
#[derive(Clone, Copy)]
struct Word {
    /// The octets, the first of them lowest.
    octets: u64,
    start: usize,
    /// The end of the octets: the start if there are none.
    end: usize,
    /// The size of the first neighbour, in octets.
    size: usize,
    /// Whether a later neighbour has another size.
    is_mixed: bool,
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
            word: Word {
                octets: 0,
                start: 0,
                end: 0,
                size: 0,
                is_mixed: false,
            },
            is_plain: false,
        }
    }

    /// Returns the faults that were noted.
    #[inline(always)]
    pub(crate) const fn faults(&self) -> Faults {
        self.faults
    }

    /// Returns the GIOP minor version and the code sets of the message.
    #[inline(always)]
    #[must_use]
    pub const fn format(&self) -> WireFormat {
        self.format
    }

    /// Stores the next primitive of `N` octets, aligned to `N`.
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if the window is full, because the layout of the type is not that of its
    /// members.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, value: [u8; N]) -> Result<(), EncodeError> {
        const {
            assert!(
                matches!(N, 1 | 2 | 4 | 8 | 16),
                "no primitive has so many octets"
            )
        };
        let start = self
            .at
            .wrapping_add(padding(self.phase.wrapping_add(self.at), N));
        let end = start.wrapping_add(N);
        self.at = end;
        if self.is_plain || N >= 8 {
            self.flush()?;
            return self.place(start, value);
        }
        let Word {
            start: first,
            end: behind,
            ..
        } = self.word;
        if first == behind || end.wrapping_sub(first) > 8 {
            self.flush()?;
            self.word = Word {
                octets: widened(value),
                start,
                end,
                size: N,
                is_mixed: false,
            };
        } else {
            self.word.octets |= shifted(widened(value), start.wrapping_sub(first));
            self.word.end = end;
            self.word.is_mixed |= self.word.size != N;
        }
        Ok(())
    }

    /// Stores a character, which is one octet, and notes it.
    #[inline(always)]
    pub(crate) fn store_character(&mut self, octet: u8) -> Result<(), EncodeError> {
        self.store([octet])?;
        // Its offset in the word, so that no second copy is made.
        let place = self.at.wrapping_sub(1).wrapping_sub(self.word.start) & 7;
        self.faults.characters |= shifted(u64::from(octet), place);
        Ok(())
    }

    /// Stores values without combining them: many values that lie in memory in the form of the wire, or values in a
    /// loop without constant offsets.
    ///
    /// # Errors
    /// The error of `store`.
    #[inline(always)]
    pub(crate) fn plainly(
        &mut self,
        store: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.flush()?;
        let was_plain = core::mem::replace(&mut self.is_plain, true);
        store(self)?;
        self.is_plain = was_plain;
        Ok(())
    }

    /// Stores a copy of `octets`, without alignment.
    ///
    /// # Errors
    /// [`Expected`](EncodeErrorKind::Expected) if the window is full, because the layout of the type is not that of its
    /// members.
    #[inline(always)]
    pub fn append(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        self.flush()?;
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

    /// Stores the current word. The caller flushes once more at the end.
    #[inline(always)]
    pub(crate) fn flush(&mut self) -> Result<(), EncodeError> {
        let Word {
            octets,
            start,
            end,
            size,
            is_mixed,
        } = self.word;
        let len = end.wrapping_sub(start);
        // The window is empty from here on.
        self.word.end = start;
        self.word.is_mixed = false;
        if !is_mixed {
            // Stored one by one: the compiler merges neighbours that lie in memory in the form of the wire.
            return match size {
                4 => self.place_parts::<4>(start, len, octets),
                2 => self.place_parts::<2>(start, len, octets),
                _ => self.place_parts::<1>(start, len, octets),
            };
        }
        // The store may write zeros behind the octets, which are padding or stored later.
        let Some(room) = self.octets.len().checked_sub(start) else {
            return Err(mismatch());
        };
        if len > room {
            return Err(mismatch());
        }
        let [a, b, c, d, e, f, g, _] = octets.to_le_bytes();
        match len {
            5.. if room >= 8 => self.place(start, octets.to_le_bytes()),
            3.. if room >= 4 => {
                self.place(start, [a, b, c, d])?;
                let start = start.wrapping_add(4);
                match len {
                    ..=4 => Ok(()),
                    5 => self.place(start, [e]),
                    6 => self.place(start, [e, f]),
                    _ => {
                        self.place(start, [e, f])?;
                        self.place(start.wrapping_add(2), [g])
                    }
                }
            }
            _ => {
                self.place(start, [a, b])?;
                self.place(start.wrapping_add(2), [c])
            }
        }
    }

    /// Stores the first `len` octets of a word, `N` at a time.
    #[inline(always)]
    fn place_parts<const N: usize>(
        &mut self,
        start: usize,
        len: usize,
        octets: u64,
    ) -> Result<(), EncodeError> {
        let octets = octets.to_le_bytes();
        let mut at = 0_usize;
        for part in octets.as_chunks::<N>().0 {
            if at < len {
                self.place(start.wrapping_add(at), *part)?;
            }
            at = at.wrapping_add(N);
        }
        Ok(())
    }

    #[inline(always)]
    fn place<const N: usize>(&mut self, start: usize, value: [u8; N]) -> Result<(), EncodeError> {
        // As an array: a slice of a length that the compiler does not know is copied by a call.
        let place = self.octets.get_mut(start..);
        match place.and_then(<[u8]>::first_chunk_mut::<N>) {
            Some(place) => {
                *place = value;
                Ok(())
            }
            None => Err(mismatch()),
        }
    }
}

/// Returns a word shifted up by `octets` octets.
#[inline(always)]
fn shifted(word: u64, octets: usize) -> u64 {
    let bits = u32::try_from(octets.wrapping_mul(8)).unwrap_or_default();
    word.wrapping_shl(bits)
}

/// Returns a word whose lowest octets are `value`.
#[inline(always)]
fn widened<const N: usize>(value: [u8; N]) -> u64 {
    let value = value.as_slice();
    if let Some(octets) = value.first_chunk::<4>() {
        u64::from(u32::from_le_bytes(*octets))
    } else if let Some(octets) = value.first_chunk::<2>() {
        u64::from(u16::from_le_bytes(*octets))
    } else {
        value.first().copied().map_or(0, u64::from)
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
    /// Loads an `unsigned long`: 4 octets behind padding to a multiple of 4. See [`load`](Self::load) for a window without them.
    #[inline(always)]
    pub fn load_u32<O: ByteOrder>(&mut self) -> u32 {
        O::load_u32(self.load())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores `octets` octets of 0xFF, with a short in front that makes a word of different sizes.
    fn stores(window: &mut WindowMut<'_>, octets: usize) -> Result<(), EncodeError> {
        window.store([0xFF; 2])?;
        for _ in 2..octets {
            window.store([0xFF])?;
        }
        window.flush()
    }

    #[test]
    fn a_window_that_is_too_small_is_an_error_and_nothing_is_left_out() {
        for octets in 3..=8 {
            for room in 0..=octets + 1 {
                let mut place = [0; 9];
                let mut window = WindowMut::new(&mut place[..room], 0, WireFormat::default());
                assert_eq!(stores(&mut window, octets).is_ok(), room >= octets);
                if room >= octets {
                    assert_eq!(
                        place.map(|octet| octet == 0xFF),
                        [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|at| at < octets)
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_stored_is_not_stored_again() {
        let mut place = [0; 16];
        let mut window = WindowMut::new(&mut place, 0, WireFormat::default());
        stores(&mut window, 3).unwrap();
        window.octets.fill(0);
        window.flush().unwrap();
        window.store([1; 8]).unwrap();
        window.append(&[]).unwrap();
        assert_eq!(place[..8], [0; 8]);
    }
}
