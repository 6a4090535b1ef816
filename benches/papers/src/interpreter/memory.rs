//! Values as they lie in memory, without a pointer.

/// A block of memory, and the blocks that it refers to. A string or sequence is, in its block, the number of another
/// block and a length, four octets each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// A part of the value in this block.
    pub octets: Vec<u8>,
    /// A part of the value in a block of its own.
    pub blocks: Vec<Self>,
}

impl Memory {
    /// So much, all zeros.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self {
            octets: vec![0; size],
            blocks: Vec::new(),
        }
    }

    /// A sequence of so many elements, which lie in `elements`.
    #[must_use]
    pub fn sequence(elements: Self, len: usize) -> Self {
        let mut memory = Self::new(8);
        memory.refer(0, elements, len);
        memory
    }

    /// Block and length at `at`.
    pub(super) fn reference(&self, at: usize) -> (usize, usize) {
        let number = |at: usize| u32::from_ne_bytes(self.get(at)) as usize;
        (number(at), number(at + 4))
    }

    /// Adds a block, and refers to it at `at`.
    pub(super) fn refer(&mut self, at: usize, block: Self, len: usize) {
        let number = self.blocks.len() as u32;
        self.blocks.push(block);
        self.set(at, number.to_ne_bytes());
        self.set(at + 4, (len as u32).to_ne_bytes());
    }

    /// Takes a block out for a while.
    pub(super) fn lend(&mut self, block: usize) -> Self {
        self.blocks
            .get_mut(block)
            .map(core::mem::take)
            .unwrap_or_default()
    }

    pub(super) fn restore(&mut self, block: usize, lent: Self) {
        if let Some(place) = self.blocks.get_mut(block) {
            *place = lent;
        }
    }

    #[inline(always)]
    pub(super) fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        let octets = self.octets.get(at..at + N);
        octets
            .and_then(|octets| octets.try_into().ok())
            .unwrap_or([0; N])
    }

    #[inline(always)]
    pub(super) fn set<const N: usize>(&mut self, at: usize, octets: [u8; N]) {
        if let Some(place) = self.octets.get_mut(at..at + N) {
            place.copy_from_slice(&octets);
        }
    }
}
