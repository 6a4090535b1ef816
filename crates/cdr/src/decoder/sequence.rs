//! Reading sequences, whose counts are checked against the octets that are left.

use super::Decoder;
use crate::{ByteOrder, Decode, DecodeError, DecodeErrorKind, OctetsRef};
use alloc::vec::Vec;

impl<'de, O: ByteOrder> Decoder<'de, O> {
    /// Reads a `sequence<octet>`, borrowed from the frame.
    ///
    /// # Errors
    /// [`CountTooLarge`](DecodeErrorKind::CountTooLarge) if it claims more octets than there are.
    pub fn read_octets(&mut self) -> Result<&'de [u8], DecodeError> {
        let len = self.read_count(1)?;
        self.take(len)
    }

    /// Reads a `sequence<octet>`, borrowed, that can be [kept](OctetsRef::keep) without copying.
    ///
    /// # Errors
    /// Returns the errors of [`read_octets`](Self::read_octets).
    pub fn read_octets_ref(&mut self) -> Result<OctetsRef<'de>, DecodeError> {
        let octets = self.read_octets()?;
        Ok(OctetsRef::of_frame(octets, self.frame))
    }

    /// Reads the count of a sequence whose elements take at least `min_size` octets. The count is checked against the
    /// octets that are left, so that the caller may allocate for it.
    ///
    /// With a `min_size` of 0 the length of the message does not bound the count, and
    /// [`Limits::max_empty_elements`](crate::Limits::max_empty_elements) applies. Each element then counts as an octet of
    /// [memory](Self::charge_memory), so that many such sequences take no more time than other ones.
    ///
    /// # Errors
    /// [`CountTooLarge`](DecodeErrorKind::CountTooLarge) if so many elements cannot follow;
    /// [`TooMuchMemory`](DecodeErrorKind::TooMuchMemory) for too many that take no octets.
    #[inline]
    pub fn read_count(&mut self, min_size: usize) -> Result<usize, DecodeError> {
        let count = self.read_u32()?;
        let fits = if min_size == 0 {
            count <= self.limits.max_empty_elements
        } else {
            u64::from(count).saturating_mul(min_size as u64) <= self.unowed(0) as u64
        };
        let count = self.checked_count(count, fits)?;
        if min_size == 0 {
            // They take no memory, but time: as much for all sequences together as octets of memory.
            self.charge_memory(count)?;
        }
        Ok(count)
    }

    /// Reads the count of a sequence of any type: at most as many as there are octets, or as
    /// [`Limits::max_empty_elements`](crate::Limits::max_empty_elements).
    #[cfg(feature = "serde")]
    pub(crate) fn read_count_of_unknown(&mut self) -> Result<usize, DecodeError> {
        let count = self.read_u32()?;
        let fits =
            count <= self.limits.max_empty_elements || u64::from(count) <= self.unowed(0) as u64;
        self.checked_count(count, fits)
    }

    #[inline]
    fn checked_count(&self, count: u32, fits: bool) -> Result<usize, DecodeError> {
        match usize::try_from(count) {
            Ok(count) if fits => Ok(count),
            _ => {
                let left = self.unowed(0);
                Err(self.error_behind(4, DecodeErrorKind::CountTooLarge { count, left }))
            }
        }
    }

    /// Reads a sequence and appends its elements to `values`, so that a `Vec` can be used again without allocating.
    ///
    /// # Errors
    /// [`CountTooLarge`](DecodeErrorKind::CountTooLarge) if it claims more elements than there can be, and the errors
    /// of `T`. Some elements may have been appended then.
    #[inline]
    pub fn read_into<T: Decode<'de>>(&mut self, values: &mut Vec<T>) -> Result<(), DecodeError> {
        let len = self.read_count(T::MIN_SIZE)?;
        T::decode_into(self, len, values)
    }
}
