//! Items for generated code. Not public API: they may change in any version.

pub use crate::context::ContextArgument;
pub use crate::interface::{OBJECT, RefCodec};
pub use crate::local::LocalCodec;
pub use crate::messaging::{ExceptionHolderCodec, send_to_handler, send_to_poller};
pub use crate::poa::InterfaceSkeleton;
pub use crate::signature::{
    OctetsArgument, OwnedArgument, TypedArgument, TypedArguments, TypedResult, TypedResults,
    untyped_reference,
};
pub use crate::value::{
    AbstractCodec, Behaviour, Caster, ErasedState, VALUE_BASE, ValueCodec, ValueInfo,
};
#[cfg(feature = "serde")]
pub use serde::{Deserialize, Deserializer, Serialize, Serializer};
pub use zorb_cdr::{
    Array, BoundedMap, BoundedOctets, BoundedSeq, BoundedStr, BoundedWideStr, Codec, Dec, Enc,
    InMemory, Map, Octets, OctetsRef, Seq, StaticType as Tc, TcKind, WideStr, cdr_bitmask,
    cdr_bitset, cdr_enum, cdr_struct, cdr_union, idl_enum, idl_exception, idl_type, zerocopy,
};
use zorb_giop::{CompletionStatus, Fault, SystemException};
pub use zorb_giop::{OperationError, UserException};
pub use zorb_idl_macros::{idl_tokens, object_ids_tokens};
pub use zorb_poa::signature::{
    BorrowedBoundedOctets, BorrowedNumbers, BorrowedOctets, BorrowedText, ByRef, ByValue, Group,
    LargeArray, Method, Parameter, Parameters, RecycledSeq, Results, ServantArguments, Taken,
    upcall,
};
pub use zorb_poa::{Numbers, Operations, Recycled, ServerRequest, Skeleton, Started, Upcall};

/// Items that the macros below name by path, so that they work whatever the user's crate imports.
pub mod reexport {
    pub use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncodeError, EncodeErrorKind, Encoder};
    pub use zorb_giop::SystemException;
}

/// The result of an operation that its servant does not implement.
///
/// # Errors
/// Always NO_IMPLEMENT, COMPLETED_NO.
pub fn not_implemented<T, E: From<SystemException>>() -> core::future::Ready<Result<T, E>> {
    let exception = Fault::NotImplemented("the servant does not implement the operation")
        .raise(CompletionStatus::No);
    core::future::ready(Err(exception.into()))
}

/// Implements an IDL exception: its codec, its repository id and its text.
#[doc(hidden)]
#[macro_export]
macro_rules! __exception {
    ($name:ident, $id:literal, { $($field:ident: $codec:ty),* $(,)? }) => {
        $crate::__private::cdr_struct!($name { $($field: $codec),* });

        impl $crate::__private::UserException for $name {
            const REPOSITORY_ID: &'static str = $id;
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(::core::stringify!($name))?;
                $(::core::write!(f, ::core::concat!(" ", ::core::stringify!($field), "={:?}"), self.$field)?;)*
                ::core::result::Result::Ok(())
            }
        }

        impl ::core::error::Error for $name {}
    };
}

/// Declares the TypeCode of a type, and implements its use: a Rust type that anys may hold, an exception, or a public
/// constant for an alias.
#[doc(hidden)]
#[macro_export]
macro_rules! __type_code {
    ($name:ident = $value:expr;) => {
        #[doc(hidden)]
        pub static $name: $crate::__private::Tc = {
            #[allow(unused_imports, reason = "not every type needs both")]
            use $crate::__private::{Tc as __Tc, TcKind as __TcKind};
            $value
        };
    };
    ($name:ident = $value:expr; value $type:ident) => {
        $crate::__private::type_code!($name = $value;);
        $crate::__private::idl_type!($type, &$name);
    };
    ($name:ident = $value:expr; exception $type:ident) => {
        $crate::__private::type_code!($name = $value;);
        $crate::__private::idl_exception!($type, &$name);
    };
    ($name:ident = $value:expr; alias #[$doc:meta] $constant:ident) => {
        $crate::__private::type_code!($name = $value;);
        #[$doc]
        pub static $constant: $crate::TypeCode = $crate::TypeCode::from_static(&$name);
    };
}

