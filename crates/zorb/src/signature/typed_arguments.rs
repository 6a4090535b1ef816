//! Typed arguments and results of collocated calls: Rust values instead of messages.
//!
//! The servant must see no difference to a remote call. So values that cannot be marshalled are refused here too, and a
//! reference loses its policies and belongs to the target's ORB. Arguments are copies, since the upcall may outlive its
//! caller. The IDL compiler uses these types only for operations whose types permit it: value types, anys, and types
//! with bounded members or nested text are marshalled all the same.

use super::{OctetsArgument, OwnedArgument};
use crate::interface::{Interface, RefCodec};
use crate::orb::Orb;
use core::any::Any;
use zorb_cdr::{
    BoundedSeq, Decode, Enc, Encode, EncodeError, EncodeErrorKind, Frame, Number, Octets, SendCodec,
};
use zorb_poa::signature::{
    BorrowedBoundedOctets, BorrowedNumbers, BorrowedOctets, BorrowedText, ByRef, ByValue,
    LargeArray, OwnedBoundedOctets, OwnedOctets, Parameter, Parameters, RecycledSeq, Results,
    Taken,
};
use zorb_poa::{Recycled, RecycledText};

/// The argument of a stub for a servant's parameter `P`, as a Rust value of a collocated call.
pub trait TypedArgument<P: Parameter>: Encode + Send + Sync {
    /// The upcall's argument.
    ///
    /// # Errors
    /// Returns the errors of [`Encode::encode`].
    fn to_owned_argument(&self, orb: &Orb) -> Result<P::Owned, EncodeError>;
}

/// All arguments of a stub, as a tuple, for a servant's parameters `P`.
pub trait TypedArguments<P: Parameters>: Encode + Send + Sync {
    /// The upcall's argument.
    ///
    /// # Errors
    /// Returns the errors of [`Encode::encode`].
    fn to_owned_argument(&self, orb: &Orb) -> Result<P::Owned, EncodeError>;
}

fn owned_octets(octets: &Octets<'_>) -> Result<OwnedOctets, EncodeError> {
    check_count(octets.len())?;
    Ok(match octets.shared() {
        Some(shared) => OwnedOctets::Shared(Frame::new(shared.clone())),
        None => OwnedOctets::Copied(Recycled::copied(octets)),
    })
}

/// Checks that the number of elements fits an `unsigned long`.
fn check_count(found: usize) -> Result<(), EncodeError> {
    match u32::try_from(found) {
        Ok(_) => Ok(()),
        Err(_) => Err(EncodeErrorKind::TooLong { found }.into()),
    }
}

/// Checks that `text` can be marshalled as a string.
fn check_string(text: &str) -> Result<(), EncodeError> {
    // The length on the wire includes the terminator.
    check_count(text.len().saturating_add(1))?;
    match text.as_bytes().contains(&0) {
        true => Err(EncodeErrorKind::EmbeddedNul.into()),
        false => Ok(()),
    }
}

fn check_bound(bound: u32, found: usize) -> Result<(), EncodeError> {
    match found as u64 > u64::from(bound) {
        true => Err(EncodeErrorKind::BoundExceeded { bound, found }.into()),
        false => Ok(()),
    }
}

/// The reference as it would be decoded from a message.
fn as_decoded<R: Interface>(reference: &R, orb: &Orb) -> Option<R> {
    let object = reference.as_object();
    if object.ior().is_nil() {
        return None;
    }
    if object.is_plain_in(orb) {
        return Some(reference.clone());
    }
    let object = object.plain_in(orb);
    Some(R::unchecked_narrow(object))
}

impl<T> TypedArgument<ByValue<T>> for T
where
    T: Encode + for<'de> Decode<'de> + Copy + Send + Sync + 'static,
{
    #[inline(always)]
    fn to_owned_argument(&self, _: &Orb) -> Result<T, EncodeError> {
        Ok(*self)
    }
}

impl TypedArgument<BorrowedText> for &str {
    #[inline]
    fn to_owned_argument(&self, _: &Orb) -> Result<RecycledText, EncodeError> {
        check_string(self)?;
        Ok(RecycledText::copied(self))
    }
}

impl<T: Number + Send + Sync> TypedArgument<BorrowedNumbers<T>> for &[T]
where
    Self: Encode,
{
    #[inline]
    fn to_owned_argument(&self, _: &Orb) -> Result<Recycled<T>, EncodeError> {
        check_count(self.len())?;
        Ok(Recycled::copied(self))
    }
}

impl<T> TypedArgument<RecycledSeq<T>> for &[T]
where
    T: Encode + for<'de> Decode<'de> + Clone + Send + Sync + 'static,
{
    #[inline]
    fn to_owned_argument(&self, _: &Orb) -> Result<Recycled<T>, EncodeError> {
        check_count(self.len())?;
        Ok(Recycled::copied(self))
    }
}

impl<C, const N: u32> TypedArgument<RecycledSeq<C, N>> for Enc<'_, BoundedSeq<C, N>>
where
    C: SendCodec<Value: Clone + Sync> + 'static,
{
    #[inline]
    fn to_owned_argument(&self, _: &Orb) -> Result<Recycled<C, N>, EncodeError> {
        check_bound(N, self.0.len())?;
        Ok(Recycled::copied(self.0))
    }
}

