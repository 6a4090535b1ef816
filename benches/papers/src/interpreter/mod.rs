//! An engine that walks a TypeCode for every element: the stand-in for `SunSoft` IIOP.
//!
//! The latency paper began with such an engine and made it faster one principle after the other (its Table 3). This
//! one is written for the same purpose and does what that one is said to do: one function walks any type for any
//! purpose and calls back for each part; the parts are looked at through one function each; size and alignment of a
//! part are computed whenever they are asked for; every part that is read is put together apart and copied; every
//! message has a buffer of its own that grows; and what was read is freed by walking it once more.
//!
//! `S` says how many principles are applied, in this order:
//!
//! | `S` | what is new | the paper's principle |
//! |---|---|---|
//! | 0 | nothing | |
//! | [`INLINED`] | octets are put and got by inlined functions | optimise for the common case |
//! | [`SPECIALISED`] | one walk for each purpose, loops for sequences and structs, no calls back | from generic to specialised |
//! | [`NO_WASTE`] | nothing is put together apart; what holds nothing is freed without a walk | eliminate waste |
//! | [`PRECOMPUTED`] | size and alignment are kept in the type | precompute, and keep extra state |
//! | [`PASSED`] | who calls says how much there will be: room is made, and looked for, once; buffers are handed back; octets are a block | pass information across layers |
//! | [`SPLIT`] | what is rare is out of the way of what is not | optimise for the cache |
//!
//! It reads and writes, octet for octet, the encoding of zorb-cdr, in native byte order. Values are in memory as a C
//! compiler lays them out, but that a pointer is the number of a block.

mod decode;
mod encode;
mod free;
mod memory;
mod types;

pub use decode::decode;
pub use encode::encode;
pub use free::free;
pub use memory::Memory;
pub use types::{Kind, Type};

/// Octets are put and got by inlined functions.
pub const INLINED: u8 = 1;
/// A walk for each purpose.
pub const SPECIALISED: u8 = 2;
/// No copies apart, no walk to free what holds nothing.
pub const NO_WASTE: u8 = 3;
/// Sizes and alignments are kept.
pub const PRECOMPUTED: u8 = 4;
/// Callers say how much there will be.
pub const PASSED: u8 = 5;
/// Rare types are out of line.
pub const SPLIT: u8 = 6;

/// The octets read are not a value of the type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Malformed;

/// The callback for each part of a value.
trait Visitor {
    /// A part of this type lies at `at`.
    fn visit(&mut self, ty: &Type, memory: &mut Memory, at: usize) -> Result<(), Malformed>;
}

/// Calls back for each member or element: the one function that knows how values lie in memory.
#[inline(never)]
fn traverse<const S: u8>(
    ty: &Type,
    memory: &mut Memory,
    at: usize,
    visitor: &mut dyn Visitor,
) -> Result<(), Malformed> {
    match ty.kind() {
        Kind::Struct => {
            let mut place = at;
            for member in ty.parts() {
                place = place.next_multiple_of(member.alignment::<S>());
                visitor.visit(member, memory, place)?;
                place += member.size::<S>();
            }
        }
        Kind::Sequence => {
            let (block, len) = memory.reference(at);
            let mut elements = memory.lend(block);
            let element = ty.content();
            for index in 0..len {
                visitor.visit(element, &mut elements, index * element.size::<S>())?;
            }
            memory.restore(block, elements);
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests;
