//! The table from operation name to arm, a perfect hash computed here: `zorb_poa::Operations`.

use phf_generator::{HashState, generate_hash_with_hash_fn};
use phf_shared::Hashes;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// Multiplier of the hash, equal to that of `zorb_poa::Operations`, which proves at compile time that they agree.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// A minimal perfect hash over names, as `zorb_poa::Operations` reads it.
///
/// Generated code holds it as a constant. Programs that measure look-ups compute it when they run.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is what `Operations::new` takes"
)]
pub struct PerfectHash {
    /// Start value of the hash.
    pub seed: u64,
    /// Displacements of each bucket.
    pub displacements: Vec<(u32, u32)>,
    /// Index of the name in each slot.
    pub slots: Vec<usize>,
}

impl PerfectHash {
    /// Gives each name a slot of its own. Takes some hundred nanoseconds a name. Does not end if a name occurs twice.
    #[must_use]
    pub fn over<N: AsRef<[u8]>>(names: &[N]) -> Self {
        let names: Vec<&[u8]> = names.iter().map(AsRef::as_ref).collect();
        let HashState { key, disps, map } = generate_hash_with_hash_fn(&names, hashes);
        Self {
            seed: key,
            displacements: disps,
            slots: map,
        }
    }

    /// An expression that makes the table of each name's index: a call of `new` of the type that is found at `of`. Does not end
    /// if a name occurs twice.
    #[must_use]
    pub fn table<N: AsRef<[u8]>>(names: &[N], of: &TokenStream) -> TokenStream {
        table(names, of)
    }
}

/// The table of each name's index, the type being found at `operations`.
pub(crate) fn table<N: AsRef<[u8]>>(names: &[N], operations: &TokenStream) -> TokenStream {
    let hash = PerfectHash::over(names);
    let seed = Literal::u64_unsuffixed(hash.seed);
    let displacements = hash.displacements.iter().map(|&(first, second)| {
        let (first, second) = (
            Literal::u32_unsuffixed(first),
            Literal::u32_unsuffixed(second),
        );
        quote!((#first, #second))
    });
    let slots = hash.slots.iter().map(|&index| {
        let name = names.get(index).map_or(&[][..], AsRef::as_ref);
        let name = Literal::byte_string(name);
        let index = Literal::usize_unsuffixed(index);
        quote!((#name, #index))
    });
    quote!(#operations::new(#seed, &[#(#displacements),*], &[#(#slots),*]))
}

/// The hash in the three parts of which `phf_generator` makes bucket and slot. Its type can be made by its own crate
/// alone, so the parts replace those of another hash.
fn hashes(name: &&[u8], seed: &u64) -> Hashes {
    let hash = hash(*seed, name);
    let mut hashes = phf_shared::hash("", seed);
    hashes.g = (hash >> 32) as u32;
    hashes.f1 = hash as u32;
    hashes.f2 = (hash.wrapping_mul(MULTIPLIER) >> 32) as u32;
    hashes
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

    use super::table;

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
}