/// Implements the trait `From` of the error enum of an operation for what its servant is likely to meet, so that `?` converts
/// it. All other errors go by `map_err(SystemException::from)`.
#[doc(hidden)]
#[macro_export]
macro_rules! __error_conversions {
    ($name:ident: $($error:ty,)*) => {
        $(
            impl ::core::convert::From<$error> for $name {
                fn from(error: $error) -> Self {
                    Self::System(::core::convert::From::from(error))
                }
            }
        )*
    };
}

/// Implements the error enum of an operation: its user exceptions, or a system exception. An exception of a native type
/// cannot be marshalled and has a repository id alone. Several of these may be one Rust type, so there is no `From` for
/// them.
#[doc(hidden)]
#[macro_export]
macro_rules! __operation_error {
    (
        $name:ident { $($variant:ident($exception:ty)),* $(,)? }
        $(native { $($native:ident = $id:literal),* $(,)? })?
    ) => {
        $(
            impl ::core::convert::From<$exception> for $name {
                fn from(exception: $exception) -> Self {
                    Self::$variant(exception)
                }
            }
        )*

        impl ::core::convert::From<$crate::SystemException> for $name {
            fn from(exception: $crate::SystemException) -> Self {
                Self::System(exception)
            }
        }

        $crate::__error_conversions!($name:
            $crate::Error, $crate::SystemExceptionKind, $crate::EncodeError, $crate::ExtractError,
            $crate::RequestError, $crate::NoContext, $crate::naming::NamingError, ::std::io::Error,
        );

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $(Self::$variant(exception) => ::core::fmt::Display::fmt(exception, f),)*
                    $($(Self::$native(_) => f.write_str(::core::stringify!($native)),)*)?
                    Self::System(exception) => ::core::fmt::Display::fmt(exception, f),
                }
            }
        }

        impl ::core::error::Error for $name {
            fn source(&self) -> ::core::option::Option<&(dyn ::core::error::Error + 'static)> {
                match self {
                    // The text is that of the exception, so the source is that of the exception, too.
                    Self::System(exception) => ::core::error::Error::source(exception),
                    #[allow(unreachable_patterns, reason = "an operation may raise nothing of its own")]
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl $crate::__private::OperationError for $name {
            fn system(&self) -> ::core::option::Option<&$crate::SystemException> {
                match self {
                    Self::System(exception) => ::core::option::Option::Some(exception),
                    #[allow(unreachable_patterns, reason = "an operation may raise nothing of its own")]
                    _ => ::core::option::Option::None,
                }
            }

            fn repository_id(&self) -> &str {
                match self {
                    $(Self::$variant(_) => <$exception as $crate::__private::UserException>::REPOSITORY_ID,)*
                    $($(Self::$native(_) => $id,)*)?
                    Self::System(exception) => exception.kind.repository_id(),
                }
            }

            fn encode_user<O: $crate::__private::reexport::ByteOrder>(
                &self,
                e: &mut $crate::__private::reexport::Encoder<O>,
            ) -> ::core::result::Result<(), $crate::__private::reexport::EncodeError> {
                match self {
                    $(Self::$variant(exception) => {
                        e.write_raw_string(
                            <$exception as $crate::__private::UserException>::REPOSITORY_ID.as_bytes(),
                        )?;
                        e.put(exception)
                    })*
                    $($(Self::$native(_) => ::core::result::Result::Err(
                        $crate::__private::reexport::EncodeErrorKind::Local.into(),
                    ),)*)?
                    Self::System(_) => ::core::result::Result::Ok(()),
                }
            }

            fn decode_user<O: $crate::__private::reexport::ByteOrder>(
                repository_id: &[u8],
                d: &mut $crate::__private::reexport::Decoder<'_, O>,
            ) -> ::core::option::Option<
                ::core::result::Result<Self, $crate::__private::reexport::DecodeError>,
            > {
                $(
                    if repository_id
                        == <$exception as $crate::__private::UserException>::REPOSITORY_ID.as_bytes()
                    {
                        return ::core::option::Option::Some(
                            d.get::<$exception>().map(Self::$variant),
                        );
                    }
                )*
                let _ = (repository_id, d);
                ::core::option::Option::None
            }
        }
    };
}

/// Implements the traits that all typed references have.
#[doc(hidden)]
#[macro_export]
macro_rules! __interface_ref {
    ($name:ident, $id:literal, $kind:ident $type:expr, bases: [$($base:literal),* $(,)?]) => {
        impl $crate::Interface for $name {
            const REPOSITORY_ID: &'static str = $id;
            const TYPE: &'static $crate::__private::Tc = $type;

            fn unchecked_narrow(object: $crate::ObjectRef) -> Self {
                Self { object }
            }

            fn as_object(&self) -> &$crate::ObjectRef {
                &self.object
            }
        }

        $crate::__any_reference!($kind $name, $type);
        $crate::__serde_reference!($name);

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_tuple(::core::stringify!($name)).field(&self.object).finish()
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&self.object, f)
            }
        }

        impl ::core::cmp::PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.object == other.object
            }
        }

        impl ::core::cmp::Eq for $name {}

        impl ::core::hash::Hash for $name {
            /// The hash of the reference as an `ObjectRef`: equivalent references have the same. Costs some allocations.
            fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                ::core::hash::Hash::hash(&self.object, state);
            }
        }

        impl ::core::convert::AsRef<$crate::ObjectRef> for $name {
            fn as_ref(&self) -> &$crate::ObjectRef {
                &self.object
            }
        }

        impl $crate::IntoReference<$name> for $name {
            fn into_reference(self) -> ::core::option::Option<$name> {
                ::core::option::Option::Some(self)
            }
        }

        impl $crate::IntoReference<$crate::ObjectRef> for $name {
            fn into_reference(self) -> ::core::option::Option<$crate::ObjectRef> {
                ::core::option::Option::Some(self.object)
            }
        }

        impl $crate::ToReference<$name> for $name {
            fn to_reference(&self) -> ::core::option::Option<$name> {
                ::core::option::Option::Some(::core::clone::Clone::clone(self))
            }
        }

        impl $crate::ToReference<$crate::ObjectRef> for $name {
            fn to_reference(&self) -> ::core::option::Option<$crate::ObjectRef> {
                ::core::option::Option::Some(::core::clone::Clone::clone(&self.object))
            }
        }

        impl ::core::convert::From<$name> for $crate::ObjectRef {
            fn from(reference: $name) -> Self {
                reference.object
            }
        }
    };
}

