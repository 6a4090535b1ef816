//! Arguments that a stub's call owns, converted from the caller's.

use crate::interface::{Interface, IntoReference, RefCodec};
use core::borrow::Borrow;
use zorb_cdr::{BoundedOctets, ByteOrder, Codec, Encode, EncodeError, Encoder, Lent, Octets};

/// An argument that is taken by value and encoded by codec `C`: a reference or a value of a value type.
pub struct OwnedArgument<C: Codec>(C::Value);

impl<C: Codec> OwnedArgument<C> {
    /// Converts the argument of the caller.
    pub fn new(value: impl Into<C::Value>) -> Self {
        Self(value.into())
    }

    pub(super) const fn value(&self) -> &C::Value {
        &self.0
    }
}

impl<R: Interface> OwnedArgument<RefCodec<R>> {
    /// Converts the caller's reference, which may be nil.
    pub fn reference(reference: impl IntoReference<R>) -> Self {
        Self(reference.into_reference())
    }
}

/// The same argument for a call that is made by message alone, as a type that is `Send` and `Sync` by its declaration. Of
/// the type itself rustc would prove that for each stub anew, by a look at everything that a reference leads to: the whole
/// ORB. That took ten times as long as all the rest of a stub.
pub fn untyped_reference<R: Interface>(
    argument: OwnedArgument<RefCodec<R>>,
) -> impl Encode + Send + Sync + 'static {
    argument
}

impl<C: Codec> core::fmt::Debug for OwnedArgument<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("OwnedArgument").finish_non_exhaustive()
    }
}

impl<C: Codec> Encode for OwnedArgument<C> {
    #[inline(always)]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        C::encode(self.0.borrow(), encoder)
    }
}

/// An argument of type `sequence<octet, N>`, borrowed or shared.
#[derive(Debug)]
pub struct OctetsArgument<'a, const N: u32>(Octets<'a>);

impl<'a, const N: u32> OctetsArgument<'a, N> {
    /// Converts the argument of the caller.
    pub fn new(octets: impl Into<Octets<'a>>) -> Self {
        Self(octets.into())
    }

    pub(super) const fn octets(&self) -> &Octets<'a> {
        &self.0
    }
}

impl<const N: u32> Encode for OctetsArgument<'_, N> {
    #[inline(always)]
    fn encode<O: ByteOrder>(&self, encoder: &mut Encoder<O>) -> Result<(), EncodeError> {
        <BoundedOctets<N> as Codec>::encode(&self.0, encoder)
    }

    #[inline]
    fn encode_lent<'l, O: ByteOrder>(
        &'l self,
        encoder: &mut Encoder<O>,
        lent: &mut Option<Lent<'l>>,
    ) -> Result<(), EncodeError> {
        BoundedOctets::<N>::encode_lent(&self.0, encoder, lent)
    }
}
