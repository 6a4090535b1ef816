//! The structs that are sent, with the contents that every peer uses. Of which IDL they are says who declares this
//! module, beside it.

use super::BinStruct;
use zorb::Char;

/// So many of them.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the pattern wraps, as every peer's does"
)]
pub(crate) fn structs(size: usize) -> Vec<BinStruct> {
    let one = |i: usize| BinStruct {
        s: i as i16,
        c: Char(b'a' + (i % 26) as u8),
        l: i as i32,
        o: i as u8,
        d: i as f64,
    };
    (0..size).map(one).collect()
}
