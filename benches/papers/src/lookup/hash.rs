//! A hash that takes a few nanoseconds a name, and is easily attacked.

use std::hash::{BuildHasher, Hasher};

/// Multiplies and folds eight octets at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fast(u64);

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Fast {
    fn mix(&mut self, more: u64) {
        let product = u128::from(self.0 ^ more) * u128::from(MULTIPLIER);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for Fast {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, octets: &[u8]) {
        let mut rest = octets;
        while let Some((eight, behind)) = rest.split_first_chunk() {
            self.mix(u64::from_le_bytes(*eight));
            rest = behind;
        }
        for octet in rest {
            self.mix(u64::from(*octet));
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(!(number as u64));
    }
}

impl BuildHasher for Fast {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0)
    }
}
