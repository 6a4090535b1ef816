//! The traits of generated reference types, and the codec of references.

use crate::object::ObjectRef;
use crate::policy::{PolicyOverrides, SyncScope};
use core::marker::PhantomData;
use core::time::Duration;
use std::sync::Arc;
use zorb_cdr::{
    ByteOrder, Codec, Context, DecodeError, DecodeErrorKind, Decoder, EncodeError, Encoder,
    IdlReference, IdlType, Layout, SendCodec, StaticType, TcKind,
};
use zorb_executor::WaitPolicy;
use zorb_giop::{Ior, SystemException};

/// A typed object reference, generated for the clients of an interface.
///
/// The operations of `CORBA::Object` are methods of [`ObjectRef`], which [`as_object`](Self::as_object) returns, since
/// an IDL operation may be called `is_a`.
///
/// A reference is an [`ObjectRef`] with a type: a clone costs a reference count. Source: CORBA 3.3 Part 1, ORB
/// Interface (`CORBA::Object`).
pub trait Interface: Clone + Send + Sync + Sized + 'static {
    /// The repository id of the interface.
    const REPOSITORY_ID: &'static str;
    /// The TypeCode of the interface, as static data.
    #[doc(hidden)]
    const TYPE: &'static StaticType;

    /// Converts a reference without a check and without a call. Operations of another interface are BAD_OPERATION at
    /// the server.
    fn unchecked_narrow(object: ObjectRef) -> Self;

    /// The untyped reference.
    fn as_object(&self) -> &ObjectRef;

    /// The typed reference, or `None` if the object does not implement the interface. Costs a call of `_is_a`, unless
    /// the type id of the reference is the interface's.
    ///
    /// # Errors
    /// The exception of the `_is_a` call.
    ///
    /// # Cancel safety
    /// Safe: `_is_a` has no effect.
    fn narrow(
        object: &ObjectRef,
    ) -> impl Future<Output = Result<Option<Self>, SystemException>> + Send {
        let object = object.clone();
        async move {
            Ok(object
                .is_a(Self::REPOSITORY_ID)
                .await?
                .then(|| Self::unchecked_narrow(object)))
        }
    }

    /// Returns the reference with a time limit: its calls fail with TIMEOUT if no reply has arrived after `limit`.
    #[must_use]
    #[doc(alias = "RelativeRoundtripTimeoutPolicy")]
    fn with_round_trip_timeout(&self, limit: Duration) -> Self {
        Self::unchecked_narrow(self.as_object().with_round_trip_timeout(limit))
    }

    /// Returns the reference with a SyncScope for its one-way calls: see [`ObjectRef::with_sync_scope`].
    #[must_use]
    #[doc(alias = "SyncScopePolicy")]
    fn with_sync_scope(&self, scope: SyncScope) -> Self {
        Self::unchecked_narrow(self.as_object().with_sync_scope(scope))
    }

    /// Returns the reference with these policies for its calls: see [`ObjectRef::with_policies`].
    #[must_use]
    #[doc(alias = "_set_policy_overrides")]
    fn with_policies(&self, policies: &PolicyOverrides) -> Self {
        Self::unchecked_narrow(self.as_object().with_policies(policies))
    }

    /// Returns the reference with a wait policy for its calls: see
    /// [`ObjectRef::with_wait_policy`].
    #[must_use]
    fn with_wait_policy(&self, policy: WaitPolicy) -> Self {
        Self::unchecked_narrow(self.as_object().with_wait_policy(policy))
    }
}

impl Interface for ObjectRef {
    const REPOSITORY_ID: &'static str = zorb_giop::ior::OBJECT_REPOSITORY_ID;
    const TYPE: &'static StaticType = &OBJECT;

    fn unchecked_narrow(object: ObjectRef) -> Self {
        object
    }

    fn as_object(&self) -> &ObjectRef {
        self
    }
}

