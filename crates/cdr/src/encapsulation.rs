//! Encapsulations: octets with a byte order and an alignment of their own.

use crate::{
    BigEndian, ByteOrder, Decode, DecodeError, Decoder, EncodeError, Encoder, LittleEndian,
    WireFormat,
};
use alloc::vec::Vec;
use core::marker::PhantomData;

/// A reader of an encapsulation's contents, in either byte order.
///
/// A closure cannot be generic over the order, so this is a trait. [`Decoder::read_encapsulated`] decodes a single
/// value.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
pub trait EncapsulationVisitor<'de>: Sized {
    /// The result of [`visit`](Self::visit).
    type Output;

    /// Reads the contents. The decoder is at index 1, behind the byte order octet; octets that are left over are
    /// ignored.
    ///
    /// # Errors
    /// The errors of the implementation.
    fn visit<O: ByteOrder>(
        self,
        decoder: &mut Decoder<'de, O>,
    ) -> Result<Self::Output, DecodeError>;
}

/// The visitor that decodes one value.
struct One<T>(PhantomData<fn() -> T>);

impl<'de, T: Decode<'de>> EncapsulationVisitor<'de> for One<T> {
    type Output = T;

    fn visit<O: ByteOrder>(self, decoder: &mut Decoder<'de, O>) -> Result<T, DecodeError> {
        decoder.get()
    }
}

/// Reads an encapsulation from octets that begin with its byte order octet, without a length in front.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
///
/// # Errors
/// The error of `visitor`, and [`Truncated`](crate::DecodeErrorKind::Truncated) if there is no octet at all.
pub fn decode_encapsulation<'de, V: EncapsulationVisitor<'de>>(
    octets: &'de [u8],
    format: WireFormat,
    visitor: V,
) -> Result<V::Output, DecodeError> {
    let mut outer = Decoder::<BigEndian>::from_slice(octets, format);
    let inside = outer.take(octets.len())?;
    outer.visit(inside, visitor)
}

/// Writes an encapsulation as octets, without a length in front, in byte order `O`.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
///
/// # Errors
/// The error of `f`.
pub fn encode_encapsulation<O: ByteOrder>(
    format: WireFormat,
    f: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = Encoder::new(format);
    encoder.write_bool(O::ENDIAN.is_little());
    f(&mut encoder)?;
    Ok(encoder.finish().to_vec())
}

impl<'de, O: ByteOrder> Decoder<'de, O> {
    /// Reads an encapsulation in its own byte order, one level deeper. A byte order octet other than 0 means little
    /// endian, as with booleans.
    ///
    /// # Errors
    /// The error of `visitor`; [`TooDeep`](crate::DecodeErrorKind::TooDeep) beyond the limit;
    /// [`Truncated`](crate::DecodeErrorKind::Truncated) if there is not even the byte order octet.
    pub fn encapsulation<V: EncapsulationVisitor<'de>>(
        &mut self,
        visitor: V,
    ) -> Result<V::Output, DecodeError> {
        let octets = self.read_octets()?;
        self.visit(octets, visitor)
    }

    /// Reads one value from an encapsulation.
    ///
    /// # Errors
    /// Returns the errors of [`encapsulation`](Self::encapsulation), and the error of `T`.
    pub fn read_encapsulated<T: Decode<'de>>(&mut self) -> Result<T, DecodeError> {
        self.encapsulation(One(PhantomData))
    }

    /// Visits octets that end at the current position.
    fn visit<V: EncapsulationVisitor<'de>>(
        &mut self,
        octets: &'de [u8],
        visitor: V,
    ) -> Result<V::Output, DecodeError> {
        self.nested(|d| {
            let mut flag = d.inside::<O>(octets);
            if flag.read_bool()? {
                let mut inside = d.inside::<LittleEndian>(octets);
                inside.read_u8()?;
                let result = visitor.visit(&mut inside);
                d.absorb(inside);
                result
            } else {
                let mut inside = d.inside::<BigEndian>(octets);
                inside.read_u8()?;
                let result = visitor.visit(&mut inside);
                d.absorb(inside);
                result
            }
        })
    }
}
