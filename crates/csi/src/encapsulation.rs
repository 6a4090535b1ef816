//! Encapsulations that may hold secrets. They are written big-endian: the same octets everywhere.

use crate::{Secret, TokenError};
use bytes::BytesMut;
use core::marker::PhantomData;
use zeroize::Zeroize;
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, DecodeError, Decoder, EncapsulationVisitor, EncodeError, Encoder,
    WireFormat,
};

/// Octets that a sequence of octets takes at most, with its length and padding.
pub(crate) const fn octets_size(length: usize) -> usize {
    length.saturating_add(8)
}

/// Writes an encapsulation into a buffer of `capacity` octets, which has to be enough: a buffer that grows leaves a copy of its
/// octets behind. The buffer is wiped.
pub(crate) fn write_secret(
    capacity: usize,
    write: impl FnOnce(&mut Encoder<BigEndian>) -> Result<(), EncodeError>,
) -> Result<Secret, TokenError> {
    let buffer = BytesMut::with_capacity(capacity);
    let mut e = Encoder::<BigEndian>::with_buffer(buffer, WireFormat::default());
    e.write_bool(false);
    let written = write(&mut e);
    // Nothing is shared, so all octets are in the buffer.
    let mut buffer = e.take_buffer();
    let secret = Secret::from(&buffer[..]);
    buffer.zeroize();
    Ok(written.map(|()| secret)?)
}

/// Reads a value from an encapsulation. Octets behind it are ignored.
pub(crate) fn read<T: for<'de> Decode<'de>>(octets: &[u8]) -> Result<T, TokenError> {
    struct Get<T>(PhantomData<T>);
    impl<'de, T: Decode<'de>> EncapsulationVisitor<'de> for Get<T> {
        type Output = T;
        fn visit<O: ByteOrder>(self, d: &mut Decoder<'de, O>) -> Result<T, DecodeError> {
            d.get()
        }
    }
    let get = Get(PhantomData);
    Ok(zorb_cdr::decode_encapsulation(
        octets,
        WireFormat::default(),
        get,
    )?)
}
