//! Engines that write and read an argument.

#[path = "../../programs/structs.rs"]
mod structs;

use self::idl::bench::BinStruct;
use crate::interpreter::{
    INLINED, Malformed, Memory, NO_WASTE, PASSED, PRECOMPUTED, SPECIALISED, SPLIT, Type, decode,
    encode, free,
};
use bytes::BytesMut;
use std::hint::black_box;
use structs::structs;
use zorb_cdr::{
    Any, Decode, Decoder, Encode, Encoder, Frame, IdlValue, NativeEndian, TypeCode, WireFormat,
};

/// The interface, as the bench programs have it.
#[zorb::idl_file("../bench.idl")]
mod idl {}

/// The step from which on look-ups are active.
pub const DEMULTIPLEXED: usize = 7;

/// One step's marshalling of one argument.
pub trait Engine {
    /// Proves that it writes the octets it should, and reads them as what they are.
    ///
    /// # Errors
    /// It does not.
    fn check(&mut self) -> Result<(), String>;

    /// Writes the argument.
    fn encode(&mut self);

    /// Reads it, and frees it.
    fn decode(&mut self);
}

/// The engine of a step, which has been checked, for so many `octets` or `structs`.
///
/// # Errors
/// There is no such step or kind, or the engine writes or reads something else than compiled code.
pub fn engine(step: usize, kind: &str, units: usize) -> Result<Box<dyn Engine>, String> {
    fn interpreted<const S: u8>(kind: &str, units: usize) -> Result<Box<dyn Engine>, String> {
        Ok(Box::new(Interpreted::<S>::new(kind, units)?))
    }
    let mut engine = match step {
        0 => interpreted::<0>(kind, units)?,
        1 => interpreted::<INLINED>(kind, units)?,
        2 => interpreted::<SPECIALISED>(kind, units)?,
        3 => interpreted::<NO_WASTE>(kind, units)?,
        4 => interpreted::<PRECOMPUTED>(kind, units)?,
        5 => interpreted::<PASSED>(kind, units)?,
        6 | DEMULTIPLEXED => interpreted::<SPLIT>(kind, units)?,
        8 => Compiled::engine(kind, units)?,
        9 => InAnAny::engine(kind, units)?,
        _ => return Err(format!("there is no step {step}")),
    };
    engine.check()?;
    Ok(engine)
}

fn octets(units: usize) -> Vec<u8> {
    (0..units).map(|i| i as u8).collect()
}

fn wire<T: Encode>(value: &T) -> Result<Vec<u8>, String> {
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.put(value).map_err(|e| e.to_string())?;
    Ok(e.finish().to_vec())
}

/// Wire octets and type of an argument.
fn argument(kind: &str, units: usize) -> Result<(Vec<u8>, TypeCode), String> {
    match kind {
        "octets" => Ok((
            wire(&octets(units))?,
            TypeCode::from_static(<Vec<u8> as zorb_cdr::IdlType>::TYPE),
        )),
        "structs" => Ok((
            wire(&structs(units))?,
            TypeCode::from_static(<Vec<BinStruct> as zorb_cdr::IdlType>::TYPE),
        )),
        _ => Err(format!("octets or structs, not {kind}")),
    }
}

/// An engine that walks the type, with so many principles applied.
struct Interpreted<const S: u8> {
    ty: Type,
    memory: Memory,
    wire: Vec<u8>,
    buffer: Vec<u8>,
}

impl<const S: u8> Interpreted<S> {
    fn new(kind: &str, units: usize) -> Result<Self, String> {
        let (wire, ty) = argument(kind, units)?;
        let ty = Type::of(&ty)?;
        let memory = decode::<0>(&ty, &wire).map_err(malformed)?;
        Ok(Self {
            ty,
            memory,
            wire,
            buffer: Vec::new(),
        })
    }
}

fn malformed(Malformed: Malformed) -> String {
    "what zorb-cdr wrote is not of its type".to_owned()
}

impl<const S: u8> Engine for Interpreted<S> {
    fn check(&mut self) -> Result<(), String> {
        let mut read = decode::<S>(&self.ty, &self.wire).map_err(malformed)?;
        let written = encode::<S>(&self.ty, &mut read, Vec::new()).map_err(malformed)?;
        if read != self.memory || written != self.wire {
            return Err(format!("step {S} writes or reads something else"));
        }
        Ok(())
    }

    fn encode(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let written = encode::<S>(black_box(&self.ty), &mut self.memory, buffer);
        let written = black_box(written);
        if S >= PASSED {
            self.buffer = written.unwrap_or_default();
        }
    }

    fn decode(&mut self) {
        if let Ok(memory) = black_box(decode::<S>(black_box(&self.ty), &self.wire)) {
            free::<S>(&self.ty, memory);
        }
    }
}

