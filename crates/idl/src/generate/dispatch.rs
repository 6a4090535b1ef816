//! The table from operation name to arm, a perfect hash computed here: `zorb_poa::Operations`.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The same as in `zorb_poa::Operations`, which proves at compile time that they agree.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Names in a bucket on average: more make the table smaller and the search longer.
const NAMES_IN_A_BUCKET: usize = 3;
/// Multipliers that are tried for a bucket before another seed is. Hardly a bucket needs a hundred.
const MULTIPLIERS: u32 = 1 << 12;

/// A perfect hash over names, as `zorb_poa::Operations` reads it.
///
/// For who measures how it grows; generated code has it as a constant.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is what `Operations::new` takes"
)]
pub struct PerfectHash {
    /// What the hash begins with.
    pub seed: u64,
    /// A multiplier for each bucket; a power of two of them.
    pub multipliers: Vec<u32>,
    /// 32 less the logarithm of the number of slots.
    pub shift: u32,
    /// The index of the name that is there.
    pub slots: Vec<Option<usize>>,
}

impl PerfectHash {
    /// A slot of its own for every name. Takes a few hundred nanoseconds a name, and for ever when a name is there
    /// twice.
    #[must_use]
    pub fn over<N: AsRef<[u8]>>(names: &[N]) -> Option<Self> {
        // Names are distinct, so some seed does; nearly always the first.
        (0..).find_map(|seed| find(names, seed))
    }
}

/// The table of each name's index, the type being found at `operations`.
pub(crate) fn table(names: &[String], operations: &TokenStream) -> TokenStream {
    let Some(table) = PerfectHash::over(names) else {
        return TokenStream::new();
    };
    let slots = table.slots.iter().map(|slot| match slot {
        Some(index) => {
            let name = names.get(*index).map_or("", String::as_str);
            let name = Literal::byte_string(name.as_bytes());
            let index = Literal::usize_unsuffixed(*index);
            quote!((#name, #index))
        }
        None => quote!((b"", #operations::NOBODY)),
    });
    let seed = Literal::u64_unsuffixed(table.seed);
    let multipliers = table
        .multipliers
        .iter()
        .map(|&each| Literal::u32_unsuffixed(each));
    let shift = Literal::u32_unsuffixed(table.shift);
    quote!(#operations::new(#seed, &[#(#multipliers),*], #shift, &[#(#slots),*]))
}

fn find<N: AsRef<[u8]>>(names: &[N], seed: u64) -> Option<PerfectHash> {
    let size = (names.len() + names.len() / 4).next_power_of_two();
    let shift = u32::BITS - size.ilog2();
    let buckets = names.len().div_ceil(NAMES_IN_A_BUCKET).next_power_of_two();
    let mut members = vec![Vec::new(); buckets];
    for (index, name) in names.iter().enumerate() {
        let hash = hash(seed, name.as_ref());
        members[hash as usize & (buckets - 1)].push((index, (hash >> 32) as u32));
    }
    // The fullest buckets first, while there is most room.
    let mut order: Vec<usize> = (0..buckets).collect();
    order.sort_by_key(|&bucket| core::cmp::Reverse(members[bucket].len()));
    let mut slots = vec![None; size];
    let mut multipliers = vec![1; buckets];
    for bucket in order {
        let multiplier = (0..MULTIPLIERS)
            .map(|n| 2 * n + 1)
            .find(|&multiplier| settle(&members[bucket], multiplier, shift, &mut slots))?;
        multipliers[bucket] = multiplier;
    }
    Some(PerfectHash {
        seed,
        multipliers,
        shift,
        slots,
    })
}

/// Puts all of a bucket into slots of their own, or none.
fn settle(
    members: &[(usize, u32)],
    multiplier: u32,
    shift: u32,
    slots: &mut [Option<usize>],
) -> bool {
    for (settled, (index, upper)) in members.iter().enumerate() {
        let slot = slot(*upper, multiplier, shift);
        if slots[slot].is_some() {
            for (_, upper) in &members[..settled] {
                slots[self::slot(*upper, multiplier, shift)] = None;
            }
            return false;
        }
        slots[slot] = Some(*index);
    }
    true
}

fn slot(upper: u32, multiplier: u32, shift: u32) -> usize {
    (u64::from(upper.wrapping_mul(multiplier)) >> shift) as usize
}

fn hash(seed: u64, name: &[u8]) -> u64 {
    let mix = |hash: u64, more: u64| {
        let product = u128::from(hash ^ more) * u128::from(MULTIPLIER);
        product as u64 ^ (product >> 64) as u64
    };
    let mut hash = mix(seed, !(name.len() as u64));
    let mut rest = name;
    while let Some((eight, behind)) = rest.split_first_chunk() {
        hash = mix(hash, u64::from_le_bytes(*eight));
        rest = behind;
    }
    if let Some((four, behind)) = rest.split_first_chunk() {
        hash = mix(hash, u64::from(u32::from_le_bytes(*four)));
        rest = behind;
    }
    for one in rest {
        hash = mix(hash, u64::from(*one));
    }
    hash
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use quote::quote;

    use super::{PerfectHash, hash, slot, table};

    fn names() -> Vec<String> {
        let operations = (0..40).map(|n| format!("operation{n}"));
        operations
            .chain(["_get_owner", "_set_owner", "send_2way", "a"].map(str::to_owned))
            .collect()
    }

    /// Compiled by the tests of zorb-poa against the real type.
    #[test]
    fn the_emitted_table_is_the_one_that_is_tested() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/dispatch_table.in");
        let emitted = format!("{}\n", table(&names(), &quote!(Operations)));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(path, &emitted).unwrap();
        } else {
            assert_eq!(fs::read_to_string(path).unwrap(), emitted);
        }
    }

    #[test]
    fn no_two_names_meet_however_many_they_are() {
        for count in (0..70).chain([128, 129, 500, 2_000]) {
            let names: Vec<String> = (0..count).map(|n| format!("_get_a{n}")).collect();
            let table = PerfectHash::over(&names).unwrap();
            for (index, name) in names.iter().enumerate() {
                let hash = hash(table.seed, name.as_bytes());
                let multiplier = table.multipliers[hash as usize & (table.multipliers.len() - 1)];
                let slot = slot((hash >> 32) as u32, multiplier, table.shift);
                assert_eq!(table.slots[slot], Some(index));
            }
        }
    }
}
