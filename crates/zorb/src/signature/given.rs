//! Arguments and results of collocated calls, passed as Rust values instead of messages.
//!
//! The servant must see no difference to a remote call. So values that cannot be marshalled are refused here too, and a
//! reference loses its policies and belongs to the target's ORB. Arguments are copies, since the upcall may outlive its
//! caller. The IDL compiler uses these types only for operations whose types permit it: value types, anys, and types
//! with bounded members or nested text are marshalled all the same.

use super::parameters::{
    BorrowedBoundedOctets, BorrowedNumbers, BorrowedOctets, BorrowedText, ByRef, ByValue,
    LargeArray, Parameter, Parameters, RecycledSeq, Taken,
};
use super::results::Results;
use super::{Held, HeldOctets};
use crate::interface::{Interface, RefCodec};
use crate::orb::Orb;
use core::any::Any;
use zorb_cdr::{
    BoundedSeq, Codec, Decode, Enc, Encode, EncodeError, EncodeErrorKind, Frame, Number, Octets,
    OctetsRef,
};
use zorb_poa::{Recycled, RecycledText};

/// The argument of a stub for a servant's parameter `P`, as a Rust value of a collocated call.
pub trait Give<P: Parameter>: Encode {
    /// The upcall's argument.
    ///
    /// # Errors
    /// Those of [`Encode::encode`].
    fn give(&self, orb: &Orb) -> Result<P::Owned, EncodeError>;
}

/// All arguments of a stub, as a tuple, for a servant's parameters `P`.
pub trait GiveAll<P: Parameters>: Encode {
    /// The upcall's argument.
    ///
    /// # Errors
    /// Those of [`Encode::encode`].
    fn give(&self, orb: &Orb) -> Result<P::Owned, EncodeError>;
}

/// The octets of an argument of a collocated call.
#[derive(Debug)]
pub enum OwnedOctets {
    /// Octets that are shared with the caller, at the cost of a reference count.
    Shared(Frame),
    /// Octets that were copied into a recycled buffer.
    Copied(Recycled<u8>),
}

impl OwnedOctets {
    fn new(octets: &Octets<'_>) -> Result<Self, EncodeError> {
        countable(octets.len())?;
        Ok(match octets.shared() {
            Some(shared) => Self::Shared(Frame::new(shared.clone())),
            None => Self::Copied(Recycled::copied(octets)),
        })
    }

    pub(super) fn lend(&self) -> OctetsRef<'_> {
        match self {
            Self::Shared(frame) => OctetsRef::whole(frame),
            Self::Copied(octets) => OctetsRef::new(octets),
        }
    }
}

/// The octets of an argument of a collocated call, at most `N`. Each bound has a type of its own: a servant that was
/// compiled from IDL with another bound gets a message instead, and checks its own bound.
#[derive(Debug)]
pub struct OwnedBoundedOctets<const N: u32>(OwnedOctets);

impl<const N: u32> OwnedBoundedOctets<N> {
    pub(super) fn lend(&self) -> OctetsRef<'_> {
        self.0.lend()
    }
}

/// Checks that the number of elements fits an `unsigned long`.
fn countable(found: usize) -> Result<(), EncodeError> {
    match u32::try_from(found) {
        Ok(_) => Ok(()),
        Err(_) => Err(EncodeErrorKind::TooLong { found }.into()),
    }
}

/// Checks that `text` can be marshalled as a string.
fn sayable(text: &str) -> Result<(), EncodeError> {
    // The length on the wire includes the terminator.
    countable(text.len().saturating_add(1))?;
    match text.as_bytes().contains(&0) {
        true => Err(EncodeErrorKind::EmbeddedNul.into()),
        false => Ok(()),
    }
}

fn within(bound: u32, found: usize) -> Result<(), EncodeError> {
    match found as u64 > u64::from(bound) {
        true => Err(EncodeErrorKind::BoundExceeded { bound, found }.into()),
        false => Ok(()),
    }
}