impl<T> TypedArgument<ByRef<T, T>> for &T
where
    T: Encode + for<'de> Decode<'de> + Clone + Send + Sync + 'static,
{
    #[inline]
    fn to_owned_argument(&self, _: &Orb) -> Result<T, EncodeError> {
        Ok(T::clone(self))
    }
}

impl<T, const N: usize> TypedArgument<LargeArray<T, N>> for &[T; N]
where
    T: Encode + for<'de> Decode<'de> + Clone + Send + Sync + 'static,
{
    #[inline]
    fn to_owned_argument(&self, _: &Orb) -> Result<Box<[T; N]>, EncodeError> {
        // A vector, since a large array must not be on the stack.
        let copied = self.to_vec().into_boxed_slice();
        copied
            .try_into()
            .map_err(|_| EncodeErrorKind::TooLong { found: N }.into())
    }
}

impl<R: Interface> TypedArgument<Taken<RefCodec<R>>> for OwnedArgument<RefCodec<R>> {
    #[inline]
    fn to_owned_argument(&self, orb: &Orb) -> Result<Option<R>, EncodeError> {
        let reference = self.value().as_ref();
        Ok(reference.and_then(|reference| as_decoded(reference, orb)))
    }
}

impl TypedArgument<BorrowedOctets> for Octets<'_> {
    #[inline]
    fn to_owned_argument(&self, _: &Orb) -> Result<OwnedOctets, EncodeError> {
        owned_octets(self)
    }
}

impl<const N: u32> TypedArgument<BorrowedBoundedOctets<N>> for OctetsArgument<'_, N> {
    #[inline]
    fn to_owned_argument(&self, _: &Orb) -> Result<OwnedBoundedOctets<N>, EncodeError> {
        check_bound(N, self.octets().len())?;
        owned_octets(self.octets()).map(OwnedBoundedOctets)
    }
}

/// The codec of a result that a collocated call may return as a Rust value.
pub trait TypedResult: SendCodec {
    /// Checks and converts the value for the caller.
    ///
    /// # Errors
    /// Returns the errors of [`Codec::encode`](zorb_cdr::Codec::encode).
    fn convert(value: Self::Value, orb: &Orb) -> Result<Self::Value, EncodeError>;
}

impl<T: Encode + for<'de> Decode<'de> + Send + 'static> TypedResult for T {
    #[inline(always)]
    fn convert(value: T, _: &Orb) -> Result<T, EncodeError> {
        // The type test is resolved at compile time. Of the types here, only a string can fail to be marshalled.
        if let Some(text) = (&value as &dyn Any).downcast_ref::<String>() {
            check_string(text)?;
        }
        Ok(value)
    }
}

impl<R: Interface> TypedResult for RefCodec<R> {
    #[inline]
    fn convert(value: Option<R>, orb: &Orb) -> Result<Option<R>, EncodeError> {
        Ok(value.and_then(|reference| as_decoded(&reference, orb)))
    }
}

/// Results that a collocated call may return as Rust values.
pub trait TypedResults: Results {
    /// Checks and converts the results for the caller.
    ///
    /// # Errors
    /// Returns the errors of [`Results::encode`].
    fn convert(values: Self::Values, orb: &Orb) -> Result<Self::Values, EncodeError>;
}

impl TypedResults for () {
    #[inline(always)]
    fn convert((): (), _: &Orb) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl<C: TypedResult> TypedResults for (C,) {
    #[inline(always)]
    fn convert(value: C::Value, orb: &Orb) -> Result<C::Value, EncodeError> {
        C::convert(value, orb)
    }
}

macro_rules! typed_arguments {
    ($($a:ident $p:ident $v:ident)*) => {
        impl<$($a, $p,)*> TypedArguments<($($p,)*)> for ($($a,)*)
        where
            $($p: Parameter, $a: TypedArgument<$p>,)*
            Self: Encode,
        {
            #[inline(always)]
            fn to_owned_argument(&self, orb: &Orb) -> Result<($($p::Owned,)*), EncodeError> {
                let _ = orb;
                let ($($v,)*) = self;
                Ok(($($v.to_owned_argument(orb)?,)*))
            }
        }
    };
}

macro_rules! typed_results {
    ($one:ident $p:ident $o:ident) => {};
    ($($c:ident $p:ident $v:ident)*) => {
        impl<$($c: TypedResult),*> TypedResults for ($($c,)*) {
            #[inline(always)]
            fn convert(($($v,)*): Self::Values, orb: &Orb) -> Result<Self::Values, EncodeError> {
                Ok(($($c::convert($v, orb)?,)*))
            }
        }
    };
}

/// Implements [`TypedArguments`] and [`TypedResults`] for a tuple and each shorter one.
macro_rules! all {
    () => { typed_arguments!(); };
    ($a:ident $p:ident $v:ident $($rest:tt)*) => {
        typed_arguments!($a $p $v $($rest)*);
        typed_results!($a $p $v $($rest)*);
        all!($($rest)*);
    };
}

// Up to eight; rare operations with more parameters or results are marshalled.
all! {
    A1 P1 v1 A2 P2 v2 A3 P3 v3 A4 P4 v4 A5 P5 v5 A6 P6 v6 A7 P7 v7 A8 P8 v8
}
