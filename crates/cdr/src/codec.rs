//! Codecs of types that plain Rust types do not express, such as bounded sequences: a codec encodes and decodes in
//! place of the type.

use crate::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, EncodeErrorKind,
    Encoder, Layout, Lent, Octets, Window, WindowMut,
    text::count_units,
    traits::{decode_array, decode_run, encode_run, load_all, not_fixed, store_all},
};
use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use bytes::Bytes;
use core::{borrow::Borrow, fmt, marker::PhantomData};

/// Encodes and decodes the values of an IDL type.
///
/// Every type that is [`Encode`] and [`Decode`] is a codec of itself. The others ([`BoundedStr`], [`Seq`], [`WideStr`],
/// …) are names only, of which there are no values:
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{BoundedStr, Dec, Decoder, Enc, Encoder, NativeEndian, Seq, WireFormat};
///
/// // sequence<string<5>>
/// type Names = Seq<BoundedStr<5>>;
/// let names = ["Ada".to_owned(), "Grace".to_owned()];
/// let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
/// e.put(&Enc::<Names>(&names))?;
/// assert!(e.put(&Enc::<Names>(&["Margaret".to_owned()])).is_err());
///
/// let octets = e.finish().to_vec();
/// let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
/// let Dec(read) = d.get::<Dec<Names>>()?;
/// assert_eq!(read, names);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Codec {
    /// The Rust type of values.
    type Value: Borrow<Self::Borrowed>;
    /// The borrowed form that is written: `str` for `String`, `[T]` for `Vec<T>`.
    type Borrowed: ?Sized;

    /// The fewest octets that a value takes: see [`Decode::MIN_SIZE`].
    const MIN_SIZE: usize;
    /// The layout of values, if it is fixed: see [`Decode::LAYOUT`].
    const LAYOUT: Layout = Layout::VARIABLE;

    /// Writes a value.
    ///
    /// # Errors
    /// Returns the errors of [`Encode::encode`], and [`BoundExceeded`](EncodeErrorKind::BoundExceeded).
    fn encode<O: ByteOrder>(
        value: &Self::Borrowed,
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError>;

    /// Reads a value.
    ///
    /// # Errors
    /// Returns the errors of [`Decode::decode`], and [`BoundExceeded`](DecodeErrorKind::BoundExceeded).
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<Self::Value, DecodeError>;

    /// Writes values as [`Encode::encode_slice`] does.
    #[doc(hidden)]
    #[inline]
    fn encode_slice<O: ByteOrder>(
        values: &[Self::Value],
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        encode_run(
            values,
            encoder,
            const { Self::LAYOUT },
            |value, encoder| Self::encode(value.borrow(), encoder),
            |values, octets, format| {
                store_all(
                    values,
                    octets,
                    const { Self::LAYOUT },
                    format,
                    |value, window| Self::encode_fixed::<O>(value.borrow(), window),
                )
            },
        )
    }

    /// Writes a value as [`Encode::encode_lent`] does.
    #[doc(hidden)]
    #[inline(always)]
    fn encode_lent<'a, O: ByteOrder>(
        value: &'a Self::Borrowed,
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        let _ = lent;
        Self::encode(value, encoder)
    }

    /// Writes values as [`Encode::encode_slice_lent`] does.
    #[doc(hidden)]
    #[inline(always)]
    fn encode_slice_lent<'a, O: ByteOrder>(
        values: &'a [Self::Value],
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        let _ = lent;
        Self::encode_slice(values, encoder)
    }

    /// Stores a value as [`Encode::encode_fixed`] does.
    #[doc(hidden)]
    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(
        _value: &Self::Borrowed,
        _window: &mut WindowMut<'_>,
    ) -> Result<(), EncodeError> {
        Err(EncodeErrorKind::Expected("a type of fixed layout").into())
    }

    /// Reads values as [`Decode::decode_into`] does.
    #[doc(hidden)]
    #[inline]
    fn decode_into<O: ByteOrder>(
        decoder: &mut Decoder<'_, O>,
        len: usize,
        values: &mut Vec<Self::Value>,
    ) -> Result<(), DecodeError> {
        decode_run(
            decoder,
            len,
            values,
            const { Self::MIN_SIZE },
            const { Self::LAYOUT },
            Self::decode,
            |octets, format, values| {
                let layout = const { Self::LAYOUT };
                load_all(octets, layout, format, values, Self::decode_fixed::<O>)
            },
        )
    }

    /// Reads an array as [`Decode::decode_array`] does.
    #[doc(hidden)]
    #[inline]
    fn decode_array<O: ByteOrder, const N: usize>(
        decoder: &mut Decoder<'_, O>,
    ) -> Result<[Self::Value; N], DecodeError> {
        decode_array(
            decoder,
            const { Self::LAYOUT },
            Self::decode,
            Self::decode_fixed_array::<O, N>,
        )
    }

    /// Loads a value as [`Decode::decode_fixed`] does.
    #[doc(hidden)]
    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(_window: &mut Window<'_>) -> Self::Value {
        not_fixed()
    }

    /// Loads an array as [`Decode::decode_fixed_array`] does.
    #[doc(hidden)]
    #[inline(always)]
    fn decode_fixed_array<O: ByteOrder, const N: usize>(
        window: &mut Window<'_>,
    ) -> [Self::Value; N] {
        core::array::from_fn(|_| Self::decode_fixed::<O>(window))
    }
}