/// Implements the traits of serde for a typed reference.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! __serde_reference {
    ($name:ident) => {
        impl $crate::__private::Serialize for $name {
            fn serialize<S: $crate::__private::Serializer>(
                &self,
                s: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::serde::serialize_reference(self, s)
            }
        }

        impl<'de> $crate::__private::Deserialize<'de> for $name {
            fn deserialize<D: $crate::__private::Deserializer<'de>>(
                d: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::serde::deserialize_reference(d)
            }
        }
    };
}

/// Without the feature `serde`, references have none of its traits.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __serde_reference {
    ($name:ident) => {};
}

/// Implements `Debug` and identity comparison for references to local objects, which types with such members need.
#[doc(hidden)]
#[macro_export]
macro_rules! __local_interface {
    ($name:ident) => {
        impl ::core::fmt::Debug for dyn $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(::core::stringify!($name))
            }
        }

        impl ::core::cmp::PartialEq for dyn $name {
            fn eq(&self, other: &Self) -> bool {
                ::core::ptr::addr_eq(self, other)
            }
        }
    };
}

/// Implements the traits by which anys hold a typed reference. For abstract interfaces, [`Abstract`](crate::Abstract)
/// implements them.
#[doc(hidden)]
#[macro_export]
macro_rules! __any_reference {
    (abstract $name:ident, $type:expr) => {};
    (concrete $name:ident, $type:expr) => {
        impl $crate::IdlReference for $name {
            const TYPE: &'static $crate::__private::Tc = $type;
            type Codec = $crate::__private::RefCodec<Self>;
        }

        impl $crate::IdlType for $name {
            const TYPE: &'static $crate::__private::Tc = $type;

            fn put_idl<__O: $crate::__private::reexport::ByteOrder>(
                &self,
                encoder: &mut $crate::__private::reexport::Encoder<__O>,
            ) -> ::core::result::Result<(), $crate::__private::reexport::EncodeError> {
                $crate::IdlType::put_idl(&self.object, encoder)
            }
        }
    };
}

