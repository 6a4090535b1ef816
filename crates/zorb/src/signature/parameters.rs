//! How arguments are read from a request, and handed to a servant.

use crate::context::Context;
use core::borrow::Borrow;
use core::marker::PhantomData;
use std::borrow::Cow;
use zorb_cdr::{BoundedOctets, ByteOrder, Codec, Decode, DecodeError, Decoder, Number, OctetsRef};
use zorb_poa::{Numbers, Recycled};

/// One parameter of a servant's method. Those that implement it are names only, of which there are no values.
pub trait Parameter {
    /// The argument, borrowed from the message `'m` where it can be.
    type Decoded<'m>: Send;
    /// What the method takes.
    type Passed<'a>;

    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with the octets.
    fn decode<'m, O: ByteOrder>(
        decoder: &mut Decoder<'m, O>,
    ) -> Result<Self::Decoded<'m>, DecodeError>;

    /// Hands it over. Called once.
    fn pass<'a, 'm: 'a>(decoded: &'a mut Self::Decoded<'m>) -> Self::Passed<'a>;
}

/// What is handed over as it is: numbers, enums and the like.
#[derive(Debug)]
pub struct ByValue<T>(PhantomData<T>);

impl<T: for<'de> Decode<'de> + Copy + Send> Parameter for ByValue<T> {
    type Decoded<'m> = T;
    type Passed<'a> = T;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<T, DecodeError> {
        T::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut T) -> T {
        *decoded
    }
}

/// A reference or a value: the servant gets it for itself.
#[derive(Debug)]
pub struct Taken<C>(PhantomData<C>);

impl<C: Codec<Value: Default + Send>> Parameter for Taken<C> {
    type Decoded<'m> = C::Value;
    type Passed<'a> = C::Value;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<C::Value, DecodeError> {
        C::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut C::Value) -> C::Value {
        core::mem::take(decoded)
    }
}

/// What is lent to the servant as a `&B`, such as a `&str` of a `String`.
#[derive(Debug)]
pub struct ByRef<C, B: ?Sized>(PhantomData<C>, PhantomData<B>);

impl<C, B> Parameter for ByRef<C, B>
where
    C: Codec<Value: Borrow<B> + Send>,
    B: ?Sized + 'static,
{
    type Decoded<'m> = C::Value;
    type Passed<'a> = &'a B;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<C::Value, DecodeError> {
        C::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut C::Value) -> &'a B {
        (*decoded).borrow()
    }
}

/// `string`.
#[derive(Debug)]
pub struct BorrowedText;

impl Parameter for BorrowedText {
    type Decoded<'m> = Cow<'m, str>;
    type Passed<'a> = &'a str;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<Cow<'m, str>, DecodeError> {
        Cow::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut Cow<'m, str>) -> &'a str {
        decoded
    }
}

/// `sequence<T>` of numbers.
#[derive(Debug)]
pub struct BorrowedNumbers<T>(PhantomData<T>);

impl<T: Number + Send + Sync> Parameter for BorrowedNumbers<T> {
    type Decoded<'m> = Numbers<'m, T>;
    type Passed<'a> = &'a [T];

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(
        decoder: &mut Decoder<'m, O>,
    ) -> Result<Numbers<'m, T>, DecodeError> {
        Decode::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut Numbers<'m, T>) -> &'a [T] {
        decoded
    }
}

/// `sequence<C, MAX>`, in a vector that was used before.
#[derive(Debug)]
pub struct RecycledSeq<C, const MAX: u32 = { u32::MAX }>(PhantomData<C>);

impl<C: Codec<Value: Send + 'static>, const MAX: u32> Parameter for RecycledSeq<C, MAX> {
    type Decoded<'m> = Recycled<C, MAX>;
    type Passed<'a> = &'a [C::Value];

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(
        decoder: &mut Decoder<'m, O>,
    ) -> Result<Recycled<C, MAX>, DecodeError> {
        Decode::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut Recycled<C, MAX>) -> &'a [C::Value] {
        decoded
    }
}

/// `sequence<octet>`.
#[derive(Debug)]
pub struct BorrowedOctets;

impl Parameter for BorrowedOctets {
    type Decoded<'m> = OctetsRef<'m>;
    type Passed<'a> = OctetsRef<'a>;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(
        decoder: &mut Decoder<'m, O>,
    ) -> Result<OctetsRef<'m>, DecodeError> {
        Decode::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut OctetsRef<'m>) -> OctetsRef<'a> {
        *decoded
    }
}

/// `sequence<octet, N>`.
#[derive(Debug)]
pub struct BorrowedBoundedOctets<const N: u32>;

impl<const N: u32> Parameter for BorrowedBoundedOctets<N> {
    type Decoded<'m> = zorb_cdr::Dec<BoundedOctets<N>>;
    type Passed<'a> = OctetsRef<'a>;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(
        decoder: &mut Decoder<'m, O>,
    ) -> Result<Self::Decoded<'m>, DecodeError> {
        Decode::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut Self::Decoded<'m>) -> OctetsRef<'a> {
        OctetsRef::new(&decoded.0)
    }
}

/// The caller's context.
impl Parameter for Context {
    type Decoded<'m> = Self;
    type Passed<'a> = &'a Self;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<Self, DecodeError> {
        Decode::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut Self) -> &'a Self {
        decoded
    }
}

/// All parameters of a method: a tuple.
pub trait Parameters: Sized {
    /// The arguments.
    type Decoded<'m>: Send;

    /// Reads them.
    ///
    /// # Errors
    /// What is wrong with the octets.
    fn decode<'m, O: ByteOrder>(
        decoder: &mut Decoder<'m, O>,
    ) -> Result<Self::Decoded<'m>, DecodeError>;
}

/// Arguments as they are read.
pub(super) struct Arguments<'m, P: Parameters>(pub(super) P::Decoded<'m>);

impl<'m, P: Parameters> Decode<'m> for Arguments<'m, P> {
    const MIN_SIZE: usize = 0;

    #[inline(always)]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<Self, DecodeError> {
        P::decode(decoder).map(Self)
    }
}
