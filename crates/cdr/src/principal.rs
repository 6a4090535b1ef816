//! The requesting principal of GIOP 1.0 and 1.1.

use crate::{ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use bytes::Bytes;

/// An IDL `CORBA::Principal`: octets that stand for the caller of a request, with a meaning that client and server
/// agree on.
///
/// CORBA deprecates it, and requests of GIOP 1.2 carry none; it is here for old IDL that passes one as data. It is
/// encoded as a `sequence<octet>`, and costs as much.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
///
/// ```
/// # extern crate zorb_cdr as zorb;
/// use zorb::{Any, Principal, TcKind};
///
/// let ada = Principal("ada".into());
/// let any = Any::new(&ada)?;
/// assert_eq!(any.type_code().kind(), TcKind::Principal);
/// assert_eq!(any.extract::<Principal>()?, ada);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is its octets, and CORBA adds nothing to it any more"
)]
pub struct Principal(pub Bytes);

impl Encode for Principal {
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.put(&self.0)
    }
}

impl<'de> Decode<'de> for Principal {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        decoder.get().map(Self)
    }
}
