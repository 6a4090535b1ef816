//! The memory that a message is decoded to, and the time that decoding takes: what values take of both.

use super::Decoder;
use crate::{DecodeError, DecodeErrorKind, Limits, MemoryBudget};
use alloc::{boxed::Box, sync::Arc};
use core::fmt;

/// Octets that are reserved at a time, so that the counter that decoders share is rarely touched.
const STEP: u64 = 64 << 10;

/// Values, or elements of sequences, that are read before a decoder asks its context whether it is late. Reading so many
/// takes a fraction of a millisecond.
pub(super) const LOOK_EVERY: usize = 4096;

/// Splits the memory of a message into what it has by itself and what has to be reserved.
#[inline(always)]
pub(super) const fn unshared(memory: u64) -> (u64, u64) {
    let own = Limits::UNSHARED_MEMORY as u64;
    match memory.checked_sub(own) {
        Some(rest) => (own, rest),
        None => (memory, 0),
    }
}

/// Memory that decoded values hold of a [budget](crate::Context::memory_budget), to be dropped with them.
#[must_use = "the memory is given back when this is dropped"]
pub struct MemoryReservation {
    budget: Arc<dyn MemoryBudget>,
    octets: usize,
}

impl MemoryReservation {
    /// Returns the octets that are reserved.
    #[must_use]
    pub const fn octets(&self) -> usize {
        self.octets
    }

    fn take(&mut self, octets: usize) -> bool {
        let taken = self.budget.take(octets);
        if taken {
            self.octets = self.octets.saturating_add(octets);
        }
        taken
    }

    fn give_back(&mut self, octets: usize) {
        self.octets = self.octets.saturating_sub(octets);
        self.budget.give_back(octets);
    }
}

/// A clone of a decoder reserves for itself.
impl Clone for MemoryReservation {
    fn clone(&self) -> Self {
        Self {
            budget: Arc::clone(&self.budget),
            octets: 0,
        }
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        if self.octets != 0 {
            self.budget.give_back(self.octets);
        }
    }
}

impl fmt::Debug for MemoryReservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryReservation")
            .field("octets", &self.octets)
            .finish_non_exhaustive()
    }
}

impl<'de, O> Decoder<'de, O> {
    /// Takes octets of which the first at least have to be reserved.
    #[cold]
    pub(super) fn charge_reserved(&mut self, octets: usize) -> Result<(), DecodeError> {
        let missing = (octets as u64).saturating_sub(self.memory);
        if missing > self.reservable {
            return Err(self.too_much_memory(octets));
        }
        let step = missing.max(STEP).min(self.reservable);
        self.reserve(usize::try_from(step).unwrap_or(usize::MAX))?;
        self.reservable = self.reservable.saturating_sub(step);
        self.memory = step.saturating_sub(missing);
        Ok(())
    }

    #[cold]
    fn too_much_memory(&self, needed: usize) -> DecodeError {
        let left = self.memory.saturating_add(self.reservable);
        if let Some(context) = self.context {
            context.refused_memory();
        }
        self.error(DecodeErrorKind::TooMuchMemory { needed, left })
    }

    /// Reserves octets of the budget that messages share, if there is one.
    pub(super) fn reserve(&mut self, octets: usize) -> Result<(), DecodeError> {
        let Some(context) = self.context else {
            return Ok(());
        };
        let reserved = match &mut self.reserved {
            Some(reserved) => reserved,
            none => match context.memory_budget() {
                Some(budget) => none.insert(Box::new(MemoryReservation { budget, octets: 0 })),
                None => return Ok(()),
            },
        };
        if reserved.take(octets) {
            return Ok(());
        }
        context.refused_memory();
        Err(self.error(DecodeErrorKind::NoSharedMemory { needed: octets }))
    }

    /// Gives back octets that were [reserved](Self::reserve).
    pub(super) fn unreserve(&mut self, octets: usize) {
        if let Some(reserved) = &mut self.reserved {
            reserved.give_back(octets);
        }
    }

    /// Returns the memory that was reserved for the values that were read, to be dropped when they are not needed any
    /// more; otherwise it is given back with the decoder. `None` for values that take little memory.
    #[inline]
    #[must_use]
    pub fn take_reservation(&mut self) -> Option<Box<MemoryReservation>> {
        self.reserved.take()
    }

    /// Continues the counts of a decoder of an encapsulation.
    pub(crate) fn absorb<P>(&mut self, inside: Decoder<'de, P>) {
        self.memory = inside.memory;
        self.reservable = inside.reservable;
        self.until_look = inside.until_look;
        if let Some(mut inner) = inside.reserved {
            match &mut self.reserved {
                Some(outer) => {
                    outer.octets = outer.octets.saturating_add(inner.octets);
                    inner.octets = 0;
                }
                none => *none = Some(inner),
            }
        }
    }

    /// Counts values or elements that are about to be read, and asks from time to time whether there is time for them.
    ///
    /// # Errors
    /// [`Late`](DecodeErrorKind::Late): see [`Context::is_late`](crate::Context::is_late).
    #[inline]
    pub(crate) fn count_steps(&mut self, steps: usize) -> Result<(), DecodeError> {
        match self.until_look.checked_sub(steps) {
            Some(left) => {
                self.until_look = left;
                Ok(())
            }
            None => self.look(),
        }
    }

    #[cold]
    fn look(&mut self) -> Result<(), DecodeError> {
        self.until_look = LOOK_EVERY;
        match self.context {
            Some(context) if context.is_late() => Err(self.error(DecodeErrorKind::Late)),
            _ => Ok(()),
        }
    }
}
