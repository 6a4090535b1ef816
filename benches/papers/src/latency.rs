//! The interface of the experiments on latency and scalability, and what client and server make of its arguments alike.

/// The operations that every ORB's programs implement.
#[zorb::idl_file("latency.idl")]
pub mod idl {}

pub use idl::latency::{
    BinStruct, Control, ControlRef, ControlServant, Hundred, HundredRef, HundredServant, One,
    OneRef, OneServant, TcpSequence, TcpSequenceRef, TcpSequenceServant, Ten, TenRef, TenServant,
};
use zorb::Char;
use zorb_floor::digest;

/// Number and sum of elements that have no digest of their own among those of all programs.
fn sum(length: usize, elements: impl Iterator<Item = u64>) -> u64 {
    elements.fold(length as u64, u64::wrapping_add)
}

/// Folds every element.
#[must_use]
pub fn digest_shorts(shorts: &[i16]) -> u64 {
    let each = shorts.iter().map(|short| u64::from(short.cast_unsigned()));
    sum(shorts.len(), each)
}

/// Folds every element.
#[must_use]
pub fn digest_chars(chars: &[Char]) -> u64 {
    sum(chars.len(), chars.iter().map(|char| u64::from(char.0)))
}

/// Folds every element.
#[must_use]
pub fn digest_doubles(doubles: &[f64]) -> u64 {
    sum(doubles.len(), doubles.iter().map(|double| double.to_bits()))
}

/// Folds every field of every struct.
#[must_use]
pub fn digest_structs(structs: &[BinStruct]) -> u64 {
    let each = structs
        .iter()
        .map(|each| digest::bin_struct(each.s, each.c.0, each.l, each.o, each.d));
    sum(structs.len(), each)
}

/// Hands the numbers and names of the operations of an interface to a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! with_operations {
    (One, $then:ident) => {
        $then! { One, OneRef, 0 op0 }
    };
    (Ten, $then:ident) => {
        $then! { Ten, TenRef, 0 op0 1 op1 2 op2 3 op3 4 op4 5 op5 6 op6 7 op7 8 op8 9 op9 }
    };
    (Hundred, $then:ident) => {
        $then! { Hundred, HundredRef,
            0 op0 1 op1 2 op2 3 op3 4 op4 5 op5 6 op6 7 op7 8 op8 9 op9
            10 op10 11 op11 12 op12 13 op13 14 op14 15 op15 16 op16 17 op17 18 op18 19 op19
            20 op20 21 op21 22 op22 23 op23 24 op24 25 op25 26 op26 27 op27 28 op28 29 op29
            30 op30 31 op31 32 op32 33 op33 34 op34 35 op35 36 op36 37 op37 38 op38 39 op39
            40 op40 41 op41 42 op42 43 op43 44 op44 45 op45 46 op46 47 op47 48 op48 49 op49
            50 op50 51 op51 52 op52 53 op53 54 op54 55 op55 56 op56 57 op57 58 op58 59 op59
            60 op60 61 op61 62 op62 63 op63 64 op64 65 op65 66 op66 67 op67 68 op68 69 op69
            70 op70 71 op71 72 op72 73 op73 74 op74 75 op75 76 op76 77 op77 78 op78 79 op79
            80 op80 81 op81 82 op82 83 op83 84 op84 85 op85 86 op86 87 op87 88 op88 89 op89
            90 op90 91 op91 92 op92 93 op93 94 op94 95 op95 96 op96 97 op97 98 op98 99 op99
        }
    };
}
