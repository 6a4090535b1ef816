//! Where protocol, transport and lane meet.
//!
//! ```text
//!            caller's poll ──► Outbound ──► writev          (who finds it free writes)
//!  ObjectRef ──► ClientConnection                 Link
//!            ◄── RequestTable ◄── Reader ◄── recv           (the driver task reads)
//!
//!            ServerConnection: Reader ──► locate ──► Upcall polled in place ──► Outbound
//! ```

mod acceptor;
mod cache;
mod client;
mod ear;
mod link;
#[cfg(test)]
mod mock;
mod outbound;
#[cfg(test)]
#[path = "outbound/tests.rs"]
mod outbound_tests;
mod profile;
mod race;
mod right;
mod server;
mod silent;
mod sole;
mod sync;
mod trace;
mod upcall;
mod waiting;

pub(crate) use acceptor::Acceptor;
pub(crate) use cache::{Cache, CacheKey, ConnectError, Connecting};
pub(crate) use client::{
    Answered, Arrived, CallError, Called, Calling, ClientConnection, EncodeArguments, How,
    refused_by_omniorb,
};
pub(crate) use profile::{Candidate, Published, candidates, describe_unusable, make_ior};
pub(crate) use race::first_that_works;
pub(crate) use server::{ServerConnection, locate_reply};
pub(crate) use silent::Silent;
pub(crate) use upcall::{begin, caught, enter, released, run_upcall_in_place};
pub(crate) use waiting::{Busy, limit as wait_limit};
