//! The dispatch table of a skeleton, a perfect hash (`phf::Map`) from operation names to indexes: `zorb_poa::Operations`.

use phf_generator::{HashState, generate_hash};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// An expression that makes the table from each name to its index. It calls `new` of the type at the path `of`, which is
/// `zorb_poa::Operations` or a type that holds one. Takes some hundred nanoseconds a name. Does not return if a name occurs
/// twice.
#[must_use]
pub fn perfect_hash<N: AsRef<[u8]>>(names: &[N], of: &TokenStream) -> TokenStream {
    let names: Vec<&[u8]> = names.iter().map(AsRef::as_ref).collect();
    let HashState { key, disps, map } = generate_hash(&names);
    let key = Literal::u64_unsuffixed(key);
    let displacements = disps.iter().map(|&(first, second)| {
        let (first, second) = (
            Literal::u32_unsuffixed(first),
            Literal::u32_unsuffixed(second),
        );
        quote!((#first, #second))
    });
    let slots = map.iter().map(|&index| {
        let name = Literal::byte_string(names.get(index).copied().unwrap_or_default());
        let index = Literal::usize_unsuffixed(index);
        quote!((#name, #index))
    });
    quote!(#of::new(#key, &[#(#displacements),*], &[#(#slots),*]))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use quote::quote;

    use super::perfect_hash;

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
        let emitted = format!("{}\n", perfect_hash(&names(), &quote!(Operations)));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(path, &emitted).unwrap();
        } else {
            assert_eq!(fs::read_to_string(path).unwrap(), emitted);
        }
    }
}
