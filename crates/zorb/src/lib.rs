#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "a failing test may panic"
    )
)]

extern crate self as zorb;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod addresses;
mod bidirectional;
pub mod blocking;
mod builder;
mod builder_limits;
mod builder_real_time;
mod builder_rules;
mod builder_transports;
pub mod codec;
mod connect;
mod context;
pub mod corba;
mod counts;
#[cfg(feature = "csi")]
pub mod csi;
mod current;
mod decoding;
mod deferred;
mod descriptors;
mod dynamic;
mod endpoints;
mod error;
mod forward;
pub mod health;
mod identity;
mod initial;
mod instance;
pub mod interceptors;
mod interface;
mod invoke;
mod keys;
mod local;
mod marked_servant;
pub mod messaging;
pub mod naming;
mod object;
mod observe;
mod options;
mod orb;
mod orb_settings;
mod outgoing;
mod panic_hook;
pub mod permissions;
mod poa;
pub mod policy;
mod pollable_set;
mod profile;
mod protection;
mod race;
pub mod real_time;
mod retry;
mod rules;
#[cfg(feature = "serde")]
pub mod serde;
mod serve;
mod signature;
pub mod skeleton;
mod value;

pub use builder::Builder;
pub use context::Context;
pub use dynamic::{
    DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton, ParameterMode, ParameterType,
    PendingResponse, PendingResponses, RawBody, RawReply, Request, RequestError, Response,
    Signature,
};
pub use error::Error;
pub use forward::Forward;
pub use interface::{Interface, IntoReference, ToReference};
pub use keys::{KeyTable, KeyTableError};
pub use local::Native;
pub use marked_servant::{Blocking, Cancellable};
pub use object::ObjectRef;
pub use observe::TraceContext;
pub use options::OptionError;
pub use orb::{Orb, ShutdownReport};
pub use panic_hook::install_panic_hook;
pub use poa::{
    Cleanup, CurrentRequest, NoContext, Poa, PoaCurrent, PoaManagerFactory, Servant,
    ServantActivator, ServantLocator, ServantManagerError,
};
pub use policy::SyncScope;
pub use retry::Retry;
pub use value::{
    Abstract, Concrete, CustomMarshal, DataInput, DataOutput, Derives, MarshalError, Value,
    ValueBase, ValueRead, ValueState, ValueType, ValueWrite,
};
pub use zorb_poa::signature::ManyResults;

pub use bytes::Bytes;
pub use zorb_cdr as cdr;
pub use zorb_cdr::{
    Any, Char, CharSet, DecodeError, EncodeError, ExtractError, Fixed, FixedError, IdlReference,
    IdlType, IdlValue, LongDouble, NotALongDouble, NotAnEnumerator, Octets, OctetsRef, Principal,
    TcKind, TypeCode, WChar,
};
pub use zorb_connection::{Counter, Counters, Overload, Peer, together};
pub use zorb_executor as executor;
pub use zorb_executor::WaitPolicy;
pub use zorb_giop::url::{UrlError, UrlScheme};
pub use zorb_giop::{
    Chain, CompletionStatus, Ior, OperationError, Origin, ServiceContext, ServiceContextId,
    SystemException, SystemExceptionKind, UserException, Version, minor,
};
pub use zorb_idl_macros::idl_file;
pub use zorb_poa::{
    AdapterError, AdapterInactive, CancelledUpcalls, IdAssignment, IdUniqueness,
    ImplicitActivation, InvalidPolicy, KeyProtection, Lifespan, ManagerAlreadyExists, ManagerError,
    ObjectId, ObjectIds, OneWayOrder, PoaManager, PoaManagerState, PoaPolicy, PoaPolicyType,
    Policies, RequestProcessing, ServantRetention, ThreadModel,
};
pub use zorb_shares::CancelReason;
#[cfg(any(feature = "tls", feature = "tls-aws-lc-rs"))]
pub use zorb_tls as tls;
pub use zorb_transport as transport;

/// Compiles inline IDL to traits, references and skeletons: see the [crate documentation](crate).
///
/// Takes IDL as tokens. IDL that Rust's lexer refuses (`L'x'`, `'\377'`, line continuations) is written as one raw
/// string literal. [`idl_file`] compiles IDL in files; its options may precede the IDL here, too:
/// `#![idl(defaults, rename("A::b" = "c"))]`.
///
/// ```
/// zorb::idl! {
///     module Weather {
///         interface Station {
///             double temperature();
///         };
///     };
/// }
/// use weather::{Station, StationRef, StationServant};
/// ```
#[macro_export]
macro_rules! idl {
    ($($idl:tt)*) => {
        $crate::__private::idl_tokens! { [$crate] $($idl)* }
    };
}

/// Makes a set of object ids at compile time: a `&'static` [`ObjectIds`], for [`Poa::create_poa_of_ids`].
///
/// Ids are literals of text or of octets, each id once. The macro computes their perfect hash, so a look-up compares
/// one id.
///
/// ```
/// static BRANCHES: &zorb::ObjectIds = zorb::object_ids!["main", "airport", b"\x00\x01"];
/// assert_eq!(BRANCHES.find(b"airport"), Some(1));
/// assert_eq!(BRANCHES.find(b"harbour"), None);
/// ```
#[macro_export]
macro_rules! object_ids {
    ($($ids:tt)*) => {
        $crate::__private::object_ids_tokens! { [$crate] $($ids)* }
    };
}

/// The pages of the repository: their examples are compiled as doctests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/mapping.md")]
    struct Mapping;
    #[doc = include_str!("../../../docs/objects.md")]
    struct Objects;
    #[doc = include_str!("../../../docs/tracing.md")]
    struct Tracing;
    #[doc = include_str!("../../../docs/blocking.md")]
    struct Blocking;
    #[doc = include_str!("../../../docs/dynamic.md")]
    struct Dynamic;
    #[doc = include_str!("../../../docs/options.md")]
    struct Options;
    #[doc = include_str!("../../../docs/lanes.md")]
    struct Lanes;
    #[doc = include_str!("../../../docs/servants.md")]
    struct Servants;
    #[doc = include_str!("../../../docs/policies.md")]
    struct PoliciesPage;
    #[doc = include_str!("../../../docs/book/first-call.md")]
    struct FirstCall;
    #[doc = include_str!("../../../docs/book/asynchronous.md")]
    struct Asynchronous;
    #[doc = include_str!("../../../docs/book/recipes.md")]
    struct Recipes;
    #[cfg(feature = "tls")]
    #[doc = include_str!("../../../docs/internet.md")]
    struct Internet;
    #[cfg(feature = "csi")]
    #[doc = include_str!("../../../docs/who-calls.md")]
    struct WhoCalls;
    #[doc = include_str!("../../../docs/interceptors.md")]
    struct InterceptorsPage;
    #[doc = include_str!("../../../docs/from-omniorb.md")]
    struct FromOmniOrb;
    #[doc = include_str!("../../../docs/from-jacorb.md")]
    struct FromJacOrb;
    #[doc = include_str!("../../../docs/from-tao.md")]
    struct FromTao;
}
