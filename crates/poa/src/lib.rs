//! The portable object adapter: object key → adapter → servant → operation.
//!
//! This crate knows no socket and no runtime. It finds the servant and the operation of a request, in constant time for any
//! number of adapters and objects. The keys of transient objects are indexes (active demultiplexing), so finding the servant
//! is one bounds check and one generation check per table; ids of the application are found by hashing. The skeleton finds
//! the operation by a perfect hash made at compile time.
//!
//! ```text
//! object key ──► ObjectAdapter::locate ──► Arc<ActiveObject> ──► Skeleton::start ──► Started
//!                instance and indexes, or   servant or forward,   perfect hash,      a future of
//!                path and object id         states of its manager arguments          Outcome
//! ```
//!
//! The look-up of each kind of key:
//!
//! ```text
//! "ZRB" 1  transient, ids by the system     instance = this run?  ──► adapters[slot]  generation? ──► objects[slot]  generation?
//! "ZRB" 3  transient, ids by the user       instance = this run?  ──► adapters[slot]  generation? ──► objects{id}
//! "ZRB" 2  persistent                       adapters{path} ────────────────────────────────────────► objects{id}
//! "ZRB" 4  authenticated                    code right? ──► the key within, in adapters with KeyProtection::Authenticated alone
//! other    plain                            objects{key} of the adapter of plain keys
//!
//!          [ ] an index: one load and two comparisons       { } a hash table: a keyed hash, a shard's read lock, a probe
//!                                                               of ids known beforehand: a perfect hash, one load, one comparison
//! ```
//!
//! The servant retention and request processing policies decide how a request is served:
//!
//! ```text
//!                                  RETAIN                           NON_RETAIN
//!                     ┌─────────────────────────────────┬─────────────────────────────────┐
//! USE_ACTIVE_OBJECT_  │ in the map: servant             │ InvalidPolicy                   │
//! MAP_ONLY            │ else OBJECT_NOT_EXIST           │                                 │
//!                     ├─────────────────────────────────┼─────────────────────────────────┤
//! USE_DEFAULT_SERVANT │ in the map: servant             │ default servant                 │
//! (MULTIPLE_ID)       │ else default servant            │                                 │
//!                     ├─────────────────────────────────┼─────────────────────────────────┤
//! USE_SERVANT_MANAGER │ in the map: servant             │ preinvoke ► servant ► postinvoke│
//!                     │ else incarnate ► into the map   │                                 │
//!                     └─────────────────────────────────┴─────────────────────────────────┘
//!                       no default servant: OBJ_ADAPTER 3     no servant manager: OBJ_ADAPTER 4
//!                       IMPLICIT_ACTIVATION: with SYSTEM_ID and RETAIN alone
//! ```
//!
//! Source: CORBA 3.3 Part 1, The Portable Object Adapter.
#![cfg_attr(
    zorb_model,
    allow(dead_code, reason = "models drive what threads share, and no upcall")
)]
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

mod activation;
mod adapter;
mod arguments;
mod current;
mod deactivation;
mod growth;
mod identity;
mod incarnation;
mod key;
#[cfg(zorb_model)]
#[path = "../models/loom_sync.rs"]
mod loom_sync;
mod manager;
mod managers;
mod membership;
mod missing;
#[cfg(zorb_model)]
#[path = "../models/tests/mod.rs"]
mod models;
mod names;
mod object;
mod object_ids;
mod operations;
mod panicked;
mod policy;
mod pooled_future;
mod registry;
mod request;
mod scheduling;
mod seal;
mod servant_manager;
mod shared_request;
pub mod signature;
mod skeleton;
mod sync;
mod table;
mod turn_queue;

pub use adapter::{Adapter, AdapterError, AdapterOptions};
#[doc(hidden)]
pub use arguments::{Numbers, Recycled, RecycledText};
pub use key::{InstanceId, ObjectId, ObjectKey, Path, is_reserved};
pub use manager::{AdapterInactive, ManagerError, PoaManager, PoaManagerState};
pub use managers::{ManagerAlreadyExists, Managers};
pub use missing::Missing;
pub use names::{Named, Names};
pub use object::{ActiveObject, Forward};
pub use object_ids::ObjectIds;
pub use operations::{Operations, declared_name};
pub use panicked::take_panicked_operation;
pub use policy::{
    CancelledUpcalls, IdAssignment, IdUniqueness, ImplicitActivation, InvalidPolicy, KeyProtection,
    Lifespan, OneWayOrder, PoaPolicy, PoaPolicyType, Policies, RequestProcessing, ServantRetention,
    ThreadModel,
};
pub use registry::{KeyOwner, ObjectAdapter};
pub use request::{DecodeArguments, Outcome, Receipt, ServerRequest};
pub use scheduling::UpcallScheduling;
pub use seal::KeySecret;
pub use servant_manager::{
    Activator, AdapterActivator, Boxed, Etherealization, Incarnated, Incarnation, InterfaceSource,
    Locator, OffReactor, Raised,
};
pub use shared_request::{MAX_REPLY_CONTEXT_OCTETS, MAX_REPLY_CONTEXTS, SharedRequest};
pub use signature::ManyResults;
pub use skeleton::{Skeleton, Started, Upcall};
pub use table::{Index, NotInTable, Table, TableFull, Tenant};
pub use turn_queue::UpcallChain;