/// Argument types for a parameter of reference type `R`, which may be nil. They are a reference of that type or of a
/// derived one, by value or by `&`; `None`; an `Option` of an `R`; and a `&` of an `Option` of either, such as the
/// result of a call.
///
/// Stubs take `impl IntoReference<R>`. The IDL compiler implements it for each reference type and each of its base
/// interfaces.
///
/// ```
/// use zorb::{IntoReference, ObjectRef};
///
/// fn count(object: impl IntoReference<ObjectRef>) -> usize {
///     object.into_reference().into_iter().count()
/// }
///
/// fn call(object: &ObjectRef) {
///     assert_eq!(count(object), 1);
///     assert_eq!(count(Some(object.clone())), 1);
///     assert_eq!(count(&Some(object)), 1);
/// }
/// assert_eq!(count(None), 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reference to objects of the interface of `{R}`",
    label = "neither a `{R}`, nor a reference of a derived interface, nor an `Option` of one",
    note = "`None` is the nil reference; `narrow` makes a reference of a derived interface out of one of its base",
    note = "of an `Option` of a derived reference pass a `&`; and that in place of what its `as_ref` gives"
)]
pub trait IntoReference<R> {
    /// Converts to a reference of `R`, the same interface or a base of it, without a check or a call. `None`, the nil
    /// reference, comes from an `Option` alone. Converting a `&` clones the reference: one atomic increment.
    fn into_reference(self) -> Option<R>;
}

impl<R> IntoReference<R> for Option<R> {
    fn into_reference(self) -> Self {
        self
    }
}

impl<R, T: ToReference<R> + ?Sized> IntoReference<R> for &T {
    fn into_reference(self) -> Option<R> {
        self.to_reference()
    }
}

/// Types whose `&` is an argument for a parameter of reference type `R`: see [`IntoReference`]. An `Option` implements
/// that trait for its own type alone, so that rustc can infer the type of `None`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reference to objects of the interface of `{R}`",
    label = "neither a `{R}`, nor a reference of a derived interface, nor an `Option` of one",
    note = "`None` is the nil reference; `narrow` makes a reference of a derived interface out of one of its base"
)]
pub trait ToReference<R> {
    /// A clone of the reference, as `R`: one atomic increment. `None` comes from an `Option` alone.
    fn to_reference(&self) -> Option<R>;
}

impl<R, T: ToReference<R>> ToReference<R> for Option<T> {
    fn to_reference(&self) -> Option<R> {
        self.as_ref()?.to_reference()
    }
}

impl<R, T: ToReference<R> + ?Sized> ToReference<R> for &T {
    fn to_reference(&self) -> Option<R> {
        (**self).to_reference()
    }
}

impl ToReference<Self> for ObjectRef {
    fn to_reference(&self) -> Option<Self> {
        Some(self.clone())
    }
}

impl IntoReference<Self> for ObjectRef {
    fn into_reference(self) -> Option<Self> {
        Some(self)
    }
}

/// The type of `CORBA::Object` in anys and TypeCodes.
pub static OBJECT: StaticType = StaticType::Named(
    TcKind::ObjRef,
    zorb_giop::ior::OBJECT_REPOSITORY_ID,
    "Object",
);

impl IdlReference for ObjectRef {
    const TYPE: &'static StaticType = &OBJECT;
    type Codec = RefCodec<Self>;
}

impl IdlType for ObjectRef {
    const TYPE: &'static StaticType = &OBJECT;

    fn put_idl<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.note_context(|| kept(self));
        e.put(self.ior())
    }
}

/// The ORB of a reference, kept by an any that holds the reference.
#[cold]
fn kept(reference: &ObjectRef) -> Option<Arc<dyn Context>> {
    Some(Arc::new(reference.orb().clone()))
}

/// The CDR codec of references: an IOR, which is empty for nil. Source: CORBA 3.3 Part 2, ORB Interoperability
/// Architecture (interoperable object references).
#[derive(Debug)]
pub struct RefCodec<T>(PhantomData<T>);

impl<T: Interface> Codec for RefCodec<T> {
    type Value = Option<T>;
    type Borrowed = Option<T>;
    const MIN_SIZE: usize = 8;
    const LAYOUT: Layout = Layout::VARIABLE;

    fn encode<O: ByteOrder>(value: &Option<T>, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        match value {
            Some(reference) => reference.as_object().put_idl(e),
            None => e.put(&Ior::NIL),
        }
    }

    fn decode<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Option<T>, DecodeError> {
        let ior: Ior = d.get()?;
        if ior.is_nil() {
            return Ok(None);
        }
        let orb = d
            .context()
            .and_then(|context| context.downcast_ref::<crate::orb::OrbInner>())
            .and_then(crate::orb::OrbInner::handle)
            .ok_or_else(|| {
                d.error(DecodeErrorKind::Expected(
                    "an ORB to decode references against",
                ))
            })?;
        d.charge_memory(ObjectRef::OCTETS)?;
        Ok(Some(T::unchecked_narrow(ObjectRef::received(orb, ior))))
    }
}

impl<T: Interface> SendCodec for RefCodec<T> {}
