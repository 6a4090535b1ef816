//! Digests of structs; those of other types are the floor's.

use crate::common::{idl, in_memory};
use zorb_floor::digest;

/// A struct of `bench.idl`.
pub(crate) trait Digested {
    /// Folds every field.
    fn digest(&self) -> u64;
}

macro_rules! digested {
    ($($module:ident)*) => {$(
        impl Digested for $module::bench::BinStruct {
            fn digest(&self) -> u64 {
                digest::bin_struct(self.s, self.c.0, self.l, self.o, self.d)
            }
        }
    )*};
}

digested!(idl in_memory);

/// Folds every field of every struct.
pub(crate) fn of_structs<T: Digested>(structs: &[T]) -> u64 {
    structs.iter().fold(structs.len() as u64, |sum, each| {
        sum.wrapping_add(each.digest())
    })
}
