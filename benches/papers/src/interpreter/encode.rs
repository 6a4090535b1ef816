//! Memory to octets.

use super::{
    INLINED, Kind, Malformed, Memory, PASSED, SPECIALISED, SPLIT, Type, Visitor, traverse,
};

/// Writes the value that lies in `memory`. From [`PASSED`] on into `buffer`; before, into one that is made for it.
///
/// # Errors
/// The memory is not of the type.
pub fn encode<const S: u8>(
    ty: &Type,
    memory: &mut Memory,
    buffer: Vec<u8>,
) -> Result<Vec<u8>, Malformed> {
    let mut out = Out::<S>(if S >= PASSED { buffer } else { Vec::new() });
    if S >= PASSED {
        out.0.clear();
        out.0.reserve(ty.room());
    }
    if S >= SPECIALISED {
        out.value(ty, memory, 0);
    } else {
        out.visit(ty, memory, 0)?;
    }
    Ok(out.0)
}

struct Out<const S: u8>(Vec<u8>);

impl<const S: u8> Visitor for Out<S> {
    fn visit(&mut self, ty: &Type, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        match ty.kind() {
            Kind::Struct => traverse::<S>(ty, memory, at, self),
            Kind::Sequence => {
                let (_, len) = memory.reference(at);
                self.put((len as u32).to_ne_bytes());
                traverse::<S>(ty, memory, at, self)
            }
            Kind::String => {
                self.string(memory, at);
                Ok(())
            }
            _ => {
                self.scalar(ty, memory, at);
                Ok(())
            }
        }
    }
}

impl<const S: u8> Out<S> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, octets: [u8; N]) {
        if S >= INLINED {
            self.put_here(octets);
        } else {
            self.put_there(octets);
        }
    }

    #[inline(never)]
    fn put_there<const N: usize>(&mut self, octets: [u8; N]) {
        self.align_there(N);
        self.0.extend_from_slice(&octets);
    }

    #[inline(never)]
    fn align_there(&mut self, to: usize) {
        let end = self.0.len().next_multiple_of(to);
        self.0.resize(end, 0);
    }

    #[inline(always)]
    fn put_here<const N: usize>(&mut self, octets: [u8; N]) {
        if N > 1 {
            let end = self.0.len().next_multiple_of(N);
            self.0.resize(end, 0);
        }
        self.0.extend_from_slice(&octets);
    }

    /// A type that is written by its size alone.
    #[inline(always)]
    fn scalar(&mut self, ty: &Type, memory: &Memory, at: usize) {
        match ty.kind() {
            Kind::Octet | Kind::Char => self.put(memory.get::<1>(at)),
            Kind::Boolean => self.put([u8::from(memory.get::<1>(at) != [0])]),
            Kind::Short | Kind::UShort => self.put(memory.get::<2>(at)),
            Kind::Long | Kind::ULong | Kind::Float => self.put(memory.get::<4>(at)),
            Kind::LongLong | Kind::ULongLong | Kind::Double => self.put(memory.get::<8>(at)),
            Kind::String | Kind::Sequence | Kind::Struct => {}
        }
    }

    #[inline(always)]
    fn string_here(&mut self, memory: &Memory, at: usize) {
        let (block, len) = memory.reference(at);
        self.put((len as u32 + 1).to_ne_bytes());
        if let Some(text) = memory.blocks.get(block) {
            self.0.extend_from_slice(&text.octets);
        }
        self.0.push(0);
    }

    #[cold]
    #[inline(never)]
    fn string_there(&mut self, memory: &Memory, at: usize) {
        self.string_here(memory, at);
    }

    #[inline(always)]
    fn string(&mut self, memory: &Memory, at: usize) {
        if S >= SPLIT {
            self.string_there(memory, at);
        } else {
            self.string_here(memory, at);
        }
    }

    /// The walk that only writes.
    #[inline(never)]
    fn value(&mut self, ty: &Type, memory: &Memory, at: usize) {
        match ty.kind() {
            Kind::Struct => self.structure(ty, memory, at),
            Kind::Sequence => self.sequence(ty, memory, at),
            Kind::String => self.string(memory, at),
            _ => self.scalar(ty, memory, at),
        }
    }

    #[inline(always)]
    fn structure(&mut self, ty: &Type, memory: &Memory, at: usize) {
        if S >= SPLIT {
            self.structure_there(ty, memory, at);
        } else {
            self.structure_here(ty, memory, at);
        }
    }

    #[inline(never)]
    fn structure_there(&mut self, ty: &Type, memory: &Memory, at: usize) {
        self.structure_here(ty, memory, at);
    }

    #[inline(always)]
    fn structure_here(&mut self, ty: &Type, memory: &Memory, at: usize) {
        let mut place = at;
        for member in ty.parts() {
            place = place.next_multiple_of(member.alignment::<S>());
            match member.kind() {
                Kind::Struct | Kind::Sequence | Kind::String => self.value(member, memory, place),
                _ => self.scalar(member, memory, place),
            }
            place += member.size::<S>();
        }
    }

    #[inline(always)]
    fn sequence(&mut self, ty: &Type, memory: &Memory, at: usize) {
        let (block, len) = memory.reference(at);
        self.put((len as u32).to_ne_bytes());
        let Some(elements) = memory.blocks.get(block) else {
            return;
        };
        let element = ty.content();
        if S >= PASSED {
            self.0.reserve(len * element.room());
        }
        match element.kind() {
            Kind::Octet | Kind::Char if S >= PASSED => {
                self.0.extend_from_slice(&elements.octets);
            }
            Kind::Octet | Kind::Char => {
                for at in 0..len {
                    self.put(elements.get::<1>(at));
                }
            }
            Kind::Struct => {
                for index in 0..len {
                    self.structure(element, elements, index * element.size::<S>());
                }
            }
            Kind::Long | Kind::ULong | Kind::Float => {
                for index in 0..len {
                    self.put(elements.get::<4>(4 * index));
                }
            }
            Kind::LongLong | Kind::ULongLong | Kind::Double => {
                for index in 0..len {
                    self.put(elements.get::<8>(8 * index));
                }
            }
            _ => {
                for index in 0..len {
                    self.value(element, elements, index * element.size::<S>());
                }
            }
        }
    }
}
