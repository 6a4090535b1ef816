//! Object keys: indexes with a birth certificate.
//!
//! ```text
//!  0      3    4               12            16            20          24            28
//!  ┌──────┬────┬───────────────┬─────────────┬─────────────┬───────────┬─────────────┐
//!  │"ZRB" │kind│ ORB instance  │adapter slot │ adapter gen.│object slot│ object gen. │
//!  └──────┴────┴───────────────┴─────────────┴─────────────┴───────────┴─────────────┘
//! ```
//! All numbers are big-endian. A key is opaque to everybody else.

use crate::table::Index;
use core::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

const MAGIC: [u8; 3] = *b"ZRB";
/// A reference that dies with the ORB instance that made it.
const KIND_TRANSIENT: u8 = 1;

/// Octets of an object key.
pub const KEY_LEN: usize = 28;

/// Which life of which server: drawn at random when an ORB starts, so that a reference from an
/// earlier life is OBJECT_NOT_EXIST and never somebody else's object.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstanceId(pub u64);

impl InstanceId {
    /// 64 random bits from the operating system's seed, mixed with the process and the time.
    #[must_use]
    pub fn random() -> Self {
        // `RandomState` is seeded by the operating system once a thread and counts up from
        // there; process and time keep forked processes apart.
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        if let Ok(now) = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
            hasher.write_u128(now.as_nanos());
        }
        Self(hasher.finish())
    }
}

impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InstanceId({:016x})", self.0)
    }
}

/// A key made by some zorb ORB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    /// Whose.
    pub instance: InstanceId,
    /// Which adapter.
    pub adapter: Index,
    /// Which object there.
    pub object: Index,
}

impl ObjectKey {
    /// Reads a key; `None` for keys that no zorb ORB made.
    #[must_use]
    pub fn parse(octets: &[u8]) -> Option<Self> {
        let octets: &[u8; KEY_LEN] = octets.try_into().ok()?;
        let (head, rest) = octets.split_first_chunk::<4>()?;
        let [m0, m1, m2, kind] = *head;
        if [m0, m1, m2] != MAGIC || kind != KIND_TRANSIENT {
            return None;
        }
        let (instance, rest) = rest.split_first_chunk::<8>()?;
        let mut numbers = rest
            .chunks_exact(4)
            .filter_map(|four| Some(u32::from_be_bytes(four.try_into().ok()?)));
        let mut index = || {
            Some(Index {
                slot: numbers.next()?,
                generation: numbers.next()?,
            })
        };
        Some(Self {
            instance: InstanceId(u64::from_be_bytes(*instance)),
            adapter: index()?,
            object: index()?,
        })
    }

    /// Writes the key.
    #[must_use]
    pub fn to_octets(self) -> [u8; KEY_LEN] {
        let mut octets = [0; KEY_LEN];
        let numbers = [
            self.adapter.slot,
            self.adapter.generation,
            self.object.slot,
            self.object.generation,
        ];
        let written = MAGIC
            .into_iter()
            .chain([KIND_TRANSIENT])
            .chain(self.instance.0.to_be_bytes())
            .chain(numbers.into_iter().flat_map(u32::to_be_bytes));
        for (to, from) in octets.iter_mut().zip(written) {
            *to = from;
        }
        octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_survives_a_round_trip(instance: u64, a: u32, b: u32, c: u32, d: u32) {
            let key = ObjectKey {
                instance: InstanceId(instance),
                adapter: Index { slot: a, generation: b },
                object: Index { slot: c, generation: d },
            };
            prop_assert_eq!(ObjectKey::parse(&key.to_octets()), Some(key));
        }

        #[test]
        fn foreign_octets_are_no_key(octets in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Some(key) = ObjectKey::parse(&octets) {
                prop_assert_eq!(&key.to_octets()[..], &octets[..]);
            }
        }
    }

    #[test]
    fn two_lives_have_different_ids() {
        assert_ne!(InstanceId::random(), InstanceId::random());
    }
}