/// Implements the conversions from a derived reference to those of its base interfaces.
#[doc(hidden)]
#[macro_export]
macro_rules! __upcasts {
    ($derived:ty => [$($base:ty),* $(,)?]) => {
        $(
            impl ::core::convert::From<$derived> for $base {
                fn from(reference: $derived) -> Self {
                    <Self as $crate::Interface>::unchecked_narrow(reference.object)
                }
            }

            impl<'a> ::core::convert::From<&'a $derived> for $base {
                fn from(reference: &'a $derived) -> Self {
                    <Self as $crate::Interface>::unchecked_narrow(
                        ::core::clone::Clone::clone(&reference.object),
                    )
                }
            }

            // Not `From` for `Option<$base>`: rustc compares all pairs of implementations of a trait for types of one
            // name, which is quadratic.
            impl $crate::IntoReference<$base> for $derived {
                fn into_reference(self) -> ::core::option::Option<$base> {
                    ::core::option::Option::Some(self.into())
                }
            }

            impl $crate::ToReference<$base> for $derived {
                fn to_reference(&self) -> ::core::option::Option<$base> {
                    ::core::option::Option::Some(self.into())
                }
            }
        )*
    };
}

/// Implements the conversions from a reference to its abstract base interfaces.
#[doc(hidden)]
#[macro_export]
macro_rules! __abstract_upcasts {
    ($derived:ty => [$($base:ty),* $(,)?]) => {
        $(
            impl<'a> ::core::convert::From<&'a $derived>
                for ::core::option::Option<$crate::Abstract<$base>>
            {
                fn from(reference: &'a $derived) -> Self {
                    ::core::option::Option::Some($crate::Abstract::Object(
                        <$base as $crate::Interface>::unchecked_narrow(
                            ::core::clone::Clone::clone(&reference.object),
                        ),
                    ))
                }
            }
        )*
    };
}

/// Implements a value type. `kind` is `plain`, `abstract`, or `operations` or `custom` with the traits that the program
/// has to implement. The implementations of other traits follow, which need those.
#[doc(hidden)]
#[macro_export]
macro_rules! __value_type {
    (
        $name:ident, $idl:literal, [$id:literal $(, $truncated:literal)*], $type:expr,
        base: [$($base:ident)?],
        derives: [$($ancestor:ty),* $(,)?],
        known: [$($known:ty),* $(,)?],
        $kind:ident [$($operations:path),* $(,)?]
        $(impl $supported:path { $($methods:tt)* })*
    ) => {
        impl $crate::ValueType for $name {
            const REPOSITORY_ID: &'static str = $id;
            const TYPE: &'static $crate::__private::Tc = $type;

            fn info() -> &'static $crate::__private::ValueInfo {
                static INFO: $crate::__private::ValueInfo = $crate::__private::ValueInfo {
                    name: $idl,
                    ids: &[$id $(, $truncated)*],
                    is: &[
                        ::core::any::TypeId::of::<$name>(),
                        $(::core::any::TypeId::of::<$ancestor>(),)*
                        ::core::any::TypeId::of::<$crate::ValueBase>(),
                    ],
                    known: &[$(<$known as $crate::ValueType>::info),*],
                    behaviour: $crate::__value_behaviour!($kind $name),
                };
                &INFO
            }
        }

        impl $crate::Derives<$name> for $name {}
        impl $crate::Derives<$crate::ValueBase> for $name {}
        $(impl $crate::Derives<$ancestor> for $name {})*

        $crate::__value_state!($kind $name [$($base)?] [$($operations),*] $(impl $supported { $($methods)* })*);
    };
}

/// The behaviour of a value type that needs no implementation by the program.
#[doc(hidden)]
#[macro_export]
macro_rules! __value_behaviour {
    (plain $name:ident) => {
        ::core::option::Option::Some(&const { $crate::__private::Behaviour::plain::<$name>() })
    };
    ($kind:ident $name:ident) => {
        ::core::option::Option::None
    };
}