/// The reference as it would be decoded from a message.
fn settled<R: Interface>(reference: &R, orb: &Orb) -> Option<R> {
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

impl<T> Give<ByValue<T>> for T
where
    T: Encode + for<'de> Decode<'de> + Copy + Send + 'static,
{
    #[inline(always)]
    fn give(&self, _: &Orb) -> Result<T, EncodeError> {
        Ok(*self)
    }
}

impl Give<BorrowedText> for &str {
    #[inline]
    fn give(&self, _: &Orb) -> Result<RecycledText, EncodeError> {
        sayable(self)?;
        Ok(RecycledText::copied(self))
    }
}

impl<T: Number + Send + Sync> Give<BorrowedNumbers<T>> for &[T]
where
    Self: Encode,
{
    #[inline]
    fn give(&self, _: &Orb) -> Result<Recycled<T>, EncodeError> {
        countable(self.len())?;
        Ok(Recycled::copied(self))
    }
}

impl<T> Give<RecycledSeq<T>> for &[T]
where
    T: Encode + for<'de> Decode<'de> + Clone + Send + 'static,
{
    #[inline]
    fn give(&self, _: &Orb) -> Result<Recycled<T>, EncodeError> {
        countable(self.len())?;
        Ok(Recycled::copied(self))
    }
}

impl<C, const N: u32> Give<RecycledSeq<C, N>> for Enc<'_, BoundedSeq<C, N>>
where
    C: Codec<Value: Clone + Send + 'static> + 'static,
{
    #[inline]
    fn give(&self, _: &Orb) -> Result<Recycled<C, N>, EncodeError> {
        within(N, self.0.len())?;
        Ok(Recycled::copied(self.0))
    }
}

impl<T> Give<ByRef<T, T>> for &T
where
    T: Encode + for<'de> Decode<'de> + Clone + Send + 'static,
{
    #[inline]
    fn give(&self, _: &Orb) -> Result<T, EncodeError> {
        Ok(T::clone(self))
    }
}

impl<T, const N: usize> Give<LargeArray<T, N>> for &[T; N]
where
    T: Encode + for<'de> Decode<'de> + Clone + Send + 'static,
{
    #[inline]
    fn give(&self, _: &Orb) -> Result<Box<[T; N]>, EncodeError> {
        // A vector, since a large array must not be on the stack.
        let copied = self.to_vec().into_boxed_slice();
        copied
            .try_into()
            .map_err(|_| EncodeErrorKind::TooLong { found: N }.into())
    }
}

impl<R: Interface> Give<Taken<RefCodec<R>>> for Held<RefCodec<R>> {
    #[inline]
    fn give(&self, orb: &Orb) -> Result<Option<R>, EncodeError> {
        let reference = self.value().as_ref();
        Ok(reference.and_then(|reference| settled(reference, orb)))
    }
}

impl Give<BorrowedOctets> for Octets<'_> {
    #[inline]
    fn give(&self, _: &Orb) -> Result<OwnedOctets, EncodeError> {
        OwnedOctets::new(self)
    }
}

impl<const N: u32> Give<BorrowedBoundedOctets<N>> for HeldOctets<'_, N> {
    #[inline]
    fn give(&self, _: &Orb) -> Result<OwnedBoundedOctets<N>, EncodeError> {
        within(N, self.octets().len())?;
        OwnedOctets::new(self.octets()).map(OwnedBoundedOctets)
    }
}

/// The codec of a result that a collocated call may return as a Rust value.
pub trait Settle: Codec {
    /// Checks and converts the value for the caller.
    ///
    /// # Errors
    /// Those of [`Codec::encode`].
    fn settle(value: Self::Value, orb: &Orb) -> Result<Self::Value, EncodeError>;
}

impl<T: Encode + for<'de> Decode<'de> + 'static> Settle for T {
    #[inline(always)]
    fn settle(value: T, _: &Orb) -> Result<T, EncodeError> {
        // The type test is resolved at compile time. Of the types here, only a string can fail to be marshalled.
        if let Some(text) = (&value as &dyn Any).downcast_ref::<String>() {
            sayable(text)?;
        }
        Ok(value)
    }
}

impl<R: Interface> Settle for RefCodec<R> {
    #[inline]
    fn settle(value: Option<R>, orb: &Orb) -> Result<Option<R>, EncodeError> {
        Ok(value.and_then(|reference| settled(&reference, orb)))
    }
}

/// Results that a collocated call may return as Rust values.
pub trait Returned: Results {
    /// Checks and converts the results for the caller.
    ///
    /// # Errors
    /// Those of [`Results::encode`].
    fn settle(values: Self::Values, orb: &Orb) -> Result<Self::Values, EncodeError>;
}

impl Returned for () {
    #[inline(always)]
    fn settle((): (), _: &Orb) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl<C: Settle<Value: Send + 'static>> Returned for (C,) {
    #[inline(always)]
    fn settle(value: C::Value, orb: &Orb) -> Result<C::Value, EncodeError> {
        C::settle(value, orb)
    }
}

macro_rules! given {
    ($($a:ident $p:ident $v:ident)*) => {
        impl<$($a, $p,)*> GiveAll<($($p,)*)> for ($($a,)*)
        where
            $($p: Parameter, $a: Give<$p>,)*
            Self: Encode,
        {
            #[inline(always)]
            fn give(&self, orb: &Orb) -> Result<($($p::Owned,)*), EncodeError> {
                let _ = orb;
                let ($($v,)*) = self;
                Ok(($($v.give(orb)?,)*))
            }
        }
    };
}

macro_rules! returned {
    ($one:ident $p:ident $o:ident) => {};
    ($($c:ident $p:ident $v:ident)*) => {
        impl<$($c: Settle<Value: Send + 'static>),*> Returned for ($($c,)*) {
            #[inline(always)]
            fn settle(($($v,)*): Self::Values, orb: &Orb) -> Result<Self::Values, EncodeError> {
                Ok(($($c::settle($v, orb)?,)*))
            }
        }
    };
}

/// Implements [`GiveAll`] and [`Returned`] for a tuple and each shorter one.
macro_rules! all {
    () => { given!(); };
    ($a:ident $p:ident $v:ident $($rest:tt)*) => {
        given!($a $p $v $($rest)*);
        returned!($a $p $v $($rest)*);
        all!($($rest)*);
    };
}

// Up to eight; rare operations with more parameters or results are marshalled.
all! {
    A1 P1 v1 A2 P2 v2 A3 P3 v3 A4 P4 v4 A5 P5 v5 A6 P6 v6 A7 P7 v7 A8 P8 v8
}
