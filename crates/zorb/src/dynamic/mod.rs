//! Calls and servants without generated code: the dynamic invocation and the dynamic skeleton interface.
//!
//! - `request`: calls that are built at run time;
//! - `deferred`: calls that go on while their caller does something else;
//! - `interfaces`: the definitions of interfaces in a repository;
//! - `signature`: the types of an operation, by which arguments and results are checked;
//! - `servant`: servants that get the operations of their requests by name;
//! - `raw`: bodies that are passed on without being decoded.

mod deferred;
mod interfaces;
mod raw;
mod request;
mod servant;
mod signature;

pub(crate) use deferred::begin;
pub(crate) use interfaces::answer_interface_requests;

pub use deferred::{PendingResponse, PendingResponses};
pub use raw::RawReply;
pub use request::{Request, RequestError, Response};
pub use servant::{DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton};
pub use signature::{ParameterMode, ParameterType, Signature};
pub use zorb_giop::RawBody;