/// Implements the state of a value type, and its behaviour.
#[doc(hidden)]
#[macro_export]
macro_rules! __value_state {
    (abstract $name:ident [] [$($operations:path),*]) => {};
    ($kind:ident $name:ident [$($base:ident)?] [$($operations:path),*] $($supported:tt)*) => {
        impl $crate::ValueState for $name {}

        impl $crate::__private::ErasedState for $name {
            fn part(
                &self,
                id: ::core::any::TypeId,
            ) -> ::core::option::Option<&dyn ::core::any::Any> {
                if id == ::core::any::TypeId::of::<Self>() {
                    return ::core::option::Option::Some(self);
                }
                $(return $crate::__private::ErasedState::part(&self.$base, id);)?
                #[allow(unreachable_code, reason = "not every value type has a base with state")]
                ::core::option::Option::None
            }

            fn part_mut(
                &mut self,
                id: ::core::any::TypeId,
            ) -> ::core::option::Option<&mut dyn ::core::any::Any> {
                if id == ::core::any::TypeId::of::<Self>() {
                    return ::core::option::Option::Some(self);
                }
                $(return $crate::__private::ErasedState::part_mut(&mut self.$base, id);)?
                #[allow(unreachable_code, reason = "not every value type has a base with state")]
                ::core::option::Option::None
            }

            fn as_any(&self) -> &dyn ::core::any::Any {
                self
            }

            fn as_any_mut(&mut self) -> &mut dyn ::core::any::Any {
                self
            }
        }

        $crate::__value_concrete!($kind $name [$($operations),*] $($supported)*);
    };
}

/// Implements the behaviour of a value type, once its required traits are implemented.
#[doc(hidden)]
#[macro_export]
macro_rules! __value_concrete {
    (plain $name:ident []) => {
        impl $crate::Concrete for $name {
            fn behaviour() -> &'static $crate::__private::Behaviour {
                &const { $crate::__private::Behaviour::plain::<$name>() }
            }
        }
    };
    (operations $name:ident [$($operations:path),*] $($supported:tt)*) => {
        $crate::__value_concrete!(@ with_operations $name [] [$($operations),*] $($supported)*);
    };
    (custom $name:ident [$($operations:path),*] $($supported:tt)*) => {
        $crate::__value_concrete!(@ custom $name [$crate::CustomMarshal +] [$($operations),*] $($supported)*);
    };
    (
        @ $make:ident $name:ident [$($custom:tt)*] [$($operations:path),*]
        $(impl $supported:path { $($methods:tt)* })*
    ) => {
        const _: () = {
            // The lifetime defers the check of the bound to where a value is made or registered: a bound without a
            // lifetime would have to hold here.
            #[diagnostic::on_unimplemented(
                message = "not all is implemented that the IDL wants of value type `{Self}`",
                note = ::core::concat!(
                    "the traits are: ", ::core::stringify!($($custom)* $($operations +)* Sized),
                ),
            )]
            pub trait __Implemented<'a>: $($custom)* $($operations +)* ::core::marker::Sized {}
            impl<'a, __T: $($custom)* $($operations +)* ::core::marker::Sized> __Implemented<'a> for __T {}

            $(impl $supported for $name
            where
                for<'a> $name: __Implemented<'a>,
            {
                $($methods)*
            })*

            impl $crate::Concrete for $name
            where
                for<'a> $name: __Implemented<'a>,
            {
                fn behaviour() -> &'static $crate::__private::Behaviour {
                    &const {
                        $crate::__private::Behaviour::$make::<$name>(|id| {
                            $($crate::__value_caster!(id $name dyn $operations);)*
                            $($crate::__value_caster!(id $name dyn $supported);)*
                            let _ = id;
                            ::core::option::Option::None
                        })
                    }
                }
            }
        };
    };
}

/// Returns the caster of the type id, if that is the one of this trait.
#[doc(hidden)]
#[macro_export]
macro_rules! __value_caster {
    ($id:ident $name:ident $operations:ty) => {
        if $id == ::core::any::TypeId::of::<$crate::__private::Caster<$operations>>() {
            return ::core::option::Option::Some(
                &const {
                    $crate::__private::Caster::<$operations> {
                        shared: |state| match state.downcast_ref::<$name>() {
                            ::core::option::Option::Some(state) => {
                                ::core::option::Option::Some(state)
                            }
                            ::core::option::Option::None => ::core::option::Option::None,
                        },
                        exclusive: |state| match state.downcast_mut::<$name>() {
                            ::core::option::Option::Some(state) => {
                                ::core::option::Option::Some(state)
                            }
                            ::core::option::Option::None => ::core::option::Option::None,
                        },
                    }
                },
            );
        }
    };
}

pub use crate::{
    __abstract_upcasts as abstract_upcasts, __exception as exception,
    __interface_ref as interface_ref, __local_interface as local_interface,
    __operation_error as operation_error, __poller as poller, __type_code as type_code,
    __upcasts as upcasts, __value_type as value_type,
};
