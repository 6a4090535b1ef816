//! Values as they lie in memory.

use crate::{
    ByteOrder, Codec, DecodeError, DecodeErrorKind, Decoder, EncodeError, Encoder, Lent, SendCodec,
    traits::{reserve, try_array},
};
use alloc::vec::Vec;
use core::marker::PhantomData;
use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};

/// The alignment of the first of some values, which is the most that a type of IDL has: a receiver whose buffer is aligned, too,
/// copies all of them at once.
const ALIGN: usize = 8;

/// The codec of values that travel as they lie in memory, between peers that have the same layout of `T`: without padding, as the
/// compiler has proved for the derives, in the byte order of the sender's machine. `sequence<T>` is [`Seq<InMemory<T>>`](crate::Seq): the
/// count, and the octets of all elements, from a multiple of eight on.
///
/// Octets that are no value of `T`, such as a boolean of 2, are an error, and so is a message in the other byte order.
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{Dec, Decoder, Enc, Encoder, InMemory, NativeEndian, Seq, WireFormat, zerocopy};
/// use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Immutable, IntoBytes, KnownLayout, TryFromBytes)]
/// #[repr(C)]
/// struct Sample { at: u32, valid: bool, channel: [u8; 3] }
///
/// let samples = [Sample { at: 7, valid: true, channel: *b"abc" }; 2];
/// let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
/// e.put(&Enc::<Seq<InMemory<Sample>>>(&samples))?;
/// let mut octets = e.finish().to_vec();
/// assert_eq!(octets.len(), 4 + 4 + 2 * 8);
///
/// let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
/// let Dec(read) = d.get::<Dec<Seq<InMemory<Sample>>>>()?;
/// assert_eq!(read, samples);
///
/// octets[12] = 2; // neither true nor false
/// let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
/// assert!(d.get::<Dec<Seq<InMemory<Sample>>>>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct InMemory<T>(Nothing, PhantomData<T>);

/// A type without values.
#[derive(Debug)]
enum Nothing {}

impl<T> InMemory<T>
where
    T: TryFromBytes + KnownLayout + Immutable + Copy,
{
    /// The octets of so many values.
    fn octets<'de, O: ByteOrder>(
        decoder: &mut Decoder<'de, O>,
        len: usize,
    ) -> Result<&'de [u8], DecodeError> {
        if !O::IS_NATIVE {
            let kind = DecodeErrorKind::Expected("values in memory in this machine's byte order");
            return Err(decoder.error(kind));
        }
        decoder.align(ALIGN)?;
        decoder.take(len.saturating_mul(size_of::<T>()))
    }

    fn value<O: ByteOrder>(
        decoder: &Decoder<'_, O>,
        octets: &[u8],
        left: usize,
    ) -> Result<T, DecodeError> {
        T::try_read_from_bytes(octets).map_err(|_| {
            let kind = DecodeErrorKind::Expected("octets that are a value of the type in memory");
            decoder.error_behind(left, kind)
        })
    }
}

impl<T> Codec for InMemory<T>
where
    T: TryFromBytes + IntoBytes + KnownLayout + Immutable + Copy,
{
    type Value = T;
    type Borrowed = T;

    const MIN_SIZE: usize = size_of::<T>();

    #[inline]
    fn encode<O: ByteOrder>(value: &T, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        Self::encode_slice(core::slice::from_ref(value), encoder)
    }

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<T, DecodeError> {
        let octets = Self::octets(decoder, 1)?;
        Self::value(decoder, octets, octets.len())
    }

    #[inline]
    fn encode_slice<O: ByteOrder>(
        values: &[T],
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        encoder.align(ALIGN);
        encoder.append(values.as_bytes());
        Ok(())
    }

    #[inline]
    fn encode_slice_lent<'a, O: ByteOrder>(
        values: &'a [T],
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        encoder.align(ALIGN);
        encoder.append_or_lend(values.as_bytes(), lent);
        Ok(())
    }

    #[inline]
    fn decode_into<O: ByteOrder>(
        decoder: &mut Decoder<'_, O>,
        len: usize,
        values: &mut Vec<T>,
    ) -> Result<(), DecodeError> {
        let octets = Self::octets(decoder, len)?;
        reserve(decoder, len, values)?;
        if let Ok(all) = <[T]>::try_ref_from_bytes(octets) {
            values.extend_from_slice(all);
            return Ok(());
        }
        // They are not aligned, or one of them is no value.
        let mut left = octets.len();
        for octets in octets.chunks_exact(const { Self::SIZE }) {
            values.push(Self::value(decoder, octets, left)?);
            left = left.saturating_sub(octets.len());
        }
        Ok(())
    }

    #[inline]
    fn decode_array<O: ByteOrder, const N: usize>(
        decoder: &mut Decoder<'_, O>,
    ) -> Result<[T; N], DecodeError> {
        let octets = Self::octets(decoder, N)?;
        let (mut rest, mut left) = (octets.chunks_exact(const { Self::SIZE }), octets.len());
        try_array(|| {
            let octets = rest.next().unwrap_or_default();
            let value = Self::value(decoder, octets, left);
            left = left.saturating_sub(octets.len());
            value
        })
    }
}

impl<T> InMemory<T> {
    /// The size of a value, which is not 0: a type of no octets is none in memory.
    const SIZE: usize = {
        assert!(
            size_of::<T>() > 0,
            "a type without members has nothing in memory"
        );
        size_of::<T>()
    };
}

impl<T> SendCodec for InMemory<T> where
    T: TryFromBytes + IntoBytes + KnownLayout + Immutable + Copy + Send + 'static
{
}