/// A codec whose values can be sent to another thread.
///
/// It implies `Codec<Value: Send + 'static>`. As a bound on generated code it is cheaper to compile: rustc finds an
/// implementation, and need not look into all fields of the values, which takes milliseconds for each object reference.
///
/// Every codec whose values are `Send` and `'static` implements it.
pub trait SendCodec: Codec<Value: Send + 'static> {}

impl<T: Encode + for<'de> Decode<'de> + Send + 'static> SendCodec for T {}

impl<T: Encode + for<'de> Decode<'de>> Codec for T {
    type Value = T;
    type Borrowed = T;

    const MIN_SIZE: usize = <T as Decode<'static>>::MIN_SIZE;
    const LAYOUT: Layout = <T as Decode<'static>>::LAYOUT;

    #[inline(always)]
    fn encode<O: ByteOrder>(value: &T, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        Encode::encode(value, encoder)
    }

    #[inline(always)]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<T, DecodeError> {
        Decode::decode(decoder)
    }

    #[inline(always)]
    fn encode_slice<O: ByteOrder>(
        values: &[T],
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        Encode::encode_slice(values, encoder)
    }

    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(
        value: &T,
        window: &mut WindowMut<'_>,
    ) -> Result<(), EncodeError> {
        Encode::encode_fixed::<O>(value, window)
    }

    #[inline(always)]
    fn decode_into<O: ByteOrder>(
        decoder: &mut Decoder<'_, O>,
        len: usize,
        values: &mut Vec<T>,
    ) -> Result<(), DecodeError> {
        Decode::decode_into(decoder, len, values)
    }

    #[inline(always)]
    fn decode_array<O: ByteOrder, const N: usize>(
        decoder: &mut Decoder<'_, O>,
    ) -> Result<[T; N], DecodeError> {
        Decode::decode_array(decoder)
    }

    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(window: &mut Window<'_>) -> T {
        Decode::decode_fixed::<O>(window)
    }

    #[inline(always)]
    fn decode_fixed_array<O: ByteOrder, const N: usize>(window: &mut Window<'_>) -> [T; N] {
        Decode::decode_fixed_array::<O, N>(window)
    }
}

/// A value to be written by codec `C`.
pub struct Enc<'a, C: Codec>(pub &'a C::Borrowed);

impl<C: Codec> Clone for Enc<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Codec> Copy for Enc<'_, C> {}

impl<C: Codec<Borrowed: fmt::Debug>> fmt::Debug for Enc<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Enc").field(&self.0).finish()
    }
}

impl<C: Codec> Encode for Enc<'_, C> {
    const ENCODED: Layout = C::LAYOUT;

    #[inline(always)]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        C::encode(self.0, encoder)
    }

    #[inline(always)]
    fn encode_lent<'a, O: ByteOrder>(
        &'a self,
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        C::encode_lent(self.0, encoder, lent)
    }

    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(&self, window: &mut WindowMut<'_>) -> Result<(), EncodeError> {
        C::encode_fixed::<O>(self.0, window)
    }
}

/// A value that was read by codec `C`.
#[expect(clippy::exhaustive_structs, reason = "made to be taken apart")]
pub struct Dec<C: Codec>(pub C::Value);

impl<C: Codec<Value: fmt::Debug>> fmt::Debug for Dec<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dec").field(&self.0).finish()
    }
}

