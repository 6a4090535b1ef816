//! Values of anys as arguments and results, without their TypeCodes, which both sides have.

use super::{Any, STORED, values::Values, walk::Walk};
use crate::{ByteOrder, DecodeError, Decoder, EncodeError, Encoder, TypeCode};

impl Any {
    /// Writes the value without its type, as an argument or a result of that type is written. Values of value types that several
    /// anys had in common in the message that they were [read](Self::decode_value) from, they have in common in this one.
    ///
    /// ```
    /// # mod zorb { pub extern crate zorb_cdr as cdr; }
    /// use zorb::cdr::{Any, Decoder, Encoder, NativeEndian, TypeCode, WireFormat};
    ///
    /// let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    /// Any::new(&7_i32)?.encode_value(&mut e)?;
    /// let octets = e.finish().to_vec();
    /// assert_eq!(octets, 7_i32.to_ne_bytes());
    ///
    /// let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
    /// let read = Any::decode_value(&TypeCode::of::<i32>(), &mut d)?;
    /// assert_eq!(read.extract::<i32>()?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An error if the value has no form in the format of the encoder, such as text outside of its code set.
    pub fn encode_value<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        self.write_by(Walk::of(Values::OfMessage), self.ty.view(), e)
    }

    /// Reads a value of this type, as an argument or a result of that type is written. Allocates, within the memory
    /// that the message may be decoded to.
    ///
    /// # Errors
    /// An error if the octets are not a value of type `ty`, or take more memory than the message may be decoded to.
    pub fn decode_value<O: ByteOrder>(
        ty: &TypeCode,
        d: &mut Decoder<'_, O>,
    ) -> Result<Self, DecodeError> {
        let mut e = Encoder::holding(STORED);
        d.nested(|d| Self::read_by(Walk::of(Values::OfMessage), ty.clone(), d, &mut e))
    }
}
