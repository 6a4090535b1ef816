//! From an operation's name to its number, by a perfect hash that the IDL compiler computes.

/// Multiplier of the hash: odd, and its bits look random.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The operations of an interface by name: one hash, two look-ups, one comparison, whatever their number.
///
/// Every name has a *slot* of its own. One part of a name's hash chooses a bucket; the bucket's two displacements and the
/// other parts choose the slot. `phf_generator` has chosen displacements in the IDL compiler, so that no two names share
/// a slot and no slot is empty. [`new`](Self::new) proves it, where the table is made: at compile time.
#[derive(Debug)]
pub struct Operations {
    seed: u64,
    /// Displacements of each bucket; none if there are no operations.
    displacements: &'static [(u32, u32)],
    /// Name and number of each operation, in the order of their slots.
    slots: &'static [(&'static [u8], u32)],
    /// Octets of the longest name.
    longest: usize,
}

impl Operations {
    /// A table of no operations.
    pub const NONE: Self = Self::new(0, &[], &[]);

    /// A table as the IDL compiler has computed it. The numbers are those below the number of names.
    ///
    /// # Panics
    /// If a name is not in the slot where it is looked for, or a number is too high; at compile time, if the table is a `static`.
    #[must_use]
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "the index is below the length"
    )]
    pub const fn new(
        seed: u64,
        displacements: &'static [(u32, u32)],
        slots: &'static [(&'static [u8], u32)],
    ) -> Self {
        let mut table = Self {
            seed,
            displacements,
            slots,
            longest: 0,
        };
        let mut index = 0;
        while index < slots.len() {
            let (name, number) = slots[index];
            assert!((number as usize) < slots.len(), "a number is too high");
            assert!(
                matches!(table.slot(name), Some(slot) if slot == index),
                "the table of operations is not the one that was computed"
            );
            if name.len() > table.longest {
                table.longest = name.len();
            }
            index += 1;
        }
        table
    }

    /// The number of the operation with this name.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        let number = self.number(name);
        zorb_giop::probe!(OperationFound);
        number
    }

    /// The number of a name, whatever it names.
    #[inline]
    pub(crate) fn number(&self, name: &[u8]) -> Option<u32> {
        let (found, number) = self.slots.get(self.slot(name)?)?;
        (*found == name).then_some(*number)
    }

    /// Octets of the longest name.
    pub(crate) const fn longest(&self) -> usize {
        self.longest
    }

    /// The names, in no order.
    pub(crate) const fn names(&self) -> &'static [(&'static [u8], u32)] {
        self.slots
    }

    /// The slot of this name, if it is one of the table's. `None` if the table has no bucket or no slot.
    #[expect(
        clippy::indexing_slicing,
        reason = "a remainder is below the number that was divided by, and `get` is not for constants"
    )]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the halves of a hash; tables of more than 2^32 operations do not compile"
    )]
    const fn slot(&self, name: &[u8]) -> Option<usize> {
        let hash = hash(self.seed, name);
        let (upper, lower) = ((hash >> 32) as u32, hash as u32);
        let third = (hash.wrapping_mul(MULTIPLIER) >> 32) as u32;
        let Some(bucket) = upper.checked_rem(self.displacements.len() as u32) else {
            return None;
        };
        let (first, second) = self.displacements[bucket as usize];
        let place = lower
            .wrapping_mul(first)
            .wrapping_add(second)
            .wrapping_add(third);
        match place.checked_rem(self.slots.len() as u32) {
            Some(slot) => Some(slot as usize),
            None => None,
        }
    }
}

/// The hash of the IDL compiler (`zorb-idl`, `generate/dispatch.rs`). DESIGN.md says why it is not the SipHash of
/// `phf::Map`.
const fn hash(seed: u64, name: &[u8]) -> u64 {
    let mut hash = mix(seed, !(name.len() as u64));
    let mut rest = name;
    while let Some((eight, behind)) = rest.split_first_chunk() {
        hash = mix(hash, u64::from_le_bytes(*eight));
        rest = behind;
    }
    if let Some((four, behind)) = rest.split_first_chunk() {
        hash = mix(hash, u32::from_le_bytes(*four) as u64);
        rest = behind;
    }
    while let Some((one, behind)) = rest.split_first() {
        hash = mix(hash, *one as u64);
        rest = behind;
    }
    hash
}