impl<'de, C: Codec> Decode<'de> for Dec<C> {
    const MIN_SIZE: usize = C::MIN_SIZE;
    const LAYOUT: Layout = C::LAYOUT;

    #[inline(always)]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        C::decode(decoder).map(Self)
    }

    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(window: &mut Window<'_>) -> Self {
        Self(C::decode_fixed::<O>(window))
    }
}

/// The codec of `sequence<C>`.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
pub struct Seq<C>(Nothing, PhantomData<C>);

/// The codec of `sequence<C, N>`: at most `N` elements.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
pub struct BoundedSeq<C, const N: u32>(Nothing, PhantomData<C>);

/// The codec of `sequence<octet, N>`, whose values are [`Bytes`] rather than a `Vec`.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
pub struct BoundedOctets<const N: u32>(Nothing);

/// The codec of the array `C[N]`: `N` elements without a count.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
pub struct Array<C, const N: usize>(Nothing, PhantomData<C>);

/// The codec of `string<N>`: at most `N` characters.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
pub struct BoundedStr<const N: u32>(Nothing);

/// The codec of `wstring`.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
pub struct WideStr(Nothing);

/// The codec of `wstring<N>`: at most `N` UTF-16 units.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
pub struct BoundedWideStr<const N: u32>(Nothing);

/// A type without values, so that the codecs have none either.
#[derive(Debug)]
enum Nothing {}

impl<C: Codec> Codec for Seq<C> {
    type Value = Vec<C::Value>;
    type Borrowed = [C::Value];
    const MIN_SIZE: usize = 4;

    #[inline]
    fn encode<O: ByteOrder>(
        values: &[C::Value],
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        encoder.write_count(values.len())?;
        C::encode_slice(values, encoder)
    }

    #[inline]
    fn encode_lent<'a, O: ByteOrder>(
        values: &'a [C::Value],
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        encoder.write_count(values.len())?;
        C::encode_slice_lent(values, encoder, lent)
    }

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<Self::Value, DecodeError> {
        let len = decoder.read_count(C::MIN_SIZE)?;
        let mut values = Vec::new();
        C::decode_into(decoder, len, &mut values)?;
        Ok(values)
    }
}

impl<C: SendCodec> SendCodec for Seq<C> {}

impl<C: Codec, const N: u32> Codec for BoundedSeq<C, N> {
    type Value = Vec<C::Value>;
    type Borrowed = [C::Value];
    const MIN_SIZE: usize = 4;

    #[inline]
    fn encode<O: ByteOrder>(
        values: &[C::Value],
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        encode_bound(N, values.len())?;
        Seq::<C>::encode(values, encoder)
    }

    #[inline]
    fn encode_lent<'a, O: ByteOrder>(
        values: &'a [C::Value],
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        encode_bound(N, values.len())?;
        Seq::<C>::encode_lent(values, encoder, lent)
    }

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<Self::Value, DecodeError> {
        let len = decoder.read_count(C::MIN_SIZE)?;
        decode_bound(N, len, decoder)?;
        let mut values = Vec::new();
        C::decode_into(decoder, len, &mut values)?;
        Ok(values)
    }
}

impl<C: SendCodec, const N: u32> SendCodec for BoundedSeq<C, N> {}

impl<const N: u32> BoundedOctets<N> {
    /// Encodes the octets as [`Encode::encode_lent`] does.
    ///
    /// # Errors
    /// [`BoundExceeded`](EncodeErrorKind::BoundExceeded) for more octets than the type allows.
    #[doc(hidden)]
    #[inline]
    pub fn encode_lent<'a, O: ByteOrder>(
        octets: &'a Octets<'_>,
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'a>>,
    ) -> Result<(), EncodeError> {
        encode_bound(N, octets.len())?;
        octets.encode_lent(encoder, lent)
    }
}

impl<const N: u32> Codec for BoundedOctets<N> {
    type Value = Bytes;
    type Borrowed = [u8];
    const MIN_SIZE: usize = 4;

    #[inline]
    fn encode<O: ByteOrder>(octets: &[u8], encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encode_bound(N, octets.len())?;
        encoder.write_octets(octets)
    }

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<Bytes, DecodeError> {
        let octets = decoder.read_octets_ref()?;
        decode_bound(N, octets.len(), decoder)?;
        Ok(octets.keep())
    }
}

impl<const N: u32> SendCodec for BoundedOctets<N> {}

