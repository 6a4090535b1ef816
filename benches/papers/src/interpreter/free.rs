//! Memory to nothing.

use super::{Kind, Malformed, Memory, NO_WASTE, Type, Visitor, traverse};
use core::hint::black_box;

/// Frees a value: at first by a walk to each of its parts, whether there is anything to free or not.
pub fn free<const S: u8>(ty: &Type, mut memory: Memory) {
    // A sequence's elements are looked at once for all.
    if S < NO_WASTE || !(ty.is_flat() || ty.content().is_flat()) {
        let walked = Freer::<S>.visit(ty, &mut memory, 0);
        debug_assert_eq!(walked, Ok(()), "nothing is read");
    }
    drop(memory);
}

struct Freer<const S: u8>;

impl<const S: u8> Visitor for Freer<S> {
    #[inline(never)]
    fn visit(&mut self, ty: &Type, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        match ty.kind() {
            Kind::Struct => traverse::<S>(ty, memory, at, self),
            Kind::Sequence => {
                if S < NO_WASTE || !ty.content().is_flat() {
                    traverse::<S>(ty, memory, at, self)?;
                }
                let (block, _) = memory.reference(at);
                drop(memory.lend(block));
                Ok(())
            }
            Kind::String => {
                let (block, _) = memory.reference(at);
                drop(memory.lend(block));
                Ok(())
            }
            // Nothing to free, which only the call found out.
            _ => {
                black_box(at);
                Ok(())
            }
        }
    }
}
