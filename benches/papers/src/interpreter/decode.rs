//! Octets to memory.

use super::{
    INLINED, Kind, Malformed, Memory, NO_WASTE, PASSED, SPECIALISED, SPLIT, Type, Visitor, traverse,
};

/// Reads a value into memory of its own.
///
/// # Errors
/// The octets are not of the type.
pub fn decode<const S: u8>(ty: &Type, octets: &[u8]) -> Result<Memory, Malformed> {
    let mut input = In::<S> { octets, at: 0 };
    let mut memory = Memory::new(ty.size::<S>());
    if S >= SPECIALISED {
        input.value(ty, &mut memory, 0)?;
    } else {
        input.visit(ty, &mut memory, 0)?;
    }
    Ok(memory)
}

struct In<'a, const S: u8> {
    octets: &'a [u8],
    at: usize,
}

impl<const S: u8> Visitor for In<'_, S> {
    fn visit(&mut self, ty: &Type, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        match ty.kind() {
            Kind::Struct => traverse::<S>(ty, memory, at, self),
            Kind::Sequence => {
                self.begin(ty, memory, at)?;
                traverse::<S>(ty, memory, at, self)
            }
            Kind::String => self.string(memory, at),
            _ => self.scalar(ty, memory, at),
        }
    }
}

impl<const S: u8> In<'_, S> {
    #[inline(always)]
    fn get<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        if S >= INLINED {
            self.get_here()
        } else {
            self.get_there()
        }
    }

    #[inline(never)]
    fn get_there<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.get_here()
    }

    #[inline(always)]
    fn get_here<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let start = self.at.next_multiple_of(N);
        let octets = self.octets.get(start..start + N).ok_or(Malformed)?;
        self.at = start + N;
        octets.try_into().map_err(|_| Malformed)
    }

    fn count(&mut self) -> Result<usize, Malformed> {
        let count = u32::from_ne_bytes(self.get()?) as usize;
        // Everything takes an octet at least.
        let rest = self.octets.len() - self.at;
        (count <= rest).then_some(count).ok_or(Malformed)
    }

    /// Puts a part in its place: at first it has one of its own before that.
    #[inline(always)]
    fn set<const N: usize>(&self, memory: &mut Memory, at: usize, octets: [u8; N]) {
        if S >= NO_WASTE {
            memory.set(at, octets);
        } else {
            set_by_copy(memory, at, &octets);
        }
    }

    #[inline(always)]
    fn scalar(&mut self, ty: &Type, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        match ty.kind() {
            Kind::Octet | Kind::Char => {
                let octet = self.get::<1>()?;
                self.set(memory, at, octet);
            }
            Kind::Boolean => {
                let octet = self.get::<1>()?;
                if octet > [1] {
                    return Err(Malformed);
                }
                self.set(memory, at, octet);
            }
            Kind::Short | Kind::UShort => {
                let octets = self.get::<2>()?;
                self.set(memory, at, octets);
            }
            Kind::Long | Kind::ULong | Kind::Float => {
                let octets = self.get::<4>()?;
                self.set(memory, at, octets);
            }
            Kind::LongLong | Kind::ULongLong | Kind::Double => {
                let octets = self.get::<8>()?;
                self.set(memory, at, octets);
            }
            Kind::String | Kind::Sequence | Kind::Struct => {}
        }
        Ok(())
    }

    #[inline(always)]
    fn string_here(&mut self, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        let count = self.count()?;
        let text = self.octets.get(self.at..self.at + count).ok_or(Malformed)?;
        let (nul, text) = text.split_last().ok_or(Malformed)?;
        if *nul != 0 {
            return Err(Malformed);
        }
        self.at += count;
        let block = Memory {
            octets: text.to_vec(),
            blocks: Vec::new(),
        };
        memory.refer(at, block, text.len());
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn string_there(&mut self, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        self.string_here(memory, at)
    }

    #[inline(always)]
    fn string(&mut self, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        if S >= SPLIT {
            self.string_there(memory, at)
        } else {
            self.string_here(memory, at)
        }
    }

    /// Reads the length of a sequence and makes room for its elements.
    #[inline(always)]
    fn begin(
        &mut self,
        ty: &Type,
        memory: &mut Memory,
        at: usize,
    ) -> Result<(usize, usize), Malformed> {
        let len = self.count()?;
        let block = memory.blocks.len();
        memory.refer(at, Memory::new(len * ty.content().size::<S>()), len);
        Ok((block, len))
    }

    /// The walk that only reads.
    #[inline(never)]
    fn value(&mut self, ty: &Type, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        match ty.kind() {
            Kind::Struct => self.structure(ty, memory, at),
            Kind::Sequence => self.sequence(ty, memory, at),
            Kind::String => self.string(memory, at),
            _ => self.scalar(ty, memory, at),
        }
    }

    #[inline(always)]
    fn structure(&mut self, ty: &Type, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        if S >= SPLIT {
            self.structure_there(ty, memory, at)
        } else {
            self.structure_here(ty, memory, at)
        }
    }

    #[inline(never)]
    fn structure_there(
        &mut self,
        ty: &Type,
        memory: &mut Memory,
        at: usize,
    ) -> Result<(), Malformed> {
        self.structure_here(ty, memory, at)
    }

    #[inline(always)]
    fn structure_here(
        &mut self,
        ty: &Type,
        memory: &mut Memory,
        at: usize,
    ) -> Result<(), Malformed> {
        let mut place = at;
        for member in ty.parts() {
            place = place.next_multiple_of(member.alignment::<S>());
            match member.kind() {
                Kind::Struct | Kind::Sequence | Kind::String => {
                    self.value(member, memory, place)?;
                }
                _ => self.scalar(member, memory, place)?,
            }
            place += member.size::<S>();
        }
        Ok(())
    }

    #[inline(always)]
    fn sequence(&mut self, ty: &Type, memory: &mut Memory, at: usize) -> Result<(), Malformed> {
        let element = ty.content();
        if S >= PASSED && matches!(element.kind(), Kind::Octet | Kind::Char) {
            let len = self.count()?;
            let octets = self.octets.get(self.at..self.at + len).ok_or(Malformed)?;
            self.at += len;
            let block = Memory {
                octets: octets.to_vec(),
                blocks: Vec::new(),
            };
            memory.refer(at, block, len);
            return Ok(());
        }
        let (block, len) = self.begin(ty, memory, at)?;
        let mut elements = memory.lend(block);
        for index in 0..len {
            let place = index * element.size::<S>();
            match element.kind() {
                Kind::Struct => self.structure(element, &mut elements, place)?,
                Kind::Sequence | Kind::String => self.value(element, &mut elements, place)?,
                _ => self.scalar(element, &mut elements, place)?,
            }
        }
        memory.restore(block, elements);
        Ok(())
    }
}

/// A part has a block of its own, from which it is copied to where it belongs.
#[inline(never)]
fn set_by_copy(memory: &mut Memory, at: usize, octets: &[u8]) {
    let part = core::hint::black_box(octets.to_vec());
    if let Some(place) = memory.octets.get_mut(at..at + part.len()) {
        place.copy_from_slice(&part);
    }
}
