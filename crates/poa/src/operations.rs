//! From an operation's name to its number, by a perfect hash that the IDL compiler computes.

/// Multiplier of the hash: odd, and its bits look random.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The operations of an interface by name: one hash, two look-ups, one comparison, whatever their number.
///
/// Every name has a *slot* of its own. Names are thrown into buckets by the lower half of their hash; the bucket says
/// by which number the upper half is multiplied to get the slot, and the compiler has chosen these numbers so that no
/// two names meet. [`new`](Self::new) proves it, where the table is made: at compile time.
#[derive(Debug)]
pub struct Operations {
    seed: u64,
    /// A multiplier for each bucket; a power of two of them.
    multipliers: &'static [u32],
    /// 32 less the logarithm of the number of slots.
    shift: u32,
    /// Names and numbers; what nobody has is empty.
    slots: &'static [(&'static [u8], u32)],
}

impl Operations {
    /// The number in slots that nobody has. Operations have others.
    pub const NOBODY: u32 = u32::MAX;

    /// A table of no operations.
    pub const NONE: Self = Self::new(0, &[1], 32, &[(b"", Self::NOBODY)]);

    /// A table as the IDL compiler has computed it.
    ///
    /// Panics (at compile time, if it is for a `static`) if a name would not be found where it is.
    #[must_use]
    pub const fn new(
        seed: u64,
        multipliers: &'static [u32],
        shift: u32,
        slots: &'static [(&'static [u8], u32)],
    ) -> Self {
        let table = Self {
            seed,
            multipliers,
            shift,
            slots,
        };
        assert!(multipliers.len().is_power_of_two() && shift <= u32::BITS);
        let mut slot = 0;
        while slot < slots.len() {
            let (name, number) = slots[slot];
            assert!(
                number == Self::NOBODY || table.slot(name) == slot,
                "the table of operations is not the one that was computed"
            );
            slot += 1;
        }
        table
    }

    /// The number of the operation with this name.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        let (found, number) = self.slots.get(self.slot(name))?;
        let number = (*found == name && *number != Self::NOBODY).then_some(*number);
        zorb_giop::probe!(OperationFound);
        number
    }

    const fn slot(&self, name: &[u8]) -> usize {
        let hash = hash(self.seed, name);
        // A power of two of them, so the mask keeps the index within.
        let bucket = hash as usize & (self.multipliers.len() - 1);
        let upper = (hash >> 32) as u32;
        (upper.wrapping_mul(self.multipliers[bucket]) as u64 >> self.shift) as usize
    }
}

/// The same as in the IDL compiler (`zorb-idl`, `generate/dispatch.rs`).
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
const fn mix(hash: u64, more: u64) -> u64 {
    let product = (hash ^ more) as u128 * MULTIPLIER as u128;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the IDL compiler emits for its test: names, seed, multipliers, shift, slots.
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

    #[test]
    fn an_interface_without_operations_has_a_table_too() {
        static NONE: Operations = Operations::new(0, &[1], 32, &[(b"", Operations::NOBODY)]);
        assert_eq!(NONE.find(b""), None);
        assert_eq!(NONE.find(b"a"), None);
    }

    #[test]
    #[should_panic(expected = "not the one that was computed")]
    fn a_table_of_another_hash_is_refused() {
        let _ = Operations::new(0, &[1], 31, &[(b"a", 0), (b"a", 1)]);
    }
}
