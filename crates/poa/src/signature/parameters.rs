//! Decoding of arguments from a request, and passing them to a servant.

use crate::arguments::{Numbers, Recycled, RecycledText};
use crate::request::ServerRequest;
use core::borrow::Borrow;
use core::marker::PhantomData;
use std::borrow::Cow;
use zorb_cdr::{
    Array, BoundedOctets, ByteOrder, Decode, DecodeError, Decoder, Frame, Number, OctetsRef,
    SendCodec,
};
use zorb_giop::SystemException;

/// One parameter of a servant's method. The types that implement it are markers: of nearly all no values are made.
pub trait Parameter {
    /// The decoded argument, borrowed from the message `'m` where possible.
    type Decoded<'m>: Send;
    /// The argument of a collocated call. The upcall owns it, since it may outlive its caller.
    type Owned: Send + 'static;
    /// The type of the method's parameter.
    type Passed<'a>;

    /// Decodes the argument.
    ///
    /// # Errors
    /// The octets are malformed.
    fn decode<'m, O: ByteOrder>(
        decoder: &mut Decoder<'m, O>,
    ) -> Result<Self::Decoded<'m>, DecodeError>;

    /// Passes a decoded argument to the method. Called once.
    fn pass<'a, 'm: 'a>(decoded: &'a mut Self::Decoded<'m>) -> Self::Passed<'a>;

    /// Passes the argument of a collocated call to the method. Called once.
    fn lend(owned: &mut Self::Owned) -> Self::Passed<'_>;
}

/// A parameter that is passed by value: numbers, enums and the like.
#[derive(Debug)]
pub struct ByValue<T>(PhantomData<T>);

impl<T: for<'de> Decode<'de> + Copy + Send + 'static> Parameter for ByValue<T> {
    type Decoded<'m> = T;
    type Owned = T;
    type Passed<'a> = T;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<T, DecodeError> {
        T::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut T) -> T {
        *decoded
    }

    #[inline(always)]
    fn lend(owned: &mut T) -> T {
        *owned
    }
}

/// A reference or a value of a value type, which the servant gets by value.
#[derive(Debug)]
pub struct Taken<C>(PhantomData<C>);

impl<C: SendCodec<Value: Default>> Parameter for Taken<C> {
    type Decoded<'m> = C::Value;
    type Owned = C::Value;
    type Passed<'a> = C::Value;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<C::Value, DecodeError> {
        C::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut C::Value) -> C::Value {
        core::mem::take(decoded)
    }

    #[inline(always)]
    fn lend(owned: &mut C::Value) -> C::Value {
        core::mem::take(owned)
    }
}

/// A parameter that is lent to the servant as `&B`, such as a `String` as `&str`.
#[derive(Debug)]
pub struct ByRef<C, B: ?Sized>(PhantomData<C>, PhantomData<B>);

impl<C, B> Parameter for ByRef<C, B>
where
    C: SendCodec<Value: Borrow<B>>,
    B: ?Sized + 'static,
{
    type Decoded<'m> = C::Value;
    type Owned = C::Value;
    type Passed<'a> = &'a B;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<C::Value, DecodeError> {
        C::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut C::Value) -> &'a B {
        (*decoded).borrow()
    }

    #[inline(always)]
    fn lend(owned: &mut C::Value) -> &B {
        (*owned).borrow()
    }
}

/// An array `C[N]` that is too large for the stack, where moves would copy it: boxed.
#[derive(Debug)]
pub struct LargeArray<C, const N: usize>(PhantomData<C>);

impl<C, const N: usize> Parameter for LargeArray<C, N>
where
    C: SendCodec + 'static,
{
    type Decoded<'m> = Box<[C::Value; N]>;
    type Owned = Box<[C::Value; N]>;
    type Passed<'a> = &'a [C::Value; N];

    #[inline]
    fn decode<'m, O: ByteOrder>(
        decoder: &mut Decoder<'m, O>,
    ) -> Result<Self::Decoded<'m>, DecodeError> {
        Array::<C, N>::decode_boxed(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut Self::Decoded<'m>) -> Self::Passed<'a> {
        decoded
    }

    #[inline(always)]
    fn lend(owned: &mut Self::Owned) -> Self::Passed<'_> {
        owned
    }
}

/// A parameter of type `string`.
#[derive(Debug)]
pub struct BorrowedText;

impl Parameter for BorrowedText {
    type Decoded<'m> = Cow<'m, str>;
    type Owned = RecycledText;
    type Passed<'a> = &'a str;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<Cow<'m, str>, DecodeError> {
        Cow::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut Cow<'m, str>) -> &'a str {
        decoded
    }

    #[inline(always)]
    fn lend(owned: &mut RecycledText) -> &str {
        owned
    }
}

/// A parameter of type `sequence<T>` of numbers.
#[derive(Debug)]
pub struct BorrowedNumbers<T>(PhantomData<T>);

