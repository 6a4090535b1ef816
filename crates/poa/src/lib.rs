//! The portable object adapter: object key → adapter → servant → operation.
//!
//! This crate knows no socket and no runtime. It answers one question per request, in constant
//! time whatever the number of adapters and objects: *whose upcall is this?* Its object keys are
//! indexes (active demultiplexing), so finding the servant is one bounds check and one generation
//! check per table, and the skeleton finds the operation by a perfect hash made at compile time.
//!
//! ```text
//! object key ──► ObjectAdapter::locate ──► Arc<ActiveObject> ──► Skeleton::start ──► Upcall
//!                instance, adapter slot,    servant manager       perfect hash,      a future of
//!                object slot                 states                arguments          Outcome
//! ```
//!
//! Source: CORBA 3.3 Part 1, The Portable Object Adapter.
#![forbid(unsafe_code)]

mod adapter;
mod key;
mod manager;
mod request;
mod skeleton;
mod table;

pub use adapter::{ActiveObject, Adapter, AdapterError, ObjectAdapter};
pub use key::{InstanceId, KEY_LEN, ObjectKey};
pub use manager::{AdapterInactive, PoaManager, State};
pub use request::{Outcome, Receipt, Request};
pub use skeleton::{Skeleton, Upcall};
pub use table::{Index, Table, TableFull};