/// Both halves of the product, so that every bit of the factor counts in both halves of the hash.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "a product of 64 bits each has at most 128; its halves are wanted"
)]
const fn mix(hash: u64, more: u64) -> u64 {
    let product = (hash ^ more) as u128 * MULTIPLIER as u128;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use zorb_idl::PerfectHash;

    /// The output of the IDL compiler for its test: seed, displacements, slots.
    static TABLE: Operations = include!("../../idl/tests/golden/dispatch_table.in");

    #[test]
    fn every_name_is_found_and_no_other() {
        let operations = (0..40).map(|n| format!("operation{n}"));
        let names =
            operations.chain(["_get_owner", "_set_owner", "send_2way", "a"].map(str::to_owned));
        for (number, name) in names.enumerate() {
            assert_eq!(
                TABLE.find(name.as_bytes()),
                u32::try_from(number).ok(),
                "{name}"
            );
        }
        for other in [
            "",
            "operation",
            "operation40",
            "Operation1",
            "_get_owner\0",
            "b",
        ] {
            assert_eq!(TABLE.find(other.as_bytes()), None, "{other}");
        }
    }

    /// The table that the IDL compiler makes of `names`. A table lives as long as the program, here too.
    fn table(names: &[&[u8]]) -> Operations {
        let hash = PerfectHash::over(names);
        let slot = |&index: &usize| -> (&'static [u8], u32) {
            let number = u32::try_from(index).expect("few names");
            (names[index].to_vec().leak(), number)
        };
        let slots: Vec<_> = hash.slots.iter().map(slot).collect();
        Operations::new(hash.seed, hash.displacements.leak(), slots.leak())
    }

    /// Octets that differ little from `name`.
    fn near_misses(name: &[u8]) -> Vec<Vec<u8>> {
        let mut misses = vec![
            name[1..].to_vec(),
            name[..name.len() - 1].to_vec(),
            [name, b"\0"].concat(),
            [name, b"_"].concat(),
            [b"_get_", name].concat(),
            [name, name].concat(),
        ];
        for at in 0..name.len() {
            for mask in [0x01, 0x20, 0x80] {
                let mut changed = name.to_vec();
                changed[at] ^= mask;
                misses.push(changed);
            }
        }
        misses
    }

    /// Each name is found at its index, and `others` only if they are names.
    fn check(names: &BTreeSet<Vec<u8>>, others: &[Vec<u8>]) {
        let ordered: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let table = table(&ordered);
        for (number, name) in (0..).zip(&ordered) {
            assert_eq!(table.find(name), Some(number));
        }
        let misses = ordered.iter().flat_map(|name| near_misses(name));
        for other in misses.chain(others.iter().cloned()) {
            let index = ordered.binary_search(&other.as_slice()).ok();
            let number = index.and_then(|index| u32::try_from(index).ok());
            assert_eq!(table.find(&other), number, "{}", other.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn a_table_of_any_names_finds_each_of_them_and_no_other(
            names in btree_set("(_[gs]et_)?[A-Za-z][A-Za-z0-9_]{0,40}", 0..60),
            others in proptest::collection::vec(any::<Vec<u8>>(), 0..40),
        ) {
            check(&names.into_iter().map(String::into_bytes).collect(), &others);
        }

        /// Names of no IDL, which share most of their octets.
        #[test]
        fn a_table_of_names_that_are_alike_finds_each_of_them_and_no_other(
            names in btree_set(proptest::collection::vec(0_u8..3, 1..12), 0..200),
            others in proptest::collection::vec(proptest::collection::vec(0_u8..4, 0..13), 0..200),
        ) {
            check(&names, &others);
        }
    }

    #[test]
    fn tables_of_many_names_find_each_of_them_and_no_other() {
        for count in [1, 2, 3, 4, 64, 65, 500, 2_000] {
            let names = (0..count).map(|n| format!("_get_a{n}").into_bytes());
            check(&names.collect(), &[]);
        }
    }

    #[test]
    fn an_interface_without_operations_has_a_table_too() {
        assert_eq!(Operations::NONE.find(b""), None);
        assert_eq!(Operations::NONE.find(b"a"), None);
    }

    #[test]
    #[should_panic(expected = "not the one that was computed")]
    fn a_table_with_a_name_in_another_slot_is_refused() {
        let _ = Operations::new(0, &[(0, 0)], &[(b"a", 0), (b"a", 1)]);
    }

    #[test]
    #[should_panic(expected = "a number is too high")]
    fn a_table_with_a_number_beyond_its_names_is_refused() {
        let _ = Operations::new(0, &[(0, 0)], &[(b"a", 1)]);
    }

    #[test]
    #[should_panic(expected = "not the one that was computed")]
    fn a_table_without_buckets_is_refused() {
        let _ = Operations::new(0, &[], &[(b"a", 0)]);
    }
}