impl<C: Codec, const N: usize> Codec for Array<C, N> {
    type Value = [C::Value; N];
    type Borrowed = [C::Value; N];
    const MIN_SIZE: usize = C::MIN_SIZE.saturating_mul(N);
    const LAYOUT: Layout = Layout::of_array(C::LAYOUT, N);

    #[inline]
    fn encode<O: ByteOrder>(
        values: &[C::Value; N],
        encoder: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        C::encode_slice(values, encoder)
    }

    #[inline]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<Self::Value, DecodeError> {
        C::decode_array(decoder)
    }

    #[inline(always)]
    fn encode_fixed<O: ByteOrder>(
        values: &[C::Value; N],
        window: &mut WindowMut<'_>,
    ) -> Result<(), EncodeError> {
        window.plainly(|window| {
            values
                .iter()
                .try_for_each(|value| C::encode_fixed::<O>(value.borrow(), window))
        })
    }

    #[inline(always)]
    fn decode_fixed<O: ByteOrder>(window: &mut Window<'_>) -> Self::Value {
        C::decode_fixed_array::<O, N>(window)
    }
}

impl<C: SendCodec, const N: usize> SendCodec for Array<C, N> {}

impl<C: Codec, const N: usize> Array<C, N> {
    /// Decodes an array into a box. The array is never on the stack, for which it may be too large.
    ///
    /// # Errors
    /// An error if the octets are malformed. If they are too few, nothing is allocated.
    #[doc(hidden)]
    pub fn decode_boxed<O: ByteOrder>(
        decoder: &mut Decoder<'_, O>,
    ) -> Result<Box<[C::Value; N]>, DecodeError> {
        let (needed, left) = (Self::MIN_SIZE, decoder.unowed(0));
        if needed > left {
            return Err(decoder.error(DecodeErrorKind::Truncated { needed, left }));
        }
        let mut values = Vec::new();
        C::decode_into(decoder, N, &mut values)?;
        let values = values.into_boxed_slice().try_into();
        values.map_err(|_| decoder.error(DecodeErrorKind::NoMemory { count: N }))
    }
}

impl<const N: u32> Codec for BoundedStr<N> {
    type Value = String;
    type Borrowed = str;
    const MIN_SIZE: usize = 4;

    fn encode<O: ByteOrder>(text: &str, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encode_bound(N, characters(N, text))?;
        encoder.write_str(text)
    }

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<String, DecodeError> {
        let text = decoder.read_str()?;
        decode_bound(N, characters(N, &text), decoder)?;
        Ok(Cow::into_owned(text))
    }
}

impl<const N: u32> SendCodec for BoundedStr<N> {}

impl Codec for WideStr {
    type Value = String;
    type Borrowed = str;
    const MIN_SIZE: usize = 4;

    fn encode<O: ByteOrder>(text: &str, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encoder.write_wide_str(text)
    }

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<String, DecodeError> {
        decoder.read_wide_string()
    }
}

impl SendCodec for WideStr {}

impl<const N: u32> Codec for BoundedWideStr<N> {
    type Value = String;
    type Borrowed = str;
    const MIN_SIZE: usize = 4;

    fn encode<O: ByteOrder>(text: &str, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        encode_bound(N, count_units(text))?;
        encoder.write_wide_str(text)
    }

    fn decode<O: ByteOrder>(decoder: &mut Decoder<'_, O>) -> Result<String, DecodeError> {
        let text = decoder.read_wide_string()?;
        decode_bound(N, count_units(&text), decoder)?;
        Ok(text)
    }
}

impl<const N: u32> SendCodec for BoundedWideStr<N> {}

/// Returns the number of characters of a text. It is counted only where the octets are more than the bound.
fn characters(bound: u32, text: &str) -> usize {
    if text.len() as u64 <= u64::from(bound) {
        text.len()
    } else {
        text.chars().count()
    }
}

#[inline]
fn encode_bound(bound: u32, found: usize) -> Result<(), EncodeError> {
    if found as u64 > u64::from(bound) {
        return Err(EncodeErrorKind::BoundExceeded { bound, found }.into());
    }
    Ok(())
}

#[inline]
fn decode_bound<O>(bound: u32, found: usize, decoder: &Decoder<'_, O>) -> Result<(), DecodeError> {
    if found as u64 > u64::from(bound) {
        return Err(decoder.error(DecodeErrorKind::BoundExceeded { bound, found }));
    }
    Ok(())
}