impl<T: Number + Send + Sync> Parameter for BorrowedNumbers<T> {
    type Decoded<'m> = Numbers<'m, T>;
    type Owned = Recycled<T>;
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

    #[inline(always)]
    fn lend(owned: &mut Recycled<T>) -> &[T] {
        owned
    }
}

/// A parameter of type `sequence<C, MAX>`, decoded into a recycled vector.
#[derive(Debug)]
pub struct RecycledSeq<C, const MAX: u32 = { u32::MAX }>(PhantomData<C>);

impl<C, const MAX: u32> Parameter for RecycledSeq<C, MAX>
where
    C: SendCodec + 'static,
{
    type Decoded<'m> = Recycled<C, MAX>;
    type Owned = Recycled<C, MAX>;
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

    #[inline(always)]
    fn lend(owned: &mut Recycled<C, MAX>) -> &[C::Value] {
        owned
    }
}

/// The octets of an argument of a collocated call.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a frame is shared or copied")]
pub enum OwnedOctets {
    /// Octets that are shared with the caller, at the cost of a reference count.
    Shared(Frame),
    /// Octets that were copied into a recycled buffer.
    Copied(Recycled<u8>),
}

impl OwnedOctets {
    fn lend(&self) -> OctetsRef<'_> {
        match self {
            Self::Shared(frame) => OctetsRef::whole(frame),
            Self::Copied(octets) => OctetsRef::new(octets),
        }
    }
}

/// The octets of an argument of a collocated call, at most `N`. Each bound has a type of its own: a servant that was
/// compiled from IDL with another bound gets a message instead, and checks its own bound.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it marks octets with their bound"
)]
pub struct OwnedBoundedOctets<const N: u32>(pub OwnedOctets);

impl<const N: u32> OwnedBoundedOctets<N> {
    fn lend(&self) -> OctetsRef<'_> {
        self.0.lend()
    }
}

/// A parameter of type `sequence<octet>`.
#[derive(Debug)]
pub struct BorrowedOctets;

impl Parameter for BorrowedOctets {
    type Decoded<'m> = OctetsRef<'m>;
    type Owned = OwnedOctets;
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

    #[inline(always)]
    fn lend(owned: &mut OwnedOctets) -> OctetsRef<'_> {
        owned.lend()
    }
}

/// A parameter of type `sequence<octet, N>`.
#[derive(Debug)]
pub struct BorrowedBoundedOctets<const N: u32>;

impl<const N: u32> Parameter for BorrowedBoundedOctets<N> {
    type Decoded<'m> = zorb_cdr::Dec<BoundedOctets<N>>;
    type Owned = OwnedBoundedOctets<N>;
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

    #[inline(always)]
    fn lend(owned: &mut OwnedBoundedOctets<N>) -> OctetsRef<'_> {
        owned.lend()
    }
}

/// All parameters of a method: a tuple.
pub trait Parameters: Sized {
    /// The decoded arguments.
    type Decoded<'m>: Send;
    /// Arguments of a collocated call.
    type Owned: Send + 'static;

    /// Decodes the arguments.
    ///
    /// # Errors
    /// The octets are malformed.
    fn decode<'m, O: ByteOrder>(
        decoder: &mut Decoder<'m, O>,
    ) -> Result<Self::Decoded<'m>, DecodeError>;

    /// Decodes the arguments of a request.
    ///
    /// # Errors
    /// Returns the errors of [`ServerRequest::arguments`].
    fn read(request: &ServerRequest) -> Result<Self::Decoded<'_>, SystemException> {
        Ok(request.arguments::<Arguments<'_, Self>>()?.0)
    }
}

/// The arguments of a servant's method.
#[expect(
    missing_debug_implementations,
    reason = "what it holds may be anything"
)]
pub enum ServantArguments<'m, P: Parameters> {
    /// Arguments that were decoded from a message.
    Read(P::Decoded<'m>),
    /// Arguments of a collocated call.
    Owned(&'m mut P::Owned),
}

/// Decodes arguments as one value.
pub(super) struct Arguments<'m, P: Parameters>(pub(super) P::Decoded<'m>);

impl<'m, P: Parameters> Decode<'m> for Arguments<'m, P> {
    const MIN_SIZE: usize = 0;

    #[inline(always)]
    fn decode<O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<Self, DecodeError> {
        P::decode(decoder).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::any::TypeId;

    #[test]
    fn octets_of_another_bound_are_of_another_type() {
        fn id<P: Parameter>() -> TypeId {
            TypeId::of::<P::Owned>()
        }
        let three = id::<BorrowedBoundedOctets<3>>();
        assert_ne!(three, id::<BorrowedBoundedOctets<4>>());
        assert_ne!(three, id::<BorrowedOctets>());
        assert_eq!(three, id::<BorrowedBoundedOctets<3>>());
    }
}
