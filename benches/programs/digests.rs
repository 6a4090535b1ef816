//! Digests of structs; those of other types are the floor's.

use crate::common::idl::bench::BinStruct;
use zorb_floor::digest;

/// Folds every field of every struct.
pub(crate) fn of_structs(structs: &[BinStruct]) -> u64 {
    structs.iter().fold(structs.len() as u64, |sum, each| {
        let one = digest::bin_struct(each.s, each.c.0, each.l, each.o, each.d);
        sum.wrapping_add(one)
    })
}