/// The engine of generated code.
struct Compiled<T> {
    value: T,
    frame: Frame,
    wire: Vec<u8>,
    buffer: BytesMut,
}

impl Compiled<()> {
    fn engine(kind: &str, units: usize) -> Result<Box<dyn Engine>, String> {
        let (wire, _) = argument(kind, units)?;
        let frame = Frame::new(wire.clone().into());
        let buffer = BytesMut::new();
        Ok(if kind == "octets" {
            Box::new(Compiled {
                value: octets(units),
                frame,
                wire,
                buffer,
            })
        } else {
            Box::new(Compiled {
                value: structs(units),
                frame,
                wire,
                buffer,
            })
        })
    }
}

/// Reads as skeletons do: octets where they lie, structs into a vector.
trait Argument: Encode + PartialEq + Sized {
    type Read<'de>: Decode<'de>;

    fn is(&self, read: &Self::Read<'_>) -> bool;
}

impl Argument for Vec<u8> {
    type Read<'de> = zorb_cdr::OctetsRef<'de>;

    fn is(&self, read: &zorb_cdr::OctetsRef<'_>) -> bool {
        **read == **self
    }
}

impl Argument for Vec<BinStruct> {
    type Read<'de> = Self;

    fn is(&self, read: &Self) -> bool {
        read == self
    }
}

impl<T: Argument> Compiled<T> {
    fn written(&mut self) -> BytesMut {
        let buffer = std::mem::take(&mut self.buffer);
        let mut e = Encoder::<NativeEndian>::with_buffer(buffer, WireFormat::default());
        // It was written before.
        let _ = e.put(black_box(&self.value));
        e.finish().into_buffer()
    }
}

impl<T: Argument> Engine for Compiled<T> {
    fn check(&mut self) -> Result<(), String> {
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        e.put(&self.value).map_err(|e| e.to_string())?;
        let mut d = Decoder::<NativeEndian>::new(&self.frame, WireFormat::default());
        let read = d.get::<T::Read<'_>>().map_err(|e| e.to_string())?;
        if e.finish().to_vec() != self.wire || !self.value.is(&read) {
            return Err("compiled code writes or reads something else".to_owned());
        }
        Ok(())
    }

    fn encode(&mut self) {
        self.buffer = black_box(self.written());
    }

    fn decode(&mut self) {
        let mut d = Decoder::<NativeEndian>::new(black_box(&self.frame), WireFormat::default());
        let _ = black_box(d.get::<T::Read<'_>>().is_ok());
    }
}

/// The value in an any.
struct InAnAny<T> {
    value: T,
    any: Any,
    frame: Frame,
    buffer: BytesMut,
}

impl InAnAny<()> {
    fn engine(kind: &str, units: usize) -> Result<Box<dyn Engine>, String> {
        Ok(match kind {
            "octets" => Box::new(InAnAny::of(octets(units))?),
            "structs" => Box::new(InAnAny::of(structs(units))?),
            _ => return Err(format!("octets or structs, not {kind}")),
        })
    }
}

impl<T: IdlValue> InAnAny<T> {
    fn of(value: T) -> Result<Self, String> {
        let any = Any::new(&value).map_err(|e| e.to_string())?;
        let frame = Frame::new(wire(&any)?.into());
        Ok(Self {
            value,
            any,
            frame,
            buffer: BytesMut::new(),
        })
    }
}

impl<T: IdlValue + PartialEq> Engine for InAnAny<T> {
    fn check(&mut self) -> Result<(), String> {
        let mut d = Decoder::<NativeEndian>::new(&self.frame, WireFormat::default());
        let any = d.get::<Any>().map_err(|e| e.to_string())?;
        let read = any.extract::<T>().map_err(|e| e.to_string())?;
        (read == self.value)
            .then_some(())
            .ok_or_else(|| "an any holds something else".to_owned())
    }

    fn encode(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut e = Encoder::<NativeEndian>::with_buffer(buffer, WireFormat::default());
        let _ = e.put(black_box(&self.any));
        self.buffer = black_box(e.finish().into_buffer());
    }

    fn decode(&mut self) {
        let mut d = Decoder::<NativeEndian>::new(black_box(&self.frame), WireFormat::default());
        let _ = black_box(d.get::<Any>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_writes_and_reads_what_the_compiled_one_does() {
        for step in 0..=9 {
            for units in [1, 3, 1_024] {
                for kind in ["octets", "structs"] {
                    engine(step, kind, units).unwrap_or_else(|e| panic!("{step}, {kind}: {e}"));
                }
            }
        }
        assert!(engine(10, "octets", 1).is_err() && engine(0, "doubles", 1).is_err());
    }
}
